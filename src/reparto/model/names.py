"""Names: the textual formats that Kubernetes demands of names, label keys and label values, with the API server's messages.

Each function answers with the list of what is wrong, in the API server's words; empty means valid. Lengths count UTF-8 bytes. The
API server has two voices for a DNS name that is too long: hand-written checks and CEL's `format` library speak of "characters",
declarative checks and the prefix of a label key of "bytes". `unit` picks the word; what is counted is the same.
Source: apimachinery `pkg/api/validate/content` 0.37.2; validation-1.37.md, "Formats".
"""

import re
from typing import Literal

Unit = Literal["characters", "bytes"]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"

# Upstream's patterns, written so that a text that does not match is refused in linear time.
_is_label = re.compile(r"[a-z0-9](?:-*[a-z0-9])*+").fullmatch
_is_subdomain = re.compile(r"[a-z0-9](?:[-.]?[a-z0-9]|-+[a-z0-9])*+").fullmatch
_is_label_1035 = re.compile(r"[a-z](?:-*[a-z0-9])*+").fullmatch
_is_key = re.compile(r"[A-Za-z0-9](?:[-_.]*[A-Za-z0-9])*+").fullmatch
_is_c_identifier = re.compile(_C_IDENTIFIER).fullmatch

LABEL_BYTES = 63
SUBDOMAIN_BYTES = 253

_QUOTA_PREFIX = "requests."
_NATIVE_DOMAIN = "kubernetes.io/"

_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_1035_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_KEY_RULE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_C_IDENTIFIER_RULE = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'"
)


def dns1123_label(text: str, unit: Unit = "characters") -> list[str]:
    """A lower-case DNS label of RFC 1123, at most 63 bytes: names of devices, requests, counters."""
    errors = _too_long(text, LABEL_BYTES, unit)
    if not _is_label(text):
        errors.append("must not contain dots" if _is_subdomain(text) else _mismatch(_LABEL_RULE, _LABEL, "my-name", "123-abc"))
    return errors


def dns1123_subdomain(text: str, unit: Unit = "characters") -> list[str]:
    """Lower-case labels joined by dots, at most 253 bytes in all: names of most objects, drivers, domains."""
    errors = _too_long(text, SUBDOMAIN_BYTES, unit)
    if not _is_subdomain(text):
        errors.append(_mismatch(_SUBDOMAIN_RULE, _SUBDOMAIN, "example.com"))
    return errors


def dns1035_label(text: str, unit: Unit = "characters") -> list[str]:
    """A DNS label that starts with a letter, at most 63 bytes."""
    errors = _too_long(text, LABEL_BYTES, unit)
    if not _is_label_1035(text):
        errors.append(_mismatch(_LABEL_1035_RULE, _LABEL_1035, "my-name", "abc-123"))
    return errors


def qualified_name(text: str) -> list[str]:
    """A label key: `name` or `prefix/name`, the prefix a subdomain, the name at most 63 bytes."""
    if text.count("/") > 1:
        rule = _mismatch(_KEY_RULE, _KEY, "MyName", "my.name", "123-abc")
        return [f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    prefix, slash, name = text.rpartition("/")
    errors: list[str] = []
    if slash:
        errors += [f"prefix part {error}" for error in (dns1123_subdomain(prefix, "bytes") if prefix else ["must be non-empty"])]
    errors += [f"name part {error}" for error in (_too_long(name, LABEL_BYTES) if name else ["must be non-empty"])]
    if not _is_key(name):
        errors.append("name part " + _mismatch(_KEY_RULE, _KEY, "MyName", "my.name", "123-abc"))
    return errors


def label_value(text: str) -> list[str]:
    """A label value: empty, or at most 63 bytes of letters, digits, `-`, `_`, `.` between two letters or digits."""
    errors = _too_long(text, LABEL_BYTES)
    if text and not _is_key(text):
        errors.append(_mismatch(_VALUE_RULE, f"({_KEY})?", "MyValue", "my_value", "12345"))
    return errors


def c_identifier(text: str) -> list[str]:
    """A C identifier of any length: the identifier part of an attribute's name."""
    return [] if _is_c_identifier(text) else [_mismatch(_C_IDENTIFIER_RULE, _C_IDENTIFIER, "my_name", "MY_NAME", "MyName")]


def is_extended_resource_name(text: str) -> list[str]:
    """An extended resource: domain-prefixed, outside kubernetes.io, and a label key even with `requests.` in front."""
    errors: list[str] = []
    if "/" not in text:
        errors.append("a name must be a domain-prefixed path, such as 'example.com/my-prop'")
    elif _NATIVE_DOMAIN in text:
        errors.append(f'must not have "{_NATIVE_DOMAIN}" domain')
    if text.startswith(_QUOTA_PREFIX):
        errors.append(f'must not have "{_QUOTA_PREFIX}" prefix')
    return errors + qualified_name(_QUOTA_PREFIX + text)


def _too_long(text: str, limit: int, unit: Unit = "bytes") -> list[str]:
    return [f"must be no more than {limit} {unit}"] if len(text) > limit or len(text.encode(errors="replace")) > limit else []


def _mismatch(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"
