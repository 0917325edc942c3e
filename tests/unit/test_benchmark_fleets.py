"""The generated fleet is what NVIDIA's driver publishes of an HGX node with dynamic MIG (gpu-landscape.md 2.2 and 2.5)."""

from pathlib import Path

from benchmarks import fleets

from reparto import model
from reparto.model import v1


def devices_of_gpu(minor: int, node: int = 0) -> tuple[v1.Device, ...]:
    found = list(fleets.slices_of(node))[1 + minor].spec.devices
    assert found is not None
    return found


def test_a_gpu_is_itself_and_each_profile_at_each_start() -> None:
    # 1 + 7 (1g.10gb) + 7 (+me) + 4 (1g.20gb) + 3 (2g) + 2 (3g) + 1 (4g) + 1 (7g) = 26
    names = [device.name for device in devices_of_gpu(3)]
    assert len(names) == 26
    assert names[:2] == ["gpu-3", "gpu-3-mig-1g10gb-19-0"]
    assert names == sorted(names)
    assert sum("-1g10gb-me-20-" in name for name in names) == 7


def test_one_slice_has_all_counter_sets_and_one_each_the_devices_of_a_gpu() -> None:
    slices = list(fleets.slices_of(0))
    assert [len(each.spec.shared_counters or ()) for each in slices] == [8, *[0] * 8]
    assert [len(each.spec.devices or ()) for each in slices] == [0, *[26] * 8]
    assert {(each.spec.pool.name, each.spec.node_name, each.spec.pool.resource_slice_count) for each in slices} == {
        ("node-00000", "node-00000", 9)
    }


def test_a_gpu_takes_every_counter_of_its_set_whole() -> None:
    (counters, *_) = fleets.slices_of(0)
    assert counters.spec.shared_counters is not None
    published = counters.spec.shared_counters[2]
    (consumed,) = devices_of_gpu(2)[0].consumes_counters
    assert (consumed.counter_set, consumed.counters) == (published.name, published.counters)
    values = {name: counter.value for name, counter in (published.counters or {}).items()}
    engines = {"copy-engines": "8", "decoders": "7", "encoders": "0", "jpeg-engines": "7", "ofa-engines": "1"}
    assert values == {"multiprocessors": "132", "memory": "81152Mi", **engines, **{f"memory-slice-{n}": "1" for n in range(8)}}


def test_a_partition_takes_the_memory_slices_that_it_covers() -> None:
    (partition,) = (device for device in devices_of_gpu(0) if device.name == "gpu-0-mig-3g40gb-9-4")
    (consumed,) = partition.consumes_counters
    covered = [name for name in consumed.counters or {} if name.startswith("memory-slice-")]
    assert covered == [f"memory-slice-{number}" for number in (4, 5, 6, 7)]
    assert (consumed.counters or {})["multiprocessors"].value == "60"
    assert (partition.capacity or {})["memory"].value == "40448Mi"
    assert (partition.attributes or {})["profile"].string_value == "3g.40gb"
    whole = devices_of_gpu(0)[0]
    assert (whole.capacity or {})["memory"].value == "81559Mi"
    assert (partition.attributes or {})["parentUUID"] == (whole.attributes or {})["uuid"]


def test_every_gpu_has_its_own_uuid() -> None:
    uuids = {(devices_of_gpu(minor, node)[0].attributes or {})["uuid"].string_value for node in range(4) for minor in range(8)}
    assert len(uuids) == 32


def test_the_file_holds_what_is_built_in_memory_and_all_of_it_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    with path.open("wb") as file:
        fleets.write(file, 3)
    assert b"\n" not in path.read_bytes().rstrip(b"\n")
    assert model.load(path) == fleets.slices(3)
    assert not [error for each in fleets.classes() for error in model.validate(each)]
