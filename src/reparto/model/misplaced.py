"""What to write instead of a field or a kind that does not exist.

People meet DRA through blog posts of five API versions, so most unknown fields are right ones in the wrong version or at the
wrong level. For those the move is named; for the rest, the nearest field that the struct does have.
"""

import difflib
from collections.abc import Mapping

from reparto.model.shapes import Shape

_FLAT_REQUEST = {
    name.lower(): name
    for name in (
        "deviceClassName",
        "selectors",
        "allocationMode",
        "count",
        "adminAccess",
        "tolerations",
        "capacity",
        "derivedAttributes",
    )
}
_DEVICE_DATA = frozenset(
    (
        "attributes",
        "capacity",
        "consumesCounters",
        "nodeName",
        "nodeSelector",
        "allNodes",
        "taints",
        "bindsToNode",
        "bindingConditions",
        "bindingFailureConditions",
        "allowMultipleAllocations",
        "nodeAllocatableResources",
    )
)

# Fields of the classic API (v1alpha2, "DRA with control plane controller", gone since 1.32) and what replaced them.
_CLASSIC: Mapping[str, str] = {
    "resourceClassName": "classic DRA is gone since Kubernetes 1.32: write spec.devices.requests[].exactly.deviceClassName",
    "parametersRef": "classic DRA is gone since Kubernetes 1.32: put the parameters into spec.devices.config[].opaque.parameters",
    "driverName": 'classic DRA is gone since Kubernetes 1.32: select the driver in a DeviceClass, device.driver == "…"',
    "controller": "classic DRA is gone since Kubernetes 1.32: remove it, the scheduler allocates",
    "suitableNodes": "classic DRA is gone since Kubernetes 1.32: say it per device in the driver's ResourceSlices (nodeSelector)",
    "structuredParameters": "every allocation is structured since Kubernetes 1.31: remove it",
    "potentialNodes": "classic DRA is gone since Kubernetes 1.32: PodSchedulingContext has no successor, the scheduler allocates",
    "resourceHandles": "classic DRA is gone since Kubernetes 1.32: write status.allocation.devices.results",
    "selection": "select devices with CEL: selectors: [{cel: {expression: …}}]",
    "matchLabels": 'devices have attributes, not labels: selectors: [{cel: {expression: device.attributes["DOMAIN"].NAME == …}}]',
    "matchExpressions": "devices have attributes, not labels: selectors: [{cel: {expression: …}}]",
    "namedResources": "named resources became spec.devices in Kubernetes 1.31",
    "vendorParameters": "put them into spec.devices.config[].opaque.parameters",
    "shareable": "every claim can be shared since Kubernetes 1.31: remove it",
}

_KINDS: Mapping[str, str] = {
    "ResourceClass": "write a DeviceClass (resource.k8s.io/v1)",
    "ResourceClassParameters": "put selectors and config into the DeviceClass (resource.k8s.io/v1)",
    "ResourceClaimParameters": "put the requests into the ResourceClaim itself: spec.devices.requests (resource.k8s.io/v1)",
    "PodSchedulingContext": "remove it: the scheduler allocates by itself since Kubernetes 1.32",
    "GPU": "request a GPU with a ResourceClaim whose spec.devices.requests[].exactly.deviceClassName names a DeviceClass",
    "GPUClaim": "write a ResourceClaim (resource.k8s.io/v1)",
    "DeviceClaim": "write a ResourceClaim (resource.k8s.io/v1); spec.devices is a DeviceClaim",
    "DeviceClaimTemplate": "write a ResourceClaimTemplate (resource.k8s.io/v1)",
}


def field_hint(name: str, parent: str, version: str, shape: Shape, value: object = None) -> str:
    """What to write instead of field `name` of struct `parent` (a Go type name) in `version` ("v1beta1"); "" if we do not know."""
    modern = version in ("v1", "v1beta2")
    if parent == "DeviceRequest" and modern and name.lower() in _FLAT_REQUEST:
        right = _FLAT_REQUEST[name.lower()]
        where = "move it under exactly" if right == name else f"write it as {right} under exactly"
        return f"{where}: {version} nests the fields of a plain request there"
    if parent == "DeviceAttribute" and not isinstance(value, dict | list):
        kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"
        return f"write the value under its type: {kind}, not {name}"
    if parent == "DeviceRequest" and not modern and name == "exactly":
        return f"{version} has no exactly: write its fields beside name, or use apiVersion resource.k8s.io/v1"
    if parent == "Device" and modern and name == "basic":
        return f"{version} has no basic: write its fields beside name"
    if parent == "Device" and not modern and name in _DEVICE_DATA:
        return f"move it under basic: {version} keeps a device's data there"
    if parent == "BasicDevice" and name in _DEVICE_DATA:
        return f"{version} does not have it: use apiVersion resource.k8s.io/v1"
    if parent == "ResourceClaimTemplateSpec" and name == "devices":
        return "a template nests the claim: write it under spec.spec"
    if parent == "ResourceClaimSpec" and name == "spec":
        return "only a ResourceClaimTemplate has spec.spec: write its content under spec"
    if parent == "ResourceClaimSpec" and name in ("requests", "constraints", "config"):
        return f"move it under devices: spec.devices.{name}"
    if parent in ("DeviceConstraint", "DeviceClaim") and name == "matchAttributes":
        return "one constraint takes one matchAttribute: write one entry for each"
    if parent in ("DeviceSelector", "ExactDeviceRequest", "DeviceSubRequest") and name in ("expression", "celExpression"):
        return "nest it: selectors: [{cel: {expression: …}}]"
    if name in _CLASSIC and name not in shape.fields:
        return _CLASSIC[name]
    near = difflib.get_close_matches(name, shape.fields, n=1, cutoff=0.7)
    if not near:
        folded = {field.lower(): field for field in shape.fields}
        near = [folded[name.lower()]] if name.lower() in folded else []
    if near:
        return f"did you mean {near[0]}?"
    inside = [field.name for field in shape.fields.values() if name in _struct_fields(field.shape)]
    if inside:
        return f"it belongs under {inside[0]}"
    if shape.fields:
        return "it has: " + ", ".join(sorted(shape.fields))
    return ""


def kind_hint(kind: str, api_version: str, known_versions: list[str], kinds: list[str]) -> str:
    """What to write instead of a kind or version that nothing knows."""
    if known_versions:
        return f"{kind} exists in {', '.join(known_versions)}: write apiVersion: {known_versions[0]}"
    if kind in _KINDS:
        return _KINDS[kind]
    near = difflib.get_close_matches(kind, kinds, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else f"{api_version.partition('/')[0]} has: {', '.join(sorted(kinds))}"


def _struct_fields(shape: Shape) -> Mapping[str, object]:
    if shape.kind == "list" and shape.item is not None:
        return _struct_fields(shape.item)
    return shape.fields
