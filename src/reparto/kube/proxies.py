"""Which proxy leads to a server: the kubeconfig's, else the environment's, by Go's rules rather than Python's.

They differ where it hurts: NO_PROXY may hold networks (10.0.0.0/8), domains with their subdomains, ports, and loopback addresses
never go through a proxy of the environment. Source: golang.org/x/net/http/httpproxy.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from reparto.kube.connection import Server
from reparto.kube.errors import ConfigError

SCHEMES = ("http", "https", "socks5", "socks5h")


def proxy_for(server: Server, environ: Mapping[str, str]) -> str | None:
    """The address of the proxy, or None for a direct connection. Raises ConfigError for one that is no proxy address."""
    if server.proxy_url:
        return _checked(server.proxy_url, "proxy-url of the kubeconfig")
    parts = urlsplit(server.url)
    names = ("HTTPS_PROXY", "https_proxy") if parts.scheme == "https" else ("HTTP_PROXY", "http_proxy")
    name = next((name for name in names if environ.get(name)), None)
    if name is None:
        return None
    host, port = (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)
    if _loopback(host) or _excluded(host, port, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
        return None
    address = environ[name]
    return _checked(address if "://" in address else f"http://{address}", name)


def _checked(address: str, what: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{what} is no address of a proxy", f"write http://HOST:PORT; schemes: {', '.join(SCHEMES)}")
    return address


def _loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _excluded(host: str, port: int, entries: str) -> bool:
    address = _address(host)
    for entry in filter(None, (part.strip().lower() for part in entries.split(","))):
        if entry == "*":
            return True
        if "/" in entry:
            try:
                network = ipaddress.ip_network(entry, strict=False)
            except ValueError:
                continue
            if address is not None and address.version == network.version and address in network:
                return True
            continue
        name, colon, wanted = entry.rpartition(":")
        if not colon or not wanted.isdigit() or _address(entry) is not None:
            name = entry
        elif int(wanted) != port:
            continue
        name = name.strip("[]").removeprefix("*")
        if address is not None:
            if _address(name) == address:
                return True
        elif name.startswith("."):
            if host.endswith(name):
                return True
        elif host == name or host.endswith("." + name):
            return True
    return False
