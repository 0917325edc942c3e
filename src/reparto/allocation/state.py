"""What is taken already: the devices, shares and capacity that allocated claims hold.

The allocator only asks; claims come and go by `add` and `remove`, so a plan or a scheduler keeps one state and feeds it events
instead of rebuilding it per pod. Devices held by several claims count once, and stay taken until the last holder is gone: the
answer is always the one `from_claims` would give for the claims that are left. A journal says which pools changed, so that whoever
keeps answers can tell which of them still hold.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from threading import RLock
from typing import Any, NamedTuple, TypeAlias

from reparto.allocation.journal import Journal
from reparto.model.quantity import Quantity
from reparto.model.v1 import DeviceRequestAllocationResult, ResourceClaim

DeviceID: TypeAlias = tuple[str, str, str]
"""(driver, pool, device)."""
SharedDeviceID: TypeAlias = tuple[str, str, str, str]
"""(driver, pool, device, share ID)."""


PoolID: TypeAlias = tuple[str, str]
"""(driver, pool name)."""


class Change(IntEnum):
    """What happened to devices of a pool."""

    TAKEN = 1
    """Devices were taken whole: nothing fits now that did not fit before."""
    SHARED = 2
    """Shares of devices were taken. Who shares a device pays for no counters (upstream-dra.md 3.8), so something may fit now."""
    FREED = 3


class PoolChange(NamedTuple):
    """One entry of the journal: a claim came or went that holds devices of this pool."""

    pool: PoolID
    change: Change


def claim_name(claim: ResourceClaim) -> str:
    """`namespace/name`, or the bare name where there is no namespace: how upstream's messages name a claim."""
    return f"{claim.metadata.namespace}/{claim.metadata.name}" if claim.metadata.namespace else claim.metadata.name


