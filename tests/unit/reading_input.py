"""Shared by the reading tests: write text to a file, read it, sort what came out."""

from collections.abc import Iterable
from pathlib import Path

from reparto.model.errors import Problem
from reparto.model.reading import Document, Note, Opened, read

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n"


class Found:
    """What reading gave: documents, problems and notes in order, and the files opened."""

    def __init__(self, entries: Iterable[object]) -> None:
        everything = list(entries)
        self.documents = [entry for entry in everything if isinstance(entry, Document)]
        self.problems = [entry for entry in everything if isinstance(entry, Problem)]
        self.notes = [entry for entry in everything if isinstance(entry, Note)]
        self.files = [entry.file for entry in everything if isinstance(entry, Opened)]

    @property
    def names(self) -> list[str]:
        return [document.value["metadata"]["name"] for document in self.documents]

    @property
    def lines(self) -> list[int]:
        return [document.line for document in self.documents]

    @property
    def problem(self) -> Problem:
        assert len(self.problems) == 1, self.problems
        assert not self.documents
        return self.problems[0]


def reading(folder: Path, content: str | bytes, name: str = "input.yaml") -> Found:
    """What `read` makes of one file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Found(read([str(path)]))
