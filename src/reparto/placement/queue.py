"""In which order pods are considered, and which are not considered at all.

kube-scheduler takes pods by priority, then by age. Age is the time a pod entered the queue, for which `creationTimestamp` stands;
pods of a manifest have none yet, so they come after those that exist already, in the order of the input.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from reparto.model import codes
from reparto.model.core import Pod, PriorityClass
from reparto.placement.plan import Note, Reason, Verdict
from reparto.placement.reasons import reason_of
from reparto.placement.snapshot import reference

DEFAULT_SCHEDULER: Final = "default-scheduler"
# The two classes that every cluster has (scheduling.k8s.io, SystemPriorityClasses).
_SYSTEM: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


def in_order(pods: Iterable[Pod], classes: Mapping[str, PriorityClass]) -> tuple[tuple[Pod, ...], tuple[Note, ...]]:
    """All `pods` in the order to consider them: those that have a node first, then by priority, age and input order."""
    notes: dict[str, Note] = {}

    def place(item: tuple[int, Pod]) -> tuple[bool, int, datetime, int]:
        index, pod = item
        if pod.spec.node_name:
            return (False, 0, _NEVER, index)
        priority, note = priority_of(pod, classes)
        if note is not None:
            notes.setdefault(note.object, note)
        return (True, -priority, _created(pod), index)

    ordered = tuple(pod for _, pod in sorted(enumerate(pods), key=place))
    return ordered, tuple(notes.values())


def set_aside(pod: Pod) -> tuple[Verdict, Reason] | None:
    """The verdict for a pod that the scheduler does not consider, with why; None for one that it does.

    A pod that has a node and is not finished is not set aside: it counts with what it holds.
    """
    name = reference("Pod", pod.metadata)
    if pod.status.phase in ("Succeeded", "Failed"):
        return "skipped", Reason(codes.POD_FINISHED, name, "status.phase", f"the pod has finished ({pod.status.phase})")
    if pod.spec.node_name:
        return None
    if (pod.spec.scheduler_name or DEFAULT_SCHEDULER) != DEFAULT_SCHEDULER:
        return "skipped", Reason(
            codes.OTHER_SCHEDULER, name, "spec.schedulerName", f"scheduler {pod.spec.scheduler_name} places this pod"
        )
    if pod.metadata.deletion_timestamp is not None:
        return "skipped", Reason(codes.POD_DELETED, name, "metadata.deletionTimestamp", "the pod is being deleted")
    if pod.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        message = f"waits for its scheduling gates: {gates}"
        return "waiting", reason_of(codes.SCHEDULING_GATES, name, "spec.schedulingGates", message)
    return None


def priority_of(pod: Pod, classes: Mapping[str, PriorityClass]) -> tuple[int, Note | None]:
    """`spec.priority`, else what admission would set there. Two global defaults: the lower one, as the admission plugin decides."""
    if pod.spec.priority is not None:
        return pod.spec.priority, None
    name = pod.spec.priority_class_name
    if not name:
        return min((item.value for item in classes.values() if item.global_default), default=0), None
    if name in classes:
        return classes[name].value, None
    if name in _SYSTEM:
        return _SYSTEM[name], None
    message = f"PriorityClass {name} is not in the input; pods that name it were planned with priority 0"
    return 0, Note(codes.PRIORITY_CLASS_MISSING, f"PriorityClass/{name}", message)


def preempts(pod: Pod, classes: Mapping[str, PriorityClass]) -> bool:
    """Whether the scheduler may evict other pods for `pod`: its own policy decides, else that of its class."""
    policy = pod.spec.preemption_policy
    if policy is None and pod.spec.priority_class_name in classes:
        policy = classes[pod.spec.priority_class_name].preemption_policy
    return policy != "Never"


def _created(pod: Pod) -> datetime:
    text = pod.metadata.creation_timestamp
    if not text:
        return _NEVER
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return _NEVER
    return time if time.tzinfo else time.replace(tzinfo=UTC)
