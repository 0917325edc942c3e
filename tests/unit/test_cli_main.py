"""The root command: instant help, names, versions, completion, and never a traceback."""

import json
import os
import resource
import subprocess
import sys

import click
import pytest

from reparto.cli import main as program


def reparto(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "reparto.cli.main", *arguments], capture_output=True, text=True, check=False)


def test_help_lists_every_command() -> None:
    run = reparto("--help")
    assert (run.returncode, run.stderr) == (0, "")
    for command in program.COMMANDS:
        assert f"\n  {command} " in run.stdout


def test_help_loads_nothing_of_the_engine() -> None:
    code = "import sys; from reparto.cli import main; sys.argv = ['reparto', '--help']\ntry: main.main()\nexcept SystemExit: pass\n"
    code += "print([name for name in sys.modules if name.split('.')[0] in ('msgspec', 'yaml', 're2')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_help_is_within_150_ms_of_an_empty_python() -> None:
    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    def best(*command: str) -> float:
        # Processor time: help waits for nothing, and other work on the machine must not fail this test.
        times: list[float] = []
        for _ in range(7):
            start = used()
            subprocess.run([sys.executable, *command], capture_output=True, check=True)
            times.append(used() - start)
        return min(times)

    assert best("-m", "reparto.cli.main", "--help") - best("-c", "pass") < 0.150


@pytest.mark.parametrize(
    ("argument", "name"),
    [("/usr/bin/reparto", "reparto"), ("kubectl-reparto", "kubectl reparto"), ("/x/__main__.py", "reparto")],
)
def test_the_program_is_called_as_the_user_called_it(argument: str, name: str) -> None:
    assert program.program_name(argument) == name


def test_an_unknown_command_names_the_nearest() -> None:
    run = reparto("validat")
    assert run.returncode == 2
    assert "'validate'" in run.stderr


def test_version_as_json() -> None:
    found = json.loads(reparto("version", "-o", "json").stdout)
    assert found["kubernetes"] == "1.37.2"
    assert found["python"] == sys.version.split()[0]
    assert found.keys() == {"reparto", "kubernetes", "python"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    run = reparto("completion", shell)
    assert run.returncode == 0
    assert "_REPARTO_COMPLETE" in run.stdout


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RuntimeError("boom"), 70),
        (KeyboardInterrupt(), 130),
        (MemoryError(), 2),
        (click.UsageError("no"), 2),
        (click.ClickException("no"), 2),
    ],
)
def test_whatever_happens_ends_in_a_sentence(
    error: BaseException, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def failing() -> None:
        raise error

    monkeypatch.setattr(program.Root, "get_command", lambda *_: failing)
    monkeypatch.delenv("REPARTO_DEBUG", raising=False)
    with pytest.raises(SystemExit) as stop:
        program.main(["version"])
    assert stop.value.code == status
    written = capsys.readouterr().err
    assert written
    assert "Traceback" not in written


def test_a_reader_that_goes_away_is_no_error() -> None:
    run = subprocess.run(
        f"{sys.executable} -m reparto.cli.main completion bash | head -c 1", shell=True, capture_output=True, text=True, check=False
    )
    assert run.stderr == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_the_caller_closed_are_done_without(closed: str) -> None:
    command = f"{sys.executable} -m reparto.cli.main version {closed}"
    run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
@pytest.mark.parametrize("command", ["version", "completion bash", "--help"])
def test_a_full_disk_is_said(command: str) -> None:
    run = subprocess.run(
        f"{sys.executable} -m reparto.cli.main {command} >/dev/full", shell=True, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (2, "Error: cannot write the answer: No space left on device\n")


def test_files_without_f_are_told_how_to_be_given() -> None:
    run = reparto("validate", "-f", "a.yaml", "b.yaml")
    assert run.returncode == 2
    assert run.stderr.endswith(
        "Got unexpected extra argument (b.yaml): give -f before each file, or the directory that holds them\n"
    )


@pytest.mark.parametrize("command", [(), ("plan",), ("validate",), ("completion",), ("version",)])
def test_help_of_the_kubectl_plugin_names_the_plugin(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/local/bin/kubectl-reparto"])
    with pytest.raises(SystemExit):
        program.main([*command, "--help"])
    text = capsys.readouterr().out
    assert text.startswith("Usage: kubectl reparto ")
    assert "\n    kubectl reparto " in text
    assert "\n    reparto " not in text and "| reparto " not in text


def test_the_plugin_leaves_the_programs_own_help_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, shown in (("kubectl-reparto", "kubectl reparto plan -f"), ("reparto", "\n    reparto plan -f")):
        monkeypatch.setattr(sys, "argv", [name])
        with pytest.raises(SystemExit):
            program.main(["plan", "--help"])
        assert shown in capsys.readouterr().out


def test_a_defect_is_answered_in_json_where_json_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object) -> click.Command:
        raise RuntimeError("boom")

    monkeypatch.setattr(program.Root, "get_command", failing)
    monkeypatch.delenv("REPARTO_DEBUG", raising=False)
    with pytest.raises(SystemExit) as stop:
        program.main(["version", "-o", "json"])
    written = capsys.readouterr()
    assert stop.value.code == 70
    assert json.loads(written.out)["errors"][0]["message"] == "RuntimeError: boom"
    assert "boom" in written.err
