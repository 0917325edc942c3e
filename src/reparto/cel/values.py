"""Run-time values of CEL and what every library needs of them: type names, hashing, size.

CEL's types are mapped so that the common ones are plain Python values, which is what makes compiled selectors fast:

    bool -> bool      int -> int        uint -> UInt       double -> float    string -> str      bytes -> bytes
    null -> None      list -> tuple     map -> MapValue    type -> TypeValue  optional -> Optional
    duration -> Duration                timestamp -> Timestamp
    Quantity -> reparto.model.quantity.Quantity            Semver -> reparto.model.semver.Semver
    net.IP -> IPAddress    net.CIDR -> Network    kubernetes.URL -> Url    kubernetes.NamedFormat -> Format

Python's `bool` is an `int` and `1 == 1.0 == True`; CEL disagrees, so nothing here compares values with `==` without looking at
their exact types first. Two things can go wrong while evaluating: a `Failure` is an ordinary CEL error, which `&&`, `||` and `?:`
may absorb and which travels as a value; an `InternalFailure` is where the reference panics, and ends the evaluation at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

import msgspec

from reparto.model.quantity import Quantity
from reparto.model.semver import Semver

if TYPE_CHECKING:

    def kind_of(value: object) -> type[object]: ...
else:
    kind_of = type
"""`type`, for the type checker: of a value that may be anything it makes a type of which nothing is known."""

Value: TypeAlias = Any
"""Any of the values above, or a `Failure`. CEL is dynamically typed; every consumer looks at `type(value)`."""

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1
LIST_LIMIT: Final = 4_000_000
"""Longest list or text that is ever built. The reference concatenates lazily, so that doubling a list outruns any budget."""


class Failure(Exception):
    """A CEL run-time error: functions raise it, the evaluator passes it on as a value. `node` is the id of the node that failed."""

    __slots__ = ("message", "node")

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.node = -1


class InternalFailure(Exception):
    """The reference panics here and reports "internal error: …"; no operator absorbs it."""

    def __init__(self, message: str) -> None:
        super().__init__(f"internal error: {message}")


class BudgetExceeded(Exception):
    """The evaluation costs more than its limit allows."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class UInt(int):
    """An unsigned 64-bit integer; never mixed with `int` in arithmetic."""

    __slots__ = ()


class TypeValue:
    """A type as a value: what `type(x)` returns and what a type name evaluates to."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is TypeValue and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"TypeValue({self.name!r})"


class Optional:
    """A value that may be absent. `NONE` is the absent one; `value` of it is `NONE` itself, never to be read."""

    __slots__ = ("present", "value")

    def __init__(self, value: Value, present: bool = True) -> None:
        self.value = value
        self.present = present

    def __repr__(self) -> str:
        return f"Optional({self.value!r})" if self.present else "NONE"


NONE: Final = Optional(None, present=False)


class Duration:
    """A signed span of nanoseconds within 64 bits."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        self.nanos = nanos

    def __eq__(self, other: object) -> bool:
        return type(other) is Duration and other.nanos == self.nanos

    def __hash__(self) -> int:
        return hash(("duration", self.nanos))

    def __repr__(self) -> str:
        return f"Duration({self.nanos})"


class Timestamp:
    """An instant: seconds since 1970, nanoseconds within the second, and the UTC offset that it was written in."""

    __slots__ = ("nanos", "offset", "seconds")

    def __init__(self, seconds: int, nanos: int = 0, offset: int = 0) -> None:
        self.seconds = seconds
        self.nanos = nanos
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        return type(other) is Timestamp and other.seconds == self.seconds and other.nanos == self.nanos

    def __hash__(self) -> int:
        return hash(("timestamp", self.seconds, self.nanos))

    def __repr__(self) -> str:
        return f"Timestamp({self.seconds}, {self.nanos}, {self.offset})"


