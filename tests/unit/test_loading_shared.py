"""What repeats from device to device is read once and shared within an input; what is wrong with it is said wherever it stands."""

import json
from pathlib import Path
from typing import Any

import pytest

from reparto.model import load, parts, v1
from reparto.model.decoding import decode_bytes
from reparto.model.errors import DecodeError
from reparto.model.intake import read_inputs
from reparto.model.parts import SharedParts

Json = dict[str, Any]


def device(name: str, **fields: Any) -> Json:
    """A partition of a GPU: an identifier of its own, all else as its neighbours have it."""
    return {
        "name": name,
        "attributes": {"type": {"string": "mig"}, "parentUUID": {"string": f"GPU-{name}"}},
        "capacity": {"memory": {"value": "9984Mi"}, "multiprocessors": {"value": "16"}},
        "consumesCounters": [{"counterSet": "gpu-0", "counters": {"memory-slice-0": {"value": "1"}}}],
        **fields,
    }


def device_slice(name: str, *devices: Json, **spec: Any) -> Json:
    whole = {"driver": "gpu.example.com", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 1}, **spec}
    if devices:
        whole["devices"] = list(devices)
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": whole}


def written(folder: Path, *slices: Json, indent: int | None = None) -> Path:
    path = folder / "slices.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(slices)}, indent=indent))
    return path


def devices_of(path: Path) -> list[v1.Device]:
    return [each for found in load(path) if isinstance(found, v1.ResourceSlice) for each in found.spec.devices or ()]


# --- sharing ---------------------------------------------------------------------------------------------------------------------


def test_equal_parts_of_different_slices_are_one_object(tmp_path: Path) -> None:
    one, other = devices_of(written(tmp_path, device_slice("a", device("x")), device_slice("b", device("y"))))
    assert one.capacity is other.capacity
    assert one.consumes_counters is other.consumes_counters
    assert one.attributes is not None
    assert other.attributes is not None
    assert one.attributes["type"] is other.attributes["type"]
    assert one.attributes["parentUUID"].string_value == "GPU-x"
    assert other.attributes["parentUUID"].string_value == "GPU-y"


def test_counter_sets_of_different_slices_are_one_object(tmp_path: Path) -> None:
    sets = [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]
    path = written(tmp_path, device_slice("a", sharedCounters=sets), device_slice("b", sharedCounters=sets))
    one, other = (found.spec.shared_counters for found in load(path) if isinstance(found, v1.ResourceSlice))
    assert one == (v1.CounterSet(name="gpu-0", counters={"memory": v1.Counter(value="80Gi")}),)
    assert one is other


def test_two_inputs_share_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, device_slice("a", device("x")))
    assert devices_of(path)[0].capacity is not devices_of(path)[0].capacity


def test_quantities_in_shared_parts_are_canonical(tmp_path: Path) -> None:
    large = device(
        "x",
        capacity={"memory": {"value": "1024Mi"}},
        consumesCounters=[{"counterSet": "gpu-0", "counters": {"memory": {"value": "2048Mi"}}}],
    )
    (found,) = devices_of(written(tmp_path, device_slice("a", large)))
    assert found.capacity == {"memory": v1.DeviceCapacity(value="1Gi")}
    assert found.consumes_counters[0].counters == {"memory": v1.Counter(value="2Gi")}


def test_times_outside_the_shared_parts_are_canonical(tmp_path: Path) -> None:
    taint = {"key": "example.com/x", "effect": "NoSchedule", "timeAdded": "2026-11-30T19:00:00+01:00"}
    (found,) = devices_of(written(tmp_path, device_slice("a", device("x", taints=[taint]))))
    assert found.taints[0].time_added == "2026-11-30T18:00:00Z"


@pytest.mark.parametrize("text", ["null", "{}"])
def test_null_and_empty_maps_stay_what_they_are(text: str) -> None:
    raw = json.dumps(device_slice("a", {"name": "x", "attributes": json.loads(text), "capacity": json.loads(text)})).encode()
    assert decode_bytes(raw, parts=SharedParts()) == decode_bytes(raw)


def test_more_parts_than_are_remembered_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("_VALUES", "_MAPS", "_CONSUMPTIONS"):
        monkeypatch.setattr(parts, limit, 2)
    many = [device(f"gpu-{number}", capacity={"memory": {"value": f"{number + 1}Gi"}}) for number in range(9)]
    found = devices_of(written(tmp_path, device_slice("a", *many)))
    assert [each.capacity for each in found] == [{"memory": v1.DeviceCapacity(value=f"{number + 1}Gi")} for number in range(9)]
    assert [(each.attributes or {})["parentUUID"].string_value for each in found] == [f"GPU-gpu-{number}" for number in range(9)]


# --- what is wrong is said each time ---------------------------------------------------------------------------------------------

