package main

import (
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// features has the fields of structured.Features, in the same order, under the names of our Python API.
type features struct {
	AdminAccess             bool `json:"admin_access"`
	CompatibilityGroups     bool `json:"compatibility_groups"`
	ConsumableCapacity      bool `json:"consumable_capacity"`
	DerivedAttributes       bool `json:"derived_attributes"`
	DeviceBindingAndStatus  bool `json:"device_binding_and_status"`
	DeviceTaints            bool `json:"device_taints"`
	FractionalCapacityRange bool `json:"fractional_capacity_range"`
	ListTypeAttributes      bool `json:"list_type_attributes"`
	OptionalNodeOperations  bool `json:"optional_node_operations"`
	PartitionableDevices    bool `json:"partitionable_devices"`
	PrioritizedList         bool `json:"prioritized_list"`
}

type deviceRef struct {
	Driver  string `json:"driver"`
	Pool    string `json:"pool"`
	Device  string `json:"device"`
	ShareID string `json:"shareID,omitempty"`
}

type deviceCapacity struct {
	deviceRef
	Capacity map[resourceapi.QualifiedName]resource.Quantity `json:"capacity"`
}

// state is what is taken besides what the allocated claims hold.
type state struct {
	Devices  []deviceRef      `json:"allocatedDevices"`
	Shared   []deviceRef      `json:"allocatedSharedDevices"`
	Capacity []deviceCapacity `json:"consumedCapacity"`
}

// problem is one input line: a selector to judge where Selector is set, pods to allocate for one after the other where Drive
// is, else claims to allocate.
type problem struct {
	ID              string                       `json:"id"`
	Classes         []*resourceapi.DeviceClass   `json:"classes"`
	Slices          []*resourceapi.ResourceSlice `json:"slices"`
	Claims          []*resourceapi.ResourceClaim `json:"claims"`
	AllocatedClaims []*resourceapi.ResourceClaim `json:"allocatedClaims"`
	AllocatedState  state                        `json:"allocatedState"`
	Node            *corev1.Node                 `json:"node"`
	Nodes           []*corev1.Node               `json:"nodes"` // several nodes, one allocator, as the scheduler does
	Features        features                     `json:"features"`
	Variants        []string                     `json:"variants"` // stable, incubating, experimental; empty: upstream picks
	TimeoutMillis   int64                        `json:"timeoutMillis"`
	Repeat          int                          `json:"repeat"` // measure: run so often and report the mean in micros
	Selector        *selector                    `json:"selector"`
	Drive           *drive                       `json:"drive"` // many pods one after the other, each with one of the claims
}

// answer is one output line. Kind is one of allocated, none, error, node-error, timeout, nodes, selector, driven,
// invalid (the problem cannot be posed) and panic (Kubernetes' code did).
type answer struct {
	ID       string                         `json:"id,omitempty"`
	Kind     string                         `json:"kind"`
	Error    string                         `json:"error,omitempty"`
	Node     string                         `json:"node,omitempty"`
	Variant  string                         `json:"variant,omitempty"`
	Results  []resourceapi.AllocationResult `json:"results,omitzero"`
	Nodes    []answer                       `json:"nodes,omitempty"`
	Micros   float64                        `json:"micros,omitempty"`
	Selector *selectorAnswer                `json:"selector,omitempty"`
	Pods     []driven                       `json:"pods,omitempty"`
	Placed   int                            `json:"placed,omitempty"` // pods of a drive that got devices
	Looked   int                            `json:"looked,omitempty"` // nodes that a drive looked at, all pods together
}
