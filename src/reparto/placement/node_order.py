"""In which order the scheduler looks at nodes, and at how many of them.

A scheduler that starts on an existing cluster sees the nodes by name, sorts them into zones, and then takes one of each zone in
turn. It does not look at all of a large cluster: it stops when enough nodes fit, and begins the next pod's search where it stopped.

Source: scheduler `backend/cache/node_tree.go`, `schedule_one.go` of 1.37.2; upstream-dra.md 5.1.
"""

from collections.abc import Iterable
from typing import Final

from reparto.model.core import Node

# Both spellings of region and zone; the old one wins (component-helpers, GetZoneKey).
_ZONE: Final = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGION: Final = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")

# Fewer nodes than this are all looked at, and never fewer than this (minFeasibleNodesToFind).
_ALL_BELOW: Final = 100
_PERCENT_MOST: Final = 50
_PERCENT_LEAST: Final = 5
_NODES_PER_PERCENT: Final = 125


def in_scheduler_order(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """`nodes` by name, then one of each zone in turn."""
    zones: dict[tuple[str, str], list[Node]] = {}
    for node in sorted(nodes, key=lambda node: node.metadata.name.encode()):
        zones.setdefault(_zone(node), []).append(node)
    longest = max(map(len, zones.values()), default=0)
    return tuple(zone[turn] for turn in range(longest) for zone in zones.values() if turn < len(zone))


def wanted(nodes: int, percentage: int = 0) -> int:
    """How many nodes that fit are enough, in a cluster (or a choice) of `nodes`. `percentage` 0: the scheduler's default."""
    if nodes < _ALL_BELOW:
        return nodes
    percentage = percentage or max(_PERCENT_LEAST, _PERCENT_MOST - nodes // _NODES_PER_PERCENT)
    return max(_ALL_BELOW, nodes * percentage // 100)


def _zone(node: Node) -> tuple[str, str]:
    labels = node.metadata.labels or {}
    return _first(labels, _REGION), _first(labels, _ZONE)


def _first(labels: dict[str, str], keys: tuple[str, str]) -> str:
    return labels[keys[0]] if keys[0] in labels else labels.get(keys[1], "")
