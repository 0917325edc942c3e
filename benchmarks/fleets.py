"""A data centre of H100 nodes as the NVIDIA DRA driver publishes it with dynamic MIG: every partition that could be made.

Per node one pool of nine slices, the form that Kubernetes needs from 1.35 on: one slice with the counter sets of the eight GPUs,
then one slice of devices for each GPU. A GPU is 26 devices: itself, and each MIG profile at each place where it can start. 5,000
nodes are 1.04 million devices. Everything follows from the number of nodes: the same call gives the same objects.

    python -m benchmarks.fleets 5000 fleet.json     # one List of compact JSON, about 1.2 GB

Sources: NVIDIA's DRA driver 0.5.0 (names, attributes, counters, order of devices); nvidia-smi of an H100 80GB HBM3 (profiles).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

import msgspec

from reparto.model import core, v1
from reparto.model.meta import ObjectMeta, OwnerReference

DRIVER = "gpu.nvidia.com"
GPUS = 8
DEVICES = 26  # of one GPU
SLICES = 1 + GPUS  # of one node

_CREATED = "2026-11-30T08:00:00Z"
_ENGINES = ("multiprocessors", "copy-engines", "decoders", "encoders", "jpeg-engines", "ofa-engines", "memory")
_CAPACITIES = ("multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines", "memory")
_MEMORY_SLICES = 8


@dataclass(frozen=True)
class Profile:
    """A MIG profile: the driver's number for it, where it may start, how many memory slices it covers, and what it takes, in the
    order of `_ENGINES`."""

    name: str
    number: int
    starts: Sequence[int]
    size: int
    amounts: tuple[str, ...]


# fmt: off
PROFILES = (
    Profile("1g.10gb", 19, range(7), 1, ("16", "1", "1", "0", "1", "0", "9984Mi")),
    Profile("1g.10gb+me", 20, range(7), 1, ("16", "1", "1", "0", "1", "1", "9984Mi")),
    Profile("1g.20gb", 15, (0, 2, 4, 6), 2, ("26", "1", "1", "0", "1", "0", "20096Mi")),
    Profile("2g.20gb", 14, (0, 2, 4), 2, ("32", "2", "2", "0", "2", "0", "20096Mi")),
    Profile("3g.40gb", 9, (0, 4), 4, ("60", "3", "3", "0", "3", "0", "40448Mi")),
    Profile("4g.40gb", 5, (0,), 4, ("64", "4", "4", "0", "4", "0", "40448Mi")),
    Profile("7g.80gb", 0, (0,), 8, ("132", "8", "7", "0", "7", "1", "81152Mi")),
)
# fmt: on
_WHOLE = Profile("", -1, (0,), _MEMORY_SLICES, PROFILES[-1].amounts)  # every counter at its largest
_TOTAL_MEMORY = "81559Mi"

# An HGX board: PCI address, root and NUMA node of its eight GPUs.
_BOARD = (
    ("0000:1b:00.0", "pci0000:15", 0),
    ("0000:43:00.0", "pci0000:37", 0),
    ("0000:52:00.0", "pci0000:48", 0),
    ("0000:61:00.0", "pci0000:59", 0),
    ("0000:9d:00.0", "pci0000:97", 1),
    ("0000:c3:00.0", "pci0000:b7", 1),
    ("0000:d1:00.0", "pci0000:c7", 1),
    ("0000:df:00.0", "pci0000:d7", 1),
)

_Attributes = dict[str, v1.DeviceAttribute]


def slices(nodes: int) -> list[v1.ResourceSlice]:
    """All slices of the fleet, in memory. What is equal is the same object; about 400 bytes a device."""
    return [each for index in range(nodes) for each in slices_of(index)]


def slices_of(index: int) -> Iterator[v1.ResourceSlice]:
    """The nine slices of one node: the counters, then GPU by GPU the devices."""
    node = node_name(index)
    yield _slice(index, node, 0, shared_counters=_counter_sets())
    for minor in range(GPUS):
        yield _slice(index, node, 1 + minor, devices=_devices(minor, _uuid("GPU-", f"{node}/{minor}")))


def nodes(count: int) -> list[core.Node]:
    """The nodes of the fleet, in order of their names."""
    room = {"cpu": "192", "memory": "2Ti", "pods": "110"}
    status = core.NodeStatus(capacity=room, allocatable=room)
    return [
        core.Node(
            metadata=ObjectMeta(name=name, uid=_uuid("", name), labels={"kubernetes.io/hostname": name}),
            status=status,
        )
        for name in map(node_name, range(count))
    ]


def classes() -> list[v1.DeviceClass]:
    """The classes that the driver brings for whole GPUs and for partitions."""
    return [_class("gpu.nvidia.com", "gpu"), _class("mig.nvidia.com", "mig")]


def node_name(index: int) -> str:
    return f"node-{index:05}"


def write(file: BinaryIO, count: int) -> None:
    """The slices of `count` nodes as one List of compact JSON, as `kubectl get resourceslices -o json | jq -c` gives it."""
    encode = msgspec.json.Encoder(order="sorted").encode
    file.write(b'{"apiVersion":"v1","items":[')
    for index in range(count):
        text = b",".join(map(encode, slices_of(index)))
        # Our structs leave out a value that is 0, Kubernetes does not.
        file.write((b"," if index else b"") + text.replace(b":{}", b':{"value":"0"}'))
    file.write(b'],"kind":"List","metadata":{"resourceVersion":""}}\n')


def _class(name: str, kind: str) -> v1.DeviceClass:
    expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == '{kind}'"
    selector = v1.DeviceSelector(cel=v1.CELDeviceSelector(expression=expression))
    return v1.DeviceClass(metadata=ObjectMeta(name=name), spec=v1.DeviceClassSpec(selectors=(selector,)))


def _slice(
    index: int,
    node: str,
    part: int,
    devices: tuple[v1.Device, ...] | None = None,
    shared_counters: tuple[v1.CounterSet, ...] | None = None,
) -> v1.ResourceSlice:
    owner = OwnerReference(api_version="v1", kind="Node", name=node, uid=_uuid("", node), controller=True)
    metadata = ObjectMeta(
        # The driver's helper draws five characters; ours say which slice it is.
        name=f"{node}-{DRIVER}-{part:05}",
        generate_name=f"{node}-{DRIVER}-",
        uid=_uuid("", f"{node}/slice/{part}"),
        resource_version=str(1_000_000 + index * SLICES + part),
        generation=1,
        creation_timestamp=_CREATED,
        owner_references=(owner,),
    )
    spec = v1.ResourceSliceSpec(
        driver=DRIVER,
        pool=v1.ResourcePool(name=node, generation=1, resource_slice_count=SLICES),
        node_name=node,
        devices=devices,
        shared_counters=shared_counters,
    )
    return v1.ResourceSlice(metadata=metadata, spec=spec)


def _devices(minor: int, uuid: str) -> tuple[v1.Device, ...]:
    """One GPU's devices, by name as the driver sorts them."""
    attributes = {profile: _attributes(minor, profile, uuid) for profile in (_WHOLE, *PROFILES)}
    return tuple(
        v1.Device(name=name, attributes=attributes[profile], capacity=_capacity(profile), consumes_counters=consumed)
        for name, profile, consumed in _layout(minor)
    )


