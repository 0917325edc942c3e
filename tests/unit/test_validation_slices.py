"""ResourceSlice: the rules, with type, path and value (validation-1.37.md section 6)."""

import pytest

from unit.api_objects import Json, device, found, only, slice_of

SELECTOR = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
COUNTERS = {"counterSet": "set", "counters": {"memory": {"value": "1Gi"}}}
DEVICE = "spec.devices[0]"


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_a_plain_slice_is_valid(version: str) -> None:
    attributes = {
        "model": {"string": "H100"},
        "gpu.example.com/index": {"int": 0},
        "ok": {"bool": False},
        "v": {"version": "1.2.3-rc.1+b"},
    }
    assert found(slice_of(device(attributes=attributes, capacity={"memory": {"value": "80Gi"}}), version=version)) == set()


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"driver": ""}, {("Required", "spec.driver")}),
        ({"driver": "d_"}, {("Invalid", "spec.driver")}),
        ({"driver": "d." * 32 + "d"}, {("TooLong", "spec.driver")}),
        ({"driver": "GPU.example.com"}, set()),  # case does not matter; the server only warns
        ({"pool": {"name": "", "resourceSliceCount": 1}}, {("Required", "spec.pool.name")}),
        ({"pool": {"name": "a//b", "resourceSliceCount": 1}}, {("Invalid", "spec.pool.name")}),
        ({"pool": {"name": "a/b.c/d", "resourceSliceCount": 1}}, set()),
        ({"pool": {"name": "p", "resourceSliceCount": 0}}, {("Invalid", "spec.pool.resourceSliceCount")}),
        ({"pool": {"name": "p", "resourceSliceCount": 1, "generation": -1}}, {("Invalid", "spec.pool.generation")}),
        ({"nodeName": ""}, {("Invalid", "spec.nodeName"), ("Required", "spec")}),
        ({"nodeName": "Node"}, {("Invalid", "spec.nodeName")}),
        ({"nodeName": None}, {("Required", "spec")}),
        ({"allNodes": True}, {("Invalid", "spec")}),
        ({"allNodes": False}, {("Invalid", "spec.allNodes")}),
        ({"perDeviceNodeSelection": False}, {("Invalid", "spec.perDeviceNodeSelection")}),
        ({"nodeName": None, "nodeSelector": SELECTOR}, set()),
        (
            {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": SELECTOR["nodeSelectorTerms"] * 2}},
            {("Invalid", "spec.nodeSelector.nodeSelectorTerms")},
        ),
        (
            {"nodeName": None, "nodeSelector": {}},
            {("Required", "spec.nodeSelector.nodeSelectorTerms"), ("Invalid", "spec.nodeSelector.nodeSelectorTerms")},
        ),
        ({"sharedCounters": []}, {("Invalid", "spec")}),  # beside devices, which is an empty list here
        ({"devices": None, "sharedCounters": []}, set()),
    ],
)
def test_each_broken_spec_is_found_at_its_path(spec: Json, errors: set[tuple[str, str]]) -> None:
    assert found(slice_of(**spec)) == errors


