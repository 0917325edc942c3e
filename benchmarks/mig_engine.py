"""Nodes of eight A100 80GB with dynamic MIG, and what the allocator answers about them, remembered by the state of a GPU.

A simulation asks millions of times, and the GPUs of a node share nothing: what fits on one, where, and at which cost depends on
which partitions it holds. So the allocator is asked once for each state of one GPU, and a node's answer is put together from those
of its GPUs: the first that fits for first fit, the cheapest for best fit. `Direct` asks the allocator about whole nodes instead;
the benchmark compares both on samples as it runs, and so does tests/unit/test_benchmark_mig_mixes.py.

Sources: mig-profiles.yaml (A100-SXM4-80GB, measured) for profiles, places and amounts; gpu-landscape.md 2.5 for what the NVIDIA
driver publishes. Only what decides anything is published here: profile, memory, counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from reparto.allocation import AllocatedState, Allocator
from reparto.allocation.best_node import best_node
from reparto.model import core, v1
from reparto.model.meta import ObjectMeta

DRIVER = "gpu.nvidia.com"
GPUS = 8  # of one node
SLICES = 8  # memory slices of one GPU

_ENGINES = ("multiprocessors", "copy-engines", "decoders", "encoders", "jpeg-engines", "ofa-engines", "memory")

Policy = Literal["first-fit", "best-fit"]


@dataclass(frozen=True)
class Profile:
    """A MIG profile: the driver's number for it, compute slices, where it may start, memory slices, amounts as in `_ENGINES`."""

    name: str
    number: int
    compute: int
    starts: Sequence[int]
    size: int
    amounts: tuple[str, ...]


