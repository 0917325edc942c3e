"""What a user installs works: wheel and sdist are built, the wheel goes into an empty environment, and the commands run there.

The environment gets the locked dependencies and nothing else, neither this checkout nor the test tools; the commands run in another
folder. That finds data files and dependencies that only a checkout has.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT

#: One folder holds manifests that no API server takes.
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != "broken")


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in another folder, with nothing of ours in the environment."""
    ours = ("PYTHON", "PYTEST", "VIRTUAL_ENV", "REPARTO")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600)


def succeed(*command: str | Path, folder: Path) -> str:
    done = run(*command, folder=folder)
    assert done.returncode == 0, f"{command}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all test processes of a run share; whoever comes first fills it, the others wait."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "install"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            build_and_install(folder)
            (folder / "done").touch()
    return folder


def build_and_install(folder: Path) -> None:
    """Sdist and wheel into `dist`, the wheel built from the sdist; locked dependencies and the wheel into `venv`."""
    succeed(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", ROOT, folder=folder)
    succeed(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    pip = (folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    succeed(*pip, "--require-hashes", "-r", ROOT / "requirements.lock", folder=folder)
    succeed(*pip, "--no-deps", next((folder / "dist").glob("*.whl")), folder=folder)


@pytest.fixture(scope="module")
def distributions(shared: Path) -> Path:
    """The folder of sdist and wheel."""
    return shared / "dist"


@pytest.fixture(scope="module")
def installed(shared: Path) -> Path:
    """The `bin` of the environment."""
    return shared / "venv" / "bin"


def test_the_wheel_holds_every_file_of_the_package(distributions: Path):
    package = ROOT / "src" / "reparto"
    files = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    expected = {f"reparto/{path.relative_to(package)}" for path in files}
    with zipfile.ZipFile(next(distributions.glob("*.whl"))) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("reparto/")}
    assert held == expected
    assert "reparto/py.typed" in held


def test_the_sdist_holds_what_is_needed_to_test_it(distributions: Path):
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = ("LICENSE", "README.md", "Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock")
    wanted += ("reference/allocation/main.go", "reference/allocation/go.sum", "scripts/reference.py", "tests/conftest.py")
    assert not [name for name in wanted if name not in held]


@pytest.mark.parametrize("command", [(), ("plan",), ("validate",)], ids=["reparto", "plan", "validate"])
def test_help_is_shown(installed: Path, tmp_path: Path, command: tuple[str, ...]):
    assert "Usage:" in succeed(installed / "reparto", *command, "--help", folder=tmp_path)


def test_kubectl_finds_the_program_under_its_plugin_name(installed: Path, tmp_path: Path):
    plugin = succeed(installed / "kubectl-reparto", "version", folder=tmp_path)
    assert plugin == succeed(installed / "reparto", "version", folder=tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_planned_and_validated(installed: Path, tmp_path: Path, example: Path):
    planned = run(installed / "reparto", "plan", "-f", example, folder=tmp_path)
    assert planned.returncode in (0, 1), planned.stderr
    assert planned.stdout.strip()
    validated = run(installed / "reparto", "validate", "-f", example, folder=tmp_path)
    assert validated.returncode == 0, validated.stdout + validated.stderr


def test_there_are_examples():
    assert EXAMPLES
