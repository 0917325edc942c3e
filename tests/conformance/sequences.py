"""Random sequences: a small cluster that lives on, with an allocator that has seen everything that happened to it.

A sequence is plain data, made before anybody is asked: a cluster and events in order. Pods come with claims, which are allocated on
the first node in their own random order that takes them; claims are released; drivers publish a new generation of a pool, slice by
slice, so that pools are incomplete or of two generations in between; slices are changed in place and deleted; taint rules and
classes come, change and go. `Replay` plays it, with one allocator and one allocated state from the beginning to the end.

Each attempt of a pod on a node is a problem of its own for the oracle: the cluster as it is then, with what all claims hold.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from conformance import allocation_answers as answers
from conformance.allocation_problems import DRIVERS, NODES, PAIRS, TOPICS, Maker, Problem
from property.legality import new_breaches
from reparto.allocation import AllocatedState, Allocator, BreachKind, Features, apply_taint_rules
from reparto.model.core import Node
from reparto.model.v1 import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice

Json = dict[str, Any]
Sequence = dict[str, Any]

PODS = (50, 200)
"""How many pods ask for devices in one sequence: from, to."""

STEPS = 20_000
"""Steps after which we may give up on one node, which then tells nothing."""

LABELS = tuple(NODES.values())


# --- making one -------------------------------------------------------------------------------------------------------------------


class SequenceMaker(Maker):
    """Makes one sequence. Problems' own generator makes what drivers publish and what users ask for."""

    def __init__(self, rng: random.Random, topics: tuple[str, ...]) -> None:
        super().__init__(rng, topics)
        self.names = [f"n{index}" for index in range(1, rng.randint(2, 6) + 1)]
        self.drivers = rng.sample((*DRIVERS, "c.example.com"), rng.choice((1, 2, 2, 3)))
        self.home = self.names[0]
        self.made = 0
        self.current: dict[str, Json] = {}
        self.class_names: list[str] = []
        self.missing: list[Json] = []
        self.rules: list[str] = []
        self.claims_made: list[str] = []
        self.republishing: list[list[Json]] = []

    def node(self, name: str) -> Json:
        labels = dict(LABELS[self.names.index(name) % len(LABELS)])
        node: Json = {"metadata": {"name": name, "labels": labels}}
        return node | ({"status": {"declaredFeatures": ["DRAOptionalNodeOperations"]}} if self.rng.random() < 0.7 else {})

    def where(self) -> Json:
        if "nodes" in self.topics and self.rng.random() < 0.6:
            return super().where()
        return {"nodeName": self.home} if self.rng.random() < 0.85 else {"allNodes": True}

    def somewhere(self) -> Json:
        return self.rng.choice(({"nodeName": self.home}, {"nodeName": self.rng.choice(self.names)}, {"allNodes": True}))

    def slice_object(self, spec: Json) -> Json:
        published = super().slice_object(spec)
        self.made += 1
        published["metadata"]["name"] += f"-{self.made}"
        return published

    def sequence(self) -> Sequence:
        rng = self.rng
        self.on = self.features()
        for driver in self.drivers:
            for name in rng.sample(self.names, rng.randint(1, len(self.names))):
                self.publish(driver, name)
            if rng.random() < 0.4:
                self.publish(driver, "net")
        classes = self.classes()
        self.class_names = [entry["metadata"]["name"] for entry in classes]
        slices = list(self.current.values())
        rng.shuffle(slices)
        sequence: Sequence = {
            "features": self.on,
            "nodes": [self.node(name) for name in self.names],
            "classes": [*classes],
            "slices": json.loads(json.dumps(slices)),
        }
        return sequence | {"events": self.events(rng.randint(*PODS))}

    def publish(self, driver: str, name: str) -> None:
        self.home = name if name in self.names else self.rng.choice(self.names)
        self.pools.append((driver, name))
        for published in self.pool(driver, name):
            self.current[published["metadata"]["name"]] = published

    # --- events -------------------------------------------------------------------------------------------------------------------

    def events(self, pods: int) -> list[Json]:
        events: list[Json] = []
        asked = 0
        while asked < pods:
            draw = self.rng.random()
            if draw < 0.42:
                events.append(self.pod(f"pod-{asked}"))
                asked += 1
            elif draw < 0.78 and self.claims_made:
                events.append({"release": self.claims_made.pop(self.rng.randrange(len(self.claims_made)))})
            elif draw < 0.91 and self.republishing:
                steps = self.rng.choice(self.republishing)
                events.append(steps.pop(0))
                if not steps:
                    self.republishing.remove(steps)
            elif draw < 0.935 and self.pools:
                self.republish()
            elif draw < 0.965 and self.current:
                events.append(self.edit())
            elif draw < 0.985:
                events.append(self.rule())
            else:
                events.append(self.class_change())
            if self.rng.random() < 0.02:
                events.append({"compare": True})
        return events

    def pod(self, name: str) -> Json:
        number = 2 if self.asks("claims", 0.5) else 1
        claims = [self.claim(f"{name}-{index}") for index in range(number)]
        # The older ones are released first, more or less, so that the cluster neither fills up nor empties.
        self.claims_made[:0] = [claim["metadata"]["name"] for claim in claims]
        del self.claims_made[40:]
        return {"pod": name, "claims": claims, "nodes": self.rng.sample(self.names, len(self.names))}

    def republish(self) -> None:
        """A new generation of a pool: its slices in some order, under new names or in place of the old ones, which go at last."""
        rng = self.rng
        driver, name = rng.choice(self.pools)
        self.home = name if name in self.names else rng.choice(self.names)
        old = [entry for entry in self.current.values() if _pool(entry) == (driver, name)]
        # Three more than the last one: the one before is for leftovers (`break_pool`). Should they meet slices of their generation
        # with another number of slices, upstream's answer would be random.
        generation = max((entry["spec"]["pool"]["generation"] for entry in old), default=0) + 3
        new = self.pool(driver, name, generation)
        replaced: list[str] = []
        if rng.random() < 0.5:
            for entry, before in zip(new, old, strict=False):
                entry["metadata"]["name"] = before["metadata"]["name"]
                replaced.append(before["metadata"]["name"])
        gone = [entry["metadata"]["name"] for entry in old if entry["metadata"]["name"] not in replaced]
        steps: list[Json] = [{"put_slice": entry} for entry in new]
        rng.shuffle(steps)
        removals: list[Json] = [{"remove_slice": each} for each in gone]
        steps = removals + steps if rng.random() < 0.2 else steps + removals
        for each in gone:
            del self.current[each]
        for entry in new:
            self.current[entry["metadata"]["name"]] = entry
        if steps:
            self.republishing.append(json.loads(json.dumps(steps)))

    def edit(self) -> Json:
        """A slice that is changed where it is, without a new generation; or deleted."""
        rng = self.rng
        name = rng.choice(sorted(self.current))
        entry = json.loads(json.dumps(self.current[name]))
        spec = entry["spec"]
        devices = spec.get("devices")
        if rng.random() < 0.08:
            del self.current[name]
            return {"remove_slice": name}
        if devices is None:
            for counter_set in spec.get("sharedCounters", ()):
                for counter in counter_set["counters"].values():
                    counter["value"] = rng.choice(("1", "2", "4", "40Gi"))
        elif devices and rng.random() < 0.3:
            devices.pop(rng.randrange(len(devices)))
        elif devices and rng.random() < 0.3:
            rng.choice(devices)["taints"] = [self.taint()]
        else:
            self.place = _pool(entry)
            sets = [
                each
                for other in self.current.values()
                if _pool(other) == _pool(entry)
                for each in other["spec"].get("sharedCounters", ())
            ]
            changed = self.device(spec["driver"], f"e{self.made}", sets, "perDeviceNodeSelection" in spec)
            self.made += 1
            if devices and rng.random() < 0.6:
                index = rng.randrange(len(devices))
                devices[index] = changed | {"name": devices[index]["name"]}
            else:
                devices.insert(rng.randint(0, len(devices)), changed)
        self.current[name] = entry
        return {"put_slice": json.loads(json.dumps(entry))}

    def rule(self) -> Json:
        rng = self.rng
        if self.rules and rng.random() < 0.6:
            return {"remove_rule": self.rules.pop(rng.randrange(len(self.rules)))}
        name = f"rule-{rng.randrange(5)}"
        if name not in self.rules:
            self.rules.append(name)
        selector: Json = {}
        if self.published and rng.random() < 0.9:
            driver, pool, device = rng.choice(self.published)
            for key, value in (("driver", driver), ("pool", pool), ("device", device)):
                if rng.random() < 0.7:
                    selector[key] = value
        taint = {"key": "example.com/rule", "effect": rng.choice(("NoSchedule", "NoSchedule", "NoExecute", "None"))}
        return {"put_rule": {"metadata": {"name": name}, "spec": {"deviceSelector": selector, "taint": taint}}}

    def class_change(self) -> Json:
        rng = self.rng
        if self.missing:
            return {"put_class": self.missing.pop()}
        entry = rng.choice(self.classes())
        if rng.random() < 0.3:
            self.missing.append(entry)
            return {"remove_class": entry["metadata"]["name"]}
        return {"put_class": entry}


