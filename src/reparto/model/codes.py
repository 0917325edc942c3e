"""The one list of reason codes: every reason, note and finding that Reparto prints carries one of these, and each has its page.

People search for a code, scripts match on it, and the documentation explains it, so a code is never reused and never changes its
meaning; messages may be reworded. The hundreds tell where the trouble is: 1 devices and requests, 2 claims and templates, 3 nodes,
4 the pod itself, 5 remarks about the input that are no failure. `docs/codes.md` has one section for each, which a test compares.
"""

from typing import Final

import msgspec


class Code(msgspec.Struct, frozen=True):
    """One code: `what` it means, in one sentence, and what to do about it (`fix`)."""

    code: str
    slug: str
    title: str
    what: str
    fix: str


_LISTED: list[Code] = []


def _code(number: int, slug: str, title: str, what: str, fix: str) -> str:
    code = f"RPT{number}"
    _LISTED.append(Code(code, slug, title, what, fix))
    return code


# --- 1xx: devices and requests ---------------------------------------------------------------------------------------------------

NO_SUCH_CLASS: Final = _code(
    101,
    "no-such-class",
    "DeviceClass does not exist",
    "A request names a DeviceClass that is neither in the input nor shipped by a driver that Reparto knows; the scheduler "
    "leaves the pod pending on every node.",
    "Correct `deviceClassName`, or add the DeviceClass (usually part of the driver's Helm chart).",
)
SELECTOR: Final = _code(
    102,
    "selector-false",
    "A selector rejects the devices",
    "A CEL selector of the class or of the request is true for too few devices of the node: for `matching` of `total`.",
    "Compare the selector with the attributes that the drivers publish (`kubectl get resourceslices -o yaml`); a memory "
    "threshold may split a marketing size.",
)
IN_USE: Final = _code(
    103,
    "devices-in-use",
    "The matching devices are in use",
    "Enough devices match, but other claims hold too many of them.",
    "Wait for a holder named in the message to finish, delete it, or add nodes.",
)
DEVICE_TAINTED: Final = _code(
    104,
    "device-tainted",
    "The matching devices are tainted",
    "Devices match and are free, but carry a NoSchedule or NoExecute taint that the request does not tolerate.",
    "Repair the device, remove the DeviceTaintRule, or add a toleration to the request (not to the pod).",
)
POOL_INCOMPLETE: Final = _code(
    105,
    "pool-incomplete",
    "A pool is incomplete",
    "Fewer ResourceSlices of the pool's newest generation are there than `resourceSliceCount` says, so the scheduler uses "
    "no device of it.",
    "Add the missing slices to the input; in a cluster, the driver is still publishing or has stopped half-way.",
)
POOL_INVALID: Final = _code(
    106,
    "pool-invalid",
    "A pool is invalid",
    "The slices of a pool contradict each other (a device or counter set twice, an unknown counter), so the scheduler uses "
    "no device of it.",
    "This is a defect of the driver that published the slices; restart or update it.",
)
COUNTERS: Final = _code(
    107,
    "counters-exhausted",
    "The shared counters are used up",
    "The device is free, but the counters that it draws on (a GPU's memory slices, for example) are taken by other partitions.",
    "Free partitions of the same GPU, or ask for a smaller one.",
)
CAPACITY: Final = _code(
    108,
    "capacity",
    "Not enough capacity left on the device",
    "The request asks for more of a capacity than the device has, or than other consumers have left.",
    "Lower `capacity.requests`, or wait for other consumers of the device.",
)
CONSTRAINT: Final = _code(
    109,
    "constraint",
    "A constraint cannot be met",
    "Each request alone could be served, but no combination of free devices satisfies `matchAttribute` or `distinctAttribute`.",
    "Check that all devices publish the attribute, and how free devices are spread over its values.",
)
TOO_FEW: Final = _code(
    110,
    "too-few-devices",
    "Fewer devices than the request needs",
    "The node has devices that would do, but fewer than the request asks for, even with nothing in use.",
    "Lower `count`, or use nodes with more devices.",
)
NO_DEVICES: Final = _code(
    111,
    "no-devices",
    "The node has no devices",
    "No ResourceSlice publishes a device for this node.",
    "Check that the driver runs on the node, and that its ResourceSlices are part of the input.",
)
TOO_MANY: Final = _code(
    112,
    "too-many-devices",
    "More than 32 devices in a claim",
    "A claim can hold at most 32 devices.",
    "Split the request over several claims.",
)
GAVE_UP: Final = _code(
    113,
    "gave-up",
    "The search gave up",
    "The step budget ended before a solution or a proof that there is none was found. This does not say that it is impossible.",
    "Raise `--max-steps`, or make the claim simpler: fewer constraints, narrower selectors.",
)
SELECTOR_ERROR: Final = _code(
    114,
    "selector-error",
    "A selector fails with an error",
    "A CEL expression does not compile or fails on a device (most often a missing key). The scheduler then refuses the pod "
    "on all nodes.",
    "Guard optional attributes: `has(device.attributes['d'].x) && …`, or `device.attributes['d'].?x.orValue(…)`.",
)
ALLOCATION_ERROR: Final = _code(
    115,
    "allocation-error",
    "The claim cannot be allocated anywhere",
    "The allocator stops with an error that does not depend on the node, as Kubernetes does.",
    "Read the message; it names the claim and request.",
)
NODE_ERROR: Final = _code(
    116,
    "allocation-error-on-node",
    "The devices of this node cannot be used",
    "The allocator stops with an error for this node only; other nodes are tried.",
    "Read the message; mostly the driver publishes contradictory slices.",
)
ALL_MODE: Final = _code(
    117,
    "all-devices",
    "Not all devices are available",
    "`allocationMode: All` needs every matching device of the node to be free, and at least one.",
    "Free the devices that the message names, or ask for a count.",
)
COMBINATION: Final = _code(
    118,
    "no-combination",
    "No combination of devices fits",
    "Every request alone could be served on the node, but not all together.",
    "The requests compete for the same devices: loosen a selector or lower a count.",
)
NODE_SELECTION: Final = _code(
    119,
    "device-elsewhere",
    "The matching devices are not for this node",
    "The devices of the pool are published for other nodes (`nodeName` or `nodeSelector` of the device).",
    "Let the pod run on a node that the slices name.",
)
FEATURE_OFF: Final = _code(
    120,
    "feature-off",
    "A feature gate is off",
    "The claim or the devices need a feature that is off in this Kubernetes version.",
    "Use `--kubernetes-version` or `--feature-gates` as your cluster is configured.",
)

