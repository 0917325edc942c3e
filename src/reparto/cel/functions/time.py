"""Durations and timestamps: Go's texts, checked arithmetic, calendar fields in a time zone.

Python's datetime is not used for the arithmetic: CEL counts nanoseconds, and a time zone may push an instant into year 0 or 10000.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from reparto.cel.texts import plain_double
from reparto.cel.values import INT_MAX, INT_MIN, Duration, Failure, Timestamp, Value, no_such_overload

SECOND: Final = 1_000_000_000
MIN_UNIX: Final = -62135596800  # 0001-01-01T00:00:00Z
MAX_UNIX: Final = 253402300799  # 9999-12-31T23:59:59Z
_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART: Final = r"([0-9]*)(\.?)([0-9]*)([^0-9.]*)"
_TIMESTAMP: Final = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))"
)


def parse_duration(text: str) -> Duration:
    """Go's `time.ParseDuration`. Raises ValueError."""
    rest = text
    negative = rest.startswith("-")
    if rest[:1] in ("-", "+"):
        rest = rest[1:]
    if rest == "0":
        return Duration(0)
    if not rest:
        raise ValueError(text)
    total = 0
    while rest:
        part = re.match(_PART, rest)
        if part is None:
            raise ValueError(text)
        whole, _, fraction, unit = part.groups()
        if not (whole or fraction) or unit not in _UNITS:
            raise ValueError(text)
        scale = _UNITS[unit]
        number = int(whole[-400:] or "0") if len(whole.lstrip("0")) < 20 else 2**64
        if number > 2**63 // scale:
            raise ValueError(text)
        number *= scale
        if fraction:
            digits = fraction[:18]
            number += int(float(int(digits)) * (float(scale) / 10.0 ** len(digits)))
            if number > 2**63:
                raise ValueError(text)
        total += number
        if total > 2**63:
            raise ValueError(text)
        rest = rest[part.end() :]
    if negative:
        return Duration(-total)
    if total > INT_MAX:
        raise ValueError(text)
    return Duration(total)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a date of the proleptic Gregorian calendar."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970-01-01."""
    era, of_era = divmod(days + 719468, 146097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def _days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def parse_timestamp(text: str) -> Timestamp:
    """Go's `time.Parse(time.RFC3339, …)`, which also takes one-digit hours and a comma before the fraction.

    Raises ValueError for another shape or an impossible date, Failure where the instant lies outside years 1 to 9999.
    """
    shape = re.fullmatch(_TIMESTAMP, text)
    if shape is None:
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(part) for part in shape.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= _days_in_month(year, month) and hour < 24 and minute < 60 and second < 60):
        raise ValueError(text)
    fraction, utc, sign, zone_hours, zone_minutes = shape.groups()[6:]
    offset = 0
    if utc is None:
        if int(zone_hours) > 24 or int(zone_minutes) > 60:
            raise ValueError(text)
        offset = (int(zone_hours) * 60 + int(zone_minutes)) * (-60 if sign == "-" else 60)
    nanos = int((fraction or "0")[:9].ljust(9, "0"))
    seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    return Timestamp(_checked_seconds(seconds), nanos, offset)


def _checked_seconds(seconds: int) -> int:
    if MIN_UNIX <= seconds <= MAX_UNIX:
        return seconds
    raise Failure("timestamp overflow")


def timestamp_from_unix(seconds: int) -> Timestamp:
    return Timestamp(_checked_seconds(seconds))


def duration_text(duration: Duration) -> str:
    """Seconds as a decimal, with the unit: `1.5s`."""
    seconds, rest = _truncated(duration.nanos, SECOND)
    return f"{plain_double(float(seconds) + float(rest) / 1e9)}s"


