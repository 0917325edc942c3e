"""What a selector sees of a device: domains, defaults, lists, and attributes that spoil the whole device."""

from __future__ import annotations

import pytest

from reparto import cel
from reparto.model import v1
from unit.cel_evaluation import error, holds, value

DRIVER = "gpu.example.com"


def device(**attributes: dict[str, object]) -> cel.Device:
    return cel.Device(DRIVER, attributes)


def test_a_name_without_domain_is_the_drivers() -> None:
    assert holds(f'device.attributes["{DRIVER}"].model == "x"', device(model={"string": "x"}))


def test_an_unknown_domain_is_empty_and_an_unknown_name_is_an_error() -> None:
    assert not holds('"nowhere" in device.attributes')
    assert holds('size(device.attributes["nowhere"]) == 0')
    assert holds("has(device.attributes.nowhere)")
    assert holds('device.attributes[?"nowhere"].hasValue()')
    assert not holds('has(device.attributes["nowhere"].x)')
    assert error('device.attributes["nowhere"].x') == "no such key: x"


def test_the_maps_of_a_device_hold_no_key_but_text_not_even_one_that_cannot_be_hashed() -> None:
    # As Kubernetes 1.37.2 answers; in a map that the expression builds, the same keys are internal errors.
    everything = device(v={"version": "1.0.0"})
    for key in ('dyn(b"v")', 'dyn(semver("1.0.0"))', "dyn(1)", f'device.attributes["{DRIVER}"].v'):
        assert not holds(f'{key} in device.attributes["{DRIVER}"]', everything)
        assert not holds(f"{key} in device.attributes", everything)


def test_a_list_attribute_that_is_read_twice_is_two_keys_of_a_map() -> None:
    # As Kubernetes 1.37.2 answers: a list equals only itself as a key, and each reading makes a new one.
    listed = device(v={"versions": ["1.0.0", "2.0.0"]})
    read = f'device.attributes["{DRIVER}"].v'
    assert holds(f"{{{read}: 1, {read}: 2}}.size() == 2", listed)
    assert holds(f"cel.bind(x, {read}, {{x: 1, x: 2}}.size() == 1)", listed)


def test_the_qualified_name_wins_over_the_bare_one() -> None:
    both = {"model": {"string": "bare"}, f"{DRIVER}/model": {"string": "qualified"}}
    expression = f'device.attributes["{DRIVER}"].model'
    assert value(expression, cel.Device(DRIVER, both)) == "qualified"
    assert value(expression, cel.Device(DRIVER, dict(reversed(both.items())))) == "qualified"


def test_a_version_that_is_no_semantic_version_spoils_the_whole_device() -> None:
    broken = device(driverVersion={"version": "580.65.06"})
    message = 'attribute driverVersion: parse semantic version: Patch number must not contain leading zeroes "06"'
    assert error("true", broken) == message
    with pytest.raises(cel.EvaluationError, match="leading zeroes"):
        cel.compile("true").matches(broken)


def test_an_attribute_without_value_spoils_it_too() -> None:
    assert error("true", device(odd={})) == "attribute odd: unsupported attribute value"


def test_structs_of_the_api_do_as_well_as_its_json() -> None:
    typed = cel.Device(
        DRIVER,
        {
            "count": v1.DeviceAttribute(int_value=3),
            "names": v1.DeviceAttribute(string_values=("a", "b")),
            "on": v1.DeviceAttribute(bool_value=False),
            "version": v1.DeviceAttribute(version_value="1.0.0"),
        },
        {"memory": v1.DeviceCapacity(value="80Gi")},
        True,
    )
    here = f'device.attributes["{DRIVER}"]'
    assert holds(f'{here}.count == 3 && {here}.names == ["a", "b"] && !{here}.on', typed)
    assert holds(f'{here}.version == semver("1.0.0") && device.allowMultipleAllocations', typed)
    assert holds(f'device.capacity["{DRIVER}"].memory == quantity("80Gi")', typed)


def test_multiple_allocations_default_to_false() -> None:
    assert not holds("device.allowMultipleAllocations", cel.Device(DRIVER))


def test_maps_of_a_device_can_be_walked() -> None:
    two = cel.Device(DRIVER, {"a": {"int": 1}, "other.example.com/b": {"int": 2}}, {"memory": {"value": "1Gi"}})
    assert holds('device.attributes.exists(d, d == "other.example.com")', two)
    assert holds("device.attributes.all(d, names, names.size() == 1)", two)
    assert holds(f'device.capacity["{DRIVER}"].all(n, q, n == "memory" && q == quantity("1Gi"))', two)


def test_a_device_beyond_the_apis_bounds_is_evaluated_with_its_costs() -> None:
    huge = device(text={"string": "x" * 20_000_000})
    program = cel.compile(f'device.attributes["{DRIVER}"].text.lowerAscii() == ""')
    assert not huge.regular
    with pytest.raises(cel.EvaluationError, match="actual cost limit exceeded"):
        program.matches(huge)
