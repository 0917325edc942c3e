"""Named formats: `format.dns1123Label().validate(text)`. The names' rules are `reparto.model.names`'."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from reparto.cel.functions.urls import UrlError, parse_request_uri
from reparto.cel.values import NONE, Format, Optional
from reparto.model import names

_UUID: Final = r"(?ia)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
_BASE64: Final = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
_DATE: Final = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_CLOCK: Final = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})"
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _prefix(check: Callable[[str], list[str]], text: str) -> list[str]:
    """Checks a name that something will be appended to: a dash at its end is fine."""
    return check(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> list[str]:
    try:
        parse_request_uri(text)
    except UrlError as error:
        return [str(error)]
    return []


def _pattern(pattern: str, message: str, text: str) -> list[str]:
    return [] if re.fullmatch(pattern, text) else [message]


def _is_date(text: str) -> bool:
    shape = re.fullmatch(_DATE, text)
    if shape is None:
        return False
    year, month, day = (int(part) for part in shape.groups())
    if not 1 <= month <= 12:
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _DAYS[month - 1] + leap


def _date(text: str) -> list[str]:
    return [] if _is_date(text) else ["invalid date"]


def _datetime(text: str) -> list[str]:
    # Only the part up to a second "t" is looked at; the fraction may start with any character.
    parts = text.lower().split("t")
    clock = re.fullmatch(_CLOCK, parts[1]) if len(parts) > 1 and _is_date(parts[0]) else None
    valid = clock is not None and clock[1] <= "23" and clock[2] <= "59" and clock[3] <= "59"
    return [] if valid else ["invalid datetime"]


BY_NAME: Final = {
    "dns1123Label": Format("DNS1123Label", names.dns1123_label, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", names.dns1123_subdomain, 60),
    "dns1035Label": Format("DNS1035Label", names.dns1035_label, 30),
    "qualifiedName": Format("QualifiedName", names.qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", partial(_prefix, names.dns1123_label), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", partial(_prefix, names.dns1123_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", partial(_prefix, names.dns1035_label), 30),
    "labelValue": Format("LabelValue", names.label_value, 40),
    "uri": Format("URI", _uri, 1103),
    "uuid": Format("uuid", partial(_pattern, _UUID, "does not match the UUID format"), 70),
    "byte": Format("byte", partial(_pattern, _BASE64, "invalid base64"), 84),
    "date": Format("date", _date, 71),
    "datetime": Format("datetime", _datetime, 71),
}
"""Formats by the name that expressions use. Pattern sizes are those of the cost model."""


def named(name: str) -> Optional:
    found = BY_NAME.get(name)
    return NONE if found is None else Optional(found)


def validate(format: Format, text: str) -> Optional:
    """The list of what is wrong with the text, absent when nothing is."""
    errors = format.check(text)
    return Optional(tuple(errors)) if errors else NONE


def _constant(format: Format) -> Callable[[], Format]:
    return lambda: format


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "format-named": named,
    "format-validate": validate,
    **{f"format.{name}": _constant(format) for name, format in BY_NAME.items()},
}
