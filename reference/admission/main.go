// Command admission answers what the API server's admission makes of pods and claims that are created: the defaults and bounds of
// LimitRanges, and what ResourceQuotas still allow. One JSON question a line in, one JSON answer a line out, in the same order.
// See ../README.md for the fields.
//
// It exists for conformance tests only; nothing in the product runs it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
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
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers line by line until the input ends. Each answer is flushed at once: the asker may wait for it.
func serve(input io.Reader, output io.Writer) error {
	lines, out := bufio.NewReaderSize(input, 1<<20), bufio.NewWriter(output)
	encoder := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if encodeErr := encoder.Encode(solve(line)); encodeErr != nil {
				return encodeErr
			}
			if flushErr := out.Flush(); flushErr != nil {
				return flushErr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func solve(line []byte) answer {
	var q question
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields() // a misspelt field must not silently become another question
	if err := decoder.Decode(&q); err != nil {
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
