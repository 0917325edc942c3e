"""Objects that cannot mean anything to a cluster of today: the classic API of 2022 to 2024, and what articles invented.

They are refused, not passed over, because somebody who applies them believes to have asked for a GPU. Each refusal names the modern
field. What counts: every version of resource.k8s.io that is not v1, v1beta2, v1beta1 or v1alpha3; DRA's kinds under another group;
kinds that never were; vendors' parameter objects of the classic API; and fields of pods that never were or are gone.
Sources: gpu-landscape.md section 1; v1alpha2 as of Kubernetes 1.30.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from reparto.model.errors import FieldError
from reparto.model.misplaced import field_hint
from reparto.model.shapes import Shape
from reparto.model.versions import GROUP, STRUCTS, versions_of

# Kinds that no release has, or none since 1.32, whatever group they are written in, and where their content belongs.
_KINDS: Mapping[str, str] = {
    "ResourceClass": "write a DeviceClass: its spec.selectors choose devices, its spec.config configures them",
    "ResourceClassParameters": "put selectors and config into a DeviceClass: spec.selectors, spec.config",
    "ResourceClaimParameters": "put requests into the claim: spec.devices.requests, parameters into spec.devices.config[].opaque",
    "ResourceDriver": "there is no such object: a driver publishes ResourceSlices, and a DeviceClass selects its devices",
    "PodSchedulingContext": "remove it: the scheduler allocates by itself since Kubernetes 1.32",
    "GPU": "request it with a ResourceClaim: spec.devices.requests[].exactly.deviceClassName: gpu.nvidia.com",
    "GPUClass": "write a DeviceClass with spec.selectors[].cel.expression",
    "GPUClaim": "write a ResourceClaim with spec.devices.requests[].exactly.deviceClassName",
    "GpuClaim": "write a ResourceClaim with spec.devices.requests[].exactly.deviceClassName",
    "DeviceClaim": "write a ResourceClaim: what it asks for stands in spec.devices.requests",
    "DeviceClaimTemplate": "write a ResourceClaimTemplate: what it asks for stands in spec.spec.devices.requests",
    "DeviceRequest": "write a ResourceClaim: requests are entries of spec.devices.requests",
}

# Vendors' objects that a classic claim or class named in parametersRef. Group, by its ending, and what replaced them.
_PARAMETERS = ("ClaimParameters", "ClassParameters", "InstanceParameters")
_PARAMETER_GROUPS = ("resource.nvidia.com", "resource.intel.com", "resource.example.com", "resource.amd.com")

# The version of each core kind that Reparto reads: nothing else may be passed over under its name.
_CORE: Mapping[str, str] = {
    **dict.fromkeys(("Pod", "Node", "Namespace", "ResourceQuota", "LimitRange"), "v1"),
    "PriorityClass": "scheduling.k8s.io/v1",
}

_POD_CLAIM = ("name", "resourceClaimName", "resourceClaimTemplateName")
_CONTAINER_CLAIM = ("name", "request")

_POD_CLAIM_HINTS: Mapping[str, str] = {
    "source": "write resourceClaimTemplateName (or resourceClaimName) beside name: source is gone since Kubernetes 1.31",
    "resourceTemplate": "write the template as a ResourceClaimTemplate object, and its name here: resourceClaimTemplateName",
    "resourceClaimTemplate": "write the template as a ResourceClaimTemplate object, and its name here: resourceClaimTemplateName",
    "template": "write the template as a ResourceClaimTemplate object, and its name here: resourceClaimTemplateName",
    "templateName": "write resourceClaimTemplateName",
    "claimName": "write resourceClaimName",
    "resourceClaim": "write resourceClaimName: the claim's name",
}
_ASKS = (
    "what is asked for stands in the claim: spec.devices.requests[].exactly (deviceClassName, selectors, count); "
    "a pod names the claim: resourceClaimTemplateName"
)
_CONTAINER_HINT = (
    "a container names one of the pod's spec.resourceClaims: name, and optionally request; everything else belongs into the claim"
)


def refusal(api_version: str, kind: str) -> FieldError | None:
    """Why objects of this version and kind are refused, of type Decode; None if they are not legacy.

    Objects of versions and kinds that Reparto reads are never legacy.
    """
    group, _, version = api_version.rpartition("/")
    if (api_version, kind) in STRUCTS:
        return None
    hint = ""
    path, found = "kind", kind
    if kind in _KINDS and _invented(group, kind):
        hint = _KINDS[kind]
        message = f"there is no kind {kind} in Kubernetes"
        if group == GROUP and kind in (
            "ResourceClass",
            "PodSchedulingContext",
            "ResourceClaimParameters",
            "ResourceClassParameters",
        ):
            message = f"{kind} belongs to classic DRA, which is gone since Kubernetes 1.32"
    elif kind.endswith(_PARAMETERS) and group.endswith(_PARAMETER_GROUPS):
        message = f"{kind} belongs to classic DRA, which is gone since Kubernetes 1.32"
        hint = "put what it says into the claim: spec.devices.requests[].exactly and spec.devices.config[].opaque.parameters"
    elif group == GROUP and versions_of(kind):
        path, found = "apiVersion", api_version
        message = f"{api_version} has no {kind}"
        if version in ("v1alpha1", "v1alpha2"):
            message = f"{api_version} is classic DRA, which is gone since Kubernetes 1.32"
        hint = f"write apiVersion: {versions_of(kind)[0]}"
    elif (right := _spelled(kind)) is not None and api_version in (_CORE.get(right), *versions_of(right)):
        message = f"there is no kind {kind}"
        hint = f"write kind: {right}"
    elif kind in _CORE and api_version != _CORE[kind] and ("." not in group or group.endswith(".k8s.io")):
        path, found = "apiVersion", api_version
        message = f"{api_version} has no {kind}"
        hint = f"write apiVersion: {_CORE[kind]}"
    elif group == GROUP:
        message = f"no kind {kind!r} is known in {api_version}"
        hint = f"{GROUP}/v1 has {', '.join(sorted(name for name_version, name in STRUCTS if name_version == f'{GROUP}/v1'))}"
    elif versions_of(kind) and (not group or group.endswith("k8s.io")):
        path, found = "apiVersion", api_version
        message = f"{api_version} has no {kind}"
        hint = f"write apiVersion: {versions_of(kind)[0]}"
    else:
        return None
    return FieldError("Decode", path, found, message, hint)


def _spelled(kind: str) -> str | None:
    """The kind that `kind` is meant to be, where only capitals or a plural's s are wrong."""
    folded = kind.lower()
    for right in (*_CORE, *(name for _, name in STRUCTS)):
        if right != kind and folded in (right.lower(), f"{right.lower()}s", f"{right.lower()}es"):
            return right
    return None


