"""ResourceClaim and ResourceClaimTemplate: the handwritten rules for their spec.

Source: validation-1.37.md section 4; `pkg/apis/resource/validation` of 1.37.2.
"""

from collections.abc import Iterable

import msgspec

from reparto.model import v1
from reparto.model.gates import Gates
from reparto.model.validation.features import enabled
from reparto.model.validation.findings import (
    Findings,
    cover,
    forbidden,
    invalid,
    not_supported,
    repeated,
    required,
    too_many,
)
from reparto.model.validation.formats import fully_qualified_name, label, subdomain
from reparto.model.validation.metadata import object_meta, object_meta_update, template_meta
from reparto.model.validation.opaque import configuration
from reparto.model.validation.selectors import COST_MAX, expression, selectors
from reparto.model.validation.taints import tolerations
from reparto.model.validation.values import as_json, equal

REQUESTS_MAX = 32
ALTERNATIVES_MAX = 8
CONSTRAINTS_MAX = 32
CONFIG_MAX = 32

_IMMUTABLE = "field is immutable"
_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

RequestNames = dict[str, frozenset[str]]
"""The requests of a claim by name, each with the names of its sub-requests."""


class _Claim(msgspec.Struct):
    """What rules deep inside a claim need to know of all of it, and the cost that they add up."""

    gates: Gates | None
    constrained: dict[str, set[str]]
    derived_cost: int = 0


def claim(obj: v1.ResourceClaim, gates: Gates | None) -> Findings:
    return object_meta(obj.metadata, namespaced=True) + claim_spec(obj.spec, "spec", gates)


def claim_update(new: v1.ResourceClaim, old: v1.ResourceClaim) -> Findings:
    findings = object_meta(new.metadata, namespaced=True) + object_meta_update(new.metadata, old.metadata)
    if not equal(old.spec, new.spec):
        findings.append(invalid("spec", as_json(new.spec), _IMMUTABLE, "immutable", covered=True))
    return findings


def template(obj: v1.ResourceClaimTemplate, gates: Gates | None) -> Findings:
    findings = object_meta(obj.metadata, namespaced=True) + template_meta(obj.spec.metadata, "spec.metadata")
    return findings + claim_spec(obj.spec.spec, "spec.spec", gates)


def template_update(new: v1.ResourceClaimTemplate, old: v1.ResourceClaimTemplate, gates: Gates | None) -> Findings:
    # Unlike a claim, a template is judged as on create once more: nothing in it ratchets.
    findings = template(new, gates) + object_meta_update(new.metadata, old.metadata)
    if not equal(old.spec, new.spec):
        findings.append(invalid("spec", as_json(new.spec), _IMMUTABLE))
    return findings


def claim_spec(spec: v1.ResourceClaimSpec, path: str, gates: Gates | None) -> Findings:
    devices = spec.devices
    path = f"{path}.devices"
    names = request_names(devices)
    context = _Claim(gates, _constrained_attributes(devices.constraints))
    findings: Findings = []
    if len(devices.requests) > REQUESTS_MAX:
        findings.append(too_many(f"{path}.requests", len(devices.requests), REQUESTS_MAX, covered=True))
    else:
        for index, request in enumerate(devices.requests):
            findings += _request(request, f"{path}.requests[{index}]", context)
        findings += repeated(f"{path}.requests", (request.name for request in devices.requests), covered=True)
    if len(devices.constraints) > CONSTRAINTS_MAX:
        findings.append(too_many(f"{path}.constraints", len(devices.constraints), CONSTRAINTS_MAX, covered=True))
    else:
        for index, constraint in enumerate(devices.constraints):
            findings += _constraint(constraint, f"{path}.constraints[{index}]", names, gates)
    if len(devices.config) > CONFIG_MAX:
        findings.append(too_many(f"{path}.config", len(devices.config), CONFIG_MAX, covered=True))
    else:
        for index, config in enumerate(devices.config):
            findings += request_references(config.requests, f"{path}.config[{index}].requests", names)
            findings += configuration(config.opaque, f"{path}.config[{index}]")
    if context.derived_cost > COST_MAX:
        message = "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit"
        findings.append(forbidden(path, message))
    return findings


def request_names(devices: v1.DeviceClaim) -> RequestNames:
    return {request.name: frozenset(each.name for each in request.first_available) for request in devices.requests}


def request_references(entries: Iterable[str], path: str, names: RequestNames) -> Findings:
    """A list of requests that a constraint or a configuration names."""
    entries = tuple(entries)
    if len(entries) > REQUESTS_MAX:
        return [too_many(path, len(entries), REQUESTS_MAX, covered=True)]
    findings: Findings = []
    for index, name in enumerate(entries):
        findings += request_reference(name, f"{path}[{index}]", names)
    return findings + repeated(path, entries, covered=True)


