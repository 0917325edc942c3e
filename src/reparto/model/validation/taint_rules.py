"""DeviceTaintRule: the handwritten rules. Source: validation-1.37.md section 7."""

from reparto.model import v1
from reparto.model.validation.findings import Findings
from reparto.model.validation.formats import driver, label, pool
from reparto.model.validation.metadata import conditions, object_meta, object_meta_update
from reparto.model.validation.taints import taint

CONDITIONS_MAX = 8


def taint_rule(obj: v1.DeviceTaintRule) -> Findings:
    return object_meta(obj.metadata, namespaced=False) + _spec(obj.spec, None)


def taint_rule_update(new: v1.DeviceTaintRule, old: v1.DeviceTaintRule) -> Findings:
    return object_meta_update(new.metadata, old.metadata) + _spec(new.spec, old.spec)


def taint_rule_status_update(new: v1.DeviceTaintRule, old: v1.DeviceTaintRule) -> Findings:
    return object_meta_update(new.metadata, old.metadata) + conditions(new.status.conditions, "status.conditions", CONDITIONS_MAX)


def _spec(spec: v1.DeviceTaintRuleSpec, old: v1.DeviceTaintRuleSpec | None) -> Findings:
    findings: Findings = []
    selector = spec.device_selector
    if selector is not None:
        if selector.driver is not None:
            findings += driver(selector.driver, "spec.deviceSelector.driver")
        if selector.pool is not None:
            findings += pool(selector.pool, "spec.deviceSelector.pool")
        if selector.device is not None:
            findings += label(selector.device, "spec.deviceSelector.device")
    return findings + taint(spec.taint, "spec.taint", None if old is None else old.taint)
