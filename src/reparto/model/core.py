"""The core objects that allocation and placement read: Node, Namespace, Pod, PodGroup, PriorityClass, quotas, limits.

Only the fields that some decision of Reparto depends on are typed; unknown fields of these kinds are allowed and dropped, since
core objects are validated by the API server's core group, not by us (except `spec.resourceClaims`, validation-1.37.md section 8).
"""

from typing import Any

import msgspec

from reparto.model.meta import Base, Int32, NodeSelector, NodeSelectorTerm, ObjectMeta, QuantityText


def _v1() -> str:
    return "v1"


class Taint(Base, frozen=True, gc=False):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(Base, frozen=True, gc=False):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(default="", name="providerID")


class ContainerImage(Base, frozen=True, gc=False):
    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeStatus(Base, frozen=True, gc=False):
    capacity: dict[str, QuantityText] | None = None
    allocatable: dict[str, QuantityText] | None = None
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(Base, frozen=True, gc=False, tag_field="kind", tag="Node"):
    api_version: str = msgspec.field(default_factory=_v1)
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Base, frozen=True, gc=False):
    phase: str = ""


class Namespace(Base, frozen=True, gc=False, tag_field="kind", tag="Namespace"):
    api_version: str = msgspec.field(default_factory=_v1)
    metadata: ObjectMeta = ObjectMeta()
    status: NamespaceStatus = NamespaceStatus()


class Toleration(Base, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class ContainerClaim(Base, frozen=True, gc=False):
    name: str = ""
    request: str = ""


class ContainerResources(Base, frozen=True, gc=False):
    limits: dict[str, QuantityText] | None = None
    requests: dict[str, QuantityText] | None = None
    claims: tuple[ContainerClaim, ...] = ()


class ContainerPort(Base, frozen=True, gc=False):
    container_port: Int32 = 0
    host_port: Int32 = 0
    protocol: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")


class ContainerRestartRule(Base, frozen=True, gc=False):
    action: str = ""


class VolumeMount(Base, frozen=True, gc=False):
    bind_mount_options: tuple[str, ...] = ()


class Container(Base, frozen=True, gc=False):
    name: str = ""
    image: str = ""
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    ports: tuple[ContainerPort, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    resources: ContainerResources = ContainerResources()


class ImageVolume(Base, frozen=True, gc=False):
    reference: str = ""


class Volume(Base, frozen=True, gc=False):
    """A volume of a pod: its image, and the sources for which the scheduler looks at more than the pod."""

    name: str = ""
    image: ImageVolume | None = None
    persistent_volume_claim: Any = None
    ephemeral: Any = None
    csi: Any = None
    gce_persistent_disk: Any = None
    aws_elastic_block_store: Any = None
    azure_disk: Any = None
    iscsi: Any = None
    rbd: Any = None


class PodResourceClaim(Base, frozen=True, gc=False):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PreferredSchedulingTerm(Base, frozen=True, gc=False):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Base, frozen=True, gc=False):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class LabelSelectorRequirement(Base, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Base, frozen=True, gc=False):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class PodAffinityTerm(Base, frozen=True, gc=False):
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Base, frozen=True, gc=False):
    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Base, frozen=True, gc=False):
    """Pod affinity, or pod anti-affinity: both have this form."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Base, frozen=True, gc=False):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Base, frozen=True, gc=False):
    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PodSchedulingGroup(Base, frozen=True, gc=False):
    pod_group_name: str | None = None


class PodSchedulingGate(Base, frozen=True, gc=False):
    name: str = ""


class PodSpec(Base, frozen=True, gc=False):
    node_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    overhead: dict[str, QuantityText] | None = None
    resources: ContainerResources | None = None
    volumes: tuple[Volume, ...] = ()
    active_deadline_seconds: int | None = None
    host_network: bool = False
    host_users: bool | None = None


class PodResourceClaimStatus(Base, frozen=True, gc=False):
    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Base, frozen=True, gc=False):
    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Base, frozen=True, gc=False):
    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class ContainerStatus(Base, frozen=True, gc=False):
    name: str = ""
    allocated_resources: dict[str, QuantityText] | None = None
    resources: ContainerResources | None = None


class PodCondition(Base, frozen=True, gc=False):
    type: str = ""
    status: str = ""
    reason: str = ""


class PodStatus(Base, frozen=True, gc=False):
    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    allocated_resources: dict[str, QuantityText] | None = None
    resources: ContainerResources | None = None
    nominated_node_name: str = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None


class Pod(Base, frozen=True, gc=False, tag_field="kind", tag="Pod"):
    api_version: str = msgspec.field(default_factory=_v1)
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PriorityClass(Base, frozen=True, gc=False, tag_field="kind", tag="PriorityClass"):
    api_version: str = msgspec.field(default_factory=lambda: "scheduling.k8s.io/v1")
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


class PodGroupSchedulingPolicy(Base, frozen=True, gc=False):
    gang: Any = None


class PodGroupSpec(Base, frozen=True, gc=False):
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    resource_claims: tuple[PodResourceClaim, ...] = ()


class PodGroupStatus(Base, frozen=True, gc=False):
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()


class PodGroup(Base, frozen=True, gc=False, tag_field="kind", tag="PodGroup"):
    """Its claims and their states have the form of a pod's."""

    api_version: str = msgspec.field(default_factory=lambda: "scheduling.k8s.io/v1beta1")
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class ServiceSpec(Base, frozen=True, gc=False):
    selector: dict[str, str] | None = None


