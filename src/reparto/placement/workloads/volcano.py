"""Volcano's Job: tasks with replicas, placed by Volcano's own scheduler unless the job names another.

Source: batch.volcano.sh/v1alpha1, pkg/controllers/job/job_controller_util.go, pkg/webhooks/admission/jobs/mutate.
"""

from typing import Final

from reparto.placement.drawn_names import drawn_name
from reparto.placement.workloads.objects import Draft, Made, Workload, pod_template
from reparto.placement.workloads.world import World

_PREFIX: Final = "volcano.sh/"
_SCHEDULER: Final = "volcano"
_ENDED: Final = ("Completed", "Failed", "Terminated", "Aborted", "Aborting", "Completing", "Terminating")


def volcano_job(item: Workload, world: World) -> Made:
    """Pods `NAME-TASK-INDEX` of all tasks."""
    spec = item.spec
    if item.status.at("state").text("phase") in _ENDED:
        return
    queue = spec.text("queue", "default")
    tasks = spec.items("tasks")
    for number, task in enumerate(tasks):
        name = task.text("name") or f"default{number}"
        template = pod_template(task)
        if task.optional_number("replicas") is None:
            task.doubt(f"{task.path}.replicas is absent, which means none; set it, or give --replicas Job/{item.name}:{name}=N")
        count = world.replicas(item, task.number("replicas", 0), name)
        count = world.replicas(item, count) if len(tasks) == 1 else count
        if "dependsOn" in task:
            task.doubt(
                f"task {name} waits for {', '.join(map(str, task.at('dependsOn').sequence('name')))}; all were planned side by side"
            )
        pod = template["spec"]
        more = {"schedulerName": pod.get("schedulerName") or spec.text("schedulerName") or _SCHEDULER}
        if spec.text("priorityClassName") and not pod.get("priorityClassName"):
            more["priorityClassName"] = spec.text("priorityClassName")
        for index in range(count):
            shared = {
                f"{_PREFIX}task-index": str(index),
                f"{_PREFIX}task-spec": name,
                f"{_PREFIX}job-name": item.name,
                f"{_PREFIX}queue-name": queue,
            }
            yield Draft(
                f"{item.name}-{name}-{index}",
                template,
                labels={**shared, f"{_PREFIX}job-namespace": item.namespace},
                annotations={**shared, "scheduling.k8s.io/group-name": f"{item.name}-{item.uid}"},
                spec=more,
                path=f"{task.path}.template",
            )


def volcano_cron_job(item: Workload, world: World) -> Made:
    """One run; the Jobs of the input that it made."""
    runs = world.children(item, "Job")
    if runs:
        yield from runs
    elif not item.spec.flag("suspend"):
        value = {"spec": item.spec.at("jobTemplate", "spec").value}
        yield world.child(item, item.api_version, "Job", drawn_name(f"{item.name}-", item.ref), value)
