"""Taints and tolerations of devices (upstream-dra.md 3.12), and rules merged into slices (3.15)."""

import msgspec
import pytest

from reparto.allocation import Allocator, Features, apply_taint_rules
from reparto.allocation.taints import tolerates
from reparto.model.v1 import DeviceTaint, DeviceTaintRule, DeviceToleration
from unit.allocation_objects import ALL_FEATURES, ask, claim, device_class, names, node, pool


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),  # everything
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Equal", "value": "v"}, True),
        ({"key": "k", "value": "v"}, True),  # no operator means Equal
        ({"key": "k", "operator": "Equal", "value": "w"}, False),
        ({"operator": "Equal", "value": "v"}, True),  # an empty key covers all keys, whatever the operator
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "k", "operator": "Like", "value": "v"}, False),
    ],
)
def test_a_toleration_covers_a_taint(toleration, tolerated):
    taint = DeviceTaint(key="k", value="v", effect="NoSchedule")
    assert tolerates(msgspec.convert(toleration, DeviceToleration), taint) is tolerated


@pytest.mark.parametrize(("effect", "usable"), [("NoSchedule", False), ("NoExecute", False), ("None", True), ("Unheard", True)])
def test_known_effects_prevent_allocation(effect, usable):
    slices = [pool({"name": "a", "taints": [{"key": "k", "effect": effect}]})]
    assert names(Allocator(slices, [device_class()], features=ALL_FEATURES).allocate(node(), [claim(ask())])) == (
        [["a"]] if usable else None
    )


def test_taints_mean_nothing_while_the_feature_is_off():
    slices = [pool({"name": "a", "taints": [{"key": "k", "effect": "NoSchedule"}]})]
    assert names(Allocator(slices, [device_class()], features=Features()).allocate(node(), [claim(ask())])) == [["a"]]


def test_admin_access_does_not_bypass_taints():
    slices = [pool({"name": "a", "taints": [{"key": "k", "effect": "NoSchedule"}]})]
    assert Allocator(slices, [device_class()], features=ALL_FEATURES).allocate(node(), [claim(ask(adminAccess=True))]) is None


def test_tolerations_are_copied_to_the_result():
    tolerated = ask(tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 5}])
    results = Allocator([pool("a")], [device_class()], features=ALL_FEATURES).allocate(node(), [claim(tolerated)])
    assert results is not None
    assert [msgspec.to_builtins(t) for t in results[0].devices.results[0].tolerations] == [
        {"key": "k", "operator": "Exists", "tolerationSeconds": 5}
    ]


def rule(name: str, selector: dict[str, str] | None) -> DeviceTaintRule:
    spec = {"taint": {"key": name, "effect": "NoSchedule"}} | ({} if selector is None else {"deviceSelector": selector})
    return msgspec.convert({"kind": "DeviceTaintRule", "metadata": {"name": name}, "spec": spec}, DeviceTaintRule)


@pytest.mark.parametrize(
    ("selector", "tainted"),
    [
        (None, []),  # no selector matches nothing
        ({}, ["a", "b"]),  # an empty one everything
        ({"driver": "gpu.example.com"}, ["a", "b"]),
        ({"driver": "other"}, []),
        ({"pool": "n1", "device": "b"}, ["b"]),
        ({"pool": "n2"}, []),
    ],
)
def test_a_rule_taints_the_devices_it_selects(selector, tainted):
    (patched,) = apply_taint_rules([pool("a", "b")], [rule("r", selector)])
    assert [device.name for device in patched.spec.devices or () if device.taints] == tainted


def test_rule_taints_follow_those_of_the_driver_in_the_order_of_names():
    own = pool({"name": "a", "taints": [{"key": "own", "effect": "None"}]})
    (patched,) = apply_taint_rules([own], [rule("z", {}), rule("b", {})])
    assert patched.spec.devices is not None
    assert [taint.key for taint in patched.spec.devices[0].taints] == ["own", "b", "z"]


def test_slices_without_a_matching_rule_are_the_same_objects():
    slices = [pool("a")]
    assert apply_taint_rules(slices, [rule("r", {"device": "x"})])[0] is slices[0]
