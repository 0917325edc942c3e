package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

const (
	defaultTimeout = 30 * time.Second
	// A pod in backoff is out: there is one attempt for each.
	backoffSeconds = 3600
	// Polls of a millisecond after which a pod of which nothing was heard counts as not attempted.
	pollsIdle = 2000
	// Polls in a row that must show the scheduler's claims as they are in the API: what is derived from them follows a moment later.
	pollsSame = 2
)

// notSettled says that the scheduler did not come to a decision in time.
type notSettled struct{ after time.Duration }

func (e notSettled) Error() string { return fmt.Sprintf("not settled after %s", e.after) }

// schedule starts a scheduler on the problem's objects and hands it the pods one after the other, by priority and then in the
// order of the problem: the next one enters the queue when the former is bound or refused. Otherwise a pod could meet claims
// whose binding is still under way, which depends on timing.
func schedule(p *problem) (answer, error) {
	if err := setGates(p.Gates); err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := newAPI(p)
	if err != nil {
		return answer{}, err
	}
	sched, err := start(ctx, client, p.Percentage)
	if err != nil {
		return answer{}, err
	}
	timeout := time.Duration(p.TimeoutMillis) * time.Millisecond
	if timeout == 0 {
		timeout = defaultTimeout
	}
	deadline := time.Now().Add(timeout)
	out := answer{Pods: make([]placement, len(p.Pods))}
	var order []int
	for i, pod := range p.Pods {
		out.Pods[i] = placement{
			Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName, ExtendedClaim: pod.Status.ExtendedResourceClaimStatus,
		}
		if pod.Spec.NodeName == "" {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(priority(p.Pods[b])) - int(priority(p.Pods[a])) })
	for _, i := range order {
		settled, err := attempt(ctx, client, sched, p.Pods[i], &out.Pods[i], deadline)
		if err != nil {
			return answer{}, err
		}
		if !settled {
			return answer{}, notSettled{timeout}
		}
	}
	claims, err := client.ResourceV1().ResourceClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return answer{}, err
	}
	out.Claims = map[string]*resourceapi.ResourceClaim{}
	for _, claim := range claims.Items {
		if claim.Status.Allocation != nil {
			claim.Status.Allocation.AllocationTimestamp = nil
			claim.ObjectMeta = metav1.ObjectMeta{
				Namespace: claim.Namespace, Name: claim.Name, GenerateName: claim.GenerateName, OwnerReferences: claim.OwnerReferences,
			}
			out.Claims[claim.Namespace+"/"+claim.Name] = &claim
		}
	}
	return out, nil
}

// start runs a scheduler with the default profile, on one thread, once it has seen everything that the API holds.
func start(ctx context.Context, client *fake.Clientset, percentage *int32) (*scheduler.Scheduler, error) {
	config, err := latest.Default()
	if err != nil {
		return nil, err
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	informers := scheduler.NewInformerFactory(client, 0, nil)
	sched, err := scheduler.New(ctx, client, informers, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithComponentConfigVersion(config.TypeMeta.APIVersion),
		scheduler.WithProfiles(config.Profiles...),
		scheduler.WithParallelism(1),
		scheduler.WithPercentageOfNodesToScore(percentage),
		scheduler.WithPodInitialBackoffSeconds(backoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(backoffSeconds))
	if err != nil {
		return nil, err
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return nil, err
	}
	go sched.Run(ctx)
	return sched, nil
}

// attempt creates the pod and waits until the scheduler is done with it; false where that did not happen before the deadline.
func attempt(
	ctx context.Context, client *fake.Clientset, sched *scheduler.Scheduler, pod *corev1.Pod, place *placement, deadline time.Time,
) (bool, error) {
	pods := client.CoreV1().Pods(pod.Namespace)
	// What an earlier attempt left would look like the outcome of this one.
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodScheduled
	})
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return false, err
	}
	if !sched.Profiles.HandlesSchedulerName(pod.Spec.SchedulerName) {
		place.Reason = "NotAttempted"
		return true, nil
	}
	queue := sched.SchedulingQueue
	for idle := 0; ; time.Sleep(time.Millisecond) {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		busy := len(queue.PodsInActiveQ()) != 0 || len(queue.InFlightPods()) != 0
		place.Node = now.Spec.NodeName
		place.ExtendedClaim = now.Status.ExtendedResourceClaimStatus
		for _, condition := range now.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				place.Reason, place.Message = condition.Reason, condition.Message
			}
		}
		if !busy && (place.Node != "" || place.Reason != "") {
			return claimsSeen(ctx, client, sched, deadline)
		}
		if busy {
			idle = 0
		} else {
			idle++
		}
		// The queue holds the pod back, for example for want of a claim, or it never got there.
		info, held := queue.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup)
		if held && info.Gated() || idle >= pollsIdle {
			place.Reason = "NotAttempted"
			return true, nil
		}
		if time.Now().After(deadline) {
			return false, nil
		}
	}
}

// claimsSeen waits until the scheduler's view of the claims is that of the API; false where that did not happen before the deadline.
// Where an attempt fails, the scheduler frees or deletes claims through the API and learns of it later, maybe after it took up
// the next pod.
func claimsSeen(ctx context.Context, client *fake.Clientset, sched *scheduler.Scheduler, deadline time.Time) (bool, error) {
	seen := sched.Profiles[corev1.DefaultSchedulerName].SharedDRAManager().ResourceClaims()
	for same := 0; ; time.Sleep(time.Millisecond) {
		stored, err := client.ResourceV1().ResourceClaims("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		known, err := seen.List()
		if err != nil {
			return false, err
		}
		versions := make(map[types.UID]string, len(known))
		for _, claim := range known {
			versions[claim.UID] = claim.ResourceVersion
		}
		equal := len(known) == len(stored.Items)
		for i := range stored.Items {
			equal = equal && versions[stored.Items[i].UID] == stored.Items[i].ResourceVersion
		}
		if !equal {
			same = 0
		} else if same++; same == pollsSame {
			return true, nil
		}
		if time.Now().After(deadline) {
			return false, nil
		}
	}
}

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
