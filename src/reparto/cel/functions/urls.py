"""URLs, read as Go's `url.ParseRequestURI` and `url.Parse` read them: absolute, or an absolute path.

Python's urllib accepts and splits differently in too many places to be of use. Go works on bytes; here a text is taken as UTF-8 and
invalid escapes of it are kept as lone surrogates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from reparto.cel.functions.network import parse_address
from reparto.cel.values import Failure, MapValue, Url
from reparto.cel.work import spend

_SCHEME: Final = r"([A-Za-z][A-Za-z0-9+.-]*):"
_USERINFO: Final = r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*"
_PORT: Final = r"(?::[0-9]*)?"
_ESCAPE: Final = r"%([0-9a-fA-F]{2})"
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_HOST: Final = _UNRESERVED | frozenset("!$&'()*+,;=:[]<>\"")
_PATH: Final = _UNRESERVED | frozenset("$&+,/:;=@")
_VALID_PATH: Final = _PATH | frozenset("!$&'()*+,;=:@[]%")
_USER: Final = _UNRESERVED | frozenset("$&+,;=")
_FRAGMENT: Final = _UNRESERVED | frozenset("$&+,/:;=?@!()*")


class UrlError(ValueError):
    """A text that is no URL; the message is Go's."""


def _decode(data: bytearray) -> str:
    return data.decode("utf-8", "surrogateescape")


def _unescape(text: str, host: bool = False, zone: bool = False, plus: bool = False) -> str:
    data = bytearray()
    position = 0
    while position < len(text):
        char = text[position]
        if char == "%":
            found = re.compile(_ESCAPE).match(text, position)
            if found is None:
                raise UrlError(f'invalid URL escape "{text[position : position + 3]}"')
            code = int(found[1], 16)
            # A host may escape only what is not ASCII, a zone only what it could also write plainly.
            if host and code < 0x80 and found[0] != "%25":
                raise UrlError(f'invalid URL escape "{found[0]}"')
            if zone and found[0] != "%25" and code != 0x20 and chr(code) not in _HOST:
                raise UrlError(f'invalid URL escape "{found[0]}"')
            data.append(code)
            position += 3
            continue
        if (host or zone) and char < "\x80" and char not in _HOST:
            raise UrlError(f'invalid character "{char}" in host name')
        data += b" " if plus and char == "+" else char.encode("utf-8", "surrogatepass")
        position += 1
    return _decode(data)


def _escape(text: str, allowed: frozenset[str]) -> str:
    return "".join(
        char if char in allowed else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape")) for char in text
    )


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise UrlError("invalid IP-literal")
    if bracket == 0:
        closing = host.rfind("]")
        if closing < 0:
            raise UrlError("missing ']' in host")
        port = host[closing + 1 :]
        if re.fullmatch(_PORT, port) is None:
            raise UrlError(f'invalid port "{port}" after host')
        name = host[1:closing]
        zone = name.find("%25")
        plain = _unescape(name, host=True) if zone < 0 else _unescape(name[:zone], host=True) + _unescape(name[zone:], zone=True)
        address = parse_address(plain)
        if address is None or address.bits == 32:
            raise UrlError("invalid IP-literal")
        return f"[{plain}]{port}"
    colon = host.find(":")
    if colon >= 0:
        if scheme not in ("http", "https"):
            colon = host.rfind(":")
        if re.fullmatch(_PORT, host[colon:]) is None:
            raise UrlError(f'invalid port "{host[colon:]}" after host')
    return _unescape(host, host=True)


