"""What is asked of many nodes, and what is known of it: a byte for each node, kept until something happens to the node.

Nothing here asks anybody. `Fleet` does, and tells the answers what happened, in the order in which it did.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from reparto.allocation.errors import AllocationError
from reparto.allocation.pools import PoolContent
from reparto.allocation.requests import MAX_DEVICES, PreparedClaim
from reparto.allocation.search import Candidate, Solution
from reparto.model.v1 import AllocationResult, DeviceSubRequest, ExactDeviceRequest, ResourceClaimSpec

_V = TypeVar("_V")

Allocations: TypeAlias = list[AllocationResult]

Content: TypeAlias = tuple[tuple[PoolContent, int], ...]
"""What a node's pools hold, whatever their generation, and as of which version of their allocations."""

Found: TypeAlias = tuple[list[Solution], Allocations | None]


class Effect(NamedTuple):
    """Something happened that concerns these nodes (`lanes` if they are many), or questions about the class `class_name`.

    `before`: slices changed, and this is what the nodes had until then, while as many entries of the journal of allocated devices
    had been read as `moment` says. `taken`: devices were taken; what did not fit still does
    not. `gone`: the node at this position is no more; `came`: there is one more, at the end.
    """

    positions: Sequence[int] = ()
    lanes: int = 0
    taken: bool = False
    before: Mapping[int, Content] | None = None
    moment: int = 0
    class_name: str | None = None
    gone: int | None = None
    came: bool = False


class Question:
    """What is asked for: claims with these specs, whatever their names."""

    __slots__ = ("classes", "defeats", "only_shrinks", "prepared", "prepared_at", "shareable", "specs")

    def __init__(self, specs: Sequence[ResourceClaimSpec]) -> None:
        self.specs = specs
        self.classes = frozenset(ask.device_class_name for spec in specs for ask in _asks(spec))
        self.shareable = all(ask.allocation_mode != "All" for spec in specs for ask in _asks(spec))
        """Whether requests can be prepared once for all nodes: the devices of mode All differ between nodes."""
        self.only_shrinks = all(map(_only_shrinks, specs))
        self.prepared: list[PreparedClaim[Candidate]] | None = None
        self.prepared_at = 0  # how often classes had changed by then
        self.defeats = 0


class Answers:
    """What is known of one question: a byte for each node."""

    __slots__ = ("classes", "failures", "fits", "former", "found", "only_shrinks", "refuted", "seen", "unknown")

    def __init__(self, nodes: int, seen: int) -> None:
        self.unknown = bytearray(b"\1" * nodes)
        """1 where nobody has asked since something changed."""
        self.fits = bytearray(nodes)
        """1 where the devices are there; 0 where they are not, and where that is not known."""
        self.found: dict[int, Found] = {}
        self.failures: dict[int, AllocationError] = {}
        self.former: dict[int, tuple[Content, Found | None, AllocationError | None]] = {}
        """Answers that were dropped because slices changed, for what the node had then: drivers publish the same again."""
        self.refuted: dict[int, tuple[Content, int]] = {}
        """What nodes had, before slices changed, when the devices were not there, and at which moment; while nothing was freed they
        are not in less."""
        self.classes: frozenset[str] = frozenset()
        self.only_shrinks = True
        self.seen = seen

    def apply(self, effect: Effect) -> None:
        """Drop what does not hold any more."""
        fits, unknown = self.fits, self.unknown
        keep = effect.taken and self.only_shrinks
        for position in effect.positions:
            if effect.before is None:
                self.former.pop(position, None)
                if not keep:
                    self.refuted.pop(position, None)
            elif not unknown[position] and (content := effect.before.get(position)) is not None:
                failure = self.failures.get(position)
                self.former[position] = content, self.found.get(position) if fits[position] else None, failure
                if not fits[position] and failure is None:
                    self.refuted.setdefault(position, (content, effect.moment))
            if fits[position] or not keep:
                unknown[position], fits[position] = 1, 0
        if effect.lanes:
            self.former.clear()
            if not keep:
                self.refuted.clear()
            dropped = effect.lanes
            fitting = int.from_bytes(fits, "little")
            if keep:
                dropped &= fitting
            unknown[:] = (int.from_bytes(unknown, "little") | dropped).to_bytes(len(unknown), "little")
            fits[:] = (fitting & ~dropped).to_bytes(len(fits), "little")
        if effect.class_name is not None and effect.class_name in self.classes:
            self.reset(len(fits))
        if effect.gone is not None:
            del fits[effect.gone], unknown[effect.gone]
            self.found = _without(effect.gone, self.found)
            self.failures = _without(effect.gone, self.failures)
            self.former = _without(effect.gone, self.former)
            self.refuted = _without(effect.gone, self.refuted)
        if effect.came:
            fits.append(0)
            unknown.append(1)

    def reset(self, nodes: int) -> None:
        """Nothing is known any more."""
        self.unknown[:] = b"\1" * nodes
        self.fits[:] = bytes(nodes)
        self.found.clear()
        self.failures.clear()
        self.former.clear()
        self.refuted.clear()

    def restore(self, position: int, content: Content) -> bool:
        """Give the answer that held when the node had this content, if it has it again and nothing else happened to it."""
        former = self.former.get(position)
        if former is None or former[0] != content:
            return False
        del self.former[position]
        _, found, failure = former
        if found is not None:
            self.found[position] = found
        if failure is not None:
            self.failures[position] = failure
        self.unknown[position], self.fits[position] = 0, found is not None
        return True


def _asks(spec: ResourceClaimSpec) -> Iterable[ExactDeviceRequest | DeviceSubRequest]:
    for request in spec.devices.requests:
        if request.exactly is not None:
            yield request.exactly
        yield from request.first_available


def _only_shrinks(spec: ResourceClaimSpec) -> bool:
    """Whether fewer free devices mean fewer devices that are looked at, so that no error can come up that did not before.

    The search passes over devices where alternatives would make the claim too large, whichever devices it gets. With other devices
    free it may pass over others.
    """
    if not any(request.first_available for request in spec.devices.requests):
        return True
    most = 0
    for request in spec.devices.requests:
        asks = [*request.first_available, *([request.exactly] if request.exactly is not None else [])]
        if any(ask.allocation_mode == "All" for ask in asks):
            return False
        most += max((ask.count for ask in asks), default=0)
    return most <= MAX_DEVICES


def _without(gone: int, by_position: dict[int, _V]) -> dict[int, _V]:
    return {position - (position > gone): value for position, value in by_position.items() if position != gone}
