"""Images that a node already has: ImageLocality, a score.

Source: scheduler `imagelocality` of 1.37.2.
"""

from collections.abc import Sequence
from typing import Final

from reparto.model.core import Pod
from reparto.placement.cluster import Cluster

_MIB: Final = 2**20
_LEAST: Final = 23 * _MIB
_MOST_PER_IMAGE: Final = 1000 * _MIB
_HIGHEST: Final = 100


class Images:
    """The plugin: which nodes have which images, and the scores of all nodes for pods that use the same ones."""

    def __init__(self, cluster: Cluster) -> None:
        self._nodes = len(cluster)
        self._sizes: dict[str, int] = {}  # of an image, as the first node by name that has it says
        self._holders: dict[str, list[int]] = {}
        for state in sorted(cluster.nodes, key=lambda state: state.name.encode()):
            for image in state.node.status.images:
                for name in image.names:
                    self._sizes.setdefault(name, image.size_bytes)
            for name in {name for image in state.node.status.images for name in image.names}:
                self._holders.setdefault(name, []).append(state.position)
        self._scores: dict[tuple[str, ...], Sequence[int] | None] = {}

    def scores(self, pod: Pod) -> Sequence[int] | None:
        """The score of every node, by position; None where all have none."""
        spec = pod.spec
        volumes = [volume.image.reference for volume in spec.volumes if volume.image is not None]
        names = tuple(_complete(name) for name in (*(each.image for each in (*spec.init_containers, *spec.containers)), *volumes))
        if names not in self._scores:
            self._scores[names] = self._scored(names)
        return self._scores[names]

    def _scored(self, names: tuple[str, ...]) -> Sequence[int] | None:
        """What an image adds on a node that has it is its size, times the share of nodes that have it."""
        totals: dict[int, int] = {}
        for name in names:
            holders = self._holders.get(name, ())
            worth = int(float(self._sizes[name]) * (len(holders) / self._nodes)) if holders else 0
            for position in holders:
                totals[position] = totals.get(position, 0) + worth
        most = _MOST_PER_IMAGE * len(names)
        scores = [0] * self._nodes
        for position, total in totals.items():
            scores[position] = _HIGHEST * (min(max(total, _LEAST), most) - _LEAST) // (most - _LEAST)
        return scores if any(scores) else None


def _complete(name: str) -> str:
    """An image without a tag is its `latest`."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
