"""What can go wrong before an expression runs."""

from __future__ import annotations

import msgspec


class Issue(msgspec.Struct, frozen=True):
    """One complaint about an expression.

    `offset` counts code points from 0, `line` from 1, `column` code points from 0 within the line. An issue about the whole
    expression (nesting too deep) has offset, line and column -1.
    """

    offset: int
    line: int
    column: int
    message: str

    def render(self, text: str) -> str:
        """The issue as the reference prints it: place, message, the line of text and a caret."""
        head = f"ERROR: <input>:{self.line}:{self.column + 1}: {self.message}"
        if self.offset < 0:
            return head
        lines = text.split("\n")
        if self.line > len(lines):
            return head
        line = lines[self.line - 1].replace("\t", " ")
        # Characters that need more than one byte in UTF-8 are marked with a full-width dot, as the reference does.
        dots = "".join("．" if ord(char) > 127 else "." for char in line[: self.column])
        caret = "＾" if ord(line[self.column : self.column + 1] or " ") > 127 else "^"
        return f"{head}\n | {line}\n | {dots}{caret}"


class CompileError(ValueError):
    """An expression that cannot be used, with everything that is wrong with it, in order of position.

    `prefix` is what the reference writes before the issues, for instance `compilation failed: `; an error without issues (a wrong
    result type, a program that cannot be built) is all prefix.
    """

    def __init__(self, text: str, issues: tuple[Issue, ...] = (), prefix: str = "compilation failed: ") -> None:
        self.text = text
        self.issues = tuple(sorted(issues, key=lambda issue: (issue.line, issue.column)))
        self.prefix = prefix
        super().__init__(prefix + "\n".join(issue.render(text) for issue in self.issues))

    @property
    def position(self) -> int | None:
        """Code point of the first issue that has a place, else None."""
        return next((issue.offset for issue in self.issues if issue.offset >= 0), None)


def issue_at(text: str, offset: int, message: str) -> Issue:
    """An issue at a code point of the text. For an empty text the reference has no column."""
    if not text:
        return Issue(0, 1, -1, message)
    line_start = text.rfind("\n", 0, offset) + 1
    return Issue(offset, text.count("\n", 0, offset) + 1, offset - line_start, message)


def issue_everywhere(message: str) -> Issue:
    """An issue about the expression as a whole."""
    return Issue(-1, -1, -1, message)