# --- 2xx: claims and templates ---------------------------------------------------------------------------------------------------

TEMPLATE_MISSING: Final = _code(
    201,
    "template-missing",
    "ResourceClaimTemplate does not exist",
    "The pod names a ResourceClaimTemplate that is not in its namespace, so no claim is created for it.",
    "Add the template to the input, or correct `resourceClaimTemplateName`.",
)
TEMPLATE_ELSEWHERE: Final = _code(
    202,
    "template-in-other-namespace",
    "ResourceClaimTemplate is in another namespace",
    "A template of that name exists, but in another namespace; pods can only use templates of their own.",
    "Move the pod or the template, so that both have the same `metadata.namespace`.",
)
CLAIM_MISSING: Final = _code(
    203,
    "claim-missing",
    "ResourceClaim does not exist",
    "The pod names a ResourceClaim that is not in its namespace.",
    "Add the claim to the input, or correct `resourceClaimName`.",
)
CLAIM_ELSEWHERE: Final = _code(
    204,
    "claim-in-other-namespace",
    "ResourceClaim is in another namespace",
    "A claim of that name exists, but in another namespace; pods can only use claims of their own.",
    "Move the pod or the claim, so that both have the same `metadata.namespace`.",
)
CLAIM_DELETED: Final = _code(
    205,
    "claim-being-deleted",
    "ResourceClaim is being deleted",
    "The claim has a deletion timestamp; the scheduler starts no further pod with it.",
    "Wait until it is gone and create it again.",
)
CLAIM_FULL: Final = _code(
    206,
    "claim-fully-reserved",
    "ResourceClaim has 256 consumers",
    "A claim can be reserved for at most 256 pods.",
    "Wait for one of them to finish, or use a second claim.",
)
CLAIM_NOT_OWNED: Final = _code(
    207,
    "claim-not-owned",
    "ResourceClaim was made for another pod",
    "The pod's status names a generated claim whose controller is another pod.",
    "Delete the pod and let its controller create it again.",
)
CLAIM_PINNED: Final = _code(
    208,
    "claim-pinned",
    "ResourceClaim is allocated elsewhere",
    "The claim is allocated already, and its `allocation.nodeSelector` does not allow this node.",
    "Run the pod where the claim is, or use a claim of its own through a template. A claim that no other pod has reserved "
    "is freed by the scheduler after the attempt, and the pod is tried again.",
)
CLAIM_INVALID: Final = _code(
    209,
    "claim-invalid",
    "ResourceClaim or template is invalid",
    "The API server would refuse the claim or template, so the pod cannot get it.",
    "Correct the errors that are listed for the object.",
)
BINDING_FAILED: Final = _code(
    210,
    "binding-failed",
    "Binding conditions failed",
    "A device of the allocated claim reports a binding failure condition; the scheduler gives the allocation up.",
    "See the driver's message in `status.devices` of the claim.",
)
POD_CLAIM_EMPTY: Final = _code(
    211,
    "pod-claim-without-source",
    "spec.resourceClaims entry names nothing",
    "An entry of the pod's `spec.resourceClaims` has neither `resourceClaimName` nor `resourceClaimTemplateName`.",
    "Set exactly one of the two.",
)
CLAIM_OVER_QUOTA: Final = _code(
    212,
    "claim-over-quota",
    "A ResourceQuota refuses the claim",
    "The claim would exceed a ResourceQuota of its namespace, so the API server refuses to create it. `allocationMode: All` is "
    "charged as 32 devices, alternatives by the most that one of them takes.",
    "Raise `spec.hard` of the quota, delete claims that are not needed, or ask for fewer devices.",
)
POD_GROUP_MISSING: Final = _code(
    213,
    "pod-group-missing",
    "PodGroup does not exist",
    "The pod names a PodGroup that is not in its namespace, or that the API server would refuse: no claim is made for the pod, and "
    "it is not scheduled.",
    "Add the PodGroup to the input, or correct `spec.schedulingGroup.podGroupName`.",
)

