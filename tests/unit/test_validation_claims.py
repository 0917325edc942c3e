"""ResourceClaim and ResourceClaimTemplate: the rules for their spec, with type, path and value (validation-1.37.md section 4)."""

import pytest

from reparto import model
from unit.api_objects import Json, claim, exact, found, only, template

SUB = {"name": "big", "deviceClassName": "gpu.example.com"}
CONFIG = {"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}
REQUESTS = "spec.devices.requests"


def alternatives(*subs: Json) -> Json:
    return {"name": "gpu", "firstAvailable": list(subs)}


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_a_plain_claim_is_valid(version: str) -> None:
    assert found(claim(version=version)) == set()
    assert found(template(version=version)) == set()


def test_a_claim_without_requests_is_valid() -> None:
    assert found({**claim(), "spec": {"devices": {"requests": []}}}) == set()


@pytest.mark.parametrize(
    ("request_", "errors"),
    [
        (exact("GPU"), {("Invalid", f"{REQUESTS}[0].name")}),
        (exact(""), {("Invalid", f"{REQUESTS}[0].name")}),
        ({"name": "gpu"}, {("Required", f"{REQUESTS}[0]")}),
        # Both kinds: nothing deeper is looked at.
        (
            {**exact(deviceClassName=""), "firstAvailable": [{"name": "X"}]},
            {("Invalid", f"{REQUESTS}[0]"), ("Required", f"{REQUESTS}[0].firstAvailable[0].deviceClassName")},
        ),
        (exact(deviceClassName=""), {("Required", f"{REQUESTS}[0].exactly.deviceClassName")}),
        (exact(deviceClassName="GPU"), {("Invalid", f"{REQUESTS}[0].exactly.deviceClassName")}),
        (exact(selectors=[{}]), {("Required", f"{REQUESTS}[0].exactly.selectors[0].cel")}),
        (exact(selectors=[{"cel": {"expression": "true"}}] * 33), {("TooMany", f"{REQUESTS}[0].exactly.selectors")}),
        (exact(allocationMode="Some"), {("NotSupported", f"{REQUESTS}[0].exactly.allocationMode")}),
        (exact(allocationMode="All", count=1), {("Invalid", f"{REQUESTS}[0].exactly.count")}),
        (exact(count=-1), {("Invalid", f"{REQUESTS}[0].exactly.count")}),
        (exact(tolerations=[{"key": "-", "operator": "Exists"}]), {("Invalid", f"{REQUESTS}[0].exactly.tolerations[0].key")}),
        (exact(tolerations=[{"operator": "Maybe"}]), {("NotSupported", f"{REQUESTS}[0].exactly.tolerations[0].operator")}),
        (exact(tolerations=[{"operator": "Exists", "value": "x"}]), {("Invalid", f"{REQUESTS}[0].exactly.tolerations[0].value")}),
        (exact(tolerations=[{"key": "a", "value": "-"}]), {("Invalid", f"{REQUESTS}[0].exactly.tolerations[0].value")}),
        (exact(tolerations=[{"effect": "Never"}]), {("NotSupported", f"{REQUESTS}[0].exactly.tolerations[0].effect")}),
        (alternatives(*({**SUB, "name": f"n{i}"} for i in range(9))), {("TooMany", f"{REQUESTS}[0].firstAvailable")}),
        (alternatives(SUB, SUB), {("Duplicate", f"{REQUESTS}[0].firstAvailable[1]")}),
        (alternatives({**SUB, "deviceClassName": ""}), {("Required", f"{REQUESTS}[0].firstAvailable[0].deviceClassName")}),
        (alternatives({**SUB, "name": "a.b"}), {("Invalid", f"{REQUESTS}[0].firstAvailable[0].name")}),
    ],
)
def test_each_broken_request_is_found_at_its_path(request_: Json, errors: set[tuple[str, str]]) -> None:
    assert found(claim(request_)) == errors
    in_template = {(kind, path.replace("spec.devices", "spec.spec.devices")) for kind, path in errors}
    assert found(template(request_)) == in_template


@pytest.mark.parametrize(
    "request_",
    [
        exact(tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(17)]),  # 16 is documented, not enforced
        exact(tolerations=[{"value": "x"}]),  # an empty key with Equal
        exact(capacity={"requests": {"not a name": "-1"}}),
        exact(tolerations=[{"operator": "Exists", "tolerationSeconds": -1}]),
    ],
)
def test_what_is_documented_but_not_enforced_passes(request_: Json) -> None:
    assert found(claim(request_)) == set()


