"""Which struct an object of resource.k8s.io decodes into: one table by API version and kind.

v1beta2 has the shape of v1, so its objects are `reparto.model.v1` structs whose `api_version` says v1beta2. Only what differs has
structs of its own: v1beta1 (flat requests, devices under `basic`) and v1alpha3 (bare capacity quantities,
ResourcePoolStatusRequest).
"""

from reparto.model import v1
from reparto.model.meta import Strict
from reparto.model.versions import v1alpha3, v1beta1

GROUP = v1.GROUP
V1, V1BETA2, V1BETA1, V1ALPHA3 = f"{GROUP}/v1", f"{GROUP}/v1beta2", f"{GROUP}/v1beta1", f"{GROUP}/v1alpha3"

_V1_KINDS: dict[str, type[Strict]] = {
    "ResourceClaim": v1.ResourceClaim,
    "ResourceClaimTemplate": v1.ResourceClaimTemplate,
    "ResourceSlice": v1.ResourceSlice,
    "DeviceClass": v1.DeviceClass,
    "DeviceTaintRule": v1.DeviceTaintRule,
}
STRUCTS: dict[tuple[str, str], type[Strict]] = {
    **{(V1, kind): struct for kind, struct in _V1_KINDS.items()},
    **{(V1BETA2, kind): struct for kind, struct in _V1_KINDS.items()},
    (V1BETA1, "ResourceClaim"): v1beta1.ResourceClaim,
    (V1BETA1, "ResourceClaimTemplate"): v1beta1.ResourceClaimTemplate,
    (V1BETA1, "ResourceSlice"): v1beta1.ResourceSlice,
    (V1BETA1, "DeviceClass"): v1.DeviceClass,
    (V1ALPHA3, "DeviceTaintRule"): v1.DeviceTaintRule,
    (V1ALPHA3, "ResourcePoolStatusRequest"): v1alpha3.ResourcePoolStatusRequest,
    (V1ALPHA3, "ResourceClaim"): v1beta1.ResourceClaim,
    (V1ALPHA3, "ResourceClaimTemplate"): v1beta1.ResourceClaimTemplate,
    (V1ALPHA3, "ResourceSlice"): v1alpha3.ResourceSlice,
    (V1ALPHA3, "DeviceClass"): v1.DeviceClass,
}

RETIRED = frozenset((V1ALPHA3, kind) for kind in ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"))
"""Read for the sake of old dumps (Kubernetes 1.31 and 1.32), although 1.37 no longer knows them and nothing serves them."""

NAMESPACED = frozenset(("ResourceClaim", "ResourceClaimTemplate"))


def versions_of(kind: str) -> list[str]:
    """The API versions that 1.37 knows `kind` in, newest first; empty for a kind that is not of this group."""
    return [
        version for version in (V1, V1BETA2, V1BETA1, V1ALPHA3) if (version, kind) in STRUCTS and (version, kind) not in RETIRED
    ]


def kind_of(obj: Strict) -> str:
    """The `kind` of a typed object: its struct's tag."""
    return str(obj.__struct_config__.tag)
