"""CEL on devices: does a device match the selectors of a class and a request, and what is its derived attribute?

An expression is compiled once, and evaluated once for each device that a search comes across: answers, errors included, are kept by
device number and shared by all nodes, pods and requests that ask the same. Evaluation is lazy on purpose. Upstream stops the whole
pod at the first expression that fails on a device it looks at, so looking at devices early would find errors that Kubernetes never
sees.

Source: upstream-dra.md 3.6 and 3.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import msgspec

from reparto import cel
from reparto.allocation.errors import AllocationError, FailureKind
from reparto.allocation.features import Features
from reparto.model.v1 import Device, DeviceAttribute, DeviceSelector


@dataclass(frozen=True, slots=True)
class SelectorFailure:
    """A selector that gave no answer.

    `text` is what CEL said. `compiling` if it is no valid expression, else it failed on the device.
    """

    text: str
    compiling: bool


class Numbered(Protocol):
    """A device that answers are kept for: a number for its identity, its driver, and what it publishes."""

    @property
    def number(self) -> int: ...
    @property
    def id(self) -> tuple[str, str, str]: ...
    @property
    def device(self) -> Device: ...


class Expression:
    """One compiled selector and its answers so far."""

    def __init__(self, text: str, options: cel.Options) -> None:
        self._answers: dict[int, bool | SelectorFailure] = {}
        self._program: cel.Program | None = None
        self._failure: SelectorFailure | None = None
        try:
            self._program = cel.compile(text, options)
        except cel.CompileError as error:
            self._failure = SelectorFailure(str(error), compiling=True)

    def answer(self, record: Numbered, devices: "CelDevices") -> bool | SelectorFailure:
        """True or false, or why there is no answer."""
        if self._program is None:
            return self._failure or False
        known = self._answers.get(record.number)
        if known is None:
            try:
                known = self._program.matches(devices.view(record))
            except cel.EvaluationError as error:
                known = SelectorFailure(error.with_hint(), compiling=False)
            self._answers[record.number] = known
        return known


class CelDevices:
    """Devices as CEL sees them, made once per device."""

    def __init__(self) -> None:
        self._views: dict[int, cel.Device] = {}

    def view(self, record: Numbered) -> cel.Device:
        """The CEL variable `device` for this device."""
        view = self._views.get(record.number)
        if view is None:
            device = record.device
            view = self._views[record.number] = cel.Device(
                driver=record.id[0],
                attributes=device.attributes or {},
                capacity=device.capacity or {},
                allow_multiple_allocations=device.allow_multiple_allocations,
            )
        return view


class Selectors:
    """All selectors that an allocator has met."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._expressions: dict[str, Expression] = {}
        self._derived: dict[str, cel.Program | str] = {}
        self._derived_values: dict[tuple[str, int], DeviceAttribute | str] = {}
        self._devices = CelDevices()

    @cached_property
    def _options(self) -> cel.Options:
        return self._options_for(derived=False)

    @cached_property
    def _derived_options(self) -> cel.Options:
        return self._options_for(derived=True)

    def _options_for(self, derived: bool) -> cel.Options:
        return cel.Options(
            stored=True,
            consumable_capacity=self._features.consumable_capacity,
            list_type_attributes=self._features.list_type_attributes,
            derived_attribute=derived,
        )

    def first_unmatched(self, record: Numbered, selectors: Sequence[DeviceSelector], where: "Origin") -> int | None:
        """The index of the first selector that is false on the device; None if all are true.

        Raises AllocationError, which stops the pod, for a selector that cannot be compiled or fails on the device before one is
        false.
        """
        for index, selector in enumerate(selectors):
            text = selector.cel.expression if selector.cel is not None else ""
            expression = self._expressions.get(text)
            if expression is None:
                expression = self._expressions[text] = Expression(text, self._options)
            answer = expression.answer(record, self._devices)
            if answer is False:
                return index
            if answer is not True:
                raise where.error(index, record, answer)
        return None

    def derived_attribute(self, name: str, text: str, record: Numbered) -> DeviceAttribute:
        """The value of a derived attribute of the device. Raises AllocationError if it has none."""
        value = self._derived_values.get((text, record.number))
        if value is None:
            value = self._derived_values[text, record.number] = self._evaluate_derived(name, text, record)
        if isinstance(value, str):
            raise AllocationError(
                f"evaluate derived attribute {name} on device {'/'.join(record.id)} failed: {value}",
                kind=FailureKind.DERIVED_ATTRIBUTE_FAILED,
                device="/".join(record.id),
            )
        return value

    def _evaluate_derived(self, name: str, text: str, record: Numbered) -> DeviceAttribute | str:
        program = self._derived.get(text)
        if program is None:
            try:
                program = cel.compile(text, self._derived_options)
            except cel.CompileError as error:
                program = str(error)
            self._derived[text] = program
        if isinstance(program, str):
            raise AllocationError(f"compile derived attribute {name} failed: {program}", kind=FailureKind.DERIVED_ATTRIBUTE_INVALID)
        answer = program.evaluate(self._devices.view(record))
        return str(answer.error) if answer.error is not None else msgspec.convert(answer.value, DeviceAttribute)


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose selectors are asked: a class (`class_name`), or a request of a claim."""

    claim: str
    request: str
    class_name: str = ""

    def error(self, index: int, record: Numbered, failure: SelectorFailure) -> AllocationError:
        """The error that stops the pod, in upstream's words."""
        owner = f"class {self.class_name}" if self.class_name else f"claim {self.claim}"
        device = "/".join(record.id)
        if failure.compiling:
            message = f"{owner}: selector #{index}: CEL compile error: {failure.text}"
        else:
            message = f"{owner}: selector #{index} on device {device}: CEL runtime error: {failure.text}"
        return AllocationError(
            message,
            kind=FailureKind.SELECTOR_INVALID if failure.compiling else FailureKind.SELECTOR_FAILED,
            claim=self.claim,
            request=self.request,
            class_name=self.class_name,
            device="" if failure.compiling else device,
            selector=index,
        )
