"""Devices that agree in what an expression can see get the same answer, and columns say of each row what its device says alone.

The expressions and devices are those of the comparison with Kubernetes, errors at run time and walks over maps included. Around
each device are others that differ from it in one thing, so that most of them share its key: a dependency that is overlooked makes
two of them share an answer that they should not.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cel_devices import (
    ATTRIBUTES,
    CAPACITIES,
    DOMAINS,
    DRIVERS,
    QUANTITIES,
    random_attribute,
    random_device,
    smaller_devices,
)
from conformance.cel_expressions import Generator
from reparto import cel
from reparto.cel.columns import Columns
from reparto.cel.projection import Projection, Soundness, view_of
from reparto.model.v1 import Device, DeviceAttribute

EXPRESSIONS = 300  # per test and share


def relatives(random: Random, device: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The device, and others that differ from it in one thing: one less, one more, another value, another driver, another order."""
    yield device
    yield from smaller_devices(device)
    yield {**device, "driver": random.choice(DRIVERS)}
    yield {**device, "allowMultipleAllocations": not device.get("allowMultipleAllocations")}
    attributes, capacity = device["attributes"], device["capacity"]
    yield {**device, "attributes": dict(reversed(attributes.items()))}
    for name in attributes:
        yield {**device, "attributes": {**attributes, name: random_attribute(random, random.choice(list(ATTRIBUTES)))}}
    for name in capacity:
        yield {**device, "capacity": {**capacity, name: {"value": random.choice(QUANTITIES)}}}
    for _ in range(4):
        kind, domain = random.choice(list(ATTRIBUTES)), random.choice(DOMAINS)
        name = random.choice(ATTRIBUTES[kind])
        if domain == device["driver"] and random.random() < 0.5:
            domain, full = "", name
        else:
            full = f"{domain}/{name}"
        yield {**device, "attributes": {full: random_attribute(random, kind), **attributes}}


def typed(device: dict[str, Any]) -> tuple[str, Device]:
    published = {name: part for name, part in device.items() if name != "driver"}
    return device["driver"], msgspec.convert({"name": "x", **published}, Device)


#: What people do not write often, and what could go wrong: maps that are walked over, searched, compared or passed on.
WALKS = (
    '"{domain}" in device.{section}',
    "device.driver in device.{section} && device.{section}[device.driver].size() > 1",
    'device.{section}.exists(d, d.startsWith("n") && device.{section}[d].size() > 1)',
    "device.{section}.all(d, names, d == device.driver || names.size() < 3)",
    '["{domain}", "a"].exists(d, "{name}" in device.{section}[d])',
    'device.{section}["{domain}"].map(n, n) == ["{name}", "{name2}"]',
    'device.{section}["{domain}"].exists(n, v, n == "{name}" && v == device.{section}[device.driver].?{name2}.orValue(v))',
    '(device.allowMultipleAllocations ? device.{section}["{domain}"] : device.{section}[device.driver]).size() == 2',
    'cel.bind(d, device.{section}, has(d["{domain}"].{name}) && d.?a.optMap(m, m.size() > 1).orValue(false))',
    '[device.{section}["{domain}"]].exists(m, has(m.{name}))',
    'device.{section}[device.{section}.size() > 1 ? "{domain}" : "a"].{name} == device.{section}.a.{name2}',
    'dyn(device).all(part, part != "{name}") && dyn(device)["{section}"] != dyn(device.attributes)',
    'device.{section}["{domain}"][?"{name}"].hasValue() || device.{section}["{domain}"]["{name2}"] == device.{section}.a.{name}',
)


def walk(random: Random) -> str:
    """An expression over whole maps."""
    section = random.choice(("attributes", "capacity"))
    names = [name for kind in ATTRIBUTES.values() for name in kind] if section == "attributes" else list(CAPACITIES)
    name, name2 = random.choice(names), random.choice(names)
    return random.choice(WALKS).format(section=section, domain=random.choice(DOMAINS), name=name, name2=name2)


