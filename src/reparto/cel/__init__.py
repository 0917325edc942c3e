"""The CEL dialect of Kubernetes' Dynamic Resource Allocation.

program = cel.compile('device.attributes["gpu.example.com"].memoryGi >= 40', cel.Options(stored=True, version="1.37"))
program.matches(cel.Device(driver="gpu.example.com", attributes={"memoryGi": {"int": 80}}))

Thousands of devices are asked at once with `reparto.cel.columns`, which loads numpy.
"""

from reparto.cel.dependencies import Dependency
from reparto.cel.device import Device
from reparto.cel.errors import CompileError
from reparto.cel.paths import Path
from reparto.cel.program import Answer, Clause, ClauseAnswer, EvaluationError, Options, Program, compile

__all__ = [
    "Answer",
    "Clause",
    "ClauseAnswer",
    "CompileError",
    "Dependency",
    "Device",
    "EvaluationError",
    "Options",
    "Path",
    "Program",
    "compile",
]
