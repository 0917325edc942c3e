"""The standard functions and operators of CEL, as Kubernetes configures them.

Order matters: where several overloads fit, the first decides the result type and the order of overload ids. Cross-type ordering of
numbers is on in Kubernetes since 1.28.
"""

from __future__ import annotations

from reparto.cel.declarations.signature import Library, Overload, function, method
from reparto.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    list_of,
    map_of,
    type_of,
    type_param,
)

A = type_param("A")
B = type_param("B")
LIST_A = list_of(A)
MAP_AB = map_of(A, B)


def _ordering(operator: str, prefix: str) -> tuple[Overload, ...]:
    """`<` and its kin: each pair of numbers, and pairs of the other ordered types."""
    return function(
        operator,
        (f"{prefix}_bool", (BOOL, BOOL), BOOL),
        (f"{prefix}_int64", (INT, INT), BOOL),
        (f"{prefix}_int64_double", (INT, DOUBLE), BOOL),
        (f"{prefix}_int64_uint64", (INT, UINT), BOOL),
        (f"{prefix}_uint64", (UINT, UINT), BOOL),
        (f"{prefix}_uint64_double", (UINT, DOUBLE), BOOL),
        (f"{prefix}_uint64_int64", (UINT, INT), BOOL),
        (f"{prefix}_double", (DOUBLE, DOUBLE), BOOL),
        (f"{prefix}_double_int64", (DOUBLE, INT), BOOL),
        (f"{prefix}_double_uint64", (DOUBLE, UINT), BOOL),
        (f"{prefix}_string", (STRING, STRING), BOOL),
        (f"{prefix}_bytes", (BYTES, BYTES), BOOL),
        (f"{prefix}_timestamp", (TIMESTAMP, TIMESTAMP), BOOL),
        (f"{prefix}_duration", (DURATION, DURATION), BOOL),
    )


def _arithmetic(operator: str, prefix: str) -> tuple[Overload, ...]:
    return function(
        operator,
        (f"{prefix}_double", (DOUBLE, DOUBLE), DOUBLE),
        (f"{prefix}_int64", (INT, INT), INT),
        (f"{prefix}_uint64", (UINT, UINT), UINT),
    )


def _calendar(name: str, id: str, zoned: str | None = None) -> tuple[Overload, ...]:
    """An accessor of timestamps, without and with a time zone."""
    return method(name, (id, (TIMESTAMP,), INT), (zoned or f"{id}_with_tz", (TIMESTAMP, STRING), INT))


LOGIC = (
    *function("_?_:_", ("conditional", (BOOL, A, A), A)),
    *function("_&&_", ("logical_and", (BOOL, BOOL), BOOL)),
    *function("_||_", ("logical_or", (BOOL, BOOL), BOOL)),
    *function("!_", ("logical_not", (BOOL,), BOOL)),
    *function("@not_strictly_false", ("not_strictly_false", (BOOL,), BOOL)),
    *function("_==_", ("equals", (A, A), BOOL)),
    *function("_!=_", ("not_equals", (A, A), BOOL)),
)

