"""The CEL dialect of Kubernetes' Dynamic Resource Allocation.

program = cel.compile('device.attributes["gpu.example.com"].memoryGi >= 40', cel.Options(stored=True, version="1.37"))
program.matches(cel.Device(driver="gpu.example.com", attributes={"memoryGi": {"int": 80}}))
"""

from reparto.cel.device import Device
from reparto.cel.errors import CompileError
from reparto.cel.paths import Path
from reparto.cel.program import Answer, Clause, ClauseAnswer, EvaluationError, Options, Program, compile

__all__ = [
    "Answer",
    "Clause",
    "ClauseAnswer",
    "CompileError",
    "Device",
    "EvaluationError",
    "Options",
    "Path",
    "Program",
    "compile",
]