def test_several_ways_to_say_where_the_devices_are_are_listed() -> None:
    error = only(slice_of(allNodes=True))
    assert error.value == "{`nodeName`, `allNodes`}"


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"name": "GPU"}, {("Invalid", f"{DEVICE}.name")}),
        ({"name": "a.b"}, {("Invalid", f"{DEVICE}.name")}),
        ({"attributes": {"1a": {"int": 1}}}, {("Invalid", f"{DEVICE}.attributes")}),
        ({"attributes": {"a/b/c": {"int": 1}}}, set()),  # two slashes are not looked at
        ({"attributes": {"": {"int": 1}}}, {("Invalid", f"{DEVICE}.attributes")}),
        ({"attributes": {"a": {}}}, {("Invalid", f"{DEVICE}.attributes[a]")}),
        ({"attributes": {"a": {"int": 1, "bool": True}}}, {("Invalid", f"{DEVICE}.attributes[a]")}),
        ({"attributes": {"a": {"string": "x" * 65}}}, {("TooLong", f"{DEVICE}.attributes[a].string")}),
        ({"attributes": {"a": {"string": "é" * 33}}}, {("TooLong", f"{DEVICE}.attributes[a].string")}),  # bytes count
        ({"attributes": {"a": {"string": "é" * 32}}}, set()),
        ({"attributes": {"a": {"version": "v1.2.3"}}}, {("Invalid", f"{DEVICE}.attributes[a].version")}),
        ({"attributes": {"a": {"version": "1.2"}}}, {("Invalid", f"{DEVICE}.attributes[a].version")}),
        (
            {"attributes": {"a": {"ints": []}}},
            {("Invalid", f"{DEVICE}.attributes[a].ints"), ("Invalid", f"{DEVICE}.attributes[a]")},
        ),
        ({"attributes": {"a": {"versions": ["1.2.3", "x"]}}}, {("Invalid", f"{DEVICE}.attributes[a].versions[1]")}),
        ({"attributes": {f"a{i}": {"int": i} for i in range(33)}}, {("Invalid", DEVICE)}),
        ({"attributes": {"a": {"ints": list(range(49))}}}, {("Invalid", DEVICE)}),
        ({"capacity": {"a-b": {"value": "1"}}}, {("Invalid", f"{DEVICE}.capacity")}),
        ({"capacity": {"m": {"value": "-1"}}}, set()),  # nothing forbids it
        ({"taints": [{"key": "", "effect": "NoSchedule"}]}, {("Invalid", f"{DEVICE}.taints[0].key")}),
        ({"taints": [{"key": "a", "effect": ""}]}, {("Required", f"{DEVICE}.taints[0].effect")}),
        ({"taints": [{"key": "a", "effect": "Prefer"}]}, {("NotSupported", f"{DEVICE}.taints[0].effect")}),
        ({"taints": [{"key": "a", "effect": "None"}] * 17}, {("TooMany", f"{DEVICE}.taints")}),
        ({"consumesCounters": [COUNTERS, COUNTERS]}, {("Duplicate", f"{DEVICE}.consumesCounters[1]")}),
        ({"consumesCounters": [COUNTERS] * 3}, {("TooMany", f"{DEVICE}.consumesCounters")}),
        (
            {"consumesCounters": [{}]},
            {("Required", f"{DEVICE}.consumesCounters[0].counterSet"), ("Required", f"{DEVICE}.consumesCounters[0].counters")},
        ),
        (
            {"consumesCounters": [{**COUNTERS, "counters": {"A": {"value": "1"}}}]},
            {("Invalid", f"{DEVICE}.consumesCounters[0].counters")},
        ),
        (
            {"consumesCounters": [{**COUNTERS, "counters": {f"c{i}": {"value": "1"} for i in range(33)}}]},
            {("TooMany", f"{DEVICE}.consumesCounters[0].counters")},
        ),
        (
            {"consumesCounters": [{**COUNTERS, "compatibilityGroups": ["a", "b", "c"]}]},
            {("TooMany", f"{DEVICE}.consumesCounters[0].compatibilityGroups")},
        ),
        (
            {"consumesCounters": [{**COUNTERS, "compatibilityGroups": ["a", "a"]}]},
            {("Duplicate", f"{DEVICE}.consumesCounters[0].compatibilityGroups[1]")},
        ),
        ({"nodeName": "n"}, {("Invalid", DEVICE)}),  # only with perDeviceNodeSelection
        ({"bindingConditions": ["a"]}, {("Invalid", f"{DEVICE}.bindingFailureConditions")}),
        (
            {"bindingConditions": ["a"] * 5, "bindingFailureConditions": ["b"]},
            {("TooMany", f"{DEVICE}.bindingConditions"), *{("Duplicate", f"{DEVICE}.bindingConditions[{i}]") for i in range(1, 5)}},
        ),
        ({"bindingConditions": ["a"], "bindingFailureConditions": ["a"]}, {("Invalid", f"{DEVICE}.bindingFailureConditions[0]")}),
        (
            {"nodeAllocatableResources": {"gpu": {}}},
            {("Invalid", f"{DEVICE}.nodeAllocatableResources[gpu]"), ("Required", f"{DEVICE}.nodeAllocatableResources[gpu]")},
        ),
        ({"nodeAllocatableResources": {"cpu": {"mapping": {}}}}, {("Invalid", f"{DEVICE}.nodeAllocatableResources[cpu].mapping")}),
        (
            {"nodeAllocatableResources": {"cpu": {"mapping": {"capacityKey": "x", "capacityMultiplier": "1"}}}},
            {("NotFound", f"{DEVICE}.nodeAllocatableResources[cpu].mapping.capacityKey")},
        ),
        (
            {"nodeAllocatableResources": {"cpu": {"mapping": {"deviceMultiplier": "0"}}}},
            {("Invalid", f"{DEVICE}.nodeAllocatableResources[cpu].mapping.deviceMultiplier")},
        ),
        (
            {"nodeAllocatableResources": {"cpu": {"overhead": {}}}},
            {("Invalid", f"{DEVICE}.nodeAllocatableResources[cpu].overhead")},
        ),
        (
            {"nodeAllocatableResources": {"cpu": {"overhead": {"perPod": "-1"}}}},
            {("Invalid", f"{DEVICE}.nodeAllocatableResources[cpu].overhead.perPod")},
        ),
    ],
)
def test_each_broken_device_is_found_at_its_path(fields: Json, errors: set[tuple[str, str]]) -> None:
    assert found(slice_of(device(**fields))) == errors