# --- 3xx: nodes ------------------------------------------------------------------------------------------------------------------

NODE_AFFINITY: Final = _code(
    301,
    "node-affinity",
    "Node does not match the pod's node selector or affinity",
    "The pod's `nodeSelector` or required node affinity excludes the node.",
    "Compare the pod's selector with the node's labels.",
)
NODE_TAINT: Final = _code(
    302,
    "node-taint",
    "Node has a taint that the pod does not tolerate",
    "A NoSchedule or NoExecute taint of the node keeps the pod away.",
    "Add a toleration to the pod, or remove the taint.",
)
NODE_UNSCHEDULABLE: Final = _code(
    303,
    "node-unschedulable",
    "Node is cordoned",
    "The node is marked unschedulable.",
    "`kubectl uncordon` it.",
)
NODE_UNKNOWN: Final = _code(
    304,
    "no-node",
    "There is no node",
    "The input has neither Node objects nor ResourceSlices that name a node.",
    "Add `kubectl get nodes,resourceslices -o yaml` to the input.",
)
NODE_RESOURCES: Final = _code(
    305,
    "node-resources",
    "Node has too little CPU, memory or another resource left",
    "What the pod requests, with init containers, sidecars and overhead, is more than the node's allocatable less the requests of "
    "the pods on it; or the node has as many pods as it can take.",
    "Lower the requests, remove pods from the node, or add nodes.",
)
HOST_PORT: Final = _code(
    306,
    "host-port",
    "A host port is in use on the node",
    "Another pod on the node has a host port that the pod asks for.",
    "Use a Service instead of `hostPort`, or let the pods run on different nodes.",
)
SPREAD: Final = _code(
    307,
    "topology-spread",
    "A topology spread constraint is not met",
    "With the pod on the node, the number of matching pods in its zone (or other domain) would exceed that of the emptiest domain "
    "by more than `maxSkew`; or the node lacks the label.",
    "Raise `maxSkew`, free room in the domains with fewer pods, or use `whenUnsatisfiable: ScheduleAnyway`.",
)
POD_AFFINITY: Final = _code(
    308,
    "pod-affinity",
    "Required pod affinity or anti-affinity is not met",
    "The pod wants to be near pods that are not in the node's domain, or away from pods that are there, or a pod that is there "
    "wants to be away from it.",
    "Compare the selectors with the labels and namespaces of the pods, and `topologyKey` with the labels of the nodes.",
)
NODE_FEATURE: Final = _code(
    309,
    "node-feature",
    "Node does not declare a feature that the pod needs",
    "The pod or its claim uses something that the kubelet of the node does not list in `status.declaredFeatures`.",
    "Enable the feature gate on the node, or do without the field that the message names.",
)

