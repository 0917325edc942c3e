"""Host ports: NodePorts. Of two pods on a node, only one can have a port of an address.

Source: scheduler `nodeports`, `framework/types.go` (HostPortInfo) of 1.37.2.
"""

from collections.abc import Iterable
from typing import Final

from reparto.model import codes
from reparto.model.core import Pod
from reparto.placement.cluster import Cluster, NodeState, Port
from reparto.placement.rejections import Rejection, rejection
from reparto.placement.resources import is_sidecar

_ANY_ADDRESS: Final = "0.0.0.0"  # what an absent hostIP means; nothing is bound here


def host_ports(pod: Pod) -> tuple[Port, ...]:
    """The host ports of containers that keep running. On the host's network, every port of a container is one."""
    containers = (*(each for each in pod.spec.init_containers if is_sidecar(each)), *pod.spec.containers)
    ports: list[Port] = []
    for container in containers:
        for port in container.ports:
            number = port.host_port or (port.container_port if pod.spec.host_network else 0)
            if number > 0:
                ports.append((port.host_ip or _ANY_ADDRESS, port.protocol or "TCP", number))
    return tuple(ports)


class HostPorts:
    """The ports that the pod needs free."""

    @classmethod
    def of(cls, pod: Pod) -> "HostPorts | None":
        ports = host_ports(pod)
        return cls(ports) if ports else None

    def __init__(self, ports: tuple[Port, ...]) -> None:
        self._ports = ports

    def suspects(self, cluster: Cluster) -> Iterable[int]:
        return (state.position for state in cluster.nodes if state.ports)

    def __call__(self, state: NodeState) -> Rejection | None:
        for address, protocol, number in self._ports:
            if any(
                (protocol, number) == (used[1], used[2]) and (_ANY_ADDRESS in (address, used[0]) or address == used[0])
                for used in state.ports
            ):
                cause = f"host port {number}/{protocol} is in use"
                return rejection(codes.HOST_PORT, "spec.containers", cause, resolvable=True)
        return None
