"""What a program gets that asked for JSON and cannot have an answer: the error as JSON, so that its parser finds a document.

The sentence for people goes to stderr all the same. Input that cannot be used is no failure in this sense: answers have `errors`.
"""

import json
from collections.abc import Sequence
from itertools import pairwise

import click

OPTIONS = ("-o", "--output")


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON; told from the words alone, for the line may be wrong."""
    words = [word.lower() for word in arguments]
    if not {"-ojson", "-o=json", "--output=json"}.isdisjoint(words):
        return True
    return any(option in OPTIONS and value == "json" for option, value in pairwise(words))


def failure_document(kind: str, message: str, option: str = "") -> str:
    """The contract `error/v1`: `kind` is Usage (the command line), Unusable (what it names) or Internal (a defect of ours)."""
    message, _, hint = message.partition("\n")
    error = {
        "file": "",
        "line": 0,
        "object": "",
        "path": option,
        "type": kind,
        "value": None,
        "message": message,
        "hint": hint.strip(),
    }
    return json.dumps({"schema": "error/v1", "errors": [error]}, indent=2)


def option_of(error: click.ClickException) -> str:
    """The option that an error is about, as in `--diff`; empty where it is about none."""
    if isinstance(error, click.NoSuchOption):
        return error.option_name
    if isinstance(error, click.BadParameter):
        hint = error.param_hint or (error.param.opts if error.param is not None else "")
        hints = [hint] if isinstance(hint, str) else hint
        return max(hints, key=len, default="").strip("'")
    return ""