# --- 4xx: the pod ----------------------------------------------------------------------------------------------------------------

SCHEDULING_GATES: Final = _code(
    401,
    "scheduling-gates",
    "Pod has scheduling gates",
    "The scheduler does not look at the pod before all `spec.schedulingGates` are removed.",
    "The controller that set the gates removes them (Kueue, for example, on admission).",
)
OTHER_SCHEDULER: Final = _code(
    402,
    "other-scheduler",
    "Pod belongs to another scheduler",
    "`spec.schedulerName` is not `default-scheduler`.",
    "Nothing to fix: Reparto plans what the default scheduler does.",
)
POD_FINISHED: Final = _code(
    403,
    "pod-finished",
    "Pod has finished",
    "The pod's phase is Succeeded or Failed; it needs no devices any more.",
    "Nothing to fix.",
)
POD_DELETED: Final = _code(
    404,
    "pod-being-deleted",
    "Pod is being deleted",
    "The pod has a deletion timestamp and no node; it is not scheduled any more.",
    "Nothing to fix.",
)
POD_INVALID: Final = _code(
    405,
    "pod-invalid",
    "Pod is invalid",
    "The API server would refuse the pod.",
    "Correct the errors that are listed for it.",
)
POD_BYPASSES_SCHEDULER: Final = _code(
    406,
    "node-set-by-hand",
    "Pod has a node, but its claim is not allocated",
    "`spec.nodeName` is set in the pod, so the scheduler does not see it, and nobody allocates its claims; the kubelet "
    "refuses to start it.",
    "Use `nodeSelector` or node affinity instead of `nodeName`.",
)
BINDING_CONDITIONS: Final = _code(
    407,
    "binding-conditions",
    "Pod waits for binding conditions",
    "Devices are allocated, but report binding conditions that must become true before the pod is bound.",
    "The driver sets them in `status.devices` of the claim.",
)
NAMESPACE_DELETED: Final = _code(
    408,
    "namespace-being-deleted",
    "Namespace is being deleted",
    "Nothing can be created in the namespace any more: neither the pod, nor claims for a pod that is there.",
    "Create the namespace again when it is gone, or use another one.",
)
POD_SELECTOR: Final = _code(
    409,
    "pod-selector",
    "A selector of the pod cannot be parsed",
    "A label selector in the pod's affinity or topology spread constraints is malformed, so every attempt to schedule it fails.",
    "Correct the selector; the API server refuses new pods that have it.",
)
LEFT_OVER: Final = _code(
    410,
    "extended-resource-claim-left-over",
    "A claim of a failed attempt is left over",
    "An earlier attempt to bind the pod left the claim behind that the scheduler makes for its extended resources. The scheduler "
    "deletes it first, and tries the pod again later.",
    "Nothing to fix.",
)
DEVICE_PLUGIN_AND_CLAIM: Final = _code(
    411,
    "device-plugin-and-claim",
    "Pod with claims, and an extended resource that a device plugin serves",
    "kube-scheduler 1.37.2 fails each time it binds a pod that has claims of its own and asks for an extended resource that stands "
    "for a DeviceClass, on a node where a device plugin serves the resource.",
    "Ask for the devices through the claim alone, or remove the device plugin from the node.",
)
POD_OVER_QUOTA: Final = _code(
    412,
    "pod-over-quota",
    "A ResourceQuota refuses the pod",
    "A workload would make the pod, but it exceeds a ResourceQuota of its namespace, so the API server refuses to create it.",
    "Raise `spec.hard` of the quota, or lower the replicas or the requests of the workload.",
)
OUT_OF_LIMITS: Final = _code(
    413,
    "pod-out-of-limits",
    "A LimitRange refuses the pod",
    "A workload would make the pod, but its containers are outside the bounds of a LimitRange of its namespace, so the API server "
    "refuses to create it. What containers leave out was filled in from the LimitRange first.",
    "Set requests and limits that are within the bounds, or change the LimitRange.",
)

