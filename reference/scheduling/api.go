package main

import (
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// newAPI returns an in-memory API that holds the problem's objects except the pods that are still to be placed. It does what
// the scheduler needs of a real server beyond storing: bindings set the node, and claims get uids, names and rising versions.
func newAPI(p *problem) (*fake.Clientset, error) {
	client := fake.NewClientset()
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create := action.(clienttesting.CreateAction)
		if create.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := create.GetObject().(*corev1.Binding)
		stored, err := client.Tracker().Get(create.GetResource(), create.GetNamespace(), binding.Name)
		if err != nil {
			return true, nil, err
		}
		pod := stored.(*corev1.Pod).DeepCopy()
		pod.Spec.NodeName = binding.Target.Name
		return true, binding, client.Tracker().Update(create.GetResource(), pod, create.GetNamespace())
	})
	// The scheduler's cache of claims orders versions as numbers, which the in-memory API does not hand out.
	var version atomic.Int64
	next := func() string { return strconv.FormatInt(version.Add(1), 10) }
	client.PrependReactor("create", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		claim := action.(clienttesting.CreateAction).GetObject().(*resourceapi.ResourceClaim).DeepCopy()
		claim.ResourceVersion = next()
		if claim.Name == "" {
			claim.Name = claim.GenerateName + claim.ResourceVersion
		}
		claim.UID = uid(claim)
		return true, claim, client.Tracker().Create(action.GetResource(), claim, action.GetNamespace())
	})
	client.PrependReactor("update", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		claim := action.(clienttesting.UpdateAction).GetObject().(*resourceapi.ResourceClaim).DeepCopy()
		claim.ResourceVersion = next()
		return true, claim, client.Tracker().Update(action.GetResource(), claim, action.GetNamespace())
	})
	client.PrependReactor("patch", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		_, patched, err := clienttesting.ObjectReaction(client.Tracker())(action)
		if err != nil {
			return true, nil, err
		}
		claim := patched.(*resourceapi.ResourceClaim).DeepCopy()
		claim.ResourceVersion = next()
		return true, claim, client.Tracker().Update(action.GetResource(), claim, action.GetNamespace())
	})
	for _, object := range p.objects() {
		accessor, err := meta.Accessor(object)
		if err != nil {
			return nil, err
		}
		if accessor.GetUID() == "" {
			accessor.SetUID(uid(accessor))
		}
		if accessor.GetResourceVersion() == "" {
			accessor.SetResourceVersion(next())
		}
		if err := client.Tracker().Add(object); err != nil {
			return nil, err
		}
	}
	return client, nil
}

// objects lists what is in the API before the first attempt.
func (p *problem) objects() []runtime.Object {
	var all []runtime.Object
	all = appendObjects(all, p.Nodes)
	all = appendObjects(all, p.Namespaces)
	all = appendObjects(all, p.Classes)
	all = appendObjects(all, p.Slices)
	all = appendObjects(all, p.Claims)
	all = appendObjects(all, p.TaintRules)
	all = appendObjects(all, p.PriorityClasses)
	all = appendObjects(all, p.Services)
	all = appendObjects(all, p.ReplicationControllers)
	all = appendObjects(all, p.ReplicaSets)
	all = appendObjects(all, p.StatefulSets)
	for _, pod := range p.Pods {
		if pod.UID == "" {
			pod.UID = uid(pod)
		}
		if pod.Spec.NodeName != "" {
			all = append(all, pod)
		}
	}
	return all
}

func appendObjects[T runtime.Object](all []runtime.Object, more []T) []runtime.Object {
	for _, object := range more {
		all = append(all, object)
	}
	return all
}

func uid(object metav1.Object) types.UID {
	return types.UID("uid-" + object.GetNamespace() + "-" + object.GetName())
}
