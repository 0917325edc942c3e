"""The devices of a pod: DynamicResources. The allocator says which nodes have them, claims that have them already where they are.

The fleet keeps answers by what is asked for, and asks again only about nodes whose devices changed. A pod that asks for extended
resources which DRA serves gets one more claim, which depends on the node (`extended_resources.py`).

Source: upstream-dra.md 5.1; scheduler `dynamicresources` of 1.37.2.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import msgspec

from reparto.allocation import Features, Fleet
from reparto.allocation.lanes import Lanes, all_of
from reparto.allocation.node_matching import CompiledNodeSelector
from reparto.model import codes, v1
from reparto.placement.claims import PodClaim, binding
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.extended_resources import Demand, NodeClaim
from reparto.placement.plugins.declared_features import OPTIONAL_NODE_OPERATIONS
from reparto.placement.pod_view import PodView, Shape
from reparto.placement.reasons import Failure
from reparto.placement.snapshot import reference

Allocations = list[v1.AllocationResult]

_BEST_RANK: Final = 8  # alternatives that a request can have; the first is worth this much, the next one less
_HIGHEST: Final = 100


class Devices:
    """The plugin: asks the fleet, which keeps the answers."""

    def __init__(self, cluster: Cluster, fleet: Fleet, features: Features) -> None:
        self.cluster = cluster
        self.fleet = fleet
        self.features = features
        self._selectors: dict[bytes, Lanes] = {}

    @property
    def moment(self) -> int:
        """Equal as long as no device was taken or given back."""
        return self.fleet.moment

    def changed_since(self, moment: int) -> Sequence[int] | None:
        """Positions of the nodes whose devices changed since; None: any may have."""
        return self.fleet.changed_since(moment)

    def of(self, view: PodView, entries: Sequence[PodClaim], demand: Demand | None) -> "PodDevices | None":
        """The question for one pod; None: it needs no devices."""
        return PodDevices(self, view, entries, demand) if entries or demand is not None else None

    def selected(self, allocation: v1.AllocationResult) -> Lanes:
        """The nodes on which an allocation can be used."""
        selector = allocation.node_selector
        if selector is None:
            return b"\1" * len(self.cluster)
        key = msgspec.msgpack.encode(selector)
        if key not in self._selectors:
            compiled = CompiledNodeSelector(selector)
            self._selectors[key] = bytes(compiled.matches(state.node) for state in self.cluster.nodes)
        return self._selectors[key]


class PodDevices:
    """What one pod needs: devices for its open claims, and to be where its allocated claims are."""

    def __init__(self, devices: Devices, view: PodView, entries: Sequence[PodClaim], demand: Demand | None) -> None:
        self.entries = entries
        self.open = [entry.claim for entry in entries if entry.claim.status.allocation is None]
        self._allocated = [entry for entry in entries if entry.claim.status.allocation is not None]
        self._devices = devices
        self._demand = demand
        self._pod = view.pod
        shape: Shape | None = view.shape if demand is not None else None
        self.key = (tuple(id(claim.spec) for claim in self.open), shape, bool(entries))
        # The claims are the same on all nodes, but for the one that is made for extended resources.
        self._question: Hashable = self.key if demand is not None else devices.fleet.question(self.open)
        self.answers = devices.fleet.answers(self._question) if self.open or demand is not None else None
        self._available = [(entry, self._where(entry)) for entry in self._allocated]

    # --- the filter --------------------------------------------------------------------------------------------------------------

    def extended(self, state: NodeState) -> NodeClaim | None:
        """The claim for extended resources that the node needs; None: none."""
        if self._demand is None:
            return None
        wanted = self._demand.on(state.node)
        return wanted if wanted.is_needed(bool(self.entries)) else None

    def claims(self, state: NodeState) -> list[v1.ResourceClaim]:
        """What the allocator is asked for on the node, the claim for extended resources last."""
        wanted = self.extended(state)
        if wanted is None:
            return self.open
        return [*self.open, v1.ResourceClaim(metadata=self._pod.metadata, spec=wanted.spec)]

    def fit(self, position: int) -> bool:
        """Whether the open claims fit on the node. Raises AllocationError where that ends the pod's attempt."""
        return self._devices.fleet.fit(self._question, position, self.claims(self._devices.cluster.nodes[position]))

    def allocations(self, state: NodeState) -> Allocations | None:
        """The allocations of `claims(state)`, None where they do not fit. Raises AllocationError."""
        return self._devices.fleet.result(self._question, state.position, self.claims(state))

    def available(self) -> Lanes | None:
        """The nodes on which all allocated claims can be used; None: all."""
        return all_of([lanes for _, lanes in self._available]) if self._available else None

    def in_the_way(self, position: int) -> list[PodClaim]:
        """The allocated claims that cannot be used on the node."""
        return [entry for entry, lanes in self._available if not lanes[position]]

    def failure(self, entry: PodClaim, state: NodeState) -> Failure:
        """Why an allocated claim cannot be used on the node."""
        claim = entry.claim
        name, subject = claim.metadata.name, reference("ResourceClaim", claim.metadata)
        assert claim.status.allocation is not None
        if not self._devices.selected(claim.status.allocation)[state.position]:
            cause = f"claim {name} is allocated already, and not for this node"
            return Failure(state.name, codes.CLAIM_PINNED, subject, "status.allocation.nodeSelector", cause)
        if _skips_node_operations(claim.status.allocation) and not _declares(state):
            cause = f"claim {name} needs the feature {OPTIONAL_NODE_OPERATIONS}, which the node does not declare"
            return Failure(state.name, codes.NODE_FEATURE, subject, "status.allocation.devices.results", cause)
        cause = f"claim {name}: {binding(claim)[1]} has failed to bind"
        return Failure(state.name, codes.BINDING_FAILED, subject, "status.devices", cause)

    def _where(self, entry: PodClaim) -> Lanes:
        allocation = entry.claim.status.allocation
        assert allocation is not None
        lanes = self._devices.selected(allocation)
        if _skips_node_operations(allocation):
            lanes = all_of([lanes, bytes(_declares(state) for state in self._devices.cluster.nodes)])
        if self._devices.features.device_binding_and_status and binding(entry.claim)[0] == "failed":
            return bytes(len(lanes))
        return lanes

    # --- the score ---------------------------------------------------------------------------------------------------------------

    @property
    def ranks(self) -> bool:
        """Whether any request has alternatives, so that nodes can differ."""
        return self.answers is not None and any(
            request.first_available for entry in self.entries for request in entry.claim.spec.devices.requests
        )

    def scores(self, states: Sequence[NodeState]) -> list[int]:
        """The normalized score of each of the nodes that fit: first alternatives are better."""
        raw = [self._rank(state) for state in states]
        highest = max(raw)
        return [_HIGHEST * rank // highest for rank in raw] if highest else raw

    def _rank(self, state: NodeState) -> int:
        allocations = iter(self.allocations(state) or ())
        total = 0
        for entry in self.entries:
            allocation = entry.claim.status.allocation or next(allocations)
            chosen = {result.request for result in allocation.devices.results}
            for request in entry.claim.spec.devices.requests:
                for index, alternative in enumerate(request.first_available):
                    if f"{request.name}/{alternative.name}" in chosen:
                        total += _BEST_RANK - index
        return total


def _skips_node_operations(allocation: v1.AllocationResult) -> bool:
    return any(result.skip_node_operations for result in allocation.devices.results)


def _declares(state: NodeState) -> bool:
    return OPTIONAL_NODE_OPERATIONS in state.node.status.declared_features
