"""What changed between two plans: who moved, who became pending, who is new or gone.

The former plan is a saved `-o json`, or objects (a dump, a snapshot, a saved `-o yaml`), which are planned by the same rules as the
new one. Pods are compared by namespace and name, their devices by driver, pool and name; a pod that was placed and is bound now has
not changed.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import msgspec

from reparto.model.errors import Problem
from reparto.placement.plan import Plan, PodPlan, Reason, Verdict, contract_reasons

Change = Literal["pending", "moved", "devices", "placed", "new", "gone", "other"]
CHANGES: Final[tuple[Change, ...]] = get_args(Change)

_HAS_DEVICES: Final = ("placed", "bound")


class DeviceName(msgspec.Struct, frozen=True, order=True):
    """Which device."""

    driver: str
    pool: str
    device: str


class Side(msgspec.Struct, frozen=True):
    """A pod in one of the plans."""

    verdict: Verdict
    node: str
    devices: tuple[DeviceName, ...]
    reasons: tuple[Reason, ...]


class PodChange(msgspec.Struct, frozen=True):
    """A pod that is not as it was; `old` is None for a new one, `new` for one that is gone.

    `change`: pending (had its devices, and has not now); moved (to another node); devices (others, on the same node); placed (was
    not, and is now); new; gone; other (another verdict).
    """

    namespace: str
    name: str
    change: Change
    old: Side | None
    new: Side | None


class Difference(msgspec.Struct, frozen=True):
    """All that changed, the worst first, and how many pods are as they were."""

    changes: tuple[PodChange, ...]
    unchanged: int
    errors: tuple[Problem, ...] = ()

    def summary(self) -> dict[str, int]:
        """How many pods changed in each way, and how many did not."""
        return {**{change: sum(each.change == change for each in self.changes) for change in CHANGES}, "unchanged": self.unchanged}

    def exit_code(self) -> int:
        """As diff has it: 0: nothing changed; 1: something did; 2: input that cannot be used, which outranks 1."""
        return 2 if self.errors else 1 if self.changes else 0

    def document(self) -> dict[str, object]:
        """The JSON contract `plan-diff/v1`."""
        return {"schema": "plan-diff/v1", "changes": self.changes, "errors": self.errors, "summary": self.summary()}


class NoPlan(ValueError):
    """A document of the contract's kind that does not hold to it; the text says what is wrong."""


def saved_plan(path: str) -> Plan | None:
    """The plan in a file that `reparto plan -o json` wrote; None where the file is something else (objects, most likely).

    Raises NoPlan for JSON that claims to be a plan and is none, OSError for a file that cannot be read.
    """
    source = Path(path)
    if path == "-" or not source.is_file():
        return None
    with source.open("rb") as file:
        if b'"schema"' not in file.read(200):  # it comes first in what we write, and objects of Kubernetes have no such field
            return None
    try:
        value = msgspec.json.decode(source.read_bytes())
    except msgspec.DecodeError as error:
        raise NoPlan(f"{path} is no JSON: {error}") from None
    schema = cast("Mapping[str, Any]", value).get("schema") if isinstance(value, dict) else None
    if schema != "plan/v1":
        raise NoPlan(f"{path} is no plan but {schema}: give what `reparto plan -o json` wrote")
    try:
        return Plan(msgspec.convert(cast("Mapping[str, Any]", value).get("pods"), tuple[PodPlan, ...]))
    except msgspec.ValidationError as error:
        raise NoPlan(f"{path} is no plan/v1: {error}") from None


def difference(old: Iterable[PodPlan], new: Iterable[PodPlan], errors: tuple[Problem, ...] = ()) -> Difference:
    """What became of every pod of either plan: the worst changes first, else in the order of the new plan, then of the old one."""
    before = {(pod.namespace, pod.name): pod for pod in old}
    after = {(pod.namespace, pod.name): pod for pod in new}
    changes: list[PodChange] = []
    for identity in dict.fromkeys((*after, *before)):
        change = _change(before.get(identity), after.get(identity))
        if change is not None:
            changes.append(PodChange(*identity, change, _side(before.get(identity)), _side(after.get(identity))))
    changes.sort(key=lambda each: CHANGES.index(each.change))
    return Difference(tuple(changes), len(before.keys() | after.keys()) - len(changes), errors)


def _change(old: PodPlan | None, new: PodPlan | None) -> Change | None:
    if old is None or new is None:
        return "new" if old is None else "gone"
    had, has = old.verdict in _HAS_DEVICES, new.verdict in _HAS_DEVICES
    if had and has:
        return "moved" if old.node != new.node else None if _devices(old) == _devices(new) else "devices"
    if had:
        return "other" if new.verdict == "skipped" else "pending"
    if has:
        return "placed"
    return None if old.verdict == new.verdict else "other"


def _side(pod: PodPlan | None) -> Side | None:
    return None if pod is None else Side(pod.verdict, pod.node, _devices(pod), contract_reasons(pod.reasons))


def _devices(pod: PodPlan) -> tuple[DeviceName, ...]:
    results = [result for claim in pod.claims if claim.allocation for result in claim.allocation.devices.results]
    return tuple(sorted(DeviceName(result.driver, result.pool, result.device) for result in results))
