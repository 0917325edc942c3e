"""Whatever a plan allocates is legal: whole random clusters, with pods after pods, shared claims and extended resources."""

import msgspec
import pytest

from conformance import scheduling
from conformance.scheduling_answers import plan_of
from property.legality import assert_legal
from reparto.allocation import Features
from reparto.model.core import Node
from reparto.model.v1 import DeviceClass

PROBLEMS = 240
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_all_claims_that_a_plan_allocates_are_legal_together(part: int, seed: str):
    allocated = 0
    for number in range(part, PROBLEMS, PARTS):
        problem = scheduling.make(f"legal/{seed}", number)
        plan = plan_of(problem)
        before = {
            (claim["metadata"]["namespace"], claim["metadata"]["name"])
            for claim in problem.get("claims") or ()
            if claim.get("status", {}).get("allocation")
        }
        held = [claim for claim in plan.claims if (claim.metadata.namespace, claim.metadata.name) in before]
        made = [claim for claim in plan.claims if (claim.metadata.namespace, claim.metadata.name) not in before]
        allocated += sum(claim.status.allocation is not None for claim in made)
        classes = [msgspec.convert({"kind": "DeviceClass"} | entry, DeviceClass) for entry in problem.get("classes") or ()]
        nodes = [msgspec.convert({"kind": "Node"} | entry, Node) for entry in problem.get("nodes") or ()]
        assert_legal(plan.slices, classes, held, made, nodes, features=Features.for_version())
    assert allocated > PROBLEMS / PARTS  # the test is about something
