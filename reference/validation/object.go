package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install" // registers the versions with the scheme
	"k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/kubernetes/pkg/features"

	"reparto.dev/reference/lines"
)

// request is one input line.
type request struct {
	ID     string          `json:"id"`
	Object json.RawMessage `json:"object"`
	Old    json.RawMessage `json:"old"`    // an update of this object instead of a create
	Status bool            `json:"status"` // the update goes to the status subresource (claims)
	To     string          `json:"to"`     // also convert: "resource.k8s.io/v1beta1"
	Gates  map[string]bool `json:"gates"`  // feature gates, for this request
}

type problem struct {
	Type   string `json:"type"`
	Field  string `json:"field"`
	Value  any    `json:"value,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// answer is one output line. With decode set the rest is empty: the object was not read. Kind is "panic" where
// Kubernetes' code did, else empty.
type answer struct {
	ID        string          `json:"id,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Decode    string          `json:"decode,omitempty"`
	Defaulted json.RawMessage `json:"defaulted,omitempty"`
	Converted json.RawMessage `json:"converted,omitempty"`
	Errors    []problem       `json:"errors"`
}

var codecs = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)

// decode returns the object as sent, with defaults, and its internal form.
func decode(raw []byte) (external, internal runtime.Object, version schema.GroupVersion, err error) {
	external, kind, err := codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return nil, nil, version, err
	}
	legacyscheme.Scheme.Default(external)
	internal, err = legacyscheme.Scheme.ConvertToVersion(external, resource.SchemeGroupVersion)
	return external, internal, kind.GroupVersion(), err
}

func encode(object runtime.Object, version schema.GroupVersion) (json.RawMessage, error) {
	converted, err := legacyscheme.Scheme.ConvertToVersion(object, version)
	if err != nil {
		return nil, err
	}
	return json.Marshal(converted)
}

// validate runs the handwritten rules and names the resource, which the declarative rules want to know.
func validate(object, old runtime.Object, status bool) (field.ErrorList, string, error) {
	switch o := object.(type) {
	case *resource.ResourceClaim:
		if old == nil {
			return validation.ValidateResourceClaim(o), "resourceclaims", nil
		}
		if status {
			return validation.ValidateResourceClaimStatusUpdate(o, old.(*resource.ResourceClaim)), "resourceclaims", nil
		}
		return validation.ValidateResourceClaimUpdate(o, old.(*resource.ResourceClaim)), "resourceclaims", nil
	case *resource.ResourceClaimTemplate:
		if old == nil {
			return validation.ValidateResourceClaimTemplate(o), "resourceclaimtemplates", nil
		}
		// The registry's strategy judges the new template as on create, too.
		errs := append(validation.ValidateResourceClaimTemplate(o), validation.ValidateResourceClaimTemplateUpdate(o, old.(*resource.ResourceClaimTemplate))...)
		return errs, "resourceclaimtemplates", nil
	case *resource.ResourceSlice:
		if old == nil {
			return validation.ValidateResourceSlice(o), "resourceslices", nil
		}
		return validation.ValidateResourceSliceUpdate(o, old.(*resource.ResourceSlice)), "resourceslices", nil
	case *resource.DeviceClass:
		if old == nil {
			return validation.ValidateDeviceClass(o), "deviceclasses", nil
		}
		return validation.ValidateDeviceClassUpdate(o, old.(*resource.DeviceClass)), "deviceclasses", nil
	case *resource.DeviceTaintRule:
		if old == nil {
			return validation.ValidateDeviceTaintRule(o), "devicetaintrules", nil
		}
		return validation.ValidateDeviceTaintRuleUpdate(o, old.(*resource.DeviceTaintRule)), "devicetaintrules", nil
	}
	return nil, "", fmt.Errorf("no validation for %T", object)
}

func solve(line []byte) (out answer) {
	var in request
	defer func() {
		if r := recover(); r != nil {
			out = answer{ID: in.ID, Kind: "panic", Decode: fmt.Sprint("panic: ", r), Errors: []problem{}}
		}
	}()
	if err := lines.Decode(line, &in); err != nil {
		return unread(in, err)
	}
	out = answer{ID: in.ID, Errors: []problem{}}
	if err := setGates(in.Gates); err != nil {
		return unread(in, err)
	}
	external, internal, version, err := decode(in.Object)
	if err != nil {
		return unread(in, err)
	}
	if out.Defaulted, err = json.Marshal(external); err != nil {
		return unread(in, err)
	}
	if in.To != "" {
		to, err := schema.ParseGroupVersion(in.To)
		if err == nil {
			out.Converted, err = encode(internal, to)
		}
		if err != nil {
			return unread(in, err)
		}
	}
	var old runtime.Object
	if len(in.Old) > 0 {
		if _, old, _, err = decode(in.Old); err != nil {
			return unread(in, fmt.Errorf("old: %w", err))
		}
	}
	problems, err := judge(internal, old, version, in.Status)
	if err != nil {
		return unread(in, err)
	}
	out.Errors = problems
	return out
}

func unread(in request, err error) answer {
	return answer{ID: in.ID, Decode: err.Error(), Errors: []problem{}}
}

// judge runs handwritten and declarative rules together, as the registry strategies of the API server do.
func judge(object, old runtime.Object, version schema.GroupVersion, status bool) ([]problem, error) {
	errs, plural, err := validate(object, old, status)
	if err != nil {
		return nil, err
	}
	op, subresource := operation.Create, ""
	if old != nil {
		op = operation.Update
		if status {
			subresource = "status"
		}
	}
	ctx := genericapirequest.WithRequestInfo(context.Background(), &genericapirequest.RequestInfo{
		APIGroup: version.Group, APIVersion: version.Version, Resource: plural, Subresource: subresource, IsResourceRequest: true})
	typeGate := features.DRAPartitionableDevicesType
	errs = rest.ValidateDeclarativelyWithMigrationChecks(ctx, legacyscheme.Scheme, object, old, errs, op, rest.DeclarativeValidationConfig{
		NormalizationRules: validation.ResourceNormalizationRules,
		Options:            map[string]bool{string(typeGate): utilfeature.DefaultFeatureGate.Enabled(typeGate)},
	})
	problems := make([]problem, 0, len(errs))
	for _, e := range errs {
		value := e.BadValue
		if _, err := json.Marshal(value); err != nil {
			value = fmt.Sprint(value)
		}
		problems = append(problems, problem{Type: string(e.Type), Field: e.Field, Value: value, Detail: e.Detail})
	}
	return problems, nil
}