# --- 5xx: remarks ----------------------------------------------------------------------------------------------------------------

NODES_INFERRED: Final = _code(
    501,
    "nodes-inferred",
    "Nodes were inferred from slices",
    "The input has no Node objects, so nodes are taken from ResourceSlices; their labels, taints and CPU are not known.",
    "Add `kubectl get nodes -o yaml` to the input for a full answer.",
)
BUILT_IN_CLASS: Final = _code(
    502,
    "built-in-class",
    "A built-in DeviceClass was used",
    "The DeviceClass is not in the input; the one that its driver ships was used.",
    "Add `kubectl get deviceclasses -o yaml` to the input if yours differs.",
)
NOT_EXPANDED: Final = _code(
    503,
    "workload-not-expanded",
    "A workload was not expanded into pods",
    "An object that makes pods could not be expanded into them, or not into all of them; the message says why.",
    "Correct the object, or add the pods themselves (`kubectl get pods -o yaml`).",
)
ALGORITHM_VERSION: Final = _code(
    504,
    "algorithm-version",
    "The algorithm is that of Kubernetes 1.37.2",
    "`--kubernetes-version` selects that release's feature gates; the allocation algorithm is 1.37.2's.",
    "Nothing to fix; older releases differ in defects that were fixed since.",
)
PRIORITY_CLASS_MISSING: Final = _code(
    505,
    "priority-class-missing",
    "PriorityClass is not in the input",
    "A pod names a PriorityClass that is not in the input and has no `spec.priority`; it was planned with priority 0.",
    "Add `kubectl get priorityclasses -o yaml` to the input.",
)
CLAIM_UNSEEN: Final = _code(
    506,
    "claim-of-bound-pod-missing",
    "A running pod's claim is not in the input",
    "A bound pod uses a claim that is not in the input, so the devices that it holds are taken for free.",
    "Add `kubectl get resourceclaims -A -o yaml` to the input.",
)
NODE_ABSENT: Final = _code(
    507,
    "slices-of-unknown-nodes",
    "Slices name nodes that are not in the input",
    "Node objects are in the input, but not for these slices; the scheduler uses no device of a node that does not exist.",
    "Add the missing Node objects.",
)
NOT_PLANNED: Final = _code(
    508,
    "not-planned",
    "A feature is not planned by this version",
    "The input uses something that this version does not plan (node allocatable resources, partition types, gang scheduling).",
    "Treat the answer for the named object as incomplete; `docs/status.md` lists what is missing.",
)
DEVICE_GONE: Final = _code(
    509,
    "allocated-device-not-published",
    "An allocated device is in no slice",
    "A claim holds a device that no ResourceSlice of the input publishes.",
    "Add all ResourceSlices to the input; in a cluster, the driver has withdrawn the device.",
)
FIELDS_DROPPED: Final = _code(
    510,
    "fields-dropped",
    "Fields of a feature that is off were dropped",
    "An object uses fields whose feature gate is off in the chosen release; the API server drops them silently, and so did "
    "Reparto.",
    "Enable the gate with `--feature-gates`, choose another `--kubernetes-version`, or remove the fields.",
)
INPUT_CUT: Final = _code(
    511,
    "input-cut",
    "Part of the input is not there",
    "A pasted transcript holds elision marks, tables or empty files, which were passed over; what they stood for is unknown.",
    "Give the whole output, as `kubectl get … -o yaml` writes it, where the missing part matters.",
)

