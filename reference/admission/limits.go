package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
)

// limit creates a pod: all ranges set their defaults, in the order given, then each judges. Refused has one text a range that does.
func limit(pod *corev1.Pod, ranges []*corev1.LimitRange) (map[string]corev1.ResourceRequirements, []string, error) {
	legacyscheme.Scheme.Default(pod)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, nil, err
	}
	for _, item := range ranges {
		legacyscheme.Scheme.Default(item)
		if err := limitranger.PodMutateLimitFunc(item, internal); err != nil {
			return nil, nil, err
		}
	}
	var refused []string
	for _, item := range ranges {
		if err := limitranger.PodValidateLimitFunc(item, internal); err != nil {
			refused = append(refused, item.Name+": "+err.Error())
		}
	}
	stored := &corev1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, stored, nil); err != nil {
		return nil, nil, err
	}
	containers := map[string]corev1.ResourceRequirements{}
	for _, container := range append(stored.Spec.InitContainers, stored.Spec.Containers...) {
		containers[container.Name] = container.Resources
	}
	return containers, refused, nil
}
