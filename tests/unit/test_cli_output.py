"""JSON, YAML and colour as they are written; tables are in test_plan_layout.py."""

import io

import pytest

from reparto.cli.output import coloured, styled, write_json, write_yaml
from reparto.cli.progress import Progress
from reparto.model.v1 import DeviceAttribute


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_turned_off(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert coloured(Terminal())
    assert styled("x", Terminal(), fg="red") != "x"
    monkeypatch.setenv(name, value)
    assert not coloured(Terminal())
    assert styled("x", Terminal(), fg="red") == "x"


def test_a_file_is_no_terminal() -> None:
    assert not coloured(io.StringIO())


def test_structs_are_written_with_the_names_of_the_api() -> None:
    stream = io.StringIO()
    write_json({"a": DeviceAttribute(int_value=3)}, stream)
    assert stream.getvalue() == '{\n  "a": {\n    "int": 3\n  }\n}\n'


def test_progress_is_silent_for_the_first_second_and_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with Progress("reading") as progress:
        progress(1, 2_000_000)
        assert terminal.getvalue() == ""
        clock[0] = 1.5
        progress(1_000_000, 2_000_000)
        assert "50%" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with Progress("reading") as progress:
        clock[0] = 9.0
        progress(1, 2)


@pytest.mark.parametrize(
    "text", ["y", "n", "Y", "N", "yes", "off", "1e3", "0o17", "017", "1_000", ".5", "~", "null", "12:30", "1.5"]
)
def test_text_that_some_reader_takes_for_something_else_is_quoted(text: str) -> None:
    stream = io.StringIO()
    write_yaml({"a": text}, stream)
    assert stream.getvalue() == f"a: '{text}'\n"


def test_numbers_and_plain_text_are_not_quoted() -> None:
    stream = io.StringIO()
    write_yaml({"a": 5, "b": True, "c": None, "d": "node-1", "e": "80Gi", "f": 0.5, "g": "v1"}, stream)
    assert stream.getvalue() == "a: 5\nb: true\nc: null\nd: node-1\ne: 80Gi\nf: 0.5\ng: v1\n"
