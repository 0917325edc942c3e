"""`reparto plan`: read objects, decide every pod, print what it gets or why it stays pending.

The thin shell around `reparto.placement`: it reads, chooses the release's features, prints, and turns the answer into an exit code.
"""

import dataclasses
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from reparto.cli.inputs import DEFAULT_VERSION, Inputs, input_options
from reparto.cli.output import output_option

if TYPE_CHECKING:
    from reparto.allocation.allocator import Policy
    from reparto.cli.plan_answer import Answer
    from reparto.cli.plan_diff import Difference
    from reparto.model.intake import Intake
    from reparto.placement import Note, Snapshot
    from reparto.placement.workloads import Expansion, Override

EPILOG = """\b
Examples:
  reparto plan -A                                    the cluster that kubectl talks to
  reparto plan --context prod -f new.yaml            a file, as if it were applied to a cluster
  reparto plan -f cluster.yaml                       every pod, claim and template of a dump
  reparto plan -f manifests/ -f nodes.json -n ml     one namespace of a folder and a dump
  kubectl get resourceslices,deviceclasses,resourceclaims,resourceclaimtemplates,nodes,pods -A -o yaml | reparto plan -f -
  reparto plan -f cluster.yaml --reasons             why pods are pending, in full
  reparto plan -f cluster.yaml --policy best-fit --reasons        how the same pods would fit better, and why so
  reparto plan -f cluster.yaml --show devices        who holds which device afterwards
  reparto plan -f cluster.yaml -o json | jq '.pods[] | select(.verdict == "pending") | .reasons'
  reparto plan -f cluster.yaml -f new.yaml --diff cluster.yaml    what new.yaml changes
  reparto plan -f cluster.yaml -o yaml > placed.yaml              the objects, everything placed
  reparto plan -f cluster.yaml --kubernetes-version 1.35 --feature-gates DRAPartitionableDevices=true

\b
Claims and templates that no pod uses are planned for one hypothetical consumer each.
Exit code: 0 all placed; 1 a pod is pending or waits; 2 input that cannot be used.
With --diff: 0 nothing changed; 1 something did; 2 input that cannot be used.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """How to plan: `replicas` instead of those written; with the scores of the best nodes; with why best-fit chose what it chose;
    `lenient`: even where nothing has such replicas."""

    replicas: "tuple[Override, ...]"
    all_nodes: bool
    max_steps: int | None
    keep_scores: bool = False
    policy: "Policy" = "first-fit"
    keep_choices: bool = False
    lenient: bool = False


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@input_options
@output_option()
@click.option(
    "--show",
    type=click.Choice(["pods", "nodes", "devices", "claims"]),
    metavar="pods|nodes|devices|claims",
    help="Show the answer from this side.  [default: pods]",
)
@click.option("--reasons", is_flag=True, help="Show why pods are not placed, in full: every reason with field, counts and nodes.")
@click.option("--summary", is_flag=True, help="Show numbers only.")
@click.option(
    "--diff",
    "former",
    metavar="OLD",
    type=click.Path(exists=True),
    help="Show what changed since a saved plan (-o json or yaml), or what differs from the plan for a former dump.",
)
@click.option(
    "--replicas",
    multiple=True,
    metavar="KIND/NAME=N",
    help="Plan N replicas of a workload instead of those written; KIND/NAMESPACE/NAME=N, KIND/NAME:ROLE=N. Repeatable.",
)
@click.option(
    "--policy",
    type=click.Choice(["first-fit", "best-fit"]),
    default="first-fit",
    show_default=True,
    help="How devices and nodes are chosen: first-fit takes the very ones that Kubernetes takes, best-fit those whose loss costs "
    "the rest least.",
)
@click.option("--all-nodes", is_flag=True, help="Compare all nodes that fit; in a large cluster, the scheduler stops at a share.")
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Steps that the search may take for one pod on one node before it gives up.  [default: 1000000]",
)
def plan(
    inputs: Inputs,
    output: str,
    show: str | None,
    reasons: bool,
    summary: bool,
    former: str | None,
    replicas: tuple[str, ...],
    policy: "Policy",
    all_nodes: bool,
    max_steps: int | None,
) -> None:
    """Show what gets which device on which node, and what stays pending.

    Pods are taken in the scheduler's order; each sees what the former took. Nothing is changed anywhere.
    """
    _only_one({"--show": show is not None, "--reasons": reasons, "--summary": summary, "--diff": former is not None})
    rules = Rules(
        _overrides(replicas) if replicas else (),
        all_nodes,
        max_steps,
        keep_scores=output == "wide",
        policy=policy,
        keep_choices=output in ("wide", "json") or reasons,
    )
    answer = _answer(inputs, rules, documents=output == "yaml" and not summary and former is None)
    if former is not None:
        from reparto.cli.plan_answer import print_difference

        found = _compared(former, answer, inputs, rules)
        print_difference(found, answer, output)
        sys.exit(found.exit_code())
    from reparto.cli.plan_answer import print_answer

    print_answer(answer, output, "summary" if summary else "reasons" if reasons else show)
    sys.exit(answer.shown.exit_code())


def _only_one(given: dict[str, bool]) -> None:
    names = [name for name, there in given.items() if there]
    if len(names) > 1:
        raise click.UsageError(f"{' and '.join(names)} contradict each other: give one of them")


def _overrides(texts: tuple[str, ...]) -> "tuple[Override, ...]":
    from reparto.placement.workloads import parse_replicas

    try:
        return parse_replicas(texts)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--replicas'") from None


def _answer(inputs: Inputs, rules: Rules, *, documents: bool) -> "Answer":
    from msgspec.structs import replace

    from reparto.allocation import Features
    from reparto.cli.plan_answer import Answer
    from reparto.placement import Plan, make_plan, take_snapshot
    from reparto.placement.cycle import Sampling

    intake = inputs.read(keep_documents=documents)
    typed, refused = intake.typed(), [error.object for error in intake.errors]
    seen = take_snapshot(typed, refused=refused, carriers=intake.carriers, stand_ins=inputs.stand_ins)
    made = _expanded(intake, seen, inputs, rules, documents) if intake.carriers or rules.replicas else None
    if made is not None and made.pods:
        seen = take_snapshot(typed, refused=refused, created=made.pods, carriers=intake.carriers, stand_ins=inputs.stand_ins)
    decided = make_plan(
        seen,
        Features.for_version(inputs.version, inputs.gates),
        taint_rules=_taint_rules(inputs),
        extended_resources=inputs.gates.get("DRAExtendedResource", False),
        group_claims=inputs.gates.get("DRAWorkloadResourceClaims", False),
        max_steps=rules.max_steps,
        sampling=Sampling(all_nodes=rules.all_nodes),
        keep_scores=rules.keep_scores,
        policy=rules.policy,
        keep_choices=rules.keep_choices,
    )
    notes, errors = (*decided.notes, *_notes(inputs, intake)), tuple(intake.errors)
    if made is not None:
        notes, errors = (*notes, *made.notes), (*errors, *made.problems)
    whole = replace(decided, notes=notes, errors=errors)
    pods = tuple(pod for pod in decided.pods if inputs.namespace in (None, pod.namespace))
    shown = Plan(pods, whole.notes, whole.errors)
    return Answer(whole, shown, seen, intake, made.documents if made is not None else (), inputs)


def _expanded(intake: "Intake", seen: "Snapshot", inputs: Inputs, rules: Rules, documents: bool) -> "Expansion":
    """The pods that the workloads of the input would make."""
    from reparto.placement.workloads import expand

    made = expand(
        intake.carriers,
        seen.pods,
        nodes=seen.nodes,
        replicas_overrides=rules.replicas,
        gates=inputs.gates,
        keep_documents=documents,
    )
    if made.unused and not rules.lenient:
        raise click.BadParameter("; ".join(made.unused), param_hint="'--replicas'")
    return made


def _compared(former: str, answer: "Answer", inputs: Inputs, rules: Rules) -> "Difference":
    from reparto.cli.plan_diff import NoPlan, difference, saved_plan

    try:
        old = saved_plan(former)
    except (NoPlan, OSError) as error:
        raise click.BadParameter(str(error), param_hint="'--diff'") from None
    if old is None:
        lenient = dataclasses.replace(rules, lenient=True)
        old = _answer(dataclasses.replace(inputs, sources=(former,)), lenient, documents=False).whole
    pods = [pod for pod in old.pods if inputs.namespace in (None, pod.namespace)]
    return difference(pods, answer.shown.pods, (*answer.shown.errors, *old.errors))


def _taint_rules(inputs: Inputs) -> bool:
    """Whether DeviceTaintRules are in force. 1.34 has no gate of their own for them: they come with device taints."""
    return inputs.gates.get("DRADeviceTaintRules", inputs.gates.get("DRADeviceTaints", False))


def _notes(inputs: Inputs, intake: "Intake") -> "Iterator[Note]":
    """What reading has to say, and what this version leaves out."""
    from reparto.model import codes
    from reparto.placement import Note

    for remark in intake.notes:
        place = f"{remark.file}:{remark.line}" if remark.line else remark.file
        parts = [place if place not in remark.message else "", remark.object, remark.message]
        yield Note(remark.code, remark.object, ": ".join(part for part in parts if part))
    if inputs.version != DEFAULT_VERSION:
        message = f"feature gates are those of Kubernetes {inputs.version}; the algorithm is that of 1.37.2"
        yield Note(codes.ALGORITHM_VERSION, "", message)
