"""Argo Workflows: the pods of the first steps, their names and contents. Rules: argo-workflows, workflow/controller."""

import pytest

from unit.workload_objects import expanded, messages, names, owned, stems, workload


def container(**more):
    return {"container": {"image": "x", **more}}


def template(name: str, **more):
    return {"name": name, **more}


def workflow(*templates, entrypoint: str = "main", name: str = "wf", status=None, **spec):
    return workload(
        "argoproj.io/v1alpha1",
        "Workflow",
        {"entrypoint": entrypoint, "templates": list(templates), **spec},
        name=name,
        status=status,
    )


def fnv32a(text: str) -> int:
    """FNV-1a as its authors define it."""
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


def test_an_entrypoint_that_is_a_container_is_one_pod_of_the_workflows_name():
    found = expanded(workflow(template("main", **container())))
    assert names(found) == ["wf"]
    # The executor's container comes first, the user's is called main.
    assert [each.name for each in found.pods[0].spec.containers] == ["wait", "main"]


def test_pods_of_steps_are_named_after_their_template_and_a_hash_of_their_place():
    main = template(
        "main", steps=[[{"name": "a", "template": "work"}, {"name": "b", "template": "work"}], [{"name": "c", "template": "work"}]]
    )
    found = expanded(workflow(main, template("work", **container())))
    assert names(found) == [f"wf-work-{fnv32a('wf[0].a')}", f"wf-work-{fnv32a('wf[0].b')}"]
    assert "steps that wait for others are not planned: c" in messages(found)


def test_tasks_of_a_dag_that_wait_for_nothing_start():
    tasks = [
        {"name": "a", "template": "work"},
        {"name": "b", "template": "work", "dependencies": ["a"]},
        {"name": "c", "template": "work", "depends": "a.Succeeded"},
    ]
    found = expanded(workflow(template("main", dag={"tasks": tasks}), template("work", **container())))
    assert names(found) == [f"wf-work-{fnv32a('wf.a')}"]
    assert "b, c" in messages(found)


def test_nested_steps_are_followed():
    outer = template("main", steps=[[{"name": "a", "template": "inner"}]])
    inner = template("inner", dag={"tasks": [{"name": "t", "template": "work"}]})
    found = expanded(workflow(outer, inner, template("work", **container())))
    assert names(found) == [f"wf-work-{fnv32a('wf[0].a.t')}"]


def test_a_step_runs_once_for_each_item():
    step = {"name": "a", "template": "work", "withItems": ["x", "y"]}
    found = expanded(workflow(template("main", steps=[[step]]), template("work", **container())))
    assert names(found) == [f"wf-work-{fnv32a(f'wf[0].a({place})')}" for place in ("0:x", "1:y")]


@pytest.mark.parametrize(
    ("sequence", "pods"),
    [({"count": "3"}, 3), ({"start": "2", "end": "5"}, 4), ({"count": "0"}, 0), ({"count": 2}, 2), ({"start": 3, "end": 1}, 3)],
)
def test_a_step_runs_as_often_as_a_sequence_says(sequence, pods: int):
    step = {"name": "a", "template": "work", "withSequence": sequence}
    assert len(expanded(workflow(template("main", steps=[[step]]), template("work", **container()))).pods) == pods


def test_parameters_whose_values_are_written_down_are_filled_in():
    # The GPU count of a fine-tuning workflow (corpus row 75).
    work = template(
        "work",
        inputs={"parameters": [{"name": "gpus"}]},
        container={"image": "x", "resources": {"limits": {"nvidia.com/gpu": "{{inputs.parameters.gpus}}"}}},
    )
    passed = {"parameters": [{"name": "gpus", "value": "{{workflow.parameters.trainer_gpus}}"}]}
    main = template("main", steps=[[{"name": "train", "template": "work", "arguments": passed}]])
    found = expanded(workflow(main, work, arguments={"parameters": [{"name": "trainer_gpus", "value": 4}]}))
    assert found.pods[0].spec.containers[1].resources.limits == {"nvidia.com/gpu": "4"}


def test_what_only_the_run_will_tell_is_said():
    step = {"name": "a", "template": "work", "withParam": "{{steps.list.outputs.result}}"}
    conditional = {"name": "b", "template": "work", "when": "{{steps.list.outputs.result}} == ok"}
    found = expanded(workflow(template("main", steps=[[step, conditional]]), template("work", **container())))
    assert len(found.pods) == 2
    assert "which only the run tells: once was assumed" in messages(found)
    assert "it was planned as if it did" in messages(found)


