"""Shells complete commands, options, their values and files: the generated scripts, run in the shells themselves."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """An environment in which `reparto` is a program, as after installing it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, call in (
        ("reparto", "from reparto.cli.main import main; main()"),
        ("kubectl-reparto", "from reparto.cli.main import main; main()"),
        ("kubectl_complete-reparto", "from reparto.cli.completion import complete_for_kubectl; complete_for_kubectl()"),
    ):
        program = folder / name
        program.write_text(f"#!{sys.executable}\n{call}\n")
        program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("_REPARTO", "REPARTO"))}
    path = f"{folder}{os.pathsep}{environment['PATH']}"
    return {**environment, "PATH": path, "PYTHONPATH": str(SOURCE), "HOME": str(home), "TERM": "dumb", "ZDOTDIR": str(home)}


def shell(name: str, script: str, environment: dict[str, str], folder: Path) -> str:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    run = subprocess.run(
        [program, "-c", script], env=environment, cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    return run.stdout


def in_bash(words: list[str], environment: dict[str, str], folder: Path) -> list[str]:
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        source <(reparto completion bash)
        COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
        $(complete -p reparto | sed 's/.*-F \\([^ ]*\\) .*/\\1/') reparto
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return shell("bash", script, environment, folder).split()


def in_fish(words: list[str], environment: dict[str, str], folder: Path) -> list[str]:
    script = f"reparto completion fish | source; complete -C '{' '.join(words)}'"
    return [line.split("\t")[0] for line in shell("fish", script, environment, folder).splitlines()]


def in_zsh(words: list[str], environment: dict[str, str], folder: Path) -> list[str]:
    """zsh completes only in its line editor, so the functions that it would call are replaced by ones that print."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        compdef() {{ }}
        _describe() {{ print -l -- ${{completions_with_descriptions%%:*}} }}
        compadd() {{ print -l -- $completions }}
        _path_files() {{ print -l -- *(N) }}
        eval "$(reparto completion zsh)"
        words=({quoted}) CURRENT={len(words)}
        _reparto_completion
    """
    return shell("zsh", script, environment, folder).split()


SHELLS = {"bash": in_bash, "fish": in_fish, "zsh": in_zsh}


@pytest.mark.parametrize("name", SHELLS)
def test_commands_are_completed(name: str, programs: dict[str, str], tmp_path: Path):
    assert SHELLS[name](["reparto", "pl"], programs, tmp_path) == ["plan"]


@pytest.mark.parametrize("name", SHELLS)
def test_options_are_completed(name: str, programs: dict[str, str], tmp_path: Path):
    assert {"--show", "--summary"} <= set(SHELLS[name](["reparto", "plan", "--s"], programs, tmp_path))


@pytest.mark.parametrize("name", SHELLS)
def test_values_of_options_are_completed(name: str, programs: dict[str, str], tmp_path: Path):
    found = SHELLS[name](["reparto", "plan", "--show", ""], programs, tmp_path)
    assert sorted(found) == ["claims", "devices", "nodes", "pods"]


def test_feature_gates_are_completed_one_after_the_other(programs: dict[str, str], tmp_path: Path):
    found = in_bash(["reparto", "plan", "--feature-gates", "DRAAdminAccess=true,DRADeviceTaintR"], programs, tmp_path)
    assert found == [f"DRAAdminAccess=true,DRADeviceTaintRules={value}" for value in ("true", "false")]


@pytest.mark.parametrize("name", ["fish", "zsh"])
def test_files_are_completed_where_files_are_meant(name: str, programs: dict[str, str], tmp_path: Path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "cluster.yaml").touch()
    assert SHELLS[name](["reparto", "plan", "-f", "clu"], programs, folder) == ["cluster.yaml"]


def kubectl(words: list[str], environment: dict[str, str], folder: Path) -> list[str]:
    run = subprocess.run(
        ["kubectl_complete-reparto", *words], env=environment, cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    return run.stdout.splitlines()


def test_kubectl_is_given_candidates_with_help_and_told_whether_files_will_do(programs: dict[str, str], tmp_path: Path):
    # The protocol of cobra's completions: candidates with help after a tab, then ":4" (no files) or ":0" (files, too).
    assert kubectl(["plan", "--show", "no"], programs, tmp_path) == ["nodes", ":4"]
    assert kubectl(["plan", "-f", ""], programs, tmp_path) == [":0"]
    first, directive = kubectl(["val"], programs, tmp_path)
    assert first.startswith("validate\t") and directive == ":4"


def test_kubectl_without_words_is_given_all_commands(programs: dict[str, str], tmp_path: Path):
    assert {line.split("\t")[0] for line in kubectl([], programs, tmp_path)} >= {"plan", "validate", "completion"}


def test_kubectl_itself_finds_plugin_and_completion(programs: dict[str, str], tmp_path: Path):
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    run = subprocess.run(
        ["kubectl", "__complete", "reparto", "pl"], env=programs, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[0].split("\t")[0] == "plan"
    told = subprocess.run(["kubectl", "reparto", "--help"], env=programs, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("Usage: kubectl reparto ")
