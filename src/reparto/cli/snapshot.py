"""`reparto snapshot`: what a plan needs to know of a cluster, in a file that somebody else can replay."""

import gzip
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

import click
import msgspec

from reparto.cli.recorded import ANNOTATION, Origin

EPILOG = """\b
Examples:
  reparto snapshot -o cluster.json.gz                 the cluster that kubectl talks to
  reparto snapshot --context prod -o prod.yaml        another one, to be read by people
  reparto snapshot --redact -o report.json.gz         for a bug report: without the names that are yours
  reparto snapshot -f dump.yaml --redact -o less.yaml    a dump that you have already
  reparto plan -f cluster.json.gz                     the answer that the cluster would have given

\b
Secrets and ConfigMaps are never read; environment, commands and probes of containers are left out.
Exit code: 0 saved; 2 the cluster cannot be read, or the file not be written.
"""

_FORMATS = (".json", ".yaml", ".yml")


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option(
    "-o", "--output", "target", required=True, metavar="FILE", help="Where to: .json or .yaml, perhaps .gz; - prints JSON."
)
@click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    metavar="FILE|DIR|-",
    type=click.Path(allow_dash=True),
    help="Save these files anew instead of reading a cluster. Repeatable.",
)
@click.option("--kubeconfig", metavar="FILE", type=click.Path(), help="How to reach the cluster.")
@click.option("--context", metavar="NAME", help="Which context of the kubeconfig.  [default: its current one]")
@click.option("-n", "--namespace", metavar="NAME", help="Read this namespace where reading all is forbidden.")
@click.option("--redact", is_flag=True, help="Rename objects, namespaces and label values; the plan stays the same but for names.")
def snapshot(
    target: str, filenames: tuple[str, ...], kubeconfig: str | None, context: str | None, namespace: str | None, redact: bool
) -> None:
    """Save everything of a cluster that a plan depends on.

    `reparto plan -f FILE` then gives the answer that `reparto plan -A` gives on the cluster.
    """
    from reparto.model.keeping import kept

    _format(target)
    if filenames and (kubeconfig is not None or context is not None):
        raise click.UsageError("-f saves files, --kubeconfig and --context a cluster: give one of them")
    origin, values = _files(filenames) if filenames else _cluster(kubeconfig, context, namespace)
    found = [value for value in map(kept, values) if value is not None]
    if redact:
        from reparto.kube.redaction import redacted

        found = redacted(found)
        origin = Origin(origin.version, origin.release, origin.compatible, ())
    try:
        _write(target, origin, found)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror or error}") from None
    if target != "-":
        click.echo(_summary(target, origin, found))


def _format(target: str) -> str:
    """`.json`, `.yaml` or `.yml`, as the name says. Raises click's exceptions for another one."""
    if target == "-":
        return ".json"
    suffix = Path(target.removesuffix(".gz")).suffix
    if suffix not in _FORMATS:
        raise click.BadParameter(f"{target!r} does not end in .json, .yaml, .json.gz or .yaml.gz", param_hint="'-o'")
    return suffix


def _cluster(kubeconfig: str | None, context: str | None, namespace: str | None) -> tuple[Origin, list[dict[str, Any]]]:
    from reparto.cli import live

    nothing = "no cluster to save: {reason}"
    _, cluster = live.read(kubeconfig, context, namespace, nothing=nothing)
    for gap in cluster.gaps:
        click.echo(f"not saved: {gap.message}", err=True)
    return live.origin(cluster), [cast("dict[str, Any]", msgspec.json.decode(item)) for item in cluster.objects]


def _files(filenames: Sequence[str]) -> tuple[Origin, list[dict[str, Any]]]:
    from reparto.cli.output import report
    from reparto.cli.recorded import first_origin
    from reparto.model.errors import Problem
    from reparto.model.reading import Document, read

    problems: list[Problem] = []
    values: list[dict[str, Any]] = []
    for entry in read(filenames):
        if isinstance(entry, Problem):
            problems.append(entry)
        elif isinstance(entry, Document):
            values.append(entry.value)
    if problems:
        report(problems)
        sys.exit(2)
    return first_origin(filenames) or Origin(), values


def _write(target: str, origin: Origin, values: Sequence[dict[str, Any]]) -> None:
    """Beside the target first: a snapshot that was cut short must not look like one."""
    if target == "-":
        for chunk in _json(origin, values):
            sys.stdout.write(chunk)
        return
    path = Path(target)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with (
            gzip.open(unfinished, "wt", encoding="utf-8")
            if target.endswith(".gz")
            else unfinished.open("w", encoding="utf-8") as file
        ):
            for chunk in _json(origin, values) if _format(target) == ".json" else _yaml(origin, values):
                cast("IO[str]", file).write(chunk)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _annotations(origin: Origin) -> dict[str, Any]:
    return {"annotations": {ANNOTATION: msgspec.json.encode(origin).decode()}}


def _json(origin: Origin, values: Sequence[dict[str, Any]]) -> Iterator[str]:
    """One object a line: `grep` and `diff` work, and the first line tells what it is."""
    head = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "metadata": _annotations(origin)}).decode()
    yield f'{head.removesuffix("}")},"items":[\n'
    for index, value in enumerate(values):
        yield msgspec.json.encode(value).decode() + (",\n" if index + 1 < len(values) else "\n")
    yield "]}\n"


def _yaml(origin: Origin, values: Sequence[dict[str, Any]]) -> Iterator[str]:
    import yaml

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    def dumped(value: Any) -> str:
        return yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=10_000)

    yield dumped({"apiVersion": "v1", "kind": "List", "metadata": _annotations(origin)})
    yield "items:\n" if values else "items: []\n"
    for value in values:
        yield dumped([value])


def _summary(target: str, origin: Origin, values: Sequence[dict[str, Any]]) -> str:
    counts: dict[str, int] = {}
    for value in values:
        kind = str(value.get("kind", "object"))
        counts[kind] = counts.get(kind, 0) + 1
    listed = ", ".join(
        f"{count} {kind}{'' if count == 1 else 'es' if kind.endswith('s') else 's'}" for kind, count in sorted(counts.items())
    )
    server = f" of Kubernetes {origin.version}" if origin.version else ""
    return f"saved {target}{server}: {listed or 'no object'}"
