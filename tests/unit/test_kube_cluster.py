"""A cluster read through its API: what is listed, in which version, page by page, and what is said of what cannot be read."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from reparto.kube.client import Client
from reparto.kube.cluster import Cluster, read_cluster
from reparto.kube.connection import Connection, Server, User
from reparto.kube.discovery import Served
from reparto.kube.errors import ApiError, Expired, Unauthorized
from reparto.kube.kinds import READ
from reparto.kube.listing import objects
from reparto.kube.retries import Backoff
from unit.kube_server import SERVED, Answer, Api, names, refusal, serving

PODS = "/api/v1/pods"


@pytest.fixture
def api() -> Iterator[Api]:
    with serving(Api()) as running:
        yield running


def obj(kind: str, name: str, namespace: str = "", api_version: str = "v1", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


async def no_sleep(seconds: float) -> None:
    """Waits are counted elsewhere."""


def client(api: Api, namespace: str = "default") -> Client:
    connection = Connection("test", namespace, Server(url=api.url), User(name="jane", token=api.token or ""))
    return Client(connection, backoff=Backoff(attempts=3, sleep=no_sleep), environ={})


def read(api: Api, namespace: str | None = None) -> Cluster:
    async def run() -> Cluster:
        async with client(api) as asking:
            return await read_cluster(asking, namespace=namespace)

    return asyncio.run(run())


def listed(api: Api, page: int) -> list[str]:
    async def run() -> list[bytes]:
        async with client(api) as asking:
            return await objects(asking, Served("", "v1", "pods", "Pod", True), page=page)

    return names(asyncio.run(run()))


# --- what is read ----------------------------------------------------------------------------------------------------------------


def test_everything_that_a_plan_depends_on_is_read_with_its_kind(api: Api):
    api.put(
        obj("Node", "n1"),
        obj("Namespace", "ml"),
        obj("Pod", "p1", "ml"),
        obj("ResourceQuota", "q", "ml"),
        obj("LimitRange", "l", "ml"),
        obj("PriorityClass", "high", api_version="scheduling.k8s.io/v1"),
        obj("ResourceSlice", "s1", api_version="resource.k8s.io/v1"),
        obj("DeviceTaintRule", "r1", api_version="resource.k8s.io/v1"),
        obj("ResourceClaim", "c1", "ml", api_version="resource.k8s.io/v1"),
        obj("ResourceClaimTemplate", "t1", "ml", api_version="resource.k8s.io/v1"),
        obj("Deployment", "d1", "ml", api_version="apps/v1"),
    )
    api.lists["/apis/resource.k8s.io/v1/deviceclasses"] = [obj("DeviceClass", "gpu", api_version="resource.k8s.io/v1")]
    found = read(api)
    assert sorted(names(found.objects)) == [
        "Deployment/d1",
        "DeviceClass/gpu",
        "DeviceTaintRule/r1",
        "LimitRange/l",
        "Namespace/ml",
        "Node/n1",
        "Pod/p1",
        "PriorityClass/high",
        "ResourceClaim/c1",
        "ResourceClaimTemplate/t1",
        "ResourceQuota/q",
        "ResourceSlice/s1",
    ]
    assert found.gaps == ()
    assert (found.context, found.version.release, found.versions) == ("test", (1, 37), ("v1",))


def test_secrets_and_config_maps_are_never_asked_for(api: Api):
    read(api)
    assert not [request.path for request in api.requests if "secret" in request.path or "configmap" in request.path]


def test_only_workloads_that_are_served_are_asked_for(api: Api):
    read(api)
    assert api.asked("/apis/apps/v1/deployments")
    assert not [request.path for request in api.requests if "jobset" in request.path or "ray.io" in request.path]


def test_every_workload_that_can_be_expanded_is_read():
    """A kind that `plan` knows to expand in a file must not be missing where a cluster is read."""
    from reparto.placement.workloads.families import _FAMILIES  # pyright: ignore[reportPrivateUsage]

    read_groups = {(each.group, each.resource) for each in READ}
    plurals = {(group, f"{kind.lower()}s") for group, kind in _FAMILIES}
    assert plurals - read_groups == set()


def test_an_object_without_fields_is_one_nevertheless(api: Api):
    api.scripted[PODS] = [Answer(200, b'{"items": [ {} , {"metadata": {"name": "p"}}]}')]
    found = read(api)
    assert b'{"apiVersion":"v1","kind":"Pod"}' in found.objects


def test_custom_resources_that_carry_their_kind_keep_it(api: Api):
    api.served = SERVED | {"ray.io": {"v1": [("rayclusters", "RayCluster", True)]}}
    body = b'{"items": [{"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}}]}'
    api.scripted["/apis/ray.io/v1/rayclusters"] = [Answer(200, body)]
    assert b'{"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}}' in read(api).objects


# --- versions --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aggregated", [True, False])
@pytest.mark.parametrize(
    ("served", "expected"),
    [(["v1beta1", "v1", "v1beta2"], "v1"), (["v1beta1", "v1beta2"], "v1beta2"), (["v1beta1"], "v1beta1"), (["v2", "v1"], "v1")],
)
def test_the_newest_version_that_we_know_is_read(api: Api, aggregated: bool, served: list[str], expected: str):
    api.aggregated = aggregated
    resources = SERVED["resource.k8s.io"]["v1"][:4]
    api.served = {"resource.k8s.io": dict.fromkeys(served, resources)}
    assert read(api).versions == (expected,)
    assert api.asked(f"/apis/resource.k8s.io/{expected}/resourceslices")


def test_each_resource_is_read_in_its_own_newest_version(api: Api):
    """1.34 serves taint rules as v1alpha3 only."""
    api.served = {
        "resource.k8s.io": {"v1": SERVED["resource.k8s.io"]["v1"][:4], "v1alpha3": [("devicetaintrules", "DeviceTaintRule", False)]}
    }
    found = read(api)
    assert found.versions == ("v1", "v1alpha3")
    assert api.asked("/apis/resource.k8s.io/v1alpha3/devicetaintrules")


def test_a_custom_resource_is_read_in_the_version_that_the_server_prefers(api: Api):
    api.served = SERVED | {"jobset.x-k8s.io": {"v1beta1": [("jobsets", "JobSet", True)], "v1alpha2": [("jobsets", "JobSet", True)]}}
    read(api)
    assert api.asked("/apis/jobset.x-k8s.io/v1beta1/jobsets")


def test_a_server_without_dynamic_resource_allocation_is_read_and_that_is_said(api: Api):
    api.served = {"apps": SERVED["apps"]}
    api.version = {"gitVersion": "v1.30.4-eks", "major": "1", "minor": "30+"}
    found = read(api)
    assert found.gaps[0].message.startswith("the server (v1.30.4-eks) does not serve resource.k8s.io: ")
    assert found.version.release == (1, 30)


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ({"major": "1", "minor": "34+"}, (1, 34)),
        ({"major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "36"}, (1, 36)),
        ({"major": "", "minor": ""}, None),
    ],
)
def test_the_release_is_the_one_whose_behaviour_the_server_has(api: Api, version: dict[str, str], release: tuple[int, int] | None):
    api.version = version
    assert read(api).version.release == release


# --- pages -----------------------------------------------------------------------------------------------------------------------


def test_lists_are_read_page_by_page(api: Api):
    api.put(*(obj("Pod", f"p{index}", "ml") for index in range(7)))
    assert listed(api, page=3) == [f"Pod/p{index}" for index in range(7)]
    assert [request.query for request in api.asked(PODS)] == [
        {"limit": "3"},
        {"limit": "3", "continue": "3"},
        {"limit": "3", "continue": "6"},
    ]


def test_a_page_token_that_expires_starts_the_list_anew(api: Api):
    api.put(*(obj("Pod", f"p{index}", "ml") for index in range(5)))
    first = api.answer

    def expiring(request: Any) -> Answer:
        if request.query.get("continue") == "2" and len(api.asked(PODS)) == 2:
            return refusal(410, "Expired", "The provided continue parameter is too old")
        return first(request)

    api.answer = expiring  # type: ignore[method-assign]
    assert listed(api, page=2) == [f"Pod/p{index}" for index in range(5)]
    assert [request.query.get("continue") for request in api.asked(PODS)] == [None, "2", None, "2", "4"]


def test_a_list_that_always_expires_is_asked_for_as_a_whole(api: Api):
    api.put(*(obj("Pod", f"p{index}", "ml") for index in range(5)))
    first = api.answer

    def expiring(request: Any) -> Answer:
        return refusal(410, "Expired", "too old") if "continue" in request.query else first(request)

    api.answer = expiring  # type: ignore[method-assign]
    assert len(listed(api, page=2)) == 5
    assert api.asked(PODS)[-1].query == {}


def test_a_server_that_lets_even_the_whole_list_expire_ends_in_an_error(api: Api):
    api.scripted[PODS] = [refusal(410, "Expired", "too old") for _ in range(9)]
    with pytest.raises(Expired, match="too old"):
        listed(api, page=2)


# --- refusals --------------------------------------------------------------------------------------------------------------------


def gaps(found: Cluster) -> dict[str, str]:
    return {gap.resource: gap.message for gap in found.gaps}


def test_a_refusal_names_the_resource_and_what_the_answer_lacks(api: Api):
    api.forbidden = {"/api/v1/nodes"}
    api.put(obj("Pod", "p1", "ml"))
    found = read(api)
    message = gaps(found)["nodes"]
    assert message.startswith("listing nodes is forbidden, so nodes are guessed from slices, without labels, taints and CPU (")
    assert 'User "jane" cannot list resource "nodes"' in message
    assert names(found.objects) == ["Pod/p1"]


def test_where_all_namespaces_are_forbidden_one_is_read_and_that_is_said(api: Api):
    api.forbidden = {PODS}
    api.put(obj("Pod", "mine", "ml"), obj("Pod", "theirs", "other"))
    found = read(api, namespace="ml")
    assert names(found.objects) == ["Pod/mine"]
    assert gaps(found)["pods"].startswith("of pods only namespace ml was read, since listing all is forbidden; elsewhere ")


def test_where_the_namespace_is_forbidden_too_nothing_is_read_of_it(api: Api):
    api.forbidden = {PODS, "/api/v1/namespaces/default/pods"}
    assert gaps(read(api))["pods"].startswith("listing pods is forbidden, so ")


def test_an_expired_token_ends_the_reading(api: Api):
    api.scripted["/apis/resource.k8s.io/v1/resourceslices"] = [refusal(401, "Unauthorized", "Unauthorized")]
    with pytest.raises(Unauthorized, match="log in again"):
        read(api)


def test_a_kind_that_cannot_be_read_for_another_reason_ends_the_reading(api: Api):
    api.scripted[PODS] = [refusal(500, "InternalError", "etcd is down") for _ in range(3)]
    with pytest.raises(ApiError, match="etcd is down"):
        read(api)


def test_a_broken_extension_does_not_hide_the_rest(api: Api):
    """A custom resource whose conversion webhook is down answers 500; the cluster can be read nevertheless."""
    api.served = SERVED | {"ray.io": {"v1": [("rayclusters", "RayCluster", True)]}}
    api.scripted["/apis/ray.io/v1/rayclusters"] = [refusal(500, "InternalError", "conversion webhook failed") for _ in range(3)]
    assert "conversion webhook failed" in gaps(read(api))["rayclusters.ray.io"]


def test_group_by_group_a_dead_aggregated_api_does_not_hide_the_rest(api: Api):
    api.aggregated = False
    api.served = SERVED | {"ray.io": {"v1": []}}
    api.scripted["/apis/ray.io/v1"] = [refusal(503, "ServiceUnavailable", "dead") for _ in range(3)]
    assert read(api).versions == ("v1",)


def test_progress_counts_the_objects(api: Api):
    api.put(*(obj("Pod", f"p{index}", "ml") for index in range(3)), obj("Node", "n"))
    seen: list[int] = []

    async def run() -> None:
        async with client(api) as asking:
            await read_cluster(asking, progress=seen.append)

    asyncio.run(run())
    assert seen[-1] == 4
    assert seen == sorted(seen)
