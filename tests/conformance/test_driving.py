"""Pods one after the other through a `Fleet`: the feasible nodes of each sample, and the devices on the first, are Kubernetes'.

The same comparison that `benchmarks/throughput.py` makes on thousands of pods, on clusters small enough to fill up, and with
samples of every size, so that the start moves around them many times.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from benchmarks import fleet_requests, throughput

pytestmark = pytest.mark.reference

CLAIMS = (
    throughput.claim(),
    throughput.claim(3),
    throughput.claim(selector=throughput.TWO_CLAUSES),
    throughput.claim(2, aligned=True),
    throughput.claim(11),  # of ten devices a node
)


@pytest.mark.parametrize("wanted", [1, 3, 6, 7])
@pytest.mark.parametrize("in_use", [0, 6])
def test_a_sample_with_a_moving_start_finds_the_nodes_and_devices_that_upstream_finds(wanted: int, in_use: int):
    load = replace(throughput.load(7, throughput.claim(), in_use), claims=CLAIMS, wanted=wanted)
    order = random.Random(wanted).choices(range(len(CLAIMS)), k=60)
    assert 0 < load.compare(order).placed < len(order)


def test_mig_profiles_land_on_the_first_node_by_name_that_upstream_has_room_on():
    assert fleet_requests.load(2).compare(fleet_requests.order(80)).placed < 80


@pytest.mark.parametrize("nodes, sample", [(99, 99), (100, 100), (500, 230), (5000, 500), (20_000, 1000)])
def test_the_sample_is_as_large_as_kube_schedulers(nodes: int, sample: int):
    # upstream-dra.md 5.1: all below 100; else at least 100, and 50 - n / 125 percent, at least 5: 46 % of 500, 10 % of 5,000.
    assert throughput.wanted(nodes) == sample
