"""DeviceClass: the handwritten rules. Source: validation-1.37.md section 7."""

from reparto.model import names, v1
from reparto.model.gates import Gates
from reparto.model.validation.findings import Findings, invalid, too_many
from reparto.model.validation.metadata import object_meta, object_meta_update
from reparto.model.validation.opaque import configuration
from reparto.model.validation.selectors import selectors
from reparto.model.validation.values import equal

CONFIG_MAX = 32


def device_class(obj: v1.DeviceClass, gates: Gates | None) -> Findings:
    return object_meta(obj.metadata, namespaced=False, generated_name=False) + _spec(obj.spec, None, gates)


def device_class_update(new: v1.DeviceClass, old: v1.DeviceClass, gates: Gates | None) -> Findings:
    findings = object_meta(new.metadata, namespaced=False, generated_name=False)
    return findings + object_meta_update(new.metadata, old.metadata) + _spec(new.spec, old.spec, gates)


def _spec(spec: v1.DeviceClassSpec, old: v1.DeviceClassSpec | None, gates: Gates | None) -> Findings:
    # A list that an update leaves as it is was good when it was stored: not compiled again, not measured again.
    stored = old is not None and equal(spec.selectors, old.selectors)
    findings = selectors(spec.selectors, "spec.selectors", gates, stored=stored)
    stored = old is not None and equal(spec.config, old.config)
    if len(spec.config) > CONFIG_MAX:
        findings.append(too_many("spec.config", len(spec.config), CONFIG_MAX, covered=True))
    else:
        for index, entry in enumerate(spec.config):
            findings += configuration(entry.opaque, f"spec.config[{index}]", stored=stored)
    name = spec.extended_resource_name
    if name is not None and names.is_extended_resource_name(name):
        message, origin = "must be a valid extended resource name", "format=k8s-extended-resource-name"
        findings.append(invalid("spec.extendedResourceName", name, message, origin, covered=True))
    return findings
