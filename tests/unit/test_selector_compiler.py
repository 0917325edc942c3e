"""Validation compiles selectors without being told to, although it cannot import the compiler itself."""

import subprocess
import sys
from pathlib import Path

from reparto import model

SOURCES = Path(__file__).resolve().parents[2] / "src"


def device_class(expression: str) -> dict[str, object]:
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": spec}


def test_a_selector_that_does_not_compile_is_an_error() -> None:
    (error,) = model.validate(device_class("device.driver =="))
    assert (error.type, error.path) == ("FieldValueInvalid", "spec.selectors[0].cel.expression")


def test_a_selector_that_may_cost_too_much_is_forbidden() -> None:
    # `!=` of two conversions has an unbounded estimate (cel.md, section 6).
    (error,) = model.validate(device_class("quantity(device.driver) != quantity('1')"))
    assert (error.type, error.message) == ("FieldValueForbidden", "too complex, exceeds cost limit")


def test_cel_is_loaded_only_when_a_selector_is_judged() -> None:
    # In a process of its own: here others have loaded it.
    script = "import sys, reparto.model.validation; sys.exit('reparto.cel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": str(SOURCES)}, check=False).returncode == 0
