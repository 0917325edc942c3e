"""Argo Workflow and CronWorkflow: the pods of the steps that start first.

A workflow's later steps depend on how the first ones end, so only those that wait for nothing are planned; the others are named.
What parameters say is filled in where their values are written down; what only the run will tell (`{{steps.x.outputs…}}`) is said,
with what was assumed.
Source: argoproj.io/v1alpha1, workflow/controller (steps.go, dag.go, operator.go, workflowpod.go), workflow/util/pod_name.go.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from reparto.placement.drawn_names import drawn_name
from reparto.placement.workloads.fields import Fields, Json, MalformedField, is_expression
from reparto.placement.workloads.objects import Draft, Made, Workload, fnv32a, merged, without_expressions
from reparto.placement.workloads.patches import patched
from reparto.placement.workloads.world import World

_PREFIX: Final = "workflows.argoproj.io/"
_NAME_PREFIX: Final = 242  # of 253: leaves room for a hyphen and the hash
_ENDED: Final = ("Succeeded", "Failed", "Error")
_PODS: Final = ("container", "script", "containerSet", "resource", "data")
_NO_PODS: Final = ("suspend", "http", "plugin")
_MAX_DEPTH: Final = 20
_MAX_ITEMS: Final = 10_000
_REFERENCE = re.compile(r"\{\{\s*([\w.\-]+)\s*\}\}")
_ANCHOR = re.compile(r"(?:^|[\s\[{,:])[&*]\w")
_COMPARISON = re.compile(r"\s*(?P<left>[\w.\"'-]+)\s*(?P<sign>==|!=)\s*(?P<right>[\w.\"'-]+)\s*")
_PARENTHESES = str.maketrans("", "", "()")  # which Argo leaves out of node names
_Parameters = Mapping[str, str]


class _Step(msgspec.Struct, frozen=True):
    """A node of the workflow to be: its name, what it runs, and the values of its inputs."""

    name: str
    caller: Fields
    parameters: _Parameters


def workflow(item: Workload, world: World) -> Made:
    """Pods of the entrypoint's first steps. None where it is suspended, has ended, or runs already (its pods are in the input)."""
    spec = _spec(item, world)
    if spec is None or spec.flag("suspend") or item.status.text("phase") in _ENDED:
        return
    if item.status.value.get("nodes"):
        spec.doubt("it runs already: its pods of the input are planned, no further ones")
        return
    run = _Run(item, world, spec)
    most = spec.optional_number("parallelism")
    for number, draft in enumerate(run.pods()):
        if most and number >= most:
            spec.doubt(f"spec.parallelism allows {most} pods at once; the others were left out")
            break
        yield draft
    if run.later:
        shown = ", ".join(list(dict.fromkeys(run.later))[:5])
        more = f" and {len(set(run.later)) - 5} more" if len(set(run.later)) > 5 else ""
        spec.doubt(f"steps that wait for others are not planned: {shown}{more}")


def cron_workflow(item: Workload, world: World) -> Made:
    """One run; the workflows of the input that it made, where they have not ended."""
    runs = [run for run in world.children(item, "Workflow") if run.status.text("phase") not in _ENDED]
    if runs:
        yield from runs
    elif not item.spec.flag("suspend"):
        value = {"metadata": item.spec.at("workflowMetadata").value, "spec": item.spec.at("workflowSpec").value}
        yield world.child(item, item.api_version, "Workflow", drawn_name(f"{item.name}-", item.ref), value)


def _spec(item: Workload, world: World) -> Fields | None:
    """The spec that is run: the workflow's own over that of the template it names."""
    reference = item.spec.at("workflowTemplateRef")
    if not reference:
        return item.spec
    found = _template_object(item, world, reference)
    if found is None:
        return None
    return Fields(patched(found.spec.value, {**item.spec.value, "workflowTemplateRef": None}), "spec", item.doubts)


