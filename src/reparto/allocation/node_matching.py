"""Which nodes a slice or a device belongs to: by name, by selector, or all of them.

Selectors have the meaning of required node affinity: terms are alternatives, requirements of a term must all hold, an empty term
matches nothing. They are compiled once and then asked about many nodes. A selector that cannot be compiled (an operator or a value
that validation would have refused) is an error as soon as it is asked, as upstream's is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from reparto.allocation.errors import AllocationError, FailureKind
from reparto.model.core import Node
from reparto.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from reparto.model.names import label_value, qualified_name

_Test: TypeAlias = Callable[[Mapping[str, str]], bool]

_INT64 = range(-(2**63), 2**63)
_NO_LABELS: Mapping[str, str] = {}


class NodeSelection:
    """Where something may be used: upstream's three ways to say so, of which the first that is set counts.

    `subject` is what errors call the thing. Source: upstream-dra.md 3.2.
    """

    __slots__ = ("_all_nodes", "_node_name", "_selector", "_subject", "known")

    def __init__(self, node_name: str | None, all_nodes: bool | None, selector: NodeSelector | None, subject: str = "") -> None:
        self._subject = subject
        self._node_name = node_name or ""
        self._all_nodes = bool(all_nodes)
        self._selector = None if selector is None else CompiledNodeSelector(selector)
        self.known = bool(self._node_name or self._all_nodes or self._selector is not None)
        """False if none of the three is set; such a thing belongs to no node."""

    def matches(self, node: Node) -> bool:
        """True if `node` may use it. Raises AllocationError for a selector that cannot be compiled and would decide."""
        if self._node_name:
            return node.metadata.name == self._node_name
        if self._all_nodes:
            return True
        if self._selector is None:
            return False
        if self._selector.problems:
            raise AllocationError(
                f"failed to perform node selection for {self._subject}: failed to parse node selector: "
                + "; ".join(self._selector.problems),
                kind=FailureKind.NODE_SELECTOR_INVALID,
            )
        return self._selector.matches(node)


class CompiledNodeSelector:
    """A core NodeSelector, compiled. `problems` holds one sentence for each requirement that no node could be tested against."""

    __slots__ = ("_terms", "problems")

    def __init__(self, selector: NodeSelector) -> None:
        self.problems: list[str] = []
        self._terms: list[_Term] = []
        for term in selector.node_selector_terms:
            if term.match_expressions or term.match_fields:
                self._terms.append(_Term(term))
                self.problems += self._terms[-1].problems

    def matches(self, node: Node) -> bool:
        """True if any term matches. Terms with problems match nothing (what a pod's required affinity does with them)."""
        return any(term.matches(node) for term in self._terms)


class _Term:
    __slots__ = ("_fields", "_labels", "problems")

    def __init__(self, term: NodeSelectorTerm) -> None:
        self.problems: list[str] = []
        self._labels = [self._label_test(requirement) for requirement in term.match_expressions]
        self._fields = [self._field_test(requirement) for requirement in term.match_fields]

    def matches(self, node: Node) -> bool:
        if self.problems:
            return False
        labels = node.metadata.labels or _NO_LABELS
        if not all(test(labels) for test in self._labels):
            return False
        # The name is the only field of a node that can be selected by. A node without a name has no fields to fail on.
        return not node.metadata.name or all(test({"metadata.name": node.metadata.name}) for test in self._fields)

    def _label_test(self, requirement: NodeSelectorRequirement) -> _Test:
        key, operator, values = requirement.key, requirement.operator, requirement.values
        self.problems += [f"key {key!r}: {problem}" for problem in qualified_name(key)]
        self.problems += [f"value {value!r} of {key}: {problem}" for value in values for problem in label_value(value)]
        accepted = frozenset(values)
        match operator:
            case "In" | "NotIn":
                if not values:
                    self.problems.append(f"{key}: operator {operator} needs values")
                if operator == "In":
                    return lambda labels: labels.get(key) in accepted
                return lambda labels: key not in labels or labels[key] not in accepted
            case "Exists" | "DoesNotExist":
                if values:
                    self.problems.append(f"{key}: operator {operator} takes no values")
                wanted = operator == "Exists"
                return lambda labels: (key in labels) is wanted
            case "Gt" | "Lt":
                bound = self._bound(key, operator, values)
                if operator == "Gt":
                    return lambda labels: (value := _int64(labels.get(key))) is not None and value > bound
                return lambda labels: (value := _int64(labels.get(key))) is not None and value < bound
            case _:
                self.problems.append(f"{key}: operator {operator!r} is not supported")
                return lambda labels: False

    def _bound(self, key: str, operator: str, values: Sequence[str]) -> int:
        bound = _int64(values[0]) if len(values) == 1 else None
        if bound is None:
            self.problems.append(f"{key}: operator {operator} needs exactly one integer")
        return bound or 0

    def _field_test(self, requirement: NodeSelectorRequirement) -> _Test:
        key, operator, values = requirement.key, requirement.operator, requirement.values
        if operator not in ("In", "NotIn"):
            self.problems.append(f"field {key}: operator {operator!r} is not supported")
        elif len(values) != 1:
            self.problems.append(f"field {key}: operator {operator} needs exactly one value")
        value = values[0] if values else ""
        wanted = operator == "In"
        return lambda fields: (fields.get(key, "") == value) is wanted


def _int64(text: str | None) -> int | None:
    """The integer as Go's ParseInt reads it: an optional sign and ASCII digits, in 64 bits."""
    if text is None or not text.isascii() or not text.lstrip("+-").isdigit() or text[1:2] in ("+", "-"):
        return None
    value = int(text)
    return value if value in _INT64 else None
