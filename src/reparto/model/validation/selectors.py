"""CEL expressions of selectors and derived attributes: size, compilation, estimated cost.

`reparto.model` cannot import `reparto.cel`, which is built upon it, so the compiler comes in from outside: from the root of the
package, unless another factory is registered (`register_compiler`). Without one, expressions are held to their size only; nothing
else is claimed of them. Source: validation-1.37.md section 4; cel.md.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from reparto.model.gates import Gates
from reparto.model.v1 import DeviceSelector
from reparto.model.validation.features import resolved
from reparto.model.validation.findings import Finding, Findings, forbidden, invalid, required, too_long, too_many
from reparto.model.validation.formats import byte_length

SELECTORS_MAX = 32
EXPRESSION_BYTES = 10 * 1024
COST_MAX = 1_000_000  # of one expression, and of all derived attributes of a claim together
_TOO_COMPLEX = "too complex, exceeds cost limit"


class Compilation(msgspec.Struct, frozen=True):
    """What admission learns from compiling an expression: the compiler's text if it is refused, and the estimated worst-case cost.

    `internal` marks an error that is not the author's (InternalError instead of Invalid).
    """

    error: str = ""
    cost: int = 0
    internal: bool = False


class SelectorCompiler(Protocol):
    """Compiles in the environment for new expressions: what the gates allow, as at admission."""

    def compile(self, expression: str, derived: bool, gates: Gates) -> Compilation:
        """`derived`: the expression computes a derived attribute; else it is a selector, a bool. `gates` is complete."""
        ...


def _ours() -> SelectorCompiler:
    """The compiler that the root of the package hands down."""
    from reparto import selector_compiler

    return selector_compiler()


_factory: Callable[[], SelectorCompiler] | None = _ours
_compiler: SelectorCompiler | None = None


def register_compiler(factory: Callable[[], SelectorCompiler] | None) -> None:
    """Set where the compiler comes from; it is made when the first expression is judged. None: expressions are not compiled."""
    global _factory, _compiler
    _factory, _compiler = factory, None


def compiler() -> SelectorCompiler | None:
    """The registered compiler; None without one."""
    global _compiler
    if _compiler is None and _factory is not None:
        _compiler = _factory()
    return _compiler


def selectors(entries: tuple[DeviceSelector, ...], path: str, gates: Gates | None, *, stored: bool = False) -> Findings:
    """`stored`: unchanged by this update, so that the expressions are not compiled again."""
    if len(entries) > SELECTORS_MAX:
        return [too_many(path, len(entries), SELECTORS_MAX, covered=True)]
    findings: Findings = []
    for index, selector in enumerate(entries):
        if selector.cel is None:
            findings.append(required(f"{path}[{index}].cel"))
        elif not stored:
            findings += expression(selector.cel.expression, f"{path}[{index}].cel.expression", gates)[0]
    return findings


def expression(text: str, path: str, gates: Gates | None, *, derived: bool = False) -> tuple[Findings, int]:
    """What is wrong with one expression, and its estimated cost (0 where it does not compile)."""
    if byte_length(text) > EXPRESSION_BYTES:
        return [too_long(path, EXPRESSION_BYTES)], 0
    compile_with = compiler()
    if compile_with is None:
        return [], 0
    compiled = compile_with.compile(text, derived, resolved(gates))
    if compiled.error:
        if compiled.internal:
            return [Finding("InternalError", path, {}, compiled.error)], 0
        return [invalid(path, text, compiled.error)], 0
    return ([forbidden(path, _TOO_COMPLEX)] if compiled.cost > COST_MAX else []), compiled.cost