def _invented(group: str, kind: str) -> bool:
    """Whether `kind` cannot be somebody's own resource: GPU may be one in a vendor's or company's group, ResourceClass may not."""
    return (
        kind.startswith("Resource")
        or kind == "PodSchedulingContext"
        or not group
        or group.endswith(("k8s.io", "nvidia.com", "amd.com"))
    )


def classic_fields(value: Mapping[str, Any]) -> Iterator[FieldError]:
    """Fields of the classic API or of articles, at most four levels deep, each with its successor."""
    level: list[tuple[str, Mapping[str, Any]]] = [("", value)]
    nothing = Shape("struct")
    for _ in range(4):
        following: list[tuple[str, Mapping[str, Any]]] = []
        for path, mapping in level:
            for name, content in mapping.items():
                inner = f"{path}.{name}" if path else name
                if path == "" and name in ("apiVersion", "kind", "metadata"):
                    continue
                hint = field_hint(name, "", "", nothing)
                if hint:
                    yield FieldError(
                        "Decode",
                        inner,
                        content if isinstance(content, (str, int, bool)) else None,
                        f'unknown field "{inner}"',
                        hint,
                    )
                elif isinstance(content, Mapping):
                    following.append((inner, cast(Mapping[str, Any], content)))
        level = following


def pod_fields(spec: Mapping[str, Any], path: str = "spec") -> list[FieldError]:
    """Fields that `spec.resourceClaims` and the containers' `resources.claims` of a pod spec at `path` do not have.

    The API server refuses or drops them, so that the pod starts without its device. Decoding of core objects is lenient here,
    hence this check of its own.
    """
    errors: list[FieldError] = []
    for index, entry in enumerate(_mappings(spec.get("resourceClaims"))):
        here = f"{path}.resourceClaims[{index}]"
        for name, content in entry.items():
            if name in _POD_CLAIM:
                continue
            hint = _POD_CLAIM_HINTS.get(name, _ASKS)
            if name == "source" and isinstance(content, Mapping):
                hint = _moved(cast(Mapping[str, Any], content), hint)
            errors.append(_unknown(f"{here}.{name}", content, hint))
    for containers in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate(_mappings(spec.get(containers))):
            resources = container.get("resources")
            claims = cast(Mapping[str, Any], resources).get("claims") if isinstance(resources, Mapping) else None
            for number, entry in enumerate(_mappings(claims)):
                here = f"{path}.{containers}[{index}].resources.claims[{number}]"
                errors += [
                    _unknown(f"{here}.{name}", content, _CONTAINER_HINT)
                    for name, content in entry.items()
                    if name not in _CONTAINER_CLAIM
                ]
    return errors


def _moved(source: Mapping[str, Any], otherwise: str) -> str:
    for name in ("resourceClaimTemplateName", "resourceClaimName"):
        if isinstance(source.get(name), str):
            return f"write {name}: {source[name]} beside name: source is gone since Kubernetes 1.31"
    return otherwise


def _unknown(path: str, content: Any, hint: str) -> FieldError:
    return FieldError("Decode", path, content if isinstance(content, (str, int, bool)) else None, f'unknown field "{path}"', hint)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    """The entries of a list; whatever is no mapping stands as an empty one, so that indexes stay right."""
    if not isinstance(value, list):
        return []
    return [cast(Mapping[str, Any], item) if isinstance(item, Mapping) else {} for item in cast(list[object], value)]
