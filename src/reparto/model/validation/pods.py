"""Pods: the rules for their resource claims, and only those. Source: validation-1.37.md section 8."""

from reparto.model import core, names
from reparto.model.validation.findings import Findings, duplicate, forbidden, invalid, invalids, not_found, required
from reparto.model.validation.formats import label
from reparto.model.validation.values import as_json

_MIRROR = "kubernetes.io/config.mirror"


def pod(obj: core.Pod) -> Findings:
    findings: Findings = []
    entries = obj.spec.resource_claims
    seen: set[str] = set()
    mirror = _MIRROR in (obj.metadata.annotations or {})
    for index, entry in enumerate(entries):
        if mirror:
            findings.append(forbidden("", "static pods do not support resource claims"))
        else:
            findings += _claim(entry, f"spec.resourceClaims[{index}]", seen)
    declared = sorted({entry.name for entry in entries if entry.name})
    for field, containers in (("initContainers", obj.spec.init_containers), ("containers", obj.spec.containers)):
        for index, container in enumerate(containers):
            findings += _references(container.resources.claims, f"spec.{field}[{index}].resources.claims", declared)
    return findings


def _claim(entry: core.PodResourceClaim, path: str, seen: set[str]) -> Findings:
    findings: Findings = []
    if not entry.name:
        findings.append(required(f"{path}.name"))
    elif entry.name in seen:
        findings.append(duplicate(f"{path}.name", entry.name))
    else:
        findings += label(entry.name, f"{path}.name")
        seen.add(entry.name)
    claim, template = entry.resource_claim_name, entry.resource_claim_template_name
    if claim is not None and template is not None:
        message = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        findings.append(invalid(path, as_json(entry), message))
    elif claim is None and template is None:
        message = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        findings.append(invalid(path, as_json(entry), message))
    if claim is not None:
        findings += invalids(f"{path}.resourceClaimName", claim, names.dns1123_subdomain(claim))
    if template is not None:
        findings += invalids(f"{path}.resourceClaimTemplateName", template, names.dns1123_subdomain(template))
    return findings


def _references(claims: tuple[core.ContainerClaim, ...], path: str, declared: list[str]) -> Findings:
    findings: Findings = []
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        where = f"{path}[{index}]"
        if not claim.name:
            findings.append(required(where))
            continue
        if claim.name in seen:
            # All requests of that claim are referenced already.
            findings.append(duplicate(where, claim.name))
        else:
            key = claim.name
            if claim.request:
                findings += label(claim.request, f"{where}.request")
                key = f"{claim.name}/{claim.request}"
            if key in seen:
                findings.append(duplicate(where, key))
            elif not claim.request:
                findings += [duplicate(where, claim.name) for each in seen if each.startswith(f"{claim.name}/")]
            seen.add(key)
        if claim.name not in declared:
            shown = f": {', '.join(declared)}" if declared else " which is empty"
            findings.append(not_found(where, claim.name, f"must be one of the names in pod.spec.resourceClaims{shown}"))
    return findings
