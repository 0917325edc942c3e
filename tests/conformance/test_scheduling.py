"""We place pods where kube-scheduler places them: random clusters, asked of the real one on an in-memory API.

REPARTO_SEED picks other clusters (default 1), `conformance.scale` says how many (500 in CI), REPARTO_FEATURES what they may be on
(`affinity,spread`; default all of `scheduling.FEATURES`). Every fifth cluster has 120 to 300 nodes, of which the scheduler looks at
some only, each time from where it stopped. A cluster on which we differ is shrunk and written to REPARTO_FAILURES
(default `build/failures`); `test_saved_failures_are_gone` asks it again from there.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import scheduling as clusters
from conformance import scheduling_answers as answers
from conformance.figures import Figures
from conformance.oracle import Oracle
from conformance.oracle import scheduling as oracle
from conformance.scale import amount, part_name, parts

pytestmark = pytest.mark.reference

SEED = os.environ.get("REPARTO_SEED", "1")
CLUSTERS = amount(500)
FEATURES = os.environ["REPARTO_FEATURES"].split(",") if os.environ.get("REPARTO_FEATURES") else None


def is_large(number: int) -> bool:
    """Whether cluster `number` has so many nodes that the scheduler does not look at all of them."""
    return number % 5 == 4


FAILURES = Path(os.environ.get("REPARTO_FAILURES") or Path(__file__).resolve().parents[2] / "build" / "failures")
SHRINK_SECONDS = 40


@pytest.fixture(scope="module")
def upstream() -> Iterator[Oracle]:
    with oracle() as running:
        yield running


def differences(upstream: Oracle, cluster: clusters.Problem) -> list[str]:
    """What differs; empty also where the question cannot be posed, which a shrunk cluster may come to."""
    answer = upstream.ask(cluster)
    if answer["kind"] != "scheduled":
        return []
    return answers.differences(cluster, answers.theirs(answer), answers.ours(cluster))


def report(upstream: Oracle, cluster: clusters.Problem) -> str:
    """Shrink a cluster on which we are wrong, save it, and say where it is."""
    small = answers.shrink(cluster, lambda smaller: bool(differences(upstream, smaller)), SHRINK_SECONDS)
    lines = differences(upstream, small)
    FAILURES.mkdir(parents=True, exist_ok=True)
    path = FAILURES / f"scheduling-{re.sub('[^a-z0-9]+', '-', cluster['id'])}.json"
    path.write_text(json.dumps({"problem": small, "differences": lines, "upstream": upstream.ask(small)}, indent=1))
    return "\n  ".join([f"cluster {cluster['id']}: {path}", *lines[:4]])


def compare(upstream: Oracle, asked: list[clusters.Problem], figures: Figures) -> Counter[str]:
    """Asks both about the clusters, fails on a difference, and counts what became of the pods."""
    outcomes: Counter[str] = Counter()
    large = sum(len(cluster["nodes"]) >= 100 for cluster in asked)
    wrong: list[str] = []
    for cluster, answer in zip(asked, upstream.ask_many(asked), strict=True):
        if answer["kind"] == "timeout":
            answer = upstream.ask(cluster)  # a busy machine; the scheduler waits for wall clocks
        assert answer["kind"] == "scheduled", f"{cluster['id']}: {answer['kind']}, {answer.get('error')}"
        outcomes.update(entry.get("reason") or "placed" for entry in answer["pods"] if not _bound(cluster, entry))
        if answers.differences(cluster, answers.theirs(answer), answers.ours(cluster)):
            wrong.append(report(upstream, cluster) if len(wrong) < 3 else f"cluster {cluster['id']} too")
    figures.add("clusters placed by kube-scheduler", asked=len(asked), differences=len(wrong), **{"with 100 nodes and more": large})
    figures.add("clusters placed by kube-scheduler", **{f"pods {outcome}": number for outcome, number in outcomes.items()})
    assert not wrong, "\n".join(wrong)
    return outcomes


def _bound(cluster: clusters.Problem, entry: dict[str, str]) -> bool:
    return any(pod["metadata"]["name"] == entry["name"] and pod["spec"].get("nodeName") for pod in cluster["pods"])


@pytest.mark.parametrize("numbers", parts(CLUSTERS, 25), ids=part_name)
def test_pods_of_random_clusters_are_placed_as_kubernetes_places_them(upstream: Oracle, numbers: range, figures: Figures) -> None:
    outcomes = compare(upstream, [clusters.make(SEED, number, FEATURES, large=is_large(number)) for number in numbers], figures)
    if FEATURES is None and len(numbers) >= 20:
        # The clusters must be worth asking about.
        pods = outcomes.total()
        assert outcomes["placed"] * 4 >= pods
        assert outcomes["Unschedulable"] * 8 >= pods


def test_saved_failures_are_gone(upstream: Oracle) -> None:
    for path in sorted(FAILURES.glob("scheduling-*.json")):
        lines = differences(upstream, json.loads(path.read_text())["problem"])
        assert not lines, f"we still differ on {path}: {lines[0]}"


def test_kubernetes_answers_the_same_when_asked_again(upstream: Oracle) -> None:
    asked = [clusters.make(SEED, number, FEATURES) for number in range(7, 40, 8)]
    first = [answers.theirs(answer) for answer in upstream.ask_many(asked)]
    second = [answers.theirs(answer) for answer in upstream.ask_many(asked)]
    assert first == second


def test_another_node_another_device_and_another_consumer_are_noticed(upstream: Oracle) -> None:
    cluster = clusters.make("fixed", 0, ("claims",))
    answer = answers.theirs(upstream.ask(cluster))
    pod = next(name for name, node in answer["pods"].items() if node)
    claim, held = next(iter(answer["claims"].items()))
    assert answers.differences(cluster, answer, answer) == []
    for wrong in (
        answer | {"pods": answer["pods"] | {pod: "another"}},
        answer | {"pods": answer["pods"] | {pod: ""}},
        answer | {"claims": answer["claims"] | {claim: held | {"allocation": {}}}},
        answer | {"claims": answer["claims"] | {claim: held | {"reservedFor": []}}},
        answer | {"claims": {name: other for name, other in answer["claims"].items() if name != claim}},
    ):
        assert len(answers.differences(cluster, answer, wrong)) == 1
