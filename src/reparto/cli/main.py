"""The `reparto` command: a root that knows its subcommands by name and imports one only when it runs.

`reparto --help` and shell completion are typed far more often than any single command, so the root holds each command's one-line
summary itself and loads nothing else. The same program answers as `kubectl reparto` when it is installed as `kubectl-reparto`.
This module is also the last line of defence: whatever goes wrong below becomes a sentence, never a traceback.
"""

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from importlib import import_module
from io import TextIOWrapper
from typing import NamedTuple, TextIO, cast

import click

from reparto.cli.failures import failure_document, option_of, wants_json

KUBECTL = "kubectl reparto"
EXIT_UNUSABLE = 2
EXIT_INTERNAL = 70  # sysexits.h EX_SOFTWARE: distinct from every answer of ours
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


class Lazy(NamedTuple):
    """Where a subcommand lives (`module:attribute`) and its line in `reparto --help`."""

    target: str
    summary: str


COMMANDS: dict[str, Lazy] = {
    "plan": Lazy("reparto.cli.plan:plan", "Show what gets which device on which node, and what stays pending."),
    "validate": Lazy("reparto.cli.validate:validate", "Show what the API server would say of these objects."),
    "snapshot": Lazy("reparto.cli.snapshot:snapshot", "Save what a plan needs to know of a cluster, to be planned elsewhere."),
    "version": Lazy("reparto.cli.version:version", "Show the versions of Reparto, Kubernetes semantics and Python."),
    "completion": Lazy("reparto.cli.completion:completion", "Print a script that completes commands in your shell."),
}


def _of_plugin(text: str) -> str:
    """Examples as a user of the kubectl plugin types them."""
    return re.sub(r"(?<![\w/-])reparto (?=\w)", f"{KUBECTL} ", text)


class Root(click.Group):
    """A group whose subcommands are imported when they are called, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = COMMANDS.get(cmd_name)
        if lazy is None:
            return None
        module, attribute = lazy.target.split(":")
        command = cast(click.Command, getattr(import_module(module), attribute))
        if ctx.find_root().info_name != KUBECTL or not command.epilog:
            return command
        plugin = copy(command)
        plugin.epilog = _of_plugin(command.epilog)
        return plugin

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" Commands: {', '.join(COMMANDS)}."
            ctx.fail(f"no such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


EPILOG = """\b
Examples:
  reparto plan -A                         the cluster that kubectl talks to
  reparto plan -f cluster.yaml            what gets which device, and what stays pending
  reparto validate -f manifests/          every error of a folder, with file, line and field
  kubectl get resourceslices,deviceclasses -o yaml | reparto validate -f -
"""


@click.group(cls=Root, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
def root() -> None:
    """Kubernetes Dynamic Resource Allocation, decided exactly as Kubernetes does, and explained."""


def program_name(argument: str) -> str:
    """The name that the user typed: kubectl runs its plugin `kubectl-reparto` as `kubectl reparto`."""
    return KUBECTL if os.path.basename(argument).startswith("kubectl-reparto") else "reparto"


def _called(name: str) -> click.Command:
    """The root, with its examples as the user types them."""
    if name != KUBECTL:
        return root
    plugin = copy(root)
    plugin.epilog = _of_plugin(EPILOG)
    return plugin


def _run(arguments: Sequence[str] | None) -> int:
    try:
        name = program_name(sys.argv[0])
        code = _called(name).main(args=None if arguments is None else list(arguments), prog_name=name, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit as stop:  # how commands give their exit code
        return stop.code if isinstance(stop.code, int) else 0


def _prepare_streams() -> None:
    """Give every stream something to stand on: Python sets those to None that the caller closed (`>&-`)."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # open as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe whose encoding lacks a character of the input gets `?` for it, not an exception.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _silence(stream: TextIO) -> None:
    """Point a stream that cannot be written elsewhere, so that Python's flush at exit stays silent."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say(*lines: str) -> None:
    """Last words on stderr, or nowhere, if it cannot be written either."""
    with suppress(OSError):
        for line in lines:
            click.echo(line, err=True)


def _answer_json(arguments: Sequence[str] | None, kind: str, message: str, option: str = "") -> None:
    """For a program that asked for JSON: the error as JSON on stdout, or nowhere, if it cannot be written."""
    if wants_json(sys.argv[1:] if arguments is None else arguments):
        with suppress(OSError):
            click.echo(failure_document(kind, message, option))


def _explained(error: click.ClickException) -> click.ClickException:
    """The error, with what to write instead of files without -f, which is also what the shell makes of `-f *.yaml`."""
    if not isinstance(error, click.UsageError) or error.ctx is None or "unexpected extra argument" not in error.message:
        return error
    if not any(parameter.name == "filenames" for parameter in error.ctx.command.params):
        return error
    return click.UsageError(f"{error.message}: give -f before each file, or the directory that holds them", error.ctx)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0, 1 or 2 as design.md section 3 says, 70 for a defect of ours, 130 when interrupted."""
    _prepare_streams()
    try:
        status = _run(arguments)
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be answered
    except click.ClickException as error:
        error = _explained(error)
        error.show()
        usage = isinstance(error, click.UsageError)
        _answer_json(arguments, "Usage" if usage else "Unusable", error.format_message(), option_of(error))
        status = error.exit_code if usage else EXIT_UNUSABLE
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        status = EXIT_INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout)  # the reader (head, less) went away: not an error
        status = 0
    except OSError as error:  # input that cannot be read is an answer (model.reading); what is left is writing it
        _silence(sys.stdout)
        _say(f"Error: cannot write the answer: {error.strerror or error}")
        status = EXIT_UNUSABLE
    except MemoryError:
        _say("Error: out of memory. Give fewer files at a time.")
        _answer_json(arguments, "Unusable", "out of memory: give fewer files at a time")
        status = EXIT_UNUSABLE
    except Exception as error:  # the boundary: users get a sentence, developers the traceback on request
        if os.environ.get("REPARTO_DEBUG"):
            raise
        _say(
            f"Error: internal error: {type(error).__name__}: {error}",
            "This is a defect of Reparto. Run again with REPARTO_DEBUG=1 and report what it prints.",
        )
        _answer_json(arguments, "Internal", f"{type(error).__name__}: {error}")
        status = EXIT_INTERNAL
    sys.exit(status)


if __name__ == "__main__":
    main()
