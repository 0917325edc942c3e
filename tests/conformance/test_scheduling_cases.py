"""Clusters that kube-scheduler 1.37.2 has placed once and for all: its answers are in `scheduling_cases/`, so this needs no Go.

A case is a cluster in the oracle's form and the answer in the form of `scheduling_answers`. A cluster on which we once differed
becomes a case; the others are there because each brings several rules together. That the recorded answers are Kubernetes' own is
checked where Go is to be had.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import scheduling_answers as answers
from conformance.oracle import scheduling as oracle

CASES = sorted((Path(__file__).parent / "scheduling_cases").glob("*.json"))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)


def read(case: Path) -> tuple[dict[str, Any], answers.Answer]:
    recorded = json.loads(case.read_text())
    return recorded["problem"], recorded["answer"]


@each_case
def test_a_recorded_cluster_is_placed_as_kubernetes_placed_it(case: Path) -> None:
    cluster, recorded = read(case)
    assert answers.differences(cluster, recorded, answers.ours(cluster)) == []


@pytest.mark.reference
def test_kubernetes_still_places_recorded_clusters_so() -> None:
    clusters = [read(case) for case in CASES]
    with oracle() as upstream:
        for (cluster, recorded), answer in zip(clusters, upstream.ask_many(cluster for cluster, _ in clusters), strict=True):
            assert answers.differences(cluster, recorded, answers.theirs(answer)) == []
