package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"
)

// drive asks for pod after pod the way kube-scheduler's plugin does: a copy of the allocated state and a new allocator per
// pod, Allocate on nodes from a start until enough are feasible, and the devices on the first of them count as taken.
type drive struct {
	Pods        []int `json:"pods"`        // which of the problem's claims each pod has
	Wanted      int   `json:"wanted"`      // feasible nodes to look for
	Parallelism int   `json:"parallelism"` // goroutines; with one the answer is the same every time
	MovingStart bool  `json:"movingStart"` // start behind the nodes that the last pod looked at, else always at the first
	Record      bool  `json:"record"`      // answer pod by pod
}

// driven is one pod's outcome: positions of the feasible nodes in the order in which they were found, and the devices on the
// first of them. Both are empty where it fits nowhere.
type driven struct {
	Feasible []int    `json:"feasible"`
	Devices  []string `json:"devices"`
}

// sample is what looking at nodes for one pod found.
type sample struct {
	feasible []int
	first    []resourceapi.AllocationResult
	looked   int
	err      error
}

// driveScheduler answers with the time of all pods together, without JSON and pipe.
func driveScheduler(p *problem) answer {
	d := p.Drive
	if len(p.Nodes) == 0 || d.Wanted < 1 || d.Parallelism < 1 {
		return answer{ID: p.ID, Kind: "invalid", Error: "drive needs nodes, wanted and parallelism"}
	}
	structured.EnableAllocators(p.Variants...)
	ctx := context.Background()
	state := allocatedState(p)
	out := answer{ID: p.ID, Kind: "driven"}
	start, begin := 0, time.Now()
	for _, index := range d.Pods {
		claims := p.Claims[index : index+1]
		snapshot := structured.AllocatedState{
			AllocatedDevices:         state.AllocatedDevices.Clone(),
			AllocatedSharedDeviceIDs: state.AllocatedSharedDeviceIDs.Clone(),
			AggregatedCapacity:       state.AggregatedCapacity.Clone(),
		}
		allocator, err := structured.NewAllocator(ctx, structured.Features(p.Features), snapshot, classLister(p.Classes), p.Slices,
			selectorCache(p.Features.cel()))
		if err != nil {
			return answer{ID: p.ID, Kind: "invalid", Error: err.Error()}
		}
		found := look(ctx, p, allocator, claims, start)
		if found.err != nil {
			return answer{ID: p.ID, Kind: "error", Error: found.err.Error()}
		}
		if d.MovingStart {
			start = (start + found.looked) % len(p.Nodes)
		}
		out.Looked += found.looked
		if len(found.feasible) > 0 {
			out.Placed++
		}
		names := take(&state, found.first)
		if d.Record {
			out.Pods = append(out.Pods, driven{Feasible: found.feasible, Devices: names})
		}
	}
	out.Micros = float64(time.Since(begin).Nanoseconds()) / 1e3
	return out
}

// look walks the nodes from start, wrapping, with as many goroutines as asked for.
func look(ctx context.Context, p *problem, allocator structured.Allocator, claims []*resourceapi.ResourceClaim, start int) sample {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next, looked atomic.Int64
	var lock sync.Mutex
	var out sample
	work := func() {
		for ctx.Err() == nil {
			offset := int(next.Add(1)) - 1
			if offset >= len(p.Nodes) {
				return
			}
			position := (start + offset) % len(p.Nodes)
			results, err := allocator.Allocate(ctx, p.Nodes[position], claims)
			if ctx.Err() != nil {
				return // enough was found meanwhile
			}
			looked.Add(1)
			if err == nil && results == nil || errors.Is(err, structured.ErrFailedAllocationOnNode) {
				continue
			}
			lock.Lock()
			if err != nil {
				out.err = err
				cancel()
			} else if len(out.feasible) < p.Drive.Wanted {
				if len(out.feasible) == 0 {
					out.first = results
				}
				out.feasible = append(out.feasible, position)
				if len(out.feasible) == p.Drive.Wanted {
					cancel()
				}
			}
			lock.Unlock()
		}
	}
	if p.Drive.Parallelism == 1 {
		work()
	} else {
		var group sync.WaitGroup
		for range p.Drive.Parallelism {
			group.Go(work)
		}
		group.Wait()
	}
	out.looked = int(looked.Load())
	return out
}

// take counts the devices of an allocation as in use and names them.
func take(state *structured.AllocatedState, results []resourceapi.AllocationResult) []string {
	var names []string
	for _, result := range results {
		for _, r := range result.Devices.Results {
			names = append(names, r.Device)
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			if r.ShareID == nil {
				state.AllocatedDevices.Insert(id)
				continue
			}
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
			if r.ConsumedCapacity != nil {
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
			}
		}
	}
	return names
}
