"""Small valid objects of resource.k8s.io as dicts, for tests that break them in one place."""

from typing import Any

from reparto import model

Json = Any
GROUP = "resource.k8s.io"


def claim(*requests: Json, version: str = "v1", status: Json = None, **devices: Json) -> Json:
    """A claim with the given requests, one plain request where none are given."""
    obj: Json = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "ns"},
        "spec": {"devices": {"requests": list(requests) or [exact()], **devices}},
    }
    return obj if status is None else {**obj, "status": status}


def exact(name: str = "gpu", **fields: Json) -> Json:
    """A plain request of v1."""
    return {"name": name, "exactly": {"deviceClassName": "gpu.example.com", **fields}}


def template(*requests: Json, version: str = "v1", **devices: Json) -> Json:
    inner = claim(*requests, version=version, **devices)
    return {**inner, "kind": "ResourceClaimTemplate", "spec": {"spec": inner["spec"]}}


def slice_of(*devices: Json, version: str = "v1", **spec: Json) -> Json:
    """A slice of one node with the given devices; a field given as None is left out."""
    fields = {
        "driver": "gpu.example.com",
        "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "node-1",
        "devices": list(devices),
        **spec,
    }
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {name: value for name, value in fields.items() if value is not None},
    }


def device(name: str = "gpu-0", **fields: Json) -> Json:
    return {"name": name, **fields}


def device_class(**spec: Json) -> Json:
    return {"apiVersion": f"{GROUP}/v1", "kind": "DeviceClass", "metadata": {"name": "gpu.example.com"}, "spec": spec}


def taint_rule(version: str = "v1", taint: Json = None, **spec: Json) -> Json:
    taint = {"key": "example.com/broken", "effect": "NoSchedule"} if taint is None else taint
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"taint": taint, **spec},
    }


def found(obj: Json, old: Json = None, subresource: str = "", **gates: bool) -> set[tuple[str, str]]:
    """What validation finds, as (type, path), the type without its prefix: {("Required", "spec.driver")}."""
    errors = model.validate(obj, old, subresource, gates)
    return {(error.type.removeprefix("FieldValue"), error.path) for error in errors}


def only(obj: Json, old: Json = None, subresource: str = "", **gates: bool) -> model.FieldError:
    """The one error that validation finds."""
    errors = model.validate(obj, old, subresource, gates)
    assert len(errors) == 1, errors
    return errors[0]


def updated(obj: Json) -> Json:
    """The object as an update sends it: with a resourceVersion."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": "1"}}
