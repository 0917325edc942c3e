"""Terminal transcripts: what people paste from a terminal or copy out of documentation, made YAML again.

A transcript is recognised by a prompt line (`$ kubectl get … -o yaml`). Prompts become document separators, elision marks
(`...`, `…`, `<snip>`) become empty lines, output that is a table is blanked. Every line stays where it was, so that line numbers in
messages are those of the file. Text without a prompt is touched only where it could not be YAML otherwise.
"""

import re
from itertools import pairwise

from reparto.model.reading.documents import Note

_PROMPT = re.compile(
    r"""^(?:\s{0,3}
        (?: [$%❯➜»]                                   # $ kubectl …
          | (?:\(\S+\)\s*)?\[?[\w.-]+@[\w.-]+(?::\S{0,80}|\s\S{1,60}\])?\s?[$\#%]      # user@host:~/dir$, [user@host dir]#
          | PS\s[^>\n]{0,200}>                          # PS C:\> kubectl …
          | [\w.-]*[:~/][\w./~-]*[$\#]                  # ~/dir$ kubectl …
        )\s+\S
        | [>]\s?kubectl\s                               # > kubectl …
        | \s{0,3}(?:kubectl|k|oc)\s+(?:get|describe|apply|create|cluster-info|delete|logs|exec|config)\s   # the bare command
    )""",
    re.VERBOSE,
)
_EMPTY_PROMPT = re.compile(r"^\s{0,3}[$%❯➜]\s*$")
_ELISION = re.compile(
    r"^\s*(?:[-#]\s+)?(?:\.{3,}|…+|\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|<\s*(?:snip|\.{3}|…|omitted|truncated)[^>]*>)\s*$",
    re.I,
)
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_OBJECT = re.compile(r"^\s*(?:-\s+)?[\"']?(?:apiVersion|kind)[\"']?\s*:|^\s*[{\[]")
_MAYBE = re.compile(
    r"^\s{0,3}(?:[$%❯➜»>]|PS\s|kubectl\s|k\s|oc\s|```|~~~)|^[^\s\n]{0,60}[@~][^\n]{0,80}[$#%]\s|…|^[ \t]*+(?:-[ \t]+)?[\[(<.]", re.M
)


_LOGS = b"==== START logs for container "
_LOGS_BEGIN = re.compile(rb"^==== START logs for container ", re.MULTILINE)
_LOGS_END = re.compile(rb"^==== END logs for container [^\n]*$", re.MULTILINE)


def without_logs(data: bytes) -> bytes:
    """`data` with the container logs blanked that `kubectl cluster-info dump` puts between objects in a pipe."""
    if _LOGS not in data:  # ten times as fast as the expression, and dumps are large
        return data
    parts: list[bytes] = []
    position = 0
    while (begin := _LOGS_BEGIN.search(data, position)) and (end := _LOGS_END.search(data, begin.end())):
        parts += [data[position : begin.start()], b"\n" * data.count(b"\n", begin.start(), end.end())]
        position = end.end()
    return b"".join((*parts, data[position:])) if parts else data


def cleaned(text: str, file: str) -> tuple[str, list[Note]]:
    """`text` as YAML or JSON with the same number of lines, and notes on what was blanked. Cost: one search for plain files."""
    if not _MAYBE.search(text):
        return text, []
    lines = text.split("\n")
    commands = [number for number, line in enumerate(lines) if _PROMPT.match(line)]
    first = next((line for line in lines if line.strip()), "")
    transcript = bool(commands) and (_PROMPT.match(first) is not None or _column_zero(lines, commands))
    notes: list[Note] = []
    if transcript:
        commands = _whole_commands(lines, commands)
        notes += _blank_tables(lines, commands, file)
        for number in commands:
            lines[number] = "---"
    fenced = bool(_FENCE.match(first)) or (transcript and any(map(_FENCE.match, lines)))
    block: int | None = None  # indentation of the key whose block scalar (`|`, `>`) we are in: its text is nobody's to change
    for number, line in enumerate(lines):
        stripped = line.strip()
        if not stripped:
            continue
        indent = len(line) - len(line.lstrip())
        if block is not None:
            if indent > block:
                continue
            block = None
        if _BLOCK.search(line):
            block = indent
        elif transcript and _EMPTY_PROMPT.match(line):
            lines[number] = ""
        elif fenced and _FENCE.match(line):
            lines[number] = "---"
        elif _ELISION.match(line) and (transcript or (stripped != "..." and stripped[0] != "#") or line[0] in " \t"):
            # An unindented `...` outside a transcript is YAML's own end-of-document mark.
            lines[number] = ""
            notes.append(Note(file, number + 1, f"left out here, and unknown: {stripped}"))
    return "\n".join(lines), notes


def _whole_commands(lines: list[str], prompts: list[int]) -> list[int]:
    """Where what is printed (or fed to a command) begins: prompts, and the ends of here-documents. What continues a command is
    blanked.

    The body of a here-document is as good an object as any that a command prints, with or without the shell's `> ` before it.
    """
    commands: list[int] = []
    for prompt, following in pairwise([*prompts, len(lines)]):
        last = prompt
        while lines[last].endswith("\\") and last + 1 < following:
            last += 1
        here = _HERE.search(lines[last])
        for number in range(prompt + 1, last + 1):
            lines[number] = ""
        commands.append(prompt)
        end = next((at for at in range(last + 1, following) if _ends(lines[at], here[2])), None) if here else None
        if end is None:
            continue
        body = range(last + 1, end)
        if all(lines[at].startswith(">") for at in body):
            for at in body:
                lines[at] = lines[at].removeprefix(">").removeprefix(" ")
        commands.append(end)
    return commands


def _ends(line: str, word: str) -> bool:
    return line.strip().removeprefix(">").strip() == word


_HERE = re.compile(r"<<-?\s*([\"']?)(\w+)\1")

_BLOCK = re.compile(r"(?:^|[\s:-])[|>][+-]?\d?[+-]?\s*(?:#.*)?$")


def _column_zero(lines: list[str], commands: list[int]) -> bool:
    """A prompt that is not first counts only unindented: `  $ x` may be a line of a script in a block scalar."""
    return any(lines[number][:1] not in (" ", "\t") for number in commands)


def _blank_tables(lines: list[str], commands: list[int], file: str) -> list[Note]:
    notes: list[Note] = []
    # What stands before the first command, and what each command printed.
    spans = [(0, commands[0]), *((start + 1, end) for start, end in pairwise([*commands, len(lines)]))]
    for first, end in spans:
        body = [line for line in lines[first:end] if line.strip()]
        if body and not any(map(_OBJECT.match, body)):
            for number in range(first, end):
                lines[number] = ""
            notes.append(Note(file, first + 1, "terminal output that holds no object was passed over"))
    return notes
