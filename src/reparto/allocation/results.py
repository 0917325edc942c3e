"""From chosen devices to `status.allocation`: results, configuration and node selector of one claim.

What stands in an allocation is read by kubelets, drivers and later schedulers, so it is assembled to the letter: which
configurations come along, for which requests, and to which nodes the claim is now bound.

Source: upstream-dra.md 3.14.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reparto.allocation.errors import AllocationError, FailureKind
from reparto.allocation.features import Features
from reparto.model.core import Node
from reparto.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from reparto.model.quantity import Quantity
from reparto.model.v1 import (
    AllocationResult,
    Device,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceClass,
    DeviceRequestAllocationResult,
    DeviceToleration,
    ResourceClaim,
    ResourceSliceSpec,
)


@dataclass(frozen=True, slots=True)
class Pick:
    """One device taken for one request (`reference`: the request, or `request/subrequest`)."""

    reference: str
    device: Device
    slice: ResourceSliceSpec
    tolerations: Sequence[DeviceToleration]
    admin_access: bool
    share_id: str | None
    consumed: Mapping[str, Quantity]


@dataclass(frozen=True, slots=True)
class Choice:
    """The alternative that was chosen for a request: how it is referred to, and the class it uses."""

    request: str
    reference: str
    device_class: DeviceClass


def assemble(
    claim: ResourceClaim, choices: Sequence[Choice], picks: Sequence[Pick], node: Node, features: Features
) -> AllocationResult:
    """The allocation of one claim. `choices` are in the order of its requests, `picks` in the order in which they were taken.

    Raises AllocationError if a slice's node selector has several terms, which cannot be expressed (and validation refuses).
    """
    return AllocationResult(
        devices=DeviceAllocationResult(results=[_result(pick, features) for pick in picks], config=_configuration(claim, choices)),
        node_selector=_node_selector(picks, node.metadata.name),
    )


def _result(pick: Pick, features: Features) -> DeviceRequestAllocationResult:
    binding_conditions = features.device_binding_and_status
    return DeviceRequestAllocationResult(
        request=pick.reference,
        driver=pick.slice.driver,
        pool=pick.slice.pool.name,
        device=pick.device.name,
        admin_access=True if pick.admin_access else None,
        tolerations=list(pick.tolerations),
        binding_conditions=list(pick.device.binding_conditions) if binding_conditions else [],
        binding_failure_conditions=list(pick.device.binding_failure_conditions) if binding_conditions else [],
        share_id=pick.share_id,
        consumed_capacity={name: str(amount) for name, amount in pick.consumed.items()} or None,
        skip_node_operations=list(pick.slice.skip_node_operations) if features.experimental else [],
    )


def _configuration(claim: ResourceClaim, choices: Sequence[Choice]) -> list[DeviceAllocationConfiguration]:
    """Class configurations, each class once and for all requests that use it, then those configurations of the claim that apply.

    Entries that apply to every request name none.
    """
    of_class: dict[str, tuple[DeviceClass, list[str]]] = {}
    for choice in choices:
        of_class.setdefault(choice.device_class.metadata.name, (choice.device_class, []))[1].append(choice.reference)
    chosen = {name for choice in choices for name in (choice.request, choice.reference)}
    entries = [
        DeviceAllocationConfiguration(source="FromClass", requests=_unless_all(references, choices), opaque=config.opaque)
        for device_class, references in of_class.values()
        for config in device_class.spec.config
    ]
    entries += [
        DeviceAllocationConfiguration(source="FromClaim", requests=_unless_all(config.requests, choices), opaque=config.opaque)
        for config in claim.spec.devices.config
        if not config.requests or not chosen.isdisjoint(config.requests)
    ]
    return entries


def _unless_all(requests: Sequence[str], choices: Sequence[Choice]) -> list[str]:
    return [] if all(choice.request in requests or choice.reference in requests for choice in choices) else list(requests)


def _node_selector(picks: Sequence[Pick], node_name: str) -> NodeSelector | None:
    """Where the claim may be used.

    This node if any device is local to it, else where all involved selectors hold, else (None) anywhere.
    """
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for pick in picks:
        where = pick.device if pick.slice.per_device_node_selection else pick.slice
        if where.node_name is not None or pick.device.binds_to_node:
            only = NodeSelectorRequirement(key="metadata.name", operator="In", values=[node_name])
            return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[only])])
        terms = where.node_selector.node_selector_terms if where.node_selector is not None else []
        if len(terms) > 1:
            raise AllocationError(
                f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms", kind=FailureKind.NODE_SELECTOR_INVALID
            )
        for term in terms:
            _add_new(term.match_fields, fields)
            _add_new(term.match_expressions, expressions)
    if not fields and not expressions:
        return None
    return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=fields, match_expressions=expressions)])


def _add_new(requirements: Sequence[NodeSelectorRequirement], to: list[NodeSelectorRequirement]) -> None:
    for new in requirements:
        if not any(new.key == old.key and new.operator == old.operator and set(new.values) == set(old.values) for old in to):
            to.append(new)
