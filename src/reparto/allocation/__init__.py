"""Allocation: which devices a claim gets, exactly as kube-scheduler's allocator decides it."""

from reparto.allocation.allocator import Allocator
from reparto.allocation.errors import AllocationError, FailureKind, GaveUp
from reparto.allocation.features import Features
from reparto.allocation.fleet import Fleet, Sample
from reparto.allocation.state import AllocatedState
from reparto.allocation.taints import apply_taint_rules
from reparto.allocation.trace import Gate, explain_failure
from reparto.allocation.verification import Breach, BreachKind, Standing, verify

__all__ = [
    "AllocatedState",
    "AllocationError",
    "Allocator",
    "Breach",
    "BreachKind",
    "FailureKind",
    "Features",
    "Fleet",
    "Gate",
    "GaveUp",
    "Sample",
    "Standing",
    "apply_taint_rules",
    "explain_failure",
    "verify",
]
