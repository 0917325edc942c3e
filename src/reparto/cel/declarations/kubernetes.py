"""Function libraries that Kubernetes adds to CEL.

The authorization functions are declared, though selectors have no `authorizer` variable to call them on: an error message names a
missing overload, not an undeclared function.
"""

from __future__ import annotations

from reparto.cel.declarations.signature import Library, function, method
from reparto.cel.types import (
    AUTHORIZER,
    BOOL,
    BYTES,
    CIDR,
    DECISION,
    DOUBLE,
    DURATION,
    DYN,
    FORMAT,
    GROUP_CHECK,
    INT,
    IP,
    PATH_CHECK,
    QUANTITY,
    RESOURCE_CHECK,
    SEMVER,
    STRING,
    TIMESTAMP,
    UINT,
    URL,
    Type,
    list_of,
    map_of,
    optional_of,
    type_param,
)

A = type_param("A")

URLS = Library(
    "kubernetes.urls",
    (
        *function("url", ("string_to_url", (STRING,), URL)),
        *method("getScheme", ("url_get_scheme", (URL,), STRING)),
        *method("getHost", ("url_get_host", (URL,), STRING)),
        *method("getHostname", ("url_get_hostname", (URL,), STRING)),
        *method("getPort", ("url_get_port", (URL,), STRING)),
        *method("getEscapedPath", ("url_get_escaped_path", (URL,), STRING)),
        *method("getQuery", ("url_get_query", (URL,), map_of(STRING, list_of(STRING)))),
        *function("isURL", ("is_url_string", (STRING,), BOOL)),
    ),
)

REGEX = Library(
    "kubernetes.regex",
    (
        *method("find", ("string_find_string", (STRING, STRING), STRING)),
        *method(
            "findAll",
            ("string_find_all_string", (STRING, STRING), list_of(STRING)),
            ("string_find_all_string_int", (STRING, STRING, INT), list_of(STRING)),
        ),
    ),
)

_SUMMABLE: dict[str, Type] = {"int": INT, "uint": UINT, "double": DOUBLE, "duration": DURATION}
_COMPARABLE: dict[str, Type] = {
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "bool": BOOL,
    "duration": DURATION,
    "timestamp": TIMESTAMP,
    "string": STRING,
    "bytes": BYTES,
}

_LIST_FUNCTIONS = (
    *method("isSorted", *((f"list_{name}_is_sorted_bool", (list_of(type),), BOOL) for name, type in _COMPARABLE.items())),
    *method("sum", *((f"list_{name}_sum_{name}", (list_of(type),), type) for name, type in _SUMMABLE.items())),
    *method("max", *((f"list_{name}_max_{name}", (list_of(type),), type) for name, type in _COMPARABLE.items())),
    *method("min", *((f"list_{name}_min_{name}", (list_of(type),), type) for name, type in _COMPARABLE.items())),
    *method("indexOf", ("list_a_index_of_int", (list_of(A), A), INT)),
    *method("lastIndexOf", ("list_a_last_index_of_int", (list_of(A), A), INT)),
)
_INCLUDES = method("includes", ("list_includes_dyn_dyn", (DYN, DYN), BOOL))

LISTS_V0 = Library("kubernetes.lists", _LIST_FUNCTIONS, until=(1, 37))
LISTS_V1 = Library("kubernetes.lists", (*_LIST_FUNCTIONS, *_INCLUDES), since=(1, 37))
INCLUDES = Library("includes", _INCLUDES)
"""What device selectors add by themselves while list attributes are an alpha feature."""

AUTHZ = Library(
    "kubernetes.authz",
    (
        *method("path", ("authorizer_path", (AUTHORIZER, STRING), PATH_CHECK)),
        *method("group", ("authorizer_group", (AUTHORIZER, STRING), GROUP_CHECK)),
        *method("serviceAccount", ("authorizer_serviceaccount", (AUTHORIZER, STRING, STRING), AUTHORIZER)),
        *method("resource", ("groupcheck_resource", (GROUP_CHECK, STRING), RESOURCE_CHECK)),
        *method("subresource", ("resourcecheck_subresource", (RESOURCE_CHECK, STRING), RESOURCE_CHECK)),
        *method("namespace", ("resourcecheck_namespace", (RESOURCE_CHECK, STRING), RESOURCE_CHECK)),
        *method("name", ("resourcecheck_name", (RESOURCE_CHECK, STRING), RESOURCE_CHECK)),
        *method(
            "check",
            ("pathcheck_check", (PATH_CHECK, STRING), DECISION),
            ("resourcecheck_check", (RESOURCE_CHECK, STRING), DECISION),
        ),
        *method("errored", ("decision_errored", (DECISION,), BOOL)),
        *method("error", ("decision_error", (DECISION,), STRING)),
        *method("allowed", ("decision_allowed", (DECISION,), BOOL)),
        *method("reason", ("decision_reason", (DECISION,), STRING)),
    ),
    since=(1, 27),
)

