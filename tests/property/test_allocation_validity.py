"""Whatever is allocated is legal, as the independent checker sees it, and the checker sees what is not.

The problems are those of the conformance tests. `verify` shares no code with the allocators; that it is not merely silent is shown
by breaking what they made.
"""

import json
import random
from dataclasses import asdict

import msgspec
import pytest

from conformance import allocation_problems as problems
from property.allocation_worlds import World, outcomes
from property.damage import DAMAGES, Damage, Json, damaged
from property.legality import new_breaches
from reparto import model
from reparto.allocation import Allocator, Breach, BreachKind, Features, verify
from reparto.allocation.plain import PlainAllocator
from reparto.model.core import Node
from reparto.model.v1 import DeviceClass, ResourceClaim, ResourceSlice

PROBLEMS = 1_000
PARTS = 4
CASES = [(Allocator, 100_000), (PlainAllocator, 2_000)]


def found_in(world: World) -> list[Breach]:
    """What the claims made last broke, but for two things on which upstream does not keep its own rules."""
    breaches = new_breaches(world.slices, world.classes, world.held, world.made, world.nodes, features=world.features)
    held = {f"ResourceClaim/ns/{claim.metadata.name}" for claim in world.held}
    return [breach for breach in breaches if not _upstreams_own(breach, held, world)]


def _upstreams_own(breach: Breach, held: set[str], world: World) -> bool:
    if breach.kind is BreachKind.DEVICE_HELD_AND_SHARED:
        # A device that is exclusive as published now, and shared by a claim from before: upstream only looks for exclusive holders.
        return set(breach.others) <= held
    if breach.kind is BreachKind.ALL_DEVICES:
        # A default that breaks its own policy counts or not by how it is written; the API server refuses such slices.
        return any(_default_breaks_policy(published) for published in world.slices)
    return False


def _default_breaks_policy(published: ResourceSlice) -> bool:
    return any("requestPolicy" in error.path for error in model.validate(msgspec.to_builtins(published)))


@pytest.mark.parametrize("engine, budget", CASES, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_is_allocated_is_legal(engine, budget, part, seed):
    made = 0
    for number in range(part, PROBLEMS, PARTS):
        problem = problems.make(f"valid/{seed}", number)
        for world in outcomes(engine, problem, budget):
            made += 1
            assert found_in(world) == [], f"problem {problem['id']} (REPARTO_SEED={seed})"
    assert made > PROBLEMS / PARTS / 10  # the test is about something


def as_json(world: World) -> Json:
    objects = {name: getattr(world, name) for name in ("slices", "classes", "held", "nodes", "made")}
    return json.loads(msgspec.json.encode(objects)) | {"features": asdict(world.features)}


def from_json(world: Json) -> World:
    kinds = {"slices": ResourceSlice, "classes": DeviceClass, "held": ResourceClaim, "nodes": Node, "made": ResourceClaim}
    typed = {name: [msgspec.convert(entry, kind) for entry in world[name]] for name, kind in kinds.items()}
    return World(**typed, features=Features(**world["features"]))


def kinds(world: World) -> set[BreachKind]:
    found = verify(world.slices, world.classes, world.held + world.made, world.nodes, features=world.features)
    return {breach.kind for breach in found}


@pytest.fixture(scope="module")
def worlds(seed: str) -> list[World]:
    """Worlds in which something was allocated."""
    found: list[World] = []
    number = 0
    while len(found) < 300:
        found += outcomes(Allocator, problems.make(f"damage/{seed}", number))
        number += 1
    return found


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_whatever_is_broken_is_found(damage: Damage, worlds: list[World], seed: str):
    tried = 0
    for number, world in enumerate(worlds):
        broken = damaged(as_json(world), damage, random.Random(f"{seed}/{number}"))
        if broken is not None and damage.kind not in kinds(world):
            tried += 1
            assert damage.kind in kinds(from_json(broken)), f"world {number} (REPARTO_SEED={seed})"
        if tried == 25:
            break
    assert tried, "no world can be broken so: the damage is not tested"


def test_every_rule_can_be_broken():
    """The rest is about what these worlds do not contain, or takes more than one step; `tests/unit/test_verification_*` has it."""
    elsewhere = {BreachKind.ALTERNATIVES_MIXED, BreachKind.TOO_MANY_DEVICES, BreachKind.DEVICE_HELD_AND_SHARED}
    assert {damage.kind for damage in DAMAGES} | elsewhere == set(BreachKind)
