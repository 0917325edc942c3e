"""What is read of a cluster, in one table: each resource, the versions of it that we know, and what an answer lacks without it.

Secrets and ConfigMaps are not in it, and are never asked for.
"""

from typing import Final

import msgspec

DEVICE_GROUP: Final = "resource.k8s.io"


class Reading(msgspec.Struct, frozen=True):
    """A resource to read. `versions`: newest first; empty takes the one that the server prefers. `without`: what a plan does not
    know then. `optional`: most clusters do not have it, and nothing is missing where it is not served."""

    group: str
    resource: str
    versions: tuple[str, ...]
    without: str
    optional: bool = False
    namespaced: bool = True


_DEVICES: Final = ("v1", "v1beta2", "v1beta1", "v1alpha3")
_WITHOUT_WORKLOADS: Final = "pods that its controller has yet to make are not planned"


def _core(resource: str, without: str, namespaced: bool) -> Reading:
    return Reading("", resource, ("v1",), without, namespaced=namespaced)


def _workload(group: str, resource: str, versions: tuple[str, ...] = (), namespaced: bool = True) -> Reading:
    return Reading(group, resource, versions, _WITHOUT_WORKLOADS, optional=True, namespaced=namespaced)


READ: Final = (
    Reading(DEVICE_GROUP, "resourceslices", _DEVICES, "no device is known", namespaced=False),
    Reading(DEVICE_GROUP, "deviceclasses", _DEVICES, "only the classes that known drivers ship are used", namespaced=False),
    Reading(
        DEVICE_GROUP,
        "resourceclaims",
        _DEVICES,
        "devices that are in use look free, and pods with claims of their own stay pending",
    ),
    Reading(DEVICE_GROUP, "resourceclaimtemplates", _DEVICES, "pods with claims from templates stay pending"),
    Reading(DEVICE_GROUP, "devicetaintrules", _DEVICES, "devices tainted by rules look healthy", optional=True, namespaced=False),
    _core("nodes", "nodes are guessed from slices, without labels, taints and CPU", namespaced=False),
    _core("namespaces", "admin access and namespaces being deleted are not judged", namespaced=False),
    _core("pods", "nothing is to be placed, and CPU and memory in use look free", namespaced=True),
    _core("resourcequotas", "claims over quota look possible", namespaced=True),
    _core("limitranges", "default requests of containers are not added", namespaced=True),
    _core("services", "pods of a service are not spread by default", namespaced=True),
    _core("replicationcontrollers", _WITHOUT_WORKLOADS, namespaced=True),
    Reading("scheduling.k8s.io", "priorityclasses", ("v1",), "pods are ordered by spec.priority alone", namespaced=False),
    Reading(
        "scheduling.k8s.io",
        "podgroups",
        ("v1beta1", "v1alpha3", "v1alpha2"),
        "pods that share the claims of a group stay pending where that feature is on",
        optional=True,
    ),
    _workload("apps", "deployments", ("v1",)),
    _workload("apps", "replicasets", ("v1",)),
    _workload("apps", "statefulsets", ("v1",)),
    _workload("apps", "daemonsets", ("v1",)),
    _workload("batch", "jobs", ("v1",)),
    _workload("batch", "cronjobs", ("v1",)),
    _workload("jobset.x-k8s.io", "jobsets"),
    _workload("leaderworkerset.x-k8s.io", "leaderworkersets"),
    _workload("ray.io", "rayclusters"),
    _workload("ray.io", "rayjobs"),
    _workload("ray.io", "rayservices"),
    _workload("ray.io", "raycronjobs"),
    _workload("kubeflow.org", "mpijobs"),
    _workload("kubeflow.org", "pytorchjobs"),
    _workload("kubeflow.org", "tfjobs"),
    _workload("kubeflow.org", "xgboostjobs"),
    _workload("kubeflow.org", "paddlejobs"),
    _workload("kubeflow.org", "jaxjobs"),
    _workload("trainer.kubeflow.org", "trainjobs"),
    _workload("trainer.kubeflow.org", "trainingruntimes"),
    _workload("trainer.kubeflow.org", "clustertrainingruntimes", namespaced=False),
    _workload("batch.volcano.sh", "jobs"),
    _workload("batch.volcano.sh", "cronjobs"),
    _workload("argoproj.io", "workflows"),
    _workload("argoproj.io", "cronworkflows"),
    _workload("argoproj.io", "workflowtemplates"),
    _workload("argoproj.io", "clusterworkflowtemplates", namespaced=False),
    _workload("argoproj.io", "rollouts"),
    _workload("sparkoperator.k8s.io", "sparkapplications"),
    _workload("sparkoperator.k8s.io", "scheduledsparkapplications"),
    _workload("flink.apache.org", "flinkdeployments"),
    _workload("serving.knative.dev", "services"),
    _workload("serving.kserve.io", "inferenceservices"),
    _workload("serving.kserve.io", "llminferenceserviceconfigs"),
    _workload("serving.kserve.io", "llminferenceservices"),
    _workload("serving.kserve.io", "servingruntimes"),
    _workload("serving.kserve.io", "clusterservingruntimes", namespaced=False),
    _workload("apps.nvidia.com", "nimservices"),
)

# Core has no versions to discover: /api/v1 is served by every cluster there is.
CORE_KINDS: Final = {
    "nodes": "Node",
    "namespaces": "Namespace",
    "pods": "Pod",
    "resourcequotas": "ResourceQuota",
    "limitranges": "LimitRange",
    "services": "Service",
    "replicationcontrollers": "ReplicationController",
}
