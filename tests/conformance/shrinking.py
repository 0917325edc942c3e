"""A small case out of a large one: whatever can be taken out of a JSON value is, as long as the case still fails."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Json = Any
Path = tuple[str | int, ...]


def shrunk(case: Json, paths: Callable[[Json], Iterator[Path]], fails: Callable[[Json], bool], tries: int) -> Json:
    """A smaller case that fails as well.

    `paths` lists what may be taken out, the boldest first; `tries` bounds the calls of `fails`.
    """
    smaller = True
    while smaller:
        smaller = False
        for path in paths(case):
            if tries <= 0:
                return case
            tries -= 1
            candidate = _without(case, path)
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def _without(case: Json, path: Path) -> Json:
    candidate = copy.deepcopy(case)
    parent = candidate
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    return candidate
