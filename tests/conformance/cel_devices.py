"""Random devices for CEL, and smaller ones.

One device never carries an attribute both bare and under its driver's name: which one wins differs in Kubernetes from call to call.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

Device = dict[str, Any]

DRIVERS = ("gpu.example.com", "nic.example.com", "a")
DOMAINS = (*DRIVERS, "other.example.com", "b", "none.example.com")
#: The attribute names that devices carry, by the type that they usually have.
ATTRIBUTES = {
    "string": ("model", "family", "t"),
    "int": ("index", "count", "i"),
    "bool": ("ready", "b"),
    "version": ("driverVersion", "v"),
    "strings": ("tags", "ss"),
    "ints": ("ids", "is"),
    "bools": ("flags",),
    "versions": ("versions",),
}
CAPACITIES = ("memory", "cores", "c")
STRINGS = ("", "a", "b", "gpu", "A100", "abc", "abcabc", "H100 80GB", "é", "日本語", "a b", " x ", "1", "1.0.0", "40Gi", "x" * 63)
INTS = (0, 1, -1, 2, 3, 7, 10, 40, 1000, 2**31, 2**63 - 1, -(2**63))
VERSIONS = (
    "1.0.0",
    "1.2.3",
    "2.0.0",
    "0.0.0",
    "1.0.0-rc.1",
    "1.0.0-rc.2",
    "1.0.0+build",
    "10.20.30",
    "8.0.0",
    "18446744073709551615.0.0",
)
QUANTITIES = (
    "0",
    "1",
    "10",
    "40Gi",
    "80Gi",
    "81559Mi",
    "1k",
    "1Ki",
    "1500m",
    "0.5",
    "1e3",
    "1E",
    "1Ei",
    "100Ti",
    "9223372036854775807",
    "1n",
)


def random_device(random: Random, *, lists: bool = True) -> Device:
    """A device as the API has it, with some of the known attributes, now and then one of another type."""
    driver = random.choice((*DRIVERS, *[DRIVERS[0]] * 6))
    attributes: dict[str, Any] = {}
    taken: set[tuple[str, str]] = set()
    for _ in range(random.choice((0, 2, 8, 20, 40))):
        kind = random.choice(list(ATTRIBUTES))
        name = random.choice(ATTRIBUTES[kind])
        if random.random() < 0.05:
            kind = random.choice(list(ATTRIBUTES))
        if not lists and kind.endswith("s"):
            continue
        domain = random.choice((driver, driver, driver, *DOMAINS[:-1]))
        if (domain, name) in taken:
            continue
        taken.add((domain, name))
        bare = domain == driver and random.random() < 0.5
        attributes[name if bare else f"{domain}/{name}"] = random_attribute(random, kind)
    capacity: dict[str, Any] = {}
    for _ in range(random.choice((0, 1, 4, 8))):
        domain, name = random.choice((driver, driver, *DOMAINS[:-1])), random.choice(CAPACITIES)
        if (domain, name) in taken:
            continue
        taken.add((domain, name))
        capacity[name if domain == driver and random.random() < 0.5 else f"{domain}/{name}"] = {"value": random.choice(QUANTITIES)}
    device: Device = {"driver": driver, "attributes": attributes, "capacity": capacity}
    if random.random() < 0.3:
        device["allowMultipleAllocations"] = random.random() < 0.5
    return device


def random_attribute(random: Random, kind: str) -> dict[str, Any]:
    def several(values: tuple[Any, ...]) -> list[Any]:
        return [random.choice(values) for _ in range(random.choice((1, 1, 2, 3, 5)))]

    match kind:
        case "string":
            return {"string": random.choice(STRINGS)}
        case "int":
            return {"int": random.choice(INTS)}
        case "bool":
            return {"bool": random.random() < 0.5}
        case "version":
            return {"version": random.choice(VERSIONS)}
        case "strings":
            return {"strings": several(STRINGS)}
        case "ints":
            return {"ints": several(INTS)}
        case "bools":
            return {"bools": several((True, False))}
        case _:
            return {"versions": several(VERSIONS)}


def smaller_devices(device: Device) -> Iterator[Device]:
    """The device with one thing less."""
    for part in ("attributes", "capacity"):
        for name in device.get(part, {}):
            yield {**device, part: {key: value for key, value in device[part].items() if key != name}}
    if "allowMultipleAllocations" in device:
        yield {key: value for key, value in device.items() if key != "allowMultipleAllocations"}