ALLOCATION_FREED: Final = _code(
    512,
    "allocation-freed",
    "The scheduler frees an allocation",
    "A pod cannot use an allocated claim where its devices are, and no other pod has the claim reserved: the scheduler takes the "
    "allocation away, so that the claim can be allocated anew. Pods that follow find the devices free.",
    "Nothing to fix; the pod is tried again in the cluster. The plan makes one attempt for each pod.",
)

WORKLOAD_ASSUMED: Final = _code(
    513,
    "workload-assumption",
    "Something about a workload was assumed",
    "The pods of a workload depend on something that the object alone does not say: an expression that is filled in later, a "
    "controller that is not known, another object that is not in the input. The message names the assumption.",
    "Render templates first, add what is missing to the input, or set the number with `--replicas KIND/NAME=N`.",
)
NODE_AMOUNTS_UNKNOWN: Final = _code(
    514,
    "node-resources-unknown",
    "Nodes do not say what they have",
    "A Node of the input has no `status.allocatable`, so its CPU, memory and number of pods were taken to be without limit.",
    "Add the nodes as the cluster has them: `kubectl get nodes -o yaml`.",
)
VOLUMES: Final = _code(
    515,
    "volumes-not-evaluated",
    "Volumes were not looked at",
    "The pod has volumes that can tie it to nodes (a PersistentVolumeClaim, a CSI volume); where they allow it is not planned.",
    "Treat the node as one of several until the volumes are bound; other pods may be affected as well.",
)
PREEMPTION: Final = _code(
    516,
    "preemption-not-simulated",
    "Preemption was not simulated",
    "The pod finds no node, but pods of lower priority run on nodes where evicting them could help; kube-scheduler would try that.",
    "Expect that the pod may be placed at the cost of others, or set `preemptionPolicy: Never` in its PriorityClass.",
)
RESOURCE_CONTESTED: Final = _code(
    517,
    "extended-resource-contested",
    "Two DeviceClasses stand for one extended resource",
    "The younger class serves the resource, of two equally old ones the first by name. A class that loses when its turn comes is "
    "not known to the scheduler at all: its implicit name, `deviceclass.resource.kubernetes.io/<class>`, means nothing either.",
    "Give each class an `extendedResourceName` of its own.",
)
CLUSTER_UNREAD: Final = _code(
    521,
    "cluster-part-unread",
    "Part of the cluster could not be read",
    "The user may not list a resource, or the server does not serve it. The message names it, and what the answer lacks "
    "without it.",
    "Ask for a role that may `list` it in all namespaces, or add the missing objects with `-f`.",
)
CLUSTER_VERSION: Final = _code(
    522,
    "cluster-version",
    "The server's release is not one that Reparto knows",
    "The feature gates of the nearest known release are used. Objects of a newer release may have fields that are not "
    "understood; they are left out with a warning.",
    "Check the answer against the release notes, or choose the gates with `--kubernetes-version` and `--feature-gates`.",
)
ONE_NAMESPACE: Final = _code(
    523,
    "one-namespace-shown",
    "Only one namespace is shown",
    "As with kubectl, a command that reads a cluster shows the namespace of the context; the plan itself looks at all of them.",
    "Give `-A` for all namespaces, or `-n` for another one.",
)

CODES: Final[dict[str, Code]] = {entry.code: entry for entry in _LISTED}


def lookup(code: str) -> Code:
    """The entry of `code` (`"RPT101"`). KeyError: not a code of Reparto."""
    return CODES[code]
