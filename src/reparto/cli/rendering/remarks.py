"""What is said below a plan's table: notes, grouped and kept short, hints, and the sum."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from reparto.cli.rendering.layout import wrapped
from reparto.placement.plan import VERDICTS, Note, Plan, PodPlan

_NOTES_OF_A_CODE: Final = 3  # a dump can leave hundreds of remarks of one kind; the table shows a few


def notes_text(notes: Sequence[Note], *, all_of_them: bool, width: int | None) -> str:
    """A line for each note, grouped by code: all, or the first few of each code and how many more there are."""
    return _labelled("note: ", _notes(notes, None if all_of_them else _NOTES_OF_A_CODE), width)


def hints_text(pods: Iterable[PodPlan], width: int | None) -> str:
    """What to do about the reasons of the pods, each hint once."""
    return _labelled("hint: ", sorted({f"{each.code}: {each.hint}" for pod in pods for each in pod.reasons if each.hint}), width)


def sum_text(plan: Plan, namespace: str, width: int | None, *, hidden: int = 0) -> str:
    """How many pods there are of each verdict; `namespace` is the one that all of them are in, where the table does not say it."""
    return _labelled("", [_sum(plan, namespace, hidden)], width)


def _sum(plan: Plan, namespace: str, hidden: int) -> str:
    summary = plan.summary()
    pods = len(plan.pods)
    if pods:
        text = f"{pods} {'pod' if pods == 1 else 'pods'}{f' in namespace {namespace}' if namespace else ''}: "
        text += ", ".join(f"{summary[verdict]} {verdict}" for verdict in VERDICTS if summary[verdict])
    else:
        text = "no pods, claims or templates in the input: nothing to plan"
    if made_up := summary["hypothetical"]:
        text += f"; {made_up} of them hypothetical, for claims and templates that no pod uses, each planned by itself"
    if hidden:
        text += f"; {hidden} without claims not shown (-o wide shows them)"
    if plan.errors:
        errors = len(plan.errors)
        text += f"; {errors} {'error' if errors == 1 else 'errors'} in the input"
    return text


def _labelled(label: str, lines: Iterable[str], width: int | None) -> str:
    return "".join(f"{line}\n" for text in lines for line in wrapped(label + text, width, hanging="  "))


def _notes(notes: Sequence[Note], limit: int | None) -> Iterator[str]:
    groups: dict[str, list[Note]] = {}
    for note in notes:
        groups.setdefault(note.code, []).append(note)
    for code, group in groups.items():
        yield from (f"{_named(note)} [{code}]" for note in group[:limit])
        if limit is not None and len(group) > limit:
            yield f"… and {len(group) - limit} more like this (-o wide shows them) [{code}]"


def _named(note: Note) -> str:
    """The message, with the object in front where it does not name it itself."""
    name = note.object.rpartition("/")[2]
    return note.message if name in note.message else f"{note.object}: {note.message}"
