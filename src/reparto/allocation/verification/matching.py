"""Which devices a request could have, were nobody else there: class and request select them, and their capacity is enough.

Source: upstream-dra.md 3.4, 3.6, 3.7, 3.11.
"""

from collections.abc import Mapping

from reparto.allocation.features import Features
from reparto.allocation.verification.amounts import Unobtainable, consumption, nano, written
from reparto.allocation.verification.breaches import BreachKind
from reparto.allocation.verification.expressions import Expressions
from reparto.allocation.verification.publication import DeviceID, Offer, Publication
from reparto.allocation.verification.requests import Ask
from reparto.model.core import Node
from reparto.model.v1 import DeviceClass


class Matching:
    """Requests against devices. Answers about all devices of a node are kept, by what is asked for."""

    def __init__(self, classes: Mapping[str, DeviceClass], publication: Publication, features: Features) -> None:
        self.expressions = Expressions(features)
        self._classes, self._publication, self._features = classes, publication, features
        self._all: dict[tuple[object, ...], frozenset[DeviceID] | str] = {}

    def mismatch(self, ask: Ask, offer: Offer) -> tuple[BreachKind, str] | None:
        """Why the device is none that the request and its class select, as a kind and a sentence; None if it is."""
        name = ask.body.device_class_name
        device_class = self._classes.get(name)
        if device_class is None:
            return BreachKind.CLASS_MISSING, f"device class {name} of request {ask.reference} does not exist"
        for owner, selectors in ((f"class {name}", device_class.spec.selectors), (f"request {ask.reference}", ask.body.selectors)):
            for index, selector in enumerate(selectors):
                outcome = self.expressions.selects(selector, offer)
                if outcome is not True:
                    how = "is false" if outcome is False else f"has no answer ({outcome})"
                    return BreachKind.SELECTOR, f"selector {index} of {owner} {how} for device {'/'.join(offer.id)}"
        return None

    def amounts(self, ask: Ask, offer: Offer) -> dict[str, int]:
        """What the request consumes of each capacity of the device, in 1e-9 units.

        Raises Unobtainable, also if the device has less than that.
        """
        capacity = offer.device.capacity or {}
        wanted = consumption(capacity, ask.capacity, self._features.fractional_capacity_range)
        for name, amount in wanted.items():
            if amount > nano(capacity[name].value):
                raise Unobtainable(f"consumes {written(amount)} of capacity {name}, of which there is {capacity[name].value}")
        return wanted

    def all_on(self, node: Node, ask: Ask) -> frozenset[DeviceID] | str:
        """All devices of the node that match the request, in use or not; or why that cannot be said.

        Cost: the devices of the node, once for all requests that ask the same.
        """
        selectors = tuple(selector.cel.expression if selector.cel is not None else "" for selector in ask.body.selectors)
        key = (node.metadata.name, ask.body.device_class_name, selectors, tuple(sorted(ask.capacity.items())))
        if key not in self._all:
            self._all[key] = self._match_all(node, ask)
        return self._all[key]

    def _match_all(self, node: Node, ask: Ask) -> frozenset[DeviceID] | str:
        found: set[DeviceID] = set()
        for view in self._publication.pools_of(node):
            if view.problem is not None:
                if view.problem[0] is BreachKind.POOL_OUTDATED:
                    continue  # ignored as a whole: the driver is moving on
                return view.problem[1]
            found |= {offer.id for offer in view.devices.values() if self._could_have(ask, offer)}
        return frozenset(found)

    def _could_have(self, ask: Ask, offer: Offer) -> bool:
        if offer.device.binding_conditions and not self._features.device_binding_and_status:
            return False
        if self.mismatch(ask, offer) is not None:
            return False
        if self._features.consumable_capacity:
            try:
                self.amounts(ask, offer)
            except Unobtainable:
                return False
        return True