def _template_object(item: Workload, world: World, reference: Fields) -> Workload | None:
    cluster = reference.flag("clusterScope")
    kind, name = "ClusterWorkflowTemplate" if cluster else "WorkflowTemplate", reference.text("name")
    found = world.find(kind, "" if cluster else item.namespace, name)
    if found is None:
        item.spec.doubt(f"{kind} {name} is not in the input, so its steps make no pods; add it")
    return found


class _Run:
    """One workflow on its way through templates."""

    def __init__(self, item: Workload, world: World, spec: Fields) -> None:
        self._item, self._world, self._spec = item, world, spec
        self.later: list[str] = []
        self._globals = {"workflow.name": item.name, "workflow.namespace": item.namespace, "workflow.uid": item.uid}
        for name, value in _values(spec.at("arguments"), {}):
            self._globals[f"workflow.parameters.{name}"] = value

    def pods(self) -> Iterator[Draft]:
        entry = self._spec.text("entrypoint")
        if not entry:
            raise MalformedField("spec.entrypoint", None, "the name of a template")
        caller = Fields({"template": entry, "arguments": self._spec.value.get("arguments")}, "spec", self._item.doubts)
        yield from self._visit(_Step(self._item.name, caller, self._globals), self._spec, None, 0)

    def _visit(self, step: _Step, scope: Fields, boundary: Fields | None, depth: int) -> Iterator[Draft]:
        found = self._template(step, scope)
        if found is None:
            return
        template, scope = found
        if depth > _MAX_DEPTH:
            template.doubt(f"template {template.text('name')} calls itself; deeper steps were left out")
            return
        inputs = {**self._globals, **_inputs(template, step)}
        filled = Fields(_filled(template.value, inputs), template.path, self._item.doubts)
        if "steps" in filled:
            yield from self._steps(step, filled, scope, inputs, depth)
        elif "dag" in filled:
            yield from self._dag(step, filled, scope, inputs, depth)
        elif any(kind in filled for kind in _PODS):
            yield self._pod(step, filled, boundary)
        elif not any(kind in filled for kind in _NO_PODS):
            filled.doubt(f"template {filled.text('name')} is of a type that is not known; it was left out")

    def _template(self, step: _Step, scope: Fields) -> tuple[Fields, Fields] | None:
        """The template that a step runs, and the spec in which the names in it are to be found."""
        if "inline" in step.caller:
            return step.caller.at("inline"), scope
        if "templateRef" in step.caller:
            reference = step.caller.at("templateRef")
            holder = _template_object(self._item, self._world, reference)
            if holder is None:
                return None
            scope = Fields(holder.spec.value, f"{holder.ref} spec", self._item.doubts)
            name = reference.text("template")
        else:
            name = _replaced(step.caller.text("template"), step.parameters)
        for template in scope.items("templates"):
            if template.text("name") == name:
                return template, scope
        raise MalformedField(step.caller.path_of("template"), name, "the name of a template of the workflow")

    def _steps(self, step: _Step, template: Fields, scope: Fields, inputs: _Parameters, depth: int) -> Iterator[Draft]:
        for number, group in enumerate(template.sequence("steps")):
            path = f"{template.path}.steps[{number}]"
            entries: list[Any] = cast("list[Any]", group) if isinstance(group, list) else [group]
            for index, entry in enumerate(entries):
                if not isinstance(entry, Mapping):
                    raise MalformedField(f"{path}[{index}]", entry, "a step")
                caller = Fields(cast(Json, entry), f"{path}[{index}]", self._item.doubts)
                if number:
                    self.later.append(caller.text("name"))
                else:
                    for each in self._loop(caller, f"{step.name}[0].{caller.text('name')}", inputs):
                        yield from self._visit(each, scope, template, depth + 1)

    def _dag(self, step: _Step, template: Fields, scope: Fields, inputs: _Parameters, depth: int) -> Iterator[Draft]:
        for task in template.at("dag").items("tasks"):
            if task.value.get("dependencies") or task.value.get("depends"):
                self.later.append(task.text("name"))
                continue
            for each in self._loop(task, f"{step.name}.{task.text('name')}", inputs):
                yield from self._visit(each, scope, template, depth + 1)

    def _loop(self, caller: Fields, name: str, inputs: _Parameters) -> Iterator[_Step]:
        if "when" in caller and (runs := _decided(_replaced(caller.text("when"), inputs))) is not None:
            if not runs:
                return
        elif "when" in caller:
            caller.doubt(f"whether {caller.text('name')} runs depends on {caller.text('when')!r}: it was planned as if it did")
        items = self._items(caller, inputs)
        if items is None:
            yield _Step(name, caller, inputs)
            return
        for index, value in enumerate(items[:_MAX_ITEMS]):
            label = _text(value)
            own = {**inputs, "item": label}
            if isinstance(value, Mapping):
                pairs = {str(key): _text(content) for key, content in cast(Json, value).items()}
                own |= {f"item.{key}": content for key, content in pairs.items()}
                label = ",".join(f"{key}:{pairs[key]}" for key in sorted(pairs))
            filled = Fields(_filled(caller.value, own), caller.path, self._item.doubts)
            if isinstance(value, list):
                label = f"[{' '.join(map(_text, cast('list[Any]', value)))}]"
            yield _Step(f"{name}({index}:{label.translate(_PARENTHESES)})", filled, own)

    def _items(self, caller: Fields, inputs: _Parameters) -> list[Any] | None:
        """What a step is repeated for; None: it is not repeated."""
        if "withItems" in caller:
            items = caller.value["withItems"]
            return self._parsed(caller, "withItems", items) if isinstance(items, str) else caller.sequence("withItems")
        if "withParam" in caller:
            return self._parsed(caller, "withParam", _replaced(caller.text("withParam"), inputs))
        if "withSequence" not in caller:
            return None
        sequence = caller.at("withSequence")
        texts = {name: _replaced(str(sequence.value[name]), inputs) for name in ("count", "start", "end") if name in sequence}
        unknown = next((text for text in texts.values() if not text.lstrip("-").isdigit()), None)
        if unknown is not None:
            sequence.doubt(f"how often {caller.text('name')} runs is {unknown!r}, which only the run tells: once was assumed")
            return ["0"]
        start = int(texts.get("start", "0"))
        end = start + int(texts["count"]) - 1 if "count" in texts else int(texts.get("end", "0"))
        step = 1 if end >= start else -1
        if end < start and "count" in texts:
            return []
        return [str(number) for number in range(start, end + step, step)[:_MAX_ITEMS]]

    def _parsed(self, caller: Fields, field: str, text: str) -> list[Any]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list):
            return cast("list[Any]", found)
        caller.doubt(f"how often {caller.text('name')} runs is {field} {text!r}, which only the run tells: once was assumed")
        return ["0"]

    # --- the pod -----------------------------------------------------------------------------------------------------------------

    def _pod(self, step: _Step, template: Fields, boundary: Fields | None) -> Draft:
        item, name = self._item, _pod_name(self._item.name, step.name, template.text("name"))
        spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [*_containers(template), *template.sequence("sidecars")]}
        spec["initContainers"] = [{"name": "init"}, *template.sequence("initContainers")]
        spec["volumes"] = [*self._spec.sequence("volumes"), *template.sequence("volumes")]
        for field, wide in (("nodeSelector", "nodeSelector"), ("affinity", "affinity"), ("tolerations", "tolerations")):
            value = template.value.get(field) or (boundary and boundary.value.get(field)) or self._spec.value.get(wide)
            if value:
                spec[field] = value
        for field, wide in (
            ("schedulerName", "schedulerName"),
            ("priorityClassName", "podPriorityClassName"),
            ("resourceClaims", "resourceClaims"),
        ):
            if value := template.value.get(field) or self._spec.value.get(wide):
                spec[field] = value
        if pod_resources := template.value.get("podResources") or self._spec.value.get("podResources"):
            spec["resources"] = pod_resources
        if self._spec.flag("hostNetwork"):
            spec["hostNetwork"] = True
        pod: Json = {"spec": spec}
        for metadata in (self._spec.at("podMetadata"), template.at("metadata")):
            pod = merged(pod, labels=metadata.labels("labels"), annotations=metadata.labels("annotations"))
        for holder in (self._spec, template):
            if "podSpecPatch" in holder:
                pod = {**pod, "spec": patched(pod["spec"], self._patch(holder, step.parameters))}
        pod = without_expressions(pod, Fields(pod, template.path, item.doubts))
        node_id = name if step.name == item.name else f"{item.name}-{fnv32a(step.name.encode())}"
        return Draft(
            name,
            pod,
            labels={f"{_PREFIX}workflow": item.name, f"{_PREFIX}completed": "false"},
            annotations={f"{_PREFIX}node-name": step.name, f"{_PREFIX}node-id": node_id},
            path=template.path,
        )

    def _patch(self, holder: Fields, parameters: _Parameters) -> Json:
        text = _replaced(holder.text("podSpecPatch"), {**self._globals, **parameters})
        if is_expression(text) or _ANCHOR.search(text):
            holder.doubt(f"{holder.path_of('podSpecPatch')} holds an expression that only the run tells; it was left out")
            return {}
        import yaml

        try:
            patch = yaml.safe_load(text)
        except (yaml.YAMLError, RecursionError, ValueError):
            patch = None
        if not isinstance(patch, Mapping):
            raise MalformedField(holder.path_of("podSpecPatch"), text, "a part of a pod spec, as YAML or JSON")
        return cast(Json, patch)


