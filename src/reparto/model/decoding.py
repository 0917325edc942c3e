"""Decoding, strictly, as kube-apiserver does under strict field validation.

Two paths with one verdict. The fast one is msgspec's, straight from bytes or a dict into frozen structs. Where that refuses, or
where a quantity or time needs another spelling, the slow one walks the object by its declared types as Go's JSON decoder would:
null means absent, numbers are not strings, quantities may be numbers, every unknown field is found, and each error says where it
is and what to write instead.

Source: `sigs.k8s.io/json` (case sensitive, strict errors), apimachinery `serializer/json`; checked against 1.37.2.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import msgspec

from reparto.model import core, v1
from reparto.model.canonical import TimeError, canonical_quantity, canonical_time, canonicalise
from reparto.model.errors import DecodeError
from reparto.model.meta import Base, Strict
from reparto.model.misplaced import field_hint, kind_hint
from reparto.model.parts import SharedParts
from reparto.model.quantity import QuantityError
from reparto.model.shapes import Shape, shape_of
from reparto.model.versions import GROUP, STRUCTS, versions_of

_CORE: dict[tuple[str, str], type[Base]] = {
    ("v1", "Node"): core.Node,
    ("v1", "Namespace"): core.Namespace,
    ("v1", "Pod"): core.Pod,
    ("v1", "Service"): core.Service,
    ("v1", "ResourceQuota"): core.ResourceQuota,
    ("v1", "LimitRange"): core.LimitRange,
    ("scheduling.k8s.io/v1", "PriorityClass"): core.PriorityClass,
    ("scheduling.k8s.io/v1beta1", "PodGroup"): core.PodGroup,
    ("scheduling.k8s.io/v1alpha3", "PodGroup"): core.PodGroup,
    ("scheduling.k8s.io/v1alpha2", "PodGroup"): core.PodGroup,
}

# kubectl and the API write apiVersion and kind first; then no extra pass over the document is needed to find them.
_TEXT = rb'\s*:\s*"([^"\\]+)"\s*'
_head = re.compile(
    rb'\s*\{\s*(?:"apiVersion"' + _TEXT + rb',\s*"kind"' + _TEXT + rb'|"kind"' + _TEXT + rb',\s*"apiVersion"' + _TEXT + rb")"
).match

Raw = Mapping[str, Any] | bytes | memoryview | msgspec.Raw
"""An object as parsed from YAML or JSON, or its JSON text."""

_STRICT_LIMIT = 100  # sigs.k8s.io/json stops collecting strict errors there


_TOO_DEEP = "nested too deeply"


class _Head(msgspec.Struct):
    api_version: Any = msgspec.field(default="", name="apiVersion")
    kind: Any = ""


class Number(float):
    """A JSON number with a fraction or an exponent, with its text: `1.0` is no int64, but `1e3` is a quantity."""

    text: str

    def __new__(cls, text: str) -> "Number":
        number = super().__new__(cls, text)
        number.text = text
        return number


def decode(raw: Raw | Base, strict: bool = True, keep_quantities: bool = False, parts: SharedParts | None = None) -> Base:
    """The typed object of the version it is written in; an object that is typed already comes back as it is.

    `raw` is a dict as parsed from YAML or JSON, or JSON bytes. `strict=False` ignores unknown fields, as a server does without
    field validation. A Python float with an integral value counts as an integer, which is what kubectl makes of a YAML `1.0`; in
    JSON bytes `1.0` is refused, as the server does. `keep_quantities` leaves quantities as written instead of canonical. With
    `parts`, what slices of JSON text have in common is one object in all of them. Core kinds that Reparto reads (Pod, Node, …)
    never mind unknown fields.
    Raises `DecodeError`; its `others` holds what else is wrong.
    """
    if isinstance(raw, Base):
        return raw
    if not isinstance(raw, Mapping):
        return decode_bytes(raw, strict, keep_quantities, parts)
    struct = _struct_of(*_head_of(raw), raw)
    try:
        return canonicalise(msgspec.convert(raw, struct), keep_quantities)
    except (msgspec.ValidationError, ValueError):
        pass
    except RecursionError:
        raise DecodeError(_TOO_DEEP) from None
    try:
        return _explain(raw, struct, strict, keep_quantities)
    except RecursionError:
        raise DecodeError(_TOO_DEEP) from None


def decode_bytes(
    raw: bytes | memoryview | msgspec.Raw, strict: bool = True, keep_quantities: bool = False, parts: SharedParts | None = None
) -> Base:
    """One object from its JSON text: slices at 50 to 150 MB/s, with `parts` at 350 MB/s where devices are alike. Else as `decode`.

    Duplicate fields are not looked for here (`reparto.model.intake` does): the last one wins.
    """
    found = _head(raw)
    if found:
        api_version, kind = (found[1], found[2]) if found[1] else (found[4], found[3])
        struct = STRUCTS.get((api_version.decode(errors="replace"), kind.decode(errors="replace")))
        if struct is not None:
            try:
                return _typed(raw, struct, keep_quantities, parts)
            except (msgspec.DecodeError, ValueError):
                pass  # explained below
    try:
        head = msgspec.json.decode(raw, type=_Head)
        if head.api_version and head.kind:
            return _typed(raw, _struct_of(head.api_version, head.kind, raw), keep_quantities, parts)
    except DecodeError:
        raise
    except (msgspec.ValidationError, QuantityError, TimeError):
        pass
    except (ValueError, RecursionError) as problem:
        raise DecodeError(f"not JSON: {problem}") from None
    try:
        document = json.loads(bytes(raw), parse_float=Number, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise DecodeError(f"not JSON: {problem}") from None
    if not isinstance(document, dict):
        raise DecodeError(f"an object is expected, not {_go_value(document)}")
    document = cast("dict[str, Any]", document)
    return _explain(document, _struct_of(*_head_of(document), raw), strict, keep_quantities)


def _typed(raw: bytes | memoryview | msgspec.Raw, struct: type[Base], keep_quantities: bool, parts: SharedParts | None) -> Base:
    """By the fast way, which raises for whatever needs explaining."""
    if parts is not None and struct is v1.ResourceSlice and not keep_quantities:
        return parts.read_slice(raw)
    return canonicalise(_decoder(struct).decode(raw), keep_quantities)


def struct_of(api_version: str, kind: str) -> type[Base] | None:
    """The struct that objects of this version and kind decode into; None if Reparto does not read them."""
    return STRUCTS.get((api_version, kind)) or _CORE.get((api_version, kind))


@cache
def _decoder(struct: type[Base]) -> msgspec.json.Decoder[Base]:
    return msgspec.json.Decoder(struct)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _head_of(raw: Mapping[str, Any]) -> tuple[object, object]:
    """apiVersion and kind of an object. The server finds them in any case of letters, and then takes exception to the spelling."""
    head = {"apiversion": raw.get("apiVersion"), "kind": raw.get("kind")}
    if not (head["apiversion"] and head["kind"]):
        for name, value in raw.items():
            folded = str(name).lower()
            if folded in head and not head[folded]:
                head[folded] = value
    return head["apiversion"], head["kind"]


def _struct_of(api_version: object, kind: object, raw: Raw) -> type[Base]:
    for name, value in (("apiVersion", api_version), ("kind", kind)):
        if value is not None and not isinstance(value, str):
            wrong = f"json: cannot unmarshal {_go_value(value)} into Go struct field .{name} of type string"
            message = f"couldn't get version/kind; json parse error: {wrong}"
            raise DecodeError(message, name, value, f"write {name}: as text")
    if str(api_version or "").count("/") > 1:
        hint = f"write GROUP/VERSION, for example {GROUP}/v1"
        raise DecodeError(f"unexpected GroupVersion string: {api_version}", "apiVersion", api_version, hint)
    if not kind or not api_version or str(api_version).endswith("/"):
        missing = "kind" if not kind else "apiVersion"
        shown = "Kind" if not kind else "apiVersion"
        if isinstance(raw, Mapping):
            text = json.dumps(raw, separators=(",", ":"), default=str)
        else:
            text = bytes(raw).decode(errors="replace")
        if len(text) > 200:
            text = text[:200] + "…"
        hint = f"every Kubernetes object has {missing}:"
        if not kind and api_version:
            hint += (
                f" {api_version} has {', '.join(sorted(k for v, k in STRUCTS if v == api_version))}"
                if str(api_version).startswith(GROUP)
                else ""
            )
        elif kind and (versions := versions_of(str(kind))):
            hint += f" {versions[0]}"
        raise DecodeError(f"Object '{shown}' is missing in '{text}'", missing, None, hint)
    api_version, kind = str(api_version), str(kind)
    struct = struct_of(api_version, kind)
    if struct is None:
        message = f'no kind "{kind}" is registered for version "{api_version}"'
        in_field = "apiVersion" if versions_of(kind) else "kind"
        raise DecodeError(message, in_field, api_version if in_field == "apiVersion" else kind, _kind_hint(api_version, kind))
    return struct


def _kind_hint(api_version: str, kind: str) -> str:
    known = [version for version, each in _CORE if each == kind] or versions_of(kind)
    kinds = sorted({each for _, each in STRUCTS})
    return kind_hint(kind, api_version, known, kinds)


def _explain(raw: Mapping[str, Any], struct: type[Base], strict: bool, keep_quantities: bool) -> Base:
    reader = _Reader(str(raw.get("apiVersion")).rpartition("/")[2])
    cleaned = reader.struct(raw, shape_of(struct), "", "", top=True)
    errors = list(reader.hard)
    if strict and issubclass(struct, Strict):
        errors += reader.unknown
    if errors:
        first = errors[0]
        if not reader.hard:
            # As text it is the server's whole answer; its message stays its own, beside those of the others.
            first.args = ("strict decoding error: " + ", ".join(error.message for error in reader.unknown[:_STRICT_LIMIT]),)
        first.others = tuple(errors[1:])
        raise first
    return canonicalise(msgspec.convert(cleaned, struct), keep_quantities)


class _Reader:
    """One walk over an object by its declared types: cleans it for msgspec and keeps everything that is wrong on the way."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.hard: list[DecodeError] = []
        self.unknown: list[DecodeError] = []

    def struct(self, raw: Mapping[str, Any], shape: Shape, path: str, go_path: str, top: bool = False) -> dict[str, Any]:
        assert shape.struct is not None
        parent = shape.struct.__name__
        cleaned: dict[str, Any] = {}
        for name, value in raw.items():
            inner = f"{path}.{name}" if path else str(name)
            field = shape.fields.get(name)
            if field is None:
                if top and name == "kind":
                    cleaned[name] = value
                else:
                    self._unknown(inner, name, parent, shape, value)
                continue
            if value is None:
                continue
            context = f"{parent}.{go_path}{name}"
            read = self._value(value, field.shape, inner, context, f"{go_path}{name}.")
            if read is not None:
                cleaned[name] = read
        return cleaned

    def _value(self, raw: object, shape: Shape, path: str, context: str, go_path: str) -> object:
        """`raw` cleaned; None where it was wrong (an error is noted) or says nothing."""
        match shape.kind:
            case "any":
                return _plain(raw)
            case "struct":
                if isinstance(raw, Mapping):
                    return self.struct(cast("Mapping[str, Any]", raw), shape, path, go_path)
            case "list":
                assert shape.item is not None
                if isinstance(raw, list | tuple):
                    items = cast("list[object]", raw)
                    return [self._item(item, shape.item, f"{path}[{index}]", context, go_path) for index, item in enumerate(items)]
            case "map":
                assert shape.item is not None
                if isinstance(raw, Mapping):
                    entries = cast("Mapping[object, object]", raw)
                    return {
                        str(key): self._item(item, shape.item, f"{path}.{key}", context, go_path) for key, item in entries.items()
                    }
            case "quantity":
                return self._quantity(raw, path)
            case "time":
                if isinstance(raw, str):
                    try:
                        canonical_time(raw)
                    except TimeError as problem:
                        self._hard(str(problem), path, raw, 'write the time as RFC 3339, for example "2026-11-30T18:00:00Z"')
                        return None
                    return raw
            case "string":
                if isinstance(raw, str):
                    return raw
            case "bool":
                if isinstance(raw, bool):
                    return raw
            case "int64" | "int32":
                if isinstance(raw, float) and not isinstance(raw, Number) and raw.is_integer():
                    raw = int(raw)
                bits = 63 if shape.kind == "int64" else 31
                if isinstance(raw, int) and not isinstance(raw, bool) and -(2**bits) <= raw < 2**bits:
                    return raw
        wrong = _go_value(raw, exact=shape.kind in ("int64", "int32"))
        message = f"json: cannot unmarshal {wrong} into Go struct field {context} of type {_go_type(shape, self.version)}"
        self._hard(message, path, raw, _type_hint(shape, raw, path))
        return None

    def _item(self, raw: object, shape: Shape, path: str, context: str, go_path: str) -> object:
        if raw is None:
            return _ZERO[shape.kind]
        read = self._value(raw, shape, path, context, go_path)
        return _ZERO[shape.kind] if read is None else read

    def _quantity(self, raw: object, path: str) -> str | None:
        if isinstance(raw, str):
            text = raw
        elif isinstance(raw, Number):
            text = raw.text
        elif isinstance(raw, bool) or not isinstance(raw, int | float):
            text = ""
        else:
            text = str(int(raw)) if raw == raw and abs(raw) < 1e21 and raw == int(raw) else str(raw)
        try:
            canonical_quantity(text)
        except QuantityError as problem:
            self._hard(str(problem), path, raw, 'write a quantity, for example "80Gi", "500m" or "4"')
            return None
        return text

    def _hard(self, message: str, path: str, value: object, hint: str) -> None:
        self.hard.append(DecodeError(message, path, value, hint))

    def _unknown(self, path: str, name: str, parent: str, shape: Shape, value: object) -> None:
        hint = field_hint(name, parent, self.version, shape, value)
        self.unknown.append(DecodeError(f'unknown field "{path}"', path, value, hint))


