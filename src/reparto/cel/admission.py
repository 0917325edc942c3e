"""CEL for validation: what `reparto.model` asks of a compiler when it judges selectors and derived attributes.

`reparto.model` is built below this package and cannot import it: the root of the package hands this compiler down.
"""

from functools import lru_cache

from reparto.cel.errors import CompileError
from reparto.cel.program import Options, compile
from reparto.model.gates import Gates
from reparto.model.validation.selectors import Compilation


class AdmissionCompiler:
    """Compiles expressions as the API server does when an object is created: only what the gates allow exists."""

    def compile(self, expression: str, derived: bool, gates: Gates | None) -> Compilation:
        """The verdict on one expression; without gates, those of 1.37 as they are by default."""
        options = Options(
            stored=False,
            consumable_capacity=True if gates is None else gates.get("DRAConsumableCapacity", False),
            list_type_attributes=False if gates is None else gates.get("DRAListTypeAttributes", False),
            derived_attribute=derived,
        )
        return _verdict(expression, options)


@lru_cache(maxsize=4096)
def _verdict(expression: str, options: Options) -> Compilation:
    # Unlike programs, refusals are kept too: many objects repeat the same selector.
    try:
        return Compilation(cost=compile(expression, options).max_cost)
    except CompileError as error:
        return Compilation(error=str(error))
