package main

import (
	"maps"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// initialGates remembers what each gate was before a problem changed it, so that a problem's gates hold for that problem
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
	gates := maps.Clone(initialGates)
	// One attempt a pod: without this, an idle queue takes refused pods back at once, whatever their backoff.
	gates["SchedulerPopFromBackoffQ"] = false
	maps.Copy(gates, wanted)
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}
