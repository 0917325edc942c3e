"""What a snapshot leaves out and renames: nothing that tells whose cluster it is, everything that decides stays."""

import json
from typing import Any

from reparto.kube.redaction import Redaction, redacted
from reparto.model.keeping import kept


def obj(kind: str, name: str, namespace: str = "", api_version: str = "v1", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {}) | rest.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "c", "image": "acme/secret-model", **fields}


# --- left out of every snapshot --------------------------------------------------------------------------------------------------


def test_what_containers_are_told_is_left_out_wherever_they_are():
    told = {
        "env": [{"name": "K", "value": "hush"}],
        "envFrom": [{"secretRef": {"name": "hush"}}],
        "command": ["hush"],
        "args": ["hush"],
        "livenessProbe": {"exec": {"command": ["hush"]}},
        "lifecycle": {"preStop": {"exec": {"command": ["hush"]}}},
    }
    spec = {"containers": [container(**told)], "initContainers": [container(**told)], "ephemeralContainers": [container(**told)]}
    ray = {"workerGroupSpecs": [{"template": {"spec": {"containers": [container(**told)]}}}]}
    argo = {"templates": [{"container": container(**told)}, {"script": container(source="hush")}]}
    for value in (obj("Pod", "p", spec=spec), obj("RayCluster", "r", spec=ray), obj("Workflow", "w", spec=argo)):
        assert "hush" not in json.dumps(kept(value))


def test_what_is_scheduled_by_stays():
    resources = {"requests": {"cpu": "1"}, "claims": [{"name": "gpu"}]}
    ports = [{"containerPort": 80, "hostPort": 80}]
    value = obj("Pod", "p", spec={"containers": [container(resources=resources, ports=ports, restartPolicy="Always")]})
    assert kept(value) == value


def test_bookkeeping_and_copies_of_objects_are_left_out():
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "resource.kubernetes.io/pod-claim-name": "gpu"}
    value = obj("Pod", "p", metadata={"managedFields": [{}], "annotations": annotations}, spec={})
    assert kept(value) == obj("Pod", "p", metadata={"annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"}}, spec={})


def test_secrets_and_config_maps_are_never_saved():
    assert kept(obj("Secret", "s", data={"a": "b"})) is None
    assert kept(obj("ConfigMap", "s", data={"a": "b"})) is None


# --- renamed ---------------------------------------------------------------------------------------------------------------------


def test_the_names_of_nodes_pools_and_slices_keep_their_order():
    nodes = [obj("Node", name) for name in ("zeta", "alpha", "mid")]
    spec = {"driver": "gpu.example", "nodeName": "mid", "pool": {"name": "fabric", "resourceSliceCount": 1}}
    slices = [obj("ResourceSlice", name, api_version="resource.k8s.io/v1", spec=spec) for name in ("s2", "s1")]
    renaming = Redaction([*nodes, *slices])
    assert sorted(renaming.nodes, key=renaming.nodes.__getitem__) == ["alpha", "fabric", "mid", "zeta"]
    found = renaming.objects()
    assert [value["metadata"]["name"] for value in found[:3]] == ["node-0004", "node-0001", "node-0003"]
    assert [value["metadata"]["name"] for value in found[3:]] == ["slice-0002", "slice-0001"]
    assert found[3]["spec"] == {
        "driver": "gpu.example",
        "nodeName": "node-0003",
        "pool": {"name": "node-0002", "resourceSliceCount": 1},
    }


