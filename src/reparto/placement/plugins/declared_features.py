"""What the kubelet of a node must be able to do for a pod: NodeDeclaredFeatures.

Source: component-helpers `nodedeclaredfeatures` of 1.37.2; only features that a pod to be scheduled can need.
"""

from collections.abc import Iterable
from typing import Final

from reparto.model import codes
from reparto.model.core import Pod
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.rejections import Rejection, rejection

OPTIONAL_NODE_OPERATIONS: Final = "DRAOptionalNodeOperations"
_RESTART_ALL: Final = "RestartAllContainersOnContainerExits"
_USER_NAMESPACES: Final = "UserNamespacesHostNetworkSupport"
_MOUNT_OPTIONS: Final = "VolumeBindMountOptions"


class DeclaredFeatures:
    """The features that the pod needs, by name, each with the field that asks for it."""

    @classmethod
    def of(cls, pod: Pod) -> "DeclaredFeatures | None":
        needed = dict(_needed(pod))
        return cls(needed) if needed else None

    def __init__(self, needed: dict[str, str]) -> None:
        self._needed = needed

    def suspects(self, cluster: Cluster) -> Iterable[int]:
        return range(len(cluster))

    def __call__(self, state: NodeState) -> Rejection | None:
        for feature in sorted(self._needed):
            if feature not in state.node.status.declared_features:
                return rejection(codes.NODE_FEATURE, self._needed[feature], f"the node does not declare the feature {feature}")
        return None


def _needed(pod: Pod) -> Iterable[tuple[str, str]]:
    spec = pod.spec
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            if any(rule.action == "RestartAllContainers" for rule in container.restart_policy_rules):
                yield _RESTART_ALL, f"spec.{field}[{index}].restartPolicyRules"
            if any(mount.bind_mount_options for mount in container.volume_mounts):
                yield _MOUNT_OPTIONS, f"spec.{field}[{index}].volumeMounts"
    if spec.host_network and spec.host_users is False:
        yield _USER_NAMESPACES, "spec.hostUsers"
