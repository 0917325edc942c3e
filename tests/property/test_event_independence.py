"""An allocator that has lived through events answers as one that is built from what is there now.

Random small clusters live through random events: slices published, changed, published again with a newer generation and deleted,
classes and nodes changed, claims allocated, released, and held by somebody who asked nobody. After each event or a few of them a
fleet that has been there all the time is asked something, and an allocator that is built for the occasion is asked about one node
after the other. The answers must be the same, errors included.

`REPARTO_EVENT_SEQUENCES` sets the number of sequences; 10,000 take some minutes.
"""

import os
import random
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import pytest

from conformance import allocation_problems as problems
from reparto.allocation import AllocatedState, AllocationError, Allocator, Features, Fleet, GaveUp, Sample
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, DeviceClass, ResourceClaim, ResourceClaimStatus, ResourceSlice

SEQUENCES: Final = int(os.environ.get("REPARTO_EVENT_SEQUENCES", "1500"))
PARTS: Final = 4
EVENTS: Final = 12
STEPS: Final = 20_000
TAINT: Final = {"key": "example.com/sick", "effect": "NoSchedule"}

Raw = dict[str, Any]


def typed(kind: Any, entry: Raw) -> Any:
    return msgspec.convert({"kind": kind.__name__} | entry, kind)


