"""matchAttribute and distinctAttribute (upstream-dra.md 3.9)."""

import msgspec
import pytest

from reparto.allocation.constraints import make, static_attribute
from reparto.model.v1 import Device, DeviceAttribute, DeviceConstraint


def accepted(constraint: dict, *values: dict | None, lists: bool) -> list[bool]:
    """What the constraint says of devices with these values of its attribute, one after the other (None: without it)."""
    made = make(msgspec.convert(constraint, DeviceConstraint), lists)
    assert made is not None
    return [made.add(lambda _, value=value: None if value is None else msgspec.convert(value, DeviceAttribute)) for value in values]


MATCH, DISTINCT = {"matchAttribute": "d/x"}, {"distinctAttribute": "d/x"}


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize(
    ("constraint", "values", "answers"),
    [
        (MATCH, [{"string": "a"}, {"string": "a"}, {"string": "b"}], [True, True, False]),
        (MATCH, [{"int": 1}, {"bool": True}], [True, False]),  # 1 is not true
        (MATCH, [{"string": "1.0.0"}, {"version": "1.0.0"}], [True, False]),
        (MATCH, [{"version": "1.0.0"}, {"version": "1.0.0+build"}], [True, False]),  # versions compare as text
        (MATCH, [None, {"int": 1}], [False, True]),
        (DISTINCT, [{"int": 1}, {"int": 2}, {"int": 1}], [True, True, False]),
        (DISTINCT, [{"int": 1}, {"bool": True}, {"string": "1"}], [True, True, True]),  # types count as distinct
        (DISTINCT, [None], [False]),
        (MATCH | DISTINCT, [{"int": 1}, {"int": 1}, {"int": 2}], [True, True, False]),  # with both, only matchAttribute counts
    ],
)
def test_scalars(constraint, values, answers, lists):
    assert accepted(constraint, *values, lists=lists) == answers


@pytest.mark.parametrize(
    ("constraint", "values", "answers"),
    [
        (MATCH, [{"ints": [1, 2]}, {"ints": [2, 3]}, {"ints": [1, 3]}], [True, True, False]),  # pairs overlap, all three do not
        (MATCH, [{"ints": [1, 2]}, {"int": 2}], [True, True]),  # a scalar is a set of one
        (MATCH, [{"strings": ["a"]}, {"versions": ["a"]}], [True, False]),
        (MATCH, [{"strings": []}], [False]),
        (DISTINCT, [{"ints": [1, 2]}, {"ints": [3]}, {"ints": [2, 4]}], [True, True, False]),
    ],
)
def test_lists_compare_as_sets(constraint, values, answers):
    assert accepted(constraint, *values, lists=True) == answers


@pytest.mark.parametrize("constraint", [MATCH, DISTINCT])
def test_without_the_feature_a_list_is_a_value_of_unknown_type_that_only_the_first_device_may_have(constraint):
    assert accepted(constraint, {"ints": [1]}, {"ints": [2]}, lists=False) == [True, False]


def test_a_device_that_leaves_takes_its_narrowing_along():
    made = make(DeviceConstraint(match_attribute="d/x"), list_attributes=True)
    assert made is not None
    assert made.add(lambda _: DeviceAttribute(int_values=(1, 2)))
    assert made.add(lambda _: DeviceAttribute(int_values=(2,)))
    made.remove()
    assert made.add(lambda _: DeviceAttribute(int_value=1))


@pytest.mark.parametrize(
    ("requests", "covered"),
    [((), True), (("r",), True), (("r/s",), True), (("r/other",), False), (("s",), False)],
)
def test_a_constraint_covers_a_subrequest_by_its_request_or_by_its_full_name(requests, covered):
    made = make(DeviceConstraint(requests=requests, match_attribute="d/x"), list_attributes=False)
    assert made is not None and made.covers("s", "r") is covered


def test_attributes_are_found_by_full_name_first_and_bare_only_in_the_drivers_own_domain():
    device = Device(attributes={"x": DeviceAttribute(int_value=1), "other.io/x": DeviceAttribute(int_value=2)})
    assert static_attribute(device, "d", "d/x") == DeviceAttribute(int_value=1)
    assert static_attribute(device, "d", "other.io/x") == DeviceAttribute(int_value=2)
    assert static_attribute(device, "e", "d/x") is None
    both = Device(attributes={"x": DeviceAttribute(int_value=1), "d/x": DeviceAttribute(int_value=2)})
    assert static_attribute(both, "d", "d/x") == DeviceAttribute(int_value=2)
