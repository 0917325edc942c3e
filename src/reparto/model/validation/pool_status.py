"""ResourcePoolStatusRequest (v1alpha3): the handwritten rules; all others are declarative. Source: validation-1.37.md section 7."""

from reparto.model.validation.findings import Findings, invalid
from reparto.model.validation.metadata import conditions, object_meta, object_meta_update
from reparto.model.validation.values import as_json, equal
from reparto.model.versions.v1alpha3 import ResourcePoolStatusRequest


def pool_status_request(obj: ResourcePoolStatusRequest) -> Findings:
    return object_meta(obj.metadata, namespaced=False)


def pool_status_request_update(new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest) -> Findings:
    return object_meta_update(new.metadata, old.metadata)


def pool_status_request_status_update(new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest) -> Findings:
    findings = object_meta_update(new.metadata, old.metadata)
    if old.status is not None:
        if not equal(new.status, old.status):
            findings.append(invalid("status", None if new.status is None else as_json(new.status), "field is immutable"))
    elif new.status is not None:
        findings += conditions(new.status.conditions, "status.conditions")
    return findings