def programs(random: Random, count: int) -> Iterator[cel.Program]:
    """Expressions that compile: selectors, some derived attributes, some over whole maps."""
    generator = Generator(random)
    while count:
        derived = random.random() < 0.2
        text = (generator.derived() if derived else generator.selector()).text
        if not derived and random.random() < 0.25:
            text = walk(random)
        try:
            yield cel.compile(text, cel.Options(derived_attribute=derived))
        except cel.CompileError:
            continue
        count -= 1


def outcome(program: cel.Program, device: cel.Device) -> Any:
    """Value or text of the error."""
    answer = program.evaluate(device)
    return answer.value if answer.error is None else f"error: {answer.error}"


@pytest.mark.parametrize("share", range(3))
def test_equal_keys_mean_equal_answers(share: int, seed: str) -> None:
    random = Random(f"{seed}-{share}")
    shared = 0
    for program in programs(random, EXPRESSIONS):
        projection = Projection(program.dependencies)
        known: dict[Any, Any] = {}
        for device in relatives(random, random_device(random)):
            driver, published = typed(device)
            found = outcome(program, view_of(driver, published))
            key = projection.key_of[driver](published)
            shared += key in known
            assert known.setdefault(key, found) == found, f"{program.text}\n{program.dependencies}\n{device}"
            # What the expression cannot see may as well not be there.
            assert outcome(program, projection.view(driver, published)) == found, f"{program.text}\n{device}"
    assert shared > 10 * EXPRESSIONS  # or this would prove little


@pytest.mark.parametrize("share", range(2))
def test_columns_answer_as_each_device_does_alone(share: int, seed: str) -> None:
    random = Random(f"{seed}-columns-{share}")
    columns = Columns()
    held: dict[int, tuple[str, Device]] = {}
    for program in programs(random, EXPRESSIONS // 4):
        if program.options.derived_attribute:
            continue
        # Devices come, change and go between the questions, while columns pile up.
        for device in relatives(random, random_device(random)):
            published = typed(device)
            if held and random.random() < 0.5:
                row = random.choice(list(held))
                columns.replace(row, *published)
                held[row] = published
            else:
                held[columns.add(*published)] = published
        while len(held) > 150:
            row = random.choice(list(held))
            columns.remove(row)
            del held[row]
        answers = columns.answers(program)
        assert answers.evaluations <= len(held)
        for row, published in held.items():
            given = answers.answer(row)
            expected = program.evaluate(view_of(*published))
            assert isinstance(given, bool) == (expected.error is None), f"{program.text}\n{published}"
            assert str(given) == str(expected.value if expected.error is None else expected.error), f"{program.text}\n{published}"


VERSIONS = st.sampled_from(("1.0.0", "1.0", "v1.0.0", "", "1.0.0-rc.1"))
#: Also what validation refuses: several fields at once, or none.
ATTRIBUTE = st.builds(
    DeviceAttribute,
    int_value=st.none() | st.just(1),
    bool_value=st.none() | st.booleans(),
    string_value=st.none() | st.just("a"),
    version_value=st.none() | VERSIONS,
    int_values=st.none() | st.just((1, 2)),
    bool_values=st.none() | st.just((True,)),
    string_values=st.none() | st.just(("a",)),
    version_values=st.none() | st.lists(VERSIONS, max_size=2).map(tuple),
)
SPARSE = ATTRIBUTE | st.builds(DeviceAttribute, version_value=VERSIONS) | st.just(DeviceAttribute())


@given(st.lists(st.dictionaries(st.sampled_from(("a", "b", "d/a")), SPARSE, max_size=2), max_size=4))
def test_a_sound_device_is_one_that_cel_takes(several: list[dict[str, DeviceAttribute]]) -> None:
    soundness = Soundness()
    for attributes in several:
        device = Device(name="x", attributes=attributes)
        assert soundness.holds(device) == (view_of("d", device).error is None)


@given(st.lists(SPARSE, min_size=2, max_size=2))
def test_attributes_with_one_key_have_one_value(pair: list[DeviceAttribute]) -> None:
    program = cel.compile('device.attributes["d"].a == 1')
    key_of = Projection(program.dependencies).key_of["d"]
    first, second = (Device(name="x", attributes={"a": attribute}) for attribute in pair)
    views = view_of("d", first), view_of("d", second)
    if key_of(first) == key_of(second) and all(view.error is None for view in views):
        assert repr(views[0].domains) == repr(views[1].domains)