def timestamp_text(timestamp: Timestamp) -> str:
    """RFC 3339 with as many digits of the fraction as are needed, in the zone it was written in."""
    days, of_day = divmod(timestamp.seconds + timestamp.offset, 86400)
    year, month, day = civil_from_days(days)
    fraction = f".{timestamp.nanos:09d}".rstrip("0") if timestamp.nanos else ""
    zone = "Z"
    if timestamp.offset:
        hours, minutes = divmod(abs(timestamp.offset) // 60, 60)
        zone = f"{'-' if timestamp.offset < 0 else '+'}{hours:02d}:{minutes:02d}"
    clock = f"{of_day // 3600:02d}:{of_day // 60 % 60:02d}:{of_day % 60:02d}"
    return f"{year:04d}-{month:02d}-{day:02d}T{clock}{fraction}{zone}"


def _truncated(number: int, divisor: int) -> tuple[int, int]:
    quotient, rest = divmod(abs(number), divisor)
    return (quotient, rest) if number >= 0 else (-quotient, -rest)


def _checked_duration(nanos: int) -> Duration:
    if INT_MIN <= nanos <= INT_MAX:
        return Duration(nanos)
    raise Failure("integer overflow")


def _shifted(timestamp: Timestamp, nanos: int) -> Timestamp:
    seconds, rest = divmod(timestamp.seconds * SECOND + timestamp.nanos + nanos, SECOND)
    return Timestamp(_checked_seconds(seconds), rest, timestamp.offset)


def add_times(left: Duration | Timestamp, right: Value) -> Duration | Timestamp:
    if type(right) is Duration:
        if isinstance(left, Duration):
            return _checked_duration(left.nanos + right.nanos)
        return _shifted(left, right.nanos)
    if type(right) is Timestamp and type(left) is Duration:
        return _shifted(right, left.nanos)
    raise no_such_overload()


def subtract_times(left: Duration | Timestamp, right: Value) -> Duration | Timestamp:
    if type(left) is Duration:
        if type(right) is Duration:
            return _checked_duration(left.nanos - right.nanos)
    elif type(left) is Timestamp:
        if type(right) is Duration:
            # The reference negates the duration first, which the smallest one does not survive.
            return _shifted(left, _checked_duration(-right.nanos).nanos)
        if type(right) is Timestamp:
            # The whole seconds alone must fit, as in the reference.
            seconds = _checked_duration((left.seconds - right.seconds) * SECOND)
            return _checked_duration(seconds.nanos + left.nanos - right.nanos)
    raise no_such_overload()


def _zone_offset(timestamp: Timestamp, zone: str) -> int:
    """Seconds east of UTC at that instant; `zone` is a name of the IANA database or `[+-]hh:mm`."""
    if ":" in zone:
        hours_text, minutes_text = zone.split(":", 1)
        # Minutes are not checked: "1:99" is a zone, as in the reference.
        hours, minutes = _go_int(hours_text), _go_int(minutes_text)
        return (hours * 60 - minutes if zone.startswith("-") else hours * 60 + minutes) * 60
    if zone in ("", "UTC"):
        return 0
    if ".." in zone or zone[0] in "/\\":
        raise Failure("time: invalid location name")
    import datetime
    import zoneinfo

    if zone == ".":
        raise Failure("is a directory")
    try:
        location = zoneinfo.ZoneInfo(zone)
    except IsADirectoryError:
        raise Failure("is a directory") from None
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise Failure(f"unknown time zone {zone}") from None
    # Years at the rim of the calendar would leave datetime's range; zones have no rules there, so a year within decides.
    bounded = min(max(timestamp.seconds, MIN_UNIX + 2 * 86400), MAX_UNIX - 2 * 86400)
    instant = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(seconds=bounded)
    offset = instant.astimezone(location).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0


def _go_int(text: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text) is None:
        raise Failure(f'strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)


def _field(read: Callable[[int, int, int], int]) -> Callable[..., int]:
    """A calendar field of a timestamp: `read` gets days since 1970, second of the day and nanosecond."""

    def accessor(timestamp: Timestamp, zone: str = "UTC") -> int:
        days, of_day = divmod(timestamp.seconds + _zone_offset(timestamp, zone), 86400)
        return read(days, of_day, timestamp.nanos)

    return accessor


def _year_day(days: int) -> int:
    return days - days_from_civil(civil_from_days(days)[0], 1, 1)


def _hours(duration: Duration) -> int:
    # Through double, as in Go: a span just short of a full hour rounds up to it.
    hours, rest = _truncated(duration.nanos, 3600 * SECOND)
    return int(float(hours) + float(rest) / (3600 * 1e9))


def _minutes(duration: Duration) -> int:
    minutes, rest = _truncated(duration.nanos, 60 * SECOND)
    return int(float(minutes) + float(rest) / (60 * 1e9))


def _seconds(duration: Duration) -> int:
    seconds, rest = _truncated(duration.nanos, SECOND)
    return int(float(seconds) + float(rest) / 1e9)


def _milliseconds(duration: Duration) -> int:
    return _truncated(duration.nanos, 1_000_000)[0]


_FIELDS: Final = {
    "timestamp_to_year": _field(lambda days, second, nano: civil_from_days(days)[0]),
    "timestamp_to_month": _field(lambda days, second, nano: civil_from_days(days)[1] - 1),
    "timestamp_to_day_of_year": _field(lambda days, second, nano: _year_day(days)),
    "timestamp_to_day_of_month": _field(lambda days, second, nano: civil_from_days(days)[2] - 1),
    "timestamp_to_day_of_month_1_based": _field(lambda days, second, nano: civil_from_days(days)[2]),
    "timestamp_to_day_of_week": _field(lambda days, second, nano: (days + 4) % 7),
    "timestamp_to_hours": _field(lambda days, second, nano: second // 3600),
    "timestamp_to_minutes": _field(lambda days, second, nano: second // 60 % 60),
    "timestamp_to_seconds": _field(lambda days, second, nano: second % 60),
    "timestamp_to_milliseconds": _field(lambda days, second, nano: nano // 1_000_000),
}

FUNCTIONS: Final[dict[str, Callable[..., int]]] = {
    **_FIELDS,
    **{f"{name}_with_tz": accessor for name, accessor in _FIELDS.items()},
    "timestamp_to_seconds_tz": _FIELDS["timestamp_to_seconds"],
    "duration_to_hours": _hours,
    "duration_to_minutes": _minutes,
    "duration_to_seconds": _seconds,
    "duration_to_milliseconds": _milliseconds,
}