def _pool(entry: Json) -> tuple[str, str]:
    return entry["spec"]["driver"], entry["spec"]["pool"]["name"]


def make(seed: int | str, number: int) -> Sequence:
    """Sequence `number` of a seed: one topic, a pair of them, some, or most, in turn."""
    rng = random.Random(f"{seed}/sequence {number}")
    match number % 5:
        case 0:
            topics: tuple[str, ...] = (TOPICS[number // 5 % len(TOPICS)],)
        case 1 | 2:
            topics = rng.choice(PAIRS)
        case 3:
            topics = tuple(rng.sample(TOPICS, rng.randint(3, 8)))
            topics = tuple(topic for topic in topics if topic != "many")  # which takes time, for verify most of all
        case _:
            rare = ("contradictions", "broken-pools", "all", "operations")
            topics = tuple(topic for topic in TOPICS if topic != "many" and rng.random() < (0.15 if topic in rare else 0.85))
    return {"id": f"{seed}/sequence {number}", "topics": topics} | SequenceMaker(rng, topics).sequence()


# --- playing it -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """An attempt of a pod on a node: for the oracle, what we answered, and after how many events."""

    problem: Problem
    ours: answers.Answer
    event: int


class Replay:
    """A sequence in progress: what the API server would list, and what our allocator was told of it."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.features = Features(**sequence["features"])
        self.nodes: dict[str, Json] = {entry["metadata"]["name"]: entry for entry in sequence["nodes"]}
        self.typed_nodes = {name: _typed(Node, entry) for name, entry in self.nodes.items()}
        self.slices: dict[str, Json] = {entry["metadata"]["name"]: entry for entry in sequence["slices"]}
        self.classes: dict[str, Json] = {entry["metadata"]["name"]: entry for entry in sequence["classes"]}
        self.typed_classes = {name: _typed(DeviceClass, entry) for name, entry in self.classes.items()}
        self.rules: dict[str, Json] = {}
        self.held: dict[str, tuple[Json, ResourceClaim]] = {}
        self.tainted = {name: self._with_rules(entry) for name, entry in self.slices.items()}
        self.state = AllocatedState()
        self.allocator = self.rebuilt(self.state)
        self.released = 0

    def rebuilt(self, state: AllocatedState) -> Allocator:
        """An allocator that is built from the cluster as it is."""
        return Allocator(
            self.tainted.values(),
            self.typed_classes.values(),
            allocated=state,
            features=self.features,
            step_budget=STEPS,
        )

    def play(self) -> Iterator[Question]:
        """Everything that was asked on the way.

        Raises AssertionError if a result is illegal, or what was kept from the beginning is not what there is.
        """
        for number, event in enumerate(self.sequence["events"]):
            if "pod" in event:
                yield from self._allocate(event, number)
            elif "compare" in event:
                self._assert_same_as_rebuilt()
            else:
                ((kind, value),) = event.items()
                getattr(self, f"_{kind}")(value)
        self._assert_same_as_rebuilt()

    # --- events -------------------------------------------------------------------------------------------------------------------

    def _allocate(self, event: Json, number: int) -> Iterator[Question]:
        claims = [_typed(ResourceClaim, claim) for claim in event["claims"]]
        for name in event["nodes"]:
            answer = answers.attempt(self.allocator, self.typed_nodes[name], claims)
            yield Question(self._problem(event, name), answer, number)
            if answer["kind"] == "error":
                return  # the pod is out, not only the node
            if answer["kind"] == "allocated":
                self._hold(event, claims, answer)
                return

    def _problem(self, event: Json, node: str) -> Problem:
        return {
            "id": f"{self.sequence['id']} {event['pod']} {node}",
            "features": self.sequence["features"],
            "classes": list(self.classes.values()),
            "slices": [self._tainted_json(entry) for entry in self.slices.values()],
            "claims": event["claims"],
            "allocatedClaims": [claim for claim, _ in self.held.values()],
            "node": self.nodes[node],
            "variants": ["incubating", "experimental"],
            "timeoutMillis": 200,
        }

    def _hold(self, event: Json, claims: list[ResourceClaim], answer: answers.Answer) -> None:
        made = [
            (claim | {"status": {"allocation": result}}) for claim, result in zip(event["claims"], answer["results"], strict=True)
        ]
        typed = [_typed(ResourceClaim, claim) for claim in made]
        before = [claim for _, claim in self.held.values()]
        breaches = new_breaches(
            self.tainted.values(), self.typed_classes.values(), before, typed, self.typed_nodes.values(), features=self.features
        )
        # What upstream does, too: a device that was republished as exclusive goes to one claim beside those that share it.
        wrong = [breach for breach in breaches if breach.kind is not BreachKind.DEVICE_HELD_AND_SHARED]
        if not any(self._is_replaced(result["driver"], result["pool"]) for claim in made for result in _results(claim)):
            assert not wrong, "\n".join(f"{breach.kind} ({breach.standing}): {breach}" for breach in wrong)
        for claim, entry in zip(typed, made, strict=True):
            self.state.add(claim)
            self.held[claim.metadata.name] = entry, claim

    def _is_replaced(self, driver: str, pool: str) -> bool:
        """Whether a pool is of two generations.

        A node that sees all slices of the older one may still allocate from it; the checker knows the newer one only.
        """
        return len({entry["spec"]["pool"]["generation"] for entry in self.slices.values() if _pool(entry) == (driver, pool)}) > 1

    def _release(self, name: str) -> None:
        if name in self.held:
            self.released += 1
            self.state.remove(self.held.pop(name)[1])

    def _put_slice(self, entry: Json) -> None:
        name = entry["metadata"]["name"]
        self.slices[name] = entry
        self.tainted[name] = self._with_rules(entry)
        self.allocator.put_slice(self.tainted[name])

    def _remove_slice(self, name: str) -> None:
        if self.slices.pop(name, None) is not None:
            del self.tainted[name]
            self.allocator.remove_slice(name)

    def _put_rule(self, entry: Json) -> None:
        self.rules[entry["metadata"]["name"]] = entry
        self._retaint()

    def _remove_rule(self, name: str) -> None:
        if self.rules.pop(name, None) is not None:
            self._retaint()

    def _retaint(self) -> None:
        for name, entry in self.slices.items():
            tainted = self._with_rules(entry)
            if tainted != self.tainted[name]:
                self.tainted[name] = tainted
                self.allocator.put_slice(tainted)

    def _put_class(self, entry: Json) -> None:
        name = entry["metadata"]["name"]
        self.classes[name] = entry
        self.typed_classes[name] = _typed(DeviceClass, entry)
        self.allocator.put_class(self.typed_classes[name])

    def _remove_class(self, name: str) -> None:
        if self.classes.pop(name, None) is not None:
            del self.typed_classes[name]
            self.allocator.remove_class(name)

    # --- taint rules --------------------------------------------------------------------------------------------------------------

    def _with_rules(self, entry: Json) -> ResourceSlice:
        """The slice as our allocator gets it."""
        [tainted] = apply_taint_rules(
            [_typed(ResourceSlice, entry)], [_typed(DeviceTaintRule, rule) for rule in self.rules.values()]
        )
        return tainted

    def _tainted_json(self, entry: Json) -> Json:
        """The slice as the oracle gets it: rules are not the allocator's business."""
        driver, pool = _pool(entry)
        added: dict[str, list[Json]] = {}
        for rule in sorted(self.rules.values(), key=lambda rule: rule["metadata"]["name"]):
            selector = rule["spec"]["deviceSelector"]
            if selector.get("driver", driver) == driver and selector.get("pool", pool) == pool:
                for device in entry["spec"].get("devices") or ():
                    if selector.get("device", device["name"]) == device["name"]:
                        added.setdefault(device["name"], []).append(rule["spec"]["taint"])
        if not added:
            return entry
        devices = [
            device | {"taints": device.get("taints", []) + added.get(device["name"], [])} for device in entry["spec"]["devices"]
        ]
        return entry | {"spec": entry["spec"] | {"devices": devices}}

    # --- state kept and state rebuilt ---------------------------------------------------------------------------------------------

    def _assert_same_as_rebuilt(self) -> None:
        """What was kept from the beginning is what comes out of the claims and slices that are there."""
        rebuilt = AllocatedState.from_claims(claim for _, claim in self.held.values())
        devices = {
            (*_pool(entry), device["name"]) for entry in self.slices.values() for device in entry["spec"].get("devices") or ()
        }
        for _, claim in self.held.values():
            if claim.status.allocation is not None:
                devices |= {(result.driver, result.pool, result.device) for result in claim.status.allocation.devices.results}
        for device in devices:
            kept, anew = _facts(self.state, device), _facts(rebuilt, device)
            assert kept == anew, f"{device}: {kept} is known of it, and {anew} from the claims that are left"
        fresh = self.rebuilt(rebuilt)
        for event in [event for event in self.sequence["events"] if "pod" in event][:5]:
            claims = [_typed(ResourceClaim, claim) for claim in event["claims"]]
            for node in self.typed_nodes.values():
                kept, anew = answers.attempt(self.allocator, node, claims), answers.attempt(fresh, node, claims)
                assert answers.comparable(kept) == answers.comparable(anew), (
                    f"{event['pod']} on {node.metadata.name}: {kept}, anew {anew}"
                )


def _results(claim: Json) -> list[Json]:
    return claim["status"]["allocation"]["devices"].get("results", [])


def _facts(state: AllocatedState, device: tuple[str, str, str]) -> tuple[Any, ...]:
    return (
        state.in_use(device, True),
        state.in_use(device, False),
        state.is_shared(device),
        state.is_allocated(device),
        {name: amount for name, amount in state.consumed(device).items() if amount},
        state.owners(device),
    )


def _typed(kind: Any, entry: Json) -> Any:
    return msgspec.convert({"kind": kind.__name__} | entry, kind)
