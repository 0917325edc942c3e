"""The optional behaviours of the allocator, one switch each, as upstream's allocator names them.

A switch is not a feature gate: `device_binding_and_status` needs two gates, and the core of DRA needs none. The gates of a release
are turned into switches here and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reparto.model.gates import default_gates

# Which gates a switch needs. Source: upstream-dra.md section 1; the scheduler plugin combines the two binding gates.
_GATES: dict[str, tuple[str, ...]] = {
    "admin_access": ("DRAAdminAccess",),
    "compatibility_groups": ("DRADeviceCompatibilityGroups",),
    "consumable_capacity": ("DRAConsumableCapacity",),
    "derived_attributes": ("DRADerivedAttributes",),
    "device_binding_and_status": ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
    "device_taints": ("DRADeviceTaints",),
    "fractional_capacity_range": ("DRAFractionalCapacityRange",),
    "list_type_attributes": ("DRAListTypeAttributes",),
    "optional_node_operations": ("DRAOptionalNodeOperations",),
    "partitionable_devices": ("DRAPartitionableDevices",),
    "prioritized_list": ("DRAPrioritizedList",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Switches of the allocator; everything is off unless it is turned on."""

    admin_access: bool = False
    compatibility_groups: bool = False
    consumable_capacity: bool = False
    derived_attributes: bool = False
    device_binding_and_status: bool = False
    device_taints: bool = False
    fractional_capacity_range: bool = False
    list_type_attributes: bool = False
    optional_node_operations: bool = False
    partitionable_devices: bool = False
    prioritized_list: bool = False

    @classmethod
    def for_version(cls, version: str = "1.37", gates: Mapping[str, bool] | None = None) -> "Features":
        """The switches of a Kubernetes release (`1.34` to `1.37`) with its default gates, changed by `gates`."""
        effective = {**default_gates(version), **(gates or {})}
        return cls(**{switch: all(effective.get(gate, False) for gate in needed) for switch, needed in _GATES.items()})

    @property
    def experimental(self) -> bool:
        """True if upstream would use its experimental variant, the only one that knows of skipped node operations at all.

        The others ignore that a slice declares them; with the experimental one, such devices cannot be used while the switch is
        off. Source: upstream-dra.md 3.15.
        """
        return self.compatibility_groups or self.derived_attributes or self.list_type_attributes or self.optional_node_operations