class Service(Base, frozen=True, gc=False, tag_field="kind", tag="Service"):
    api_version: str = msgspec.field(default_factory=_v1)
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class ReplicationController(Base, frozen=True, gc=False, tag_field="kind", tag="ReplicationController"):
    api_version: str = msgspec.field(default_factory=_v1)
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class WorkloadSpec(Base, frozen=True, gc=False):
    selector: LabelSelector | None = None


class ReplicaSet(Base, frozen=True, gc=False, tag_field="kind", tag="ReplicaSet"):
    """Only what selects its pods; what it makes is expanded from the object as it was written."""

    api_version: str = msgspec.field(default_factory=lambda: "apps/v1")
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class StatefulSet(Base, frozen=True, gc=False, tag_field="kind", tag="StatefulSet"):
    """As for `ReplicaSet`."""

    api_version: str = msgspec.field(default_factory=lambda: "apps/v1")
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class Deployment(Base, frozen=True, gc=False, tag_field="kind", tag="Deployment"):
    """As for `ReplicaSet`."""

    api_version: str = msgspec.field(default_factory=lambda: "apps/v1")
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class ScopedResourceSelectorRequirement(Base, frozen=True, gc=False):
    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(Base, frozen=True, gc=False):
    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(Base, frozen=True, gc=False):
    hard: dict[str, QuantityText] | None = None
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Base, frozen=True, gc=False):
    hard: dict[str, QuantityText] | None = None
    used: dict[str, QuantityText] | None = None


class ResourceQuota(Base, frozen=True, gc=False, tag_field="kind", tag="ResourceQuota"):
    api_version: str = msgspec.field(default_factory=_v1)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class LimitRangeItem(Base, frozen=True, gc=False):
    type: str = ""
    max: dict[str, QuantityText] | None = None
    min: dict[str, QuantityText] | None = None
    default: dict[str, QuantityText] | None = None
    default_request: dict[str, QuantityText] | None = None
    max_limit_request_ratio: dict[str, QuantityText] | None = None


class LimitRangeSpec(Base, frozen=True, gc=False):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Base, frozen=True, gc=False, tag_field="kind", tag="LimitRange"):
    api_version: str = msgspec.field(default_factory=_v1)
    metadata: ObjectMeta = ObjectMeta()
    spec: LimitRangeSpec = LimitRangeSpec()
