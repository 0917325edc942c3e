"""Looks for allocation problems that our search takes long over: `python -m scripts.fuzz_search --seed 1 --seconds 300 --out DIR`.

A small problem (requests, counts, alternatives, counters, attributes, constraints, capacity) is changed a little again and again,
and a change is kept when the engine needs longer for it. What was found last from several beginnings is written as JSON, the ten
worst first, in the form of benchmarks/hard, without an answer: a problem becomes a regression benchmark when its answer is known
from elsewhere.

Problems stay small on purpose (at most 40 devices): what is slow there is slow by its shape.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.hard import Posed

from reparto.allocation import AllocationError, GaveUp

DRIVER = "gpu.example.com"
ATTRIBUTES = ("x", "y", "z")
MAX_DEVICES = 40
MAX_REQUESTS = 12
FEATURES = ("admin_access", "prioritized_list", "partitionable_devices", "device_taints", "consumable_capacity")
BUDGET = 60_000
"""Steps after which a problem is slow enough, whatever it would take."""
PATIENCE = 400
"""Changes in vain after which a new beginning is made."""
ENOUGH = 0.3
"""Seconds that are bad enough to begin anew: there are other kinds to be found."""


@dataclass
class Device:
    """A device: small numbers as attributes, what it draws from counter set `part`, what it can hold, whether it is taken."""

    values: dict[str, int] = field(default_factory=dict)
    part: int = -1
    draws: tuple[int, int] = (0, 0)
    memory: int = 0
    shared: bool = False
    taken: bool = False


@dataclass
class Ask:
    """One alternative of a request; `count` 0 asks for all."""

    count: int = 1
    attribute: str = ""
    value: int = 0
    comparison: str = "=="
    memory: int = 0


@dataclass
class Claim:
    """Requests, each a list of alternatives, and constraints: kind, attribute, requests (none: all)."""

    requests: list[list[Ask]]
    constraints: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list)


@dataclass
class Problem:
    """What is changed; `written` is what is asked."""

    devices: list[Device]
    counters: list[tuple[int, int]]
    claims: list[Claim]

    def requests(self) -> list[list[Ask]]:
        return [request for claim in self.claims for request in claim.requests]

    def small(self) -> bool:
        """Within the limits, those of the API among them: else it would measure something else, or be refused."""
        requests = self.requests()
        return (
            0 < len(self.devices) <= MAX_DEVICES
            and 0 < len(requests) <= MAX_REQUESTS
            and all(claim.requests for claim in self.claims)
            and all(sum(max(ask.count for ask in request) for request in claim.requests) <= 32 for claim in self.claims)
            and all(len(request) <= 6 for request in requests)
            and len(self.claims) <= 5
        )

    def written(self) -> dict[str, Any]:
        """As the allocation oracle reads it."""
        pool = {"name": "n", "generation": 1}
        sets = [
            {"name": f"set-{number}", "counters": {"a": {"value": str(a)}, "b": {"value": str(b)}}}
            for number, (a, b) in enumerate(self.counters)
        ]
        bodies: list[dict[str, Any]] = [{"sharedCounters": sets}] if sets else []
        bodies.append({"devices": [_device(number, device) for number, device in enumerate(self.devices)]})
        slices = [
            {
                "metadata": {"name": f"{number:02}-n"},
                "spec": {"driver": DRIVER, "nodeName": "n", "pool": {**pool, "resourceSliceCount": len(bodies)}, **body},
            }
            for number, body in enumerate(bodies)
        ]
        taken = [
            {"driver": DRIVER, "pool": "n", "device": f"d{number:02}"} for number, device in enumerate(self.devices) if device.taken
        ]
        return {
            "features": dict.fromkeys(FEATURES, True),
            "classes": [{"metadata": {"name": "gpu"}, "spec": {}}],
            "slices": slices,
            "claims": [_claim(number, claim) for number, claim in enumerate(self.claims)],
            "allocatedState": {"allocatedDevices": taken},
            "node": {"metadata": {"name": "n"}},
            "variants": ["incubating", "experimental"],
        }


def _device(number: int, device: Device) -> dict[str, Any]:
    out: dict[str, Any] = {"name": f"d{number:02}"}
    if device.values:
        out["attributes"] = {name: {"int": value} for name, value in device.values.items()}
    if device.part >= 0:
        a, b = device.draws
        out["consumesCounters"] = [
            {"counterSet": f"set-{device.part}", "counters": {"a": {"value": str(a)}, "b": {"value": str(b)}}}
        ]
    if device.memory:
        out["capacity"] = {"memory": {"value": f"{device.memory}Gi"}}
    if device.shared:
        out["allowMultipleAllocations"] = True
    return out


def _claim(number: int, claim: Claim) -> dict[str, Any]:
    requests: list[dict[str, Any]] = []
    for place, alternatives in enumerate(claim.requests):
        bodies = [_ask(ask) for ask in alternatives]
        if len(bodies) == 1:
            requests.append({"name": f"r{place}", "exactly": bodies[0]})
        else:
            named = [{"name": f"s{index}", **body} for index, body in enumerate(bodies)]
            requests.append({"name": f"r{place}", "firstAvailable": named})
    devices: dict[str, Any] = {"requests": requests}
    constraints = [
        {"requests": [f"r{place}" for place in places if place < len(requests)], f"{kind}Attribute": f"{DRIVER}/{attribute}"}
        for kind, attribute, places in claim.constraints
    ]
    if constraints:
        devices["constraints"] = constraints
    return {
        "metadata": {"name": f"c{number}", "namespace": "default", "uid": f"c{number}"},
        "spec": {"devices": devices},
    }


def _ask(ask: Ask) -> dict[str, Any]:
    out: dict[str, Any] = {"deviceClassName": "gpu", "allocationMode": "ExactCount" if ask.count else "All"}
    if ask.count:
        out["count"] = ask.count
    if ask.attribute:
        expression = f'device.attributes["{DRIVER}"].?{ask.attribute}.orValue(-1) {ask.comparison} {ask.value}'
        out["selectors"] = [{"cel": {"expression": expression}}]
    if ask.memory:
        out["capacity"] = {"requests": {"memory": f"{ask.memory}Gi"}}
    return out


class Fuzzer:
    """Climbs from one beginning after the other."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.changes: list[Callable[[Problem], None]] = [
            self.add_device,
            self.repeat_device,
            self.drop_device,
            self.change_device,
            self.change_device,
            self.change_all_devices,
            self.change_counter,
            self.add_request,
            self.repeat_request,
            self.drop_request,
            self.move_request,
            self.change_ask,
            self.change_ask,
            self.change_ask,
            self.add_alternative,
            self.drop_alternative,
            self.add_constraint,
            self.drop_constraint,
            self.split_claim,
        ]

    def beginning(self) -> Problem:
        """A random problem: devices that are alike but for an attribute or two, and requests for some of them."""
        rng = self.rng
        problem = Problem([], [(rng.randint(2, 8), rng.randint(2, 8)) for _ in range(rng.choice((0, 0, 1, 2)))], [])
        for _ in range(rng.randint(6, 20)):
            self.add_device(problem)
        problem.claims = [Claim([[self.ask()] for _ in range(rng.randint(1, 4))]) for _ in range(rng.choice((1, 1, 2)))]
        for _ in range(rng.choice((0, 1, 2))):
            self.add_constraint(problem)
        return problem

    def changed(self, problem: Problem) -> Problem:
        """A neighbour within the limits."""
        while True:
            neighbour = copy.deepcopy(problem)
            for _ in range(self.rng.choice((1, 1, 2, 3))):
                if neighbour.small():
                    self.rng.choice(self.changes)(neighbour)
            if neighbour.small():
                return neighbour

    def climb(self, until: float) -> tuple[float, Problem]:
        """The slowest problem found from one beginning, with its seconds."""
        best = self.beginning()
        while not best.small():
            best = self.beginning()
        worst, vain = effort(best), 0
        while vain < PATIENCE and worst < ENOUGH and time.monotonic() < until:
            neighbour = self.changed(best)
            seconds = effort(neighbour)
            vain += 1
            # Noise must not count as progress, but a step aside is allowed.
            if seconds > worst * 1.03:
                vain = 0
            if seconds > worst * 0.97:
                best, worst = neighbour, max(worst, seconds)
        return effort(best), best

    # --- one change each; what is out of bounds is sorted out by the caller -------------------------------------------------------

    def add_device(self, problem: Problem) -> None:
        rng = self.rng
        sets = len(problem.counters)
        device = Device({name: rng.randint(0, 3) for name in ATTRIBUTES if rng.random() < 0.9})
        if sets and rng.random() < 0.8:
            device.part, device.draws = rng.randrange(sets), (rng.randint(0, 3), rng.randint(0, 3))
        if rng.random() < 0.3:
            device.memory, device.shared = rng.randint(1, 12), rng.random() < 0.8
        problem.devices.append(device)

    def repeat_device(self, problem: Problem) -> None:
        device = copy.deepcopy(self.rng.choice(problem.devices))
        problem.devices[self.rng.randint(0, len(problem.devices)) : 0] = [device] * self.rng.choice((1, 1, 3))
        problem.devices = [copy.deepcopy(each) for each in problem.devices]

    def drop_device(self, problem: Problem) -> None:
        if len(problem.devices) > 1:
            problem.devices.pop(self.rng.randrange(len(problem.devices)))

    def change_device(self, problem: Problem) -> None:
        self.alter(problem, [self.rng.choice(problem.devices)])

    def change_all_devices(self, problem: Problem) -> None:
        self.alter(problem, [device for device in problem.devices if self.rng.random() < 0.5])

    def alter(self, problem: Problem, devices: list[Device]) -> None:
        rng = self.rng
        what = rng.choice(("value", "value", "value", "draws", "part", "memory", "shared", "taken"))
        attribute, part = rng.choice(ATTRIBUTES), rng.randint(-1, len(problem.counters) - 1)
        for device in devices:
            if what == "value":
                device.values[attribute] = rng.randint(0, 5)
            elif what == "draws":
                device.draws = (rng.randint(0, 4), rng.randint(0, 4))
            elif what == "part":
                device.part = part
            elif what == "memory":
                device.memory = rng.randint(0, 12)
            elif what == "shared":
                device.shared = not device.shared
            else:
                device.taken = not device.taken

    def change_counter(self, problem: Problem) -> None:
        rng = self.rng
        if not problem.counters or (len(problem.counters) < 5 and rng.random() < 0.2):
            problem.counters.append((rng.randint(1, 12), rng.randint(1, 12)))
        else:
            problem.counters[rng.randrange(len(problem.counters))] = (rng.randint(1, 16), rng.randint(1, 16))

    def ask(self) -> Ask:
        rng = self.rng
        ask = Ask(count=rng.choice((1, 1, 1, 2, 3, 4, 6, 8, 12)))
        if rng.random() < 0.6:
            ask.attribute, ask.value = rng.choice(ATTRIBUTES), rng.randint(0, 4)
            ask.comparison = rng.choice(("==", "==", "!=", "<=", ">="))
        if rng.random() < 0.2:
            ask.memory = rng.randint(1, 8)
        return ask

    def claim(self, problem: Problem) -> Claim:
        return self.rng.choice(problem.claims)

    def add_request(self, problem: Problem) -> None:
        requests = self.claim(problem).requests
        requests.insert(self.rng.randint(0, len(requests)), [self.ask()])

    def repeat_request(self, problem: Problem) -> None:
        requests = self.claim(problem).requests
        requests.insert(self.rng.randint(0, len(requests)), copy.deepcopy(self.rng.choice(requests)))

    def drop_request(self, problem: Problem) -> None:
        claim = self.claim(problem)
        claim.requests.pop(self.rng.randrange(len(claim.requests)))
        problem.claims = [each for each in problem.claims if each.requests]

    def move_request(self, problem: Problem) -> None:
        requests = self.claim(problem).requests
        requests.insert(self.rng.randrange(len(requests)), requests.pop(self.rng.randrange(len(requests))))

    def change_ask(self, problem: Problem) -> None:
        rng, new = self.rng, self.ask()
        ask = rng.choice(rng.choice(self.claim(problem).requests))
        what = rng.choice(("count", "count", "selector", "value", "memory", "all"))
        if what == "count":
            ask.count = rng.choice((new.count, ask.count + 1, max(1, ask.count - 1)))
        elif what == "selector":
            ask.attribute, ask.comparison, ask.value = new.attribute, new.comparison, new.value
        elif what == "value":
            ask.value = new.value
        elif what == "memory":
            ask.memory = rng.randint(0, 8)
        elif rng.random() < 0.1:
            ask.count = 0

    def add_alternative(self, problem: Problem) -> None:
        request = self.rng.choice(self.claim(problem).requests)
        request.insert(self.rng.randint(0, len(request)), self.ask())

    def drop_alternative(self, problem: Problem) -> None:
        request = self.rng.choice(self.claim(problem).requests)
        if len(request) > 1:
            request.pop(self.rng.randrange(len(request)))

    def add_constraint(self, problem: Problem) -> None:
        rng, claim = self.rng, self.claim(problem)
        places = tuple(place for place in range(len(claim.requests)) if rng.random() < 0.6)
        claim.constraints.append((rng.choice(("match", "match", "distinct")), rng.choice(ATTRIBUTES), places))

    def drop_constraint(self, problem: Problem) -> None:
        claim = self.claim(problem)
        if claim.constraints:
            claim.constraints.pop(self.rng.randrange(len(claim.constraints)))

    def split_claim(self, problem: Problem) -> None:
        claim = self.claim(problem)
        if len(claim.requests) > 1:
            where = self.rng.randrange(1, len(claim.requests))
            problem.claims.append(Claim(claim.requests[where:]))
            claim.requests = claim.requests[:where]


