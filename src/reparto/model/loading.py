"""`model.load`: the objects of files as Python values, or one exception that lists everything wrong with them."""

import os
from collections.abc import Mapping
from typing import Any

from reparto.model.errors import ModelError
from reparto.model.intake import read_inputs
from reparto.model.meta import Base


def load(
    *sources: str | os.PathLike[str] | Mapping[str, Any],
    validate: bool = True,
    default: bool = True,
    namespace: str | None = None,
    strict: bool = False,
    gates: Mapping[str, bool] | None = None,
    version: str = "1.37",
) -> list[Base]:
    """Typed objects of `sources` (paths of files or directories, `-`, or decoded dicts), in order, as resource.k8s.io/v1 and core
    structs.

    They are defaulted and validated as the API server of release `version` with `gates` would; `validate=False` and
    `default=False` take them as they are. Objects of other kinds are left out. What slices have in common is the same object in
    all of them, so a million devices need some 400 MB: replace what is to be different (`msgspec.structs.replace`), and change no
    dict. Raises ModelError, which lists all errors, if any object cannot be used.
    """
    intake = read_inputs(
        sources, namespace=namespace, strict=strict, gates=gates, version=version, validate=validate, default=default
    )
    if intake.errors:
        raise ModelError(intake.errors)
    return intake.typed()
