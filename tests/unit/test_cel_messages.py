"""Message literals, which no selector needs and the reference accepts: protobuf's well-known types are plain values."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import error, evaluate, holds


@pytest.mark.parametrize(
    "expression",
    [
        "google.protobuf.Int32Value{value: 5} == 5",
        "google.protobuf.Int32Value{} == 0",
        'google.protobuf.StringValue{value: "a"} + "b" == "ab"',
        "google.protobuf.BoolValue{?value: optional.none()} == false",
        'google.protobuf.Duration{seconds: 3, nanos: -1} == duration("3s") - duration("1ns")',
        "google.protobuf.Timestamp{seconds: 3} == timestamp(3)",
        # JSON has no integers.
        "google.protobuf.ListValue{values: [1, 2]} == [1.0, 2.0]",
        'google.protobuf.Struct{fields: {"a": 1}}.a == 1',
        "google.protobuf.Value{number_value: 1.0} == 1",
        "google.protobuf.Empty{} == google.protobuf.Empty{}",
    ],
)
def test_holds(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            'google.protobuf.Int32Value{value: dyn("a")}',
            "field type conversion error for google.protobuf.Int32Value.value value type: "
            "unsupported native conversion from string to 'int32'",
        ),
        ("dyn(google.protobuf.Empty{}).x", "no such field 'x'"),
        ('kubernetes.DRADevice{driver: ""}', "unknown type 'kubernetes.DRADevice'"),
    ],
)
def test_errors(expression: str, message: str) -> None:
    assert error(expression) == message


def test_building_one_costs_forty() -> None:
    assert evaluate("google.protobuf.Int32Value{value: 5}").cost == 41  # with the unit of dyn()