def effort(problem: Problem) -> float:
    """CPU seconds of one attempt, the least of three where it is short.

    Giving up is bad enough in any case.
    """
    posed = Posed(problem.written())
    times: list[float] = []
    gc.disable()
    try:
        while len(times) < 3 and sum(times) < ENOUGH / 3:
            allocator = posed.allocator(BUDGET)  # a new one: an old one remembers
            start = time.process_time()
            try:
                allocator.allocate(posed.nodes[0], posed.claims)
            except GaveUp:
                return max(ENOUGH, time.process_time() - start)
            except AllocationError:
                pass  # an answer, too, and some come late
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times)


def steps(problem: dict[str, Any]) -> int:
    """The smallest step budget with which the engine answers; `BUDGET` and more are not told apart."""
    posed = Posed(problem)
    low, high = 0, BUDGET
    while low < high:
        middle = (low + high) // 2
        try:
            posed.allocator(middle).allocate(posed.nodes[0], posed.claims)
        except GaveUp:
            low = middle + 1
        else:
            high = middle
    return low


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz_search", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--out", type=Path, required=True, help="folder for the ten worst")
    arguments = parser.parse_args()
    fuzzer = Fuzzer(random.Random(arguments.seed))
    until = time.monotonic() + arguments.seconds
    found: list[tuple[float, int, Problem]] = []
    while time.monotonic() < until:
        seconds, problem = fuzzer.climb(until)
        found.append((seconds, len(found), problem))
        print(f"{len(found)}: {seconds * 1e3:.1f} ms", file=sys.stderr, flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for rank, (seconds, _, problem) in enumerate(sorted(found, key=lambda each: -each[0])[:10]):
        written = problem.written()
        name = f"fuzzed-{arguments.seed}-{rank}.json"
        (arguments.out / name).write_text(json.dumps({"problem": written}) + "\n")
        print(f"{name}: {seconds * 1e3:.1f} ms, {steps(written):,} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
