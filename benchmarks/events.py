"""A cluster that changes: 10,000 slices of the fleet of `fleets.py` change one after the other, with a pod after each of them.

Promised is one millisecond for a change and the next answer together, and that the answers are those of an allocator built anew:
compared at twenty random moments and at the end, on nodes that changed and others, device by device.

Before it starts, what was loaded is frozen (`gc.freeze`), as is recommended for a process that lives long with millions of objects:
otherwise the garbage collector walks all of them now and then, in the middle of some answer.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchmarks import fleets
from benchmarks.fleet_requests import MIX
from benchmarks.timing import Row
from reparto.allocation import AllocatedState, Allocator, Features, Fleet
from reparto.model import v1
from reparto.model.meta import ObjectMeta

BOUND = 1.0  # milliseconds
CHANGES = 10_000
REBUILDS = 20
#: Pods that are there before anything changes, for each node: about a quarter of what fits.
PODS_PER_NODE = 2
SICK = v1.DeviceTaint(key="gpu.nvidia.com/xid", value="79", effect="NoExecute")
FEATURES = Features.for_version("1.37")


@dataclass
class World:
    """The slices and claims as they are, and the allocator and the fleet that follow them."""

    size: int
    rng: random.Random
    slices: dict[str, v1.ResourceSlice] = field(default_factory=dict[str, v1.ResourceSlice])
    lost: dict[str, v1.ResourceSlice] = field(default_factory=dict[str, v1.ResourceSlice])
    claims: dict[str, v1.ResourceClaim] = field(default_factory=dict[str, v1.ResourceClaim])
    pods: int = 0

    def __post_init__(self) -> None:
        self.slices = {each.metadata.name: each for each in fleets.slices(self.size)}
        self.nodes = fleets.nodes(self.size)
        self.specs = [msgspec.convert(claim["spec"], v1.ResourceClaimSpec) for _, claim in MIX]
        self.weights = [weight for weight, _ in MIX]
        self.allocator = self.rebuilt()
        self.fleet = Fleet(self.allocator, self.nodes)
        self.touched: list[int] = []

    def rebuilt(self) -> Allocator:
        state = AllocatedState.from_claims(self.claims.values())
        return Allocator(self.slices.values(), fleets.classes(), allocated=state, features=FEATURES)

    def kind(self) -> int:
        """What a pod asks for, as often as the mix has it."""
        return self.rng.choices(range(len(self.specs)), self.weights)[0]

    def claim(self, kind: int) -> v1.ResourceClaim:
        self.pods += 1
        metadata = ObjectMeta(name=f"claim-{self.pods}", namespace="default", uid=str(self.pods))
        return v1.ResourceClaim(metadata=metadata, spec=self.specs[kind])

    # --- pods ---------------------------------------------------------------------------------------------------------------------

    def place(self) -> None:
        """A pod comes, and gets the first node that fits."""
        claim = self.claim(self.kind())
        position = self.fleet.first([claim])
        if position is None:
            return
        results = self.fleet.allocate(position, [claim])
        assert results is not None
        placed = v1.ResourceClaim(metadata=claim.metadata, spec=claim.spec, status=v1.ResourceClaimStatus(allocation=results[0]))
        self.claims[claim.metadata.uid] = placed
        self.allocator.allocated.add(placed)

    def spread(self, pods: int) -> None:
        """Pods that run already, all over the cluster."""
        for _ in range(pods):
            claim, position = self.claim(self.kind()), self.rng.randrange(self.size)
            results = self.allocator.allocate(self.nodes[position], [claim])
            if results is not None:
                status = v1.ResourceClaimStatus(allocation=results[0])
                placed = v1.ResourceClaim(metadata=claim.metadata, spec=claim.spec, status=status)
                self.claims[claim.metadata.uid] = placed
                self.allocator.allocated.add(placed)

    # --- changes ------------------------------------------------------------------------------------------------------------------

    def changes(self) -> list[v1.ResourceSlice]:
        """Slices of one node as they are published next: all of them with a new generation, or one of a GPU that is changed."""
        # Half of the changes concern the nodes that pods come by, the first ones.
        busy = self.rng.random() < 0.5
        position = self.rng.randrange(max(1, self.size // 20) if busy else self.size)
        self.touched.append(position)
        names = [f"{fleets.node_name(position)}-{fleets.DRIVER}-{part:05}" for part in range(fleets.SLICES)]
        if self.rng.random() < 0.1:
            return [self.renewed(self.slices[name]) for name in names]
        name = self.rng.choice(names[1:])
        published = self.slices[name]
        if name in self.lost:
            whole = self.lost.pop(name)
            return [self.with_devices(published, whole.spec.devices or ())]
        devices = list(published.spec.devices or ())
        match self.rng.randrange(3):
            case 0:
                return [published]
            case 1:
                chosen = self.rng.randrange(len(devices))
                taints = () if devices[chosen].taints else (SICK,)
                devices[chosen] = msgspec.structs.replace(devices[chosen], taints=taints)
            case _:
                self.lost[name] = published
                del devices[self.rng.randrange(len(devices))]
        return [self.with_devices(published, devices)]

    def with_devices(self, published: v1.ResourceSlice, devices: Sequence[v1.Device]) -> v1.ResourceSlice:
        return msgspec.structs.replace(published, spec=msgspec.structs.replace(published.spec, devices=tuple(devices)))

    def renewed(self, published: v1.ResourceSlice) -> v1.ResourceSlice:
        pool = msgspec.structs.replace(published.spec.pool, generation=published.spec.pool.generation + 1)
        return msgspec.structs.replace(published, spec=msgspec.structs.replace(published.spec, pool=pool))

    # --- the comparison -----------------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """The answers to all questions, on nodes that changed, on the first ones and on some others. Raises AssertionError."""
        fresh = self.rebuilt()
        positions = {*self.touched[-20:], *self.rng.sample(range(self.size), min(10, self.size)), *range(min(10, self.size))}
        others = Fleet(fresh, self.nodes)
        for kind in range(len(self.specs)):
            claims = [self.claim(kind)]
            if (ours := self.fleet.first(claims)) != (expected := others.first(claims)):
                raise AssertionError(f"claims of kind {kind} fit on node {ours} first; built anew, on {expected}")
            for position in positions:
                if self.fleet.allocate(position, claims) != fresh.allocate(self.nodes[position], claims):
                    raise AssertionError(f"claims of kind {kind} get other devices on node {position} than when built anew")
        # What was built anew holds itself in cycles; nobody's answer is to pay for that.
        del fresh, others
        gc.collect()


def run(size: int, changes: int) -> tuple[list[float], int]:
    """Seconds of each change with the question after it, after the answers were compared; and how often they were."""
    world = World(size, random.Random(9))
    world.spread(size * PODS_PER_NODE)
    for kind in range(len(world.specs)):
        world.fleet.first([world.claim(kind)])
    gc.collect()
    gc.freeze()
    stops = set(world.rng.sample(range(changes), min(REBUILDS, changes)))
    taken: list[float] = []
    compared = 0
    while len(taken) < changes:
        for published in world.changes():
            world.slices[published.metadata.name] = published
            start = time.perf_counter()
            world.allocator.put_slice(published)
            world.place()
            taken.append(time.perf_counter() - start)
            if len(taken) in stops:
                world.compare()
                compared += 1
    world.compare()
    gc.unfreeze()
    return taken[:changes], compared + 1


def measure(quick: bool = False) -> list[Row]:
    """Milliseconds of a change and the answer after it, by size of the cluster."""
    rows: list[Row] = []
    for size in (50,) if quick else (500, 5000):
        taken, compared = run(size, CHANGES // 20 if quick else CHANGES)
        taken.sort()
        what = f"{len(taken):,} slices change on {size:,} nodes × {fleets.GPUS * fleets.DEVICES} devices"
        bound: Any = BOUND
        rows.append(Row(f"{what}: each, with the pod after it", sum(taken) / len(taken) * 1e3, "ms", bound=bound))
        rows.append(Row(f"{what}: 99 of 100 take no longer than", taken[len(taken) * 99 // 100] * 1e3, "ms"))
        rows.append(Row(f"{what}: equal to a rebuild", compared, "times"))
    return rows
