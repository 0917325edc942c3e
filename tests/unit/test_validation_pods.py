"""Pods: the rules for their claims (validation-1.37.md section 8)."""

import pytest

from unit.api_objects import Json, found, only

TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "t"}
CLAIM = "spec.resourceClaims[0]"
REFERENCE = "spec.containers[0].resources.claims"


def pod(*claims: Json, uses: Json = (), annotations: Json = None) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "annotations": annotations},
        "spec": {"resourceClaims": list(claims), "containers": [{"name": "c", "resources": {"claims": list(uses)}}]},
    }


@pytest.mark.parametrize(
    ("claim", "errors"),
    [
        (TEMPLATE, set()),
        ({"name": "gpu", "resourceClaimName": "c"}, set()),
        ({"name": "gpu"}, {("Invalid", CLAIM)}),
        ({**TEMPLATE, "resourceClaimName": "c"}, {("Invalid", CLAIM)}),
        ({**TEMPLATE, "name": ""}, {("Required", f"{CLAIM}.name")}),
        ({**TEMPLATE, "name": "a.b"}, {("Invalid", f"{CLAIM}.name")}),
        ({"name": "gpu", "resourceClaimName": "C"}, {("Invalid", f"{CLAIM}.resourceClaimName")}),
        ({"name": "gpu", "resourceClaimTemplateName": "T"}, {("Invalid", f"{CLAIM}.resourceClaimTemplateName")}),
    ],
)
def test_claims_of_a_pod(claim: Json, errors: set[tuple[str, str]]) -> None:
    assert found(pod(claim)) == errors


def test_two_claims_have_two_names() -> None:
    assert found(pod(TEMPLATE, TEMPLATE)) == {("Duplicate", "spec.resourceClaims[1].name")}


@pytest.mark.parametrize(
    ("uses", "errors"),
    [
        ([{"name": "gpu"}], set()),
        ([{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}], set()),
        ([{"name": ""}], {("Required", f"{REFERENCE}[0]")}),
        ([{"name": "gpu"}, {"name": "gpu"}], {("Duplicate", f"{REFERENCE}[1]")}),
        ([{"name": "gpu"}, {"name": "gpu", "request": "a"}], {("Duplicate", f"{REFERENCE}[1]")}),
        ([{"name": "gpu", "request": "a"}, {"name": "gpu"}], {("Duplicate", f"{REFERENCE}[1]")}),
        ([{"name": "gpu", "request": "A"}], {("Invalid", f"{REFERENCE}[0].request")}),
    ],
)
def test_references_of_a_container(uses: Json, errors: set[tuple[str, str]]) -> None:
    assert found(pod(TEMPLATE, uses=uses)) == errors


def test_a_reference_to_no_claim_lists_the_claims() -> None:
    error = only(pod(TEMPLATE, uses=[{"name": "tpu"}]))
    assert (error.type, error.path, error.value) == ("FieldValueNotFound", f"{REFERENCE}[0]", "tpu")
    assert error.message == "must be one of the names in pod.spec.resourceClaims: gpu"
    assert only(pod(uses=[{"name": "tpu"}])).message == "must be one of the names in pod.spec.resourceClaims which is empty"


def test_a_static_pod_has_no_claims() -> None:
    assert found(pod(TEMPLATE, annotations={"kubernetes.io/config.mirror": "x"})) == {("Forbidden", "")}
