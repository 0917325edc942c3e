"""Quotas and LimitRanges let in what the API server's admission lets in: random namespaces, asked of its own code.

REPARTO_SEED picks other ones (default 1), `conformance.scale` says how many of each kind (400 in CI).
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from conformance import admission_problems as problems
from conformance.oracle import Oracle
from conformance.oracle import admission as oracle
from conformance.scale import amount
from reparto.model import core, v1
from reparto.model.quantity import Quantity
from reparto.placement.extended_resources import map_classes
from reparto.placement.limit_ranges import violations, with_defaults
from reparto.placement.quota import Quotas
from reparto.placement.resource_sums import container_limits
from reparto.placement.resources import container_requests

pytestmark = pytest.mark.reference

SEED = os.environ.get("REPARTO_SEED", "1")
PROBLEMS = amount(400)

Question = dict[str, Any]
_REFUSING = re.compile(r"(?:exceeded|failed) quota: ([^,:]+)").search


@pytest.fixture(scope="module")
def upstream() -> Iterator[Oracle]:
    with oracle() as running:
        yield running


def compare(
    upstream: Oracle, kind: str, make: Callable[[random.Random], Question], check: Callable[..., list[str]]
) -> Counter[str]:
    """Asks both, fails where they differ, and counts how often something was refused and let in."""
    asked = [make(random.Random(f"{SEED}/{kind}/{number}")) for number in range(PROBLEMS)]
    outcomes: Counter[str] = Counter()
    for number, (question, answer) in enumerate(zip(asked, upstream.ask_many(asked), strict=True)):
        assert answer["kind"] == "judged", f"{SEED}/{kind}/{number}: {answer}"
        wrong = check(question, answer, outcomes)
        assert not wrong, f"{SEED}/{kind}/{number}: {'; '.join(wrong)}\n{msgspec.json.encode(question).decode()}"
    print(dict(outcomes))
    return outcomes


def charged(question: Question, answer: dict[str, Any], outcomes: Counter[str]) -> list[str]:
    def typed(name: str, kind: type[Any]) -> list[Any]:
        return [msgspec.convert({"kind": kind.__name__, **item}, kind) for item in question[name]]

    mapping = map_classes(typed("classes", v1.DeviceClass))
    book = Quotas(typed("quotas", core.ResourceQuota), typed("claims", v1.ResourceClaim), typed("pods", core.Pod), mapping)
    wrong: list[str] = []
    for item, refused in zip(question["create"], answer.get("refused", ()), strict=True):
        if "pod" in item:
            ours = book.admit_pod(msgspec.convert({"kind": "Pod", **item["pod"]}, core.Pod))
        else:
            ours = book.admit_claim(msgspec.convert({"kind": "ResourceClaim", **item["claim"]}, v1.ResourceClaim))
        outcomes[f"{next(iter(item))} {'refused' if refused else 'let in'}"] += 1
        theirs = _REFUSING(refused)
        if (ours.quota.rpartition("/")[2] if ours else "") != (theirs[1] if theirs else ""):
            wrong.append(f"upstream {refused or 'lets it in'}, we {ours}")
    used = book.used(problems.NAMESPACE)
    for name, amounts in answer.get("used", {}).items():
        differing = {each: text for each, text in amounts.items() if used[name][each] != Quantity.parse(text)}
        wrong += [f"{name}: {each}: upstream {text}, we {used[name][each]}" for each, text in differing.items()]
    return wrong


def bounded(question: Question, answer: dict[str, Any], outcomes: Counter[str]) -> list[str]:
    ranges = [msgspec.convert({"kind": "LimitRange", **item}, core.LimitRange) for item in question["limitRanges"]]
    pod = with_defaults(msgspec.convert({"kind": "Pod", **question["pod"]}, core.Pod), ranges)
    ours = violations(pod, ranges)
    theirs = answer.get("refused") or []
    outcomes["refused" if theirs else "let in"] += 1
    wrong: list[str] = []
    if [text.partition(":")[0] for text in theirs[:1]] != ([ours.limit_range.rpartition("/")[2]] if ours else []):
        wrong.append(f"upstream {theirs or 'lets it in'}, we {ours}")
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        stored = answer["containers"][container.name]
        for field, resources in (("requests", container_requests(container)), ("limits", container_limits(container))):
            if _amounts(stored.get(field) or {}) != _amounts(resources):
                wrong.append(f"{field} of {container.name}: upstream {stored.get(field)}, we {resources}")
    return wrong


def _amounts(resources: Any) -> dict[str, Quantity]:
    return {name: Quantity.parse(text) for name, text in resources.items()}


def test_quotas_let_in_what_the_api_server_lets_in_and_count_what_it_counts(upstream: Oracle) -> None:
    outcomes = compare(upstream, "quotas", problems.quotas, charged)
    assert all(outcomes[f"{kind} {what}"] > PROBLEMS // 10 for kind in ("pod", "claim") for what in ("let in", "refused"))


def test_limit_ranges_set_and_refuse_what_the_api_server_sets_and_refuses(upstream: Oracle) -> None:
    outcomes = compare(upstream, "limits", problems.limits, bounded)
    assert min(outcomes["let in"], outcomes["refused"]) > PROBLEMS // 10
