"""How much of a fleet of MIG GPUs each way of choosing devices puts to use: packing.md 4.2.

64 nodes of eight A100 80GB. Pods arrive at random (Poisson), stay for a time of mean 1 (exponential), and are lost if nothing fits;
their demand is 100 % of the GPUs on average. 40 units of time, the first 10 of which do not count. Waste is what of all GPUs does
not serve demand: 1 - (demand being served / GPUs). Compared are

- D-stock: what Kubernetes does, first fit on the node with the least in use;
- D-node: first fit on the node with the most in use, which is one line of a scheduler's configuration;
- D-pack: the fullest GPU that fits, wherever it is, and the first device there; what packing.md found best, done again here;
- best-fit: Reparto's policy, devices and nodes;
- L0, L1, L2: no DRA, but fixed layouts: whole GPUs only; a share of the nodes, the best there is for the mix, in the vendor's
  all-balanced layout; layouts chosen with perfect knowledge of the mean mix (`mig_layouts`);
- bound: everything that runs is packed anew, free of charge, for every arrival.

All get the same arrivals. Decisions of D-* and best-fit are the allocator's own (`mig_engine`). Nothing running is moved, and
making a partition takes no time.

    python -m benchmarks.mig_mixes            # ten seeds, some minutes
    python -m benchmarks.mig_mixes --quick    # a look
"""

from __future__ import annotations

import argparse
import heapq
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev
from typing import Final, Literal, NamedTuple, Protocol

from benchmarks.mig_engine import GPUS, SIZES, SLICES, Direct, Engine, Policy, name_on, placements
from benchmarks.mig_layouts import Layout, Pools, balanced, ideal, whole_gpus
from benchmarks.timing import Row, machine

NODES: Final = 64
ALL_GPUS: Final = NODES * GPUS
DURATION: Final = 40.0
WARM_UP: Final = 10.0
SEEDS: Final = range(10, 20)
"""Seeds 0 to 9 served to choose the weights of the policy."""
_TUNING: Final = 1000
"""Seeds from here on serve to choose the share of L1, and measure nothing."""
_PHASE: Final = 10.0  # of drift, in mean durations
_AUDITED: Final = 20  # decisions of a run of the first seed that the allocator is asked again about, over the whole fleet

SMALL, TWO, THREE, FOUR, WHOLE = range(len(SIZES))
COMPUTE: Final = (1, 2, 3, 4, 7)
MEMORY: Final = (1, 2, 4, 4, 8)


class Shape(NamedTuple):
    """What a pod asks for: so many devices of a size; `demand` is what it makes use of, in GPUs."""

    number: int
    size: int
    demand: float


Mix = Mapping[Shape, float]
"""Shapes with their shares."""


def _native(*shares: float) -> Mix:
    """Pods that ask for profiles and make use of all of them: a seventh of a GPU for each compute slice."""
    return {Shape(1, size, COMPUTE[size] / 7): share for size, share in enumerate(shares)}


def _openb(pods: Mapping[tuple[int, int], int]) -> Mix:
    """Pods by GPUs and thousandths of each, on the smallest profile with that much compute and memory."""
    mix: dict[Shape, float] = {}
    for (count, milli), share in pods.items():
        size = next(size for size in range(len(SIZES)) if milli * 7 <= 1000 * COMPUTE[size] and milli * 8 <= 1000 * MEMORY[size])
        mix[Shape(count, size, count * milli / 1000)] = share
    return mix


# GPU pods of Alibaba's openb trace (openb_pod_list_default.csv, openb_pod_list_gpushare100.csv; Apache-2.0): how many pods ask for
# (GPUs, milli of each).
# fmt: off
_DEFAULT = {
    (1, 50): 7, (1, 110): 24, (1, 140): 1, (1, 160): 74, (1, 220): 62, (1, 230): 140, (1, 270): 4, (1, 290): 1, (1, 320): 328,
    (1, 330): 7, (1, 350): 6, (1, 370): 47, (1, 440): 2, (1, 460): 128, (1, 470): 750, (1, 480): 19, (1, 550): 72, (1, 590): 75,
    (1, 650): 253, (1, 810): 1078, (1, 1000): 3911, (2, 1000): 16, (4, 1000): 15, (8, 1000): 44,
}
_GPUSHARE100 = {
    (1, 50): 14, (1, 110): 58, (1, 140): 1, (1, 160): 154, (1, 220): 141, (1, 230): 337, (1, 270): 9, (1, 290): 3, (1, 320): 800,
    (1, 330): 16, (1, 350): 19, (1, 370): 111, (1, 440): 3, (1, 460): 304, (1, 470): 1723, (1, 480): 40, (1, 550): 143,
    (1, 590): 180, (1, 650): 572, (1, 810): 2436,
}
# fmt: on