@pytest.mark.parametrize(("when", "pods"), [("false", 0), ("a == a", 1), ("{{workflow.parameters.go}} == yes", 0)])
def test_conditions_on_known_values_are_decided(when: str, pods: int):
    step = {"name": "a", "template": "work", "when": when}
    parameters = {"parameters": [{"name": "go", "value": "no"}]}
    found = expanded(workflow(template("main", steps=[[step]]), template("work", **container()), arguments=parameters))
    assert len(found.pods) == pods


def test_claims_come_from_the_template_or_the_workflow_or_a_patch():
    claim = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}
    for placed in (
        workflow(template("main", **container(), resourceClaims=[claim])),
        workflow(template("main", **container()), resourceClaims=[claim]),
        workflow(template("main", **container(), podSpecPatch="resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]")),
    ):
        (pod,) = expanded(placed).pods
        assert [(each.name, each.resource_claim_template_name) for each in pod.spec.resource_claims] == [("gpu", "one-gpu")]


def test_a_patch_reaches_a_container_by_its_name():
    claims = '"resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}]'
    patch = f'{{"containers": [{{"name": "main", "resources": {{"claims": [{{"name": "gpu"}}]}}}}], {claims}}}'
    (pod,) = expanded(workflow(template("main", **container(resources={"requests": {"cpu": "1"}})), podSpecPatch=patch)).pods
    main = pod.spec.containers[1]
    assert (main.resources.requests, [each.name for each in main.resources.claims]) == ({"cpu": "1"}, ["gpu"])


def test_scheduling_fields_of_the_template_come_before_those_of_the_workflow():
    main = template("main", **container(), nodeSelector={"of": "template"})
    wide = {"nodeSelector": {"of": "workflow"}, "tolerations": [{"key": "t"}], "podPriorityClassName": "high", "schedulerName": "s"}
    (pod,) = expanded(workflow(main, **wide)).pods
    assert pod.spec.node_selector == {"of": "template"}
    assert (pod.spec.tolerations[0].key, pod.spec.priority_class_name, pod.spec.scheduler_name) == ("t", "high", "s")


def test_parallelism_limits_the_pods_at_once():
    step = {"name": "a", "template": "work", "withItems": ["1", "2", "3"]}
    found = expanded(workflow(template("main", steps=[[step]]), template("work", **container()), parallelism=2))
    assert len(found.pods) == 2 and "allows 2 pods at once" in messages(found)


def test_a_workflow_of_a_template_object_uses_it_from_the_input():
    holder = workload(
        "argoproj.io/v1alpha1", "WorkflowTemplate", {"entrypoint": "main", "templates": [template("main", **container())]}, name="t"
    )
    run = workload("argoproj.io/v1alpha1", "Workflow", {"workflowTemplateRef": {"name": "t"}}, name="wf")
    assert names(expanded(holder, run)) == ["wf"]
    alone = expanded(run)
    assert alone.pods == () and "WorkflowTemplate t is not in the input" in messages(alone)


@pytest.mark.parametrize(
    "placed", [workflow(template("main", **container()), suspend=True), workflow(status={"phase": "Succeeded"})]
)
def test_a_suspended_or_ended_workflow_has_no_pods(placed):
    assert expanded(placed).pods == ()


def test_a_workflow_that_calls_itself_ends():
    main = template("main", steps=[[{"name": "a", "template": "main"}]])
    assert "calls itself" in messages(expanded(workflow(main)))


def test_an_unknown_template_is_a_problem_of_the_step():
    found = expanded(workflow(template("main", steps=[[{"name": "a", "template": "nowhere"}]])))
    assert [problem.path for problem in found.problems] == ["spec.templates[0].steps[0][0].template"]


def test_a_cron_workflow_is_planned_for_one_run():
    spec = {"schedule": "* * * * *", "workflowSpec": {"entrypoint": "main", "templates": [template("main", **container())]}}
    cron = workload("argoproj.io/v1alpha1", "CronWorkflow", spec, name="nightly")
    assert stems(expanded(cron)) == ["nightly-"]
    ended = workload(
        "argoproj.io/v1alpha1", "Workflow", spec["workflowSpec"], name="nightly-1", ownerReferences=owned("CronWorkflow", "nightly")
    )
    assert names(expanded(cron, ended)) == ["nightly-1"]


def test_a_quantity_that_only_the_run_will_tell_is_left_out_and_that_is_said():
    gpus = {"nvidia.com/gpu": "{{inputs.parameters.unknown}}"}
    found = expanded(workflow(template("main", **container(resources={"limits": gpus}))))
    assert found.pods[0].spec.containers[1].resources.limits == {}
    assert "which only rendering tells: it was left out" in messages(found)
