"""The nodes of a plan with what runs on them, in the order in which the scheduler looks at them.

Plugins answer for all nodes at once, and remember their answers. What they need for that is here: amounts left on every node, side
by side; which nodes share a value of a label; and which nodes changed since somebody last looked.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from reparto.model.core import Node
from reparto.model.meta import ObjectMeta
from reparto.placement.label_selectors import NO_LABELS, Labels
from reparto.placement.node_order import in_scheduler_order
from reparto.placement.resources import CPU, MEMORY, PODS, Amounts, PodResources, node_allocatable

# More than any sum of requests: what a node has of which nothing is known.
UNLIMITED = 2**62

Port = tuple[str, str, int]
"""Host IP, protocol, host port."""


class NodeState:
    """One node: what it has (`allocatable`; None: not known, so without limit) and what its pods are charged for."""

    __slots__ = (
        "allocatable",
        "charged",
        "cpu",
        "evenness",
        "labels",
        "memory",
        "name",
        "node",
        "pods",
        "ports",
        "position",
        "usual_cpu",
        "usual_memory",
    )

    def __init__(self, node: Node, position: int) -> None:
        self.node = node
        self.name = node.metadata.name
        self.position = position
        self.labels: Labels = node.metadata.labels or NO_LABELS
        self.allocatable: Amounts | None = _allocatable(node)
        self.cpu = self.has(CPU)
        self.memory = self.has(MEMORY)
        self.charged: Amounts = {}
        self.evenness: int | None = None  # of the shares of CPU and memory in use; kept by the plugin that computes it
        self.usual_cpu = 0
        self.usual_memory = 0
        self.pods = 0
        self.ports: set[Port] = set()

    def charge(self, resources: PodResources, ports: Iterable[Port]) -> None:
        """A pod with these resources is on the node from now on."""
        self.pods += 1
        self.evenness = None
        for resource, amount in resources.charged.items():
            self.charged[resource] = self.charged.get(resource, 0) + amount
        self.usual_cpu += resources.charged_usual[0]
        self.usual_memory += resources.charged_usual[1]
        self.ports.update(ports)

    def copy(self) -> "NodeState":
        """The node as it is now, for asking what would be if."""
        other = NodeState(self.node, self.position)
        other.charged, other.ports, other.pods = dict(self.charged), set(self.ports), self.pods
        other.usual_cpu, other.usual_memory = self.usual_cpu, self.usual_memory
        return other

    def has(self, resource: str) -> int:
        """How much of `resource` the node has in all."""
        return UNLIMITED if self.allocatable is None else self.allocatable.get(resource, 0)

    def free(self, resource: str) -> int:
        """How much of `resource` is left; of `pods`, how many more."""
        used = self.pods if resource == PODS else self.charged.get(resource, 0)
        return self.has(resource) - used


class Topology(msgspec.Struct, frozen=True, eq=False):
    """The values of one label: `domain_of` has the number of each node's value (-1: none), `values` the value of each number."""

    domain_of: Sequence[int]
    values: Sequence[str]
    domains: Mapping[str, int]


class Cluster:
    """All nodes, by position. Only `charge` changes it."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = tuple(NodeState(node, position) for position, node in enumerate(in_scheduler_order(nodes)))
        self.position = {state.name: state.position for state in self.nodes}
        self.changes: list[int] = []
        """Positions of nodes in the order in which they were charged, as often as they were."""
        self._free: dict[str, list[int]] = {}
        self._topologies: dict[str, Topology] = {}
        self.cordoned = tuple(state.position for state in self.nodes if state.node.spec.unschedulable)
        self.tainted = tuple(state.position for state in self.nodes if state.node.spec.taints)

    def __len__(self) -> int:
        return len(self.nodes)

    def free(self, resource: str) -> Sequence[int]:
        """What is left of `resource` on every node."""
        if resource not in self._free:
            self._free[resource] = [state.free(resource) for state in self.nodes]
        return self._free[resource]

    def topology(self, key: str) -> Topology:
        """The nodes by their value of the label `key`."""
        if key not in self._topologies:
            domains: dict[str, int] = {}
            numbers: list[int] = []
            for state in self.nodes:
                value = state.labels.get(key)
                numbers.append(-1 if value is None else domains.setdefault(value, len(domains)))
            self._topologies[key] = Topology(numbers, tuple(domains), domains)
        return self._topologies[key]

    def charge(self, position: int, resources: PodResources, ports: Iterable[Port]) -> None:
        """A pod with these resources is on the node from now on."""
        state = self.nodes[position]
        state.charge(resources, ports)
        self.changes.append(position)
        for resource in (PODS, *resources.charged):
            if resource in self._free:
                self._free[resource][position] = state.free(resource)


def _allocatable(node: Node) -> Amounts | None:
    """None where neither allocatable nor capacity is given. The API server takes one for the other."""
    status = node.status
    if status.allocatable is None and status.capacity is None:
        return None
    if status.allocatable is None:
        node = Node(metadata=ObjectMeta(), status=msgspec.structs.replace(status, allocatable=status.capacity))
    return node_allocatable(node)