ARITHMETIC = (
    *function(
        "_+_",
        ("add_bytes", (BYTES, BYTES), BYTES),
        ("add_double", (DOUBLE, DOUBLE), DOUBLE),
        ("add_duration_duration", (DURATION, DURATION), DURATION),
        ("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP),
        ("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
        ("add_int64", (INT, INT), INT),
        ("add_list", (LIST_A, LIST_A), LIST_A),
        ("add_string", (STRING, STRING), STRING),
        ("add_uint64", (UINT, UINT), UINT),
    ),
    *_arithmetic("_/_", "divide"),
    *function("_%_", ("modulo_int64", (INT, INT), INT), ("modulo_uint64", (UINT, UINT), UINT)),
    *_arithmetic("_*_", "multiply"),
    *function("-_", ("negate_double", (DOUBLE,), DOUBLE), ("negate_int64", (INT,), INT)),
    *function(
        "_-_",
        ("subtract_double", (DOUBLE, DOUBLE), DOUBLE),
        ("subtract_duration_duration", (DURATION, DURATION), DURATION),
        ("subtract_int64", (INT, INT), INT),
        ("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
        ("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION),
        ("subtract_uint64", (UINT, UINT), UINT),
    ),
)

ORDERING = (
    *_ordering("_<_", "less"),
    *_ordering("_<=_", "less_equals"),
    *_ordering("_>_", "greater"),
    *_ordering("_>=_", "greater_equals"),
)

COLLECTIONS = (
    *function("_[_]", ("index_list", (LIST_A, INT), A), ("index_map", (MAP_AB, A), B)),
    *function("@in", ("in_list", (A, LIST_A), BOOL), ("in_map", (A, MAP_AB), BOOL)),
    *function("size", ("size_bytes", (BYTES,), INT)),
    *method("size", ("bytes_size", (BYTES,), INT)),
    *function("size", ("size_list", (LIST_A,), INT)),
    *method("size", ("list_size", (LIST_A,), INT)),
    *function("size", ("size_map", (MAP_AB,), INT)),
    *method("size", ("map_size", (MAP_AB,), INT)),
    *function("size", ("size_string", (STRING,), INT)),
    *method("size", ("string_size", (STRING,), INT)),
)

CONVERSIONS = (
    *function("type", ("type", (A,), type_of(A))),
    *function("bool", ("bool_to_bool", (BOOL,), BOOL), ("string_to_bool", (STRING,), BOOL)),
    *function("bytes", ("bytes_to_bytes", (BYTES,), BYTES), ("string_to_bytes", (STRING,), BYTES)),
    *function(
        "double",
        ("double_to_double", (DOUBLE,), DOUBLE),
        ("int64_to_double", (INT,), DOUBLE),
        ("string_to_double", (STRING,), DOUBLE),
        ("uint64_to_double", (UINT,), DOUBLE),
    ),
    *function("duration", ("duration_to_duration", (DURATION,), DURATION), ("string_to_duration", (STRING,), DURATION)),
    *function("dyn", ("to_dyn", (A,), DYN)),
    *function(
        "int",
        ("int64_to_int64", (INT,), INT),
        ("double_to_int64", (DOUBLE,), INT),
        ("duration_to_int64", (DURATION,), INT),
        ("string_to_int64", (STRING,), INT),
        ("timestamp_to_int64", (TIMESTAMP,), INT),
        ("uint64_to_int64", (UINT,), INT),
    ),
    *function(
        "string",
        ("string_to_string", (STRING,), STRING),
        ("bool_to_string", (BOOL,), STRING),
        ("bytes_to_string", (BYTES,), STRING),
        ("double_to_string", (DOUBLE,), STRING),
        ("duration_to_string", (DURATION,), STRING),
        ("int64_to_string", (INT,), STRING),
        ("timestamp_to_string", (TIMESTAMP,), STRING),
        ("uint64_to_string", (UINT,), STRING),
    ),
    *function(
        "timestamp",
        ("timestamp_to_timestamp", (TIMESTAMP,), TIMESTAMP),
        ("int64_to_timestamp", (INT,), TIMESTAMP),
        ("string_to_timestamp", (STRING,), TIMESTAMP),
    ),
    *function(
        "uint",
        ("uint64_to_uint64", (UINT,), UINT),
        ("double_to_uint64", (DOUBLE,), UINT),
        ("int64_to_uint64", (INT,), UINT),
        ("string_to_uint64", (STRING,), UINT),
    ),
)

TEXT = (
    *method("contains", ("contains_string", (STRING, STRING), BOOL)),
    *method("endsWith", ("ends_with_string", (STRING, STRING), BOOL)),
    *method("startsWith", ("starts_with_string", (STRING, STRING), BOOL)),
    *function("matches", ("matches", (STRING, STRING), BOOL)),
    *method("matches", ("matches_string", (STRING, STRING), BOOL)),
)

TIME = (
    *_calendar("getFullYear", "timestamp_to_year"),
    *_calendar("getMonth", "timestamp_to_month"),
    *_calendar("getDayOfYear", "timestamp_to_day_of_year"),
    *_calendar("getDayOfMonth", "timestamp_to_day_of_month"),
    *_calendar("getDate", "timestamp_to_day_of_month_1_based"),
    *_calendar("getDayOfWeek", "timestamp_to_day_of_week"),
    *_calendar("getHours", "timestamp_to_hours"),
    *method("getHours", ("duration_to_hours", (DURATION,), INT)),
    *_calendar("getMinutes", "timestamp_to_minutes"),
    *method("getMinutes", ("duration_to_minutes", (DURATION,), INT)),
    *_calendar("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz"),
    *method("getSeconds", ("duration_to_seconds", (DURATION,), INT)),
    *_calendar("getMilliseconds", "timestamp_to_milliseconds"),
    *method("getMilliseconds", ("duration_to_milliseconds", (DURATION,), INT)),
)

STANDARD = Library("standard", (*LOGIC, *ARITHMETIC, *ORDERING, *COLLECTIONS, *CONVERSIONS, *TEXT, *TIME))
