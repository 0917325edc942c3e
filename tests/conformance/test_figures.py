"""The numbers that a run of comparisons prints are those of its tests, from whichever process."""

from __future__ import annotations

from types import SimpleNamespace

from conformance import figures
from conformance.scale import part_name, parts


def report(counts: figures.Counts, when: str = "call") -> SimpleNamespace:
    return SimpleNamespace(when=when, user_properties=[("another", 1), (figures.PROPERTY, counts)])


def test_figures_of_all_tests_add_up_and_setup_and_teardown_do_not_count() -> None:
    reports = [
        report({"problems": {"asked": 2, "differences": 0}}),
        report({"problems": {"asked": 3, "differences": 1}}),
        report({"problems": {"asked": 3, "differences": 1}}, when="teardown"),
    ]
    assert figures.of_reports(reports) == {"problems": {"asked": 5, "differences": 1}}


def test_a_run_is_told_in_a_line_a_subject_and_a_line_a_rule() -> None:
    counts = {"problems": {"asked": 1_000, "differences": 0, "none": 400}, "3.9 devices agree": {"decided": 4, "tried": 1_234}}
    told = figures.lines(counts)
    assert told[0] == "problems: 1,000 asked, 0 differences (400 none)"
    assert told[-1].split() == ["4", "of", "1,234", "3.9", "devices", "agree"]


def test_parts_have_every_problem_once() -> None:
    made = parts(1_300, 625)
    assert [part_name(part) for part in made] == ["0-624", "625-1249", "1250-1299"]
    assert [number for part in made for number in part] == list(range(1_300))
