"""CEL on devices, for the checker: shares the language (`reparto.cel`) with the allocator, and none of its caches."""

from typing import TypeAlias

import msgspec

from reparto import cel
from reparto.allocation.features import Features
from reparto.allocation.verification.publication import Offer
from reparto.model.v1 import Device, DeviceAttribute, DeviceSelector

Outcome: TypeAlias = bool | str
"""Whether a device matches, or why that cannot be said."""


class Expressions:
    """Selectors and derived attributes, each evaluated once for a device."""

    def __init__(self, features: Features) -> None:
        self._selecting = _options(features, derived=False)
        self._deriving = _options(features, derived=True)
        self._outcomes: dict[tuple[str, str, int], Outcome] = {}
        self._views: dict[tuple[str, int], tuple[Device, cel.Device]] = {}

    def selects(self, selector: DeviceSelector, offer: Offer) -> Outcome:
        """Whether the selector is true for the device."""
        if selector.cel is None:
            return "it is of no known type"
        key = (selector.cel.expression, offer.slice.spec.driver, id(offer.device))
        if key not in self._outcomes:
            view = self._view(offer)
            try:
                self._outcomes[key] = cel.compile(selector.cel.expression, self._selecting).matches(view)
            except (cel.CompileError, cel.EvaluationError) as error:
                self._outcomes[key] = str(error)
        return self._outcomes[key]

    def derive(self, text: str, offer: Offer) -> DeviceAttribute | str:
        """The value of a derived attribute of the device, or why there is none."""
        try:
            answer = cel.compile(text, self._deriving).evaluate(self._view(offer))
        except cel.CompileError as error:
            return str(error)
        return str(answer.error) if answer.error is not None else msgspec.convert(answer.value, DeviceAttribute)

    def _view(self, offer: Offer) -> cel.Device:
        device, driver = offer.device, offer.slice.spec.driver
        key = (driver, id(device))
        if key not in self._views:  # kept with its view, so that the number stays its own
            view = cel.Device(
                driver=driver,
                attributes=device.attributes or {},
                capacity=device.capacity or {},
                allow_multiple_allocations=device.allow_multiple_allocations,
            )
            self._views[key] = (device, view)
        return self._views[key][1]


def _options(features: Features, *, derived: bool) -> cel.Options:
    return cel.Options(
        stored=True,
        consumable_capacity=features.consumable_capacity,
        list_type_attributes=features.list_type_attributes,
        derived_attribute=derived,
    )
