"""StatefulSets: ordinals, identity, volumes. Rules: pkg/controller/statefulset."""

from unit.workload_objects import expanded, names, owned, pod_template, running, workload


def stateful_set(**spec):
    return workload("apps/v1", "StatefulSet", {"serviceName": "db", "template": pod_template(), **spec}, name="db")


def test_pods_have_ordinals_from_zero():
    assert names(expanded(stateful_set(replicas=3))) == ["db-0", "db-1", "db-2"]


def test_ordinals_start_where_the_spec_says():
    assert names(expanded(stateful_set(replicas=2, ordinals={"start": 5}))) == ["db-5", "db-6"]


def test_only_missing_ordinals_are_made():
    exist = [running(f"db-{n}", owned("StatefulSet", "db")) for n in (0, 2)]
    assert names(expanded(stateful_set(replicas=4), *exist)) == ["db-1", "db-3"]


def test_pods_are_labelled_with_name_and_ordinal():
    (pod,) = expanded(stateful_set(ordinals={"start": 7})).pods
    labels = pod.metadata.labels or {}
    assert labels["statefulset.kubernetes.io/pod-name"] == "db-7"
    assert labels["apps.kubernetes.io/pod-index"] == "7"
    assert labels["app"] == "x"


def test_volumes_of_claim_templates_are_the_ordinals_own():
    # CLAIM-SET-ORDINAL; a volume of the template that has the claim's name gives way.
    template = pod_template(volumes=[{"name": "data", "emptyDir": {}}, {"name": "scratch", "emptyDir": {}}])
    (pod,) = expanded(stateful_set(template=template, volumeClaimTemplates=[{"metadata": {"name": "data"}}])).pods
    assert [volume.name for volume in pod.spec.volumes] == ["data", "scratch"]
    assert pod.spec.volumes[0].persistent_volume_claim == {"claimName": "data-db-0"}


def test_each_pod_gets_a_claim_of_its_own_from_the_template():
    template = pod_template(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}])
    found = expanded(stateful_set(replicas=2, template=template))
    assert [pod.spec.resource_claims[0].resource_claim_template_name for pod in found.pods] == ["one-gpu", "one-gpu"]
