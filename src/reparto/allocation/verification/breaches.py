"""What the checker finds: breaches of the rules by which devices may be allocated.

Every rule has one kind, a name that stays. How bad a breach is follows from what the rule rests on. A claim's spec never changes
and neither does its allocation, but slices, classes and nodes do, so most rules can only be checked against what is published now.
`Standing` keeps the three apart, and so a caller who wants only what must be mended now need not know the rules.
"""

from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """What a breach says about the allocation."""

    MADE_WRONG = "made-wrong"
    """The claims alone show it, whatever was published: no allocator that follows the rules made this."""
    WRONG_NOW = "wrong-now"
    """What is held cannot be had as slices and nodes are now. Either it was made wrong, or they changed under it."""
    NOT_AGAIN = "not-again"
    """It may stay: Kubernetes leaves claims and their pods alone. But today's scheduler would not allocate it so again."""


class BreachKind(StrEnum):
    """One kind per rule."""

    # The claim alone.
    REQUEST_UNKNOWN = "request-unknown"
    """The result is for no request of the claim, or for a request with alternatives without saying which."""
    ALTERNATIVES_MIXED = "alternatives-mixed"
    """Devices for more than one alternative of a request."""
    COUNT = "count"
    """Not as many devices as the request asks for."""
    TOO_MANY_DEVICES = "too-many-devices"
    """More than 32 devices in a claim."""
    DEVICE_REPEATED = "device-repeated"
    """One device more than once in a claim, or more than one share of it for one request."""
    TOLERATIONS_NOT_COPIED = "tolerations-not-copied"
    """The tolerations in the result, by which pods are evicted or not, are not those of the request."""
    ADMIN_ACCESS = "admin-access"
    """Admin access without having asked for it, or the other way round."""
    CONFIG_OF_CLAIM = "config-of-claim"
    """The claim's own configuration is not handed on as it applies."""

    # Several claims.
    DEVICE_HELD_TWICE = "device-held-twice"
    """A device that two claims hold whole."""
    SHARE_ID_REPEATED = "share-id-repeated"
    """Two shares of a device with the same ID."""

    # Claims and what is published now; the device is not to be had.
    DEVICE_NOT_PUBLISHED = "device-not-published"
    """No slice has the device."""
    NODE_UNKNOWN = "node-unknown"
    """No known node is one on which the claim may be used."""
    DEVICE_NOT_ON_NODE = "device-not-on-node"
    """The device is not for a node on which the claim may be used."""
    DEVICE_HELD_AND_SHARED = "device-held-and-shared"
    """A device that one claim holds whole, and another a share of. Upstream does that to a device republished as exclusive."""
    CAPACITY_OVERDRAWN = "capacity-overdrawn"
    """Shares of a device hold more than it has."""
    COUNTERS_OVERDRAWN = "counters-overdrawn"
    """Devices of a pool draw more from a counter than there is."""
    COMPATIBILITY_GROUPS = "compatibility-groups"
    """Devices on one counter set that have no compatibility group in common."""

    # Claims and what is published now; only for new allocations.
    POOL_OUTDATED = "pool-outdated"
    """The device belongs to a generation of its pool that has been replaced."""
    POOL_INCOMPLETE = "pool-incomplete"
    """Slices of the pool are missing, or there are too many."""
    POOL_INVALID = "pool-invalid"
    """The slices of the pool contradict each other."""
    FEATURE_OFF = "feature-off"
    """The request or the device uses a feature that is not on."""
    CLASS_MISSING = "class-missing"
    """The device class does not exist."""
    SELECTOR = "selector"
    """A selector of the class or the request is not true for the device."""
    CAPACITY_REQUEST = "capacity-request"
    """The device cannot serve the capacity that the request asks for."""
    SHARE_ID = "share-id"
    """A share ID for a device that allows one allocation, or none for a device that allows several."""
    CONSUMED_CAPACITY = "consumed-capacity"
    """The result does not record what the request consumes of each capacity of the device."""
    TAINT = "taint"
    """A taint of the device is not tolerated."""
    CONSTRAINT = "constraint"
    """Devices of the claim that should agree do not, or those that should differ do not."""
    ALL_DEVICES = "all-devices"
    """A request for all devices does not have all that match."""
    BINDING_CONDITIONS = "binding-conditions"
    """The result does not repeat the binding conditions of the device."""
    NODE_OPERATIONS = "node-operations"
    """Skipped node operations: the result does not repeat the slice's, or the node cannot skip any."""
    NODE_SELECTOR = "node-selector"
    """The allocation may be used on other nodes than its devices ask for."""
    CONFIG_OF_CLASS = "config-of-class"
    """The configuration of the classes is not handed on as it is."""

    @property
    def standing(self) -> Standing:
        """What a breach of this kind says about the allocation."""
        if self in _MADE_WRONG:
            return Standing.MADE_WRONG
        return Standing.WRONG_NOW if self in _WRONG_NOW else Standing.NOT_AGAIN


_MADE_WRONG = frozenset(
    (
        BreachKind.REQUEST_UNKNOWN,
        BreachKind.ALTERNATIVES_MIXED,
        BreachKind.COUNT,
        BreachKind.TOO_MANY_DEVICES,
        BreachKind.DEVICE_REPEATED,
        BreachKind.TOLERATIONS_NOT_COPIED,
        BreachKind.ADMIN_ACCESS,
        BreachKind.CONFIG_OF_CLAIM,
        BreachKind.DEVICE_HELD_TWICE,
        BreachKind.SHARE_ID_REPEATED,
    )
)
_WRONG_NOW = frozenset(
    (
        BreachKind.DEVICE_NOT_PUBLISHED,
        BreachKind.NODE_UNKNOWN,
        BreachKind.DEVICE_NOT_ON_NODE,
        BreachKind.DEVICE_HELD_AND_SHARED,
        BreachKind.CAPACITY_OVERDRAWN,
        BreachKind.COUNTERS_OVERDRAWN,
        BreachKind.COMPATIBILITY_GROUPS,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One rule that one allocation breaks.

    `object` is the claim (`ResourceClaim/namespace/name`), `path` the place in it, `device` is `driver/pool/device` where one is
    concerned, `others` are the other claims that take part, sorted. `message` is a sentence with what is there and what should be.
    """

    kind: BreachKind
    object: str
    path: str
    message: str
    device: str = ""
    others: tuple[str, ...] = ()

    @property
    def standing(self) -> Standing:
        """What this says about the allocation: made wrong, wrong now, or not to be had again."""
        return self.kind.standing

    def __str__(self) -> str:
        return f"{self.object}: {self.path}: {self.message}"
