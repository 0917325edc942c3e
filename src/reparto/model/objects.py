"""One object, step by step, as the API server takes it: decode, default, convert, validate.

The public face of those steps (design.md 3a): each takes a dict as parsed from YAML or JSON, JSON bytes, or a typed object, and
does the steps before its own.
"""

from reparto.model import conversion, decoding, defaults
from reparto.model.decoding import decode
from reparto.model.errors import FieldError
from reparto.model.gates import Gates
from reparto.model.meta import Base

Raw = decoding.Raw | Base


def default(raw: Raw, gates: Gates | None = None, now: str | None = None) -> Base:
    """The typed object with the defaults of the version it is written in. `now`: see `defaults.default`. Raises `DecodeError`.

    `gates` is accepted for symmetry: no default of resource.k8s.io depends on one.
    """
    return defaults.default(decode(raw), now)


def convert(raw: Raw, api_version: str, gates: Gates | None = None, now: str | None = None) -> Base:
    """The defaulted object in another version (`"resource.k8s.io/v1beta1"`). Raises `DecodeError`."""
    return conversion.convert(default(raw, gates, now), api_version)


def validate(raw: Raw, old: Raw | None = None, subresource: str = "", gates: Gates | None = None) -> list[FieldError]:
    """Every error that the API server finds in an object, with the paths of the version it is written in; empty means valid.

    Without `old` it is a create; with it an update, and `subresource="status"` an update of the status. `gates` are settings over
    the defaults of 1.37. Fields whose gate is off are judged as they stand: `drop_disabled` first takes them out, as the server
    does. Raises `DecodeError`. Source: validation-1.37.md.
    """
    from reparto.model.validation import validate as validate_object

    new = _as_written(raw)
    return validate_object(new, None if old is None else _as_written(old), subresource, gates)


def _as_written(raw: Raw) -> Base:
    """The defaulted object with its quantities as they were sent, which is what the API server's rules see."""
    return defaults.default(decode(raw, keep_quantities=True))