_SMALL_HEAVY = _native(5, 3, 1.5, 0.5, 0.5)
# packing.md does not say what 7g-heavy is, nor how fast pods arrive in either phase. With these shares and an even rate the two
# columns in which nothing is decided come out as published: L0 46.5 %, bound 12.9 %.
_LARGE_HEAVY = _native(1, 1, 1, 1, 4)

MIXES: Final[Mapping[str, Sequence[Mix]]] = {
    "openb default": (_openb(_DEFAULT),),
    "openb gpushare100": (_openb(_GPUSHARE100),),
    "MIG uniform": (_native(1, 1, 1, 1, 1),),
    "MIG small-heavy": (_SMALL_HEAVY,),
    "drift": (_SMALL_HEAVY, _LARGE_HEAVY),
}
"""The mixes in their phases, which take turns."""

PUBLISHED: Final = {
    "openb default": {"L0": 20.3, "L1": 15.2, "L2": 11.8, "D-stock": 15.8, "D-node": 12.9, "D-pack": 12.6, "bound": 9.9},
    "openb gpushare100": {"L0": 44.2, "L1": 35.5, "L2": 24.7, "D-stock": 32.8, "D-node": 29.0, "D-pack": 26.7, "bound": 23.1},
    "MIG uniform": {"L0": 51.6, "L1": 18.6, "L2": 5.4, "D-stock": 16.8, "D-node": 9.8, "D-pack": 5.0, "bound": 2.5},
    "MIG small-heavy": {"L0": 71.6, "L1": 16.1, "L2": 4.7, "D-stock": 15.2, "D-node": 10.8, "D-pack": 5.1, "bound": 2.0},
    "drift": {"L0": 46.5, "L1": 26.5, "L2": 24.1, "D-stock": 21.8, "D-node": 18.1, "D-pack": 15.8, "bound": 12.9},
}
"""Waste of the throw-away prototype (packing.md 4.2; three seeds)."""


class Arrival(NamedTuple):
    """A pod comes at a time, and stays for so long if it is placed."""

    at: float
    shape: Shape
    stays: float


def mean_demand(mix: Mix) -> float:
    """Of one pod, in GPUs."""
    return sum(shape.demand * share for shape, share in mix.items()) / sum(mix.values())