def test_a_duplicate_shows_the_whole_request_as_it_is_in_that_version() -> None:
    error = only(claim(exact(), exact()))
    assert (error.type, error.path) == ("FieldValueDuplicate", "spec.devices.requests[1]")
    assert error.value["exactly"]["count"] == 1
    flat = {"name": "gpu", "deviceClassName": "g"}
    assert only(claim(flat, flat, version="v1beta1")).value["deviceClassName"] == "g"


def test_33_requests_are_one_error_that_shows_the_number() -> None:
    error = only(claim(*(exact("SAME") for _ in range(33))))
    assert (error.type, error.path, error.value, error.message) == (
        "FieldValueTooMany",
        "spec.devices.requests",
        33,
        "must have at most 32 items",
    )


@pytest.mark.parametrize(
    ("constraint", "errors"),
    [
        ({"requests": ["gpu"]}, {("Required", "spec.devices.constraints[0]")}),
        ({"matchAttribute": "numa"}, {("Invalid", "spec.devices.constraints[0].matchAttribute")}),
        ({"matchAttribute": "/numa"}, {("Invalid", "spec.devices.constraints[0].matchAttribute")}),
        ({"matchAttribute": "a.b/" + "n" * 33}, {("TooLong", "spec.devices.constraints[0].matchAttribute")}),
        ({"matchAttribute": "a.b/c", "requests": ["nothing"]}, {("Invalid", "spec.devices.constraints[0].requests[0]")}),
        ({"matchAttribute": "a.b/c", "requests": ["gpu/sub"]}, {("Invalid", "spec.devices.constraints[0].requests[0]")}),
        ({"matchAttribute": "a.b/c", "requests": ["a/b/c"]}, {("Invalid", "spec.devices.constraints[0].requests[0]")}),
        ({"matchAttribute": "a.b/c", "requests": ["gpu", "gpu"]}, {("Duplicate", "spec.devices.constraints[0].requests[1]")}),
        ({"matchAttribute": "a.b/c", "requests": ["gpu"] * 33}, {("TooMany", "spec.devices.constraints[0].requests")}),
        ({"distinctAttribute": "a.b/c"}, set()),
        # Documented as an error, accepted in fact; and a second slash is not looked at.
        ({"matchAttribute": "a.b/c", "distinctAttribute": "a.b/c"}, set()),
        ({"matchAttribute": "a/b/c"}, set()),
    ],
)
def test_constraints(constraint: Json, errors: set[tuple[str, str]]) -> None:
    assert found(claim(constraints=[constraint])) == errors


def test_a_constraint_without_attribute_has_upstreams_wrong_text() -> None:
    error = only(claim(constraints=[{}]))
    assert error.message == 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    assert "matchAttribute" in error.hint
    old_rule = only(claim(constraints=[{}]), DRAConsumableCapacity=False)
    assert (old_rule.type, old_rule.path) == ("FieldValueRequired", "spec.devices.constraints[0].matchAttribute")


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        ({}, {("Required", "spec.devices.config[0].opaque")}),
        ({"opaque": {"parameters": {}}}, {("Required", "spec.devices.config[0].opaque.driver")}),
        ({"opaque": {"driver": "d" * 64, "parameters": {}}}, {("TooLong", "spec.devices.config[0].opaque.driver")}),
        ({"opaque": {"driver": "d"}}, {("Required", "spec.devices.config[0].opaque.parameters")}),
        ({"opaque": {"driver": "d", "parameters": None}}, {("Required", "spec.devices.config[0].opaque.parameters")}),
        ({"opaque": {"driver": "d", "parameters": [1]}}, {("Invalid", "spec.devices.config[0].opaque.parameters")}),
        ({"opaque": {"driver": "d", "parameters": {"a": "x" * 10240}}}, {("TooLong", "spec.devices.config[0].opaque.parameters")}),
        ({**CONFIG, "requests": ["other"]}, {("Invalid", "spec.devices.config[0].requests[0]")}),
    ],
)
def test_configuration(config: Json, errors: set[tuple[str, str]]) -> None:
    assert found(claim(config=[config])) == errors


