"""What a pod counts for: requests of containers, init containers, sidecars, the pod as a whole, and its sandbox.

Right values: component-helpers' PodRequests and the scheduler's NodeInfo of 1.37.2, by hand; KEP-753 (sidecars), KEP-2837.
"""

import pytest

from reparto.model import core
from reparto.placement.resources import is_scalar, node_allocatable, pod_resources
from unit.placement_objects import container, node, pod

MIB = 2**20
GIB = 2**30


def init(sidecar: bool = False, **requests: str) -> core.Container:
    resources = core.ContainerResources(requests=requests)
    return core.Container(name="i", restart_policy="Always" if sidecar else None, resources=resources)


def test_containers_are_added_up():
    asked = pod_resources(pod("p", containers=(container(cpu="500m", memory="1Gi"), container(cpu="1", ephemeral_storage="2Gi"))))
    assert asked.requested == {"cpu": 1500, "memory": GIB, "ephemeral-storage": 2 * GIB}


def test_the_largest_init_container_counts_where_it_needs_more_than_the_containers():
    item = pod("p", containers=(container(cpu="1", memory="4Gi"),), init_containers=(init(cpu="3"), init(memory="2Gi")))
    assert pod_resources(item).requested == {"cpu": 3000, "memory": 4 * GIB}


def test_a_sidecar_runs_beside_the_containers_and_beside_the_init_containers_after_it():
    # Containers and sidecar: 1 + 2. The second init container with the sidecar before it: 2 + 4. The first is alone: 5.
    item = pod("p", containers=(container(cpu="1"),), init_containers=(init(cpu="5"), init(True, cpu="2"), init(cpu="4")))
    assert pod_resources(item).requested == {"cpu": 6000}


def test_overhead_comes_on_top():
    item = pod("p", containers=(container(cpu="1"),), overhead={"cpu": "250m", "memory": "120Mi"})
    assert pod_resources(item).requested == {"cpu": 1250, "memory": 120 * MIB}


def test_requests_of_the_pod_replace_those_of_its_containers_before_overhead():
    whole = core.ContainerResources(requests={"cpu": "4"})
    item = pod("p", containers=(container(cpu="1", memory="1Gi"),), resources=whole, overhead={"cpu": "1"})
    assert pod_resources(item).requested == {"cpu": 5000, "memory": GIB}


def test_a_limit_of_the_pod_is_its_request_where_no_container_asks():
    whole = core.ContainerResources(limits={"cpu": "4", "memory": "8Gi"})
    assert pod_resources(pod("p", containers=(container(cpu="1"),), resources=whole)).requested == {"cpu": 1000, "memory": 8 * GIB}


def test_a_limit_stands_in_for_a_request():
    item = pod("p", containers=(container(limits={"cpu": "2", "nvidia.com/gpu": "1"}, cpu="1"),))
    assert pod_resources(item).requested == {"cpu": 1000, "nvidia.com/gpu": 1}


def test_containers_that_ask_for_nothing_weigh_a_tenth_of_a_core_and_200_mib():
    asked = pod_resources(pod("p", containers=(container(), container(cpu="1"))))
    assert asked.requested == {"cpu": 1000}
    assert asked.usual == asked.charged_usual == (1100, 400 * MIB)
    assert asked.plain == (1000, 0)


def test_an_explicit_zero_is_no_missing_request():
    assert pod_resources(pod("p", containers=(container(cpu="0", memory="0"),))).usual == (0, 0)


def test_the_score_of_free_resources_does_not_know_requests_of_the_pod_as_a_whole():
    item = pod("p", containers=(container(),), resources=core.ContainerResources(requests={"cpu": "4", "memory": "1Gi"}))
    asked = pod_resources(item)
    assert asked.usual == (100, 200 * MIB)
    assert asked.charged_usual == asked.plain == (4000, GIB)


def test_a_pod_that_is_being_resized_counts_for_the_most_of_what_it_wants_was_given_and_has():
    status = core.PodStatus(
        container_statuses=(
            core.ContainerStatus(
                name="c",
                allocated_resources={"cpu": "2", "memory": "1Gi"},
                resources=core.ContainerResources(requests={"cpu": "1", "memory": "3Gi"}),
            ),
        )
    )
    asked = pod_resources(pod("p", containers=(container(cpu="500m", memory="2Gi"),), status=status))
    assert asked.charged == {"cpu": 2000, "memory": 3 * GIB}
    assert asked.requested == {"cpu": 500, "memory": 2 * GIB}


def test_what_cannot_be_resized_to_is_not_counted():
    pending = core.PodCondition(type="PodResizePending", status="True", reason="Infeasible")
    given = core.ContainerStatus(name="c", allocated_resources={"cpu": "1"})
    status = core.PodStatus(conditions=(pending,), container_statuses=(given,))
    assert pod_resources(pod("p", containers=(container(cpu="64"),), status=status)).charged == {"cpu": 1000}


def test_amounts_are_rounded_up_to_thousandths_and_then_to_units():
    asked = pod_resources(pod("p", containers=(container(cpu="100u", memory="1m"), container(cpu="100u", memory="1m"))))
    assert asked.requested == {"cpu": 2, "memory": 1}


@pytest.mark.parametrize(
    "name, counted",
    [
        ("nvidia.com/gpu", True),
        ("hugepages-2Mi", True),
        ("attachable-volumes-csi-x", True),
        ("deviceclass.resource.kubernetes.io/gpu", True),
        ("requests.example.com/gpu", False),  # how a quota would name example.com/gpu
        ("storage", False),
        ("gpu", False),
    ],
)
def test_which_resources_are_counted_besides_cpu_and_memory(name, counted):
    assert is_scalar(name) is counted


def test_a_node_has_what_is_allocatable():
    assert node_allocatable(node("n", has={"cpu": "3920m", "memory": "15Gi", "pods": "110"})) == {
        "cpu": 3920,
        "memory": 15 * GIB,
        "pods": 110,
    }