# fmt: off
PROFILES = (
    Profile("1g.10gb", 19, 1, range(7), 1, ("14", "1", "0", "0", "0", "0", "9728Mi")),
    Profile("1g.10gb+me", 20, 1, range(7), 1, ("14", "1", "1", "0", "1", "1", "9728Mi")),
    Profile("1g.20gb", 15, 1, (0, 2, 4, 6), 2, ("14", "1", "1", "0", "0", "0", "19968Mi")),
    Profile("2g.20gb", 14, 2, (0, 2, 4), 2, ("28", "2", "1", "0", "0", "0", "19968Mi")),
    Profile("3g.40gb", 9, 3, (0, 4), 4, ("42", "3", "2", "0", "0", "0", "40192Mi")),
    Profile("4g.40gb", 5, 4, (0,), 4, ("56", "4", "2", "0", "0", "0", "40192Mi")),
    Profile("7g.80gb", 0, 7, (0,), 8, ("98", "7", "5", "0", "1", "1", "80640Mi")),
)
# fmt: on
_WHOLE = Profile("", -1, 7, (0,), SLICES, PROFILES[-1].amounts)
SIZES = ("1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
"""The profiles that are asked for; the others are published and could be."""


class Placement(NamedTuple):
    """A device of a GPU: a profile at a place; of the whole GPU the profile is empty."""

    name: str
    profile: Profile
    start: int


@cache
def placements() -> tuple[Placement, ...]:
    """The devices of GPU 0, by name, as the driver sorts them."""
    found = [Placement("gpu-0", _WHOLE, 0)]
    for profile in PROFILES:
        plain = profile.name.replace(".", "").replace("+", "-")
        found += [Placement(f"gpu-0-mig-{plain}-{profile.number}-{start}", profile, start) for start in profile.starts]
    return tuple(sorted(found))


def name_on(gpu: int, placement: int) -> str:
    """The device's name on another GPU than the first."""
    return f"gpu-{gpu}{placements()[placement].name.removeprefix('gpu-0')}"


def node_name(index: int) -> str:
    return f"node-{index:02}"


def node(index: int) -> core.Node:
    return core.Node(metadata=ObjectMeta(name=node_name(index)))


def slices(index: int, gpus: int = GPUS) -> list[v1.ResourceSlice]:
    """One node as the driver publishes it: a slice of counters, and a slice of devices for each GPU."""
    sets = tuple(v1.CounterSet(name=f"gpu-{gpu}", counters=_counters(_WHOLE, 0)) for gpu in range(gpus))
    published = [_slice(index, 0, gpus, shared_counters=sets)]
    return published + [_slice(index, 1 + gpu, gpus, devices=_devices(gpu)) for gpu in range(gpus)]


def classes() -> list[v1.DeviceClass]:
    selector = v1.DeviceSelector(cel=v1.CELDeviceSelector(expression=f"device.driver == '{DRIVER}'"))
    return [v1.DeviceClass(metadata=ObjectMeta(name="mig"), spec=v1.DeviceClassSpec(selectors=(selector,)))]


@cache
def request(size: int, count: int = 1) -> v1.ResourceClaim:
    """A claim for `count` devices of one of `SIZES`."""
    selector = v1.CELDeviceSelector(expression=f"device.attributes['{DRIVER}'].profile == '{SIZES[size]}'")
    exactly = v1.ExactDeviceRequest(
        device_class_name="mig",
        selectors=(v1.DeviceSelector(cel=selector),),
        allocation_mode="ExactCount",
        count=count,
    )
    spec = v1.ResourceClaimSpec(devices=v1.DeviceClaim(requests=(v1.DeviceRequest(name="mig", exactly=exactly),)))
    return v1.ResourceClaim(metadata=ObjectMeta(name=f"{SIZES[size]}-{count}", namespace="bench"), spec=spec)


class Answer(NamedTuple):
    """What the allocator chose on a GPU: the placement, its cost, and what the GPU is worth before and after (best fit only)."""

    placement: int
    cost: int
    before: int
    after: int


class Engine:
    """The allocator's answers about one GPU, by its state: a bit for each placement that is held."""

    def __init__(self, policy: Policy) -> None:
        self.policy: Policy = policy
        self.asked = 0
        self._state = _Held(1)
        self._allocator = Allocator(slices(0, 1), classes(), allocated=self._state.allocated, policy=policy)
        self._node = node(0)
        self._known: dict[tuple[int, int], Answer | None] = {}
        self._values: dict[int, int] = {}
        self._by_name = {each.name: number for number, each in enumerate(placements())}

    def answer(self, state: int, size: int) -> Answer | None:
        """Where a device of `SIZES[size]` goes on a GPU in this state; None: nowhere."""
        key = state, size
        if key not in self._known:
            self._known[key] = self._ask(state, size)
        return self._known[key]

    def value(self, state: int) -> int:
        """What a GPU in this state is worth (best fit only)."""
        if state not in self._values:
            self._state.become([[state]])
            self._values[state] = self._allocator.loss(self._node, []).left
        return self._values[state]

    def _ask(self, state: int, size: int) -> Answer | None:
        self.asked += 1
        self._state.become([[state]])
        found = self._allocator.allocate(self._node, [request(size)])
        if found is None:
            return None
        placement = self._by_name[found[0].devices.results[0].device]
        if self.policy == "first-fit":
            return Answer(placement, 0, 0, 0)
        loss = self._allocator.loss(self._node, found)
        return Answer(placement, loss.cost, self.value(state), loss.left)


class Direct:
    """The allocator over whole nodes, asked as it is."""

    def __init__(self, policy: Policy, nodes: int) -> None:
        self._nodes = [node(index) for index in range(nodes)]
        self._state = _Held(nodes)
        published = [each for index in range(nodes) for each in slices(index)]
        self._allocator = Allocator(published, classes(), allocated=self._state.allocated, policy=policy)

    def on(self, states: Sequence[Sequence[int]], at: int, size: int, count: int) -> list[str] | None:
        """The devices on node `at`, when the GPUs of all nodes are in `states`."""
        self._state.become(states)
        found = self._allocator.allocate(self._nodes[at], [request(size, count)])
        return None if found is None else [result.device for result in found[0].devices.results]

    def best(self, states: Sequence[Sequence[int]], size: int, count: int) -> tuple[int, list[str]] | None:
        """The best node, and the devices on it."""
        self._state.become(states)
        found = best_node(self._allocator, self._nodes, [request(size, count)])
        return None if found is None else (found.position, [result.device for result in found.allocations[0].devices.results])


class _Held:
    """An allocated state that is made to hold what a simulation holds: one claim for each partition."""

    def __init__(self, nodes: int) -> None:
        self.allocated = AllocatedState()
        self._now = [[0] * GPUS for _ in range(nodes)]

    def become(self, states: Sequence[Sequence[int]]) -> None:
        for index, gpus in enumerate(states):
            for gpu, state in enumerate(gpus):
                changed = state ^ self._now[index][gpu]
                for placement in range(len(placements())):
                    if changed >> placement & 1:
                        claim = _holding(index, gpu, placement)
                        (self.allocated.add if state >> placement & 1 else self.allocated.remove)(claim)
                self._now[index][gpu] = state


@cache
def _holding(index: int, gpu: int, placement: int) -> v1.ResourceClaim:
    name = name_on(gpu, placement)
    result = v1.DeviceRequestAllocationResult(request="mig", driver=DRIVER, pool=node_name(index), device=name)
    allocation = v1.AllocationResult(devices=v1.DeviceAllocationResult(results=[result]))
    claim = v1.ResourceClaim(metadata=ObjectMeta(name=f"{node_name(index)}-{name}", namespace="held"), spec=v1.ResourceClaimSpec())
    return msgspec.structs.replace(claim, status=v1.ResourceClaimStatus(allocation=allocation))


def _slice(
    index: int,
    part: int,
    gpus: int,
    devices: tuple[v1.Device, ...] | None = None,
    shared_counters: tuple[v1.CounterSet, ...] | None = None,
) -> v1.ResourceSlice:
    spec = v1.ResourceSliceSpec(
        driver=DRIVER,
        pool=v1.ResourcePool(name=node_name(index), generation=1, resource_slice_count=1 + gpus),
        node_name=node_name(index),
        devices=devices,
        shared_counters=shared_counters,
    )
    return v1.ResourceSlice(metadata=ObjectMeta(name=f"{node_name(index)}-{part}"), spec=spec)


@cache
def _devices(gpu: int) -> tuple[v1.Device, ...]:
    return tuple(
        v1.Device(
            name=name_on(gpu, number),
            attributes={"type": _text("mig" if each.profile.name else "gpu"), "profile": _text(each.profile.name)},
            capacity={"memory": v1.DeviceCapacity(value=each.profile.amounts[-1] if each.profile.name else "81920Mi")},
            consumes_counters=(
                v1.DeviceCounterConsumption(counter_set=f"gpu-{gpu}", counters=_counters(each.profile, each.start)),
            ),
        )
        for number, each in enumerate(placements())
    )


def _counters(profile: Profile, start: int) -> dict[str, v1.Counter]:
    counters = {name: v1.Counter(value=amount) for name, amount in zip(_ENGINES, profile.amounts, strict=True)}
    return counters | {f"memory-slice-{number}": v1.Counter(value="1") for number in range(start, start + profile.size)}


def _text(value: str) -> v1.DeviceAttribute:
    return v1.DeviceAttribute(string_value=value)
