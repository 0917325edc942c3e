"""Label selectors: which pods, or which namespaces, a rule of a pod is about.

A selector that is absent matches nothing, an empty one everything. One that upstream cannot parse is an error of the pod that has
it, so compiling raises. Compiled selectors with the same requirements share a `key`, by which counts of matching pods are kept.

Source: apimachinery `meta/v1` LabelSelectorAsSelector, `labels`.
"""

from collections.abc import Callable, Mapping

from reparto.model.core import LabelSelector
from reparto.model.names import label_value, qualified_name

Labels = Mapping[str, str]
NO_LABELS: Labels = {}

# Key, operator, values in order: what decides, and nothing else.
Requirement = tuple[str, str, tuple[str, ...]]


class SelectorError(ValueError):
    """A selector that the scheduler cannot parse; the message says why."""


class CompiledLabelSelector:
    """Requirements that must all hold; none hold nothing back."""

    __slots__ = ("_tests", "key", "nothing")

    def __init__(self, requirements: tuple[Requirement, ...] | None) -> None:
        """`requirements` None: matches nothing."""
        self.key = None if requirements is None else tuple(sorted(set(requirements)))
        self.nothing = requirements is None
        self._tests = [_test(*requirement) for requirement in self.key or ()]

    @property
    def empty(self) -> bool:
        """Whether everything matches."""
        return self.key == ()

    def matches(self, labels: Labels | None) -> bool:
        if self.nothing:
            return False
        labels = labels or NO_LABELS
        return all(test(labels) for test in self._tests)

    def narrowed(self, requirements: tuple[Requirement, ...]) -> "CompiledLabelSelector":
        """This selector with more requirements; one that matches nothing stays so."""
        if self.key is None or not requirements:
            return self
        return CompiledLabelSelector(self.key + requirements)


def compile_selector(selector: LabelSelector | None) -> CompiledLabelSelector:
    """Raises SelectorError."""
    if selector is None:
        return CompiledLabelSelector(None)
    requirements: list[Requirement] = [(key, "In", (value,)) for key, value in (selector.match_labels or {}).items()]
    for each in selector.match_expressions:
        requirements.append((each.key, each.operator, tuple(sorted(set(each.values)))))
    for key, operator, values in requirements:
        _check(key, operator, values)
    return CompiledLabelSelector(tuple(requirements))


def of_labels(labels: Labels) -> tuple[Requirement, ...]:
    """The requirements that say: exactly these values."""
    return tuple((key, "In", (value,)) for key, value in labels.items())


def _check(key: str, operator: str, values: tuple[str, ...]) -> None:
    if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
        raise SelectorError(f"{operator!r} is not a valid label selector operator")
    if (operator in ("In", "NotIn")) != bool(values):
        raise SelectorError(f"{key}: operator {operator} {'needs' if operator in ('In', 'NotIn') else 'takes no'} values")
    for problem in (*qualified_name(key), *(problem for value in values for problem in label_value(value))):
        raise SelectorError(f"{key}: {problem}")


def _test(key: str, operator: str, values: tuple[str, ...]) -> Callable[[Labels], bool]:
    accepted = frozenset(values)
    match operator:
        case "In":
            return lambda labels: labels.get(key) in accepted
        case "NotIn":
            return lambda labels: key not in labels or labels[key] not in accepted
        case "Exists":
            return lambda labels: key in labels
        case _:
            return lambda labels: key not in labels
