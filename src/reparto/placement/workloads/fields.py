"""Reading the fields of objects whose schema is not ours: each value is checked where it is used, and never trusted.

Custom resources come without a schema, from charts half rendered and from hands. A field of the wrong type is an error that names
its path (`MalformedField`); one that only rendering tells (`{{ .Values.n }}`, `${N}`) is a doubt, said with what was assumed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from reparto.model.errors import DecodeError

Json = Mapping[str, Any]

_EXPRESSION = re.compile(r"\{\{.*\}\}|\$\{.*\}|\$\(.*\)|^\$[A-Za-z_]\w*$|^<.+>$", re.DOTALL)
_MAX_INT32 = 2**31 - 1


class MalformedField(ValueError):
    """A field that its controller could not read: `path`, what was found there, what is wrong with it, and what to write.

    `others` are further errors of the same object.
    """

    def __init__(self, path: str, found: object, expected: str, hint: str = "") -> None:
        self.message = f"{expected} is expected"
        super().__init__(f"{path}: {self.message}")
        self.path, self.found, self.hint = path, found, hint
        self.others: tuple[MalformedField, ...] = ()

    @classmethod
    def of(cls, error: DecodeError, path: str) -> "MalformedField":
        """What decoding refused, with its paths below `path`."""
        found = cls(f"{path}.{error.path}" if error.path else path, error.value, "", error.hint)
        found.message = error.message
        found.others = tuple(cls.of(other, path) for other in error.others)
        return found


class Fields:
    """A mapping inside an object, with its path. Absent mappings read as empty ones, so that paths can be followed blindly."""

    def __init__(self, value: Json, path: str, doubts: list[str]) -> None:
        self.value, self.path, self._doubts = value, path, doubts

    def __bool__(self) -> bool:
        return bool(self.value)

    def __contains__(self, name: str) -> bool:
        return self.value.get(name) is not None

    def path_of(self, name: str) -> str:
        """The path of a field of this mapping."""
        return f"{self.path}.{name}" if self.path else name

    def at(self, *names: str) -> "Fields":
        """The mapping at a path below this one; MalformedField where something else is there."""
        here = self
        for name in names:
            value, path = here.value.get(name), here.path_of(name)
            if value is None:
                value = {}
            if not isinstance(value, Mapping):
                raise MalformedField(path, value, "a mapping")
            here = Fields(cast(Json, value), path, self._doubts)
        return here

    def items(self, name: str) -> list["Fields"]:
        """The mappings of a list; empty where it is absent."""
        path = self.path_of(name)
        found: list[Fields] = []
        for index, value in enumerate(self.sequence(name)):
            if not isinstance(value, Mapping):
                raise MalformedField(f"{path}[{index}]", value, "a mapping")
            found.append(Fields(cast(Json, value), f"{path}[{index}]", self._doubts))
        return found

    def entries(self, name: str) -> Iterator[tuple[str, "Fields"]]:
        """The named mappings of a mapping, in the order written."""
        inner = self.at(name)
        for key in inner.value:
            yield str(key), inner.at(key)

    def sequence(self, name: str) -> list[Any]:
        """A list, whatever its items are; empty where it is absent."""
        value = self.value.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise MalformedField(self.path_of(name), value, "a list")
        return cast("list[Any]", value)

    def text(self, name: str, default: str = "") -> str:
        value = self.value.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise MalformedField(self.path_of(name), value, "text")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.value.get(name)
        if value is None:
            return default
        if isinstance(value, str) and is_expression(value):
            self.doubt(f"{self.path_of(name)} is {value!r}, which only rendering tells: {str(default).lower()} was assumed")
            return default
        if not isinstance(value, bool):
            raise MalformedField(self.path_of(name), value, "true or false")
        return value

    def number(self, name: str, default: int) -> int:
        """A count, at least 0; `default` where it is absent, and, as a doubt, where it is an expression."""
        value = self.value.get(name)
        return default if value is None else self._count(name, value, default)

    def optional_number(self, name: str) -> int | None:
        """A count, or None where the field is absent."""
        value = self.value.get(name)
        return None if value is None else self._count(name, value, 1)

    def labels(self, name: str) -> dict[str, Any]:
        """A mapping of labels or annotations as written; decoding the pod judges the values."""
        return dict(self.at(name).value)

    def doubt(self, text: str) -> None:
        """Say what was assumed about this object."""
        self._doubts.append(text)

    def _count(self, name: str, value: object, assumed: int) -> int:
        path = self.path_of(name)
        if isinstance(value, str) and is_expression(value):
            self.doubt(f"{path} is {value!r}, which only rendering tells: {assumed} was assumed")
            return assumed
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise MalformedField(path, value, "a whole number")
        if not 0 <= value <= _MAX_INT32:
            raise MalformedField(path, value, "a number from 0 to 2147483647")
        return value


def mapping(value: Any, *names: str) -> Json:
    """The mapping at a path inside `value`; empty where there is none."""
    for name in names:
        value = cast(Json, value).get(name) if isinstance(value, Mapping) else None
    return cast(Json, value) if isinstance(value, Mapping) else {}


def listing(value: Any) -> list[Json]:
    """The mappings of a list; empty where it is none."""
    return [cast(Json, item) for item in cast("list[Any]", value) if isinstance(item, Mapping)] if isinstance(value, list) else []


def is_expression(text: str) -> bool:
    """Whether `text` stands for something that a template engine, an environment or a person would put there."""
    return _EXPRESSION.search(text) is not None
