"""What a claim asks for, in one form: a plain request and an alternative of a list look alike from here on."""

from collections.abc import Mapping
from dataclasses import dataclass

from reparto.model.v1 import DeviceRequest, DeviceSubRequest, DeviceToleration, ExactDeviceRequest, ResourceClaim


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, or one alternative of it. `reference` is how results name it: `request` or `request/subrequest`."""

    request: str
    reference: str
    path: str
    body: ExactDeviceRequest | DeviceSubRequest

    @property
    def all_devices(self) -> bool:
        return self.body.allocation_mode == "All"

    @property
    def admin_access(self) -> bool:
        return isinstance(self.body, ExactDeviceRequest) and self.body.admin_access is True

    @property
    def tolerations(self) -> tuple[DeviceToleration, ...]:
        return self.body.tolerations

    @property
    def capacity(self) -> Mapping[str, str]:
        return (self.body.capacity.requests or {}) if self.body.capacity is not None else {}

    @property
    def derived(self) -> Mapping[str, str]:
        """Expressions of derived attributes, by name."""
        return {each.name: each.expression for each in self.body.derived_attributes}

    def named_by(self, references: tuple[str, ...]) -> bool:
        """True if a constraint or configuration with these `requests` is about this one; without any it is about all."""
        return not references or self.request in references or self.reference in references


def asks(claim: ResourceClaim) -> list[tuple[DeviceRequest, list[Ask]]]:
    """The requests of a claim, each with its alternatives; a plain request is its own only one."""
    return [(request, _asks(request, index)) for index, request in enumerate(claim.spec.devices.requests)]


def _asks(request: DeviceRequest, index: int) -> list[Ask]:
    path = f"spec.devices.requests[{index}]"
    if request.first_available:
        return [
            Ask(request.name, f"{request.name}/{each.name}", f"{path}.firstAvailable[{number}]", each)
            for number, each in enumerate(request.first_available)
        ]
    return [] if request.exactly is None else [Ask(request.name, request.name, f"{path}.exactly", request.exactly)]
