package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

// device has the fields of cel.Device under the API's names.
type device struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

type selector struct {
	Expression  string   `json:"expression"`
	Environment string   `json:"environment"` // StoredExpressions (default: what the scheduler uses) or NewExpressions
	Derived     bool     `json:"derived"`     // a derived attribute, not a selector
	Device      *device  `json:"device"`
	Devices     []device `json:"devices"` // several devices: the answers come in outcomes
	Evaluations int      `json:"evaluations"`
}

// selectorAnswer holds what the compiler says and, for a single device, the outcome itself.
type selectorAnswer struct {
	CompileError  string  `json:"compileError,omitempty"`
	OutputType    string  `json:"outputType,omitempty"`
	EstimatedCost *uint64 `json:"estimatedCost,omitempty"`
	*outcome
	Outcomes      []outcome `json:"outcomes,omitempty"`
	CompileMicros float64   `json:"compileMicros,omitempty"`
}

// outcome is one device's. Comprehensions over maps follow Go's random map order, so cost and error may differ from call
// to call: with evaluations > 1, alternatives lists every other outcome that was seen.
type outcome struct {
	ActualCost   *uint64                      `json:"actualCost,omitempty"`
	Match        *bool                        `json:"match,omitempty"`
	MatchError   string                       `json:"matchError,omitempty"`
	Attribute    *resourceapi.DeviceAttribute `json:"attribute,omitempty"`
	Alternatives []outcome                    `json:"alternatives,omitempty"`
}

func judgeSelector(p *problem) answer {
	s := p.Selector
	env := environment.StoredExpressions
	if s.Environment != "" {
		env = environment.Type(s.Environment)
	}
	if !slices.Contains([]environment.Type{environment.StoredExpressions, environment.NewExpressions}, env) {
		return answer{ID: p.ID, Kind: "invalid", Error: "unknown environment " + s.Environment}
	}
	out := answer{ID: p.ID, Kind: "selector", Selector: &selectorAnswer{}}
	compiler := cel.GetCompiler(p.Features.cel())
	options := cel.Options{EnvType: &env, DerivedAttribute: s.Derived}
	start := time.Now()
	result := compiler.CompileCELExpression(s.Expression, options)
	if p.Repeat > 0 {
		for range p.Repeat {
			result = compiler.CompileCELExpression(s.Expression, options)
		}
		out.Selector.CompileMicros = microsSince(start, p.Repeat+1)
	}
	if result.Error != nil {
		out.Selector.CompileError = result.Error.Error()
		return out
	}
	out.Selector.OutputType, out.Selector.EstimatedCost = result.OutputType.String(), &result.MaxCost
	if len(s.Devices) > 0 {
		for i := range s.Devices {
			out.Selector.Outcomes = append(out.Selector.Outcomes, observe(&result, s, &s.Devices[i]))
		}
		return out
	}
	if s.Device == nil {
		return out
	}
	if p.Repeat > 0 {
		start = time.Now()
		for range p.Repeat {
			evaluate(&result, s.Derived, s.Device)
		}
		out.Micros = microsSince(start, p.Repeat)
	}
	seen := observe(&result, s, s.Device)
	out.Selector.outcome = &seen
	return out
}

func microsSince(start time.Time, times int) float64 {
	return float64(time.Since(start).Nanoseconds()) / 1e3 / float64(times)
}

// observe evaluates as often as asked, at least once, and keeps the distinct outcomes.
func observe(result *cel.CompilationResult, s *selector, d *device) outcome {
	first := evaluate(result, s.Derived, d)
	seen := map[string]bool{fingerprint(first): true}
	for range s.Evaluations - 1 {
		next := evaluate(result, s.Derived, d)
		if key := fingerprint(next); !seen[key] {
			seen[key] = true
			first.Alternatives = append(first.Alternatives, next)
		}
	}
	return first
}

func fingerprint(o outcome) string {
	key := o.MatchError
	if o.Match != nil {
		key += fmt.Sprint("|match ", *o.Match)
	}
	if o.ActualCost != nil {
		key += fmt.Sprint("|cost ", *o.ActualCost)
	}
	if o.Attribute != nil {
		key += "|attribute " + o.Attribute.String()
	}
	return key
}

func evaluate(result *cel.CompilationResult, derived bool, d *device) (out outcome) {
	defer func() {
		if r := recover(); r != nil {
			out = outcome{MatchError: fmt.Sprint("panic: ", r)}
		}
	}()
	input := cel.Device{Driver: d.Driver, AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity}
	if derived {
		attribute, details, err := result.EvaluateDerivedAttribute(context.Background(), input)
		out.Attribute = attribute
		if details != nil {
			out.ActualCost = details.ActualCost()
		}
		if err != nil {
			out.Attribute, out.MatchError = nil, err.Error()
		}
		return out
	}
	match, details, err := result.DeviceMatches(context.Background(), input)
	if details != nil {
		out.ActualCost = details.ActualCost()
	}
	if err != nil {
		out.MatchError = err.Error()
		return out
	}
	out.Match = &match
	return out
}
