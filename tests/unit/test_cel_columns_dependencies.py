"""What an expression can see of a device: small where it matters, never too small."""

from __future__ import annotations

import pytest

from reparto import cel
from reparto.cel.dependencies import Dependency, OwnDriver

HERE = 'device.attributes["d"]'


def seen(expression: str) -> set[Dependency]:
    return set(cel.compile(expression).dependencies)


def attribute(name: str | None = None, *, domain: str | OwnDriver | None = "d", presence: bool = False) -> Dependency:
    return Dependency("attributes", domain, name, presence)


def capacity(name: str | None = None, *, domain: str | None = "d", presence: bool = False) -> Dependency:
    return Dependency("capacity", domain, name, presence)


DRIVER = Dependency("driver")
MULTI = Dependency("allowMultipleAllocations")


@pytest.mark.parametrize(
    "expression, expected",
    [
        # What people write.
        (f'{HERE}.type == "gpu"', {attribute("type")}),
        (f'{HERE}["type"] == "gpu"', {attribute("type")}),
        ("device.attributes.d.type == 'gpu'", {attribute("type")}),
        ('device.capacity["d"].memory.compareTo(quantity("40Gi")) >= 0', {capacity("memory")}),
        (
            f'device.driver == "d" && {HERE}.a == 1 || device.capacity["d"].b == quantity("1")',
            {DRIVER, attribute("a"), capacity("b")},
        ),
        ("device.allowMultipleAllocations", {MULTI}),
        ("true", set()),
        # An optional chain sees the value, a test for it only whether it is there.
        (f"{HERE}.?x.orValue(1) == 1", {attribute("x")}),
        (f'{HERE}[?"x"].orValue(1) == 1', {attribute("x")}),
        (f"{HERE}.?x.optMap(v, v == 1).orValue(false)", {attribute("x")}),
        (f"has({HERE}.x)", {attribute("x", presence=True)}),
        (f"{HERE}.?x.hasValue()", {attribute("x", presence=True)}),
        (f'{HERE}[?"x"].hasValue()', {attribute("x", presence=True)}),
        (f'"x" in {HERE}', {attribute("x", presence=True)}),
        (f"has({HERE}.x) && {HERE}.x == 1", {attribute("x")}),
        ("has(device.attributes.d)", set()),  # every domain is there
        # Aliases of the device and of its maps.
        (f"cel.bind(d, {HERE}, d.x == 1 && has(d.y))", {attribute("x"), attribute("y", presence=True)}),
        ("cel.bind(a, device.attributes, cel.bind(d, a.d, d.x == 1))", {attribute("x")}),
        ('(true ? device.attributes["d"] : device.attributes["e"]).x == 1', {attribute("x"), attribute("x", domain="e")}),
        ('dyn(device)["attributes"]["d"]["x"] == 1', {attribute("x")}),
        (f"optional.of({HERE}).x.orValue(1) == 1", {attribute("x")}),
        # Constant texts through bindings and lists of literals; the driver as its own domain.
        ('cel.bind(d, "d", device.attributes[d].x == 1)', {attribute("x")}),
        (f'["x", "y"].all(n, {HERE}[n] == 1)', {attribute("x"), attribute("y")}),
        ("device.attributes[device.driver].x == 1", {DRIVER, attribute("x", domain=OwnDriver.DOMAIN)}),
        # Maps that are walked over, measured or searched.
        (f'{HERE}.exists(n, n == "x")', {attribute(presence=True)}),
        (f"{HERE}.exists(n, v, v == 1)", {attribute()}),
        (f"{HERE}.exists(n, {HERE}[n] == 1)", {attribute()}),
        (f"{HERE}.size() == 1", {attribute(presence=True)}),
        ("size(device.attributes) == 1", {attribute(domain=None, presence=True)}),
        ("device.driver in device.attributes", {DRIVER, attribute(domain=OwnDriver.DOMAIN, presence=True)}),
        ('device.attributes.exists_one(x, x == "d")', {attribute(domain=None, presence=True)}),
        # What is not known beforehand takes the whole map.
        (f"{HERE}[device.driver] == 1", {DRIVER, attribute()}),
        (f'device.attributes[{HERE}.x + ""].y == 1', {attribute(domain=None)}),
        (f"{HERE} == {HERE}", {attribute()}),
        (f"[{HERE}][0].x == 1", {attribute()}),
        (f'dyn({HERE}) in [dyn({{"x": 1}})]', {attribute()}),
        ("device == device", {DRIVER, MULTI, attribute(domain=None), capacity(domain=None)}),
        # A variable that hides the device, and the device behind it.
        ('cel.bind(device, {"driver": "d"}, device.driver == "d")', set()),
        ('cel.bind(device, 1, .device.driver == "d")', {DRIVER}),
    ],
)
def test_an_expression_depends_on(expression: str, expected: set[Dependency]) -> None:
    assert seen(expression) == expected


def test_a_text_that_only_may_be_the_driver_is_not_taken_for_it() -> None:
    text = '(device.allowMultipleAllocations ? dyn(device) : dyn({"driver": "e"})).driver'
    assert attribute(domain=None) in seen(f"device.attributes[{text}].x == 1")


def test_a_part_that_another_covers_is_not_named_again() -> None:
    assert seen(f"{HERE}.x == 1 && {HERE}.size() == 1 && device.attributes == device.attributes") == {attribute(domain=None)}
    assert seen(f'"x" in {HERE} && {HERE}.size() == 1') == {attribute(presence=True)}


def test_the_names_of_domains_do_not_tell_the_names_in_them() -> None:
    assert seen(f"has({HERE}.x) && device.attributes.size() == 1") == {
        attribute("x", presence=True),
        attribute(domain=None, presence=True),
    }


def test_many_names_at_once_become_the_whole_map() -> None:
    names = ", ".join(f'"n{number}"' for number in range(100))
    assert seen(f"[{names}].exists(n, {HERE}[n] == 1)") == {attribute()}
