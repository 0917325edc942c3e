"""What a whole pod requests and may use: containers together, init containers in turn, sidecars from their place on."""

from reparto.model import core
from reparto.placement.resource_sums import POD_LEVEL_OF_LIMIT_RANGES, pod_limits, pod_requests, with_overhead


def container(cpu: str = "", limit: str = "", always: bool = False) -> core.Container:
    resources = core.ContainerResources(requests={"cpu": cpu} if cpu else None, limits={"cpu": limit} if limit else None)
    return core.Container(name="c", resources=resources, restart_policy="Always" if always else None)


def cpu(*containers: core.Container, init: tuple[core.Container, ...] = ()) -> str:
    pod = core.Pod(spec=core.PodSpec(containers=containers, init_containers=init))
    return str(pod_requests(pod)["cpu"])


def test_containers_run_together():
    assert cpu(container("500m"), container("1")) == "1500m"


def test_a_limit_is_the_request_of_a_container_that_has_none():
    assert cpu(container(limit="2"), container("1", limit="3")) == "3"


def test_init_containers_run_before_and_one_by_one():
    assert cpu(container("1"), init=(container("2"), container("3"))) == "3"
    assert cpu(container("4"), init=(container("2"), container("3"))) == "4"


def test_a_sidecar_runs_with_the_containers_and_with_init_containers_after_it():
    assert cpu(container("1"), init=(container("1", always=True),)) == "2"
    assert cpu(container("1"), init=(container("5"), container("1", always=True))) == "5"
    assert cpu(container("1"), init=(container("1", always=True), container("5"))) == "6"


def test_what_the_pod_states_itself_replaces_the_sum():
    stated = core.ContainerResources(requests={"cpu": "3", "hugepages-2Mi": "4Mi", "example.com/gpu": "1"})
    pod = core.Pod(spec=core.PodSpec(containers=(container("1"),), resources=stated))
    assert {name: str(quantity) for name, quantity in pod_requests(pod).items()} == {"cpu": "3", "hugepages-2Mi": "4Mi"}
    assert {name: str(quantity) for name, quantity in pod_requests(pod, POD_LEVEL_OF_LIMIT_RANGES).items()} == {"cpu": "3"}


def test_limits_are_summed_only_over_containers_that_have_them():
    pod = core.Pod(spec=core.PodSpec(containers=(container("1"), container("1", limit="2"))))
    assert str(pod_limits(pod)["cpu"]) == "2"


def test_overhead_is_requested_always_and_limited_only_where_there_is_a_limit():
    pod = core.Pod(spec=core.PodSpec(containers=(container("1"),), overhead={"cpu": "250m", "memory": "100Mi"}))
    requests = with_overhead(pod_requests(pod), pod, everywhere=True)
    assert {name: str(quantity) for name, quantity in requests.items()} == {"cpu": "1250m", "memory": "100Mi"}
    assert with_overhead(pod_limits(pod), pod, everywhere=False) == {}
