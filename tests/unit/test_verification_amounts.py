"""What a share consumes of a capacity, as `verify` works it out. Values by hand from KEP-5075's rules; upstream-dra.md 3.11."""

import pytest

from reparto.allocation.verification.amounts import Unobtainable, consumption, nano, written
from reparto.model.v1 import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity


def ranged(value: str, default: str, **bounds: str) -> DeviceCapacity:
    return DeviceCapacity(value, CapacityRequestPolicy(default=default, valid_range=CapacityRequestPolicyRange(**bounds)))


def listed(value: str, default: str, *values: str) -> DeviceCapacity:
    return DeviceCapacity(value, CapacityRequestPolicy(default=default, valid_values=values))


def consumed(capacity: DeviceCapacity, request: str | None, *, fractional: bool = False) -> str:
    requests = {} if request is None else {"c": request}
    return written(consumption({"c": capacity}, requests, fractional)["c"])


STEPPED = ranged("100", "10", min="10", max="70", step="30")  # 10, 40, 70


@pytest.mark.parametrize(
    "capacity, request_, amount",
    [
        (DeviceCapacity("40"), None, "40"),
        (DeviceCapacity("40"), "7", "7"),
        (DeviceCapacity("40", CapacityRequestPolicy(default="3")), None, "3"),
        (DeviceCapacity("40", CapacityRequestPolicy(default="3")), "7", "7"),
        (STEPPED, None, "10"),
        (STEPPED, "1", "10"),
        (STEPPED, "10", "10"),
        (STEPPED, "11", "40"),
        (STEPPED, "41", "70"),
        (ranged("100", "5", min="5", max="50"), "17", "17"),
        (ranged("100", "5", min="1", step="1"), "1500m", "2"),
        (listed("100", "25", "25", "50"), "26", "50"),
        (listed("100", "25", "25", "50"), "25", "25"),
        (listed("100", "25", "25", "50"), None, "25"),
    ],
)
def test_a_request_is_rounded_up_to_what_can_be_handed_out(capacity, request_, amount):
    assert consumed(capacity, request_) == amount


@pytest.mark.parametrize(
    "capacity, request_",
    [
        (STEPPED, "71"),  # the next step, 100, is over the maximum
        (ranged("100", "5", min="5", max="50"), "51"),
        (listed("100", "25", "25", "50"), "51"),
        (DeviceCapacity("40"), "-1"),
        (DeviceCapacity("-1"), None),
        (ranged("9E", "1", min="1", step="1"), "9223372036854775808"),  # 2^63 does not fit an int64
    ],
)
def test_what_cannot_be_handed_out(capacity, request_):
    with pytest.raises(Unobtainable):
        consumed(capacity, request_)


def test_the_largest_number_can_be_handed_out_but_not_the_step_after_it():
    assert consumed(ranged("9E", "1", min="1", step="2"), "9223372036854775807") == "9223372036854775807"
    with pytest.raises(Unobtainable):
        consumed(ranged("9E", "0", min="0", step="2"), "9223372036854775807")


@pytest.mark.parametrize(
    "request_, whole, fractions",
    [("300m", "1", "0.3"), ("250m", "1", "0.3"), ("1", "1", "1"), ("1050m", "2", "1.1"), (None, "0.5", "0.5")],
)
def test_steps_are_counted_in_thousandths_only_with_the_feature(request_, whole, fractions):
    capacity = ranged("2", "500m", min="100m", step="100m")
    # Without it 100m is rounded up to 1, for minimum and step alike.
    assert consumed(capacity, request_) == whole
    assert consumed(capacity, request_, fractional=True) == fractions


def test_an_amount_finer_than_thousandths_cannot_be_counted_in_them():
    capacity = ranged("4", "1", min="1", step="1")
    assert consumed(capacity, "1500001u") == "2"
    with pytest.raises(Unobtainable):
        consumed(capacity, "1500001u", fractional=True)


def test_a_capacity_that_the_device_lacks():
    with pytest.raises(Unobtainable, match="capacity other, which the device does not have"):
        consumption({"c": DeviceCapacity("1")}, {"other": "1"}, False)


def test_amounts_are_written_out_exactly():
    assert [written(nano(text)) for text in ("1500m", "-1u", "10Gi", "0")] == ["1.5", "-0.000001", "10737418240", "0"]


@pytest.mark.parametrize("step", ["0", "-1"])
def test_a_step_that_leads_nowhere_is_refused_not_divided_by(step):
    with pytest.raises(Unobtainable):
        consumed(ranged("10", "2", min="1", step=step), "3")
    with pytest.raises(Unobtainable):
        consumed(ranged("10", "0", min="5", step=step), "1")


def test_steps_of_a_thousandth_are_the_smallest_that_are_counted_so():
    assert consumed(ranged("1", "1m", min="1m", step="1m"), "2m", fractional=True) == "0.002"
    # 100u is no whole number of thousandths: the range is counted in ones, and 150u is rounded up to 1.
    assert consumed(ranged("1", "100u", min="100u", step="100u"), "150u", fractional=True) == "1"
