"""Implementations of every function, found by overload id or, for operators and the like, by function name.

Which overloads exist is `reparto.cel.declarations`' business; here is only what they do. Arguments have been evaluated and are no
failures.
"""

from __future__ import annotations

from typing import Final

from reparto.cel.functions import (
    conversions,
    formats,
    lists,
    network,
    optionals,
    quantities,
    regex,
    semvers,
    standard,
    strings,
    time,
    urls,
)
from reparto.cel.functions.binding import Implementation, Operation

__all__ = ["BY_FUNCTION", "BY_OVERLOAD", "Implementation", "Operation"]

BY_OVERLOAD: Final[dict[str, Implementation]] = {
    **conversions.FUNCTIONS,
    **formats.FUNCTIONS,
    **lists.FUNCTIONS,
    **network.FUNCTIONS,
    **optionals.FUNCTIONS,
    **quantities.FUNCTIONS,
    **regex.FUNCTIONS,
    **semvers.FUNCTIONS,
    **strings.FUNCTIONS,
    **time.FUNCTIONS,
    **urls.FUNCTIONS,
}

BY_FUNCTION: Final[dict[str, Operation]] = {**standard.OPERATIONS, **lists.OPERATIONS}
