"""Feature gates: defaults per release (upstream-dra.md section 1), and settings that a release refuses."""

import pytest

from reparto.model.gates import GATES, VERSIONS, GateError, default_gates, parse_gates


@pytest.mark.parametrize(
    ("gate", "defaults"),
    [
        # In 1.34, 1.35, 1.36, 1.37; None: the release does not know the gate.
        ("DynamicResourceAllocation", [True, True, True, True]),
        ("DRAPrioritizedList", [True, True, True, True]),
        ("DRAAdminAccess", [True, True, True, True]),
        ("DRAPartitionableDevices", [False, False, True, True]),
        ("DRADeviceTaints", [False, False, True, True]),
        ("DRADeviceTaintRules", [None, False, False, True]),
        ("DRAConsumableCapacity", [False, False, True, True]),
        ("DRAFractionalCapacityRange", [None, None, None, False]),
        ("DRAExtendedResource", [False, False, True, True]),
        ("DRADeviceBindingConditions", [False, False, True, True]),
        ("DRAListTypeAttributes", [None, None, False, False]),
        ("DRADerivedAttributes", [None, None, None, False]),
        ("DRADeviceCompatibilityGroups", [None, None, None, False]),
        ("DRAOptionalNodeOperations", [None, None, None, False]),
        ("DRAResourceClaimDeviceStatus", [True, True, True, True]),
        ("DRASchedulerFilterTimeout", [True, True, True, True]),
        ("DRAWorkloadResourceClaims", [None, None, False, False]),
    ],
)
def test_a_release_has_its_gates_with_its_defaults(gate: str, defaults: list[bool | None]) -> None:
    assert [default_gates(version).get(gate) for version in VERSIONS] == defaults


def test_a_setting_replaces_the_default_and_nothing_else() -> None:
    gates = parse_gates("DRAListTypeAttributes=true, DRAConsumableCapacity=false", "1.37")
    expected = default_gates("1.37") | {"DRAListTypeAttributes": True, "DRAConsumableCapacity": False}
    assert gates == expected


def test_no_settings_are_the_defaults() -> None:
    assert parse_gates("", "1.36") == default_gates("1.36")


@pytest.mark.parametrize("spelling", ["true", "True", "t", "1"])
def test_booleans_are_spelt_as_on_a_component_command_line(spelling: str) -> None:
    assert parse_gates(f"DRADerivedAttributes={spelling}")["DRADerivedAttributes"] is True


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        (
            "DRAPartitionableDevice=true",
            "1.37",
            "unknown feature gate 'DRAPartitionableDevice': did you mean DRAPartitionableDevices?",
        ),
        ("Frobnicate=true", "1.37", "unknown feature gate 'Frobnicate' (only gates that concern DRA are known)"),
        (
            "DRADerivedAttributes=true",
            "1.35",
            "feature gate DRADerivedAttributes does not exist in Kubernetes 1.35: it appeared in 1.37",
        ),
        ("DRAAdminAccess=false", "1.37", "feature gate DRAAdminAccess cannot be set to false: Kubernetes 1.37 locks it to true"),
        ("DRADeviceTaints", "1.37", "feature gate setting 'DRADeviceTaints': write NAME=true or NAME=false"),
        ("DRADeviceTaints=yes", "1.37", "feature gate setting 'DRADeviceTaints=yes': write NAME=true or NAME=false"),
        ("DRADeviceTaints=false", "1.37", "feature gate DRADeviceTaintRules is on but depends on DRADeviceTaints, which is off"),
        (
            "DRAPartitionableDevicesType=true,DRAPartitionableDevices=false",
            "1.37",
            "feature gate DRAPartitionableDevicesType is on but depends on "
            "DRAPartitionableDevices, DRAResourcePoolStatus, which are off",
        ),
        ("", "1.33", "Kubernetes version '1.33' is not known: use one of 1.34, 1.35, 1.36, 1.37"),
    ],
)
def test_a_setting_the_release_would_refuse_is_refused_with_the_reason(text: str, version: str, message: str) -> None:
    with pytest.raises(GateError) as caught:
        parse_gates(text, version)
    assert str(caught.value) == message


def test_a_locked_gate_may_be_set_to_what_it_is() -> None:
    assert parse_gates("DRAAdminAccess=true")["DRAAdminAccess"] is True


def test_a_locked_gate_was_free_before_it_was_locked() -> None:
    assert parse_gates("DRAAdminAccess=false", "1.35")["DRAAdminAccess"] is False


def test_all_alpha_turns_on_every_alpha_gate_but_not_what_is_named_off() -> None:
    gates = parse_gates("AllAlpha=true,DRADerivedAttributes=false,GenericWorkload=true", "1.37")
    assert gates["DRAListTypeAttributes"]
    assert gates["DRAOptionalNodeOperations"]
    assert not gates["DRADerivedAttributes"]
    assert not gates["DRAFractionalCapacityRange"]  # beta, off


def test_the_defaults_of_every_release_satisfy_their_own_dependencies() -> None:
    for version in VERSIONS:
        assert parse_gates("", version) == default_gates(version)


def test_a_dependency_is_a_known_gate() -> None:
    assert {need for gate in GATES.values() for need in gate.needs} <= set(GATES)