def test_v1beta1_paths_have_basic_where_the_declarative_rule_speaks() -> None:
    broken = {"name": "GPU", "basic": {"attributes": {"a": {}}, "taints": [{"key": "-", "effect": "Prefer"}]}}
    assert found(slice_of(broken, version="v1beta1")) == {
        ("Invalid", "spec.devices[0].name"),
        ("Invalid", "spec.devices[0].basic.attributes[a]"),
        ("Invalid", "spec.devices[0].taints[0].key"),  # handwritten: the shape of v1
        ("NotSupported", "spec.devices[0].basic.taints[0].effect"),
    }


def test_an_attribute_without_value_lists_the_types_it_may_have() -> None:
    error = only(slice_of(device(attributes={"a": {}})))
    assert error.value == ""
    assert error.message == "must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
    error = only(slice_of(device(attributes={"a": {"int": 1, "string": "x"}})))
    assert error.value == "{int, string}"


def test_long_keys_are_shortened_in_paths() -> None:
    name = "d" * 90 + "/x123456"
    errors = found(slice_of(device(attributes={name: {"string": "x" * 65}})))
    # 96 characters: 47 of the beginning, an ellipsis, 46 of the end.
    assert ("TooLong", f"{DEVICE}.attributes[{name[:47]}...{name[-46:]}].string") in errors


@pytest.mark.parametrize(
    ("feature", "limit"),
    [
        ({}, 128),
        ({"taints": [{"key": "a", "effect": "None"}]}, 64),
        ({"consumesCounters": [COUNTERS]}, 64),
        ({"attributes": {"a": {"ints": [1]}}}, 64),
    ],
)
def test_advanced_features_halve_the_number_of_devices(feature: Json, limit: int) -> None:
    plain = [device(f"d{index}") for index in range(limit - 1)]
    last = device("last", **feature)
    assert found(slice_of(*plain, last)) == set()
    error = only(slice_of(*plain, device("more"), last))
    assert (error.type, error.path, error.value) == ("FieldValueTooMany", "spec.devices", limit + 1)


