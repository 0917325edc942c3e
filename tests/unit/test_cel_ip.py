"""IP addresses: what is one, what kind it is, how it is written. As Kubernetes 1.37.2 judges them; ranges are those of the RFCs."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import error, holds, refusal, value


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("10.20.30.40", True),
        ("10.20.30.40.50", False),
        ("10.20.30", False),
        ("10.020.30.40", False),
        ("10.20.30.400", False),
        ("fd12:3456::9", True),
        ("fd12:::9", False),
        ("::", True),
        ("8:7:6:5:4:3:2:1", True),
        ("8:7:6:5:4:3:2::", True),
        ("8:7:6:5:4:3:2:1::", False),
        ("9::8::7", False),
        ("fd12f::", False),
        ("::10.20.30.40", True),
        ("::ffff:10.20.30.40", False),  # IPv4-mapped
        ("fe80::9%ib0", False),  # zone
        ("", False),
    ],
)
def test_is_ip(text: str, valid: bool) -> None:
    assert holds(f'isIP("{text}")') is valid


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ('ip.isCanonical("10.20.30.40")', True),
        ('ip.isCanonical("fd12:3456::9")', True),
        ('ip.isCanonical("FD12:3456::9")', False),
        ('ip.isCanonical("fd12:3456:0:0:0::9")', False),
        ('ip("0.0.0.0").isUnspecified() && ip("0::0").isUnspecified()', True),
        ('ip("0.0.0.9").isUnspecified() || ip("::9").isUnspecified()', False),
        # RFC 1122: all of 127/8; RFC 4291: one address.
        ('ip("127.200.3.4").isLoopback() && ip("0:0::1").isLoopback()', True),
        ('ip("128.0.0.1").isLoopback() || ip("::2").isLoopback()', False),
        # RFC 5771: 224.0.0/24; RFC 4291: scope 2.
        ('ip("224.0.0.251").isLinkLocalMulticast() && ip("ff02::fb").isLinkLocalMulticast()', True),
        ('ip("224.0.2.1").isLinkLocalMulticast() || ip("ff05::fb").isLinkLocalMulticast()', False),
        # RFC 3927: 169.254/16; RFC 4291: fe80::/10.
        ('ip("169.254.7.9").isLinkLocalUnicast() && ip("febf::9").isLinkLocalUnicast()', True),
        ('ip("169.253.7.9").isLinkLocalUnicast() || ip("fec0::9").isLinkLocalUnicast()', False),
        # Private addresses are global to Go.
        ('ip("10.20.30.40").isGlobalUnicast() && ip("fd12::9").isGlobalUnicast()', True),
        ('ip("255.255.255.255").isGlobalUnicast() || ip("ff0e::9").isGlobalUnicast()', False),
        ('type(ip("10.20.30.40")) == net.IP', True),
        ('ip("fd12::9") == ip("FD12:0::9")', True),
        ('ip("10.20.30.40") == ip("10.20.30.41")', False),
    ],
)
def test_verdict(expression: str, verdict: bool) -> None:
    assert holds(expression) is verdict


@pytest.mark.parametrize(("text", "family"), [("10.20.30.40", 4), ("fd12::9", 6)])
def test_family(text: str, family: int) -> None:
    assert value(f'ip("{text}").family()') == family


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("10.20.30.40", "10.20.30.40"),
        ("FD12::0:9", "fd12::9"),
        ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
        ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
        ("1::", "1::"),
        ("::1.2.3.4", "::102:304"),
    ],
)
def test_string_is_canonical(text: str, canonical: str) -> None:
    assert value(f'string(ip("{text}"))') == canonical


@pytest.mark.parametrize("function", ["ip", "ip.isCanonical"])
@pytest.mark.parametrize("text", ["10.20.30.40.50", "fd12:::9"])
def test_a_bad_text_is_a_run_time_error(function: str, text: str) -> None:
    assert f'IP Address "{text}" parse error during conversion from string' in error(f'{function}("{text}")')


def test_mapped_addresses_and_zones_have_their_own_errors() -> None:
    assert error('ip("::ffff:1.2.3.4")') == 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'
    assert error('ip("fe80::1%eth0")') == 'IP address "fe80::1%eth0" with zone value is not allowed'


def test_only_texts_can_be_checked() -> None:
    assert "found no matching overload for 'isIP' applied to '(net.CIDR)'" in refusal('isIP(cidr("10.20.0.0/14"))')
