"""A pod as plugins see it: with what is computed once for all pods of the same shape.

Pods of a workload differ in their names only. Whatever depends on the rest of their specs (resources, ports, checks of nodes) is
kept by shape, and found again by the encoded fields that decide.
"""

import msgspec

from reparto.model import core
from reparto.placement.cluster import Port
from reparto.placement.label_selectors import NO_LABELS, Labels
from reparto.placement.plugins.ports import host_ports
from reparto.placement.resources import PodResources, pod_resources


class Shape(msgspec.Struct, frozen=True, eq=False):
    """What pods have in common: `pod` is any one of them. Plugins may read the fields that `Shapes` tells pods apart by."""

    pod: core.Pod
    resources: PodResources
    ports: tuple[Port, ...]


class PodView(msgspec.Struct, frozen=True, eq=False):
    """One pod; `labels` and `namespace` are what rules of other pods go by."""

    pod: core.Pod
    shape: Shape
    namespace: str
    labels: Labels
    priority: int = 0

    @property
    def terminating(self) -> bool:
        return self.pod.metadata.deletion_timestamp is not None

    @property
    def is_evicted(self) -> bool:
        """Whether the scheduler is evicting the pod for another one."""
        return self.terminating and any(
            each.type == "DisruptionTarget" and each.status == "True" and each.reason == "PreemptionByScheduler"
            for each in self.pod.status.conditions
        )


class Shapes:
    """The shapes of all pods seen so far."""

    def __init__(self) -> None:
        self._shapes: dict[bytes, Shape] = {}
        self._encode = msgspec.msgpack.Encoder().encode

    def view(self, pod: core.Pod, priority: int = 0) -> PodView:
        metadata, spec, status = pod.metadata, pod.spec, pod.status
        reported = (status.container_statuses, status.init_container_statuses, status.resources, status.allocated_resources)
        decisive = (
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            spec.containers,
            spec.init_containers,
            spec.topology_spread_constraints,
            spec.overhead,
            spec.resources,
            spec.volumes,
            spec.host_network,
            spec.host_users,
            reported if any(reported) else None,
            status.conditions,
        )
        encoded = self._encode(decisive)
        shape = self._shapes.get(encoded)
        if shape is None:
            shape = self._shapes[encoded] = Shape(pod, pod_resources(pod), host_ports(pod))
        return PodView(pod, shape, metadata.namespace, metadata.labels or NO_LABELS, priority)