class AllocatedState:
    """Devices in use, by whom, and how much of each shared device.

    `devices` are taken whole, `shared` are shares of devices that allow several allocations, `consumed` is the capacity that all
    shares of a device hold together (quantities, or their text). Nothing here depends on slices: what a device draws from counters
    is read from the slices as they are now (upstream-dra.md 3.10).

    `add` and `remove` cost what the claim holds. All allocators over one state take turns by its `lock`; who decides something and
    adds it, while other threads do so too, holds the lock for both.
    """

    def __init__(
        self,
        devices: Iterable[DeviceID] = (),
        shared: Iterable[SharedDeviceID] = (),
        consumed: Mapping[DeviceID, Mapping[str, str | Quantity]] | None = None,
    ) -> None:
        self._given = frozenset(devices)
        # Who holds a device whole, who a share of it, and who a share by ID. Holders of what was passed in directly have no name.
        self._whole: dict[DeviceID, dict[str, int]] = {}
        self._sharing: dict[DeviceID, dict[str, int]] = {}
        self._given_shares: dict[DeviceID, int] = {}
        self._consumed: dict[DeviceID, dict[str, int]] = {}
        self._consumers: dict[DeviceID, int] = {}
        self._share_ids: dict[str, int] = {}
        self._claims: dict[str, ResourceClaim] = {}
        # By pool: devices that are held in any form, with the number of reasons; and the version that changed it last.
        self._in_pool: dict[PoolID, dict[str, int]] = {}
        self._pool_versions: dict[PoolID, int] = {}
        self.version = 0
        """Grows with every change, so that whoever derives something from the state can tell when that is stale."""
        self.journal: Journal[PoolChange] = Journal()
        """Which pools changed."""
        self.lock = RLock()
        for identity in self._given:
            self._hold(identity)
        for driver, pool, device, share_id in set(shared):
            self._share_ids[share_id] = self._share_ids.get(share_id, 0) + 1
            identity = (driver, pool, device)
            self._given_shares[identity] = self._given_shares.get(identity, 0) + 1
            self._hold(identity)
        for identity, amounts in (consumed or {}).items():
            self._consume(identity, {name: _nano(value) for name, value in amounts.items()})
            self._hold(identity)

    @classmethod
    def from_claims(cls, claims: Iterable[ResourceClaim]) -> "AllocatedState":
        """The state that the allocations of these claims add up to; claims without an allocation hold nothing."""
        state = cls()
        for claim in claims:
            state.add(claim)
        return state

    def add(self, claim: ResourceClaim) -> None:
        """Count what `claim` holds. A claim that was counted before is counted anew, as it is now."""
        with self.lock:
            key = _key(claim)
            if key in self._claims:
                self._remove(key)
            if claim.status.allocation is None:
                return
            self._claims[key] = claim
            owner = claim_name(claim)
            changed: dict[PoolID, Change] = {}
            for share_id in _share_ids(claim):
                self._share_ids[share_id] = self._share_ids.get(share_id, 0) + 1
            for identity, result in _held(claim):
                change = Change.TAKEN
                owners = self._holders(result).setdefault(identity, {})
                owners[owner] = owners.get(owner, 0) + 1
                if result.share_id is not None:
                    change = Change.SHARED
                    if result.consumed_capacity is not None:
                        amounts = _amounts(result)
                        self._consume(identity, amounts)
                        if any(amount < 0 for amount in amounts.values()):
                            change = Change.FREED
                self._hold(identity)
                pool = identity[:2]
                changed[pool] = max(change, changed.get(pool, change))
            self._changed(changed)

    def remove(self, claim: ResourceClaim) -> None:
        """Free what `claim` was last counted with; nothing happens if it never was."""
        with self.lock:
            self._remove(_key(claim))

    def _remove(self, key: str) -> None:
        counted = self._claims.pop(key, None)
        if counted is None:
            return
        owner = claim_name(counted)
        changed: dict[PoolID, Change] = {}
        for share_id in _share_ids(counted):
            _leave(self._share_ids, share_id)
        for identity, result in _held(counted):
            holders = self._holders(result)
            _leave(holders[identity], owner)
            if not holders[identity]:
                del holders[identity]
            if result.share_id is not None and result.consumed_capacity is not None:
                self._release(identity, _amounts(result))
            changed[identity[:2]] = Change.FREED
            self._let_go(identity)
        self._changed(changed)

    def _changed(self, pools: Mapping[PoolID, Change]) -> None:
        self.version += 1
        for pool, change in pools.items():
            if pool in self._in_pool:
                self._pool_versions[pool] = self.version
            else:
                self._pool_versions.pop(pool, None)
            self.journal.write(PoolChange(pool, change))

    def _hold(self, device: DeviceID) -> None:
        held = self._in_pool.setdefault(device[:2], {})
        held[device[2]] = held.get(device[2], 0) + 1

    def _let_go(self, device: DeviceID) -> None:
        held = self._in_pool[device[:2]]
        _leave(held, device[2])
        if not held:
            del self._in_pool[device[:2]]

    def _holders(self, result: DeviceRequestAllocationResult) -> dict[DeviceID, dict[str, int]]:
        return self._whole if result.share_id is None else self._sharing

    def in_use(self, device: DeviceID, consumable_capacity: bool) -> bool:
        """True if the device is taken whole. Without consumable capacity a claim's share takes all of it, too."""
        return device in self._given or device in self._whole or (not consumable_capacity and device in self._sharing)

    def is_shared(self, device: DeviceID) -> bool:
        """True if some share of the device, or some of its capacity, is held."""
        return device in self._sharing or device in self._given_shares or device in self._consumed

    def is_allocated(self, device: DeviceID) -> bool:
        """True if the device is held in any form, which is when it draws on its counters."""
        return device in self._given or device in self._whole or self.is_shared(device)

    def allocated_in(self, pool: PoolID) -> Mapping[str, int]:
        """The devices of a pool, by name, for which `is_allocated` is true. A view: it changes with the state."""
        return self._in_pool.get(pool, _NOTHING)

    def pool_version(self, pool: PoolID) -> int:
        """Another one after every change to the devices of this pool; 0 while no claim holds any of them."""
        return self._pool_versions.get(pool, 0)

    def knows_share(self, share_id: str) -> bool:
        """True if some share has this ID already, one with admin access included."""
        return share_id in self._share_ids

    def consumed(self, device: DeviceID) -> Mapping[str, int]:
        """Capacity that the shares of `device` hold together, in 1e-9 units, by capacity name."""
        return self._consumed.get(device, _NOTHING)

    def owners(self, device: DeviceID) -> tuple[str, ...]:
        """The claims (`namespace/name`) that hold the device or a share of it, sorted.

        Empty if it is free or nobody said who holds it.
        """
        return tuple(sorted({*self._whole.get(device, ()), *self._sharing.get(device, ())}))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values, lock=RLock())

    def __repr__(self) -> str:
        held = {*self._given, *self._whole, *self._sharing, *self._given_shares, *self._consumed}
        return f"<AllocatedState: {len(held)} devices held by {len(self._claims)} claims>"

    def _consume(self, device: DeviceID, amounts: Mapping[str, int]) -> None:
        held = self._consumed.setdefault(device, {})
        self._consumers[device] = self._consumers.get(device, 0) + 1
        for name, amount in amounts.items():
            held[name] = held.get(name, 0) + amount

    def _release(self, device: DeviceID, amounts: Mapping[str, int]) -> None:
        self._consumers[device] -= 1
        if not self._consumers[device]:
            del self._consumers[device], self._consumed[device]
            return
        held = self._consumed[device]
        for name, amount in amounts.items():
            held[name] -= amount


_NOTHING: Mapping[str, int] = {}


def _key(claim: ResourceClaim) -> str:
    return claim.metadata.uid or claim_name(claim)


def _held(claim: ResourceClaim) -> Iterator[tuple[DeviceID, DeviceRequestAllocationResult]]:
    """The devices that the allocation of a claim takes from others: all but those with admin access."""
    if claim.status.allocation is not None:
        for result in claim.status.allocation.devices.results:
            if not result.admin_access:
                yield (result.driver, result.pool, result.device), result


def _share_ids(claim: ResourceClaim) -> list[str]:
    """The IDs of all shares in a claim's allocation, also of those that take nothing from others."""
    if claim.status.allocation is None:
        return []
    return [result.share_id for result in claim.status.allocation.devices.results if result.share_id is not None]


def _leave(counts: dict[str, int], name: str) -> None:
    """Count one less, and forget what is not there any more: a state that lives long must not remember everything it has seen."""
    counts[name] -= 1
    if not counts[name]:
        del counts[name]


def _nano(value: str | Quantity) -> int:
    return (Quantity.parse(value) if isinstance(value, str) else value).nano


def _amounts(result: DeviceRequestAllocationResult) -> dict[str, int]:
    return {name: Quantity.parse(text).nano for name, text in (result.consumed_capacity or {}).items()}
