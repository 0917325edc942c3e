"""What one attempt on one node depends on besides the claims, and what can be said of a single device without taking it.

The tests of a device stand here, apart from the search, because three parts ask them: the search while it walks, the instance that
it is written down as, and the explanation of a failure. All of them may raise the errors that stop a pod, so nobody may ask about a
device before upstream would have.

Source: upstream-dra.md 3.6, 3.8 and 3.11.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple, TypeAlias

from reparto.allocation.capacity import CapacityError, Draw
from reparto.allocation.constraints import static_attribute
from reparto.allocation.errors import AllocationError, FailureKind
from reparto.allocation.features import Features
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.pools import Pool
from reparto.allocation.requests import Alternative
from reparto.allocation.selectors import Selectors
from reparto.allocation.state import AllocatedState
from reparto.model.core import Node
from reparto.model.v1 import DeviceAttribute

NODE_OPERATIONS_FEATURE = "DRAOptionalNodeOperations"
"""What a node declares in `status.declaredFeatures` when its kubelet can leave out calls to a driver."""

PATIENCE = 16
"""How often the search takes something back before it looks at the whole: plain mishaps are over by then, and to write the whole
down costs about as much as this."""

_ANSWERS_KEPT = 4_096

Drawer = Callable[[PublishedDevice, Mapping[str, str]], Draw | None]
"""What a share of a device with these capacity requests takes; None if the device cannot serve them. Raises CapacityError."""

Candidate: TypeAlias = tuple[Pool, PublishedDevice]
Requested: TypeAlias = Alternative[Candidate]


class Picked(NamedTuple):
    """The alternative (`choice`) of one request, and the positions of its devices in the order in which they are taken."""

    claim: int
    request: int
    choice: int
    positions: tuple[int, ...]


class Answer(NamedTuple):
    """What is picked for each request, or None if there is no solution."""

    picks: Sequence[Picked] | None


class Answers:
    """Answers to instances, by what they say, the latest few thousand: equal instances have equal answers, whatever the names."""

    def __init__(self, kept: int = _ANSWERS_KEPT) -> None:
        self._kept = kept
        self._known: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Answer | None:
        """The answer that was put there, or None."""
        with self._lock:
            if key not in self._known:
                return None
            self._known.move_to_end(key)
            return self._known[key]

    def put(self, key: Hashable, answer: Answer) -> None:
        """Remember an answer, and forget the one that was not asked for for longest."""
        with self._lock:
            self._known[key] = answer
            while len(self._known) > self._kept:
                self._known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """What one attempt depends on besides the claims.

    After `patience` steps back, or a long detour, the search looks at the whole; -1 makes it do so at once, None never: tests use
    both. `answers` may be shared between attempts.
    """

    node: Node
    pools: Sequence[Pool]
    features: Features
    allocated: AllocatedState
    selectors: Selectors
    draws: Drawer
    new_share_id: Callable[[], str]
    step_budget: int
    patience: int | None = PATIENCE
    answers: Answers = field(default_factory=Answers, repr=False)


def selectable(setting: Setting, alternative: Requested, record: PublishedDevice) -> bool:
    """Whether class, request and node select the device, whoever uses it (upstream-dra.md 3.6). Raises AllocationError."""
    device = record.device
    if device.binding_conditions and not setting.features.device_binding_and_status:
        return False
    ask = setting.selectors.first_unmatched
    if ask(record, alternative.device_class.spec.selectors, alternative.class_origin) is not None:
        return False
    if ask(record, alternative.source.selectors, alternative.request_origin) is not None:
        return False
    return record.selection is None or record.selection.matches(setting.node)


def may_skip_node_operations(setting: Setting, record: PublishedDevice) -> bool:
    """Whether the node can do without the calls to the driver that the device's slice wants left out, if it wants any."""
    if not record.slice.spec.skip_node_operations or not setting.features.experimental:
        return True
    return setting.features.optional_node_operations and NODE_OPERATIONS_FEATURE in setting.node.status.declared_features


def capacity_draw(draws: Drawer, alternative: Requested, record: PublishedDevice) -> Draw | None:
    """What a share for the request takes of the device, None if the device cannot serve it.

    Raises AllocationError, which stops the pod.
    """
    try:
        return draws(record, alternative.capacity)
    except CapacityError as error:
        raise AllocationError(
            f"claim {alternative.claim}, request {alternative.name}: checking capacity for device {record}: {error}",
            kind=FailureKind.CAPACITY_UNUSABLE,
            claim=alternative.claim,
            request=alternative.reference,
            device=str(record),
        ) from error


def attribute_of(setting: Setting, alternative: Requested, record: PublishedDevice, name: str) -> DeviceAttribute | None:
    """The attribute that constraints on the alternative see: derived before published. Raises AllocationError for the former."""
    expression = alternative.derived.get(name)
    if expression is not None:
        return setting.selectors.derived_attribute(name, expression, record)
    return static_attribute(record.device, record.id[0], name)
