"""What to write instead: a short remedy for the mistakes that people make, beside the API server's own words."""

import re

from reparto.model.validation.findings import Finding

_INDEX = re.compile(r"\[[^\]]*\]")

# By the end of the path without indices, and the error type.
_BY_FIELD: tuple[tuple[str, str, str], ...] = (
    ("metadata.name", "FieldValueRequired", "give it a name, or a generateName"),
    ("spec.resourceClaims", "FieldValueInvalid", "write resourceClaimName or resourceClaimTemplateName, one of the two"),
    ("resources.claims", "FieldValueNotFound", "add the claim to spec.resourceClaims of the pod, or correct the name"),
    ("deviceClassName", "FieldValueRequired", "name a DeviceClass: deviceClassName: gpu.nvidia.com"),
    (
        "devices.requests",
        "FieldValueRequired",
        "write exactly: with a deviceClassName, or firstAvailable: with a list of alternatives",
    ),
    ("devices.requests", "FieldValueInvalid", "keep exactly or firstAvailable, not both"),
    ("devices.constraints", "FieldValueRequired", "write matchAttribute: DOMAIN/NAME or distinctAttribute: DOMAIN/NAME"),
    ("matchAttribute", "FieldValueInvalid", "write the attribute with its domain: resource.kubernetes.io/pcieRoot"),
    ("distinctAttribute", "FieldValueInvalid", "write the attribute with its domain: gpu.nvidia.com/uuid"),
    ("requests.count", "FieldValueInvalid", "leave count out with allocationMode: All; otherwise 1 or more"),
    ("exactly.count", "FieldValueInvalid", "leave count out with allocationMode: All; otherwise 1 or more"),
    ("firstAvailable.count", "FieldValueInvalid", "leave count out with allocationMode: All; otherwise 1 or more"),
    ("allocationMode", "FieldValueNotSupported", "write ExactCount with a count, or All"),
    ("selectors.cel", "FieldValueRequired", "nest the expression: selectors: [{cel: {expression: …}}]"),
    ("config.opaque", "FieldValueRequired", "write opaque: {driver: …, parameters: {…}}"),
    ("opaque.parameters", "FieldValueRequired", "write the driver's configuration object under parameters:"),
    ("opaque.parameters", "FieldValueInvalid", "write an object with fields, not text: parameters: {apiVersion: …, kind: …}"),
    ("spec.pool.resourceSliceCount", "FieldValueInvalid", "write how many slices the pool has at this generation, 1 or more"),
    ("spec.pool.name", "FieldValueRequired", "name the pool; for devices of one node, the node's name"),
    ("spec.driver", "FieldValueRequired", "write the driver's name, for example gpu.nvidia.com"),
    (
        "capacity.requestPolicy",
        "FieldValueForbidden",
        "write allowMultipleAllocations: true beside capacity, or remove requestPolicy",
    ),
    ("status.reservedFor", "FieldValueForbidden", "a claim is reserved only once it is allocated: keep status.allocation with it"),
    (
        "spec.partitionTypeAttribute",
        "FieldValueForbidden",
        "enable it with --feature-gates DRAPartitionableDevicesType=true, or remove it",
    ),
    ("taints.effect", "FieldValueRequired", "write NoSchedule, NoExecute or None"),
    ("taint.effect", "FieldValueRequired", "write NoSchedule, NoExecute or None"),
)
_BY_TEXT: tuple[tuple[str, str], ...] = (
    ("exactly one of `nodeName`, `nodeSelector`, `allNodes`", "say where the devices are: nodeName: NODE, or allNodes: true"),
    ("only one of `sharedCounters` or `devices`", "publish counter sets in a slice of their own, in the same pool"),
    ("must specify one of: `int`", "give the attribute one value under its type: {string: …}, {int: …}, {bool: …} or {version: …}"),
    ("must specify exactly one of: `int`", "keep one value: an attribute has one type"),
    ("must be a string compatible with semver.org", "write MAJOR.MINOR.PATCH without a v, for example 12.4.0, or use string:"),
    ("must be the name of a request in the claim", "name an entry of spec.devices.requests (REQUEST or REQUEST/SUBREQUEST)"),
    (
        "can only be set if `perDeviceNodeSelection`",
        "write perDeviceNodeSelection: true in the spec, or move it from the device to the spec",
    ),
    (
        "must be referenced by at least one matchAttribute",
        "add a constraint with matchAttribute: this name, or remove the derived attribute",
    ),
    ("too complex", "shorten the expression: no nested macros over lists, fewer regular expressions"),
)


def hint(finding: Finding) -> str:
    """A remedy in a few words; "" where the API server's message says it all."""
    for text, remedy in _BY_TEXT:
        if finding.message.startswith(text):
            return remedy
    path = _INDEX.sub("", finding.path)
    for field, kind, remedy in _BY_FIELD:
        if finding.type == kind and (path == field or path.endswith(f".{field}")):
            return remedy
    return ""
