"""Kinds that nobody told us about: pod templates found by walking, whole objects inside, copies that nobody runs."""

from unit.workload_objects import expanded, messages, owned, owners, pod_template, running, stems, workload


def custom(spec, **more):
    return workload("example.com/v1", "Thing", spec, name="t", **more)


def test_a_template_beside_replicas_is_run_as_often_and_that_is_said():
    found = expanded(custom({"replicas": 3, "template": pod_template()}))
    assert stems(found) == ["t-"] * 3
    assert "the controller of Thing is not known; of spec.template, as many pods as replicas says (3) were planned" in messages(
        found
    )


def test_a_template_without_a_number_is_run_once_and_that_is_said():
    found = expanded(custom({"podTemplate": pod_template()}))
    assert len(found.pods) == 1
    assert "one pod was planned" in messages(found)


def test_several_templates_are_named_after_their_roles():
    # As HyperPodPyTorchJob writes them (corpus row 67).
    roles = [{"name": "head", "template": pod_template()}, {"name": "worker", "replicas": 2, "template": pod_template()}]
    assert stems(expanded(custom({"replicaSpecs": roles}))) == ["t-head-", "t-worker-", "t-worker-"]


def test_a_template_at_the_root_of_an_object_is_found():
    # KAITO's Workspace keeps `inference` beside metadata, not in a spec (corpus row 82).
    space = {"apiVersion": "kaito.sh/v1beta1", "kind": "Workspace", "metadata": {"name": "w", "namespace": "ml"}}
    assert stems(expanded({**space, "inference": {"template": pod_template()}})) == ["w-"]


def test_field_names_with_dots_and_brackets_do_no_harm():
    assert len(expanded(custom({"a.b[0]": {"template": pod_template()}})).pods) == 1


def test_whole_objects_inside_are_planned_as_if_applied():
    inner = workload("batch/v1", "Job", {"parallelism": 2, "template": pod_template()}, name="inner")
    found = expanded(custom({"components": [{"template": inner}]}))
    assert owners(found) == ["Job/inner"] * 2
    assert "spec.components[0].template is a whole Job" in messages(found)


def test_what_its_controller_has_made_is_what_it_makes():
    made = workload(
        "apps/v1", "Deployment", {"replicas": 2, "template": pod_template()}, name="t", ownerReferences=owned("Thing", "t")
    )
    found = expanded(custom({"template": pod_template()}), made)
    assert len(found.pods) == 2
    assert {owner.partition("/")[0] for owner in owners(found)} == {"ReplicaSet"}


def test_pods_that_it_has_are_not_made_twice():
    exist = running("t-1", owned("Thing", "t", api_version="example.com/v1"))
    assert len(expanded(custom({"replicas": 2, "template": pod_template()}), exist).pods) == 1


def test_templates_that_nobody_runs_make_no_pods():
    # A PodTemplate, a revision of a DaemonSet, Kueue's copy of a Job.
    for api_version, kind, value in (
        ("v1", "PodTemplate", {"template": pod_template()}),
        ("apps/v1", "ControllerRevision", {"data": {"spec": {"template": pod_template()}}}),
        ("kueue.x-k8s.io/v1beta1", "Workload", {"spec": {"podSets": [{"count": 2, "template": pod_template()}]}}),
    ):
        item = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "ml"}, **value}
        assert expanded(item).pods == ()


def test_a_cluster_scoped_object_says_that_the_namespace_is_not_known():
    item = {"apiVersion": "example.com/v1", "kind": "ClusterThing", "metadata": {"name": "t"}, "spec": {"template": pod_template()}}
    found = expanded(item)
    assert found.pods == ()
    assert messages(found) == "ClusterThing t: it is cluster-scoped, so the namespace of its pods is not known"
