"""Request policies of consumable capacity (validation-1.37.md section 6). Every device here has 10Gi, or 10, to give."""

import pytest

from unit.api_objects import Json, device, found, slice_of

POLICY = "spec.devices[0].capacity[c].requestPolicy"
RANGE = f"{POLICY}.validRange"


def errors(policy: Json, value: str = "10", shared: bool | None = True, **gates: bool) -> set[tuple[str, str]]:
    fields = {} if shared is None else {"allowMultipleAllocations": shared}
    return found(slice_of(device(capacity={"c": {"value": value, "requestPolicy": policy}}, **fields)), **gates)


@pytest.mark.parametrize("shared", [None, False])
def test_only_a_shared_device_has_a_policy(shared: bool | None) -> None:
    assert errors({"default": "1"}, shared=shared) == {("Forbidden", POLICY)}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, set()),
        ({"default": "100"}, set()),  # without options or range nothing is compared
        ({"default": "1", "validValues": ["1", "2"]}, set()),
        ({"validValues": ["1"]}, {("Required", f"{POLICY}.default")}),
        ({"validRange": {"min": "1"}}, {("Required", f"{POLICY}.default")}),
        ({"default": "1", "validValues": ["1"], "validRange": {"min": "1"}}, {("Forbidden", POLICY)}),
        ({"default": "3", "validValues": ["1", "2"]}, {("Invalid", f"{POLICY}.validValues")}),
        ({"default": "1", "validValues": ["2", "1"]}, {("Invalid", f"{POLICY}.validValues[1]")}),
        ({"default": "1", "validValues": ["1", "11"]}, {("Invalid", f"{POLICY}.validValues[1]")}),
        ({"default": "1", "validValues": ["1", "1"]}, {("Duplicate", f"{POLICY}.validValues[1]")}),
        ({"default": "1", "validValues": ["1", "1000m"]}, {("Duplicate", f"{POLICY}.validValues[1]")}),
        # Integers are compared, rounded up: 1500m and 2 are the same option.
        ({"default": "2", "validValues": ["1500m", "2"]}, {("Duplicate", f"{POLICY}.validValues[1]")}),
        # Too many: not looked at one by one, so that the default is not found either.
        (
            {"default": "1", "validValues": [str(n) for n in range(11)]},
            {("TooMany", f"{POLICY}.validValues"), ("Invalid", f"{POLICY}.validValues")},
        ),
    ],
)
def test_options(policy: Json, expected: set[tuple[str, str]]) -> None:
    assert errors(policy) == expected


@pytest.mark.parametrize(
    ("default", "limits", "expected"),
    [
        ("2", {"min": "1", "max": "10", "step": "1"}, set()),
        ("2", {}, {("Required", f"{RANGE}.min")}),
        ("20", {"min": "11"}, {("Invalid", f"{RANGE}.min")}),
        ("1", {"min": "2"}, {("Invalid", f"{RANGE}.default")}),
        ("5", {"min": "1", "max": "4"}, {("Invalid", f"{RANGE}.default")}),
        ("3", {"min": "3", "max": "2"}, {("Invalid", f"{RANGE}.max"), ("Invalid", f"{RANGE}.default")}),
        ("2", {"min": "1", "max": "11"}, {("Invalid", f"{RANGE}.max")}),
        ("1", {"min": "1", "step": "0"}, {("Invalid", f"{RANGE}.step")}),
        ("1", {"min": "1", "step": "10"}, {("Invalid", f"{RANGE}.step")}),  # the first step leads past what there is
        ("2", {"min": "1", "step": "2"}, {("Invalid", f"{RANGE}.step")}),  # 2 is not 1 + n·2
        ("3", {"min": "1", "max": "6", "step": "2"}, {("Invalid", f"{RANGE}.step")}),  # the maximum is not
        ("-1", {"min": "-1", "step": "1"}, {("Invalid", f"{RANGE}.default"), ("Invalid", f"{RANGE}.min")}),
    ],
)
def test_ranges(default: str, limits: Json, expected: set[tuple[str, str]]) -> None:
    assert errors({"default": default, "validRange": limits}) == expected


def test_a_step_needs_whole_numbers_that_fit_64_bits() -> None:
    policy = {"default": "9223372036854775808", "validRange": {"min": "1", "step": "1"}}
    assert errors(policy, value="20E") == {("Invalid", f"{RANGE}.default")}


def test_fractions_are_exact_with_the_fractional_gate_only() -> None:
    policy = {"default": "1500m", "validRange": {"min": "500m", "step": "500m"}}
    assert errors(policy, DRAFractionalCapacityRange=True) == set()
    # Rounded up to whole numbers: min 1, step 1, default 2.
    assert errors(policy) == set()
    off_step = {"default": "1200m", "validRange": {"min": "500m", "step": "500m"}}
    assert errors(off_step, DRAFractionalCapacityRange=True) == {("Invalid", f"{RANGE}.step")}
    assert errors(off_step) == set()


def test_what_is_finer_than_a_thousandth_is_refused_with_the_fractional_gate() -> None:
    policy = {"default": "1", "validRange": {"min": "100u"}}
    assert errors(policy, DRAFractionalCapacityRange=True) == {("Invalid", f"{RANGE}.min")}
    assert errors(policy) == set()


def test_options_with_fractions_differ_with_the_fractional_gate() -> None:
    policy = {"default": "2", "validValues": ["1500m", "2"]}
    assert errors(policy, DRAFractionalCapacityRange=True) == set()
