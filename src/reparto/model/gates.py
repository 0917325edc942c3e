"""Feature gates: which DRA features a Kubernetes release has, and which of them are on.

One row per gate, one stage per minor release, as `pkg/features/kube_features.go` of Kubernetes 1.37.2 declares them (a gate's
history is kept there for emulation). Upstream refuses two kinds of settings and so do we: a locked gate set against its default,
and a gate that is on while one it depends on is off. Source: upstream-dra.md section 1.
"""

import difflib
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

Gates = Mapping[str, bool]
Version = Literal["1.34", "1.35", "1.36", "1.37"]
VERSIONS: tuple[str, ...] = get_args(Version)


class GateError(ValueError):
    """A gate setting that the release would refuse; the message names the gate and what to write instead."""


class Stage(NamedTuple):
    """What a gate is in one release: its maturity, whether it is on by default, whether that can be changed."""

    maturity: Literal["alpha", "beta", "GA"]
    default: bool
    locked: bool = False


class Gate(NamedTuple):
    """A gate's stage in 1.34, 1.35, 1.36 and 1.37 (None: not known there) and the gates it depends on."""

    stages: tuple[Stage | None, Stage | None, Stage | None, Stage | None]
    needs: tuple[str, ...] = ()

    def stage(self, version: str) -> Stage | None:
        return self.stages[VERSIONS.index(version)]


_NONE = None
_ALPHA = Stage("alpha", False)
_BETA = Stage("beta", True)
_BETA_OFF = Stage("beta", False)
_GA = Stage("GA", True)
_LOCKED = Stage("GA", True, True)

_DRA = "DynamicResourceAllocation"
_STATUS = "DRAResourceClaimDeviceStatus"

GATES: Mapping[str, Gate] = {
    "DynamicResourceAllocation": Gate((_GA, _LOCKED, _LOCKED, _LOCKED)),
    "DRAAdminAccess": Gate((_BETA, _BETA, _LOCKED, _LOCKED), (_DRA,)),
    "DRAConsumableCapacity": Gate((_ALPHA, _ALPHA, _BETA, _BETA), (_DRA,)),
    "DRADerivedAttributes": Gate((_NONE, _NONE, _NONE, _ALPHA), (_DRA,)),
    "DRADeviceBindingConditions": Gate((_ALPHA, _ALPHA, _BETA, _BETA), (_DRA, _STATUS)),
    "DRADeviceCompatibilityGroups": Gate((_NONE, _NONE, _NONE, _ALPHA), (_DRA, "DRAPartitionableDevices")),
    "DRADeviceTaintRules": Gate((_NONE, _ALPHA, _BETA_OFF, _GA), ("DRADeviceTaints",)),
    "DRADeviceTaints": Gate((_ALPHA, _ALPHA, _BETA, _GA), (_DRA,)),
    "DRAExtendedResource": Gate((_ALPHA, _ALPHA, _BETA, _LOCKED), (_DRA,)),
    # On only where the minimum compatibility version was raised to 1.37; a 1.37 server starts with 1.36.
    "DRAFractionalCapacityRange": Gate((_NONE, _NONE, _NONE, _BETA_OFF), ("DRAConsumableCapacity",)),
    "DRAListTypeAttributes": Gate((_NONE, _NONE, _ALPHA, _ALPHA), (_DRA,)),
    "DRANodeAllocatableResources": Gate((_NONE, _NONE, _ALPHA, _ALPHA), (_DRA,)),
    "DRAOptionalNodeOperations": Gate((_NONE, _NONE, _NONE, _ALPHA), (_DRA, "NodeDeclaredFeatures")),
    "DRAPartitionableDevices": Gate((_ALPHA, _ALPHA, _BETA, _BETA), (_DRA,)),
    "DRAPartitionableDevicesType": Gate((_NONE, _NONE, _NONE, _ALPHA), (_DRA, "DRAPartitionableDevices", "DRAResourcePoolStatus")),
    "DRAPrioritizedList": Gate((_BETA, _BETA, _GA, _LOCKED), (_DRA,)),
    "DRAResourceClaimDeviceStatus": Gate((_BETA, _BETA, _BETA, _LOCKED)),
    "DRAResourceClaimGranularStatusAuthorization": Gate((_NONE, _NONE, _BETA, _BETA), (_DRA, _STATUS)),
    "DRAResourcePoolStatus": Gate((_NONE, _NONE, _ALPHA, _ALPHA), (_DRA,)),
    "DRASchedulerFilterTimeout": Gate((_BETA, _BETA, _BETA, _BETA), (_DRA,)),
    "DRAWorkloadResourceClaims": Gate((_NONE, _NONE, _ALPHA, _BETA_OFF), (_DRA, "GenericWorkload")),
    "GenericWorkload": Gate((_NONE, _ALPHA, _ALPHA, _BETA_OFF)),
    "TopologyAwareWorkloadScheduling": Gate((_NONE, _NONE, _ALPHA, _ALPHA), ("GenericWorkload",)),
    "CompositePodGroup": Gate((_NONE, _NONE, _NONE, _ALPHA), ("GenericWorkload", "TopologyAwareWorkloadScheduling")),
    "NodeDeclaredFeatures": Gate((_NONE, _ALPHA, _BETA, _LOCKED)),
    "ResourceHealthStatus": Gate((_ALPHA, _ALPHA, _BETA, _BETA), (_DRA,)),
    "ResourceHealthStatusMessage": Gate((_NONE, _NONE, _BETA, _BETA), ("ResourceHealthStatus",)),
    "KubeletPodResourcesDynamicResources": Gate((_BETA, _BETA, _LOCKED, _LOCKED)),
    "KubeletPodResourcesGet": Gate((_BETA, _BETA, _LOCKED, _LOCKED)),
    "SchedulerPreQueueingHints": Gate((_NONE, _NONE, _NONE, _ALPHA)),
    "OpportunisticBatching": Gate((_NONE, _BETA, _BETA, _BETA)),
}