def arrivals(phases: Sequence[Mix], seed: int, until: float = DURATION) -> list[Arrival]:
    """Pods whose demand is all GPUs on average. The rate is the same in all phases."""
    draw = random.Random(seed)
    rate = ALL_GPUS / fmean(map(mean_demand, phases))
    weighted = [(list(mix), list(mix.values())) for mix in phases]
    found: list[Arrival] = []
    at = 0.0
    while True:
        shapes, shares = weighted[int(at // _PHASE) % len(phases)]
        at += draw.expovariate(rate)
        if at > until:
            return found
        found.append(Arrival(at, draw.choices(shapes, shares)[0], draw.expovariate(1)))


class Placed(NamedTuple):
    """Where a pod is: the node and its GPUs, and the placement on each of them."""

    node: int
    gpus: Sequence[int]
    placement: int


class Fleet(Protocol):
    """Something that places pods. What `place` gives is given back to `free`."""

    def place(self, shape: Shape) -> object | None: ...

    def free(self, placed: object, shape: Shape) -> None: ...


class Result(NamedTuple):
    """Percentages: GPUs that serve no demand, demand that was lost, pods that were."""

    waste: float
    demand: float
    pods: float


def simulate(fleet: Fleet, pods: Sequence[Arrival], until: float = DURATION, warm_up: float = WARM_UP) -> Result:
    """Let the pods come and go, and measure between `warm_up` and `until`."""
    leaving: list[tuple[float, int, object, Shape]] = []
    served = area = 0.0
    last = warm_up
    came = lost = 0
    asked = refused = 0.0

    def pass_to(now: float) -> None:
        nonlocal area, last
        if now > warm_up:
            area += served * (now - last)
            last = now

    for number, (at, shape, stays) in enumerate(pods):
        while leaving and leaving[0][0] <= at:
            left, _, placed, former = heapq.heappop(leaving)
            pass_to(left)
            served -= former.demand
            fleet.free(placed, former)
        pass_to(at)
        counts = at > warm_up
        if counts:
            came, asked = came + 1, asked + shape.demand
        placed = fleet.place(shape)
        if placed is not None:
            served += shape.demand
            heapq.heappush(leaving, (at + stays, number, placed, shape))
        elif counts:
            lost, refused = lost + 1, refused + shape.demand
    while leaving and leaving[0][0] <= until:
        left, _, _, former = heapq.heappop(leaving)
        pass_to(left)
        served -= former.demand
    pass_to(until)
    used = area / (ALL_GPUS * (until - warm_up))
    return Result(100 * (1 - used), 100 * refused / asked, 100 * lost / came)


class Choosing(NamedTuple):
    """A way of choosing with DRA: devices by a policy of the engine, and of the nodes that fit the one with least or most in use,
    the one with the fullest GPU, or the one where the loss is least."""

    policy: Policy
    nodes: Literal["least", "most", "fullest", "loss"]


DYNAMIC: Final = {
    "D-stock": Choosing("first-fit", "least"),
    "D-node": Choosing("first-fit", "most"),
    "D-pack": Choosing("first-fit", "fullest"),
    "best-fit": Choosing("best-fit", "loss"),
}

_Offer = tuple[float, float, int, Sequence[int], int]
"""What a node offers: what speaks against it, its number, the GPUs, the placement on each."""
_NONE: _Offer = (float("inf"), 0.0, 0, (), 0)


class Dynamic:
    """A fleet whose partitions are made on demand, wherever the allocator says.

    Every node's offer for every shape is kept until the node changes. Ties go to the first node.
    """

    def __init__(self, choosing: Choosing, engine: Engine, nodes: int = NODES) -> None:
        self.choosing = choosing
        self.engine = engine
        self.states = [[0] * GPUS for _ in range(nodes)]
        self._used = [0] * nodes
        self._worth = [0] * nodes
        self._offers: dict[tuple[int, int], list[_Offer]] = {}
        self._stale: dict[tuple[int, int], set[int]] = {}
        self.audit: Callable[[Dynamic, Shape, Placed | None], None] | None = None
        if choosing.nodes == "loss":
            self._worth = [sum(self._value(state) for state in gpus) for gpus in self.states]

    def place(self, shape: Shape) -> Placed | None:
        key = shape.number, shape.size
        if key not in self._offers:
            self._offers[key] = [_NONE] * len(self.states)
            self._stale[key] = set(range(len(self.states)))
        offers, stale = self._offers[key], self._stale[key]
        for node in stale:
            offers[node] = self._offer(node, *key)
        stale.clear()
        against, _, node, gpus, placement = min(offers)
        placed = None if against == _NONE[0] else Placed(node, gpus, placement)
        if self.audit is not None:
            self.audit(self, shape, placed)
        if placed is not None:
            self._change(placed)
        return placed

    def free(self, placed: object, shape: Shape) -> None:
        assert isinstance(placed, Placed)
        self._change(placed)

    def _change(self, placed: Placed) -> None:
        node, gpus, placement = placed
        states = self.states[node]
        for gpu in gpus:
            before = states[gpu]
            after = states[gpu] = before ^ 1 << placement
            size = placements()[placement].profile.size
            self._used[node] += size if after > before else -size
            if self.choosing.nodes == "loss":
                self._worth[node] += self._value(after) - self._value(before)
        for stale in self._stale.values():
            stale.add(node)

    def _offer(self, node: int, count: int, size: int) -> _Offer:
        answers = [
            (answer.cost if self.choosing.nodes != "fullest" else -_in_use(state), gpu, answer)
            for gpu, state in enumerate(self.states[node])
            if (answer := self.engine.answer(state, size)) is not None
        ]
        if len(answers) < count:
            return _NONE
        if self.choosing.nodes in ("loss", "fullest"):
            answers.sort(key=lambda each: each[:2])
        chosen = answers[:count]
        gpus, placement = [gpu for _, gpu, _ in chosen], chosen[0][2].placement
        if self.choosing.nodes == "loss":
            cost = sum(cost for cost, _, _ in chosen)
            left = self._worth[node] - sum(answer.before - answer.after for _, _, answer in chosen)
            return cost, left, node, gpus, placement
        if self.choosing.nodes == "fullest":
            return chosen[0][0], -self._used[node], node, gpus, placement
        # The scheduler's scores are whole percentages.
        share = 100 * self._used[node] // (GPUS * SLICES)
        return share if self.choosing.nodes == "least" else -share, 0, node, gpus, placement

    def _value(self, state: int) -> int:
        return self.engine.value(state)


@cache
def _in_use(state: int) -> int:
    """How full a GPU in this state is: by memory slices, then by compute slices."""
    held = [each.profile for number, each in enumerate(placements()) if state >> number & 1]
    return 8 * sum(profile.size for profile in held) + sum(profile.compute for profile in held)


class Repacked:
    """The bound: a pod is lost only if compute, memory, halves or places for the largest profiles run out, over the whole fleet."""

    def __init__(self) -> None:
        self._left = [7 * ALL_GPUS, 8 * ALL_GPUS, 2 * ALL_GPUS, ALL_GPUS]

    def place(self, shape: Shape) -> object | None:
        needs = self._needs(shape)
        if any(need > left for need, left in zip(needs, self._left, strict=True)):
            return None
        self._left = [left - need for need, left in zip(needs, self._left, strict=True)]
        return True

    def free(self, placed: object, shape: Shape) -> None:
        self._left = [left + need for need, left in zip(self._needs(shape), self._left, strict=True)]

    def _needs(self, shape: Shape) -> list[int]:
        size = shape.size
        halves = (0, 0, 1, 1, 2)[size]
        return [shape.number * each for each in (COMPUTE[size], MEMORY[size], halves, int(size >= FOUR))]


class DifferentAnswer(AssertionError):
    """The allocator, asked about whole nodes, does not say what was put together from its answers about GPUs."""


class Audit:
    """Asks the allocator again, over the whole fleet, about some decisions of a run."""

    def __init__(self, choosing: Choosing, every: int, nodes: int = NODES) -> None:
        self._direct = Direct(choosing.policy, nodes)
        self._choosing = choosing
        self._every = every
        self._seen = 0
        self.compared = 0

    def __call__(self, fleet: Dynamic, shape: Shape, placed: Placed | None) -> None:
        self._seen += 1
        if self._seen % self._every:
            return
        self.compared += 1
        ours = None if placed is None else (placed.node, [name_on(gpu, placed.placement) for gpu in placed.gpus])
        if self._choosing.nodes == "loss":
            theirs = self._direct.best(fleet.states, shape.size, shape.number)
        elif placed is not None:
            names = self._direct.on(fleet.states, placed.node, shape.size, shape.number)
            theirs = None if names is None else (placed.node, names)
        else:
            fitting = (self._direct.on(fleet.states, node, shape.size, shape.number) for node in range(len(fleet.states)))
            theirs = next(((node, names) for node, names in enumerate(fitting) if names is not None), None)
        if ours != theirs:
            raise DifferentAnswer(f"{self._choosing.policy}, {shape}: {ours}, and directly {theirs}")


@dataclass
class Comparison:
    """Results of one mix: by way of choosing, one for each seed."""

    mix: str
    results: dict[str, list[Result]]
    share: float
    """Of the nodes, in L1, that have the all-balanced layout."""
    compared: int
    """Decisions that the allocator was asked again about."""

    def mean(self, way: str, figure: Callable[[Result], float] = lambda result: result.waste) -> float:
        return fmean(map(figure, self.results[way]))

    def difference(self, way: str, other: str) -> tuple[float, float]:
        """Waste of `way` minus waste of `other`, seed by seed: the mean, and half of the 95 % interval."""
        pairs = zip(self.results[way], self.results[other], strict=True)
        differences = [ours.waste - theirs.waste for ours, theirs in pairs]
        if len(differences) < 2:
            return differences[0], float("nan")
        return fmean(differences), _T95[min(len(differences), len(_T95)) - 2] * stdev(differences) / len(differences) ** 0.5


# Student's t, two-sided 95 %, for 2, 3, … results; for more than these the last is a little too wide.
_T95: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def compare(name: str, seeds: Sequence[int], until: float = DURATION) -> Comparison:
    """Simulate one mix, every way with the same arrivals."""
    phases = MIXES[name]
    tuning = arrivals(phases, _TUNING, until)
    share, mixed = _best_share(tuning, until)
    layouts = {"L0": [whole_gpus()] * NODES, "L1": mixed, "L2": ideal(phases, NODES)}
    engines = {choosing.policy: Engine(choosing.policy) for choosing in DYNAMIC.values()}
    results: dict[str, list[Result]] = {}
    compared = 0
    for seed in seeds:
        pods = arrivals(phases, seed, until)
        for way, layout in layouts.items():
            results.setdefault(way, []).append(simulate(Pools(layout), pods, until))
        for way, choosing in DYNAMIC.items():
            fleet = Dynamic(choosing, engines[choosing.policy])
            audit = Audit(choosing, max(len(pods) // _AUDITED, 1))
            if seed == seeds[0] and choosing.nodes != "fullest":  # no scheduler of nodes does that
                fleet.audit = audit
            results.setdefault(way, []).append(simulate(fleet, pods, until))
            compared += audit.compared
        results.setdefault("bound", []).append(simulate(Repacked(), pods, until))
    return Comparison(name, results, share, compared)


def _best_share(pods: Sequence[Arrival], until: float) -> tuple[float, list[Layout]]:
    """How many of the nodes to lay out all-balanced, between 1 and 90 %, and the layouts: the least waste on these pods."""

    def layout(nodes: int) -> list[Layout]:
        return [balanced()] * nodes + [whole_gpus()] * (NODES - nodes)

    def waste(nodes: int) -> float:
        return simulate(Pools(layout(nodes)), pods, until).waste

    candidates = range(1, NODES * 9 // 10 + 1)
    coarse = min(candidates[3::6], key=waste)
    best = min((nodes for nodes in candidates if abs(nodes - coarse) <= 5), key=waste)
    return best / NODES, layout(best)


def _tables(found: Sequence[Comparison]) -> Iterator[str]:
    ways = ("L0", "L1", "L2", "D-stock", "D-node", "D-pack", "best-fit", "bound")
    yield "Waste in % of all GPUs at 100 % offered load, and below it what the prototype of packing.md has:\n"
    yield "| mix | " + " | ".join(ways) + " |\n" + "| --- " * (len(ways) + 1) + "|"
    for each in found:
        yield f"| {each.mix} | " + " | ".join(f"{each.mean(way):.1f}" for way in ways) + " |"
        published = PUBLISHED[each.mix]
        yield "| *prototype* | " + " | ".join(f"*{published[way]:.1f}*" if way in published else "" for way in ways) + " |"
    yield "\nLost demand / lost pods in %:\n"
    yield "| mix | " + " | ".join(ways) + " |\n" + "| --- " * (len(ways) + 1) + "|"
    for each in found:
        cells = (f"{each.mean(way, lambda r: r.demand):.1f} / {each.mean(way, lambda r: r.pods):.1f}" for way in ways)
        yield f"| {each.mix} | " + " | ".join(cells) + " |"
    others = ("D-stock", "D-node", "D-pack", "L1", "L2")
    yield "\nWaste of best-fit against the others: paired difference in points with its 95 % interval, and relative:\n"
    yield (
        "| mix | "
        + " | ".join(f"vs {other}" for other in others)
        + " | L1: share of nodes |\n"
        + "| --- " * (len(others) + 2)
        + "|"
    )
    for each in found:
        against = [(other, *each.difference("best-fit", other)) for other in others]
        cells = (f"{mean:+.1f} ± {half:.1f} ({100 * mean / each.mean(other):+.0f} %)" for other, mean, half in against)
        yield f"| {each.mix} | " + " | ".join(cells) + f" | {100 * each.share:.0f} % |"


def measure(quick: bool = False) -> list[Row]:
    """Waste with best fit, beside what Kubernetes' own first fit and node scores leave idle. Prints the tables."""
    found: list[Comparison] = []
    start = time.perf_counter()
    for name in MIXES:
        found.append(compare(name, SEEDS[:1] if quick else SEEDS, 12.0 if quick else DURATION))
    print("\n".join(_tables(found)))
    compared = sum(each.compared for each in found)
    print(f"\n{compared} decisions compared with the allocator over the whole fleet; {time.perf_counter() - start:.0f} s")
    return [Row(f"{each.mix}: waste", each.mean("best-fit"), "%", each.mean("D-stock")) for each in found]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mig_mixes", description="Waste of MIG GPUs, by way of choosing.")
    parser.add_argument("--quick", action="store_true", help="one seed, two units of time: whether it runs, not what comes out")
    print(machine(), flush=True)
    measure(parser.parse_args().quick)


if __name__ == "__main__":
    main()