AUTHZ_SELECTORS = Library(
    "kubernetes.authzSelectors",
    (
        *method("fieldSelector", ("authorizer_fieldselector", (RESOURCE_CHECK, STRING), RESOURCE_CHECK)),
        *method("labelSelector", ("authorizer_labelselector", (RESOURCE_CHECK, STRING), RESOURCE_CHECK)),
    ),
    since=(1, 31),
)

QUANTITIES = Library(
    "kubernetes.quantity",
    (
        *function("quantity", ("string_to_quantity", (STRING,), QUANTITY)),
        *function("isQuantity", ("is_quantity_string", (STRING,), BOOL)),
        # Global only: the documentation shows `q.sign()`, which does not compile.
        *function("sign", ("quantity_sign", (QUANTITY,), INT)),
        *method("isGreaterThan", ("quantity_is_greater_than", (QUANTITY, QUANTITY), BOOL)),
        *method("isLessThan", ("quantity_is_less_than", (QUANTITY, QUANTITY), BOOL)),
        *method("compareTo", ("quantity_compare_to", (QUANTITY, QUANTITY), INT)),
        *method("asApproximateFloat", ("quantity_get_float", (QUANTITY,), DOUBLE)),
        *method("asInteger", ("quantity_get_int", (QUANTITY,), INT)),
        *method("isInteger", ("quantity_is_integer", (QUANTITY,), BOOL)),
        *method("add", ("quantity_add", (QUANTITY, QUANTITY), QUANTITY), ("quantity_add_int", (QUANTITY, INT), QUANTITY)),
        *method("sub", ("quantity_sub", (QUANTITY, QUANTITY), QUANTITY), ("quantity_sub_int", (QUANTITY, INT), QUANTITY)),
    ),
    since=(1, 28),
)

IPS = Library(
    "net.ip",
    (
        *function("ip", ("string_to_ip", (STRING,), IP)),
        *method("family", ("ip_family", (IP,), INT)),
        *function("ip.isCanonical", ("ip_is_canonical", (STRING,), BOOL)),
        *method("isUnspecified", ("ip_is_unspecified", (IP,), BOOL)),
        *method("isLoopback", ("ip_is_loopback", (IP,), BOOL)),
        *method("isLinkLocalMulticast", ("ip_is_link_local_multicast", (IP,), BOOL)),
        *method("isLinkLocalUnicast", ("ip_is_link_local_unicast", (IP,), BOOL)),
        *method("isGlobalUnicast", ("ip_is_global_unicast", (IP,), BOOL)),
        *function("isIP", ("is_ip", (STRING,), BOOL)),
        *function("string", ("ip_to_string", (IP,), STRING)),
    ),
    since=(1, 30),
)

CIDRS = Library(
    "net.cidr",
    (
        *function("cidr", ("string_to_cidr", (STRING,), CIDR)),
        *method(
            "containsIP",
            ("cidr_contains_ip_string", (CIDR, STRING), BOOL),
            ("cidr_contains_ip_ip", (CIDR, IP), BOOL),
        ),
        *method(
            "containsCIDR",
            ("cidr_contains_cidr_string", (CIDR, STRING), BOOL),
            ("cidr_contains_cidr", (CIDR, CIDR), BOOL),
        ),
        *method("ip", ("cidr_ip", (CIDR,), IP)),
        *method("prefixLength", ("cidr_prefix_length", (CIDR,), INT)),
        *method("masked", ("cidr_masked", (CIDR,), CIDR)),
        *function("isCIDR", ("is_cidr", (STRING,), BOOL)),
        *function("string", ("cidr_to_string", (CIDR,), STRING)),
    ),
    since=(1, 30),
)

FORMAT_NAMES = (
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
)

FORMATS = Library(
    "kubernetes.format",
    (
        *method("validate", ("format-validate", (FORMAT, STRING), optional_of(list_of(STRING)))),
        *function("format.named", ("format-named", (STRING,), optional_of(FORMAT))),
        *(overload for name in FORMAT_NAMES for overload in function(f"format.{name}", (f"format.{name}", (), FORMAT))),
    ),
    since=(1, 31),
)

SEMVERS = Library(
    "kubernetes.semver",
    (
        *function("semver", ("string_to_semver", (STRING,), SEMVER), ("string_bool_to_semver", (STRING, BOOL), SEMVER)),
        *function("isSemver", ("is_semver_string", (STRING,), BOOL), ("is_semver_string_bool", (STRING, BOOL), BOOL)),
        *method("isGreaterThan", ("semver_is_greater_than", (SEMVER, SEMVER), BOOL)),
        *method("isLessThan", ("semver_is_less_than", (SEMVER, SEMVER), BOOL)),
        *method("compareTo", ("semver_compare_to", (SEMVER, SEMVER), INT)),
        *method("major", ("semver_major", (SEMVER,), INT)),
        *method("minor", ("semver_minor", (SEMVER,), INT)),
        *method("patch", ("semver_patch", (SEMVER,), INT)),
    ),
    since=(1, 33),
)
