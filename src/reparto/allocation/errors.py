"""What stops an allocation: upstream's three kinds of failure, and ours for a search that was cut off.

`Allocator.allocate` returns None where the claims simply do not fit on a node. Everything worse is an `AllocationError`; its
message uses upstream's wording where a person may want to search for it, and the machine-readable parts stand beside it.
"""

from enum import StrEnum


class FailureKind(StrEnum):
    """Why allocation cannot go on. One value per rule of upstream-dra.md 3.3 to 3.14 that ends an attempt."""

    FEATURE_DISABLED = "feature-disabled"
    UNSUPPORTED_REQUEST = "unsupported-request"
    NO_SUCH_CLASS = "no-such-class"
    SELECTOR_INVALID = "selector-invalid"
    SELECTOR_FAILED = "selector-failed"
    DERIVED_ATTRIBUTE_INVALID = "derived-attribute-invalid"
    DERIVED_ATTRIBUTE_FAILED = "derived-attribute-failed"
    POOL_INCOMPLETE = "pool-incomplete"
    POOL_INVALID = "pool-invalid"
    TOO_MANY_DEVICES = "too-many-devices"
    CAPACITY_UNUSABLE = "capacity-unusable"
    CONSTRAINT_ON_ALL = "constraint-on-all"
    NODE_SELECTOR_INVALID = "node-selector-invalid"
    GAVE_UP = "gave-up"


class AllocationError(Exception):
    """The attempt ends here. `node_only`: only this node is out; otherwise the pod cannot be scheduled anywhere in this attempt.

    `claim` is `namespace/name`, `request` the request or `request/subrequest`, `device` is `driver/pool/device`, `class_name` the
    DeviceClass and `selector` the index of the selector, each empty or None where it does not apply.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        node_only: bool = False,
        claim: str = "",
        request: str = "",
        class_name: str = "",
        device: str = "",
        selector: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.node_only = node_only
        self.claim = claim
        self.request = request
        self.class_name = class_name
        self.device = device
        self.selector = selector


class GaveUp(AllocationError):
    """The search used up its step budget: whether the claims fit on this node is not known. Other nodes may still be tried."""

    def __init__(self, steps: int) -> None:
        super().__init__(
            f"gave up after {steps} steps: whether the claims fit on this node is not known",
            kind=FailureKind.GAVE_UP,
            node_only=True,
        )
        self.steps = steps
