"""resource.k8s.io and the core objects we use: structs, decoding, conversion, defaulting, validation, loading.

Names are imported when first used: `import reparto.model` alone costs nothing, so that help and completion stay instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reparto.model.conversion import from_v1 as from_v1
    from reparto.model.conversion import to_v1 as to_v1
    from reparto.model.core import LimitRange as LimitRange
    from reparto.model.core import Namespace as Namespace
    from reparto.model.core import Node as Node
    from reparto.model.core import NodeSpec as NodeSpec
    from reparto.model.core import NodeStatus as NodeStatus
    from reparto.model.core import Pod as Pod
    from reparto.model.core import PriorityClass as PriorityClass
    from reparto.model.core import ResourceQuota as ResourceQuota
    from reparto.model.decoding import decode as decode
    from reparto.model.decoding import decode_bytes as decode_bytes
    from reparto.model.errors import DecodeError as DecodeError
    from reparto.model.errors import FieldError as FieldError
    from reparto.model.errors import ModelError as ModelError
    from reparto.model.errors import Problem as Problem
    from reparto.model.gating import drop_disabled as drop_disabled
    from reparto.model.intake import read_inputs as read_inputs
    from reparto.model.loading import load as load
    from reparto.model.meta import NodeSelector as NodeSelector
    from reparto.model.meta import ObjectMeta as ObjectMeta
    from reparto.model.objects import convert as convert
    from reparto.model.objects import default as default
    from reparto.model.objects import validate as validate
    from reparto.model.v1 import AllocationResult as AllocationResult
    from reparto.model.v1 import Device as Device
    from reparto.model.v1 import DeviceAttribute as DeviceAttribute
    from reparto.model.v1 import DeviceCapacity as DeviceCapacity
    from reparto.model.v1 import DeviceClass as DeviceClass
    from reparto.model.v1 import DeviceTaintRule as DeviceTaintRule
    from reparto.model.v1 import ResourceClaim as ResourceClaim
    from reparto.model.v1 import ResourceClaimTemplate as ResourceClaimTemplate
    from reparto.model.v1 import ResourceSlice as ResourceSlice
    from reparto.model.validation import judge as judge

_HOME = {
    "Namespace": "core",
    "Node": "core",
    "NodeSpec": "core",
    "NodeStatus": "core",
    "Pod": "core",
    "LimitRange": "core",
    "PriorityClass": "core",
    "ResourceQuota": "core",
    "AllocationResult": "v1",
    "Device": "v1",
    "DeviceAttribute": "v1",
    "DeviceCapacity": "v1",
    "DeviceClass": "v1",
    "DeviceTaintRule": "v1",
    "ResourceClaim": "v1",
    "ResourceClaimTemplate": "v1",
    "ResourceSlice": "v1",
    "from_v1": "conversion",
    "to_v1": "conversion",
    "decode": "decoding",
    "decode_bytes": "decoding",
    "DecodeError": "errors",
    "FieldError": "errors",
    "ModelError": "errors",
    "Problem": "errors",
    "drop_disabled": "gating",
    "read_inputs": "intake",
    "load": "loading",
    "NodeSelector": "meta",
    "ObjectMeta": "meta",
    "convert": "objects",
    "default": "objects",
    "validate": "objects",
    "judge": "validation",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{home}")
    # Modules are named apart from their functions (decoding.decode): a submodule that is imported would else replace the function.
    value = globals()[name] = getattr(module, name)
    return value
