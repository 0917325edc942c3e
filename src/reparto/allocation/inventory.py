"""Everything that drivers publish, indexed once for all questions: slices by node and by pool, devices by number.

Each device gets a number that stands for it wherever something is remembered about it (selector answers, capacity, counters); the
records keep what allocation asks for again and again. Devices are recorded when their pool is first looked at, so an inventory of a
large cluster costs little until it is used.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

from reparto.allocation.compatibility import declares_groups
from reparto.allocation.node_matching import NodeSelection
from reparto.allocation.state import DeviceID
from reparto.allocation.taints import blocking_taints
from reparto.model.v1 import Device, DeviceCapacity, ResourceSlice

PoolID: TypeAlias = tuple[str, str]
"""(driver, pool name)."""


class PublishedDevice:
    """One device of one slice."""

    __slots__ = ("blocking_taints", "capacity", "device", "id", "multi", "number", "selection", "slice")

    def __init__(self, number: int, device: Device, published: "PublishedSlice") -> None:
        self.number = number
        self.device = device
        self.slice = published
        self.id: DeviceID = (*published.pool, device.name)
        self.multi = bool(device.allow_multiple_allocations)
        self.capacity: dict[str, DeviceCapacity] = device.capacity or {}
        self.blocking_taints = blocking_taints(device)
        # Under per-device node selection only; None otherwise, for then the slice has decided.
        self.selection: NodeSelection | None = None
        if published.spec.per_device_node_selection:
            self.selection = NodeSelection(device.node_name, device.all_nodes, device.node_selector, f"device {self}")

    def __str__(self) -> str:
        return "/".join(self.id)


class PublishedSlice:
    """One ResourceSlice with what the gathering of pools asks about it."""

    def __init__(self, published: ResourceSlice, inventory: "Inventory") -> None:
        self._inventory = inventory
        self.object = published
        self.spec = published.spec
        self.name = published.metadata.name
        self.pool: PoolID = (published.spec.driver, published.spec.pool.name)
        self.generation = published.spec.pool.generation
        self.slice_count = published.spec.pool.resource_slice_count
        self.partitioned = self.spec.per_device_node_selection is not None or bool(self.spec.shared_counters)
        self.selection = NodeSelection(self.spec.node_name, self.spec.all_nodes, self.spec.node_selector, f"slice {self.name}")

    @cached_property
    def devices(self) -> Sequence[PublishedDevice]:
        """The devices in the order of the slice."""
        return self._inventory.record_devices(self)

    @cached_property
    def declares_groups(self) -> bool:
        """True if a device of the slice declares compatibility groups."""
        return declares_groups(self.object)


class Inventory:
    """All slices, in the order given. Order matters only where upstream's answer depends on the order of its cache, too."""

    def __init__(self, slices: Iterable[ResourceSlice]) -> None:
        self._next_number = 0
        self._on_node: dict[str, list[PublishedSlice]] = {}
        self._shared: list[PublishedSlice] = []
        self._of_pool: dict[PoolID, list[PublishedSlice]] = {}
        for published in slices:
            record = PublishedSlice(published, self)
            node = published.spec.node_name
            (self._on_node.setdefault(node, []) if node else self._shared).append(record)
            self._of_pool.setdefault(record.pool, []).append(record)

    def record_devices(self, published: PublishedSlice) -> list[PublishedDevice]:
        """Number the devices of a slice; for `PublishedSlice.devices`, which asks once."""
        devices = [
            PublishedDevice(number, device, published)
            for number, device in enumerate(published.spec.devices or (), self._next_number)
        ]
        self._next_number += len(devices)
        return devices

    def candidates(self, node_name: str) -> list[PublishedSlice]:
        """The slices that may concern a node: its own, then all that name no node. The caller checks which do."""
        return self._on_node.get(node_name, []) + self._shared

    def of_pool(self, pool: PoolID) -> Sequence[PublishedSlice]:
        """All slices of a pool, of every generation and for every node."""
        return self._of_pool.get(pool, ())
