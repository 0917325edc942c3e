"""`-o yaml` is a state: planned again everything is bound with the same devices, and any cluster takes the objects."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reparto.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "broken")

Object = dict[str, Any]


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["plan", *arguments])
        written = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, written.out, written.err

    return call


@pytest.fixture
def placed(plan, tmp_path: Path):
    """The objects that `-o yaml` prints for documents."""

    def call(*documents: Object, options: tuple[str, ...] = ()) -> list[Object]:
        path = tmp_path / "in.yaml"
        path.write_text("\n---\n".join(map(json.dumps, documents)))
        written = yaml.safe_load(plan("-f", str(path), "-o", "yaml", *options)[1])
        assert (written["apiVersion"], written["kind"]) == ("v1", "List")
        return written["items"]

    return call


def of_kind(items: list[Object], kind: str) -> list[Object]:
    return [item for item in items if item["kind"] == kind]


def devices(document: Object) -> dict[str, Any]:
    """What each real pod has: its node, and its devices by request."""
    return {
        pod["name"]: (
            pod["node"],
            [
                (claim["name"], result["request"], result["pool"], result["device"], result.get("consumedCapacity"))
                for claim in pod["claims"]
                for result in (claim["allocation"] or {"devices": {}})["devices"].get("results", [])
            ],
        )
        for pod in document["pods"]
        if not pod["hypothetical"] and pod["verdict"] in ("placed", "bound")
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_planned_again_everything_placed_is_bound_with_the_same_devices(plan, tmp_path: Path, folder: str):
    first = json.loads(plan("-f", str(EXAMPLES / folder), "-o", "json")[1])
    saved = tmp_path / "placed.yaml"
    saved.write_text(plan("-f", str(EXAMPLES / folder), "-o", "yaml")[1])
    code, out, err = plan("-f", str(saved), "-o", "json", "-v")
    second = json.loads(out)
    assert second["errors"] == [] and err == ""
    assert second["summary"]["placed"] == second["summary"]["hypothetical"] - sum(
        pod["hypothetical"] and pod["verdict"] != "placed" for pod in second["pods"]
    )
    assert devices(second) == devices(first) != {}
    assert second["summary"]["pending"] == first["summary"]["pending"]
    assert code == (1 if first["summary"]["pending"] else 0)


CLASS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n", "labels": {"zone": "a"}},
    "status": {"allocatable": {"pods": "9"}},
}
SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s", "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}]},
    "spec": {
        "driver": "gpu.test",
        "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}],
    },
}
TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "t", "namespace": "ml"},
    "spec": {
        "metadata": {"labels": {"team": "a"}},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "any"}}]}},
    },
}


def pod(name: str, **metadata: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", **metadata},
        "spec": {
            "containers": [{"name": "c", "image": "i", "command": ["run"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "resourceClaims": [{"name": "mine", "resourceClaimTemplateName": "t"}],
        },
    }


def test_a_placed_pod_has_its_node_and_names_its_claim(placed):
    (item,) = of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, pod("a")), "Pod")
    (entry,) = item["spec"]["resourceClaims"]
    assert item["spec"]["nodeName"] == "n"
    assert entry.keys() == {"name", "resourceClaimName"}
    assert item["status"]["resourceClaimStatuses"] == [{"name": "mine", "resourceClaimName": entry["resourceClaimName"]}]


def test_what_reparto_does_not_know_of_a_pod_stays(placed):
    given = pod("a")
    (item,) = of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, given), "Pod")
    assert item["spec"]["containers"] == given["spec"]["containers"]
    assert item["spec"]["volumes"] == given["spec"]["volumes"]


def test_the_claim_of_a_template_is_an_object_of_its_own_allocated_and_reserved(placed):
    items = placed(CLASS, NODE, SLICE, TEMPLATE, pod("a", uid="6c0ad42a-9d6f-4a0c-8d2f-0c9a1c6e3d10"))
    (item,) = of_kind(items, "ResourceClaim")
    assert item["metadata"] == {
        "name": of_kind(items, "Pod")[0]["spec"]["resourceClaims"][0]["resourceClaimName"],
        "namespace": "ml",
        "labels": {"team": "a"},
    }
    assert item["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "any"
    (result,) = item["status"]["allocation"]["devices"]["results"]
    assert result == {"request": "gpu", "driver": "gpu.test", "pool": "n", "device": "gpu-0"}
    assert item["status"]["reservedFor"] == [{"resource": "pods", "name": "a", "uid": "6c0ad42a-9d6f-4a0c-8d2f-0c9a1c6e3d10"}]


def test_a_pod_without_uid_gets_a_reservation_that_the_api_accepts_always_the_same(placed):
    def uid() -> str:
        return of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, pod("a")), "ResourceClaim")[0]["status"]["reservedFor"][0]["uid"]

    assert len(uid()) == 36
    assert uid() == uid()


def test_a_template_that_no_pod_waits_for_is_left_out_others_stay(placed):
    other = {**TEMPLATE, "metadata": {"name": "unused", "namespace": "ml"}}
    assert [
        each["metadata"]["name"] for each in of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, other, pod("a")), "ResourceClaimTemplate")
    ] == ["unused"]
    waiting = placed(CLASS, NODE, SLICE, TEMPLATE, pod("a"), pod("b"), pod("c"))
    assert len(of_kind(waiting, "ResourceClaimTemplate")) == 1
    assert "nodeName" not in of_kind(waiting, "Pod")[2]["spec"]


def test_pods_come_in_the_order_in_which_they_were_considered(placed):
    late = pod("a", creationTimestamp="2026-01-02T00:00:00Z")
    early = pod("b", creationTimestamp="2026-01-01T00:00:00Z")
    assert [item["metadata"]["name"] for item in of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, late, early), "Pod")] == ["b", "a"]


def test_nothing_refers_to_the_cluster_that_the_objects_come_from(placed):
    server = {"uid": "u", "resourceVersion": "1", "generation": 1, "managedFields": [], "ownerReferences": []}
    annotated = {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "kept": "yes"}}
    items = placed(CLASS, NODE, SLICE, TEMPLATE, pod("a", **server, **annotated))
    for item in items:
        assert not item["metadata"].keys() & {"uid", "resourceVersion", "generation", "managedFields", "ownerReferences"}, item[
            "kind"
        ]
    assert of_kind(items, "Pod")[0]["metadata"]["annotations"] == {"kept": "yes"}


def test_namespaces_come_first_and_missing_ones_are_added(placed):
    items = placed(pod("a"), TEMPLATE, SLICE, NODE, CLASS)
    assert [item["kind"] for item in items] == ["Namespace", "DeviceClass", "Node", "ResourceSlice", "ResourceClaim", "Pod"]
    assert items[0]["metadata"] == {"name": "ml"}


def test_a_class_that_stood_in_for_a_missing_one_is_written(placed):
    wanted = json.loads(json.dumps(TEMPLATE).replace('"any"', '"gpu.nvidia.com"'))
    assert [item["metadata"]["name"] for item in of_kind(placed(NODE, SLICE, wanted, pod("a")), "DeviceClass")] == [
        "gpu.nvidia.com"
    ]


def test_a_node_keeps_labels_and_status(placed):
    (item,) = of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, pod("a")), "Node")
    assert (item["metadata"]["labels"], item["status"]) == ({"zone": "a"}, {"allocatable": {"pods": "9"}})


def test_finished_pods_are_left_out(placed):
    assert of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, {**pod("a"), "status": {"phase": "Succeeded"}}), "Pod") == []


def test_a_namespace_option_does_not_cut_the_state(placed):
    assert len(of_kind(placed(CLASS, NODE, SLICE, TEMPLATE, pod("a"), options=("-n", "other")), "Pod")) == 1


@pytest.mark.parametrize(
    ("side", "kind"), [("pods", "Pod"), ("nodes", "Node"), ("devices", "ResourceSlice"), ("claims", "ResourceClaim")]
)
def test_show_prints_the_objects_of_one_kind(placed, side: str, kind: str):
    assert {item["kind"] for item in placed(CLASS, NODE, SLICE, TEMPLATE, pod("a"), options=("--show", side))} == {kind}


def test_claims_alone_come_without_reservations_for_their_pods_have_no_uid_yet(placed):
    (item,) = placed(CLASS, NODE, SLICE, TEMPLATE, pod("a"), options=("--show", "claims"))
    assert item["status"].keys() == {"allocation"}


def test_a_workload_is_written_as_its_pods_in_full(placed):
    given = pod("x")
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ml"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": given["spec"]},
        },
    }
    items = placed(CLASS, NODE, SLICE, TEMPLATE, workload)
    assert of_kind(items, "Deployment") == []
    first, second = of_kind(items, "Pod")
    assert first["metadata"]["name"] != second["metadata"]["name"]
    for item in (first, second):
        assert item["spec"]["nodeName"] == "n"
        assert item["spec"]["volumes"] == given["spec"]["volumes"]
        assert not item["metadata"].keys() & {"ownerReferences", "generateName"}


def test_what_every_cluster_has_of_its_own_is_left_out(placed):
    def namespaced(name: str, **labels: str) -> Object:
        own = {"kubernetes.io/metadata.name": name}
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {**own, **labels}}}

    def service(name: str, namespace: str, address: str) -> Object:
        spec = {"clusterIP": address, "clusterIPs": [address], "selector": {"app": name}}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}

    def priority(name: str) -> Object:
        return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}

    items = placed(
        *(namespaced("default"), namespaced("kube-system", team="a"), priority("system-node-critical"), priority("high")),
        *(service("kubernetes", "default", "10.0.0.1"), service("web", "ml", "10.0.0.7"), service("headless", "ml", "None")),
        pod("a"),
    )
    assert [(item["kind"], item["metadata"]["name"]) for item in items] == [
        ("Namespace", "ml"),
        ("Namespace", "kube-system"),
        ("PriorityClass", "high"),
        ("Service", "web"),
        ("Service", "headless"),
        ("Pod", "a"),
    ]
    web, headless = (item["spec"] for item in of_kind(items, "Service"))
    assert web == {"selector": {"app": "web"}}
    assert headless["clusterIP"] == "None"
