"""Printing the answer of `reparto plan`: which side of it, in which format."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from reparto.cli import plan_views
from reparto.cli.inputs import Inputs
from reparto.cli.output import report, write_json, write_names, write_yaml
from reparto.cli.plan_diff import Difference
from reparto.cli.rendering.layout import line_width
from reparto.model.intake import Intake
from reparto.placement import Plan, Snapshot


@dataclass(frozen=True, slots=True)
class Answer:
    """A plan with everything that printing needs.

    `whole` is the plan of everything, `shown` what the user asked to see of it. `made` are the pods of workloads in full, where the
    format needs them.
    """

    whole: Plan
    shown: Plan
    snapshot: Snapshot
    intake: Intake
    made: Sequence[dict[str, Any]]
    inputs: Inputs

    @property
    def namespace(self) -> str:
        """The one namespace that all shown pods are in, where nobody asked for it and no column says it; else empty."""
        names = {pod.namespace for pod in self.shown.pods}
        return names.pop() if len(names) == 1 and self.inputs.namespace is None else ""

    @property
    def several_namespaces(self) -> bool:
        """Whether a table needs a column of namespaces."""
        return len({pod.namespace for pod in self.shown.pods}) > 1


def print_answer(answer: Answer, output: str, side: str | None) -> None:
    """Write the answer to stdout; `side` is pods, nodes, devices, claims, reasons or summary (None: pods, or in YAML everything).

    Errors and warnings go to stderr, except with JSON, which has the errors.
    """
    if output != "json":
        _report(answer)
    if side == "summary":
        _print_summary(answer, output)
    elif output == "yaml":
        from reparto.cli.plan_objects import objects

        only = side if side != "reasons" else None
        items = objects(answer.whole, answer.snapshot, answer.intake.objects, answer.made, only)
        write_yaml({"apiVersion": "v1", "kind": "List", "items": items})
    elif side in (None, "pods", "reasons"):
        _print_pods(answer, output, in_full=side == "reasons")
    else:
        _print_side(answer, output, side)


def print_difference(found: Difference, answer: Answer, output: str) -> None:
    """Write what changed to stdout; errors go to stderr, except with JSON and YAML, which have them."""
    if output in ("json", "yaml"):
        (write_json if output == "json" else write_yaml)(found.document())
        return
    _report(answer)
    if output == "name":
        write_names(_named("pod", each.namespace, each.name, answer) for each in found.changes)
    else:
        from reparto.cli.rendering.changes import change_table

        several = len({each.namespace for each in found.changes}) > 1
        sys.stdout.write(change_table(found, namespaces=several, width=line_width()))


def _print_pods(answer: Answer, output: str, *, in_full: bool) -> None:
    plan = answer.shown
    if output == "json":
        write_json(plan.document())
        return
    if output == "name":
        write_names(_named("pod", pod.namespace, pod.name, answer) for pod in plan.pods)
        return
    from reparto.cli.rendering.pods import pod_table
    from reparto.cli.rendering.reasons import choices_text, reasons_text
    from reparto.cli.rendering.remarks import hints_text, notes_text, sum_text

    wide, width = output == "wide", line_width()
    pods = [pod for pod in plan.pods if wide or pod.claims or pod.reasons]
    hidden = 0 if in_full else len(plan.pods) - len(pods)
    if in_full:
        body = reasons_text(pods, width)
    else:
        body = pod_table(pods, answer.whole.slices, namespaces=answer.several_namespaces, wide=wide, width=width)
    parts = [
        body,
        choices_text(pods, width) if wide and not in_full else "",
        hints_text(pods, width) if wide and not in_full else "",
        notes_text(plan.notes, all_of_them=wide, width=width),
        sum_text(plan, answer.namespace, width, hidden=hidden),
    ]
    sys.stdout.write("\n".join(part for part in parts if part))


def _print_summary(answer: Answer, output: str) -> None:
    from reparto.cli.plan_summary import summarise, summary_document, summary_text

    found = summarise(answer.shown, plan_views.device_views(answer.whole, answer.whole.slices))
    if output in ("json", "yaml"):
        (write_json if output == "json" else write_yaml)(summary_document(answer.shown, found))
    else:
        sys.stdout.write(summary_text(answer.shown, found, answer.namespace, line_width()))


def _print_side(answer: Answer, output: str, side: str) -> None:
    from reparto.cli.rendering import views as tables

    namespace, width, wide = answer.inputs.namespace, line_width(), output == "wide"
    if side == "claims":
        claims = [view for view in plan_views.claim_views(answer.whole) if namespace in (None, view.namespace)]
        names = [_named("claim", view.namespace, view.name, answer) for view in claims]
        several = len({view.namespace for view in claims}) > 1
        document, text = {"claims": claims}, tables.claim_table(claims, namespaces=several, wide=wide, width=width)
    else:
        devices = plan_views.device_views(answer.whole, answer.whole.slices)
        if side == "devices":
            names = [f"device/{view.driver}/{view.pool}/{view.device}" for view in devices]
            document, text = {"devices": devices}, tables.device_table(devices, wide=wide, width=width)
        else:
            nodes = plan_views.node_views(answer.whole, [node.metadata.name for node in answer.snapshot.nodes], devices)
            names = [f"node/{view.name}" for view in nodes if view.name]
            document, text = {"nodes": nodes}, tables.node_table(nodes, width)
    if output == "json":
        write_json({"schema": f"plan-{side}/v1", **document, "errors": answer.shown.errors, "notes": answer.shown.notes})
    elif output == "name":
        write_names(names)
    else:
        sys.stdout.write(text or f"no {side} in the input\n")


def _named(kind: str, namespace: str, name: str, answer: Answer) -> str:
    return f"{kind}/{name}" if answer.inputs.namespace else f"{kind}/{namespace}/{name}"


def _report(answer: Answer) -> None:
    intake, verbose = answer.intake, answer.inputs.verbose
    report(answer.shown.errors, intake.warnings if verbose else ())
    if intake.warnings and not verbose:
        count = len(intake.warnings)
        click.echo(f"{count} {'warning' if count == 1 else 'warnings'} about the input (-v shows them)", err=True)
    if verbose and intake.skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(intake.skipped.items()))
        click.echo(f"passed over, since no plan depends on them: {kinds}", err=True)
