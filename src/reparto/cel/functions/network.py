"""IP addresses and CIDRs, read as Go's netip reads them: no leading zeros, no zones, no IPv4-mapped IPv6."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from reparto.cel.values import Failure, IPAddress, Network, no_such_overload

_OCTET: Final = r"[0-9]{1,3}"
_GROUP: Final = r"[0-9a-fA-F]{1,4}"
_BITS: Final = r"0|[1-9][0-9]{0,4}"


def parse_address(text: str) -> IPAddress | None:
    """The address without its zone, None when the text is none. IPv4-mapped addresses are returned as IPv6."""
    address, _, zone = text.partition("%")
    first = next((char for char in address if char in ".:"), "")
    if first == ".":
        return _parse_ipv4(text)
    if first != ":" or ("%" in text and not zone):
        return None
    return _parse_ipv6(address)


def _parse_ipv4(text: str) -> IPAddress | None:
    octets = text.split(".")
    if len(octets) != 4:
        return None
    number = 0
    for octet in octets:
        if re.fullmatch(_OCTET, octet) is None or (len(octet) > 1 and octet[0] == "0") or int(octet) > 255:
            return None
        number = number << 8 | int(octet)
    return IPAddress(number, 32)


def _parse_ipv6(text: str) -> IPAddress | None:
    head, gap, tail = text.partition("::")
    if "::" in tail or tail.startswith(":"):
        return None
    before = _groups(head, last=not gap)
    after = _groups(tail, last=True)
    if before is None or after is None:
        return None
    missing = 8 - len(before) - len(after)
    if missing < 1 if gap else missing != 0:
        return None
    number = 0
    for group in (*before, *([0] * missing), *after):
        number = number << 16 | group
    return IPAddress(number, 128)


def _groups(text: str, last: bool) -> list[int] | None:
    """The 16-bit groups of one side of `::`; the last one of an address may be a dotted IPv4 address, which counts as two."""
    if not text:
        return []
    parts = text.split(":")
    groups: list[int] = []
    for index, part in enumerate(parts):
        if "." in part:
            tail = _parse_ipv4(part) if last and index == len(parts) - 1 else None
            if tail is None:
                return None
            groups += [tail.number >> 16, tail.number & 0xFFFF]
        elif re.fullmatch(_GROUP, part):
            groups.append(int(part, 16))
        else:
            return None
    return groups


def address_text(address: IPAddress) -> str:
    """The canonical text (RFC 5952 for IPv6)."""
    if address.bits == 32:
        return ".".join(str(address.number >> shift & 255) for shift in (24, 16, 8, 0))
    groups = [address.number >> shift & 0xFFFF for shift in range(112, -1, -16)]
    best_start, best_length = 0, 1
    start = 0
    while start < 8:
        end = start
        while end < 8 and groups[end] == 0:
            end += 1
        if end - start > best_length:
            best_start, best_length = start, end - start
        start = max(end, start + 1)
    if best_length < 2:
        return ":".join(f"{group:x}" for group in groups)
    head = ":".join(f"{group:x}" for group in groups[:best_start])
    tail = ":".join(f"{group:x}" for group in groups[best_start + best_length :])
    return f"{head}::{tail}"


def _is_mapped(address: IPAddress) -> bool:
    return address.bits == 128 and address.number >> 32 == 0xFFFF


def _checked(text: str) -> IPAddress:
    address = parse_address(text)
    if address is None:
        raise Failure(f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): unable to parse IP')
    if "%" in text:
        raise Failure(f'IP address "{text}" with zone value is not allowed')
    if _is_mapped(address):
        raise Failure(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _checked_network(text: str) -> Network:
    prefix = "network address parse error during conversion from string: "
    head, slash, bits = text.rpartition("/")
    address = parse_address(head) if slash and "%" not in head else None
    if address is None or re.fullmatch(_BITS, bits) is None or int(bits) > address.bits:
        raise Failure(f'{prefix}{prefix}netip.ParsePrefix("{text}"): invalid prefix')
    if _is_mapped(address):
        raise Failure(f'{prefix}IPv4-mapped IPv6 address "{text}" is not allowed')
    return Network(address, int(bits))


def is_address(text: str) -> bool:
    try:
        _checked(text)
    except Failure:
        return False
    return True


def is_network(text: str) -> bool:
    try:
        _checked_network(text)
    except Failure:
        return False
    return True


def is_canonical(text: str) -> bool:
    return address_text(_checked(text)) == text


def family(address: IPAddress) -> int:
    return 4 if address.bits == 32 else 6


def _within(address: IPAddress, bits: int, prefix: int, length: int) -> bool:
    return address.bits == bits and address.number >> (bits - length) == prefix


def is_unspecified(address: IPAddress) -> bool:
    return address.number == 0


def is_loopback(address: IPAddress) -> bool:
    return _within(address, 32, 127, 8) or _within(address, 128, 1, 128)


def is_link_local_multicast(address: IPAddress) -> bool:
    # ff?2::/16: any flags, scope 2.
    return _within(address, 32, 0xE00000, 24) or (address.bits == 128 and address.number >> 112 & 0xFF0F == 0xFF02)


def is_link_local_unicast(address: IPAddress) -> bool:
    return _within(address, 32, 0xA9FE, 16) or _within(address, 128, 0xFE80 >> 6, 10)


def _is_multicast(address: IPAddress) -> bool:
    return _within(address, 32, 0xE, 4) or _within(address, 128, 0xFF, 8)


def is_global_unicast(address: IPAddress) -> bool:
    if address.bits == 32 and address.number in (0, 0xFFFFFFFF):
        return False
    return not (is_unspecified(address) or is_loopback(address) or _is_multicast(address) or is_link_local_unicast(address))


def _masked_number(address: IPAddress, length: int) -> int:
    spare = address.bits - length
    return address.number >> spare << spare


def masked(network: Network) -> Network:
    return Network(IPAddress(_masked_number(network.address, network.length), network.address.bits), network.length)


def contains_address(network: Network, address: IPAddress) -> bool:
    own = network.address
    return own.bits == address.bits and _masked_number(own, network.length) == _masked_number(address, network.length)


def contains_address_text(network: Network, text: str) -> bool:
    try:
        return contains_address(network, _checked(text))
    except Failure:
        # The reference loses the parse error here, though not in contains_network_text.
        raise no_such_overload() from None


def contains_network(network: Network, other: Network) -> bool:
    return network.length <= other.length and contains_address(network, other.address)


def contains_network_text(network: Network, text: str) -> bool:
    return contains_network(network, _checked_network(text))


def network_address(network: Network) -> IPAddress:
    return network.address


def prefix_length(network: Network) -> int:
    return network.length


def network_text(network: Network) -> str:
    return f"{address_text(network.address)}/{network.length}"


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_ip": _checked,
    "ip_to_string": address_text,
    "ip_family": family,
    "ip_is_canonical": is_canonical,
    "ip_is_unspecified": is_unspecified,
    "ip_is_loopback": is_loopback,
    "ip_is_link_local_multicast": is_link_local_multicast,
    "ip_is_link_local_unicast": is_link_local_unicast,
    "ip_is_global_unicast": is_global_unicast,
    "is_ip": is_address,
    "string_to_cidr": _checked_network,
    "cidr_to_string": network_text,
    "cidr_contains_ip_string": contains_address_text,
    "cidr_contains_ip_ip": contains_address,
    "cidr_contains_cidr_string": contains_network_text,
    "cidr_contains_cidr": contains_network,
    "cidr_ip": network_address,
    "cidr_prefix_length": prefix_length,
    "cidr_masked": masked,
    "is_cidr": is_network,
}
