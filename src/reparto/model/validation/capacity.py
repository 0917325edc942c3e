"""Request policies of consumable capacity: which amounts a claim may take of a device that several claims share.

The arithmetic is upstream's, rounding included: whole numbers unless fractions are allowed and used, then thousandths.
Source: validation-1.37.md section 6; KEP-5075.
"""

from reparto.model.gates import Gates
from reparto.model.quantity import Quantity
from reparto.model.v1 import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from reparto.model.validation.features import enabled
from reparto.model.validation.findings import Findings, forbidden, invalid, repeated, required, too_many

OPTIONS_MAX = 10
_INT64_MAX = 2**63 - 1
_NANO = 10**9


def capacity(entry: DeviceCapacity, path: str, *, shared: bool, gates: Gates | None) -> Findings:
    """One capacity of a device; `shared`: the device allows multiple allocations, and only then may there be a policy."""
    policy = entry.request_policy
    if policy is None:
        return []
    path += ".requestPolicy"
    if not shared:
        return [forbidden(path, "allowMultipleAllocations must be true")]
    if policy.valid_values and policy.valid_range is not None:
        message = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        return [forbidden(path, message)]
    total = Quantity.parse(entry.value)
    if policy.valid_values:
        if policy.default is None:
            return [required(f"{path}.default", "required when validValues is defined")]
        return _options(policy, Quantity.parse(policy.default), total, f"{path}.validValues", gates)
    if policy.valid_range is not None:
        if policy.default is None:
            return [required(f"{path}.default", "required when validRange is defined")]
        return _range(policy.valid_range, Quantity.parse(policy.default), total, f"{path}.validRange", gates)
    return []


def _options(policy: CapacityRequestPolicy, default: Quantity, total: Quantity, path: str, gates: Gates | None) -> Findings:
    options = [Quantity.parse(text) for text in policy.valid_values]
    findings = [
        invalid(f"{path}[{index}]", str(option), "values must be sorted in ascending order")
        for index, option in enumerate(options[1:], 1)
        if options[index - 1] > option
    ]
    found_default = False
    if len(options) > OPTIONS_MAX:
        findings.append(too_many(path, len(options), OPTIONS_MAX))
    else:
        for index, option in enumerate(options):
            if option > total:
                findings.append(invalid(f"{path}[{index}]", str(option), f"option is larger than capacity value: {total}"))
            found_default = found_default or option == default
        exact = enabled(gates, "DRAFractionalCapacityRange")
        findings += repeated(path, (_decimal(option) if exact else str(option.value()) for option in options))
    if not found_default:
        findings.append(invalid(path, str(default), "default value is not valid according to the requestPolicy"))
    return findings


def _range(limits: CapacityRequestPolicyRange, default: Quantity, total: Quantity, path: str, gates: Gates | None) -> Findings:
    if limits.min is None:
        return [required(f"{path}.min", "required when validRange is defined")]
    low = Quantity.parse(limits.min)
    high = None if limits.max is None else Quantity.parse(limits.max)
    step = None if limits.step is None else Quantity.parse(limits.step)
    findings: Findings = []
    if low > total:
        findings.append(invalid(f"{path}.min", str(low), f"min is larger than capacity value: {total}"))
    if default < low:
        findings.append(invalid(f"{path}.default", str(default), f"default is less than min: {low}"))
    if high is not None:
        if low > high:
            findings.append(invalid(f"{path}.max", str(low), f"min is larger than max: {high}"))
        if high > total:
            findings.append(invalid(f"{path}.max", str(high), f"max is larger than capacity value: {total}"))
        if default > high:
            findings.append(invalid(f"{path}.default", str(default), f"default is more than max: {high}"))
    named = [(name, each) for name, each in (("default", default), ("min", low), ("max", high), ("step", step)) if each is not None]
    milli = enabled(gates, "DRAFractionalCapacityRange") and any(each.nano % _NANO for _, each in named)
    if milli:
        inexact = [
            invalid(f"{path}.{name}", str(each), "value cannot be represented as a milli value")
            for name, each in named
            if Quantity.from_milli(each.milli_value(), each.format) != each
        ]
        if inexact:
            return findings + inexact
    if step is None:
        return findings
    if step.sign() <= 0:
        findings.append(invalid(f"{path}.step", str(step), "must be greater than zero"))
        return findings
    first = low.add(step)
    if first > total:
        findings.append(invalid(f"{path}.step", str(step), f"one step {first} is larger than capacity value: {total}"))
    if not milli:
        unsafe = [finding for name, each in named for finding in _int64(each, f"{path}.{name}")]
        if unsafe:
            return findings + unsafe
    for each in (default, high):
        if each is not None and _off_step(each, low, step, milli):
            message = f"value is not a multiple of a given step ({step}) from ({low})"
            findings.append(invalid(f"{path}.step", str(each), message))
    return findings


def _off_step(amount: Quantity, low: Quantity, step: Quantity, milli: bool) -> bool:
    if milli:
        return (amount.milli_value() - low.milli_value()) % step.milli_value() != 0
    return (amount.value() - low.value()) % step.value() != 0


def _int64(amount: Quantity, path: str) -> Findings:
    if amount.sign() < 0:
        return [invalid(path, str(amount), "must be greater than or equal to 0")]
    if amount.nano > _INT64_MAX * _NANO:
        return [invalid(path, str(amount), "must not be larger than 9223372036854775807")]
    return []


def _decimal(amount: Quantity) -> str:
    """What tells two options apart where fractions count: digits and decimal places as written (`1.5` is not `1500m`)."""
    digits, places = str(abs(amount.mantissa)), -amount.exponent
    if places > 0:
        digits = digits.rjust(places + 1, "0")
        digits = f"{digits[:-places]}.{digits[-places:]}"
    elif amount.mantissa:
        digits += "0" * -places
    return f"-{digits}" if amount.mantissa < 0 else digits