def request_reference(name: str, path: str, names: RequestNames) -> Findings:
    """`request` or `request/subrequest`, existing."""
    parts = name.split("/")
    if len(parts) > 2:
        return [invalid(path, name, _REFERENCE)]
    findings = [finding for part in parts for finding in label(part, path)]
    inner = names.get(parts[0])
    if inner is None or (len(parts) == 2 and parts[1] not in inner):
        findings.append(invalid(path, name, _REFERENCE))
    return findings


def _request(request: v1.DeviceRequest, path: str, context: _Claim) -> Findings:
    findings = label(request.name, f"{path}.name")
    exactly, alternatives = request.exactly, request.first_available
    if exactly is None and not alternatives:
        findings.append(required(path, _ONE_KIND))
    elif exactly is not None and alternatives:
        findings.append(invalid(path, None, f"{_ONE_KIND}, but multiple fields are set"))
    elif exactly is not None:
        path += ".exactly"
        name = exactly.device_class_name
        findings += subdomain(name, f"{path}.deviceClassName") if name else [required(f"{path}.deviceClassName")]
        findings += _common(exactly, path, context, request.name)
    elif len(alternatives) > ALTERNATIVES_MAX:
        findings.append(too_many(f"{path}.firstAvailable", len(alternatives), ALTERNATIVES_MAX, covered=True))
    else:
        path += ".firstAvailable"
        for index, alternative in enumerate(alternatives):
            where = f"{path}[{index}]"
            findings += label(alternative.name, f"{where}.name")
            name = alternative.device_class_name
            findings += cover(subdomain(name, f"{where}.deviceClassName") if name else [required(f"{where}.deviceClassName")])
            findings += _common(alternative, where, context, f"{request.name}/{alternative.name}")
        findings += repeated(path, (alternative.name for alternative in alternatives), covered=True)
    return findings


def _common(request: v1.ExactDeviceRequest | v1.DeviceSubRequest, path: str, context: _Claim, name: str) -> Findings:
    """What exact requests and sub-requests share. `name` is how constraints call the request."""
    findings = selectors(request.selectors, f"{path}.selectors", context.gates)
    for index, derived in enumerate(request.derived_attributes):
        findings += _derived(derived, f"{path}.derivedAttributes[{index}]", context, name)
    findings += repeated(f"{path}.derivedAttributes", (derived.name for derived in request.derived_attributes))
    mode, count = request.allocation_mode, request.count
    if mode == "All":
        if count != 0:
            findings.append(invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'"))
    elif mode == "ExactCount":
        if count <= 0:
            findings.append(invalid(f"{path}.count", count, "must be greater than zero"))
    else:
        findings.append(not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount"), covered=True))
    return findings + tolerations(request.tolerations, f"{path}.tolerations")


def _derived(derived: v1.DeviceDerivedAttribute, path: str, context: _Claim, request: str) -> Findings:
    findings: Findings = []
    if derived.name and not any(
        derived.name in context.constrained.get(target, ()) for target in ("", request, request.partition("/")[0])
    ):
        message = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"
        findings.append(invalid(f"{path}.name", derived.name, message))
    if derived.expression:
        wrong, cost = expression(derived.expression, f"{path}.expression", context.gates, derived=True)
        findings += wrong
        context.derived_cost += cost
    return findings


def _constrained_attributes(constraints: Iterable[v1.DeviceConstraint]) -> dict[str, set[str]]:
    """Attributes that constraints name, by request; those of constraints over all requests under ""."""
    constrained: dict[str, set[str]] = {}
    for constraint in constraints:
        name = constraint.match_attribute if constraint.match_attribute is not None else constraint.distinct_attribute
        if name is not None:
            for request in constraint.requests or ("",):
                constrained.setdefault(request, set()).add(name)
    return constrained


def _constraint(constraint: v1.DeviceConstraint, path: str, names: RequestNames, gates: Gates | None) -> Findings:
    findings = request_references(constraint.requests, f"{path}.requests", names)
    # Both set is documented as an error, but upstream looks at the first only.
    if constraint.match_attribute is not None:
        findings += cover(fully_qualified_name(constraint.match_attribute, f"{path}.matchAttribute"))
    elif constraint.distinct_attribute is not None:
        findings += cover(fully_qualified_name(constraint.distinct_attribute, f"{path}.distinctAttribute"))
    elif enabled(gates, "DRAConsumableCapacity"):
        # The text is upstream's, wrong as it is: nothing is set here.
        message = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
        findings.append(required(path, message))
    else:
        findings.append(required(f"{path}.matchAttribute"))
    return findings
