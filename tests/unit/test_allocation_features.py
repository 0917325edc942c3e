"""The allocator's switches follow the gates of a release (upstream-dra.md section 1)."""

from dataclasses import asdict

import pytest

from reparto.allocation import Features


def on(features: Features) -> set[str]:
    return {name for name, value in asdict(features).items() if value}


@pytest.mark.parametrize(
    ("version", "switches"),
    [
        ("1.34", {"admin_access", "prioritized_list"}),
        ("1.35", {"admin_access", "prioritized_list"}),
        (
            "1.36",
            {
                "admin_access",
                "consumable_capacity",
                "device_binding_and_status",
                "device_taints",
                "partitionable_devices",
                "prioritized_list",
            },
        ),
        (
            "1.37",
            {
                "admin_access",
                "consumable_capacity",
                "device_binding_and_status",
                "device_taints",
                "partitionable_devices",
                "prioritized_list",
            },
        ),
    ],
)
def test_a_release_turns_on_what_its_gates_turn_on(version, switches):
    assert on(Features.for_version(version)) == switches


def test_gates_change_the_default():
    features = Features.for_version("1.37", gates={"DRAListTypeAttributes": True, "DRADeviceTaints": False})
    assert features.list_type_attributes and not features.device_taints


@pytest.mark.parametrize("gate", ["DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"])
def test_binding_needs_both_gates(gate):
    assert not Features.for_version("1.37", gates={gate: False}).device_binding_and_status