class EmptyMessage:
    """The only message that stays one: `google.protobuf.Empty{}`. All are equal, none has a field."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is EmptyMessage

    def __hash__(self) -> int:
        return 0


class ComputedQuantity(Quantity, frozen=True, eq=False):
    """A quantity that `add` or `sub` returned: a pointer in the reference, which is an error on the right of `==`."""


class OwnQuantity(Quantity, frozen=True, eq=False):
    """A quantity that belongs to one evaluation, so that `hold_as_decimal` may change it."""


def hold_as_decimal(left: Quantity, right: Quantity) -> None:
    """What the reference does to the receiver of `compareTo`, `isLessThan` and `isGreaterThan` (not of `==`): next to an
    arbitrary-precision one it becomes one itself.

    Nothing shows it but `isInteger` and `asInteger`. Quantities that are shared between evaluations are left alone; expressions
    that use one of the two never meet any.
    """
    if right.big and not left.big and type(left) in (OwnQuantity, ComputedQuantity):
        msgspec.structs.force_setattr(left, "big", True)


class IPAddress:
    """An IPv4 (32 bits) or IPv6 (128 bits) address without zone."""

    __slots__ = ("bits", "number")

    def __init__(self, number: int, bits: int) -> None:
        self.number = number
        self.bits = bits

    def __eq__(self, other: object) -> bool:
        return type(other) is IPAddress and other.number == self.number and other.bits == self.bits

    def __hash__(self) -> int:
        return hash(("ip", self.number, self.bits))


class Network:
    """A CIDR: an address (host bits are kept) and the length of its prefix."""

    __slots__ = ("address", "length")

    def __init__(self, address: IPAddress, length: int) -> None:
        self.address = address
        self.length = length

    def __eq__(self, other: object) -> bool:
        return type(other) is Network and other.address == self.address and other.length == self.length

    def __hash__(self) -> int:
        return hash(("cidr", self.address, self.length))


class Url:
    """A parsed absolute URI or absolute path; `text` is its canonical spelling, by which URLs compare."""

    __slots__ = ("escaped_path", "host", "hostname", "port", "query", "scheme", "text")

    def __init__(self, text: str, scheme: str, host: str, hostname: str, port: str, escaped_path: str, query: str) -> None:
        self.text = text
        self.scheme = scheme
        self.host = host
        self.hostname = hostname
        self.port = port
        self.escaped_path = escaped_path
        self.query = query


class Format:
    """A named text format: `check` lists what is wrong with a text, `pattern_size` is the size that its cost assumes."""

    __slots__ = ("check", "name", "pattern_size")

    def __init__(self, name: str, check: Callable[[str], list[str]], pattern_size: int) -> None:
        self.name = name
        self.check = check
        self.pattern_size = pattern_size


Key: TypeAlias = Any
"""A map key made hashable and distinct: `str` and `int` stand for themselves, everything else is `(tag, value)`."""

UNHASHABLE: Final = {bytes: "types.Bytes", Semver: "cel.Semver", Format: "cel.Format"}
"""Go types that panic when hashed."""


class _Identity:
    """Hashes a value by identity: the reference keys such values by pointer."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Identity and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of(value: Value) -> Key:
    """The key under which a value lies in a map or set.

    Raises InternalFailure for values that the reference cannot hash (bytes, Semver).
    """
    kind = kind_of(value)
    if kind is str or kind is int:
        return value
    if kind is bool:
        return ("bool", value)
    if kind is UInt:
        return ("uint", value)
    if kind is float:
        # NaN is never found again, not even by itself.
        return ("double", value) if value == value else ("nan", object(), value)
    if value is None:
        return ("null", None)
    if kind in UNHASHABLE:
        raise InternalFailure(f"runtime error: hash of unhashable type {UNHASHABLE[kind]}")
    if kind in (Duration, Timestamp, IPAddress, Network, TypeValue):
        return (kind.__name__, value)
    return ("identity", _Identity(value), value)


def value_of_key(key: Key) -> Value:
    """The value that `key_of` was given."""
    kind = kind_of(key)
    if kind is str or kind is int:
        return key
    return key[-1]


