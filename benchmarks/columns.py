"""One selector over a hundred thousand devices: columns, and what it costs to keep them when a device comes or changes.

The selector is the one of `cel_selector`; the devices are GPUs and MIG devices of six products, each with a UUID of its own. The
reference evaluates device by device, as its allocator does. The promise is at most 5 ms once columns exist.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import cycle

from msgspec.structs import replace

from benchmarks import reference
from benchmarks.cel_selector import ENVIRONMENT, SELECTOR
from benchmarks.timing import Row, best_of, per_call
from reparto import cel
from reparto.cel.columns import Columns
from reparto.cel.projection import view_of
from reparto.model.v1 import Device, DeviceAttribute, DeviceCapacity

DRIVER = "gpu.nvidia.com"
PRODUCTS = (
    # product, architecture, compute capability, memory of the whole and of its smallest part
    ("NVIDIA H100 80GB HBM3", "Hopper", "9.0.0", "81559Mi", "9728Mi"),
    ("NVIDIA H200", "Hopper", "9.0.0", "143771Mi", "18Gi"),
    ("NVIDIA A100-SXM4-40GB", "Ampere", "8.0.0", "40Gi", "4864Mi"),
    ("NVIDIA A100-SXM4-80GB", "Ampere", "8.0.0", "80Gi", "9728Mi"),
    ("NVIDIA L4", "Ada Lovelace", "8.9.0", "23034Mi", "23034Mi"),
    ("Tesla V100-SXM2-32GB", "Volta", "7.0.0", "32Gi", "32Gi"),
)
UUID = 'device.attributes["gpu.nvidia.com"].uuid == "GPU-00000000-0000-0000-0000-000000000007"'


def devices(count: int, *, extra: int = 0) -> Iterator[Device]:
    """GPUs, every fourth a MIG device, with `extra` attributes that no selector reads."""
    for number in range(count):
        product, architecture, capability, memory, part = PRODUCTS[number % len(PRODUCTS)]
        mig = number % 4 == 3
        attributes = {
            "type": DeviceAttribute(string_value="mig" if mig else "gpu"),
            "productName": DeviceAttribute(string_value=product),
            "architecture": DeviceAttribute(string_value=architecture),
            "brand": DeviceAttribute(string_value="Nvidia"),
            "uuid": DeviceAttribute(string_value=f"GPU-00000000-0000-0000-0000-{number:012x}"),
            "index": DeviceAttribute(int_value=number % 8),
            "resource.kubernetes.io/pcieRoot": DeviceAttribute(string_value=f"pci0000:{number % 256:02x}"),
            "cudaComputeCapability": DeviceAttribute(version_value=capability),
            "cudaDriverVersion": DeviceAttribute(version_value="13.0.0"),
            "driverVersion": DeviceAttribute(version_value="580.65.6"),
            **{f"extra{index}": DeviceAttribute(string_value="x") for index in range(extra)},
        }
        yield Device(
            name=f"gpu-{number}", attributes=attributes, capacity={"memory": DeviceCapacity(value=part if mig else memory)}
        )


def columns_of(published: Sequence[Device]) -> Columns:
    made = Columns()
    for device in published:
        made.add(DRIVER, device)
    return made


def reference_micros(repeat: int) -> float:
    """Microseconds of one evaluation by Kubernetes, on a device of each product in turn."""
    total = 0.0
    for device in devices(len(PRODUCTS)):
        api = {"driver": DRIVER, "attributes": {}, "capacity": {}}
        for name, attribute in (device.attributes or {}).items():
            fields = {"string": attribute.string_value, "int": attribute.int_value, "version": attribute.version_value}
            api["attributes"][name] = {field: value for field, value in fields.items() if value is not None}
        for name, capacity in (device.capacity or {}).items():
            api["capacity"][name] = {"value": capacity.value}
        question = {
            "features": {"consumable_capacity": True},
            "repeat": repeat,
            "selector": {"expression": SELECTOR, "device": api},
        }
        answer = reference.ask(question)
        ours = cel.compile(SELECTOR, ENVIRONMENT).matches(view_of(DRIVER, device))
        if ours != answer["selector"]["match"]:
            raise AssertionError(f"not the same answer for {device}: {ours}")
        total += answer["micros"]
    return total / len(PRODUCTS)


def maintenance(count: int, extra: int, seconds: float) -> Row:
    """Microseconds to put a changed device into a row, columns of the selector included."""
    rows = columns_of(list(devices(count)))
    rows.build(cel.compile(SELECTOR, ENVIRONMENT))
    changed = cycle(list(devices(1000, extra=extra)))
    turn = cycle(range(count))

    def replace() -> None:
        rows.replace(next(turn), DRIVER, next(changed))

    return Row(f"a device of {10 + extra} attributes changes, among {count:,}", per_call(replace, seconds) * 1e6, "µs")


def measure(quick: bool = False) -> list[Row]:
    """Milliseconds over all devices, and microseconds for one that changes."""
    count, seconds = (10_000, 0.05) if quick else (100_000, 0.5)
    published = list(devices(count))
    theirs = reference_micros(20 if quick else 1000) * count / 1e3
    program = cel.compile(SELECTOR, ENVIRONMENT)
    rows = columns_of(published)
    start = time.perf_counter()
    rows.build(program)
    built = (time.perf_counter() - start) * 1e3
    answers = rows.answers(program)
    if answers.matching() != [row for row, device in enumerate(published) if program.matches(view_of(DRIVER, device))]:
        raise AssertionError("columns and devices disagree")
    once = best_of(3 if quick else 20, lambda: rows.answers(program)) * 1e3
    views = [view_of(DRIVER, device) for device in published]
    singly = best_of(2 if quick else 5, lambda: sum(map(program.matches, views))) * 1e3
    varied = columns_of(
        [replace(device, capacity={"memory": DeviceCapacity(f"{40_000 + row % 997}Mi")}) for row, device in enumerate(published)]
    )
    varied.build(program)
    of_varied = varied.answers(program).evaluations
    distinct = cel.compile(UUID, ENVIRONMENT)
    rows.build(distinct)
    return [
        Row(f"{count:,} devices, {answers.evaluations} evaluations, columns exist", once, "ms", theirs, bound=5),
        Row(
            f"with 997 sizes of memory, {of_varied} evaluations",
            best_of(3 if quick else 20, lambda: varied.answers(program)) * 1e3,
            "ms",
            bound=5,
        ),
        Row("the same one by one, as CEL sees them already", singly, "ms", theirs),
        Row("make its three columns", built, "ms"),
        Row("a UUID is asked for: every device differs", best_of(2, lambda: rows.answers(distinct)) * 1e3, "ms"),
        *(maintenance(size, 0, seconds) for size in (count // 10, count)),
        maintenance(count, 20, seconds),
    ]