def _plain(raw: Any) -> Any:
    """Free-form JSON as msgspec would have read it."""
    if isinstance(raw, Number):
        return float(raw)
    if isinstance(raw, dict):
        return {key: _plain(value) for key, value in cast("dict[str, Any]", raw).items()}
    if isinstance(raw, list | tuple):
        return [_plain(value) for value in cast("list[Any]", raw)]
    return raw


_ZERO: dict[str, Any] = {
    "string": "",
    "quantity": "0",
    "int64": 0,
    "int32": 0,
    "bool": False,
    "any": None,
    "struct": {},
    "list": [],
    "map": {},
    "time": "0001-01-01T00:00:00Z",
}


def _go_value(raw: object, exact: bool = False) -> str:
    """How Go's JSON decoder names what it found."""
    if isinstance(raw, bool):
        return "bool"
    if isinstance(raw, int | float):
        return f"number {raw.text if isinstance(raw, Number) else raw}" if exact else "number"
    if isinstance(raw, str):
        return "string"
    if isinstance(raw, Mapping):
        return "object"
    return "array" if isinstance(raw, list | tuple) else "null"


def _go_type(shape: Shape, version: str) -> str:
    match shape.kind:
        case "struct":
            assert shape.struct is not None
            own = shape.struct.__module__.rpartition(".")[2] not in ("meta", "core")
            return f"{version if own else 'v1'}.{shape.struct.__name__}"
        case "list":
            assert shape.item is not None
            return f"[]{_go_type(shape.item, version)}"
        case "map":
            assert shape.item is not None
            return f"map[string]{_go_type(shape.item, version)}"
        case "time":
            return "string"
        case "quantity":
            return "resource.Quantity"
        case _:
            return shape.kind


def _type_hint(shape: Shape, raw: object, path: str) -> str:
    match shape.kind:
        case "string" | "time":
            if isinstance(raw, bool | int | float):
                shown = str(raw).lower() if isinstance(raw, bool) else str(raw)
                return f'put it in quotes: "{shown}"'
            return "write text here"
        case "bool":
            return "write true or false, without quotes"
        case "int64" | "int32":
            return "write a whole number, without quotes" + ("" if shape.kind == "int64" else " (32 bits)")
        case "list":
            return "write a list here: each entry begins with a dash"
        case "map" | "struct":
            assert shape.struct is None or shape.fields
            if shape.struct is v1.DeviceCapacity or shape.struct is v1.Counter:
                return (
                    f'write it under value: {{value: "{raw}"}}' if isinstance(raw, str | int | float) else "write {value: QUANTITY}"
                )
            if shape.struct is v1.DeviceAttribute:
                kind = "bool" if isinstance(raw, bool) else "int" if isinstance(raw, int) else "string"
                return f"write the value under its type: {{{kind}: {json.dumps(raw, default=str)}}}"
            return "write fields here: " + ", ".join(shape.fields) if shape.fields else "write key: value pairs here"
        case _:
            return ""
