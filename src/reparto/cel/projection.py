"""What an expression can see of a published device, as a key: devices with equal keys get equal answers.

The key is read straight from the object that a driver publishes, by the rules of `device` (a name without a domain belongs to the
driver's, and gives way to the qualified one). So of a million devices only those few that stand for others ever become a
`cel.Device`. Values are compared as they are written: `1Gi` and `1024Mi` are two keys, which costs an evaluation and no truth.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from reparto.cel.dependencies import Dependency, OwnDriver
from reparto.cel.device import Device
from reparto.model import v1
from reparto.model.semver import Semver, SemverError

Key: TypeAlias = Hashable
Reader: TypeAlias = Callable[[v1.Device], Key]
"""The key of one dependency, for devices of one driver."""

Entry = TypeVar("Entry")

_NOTHING: Final[Mapping[str, Key]] = {}


def view_of(driver: str, device: v1.Device) -> Device:
    """The CEL variable `device` for a published device."""
    return Device(driver, device.attributes, device.capacity, device.allow_multiple_allocations)


class Soundness:
    """Tells devices that every evaluation fails on: one attribute has no value, or is a version that is none.

    Asked once per device, so versions that were found good are remembered, up to a number that no cluster reaches.
    """

    REMEMBERED = 16_384

    def __init__(self) -> None:
        self._good: set[v1.DeviceAttribute] = set()

    def holds(self, device: v1.Device) -> bool:
        """Whether an expression gets to see the device at all. Cost: the number of its attributes."""
        if device.attributes is None:
            return True
        good = self._good
        for attribute in device.attributes.values():
            # In the order of how common they are. A list of versions is looked at before a single number or text.
            if attribute.string_value is not None:
                continue
            if attribute.version_values is None and (attribute.int_value is not None or attribute.bool_value is not None):
                continue
            if attribute in good:
                continue
            if not _has_value(attribute):
                return False
            if len(good) < self.REMEMBERED:
                good.add(attribute)
        return True


def _has_value(attribute: v1.DeviceAttribute) -> bool:
    """Whether CEL can read the attribute: the rules of `cel.Device`, in its order."""
    if attribute.int_values is not None or attribute.bool_values is not None or attribute.string_values is not None:
        return True
    versions = attribute.version_values
    if versions is None:
        if attribute.int_value is not None or attribute.bool_value is not None or attribute.string_value is not None:
            return True
        if attribute.version_value is None:
            return False
        versions = (attribute.version_value,)
    try:
        for text in versions:
            Semver.parse(text)
    except SemverError:
        return False
    return True


class _Readers(dict[str, Reader]):
    """Readers of keys by driver, made when first asked for."""

    def __init__(self, dependencies: Sequence[Dependency]) -> None:
        super().__init__()
        self._dependencies = dependencies

    def __missing__(self, driver: str) -> Reader:
        reader = self[driver] = _together([reader_of(each, driver) for each in self._dependencies])
        return reader


class Projection:
    """What an expression with these dependencies sees of devices. May be shared between threads.

    `key_of[driver](device)` is the key of a device; keys of different drivers may be compared with each other. Cost: the number of
    dependencies; the size of the map for one that is read as a whole.
    """

    __slots__ = ("_entries", "_names", "key_of")

    def __init__(self, dependencies: Sequence[Dependency]) -> None:
        self.key_of: Mapping[str, Reader] = _Readers(dependencies)
        maps = [each for each in dependencies if each.section in ("attributes", "capacity")]
        self._entries = None if any(each.name is None for each in maps) else tuple(maps)
        self._names: dict[str, tuple[str, ...]] = {}

    def view(self, driver: str, device: v1.Device) -> Device:
        """The CEL variable `device`, for this expression alone: without what it cannot see, which makes it cheap to make."""
        if self._entries is None:
            return view_of(driver, device)
        names = self._names.get(driver)
        if names is None:
            domains = ((driver if each.domain is OwnDriver.DOMAIN else each.domain, each.name) for each in self._entries)
            # With the bare names of other domains: if there are such attributes, the expression does not look at them.
            names = tuple({name: None for domain, bare in domains for name in (f"{domain}/{bare}", str(bare))})
            self._names[driver] = names
        return Device(driver, _only(names, device.attributes), _only(names, device.capacity), device.allow_multiple_allocations)


def _only(names: tuple[str, ...], entries: Mapping[str, Entry] | None) -> dict[str, Entry] | None:
    return {name: entries[name] for name in names if name in entries} if entries else None


def _together(readers: Sequence[Reader]) -> Reader:
    match readers:
        case [only]:
            return only
        case [first, second]:
            return lambda device: (first(device), second(device))
        case [first, second, third]:
            return lambda device: (first(device), second(device), third(device))
        case _:
            return lambda device: tuple([read(device) for read in readers])


def reader_of(dependency: Dependency, driver: str) -> Reader:
    """Reads one dependency off devices of a driver."""
    if dependency.section == "driver":
        return lambda device: driver
    if dependency.section == "allowMultipleAllocations":
        return lambda device: bool(device.allow_multiple_allocations)
    section = _attributes if dependency.section == "attributes" else _capacity
    domain = driver if dependency.domain is OwnDriver.DOMAIN else dependency.domain
    if domain is None:
        if dependency.presence:
            return lambda device: tuple(dict.fromkeys(_domains(section(device), driver)))
        return lambda device: (driver, *section(device).items())
    name, own = dependency.name, domain == driver
    if name is None:
        if dependency.presence:
            return lambda device: tuple(_entries(section(device), domain, own))
        return lambda device: tuple(_entries(section(device), domain, own).items())
    full = f"{domain}/{name}"
    # A name with a slash in it is never found without its domain.
    bare = name if own and "/" not in name else full
    if dependency.presence:
        return _presence_reader(dependency.section == "attributes", full, bare)
    return _attribute_reader(full, bare) if dependency.section == "attributes" else _capacity_reader(full, bare)


def _presence_reader(of_attributes: bool, full: str, bare: str) -> Reader:
    def read(device: v1.Device) -> Key:
        entries = device.attributes if of_attributes else device.capacity
        return bool(entries) and (full in entries or bare in entries)

    return read


def _attribute_reader(full: str, bare: str) -> Reader:
    def read(device: v1.Device) -> Key:
        attributes = device.attributes
        if attributes is None:
            return None
        found = attributes.get(full)
        if found is None:
            found = attributes.get(bare)
            if found is None:
                return None
        text = found.string_value
        return text if text is not None and found.int_values is None else found

    return read


def _capacity_reader(full: str, bare: str) -> Reader:
    def read(device: v1.Device) -> Key:
        capacity = device.capacity
        if capacity is None:
            return None
        found = capacity.get(full)
        if found is None:
            found = capacity.get(bare)
        return None if found is None else found.value

    return read


def _attributes(device: v1.Device) -> Mapping[str, Key]:
    return device.attributes or _NOTHING


def _capacity(device: v1.Device) -> Mapping[str, Key]:
    """Without request policies: expressions do not see them."""
    return {name: capacity.value for name, capacity in device.capacity.items()} if device.capacity else _NOTHING


def _domains(section: Mapping[str, Key], driver: str) -> list[str]:
    """The domain of every entry, in the order in which CEL walks over domains: the driver's bare names come first."""
    qualified = [name.partition("/")[0] for name in section if "/" in name]
    return [driver, *qualified] if len(qualified) < len(section) else qualified


def _entries(section: Mapping[str, Key], domain: str, own: bool) -> dict[str, Key]:
    """The entries of a domain, in the order in which CEL walks over them."""
    entries = {name: value for name, value in section.items() if "/" not in name} if own else {}
    prefix = f"{domain}/"
    entries.update({name[len(prefix) :]: value for name, value in section.items() if name.startswith(prefix)})
    return entries
