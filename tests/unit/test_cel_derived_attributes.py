"""Derived attributes (1.37, alpha): which types may result, and what becomes of the value. As Kubernetes 1.37.2 answers."""

from __future__ import annotations

from typing import Any

import pytest

from reparto import cel
from unit.cel_evaluation import refusal

DRIVER = "gpu.vendor.example"
DEVICE = cel.Device(
    DRIVER,
    {
        "ecc": {"bool": True},
        "cores": {"int": 132},
        "product": {"string": "Orca"},
        "firmware": {"version": "12.4.1"},
        "flags": {"bools": [True, False]},
        "peers": {"ints": [1, 3, 5]},
        "modes": {"strings": ["mps", "mig"]},
        "drivers": {"versions": ["12.4.1", "12.6.0"]},
    },
)
SCALAR = "must evaluate to a primitive scalar (string, integer, boolean, semver)"
LIST = f"{SCALAR} or a list of these scalars"


def options(*, stored: bool = False, lists: bool = False) -> cel.Options:
    return cel.Options(stored=stored, list_type_attributes=lists, derived_attribute=True)


@pytest.mark.parametrize(
    "expression",
    ["true", "1", '"Minke"', 'semver("12.4.1")', 'device.attributes["nic.vendor.example"]["root"]', 'dyn("Orca")'],
)
def test_scalars_may_result(expression: str) -> None:
    assert cel.compile(expression, options()).output_type


@pytest.mark.parametrize(
    "expression",
    [
        "[true, false]",
        "[1, 3, 5]",
        '["mps", "mig", "none"]',
        '[semver("12.4.1"), semver("12.6.0")]',
        '[device.attributes["nic.vendor.example"]["root"]]',
        '[dyn("Orca"), dyn(1)]',
    ],
)
def test_lists_of_scalars_may_result_with_the_gate(expression: str) -> None:
    assert cel.compile(expression, options(lists=True)).output_type.startswith("list(")


def test_a_stored_expression_keeps_its_list_when_the_gate_is_turned_off() -> None:
    assert cel.compile("[1, 3, 5]", options(stored=True)).output_type == "list(int)"


@pytest.mark.parametrize(
    ("expression", "lists", "message"),
    [
        ("device.attributes", False, f"{SCALAR}, not map(string, map(string, google.protobuf.Any))"),
        ("[1, 3, 5]", False, f"{SCALAR}, not list(int)"),
        ("[device.attributes]", True, f"{LIST}, not list(map(string, map(string, dyn)))"),
        ("null", True, f"{LIST}, not null_type"),
        ("1u", True, f"{LIST}, not uint"),
        ("1.0", True, f"{LIST}, not double"),
        ('quantity("1")', True, f"{LIST}, not kubernetes.Quantity"),
    ],
)
def test_other_types_are_refused(expression: str, lists: bool, message: str) -> None:
    assert refusal(expression, stored=False, list_type_attributes=lists, derived_attribute=True) == message


@pytest.mark.parametrize(
    ("expression", "attribute"),
    [
        ("true", {"bool": True}),
        ("132", {"int": 132}),
        ('"Orca"', {"string": "Orca"}),
        ('semver("12.4.1")', {"version": "12.4.1"}),
        ('device.attributes["gpu.vendor.example"]["ecc"]', {"bool": True}),
        ('device.attributes["gpu.vendor.example"]["cores"]', {"int": 132}),
        ('device.attributes["gpu.vendor.example"]["product"]', {"string": "Orca"}),
        ('device.attributes["gpu.vendor.example"]["firmware"]', {"version": "12.4.1"}),
        ("[true, false]", {"bools": [True, False]}),
        ("[1, 3, 5]", {"ints": [1, 3, 5]}),
        ('["mps", "mig"]', {"strings": ["mps", "mig"]}),
        ('[semver("12.4.1"), semver("12.6.0")]', {"versions": ["12.4.1", "12.6.0"]}),
        ('device.attributes["gpu.vendor.example"]["flags"]', {"bools": [True, False]}),
        ('device.attributes["gpu.vendor.example"]["peers"]', {"ints": [1, 3, 5]}),
        ('device.attributes["gpu.vendor.example"]["modes"]', {"strings": ["mps", "mig"]}),
        ('device.attributes["gpu.vendor.example"]["drivers"]', {"versions": ["12.4.1", "12.6.0"]}),
        # An empty list has no element to tell its type.
        ("[1].filter(x, x > 1)", {"strings": []}),
    ],
)
def test_the_value_becomes_an_attribute(expression: str, attribute: dict[str, Any]) -> None:
    answer = cel.compile(expression, options(stored=True)).evaluate(DEVICE)
    assert (answer.value, answer.error) == (attribute, None)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            '[dyn(device.attributes["gpu.vendor.example"]["firmware"]), dyn("a")]',
            "expected list element at index 1 to be semver, got string",
        ),
        (
            '[dyn(device.attributes["gpu.vendor.example"]["ecc"]), dyn("a")]',
            "expected list element at index 1 to be bool, got string",
        ),
        (
            '[dyn(device.attributes["gpu.vendor.example"]["cores"]), dyn("a")]',
            "expected list element at index 1 to be int, got string",
        ),
        (
            '[dyn("a"), device.attributes["gpu.vendor.example"]["cores"]]',
            "expected list element at index 1 to be string, got int64",
        ),
        ('device.attributes["gpu.vendor.example"]["lanes"]', "no such key: lanes"),
        ('device.attributes["gpu.vendor.example"]["cores"] + "Orca"', "no such overload"),
        ("dyn(null)", "unsupported CEL return type: structpb.NullValue"),
        ("dyn(1u)", "unsupported CEL return type: uint64"),
        ("dyn([1u])", "unsupported list element type: uint64"),
    ],
)
def test_what_cannot_become_an_attribute_is_an_error(expression: str, message: str) -> None:
    answer = cel.compile(expression, options(stored=True)).evaluate(DEVICE)
    assert answer.value is None
    assert str(answer.error) == message
