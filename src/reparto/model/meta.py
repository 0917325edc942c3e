"""Metadata shared by every Kubernetes object: `ObjectMeta`, owner references, conditions, node selectors.

All objects are frozen structs that the garbage collector does not track: a cluster dump holds hundreds of thousands of them, and
CPython's cyclic collector would otherwise dominate loading. They therefore must not contain reference cycles, and never do, since
they mirror JSON. Times stay RFC 3339 text and quantities stay their text (see `reparto.model.quantity`); which fields hold them is
said by the types below, because decoding checks and canonicalises both (`reparto.model.canonical`).
"""

from typing import Annotated, Any

import msgspec

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
QuantityText = Annotated[str, msgspec.Meta(extra={"text": "quantity"})]
TimeText = Annotated[str, msgspec.Meta(extra={"text": "time"})]


class Base(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Base of all API structs: camelCase in JSON, defaults (absent fields) left out when written, unknown fields ignored."""


class Strict(Base, frozen=True, gc=False, forbid_unknown_fields=True):
    """Base of the structs of resource.k8s.io: a field that the version lacks is an error, as under strict field validation."""


class OwnerReference(Strict, frozen=True, gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Strict, frozen=True, gc=False):
    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: TimeText | None = None
    fields_type: str = ""
    fields_v1: Any = msgspec.field(default=None, name="fieldsV1")
    subresource: str = ""


class ObjectMeta(Strict, frozen=True, gc=False):
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: TimeText | None = None
    deletion_timestamp: TimeText | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    managed_fields: tuple[ManagedFieldsEntry, ...] = ()


class Condition(Strict, frozen=True, gc=False):
    type: str = ""
    status: str = ""
    observed_generation: Int64 = 0
    last_transition_time: TimeText | None = None
    reason: str = ""
    message: str = ""


class NodeSelectorRequirement(Strict, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    values: list[str] = []


class NodeSelectorTerm(Strict, frozen=True, gc=False):
    match_expressions: list[NodeSelectorRequirement] = []
    match_fields: list[NodeSelectorRequirement] = []


class NodeSelector(Strict, frozen=True, gc=False):
    node_selector_terms: list[NodeSelectorTerm] = []
