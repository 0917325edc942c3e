"""Validation as kube-apiserver 1.37.2 does it: every rule, error type, path and value of resource.k8s.io, and the claim rules of
Pods.

One module per kind holds its handwritten rules, `declarative` the generated ones, `findings.merge` makes one answer of both.
Source: validation-1.37.md.
"""

from msgspec.structs import replace

from reparto.model import conversion, core, v1
from reparto.model.errors import FieldError
from reparto.model.gates import Gates
from reparto.model.meta import Base, ObjectMeta, Strict
from reparto.model.validation import claims, classes, pods, pool_status, slices, taint_rules
from reparto.model.validation.claim_status import claim_status_update
from reparto.model.validation.declarative import declared
from reparto.model.validation.findings import Findings, answer, merge
from reparto.model.validation.hints import hint
from reparto.model.validation.selectors import Compilation as Compilation
from reparto.model.validation.selectors import SelectorCompiler as SelectorCompiler
from reparto.model.validation.selectors import register_compiler as register_compiler
from reparto.model.versions import NAMESPACED, kind_of, v1alpha3, v1beta1


def validate(new: Base, old: Base | None = None, subresource: str = "", gates: Gates | None = None) -> list[FieldError]:
    """Every error in a typed object that has its defaults; paths are those of its version. See `model.validate`."""
    flat = isinstance(new, v1beta1.ResourceClaim | v1beta1.ResourceClaimTemplate | v1beta1.ResourceSlice | v1alpha3.ResourceSlice)
    hub = conversion.to_v1(new)
    old_hub = None if old is None else conversion.to_v1(old)
    if old_hub is not None and type(old_hub) is not type(hub):
        raise TypeError(f"an update replaces a {type(hub).__name__} by one, not a {type(old_hub).__name__}")
    findings = _handwritten(hub, old_hub, subresource, gates)
    if not findings and old is None and isinstance(hub, v1.ResourceSlice) and not _declared_only(hub.spec):
        return []
    findings = merge(findings, declared(hub, old_hub, gates, flat=flat))
    return answer(findings, hint) if findings else []


def judge(obj: Base, gates: Gates | None = None) -> list[FieldError]:
    """Every error in an object from a file: its spec as on create, its status as on an update of the same object without one.

    `obj` is typed and has its defaults. What the server or the request would fill in before validation (a name from
    `generateName`, the namespace, the resourceVersion of the update) is taken as filled in.
    """
    if not isinstance(obj, Strict):
        return validate(obj, gates=gates)
    kind = kind_of(obj)
    meta = _meta(obj)
    if not meta.name and meta.generate_name:
        # The API server cuts the prefix so that five random characters still fit into a label.
        meta = replace(meta, name=meta.generate_name[:58] + "xxxxx")
    if not meta.namespace and kind in NAMESPACED:
        meta = replace(meta, namespace="default")
    status = getattr(obj, "status", None)
    if status is None:
        return validate(replace(obj, metadata=meta), gates=gates)
    empty = None if isinstance(obj, v1alpha3.ResourcePoolStatusRequest) else type(status)()
    created = replace(obj, metadata=meta, status=empty)
    errors = validate(created, gates=gates)
    if status == empty:
        return errors
    meta = replace(meta, resource_version=meta.resource_version or "1")
    updated, before = replace(obj, metadata=meta), replace(created, metadata=meta)
    # Metadata is judged by both: say it once.
    return errors + [error for error in validate(updated, before, "status", gates) if error not in errors]


def _meta(obj: Base) -> ObjectMeta:
    meta = getattr(obj, "metadata", None)
    return meta if isinstance(meta, ObjectMeta) else ObjectMeta()


def _handwritten(new: Base, old: Base | None, subresource: str, gates: Gates | None) -> Findings:
    status = subresource == "status"
    match new, old:
        case v1.ResourceSlice(), None:
            return slices.resource_slice(new, gates)
        case v1.ResourceSlice(), v1.ResourceSlice():
            return slices.resource_slice_update(new, old, gates)
        case v1.ResourceClaim(), None:
            return claims.claim(new, gates)
        case v1.ResourceClaim(), v1.ResourceClaim():
            return claim_status_update(new, old) if status else claims.claim_update(new, old)
        case v1.ResourceClaimTemplate(), None:
            return claims.template(new, gates)
        case v1.ResourceClaimTemplate(), v1.ResourceClaimTemplate():
            return claims.template_update(new, old, gates)
        case v1.DeviceClass(), None:
            return classes.device_class(new, gates)
        case v1.DeviceClass(), v1.DeviceClass():
            return classes.device_class_update(new, old, gates)
        case v1.DeviceTaintRule(), None:
            return taint_rules.taint_rule(new)
        case v1.DeviceTaintRule(), v1.DeviceTaintRule():
            return taint_rules.taint_rule_status_update(new, old) if status else taint_rules.taint_rule_update(new, old)
        case v1alpha3.ResourcePoolStatusRequest(), None:
            return pool_status.pool_status_request(new)
        case v1alpha3.ResourcePoolStatusRequest(), v1alpha3.ResourcePoolStatusRequest():
            if status:
                return pool_status.pool_status_request_status_update(new, old)
            return pool_status.pool_status_request_update(new, old)
        case core.Pod(), _:
            return pods.pod(new)
        case _:
            return []


def _declared_only(spec: v1.ResourceSliceSpec) -> bool:
    """Whether a slice has a field that only declarative rules judge. All others repeat what the handwritten ones found."""
    if spec.skip_node_operations or spec.partition_type_attribute is not None:
        return True
    for device in spec.devices or ():
        if device.node_allocatable_resources:
            return True
        for entry in device.consumes_counters:
            if entry.compatibility_groups:
                return True
    return False
