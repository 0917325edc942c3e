"""Which nodes something is for, by the meaning of node selectors: written for the checker, apart from the allocator's.

Source: upstream-dra.md 3.2; KEP-4381; core/v1 NodeSelector.
"""

from collections.abc import Iterable, Mapping

from reparto.model.core import Node
from reparto.model.meta import NodeSelector, NodeSelectorRequirement
from reparto.model.v1 import Device, ResourceSliceSpec

_NONE: Mapping[str, str] = {}


def selects(where: ResourceSliceSpec | Device, node: Node) -> bool:
    """True if a slice, or a device with a node selection of its own, is for `node`: by name, else all, else by selector."""
    if where.node_name:
        return where.node_name == node.metadata.name
    if where.all_nodes:
        return True
    return where.node_selector is not None and selected(where.node_selector, node)


def selected(selector: NodeSelector, node: Node) -> bool:
    """True if one of the selector's terms holds on the node. What cannot be read as a requirement holds nowhere."""
    return any(
        (term.match_expressions or term.match_fields)
        and _all_hold(term.match_expressions, node.metadata.labels or _NONE)
        and _all_hold(term.match_fields, {"metadata.name": node.metadata.name})
        for term in selector.node_selector_terms
    )


def _all_hold(requirements: Iterable[NodeSelectorRequirement], facts: Mapping[str, str]) -> bool:
    return all(_holds(requirement, facts.get(requirement.key)) for requirement in requirements)


def _holds(requirement: NodeSelectorRequirement, value: str | None) -> bool:
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" if len(requirement.values) == 1 and value is not None:
            have, bound = _number(value), _number(requirement.values[0])
            if have is None or bound is None:
                return False
            return have > bound if requirement.operator == "Gt" else have < bound
        case _:
            return False


def _number(text: str) -> int | None:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return int(text) if digits.isascii() and digits.isdigit() and -(2**63) <= int(text) < 2**63 else None


def only_node(selector: NodeSelector | None) -> str | None:
    """The name of the node if the selector is the one by which an allocation is bound to a single node, else None."""
    if selector is None or len(selector.node_selector_terms) != 1:
        return None
    term = selector.node_selector_terms[0]
    if term.match_expressions or len(term.match_fields) != 1:
        return None
    field = term.match_fields[0]
    return field.values[0] if (field.key, field.operator, len(field.values)) == ("metadata.name", "In", 1) else None


Requirement = tuple[str, str, frozenset[str]]
"""A requirement without the order and repetition of its values: key, operator, values."""


def requirements(selector: NodeSelector) -> list[tuple[str, Requirement]]:
    """All requirements of the selector, each with whether it is one of `fields` or `labels`."""
    return [
        (of, (requirement.key, requirement.operator, frozenset(requirement.values)))
        for term in selector.node_selector_terms
        for of, listed in (("fields", term.match_fields), ("labels", term.match_expressions))
        for requirement in listed
    ]
