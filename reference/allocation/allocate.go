package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// classLister hands out the classes of one problem. The error of a missing class is the API server's.
type classLister []*resourceapi.DeviceClass

func (l classLister) List() ([]*resourceapi.DeviceClass, error) { return l, nil }

func (l classLister) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range l {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("deviceclass"), name)
}

// selectorCaches keeps compiled selectors for the life of the process, as the scheduler does.
var selectorCaches = map[cel.Features]*cel.Cache{}

func selectorCache(f cel.Features) *cel.Cache {
	if selectorCaches[f] == nil {
		selectorCaches[f] = cel.NewCache(1024, f)
	}
	return selectorCaches[f]
}

func (f features) cel() cel.Features {
	return cel.Features{EnableConsumableCapacity: f.ConsumableCapacity, EnableListTypeAttributes: f.ListTypeAttributes}
}

// allocatedState counts what claims hold the way kube-scheduler's plugin does; that code is not importable.
func allocatedState(p *problem) structured.AllocatedState {
	s := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range p.AllocatedClaims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.AdminAccess != nil && *r.AdminAccess {
				continue
			}
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			if !p.Features.ConsumableCapacity || r.ShareID == nil {
				s.AllocatedDevices.Insert(id)
				continue
			}
			s.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
			if r.ConsumedCapacity != nil {
				s.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
			}
		}
	}
	for _, d := range p.AllocatedState.Devices {
		s.AllocatedDevices.Insert(d.id())
	}
	for _, d := range p.AllocatedState.Shared {
		share := types.UID(d.ShareID)
		s.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(d.id(), &share))
	}
	for _, d := range p.AllocatedState.Capacity {
		s.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(d.id(), d.Capacity))
	}
	return s
}

func (d deviceRef) id() structured.DeviceID {
	return structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
}

// allocate runs the allocator for each node of the problem. With repeat it rebuilds state and allocator each time and
// reports the mean, so that JSON and the pipe are not measured.
func allocate(p *problem) answer {
	nodes := p.Nodes
	if p.Node != nil {
		nodes = append([]*corev1.Node{p.Node}, nodes...)
	}
	if len(nodes) == 0 {
		return answer{ID: p.ID, Kind: "invalid", Error: "no node"}
	}
	structured.EnableAllocators(p.Variants...)
	ctx := context.Background()
	var answers []answer
	repeat := max(p.Repeat, 1)
	start := time.Now()
	for range repeat {
		answers = answers[:0]
		allocator, err := structured.NewAllocator(ctx, structured.Features(p.Features), allocatedState(p), classLister(p.Classes),
			p.Slices, selectorCache(p.Features.cel()))
		if err != nil {
			return answer{ID: p.ID, Kind: "invalid", Error: err.Error()}
		}
		for _, node := range nodes {
			answers = append(answers, allocateOn(ctx, p, allocator, node))
		}
	}
	micros := float64(time.Since(start).Nanoseconds()) / 1e3 / float64(repeat)
	if len(p.Nodes) == 0 {
		out := answers[0]
		out.ID, out.Micros = p.ID, micros
		return out
	}
	return answer{ID: p.ID, Kind: "nodes", Nodes: answers, Micros: micros}
}

func allocateOn(ctx context.Context, p *problem, allocator structured.Allocator, node *corev1.Node) answer {
	if p.TimeoutMillis > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(p.TimeoutMillis)*time.Millisecond)
		defer cancel()
	}
	variant := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", allocator), "*"), ".Allocator")
	out := answer{Node: node.Name, Variant: variant}
	results, err := allocator.Allocate(ctx, node, p.Claims)
	switch {
	case err == nil && results == nil:
		out.Kind = "none"
	case err == nil:
		out.Kind, out.Results = "allocated", results
	case errors.Is(err, context.DeadlineExceeded):
		out.Kind, out.Error = "timeout", err.Error()
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		out.Kind, out.Error = "node-error", err.Error()
	default:
		out.Kind, out.Error = "error", err.Error()
	}
	return out
}
