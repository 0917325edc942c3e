"""Fixed MIG layouts: what operators have without dynamic partitions. Each size is a resource of its own; nothing is converted.

L0 has whole GPUs only. L1 has a share of its nodes in the vendor's all-balanced layout (per GPU two 1g, one 2g, one 3g), the others
whole; a size that no GPU is cut into gets a whole GPU. L2 knows the mean mix and chooses a layout for every GPU by an integer
program: layouts such that the demand that is served by independent loss systems, one for each size (Erlang's formula), is largest.
The program is solved by steepest exchange from a greedy start. Demand served is concave in the number of partitions of each size,
so no exchange of one or two GPUs that helps is left.

Source: packing.md 4.2; mig-parted's all-balanced configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from benchmarks.mig_engine import GPUS, PROFILES, SIZES, SLICES

if TYPE_CHECKING:
    from benchmarks.mig_mixes import Mix, Shape

Layout = Mapping[int, int]
"""Partitions of one node: how many of each size."""

Worth = Callable[[Sequence[int]], float]
"""What is served with so many partitions of each size."""

_WHOLE = len(SIZES) - 1


def whole_gpus() -> Layout:
    """A node of GPUs that are not cut up."""
    return {_WHOLE: GPUS}


def balanced() -> Layout:
    """A node in the vendor's all-balanced layout."""
    return {0: 2 * GPUS, 1: GPUS, 2: GPUS}


class Pools:
    """A fleet in fixed layouts. Pods go to the node with the fewest free partitions of their size: whole nodes stay free."""

    def __init__(self, layouts: Sequence[Layout]) -> None:
        self._free = [[layout.get(size, 0) for size in range(len(SIZES))] for layout in layouts]
        self._sizes = {size for layout in layouts for size, number in layout.items() if number}

    def place(self, shape: Shape) -> object | None:
        size = shape.size if shape.size in self._sizes else _WHOLE
        best, least = -1, GPUS * SLICES + 1
        for node, free in enumerate(self._free):
            if shape.number <= free[size] < least:
                best, least = node, free[size]
        if best < 0:
            return None
        self._free[best][size] -= shape.number
        return best, size

    def free(self, placed: object, shape: Shape) -> None:
        assert isinstance(placed, tuple)
        node, size = placed
        self._free[node][size] += shape.number


@cache
def gpu_layouts(sizes: tuple[str, ...] = SIZES) -> tuple[tuple[int, ...], ...]:
    """Every way to cut up one GPU that leaves no room for another partition: how many of each size."""
    profiles = [next(profile for profile in PROFILES if profile.name == name) for name in sizes]
    possible = [(size, start, profile) for size, profile in enumerate(profiles) for start in profile.starts]
    found: set[tuple[int, ...]] = set()

    def extend(mask: int, compute: int, counts: tuple[int, ...], at: int) -> None:
        full = True
        for index, (size, start, profile) in enumerate(possible):
            slots = (1 << profile.size) - 1 << start
            if mask & slots or compute + profile.compute > 7:
                continue
            full = False
            if index >= at:
                extended = tuple(number + (each == size) for each, number in enumerate(counts))
                extend(mask | slots, compute + profile.compute, extended, index)
        if full:
            found.add(counts)

    extend(0, 0, (0,) * len(sizes), 0)
    return tuple(sorted(found))


def ideal(phases: Sequence[Mix], nodes: int) -> list[Layout]:
    """The layouts that serve most of the mean mix; GPUs with equal layouts side by side, whole ones last."""
    offered, demand = [0.0] * len(SIZES), [0.0] * len(SIZES)
    for mix in phases:
        pods = sum(mix.values())
        for shape, share in mix.items():
            offered[shape.size] += shape.number * share / pods / len(phases)
            demand[shape.size] += shape.demand * share / pods / len(phases)
    rate = nodes * GPUS / sum(demand)
    value = [each / number if number else 0.0 for each, number in zip(demand, offered, strict=True)]
    served = [_carried(rate * each, nodes * GPUS * 7) for each in offered]
    options = gpu_layouts()

    def worth(counts: Sequence[int]) -> float:
        return sum(value[size] * served[size][number] for size, number in enumerate(counts))

    chosen = [0] * len(options)
    counts = [0] * len(SIZES)
    for _ in range(nodes * GPUS):
        best = max(range(len(options)), key=lambda option: worth(_sum(counts, options[option])))
        chosen[best] += 1
        counts = _sum(counts, options[best])
    better = True
    while better:
        better = False
        for many in (16, 4, 1):
            exchanges = (
                (worth(_sum(counts, options[into], options[out], many)), out, into)
                for out in range(len(options))
                if chosen[out] >= many
                for into in range(len(options))
                if into != out
            )
            most, out, into = max(exchanges, default=(0.0, 0, 0))
            if most > worth(counts) + 1e-9:
                chosen[out] -= many
                chosen[into] += many
                counts, better = _sum(counts, options[into], options[out], many), True
        if not better:
            better = _exchange_two(chosen, counts, options, worth)
            counts = _total(chosen, options)
    gpus = [
        option for option in sorted(range(len(options)), key=lambda option: options[option][_WHOLE]) for _ in range(chosen[option])
    ]
    return [_node(options[option] for option in gpus[node * GPUS : (node + 1) * GPUS]) for node in range(nodes)]


def _exchange_two(chosen: list[int], counts: Sequence[int], options: Sequence[Sequence[int]], worth: Worth) -> bool:
    """Exchange two GPUs for two others, if that helps where no exchange of one does."""
    now = worth(counts)
    used = [option for option in range(len(options)) if chosen[option]]
    for out in combinations_with_replacement(used, 2):
        if out[0] == out[1] and chosen[out[0]] < 2:
            continue
        without = [number - options[out[0]][size] - options[out[1]][size] for size, number in enumerate(counts)]
        for into in combinations_with_replacement(range(len(options)), 2):
            if worth(_sum(_sum(without, options[into[0]]), options[into[1]])) > now + 1e-9:
                for option in out:
                    chosen[option] -= 1
                for option in into:
                    chosen[option] += 1
                return True
    return False


def _carried(offered: float, most: int) -> list[float]:
    """How many of `offered` Erlang are served by 0, 1, … `most` partitions."""
    blocked, carried = 1.0, [0.0]
    for servers in range(1, most + 1):
        blocked = offered * blocked / (servers + offered * blocked)
        carried.append(offered * (1 - blocked))
    return carried


def _sum(counts: Sequence[int], into: Sequence[int], out: Sequence[int] | None = None, many: int = 1) -> list[int]:
    if out is None:
        return [number + more for number, more in zip(counts, into, strict=True)]
    return [number + many * (more - less) for number, more, less in zip(counts, into, out, strict=True)]


def _total(chosen: Sequence[int], options: Sequence[Sequence[int]]) -> list[int]:
    return [sum(many * option[size] for many, option in zip(chosen, options, strict=True)) for size in range(len(SIZES))]


def _node(gpus: Iterable[Sequence[int]]) -> Layout:
    numbers = [sum(column) for column in zip(*gpus, strict=True)]
    return {size: number for size, number in enumerate(numbers) if number}
