"""Selectors are asked once for devices that are alike in what they see, lazily, and forget what is gone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from threading import Barrier
from typing import Any

import msgspec
import pytest

from reparto.allocation import AllocationError, Features, selectors
from reparto.allocation.kinds import Kinds
from reparto.allocation.selectors import FAILS, NO, YES, Origin, Selectors
from reparto.cel.projection import Projection
from reparto.model.v1 import Device, DeviceSelector

DRIVER = "gpu.example.com"
HERE = f'device.attributes["{DRIVER}"]'
ORIGIN = Origin("ns/claim", "r0")
IS_GPU = f'{HERE}.type == "gpu"'


@dataclass(frozen=True)
class Record:
    number: int
    id: tuple[str, str, str]
    device: Device


def record(number: int, driver: str = DRIVER, **attributes: Any) -> Record:
    full = {name: value if isinstance(value, dict) else {"string": value} for name, value in attributes.items()}
    device = msgspec.convert({"name": f"d{number}", "attributes": full}, Device)
    return Record(number, (driver, "pool", f"d{number}"), device)


def select(*expressions: str) -> tuple[DeviceSelector, ...]:
    return msgspec.convert([{"cel": {"expression": text}} for text in expressions], tuple[DeviceSelector, ...])


@pytest.fixture
def asked() -> Selectors:
    return Selectors(Features.for_version())


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[Device]:
    """The devices that were shown to an expression, in order."""
    shown: list[Device] = []
    view = Projection.view

    def counting(self: Projection, driver: str, device: Device) -> Any:
        shown.append(device)
        return view(self, driver, device)

    monkeypatch.setattr(Projection, "view", counting)
    return shown


def test_the_first_selector_that_is_not_true_is_named(asked: Selectors) -> None:
    gpu = record(0, type="gpu", size="large")
    assert asked.first_unmatched(gpu, (), ORIGIN) is None
    assert asked.first_unmatched(gpu, select(IS_GPU, f'{HERE}.size == "large"'), ORIGIN) is None
    for _ in range(2):  # the second time from memory
        assert asked.first_unmatched(gpu, select(IS_GPU, f'{HERE}.size == "small"', "false"), ORIGIN) == 1


def test_thousands_of_devices_with_their_own_uuids_are_asked_once_per_profile(asked: Selectors, evaluated: list[Device]) -> None:
    profile = select(f'{HERE}.profile == "1g.10gb"')
    for number in range(9_000):
        mig = record(number, profile=f"{1 + number % 30}g.10gb", uuid=f"MIG-{number}")
        assert (asked.first_unmatched(mig, profile, ORIGIN) is None) == (number % 30 == 0)
    assert len(evaluated) == 30


def test_what_was_seen_of_a_device_serves_every_expression_that_sees_no_more(
    asked: Selectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [record(number, profile=f"{1 + number % 7}g", uuid=f"MIG-{number}") for number in range(500)]
    asked.matching(records, select(f'{HERE}.profile == "1g"'))
    # From here on no device is read again.
    monkeypatch.setattr(Kinds, "find", None)
    for profile in range(2, 8):
        found = asked.matching(records, select(f'{HERE}.profile == "{profile}g"'))
        assert list(found) == [YES if 1 + number % 7 == profile else NO for number in range(500)]
        assert asked.first_unmatched(records[profile - 1], select(f'{HERE}.profile != "{profile}g"'), ORIGIN) == 0


def test_more_kinds_than_fit_a_byte_are_told_apart(asked: Selectors) -> None:
    records = [record(number, uuid=f"GPU-{number}") for number in range(1000)]
    for wanted in (0, 252, 253, 254, 255, 999):
        found = asked.matching(records, select(f'{HERE}.uuid == "GPU-{wanted}"', "true"))
        assert list(found) == [YES if number == wanted else NO for number in range(1000)]
        assert asked.first_unmatched(records[wanted], select("true", f'{HERE}.uuid != "GPU-{wanted}"'), ORIGIN) == 1


@pytest.mark.parametrize("share", range(3))
def test_many_at_once_are_as_one_by_one(share: int) -> None:
    random = Random(share)
    texts = (
        IS_GPU,
        f'{HERE}.type == "mig"',
        f"{HERE}.n == 1",
        f'{HERE}.?uuid.orValue("") != "7"',
        "true",
        "device.driver ==",
        f"has({HERE}.n)",
    )
    for _ in range(30):
        together, alone = Selectors(Features.for_version()), Selectors(Features.for_version())
        records = [random_record(random, number) for number in random.sample(range(6000), random.choice((1, 5, 400)))]
        for _ in range(8):
            expressions = select(*random.choices(texts, k=random.choice((1, 1, 2, 3))))
            some = random.sample(records, random.randint(1, len(records)))
            found = together.matching(some, expressions)
            assert list(found) == [verdict(alone, each, expressions) for each in some]
            assert list(found) == [verdict(together, each, expressions) for each in some]


def random_record(random: Random, number: int) -> Record:
    attributes: dict[str, Any] = {"uuid": str(number)} if random.random() < 0.7 else {}
    if random.random() < 0.9:
        attributes["type"] = random.choice(("gpu", "mig"))
    if random.random() < 0.5:
        attributes["n"] = random.choice(({"int": 1}, {"int": 2}, "1", {"version": "1.0.0"}, {"version": "1"}))
    return record(number, random.choice((DRIVER, DRIVER, "other.example.com")), **attributes)


def verdict(asked: Selectors, each: Record, expressions: tuple[DeviceSelector, ...]) -> int:
    try:
        return YES if asked.first_unmatched(each, expressions, ORIGIN) is None else NO
    except AllocationError:
        return FAILS


def test_an_error_is_raised_only_for_the_device_that_is_asked_about(asked: Selectors) -> None:
    bad, good = record(0), record(1, type="gpu")
    for _ in range(2):
        assert asked.first_unmatched(good, select(IS_GPU), ORIGIN) is None
        with pytest.raises(AllocationError) as raised:
            asked.first_unmatched(bad, select("true", IS_GPU), ORIGIN)
        assert str(raised.value) == (
            "claim ns/claim: selector #1 on device gpu.example.com/pool/d0: CEL runtime error: no such key: type. consider using "
            "CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
        )


def test_a_selector_behind_one_that_is_false_is_not_asked(asked: Selectors) -> None:
    assert asked.first_unmatched(record(0), select("false", IS_GPU, "device.driver =="), ORIGIN) == 0


def test_a_selector_that_does_not_compile_stops_the_pod(asked: Selectors) -> None:
    with pytest.raises(AllocationError, match=r"^class c: selector #0: CEL compile error: "):
        asked.first_unmatched(record(0), select("device.driver =="), Origin("ns/claim", "r0", "c"))


def test_devices_that_share_an_error_are_named_each(asked: Selectors) -> None:
    for number in range(3):
        with pytest.raises(
            AllocationError, match=rf"on device gpu\.example\.com/pool/d{number}: CEL runtime error: no such key: type"
        ):
            asked.first_unmatched(record(number), select(IS_GPU), ORIGIN)


def test_many_devices_at_once_are_told_apart_without_raising(asked: Selectors) -> None:
    records = [record(0, type="gpu"), record(1), record(2, type="mig"), record(3, type="gpu", v={"version": "1"})]
    for _ in range(2):
        assert list(asked.matching(records, select(IS_GPU))) == [YES, FAILS, NO, FAILS]
        assert list(asked.matching(records, ())) == [YES] * 4
        assert list(asked.matching(records, select("device.driver =="))) == [FAILS] * 4
        assert list(asked.matching([], select(IS_GPU))) == []


def test_a_broken_device_shares_no_answer(asked: Selectors) -> None:
    # Alike in all that the selector reads; the version that is none fails one of them.
    sound, broken = record(0, type="gpu", v={"version": "1.0.0"}), record(1, type="gpu", v={"version": "v1.0.0"})
    assert asked.first_unmatched(sound, select(IS_GPU), ORIGIN) is None
    with pytest.raises(AllocationError, match="attribute v: parse semantic version"):
        asked.first_unmatched(broken, select(IS_GPU), ORIGIN)


def test_the_driver_decides_whose_bare_names_are_seen(asked: Selectors) -> None:
    ours, theirs = record(0, type="gpu"), record(1, "other.example.com", type="gpu")
    assert list(asked.matching([ours, theirs], select(f'{HERE}.?type.orValue("") == "gpu"'))) == [YES, NO]


def test_a_number_may_stand_for_another_device_once_it_is_forgotten(asked: Selectors) -> None:
    before, after = record(4, type="gpu", v={"version": "x"}), record(4, type="gpu")
    other = record(5, type="gpu")
    selectors = select(IS_GPU)
    assert list(asked.matching([before, other], selectors)) == [FAILS, YES]
    asked.forget([4])
    assert list(asked.matching([after, other], selectors)) == [YES, YES]
    assert asked.first_unmatched(after, selectors, ORIGIN) is None


def test_what_is_forgotten_frees_its_memory(asked: Selectors) -> None:
    for start in range(0, 400_000, 4096):
        asked.matching([record(number, type="gpu") for number in (start, start + 1)], select(IS_GPU))
        asked.forget([start, start + 1])
    assert sum(table.size for table in asked._tables()) == 0


def test_a_selector_far_down_a_list_is_named_too(asked: Selectors) -> None:
    # Validation allows 32; what was not validated is answered as well.
    for _ in range(2):
        assert asked.first_unmatched(record(0), select(*["true"] * 200, "false"), ORIGIN) == 200
        assert list(asked.matching([record(0)], select(*["true"] * 200, "false"))) == [NO]
        assert list(asked.matching([record(0)], select(*["true"] * 200, IS_GPU))) == [FAILS]
        assert list(asked.matching([record(0)], select(*["true"] * 200))) == [YES]


def test_answers_stay_right_when_memory_is_short(asked: Selectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "_KEPT_LISTS", 2)
    monkeypatch.setattr(selectors, "_KEPT_KEYS", 2)
    random = Random(1)
    records = [record(number, type=str(number % 7)) for number in range(20)]
    lists = [select(f'{HERE}.type == "{kind}"') for kind in range(5)]
    for _ in range(500):
        kind, number = random.randrange(5), random.randrange(20)
        assert (asked.first_unmatched(records[number], lists[kind], ORIGIN) is None) == (number % 7 == kind)
    assert len(asked._lists) <= 2


def test_derived_attributes_are_shared_and_fail_each_for_its_device(asked: Selectors, evaluated: list[Device]) -> None:
    text = f'{HERE}.type + "!"'
    for number in range(100):
        assert asked.derived_attribute("d/x", text, record(number, type="gpu", uuid=str(number))).string_value == "gpu!"
    assert len(evaluated) == 1
    with pytest.raises(
        AllocationError, match=r"evaluate derived attribute d/x on device gpu\.example\.com/pool/d107 failed: no such key"
    ):
        asked.derived_attribute("d/x", text, record(107))
    with pytest.raises(AllocationError, match="compile derived attribute d/x failed"):
        asked.derived_attribute("d/x", "device.driver ==", record(107))


def test_threads_that_share_selectors_agree() -> None:
    shared = Selectors(Features.for_version())
    records = [record(number, type=str(number % 5), uuid=str(number)) for number in range(3000)]
    lists = [select(f'{HERE}.type == "{kind}"') for kind in range(5)] + [select(f'{HERE}.uuid == "7"')]
    together = Barrier(6)

    def judge(order: int) -> list[list[bool]]:
        together.wait()
        turn = [(order + kind) % 6 for kind in range(6)]
        found = {kind: [shared.first_unmatched(each, lists[kind], ORIGIN) is None for each in records] for kind in turn}
        return [found[kind] for kind in range(6)]

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(judge, range(6)))
    expected = [[number % 5 == kind for number in range(3000)] for kind in range(5)] + [[number == 7 for number in range(3000)]]
    assert answers == [expected] * 6
