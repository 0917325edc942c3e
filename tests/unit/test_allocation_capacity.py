"""What a share takes from a device's capacities (upstream-dra.md 3.11; the vectors marked ✓ there were run on 1.37.2)."""

import pytest

from reparto.allocation.capacity import CapacityError, draw
from reparto.model.quantity import Quantity
from reparto.model.v1 import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity


def ranged(value: str, default: str, **bounds: str) -> DeviceCapacity:
    return DeviceCapacity(value, CapacityRequestPolicy(default=default, valid_range=CapacityRequestPolicyRange(**bounds)))


def listed(value: str, default: str, *values: str) -> DeviceCapacity:
    return DeviceCapacity(value, CapacityRequestPolicy(default=default, valid_values=values))


def amount(capacity: DeviceCapacity, request: str | None, fractional: bool = False) -> str | None:
    drawn = draw({"memory": capacity}, {} if request is None else {"memory": request}, fractional)
    return None if drawn is None else str(drawn.amounts["memory"])


@pytest.mark.parametrize(
    ("capacity", "request_", "taken"),
    [
        (DeviceCapacity("80Gi"), None, "80Gi"),  # neither request nor default: all of it
        (DeviceCapacity("80Gi"), "10Gi", "10Gi"),  # no policy: as asked
        (DeviceCapacity("80Gi", CapacityRequestPolicy(default="5Gi")), None, "5Gi"),
        (ranged("100", "10", min="10", step="30", max="70"), "1", "10"),  # below min
        (ranged("100", "10", min="10", step="30", max="70"), "11", "40"),  # next step from min
        (ranged("100", "10", min="10", step="30", max="70"), "70", "70"),
        (ranged("100", "10", min="10", step="30", max="70"), "71", None),  # the next step is above max
        (ranged("100", "5", min="5", max="50"), "7", "7"),  # no step: as asked
        (ranged("100", "5", min="5", max="50"), "51", None),
        (ranged("100", "1", min="1", step="1"), "1500m", "2"),  # whole steps round up
        (ranged("100", "1", min="1", step="1"), "1500001u", "2"),
        (listed("100", "25", "25", "50"), "26", "50"),
        (listed("100", "25", "25", "50"), "51", None),  # larger than every value
        (listed("100", "25", "25", "50"), None, "25"),
    ],
)
def test_an_amount_follows_the_request_policy(capacity, request_, taken):
    assert amount(capacity, request_) == taken


@pytest.mark.parametrize(
    ("capacity", "request_", "taken"),
    [
        (ranged("2", "500m", min="100m", step="100m"), "150m", "200m"),
        (ranged("2", "500m", min="100m", step="100m"), "950m", "1"),
        (ranged("4", "1", min="1", step="1"), "1500m", "2"),  # milli arithmetic also where the range is whole
        # 100u is no multiple of a thousandth, so the range is computed in whole numbers: min and step round up to 1.
        (ranged("1", "100u", min="100u", step="100u"), "150u", "1"),
    ],
)
def test_fractional_ranges_count_in_thousandths(capacity, request_, taken):
    assert amount(capacity, request_, fractional=True) == taken


def test_an_amount_finer_than_a_thousandth_is_an_error_with_fractional_ranges():
    with pytest.raises(CapacityError, match="cannot be represented in the device's range arithmetic"):
        amount(ranged("100", "1", min="1", step="1"), "1500001u", fractional=True)


@pytest.mark.parametrize(
    ("capacity", "request_"),
    [
        (ranged("100", "1", min="1", step="1"), "1e19"),  # does not fit int64
        (ranged("9223372036854775807", "1", min="1", step="1000000000000000000"), "9223372036854775807"),  # its next step does not
        (DeviceCapacity("-1"), None),
        (DeviceCapacity("10"), "-1"),
    ],
)
def test_amounts_that_cannot_be_handed_out_stop_the_pod(capacity, request_):
    with pytest.raises(CapacityError):
        amount(capacity, request_)


def test_a_device_without_the_requested_capacity_is_skipped_before_anything_is_computed():
    assert draw({"memory": DeviceCapacity("-1")}, {"cores": "1"}, False) is None


def test_an_unrequested_negative_capacity_stops_the_pod_even_if_another_is_short():
    with pytest.raises(CapacityError, match='capacity "odd": capacity value is negative'):
        draw({"memory": listed("10", "1", "1"), "odd": DeviceCapacity("-1")}, {"memory": "7"}, False)


def test_all_capacities_take_part_requested_or_not():
    drawn = draw({"memory": DeviceCapacity("80Gi"), "cores": ranged("100", "25", min="25", step="25")}, {"memory": "8Gi"}, False)
    assert drawn is not None
    assert {name: str(quantity) for name, quantity in drawn.amounts.items()} == {"memory": "8Gi", "cores": "25"}


@pytest.mark.parametrize(("committed", "provisional", "fits"), [(0, 0, True), (40, 20, True), (40, 21, False), (61, 0, False)])
def test_a_share_fits_beside_what_is_held_already(committed, provisional, fits):
    drawn = draw({"memory": DeviceCapacity("80")}, {"memory": "20"}, False)
    assert drawn is not None
    held = [{"memory": Quantity.parse(str(number)).nano} for number in (committed, provisional)]
    assert drawn.fits(*held) is fits


def test_a_default_that_breaks_its_own_policy_is_taken_as_it_is_but_not_as_a_request():
    # Upstream compares the quantities' representation: the same text passes, another text of the same value does not.
    broken = listed("100", "7", "25", "50")
    assert amount(broken, None) == "7"
    broken_fraction = listed("100", "0.5Gi", "25", "50")  # held in arbitrary precision, which never compares equal
    assert amount(broken_fraction, None) is None
