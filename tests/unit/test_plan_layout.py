"""Tables fit the terminal: long cells lose their middle, what follows a row is wrapped below it, and a pipe gets everything."""

import io
import sys

import pytest

from reparto.cli.rendering.layout import Column, Row, cut, line_width, table, text_width, wrapped


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _no_width_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("REPARTO_COLUMNS", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


def test_numbers_are_aligned_to_the_right():
    columns = [Column("node"), Column("devices", "right"), Column("free", "right")]
    rows = [Row(["a", "8", "12"]), Row(["longer", "16", "0"])]
    assert table(columns, rows, width=None) == "NODE     DEVICES   FREE\na              8     12\nlonger        16      0\n"


def test_columns_are_as_wide_as_their_widest_cell_and_nothing_trails():
    rows = [Row(["a", "n1"]), Row(["longer", ""])]
    assert table([Column("pod"), Column("node")], rows, width=None) == "POD      NODE\na        n1\nlonger\n"


def test_a_table_without_rows_is_its_header():
    assert table([Column("a"), Column("b")], [], width=80) == "A   B\n"


def test_only_cells_with_a_style_are_coloured_and_columns_stay_aligned(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    rows = [Row(["no", "x"]), Row(["yes", "y"])]
    text = table([Column("a"), Column("b")], rows, width=None, style=lambda _, cell: {"fg": "red"} if cell == "no" else {})
    assert text == "A     B\n\x1b[31mno\x1b[0m    x\nyes   y\n"


def test_in_a_pipe_nothing_is_cut_and_a_row_keeps_its_tail():
    text = table([Column("pod"), Column("status")], [Row(["p" * 300, "pending"], "because " * 30)], width=None)
    assert "p" * 300 in text
    assert len(text.splitlines()) == 2
    assert text.endswith("because\n")


@pytest.mark.parametrize("width", [40, 60, 80, 119])
def test_no_line_is_wider_than_the_terminal(width: int):
    columns = [Column("namespace"), Column("pod"), Column("device"), Column("status", least=None)]
    rows = [
        Row(["team-" * 5, "train-" * 12, "gpu-0 (NVIDIA H100 80GB HBM3)", "pending"], "the matching devices are in use " * 5),
        Row(["漢字" * 20, "a", "x" * 200, "placed"], "y" * 500),
    ]
    assert max(text_width(line) for line in table(columns, rows, width=width).splitlines()) <= width


def test_the_widest_columns_give_way_first():
    text = table([Column("a"), Column("b")], [Row(["short", "x" * 100])], width=40)
    assert text.splitlines()[1].startswith("short   ")


def test_what_is_spare_gives_way_before_names_do_and_from_its_end():
    columns = [Column("pod"), Column("device", least=8, spare=True)]
    text = table(columns, [Row(["train-unaligned-0", "gpu-0 (NVIDIA H100 80GB HBM3)"])], width=40)
    assert text.splitlines()[1] == "train-unaligned-0   gpu-0 (NVIDIA H100 …"


def test_a_column_without_a_least_width_is_never_cut():
    text = table([Column("a"), Column("state", least=None)], [Row(["x" * 100, "pending-for-very-long"])], width=40)
    assert "pending-for-very-long" in text


def test_a_tail_that_fits_stays_on_its_line():
    assert table([Column("pod"), Column("status")], [Row(["a", "pending"], "RPT101: no")], width=40).splitlines()[1] == (
        "a     pending RPT101: no"
    )


def test_a_tail_that_does_not_fit_goes_below_indented_and_broken_at_spaces():
    lines = table([Column("pod"), Column("status")], [Row(["a", "pending"], "one two three four five six seven eight")], width=40)
    assert lines.splitlines()[1:] == ["a     pending", "    one two three four five six seven", "    eight"]


def test_the_middle_of_a_long_name_gives_way_for_both_ends_tell_names_apart():
    assert cut("train-aligned-0", 15) == "train-aligned-0"
    assert cut("train-aligned-0", 10) == "train…ed-0"
    assert cut("abc", 2) == "ab"


def test_wide_characters_count_twice():
    rows = [Row(["漢字", "x"]), Row(["abcd", "y"])]
    assert table([Column("a"), Column("b")], rows, width=None) == "A      B\n漢字   x\nabcd   y\n"
    assert text_width("漢字") == 4
    assert cut("漢字漢字漢字", 7) == "漢…字" or text_width(cut("漢字漢字漢字", 7)) <= 7


def test_a_word_longer_than_a_line_is_broken():
    assert wrapped("a " + "x" * 25, 20, "  ") == ["  a", "  " + "x" * 18, "  " + "x" * 7]


def test_text_is_not_wrapped_without_a_width():
    assert wrapped("word " * 100, None, "  ") == ["  " + ("word " * 100).strip()]


def test_control_characters_never_reach_the_terminal():
    assert "\x1b" not in table([Column("a")], [Row(["x\x1b[2J"], "y\x1b[2J")], width=None)


def test_a_pipe_has_no_width_whatever_the_shell_exports(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "97")
    assert line_width(io.StringIO()) is None
    assert line_width(Terminal()) == 97


def test_a_width_for_logs_and_documentation_counts_everywhere(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("REPARTO_COLUMNS", "98")
    assert line_width(io.StringIO()) == 98
    assert line_width(Terminal()) == 98


@pytest.mark.parametrize("value", ["", "0", "wide", "-1"])
def test_a_width_that_is_none_is_passed_over(monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("REPARTO_COLUMNS", value)
    assert line_width(io.StringIO()) is None


def test_a_very_narrow_terminal_gets_lines_that_can_be_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "10")
    assert line_width(Terminal()) == 40