_GROUPS: Mapping[str, Literal["alpha", "beta"]] = {"AllAlpha": "alpha", "AllBeta": "beta"}
_SPELLINGS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def default_gates(version: str = "1.37") -> dict[str, bool]:
    """Every DRA gate that Kubernetes `version` ("1.34" to "1.37") knows, with its default.

    Raises `GateError` for another version.
    """
    return {name: stage.default for name, stage in _stages(version).items()}


def parse_gates(text: str, version: str = "1.37") -> dict[str, bool]:
    """The gates of `version` with the settings of `text` ("A=true,B=false", as `--feature-gates`) applied.

    `AllAlpha` and `AllBeta` set all unlocked gates of that maturity that `text` does not name itself. Raises `GateError`: unknown
    gate (the nearest one is named), value that is no boolean, locked gate, dependency that is off.
    """
    settings: dict[str, bool] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        enabled = _SPELLINGS.get(value.lower())
        if not equals or enabled is None:
            raise GateError(f"feature gate setting {part!r}: write NAME=true or NAME=false")
        settings[name] = enabled
    return apply_gates(settings, version)


def apply_gates(settings: Gates, version: str = "1.37") -> dict[str, bool]:
    """The gates of `version` with `settings` applied; the rules of `parse_gates`."""
    stages = _stages(version)
    gates = {name: stage.default for name, stage in stages.items()}
    for name, maturity in _GROUPS.items():
        if name in settings:
            gates.update({gate: settings[name] for gate, stage in stages.items() if stage.maturity == maturity})
    for name, enabled in settings.items():
        if name in _GROUPS:
            continue
        stage = stages.get(name)
        if stage is None:
            raise GateError(_unknown(name, version))
        if stage.locked and enabled != stage.default:
            raise GateError(
                f"feature gate {name} cannot be set to {str(enabled).lower()}: "
                f"Kubernetes {version} locks it to {str(stage.default).lower()}"
            )
        gates[name] = enabled
    for name, enabled in gates.items():
        off = [need for need in GATES[name].needs if enabled and not gates.get(need, False)]
        if off:
            raise GateError(
                f"feature gate {name} is on but depends on {', '.join(off)}, which {'is' if len(off) == 1 else 'are'} off"
            )
    return gates


def _stages(version: str) -> dict[str, Stage]:
    if version not in VERSIONS:
        raise GateError(f"Kubernetes version {version!r} is not known: use one of {', '.join(VERSIONS)}")
    return {name: stage for name, gate in GATES.items() if (stage := gate.stage(version)) is not None}


def _unknown(name: str, version: str) -> str:
    if name in GATES:
        first = next(release for release in VERSIONS if GATES[name].stage(release) is not None)
        return f"feature gate {name} does not exist in Kubernetes {version}: it appeared in {first}"
    near = difflib.get_close_matches(name, GATES, 1)
    return f"unknown feature gate {name!r}" + (f": did you mean {near[0]}?" if near else " (only gates that concern DRA are known)")