def _user(userinfo: str) -> str:
    """The user part as Go writes it back."""
    if re.fullmatch(_USERINFO, userinfo) is None:
        raise UrlError("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(":")
    text = _escape(_unescape(name), _USER)
    return f"{text}:{_escape(_unescape(password), _USER)}" if colon else text


def _hostname_and_port(host: str) -> tuple[str, str]:
    name, port = host, ""
    colon = name.rfind(":")
    if colon >= 0 and re.fullmatch(_PORT, name[colon:]):
        name, port = name[:colon], name[colon + 1 :]
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return name, port


def _parse(text: str, via_request: bool) -> Url:
    if any(char < " " or char == "\x7f" for char in text):
        raise UrlError("net/url: invalid control character in URL")
    if not text and via_request:
        raise UrlError("empty url")
    if text == "*":
        return Url("*", "", "", "", "", "*", "")
    found = re.match(_SCHEME, text)
    if text.startswith(":"):
        raise UrlError("missing protocol scheme")
    scheme = found[1].lower() if found else ""
    rest = text[found.end() :] if found else text
    force_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    shown_query = f"?{query}" if query or force_query else ""
    if not rest.startswith("/"):
        if scheme:
            return Url(f"{scheme}:{rest}{shown_query}", scheme, "", "", "", "", query)
        if via_request:
            raise UrlError("invalid URI for request")
        if ":" in rest.split("/", 1)[0]:
            raise UrlError("first path segment in URL cannot contain colon")
    host, user, authority = "", "", False
    if (scheme or (not via_request and not rest.startswith("///"))) and rest.startswith("//"):
        authority = True
        part, slash, path = rest[2:].partition("/")
        rest = slash + path
        at = part.rfind("@")
        host = _host(scheme, part[at + 1 :])
        user = f"{_user(part[:at])}@" if at >= 0 else ""
    path = _unescape(rest)
    escaped = _escape(path, _PATH)
    if escaped != rest and all(char in _VALID_PATH for char in rest):
        escaped = rest
    if path == "*":
        escaped = "*"
    shown = f"{scheme}:" if scheme else ""
    if authority and (host or path or user):
        shown += "//"
    shown += user + _escape(host, _HOST)
    if escaped and not escaped.startswith("/") and host:
        shown += "/"
    if not shown and ":" in escaped.split("/", 1)[0]:
        shown = "./"
    name, port = _hostname_and_port(host)
    return Url(shown + escaped + shown_query, scheme, host, name, port, escaped, query)


def parse_request_uri(text: str) -> Url:
    """Go's `url.ParseRequestURI`: no fragment, absolute. Raises UrlError."""
    return _wrapped(text, text, True)


def _wrapped(shown: str, text: str, via_request: bool) -> Url:
    try:
        return _parse(text, via_request)
    except UrlError as error:
        raise UrlError(f'parse "{shown}": {error}') from None


def to_url(text: str) -> Url:
    try:
        parse_request_uri(text)
        head, _, fragment = text.partition("#")
        url = _wrapped(head, head, False)
        if fragment:
            url.text += f"#{_escape(_unescape(fragment), _FRAGMENT)}"
        return url
    except UrlError as error:
        raise Failure(f"URL parse error during conversion from string: {error}") from None


def is_url(text: str) -> bool:
    try:
        parse_request_uri(text)
    except UrlError:
        return False
    return True


def scheme(url: Url) -> str:
    return url.scheme


def host(url: Url) -> str:
    return url.host


def hostname(url: Url) -> str:
    return url.hostname


def port(url: Url) -> str:
    return url.port


def escaped_path(url: Url) -> str:
    return url.escaped_path


def query(url: Url) -> MapValue:
    """Every parameter with the list of its values; parts that cannot be read are left out."""
    spend(20 * len(url.query))
    found: dict[str, list[str]] = {}
    for part in url.query.split("&"):
        if not part or ";" in part:
            continue
        name, _, value = part.partition("=")
        try:
            name, value = _unescape(name, plus=True), _unescape(value, plus=True)
        except UrlError:
            continue
        found.setdefault(name, []).append(value)
    return MapValue({name: tuple(values) for name, values in found.items()})


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_url": to_url,
    "is_url_string": is_url,
    "url_get_scheme": scheme,
    "url_get_host": host,
    "url_get_hostname": hostname,
    "url_get_port": port,
    "url_get_escaped_path": escaped_path,
    "url_get_query": query,
}
