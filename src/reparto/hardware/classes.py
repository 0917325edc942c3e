"""DeviceClasses that known drivers install with themselves.

People keep their claims in Git, but not the classes, which come with the driver's Helm chart. A plan over files would then end at
"no such class" for nearly everybody, so the shipped class stands in where the input has none, and the plan says so. Classes that
users write themselves (dranet's, for example) are not here: guessing them would be wrong.

Source: gpu-landscape.md 2.4 (NVIDIA) and 6 (others).
"""

from typing import Final

from reparto.model.meta import ObjectMeta
from reparto.model.v1 import CELDeviceSelector, DeviceClass, DeviceClassSpec, DeviceSelector


def _driver(driver: str, *attributes: str) -> str:
    return " && ".join([f"device.driver == '{driver}'", *(f"device.attributes['{driver}'].{test}" for test in attributes)])


# name of the class → (its CEL selector, the extended resource it stands for)
_SHIPPED: Final[dict[str, tuple[str, str | None]]] = {
    "gpu.nvidia.com": (_driver("gpu.nvidia.com", "type == 'gpu'"), "nvidia.com/gpu"),
    "mig.nvidia.com": (_driver("gpu.nvidia.com", "type == 'mig'"), None),
    "vfio.gpu.nvidia.com": (_driver("gpu.nvidia.com", "type == 'vfio'"), None),
    "compute-domain-daemon.nvidia.com": (_driver("compute-domain.nvidia.com", "type == 'daemon'"), None),
    "compute-domain-default-channel.nvidia.com": (_driver("compute-domain.nvidia.com", "type == 'channel'", "id == 0"), None),
    "gpu.amd.com": (_driver("gpu.amd.com"), None),
    "gpu.intel.com": (_driver("gpu.intel.com"), None),
    "gpu-vfio.intel.com": (_driver("gpu.intel.com"), None),
    "gaudi.intel.com": (_driver("gaudi.intel.com"), None),
    "qat.intel.com": (_driver("qat.intel.com"), None),
    "tpu.google.com": (_driver("tpu.google.com"), None),
    "neuron.aws.com": (_driver("neuron.aws.com"), None),
    "npu.furiosa.ai": (_driver("npu.furiosa.ai"), None),
    "npu.rebellions.ai": (_driver("npu.rebellions.ai"), None),
    "dra.cpu": (_driver("dra.cpu"), None),
    "gpu.example.com": (_driver("gpu.example.com"), None),
}


def built_in_class(name: str) -> DeviceClass | None:
    """The class of that name as its driver ships it, or None where no known driver ships one."""
    shipped = _SHIPPED.get(name)
    if shipped is None:
        return None
    expression, extended = shipped
    selectors = (DeviceSelector(cel=CELDeviceSelector(expression=expression)),)
    return DeviceClass(metadata=ObjectMeta(name=name), spec=DeviceClassSpec(selectors=selectors, extended_resource_name=extended))


def class_serving(resource: str) -> str | None:
    """The name of the class that stands for an extended resource as its driver ships it (`nvidia.com/gpu`)."""
    return next((name for name, (_, extended) in _SHIPPED.items() if extended == resource), None)


def built_in_classes() -> tuple[str, ...]:
    """Names of all classes that `built_in_class` knows."""
    return tuple(_SHIPPED)
