"""What published dumps leave out: uids and times that only a server writes.

People trim a dump before they publish it, and what they cut is never what an allocation depends on. For such fields, and only
those, a stand-in is validated instead, so that one missing uid does not hide the object or breed errors of its own (two missing
uids would be duplicates). Which fields: owner references' and consumers' uids, conditions' transition times.
"""

from typing import TypeVar

from msgspec.structs import replace

from reparto.model import v1
from reparto.model.meta import Base, Condition, ObjectMeta

_T = TypeVar("_T")
EPOCH = "1970-01-01T00:00:00Z"


def stand_ins(obj: Base) -> tuple[Base, tuple[str, ...]]:
    """`obj` with stand-ins where a server's value is missing, and the paths of those fields; `obj` itself and () if none is."""
    missing: list[str] = []
    metadata = getattr(obj, "metadata", None)
    if isinstance(metadata, ObjectMeta) and not all(owner.uid for owner in metadata.owner_references):
        owners = tuple(
            owner if owner.uid else _noted(replace(owner, uid=_uid(index)), missing, f"metadata.ownerReferences[{index}].uid")
            for index, owner in enumerate(metadata.owner_references)
        )
        obj = replace(obj, metadata=replace(metadata, owner_references=owners))
    status = getattr(obj, "status", None)
    if isinstance(status, v1.ResourceClaimStatus):
        reserved = tuple(
            consumer if consumer.uid else _noted(replace(consumer, uid=_uid(index)), missing, f"status.reservedFor[{index}].uid")
            for index, consumer in enumerate(status.reserved_for)
        )
        devices = tuple(
            replace(device, conditions=_dated(device.conditions, f"status.devices[{index}].conditions", missing))
            for index, device in enumerate(status.devices)
        )
        obj = replace(obj, status=replace(status, reserved_for=reserved, devices=devices))
    elif isinstance(status, v1.DeviceTaintRuleStatus):
        obj = replace(obj, status=replace(status, conditions=_dated(status.conditions, "status.conditions", missing)))
    return obj, tuple(missing)


def _dated(conditions: tuple[Condition, ...], path: str, missing: list[str]) -> tuple[Condition, ...]:
    return tuple(
        condition
        if condition.last_transition_time
        else _noted(replace(condition, last_transition_time=EPOCH), missing, f"{path}[{index}].lastTransitionTime")
        for index, condition in enumerate(conditions)
    )


def _noted(value: _T, missing: list[str], path: str) -> _T:
    missing.append(path)
    return value


def _uid(index: int) -> str:
    """Distinct for each entry, and no uid that a server would make (version 0)."""
    return f"00000000-0000-0000-0000-{index:012d}"
