"""Job and CronJob: the pods that run at once, of those that have not succeeded yet.

Source: Kubernetes 1.37.2, pkg/controller/job (manageJob, indexed_job_utils), pkg/controller/cronjob, pkg/apis/batch/v1 defaults.
"""

import re
from collections.abc import Iterator
from typing import Final

from reparto.model import core
from reparto.placement.drawn_names import drawn_name
from reparto.placement.workloads.fields import MalformedField
from reparto.placement.workloads.objects import Draft, Made, Workload, merged, pod_template
from reparto.placement.workloads.world import World, active

INDEX: Final = "batch.kubernetes.io/job-completion-index"  # an annotation, and a label of the same name
_GENERATED_PREFIX: Final = 58
_DONE: Final = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
_BUILT_IN: Final = "kubernetes.io/job-controller"


def job(item: Workload, world: World) -> Made:
    """`min(parallelism, completions left)` pods less those that run; none where it is suspended or has finished."""
    spec = item.spec
    template = pod_template(spec)
    if spec.flag("suspend") or item.condition(*_DONE):
        return
    parallelism, completions = spec.optional_number("parallelism"), spec.optional_number("completions")
    if parallelism is None and completions is None:
        completions = 1
    parallelism = 1 if parallelism is None else parallelism
    wished = world.replicas(item, parallelism)
    if wished != parallelism:
        parallelism, completions = wished, None if completions is None else max(completions, wished)
    if (manager := spec.text("managedBy")) not in ("", _BUILT_IN):
        spec.doubt(f"spec.managedBy is {manager}; it was planned as the built-in controller runs it")
    pods = world.pods(item, selector=spec.at("selector").value)
    labels = {"batch.kubernetes.io/job-name": item.name, "job-name": item.name}
    if not spec.flag("manualSelector"):
        labels |= {"batch.kubernetes.io/controller-uid": item.uid, "controller-uid": item.uid}
    template = merged(template, labels=labels)
    running = active(pods)
    mode = spec.text("completionMode", "NonIndexed")
    if mode == "NonIndexed":
        succeeded = max(item.status.number("succeeded", 0), sum(pod.status.phase == "Succeeded" for pod in pods))
        for _ in range(_wanted(parallelism, completions, succeeded, len(running)) - len(running)):
            yield Draft(f"{item.name}-", template)
    elif mode == "Indexed":
        if completions is None:
            raise MalformedField("spec.completions", None, "with completionMode Indexed, a number of completions")
        yield from _indexed(item, template, parallelism, completions, pods, running)
    else:
        raise MalformedField("spec.completionMode", mode, "NonIndexed or Indexed")


def _wanted(parallelism: int, completions: int | None, succeeded: int, running: int) -> int:
    if completions is None:
        return running if succeeded else parallelism
    return max(0, min(parallelism, completions - succeeded))


def _indexed(
    item: Workload, template: object, parallelism: int, completions: int, pods: list[core.Pod], running: list[core.Pod]
) -> Iterator[Draft]:
    done = _intervals(item.status.text("completedIndexes"), completions)
    done |= {index for pod in pods if pod.status.phase == "Succeeded" and (index := _index(pod)) is not None}
    out = _intervals(item.status.text("failedIndexes"), completions)
    busy = {index for pod in running if (index := _index(pod)) is not None}
    missing = _wanted(parallelism, completions, len(done), len(running)) - len(running)
    pending = (index for index in range(completions) if index not in done and index not in busy and index not in out)
    for index, _ in zip(pending, range(missing), strict=False):
        ending = f"-{index}-"
        prefix = f"{item.name}{ending}"
        if len(prefix) > _GENERATED_PREFIX:
            prefix = item.name[: _GENERATED_PREFIX - len(ending)] + ending
        text = {INDEX: str(index)}
        yield Draft(prefix, template, labels=text, annotations=text, spec={"hostname": f"{item.name}-{index}"})  # type: ignore[arg-type]


def _index(pod: core.Pod) -> int | None:
    text = (pod.metadata.annotations or {}).get(INDEX, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _intervals(text: str, limit: int) -> set[int]:
    """The indexes of `1,3-5,7`, as status fields list them; what lies beyond `limit` is left out."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            found.update(range(int(first), min(int(last or first), limit - 1) + 1))
    return found


def cron_job(item: Workload, world: World) -> Made:
    """One run: the Jobs of the input that have not finished, else a new one. None where it is suspended."""
    spec = item.spec
    inner = spec.at("jobTemplate")
    pod_template(inner.at("spec"))
    runs = world.children(item, "Job")
    open_runs = [run for run in runs if not run.condition(*_DONE)]
    if open_runs:
        yield from open_runs
        return
    if spec.flag("suspend") or _runs_unseen(item, world, {run.name for run in runs}):
        return
    name = drawn_name(f"{item.name}-", item.ref)  # the cluster takes the minute of the run instead
    yield world.child(item, "batch/v1", "Job", name, {"metadata": inner.at("metadata").value, "spec": inner.at("spec").value})


def _runs_unseen(item: Workload, world: World, known: set[str]) -> bool:
    """Whether pods of a run are in the input without their Job."""
    named = re.compile(re.escape(item.name) + r"-\d+")
    return any(
        name not in known and named.fullmatch(name) and active(pods)
        for name, pods in world.owned_by_kind(item.namespace, "Job")
        if world.find("Job", item.namespace, name) is None
    )
