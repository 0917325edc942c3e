"""What selects the pods that the scheduler spreads although they do not ask for it: Services, and the workload that owns a pod.

Source: scheduler `plugins/helper/spread.go` of 1.37.2.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from reparto.model.carriers import Carrier
from reparto.model.core import Deployment, Pod, ReplicaSet, ReplicationController, Service, StatefulSet
from reparto.placement.label_selectors import CompiledLabelSelector, Labels, Requirement, SelectorError, compile_selector, of_labels

Owner = ReplicationController | ReplicaSet | StatefulSet | Deployment

_KINDS: Final[Mapping[tuple[str, str], type[Owner]]] = {
    ("v1", "ReplicationController"): ReplicationController,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
    ("apps/v1", "Deployment"): Deployment,
}
# What a Deployment adds to the labels and the selector of the ReplicaSet that it makes.
_TEMPLATE_HASH: Final = "pod-template-hash"


class DefaultSelectors(msgspec.Struct, frozen=True):
    """The selectors of the Services of each namespace, and of workloads by kind, namespace and name."""

    services: Mapping[str, tuple[Mapping[str, str], ...]] = {}
    workloads: Mapping[tuple[str, str, str], CompiledLabelSelector] = {}

    def of(self, pod: Pod) -> CompiledLabelSelector | None:
        """The selector by which the scheduler spreads a pod that has no constraints of its own; None: it does not."""
        labels, namespace = pod.metadata.labels or {}, pod.metadata.namespace
        requirements: set[Requirement] = set()
        for selector in self.services.get(namespace, ()):
            if all(labels.get(key) == value for key, value in selector.items()):
                requirements.update(of_labels(selector))
        for owner in pod.metadata.owner_references:
            found = self._selector(owner.kind, namespace, owner.name, labels) if owner.controller else None
            if found is not None and found.key is not None:
                requirements.update(found.key)
        return CompiledLabelSelector(tuple(sorted(requirements))) if requirements else None

    def _selector(self, kind: str, namespace: str, name: str, labels: Labels) -> CompiledLabelSelector | None:
        found = self.workloads.get((kind, namespace, name))
        if found is None and kind == "ReplicaSet" and (revision := labels.get(_TEMPLATE_HASH)) and name.endswith(f"-{revision}"):
            # A ReplicaSet that the Deployment of the input would make.
            deployment = self.workloads.get(("Deployment", namespace, name.removesuffix(f"-{revision}")))
            return deployment and deployment.narrowed(of_labels({_TEMPLATE_HASH: revision}))
        return None if kind == "Deployment" else found


def owners_of(carriers: Iterable[Carrier]) -> Iterator[Owner]:
    """The workloads of the input that select pods. One that is malformed selects nothing."""
    for carrier in carriers:
        struct = _KINDS.get((carrier.api_version, carrier.kind))
        if struct is None:
            continue
        try:
            owner = msgspec.convert(carrier.value, struct)
        except msgspec.ValidationError:
            continue
        yield msgspec.structs.replace(owner, metadata=msgspec.structs.replace(owner.metadata, namespace=carrier.namespace))


def default_selectors(services: Iterable[Service], owners: Iterable[Owner]) -> DefaultSelectors:
    """Those of a cluster. A Service without a selector selects nothing; a selector that is malformed is passed over."""
    of_namespace: dict[str, list[Mapping[str, str]]] = {}
    for service in services:
        if service.spec.selector is not None:
            of_namespace.setdefault(service.metadata.namespace, []).append(service.spec.selector)
    workloads: dict[tuple[str, str, str], CompiledLabelSelector] = {}
    for owner in owners:
        selector = owner.spec.selector
        try:
            compiled = CompiledLabelSelector(of_labels(selector)) if isinstance(selector, dict) else compile_selector(selector)
        except SelectorError:
            continue
        workloads[type(owner).__name__, owner.metadata.namespace, owner.metadata.name] = compiled
    return DefaultSelectors({name: tuple(each) for name, each in of_namespace.items()}, workloads)
