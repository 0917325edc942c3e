// Command admission answers what the API server's admission makes of pods and claims that are created: the defaults and bounds of
// LimitRanges, and what ResourceQuotas still allow. One JSON question a line in, one JSON answer a line out, in the same order.
// See ../README.md for the fields.
//
// It exists for conformance tests only; nothing in the product runs it.
package main

import (
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"

	"reparto.dev/reference/lines"
)

// question has a pod and the LimitRanges of its namespace, or a namespace with quotas and what is created in it, in that order.
type question struct {
	ID          string                       `json:"id"`
	LimitRanges []*corev1.LimitRange         `json:"limitRanges"`
	Pod         *corev1.Pod                  `json:"pod"`
	Quotas      []corev1.ResourceQuota       `json:"quotas"`
	Classes     []*resourceapi.DeviceClass   `json:"classes"`
	Pods        []*corev1.Pod                `json:"pods"`   // that exist
	Claims      []*resourceapi.ResourceClaim `json:"claims"` // that exist
	Create      []created                    `json:"create"`
}

// created is a pod or a claim.
type created struct {
	Pod   *corev1.Pod                `json:"pod"`
	Claim *resourceapi.ResourceClaim `json:"claim"`
}

type answer struct {
	ID         string                                    `json:"id,omitempty"`
	Kind       string                                    `json:"kind"` // judged, invalid
	Error      string                                    `json:"error,omitempty"`
	Containers map[string]corev1.ResourceRequirements    `json:"containers,omitempty"` // with the defaults of LimitRanges
	Refused    []string                                  `json:"refused,omitempty"`    // of Create: why, or empty; else by LimitRange
	Used       map[string]map[corev1.ResourceName]string `json:"used,omitempty"`       // by quota, in the end
}

func main() {
	lines.Serve(solve)
}

func solve(line []byte) answer {
	var q question
	if err := lines.Decode(line, &q); err != nil {
		return answer{ID: q.ID, Kind: "invalid", Error: err.Error()}
	}
	out := answer{ID: q.ID, Kind: "judged"}
	var err error
	if q.Pod != nil {
		out.Containers, out.Refused, err = limit(q.Pod, q.LimitRanges)
	} else {
		out.Refused, out.Used, err = charge(&q)
	}
	if err != nil {
		return answer{ID: q.ID, Kind: "invalid", Error: err.Error()}
	}
	return out
}
