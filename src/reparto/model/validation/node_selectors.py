"""Core rules for a NodeSelector, as resource.k8s.io applies them. Source: `pkg/apis/core/validation` of 1.37.2."""

from reparto.model import names
from reparto.model.meta import NodeSelector, NodeSelectorRequirement
from reparto.model.validation.findings import Findings, forbidden, invalid, invalids, required
from reparto.model.validation.formats import label_key

_SET = ("In", "NotIn")


def node_selector(selector: NodeSelector, path: str) -> Findings:
    path += ".nodeSelectorTerms"
    if not selector.node_selector_terms:
        return [required(path, "must have at least one node selector term")]
    findings: Findings = []
    for index, term in enumerate(selector.node_selector_terms):
        for position, requirement in enumerate(term.match_expressions):
            findings += _expression(requirement, f"{path}[{index}].matchExpressions[{position}]")
        for position, requirement in enumerate(term.match_fields):
            findings += _field(requirement, f"{path}[{index}].matchFields[{position}]")
    return findings


def node_name(text: str, path: str) -> Findings:
    return invalids(path, text, names.dns1123_subdomain(text))


def _expression(requirement: NodeSelectorRequirement, path: str) -> Findings:
    findings: Findings = []
    values, operator = requirement.values, requirement.operator
    if operator in _SET:
        if not values:
            findings.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            findings.append(forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            findings.append(required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    else:
        findings.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    findings += label_key(requirement.key, f"{path}.key")
    for index, value in enumerate(values):
        findings += invalids(f"{path}.values[{index}]", value, names.label_value(value), "format=k8s-label-value")
    return findings


def _field(requirement: NodeSelectorRequirement, path: str) -> Findings:
    findings: Findings = []
    values = requirement.values
    if requirement.operator not in _SET:
        findings.append(invalid(f"{path}.operator", requirement.operator, "not a valid selector operator"))
    elif len(values) != 1:
        message = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        findings.append(required(f"{path}.values", message))
    if requirement.key != "metadata.name":
        findings.append(invalid(f"{path}.key", requirement.key, "not a valid field selector key"))
    else:
        for index, value in enumerate(values):
            findings += invalids(f"{path}.values[{index}]", value, names.dns1123_subdomain(value))
    return findings
