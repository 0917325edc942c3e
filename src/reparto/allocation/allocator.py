"""The allocator: which devices do these claims get on this node?

Built once over a snapshot of slices and classes, then asked about many nodes and many pods. What it learns on the way (compiled
selectors and their answers, gathered pools, capacity sums) is kept and shared between the questions. The allocated state may change
between two questions; slices and classes may not. What is kept grows with distinct selectors and distinct capacity requests, each
times the devices that they were asked about, and not with the number of questions. One allocator serves one thread at a time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal
from uuid import UUID

from reparto.allocation.capacity import CapacityError, Draw, draw
from reparto.allocation.errors import AllocationError, FailureKind
from reparto.allocation.features import Features
from reparto.allocation.inventory import Inventory, PublishedDevice
from reparto.allocation.pools import PoolGathering
from reparto.allocation.requests import Preparation, PreparedClaim
from reparto.allocation.results import assemble
from reparto.allocation.search import Candidate, Requested, Search, Setting, capacity_draw, selectable
from reparto.allocation.selectors import Selectors
from reparto.allocation.state import AllocatedState
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, DeviceClass, ResourceClaim, ResourceSlice

STEP_BUDGET = 1_000_000
"""Steps of the search after which it gives up: a few seconds. Upstream cuts off by time, after 10 s per node."""

Policy = Literal["first-fit"]


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
        if policy != "first-fit":
            raise ValueError(f"unknown policy {policy!r}: only first-fit exists")
        self.features = features if features is not None else Features.for_version()
        self.allocated = allocated if allocated is not None else AllocatedState()
        self.step_budget = step_budget
        self.classes: dict[str, DeviceClass] = {}
        for device_class in classes:
            self.classes.setdefault(device_class.metadata.name, device_class)
        self._share_ids = share_ids if share_ids is not None else ShareIDs(self.allocated)
        self._gathering = PoolGathering(Inventory(slices), self.features)
        self._selectors = Selectors(self.features)
        self._draws: dict[tuple[tuple[str, str], ...], dict[int, Draw | CapacityError | None]] = {}

    def allocate(
        self, node: Node, claims: Sequence[ResourceClaim], *, step_budget: int | None = None
    ) -> list[AllocationResult] | None:
        """The allocation of each claim on `node`, or None if they do not fit there. `step_budget` is for this attempt alone.

        The claims are those of one pod that are not allocated yet, in the order of the pod. Nothing is recorded: add the claims
        with their new status to the state to make it count. Raises AllocationError if the pod (or, with `node_only`, this node)
        cannot be decided, `GaveUp` if the search ran out of steps.
        """
        setting = self.setting(node, step_budget)
        solutions = Search(setting, self.prepare(setting, claims)).run()
        if solutions is None:
            if any(pool.invalid for pool in setting.pools):
                raise AllocationError("invalid resource pools were encountered", kind=FailureKind.POOL_INVALID, node_only=True)
            return None
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
        )

    def prepare(self, setting: Setting, claims: Sequence[ResourceClaim]) -> list[PreparedClaim[Candidate]]:
        """The claims, ready for the search on the node of `setting`. Raises AllocationError for what upstream refuses outright."""

        def every(alternative: Requested) -> list[Candidate]:
            return every_device(setting, alternative)

        return Preparation(self.classes, self.features, every).prepare(claims)

    def _draw(self, record: PublishedDevice, requests: Mapping[str, str]) -> Draw | None:
        known = self._draws.setdefault(tuple(requests.items()), {})
        if record.number not in known:
            try:
                known[record.number] = draw(record.capacity, requests, self.features.fractional_capacity_range)
            except CapacityError as error:
                known[record.number] = error
        answer = known[record.number]
        if isinstance(answer, CapacityError):
            raise answer
        return answer


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
