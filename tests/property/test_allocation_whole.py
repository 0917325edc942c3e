"""The search that looks at the whole answers as the one that walks, device by device, error by error.

`Setting.patience` -1 makes it look at once and None never, so both can be asked the same. The walk tries everything in upstream's
order, which is brute force; the problems made here are small enough for it, and as full of devices that are alike, of partitions,
shares, alternatives and constraints as that allows.
"""

import random
from dataclasses import replace
from typing import Any

import pytest

from conformance import allocation_answers as answers
from conformance import allocation_problems as problems
from reparto.allocation import Allocator, search
from reparto.allocation.assignment import Assignments
from reparto.allocation.instance import Instance, written_down
from reparto.allocation.proofs import ProofKind, proof_of
from reparto.allocation.setting import Setting

SEED = 13
STEPS = 30_000
DRIVER = "gpu.example.com"


class Whole(Allocator):
    """Looks at the whole at once."""

    def setting(self, *given: Any, **named: Any) -> Setting:
        return replace(super().setting(*given, **named), patience=-1)


class Walking(Allocator):
    """Never looks at the whole."""

    def setting(self, *given: Any, **named: Any) -> Setting:
        return replace(super().setting(*given, **named), patience=None)


@pytest.fixture
def written(monkeypatch):
    """The instances that were written down."""
    seen: list[Instance] = []

    def spy(*given: Any) -> Instance:
        seen.append(written_down(*given))
        return seen[-1]

    monkeypatch.setattr(search, "written_down", spy)
    return seen


@pytest.fixture
def replayed(monkeypatch):
    """Fails if a solution of an instance is none of the attempt."""

    def strict(self: Any, picks: Any) -> Any:
        try:
            return honest(self, picks)
        except search.Unsettled:
            raise AssertionError("a device that was picked could not be taken") from None

    honest = search.Search._replayed  # the only place where the two meet
    monkeypatch.setattr(search.Search, "_replayed", strict)


@pytest.fixture
def shared_rightly(monkeypatch):
    """Fails if what was worked out for a component is taken for another one, or for other demands, for which it is not true."""

    def strict(self: Any, number: int, state: Any, demands: Any) -> Any:
        found = shared(self, number, state, demands)
        component = self.components[number]
        kinds, places, stock, common = self._sorted(component, state, demands)
        assert found[1:] == (kinds, [[component.positions[place] for place in each] for each in places], stock, common)
        return found

    shared = Assignments._kinds_of  # wrong kinds seldom show in an answer
    monkeypatch.setattr(Assignments, "_kinds_of", strict)


@pytest.mark.parametrize("part", range(4))
def test_random_problems(part, written, replayed, shared_rightly):
    for number in range(part * 150, part * 150 + 150):
        problem = problems.make(SEED, number)
        walked = answers.ask(Walking, problem, STEPS)
        if not answers.timed_out(walked):
            assert answers.ask(Whole, problem, STEPS) == walked, f"problem {problem['id']}"
    # Problems with errors in them are the walk's, all others must really have been tested.
    assert sum(not instance.cut for instance in written) > 0.8 * len(written)


def asked(rng: random.Random, shares: bool, profiles: list[str]) -> dict[str, Any]:
    """One alternative."""
    attributes = f'device.attributes["{DRIVER}"]'
    kinds = [
        "true",
        f"{attributes}.?group.orValue(9) < {rng.randint(1, 3)}",
        f"{attributes}.?kind.orValue(9) == {rng.randint(0, 1)}",
    ]
    kinds += [f'{attributes}.?profile.orValue("") == "{name}"' for name in profiles]
    body: dict[str, Any] = {"deviceClassName": "any", "selectors": [{"cel": {"expression": rng.choice(kinds)}}]}
    if rng.random() < 0.06:
        return body | {"allocationMode": "All"}
    body |= {"allocationMode": "ExactCount", "count": rng.choice((1, 1, 1, 2, 2, 3))}
    if shares and rng.random() < 0.5:
        body["capacity"] = {"requests": {"memory": str(rng.randint(1, 6))}}
    return body


