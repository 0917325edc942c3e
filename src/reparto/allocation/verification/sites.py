"""Where an allocated claim may be used, and whether its devices are there.

An allocation does not say on which node it was made. It says on which nodes it may be used: one, those of a selector, or all. Its
devices must be for every one of them, and on at least one, the *site*, the claim must be obtainable as a whole: there all other
rules are checked.

Source: upstream-dra.md 3.2, 3.3 and 3.14; KEP-4381.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from reparto.allocation.verification.nodes import only_node, selected
from reparto.allocation.verification.publication import DeviceID, Offer, Publication
from reparto.model.core import Node
from reparto.model.meta import NodeSelector

NODE_CAN_SKIP = "DRAOptionalNodeOperations"
"""What a node declares whose kubelet can skip node operations (KEP-5945)."""


class Sites:
    """Nodes by allocation. Claims with the same node selector and devices of the same slices share their answers."""

    def __init__(self, publication: Publication, nodes: Iterable[Node], skipping: bool) -> None:
        """`skipping`: devices with skipped node operations need a node that can skip them."""
        self._publication = publication
        self._skipping = skipping
        self._nodes = list(nodes)
        self._by_name = {node.metadata.name: node for node in self._nodes}
        self._allowed: dict[bytes, Sequence[Node]] = {}
        self._sites: dict[tuple[bytes, frozenset[bytes]], Node | None] = {}
        self._strays: dict[tuple[bytes, bytes], Node | None] = {}

    def site(self, selector: NodeSelector | None, devices: Sequence[DeviceID]) -> Node | None:
        """A node allowed by the allocation's selector with as many of its devices as can be; None if no known node is allowed.

        Cost: one lookup for an allocation bound to a node; else the nodes until one has all devices, once per kind of allocation.
        """
        name = only_node(selector)
        if name is not None:
            return self._by_name.get(name)
        offers = [offer for device in devices for offer in self._publication.offers(device)]
        key = (_key(selector), frozenset(_slice_and_place(offer) for offer in offers))
        if key not in self._sites:
            self._sites[key] = self._best(self._nodes_of(selector), devices)
        return self._sites[key]

    def alike(self, selector: NodeSelector | None, devices: Sequence[DeviceID]) -> Iterator[Node]:
        """The site, then all other allowed nodes that have as many of the devices."""
        site = self.site(selector, devices)
        if site is None:
            return
        yield site
        if only_node(selector) is None:
            there = self._there(devices, site)
            yield from (node for node in self._nodes_of(selector) if node is not site and self._there(devices, node) == there)

    def _best(self, nodes: Sequence[Node], devices: Sequence[DeviceID]) -> Node | None:
        best, most = None, -1
        for node in nodes:
            there = self._there(devices, node)
            if there > most:
                best, most = node, there
            if there == len(devices):
                break
        return best

    def _there(self, devices: Sequence[DeviceID], node: Node) -> int:
        """How many of the devices the node can allocate and operate."""
        offers = [self.offer(device, node) for device in devices]
        return sum(offer is not None and not self.cannot_skip(offer, node) for offer in offers)

    def offer(self, device: DeviceID, node: Node) -> Offer | None:
        """The device as the node can allocate it."""
        view = self._publication.view(device[:2], node)
        return None if view is None or view.problem is not None else view.devices.get(device[2])

    def cannot_skip(self, offer: Offer, node: Node) -> bool:
        """True if node operations of the device are to be skipped and the node's kubelet does not know how."""
        return self._skipping and bool(offer.slice.spec.skip_node_operations) and NODE_CAN_SKIP not in node.status.declared_features

    def stray(self, selector: NodeSelector | None, offer: Offer) -> Node | None:
        """A node on which the claim may be used but the device may not; None if there is none.

        Cost: the nodes, once per pair of selector and place of a device.
        """
        key = (_key(selector), _place(offer))
        if key not in self._strays:
            name = only_node(selector)
            nodes = self._nodes_of(selector) if name is None else [self._by_name[name]] if name in self._by_name else []
            self._strays[key] = next((node for node in nodes if not offer.is_for(node)), None)
        return self._strays[key]

    def _nodes_of(self, selector: NodeSelector | None) -> Sequence[Node]:
        if selector is None:
            return self._nodes
        key = _key(selector)
        if key not in self._allowed:
            self._allowed[key] = [node for node in self._nodes if selected(selector, node)]
        return self._allowed[key]


def _key(selector: NodeSelector | None) -> bytes:
    return msgspec.json.encode(selector)


def _place(offer: Offer) -> bytes:
    spec = offer.slice.spec
    own = (offer.device.node_name, offer.device.all_nodes, offer.device.node_selector) if spec.per_device_node_selection else None
    return msgspec.json.encode((spec.node_name, spec.all_nodes, spec.node_selector, own))


def _slice_and_place(offer: Offer) -> bytes:
    return offer.slice.metadata.name.encode() + b"/" + _place(offer)
