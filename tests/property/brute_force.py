"""All assignments of a small problem, tried one after the other: is there a legal one, and which is the first?

This is neither the search nor the checker, and shares nothing with either, not even the objects of the API: a problem is a handful
of tuples. Nothing is pruned but devices that a request can never use. An assignment is a choice for every request, in order: an
alternative, and a combination of as many devices as it counts, in the order of the devices. The first assignment is that of
upstream's search, which tries alternatives and combinations in this order and returns the first that is legal (upstream-dra.md
3.5).

What is legal is said once, for a whole assignment (`legal`), by upstream-dra.md 3.8 to 3.16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import prod
from typing import TypeAlias

Numbers: TypeAlias = frozenset[int]


@dataclass(frozen=True)
class Gpu:
    """A device. What is None, it does not publish."""

    pool: str
    name: str
    model: str
    numa: Numbers | None
    """One number or several."""
    memory: int | None = None
    shared: bool = False
    """Allows several allocations."""
    even: bool = False
    """Memory is handed out in twos, two at least and by default."""
    draws: tuple[int, int] | None = None
    """What it takes from the two counters of its pool."""
    groups: frozenset[str] = frozenset()
    tainted: bool = False


@dataclass(frozen=True)
class Ask:
    """A request without a choice, or an alternative. `count` None means all devices that match."""

    count: int | None
    model: str | None = None
    memory: int | None = None
    tolerant: bool = False
    admin: bool = False


@dataclass(frozen=True)
class Constraint:
    """`numa` or `model` must agree (`match`), or differ, among these requests (or alternatives); among all if none is named."""

    match: bool
    attribute: str
    requests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Requests r0, r1, …; one given as a list of alternatives has s0, s1, …"""

    requests: tuple[Ask | tuple[Ask, ...], ...]
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True)
class Problem:
    """Devices in the order in which they are tried, the two counters of each pool, what is held already, and what is asked for."""

    gpus: tuple[Gpu, ...]
    counters: dict[str, tuple[int, int]]
    whole: frozenset[tuple[str, str]] = frozenset()
    """Devices (pool, name) that are held whole."""
    shares: dict[tuple[str, str], int] = field(default_factory=dict)
    """Memory that is held of shared devices."""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Pick:
    """One device for one request of one claim."""

    claim: int
    request: str
    alternative: str
    ask: Ask
    gpu: Gpu

    @property
    def reference(self) -> str:
        return self.alternative or self.request


Choice: TypeAlias = tuple[Pick, ...]
"""What is taken for one request."""


def first(problem: Problem) -> list[Pick] | None:
    """The picks of the first legal assignment, or None if there is none."""
    for assignment in assignments(problem):
        picks = list(chain.from_iterable(assignment))
        if legal(problem, picks):
            return picks
    return None


def size(problem: Problem) -> int:
    """How many assignments there are."""
    return prod(len(options) for options in _options(problem))


def assignments(problem: Problem) -> Iterator[tuple[Choice, ...]]:
    """All of them: of two, the one that differs first in an earlier alternative or earlier devices comes first."""
    return product(*_options(problem))


def _options(problem: Problem) -> list[list[Choice]]:
    return [
        list(_choices(problem, number, f"r{index}", request))
        for number, claim in enumerate(problem.claims)
        for index, request in enumerate(claim.requests)
    ]


def _choices(problem: Problem, claim: int, request: str, asked: Ask | tuple[Ask, ...]) -> Iterator[Choice]:
    for index, ask in enumerate(asked if isinstance(asked, tuple) else (asked,)):
        alternative = f"{request}/s{index}" if isinstance(asked, tuple) else ""
        fitting = [gpu for gpu in problem.gpus if fits(ask, gpu)]
        if ask.count is None:
            groups = [fitting] if fitting else []
        else:
            groups = combinations(fitting, ask.count)
        for group in groups:
            yield tuple(Pick(claim, request, alternative, ask, gpu) for gpu in group)


def fits(ask: Ask, gpu: Gpu) -> bool:
    """Whether the request could use the device if nothing were in use. Taints come later: they do not make fewer of all."""
    if ask.model not in (None, gpu.model):
        return False
    if ask.memory is None:
        return True
    return gpu.memory is not None and amount(ask, gpu) <= gpu.memory


