"""What cannot be read or known: fields of the wrong type, expressions, pods that the API server refuses, numbers beyond reason."""

import pytest

from reparto.model.intake import read_inputs
from reparto.placement.workloads import expand
from unit.workload_objects import expanded, messages, pod_template, workload


def deployment(**spec):
    return workload("apps/v1", "Deployment", {"template": pod_template(), **spec}, name="web")


@pytest.mark.parametrize(
    ("replicas", "message"),
    [
        ("three", "a whole number is expected"),
        (1.5, "a whole number is expected"),
        (True, "a whole number is expected"),
        ([3], "a whole number is expected"),
        (-1, "a number from 0 to 2147483647 is expected"),
        (2**31, "a number from 0 to 2147483647 is expected"),
    ],
)
def test_replicas_that_are_no_number_are_a_problem_with_their_path(replicas, message: str):
    found = expanded(deployment(replicas=replicas))
    assert found.pods == ()
    assert [(problem.object, problem.path, problem.message) for problem in found.problems] == [
        ("Deployment/ml/web", "spec.replicas", message)
    ]


@pytest.mark.parametrize("replicas", ["{{ .Values.replicas }}", "${REPLICAS}", "$N", "{{replicas}}"])
def test_an_expression_is_assumed_to_be_one_and_that_is_said(replicas: str):
    found = expanded(deployment(replicas=replicas))
    assert len(found.pods) == 1
    assert f"spec.replicas is {replicas!r}, which only rendering tells: 1 was assumed" in messages(found)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"template": "x"}, "spec.template"),
        ({"template": {"spec": {}}}, "spec.template.spec.containers"),
        ({"template": {"spec": {"containers": "c"}}}, "spec.template.spec.containers"),
        ({"template": {"spec": {"containers": ["c"]}}}, "spec.template.spec.containers[0]"),
        ({"template": {"metadata": [], "spec": {"containers": [{"name": "c"}]}}}, "spec.template.metadata"),
        ({"template": pod_template(tolerations="all")}, "spec.template.spec.tolerations"),
        ({"template": pod_template(affinity="near")}, "spec.template.spec.affinity"),
    ],
)
def test_a_template_of_which_no_pod_can_be_made_is_a_problem(spec, path: str):
    found = expanded(deployment(**spec))
    assert found.pods == ()
    assert [problem.path for problem in found.problems] == [path]


@pytest.mark.parametrize("spec", [None, [], "x", 7])
@pytest.mark.parametrize(
    ("api_version", "kind"), [("apps/v1", "StatefulSet"), ("batch/v1", "CronJob"), ("argoproj.io/v1alpha1", "Workflow")]
)
def test_an_object_without_a_spec_is_no_reason_to_fail(api_version: str, kind: str, spec):
    item = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "ml"}, "spec": spec}
    found = expanded(item)
    assert found.pods == () and found.problems


def test_a_pod_that_the_api_server_refuses_is_a_problem_once():
    # A container uses a claim that the pod does not have.
    template = pod_template(containers=[{"name": "c", "resources": {"claims": [{"name": "gpu"}]}}])
    found = expanded(deployment(replicas=3, template=template))
    assert found.pods == ()
    assert [problem.path for problem in found.problems] == ["spec.template.spec.containers[0].resources.claims[0]"]


def test_a_number_beyond_reason_ends_at_a_limit_and_that_is_said(monkeypatch):
    monkeypatch.setattr("reparto.placement.workloads.expansion.MAX_PODS", 50)
    found = expanded(deployment(replicas=2_000_000_000))
    assert len(found.pods) == 50
    assert "more than 50 pods are not planned" in messages(found)


def test_problems_name_the_file_and_line(tmp_path):
    file = tmp_path / "web.yaml"
    file.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        "spec: {replicas: many, template: {spec: {containers: [{name: c}]}}}\n"
    )
    intake = read_inputs([str(file)])
    (problem,) = expand(intake.carriers, []).problems
    assert (problem.file, problem.line) == (str(file), 1)


def test_owners_that_point_at_each_other_do_no_harm():
    a = workload("apps/v1", "Deployment", {"template": pod_template()}, name="a")
    for item, other in ((a, "b"), (b := {**a, "metadata": {"name": "b", "namespace": "ml"}}, "a")):
        item["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": other, "uid": "u", "controller": True}
        ]
    assert expanded(a, b).problems == ()


def test_an_object_without_a_name_is_a_problem():
    found = expanded({**deployment(), "metadata": {"namespace": "ml"}})
    assert [(problem.path, problem.type) for problem in found.problems] == [("metadata.name", "FieldValueRequired")]


def test_a_quantity_that_is_an_expression_is_left_out_and_that_is_said():
    limits = {"nvidia.com/gpu": "{{ .Values.gpus }}", "memory": "1Gi"}
    found = expanded(deployment(template=pod_template(containers=[{"name": "c", "resources": {"limits": limits}}])))
    assert found.pods[0].spec.containers[0].resources.limits == {"memory": "1Gi"}
    path = "spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]"
    assert f"{path} is '{{{{ .Values.gpus }}}}', which only rendering tells: it was left out" in messages(found)


def test_another_field_that_is_an_expression_is_taken_as_written_and_that_is_said():
    found = expanded(deployment(template=pod_template(nodeSelector={"pool": "${POOL}"})))
    assert found.pods[0].spec.node_selector == {"pool": "${POOL}"}
    assert "nodeSelector holds an expression, which only rendering tells; it was taken as written" in messages(found)
