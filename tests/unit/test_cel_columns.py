"""Many devices asked at once: every row gets the answer that its device would get alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reparto import cel
from reparto.cel.columns import FAILED, FALSE, GONE, TRUE, Columns
from reparto.cel.projection import view_of
from reparto.model.v1 import Device

SOURCES = Path(__file__).resolve().parents[2] / "src"
DRIVER = "d"
IS_GPU = cel.compile('device.attributes["d"].type == "gpu"')


def published(**attributes: Any) -> Device:
    """A device with these attributes: texts, or the API's form."""
    full = {name: {"string": value} if isinstance(value, str) else value for name, value in attributes.items()}
    return msgspec.convert({"name": "x", "attributes": full}, Device)


def columns(*devices: Device) -> Columns:
    made = Columns()
    for device in devices:
        made.add(DRIVER, device)
    return made


def test_equal_devices_are_asked_once() -> None:
    rows = columns(*[published(type=kind, uuid=f"{kind}-{number}") for number in range(500) for kind in ("gpu", "mig")])
    answers = rows.answers(IS_GPU)
    assert answers.verdicts.tolist() == [TRUE, FALSE] * 500
    assert answers.evaluations == 2
    assert answers.matching() == list(range(0, 1000, 2))


def test_an_error_is_the_answer_of_its_rows() -> None:
    answers = columns(published(type="gpu"), published(), published()).answers(IS_GPU)
    assert answers.verdicts.tolist() == [TRUE, FAILED, FAILED]
    assert answers.evaluations == 2
    assert str(answers.answer(1)) == str(answers.answer(2)) == "no such key: type"


def test_devices_that_all_differ_are_asked_once_each() -> None:
    # Two columns of 2,000 distinct values would have four million combinations.
    program = cel.compile('device.attributes["d"].uuid == "1999" && device.attributes["d"].other != "7"')
    answers = columns(*[published(uuid=str(number), other=str(-number)) for number in range(2000)]).answers(program)
    assert answers.evaluations == 2000
    assert answers.matching() == [1999]


def test_clauses_are_asked_one_by_one_where_they_have_fewer_combinations() -> None:
    # 100 values each: 10,000 combinations, of which none occurs twice, or 100 for each clause.
    program = cel.compile('device.attributes["d"].a == "7" && device.attributes["d"].b == "9"')
    pairs = [(str(a), str(b)) for a in range(100) for b in range(100)]
    answers = columns(*[published(a=a, b=b) for a, b in pairs]).answers(program)
    assert answers.evaluations == 200
    assert answers.matching() == [pairs.index(("7", "9"))]


def test_an_error_of_one_clause_is_absorbed_by_a_false_one_and_named_otherwise() -> None:
    program = cel.compile('device.attributes["d"].a == "7" && device.attributes["d"].b.startsWith("9") && device.attributes["d"].c')
    devices = [published(a=str(a), b=str(b), c={"bool": True}) for a in range(40) for b in range(40)]
    odd = [published(a="8"), published(a="7"), published(b="9", c="x"), published(a="7", b="9", c="x"), published(a="1", c="x")]
    rows = columns(*devices, *odd)
    answers = rows.answers(program)
    assert answers.evaluations < 200
    for row, device in enumerate((*devices, *odd)):
        alone, answer = program.evaluate(view_of(DRIVER, device)), answers.answer(row)
        assert str(answer) == str(alone.value if alone.error is None else alone.error)
    assert answers.verdicts[-5:].tolist() == [FALSE, FAILED, FAILED, FAILED, FALSE]


def test_an_expression_that_sees_nothing_is_asked_once() -> None:
    answers = columns(published(type="gpu"), published()).answers(cel.compile("1 == 1"))
    assert (answers.verdicts.tolist(), answers.evaluations) == ([TRUE, TRUE], 1)


def test_no_rows_no_answers() -> None:
    assert Columns().answers(IS_GPU).verdicts.tolist() == []


def test_a_version_that_is_none_fails_its_device_alone_whatever_is_asked() -> None:
    rows = columns(published(type="gpu"), published(type="gpu", v={"version": "1.0"}), published(type="gpu", v={"version": "2"}))
    answers = rows.answers(IS_GPU)
    assert answers.verdicts.tolist() == [TRUE, FAILED, FAILED]
    assert str(answers.answer(1)) == "attribute v: parse semantic version: No Major.Minor.Patch elements found"
    rows.replace(1, DRIVER, published(type="gpu", v={"version": "1.0.0"}))
    assert rows.answers(IS_GPU).verdicts.tolist() == [TRUE, TRUE, FAILED]


def test_added_replaced_and_removed_devices_show_in_columns_that_exist() -> None:
    rows = columns(published(type="gpu"), published(type="mig"))
    rows.build(IS_GPU)
    assert rows.add(DRIVER, published(type="gpu")) == 2
    rows.replace(0, DRIVER, published(type="vgpu"))
    rows.remove(1)
    answers = rows.answers(IS_GPU)
    assert answers.verdicts.tolist() == [FALSE, GONE, TRUE]
    with pytest.raises(LookupError):
        answers.answer(1)
    with pytest.raises(LookupError):
        rows.remove(1)


def test_the_row_of_a_removed_device_is_used_again() -> None:
    rows = columns(published(type="gpu"), published(type="gpu"))
    rows.remove(0)
    assert rows.add(DRIVER, published(type="mig")) == 0
    assert rows.answers(IS_GPU).verdicts.tolist() == [FALSE, TRUE]
    assert len(rows) == 2


def test_a_bare_name_belongs_to_the_driver_and_gives_way_to_the_qualified_one() -> None:
    bare, qualified = msgspec.convert(
        [
            {"name": "x", "attributes": {"type": {"string": "gpu"}}},
            {"name": "x", "attributes": {"type": {"string": "mig"}, "d/type": {"string": "gpu"}}},
        ],
        tuple[Device, Device],
    )
    rows = columns(bare, qualified)
    rows.add("e", bare)
    rows.add("e", qualified)
    assert rows.answers(IS_GPU).verdicts.tolist() == [TRUE, TRUE, FAILED, TRUE]


@pytest.mark.parametrize(
    "expression",
    [
        'device.attributes["d"].map(n, n)[0] == "a"',
        'device.attributes["d"].transformList(n, v, n)[0] == "a"',
        'device.attributes.transformList(d, names, names.map(n, n)[0])[0] == "a"',
    ],
)
def test_a_walk_sees_the_order_of_entries(expression: str) -> None:
    rows = columns(published(a="1", b="1"), published(b="1", a="1"), published(a="1", b="1"))
    assert rows.answers(cel.compile(expression)).verdicts.tolist() == [TRUE, FALSE, TRUE]


def test_a_thousand_new_contents_do_not_swell_a_column_for_ever() -> None:
    rows = columns(published(type="gpu"))
    rows.build(IS_GPU)
    for number in range(70_000):
        rows.replace(0, DRIVER, published(type=str(number)))
    rows.replace(0, DRIVER, published(type="gpu"))
    assert rows.answers(IS_GPU).verdicts.tolist() == [TRUE]
    column = rows._columns[IS_GPU.dependencies[0]]
    assert column.size <= 2  # made anew


def test_numpy_is_loaded_only_with_columns() -> None:
    script = "import sys, reparto.cel, reparto.allocation, reparto.cli.main; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": str(SOURCES)}, check=False).returncode == 0
