package main

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"
)

var (
	podResource   = corev1.SchemeGroupVersion.WithResource("pods")
	claimResource = resourceapi.SchemeGroupVersion.WithResource("resourceclaims")
)

// namespace is what the quota plugin sees of the objects that exist.
type namespace struct {
	pods, claims cache.Indexer
}

func newNamespace(q *question) (*namespace, error) {
	index := func() cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	n := &namespace{pods: index(), claims: index()}
	for _, pod := range q.Pods {
		legacyscheme.Scheme.Default(pod)
		if err := n.pods.Add(pod); err != nil {
			return nil, err
		}
	}
	for _, claim := range q.Claims {
		if err := n.claims.Add(claim); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n *namespace) lister(resource schema.GroupVersionResource) (cache.GenericLister, error) {
	if resource == podResource {
		return cache.NewGenericLister(n.pods, resource.GroupResource()), nil
	}
	return cache.NewGenericLister(n.claims, resource.GroupResource()), nil
}

// ownedClaims are the claims that the scheduler made for the extended resources of a pod.
func (n *namespace) ownedClaims(name string, uid types.UID) ([]*resourceapi.ResourceClaim, error) {
	var owned []*resourceapi.ResourceClaim
	for _, object := range n.claims.List() {
		claim := object.(*resourceapi.ResourceClaim)
		owner := metav1.GetControllerOfNoCopy(claim)
		if claim.Namespace == name && claim.Annotations[resourceapi.ExtendedResourceClaimAnnotation] == "true" &&
			owner != nil && owner.Kind == "Pod" && owner.APIVersion == "v1" && owner.UID == uid {
			owned = append(owned, claim)
		}
	}
	return owned, nil
}

// charge computes what the quotas have used, as their controller does, and then creates one object after the other.
func charge(q *question) ([]string, map[string]map[corev1.ResourceName]string, error) {
	classes := extendedresourcecache.NewExtendedResourceCache(klog.Background())
	slices.SortFunc(q.Classes, func(a, b *resourceapi.DeviceClass) int { return cmp.Compare(a.Name, b.Name) })
	for _, class := range q.Classes {
		classes.OnAdd(class, true)
	}
	n, err := newNamespace(q)
	if err != nil {
		return nil, nil, err
	}
	pods := core.NewPodEvaluator(n.lister, clock.RealClock{})
	claims := core.NewResourceClaimEvaluator(n.lister, classes, corelisters.NewPodLister(n.pods), n.ownedClaims)
	registry := generic.NewRegistry([]quota.Evaluator{pods, claims})
	// The first quota that refuses is named: which one that is follows from the order.
	slices.SortFunc(q.Quotas, func(a, b corev1.ResourceQuota) int { return cmp.Compare(a.Name, b.Name) })
	for i := range q.Quotas {
		item := &q.Quotas[i]
		used, err := quota.CalculateUsage(item.Namespace, item.Spec.Scopes, item.Spec.Hard, registry, item.Spec.ScopeSelector)
		if err != nil {
			return nil, nil, err
		}
		item.Status = corev1.ResourceQuotaStatus{Hard: item.Spec.Hard, Used: used}
	}
	refused := make([]string, len(q.Create))
	for i, object := range q.Create {
		if object.Pod != nil {
			legacyscheme.Scheme.Default(object.Pod)
			q.Quotas, err = create(q.Quotas, object.Pod, object.Pod.ObjectMeta, podResource, pods, n.pods)
		} else {
			q.Quotas, err = create(q.Quotas, object.Claim, object.Claim.ObjectMeta, claimResource, claims, n.claims)
		}
		if err != nil {
			refused[i] = err.Error()
		}
	}
	used := map[string]map[corev1.ResourceName]string{}
	for _, item := range q.Quotas {
		used[item.Name] = map[corev1.ResourceName]string{}
		for name, quantity := range item.Status.Used {
			used[item.Name][name] = quantity.String()
		}
	}
	return refused, used, nil
}

// create answers with the quotas as they are afterwards; refused, they are as before.
func create(
	quotas []corev1.ResourceQuota, object runtime.Object, metadata metav1.ObjectMeta,
	resource schema.GroupVersionResource, evaluator quota.Evaluator, stored cache.Indexer,
) ([]corev1.ResourceQuota, error) {
	attributes := admission.NewAttributesRecord(
		object, nil, schema.GroupVersionKind{}, metadata.Namespace, metadata.Name, resource, "", admission.Create, nil, false, nil)
	after, err := resourcequota.CheckRequest(quotas, attributes, evaluator, nil)
	if err != nil {
		return quotas, err
	}
	return after, stored.Add(object)
}