class MapValue:
    """A map. `entries` is keyed by `key_of`; `fallback` is what reading an absent key yields (the domain maps of a device).

    The fallback is seen by selection, indexing and `has`, but neither by `in` nor by iteration. A map `of_device` knows no keys but
    text: it answers for every other value that it is absent, also for one that cannot be hashed.
    """

    __slots__ = ("entries", "fallback", "of_device")

    def __init__(self, entries: dict[Key, Value], fallback: MapValue | None = None, of_device: bool = False) -> None:
        self.entries = entries
        self.fallback = fallback
        self.of_device = of_device

    def __len__(self) -> int:
        return len(self.entries)

    def keys(self) -> Iterator[Value]:
        for key in self.entries:
            yield value_of_key(key)

    def items(self) -> Iterator[tuple[Value, Value]]:
        for key, value in self.entries.items():
            yield value_of_key(key), value

    def get(self, key: Value, missing: Value) -> Value:
        """The value under `key`, numeric keys across int, uint and double; else `missing`. Does not look at the fallback."""
        entries = self.entries
        kind = kind_of(key)
        if kind is str:
            found = entries.get(key, missing)
            # The reference wraps a list attribute anew each time that it is read, and as a map key a list equals only itself.
            return (*found,) if self.of_device and kind_of(found) is tuple else found
        if not entries or self.of_device:
            return missing
        coded = key_of(key)
        if coded in entries:
            return entries[coded]
        if kind is float:
            if key.is_integer():
                whole = int(key)
                if INT_MIN < whole <= INT_MAX and whole in entries:
                    return entries[whole]
                if 0 <= whole <= UINT_MAX:
                    return entries.get(("uint", whole), missing)
        elif kind is int:
            if key >= 0:
                return entries.get(("uint", key), missing)
        elif kind is UInt and key <= INT_MAX:
            return entries.get(int(key), missing)
        return missing

    def find(self, key: Value, missing: Value) -> Value:
        """Like `get`, but an absent key yields the fallback if the map has one."""
        found = self.get(key, missing)
        if found is missing and self.fallback is not None:
            return self.fallback
        return found


EMPTY_MAP: Final = MapValue({})

_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    tuple: "list",
    MapValue: "map",
    TypeValue: "type",
    Optional: "optional_type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Quantity: "kubernetes.Quantity",
    ComputedQuantity: "kubernetes.Quantity",
    OwnQuantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    IPAddress: "net.IP",
    Network: "net.CIDR",
    Url: "kubernetes.URL",
    Format: "kubernetes.NamedFormat",
    EmptyMessage: "google.protobuf.Empty",
    Failure: "error",
}

_GO_NAMES: Final[dict[type, str]] = {
    bool: "types.Bool",
    int: "types.Int",
    UInt: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    tuple: "*types.baseList",
    MapValue: "*types.baseMap",
    TypeValue: "*types.Type",
    Optional: "*types.Optional",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    Quantity: "cel.Quantity",
    ComputedQuantity: "*cel.Quantity",
    OwnQuantity: "cel.Quantity",
    Semver: "cel.Semver",
    IPAddress: "cel.IP",
    Network: "cel.CIDR",
    Url: "cel.URL",
    Format: "cel.Format",
    EmptyMessage: "*types.protoObj",
    Failure: "*types.Err",
}


def type_name(value: Value) -> str:
    """The CEL name of a value's run-time type."""
    return _NAMES[type(value)]


def go_type_name(value: Value) -> str:
    """The name of the Go type that carries this value in the reference; some error texts show it."""
    return _GO_NAMES[type(value)]


def is_failure(value: Value) -> TypeGuard[Failure]:
    return type(value) is Failure


def is_list(value: Value) -> TypeGuard[tuple[Value, ...]]:
    return type(value) is tuple


def no_such_overload() -> Failure:
    return Failure("no such overload")


COMPARABLE: Final = frozenset((bool, int, UInt, float, str, bytes, Duration, Timestamp))
ADDABLE: Final = frozenset((int, UInt, float, str, bytes, tuple, Duration, Timestamp))
SIZED: Final = frozenset((str, bytes, tuple, MapValue))

QUANTITIES: Final = frozenset((Quantity, OwnQuantity, ComputedQuantity))
KUBERNETES_TYPES: Final = frozenset((*QUANTITIES, Semver, IPAddress, Network, Url, Format))
"""Types whose equality with another type is an error rather than false, but only when they stand on the left."""


def size(value: Value) -> int:
    """What cost rules take for a value's size: code points, bytes, elements, bytes of an address; 1 for everything else."""
    kind = kind_of(value)
    if kind in SIZED:
        return len(value)
    if kind is IPAddress:
        return value.bits // 8
    if kind is Network:
        return math.ceil(value.length / 8)
    return 1


def is_zero(value: Value) -> bool:
    """Whether `optional.ofNonZeroValue` treats the value as absent. Kubernetes' own types never are."""
    kind = kind_of(value)
    if kind in (str, bytes, tuple, MapValue):
        return len(value) == 0
    if kind in (int, UInt, float, bool):
        return value == 0
    if kind is Duration:
        return value.nanos == 0
    if kind is Timestamp:
        return value.seconds == -62135596800 and value.nanos == 0
    return value is None
