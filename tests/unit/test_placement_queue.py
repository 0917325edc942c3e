"""The order in which pods are considered, and pods that are not. Right values: PrioritySort and Priority admission, by hand."""

import pytest

from reparto.model import codes
from reparto.model.core import PodSchedulingGate, PodStatus, PriorityClass
from reparto.model.meta import ObjectMeta
from reparto.placement.queue import in_order, set_aside
from reparto.placement.snapshot import take_snapshot
from unit.placement_objects import pod


def priority_class(name: str, value: int, *, default: bool = False) -> PriorityClass:
    return PriorityClass(metadata=ObjectMeta(name=name), value=value, global_default=default)


def names(*objects: object) -> list[str]:
    seen = take_snapshot(objects)
    return [item.metadata.name for item in in_order(seen.pods, seen.priority_classes)[0]]


def test_pods_of_equal_priority_keep_the_order_of_the_input():
    assert names(pod("b"), pod("a"), pod("c")) == ["b", "a", "c"]


def test_the_older_pod_comes_first_and_pods_that_do_not_exist_yet_last():
    assert names(
        pod("new"),
        pod("younger", created="2026-11-02T10:00:00Z"),
        pod("older", created="2026-11-02T11:00:00+02:00"),  # 09:00 UTC
    ) == ["older", "younger", "new"]


def test_priority_outranks_age():
    old = pod("old", created="2026-01-01T00:00:00Z")
    assert names(old, pod("urgent", priority=1), pod("idle", priority=-1)) == ["urgent", "old", "idle"]


def test_pods_that_have_a_node_come_before_all_others():
    assert names(pod("urgent", priority=1000), pod("runs", node_name="n")) == ["runs", "urgent"]


def test_the_priority_class_gives_the_priority_where_the_pod_has_none():
    classes = (priority_class("high", 100), priority_class("low", -5))
    assert names(*classes, pod("l", priority_class_name="low"), pod("none"), pod("h", priority_class_name="high")) == [
        "h",
        "none",
        "l",
    ]


def test_the_system_classes_are_known_without_being_in_the_input():
    assert names(
        priority_class("high", 1_000_000_000),
        pod("h", priority_class_name="high"),
        pod("cluster", priority_class_name="system-cluster-critical"),
        pod("node", priority_class_name="system-node-critical"),
    ) == ["node", "cluster", "h"]


def test_of_two_global_defaults_the_lower_one_counts():
    objects = (priority_class("a", 50, default=True), priority_class("b", 20, default=True))
    assert names(*objects, pod("plain"), pod("thirty", priority=30)) == ["thirty", "plain"]


def test_a_priority_class_that_is_not_in_the_input_is_remarked_once():
    ordered, notes = in_order([pod("a", priority_class_name="gone"), pod("b", priority_class_name="gone")], {})
    assert [item.metadata.name for item in ordered] == ["a", "b"]
    assert [(note.code, note.object) for note in notes] == [(codes.PRIORITY_CLASS_MISSING, "PriorityClass/gone")]


@pytest.mark.parametrize(
    "item, verdict, code",
    [
        (pod("p", status=PodStatus(phase="Succeeded"), node_name="n"), "skipped", codes.POD_FINISHED),
        (pod("p", status=PodStatus(phase="Failed")), "skipped", codes.POD_FINISHED),
        (pod("p", scheduler_name="volcano"), "skipped", codes.OTHER_SCHEDULER),
        (pod("p", deleted="2026-11-30T00:00:00Z"), "skipped", codes.POD_DELETED),
        (pod("p", scheduling_gates=(PodSchedulingGate(name="kueue.x-k8s.io/admission"),)), "waiting", codes.SCHEDULING_GATES),
    ],
)
def test_pods_that_the_scheduler_does_not_consider(item, verdict, code):
    answer = set_aside(item)
    assert answer is not None
    assert (answer[0], answer[1].code) == (verdict, code)


@pytest.mark.parametrize(
    "item",
    [
        pod("p"),
        pod("p", scheduler_name="default-scheduler"),
        pod("p", node_name="n", scheduler_name="volcano"),  # it runs, so what it holds counts whoever placed it
        pod("p", node_name="n", deleted="2026-11-30T00:00:00Z"),  # so does a pod that is still stopping
    ],
)
def test_pods_that_count(item):
    assert set_aside(item) is None
