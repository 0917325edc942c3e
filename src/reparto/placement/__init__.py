"""Placement: what happens to every pod of a snapshot, each seeing what the former took."""

from reparto.placement.cycle import Sampling
from reparto.placement.plan import ClaimPlan, Count, Note, Plan, PodPlan, Reason
from reparto.placement.planner import make_plan
from reparto.placement.snapshot import Snapshot, take_snapshot

__all__ = ["ClaimPlan", "Count", "Note", "Plan", "PodPlan", "Reason", "Sampling", "Snapshot", "make_plan", "take_snapshot"]
