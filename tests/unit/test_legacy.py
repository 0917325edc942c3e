"""Classic DRA and what articles invented is refused, each with the modern field (gpu-landscape.md section 1)."""

from typing import Any

import pytest

from reparto.model.legacy import classic_fields, pod_fields, refusal


@pytest.mark.parametrize(
    ("api_version", "kind", "modern"),
    [
        # Classic DRA, 1.26 to 1.31
        ("resource.k8s.io/v1alpha2", "ResourceClaim", "apiVersion: resource.k8s.io/v1"),
        ("resource.k8s.io/v1alpha2", "ResourceClaimTemplate", "apiVersion: resource.k8s.io/v1"),
        ("resource.k8s.io/v1alpha2", "ResourceSlice", "apiVersion: resource.k8s.io/v1"),
        ("resource.k8s.io/v1alpha2", "ResourceClass", "DeviceClass"),
        ("resource.k8s.io/v1alpha2", "ResourceClaimParameters", "spec.devices.requests"),
        ("resource.k8s.io/v1alpha2", "ResourceClassParameters", "DeviceClass"),
        ("resource.k8s.io/v1alpha2", "PodSchedulingContext", "remove it"),
        ("resource.k8s.io/v1alpha1", "ResourceClaimTemplate", "apiVersion: resource.k8s.io/v1"),
        ("gpu.resource.nvidia.com/v1alpha1", "GpuClaimParameters", "spec.devices.config[].opaque.parameters"),
        ("gpu.resource.nvidia.com/v1alpha1", "MigDeviceClaimParameters", "spec.devices.requests[].exactly"),
        ("gpu.resource.nvidia.com/v1alpha1", "DeviceClassParameters", "spec.devices"),
        # Right kind, wrong version or group
        ("resource.k8s.io/v2", "ResourceClaim", "apiVersion: resource.k8s.io/v1"),
        ("v1", "ResourceClaim", "apiVersion: resource.k8s.io/v1"),
        ("v1", "DeviceClass", "apiVersion: resource.k8s.io/v1"),
        ("scheduling.k8s.io/v1", "ResourceClaimTemplate", "apiVersion: resource.k8s.io/v1"),
        ("core/v1", "Pod", "apiVersion: v1"),
        ("v1beta1", "Node", "apiVersion: v1"),
        ("scheduling.k8s.io/v1beta1", "PriorityClass", "apiVersion: scheduling.k8s.io/v1"),
        ("v1", "PriorityClass", "apiVersion: scheduling.k8s.io/v1"),
        ("v1", "pod", "kind: Pod"),
        ("resource.k8s.io/v1", "resourceclaim", "kind: ResourceClaim"),
        ("resource.k8s.io/v1beta2", "ResourceSlices", "kind: ResourceSlice"),
        ("resource.k8s.io/v1", "DeviceClasses", "kind: DeviceClass"),
        # Invented
        ("v1", "GPU", "ResourceClaim"),
        ("resource.k8s.io/v1", "GPU", "ResourceClaim"),
        ("nvidia.com/v1", "GPU", "ResourceClaim"),
        ("resource.k8s.io/v1", "ResourceClass", "DeviceClass"),
        ("resource.k8s.io/v1", "DeviceClaim", "ResourceClaim"),
        ("resource.k8s.io/v1", "Foo", "DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice"),
    ],
)
def test_a_legacy_kind_is_refused_with_what_to_write(api_version: str, kind: str, modern: str) -> None:
    error = refusal(api_version, kind)
    assert error is not None
    assert error.type == "Decode"
    assert error.path in ("apiVersion", "kind")
    assert modern in error.hint


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("resource.k8s.io/v1", "ResourceClaim"),
        ("resource.k8s.io/v1beta1", "ResourceSlice"),
        ("resource.k8s.io/v1alpha3", "DeviceTaintRule"),
        ("resource.nvidia.com/v1beta1", "ComputeDomain"),
        ("apps/v1", "Deployment"),
        ("v1", "ConfigMap"),
        ("metrics.example.com/v1", "Node"),
        ("example.com/v1", "GPU"),  # somebody's own resource
        ("example.com/v1", "DeviceClass"),
        ("crossplane.example.org/v1", "ResourceClaim"),
        ("nodemanagement.example.com/v1", "NodeParameters"),
    ],
)
def test_what_is_current_or_not_ours_is_not_refused(api_version: str, kind: str) -> None:
    assert refusal(api_version, kind) is None


def test_each_classic_field_is_told_its_successor() -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1alpha2",
        "kind": "ResourceClaim",
        "metadata": {"name": "controller"},
        "spec": {"resourceClassName": "gpu.nvidia.com", "parametersRef": {"kind": "GpuClaimParameters", "name": "x"}},
    }
    found = {error.path: error.hint for error in classic_fields(claim)}
    assert found.keys() == {"spec.resourceClassName", "spec.parametersRef"}
    assert "spec.devices.requests[].exactly.deviceClassName" in found["spec.resourceClassName"]
    assert "spec.devices.config[].opaque.parameters" in found["spec.parametersRef"]


def pod(claim: dict[str, Any], container_claim: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceClaims": [{"name": "ok", "resourceClaimName": "c"}, claim],
        "containers": [{"resources": {"claims": [container_claim]}}],
    }


@pytest.mark.parametrize(
    ("claim", "path", "modern"),
    [
        ({"name": "g", "source": {"resourceClaimTemplateName": "t"}}, "source", "resourceClaimTemplateName: t"),
        ({"name": "g", "source": {"resourceClaimName": "c"}}, "source", "resourceClaimName: c"),
        ({"name": "g", "source": "t"}, "source", "resourceClaimTemplateName"),
        ({"name": "g", "resourceTemplate": {"selection": {"matchLabels": {}}}}, "resourceTemplate", "resourceClaimTemplateName"),
        ({"name": "g", "resourceClaimTemplate": {}}, "resourceClaimTemplate", "resourceClaimTemplateName"),
        ({"name": "g", "resourceClassName": "gpu"}, "resourceClassName", "exactly (deviceClassName"),
        ({"name": "g", "deviceClassName": "gpu"}, "deviceClassName", "exactly (deviceClassName"),
        ({"name": "g", "selection": {"matchLabels": {}}}, "selection", "selectors"),
        ({"name": "g", "claimName": "c"}, "claimName", "resourceClaimName"),
    ],
)
def test_fields_that_pod_claims_never_had_or_lost(claim: dict[str, Any], path: str, modern: str) -> None:
    (error,) = pod_fields(pod(claim, {"name": "ok"}))
    assert error.path == f"spec.resourceClaims[1].{path}"
    assert error.message == f'unknown field "spec.resourceClaims[1].{path}"'
    assert modern in error.hint


def test_a_container_only_names_a_claim_and_a_request() -> None:
    (error,) = pod_fields(
        pod({"name": "g"}, {"name": "ok", "request": "r", "resourceClaimTemplate": {"spec": {}}}), "spec.template.spec"
    )
    assert error.path == "spec.template.spec.containers[0].resources.claims[0].resourceClaimTemplate"
    assert "a container names one of the pod's spec.resourceClaims" in error.hint


@pytest.mark.parametrize(
    "spec", [{}, {"resourceClaims": None}, {"resourceClaims": "x"}, {"containers": [None, 1, {"resources": []}]}]
)
def test_misshapen_pods_are_left_to_decoding(spec: dict[str, Any]) -> None:
    assert pod_fields(spec) == []
