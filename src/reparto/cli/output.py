"""How answers are written: JSON and YAML for programs, problems and colour for people (tables: `rendering.layout`).

Colour appears only on a terminal and never when NO_COLOR is set. Nothing here knows what it prints.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

import click
import msgspec

from reparto.model.errors import Problem

FORMATS = ("table", "wide", "json", "yaml", "name")


def output_option(*formats: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`-o/--output` with the formats a command supports (default: all five). The first is the default."""
    choices = formats or FORMATS
    return click.option(
        "-o",
        "--output",
        "output",
        type=click.Choice(choices, case_sensitive=False),
        default=choices[0],
        show_default=True,
        metavar="|".join(choices),
        help="Output format.",
    )


def coloured(stream: TextIO | None = None) -> bool:
    """Whether `stream` (default stdout) may carry colour: a terminal, NO_COLOR unset or empty (no-color.org), TERM not dumb."""
    terminal = (stream or sys.stdout).isatty()
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, stream: TextIO | None = None, **style: Any) -> str:
    """`text` in click's style (`fg="red"`, `bold=True`) where `stream` may carry colour, else unchanged."""
    return click.style(text, **style) if text and coloured(stream) else text


def printable(text: str) -> str:
    """Control characters out: a name from a file must not be able to move the cursor or fake a line."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def builtins(value: Any) -> Any:
    """Structs, tuples and all as the API's JSON values: dict, list, str, int, float, bool, None."""
    return msgspec.to_builtins(value)


def _unicode(stream: TextIO) -> bool:
    """Whether `stream` can write every character: programs must get back what the input holds, not question marks."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")


def write_json(value: Any, stream: TextIO | None = None) -> None:
    """`value` (structs allowed) as indented JSON and a newline; escaped where `stream` cannot write all characters."""
    target: TextIO = stream or sys.stdout
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if not text.isascii() and not _unicode(target):
        text = json.dumps(json.loads(text), indent=2)
    print(text, file=target)


def write_yaml(value: Any, stream: TextIO | None = None) -> None:
    """`value` (structs allowed) as YAML in the API's field order."""
    import yaml

    target: TextIO = stream or sys.stdout
    yaml.dump(
        builtins(value),
        target,
        Dumper=_dumper(),
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=_unicode(target),
        width=120,
    )


def _dumper() -> Any:
    """PyYAML's dumper, which also quotes text that only other readers of YAML, as kubectl's, take for a boolean or a number."""
    import re

    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    careful: Any = type("Careful", (base,), {})
    careful.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^[yYnN]$"), list("yYnN"))
    number = re.compile(r"^[-+]?(0o[0-7_]+|(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?)$")
    careful.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+.0123456789"))
    return careful


def write_names(names: Iterable[str], stream: TextIO | None = None) -> None:
    """One `kind/name` a line, as `kubectl -o name` writes it."""
    for name in names:
        print(printable(name), file=stream or sys.stdout)


def report(errors: Iterable[Problem], warnings: Iterable[Problem] = (), stream: TextIO | None = None) -> None:
    """Problems as sentences on stderr (or `stream`), errors first, one to three lines each."""
    stream = stream or sys.stderr
    for label, colour, problems in (("error", "red", errors), ("warning", "yellow", warnings)):
        for problem in problems:
            text = "\n".join(printable(line) for line in problem.sentence().split("\n"))
            print(f"{styled(label, stream, fg=colour, bold=True)}: {text}", file=stream)