BROKEN: list[tuple[Json, str]] = [
    ({"attributes": {"index": {"int": "1"}}}, "attributes.index.int"),
    ({"attributes": {"index": {"integer": 1}}}, "attributes.index.integer"),
    ({"attributes": []}, "attributes"),
    ({"capacity": {"memory": {"value": "much"}}}, "capacity.memory.value"),
    ({"capacity": {"memory": "80Gi"}}, "capacity.memory"),
    ({"consumesCounters": [{"counters": {"memory": {"value": "much"}}}]}, "consumesCounters[0].counters.memory.value"),
    ({"consumesCounters": [{"counterSets": "gpu-0"}]}, "consumesCounters[0].counterSets"),
]


@pytest.mark.parametrize(("fields", "where"), BROKEN)
def test_a_broken_part_met_again_is_reported_again_at_its_own_place(fields: Json, where: str, tmp_path: Path) -> None:
    first = device_slice("a", device("good"), device("x", **fields))
    second = device_slice("b", device("y", **fields), device("z", **fields))
    path = written(tmp_path, first, device_slice("between", device("good")), second, indent=1)
    intake = read_inputs([path])
    unreadable = [error for error in intake.errors if error.type == "Decode"]
    assert [(error.object, error.path) for error in unreadable] == [
        ("ResourceSlice/a", f"spec.devices[1].{where}"),
        ("ResourceSlice/b", f"spec.devices[0].{where}"),
        ("ResourceSlice/b", f"spec.devices[1].{where}"),
    ]
    # The line is that of the field, which each device has to itself.
    lines = path.read_text().splitlines()
    field = where.rpartition(".")[2]
    assert [lines[error.line - 1].split('"')[1] for error in unreadable] == [field] * 3
    assert len({error.line for error in unreadable}) == 3
    assert [loaded.name for loaded in intake.objects] == ["between"]


INVALID: list[tuple[Json, str]] = [
    ({"attributes": {"serial": {"string": "x" * 65}}}, "attributes[serial].string"),
    ({"attributes": {"both": {"string": "x", "int": 1}}}, "attributes[both]"),
    ({"attributes": {"release": {"version": "1"}}}, "attributes[release].version"),
    ({"attributes": {"9": {"int": 1}}}, "attributes"),
    ({"capacity": {"9": {"value": "1"}}}, "capacity"),
    ({"consumesCounters": [{"counterSet": "gpu-0", "counters": {}}]}, "consumesCounters[0].counters"),
    ({"consumesCounters": [{"counterSet": "Gpu", "counters": {"a": {"value": "1"}}}]}, "consumesCounters[0].counterSet"),
    ({"consumesCounters": [{"counterSet": "gpu-0", "counters": {"A": {"value": "1"}}}]}, "consumesCounters[0].counters"),
    ({"consumesCounters": [{"counterSet": "gpu-0", "counters": {f"c{n}": {} for n in range(33)}}]}, "consumesCounters[0].counters"),
    ({"consumesCounters": [{"counterSet": "gpu-0", "counters": {"a": {}}}] * 2}, "consumesCounters[1]"),
    ({"consumesCounters": [{"counterSet": f"gpu-{n}", "counters": {"a": {}}} for n in range(3)]}, "consumesCounters"),
]


@pytest.mark.parametrize(("fields", "where"), INVALID)
def test_an_invalid_part_met_again_is_reported_again(fields: Json, where: str, tmp_path: Path) -> None:
    path = written(tmp_path, device_slice("a", device("good"), device("x", **fields), device("y", **fields), device("z", **fields)))
    assert [error.path for error in read_inputs([path]).errors] == [f"spec.devices[{index}].{where}" for index in (1, 2, 3)]


def test_a_counter_set_that_is_invalid_is_reported_in_each_slice(tmp_path: Path) -> None:
    sets = [{"name": "gpu-0", "counters": {"memory": {"value": "1"}}}, {"name": "gpu-1", "counters": {"Memory": {"value": "1"}}}]
    path = written(tmp_path, device_slice("a", sharedCounters=sets), device_slice("b", sharedCounters=sets))
    assert [(error.object, error.path) for error in read_inputs([path]).errors] == [
        ("ResourceSlice/a", "spec.sharedCounters[1].counters"),
        ("ResourceSlice/b", "spec.sharedCounters[1].counters"),
    ]


def test_what_is_good_for_one_device_is_not_good_for_another_with_more() -> None:
    # 32 entries are allowed, attributes and capacities together: the same attributes fit beside one capacity and not beside two.
    attributes = {f"a{number}": {"int": number} for number in range(31)}
    fits = device("x", attributes=attributes, capacity={"memory": {"value": "1Gi"}})
    too_many = device("y", attributes=attributes, capacity={"memory": {"value": "1Gi"}, "other": {"value": "1"}})
    intake = read_inputs([device_slice("a", fits, too_many)])
    assert [error.path for error in intake.errors] == ["spec.devices[1]"]


def test_a_broken_part_raises_each_time_it_is_asked_for() -> None:
    shared = SharedParts()
    raw = json.dumps(device_slice("a", device("x", capacity={"memory": {"value": "much"}}))).encode()
    for _ in range(2):
        with pytest.raises(DecodeError) as caught:
            decode_bytes(raw, parts=shared)
        assert caught.value.path == "spec.devices[0].capacity.memory.value"
