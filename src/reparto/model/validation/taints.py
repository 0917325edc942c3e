"""Device taints and tolerations. Source: validation-1.37.md sections 4, 6 and 7; KEP-5055."""

from reparto.model.v1 import DeviceTaint, DeviceToleration
from reparto.model.validation.findings import Findings, cover, invalid, not_supported, required
from reparto.model.validation.formats import label_key, label_value

TAINTS_MAX = 16
EFFECTS = ("NoExecute", "NoSchedule", "None")
OPERATORS = ("Equal", "Exists")


def taint(entry: DeviceTaint, path: str, old: DeviceTaint | None = None) -> Findings:
    """`old`: the taint that an update replaces; an effect it already had is kept, whatever it is."""
    findings = label_key(entry.key, f"{path}.key")
    if entry.value:
        findings += label_value(entry.value, f"{path}.value")
    if old is None or old.effect != entry.effect:
        if not entry.effect:
            findings.append(required(f"{path}.effect", covered=True))
        elif entry.effect not in EFFECTS:
            findings.append(not_supported(f"{path}.effect", entry.effect, EFFECTS, covered=True))
    return findings


def toleration(entry: DeviceToleration, path: str) -> Findings:
    findings = cover(label_key(entry.key, f"{path}.key")) if entry.key else []
    match entry.operator:
        case "Exists":
            if entry.value:
                findings.append(invalid(f"{path}.value", entry.value, "must be empty for operator `Exists`"))
        case "Equal":
            findings += label_value(entry.value, f"{path}.value")
        case "":
            findings.append(required(f"{path}.operator", covered=True))
        case _:
            findings.append(not_supported(f"{path}.operator", entry.operator, OPERATORS, covered=True))
    if entry.effect and entry.effect not in EFFECTS:
        findings.append(not_supported(f"{path}.effect", entry.effect, EFFECTS, covered=True))
    return findings


def tolerations(entries: tuple[DeviceToleration, ...] | list[DeviceToleration], path: str) -> Findings:
    """Any number of them: 16 is documented, but not enforced."""
    return [finding for index, entry in enumerate(entries) for finding in toleration(entry, f"{path}[{index}]")]
