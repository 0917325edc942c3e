"""Label selectors as the scheduler reads them. Right values: apimachinery's LabelSelectorAsSelector."""

import pytest

from reparto.model.core import LabelSelector, LabelSelectorRequirement
from reparto.placement.label_selectors import SelectorError, compile_selector


def expression(key: str, operator: str, *values: str) -> LabelSelector:
    return LabelSelector(match_expressions=(LabelSelectorRequirement(key, operator, values),))


def test_no_selector_selects_nothing_and_an_empty_one_everything():
    assert not compile_selector(None).matches({"a": "1"})
    assert compile_selector(LabelSelector()).matches({})
    assert compile_selector(LabelSelector()).empty and not compile_selector(None).empty


@pytest.mark.parametrize(
    "selector, matches",
    [
        (LabelSelector(match_labels={"a": "1"}), True),
        (LabelSelector(match_labels={"a": "1", "b": "1"}), False),
        (expression("a", "In", "1", "2"), True),
        (expression("a", "NotIn", "1"), False),
        (expression("b", "NotIn", "1"), True),  # a label that is absent is not in any list
        (expression("a", "Exists"), True),
        (expression("b", "DoesNotExist"), True),
    ],
)
def test_requirements(selector, matches):
    assert compile_selector(selector).matches({"a": "1"}) is matches


@pytest.mark.parametrize(
    "selector", [expression("a", "In"), expression("a", "Exists", "1"), expression("a", "Gt", "1"), expression("-", "Exists")]
)
def test_what_cannot_be_parsed_is_an_error(selector):
    with pytest.raises(SelectorError):
        compile_selector(selector)


def test_selectors_with_the_same_requirements_have_the_same_key():
    one = LabelSelector(match_labels={"a": "1", "b": "2"})
    other = LabelSelector(match_labels={"b": "2"}, match_expressions=(LabelSelectorRequirement("a", "In", ("1",)),))
    assert compile_selector(one).key == compile_selector(other).key
