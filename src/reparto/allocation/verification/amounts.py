"""What a share of a device consumes of one capacity, worked out from its request policy: the checker's own reading of KEP-5075.

All arithmetic is on whole numbers of 1e-9 units, without int64: what upstream cannot represent is refused here by its size, and
nothing wraps around. A default is recognised by value. Upstream compares how it is written, which differs only for defaults that
contradict their own policy; validation refuses those.

Source: upstream-dra.md 3.11; KEP-5075, "Consumable Capacity".
"""

from collections.abc import Mapping

from reparto.model.quantity import Quantity
from reparto.model.v1 import CapacityRequestPolicyRange, DeviceCapacity

_UNIT = 10**9
_THOUSANDTH = 10**6
_LARGEST = 2**63 - 1


class Unobtainable(ValueError):
    """The device cannot serve the request; the text says why."""


def nano(text: str) -> int:
    """A quantity in 1e-9 units."""
    return Quantity.parse(text).nano


def written(amount: int) -> str:
    """An amount of 1e-9 units, for messages: exact, in plain digits."""
    whole, rest = divmod(abs(amount), _UNIT)
    return f"{'-' if amount < 0 else ''}{whole}" + (f".{rest:09d}".rstrip("0") if rest else "")


def consumption(capacity: Mapping[str, DeviceCapacity], requests: Mapping[str, str], fractional: bool) -> dict[str, int]:
    """What a request consumes of every capacity of a device, in 1e-9 units; raises Unobtainable.

    Whether the device has that much is another question: the sum over all shares decides.
    """
    lacking = sorted(name for name in requests if name not in capacity)
    if lacking:
        raise Unobtainable(f"asks for capacity {lacking[0]}, which the device does not have")
    return {name: _consumption(name, requests.get(name), published, fractional) for name, published in capacity.items()}


def _consumption(name: str, requested: str | None, published: DeviceCapacity, fractional: bool) -> int:
    policy = published.request_policy
    default = published.value if policy is None or policy.default is None else policy.default
    amount = nano(default if requested is None else requested)
    allowed = None if policy is None else policy.valid_range
    listed = [] if policy is None else [nano(value) for value in policy.valid_values]
    if requested is not None and allowed is not None and allowed.min is not None:
        amount = _next_in_range(name, amount, allowed, fractional)
    elif requested is not None and allowed is None:
        amount = min((value for value in listed if value >= amount), default=amount)
    if amount < 0:
        raise Unobtainable(f"consumes {written(amount)} of capacity {name}, which is negative")
    if policy is None or (policy.default is not None and amount == nano(policy.default)):
        return amount
    if allowed is not None and allowed.max is not None and amount > nano(allowed.max):
        raise Unobtainable(f"consumes {written(amount)} of capacity {name}, of which one share may have {allowed.max} at most")
    if allowed is not None and allowed.step is not None and not _on_a_step(amount, allowed, fractional):
        raise Unobtainable(f"consumes {written(amount)} of capacity {name}, which is handed out in steps of {allowed.step}")
    if allowed is None and listed and amount not in listed:
        offered = ", ".join(policy.valid_values)
        raise Unobtainable(f"consumes {written(amount)} of capacity {name}, of which a share has one of {offered}")
    return amount


def _next_in_range(name: str, amount: int, allowed: CapacityRequestPolicyRange, fractional: bool) -> int:
    least = nano(allowed.min or "0")
    if amount < least:
        return least
    if allowed.step is None:
        return amount
    if nano(allowed.step) <= 0:
        raise Unobtainable(f"asks for capacity {name}, which is handed out in steps of {allowed.step}")
    unit = _unit(allowed, fractional)
    if amount > _LARGEST * unit or (unit == _THOUSANDTH and amount % unit):
        raise Unobtainable(f"asks for {written(amount)} of capacity {name}, which cannot be counted in units of {written(unit)}")
    start, step = _up(least, unit), _up(nano(allowed.step), unit)
    rounded = start + step * _up(_up(amount, unit) - start, step)
    if rounded > _LARGEST:
        raise Unobtainable(f"asks for {written(amount)} of capacity {name}; the next step is too large a number")
    return rounded * unit


def _on_a_step(amount: int, allowed: CapacityRequestPolicyRange, fractional: bool) -> bool:
    unit = _unit(allowed, fractional)
    if nano(allowed.step or "1") <= 0 or (unit == _THOUSANDTH and amount % unit):
        return False
    return (_up(amount, unit) - _up(nano(allowed.min or "0"), unit)) % _up(nano(allowed.step or "1"), unit) == 0


def _unit(allowed: CapacityRequestPolicyRange, fractional: bool) -> int:
    """Steps are counted in whole numbers; in thousandths if the gate is on and the whole range can be written so."""
    bounds = [nano(text) for text in (allowed.min, allowed.max, allowed.step) if text is not None]
    small = all(bound % _THOUSANDTH == 0 and -_LARGEST - 1 <= bound // _THOUSANDTH <= _LARGEST for bound in bounds)
    return _THOUSANDTH if fractional and small and nano(allowed.step or "1") >= _THOUSANDTH else _UNIT


def _up(number: int, by: int) -> int:
    return -(-number // by)
