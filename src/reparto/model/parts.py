"""Parts of slices that repeat from device to device: the same text is read once and is the same object wherever it stands.

A cluster has a million devices, and among them a few hundred different attributes, capacities and counter consumptions. So a slice
is first read without looking inside its parts, and each part is then looked up by its text: what was met before is not decoded,
made canonical or stored again. Nothing is shared beyond one input: whoever reads it brings the `SharedParts`.

Only what is good is remembered. A part that cannot be read raises each time it is met, and the caller then goes through the whole
object by the exact way (`reparto.model.decoding`), which knows its path and the server's words.
"""

from collections.abc import Callable
from functools import cache
from sys import intern
from typing import Any, Final, Generic, TypeVar, cast

import msgspec
from msgspec import NODEFAULT, Raw
from msgspec.structs import astuple, fields

from reparto.model import v1
from reparto.model.canonical import canonicalise
from reparto.model.meta import Strict

_T = TypeVar("_T")

# How many texts are remembered. Identifiers (uuid, serial) make attributes, and maps of them, that never come again: they push
# everything out from time to time, and the few that do repeat are read once more.
_VALUES: Final = 1 << 15
_MAPS: Final = 1 << 12
_CONSUMPTIONS: Final = 1 << 14
_LONGEST: Final = 1 << 14  # bytes of a text worth remembering: eight counter sets of a driver are 4 kB


class SharedParts:
    """The parts of the slices of one input. Their dicts stand in many devices: nobody may change them."""

    def __init__(self) -> None:
        attributes = _Table[v1.DeviceAttribute](_decoder(v1.DeviceAttribute).decode, _VALUES)
        self._attribute_maps = _Table[Any](_attribute_map(attributes), _MAPS)
        self._capacities = _Table[Any](_reader(dict[str, v1.DeviceCapacity] | None), _MAPS)
        self._consumptions = _Table[Any](_reader(tuple[v1.DeviceCounterConsumption, ...]), _CONSUMPTIONS)
        self._counter_sets = _Table[Any](_reader(tuple[v1.CounterSet, ...] | None), _MAPS)

    def read_slice(self, raw: bytes | memoryview | Raw) -> v1.ResourceSlice:
        """The slice of this JSON text, strictly, quantities and times canonical: equal to what decoding it as a whole gives.

        Raises ValueError (msgspec's, QuantityError, TimeError) or RecursionError for whatever is not as it should be. Cost: 350
        MB/s where parts repeat, that of decoding each part by itself where they do not.
        """
        decoder, counters_at, devices_at = _slice_decoder()
        found: Any = decoder.decode(raw)
        spec = list(astuple(found.spec))
        spec[counters_at] = self._counter_sets[bytes(spec[counters_at])]
        if spec[devices_at] is not None:
            spec[devices_at] = tuple(self._devices(spec[devices_at]))
        return v1.ResourceSlice(found.api_version, canonicalise(found.metadata), v1.ResourceSliceSpec(*spec))

    def _devices(self, texts: tuple[msgspec.Struct, ...]) -> list[v1.Device]:
        attribute_maps, capacities, consumptions = self._attribute_maps, self._capacities, self._consumptions
        devices: list[v1.Device] = []
        for each in texts:
            name, attributes, capacity, consumed, *rest = astuple(each)
            device = v1.Device(
                intern(name), attribute_maps[bytes(attributes)], capacities[bytes(capacity)], consumptions[bytes(consumed)], *rest
            )
            if device.taints or device.node_allocatable_resources:
                device = canonicalise(device)  # times and quantities that are in none of the parts
            devices.append(device)
        return devices


class _Table(dict[bytes, _T], Generic[_T]):
    """Parts by their text. One that is not there is read and remembered; `read` raises ValueError for a broken one."""

    def __init__(self, read: Callable[[bytes], _T], limit: int) -> None:
        super().__init__()
        self._read, self._limit = read, limit

    def __missing__(self, text: bytes) -> _T:
        part = self._read(text)
        if len(text) <= _LONGEST:
            if len(self) >= self._limit:
                self.clear()
            self[text] = part
        return part


def _attribute_map(known: _Table[v1.DeviceAttribute]) -> Callable[[bytes], dict[str, v1.DeviceAttribute] | None]:
    """Reads a device's attributes, each looked up among those that are known."""
    decode = _decoder(dict[str, Raw] | None).decode

    def read(text: bytes) -> dict[str, v1.DeviceAttribute] | None:
        texts = decode(text)
        return None if texts is None else {name: known[bytes(value)] for name, value in texts.items()}

    return read


def _reader(of: Any) -> Callable[[bytes], Any]:
    """Reads a part of this type and makes it canonical."""
    decode = _decoder(of).decode
    return lambda text: _canonical(decode(text))


@cache
def _decoder(of: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(of)  # made when needed: it looks into every struct of the type


def _canonical(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: canonicalise(each) for name, each in cast("dict[str, Any]", part).items()}
    if isinstance(part, tuple):
        return tuple([canonicalise(each) for each in cast("tuple[Any, ...]", part)])
    return part


@cache
def _slice_decoder() -> tuple[msgspec.json.Decoder[Any], int, int]:
    """Of slices whose parts stay text, and where counter sets and devices stand among the fields of their spec."""
    assert [field.name for field in fields(v1.Device)][:4] == ["name", "attributes", "capacity", "consumes_counters"]
    device = _left_as_text(v1.Device, {"attributes": Raw, "capacity": Raw, "consumes_counters": Raw})
    spec = _left_as_text(v1.ResourceSliceSpec, {"devices": tuple[device, ...] | None, "shared_counters": Raw})
    slice_ = _left_as_text(v1.ResourceSlice, {"spec": spec}, tag_field="kind", tag="ResourceSlice")
    names = [field.name for field in fields(v1.ResourceSliceSpec)]
    return msgspec.json.Decoder(slice_), names.index("shared_counters"), names.index("devices")


def _left_as_text(struct: type[msgspec.Struct], other: dict[str, Any], **config: Any) -> type[msgspec.Struct]:
    """`struct` with other types for some fields. What is absent from a field that stays text reads as its default."""

    def default(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
        kind = other.get(field.name)
        if kind is Raw:
            return {"default": Raw(msgspec.json.encode(field.default))}
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return {"default": kind()}
        return {"default": field.default} if field.default is not NODEFAULT else {"default_factory": field.default_factory}

    own = [
        (field.name, other.get(field.name, field.type), msgspec.field(name=field.encode_name, **default(field)))
        for field in fields(struct)
    ]
    return msgspec.defstruct(f"{struct.__name__}Text", own, bases=(Strict,), frozen=True, gc=False, **config)
