package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	schedulingapi "k8s.io/api/scheduling/v1"
)

// problem is a cluster and the pods to place on it, as the API server stores them: defaulted, priorities filled in by admission,
// claims already made from their templates and named in pod.status.resourceClaimStatuses.
type problem struct {
	ID              string                         `json:"id"`
	Nodes           []*corev1.Node                 `json:"nodes"`
	Namespaces      []*corev1.Namespace            `json:"namespaces"`
	Classes         []*resourceapi.DeviceClass     `json:"classes"`
	Slices          []*resourceapi.ResourceSlice   `json:"slices"`
	Claims          []*resourceapi.ResourceClaim   `json:"claims"`
	TaintRules      []*resourceapi.DeviceTaintRule `json:"taintRules"`
	PriorityClasses []*schedulingapi.PriorityClass `json:"priorityClasses"`
	Pods            []*corev1.Pod                  `json:"pods"` // with spec.nodeName: already bound

	// What selects pods: the scheduler spreads those that say nothing about it by these.
	Services               []*corev1.Service               `json:"services"`
	ReplicationControllers []*corev1.ReplicationController `json:"replicationControllers"`
	ReplicaSets            []*appsv1.ReplicaSet            `json:"replicaSets"`
	StatefulSets           []*appsv1.StatefulSet           `json:"statefulSets"`

	Percentage    *int32          `json:"percentageOfNodesToScore"`
	TimeoutMillis int64           `json:"timeoutMillis"`
	Gates         map[string]bool `json:"gates"`
}

// placement is what became of one pod. Reason is the scheduler's (Unschedulable, SchedulerError), or NotAttempted for a pod that
// never entered its active queue.
type placement struct {
	Namespace     string                                 `json:"namespace"`
	Name          string                                 `json:"name"`
	Node          string                                 `json:"node,omitempty"`
	Reason        string                                 `json:"reason,omitempty"`
	Message       string                                 `json:"message,omitempty"`
	ExtendedClaim *corev1.PodExtendedResourceClaimStatus `json:"extendedResourceClaimStatus,omitempty"`
}

type answer struct {
	ID     string                                `json:"id,omitempty"`
	Kind   string                                `json:"kind"` // scheduled, timeout, invalid
	Error  string                                `json:"error,omitempty"`
	Pods   []placement                           `json:"pods"`
	Claims map[string]*resourceapi.ResourceClaim `json:"claims,omitempty"` // those with an allocation, by namespace/name
}
