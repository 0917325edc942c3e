package main

import (
	"maps"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// initialGates remembers what each gate was before a request changed it, so that a request's gates hold for that request
// alone and the answers do not depend on their order.
var initialGates = map[string]bool{}

func setGates(wanted map[string]bool) error {
	for name := range wanted {
		if _, known := initialGates[name]; !known {
			if _, exists := utilfeature.DefaultMutableFeatureGate.GetAll()[featuregate.Feature(name)]; exists {
				initialGates[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
			}
		}
	}
	if len(initialGates) == 0 && len(wanted) == 0 {
		return nil
	}
	gates := maps.Clone(initialGates)
	maps.Copy(gates, wanted)
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}
