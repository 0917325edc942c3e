"""The answer of `reparto validate` in its formats; the JSON is the contract `validate/v1` (design.md section 3)."""

import sys
from collections.abc import Iterator

import click
import msgspec

from reparto.cli.output import printable, report, styled, write_json, write_names, write_yaml
from reparto.cli.rendering.layout import Column, Row, line_width, table
from reparto.model import v1
from reparto.model.carriers import Carrier
from reparto.model.errors import Problem
from reparto.model.intake import FileCount, Intake, Loaded

_FILES = 50  # more than fit on a screen: then the table shows those with something wrong


class ObjectRow(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    namespace: str
    name: str
    file: str
    line: int


class SliceRow(msgspec.Struct, frozen=True):
    """`node` is empty for slices that are not of one node; `devices` is their number."""

    name: str
    driver: str
    pool: str
    node: str
    devices: int


class Answer(msgspec.Struct, frozen=True, tag_field="schema", tag="validate/v1"):
    files: list[FileCount]
    objects: list[ObjectRow]
    slices: list[SliceRow]
    errors: list[Problem]
    warnings: list[Problem]


class Survey:
    """What is kept of each accepted object while the object itself is let go: 100 MB of slices become a list of names."""

    def __init__(self, namespace: str | None) -> None:
        self.objects: list[ObjectRow] = []
        self.slices: list[SliceRow] = []
        self.namespace = namespace

    def add(self, loaded: Loaded) -> None:
        if self._row(loaded) and isinstance(loaded.object, v1.ResourceSlice):
            spec = loaded.object.spec
            self.slices.append(SliceRow(loaded.name, spec.driver, spec.pool.name, spec.node_name or "", len(spec.devices or ())))

    def finish(self, intake: Intake) -> None:
        """Add the objects that were kept as written, and put all in the order of the input."""
        for carrier in intake.carriers:
            self._row(carrier)
        order = {count.file: index for index, count in enumerate(intake.files)}
        self.objects.sort(key=lambda row: (order.get(row.file, 0), row.line))

    def _row(self, found: Loaded | Carrier) -> bool:
        shown = self.namespace is None or found.namespace in ("", self.namespace)
        if shown:
            self.objects.append(ObjectRow(found.api_version, found.kind, found.namespace, found.name, found.file, found.line))
        return shown


def render(survey: Survey, intake: Intake, output: str, verbose: int) -> None:
    """Write the answer to stdout, and for people the problems to stderr."""
    survey.finish(intake)
    answer = Answer(intake.files, survey.objects, survey.slices, intake.errors, intake.warnings)
    if output == "json":
        write_json(answer)
        return
    if output == "yaml":
        write_yaml(answer)
        return
    if output == "name":
        write_names(_name(row, survey.namespace) for row in survey.objects)
    else:
        sys.stdout.write("".join(_tables(survey, intake, output == "wide", everything=bool(verbose))))
        for note in intake.notes:
            place = f"{note.file}:{note.line}" if note.object and note.line else ""  # the others' messages begin with it
            text = ": ".join(part for part in (place, note.object, note.message) if part)
            click.echo(f"note: {printable(text)} [{note.code}]")
        if verbose and intake.skipped:
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(intake.skipped.items()))
            click.echo(f"note: passed over, of other kinds: {kinds}")
        if verbose and intake.copies:
            copies = f"{intake.copies} identical {'copy' if intake.copies == 1 else 'copies'}"
            click.echo(f"note: read more than once and counted once: {copies}")
        if verbose and intake.carriers:
            held = ", ".join(carrier.ref for carrier in intake.carriers)
            click.echo(f"note: pod templates checked for their claims only: {held}")
    sys.stdout.flush()
    report(intake.errors, intake.warnings)
    if output != "name":
        click.echo(_summary(survey, intake))


# What objects are called on the command line (design.md section 3); other kinds by their own name.
_SHORT = {"ResourceClaim": "claim", "ResourceClaimTemplate": "rct", "ResourceSlice": "slice"}


def _name(row: ObjectRow, namespace: str | None) -> str:
    """`claim/NAME`, as other commands take it; `claim/NAMESPACE/NAME` where no namespace was given."""
    kind = _SHORT.get(row.kind, row.kind.lower())
    return f"{kind}/{row.namespace}/{row.name}" if row.namespace and namespace is None else f"{kind}/{row.name}"


def _tables(survey: Survey, intake: Intake, wide: bool, everything: bool) -> Iterator[str]:
    if wide:
        rows = [
            Row([f"{row.file}:{row.line}", row.api_version, row.kind, row.namespace or "-", row.name]) for row in survey.objects
        ]
        if rows:
            columns = [
                Column("file", least=20),
                Column("api version"),
                Column("kind"),
                Column("namespace"),
                Column("name", least=12),
            ]
            yield table(columns, rows, width=line_width()) + "\n"
        slices = [Row([row.name, row.driver, row.pool, row.node or "-", str(row.devices)]) for row in survey.slices]
        if slices:
            columns = [Column("slice", least=12), Column("driver"), Column("pool"), Column("node"), _number("devices")]
            yield table(columns, slices, width=line_width()) + "\n"
        return
    problems: dict[str, list[int]] = {}
    for index, found in enumerate((intake.errors, intake.warnings)):
        for problem in found:
            problems.setdefault(problem.file, [0, 0])[index] += 1
    everything = everything or len(intake.files) <= _FILES
    shown = [count for count in intake.files if everything or count.file in problems]
    rows = [
        Row([count.file, str(count.objects), str(count.skipped), *map(str, problems.get(count.file, [0, 0]))]) for count in shown
    ]
    if rows:
        columns = [Column("file", least=20), *map(_number, ("objects", "passed over", "errors", "warnings"))]
        yield table(columns, rows, width=line_width(), style=_red_where_wrong)
    if hidden := len(intake.files) - len(shown):
        yield f"{'… and ' if rows else ''}{hidden} files without errors and warnings (-v shows them)\n"
    yield "\n"


def _number(title: str) -> Column:
    return Column(title, "right", least=None)


def _red_where_wrong(column: int, text: str) -> dict[str, object]:
    if text == "0" or column < 3:
        return {}
    return {"fg": "red" if column == 3 else "yellow"}


def _summary(survey: Survey, intake: Intake) -> str:
    counts: dict[str, int] = {}
    for row in survey.objects:
        counts[row.kind] = counts.get(row.kind, 0) + 1
    devices = sum(row.devices for row in survey.slices)
    parts = [f"{count} {kind}{'' if count == 1 else 'es' if kind.endswith('s') else 's'}" for kind, count in sorted(counts.items())]
    nothing = "no object of a kind that Reparto reads" if intake.skipped else "no object"
    valid = (", ".join(parts) if parts else nothing) + (f" with {devices} device{'s'[: devices != 1]}" if survey.slices else "")
    wrong = f"{len(intake.errors)} error{'s'[: len(intake.errors) != 1]}"
    doubtful = f"{len(intake.warnings)} warning{'s'[: len(intake.warnings) != 1]}"
    verdict = styled(wrong, fg="red" if intake.errors else "green", bold=True)
    return f"{verdict}, {doubtful}; valid: {valid}"
