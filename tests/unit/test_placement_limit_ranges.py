"""LimitRange: what the containers of a new pod get, and what a namespace refuses."""

from reparto.model import core
from reparto.model.meta import ObjectMeta
from reparto.placement.limit_ranges import violations, with_defaults

Resources = dict[str, str]


def limits(name: str = "bounds", **item: object) -> core.LimitRange:
    item.setdefault("type", "Container")
    return core.LimitRange(
        metadata=ObjectMeta(name=name, namespace="ml"),
        spec=core.LimitRangeSpec(limits=(core.LimitRangeItem(**item),)),  # type: ignore[arg-type]
    )


def pod(requests: Resources | None = None, limit: Resources | None = None, *, init: tuple[core.Container, ...] = ()) -> core.Pod:
    container = core.Container(name="main", resources=core.ContainerResources(requests=requests, limits=limit))
    return core.Pod(metadata=ObjectMeta(name="p", namespace="ml"), spec=core.PodSpec(containers=(container,), init_containers=init))


def resources(item: core.Pod) -> tuple[Resources | None, Resources | None]:
    """Requests and limits of the first container."""
    return item.spec.containers[0].resources.requests, item.spec.containers[0].resources.limits


# --- defaults ---------------------------------------------------------------------------------------------------------------------


def test_a_container_gets_the_request_and_the_limit_that_it_leaves_out():
    ranges = [limits(default={"cpu": "2"}, default_request={"cpu": "1"})]
    assert resources(with_defaults(pod(), ranges)) == ({"cpu": "1"}, {"cpu": "2"})
    assert resources(with_defaults(pod({"cpu": "500m"}), ranges)) == ({"cpu": "500m"}, {"cpu": "2"})


def test_a_container_with_a_limit_requests_as_much_and_not_the_default():
    ranges = [limits(default={"cpu": "2"}, default_request={"cpu": "1"})]
    assert resources(with_defaults(pod(None, {"cpu": "4"}), ranges)) == ({"cpu": "4"}, {"cpu": "4"})


def test_the_maximum_is_the_default_limit_and_that_the_default_request():
    assert resources(with_defaults(pod(), [limits(max={"cpu": "2"})])) == ({"cpu": "2"}, {"cpu": "2"})


def test_the_minimum_is_the_default_request_where_nothing_else_is():
    assert resources(with_defaults(pod(), [limits(min={"cpu": "1"})])) == ({"cpu": "1"}, {})


def test_init_containers_get_defaults_too():
    made = with_defaults(pod(init=(core.Container(name="fetch"),)), [limits(default={"cpu": "2"})])
    assert made.spec.init_containers[0].resources.requests == {"cpu": "2"}


def test_bounds_on_pods_give_no_defaults():
    plain = pod()
    assert with_defaults(plain, [limits(type="Pod", max={"cpu": "2"})]) is plain


def test_what_one_range_sets_the_next_leaves():
    ranges = [limits("b", default={"cpu": "2"}), limits("a", default={"cpu": "1"})]
    assert resources(with_defaults(pod(), ranges)) == ({"cpu": "1"}, {"cpu": "1"})


# --- bounds -----------------------------------------------------------------------------------------------------------------------


def refused(item: core.Pod, *ranges: core.LimitRange) -> tuple[str, ...]:
    found = violations(with_defaults(item, ranges), ranges)
    return found.texts if found else ()


def test_a_request_below_the_minimum_is_refused():
    assert refused(pod({"memory": "64Mi"}), limits(min={"memory": "128Mi"})) == (
        "container main requests 64Mi of memory, and at least 128Mi is demanded",
    )


def test_a_limit_above_the_maximum_is_refused():
    assert refused(pod({"cpu": "1"}, {"cpu": "3"}), limits(max={"cpu": "2500m"})) == (
        "container main is limited to 3 of cpu, and at most 2500m is allowed",
    )


def test_a_request_above_the_maximum_is_refused_though_its_limit_is_the_default():
    assert refused(pod({"cpu": "3"}), limits(max={"cpu": "2"})) == ("container main requests 3 of cpu, and at most 2 is allowed",)


def test_what_is_within_the_bounds_passes():
    assert refused(pod({"cpu": "1"}, {"cpu": "2"}), limits(min={"cpu": "1"}, max={"cpu": "2"})) == ()


def test_bounds_on_extended_resources_hold_too():
    gpu = "example.com/gpu"
    assert refused(pod({gpu: "3"}, {gpu: "3"}), limits(max={gpu: "2"}, default={gpu: "0"})) != ()
    assert refused(pod(), limits(max={gpu: "2"}, default={gpu: "0"})) == ()


def test_a_limit_may_be_so_many_times_the_request():
    bound = limits(max_limit_request_ratio={"cpu": "2"})
    assert refused(pod({"cpu": "1"}, {"cpu": "2"}), bound) == ()
    assert refused(pod({"cpu": "1"}, {"cpu": "2001m"}), bound) == (
        "container main has a cpu limit of 2001m for a request of 1: the ratio may be at most 2",
    )
    assert refused(pod({"cpu": "1"}), bound) == (
        "container main needs both a cpu request and a cpu limit: their ratio may be at most 2",
    )


def test_bounds_on_pods_are_held_against_the_sum_of_containers_or_the_largest_init_container():
    bound = limits(type="Pod", max={"cpu": "3"})
    one = core.ContainerResources(requests={"cpu": "2"}, limits={"cpu": "2"})
    main, other = core.Container(name="main", resources=one), core.Container(name="other", resources=one)
    together = core.Pod(spec=core.PodSpec(containers=(main, other)))
    in_turn = core.Pod(spec=core.PodSpec(containers=(main,), init_containers=(other,)))
    assert refused(together, bound) == ("the pod is limited to 4 of cpu, and at most 3 is allowed",)
    assert refused(in_turn, bound) == ()


def test_only_the_first_range_that_refuses_is_reported_with_all_that_it_has_against_the_pod():
    first = limits("a", min={"cpu": "2", "memory": "1Gi"}, default_request={"cpu": "1", "memory": "1Mi"})
    found = violations(with_defaults(pod(), [first]), [limits("b", min={"cpu": "3"}), first])
    assert found is not None
    assert found.limit_range == "LimitRange/ml/a"
    assert len(found.texts) == 2
