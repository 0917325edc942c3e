"""Canonical text of quantities and times: an object is rewritten once, at decoding, to what the API server would hand back.

The API server parses `"1024Mi"` and answers `"1Gi"`; a time with an offset comes back in UTC, without fractions, and Go's zero time
as null. Everything after decoding may therefore compare text where equal values are meant. Objects that a server wrote are
canonical already, so the common case costs one set lookup per capacity and copies nothing.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

import msgspec

from reparto.model import v1
from reparto.model.quantity import Quantity
from reparto.model.shapes import Shape, shape_of

_S = TypeVar("_S", bound=msgspec.Struct)

RFC3339 = "2006-01-02T15:04:05Z07:00"
ZERO_TIME = "0001-01-01T00:00:00Z"
"""Go's zero time, which its JSON writes as null."""

_time = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|([+-])(\d\d):(\d\d))").fullmatch
_nanoseconds = re.compile(r"[.,]0*[1-9]").search  # Go keeps nine digits; nobody writes more

# Capacities and counters that hold canonical text and nothing else: 160,000 devices share a few hundred.
_KNOWN_LIMIT = 50_000
_known: set[v1.DeviceCapacity] = set()


class TimeError(ValueError):
    """Text that is not an RFC 3339 time; the message is Go's."""


@lru_cache(maxsize=65_536)
def canonical_quantity(text: str) -> str:
    """`text` as the API server would write the same quantity. Raises `QuantityError`."""
    return str(Quantity.parse(text.strip(" \t\r\n")))


def checked_quantity(text: str) -> str:
    """`text` without the blanks around it, if it is a quantity. Raises `QuantityError`."""
    canonical_quantity(text)
    return text.strip(" \t\r\n")


@lru_cache(maxsize=65_536)
def canonical_time(text: str) -> str:
    """`text` in UTC with whole seconds (`2026-11-30T18:00:00Z`). Raises `TimeError`.

    Source: apimachinery `meta/v1/time.go`; the layout is RFC 3339 as Go's `time.Parse` reads it (an hour may have one digit).
    """
    parts = _time(text)
    if parts is None:
        raise TimeError(f'parsing time "{text}" as "{RFC3339}": cannot parse "{text}" as an RFC 3339 time')
    year, month, day, hour, minute, second = (int(part) for part in parts.groups()[:6])
    try:
        # Python knows the years 1 to 9999, Go more; the calendar repeats itself after 400 years.
        cycle = 400 if year < 400 else -400 if year > 9600 else 0
        moment = datetime(year + cycle, month, day, hour, minute, second, tzinfo=UTC)
        if parts[7]:
            if int(parts[8]) > 24 or int(parts[9]) > 59:
                raise ValueError("time zone offset out of range")
            offset = timedelta(hours=int(parts[8]), minutes=int(parts[9]))
            moment = moment - offset if parts[7] == "+" else moment + offset
    except (ValueError, OverflowError) as problem:
        raise TimeError(f'parsing time "{text}": {problem}') from None
    return f"{moment.year - cycle:04}-{moment.month:02}-{moment.day:02}T{moment.hour:02}:{moment.minute:02}:{moment.second:02}Z"


def _written_time(text: str) -> str | None:
    """A time as Go's JSON writes it; None for the zero time, which a fraction of a second makes another one."""
    canonical = canonical_time(text)
    return None if canonical == ZERO_TIME and not _nanoseconds(text) else canonical


def canonicalise(obj: _S, keep: bool = False) -> _S:
    """`obj` with every quantity and time in canonical text: `obj` itself where that is so already.

    `keep` leaves quantities as they are written, but for blanks around them, and only checks them: rules of validation look at the
    digits that were sent (`0.25` is not `250m` to them).
    Raises `ValueError` (`QuantityError`, `TimeError`) at the first text that is neither. Cost on an object from a server: one set
    lookup per capacity.
    """
    if type(obj) is v1.ResourceSlice:
        return cast(_S, _slice(obj, keep))
    return _rewrite(obj, keep)


def _slice(obj: v1.ResourceSlice, keep: bool) -> v1.ResourceSlice:
    spec = obj.spec
    meta = _rewrite(obj.metadata, keep)
    if meta is not obj.metadata:
        obj = msgspec.structs.replace(obj, metadata=meta)
    if spec.shared_counters:
        spec = msgspec.structs.replace(spec, shared_counters=tuple(_rewrite(each, keep) for each in spec.shared_counters))
    if spec.devices:
        rewritten = [device if _plain(device) else _rewrite(device, keep) for device in spec.devices]
        if any(new is not old for new, old in zip(rewritten, spec.devices, strict=True)):
            spec = msgspec.structs.replace(spec, devices=tuple(rewritten))
    return obj if spec is obj.spec else msgspec.structs.replace(obj, spec=spec)


def _plain(device: v1.Device) -> bool:
    if device.taints or device.consumes_counters or device.node_allocatable_resources:
        return False
    capacity = device.capacity
    if not capacity or _known.issuperset(capacity.values()):
        return True
    plain = True
    for each in capacity.values():
        if each not in _known:
            if each.request_policy is None and canonical_quantity(each.value) == each.value:
                if len(_known) >= _KNOWN_LIMIT:
                    _known.clear()
                _known.add(each)
            else:
                plain = False
    return plain


def _rewrite(obj: _S, keep: bool) -> _S:
    rewrite = _rewriter(type(obj), keep)
    return obj if rewrite is None else rewrite(obj)


@cache
def _rewriter(struct: type[msgspec.Struct], keep: bool) -> Callable[[Any], Any] | None:
    """The function that canonicalises a struct; None where the struct holds no quantity and no time at any depth."""
    steps = [
        (field.attribute, step) for field in shape_of(struct).fields.values() if (step := _step(field.shape, keep)) is not None
    ]
    if struct is v1.DeviceTaint:
        # A zero time is a time that is set: defaults leave it alone, and drop it themselves.
        steps = [("time_added", _same_or(canonical_time))]
    if not steps:
        return None

    def rewrite(obj: Any) -> Any:
        changes: dict[str, Any] = {}
        for attribute, step in steps:
            old = getattr(obj, attribute)
            if old is not None and (new := step(old)) is not old:
                changes[attribute] = new
        return msgspec.structs.replace(obj, **changes) if changes else obj

    return rewrite


def _step(shape: Shape, keep: bool) -> Callable[[Any], Any] | None:
    match shape.kind:
        case "quantity":
            return _same_or(checked_quantity if keep else canonical_quantity)
        case "time":
            return _same_or(_written_time)
        case "struct":
            assert shape.struct is not None
            return _rewriter(shape.struct, keep)
        case "list":
            assert shape.item is not None
            step = _step(shape.item, keep)
            return None if step is None else _each(step)
        case "map":
            assert shape.item is not None
            step = _step(shape.item, keep)
            return None if step is None else _values(step)
        case _:
            return None


def _same_or(function: Callable[[str], str | None]) -> Callable[[str], str | None]:
    def step(text: str) -> str | None:
        canonical = function(text)
        return text if canonical == text else canonical

    return step


def _each(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def rewrite(items: Any) -> Any:
        new = [step(item) for item in items]
        if all(one is other for one, other in zip(new, items, strict=True)):
            return items
        return tuple(new) if isinstance(items, tuple) else new

    return rewrite


def _values(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def rewrite(items: dict[str, Any]) -> dict[str, Any]:
        new = {key: step(value) for key, value in items.items()}
        return items if all(new[key] is items[key] for key in items) else new

    return rewrite