@cache
def _layout(minor: int) -> list[tuple[str, Profile, tuple[v1.DeviceCounterConsumption, ...]]]:
    """Name, profile and counters of one GPU's devices: all that does not depend on which GPU of which node it is."""
    found = [(f"gpu-{minor}", _WHOLE, _consumption(minor, _WHOLE, 0))]
    for profile in PROFILES:
        plain = profile.name.replace(".", "").replace("+", "-")
        for start in profile.starts:
            found.append((f"gpu-{minor}-mig-{plain}-{profile.number}-{start}", profile, _consumption(minor, profile, start)))
    return sorted(found, key=lambda each: each[0])


def _attributes(minor: int, profile: Profile, uuid: str) -> _Attributes:
    own = {"uuid": _text(uuid), "type": _text("gpu")}
    if profile.name:
        own = {"parentUUID": _text(uuid), "type": _text("mig"), "profile": _text(profile.name)}
    return {**_common(minor), **own}


@cache
def _common(minor: int) -> _Attributes:
    address, root, numa = _BOARD[minor]
    return {
        "addressingMode": _text("HMM"),
        "architecture": _text("Hopper"),
        "brand": _text("Nvidia"),
        "cudaComputeCapability": v1.DeviceAttribute(version_value="9.0.0"),
        "cudaDriverVersion": v1.DeviceAttribute(version_value="13.0.0"),
        "driverVersion": v1.DeviceAttribute(version_value="580.95.5"),
        "productName": _text("NVIDIA H100 80GB HBM3"),
        "resource.kubernetes.io/numaNode": v1.DeviceAttribute(int_value=numa),
        "resource.kubernetes.io/pciBusID": _text(address),
        "resource.kubernetes.io/pcieRoot": _text(root),
    }


def _text(value: str) -> v1.DeviceAttribute:
    return v1.DeviceAttribute(string_value=value)


@cache
def _capacity(profile: Profile) -> dict[str, v1.DeviceCapacity]:
    amounts = (*profile.amounts[:-1], _TOTAL_MEMORY if profile is _WHOLE else profile.amounts[-1])
    return {name: v1.DeviceCapacity(value=amount) for name, amount in zip(_CAPACITIES, amounts, strict=True)}


@cache
def _consumption(minor: int, profile: Profile, start: int) -> tuple[v1.DeviceCounterConsumption, ...]:
    return (v1.DeviceCounterConsumption(counter_set=_set_name(minor), counters=_counters(profile, start)),)


@cache
def _counters(profile: Profile, start: int) -> dict[str, v1.Counter]:
    counters = {name: v1.Counter(value=amount) for name, amount in zip(_ENGINES, profile.amounts, strict=True)}
    return counters | {f"memory-slice-{number}": v1.Counter(value="1") for number in range(start, start + profile.size)}


@cache
def _counter_sets() -> tuple[v1.CounterSet, ...]:
    return tuple(v1.CounterSet(name=_set_name(minor), counters=_counters(_WHOLE, 0)) for minor in range(GPUS))


def _set_name(minor: int) -> str:
    return f"gpu-{minor}-counter-set"


def _uuid(prefix: str, of: str) -> str:
    text = hashlib.blake2b(of.encode(), digest_size=16).hexdigest()
    return f"{prefix}{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


if __name__ == "__main__":
    with Path(sys.argv[2]).open("wb") as target:
        write(target, int(sys.argv[1]))
