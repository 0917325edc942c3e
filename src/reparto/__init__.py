"""Reparto: Kubernetes Dynamic Resource Allocation, decided exactly as Kubernetes does, and explained.

The root is where layers meet that may not import each other: it gives validation, below, the compiler of CEL, above.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reparto.model.validation.selectors import SelectorCompiler

__version__ = "0.1.0"


def selector_compiler() -> "SelectorCompiler":
    """What judges the selectors that validation meets, unless another one is registered there. Loads `reparto.cel` when called."""
    from reparto.cel.admission import AdmissionCompiler

    return AdmissionCompiler()
