"""Small random problems for `brute_force`, and the same problems as the objects that the engine reads."""

from __future__ import annotations

import random
from typing import Any

from property.brute_force import Ask, Claim, Constraint, Gpu, Problem, agreeing, size
from reparto.model.v1 import ResourceClaim, ResourceSlice
from unit.allocation_objects import DRIVER, allocated_claim, claim, pool

MOST_ASSIGNMENTS = 4_000
"""A problem with more is not made: it would take longer than it is worth."""


def make(seed: str, number: int) -> Problem:
    """Problem `number` of a seed: up to seven devices in two pools, up to three requests, one claim or two."""
    rng = random.Random(f"{seed}/{number}")
    while True:
        problem = _make(rng)
        assignments = size(problem)
        if assignments <= MOST_ASSIGNMENTS and (assignments or rng.random() < 0.1):  # without any, the answer is plain
            return problem


def _make(rng: random.Random) -> Problem:
    # A few topics at a time: where everything restricts, nothing is left to choose from.
    topics = {topic for topic in ("counters", "groups", "sharing", "taints", "lists", "admin", "all") if rng.random() < 0.35}
    gpus = tuple(
        _gpu(rng, "a" if index < split else "b", f"d{index}", topics)
        for split in (rng.randint(0, 7),)
        for index in range(rng.randint(1, 7))
    )
    counters = {pool: (rng.randint(0, 4), rng.randint(1, 3)) for pool in sorted({gpu.pool for gpu in gpus})}
    whole = frozenset((gpu.pool, gpu.name) for gpu in gpus if not gpu.shared and rng.random() < 0.15)
    shares = {(gpu.pool, gpu.name): rng.choice((0, 1, 2)) if gpu.memory else 0 for gpu in gpus if gpu.shared and rng.random() < 0.3}
    for name in counters:  # upstream's answer for groups that contradict each other already depends on how it meets them
        held = [gpu for gpu in gpus if gpu.pool == name and gpu.draws and (gpu.pool, gpu.name) in whole | set(shares)]
        if not agreeing(held):
            whole, shares = frozenset[tuple[str, str]](), {}
    requests = rng.choice((1, 1, 2, 2, 3))
    split = rng.randint(1, requests) if rng.random() < 0.3 else requests
    claims = [_claim(rng, number, topics) for number in (split, requests - split) if number]
    return Problem(gpus, counters, whole, shares, tuple(claims))


def _gpu(rng: random.Random, pool: str, name: str, topics: set[str]) -> Gpu:
    numa = frozenset(rng.sample(range(3), rng.choice((1, 1, 2)) if "lists" in topics else 1)) if rng.random() < 0.9 else None
    shared = "sharing" in topics and rng.random() < 0.7
    return Gpu(
        pool=pool,
        name=name,
        model=rng.choice("xxy"),
        numa=numa,
        memory=rng.choice((None, 2, 4, 6)) if "sharing" in topics else None,
        shared=shared,
        even=shared and rng.random() < 0.5,
        draws=(rng.randint(0, 2), rng.randint(0, 2)) if "counters" in topics and rng.random() < 0.8 else None,
        groups=frozenset(rng.sample(("g", "h", "i"), rng.choice((0, 1, 1, 2)))) if "groups" in topics else frozenset(),
        tainted="taints" in topics and rng.random() < 0.5,
    )


def _claim(rng: random.Random, requests: int, topics: set[str]) -> Claim:
    asked = tuple(
        tuple(_ask(rng, topics, sub=True) for _ in range(rng.choice((1, 2, 3)))) if rng.random() < 0.3 else _ask(rng, topics)
        for _ in range(requests)
    )
    names = [f"r{index}" for index in range(requests)]
    names += [f"r{index}/s{number}" for index, each in enumerate(asked) if isinstance(each, tuple) for number in range(len(each))]
    # A constraint that bars one of "all devices" is an error for the pod, which is another question.
    everything = any(ask.count is None for each in asked for ask in (each if isinstance(each, tuple) else (each,)))
    constraints = () if everything else tuple(_constraint(rng, names) for _ in range(rng.choice((0, 1, 1, 2))))
    return Claim(asked, constraints)


