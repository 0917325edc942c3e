"""What a plan does not look at, or cannot see: remarks about the input that change no decision but say how far the answer goes."""

from collections.abc import Iterator

from reparto.model import codes, core
from reparto.placement.extended_resources import IMPLICIT_PREFIX, map_classes
from reparto.placement.plan import Note
from reparto.placement.snapshot import Snapshot, reference


def remarks(snapshot: Snapshot) -> Iterator[Note]:
    """Everything worth saying about the input before any pod is decided."""
    yield from snapshot.notes
    yield from _unpublished(snapshot)
    yield from _node_allocatable(snapshot)
    yield from _amounts_unknown(snapshot)
    yield from _contested(snapshot)


def _unpublished(snapshot: Snapshot) -> Iterator[Note]:
    held = [
        (claim, result)
        for claim in snapshot.claims.values()
        for result in (claim.status.allocation.devices.results if claim.status.allocation else ())
    ]
    if not held:
        return
    published = {
        (item.spec.driver, item.spec.pool.name, device.name) for item in snapshot.slices for device in item.spec.devices or ()
    }
    for claim, result in held:
        if (result.driver, result.pool, result.device) not in published:
            message = f"holds device {result.device} of {result.driver}, pool {result.pool}, which no ResourceSlice publishes"
            yield Note(codes.DEVICE_GONE, reference("ResourceClaim", claim.metadata), f"claim {claim.metadata.name} {message}")


def _node_allocatable(snapshot: Snapshot) -> Iterator[Note]:
    # Loading drops the field while its gate is off, so this speaks up only where somebody turned it on.
    for item in snapshot.slices:
        if any(device.node_allocatable_resources for device in item.spec.devices or ()):
            message = f"devices of {item.spec.driver} take CPU or memory from their node, which this version does not plan"
            yield Note(codes.NOT_PLANNED, reference("ResourceSlice", item.metadata), message)


def _amounts_unknown(snapshot: Snapshot) -> Iterator[Note]:
    if snapshot.nodes_inferred:
        return
    silent = [node for node in snapshot.nodes if node.status.allocatable is None and node.status.capacity is None]
    if silent:
        name, others = silent[0].metadata.name, len(silent) - 1
        who = f"node {name} does" if not others else f"node {name} and {others} more do"
        message = f"{who} not say what CPU, memory and number of pods they have, which were taken to be without limit"
        yield Note(codes.NODE_AMOUNTS_UNKNOWN, reference("Node", silent[0].metadata), message)


def _contested(snapshot: Snapshot) -> Iterator[Note]:
    for lost in map_classes(snapshot.classes.values()).displaced:
        message = f"DeviceClass {lost.loser} does not serve {lost.resource}, because {lost.winner} does"
        if lost.forgotten:
            message += f"; the scheduler does not know {IMPLICIT_PREFIX}{lost.loser} either"
        yield Note(codes.RESOURCE_CONTESTED, f"DeviceClass/{lost.loser}", message)


def volume_remark(pod: core.Pod) -> Note | None:
    """A note where the node of `pod` depends on its volumes."""
    names = [volume.name for volume in pod.spec.volumes if any(source is not None for source in _tying(volume))]
    if not names:
        return None
    message = f"pod {pod.metadata.name} has volumes that may tie it to nodes ({', '.join(names)}), which were not looked at"
    return Note(codes.VOLUMES, reference("Pod", pod.metadata), message)


def _tying(volume: core.Volume) -> tuple[object, ...]:
    return (
        volume.persistent_volume_claim,
        volume.ephemeral,
        volume.csi,
        volume.gce_persistent_disk,
        volume.aws_elastic_block_store,
        volume.azure_disk,
        volume.iscsi,
        volume.rbd,
    )
