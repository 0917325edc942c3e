"""Formats that resource.k8s.io adds to Kubernetes' names: driver and pool names, qualified names, UUIDs, label keys at a path.

Each function answers with findings at `path`. The plain text rules are `reparto.model.names`. Source: validation-1.37.md,
"Formats".
"""

import ipaddress
import re

from reparto.model import names
from reparto.model.validation.findings import Findings, invalid, invalids, required, too_long

DRIVER_BYTES = 63
POOL_BYTES = 253
ID_BYTES = 32
DOMAIN_BYTES = 63
KEY_BYTES = DOMAIN_BYTES + 1 + ID_BYTES  # longest legal attribute or capacity key; longer ones are shortened in paths

_POOL_ORIGIN = "format=k8s-resource-pool-name"
_QUALIFIED_ORIGIN = "format=k8s-resource-fully-qualified-name"
_UUID_RULE = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"

_hex = re.compile(r"[0-9a-fA-F]+").fullmatch
_hyphenated = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}").fullmatch
_semver = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
).fullmatch


def byte_length(text: str) -> int:
    """Length in UTF-8, which is what Kubernetes' limits count."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def label(text: str, path: str) -> Findings:
    return invalids(path, text, names.dns1123_label(text), "format=k8s-short-name")


def subdomain(text: str, path: str) -> Findings:
    return invalids(path, text, names.dns1123_subdomain(text), "format=k8s-long-name")


def label_key(text: str, path: str) -> Findings:
    return invalids(path, text, names.qualified_name(text), "format=k8s-label-key")


def label_value(text: str, path: str, origin: str = "") -> Findings:
    return invalids(path, text, names.label_value(text), origin)


def driver(text: str, path: str, *, covered: bool = False) -> Findings:
    """A driver name: a DNS subdomain of at most 63 bytes, in any case of letters."""
    if not text:
        return [required(path, covered=covered)]
    findings: Findings = []
    if byte_length(text) > DRIVER_BYTES:
        findings.append(too_long(path, DRIVER_BYTES, "maxLength" if covered else "", covered=covered))
    for message in names.dns1123_subdomain(go_lower(text)):
        findings.append(invalid(path, text, message, "format=k8s-long-name-caseless" if covered else "", covered=covered))
    return findings


def pool(text: str, path: str) -> Findings:
    """A pool name: DNS subdomains joined by `/`, at most 253 bytes in all."""
    if not text:
        return [required(path)]
    findings: Findings = []
    if byte_length(text) > POOL_BYTES:
        findings.append(too_long(path, POOL_BYTES, _POOL_ORIGIN))
    for part in text.split("/"):
        findings += invalids(path, part, names.dns1123_subdomain(part), _POOL_ORIGIN)
    return findings


def qualified_name(text: str, path: str) -> Findings:
    """An attribute or capacity name: `id` or `domain/id`. Names with two or more slashes pass unchecked, as upstream lets them."""
    parts = text.split("/")
    if len(parts) == 1:
        return _identifier(text, path)
    if len(parts) > 2:
        return []
    domain, identifier = parts
    findings = driver(domain, path) if domain else [invalid(path, "", "the domain must not be empty")]
    findings += _identifier(identifier, path) if identifier else [invalid(path, "", "the name must not be empty")]
    return findings


def fully_qualified_name(text: str, path: str) -> Findings:
    """A qualified name that has its domain."""
    findings = qualified_name(text, path)
    if "/" not in text:
        findings.append(invalid(path, text, "a fully qualified name must be a domain and a name separated by a slash"))
    for finding in findings:
        finding.origin = _QUALIFIED_ORIGIN
    return findings


def uuid(text: str, path: str) -> Findings:
    """A UUID in RFC 4122 form, lower case, with hyphens."""
    problem = _uuid_problem(text)
    if problem:
        return [invalid(path, text, f"error validating uid: {problem}", "format=k8s-uuid")]
    if byte_length(text) != 36 or text != go_lower(text):
        return [invalid(path, text, _UUID_RULE, "format=k8s-uuid")]
    return []


def version(text: str) -> bool:
    """Whether `text` is a version after semver.org 2.0.0."""
    return _semver(text) is not None


def interface_address(text: str, path: str) -> Findings:
    """An address with its prefix length (`10.9.8.7/24`), in canonical form."""
    parsed = _interface(text)
    if parsed is None:
        return [invalid(path, text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")]
    return [] if parsed == text else [invalid(path, text, f'must be in canonical form ("{parsed}")')]


def shortened(key: str, limit: int) -> str:
    """A map key as paths show it: the middle of a key that is too long is left out."""
    limit = max(limit, 16)
    if byte_length(key) <= limit:
        return key
    remaining = limit - len("...")
    raw = key.encode(errors="surrogatepass")
    shown = raw[: (remaining + 1) // 2] + b"..." + raw[len(raw) - remaining // 2 :]
    return shown.decode(errors="replace")


def go_lower(text: str) -> str:
    """Go's `strings.ToLower`: character by character, so that the length in characters stays."""
    return text.lower() if text.isascii() else "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _identifier(text: str, path: str) -> Findings:
    findings: Findings = [too_long(path, ID_BYTES)] if byte_length(text) > ID_BYTES else []
    return findings + invalids(path, text, names.c_identifier(text))


def _uuid_problem(text: str) -> str:
    length = byte_length(text)
    if length == 45:
        if text[:9].lower() != "urn:uuid:":
            return f'invalid urn prefix: "{text[:9]}"'
        text = text[9:]
    elif length == 38:
        if text[0] != "{" or text[-1] != "}":
            return "invalid bracketed UUID format"
        text = text[1:-1]
    elif length == 32:
        return "" if _hex(text) else "invalid UUID format"
    elif length != 36:
        return f"invalid UUID length: {length}"
    return "" if _hyphenated(text) else "invalid UUID format"


_octets = re.compile(r"[0-9]+(?:\.[0-9]+){3}").fullmatch


def _interface(text: str) -> str | None:
    """The canonical form of an address with prefix; None if it is none. Leading zeros are forgiven, as by Go's sloppy parser."""
    address, slash, prefix = text.partition("/")
    if not slash or not prefix.isascii() or not prefix.isdigit() or "%" in address:
        return None
    head, colon, tail = address.rpartition(":")
    if _octets(tail):
        address = f"{head}{colon}{'.'.join(str(int(part)) for part in tail.split('.'))}" if len(tail) < 64 else address
    if ":" in address:
        # Go reads any number of leading zeros in a group.
        address = ":".join(group.lstrip("0") or "0" if group and _hex(group) else group for group in address.split(":"))
    try:
        ip = ipaddress.ip_address(address)
        length = int(prefix.lstrip("0") or "0")
    except ValueError:
        return None
    if length > ip.max_prefixlen:
        return None
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        # Go sees an IPv4 address here; a prefix that reaches into the mapped part counts from there.
        return f"{ip.ipv4_mapped}/{length - 96 if length > 32 else length}"
    return f"{ip}/{length}"
