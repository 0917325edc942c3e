"""Which files the sources name: a file as it is given, a directory's YAML and JSON by path, `-` for standard input."""

import os
import sys
from collections.abc import Iterator, Sequence

from reparto.model.reading.compression import Unreadable, contents

STDIN = "-"
STDIN_NAME = "<stdin>"
ENDINGS = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")


_DANGLING = Unreadable("a link to a file that does not exist")


class File:
    """A file to read. `name` is how it is shown; `listed` tells whether the user named it (or a directory that holds it)."""

    __slots__ = ("_path", "listed", "name")

    def __init__(self, path: str, listed: bool) -> None:
        self._path, self.listed = path, listed
        self.name = STDIN_NAME if path == STDIN else shown(path)

    @property
    def identity(self) -> str:
        """Equal for two names of one file."""
        return self._path if self._path == STDIN else os.path.realpath(self._path)

    def size(self) -> int:
        """Bytes on disk, 0 where that cannot be known (pipes)."""
        try:
            return os.path.getsize(self._path)
        except OSError:
            return 0

    def read(self) -> bytes:
        """Its bytes, decompressed. Raises Unreadable for everything that can go wrong."""
        if self._path == STDIN and sys.stdin is None:  # so it is after `<&-`
            raise Unreadable("standard input is closed", "pipe something into it, or give a file")
        try:
            if self._path == STDIN:
                return contents(sys.stdin.buffer)
            with open(self._path, "rb") as stream:
                return contents(stream)
        except OSError as error:
            raise Unreadable(f"cannot be read: {error.strerror or error}") from None


def shown(path: str) -> str:
    """`path` as text that can be printed and written as JSON: bytes of a file name that are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def files(sources: Sequence[str | os.PathLike[str]]) -> Iterator[File | tuple[str, Unreadable]]:
    """Every file of `sources`, each once, in the order given; directories recursively, by path, links to directories not followed.

    What does not exist or cannot be opened, and a directory without any manifest, comes as (name, Unreadable).
    """
    seen: set[str] = set()
    for given in sources:
        source = os.fspath(given)
        found: list[File] = []
        if source == STDIN:
            found = [File(STDIN, listed=True)]
        elif os.path.isdir(source):
            paths, closed = _manifests(source)
            yield from ((shown(path), problem) for path, problem in closed)
            found = [File(path, listed=False) for path in paths]
            if not paths and not closed:
                yield shown(source), Unreadable("holds no .yaml, .yml or .json file", "give a directory with manifests, or a file")
        elif os.path.exists(source):
            found = [File(source, listed=True)]
        elif os.path.islink(source):
            yield shown(source), _DANGLING
        elif not source:
            yield "''", Unreadable("no such file: the name is empty", "give a file after -f; a shell variable may be unset")
        else:
            yield shown(source), Unreadable("no such file or directory")
        for file in found:
            if file.identity not in seen:
                seen.add(file.identity)
                yield file


def _manifests(directory: str) -> tuple[list[str], list[tuple[str, Unreadable]]]:
    """Paths of the manifests below `directory`; and folders that cannot be listed and links that lead nowhere, with the reason."""
    paths: list[str] = []
    closed: list[tuple[str, Unreadable]] = []

    def failed(error: OSError) -> None:
        closed.append((str(error.filename), Unreadable(f"cannot be read: {error.strerror or error}")))

    for folder, folders, names in os.walk(directory, onerror=failed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(folder, name)
            if not name.lower().endswith(ENDINGS) or name.startswith("."):
                continue
            if os.path.isfile(path):
                paths.append(path)
            elif os.path.islink(path) and not os.path.exists(path):
                closed.append((path, _DANGLING))
    return sorted(paths, key=lambda path: path.split(os.sep)), closed
