"""CIDRs: an address and the length of its prefix; what lies within is arithmetic on bits."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import error, holds, value

V4 = 'cidr("10.20.0.0/14")'
V6 = 'cidr("fd12:3400::/24")'


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        # 10.20.0.0/14 ends at 10.23.255.255.
        (f'{V4}.containsIP(ip("10.23.255.255"))', True),
        (f'{V4}.containsIP(ip("10.24.0.0"))', False),
        (f'{V4}.containsIP("10.20.0.0")', True),
        (f'{V4}.containsIP("10.19.255.255")', False),
        (f'{V4}.containsCIDR(cidr("10.22.0.0/15"))', True),
        (f'{V4}.containsCIDR("10.21.7.9/32")', True),
        (f'{V4}.containsCIDR(cidr("10.16.0.0/13"))', False),
        (f'{V4}.containsCIDR("10.24.0.0/14")', False),
        (f"{V4}.containsCIDR({V4})", True),
        # fd12:3400::/24 ends at fd12:34ff:…:ffff.
        (f'{V6}.containsIP(ip("fd12:34ff:ffff::"))', True),
        (f'{V6}.containsIP("fd12:3500::")', False),
        (f'{V6}.containsCIDR("fd12:3480::/25")', True),
        (f'{V6}.containsCIDR(cidr("fd12:3400::/23"))', False),
        (f'{V4}.ip() == ip("10.20.0.0")', True),
        (f'{V6}.ip() == ip("fd12:3400::")', True),
        (f"{V4}.masked() == {V4}", True),
        (f'cidr("10.22.7.9/14").masked() == {V4}', True),
        (f'cidr("fd12:34ab:cd::1/24").masked() == {V6}', True),
        # Host bits are part of a CIDR's identity.
        (f'cidr("10.22.7.9/14") == {V4}', False),
        # Families never contain each other.
        (f'cidr("::/0").containsIP("10.20.0.1") || {V4}.containsIP("::1")', False),
        (f"type({V4}) == net.CIDR", True),
    ],
)
def test_verdict(expression: str, verdict: bool) -> None:
    assert holds(expression) is verdict


@pytest.mark.parametrize(("network", "length"), [(V4, 14), (V6, 24)])
def test_prefix_length(network: str, length: int) -> None:
    assert value(f"{network}.prefixLength()") == length


@pytest.mark.parametrize("text", ["10.20.0.0/14", "fd12:3400::/24", "10.22.7.9/8"])
def test_string_writes_it_back(text: str) -> None:
    assert value(f'string(cidr("{text}"))') == text


@pytest.mark.parametrize(
    "text", ["10.20.0.0/", "10.20.0.0", "10.20.0.0/33", "10.20.0.0/014", "10.20.0.0/+8", "fd12::/", "fe80::9%ib0/64"]
)
def test_a_bad_text_is_refused(text: str) -> None:
    assert not holds(f'isCIDR("{text}")')
    assert "network address parse error during conversion from string" in error(f'cidr("{text}")')


def test_a_bad_address_loses_its_error_and_a_bad_network_does_not() -> None:
    assert error(f'{V4}.containsIP("x")') == "no such overload"
    assert "network address parse error" in error(f'{V4}.containsCIDR("x")')