class Story:
    """A cluster as it is, the allocator and the fleet that have seen it become so, and what has happened."""

    def __init__(self, seed: str) -> None:
        self.rng = rng = random.Random(seed)
        topics = rng.sample(problems.TOPICS, rng.choice((1, 2, 3, 6)))
        drafts = [problems.Maker(rng, {*topics, "nodes"}).problem() for _ in range(3)]
        self.features = Features(**drafts[0]["features"])
        self.unpublished: list[Raw] = [published for draft in drafts for published in draft["slices"]]
        self.questions = [[typed(ResourceClaim, claim) for claim in draft["claims"]] for draft in drafts]
        self.strangers = [typed(ResourceClaim, claim) for draft in drafts for claim in draft.get("allocatedClaims", ())]
        self.absent_classes: list[Raw] = []
        self.log: list[str] = []
        rng.shuffle(self.unpublished)
        self.slices: dict[str, Raw] = {}
        for _ in range(rng.randint(0, len(self.unpublished))):
            published = self.unpublished.pop()
            self.slices[published["metadata"]["name"]] = published
        self.classes: dict[str, Raw] = {each["metadata"]["name"]: each for each in drafts[0]["classes"]}
        self.nodes = [self.node(name) for name in rng.sample(sorted(problems.NODES), 3)]
        self.claims: dict[str, ResourceClaim] = {}
        self.allocator = self.rebuilt()
        self.fleet = Fleet(self.allocator, self.nodes)

    def node(self, name: str) -> Node:
        labels = dict(problems.NODES[self.rng.choice(sorted(problems.NODES)) if self.rng.random() < 0.3 else name])
        features = ["DRAOptionalNodeOperations"] if self.rng.random() < 0.7 else []
        return typed(Node, {"metadata": {"name": name, "labels": labels}, "status": {"declaredFeatures": features}})

    def rebuilt(self) -> Allocator:
        """An allocator that knows nothing but what is there now."""
        slices = [typed(ResourceSlice, each) for each in self.slices.values()]
        self.rng.shuffle(slices)
        return Allocator(
            slices,
            [typed(DeviceClass, each) for each in self.classes.values()],
            allocated=AllocatedState.from_claims(self.claims.values()),
            features=self.features,
            step_budget=STEPS,
        )

    # --- events -------------------------------------------------------------------------------------------------------------------

    def happen(self) -> None:
        events = (
            self.publish,
            self.change,
            self.change,
            self.renew,
            self.withdraw,
            self.change_class,
            self.change_node,
            self.release,
            self.release,
            self.stranger,
            *([self.allocate] * 5),
        )
        event = self.rng.choice(events)
        self.log.append(event.__name__)
        event()

    def put(self, published: Raw) -> None:
        self.slices[published["metadata"]["name"]] = published
        self.allocator.put_slice(typed(ResourceSlice, published))

    def publish(self) -> None:
        if self.unpublished:
            self.put(self.unpublished.pop())

    def change(self) -> None:
        """A slice is published again with something else in it."""
        if not self.slices:
            return
        rng, published = self.rng, self.copied(self.rng.choice(list(self.slices)))
        spec = published["spec"]
        devices = spec.get("devices") or []
        match rng.choice(
            ("nothing", "order", "lost", "tainted", "attributes", "sharing", "moved", "pool", "generation", "counters")
        ):
            case "order":
                devices.reverse()
            case "lost" if devices:
                devices.pop(rng.randrange(len(devices)))
            case "tainted" if devices:
                device = rng.choice(devices)
                device["taints"] = [] if device.get("taints") else [TAINT]
            case "attributes" if devices:
                one, other = rng.choice(devices), rng.choice(devices)
                one["attributes"], other["attributes"] = other.get("attributes"), one.get("attributes")
            case "sharing" if devices:
                device = rng.choice(devices)
                device["allowMultipleAllocations"] = not device.get("allowMultipleAllocations")
            case "moved" if "perDeviceNodeSelection" not in spec:
                for key in ("nodeName", "allNodes", "nodeSelector"):
                    spec.pop(key, None)
                spec |= rng.choice(({"nodeName": "n1"}, {"nodeName": "n2"}, {"nodeName": "n3"}, {"allNodes": True}, {}))
            case "pool":
                spec["pool"]["name"] = rng.choice(("n1", "net"))
            case "generation":
                spec["pool"]["generation"] += rng.choice((-1, 1))
            case "counters":
                for counter_set in spec.get("sharedCounters") or ():
                    for counter in counter_set["counters"].values():
                        counter["value"] = rng.choice(("0", "1", "3"))
            case _:
                pass
        self.put(published)

    def renew(self) -> None:
        """All slices of a pool are published again, one after the other, with a newer generation."""
        if not self.slices:
            return
        pool = self.pool_of(self.rng.choice(list(self.slices)))
        for name in list(self.slices):
            if self.pool_of(name) == pool and self.rng.random() < 0.9:
                published = self.copied(name)
                published["spec"]["pool"]["generation"] += 1
                self.put(published)

    def withdraw(self) -> None:
        if self.slices:
            name = self.rng.choice(list(self.slices))
            self.unpublished.append(self.slices.pop(name))
            self.allocator.remove_slice(name)

    def change_class(self) -> None:
        if self.absent_classes:
            entry = self.absent_classes.pop()
            self.classes[entry["metadata"]["name"]] = entry
            self.allocator.put_class(typed(DeviceClass, entry))
            return
        name = self.rng.choice(list(self.classes))
        if self.rng.random() < 0.5:
            self.absent_classes.append(self.classes.pop(name))
            self.allocator.remove_class(name)
        else:
            selector = {"cel": {"expression": self.rng.choice(('device.driver == "b.example.com"', "true", "device.nothing == 1"))}}
            self.classes[name] = {"metadata": {"name": name}, "spec": {"selectors": [selector]}}
            self.allocator.put_class(typed(DeviceClass, self.classes[name]))

    def change_node(self) -> None:
        present = [node.metadata.name for node in self.nodes]
        name = self.rng.choice(sorted(problems.NODES))
        if name in present and self.rng.random() < 0.3:
            self.nodes.pop(present.index(name))
            self.fleet.remove_node(name)
            return
        node = self.node(name)
        if name in present:
            self.nodes[present.index(name)] = node
        else:
            self.nodes.append(node)
        self.fleet.put_node(node)

    def allocate(self) -> None:
        """A pod comes: its claims are allocated on the first node that has the devices, and counted."""
        claims = self.asked()
        try:
            position = self.fleet.first(claims)
            results = None if position is None else self.fleet.allocate(position, claims)
        except AllocationError:
            return
        for claim, result in zip(claims, results or (), strict=False):
            self.hold(msgspec.structs.replace(claim, status=ResourceClaimStatus(allocation=result)))

    def release(self) -> None:
        if self.claims:
            claim = self.claims.pop(self.rng.choice(list(self.claims)))
            self.allocator.allocated.remove(claim)

    def stranger(self) -> None:
        """A claim that another scheduler has allocated, or somebody by hand."""
        if self.strangers:
            self.hold(self.strangers.pop())

    def hold(self, claim: ResourceClaim) -> None:
        self.claims[claim.metadata.uid] = claim
        self.allocator.allocated.add(claim)

    def asked(self) -> list[ResourceClaim]:
        """The claims of some pod, under names of its own."""
        number = len(self.log)
        return [
            msgspec.structs.replace(
                claim, metadata=msgspec.structs.replace(claim.metadata, name=f"c{number}-{index}", uid=f"{number}-{index}")
            )
            for index, claim in enumerate(self.rng.choice(self.questions))
        ]

    def copied(self, name: str) -> Raw:
        return msgspec.json.decode(msgspec.json.encode(self.slices[name]))

    def pool_of(self, name: str) -> tuple[str, str]:
        return self.slices[name]["spec"]["driver"], self.slices[name]["spec"]["pool"]["name"]

    # --- the comparison -----------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        claims, count = self.asked(), len(self.nodes)
        start, wanted = self.rng.randrange(count or 1), self.rng.choice((None, 1, 2))
        fresh = self.rebuilt()
        assert outcome(lambda: self.fleet.feasible(claims, start=start, wanted=wanted)) == outcome(
            lambda: walked(fresh, self.nodes, claims, start, wanted)
        ), "feasible"
        assert outcome(lambda: self.fleet.first(claims)) == outcome(lambda: first(fresh, self.nodes, claims)), "first"
        for position, node in enumerate(self.nodes):
            expected = outcome(lambda node=node: fresh.allocate(node, claims))
            assert outcome(lambda position=position: self.fleet.allocate(position, claims)) == expected, f"fleet, {node}"
            assert outcome(lambda node=node: self.allocator.allocate(node, claims)) == expected, f"allocator, {node}"


