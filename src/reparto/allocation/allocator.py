"""The allocator: which devices do these claims get on this node?

Built once over slices and classes, then asked about many nodes and many pods. What it learns on the way (compiled selectors and
their answers, gathered pools, capacity sums) is kept and shared between the questions. Claims, slices and classes may come and go
between two questions; each such event costs what came or went, and every answer is the one that an allocator built anew would give.
What is kept grows with distinct selectors and distinct capacity requests, each times the devices that they were asked about, and
neither with the number of questions nor with that of events.

An allocator may be shared between threads: questions and events take turns, by the lock of the allocated state.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple, TypeAlias, get_args
from uuid import UUID

from reparto.allocation.capacity import CapacityError, Draw, draw
from reparto.allocation.errors import AllocationError, FailureKind
from reparto.allocation.features import Features
from reparto.allocation.inventory import Inventory, PublishedDevice, PublishedSlice
from reparto.allocation.journal import Journal
from reparto.allocation.packing import Packing
from reparto.allocation.pools import Pool, PoolGathering
from reparto.allocation.preference import BestFit, Choice, Loss, choices, loss
from reparto.allocation.requests import Preparation, PreparedClaim
from reparto.allocation.results import assemble
from reparto.allocation.search import Search, Solution
from reparto.allocation.selectors import Selectors
from reparto.allocation.setting import Answers, Candidate, Requested, Setting, capacity_draw, selectable
from reparto.allocation.state import AllocatedState, PoolID
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, DeviceClass, ResourceClaim, ResourceSlice

STEP_BUDGET = 1_000_000
"""Steps of the search after which it gives up: a few seconds. Upstream cuts off by time, after 10 s per node."""

Policy = Literal["first-fit", "best-fit"]
"""Which devices are taken: those that upstream takes, or of all that would do those whose loss costs the rest least."""


class SliceChange(NamedTuple):
    """A slice of a pool came or went. `nodes` are the names of those that were asked about before and may see other devices now."""

    pool: PoolID
    nodes: AbstractSet[str]


class ClassChange(NamedTuple):
    """A class came, changed or went."""

    name: str


PublicationChange: TypeAlias = SliceChange | ClassChange


class ShareIDs:
    """Share IDs that are valid version 4 UUIDs and the same in every run: a counter, in the last digits of a fixed UUID.

    IDs of shares that exist already are left out, so that the shares of one plan can be the input of the next.
    """

    def __init__(self, allocated: AllocatedState) -> None:
        self._allocated = allocated
        self._last = 0

    def __call__(self) -> str:
        """The next one."""
        while True:
            self._last += 1
            share_id = str(UUID(int=0x00000000_0000_4000_8000_000000000000 + self._last))
            if not self._allocated.knows_share(share_id):
                return share_id


class Allocator:
    """Decides as upstream's allocator does (upstream-dra.md section 3), device by device and in its order.

    `slices` have DeviceTaintRules merged in already (`apply_taint_rules`). Of two classes with one name the first counts.
    `share_ids` makes the IDs of shares of devices that allow several allocations; the default numbers them. Objects are expected to
    be defaulted: a request without allocationMode is an error, one without count asks for no device.
    """

    def __init__(
        self,
        slices: Iterable[ResourceSlice],
        classes: Iterable[DeviceClass],
        *,
        allocated: AllocatedState | None = None,
        features: Features | None = None,
        policy: Policy = "first-fit",
        step_budget: int = STEP_BUDGET,
        share_ids: Callable[[], str] | None = None,
    ) -> None:
        if policy not in get_args(Policy):
            raise ValueError(f"unknown policy {policy!r}: say first-fit or best-fit")
        self.policy: Policy = policy
        self.features = features if features is not None else Features.for_version()
        self.allocated = allocated if allocated is not None else AllocatedState()
        self.step_budget = step_budget
        self.classes: dict[str, DeviceClass] = {}
        for device_class in classes:
            self.classes.setdefault(device_class.metadata.name, device_class)
        self._share_ids = share_ids if share_ids is not None else ShareIDs(self.allocated)
        self._answers = Answers()
        self._selectors = Selectors(self.features)
        self._draws: dict[tuple[tuple[str, str], ...], dict[int, Draw | CapacityError | None]] = {}
        self.inventory = Inventory(slices, self._selectors.forget)
        self._gathering = PoolGathering(self.inventory, self.features)
        self._lock = self.allocated.lock
        self.packing = Packing(self.allocated)
        self.journal: Journal[PublicationChange] = Journal()
        """Which slices and classes changed, for whoever keeps answers."""

    def allocate(
        self, node: Node, claims: Sequence[ResourceClaim], *, step_budget: int | None = None
    ) -> list[AllocationResult] | None:
        """The allocation of each claim on `node`, or None if they do not fit there. `step_budget` is for this attempt alone.

        The claims are those of one pod that are not allocated yet, in the order of the pod. Nothing is recorded: add the claims
        with their new status to the state to make it count. Raises AllocationError if the pod (or, with `node_only`, this node)
        cannot be decided, `GaveUp` if the search ran out of steps.
        """
        with self._lock:
            return self._allocate(node, claims, step_budget)

    # --- events -------------------------------------------------------------------------------------------------------------------

    def put_slice(self, published: ResourceSlice) -> None:
        """A slice was created, or replaces the one of its name. DeviceTaintRules have been merged in already.

        Cost: the devices of the slice, those of them that are as they were at the price of a comparison; pools are gathered again
        when a node that sees them is next asked about. A slice that names no node concerns all nodes that were asked about.
        """
        with self._lock:
            self._published(self.inventory.put(published))

    def remove_slice(self, name: str) -> None:
        """A slice was deleted; nothing happens if there is none of this name. What was allocated of it stays allocated."""
        with self._lock:
            self._published(self.inventory.remove(name))

    def put_class(self, device_class: DeviceClass) -> None:
        """A class was created, or replaces the one of its name. Cost: none that grows."""
        with self._lock:
            self.classes[device_class.metadata.name] = device_class
            self.journal.write(ClassChange(device_class.metadata.name))

    def remove_class(self, name: str) -> None:
        """A class was deleted; nothing happens if there is none of this name."""
        with self._lock:
            if self.classes.pop(name, None) is not None:
                self.journal.write(ClassChange(name))

    def _published(self, changed: Sequence[PublishedSlice]) -> None:
        touched: dict[PoolID, AbstractSet[str]] = {}
        for published in changed:
            touched[published.pool] = self._gathering.changed(published) | touched.get(published.pool, frozenset())
        for pool, nodes in touched.items():
            self.packing.forget(pool)
            self.journal.write(SliceChange(pool, nodes))

    # --- one question, step by step -----------------------------------------------------------------------------------------------

    def _allocate(self, node: Node, claims: Sequence[ResourceClaim], step_budget: int | None) -> list[AllocationResult] | None:
        setting = self.setting(node, step_budget)
        solutions = self.solve(setting, self.prepare(setting, claims))
        return None if solutions is None else self.assemble(node, claims, solutions)

    def solve(self, setting: Setting, prepared: Sequence[PreparedClaim[Candidate]]) -> list[Solution] | None:
        """The devices for each claim, or None. Raises AllocationError as `allocate` does."""
        solutions = self._search(setting, prepared)
        if solutions is None and any(pool.invalid for pool in setting.pools):
            raise AllocationError("invalid resource pools were encountered", kind=FailureKind.POOL_INVALID, node_only=True)
        return solutions

    def _search(self, setting: Setting, prepared: Sequence[PreparedClaim[Candidate]]) -> list[Solution] | None:
        if self.policy == "best-fit":
            try:
                return Search(setting, prepared, BestFit(setting, self.packing).order).run()
            except AllocationError:
                # Another order meets other errors, or takes more steps than there are: upstream's own decides.
                pass
        return Search(setting, prepared).run()

    def loss(self, node: Node, allocations: Sequence[AllocationResult]) -> Loss:
        """What allocations found on `node` and not committed yet cost the rest; best-fit takes the node where it is least.

        Cost: the pools of the node and the devices allocated; a pool that is asked about for the first time is taken apart.
        """
        with self._lock:
            return loss(self.setting(node), self.packing, allocations)

    def choices(
        self, node: Node, claims: Sequence[ResourceClaim], allocations: Sequence[AllocationResult]
    ) -> list[list[Choice | None]]:
        """What speaks for each device of allocations that were found on `node` and are not committed yet (`preference.choices`)."""
        with self._lock:
            setting = self.setting(node)
            return choices(setting, self.packing, self.prepare(setting, claims), allocations)

    def assemble(self, node: Node, claims: Sequence[ResourceClaim], solutions: Sequence[Solution]) -> list[AllocationResult]:
        """What goes into the status of each claim. Raises AllocationError for what cannot be expressed there."""
        return [
            assemble(claim, solution.choices, solution.picks, node, self.features)
            for claim, solution in zip(claims, solutions, strict=True)
        ]

    def setting(self, node: Node, step_budget: int | None = None) -> Setting:
        """What an attempt on `node` starts from; for explanations, which ask the same questions one by one."""
        return Setting(
            node=node,
            pools=self._gathering.pools(node),
            features=self.features,
            allocated=self.allocated,
            selectors=self._selectors,
            draws=self._draw,
            new_share_id=self._share_ids,
            step_budget=self.step_budget if step_budget is None else step_budget,
            answers=self._answers,
        )

    def pools(self, node: Node) -> Sequence[Pool]:
        """The pools that the node sees, in the order in which they are tried; the same list until they change."""
        return self._gathering.pools(node)

    def seen_by(self, pool: PoolID) -> AbstractSet[str]:
        """The names of all nodes that were asked about and see the pool, and of some that did once."""
        return self._gathering.seen_by(pool)

    def prepare(self, setting: Setting, claims: Sequence[ResourceClaim]) -> list[PreparedClaim[Candidate]]:
        """The claims, ready for the search on the node of `setting`. Raises AllocationError for what upstream refuses outright."""

        def every(alternative: Requested) -> list[Candidate]:
            return every_device(setting, alternative)

        return Preparation(self.classes, self.features, every).prepare(claims)

    def _draw(self, record: PublishedDevice, requests: Mapping[str, str]) -> Draw | None:
        known = self._draws.get(key := tuple(requests.items()))
        if known is None or len(known) >= _DRAWS:
            known = self._draws[key] = {}
        answer = known.get(record.capacity_kind, _UNKNOWN)
        if answer is _UNKNOWN:
            try:
                answer = draw(record.capacity, requests, self.features.fractional_capacity_range)
            except CapacityError as error:
                answer = error
            known[record.capacity_kind] = answer
        if isinstance(answer, CapacityError):
            raise answer
        return answer


_DRAWS: Final = 20_000
"""Capacities for which it is known what requests take of them, for each set of requests."""

_UNKNOWN: Final = CapacityError("not known yet")


def every_device(setting: Setting, alternative: Requested) -> list[Candidate]:
    """The devices that mode All asks for: all that are selectable and whose whole capacity would do, in use or not.

    Raises AllocationError if any pool that the node sees is incomplete or invalid, for then "all" cannot be said.
    """
    devices: list[Candidate] = []
    for pool in setting.pools:
        if not pool.usable:
            state = "currently being updated" if pool.incomplete else "currently invalid"
            raise AllocationError(
                f"claim {alternative.claim}, request {alternative.name}: asks for all devices, but resource pool {pool} is {state}",
                kind=FailureKind.POOL_INCOMPLETE if pool.incomplete else FailureKind.POOL_INVALID,
                claim=alternative.claim,
                request=alternative.reference,
            )
        devices += [(pool, record) for record in pool.devices if _belongs(setting, alternative, record)]
    return devices


def _belongs(setting: Setting, alternative: Requested, record: PublishedDevice) -> bool:
    if not selectable(setting, alternative, record):
        return False
    if not setting.features.consumable_capacity:
        return True
    drawn = capacity_draw(setting.draws, alternative, record)
    return drawn is not None and drawn.fits({}, {})