def test_two_devices_of_one_name_show_the_name() -> None:
    error = only(slice_of(device("a"), device("b"), device("a")))
    assert (error.type, error.path, error.value) == ("FieldValueDuplicate", "spec.devices[2]", "a")


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"nodeName": "n"}, set()),
        ({"allNodes": True}, set()),
        ({}, {("Required", DEVICE)}),
        ({"nodeName": "n", "allNodes": True}, {("Invalid", DEVICE)}),
        ({"nodeName": ""}, {("Invalid", f"{DEVICE}.nodeName"), ("Required", DEVICE)}),
        ({"allNodes": False}, {("Invalid", f"{DEVICE}.allNodes"), ("Required", DEVICE)}),
    ],
)
def test_per_device_node_selection(fields: Json, errors: set[tuple[str, str]]) -> None:
    assert found(slice_of(device(**fields), nodeName=None, perDeviceNodeSelection=True)) == errors


@pytest.mark.parametrize(
    ("counters", "errors"),
    [
        ([{"name": "a", "counters": {"m": {"value": "1"}}}], set()),
        ([{"name": "", "counters": {"m": {"value": "1"}}}], {("Required", "spec.sharedCounters[0].name")}),
        ([{"name": "A", "counters": {"m": {"value": "1"}}}], {("Invalid", "spec.sharedCounters[0].name")}),
        ([{"name": "a"}], {("Required", "spec.sharedCounters[0].counters")}),
        ([{"name": "a", "counters": {"m": {"value": "1"}}}] * 2, {("Duplicate", "spec.sharedCounters[1]")}),
        ([{"name": "a", "counters": {"m": {"value": "1"}}}] * 9, {("TooMany", "spec.sharedCounters")}),
    ],
)
def test_shared_counters(counters: Json, errors: set[tuple[str, str]]) -> None:
    assert found(slice_of(devices=None, sharedCounters=counters)) == errors


def test_a_partition_type_names_a_string_attribute_of_every_consuming_device() -> None:
    on = {"DRAPartitionableDevicesType": True}
    consuming = {"consumesCounters": [COUNTERS]}
    name = {"partitionTypeAttribute": "gpu.example.com/profile"}
    good = device("a", attributes={"profile": {"string": "1g"}}, **consuming)
    assert found(slice_of(good, **name), **on) == set()
    path = f"{DEVICE}.attributes[gpu.example.com/profile]"
    assert found(slice_of(device(**consuming), **name), **on) == {("Required", path)}
    assert found(slice_of(device(attributes={"profile": {"int": 1}}, **consuming), **name), **on) == {("Invalid", path)}
    assert found(slice_of(device(), **name), **on) == {("Invalid", "spec.partitionTypeAttribute")}
    assert found(slice_of(good, **name)) == {("Forbidden", "spec.partitionTypeAttribute")}


@pytest.mark.parametrize(
    ("operations", "errors"),
    [
        (["*"], set()),
        (["NodePrepareResources", "NodeUnprepareResources"], set()),
        (["NodePrepareResources"], {("Invalid", "spec.skipNodeOperations")}),
        (["*", "*"], {("Duplicate", "spec.skipNodeOperations[1]")}),
        (["Sleep"], {("NotSupported", "spec.skipNodeOperations[0]")}),
    ],
)
def test_skipped_node_operations(operations: Json, errors: set[tuple[str, str]]) -> None:
    assert found(slice_of(skipNodeOperations=operations)) == errors


def test_what_was_found_good_once_does_not_hide_what_is_bad_elsewhere() -> None:
    good = device(attributes={"a": {"string": "x"}}, capacity={"m": {"value": "1"}})
    assert found(slice_of(good)) == set()
    assert found(slice_of(good, device("b", attributes={"a": {"string": "x"}, "A-": {"string": "x"}}))) == {
        ("Invalid", "spec.devices[1].attributes")
    }
    assert found(slice_of(device(attributes={"a": {"string": "x", "int": 1}}))) == {("Invalid", f"{DEVICE}.attributes[a]")}
