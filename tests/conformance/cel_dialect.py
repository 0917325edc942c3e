"""What there is to call in the dialect: functions by what they return, with the types of their arguments, and odd literals."""

from __future__ import annotations

from random import Random

from conformance.cel_devices import DOMAINS, DRIVERS, QUANTITIES, STRINGS, VERSIONS

#: Strings with a meaning: the pool of each is drawn from where a function expects it.
POOLS: dict[str, tuple[str, ...]] = {
    "string:quantity": ("100m", "0.1", "-0", "+1Ki", "1.0", "1.", "1e-9", "1e-10", "9223372036854775808", "-9223372036854775809", "1e18", "1e19", "1Zi", "1.23456789012345678901", "12e", "1E+2", "1e+2", "1E-2", "4.5Ti", "1024Ei", "0.0000000001", "1000000u", "1m1", "Mi", "e3", "E", "P", "1 ", "9999999999999999999999", "1Pi", "0.5Gi", *QUANTITIES, "-1", "+5", "5.", ".5", "Ki", "Pi", "-", "1.5k", "1000m", "1.5Gi", "8Ei", "16Ei", "100E", "1e400", "0.1n", "1Pi", "1024Ti",
                        "-0.0000000001", "1e-3", "1E3", "999999999999999999", "1000000000000000000", "99Ti", "12.34567Mi", "1K", "1 k", "abc", "1e", "0x1", "1_0", "١", "007", "1u", "3m"),
    "string:semver": ("1.2.3-0", "1.2.3--", "1.2.3-a+b.c", "1.2.3+", "1.2.3+_", "1.2", "v1.2.3-rc.1", "1.2.3-rc+b", "001.0.0", "1.0.0-00", "1.0.0-0a", "١.0.0", "v", "vv1", "1..2", "1.2.", "-1.0.0", "1.0.0-rc.10", "1.0.0-rc.9", "1.2.3.4-rc", "0.0", "00.0.0", *VERSIONS, "1.0", "1", "v1.2.3", "01.02.03", "1.2.3-01", "1.2.3-a.b", "1.2.3-", "580.65.06", "v1", "1.2.3.4", "", "1.0-rc", "a.b.c", "1.0.0-alpha", "1.0.0-alpha.1",
                      "1.0.0-1", "1.0.0-beta+exp", "18446744073709551616.0.0", " 1.0.0", "V1.0.0", "1.0.0-rc..1"),
    "string:ip": (" 1.2.3.4", "1.2.3.4 ", "0:0:0:0:0:0:0:1", "1::2::3", "::1.2.3.4", "64:ff9b::1.2.3.4", "ff01::1", "fe80::", "192.168.0.1", "100.64.0.1", "224.0.0.251", "::ffff:0:1.2.3.4", "01.2.3.4", "1.2.3.4.5", "1.2.3.4", "127.0.0.1", "0.0.0.0", "169.254.1.1", "224.0.0.1", "255.255.255.255", "10.0.0.1", "::1", "::", "fe80::1", "ff02::1", "2001:db8::1", "2001:DB8::1", "2001:db8:0:0::1",
                  "::ffff:1.2.3.4", "fe80::1%eth0", "1.2.3", "1.2.3.04", "1.2.3.256", "", "abc", "1.2.3.4/24"),
    "string:cidr": ("1.2.3.0/24 ", "1.2.3.0/+24", "2001:db8::1/64", "::ffff:0:0/96", "10.0.0.0/08", "0.0.0.0/1", "255.255.255.255/0", "1.2.3/24", "::/129", "fe80::1/10", "1.2.3.0/24", "1.2.3.4/24", "10.0.0.0/8", "0.0.0.0/0", "1.2.3.4/32", "2001:db8::/32", "::/0", "::1/128", "fe80::/10", "::ffff:1.2.3.0/120", "1.2.3.0/33", "1.2.3.0", "1.2.3.0/024", "", "x/8",
                    "1.2.3.0/-1", "fe80::%eth0/64"),
    "string:url": ("HTTP://EXAMPLE.com/", "http://a/b?c=%zz", "http://a/%41", "file:///etc/passwd", "http://a?x=1&x=2&y", "urn:isbn:1", "http://[fe80::1%25en0]/", "http://a:99999/", "?q=1", "#f", "http://a/b c", "http://user@h", "tel:+1-2", "http://a/\\t", "http://a", "https://example.com:8080/path/to?x=1&y=2&x=3#f", "http://[::1]:80/", "/relative/path", "mailto:a@b.c", "http://user:pw@host/p%20q", "", "a", "http://a b", "%zz", "https://h?q=a%20b&empty",
                   "ftp://h:21", "https://example.com/?a=1;b=2", "//host/path", "http://a:b", "http://é.com/ü?ö=ä"),
    "string:regex": ("\\\\p{L_}", "\\\\Pp", "[\\\\p{greek}]", "(?P<é>a)", "\\\\Q.\\\\E", "\\\\C", "[^\\\\x00-\\\\x7F]", "\\\\z", "(?s).", "a*?", "x{,2}", "a**", "[a-", "a{2}{3}", "\\\\p{Greek}", "(?P<n>a)(?P<n>b)", "\\\\", "(?i:a)b", "[[:foo:]]", "\\\\8", "^(a|b)*$", "\\\\x{1F600}", "(?<n>a)", "a++", "\\\\A[0-9]+\\\\z", "80GB$", "a", "a+", "^a.*c$", "[a-z]+", "(a)(b)?", "\\\\d+", "x{2,3}", "(?i)ABC", "", ".", "a|b", "^$", "(?P<n>a)", "\\\\pL", "(", "a{1001}", "(?=a)", "\\\\bgpu\\\\b", "[[:alpha:]]", "日", "(a*)*"),
    "string:duration": ("1h-1m", "1e3s", "-", "1h 1m", "00001s", "0.0000000001s", "-0s", "2562047h47m16.854775808s", "-9223372036.854775808s", "1m1h", "1S", "1ms1us1ns", "1s", "1h30m", "0s", "-1.5s", "100ms", "1us", "1ns", "1d", "", "abc", "2562047h47m16.854775807s", "315576000000s", "1.5h", "9223372036s", "9223372037s", "1µs", ".5s", "1", "+1s"),
    "string:timestamp": ("2000-01-01T00:00:00.123456789123Z", "2000-1-1T00:00:00Z", "2000-01-01T00:00:60Z", "2000-01-01T00:00:00+24:00", "2000-01-01T00:00:00-00:00", "1969-12-31T23:59:59.5Z", "2000-01-01T00:00:00,5Z", "2000-12-31T23:59:59+14:00", "-001-01-01T00:00:00Z", " 2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z", "2023-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00Z", "2024-02-29T12:00:00+05:30", "2000-01-01", "abc",
                         "2023-02-29T00:00:00Z", "2000-01-01T00:00:00", "2000-01-01t00:00:00z", "10000-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "2011-08-18T00:00:00.000+01:00", "2000-01-01T24:00:00Z"),
    "string:zone": ("utc", "+5:30", "+14:00", "-23:59", "24:00", "1:2", "+ab:cd", "EST", "Etc/GMT+3", "america/new_york", "UTC", "America/New_York", "Asia/Kolkata", "+05:30", "-08:00", "02:00", "No/Where", "Europe/Berlin", ""),
    "string:number": ("-9223372036854775808", "1e308", "-1e-400", "0b1", " ", "1e19", "9007199254740993", "1.7976931348623157e309", "infinity", "+Inf", "-nan", "18446744073709551615.0", "TRue", "1", "-1", "0", "1.5", "abc", "", " 1", "+1", "1e3", "0x10", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "NaN", "Infinity", "inf",
                      "-0", "1_000", "true", "True", "TRUE", "t", "f", "false", "1.0", "01", "1e400", ".5", "5."),
    "string:name": ("a", "abc-def", "a.b.c", "A", "-a", "a-", "a" * 63, "a" * 64, "a_b", "", "1a", "example.com/name", "x/y/z", "a..b", "2020-01-01", "2020-01-01T00:00:00Z", "not a date", "YWJj", "Y", "http://x/y", "a b",
                    "123e4567-e89b-12d3-a456-426614174000", "é", "2021-13-01", "abc-", "a.b-"),
    "string:template": ("%s is %s", "%5d", "%.10f", "%.s", "%f%%", "%-s", "% s", "%s %d %f %e %b %x %X %o", "%.20e", "%.1000f", "%i", "%D", "%.2s", "%s", "%d", "%f", "%s %s", "%d-%x", "%%", "", "%X", "%o", "%b", "%e", "%.2f", "%.3e", "%q", "%", "%s%d", "%.0f", "no", "%s %%", "%x"),
}  # fmt: skip

FORMATS = ("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime")  # fmt: skip

SCALARS = ("int", "uint", "double", "bool", "string", "bytes", "duration", "timestamp")
ELEMENTS = (*SCALARS, "quantity", "semver", "int", "string", "int", "string", "int", "string")
COMPARABLE = ("int", "uint", "double", "bool", "string", "bytes", "duration", "timestamp")
SUMMABLE = ("int", "uint", "double", "duration")
KEYS = ("string", "int", "string", "uint", "bool")

Call = tuple[str, tuple[str, ...]]


def members(names: str, *arguments: str) -> list[Call]:
    """Calls of these members; the first argument is the receiver."""
    return [(f"{{}}.{name}({', '.join(['{}'] * (len(arguments) - 1))})", arguments) for name in names.split()]


def functions(names: str, *arguments: str) -> list[Call]:
    """Calls of these global functions."""
    return [(f"{name}({', '.join(['{}'] * len(arguments))})", arguments) for name in names.split()]


#: (text with a place for each argument, argument types), by result type. Repeated entries are drawn more often.
CALLS: dict[str, list[Call]] = {
    "bool": [
        ("!{}", ("bool",)),
        *[("{} && {}", ("bool", "bool"))] * 4,
        *[("{} || {}", ("bool", "bool"))] * 4,
        ("{} ? {} : {}", ("bool", "bool", "bool")),
        *[(f"{{}} {op} {{}}", (t, t)) for t in SCALARS for op in ("==", "!=", "<", "<=", ">", ">=")],
        *[(f"{{}} {op} {{}}", (t, t)) for t in ("quantity", "semver", "ip", "cidr", "url", "null", "type", "dyn") for op in ("==", "!=")],
        *[(f"{{}} {op} {{}}", pair) for op in ("<", "<=", ">", ">=") for pair in (("int", "double"), ("double", "int"), ("uint", "int"), ("int", "uint"), ("double", "uint"), ("uint", "double"))],
        *[("{} == {}", (f"list<{t}>", f"list<{t}>")) for t in ELEMENTS],
        *[("{} == {}", ("map<string,int>", "map<string,int>")), ("{} != {}", ("map<int,string>", "map<int,string>"))],
        *[("{} == {}", (f"optional<{t}>", f"optional<{t}>")) for t in ("int", "string", "dyn")],
        *[("{} == {}", ("dyn", t)) for t in (*SCALARS, "semver", "quantity", "list<int>", "list<string>")],
        *[("{} == {}", (t, "dyn")) for t in (*SCALARS, "semver", "quantity", "list<int>")],
        *[("{} != {}", ("dyn", t)) for t in ("int", "string", "semver")],
        *[(f"{{}} {op} {{}}", ("dyn", t)) for t in ("int", "string", "double", "uint", "bool") for op in ("<", ">=")],
        *[("{} in {}", (t, f"list<{t}>")) for t in ELEMENTS],
        *[("{} in {}", ("dyn", f"list<{t}>")) for t in ("int", "string", "semver")],
        *[("{} in {}", ("string", "map<string,int>")), ("{} in {}", ("int", "map<int,string>")), ("{} in {}", ("dyn", "map<string,int>"))],
        *[("{} in {}", ("string", "domains")), ("{} in {}", ("string", "attrmap"))],
        ("has({})", ("select",)),
        *members("contains startsWith endsWith", "string", "string"),
        ("{}.matches({})", ("string", "string:regex")),
        ("matches({}, {})", ("string", "string:regex")),
        ("{}.hasValue()", ("optional<int>",)),
        ("{}.hasValue()", ("optional<dyn>",)),
        ("{}.hasValue()", ("optional<string>",)),
        ("bool({})", ("string:number",)),
        ("bool({})", ("bool",)),
        ("isQuantity({})", ("string:quantity",)),
        ("isSemver({})", ("string:semver",)),
        ("isSemver({}, {})", ("string:semver", "bool")),
        ("isIP({})", ("string:ip",)),
        ("ip.isCanonical({})", ("string:ip",)),
        ("isCIDR({})", ("string:cidr",)),
        ("isURL({})", ("string:url",)),
        *[call for t in ("quantity", "semver") for call in members("isGreaterThan isLessThan", t, t)],
        ("{}.isInteger()", ("quantity",)),
        *members("isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast", "ip"),
        ("{}.containsIP({})", ("cidr", "ip")),
        ("{}.containsIP({})", ("cidr", "string:ip")),
        ("{}.containsCIDR({})", ("cidr", "cidr")),
        ("{}.containsCIDR({})", ("cidr", "string:cidr")),
        *[("{}.isSorted()", (f"list<{t}>",)) for t in COMPARABLE],
        *[("{}.includes({})", (f"list<{t}>", t)) for t in ELEMENTS],
        *[("{}.includes({})", ("dyn", t)) for t in ("int", "string", "semver", "bool", "dyn")],
        *[call for t in ("int", "string", "double", "quantity", "semver") for call in functions("sets.contains sets.equivalent sets.intersects", f"list<{t}>", f"list<{t}>")],
        *[("device.allowMultipleAllocations", ())] * 2,
        *members("isInteger", "dyn"),
        ("type({}) == {}", ("dyn", "type")),
        ("type({}) == type({})", ("dyn", "int")),
        ("format.dns1123Label().validate({}).hasValue()", ("string:name",)),
        ("!{}.validate({}).hasValue()", ("format", "string:name")),
        ("format.named({}).hasValue()", ("string:name",)),
        ("device.attributes[?{}].hasValue()", ("string:domain",)),
    ],
    "int": [
        *[(f"{{}} {op} {{}}", ("int", "int")) for op in ("+", "-", "*", "/", "%", "+", "-")],
        ("-{}", ("int",)),
        ("{} ? {} : {}", ("bool", "int", "int")),
        *[("size({})", (t,)) for t in ("string", "bytes", "list<int>", "list<string>", "map<string,int>")],
        *[("{}.size()", (t,)) for t in ("string", "bytes", "list<int>", "list<dyn>", "map<int,string>", "attrmap", "domains")],
        *[("int({})", (t,)) for t in ("string:number", "double", "uint", "timestamp", "int", "dyn")],
        *members("indexOf lastIndexOf", "string", "string"),
        *members("indexOf lastIndexOf", "string", "string", "int"),
        *[call for t in ("int", "string", "bool", "double", "semver") for call in members("indexOf lastIndexOf", f"list<{t}>", t)],
        *[("{}.compareTo({})", (t, t)) for t in ("quantity", "quantity", "quantity", "semver", "semver", "semver")],
        ("{}.asInteger()", ("quantity",)),
        ("sign({})", ("quantity",)),
        *members("major minor patch", "semver"),
        ("{}.family()", ("ip",)),
        ("{}.prefixLength()", ("cidr",)),
        *members("getHours getMinutes getSeconds getMilliseconds", "duration"),
        *members("getFullYear getMonth getDayOfYear getDayOfMonth getDate getDayOfWeek getHours getMinutes getSeconds getMilliseconds", "timestamp"),
        *members("getFullYear getHours getDate getDayOfWeek", "timestamp", "string:zone"),
        *[("{}[{}]", ("list<int>", "int")), ("{}[{}]", ("map<string,int>", "string"))],
        *members("sum min max", "list<int>"),
        ("{}.value()", ("optional<int>",)),
        ("{}.orValue({})", ("optional<int>", "int")),
        ("size({})", ("dyn",)),
        ("{}.compareTo({})", ("dyn", "semver")),
        ("{}.compareTo({})", ("dyn", "dyn")),
    ],
    "uint": [
        *[(f"{{}} {op} {{}}", ("uint", "uint")) for op in ("+", "-", "*", "/", "%")],
        ("{} ? {} : {}", ("bool", "uint", "uint")),
        *[("uint({})", (t,)) for t in ("string:number", "double", "int", "uint")],
        *members("sum min max", "list<uint>"),
        ("{}[{}]", ("list<uint>", "int")),
    ],
    "double": [
        *[(f"{{}} {op} {{}}", ("double", "double")) for op in ("+", "-", "*", "/")],
        ("-{}", ("double",)),
        ("{} ? {} : {}", ("bool", "double", "double")),
        *[("double({})", (t,)) for t in ("string:number", "int", "uint", "double")],
        *members("sum min max", "list<double>"),
        ("{}.asApproximateFloat()", ("quantity",)),
        ("{}[{}]", ("list<double>", "int")),
    ],
    "string": [
        ("{} + {}", ("string", "string")),
        ("{} ? {} : {}", ("bool", "string", "string")),
        *[("string({})", (t,)) for t in ("int", "uint", "double", "bool", "bytes", "string", "duration", "timestamp", "ip", "cidr", "dyn")],
        ("{}.charAt({})", ("string", "int")),
        *members("lowerAscii upperAscii trim", "string"),
        ("strings.quote({})", ("string",)),
        ("{}.substring({})", ("string", "int")),
        ("{}.substring({}, {})", ("string", "int", "int")),
        ("{}.replace({}, {})", ("string", "string", "string")),
        ("{}.replace({}, {}, {})", ("string", "string", "string", "int")),
        ("{}.join()", ("list<string>",)),
        ("{}.join({})", ("list<string>", "string")),
        ("{}.find({})", ("string", "string:regex")),
        ("{}.format({})", ("string:template", "list<dyn>")),
        ("{}.format({})", ("string:template", "list<int>")),
        ("{}.format({})", ("string:template", "list<string>")),
        *[
            ("{}.format([{}])", ("string:template", t))
            for t in (*SCALARS, "quantity", "semver", "null", "type", "list<int>", "map<string,int>", "optional<int>", "ip", "dyn")
        ],
        ("{}.format([{}, {}])", ("string:template", "string", "int")),
        *members("getScheme getHost getHostname getPort getEscapedPath", "url"),
        *[("{}[{}]", ("list<string>", "int")), ("{}[{}]", ("map<int,string>", "int"))],
        ("{}.value()", ("optional<string>",)),
        ("{}.orValue({})", ("optional<string>", "string")),
        *members("min max", "list<string>"),
        *[("device.driver", ())] * 5,
    ],
    "bytes": [
        ("{} + {}", ("bytes", "bytes")),
        ("bytes({})", ("string",)),
        ("bytes({})", ("bytes",)),
        ("{} ? {} : {}", ("bool", "bytes", "bytes")),
        ("{}[{}]", ("list<bytes>", "int")),
    ],
    "duration": [
        ("duration({})", ("string:duration",)),
        ("{} + {}", ("duration", "duration")),
        ("{} - {}", ("duration", "duration")),
        ("{} - {}", ("timestamp", "timestamp")),
        ("-{}", ("duration",)),
        ("{}.sum()", ("list<duration>",)),
        ("duration({})", ("duration",)),
    ],
    "timestamp": [
        ("timestamp({})", ("string:timestamp",)),
        ("timestamp({})", ("int",)),
        ("{} + {}", ("timestamp", "duration")),
        ("{} + {}", ("duration", "timestamp")),
        ("{} - {}", ("timestamp", "duration")),
        ("{}.max()", ("list<timestamp>",)),
    ],
    "quantity": [
        *[("quantity({})", ("string:quantity",))] * 6,
        *[call for t in ("quantity", "int") for call in members("add sub", "quantity", t)],
        ("{} ? {} : {}", ("bool", "quantity", "quantity")),
        ("{}[{}]", ("list<quantity>", "int")),
        *[("{}", ("capacity",))] * 8,
        ("quantity({})", ("string",)),
    ],
    "semver": [
        *[("semver({})", ("string:semver",))] * 6,
        ("semver({}, {})", ("string:semver", "bool")),
        ("{} ? {} : {}", ("bool", "semver", "semver")),
        ("{}[{}]", ("list<semver>", "int")),
        ("semver({})", ("string",)),
    ],
    "ip": [*[("ip({})", ("string:ip",))] * 4, ("{}.ip()", ("cidr",)), ("ip({})", ("string",))],
    "cidr": [*[("cidr({})", ("string:cidr",))] * 4, ("{}.masked()", ("cidr",)), ("cidr({})", ("string",))],
    "url": [*[("url({})", ("string:url",))] * 4, ("url({})", ("string",))],
    "format": [(f"format.{name}()", ()) for name in FORMATS] + [("format.named({}).value()", ("string:format",))],
    "type": [("type({})", (t,)) for t in ("int", "string", "dyn", "quantity", "list<int>", "optional<int>", "null")],
    "null": [],
    "dyn": [
        *[("dyn({})", (t,)) for t in (*SCALARS, "semver", "quantity", "list<int>", "list<string>", "map<string,int>", "optional<int>", "null", "dyn")],
        *[("{}", ("attribute",))] * 30,
        ("{} ? {} : {}", ("bool", "dyn", "dyn")),
        ("{}.value()", ("optional<dyn>",)),
        ("{}.orValue({})", ("optional<dyn>", "dyn")),
        ("{}[{}]", ("dyn", "int")),
        ("{}[{}]", ("dyn", "string")),
        ("{}[{}]", ("list<dyn>", "int")),
        *[(f"{{}} {op} {{}}", ("dyn", t)) for op in "+-*/%" for t in ("int", "double", "string")],
    ],
    "domains": [("device.attributes", ()), ("device.attributes", ()), ("device.capacity", ())],
    "attrmap": [("device.attributes[{}]", ("string:domain",)), ("device.attributes[device.driver]", ()), ("device.attributes.a", ()), ("device.attributes.b", ())],
}  # fmt: skip


def literal(random: Random, type: str) -> str | None:
    """The source text of a constant of that type."""
    match type:
        case "bool":
            return random.choice(("true", "false"))
        case "int":
            return random.choice(
                ("0", "1", "2", "3", "-1", "10", "63", "0x1F", "-0xA", "9223372036854775807", "-9223372036854775808", "1000000")
            )
        case "uint":
            return random.choice(("0u", "1u", "2u", "3u", "10U", "0x1Fu", "18446744073709551615u"))
        case "double":
            return random.choice(
                ("0.0", "1.0", "1.5", "-2.5", "2.0", "1e3", "1.5e-3", "9223372036854775808.0", "-0.0", ".5", "1e308", "3.0")
            )
        case "string":
            return random.choice(
                (
                    *map(quoted, STRINGS),
                    "'a'",
                    '"""a"b"""',
                    "r'a\\d'",
                    '"\\u00e9\\n"',
                    "'\\x41'",
                    '"\\U0001F600"',
                    "'''x'''",
                    '"it\'s"',
                    '"\\101"',
                )
            )
        case "bytes":
            return random.choice(('b""', 'b"a"', 'b"abc"', 'b"\\377"', "b'\\x00\\xff'", 'b"é"', "br'a\\d'"))
        case "null":
            return "null"
        case "type":
            return random.choice(
                (
                    "int",
                    "string",
                    "bool",
                    "double",
                    "uint",
                    "bytes",
                    "list",
                    "map",
                    "null_type",
                    "type",
                    "google.protobuf.Timestamp",
                    "google.protobuf.Duration",
                    "kubernetes.Quantity",
                    "kubernetes.Semver",
                )
            )
        case "string:domain":
            return random.choice((*map(quoted, DOMAINS), *[quoted(DRIVERS[0])] * 6, *["device.driver"] * 4))
        case "string:format":
            return quoted(random.choice(FORMATS))
    if type in POOLS:
        return quoted(random.choice(POOLS[type]), raw="\\" in "".join(POOLS[type]))
    return None


def quoted(text: str, raw: bool = False) -> str:
    """A CEL string literal; with `raw` backslashes in it are written as they are meant to stand in the source."""
    if not raw:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


#: What hardly anybody writes: macros that are none, names that mean nothing, types as values, messages, what other dialects have.
ODDITIES: tuple[Call, ...] = (
    ("[{}].all({}, true)", ("int", "int")),
    ("[{}].map(x.y, {})", ("int", "int")),
    ("[{}].exists(x, x, {})", ("int", "bool")),
    ("[{}].filter(x, y, {})", ("int", "bool")),
    ("[{}].map(x, {}, {}, {})", ("int", "bool", "int", "int")),
    ("has({})", ("int",)),
    ("has({})", ("dyn",)),
    ("cel.bind(x.y, {}, {})", ("int", "bool")),
    ("cel.bind(device, {}, device == {})", ("int", "int")),
    ("cel.bind(x, {}, cel.bind(x, [x], x.exists(x, x == {})))", ("int", "int")),
    ("cel.block([{}], true)", ("int",)),
    ("unknown({})", ("int",)),
    ("unknown == {}", ("int",)),
    ("device.unknown == {}", ("int",)),
    ("device.attributes.a.unknown.more == {}", ("int",)),
    ("device.attributes.a.t.more == {}", ("string",)),
    ("device.driver.more == {}", ("string",)),
    ("device.driver() == {}", ("string",)),
    ("{}.unknown()", ("int",)),
    ("{}.unknown({}) == {}", ("string", "int", "int")),
    ("for == {}", ("int",)),
    ("package.{}", ("int",)),
    (".device.driver == {}", ("string",)),
    ("kubernetes.DRADevice{driver: {}} == {}", ("string", "int")),
    ("google.protobuf.Duration{seconds: {}} == {}", ("int", "duration")),
    ("google.protobuf.Int32Value{value: {}} == {}", ("int", "int")),
    ("Unknown{a: {}} == {}", ("int", "int")),
    ("type(device) == {}", ("type",)),
    ("type(device.attributes) == {}", ("type",)),
    ("type({}) == kubernetes.Quantity", ("quantity",)),
    ("type({}) == optional_type", ("optional<int>",)),
    ("type(type({})) == type", ("int",)),
    ("{} == net.IP", ("type",)),
    ("device == {}", ("dyn",)),
    ("device == device || {}", ("bool",)),
    ("device.attributes == device.attributes && {}", ("bool",)),
    ("device.capacity == device.capacity && {}", ("bool",)),
    ("device.attributes[{}] == {}", ("string:domain", "map<string,int>")),
    ("device.attributes[{}] != device.attributes[{}]", ("string:domain", "string:domain")),
    ("size(device.attributes) == {}", ("int",)),
    ("device[{}] == {}", ("string", "string")),
    ("math.abs({}) == {}", ("int", "int")),
    ("base64.encode({}) == {}", ("bytes", "string")),
    ("{}.reverse() == {}", ("string", "string")),
    ("regex.extract({}, {}).hasValue()", ("string", "string")),
    ("[{}].existsOne(x, x == {})", ("int", "int")),
    ("{}.sign() == {}", ("quantity", "int")),
    # The receiver of a comparison is changed by it: what follows sees another representation.
    ("cel.bind(x, {}, x.compareTo({}) < 0 && x.isInteger())", ("quantity", "quantity")),
    ("cel.bind(x, {}, x.isLessThan({}) ? x.asInteger() == {} : x.isInteger())", ("quantity", "quantity", "int")),
    ("cel.bind(x, {}, {}.isGreaterThan(x) || x.isInteger())", ("quantity", "quantity")),
    (
        "device.capacity[{}].memory.compareTo({}) >= 0 && device.capacity[device.driver].memory.isInteger()",
        ("string:domain", "quantity"),
    ),
    (
        "device.capacity.exists(d, device.capacity[d].exists(n, device.capacity[d][n].isLessThan({}) && device.capacity[d][n].isInteger()))",
        ("quantity",),
    ),
    ("[{}, {}].exists(x, x.isLessThan({}) == x.isInteger())", ("quantity", "quantity", "quantity")),
    ("cel.bind(x, {}, x == {} && x.isInteger())", ("quantity", "quantity")),
    ("cel.bind(x, {}, x.add({}) == x && x.isInteger())", ("quantity", "quantity")),
    ("cel.bind(x, {}, x.sub({}).isInteger() || x.isInteger())", ("quantity", "quantity")),
    ("cel.bind(x, {}, true)", ("type",)),
    ("cel.bind(x, {}, type({}) == x)", ("type", "dyn")),
    ("[{}].exists(x, x == {})", ("type", "type")),
    ("{} < {}", ("quantity", "quantity")),
    ("{}.add({}) == {}", ("quantity", "string", "quantity")),
    ("{}.flatten({}) == {}", ("list<list<int>>", "int", "list<int>")),
    ("{}.flatten().flatten() == {}", ("list<list<int>>", "list<int>")),
    ("[{}].sortBy(x, x.y) == []", ("int",)),
    ("lists.range({}).size() == {}", ("int", "int")),
    ("lists.range(1000000).all(x, lists.range(1000).all(y, x + y >= 0)) || {}", ("bool",)),
    ("!!!!{}", ("bool",)),
    ("- -{} == {}", ("int", "int")),
    ("{}[{}] == {}", ("string", "int", "string")),
    ("{}[{}] == {}", ("list<int>", "double", "int")),
    ("{}[{}] == {}", ("list<int>", "uint", "int")),
    ("{}[{}] == {}", ("list<int>", "dyn", "int")),
    ("{}[{}] == {}", ("map<int,string>", "dyn", "string")),
    ("{}[{}] == {}", ("map<int,string>", "uint", "string")),
    ("{} == {}", ("list<int>", "list<double>")),
    ("[{}, {}].size() == 2", ("int", "string")),
    ("[{}, {}].size() == 2", ("dyn", "string")),
    ("{1: {}, 1: {}}.size() == 1", ("int", "int")),
    ("{{}: 1, {}: 2}.size() == 1", ("dyn", "dyn")),
    ("{null: {}}.size() == 1", ("int",)),
    ("{1.5: {}}.size() == 1", ("int",)),
    ("{?{}: {}}.size() == 1", ("string", "optional<int>")),
    ("[?{}].size() == 1", ("int",)),
    ("[?{}, ?{}].size() == 1", ("optional<int>", "optional<int>")),
    ("optional.unwrap([{}, {}]).size() == 1", ("optional<int>", "optional<int>")),
    ("[{}, {}].unwrapOpt().size() == 1", ("optional<string>", "optional<string>")),
    ("{}.?a.?b.hasValue()", ("dyn",)),
    ("{}.?a.b.hasValue()", ("map<string,map<string,int>>",)),
    ("{}.optMap(x, {}).hasValue()", ("optional<dyn>", "bool")),
    ("{}.transformMapEntry(x, y, {y: x}).size() == {}", ("list<int>", "int")),
    ("{}.transformMapEntry(x, y, {1: x}).size() == {}", ("list<int>", "int")),
    ("{}.transformMapEntry(x, y, {}).size() == {}", ("list<int>", "int", "int")),
    ("{}\n\t==\r\n{} // comment", ("int", "int")),
    ("{} // ==\n== {}", ("string", "string")),
)