def hard_problem(rng: random.Random) -> dict[str, Any]:
    """Few devices, most of them like others, and requests that want nearly all of them."""
    devices: list[dict[str, Any]] = []
    sets: list[dict[str, Any]] = []
    profiles: list[str] = []
    compatible = rng.random() < 0.2
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        if not profiles or rng.random() < 0.2:
            slots = rng.randint(2, 4)
            parts = [(start, rng.randint(1, slots - start)) for start in range(slots) for _ in range(rng.choice((0, 1, 1, 2)))]
            profiles = sorted({f"p{size}" for _, size in parts})
        sets.append({"name": f"g{len(sets)}", "counters": {f"s{slot}": {"value": "1"} for slot in range(4)}})
        for start, size in parts:
            consumption: dict[str, Any] = {
                "counterSet": sets[-1]["name"],
                "counters": {f"s{slot}": {"value": "1"} for slot in range(start, start + size)},
            }
            if compatible:
                consumption["compatibilityGroups"] = rng.sample(["a", "b", "c"], rng.randint(0, 2))
            devices.append(
                {"attributes": {"profile": {"string": f"p{size}"}, "group": {"int": len(sets)}}, "consumesCounters": [consumption]}
            )
    groups, kinds = rng.randint(1, 4), rng.randint(1, 2)
    for _ in range(rng.randint(0, 8)):
        devices.append({"attributes": {"group": {"int": rng.randrange(groups)}, "kind": {"int": rng.randrange(kinds)}}})
    shares = rng.random() < 0.4
    for _ in range(rng.randint(1, 3) if shares else 0):
        devices.append(
            {
                "allowMultipleAllocations": True,
                "capacity": {"memory": {"value": str(rng.choice((4, 8, 10)))}},
                "attributes": {"group": {"int": rng.randrange(groups)}, "kind": {"int": 0}},
            }
        )
    if rng.random() < 0.5:
        rng.shuffle(devices)
    devices = [{"name": f"d{number}"} | device for number, device in enumerate(devices[:14])]
    claims = []
    for number in range(rng.choice((1, 1, 2, 3))):
        requests: list[dict[str, Any]] = []
        for place in range(rng.randint(1, 3)):
            options = [asked(rng, shares, profiles) for _ in range(rng.choice((1, 1, 2, 3)))]
            if len(options) > 1:
                requests.append({"name": f"r{place}", "firstAvailable": [{"name": f"s{n}"} | o for n, o in enumerate(options)]})
            else:
                requests.append(
                    {"name": f"r{place}", "exactly": options[0] | ({"adminAccess": True} if rng.random() < 0.1 else {})}
                )
        constraints = [
            {
                rng.choice(("matchAttribute", "distinctAttribute")): f"{DRIVER}/{rng.choice(('group', 'group', 'kind'))}",
                "requests": rng.choice(([], ["r0"], ["r0", "r1"])),
            }
            for _ in range(rng.choice((0, 0, 1, 2)))
        ]
        metadata = {"name": f"c{number}", "namespace": "ns", "uid": f"c{number}"}
        claims.append({"metadata": metadata, "spec": {"devices": {"requests": requests, "constraints": constraints}}})
    location = {"name": "n", "generation": 1, "resourceSliceCount": 2 if sets else 1}
    bodies = [{"devices": devices}, *([{"sharedCounters": sets}] if sets else [])]
    held = [{"driver": DRIVER, "pool": "n", "device": device["name"]} for device in devices if rng.random() < 0.1]
    return {
        "features": dict.fromkeys(
            ("admin_access", "prioritized_list", "partitionable_devices", "consumable_capacity", "compatibility_groups"), True
        ),
        "classes": [{"metadata": {"name": "any"}, "spec": {}}],
        "slices": [
            {"metadata": {"name": f"s{n}"}, "spec": {"driver": DRIVER, "nodeName": "n", "pool": location} | body}
            for n, body in enumerate(bodies)
        ],
        "claims": claims,
        "allocatedState": {"allocatedDevices": held},
        "node": {"metadata": {"name": "n"}},
    }


@pytest.mark.parametrize("part", range(4))
def test_small_problems_of_the_hard_kind(part, written, replayed, shared_rightly):
    kinds: dict[str, int] = {}
    proofs: set[ProofKind] = set()
    whole = 0
    for number in range(250):
        problem = hard_problem(random.Random(f"{SEED}/{part}/{number}"))
        walked = answers.ask(Walking, problem, STEPS)
        if not answers.timed_out(walked):
            kinds[walked["kind"]] = kinds.get(walked["kind"], 0) + 1
            written.clear()
            assert answers.ask(Whole, problem, STEPS) == walked, f"problem {part}/{number}"
            proof = proof_of(written[0]) if written else None
            assert proof is None or (walked["kind"] == "none" and proof.have < proof.need), f"problem {part}/{number}: {proof}"
            proofs.update([proof.kind] if proof is not None else [])
            whole += bool(written and not written[0].cut)
    assert min(kinds["allocated"], kinds["none"]) > 20 and sum(kinds.values()) > 200, "few problems say anything"
    assert whole > 0.8 * sum(kinds.values())
    assert len(proofs) >= 4, "few kinds of proof were met"


@pytest.mark.parametrize("part", range(2))
def test_a_walk_that_remembers_refusals_answers_as_one_that_asks_anew(part, monkeypatch):
    # It does so on large nodes only, where nothing else here gets; errors of selectors must come from the same device all the same.
    kinds: dict[str, int] = {}
    for number in range(part * 400, part * 400 + 400):
        problem = problems.make(SEED + 1, number)
        monkeypatch.setattr(search, "_SCREENED_FROM", 1 << 30)
        anew = answers.ask(Walking, problem, STEPS)
        monkeypatch.setattr(search, "_SCREENED_FROM", 0)
        if not answers.timed_out(anew):
            kinds[anew["kind"]] = kinds.get(anew["kind"], 0) + 1
            assert answers.ask(Walking, problem, STEPS) == anew, f"problem {problem['id']}"
    assert min(kinds["allocated"], kinds["none"], kinds["error"]) > 20