def _containers(template: Fields) -> list[Json]:
    """The executor's container, and those of the template."""
    wait: list[Json] = [{"name": "wait"}]
    if "containerSet" in template:
        return wait + [container.value for container in template.at("containerSet").items("containers")]
    for kind in ("container", "script"):
        if kind in template:
            return [*wait, {**template.at(kind).value, "name": "main"}]
    return [{"name": "main"}]  # resource and data templates run the executor alone


def _pod_name(workflow_name: str, node: str, template: str) -> str:
    if workflow_name == node:
        return workflow_name
    prefix = f"{workflow_name}-{template}" if template else workflow_name
    return f"{prefix[:_NAME_PREFIX]}-{fnv32a(node.encode())}"


def _inputs(template: Fields, step: _Step) -> dict[str, str]:
    """The values of a template's inputs: what the step passes, else their defaults."""
    given = dict(_values(step.caller.at("arguments"), step.parameters))
    found: dict[str, str] = {}
    for parameter in template.at("inputs").items("parameters"):
        name = parameter.text("name")
        value = given.get(name, next((_text(parameter.value[key]) for key in ("value", "default") if key in parameter), None))
        if value is not None:
            found[f"inputs.parameters.{name}"] = value
    return found


def _values(arguments: Fields, known: _Parameters) -> Iterator[tuple[str, str]]:
    for parameter in arguments.items("parameters"):
        for key in ("value", "default"):
            if key in parameter:
                yield parameter.text("name"), _replaced(_text(parameter.value[key]), known)
                break


def _decided(condition: str) -> bool | None:
    """What a condition says whose values are known; None where the run, or more than one comparison, decides."""
    if condition.strip() in ("true", "false"):
        return condition.strip() == "true"
    found = _COMPARISON.fullmatch(condition)
    if found is None or is_expression(condition):
        return None
    left, right = (found[side].strip("\"'") for side in ("left", "right"))
    return (left == right) == (found["sign"] == "==")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _replaced(text: str, values: _Parameters) -> str:
    fill: Callable[[re.Match[str]], str] = lambda found: values.get(found[1], found[0])  # noqa: E731
    return _REFERENCE.sub(fill, text)


def _filled(value: Any, values: _Parameters) -> Any:
    """`value` with references to known parameters replaced in all texts."""
    if isinstance(value, str):
        return _replaced(value, values) if "{{" in value else value
    if isinstance(value, Mapping):
        return {key: _filled(content, values) for key, content in cast(Json, value).items()}
    if isinstance(value, list):
        return [_filled(content, values) for content in cast("list[Any]", value)]
    return value