def test_a_name_is_the_same_wherever_it_stands():
    results = [{"request": "r", "driver": "d", "pool": "fabric", "device": "gpu-0"}]
    field = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["big"]}]}]}
    owner = [{"apiVersion": "v1", "kind": "Pod", "name": "train", "uid": "u", "controller": True}]
    values = [
        obj("Node", "big"),
        obj("Namespace", "acme"),
        obj(
            "Pod",
            "train",
            "acme",
            spec={
                "nodeName": "big",
                "priorityClassName": "gold",
                "resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}],
                "affinity": {"podAffinity": {"x": [{"namespaces": ["acme"]}]}},
            },
            status={
                "phase": "Running",
                "podIP": "10.1.2.3",
                "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "train-gpu-x7k2p"}],
            },
        ),
        obj("PriorityClass", "gold", api_version="scheduling.k8s.io/v1", value=7),
        obj(
            "ResourceClaim",
            "train-gpu-x7k2p",
            "acme",
            metadata={"ownerReferences": owner},
            status={
                "allocation": {"devices": {"results": results}, "nodeSelector": field},
                "reservedFor": [{"resource": "pods", "name": "train", "uid": "u"}],
            },
        ),
    ]
    node, namespace, pod, priority, claim = redacted(values)
    name = pod["metadata"]["name"]
    assert pod["metadata"]["namespace"] == claim["metadata"]["namespace"] == namespace["metadata"]["name"] == "namespace-0001"
    assert pod["spec"]["affinity"]["podAffinity"]["x"] == [{"namespaces": ["namespace-0001"]}]
    assert pod["spec"]["nodeName"] == node["metadata"]["name"] == "node-0001"
    assert pod["spec"]["priorityClassName"] == priority["metadata"]["name"] == "priorityclass-0001"
    assert pod["status"] == {
        "phase": "Running",
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu-x7k2p"}],
    }
    assert claim["metadata"]["name"] == f"{name}-gpu-x7k2p"
    assert claim["metadata"]["ownerReferences"][0]["name"] == claim["status"]["reservedFor"][0]["name"] == name
    allocation = claim["status"]["allocation"]
    assert allocation["devices"]["results"] == [{"request": "r", "driver": "d", "pool": "node-0002", "device": "gpu-0"}]
    assert allocation["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["node-0001"]


def test_selectors_still_select():
    node = obj(
        "Node",
        "n1",
        metadata={"labels": {"kubernetes.io/hostname": "n1", "team": "acme", "slots": "8", "kubernetes.io/arch": "amd64"}},
    )
    terms = [{"key": "team", "operator": "In", "values": ["acme", "other"]}, {"key": "slots", "operator": "Gt", "values": ["4"]}]
    spec = {
        "nodeSelector": {"team": "acme", "kubernetes.io/hostname": "n1", "kubernetes.io/arch": "amd64"},
        "affinity": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": terms}]}}},
        "topologySpreadConstraints": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
        "tolerations": [{"key": "team", "value": "acme", "effect": "NoSchedule"}],
    }
    pod = obj("Pod", "p", "x", metadata={"labels": {"app": "web"}}, spec=spec)
    found_node, found = redacted([node, pod])
    labels = found_node["metadata"]["labels"]
    assert labels["team"] != "acme"
    assert (labels["slots"], labels["kubernetes.io/arch"], labels["kubernetes.io/hostname"]) == ("8", "amd64", "node-0001")
    assert found["spec"]["nodeSelector"] == {key: labels[key] for key in spec["nodeSelector"]}
    expressions = found["spec"]["affinity"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"]
    assert expressions[0]["values"][0] == labels["team"]
    assert expressions[1]["values"] == ["4"]
    assert found["spec"]["tolerations"][0]["value"] == labels["team"]
    constraint = found["spec"]["topologySpreadConstraints"][0]
    assert constraint["labelSelector"]["matchLabels"] == found["metadata"]["labels"]


def test_images_are_renamed_as_the_scheduler_compares_them():
    node = obj("Node", "n", status={"images": [{"names": ["acme/model:latest"], "sizeBytes": 9}]})
    pod = obj("Pod", "p", "x", spec={"containers": [{"name": "c", "image": "acme/model"}, {"name": "d", "image": "acme/other:2"}]})
    found_node, found = redacted([node, pod])
    first, second = (each["image"] for each in found["spec"]["containers"])
    assert found_node["status"]["images"] == [{"names": [first], "sizeBytes": 9}]
    assert first != second
    assert "acme" not in first + second


def test_hardware_stays_as_it_is():
    device = {"name": "gpu-0", "attributes": {"productName": {"string": "NVIDIA H100"}}, "capacity": {"memory": {"value": "80Gi"}}}
    item = obj(
        "ResourceSlice",
        "s",
        api_version="resource.k8s.io/v1",
        spec={"driver": "gpu.nvidia.com", "pool": {"name": "p"}, "devices": [device]},
    )
    device_class = obj(
        "DeviceClass", "gpu.nvidia.com", spec={"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]}
    )
    found, kept_class = redacted([item, device_class])
    assert found["spec"]["devices"] == [device]
    assert kept_class == device_class


def test_what_tells_where_a_cluster_is_is_left_out():
    node = obj(
        "Node",
        "n",
        metadata={"annotations": {"alpha.kubernetes.io/provided-node-ip": "10.9.9.9"}},
        spec={"providerID": "aws:///us-east-1/i-123", "podCIDR": "10.9.0.0/24", "unschedulable": True},
        status={"addresses": [{"address": "10.9.9.9"}], "nodeInfo": {"machineID": "m"}, "allocatable": {"cpu": "8"}},
    )
    pod = obj(
        "Pod",
        "p",
        "x",
        spec={
            "containers": [],
            "serviceAccountName": "acme-bot",
            "hostname": "acme-host",
            "volumes": [
                {"name": "v", "nfs": {"server": "acme.example"}},
                {"name": "w", "persistentVolumeClaim": {"claimName": "acme-data"}},
            ],
        },
    )
    found_node, found = redacted([node, pod])
    assert found_node == obj("Node", "node-0001", spec={"unschedulable": True}, status={"allocatable": {"cpu": "8"}})
    assert "acme" not in json.dumps(found)
    assert [list(volume) for volume in found["spec"]["volumes"]] == [["name", "nfs"], ["name", "persistentVolumeClaim"]]


def test_the_argument_is_not_changed():
    values = [obj("Pod", "p", "x", metadata={"labels": {"a": "b"}}, spec={"containers": [container(env=[])]})]
    before = json.dumps(values)
    redacted(values)
    kept(values[0])
    assert json.dumps(values) == before
