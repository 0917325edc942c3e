"""Consumable capacity: what a request takes from each capacity of a device, and whether that is still there (KEP-5075).

A request names amounts; the device's request policy turns them into amounts that the device can really hand out. Every capacity of
the device takes part, requested or not, since a share without a request takes the default, and without a default all of it. On
devices that allow one allocation only the same comparison is a plain "at least this much" filter and nothing is recorded.

Two outcomes must not be confused. An amount that does not fit makes this device unusable for this request. An amount that cannot be
expressed at all, or is negative, is an error of the pod: upstream refuses to go on (upstream-dra.md 3.11).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reparto.model.quantity import Quantity
from reparto.model.v1 import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity

_INT64_MAX = 2**63 - 1
_MILLI = 1_000_000
"""1e-9 units in a thousandth."""
_UNIT = 1_000_000_000


class CapacityError(ValueError):
    """An amount that cannot be handed out by any device: negative, or not representable in the device's range arithmetic."""


@dataclass(frozen=True, slots=True)
class Draw:
    """What one share takes from a device: amounts by capacity name, and the limit of each in the same 1e-9 units."""

    amounts: Mapping[str, Quantity]
    limits: Mapping[str, int]

    def fits(self, committed: Mapping[str, int], provisional: Mapping[str, int]) -> bool:
        """True if the share fits beside what allocated claims and this attempt hold already (1e-9 units by name)."""
        return self.short_of(committed, provisional) is None

    def short_of(self, committed: Mapping[str, int], provisional: Mapping[str, int]) -> str | None:
        """The first capacity that is not enough, or None if the share fits."""
        for name, amount in self.amounts.items():
            if committed.get(name, 0) + provisional.get(name, 0) + amount.nano > self.limits[name]:
                return name
        return None


def draw(capacity: Mapping[str, DeviceCapacity], requests: Mapping[str, str], fractional: bool) -> Draw | None:
    """What a share with `requests` takes from a device with `capacity`; None if the device cannot serve such a request at all.

    It cannot if it lacks a requested capacity, or if its policy forbids the amount. Raises CapacityError for amounts that no device
    could hand out; all capacities are looked at for that before any of them may make the device unusable.
    """
    if any(name not in capacity for name in requests):
        return None
    amounts: dict[str, Quantity] = {}
    for name, published in capacity.items():
        try:
            amount = _amount(requests.get(name), published, fractional)
        except CapacityError as error:
            raise CapacityError(f'capacity "{name}": {error}') from error
        if amount.nano < 0:
            raise CapacityError(f'capacity "{name}": capacity value is negative')
        amounts[name] = amount
    limits = {name: Quantity.parse(published.value).nano for name, published in capacity.items()}
    for name, published in capacity.items():
        policy = published.request_policy
        if policy is not None and _violates(amounts[name], policy, fractional):
            return None
    return Draw(amounts, limits)


def _amount(requested: str | None, capacity: DeviceCapacity, fractional: bool) -> Quantity:
    policy = capacity.request_policy
    if requested is None:
        return Quantity.parse(policy.default if policy is not None and policy.default is not None else capacity.value)
    wanted = Quantity.parse(requested)
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _round_up(wanted, Quantity.parse(policy.valid_range.min), policy.valid_range, fractional)
    for value in policy.valid_values:
        if wanted <= Quantity.parse(value):
            return Quantity.parse(value)
    return wanted


def _round_up(wanted: Quantity, minimum: Quantity, allowed: CapacityRequestPolicyRange, fractional: bool) -> Quantity:
    """The smallest amount at or above `wanted` that the range can hand out; its maximum is checked later, as a policy."""
    if wanted < minimum:
        return minimum
    if allowed.step is None:
        return wanted
    step = Quantity.parse(allowed.step)
    if _counts_in_milli(allowed, fractional):
        requested, step_milli, minimum_milli = _exact_milli(wanted), step.milli_value(), minimum.milli_value()
        if requested is None:
            raise _unrepresentable(f"request {wanted} is not a representable milli value")
        steps = -((minimum_milli - requested) // step_milli)
        if steps > _divide(_INT64_MAX - minimum_milli, step_milli):
            raise _unrepresentable(f"rounding request {wanted} up to the next step passes the milli-value range")
        milli = minimum_milli + step_milli * steps
        return Quantity.from_int(milli // 1000, step.format) if milli % 1000 == 0 else Quantity.from_milli(milli, step.format)
    if wanted.nano > _INT64_MAX * _UNIT:
        raise _unrepresentable(f"request {wanted} exceeds MaxInt64")
    requested, whole_step, whole_minimum = wanted.value(), step.value(), minimum.value()
    steps = _divide(requested - whole_minimum, whole_step) + (_remainder(requested - whole_minimum, whole_step) != 0)
    if whole_minimum >= 0 and steps > _divide(_INT64_MAX - whole_minimum, whole_step):
        raise _unrepresentable(f"rounding request {wanted} up to the next step passes MaxInt64")
    return Quantity.from_int(_wrap(whole_minimum + whole_step * steps), step.format)


def _violates(amount: Quantity, policy: CapacityRequestPolicy, fractional: bool) -> bool:
    if policy.default is not None and _same_representation(amount, Quantity.parse(policy.default)):
        return False
    allowed = policy.valid_range
    if allowed is None:
        return bool(policy.valid_values) and all(amount != Quantity.parse(value) for value in policy.valid_values)
    if allowed.max is not None and amount > Quantity.parse(allowed.max):
        return True
    if allowed.step is None:
        return False
    step, minimum = Quantity.parse(allowed.step), Quantity.parse(allowed.min or "0")
    if _counts_in_milli(allowed, fractional):
        milli = _exact_milli(amount)
        return milli is None or _remainder(milli - minimum.milli_value(), step.milli_value()) != 0
    return _remainder(amount.value() - minimum.value(), step.value()) != 0


def _same_representation(amount: Quantity, default: Quantity) -> bool:
    # Upstream compares the Go structs, not the values: two arbitrary-precision numbers are never the same, and a text that was kept
    # differs from a computed number. It matters only for defaults that break their own policy.
    return (
        not amount.big
        and not default.big
        and (amount.mantissa, amount.exponent, amount.format, amount.text)
        == (default.mantissa, default.exponent, default.format, default.text)
    )


def _counts_in_milli(allowed: CapacityRequestPolicyRange, fractional: bool) -> bool:
    """True if the range is computed in thousandths.

    The gate is on, all of it is exact in thousandths, and the step is at least one.
    """
    if not fractional:
        return False
    bounds = [Quantity.parse(text) for text in (allowed.min, allowed.max, allowed.step) if text is not None]
    if any(_exact_milli(bound) is None for bound in bounds):
        return False
    return allowed.step is None or Quantity.parse(allowed.step).nano >= _MILLI


def _exact_milli(quantity: Quantity) -> int | None:
    milli, rest = divmod(quantity.nano, _MILLI)
    return milli if rest == 0 and -_INT64_MAX - 1 <= milli <= _INT64_MAX else None


def _unrepresentable(reason: str) -> CapacityError:
    return CapacityError(f"capacity request cannot be represented in the device's range arithmetic: {reason}")


# Go divides towards zero and wraps around; with a negative minimum (which validation refuses) that shows.


def _divide(number: int, by: int) -> int:
    if by == 0:
        raise CapacityError("the step of a request policy is zero")
    quotient = abs(number) // abs(by)
    return quotient if (number >= 0) == (by >= 0) else -quotient


def _remainder(number: int, by: int) -> int:
    return number - by * _divide(number, by)


def _wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63