def fits(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> bool:
    try:
        return allocator.allocate(node, claims) is not None
    except GaveUp:
        raise
    except AllocationError as error:
        if not error.node_only:
            raise
        return False


def walked(allocator: Allocator, nodes: Sequence[Node], claims: Sequence[ResourceClaim], start: int, wanted: int | None) -> Sample:
    """One node after the other, until enough fit."""
    found: list[int] = []
    looked = 0
    for step in range(len(nodes)):
        position = (start + step) % len(nodes)
        looked += 1
        if fits(allocator, nodes[position], claims):
            found.append(position)
            if len(found) == wanted:
                break
    return Sample(found, looked)


def first(allocator: Allocator, nodes: Sequence[Node], claims: Sequence[ResourceClaim]) -> int | None:
    return next((position for position, node in enumerate(nodes) if fits(allocator, node, claims)), None)


def outcome(ask: Any) -> object:
    """The answer, or the error with everything that it says; IDs of shares, which nobody can foresee, by their order."""
    try:
        answer = ask()
    except GaveUp:
        raise
    except AllocationError as error:
        return {name: value for name, value in vars(error).items() if not name.startswith("__")}
    if not isinstance(answer, list):
        return answer
    shares: dict[str, str] = {}
    return [renamed(result, shares) for result in answer]


def renamed(allocation: AllocationResult, shares: dict[str, str]) -> Raw:
    written: Raw = msgspec.to_builtins(allocation)
    for result in written["devices"].get("results", ()):
        if result.get("shareID") is not None:
            result["shareID"] = shares.setdefault(result["shareID"], f"share {len(shares)}")
    return written


@pytest.mark.parametrize("part", range(PARTS))
def test_what_became_by_events_is_what_is_built_anew(part):
    decided = 0
    for number in range(part, SEQUENCES, PARTS):
        story = Story(f"events/{number}")
        try:
            while len(story.log) < EVENTS:
                for _ in range(story.rng.choice((1, 1, 2, 3))):
                    story.happen()
                story.check()
                decided += 1
        except GaveUp:
            continue
        except AssertionError as error:
            raise AssertionError(f"sequence {number}, after {', '.join(story.log)}: {error}") from error
    assert decided > SEQUENCES // PARTS * EVENTS // 4
