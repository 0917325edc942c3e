"""Runs tests under every supported Python of this machine except the one that runs this.

Each gets an environment outside the checkout, made once per content of the lock files. Interpreters are looked for on PATH and
where pyenv and Homebrew put them; finding none is not an error, for a user's machine may well have only one.

    .venv/bin/python scripts/pythons.py tests/unit
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SUPPORTED = ((3, 11), (3, 12), (3, 13), (3, 14))
ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-test.lock")


def candidates(minor: tuple[int, int]) -> Iterator[str]:
    name = f"python{minor[0]}.{minor[1]}"
    found = shutil.which(name)
    if found:
        yield found
    for folder in (Path.home() / ".pyenv" / "versions", Path("/opt/homebrew/opt"), Path("/usr/local/opt")):
        yield from map(str, sorted(folder.glob(f"*{minor[0]}.{minor[1]}*/bin/{name}"), reverse=True))


def works(python: str, minor: tuple[int, int]) -> bool:
    """Whether it starts, is the version that its name says, and can make environments."""
    check = f"import ensurepip, venv, sys; sys.exit(sys.version_info[:2] != {minor!r})"
    return subprocess.run([python, "-c", check], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def environment(python: str, minor: tuple[int, int]) -> Path:
    """The interpreter of an environment with what the tests need, made if it is not there."""
    digest = hashlib.sha256(b"".join((ROOT / lock).read_bytes() for lock in LOCKS)).hexdigest()[:12]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reparto" / "pythons"
    folder = base / f"{minor[0]}.{minor[1]}-{digest}"
    inside = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", folder], check=True)
        install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        subprocess.run([*install, *(word for lock in LOCKS for word in ("-r", ROOT / lock))], check=True)
        ready.touch()
    return inside


def main(tests: Sequence[str]) -> int:
    failed: list[str] = []
    for minor in SUPPORTED:
        if minor == sys.version_info[:2]:
            continue
        python = next((candidate for candidate in candidates(minor) if works(candidate, minor)), None)
        if python is None:
            print(f"Python {minor[0]}.{minor[1]}: not on this machine", flush=True)
            continue
        print(f"Python {minor[0]}.{minor[1]}: {python}", flush=True)
        command = [environment(python, minor), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *tests]
        # The package is not installed there: tests that start the command line find it by the path, as pytest does.
        if subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, check=False).returncode:
            failed.append(f"{minor[0]}.{minor[1]}")
    if failed:
        print(f"failed under Python {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