def _ask(rng: random.Random, topics: set[str], sub: bool = False) -> Ask:
    return Ask(
        count=None if "all" in topics and rng.random() < 0.4 else rng.choice((1, 1, 2, 3)),
        model=rng.choice((None, None, "x", "y")),
        memory=rng.choice((None, 1, 2, 3)) if "sharing" in topics else None,
        tolerant=rng.random() < 0.5,
        admin="admin" in topics and not sub and rng.random() < 0.4,
    )


def _constraint(rng: random.Random, names: list[str]) -> Constraint:
    named = tuple(rng.sample(names, rng.randint(1, min(2, len(names))))) if rng.random() < 0.5 else ()
    return Constraint(rng.random() < 0.6, rng.choice(("numa", "numa", "model")), named)


# --- as objects of the API --------------------------------------------------------------------------------------------------------


def slices(problem: Problem) -> list[ResourceSlice]:
    """A slice of devices and one of counters for each pool."""
    published: list[ResourceSlice] = []
    for name, (first, second) in problem.counters.items():
        place = {"name": name, "generation": 1, "resourceSliceCount": 2}
        sets = [{"name": "s", "counters": {"first": {"value": str(first)}, "second": {"value": str(second)}}}]
        devices = [_device(gpu) for gpu in problem.gpus if gpu.pool == name]
        published.append(pool(*devices, name=name, pool=place))
        published.append(pool(name=f"{name}-counters", pool=place, devices=None, sharedCounters=sets))
    return published


def _device(gpu: Gpu) -> dict[str, Any]:
    device: dict[str, Any] = {"name": gpu.name, "attributes": {"model": {"string": gpu.model}}}
    if gpu.numa is not None:
        numbers = sorted(gpu.numa)
        device["attributes"]["numa"] = {"int": numbers[0]} if len(numbers) == 1 else {"ints": numbers}
    if gpu.memory is not None:
        policy = {"requestPolicy": {"default": "2", "validRange": {"min": "2", "step": "2"}}} if gpu.even else {}
        device["capacity"] = {"memory": {"value": str(gpu.memory)} | policy}
    if gpu.shared:
        device["allowMultipleAllocations"] = True
    if gpu.draws is not None:
        counters = {"first": {"value": str(gpu.draws[0])}, "second": {"value": str(gpu.draws[1])}}
        device["consumesCounters"] = [{"counterSet": "s", "counters": counters, "compatibilityGroups": sorted(gpu.groups)}]
    if gpu.tainted:
        device["taints"] = [{"key": "sick", "effect": "NoSchedule"}]
    return device


def holders(problem: Problem) -> list[ResourceClaim]:
    """The claim that holds what is held."""
    results: list[dict[str, Any]] = [{"pool": pool, "device": name} for pool, name in sorted(problem.whole)]
    for number, ((pool_name, name), memory) in enumerate(problem.shares.items()):
        share: dict[str, Any] = {"pool": pool_name, "device": name, "shareID": f"held-{number}"}
        results.append(share | ({"consumedCapacity": {"memory": str(memory)}} if memory else {}))
    return [allocated_claim(*results)] if results else []


def claims(problem: Problem) -> list[ResourceClaim]:
    """What is asked for."""
    return [
        claim(
            *([_request(ask) for ask in each] if isinstance(each, tuple) else _request(each) for each in asked.requests),
            name=f"claim-{number}",
            constraints=tuple(_written(constraint) for constraint in asked.constraints),
        )
        for number, asked in enumerate(problem.claims)
    ]


def _request(ask: Ask) -> dict[str, Any]:
    written: dict[str, Any] = {"deviceClassName": "gpu"}
    written |= {"allocationMode": "All"} if ask.count is None else {"allocationMode": "ExactCount", "count": ask.count}
    if ask.model is not None:
        written["selectors"] = [{"cel": {"expression": f'device.attributes["{DRIVER}"].model == "{ask.model}"'}}]
    if ask.memory is not None:
        written["capacity"] = {"requests": {"memory": str(ask.memory)}}
    if ask.tolerant:
        written["tolerations"] = [{"key": "sick", "operator": "Exists"}]
    if ask.admin:
        written["adminAccess"] = True
    return written


def _written(constraint: Constraint) -> dict[str, Any]:
    kind = "matchAttribute" if constraint.match else "distinctAttribute"
    return {kind: f"{DRIVER}/{constraint.attribute}", "requests": list(constraint.requests)}