def amount(ask: Ask, gpu: Gpu) -> int:
    """The memory that the request takes of the device."""
    if gpu.memory is None:
        return 0
    if not gpu.even:
        return gpu.memory if ask.memory is None else ask.memory
    return 2 if ask.memory is None else max(2, ask.memory + ask.memory % 2)


def legal(problem: Problem, picks: list[Pick]) -> bool:
    """Whether all picks may be made, in this order."""
    return (
        all(pick.ask.tolerant or not pick.gpu.tainted for pick in picks)
        and all(_free(problem, pick, picks[:index]) for index, pick in enumerate(picks))
        and _memory_suffices(problem, picks)
        and _counters_suffice(problem, picks)
        and _groups_agree(problem, picks)
        and all(
            _holds(constraint, [pick for pick in picks if pick.claim == number])
            for number, claim in enumerate(problem.claims)
            for constraint in claim.constraints
        )
    )


def _id(gpu: Gpu) -> tuple[str, str]:
    return gpu.pool, gpu.name


def _free(problem: Problem, pick: Pick, before: list[Pick]) -> bool:
    """Admin access minds only what its own claim took; others mind everybody. Shares are in nobody's way."""
    taken = [other for other in before if other.gpu == pick.gpu and not pick.gpu.shared]
    if pick.ask.admin:
        return not any(other.claim == pick.claim for other in taken)
    return not taken and _id(pick.gpu) not in problem.whole


def _memory_suffices(problem: Problem, picks: list[Pick]) -> bool:
    for gpu in {pick.gpu for pick in picks if pick.gpu.memory is not None}:
        amounts = [amount(pick.ask, gpu) for pick in picks if pick.gpu == gpu]
        wanted = sum(amounts) + problem.shares.get(_id(gpu), 0) if gpu.shared else max(amounts)
        if gpu.memory is not None and wanted > gpu.memory:
            return False
    return True


def _paying(problem: Problem, picks: list[Pick], pool: str) -> list[Gpu]:
    """The devices that draw on a pool's counters anew: each time they are taken, but of shares only the first of all."""
    paying: list[Gpu] = []
    for pick in picks:
        gpu = pick.gpu
        again = gpu.shared and (_id(gpu) in problem.shares or gpu in paying)
        if gpu.pool == pool and gpu.draws is not None and not again:
            paying.append(gpu)
    return paying


def _holding(problem: Problem, pool: str) -> list[Gpu]:
    """The devices that draw on a pool's counters already."""
    held = problem.whole | set(problem.shares)
    return [gpu for gpu in problem.gpus if gpu.pool == pool and gpu.draws is not None and _id(gpu) in held]


def _counters_suffice(problem: Problem, picks: list[Pick]) -> bool:
    for pool, available in problem.counters.items():
        paying = _paying(problem, picks, pool)
        drawing = [gpu.draws for gpu in paying + _holding(problem, pool) if gpu.draws is not None]
        if paying and any(sum(draws[counter] for draws in drawing) > available[counter] for counter in (0, 1)):
            return False
    return True


def _groups_agree(problem: Problem, picks: list[Pick]) -> bool:
    for pool in problem.counters:
        paying = _paying(problem, picks, pool)
        if paying and not agreeing(paying + _holding(problem, pool)):
            return False
    return True


def agreeing(gpus: list[Gpu]) -> bool:
    """Whether the devices have a compatibility group in common, or none of them has any."""
    groups = [gpu.groups for gpu in gpus]
    return not any(groups) or bool(frozenset[str].intersection(*groups))


def _holds(constraint: Constraint, picks: list[Pick]) -> bool:
    values: list[frozenset[int] | frozenset[str]] = []
    for pick in picks:
        if constraint.requests and not {pick.request, pick.alternative} & set(constraint.requests):
            continue
        value = pick.gpu.numa if constraint.attribute == "numa" else frozenset((pick.gpu.model,))
        if value is None:
            return False
        values.append(value)
    if constraint.match:
        return not values or bool(values[0].intersection(*values[1:]))
    return all(not (one & other) for one, other in combinations(values, 2))
