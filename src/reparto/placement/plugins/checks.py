"""What a check of single nodes looks like, and the answers of all checks for the pods of one shape.

A check that has nothing to say about a pod is not made at all. The answers are kept for every node and asked again only for nodes
on which a pod was placed since.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.rejections import Rejection


class NodeCheck(Protocol):
    """One filter for one pod."""

    def suspects(self, cluster: Cluster) -> Iterable[int]:
        """Positions of the nodes that it might reject; cheaper than asking about each."""
        ...

    def __call__(self, state: NodeState) -> Rejection | None:
        """Why the node is out; None: it may be used."""
        ...


class Checked:
    """The verdicts of `checks`, in their order, for every node of the cluster."""

    def __init__(self, checks: Sequence[NodeCheck], cluster: Cluster) -> None:
        self._checks = tuple(checks)
        self._cluster = cluster
        self._seen = len(cluster.changes)
        self._fits = bytearray(b"\1" * len(cluster))
        self._why: dict[int, Rejection] = {}
        for check in self._checks:
            for position in check.suspects(cluster):
                if self._fits[position] and check(cluster.nodes[position]) is not None:
                    self._fits[position] = 0

    def fits(self) -> bytearray:
        """One byte a node: 1 if all checks pass. Not to be changed."""
        changes = self._cluster.changes
        if self._seen < len(changes):
            for position in set(changes[self._seen :]):
                self._fits[position] = self.of(self._cluster.nodes[position]) is None
                self._why.pop(position, None)
            self._seen = len(changes)
        return self._fits

    def why(self, position: int) -> Rejection | None:
        """The first check that rejects the node."""
        if self.fits()[position]:
            return None
        known = self._why.get(position)
        if known is None:
            known = self.of(self._cluster.nodes[position])
            assert known is not None
            self._why[position] = known
        return known

    def of(self, state: NodeState) -> Rejection | None:
        """The first check that rejects a node in the given state."""
        for check in self._checks:
            if (rejected := check(state)) is not None:
                return rejected
        return None
