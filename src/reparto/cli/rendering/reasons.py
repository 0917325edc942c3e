"""Why pods are pending, in full: for each pod the first failing gate of every node, nodes that fail alike in one paragraph. And why
best-fit chose what it chose, for each pod that it placed."""

from collections.abc import Iterable, Iterator

from reparto.cli.output import styled
from reparto.cli.rendering.layout import INDENT, wrapped
from reparto.cli.rendering.pods import COLOURS
from reparto.placement.plan import PodPlan, Reason


def reasons_text(pods: Iterable[PodPlan], width: int | None) -> str:
    """A paragraph for each pod that has reasons: every reason with its field, counts, nodes, and what to do; or choices."""
    return "\n".join("".join(f"{line}\n" for line in _pod(pod, width)) for pod in pods if pod.reasons or pod.choices)


def choices_text(pods: Iterable[PodPlan], width: int | None) -> str:
    """A paragraph for each pod that best-fit placed: why this node, and why each device."""
    return "".join(f"{line}\n" for pod in pods if pod.choices for line in (f"{pod.namespace}/{pod.name}:", *_choices(pod, width)))


def _pod(pod: PodPlan, width: int | None) -> Iterator[str]:
    kind = " (hypothetical)" if pod.hypothetical else ""
    yield f"{pod.namespace}/{pod.name}{kind}: {styled(pod.verdict, fg=COLOURS[pod.verdict])}"
    for reason in pod.reasons:
        yield from _reason(reason, width)
    yield from _choices(pod, width)


def _choices(pod: PodPlan, width: int | None) -> Iterator[str]:
    if not pod.choices:
        return
    lines = [f"{pod.choices.node.node}: {pod.choices.node.message}"]
    lines += [f"{each.device}: {each.message}" for each in pod.choices.devices]
    for line in lines:
        yield from wrapped(line, width, "  ", INDENT)


def _reason(reason: Reason, width: int | None) -> Iterator[str]:
    yield from wrapped(f"{reason.code}: {reason.message}", width, "  ", INDENT)
    place = " ".join(part for part in (reason.object, reason.path) if part)
    if place:
        yield from wrapped(f"field: {place}", width, INDENT, INDENT * 2)
    for count in reason.counts:
        if count.what != "nodes":
            where = "" if count.nodes <= 1 else f", on {count.nodes} nodes together"
            yield from wrapped(f"{count.what}: {count.matching} of {count.total}{where}", width, INDENT, INDENT * 2)
    if reason.nodes:
        more = sum(count.matching for count in reason.counts if count.what == "nodes") - len(reason.nodes)
        yield from wrapped(f"nodes: {', '.join(reason.nodes)}{f' and {more} more' if more > 0 else ''}", width, INDENT, INDENT * 2)
    if reason.hint:
        yield from wrapped(f"to do: {reason.hint}", width, INDENT, INDENT * 2)
