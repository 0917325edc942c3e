"""Function libraries of cel-go that Kubernetes turns on: optionals, strings, sets, lists, two-variable comprehensions."""

from __future__ import annotations

from reparto.cel.declarations.signature import Library, function, method
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
    optional_of,
    type_param,
)

K = type_param("K")
T = type_param("T")
V = type_param("V")
LIST_T = list_of(T)
LIST_V = list_of(V)
LIST_STRING = list_of(STRING)
MAP_KV = map_of(K, V)
OPTIONAL_V = optional_of(V)

OPTIONALS = Library(
    "optional",
    (
        *function("optional.of", ("optional_of", (V,), OPTIONAL_V)),
        *function("optional.ofNonZeroValue", ("optional_ofNonZeroValue", (V,), OPTIONAL_V)),
        *function("optional.none", ("optional_none", (), OPTIONAL_V)),
        *method("value", ("optional_value", (OPTIONAL_V,), V)),
        *method("hasValue", ("optional_hasValue", (OPTIONAL_V,), BOOL)),
        *method("or", ("optional_or_optional", (OPTIONAL_V, OPTIONAL_V), OPTIONAL_V)),
        *method("orValue", ("optional_orValue_value", (OPTIONAL_V, V), V)),
        *function("_?._", ("select_optional_field", (DYN, STRING), OPTIONAL_V)),
        *function(
            "_[?_]",
            ("list_optindex_optional_int", (LIST_V, INT), OPTIONAL_V),
            ("optional_list_optindex_optional_int", (optional_of(LIST_V), INT), OPTIONAL_V),
            ("map_optindex_optional_value", (MAP_KV, K), OPTIONAL_V),
            ("optional_map_optindex_optional_value", (optional_of(MAP_KV), K), OPTIONAL_V),
        ),
        *function(
            "_[_]",
            ("optional_list_index_int", (optional_of(LIST_V), INT), OPTIONAL_V),
            ("optional_map_index_value", (optional_of(MAP_KV), K), OPTIONAL_V),
        ),
        *method("last", ("list_last", (LIST_V,), OPTIONAL_V)),
        *method("first", ("list_first", (LIST_V,), OPTIONAL_V)),
        *function("optional.unwrap", ("optional_unwrap", (list_of(OPTIONAL_V),), LIST_V)),
        *method("unwrapOpt", ("optional_unwrapOpt", (list_of(OPTIONAL_V),), LIST_V)),
    ),
    since=(1, 28),
)

STRINGS = Library(
    "strings",
    (
        *method("charAt", ("string_char_at_int", (STRING, INT), STRING)),
        *method(
            "indexOf",
            ("string_index_of_string", (STRING, STRING), INT),
            ("string_index_of_string_int", (STRING, STRING, INT), INT),
        ),
        *method(
            "lastIndexOf",
            ("string_last_index_of_string", (STRING, STRING), INT),
            ("string_last_index_of_string_int", (STRING, STRING, INT), INT),
        ),
        *method("lowerAscii", ("string_lower_ascii", (STRING,), STRING)),
        *method(
            "replace",
            ("string_replace_string_string", (STRING, STRING, STRING), STRING),
            ("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING),
        ),
        *method(
            "split",
            ("string_split_string", (STRING, STRING), LIST_STRING),
            ("string_split_string_int", (STRING, STRING, INT), LIST_STRING),
        ),
        *method(
            "substring",
            ("string_substring_int", (STRING, INT), STRING),
            ("string_substring_int_int", (STRING, INT, INT), STRING),
        ),
        *method("trim", ("string_trim", (STRING,), STRING)),
        *method("upperAscii", ("string_upper_ascii", (STRING,), STRING)),
        *method("format", ("string_format", (STRING, list_of(DYN)), STRING)),
        *function("strings.quote", ("strings_quote", (STRING,), STRING)),
        *method("join", ("list_join", (LIST_STRING,), STRING), ("list_join_string", (LIST_STRING, STRING), STRING)),
    ),
    since=(1, 29),
)

SETS = Library(
    "sets",
    (
        *function("sets.contains", ("list_sets_contains_list", (LIST_T, LIST_T), BOOL)),
        *function("sets.equivalent", ("list_sets_equivalent_list", (LIST_T, LIST_T), BOOL)),
        *function("sets.intersects", ("list_sets_intersects_list", (LIST_T, LIST_T), BOOL)),
    ),
    since=(1, 29),
)

TWO_VARIABLE_COMPREHENSIONS = Library(
    "two-variable comprehensions",
    function(
        "cel.@mapInsert",
        ("@mapInsert_map_key_value", (MAP_KV, K, V), MAP_KV),
        ("@mapInsert_map_map", (MAP_KV, MAP_KV), MAP_KV),
    ),
    since=(1, 32),
)

# What `sort` and `sortBy` can order, in cel-go's order; overload ids carry the run-time name of the type.
SORTABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)

LISTS = Library(
    "lists",
    (
        *method("slice", ("list_slice", (LIST_T, INT, INT), LIST_T)),
        *method(
            "flatten",
            ("list_flatten", (list_of(LIST_T),), LIST_T),
            ("list_flatten_int", (list_of(DYN), INT), list_of(DYN)),
        ),
        *method("sort", *((f"list_{type.name}_sort", (list_of(type),), list_of(type)) for type in SORTABLE)),
        *method(
            "@sortByAssociatedKeys",
            *((f"list_{type.name}_sortByAssociatedKeys", (LIST_T, list_of(type)), LIST_T) for type in SORTABLE),
        ),
        *function("lists.range", ("lists_range", (INT,), list_of(INT))),
        *method("reverse", ("list_reverse", (LIST_T,), LIST_T)),
        *method("distinct", ("list_distinct", (LIST_T,), LIST_T)),
    ),
    since=(1, 34),
)