def test_parameters_nested_without_end_are_too_long() -> None:
    deep: Json = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert found(claim(config=[{"opaque": {"driver": "d", "parameters": deep}}])) == {
        ("TooLong", "spec.devices.config[0].opaque.parameters")
    }


def test_v1beta1_paths_have_no_exactly_where_the_declarative_rule_speaks() -> None:
    flat = {"name": "gpu", "deviceClassName": "g", "allocationMode": "Some", "tolerations": [{"effect": "Never"}]}
    assert found(claim(flat, version="v1beta1")) == {
        ("NotSupported", "spec.devices.requests[0].allocationMode"),
        ("NotSupported", "spec.devices.requests[0].tolerations[0].effect"),
    }
    # The handwritten rules keep the shape of v1.
    assert found(claim({**flat, "deviceClassName": "G", "allocationMode": "All", "tolerations": []}, version="v1beta1")) == {
        ("Invalid", "spec.devices.requests[0].exactly.deviceClassName")
    }


def test_all_errors_are_found_not_only_the_first() -> None:
    broken = claim(exact("A", deviceClassName=""), constraints=[{}], config=[{}])
    assert found(broken) == {
        ("Invalid", "spec.devices.requests[0].name"),
        ("Required", "spec.devices.requests[0].exactly.deviceClassName"),
        ("Required", "spec.devices.constraints[0]"),
        ("Required", "spec.devices.config[0].opaque"),
    }


def test_a_template_may_hold_labels_and_annotations_only() -> None:
    broken = template()
    broken["spec"]["metadata"] = {"name": "x", "uid": "u", "labels": {"-": "b"}, "annotations": {"a": "b"}}
    assert found(broken) == {
        ("Forbidden", "spec.metadata.name"),
        ("Forbidden", "spec.metadata.uID"),
        ("Invalid", "spec.metadata.labels"),
    }


@pytest.mark.parametrize(
    ("metadata", "errors"),
    [
        ({"name": "C", "namespace": "ns"}, {("Invalid", "metadata.name")}),
        ({"namespace": "ns"}, {("Required", "metadata.name")}),
        ({"name": "c"}, {("Required", "metadata.namespace")}),
        ({"name": "c", "namespace": "n.s"}, {("Invalid", "metadata.namespace")}),
        ({"name": "c", "namespace": "ns", "finalizers": ["mine"]}, {("Invalid", "metadata.finalizers[0]")}),
        (
            {"name": "c", "namespace": "ns", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]},
            {("Required", "metadata.ownerReferences[0].uid")},
        ),
        ({"name": "c", "namespace": "ns", "generation": -1}, {("Invalid", "metadata.generation")}),
        ({"name": "c", "namespace": "ns", "annotations": {"a": "x" * 262_144}}, {("TooLong", "metadata.annotations")}),
    ],
)
def test_metadata(metadata: Json, errors: set[tuple[str, str]]) -> None:
    assert found({**claim(), "metadata": metadata}) == errors


def test_judging_a_file_fills_in_what_the_server_would() -> None:
    raw = {**claim(), "metadata": {"generateName": "c-"}}
    assert model.judge(model.default(raw)) == []
    assert [error.path for error in model.judge(model.default({**raw, "metadata": {"generateName": "C-"}}))] != []
