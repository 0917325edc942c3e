"""One selector on one device: a GPU of a kind, with enough memory and a recent compute capability.

The promise is at most 1 µs for the compiled evaluation (cel.md; estimate and actual cost are 19).
"""

from __future__ import annotations

from benchmarks import reference
from benchmarks.timing import Row, per_call
from reparto import cel

SELECTOR = (
    'device.attributes["gpu.nvidia.com"].type == "gpu"'
    ' && device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'
    ' && device.attributes["gpu.nvidia.com"].cudaComputeCapability.compareTo(semver("8.0.0")) >= 0'
)
ATTRIBUTES = {
    "type": {"string": "gpu"},
    "productName": {"string": "NVIDIA H100 80GB HBM3"},
    "architecture": {"string": "Hopper"},
    "brand": {"string": "Nvidia"},
    "uuid": {"string": "GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c"},
    "index": {"int": 0},
    "minor": {"int": 0},
    "cudaComputeCapability": {"version": "9.0.0"},
    "cudaDriverVersion": {"version": "13.0.0"},
    "driverVersion": {"version": "580.65.6"},
}
CAPACITY = {"memory": {"value": "81559Mi"}}
ENVIRONMENT = cel.Options(stored=True, version="1.37", consumable_capacity=True, list_type_attributes=False)


def measure(quick: bool = False) -> list[Row]:
    """Microseconds for compiling and for evaluating, exact and fast."""
    repeat = 200 if quick else 5000
    question = {
        "features": {"consumable_capacity": True},
        "repeat": repeat,
        "selector": {
            "expression": SELECTOR,
            "device": {"driver": "gpu.nvidia.com", "attributes": ATTRIBUTES, "capacity": CAPACITY},
        },
    }
    theirs = reference.ask(question)
    program = cel.compile(SELECTOR, ENVIRONMENT)
    device = cel.Device(driver="gpu.nvidia.com", attributes=ATTRIBUTES, capacity=CAPACITY)
    answer = program.evaluate(device)
    ours = (program.max_cost, answer.cost, answer.value)
    selector = theirs["selector"]
    if ours != (selector["estimatedCost"], selector["actualCost"], selector["match"]):
        raise AssertionError(f"not the same answer: {ours}, {selector}")
    seconds = 0.05 if quick else 0.5
    # Many devices, so that nothing that is remembered for one device flatters us.
    memories = [f"{number}Mi" for number in range(40000, 41000)]
    devices = [
        cel.Device(driver="gpu.nvidia.com", attributes=dict(ATTRIBUTES), capacity={"memory": {"value": text}}) for text in memories
    ]
    matches = program.matches

    def over_all() -> int:
        return sum(map(matches, devices))

    over_all()
    texts = iter(range(1 << 62))

    def prepare() -> bool:
        return matches(cel.Device(driver="gpu.nvidia.com", attributes=ATTRIBUTES, capacity=CAPACITY))

    def compile_anew() -> object:
        return cel.compile(f"{SELECTOR}{' ' * (next(texts) % 4096)}", ENVIRONMENT)

    return [
        Row(
            "evaluate, compiled, 1,000 devices in turn",
            per_call(over_all, seconds) * 1e6 / len(devices),
            "µs",
            theirs["micros"],
            bound=1.0,
        ),
        Row("prepare a device of 10 attributes, once", per_call(prepare, seconds) * 1e6, "µs"),
        Row("evaluate, exact, with cost", per_call(lambda: program.evaluate(device), seconds) * 1e6, "µs", theirs["micros"]),
        Row("compile", per_call(compile_anew, seconds) * 1e6, "µs", selector["compileMicros"]),
    ]
