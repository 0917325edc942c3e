"""Random CEL for devices: expressions over the whole dialect.

Expressions are drawn as typed trees, so that most of them compile and reach deep into the libraries; now and then an argument of
another type or a broken character is slipped in, because refusing must agree as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from conformance.cel_devices import ATTRIBUTES, CAPACITIES, DRIVERS
from conformance.cel_dialect import CALLS, COMPARABLE, ODDITIES, SCALARS, literal, quoted
from conformance.cel_trees import Expr


@dataclass
class Generator:
    """Draws expressions from `random`. `mistakes` is the share of arguments that get a type which does not belong there."""

    random: Random
    mistakes: float = 0.012
    scope: list[tuple[str, str]] = field(default_factory=list)
    names: int = 0

    def selector(self) -> Expr:
        """An expression that should be bool, of any size up to some hundred characters."""
        kind = self.random.random()
        if kind < 0.06:
            tree = self.odd()
        elif kind < 0.3:  # what people write: clauses over attributes and capacity
            tree = self.join([self.clause() for _ in range(self.random.choice((1, 2, 3)))])
        else:
            tree = self.expression("bool", self.random.choice((1, 2, 2, 3, 3, 4, 5, 6)))
        return self.damaged(tree)

    def odd(self) -> Expr:
        """An oddity, by itself or beside something that may absorb its error."""
        text, arguments = self.random.choice(ODDITIES)
        tree = self.filled("bool", text, arguments, 2)
        match self.random.choice(("alone", "alone", "and", "or", "negated")):
            case "and":
                return Expr("bool", (tree, " && ", self.expression("bool", 1)))
            case "or":
                return Expr("bool", ("(", tree, ") || ", self.expression("bool", 1)))
            case "negated":
                return Expr("bool", ("!(", tree, ")"))
        return tree

    def derived(self) -> Expr:
        """An expression that may become an attribute: mostly a scalar, now and then a list or what is refused."""
        type = self.random.choice(
            (
                "int",
                "string",
                "bool",
                "semver",
                "dyn",
                "dyn",
                "list<int>",
                "list<string>",
                "list<semver>",
                "list<dyn>",
                "double",
                "quantity",
                "optional<int>",
                "null",
                "map<string,int>",
            )
        )
        return self.damaged(self.expression(type, self.random.choice((1, 2, 2, 3, 4))))

    def join(self, clauses: list[Expr]) -> Expr:
        parts: list[str | Expr] = []
        for clause in clauses:
            parts += [" && ", clause] if parts else [clause]
        return Expr("bool", tuple(parts))

    def clause(self) -> Expr:
        random = self.random
        kind = random.choice(
            ("string", "int", "bool", "version", "capacity", "driver", "prefix", "in", "has", "or", "optional", "list")
        )
        domain = literal(random, "string:domain") or '""'

        def attribute(kind: str) -> str:
            return f"device.attributes[{domain}].{random.choice(ATTRIBUTES[kind])}"

        match kind:
            case "string":
                return Expr("bool", (attribute("string"), f" {random.choice(('==', '!='))} ", self.leaf("string")))
            case "int":
                return Expr("bool", (attribute("int"), f" {random.choice(('==', '!=', '<', '<=', '>', '>='))} ", self.leaf("int")))
            case "bool":
                return Expr("bool", (random.choice(("", "!")), attribute("bool")))
            case "version":
                return Expr(
                    "bool",
                    (attribute("version"), ".compareTo(", self.expression("semver", 1), f") {random.choice(('>=', '<', '=='))} 0"),
                )
            case "capacity":
                return Expr(
                    "bool",
                    (
                        f"device.capacity[{domain}].{random.choice(CAPACITIES)}.compareTo(",
                        self.expression("quantity", 1),
                        f") {random.choice(('>=', '<', '=='))} 0",
                    ),
                )
            case "driver":
                return Expr("bool", ("device.driver == ", Expr("string", (quoted(random.choice(DRIVERS)),))))
            case "prefix":
                return Expr(
                    "bool",
                    (
                        attribute("string"),
                        f".{random.choice(('startsWith', 'endsWith', 'contains', 'matches', 'lowerAscii().contains'))}(",
                        self.leaf("string"),
                        ")",
                    ),
                )
            case "in":
                return Expr(
                    "bool",
                    (
                        attribute(random.choice(("string", "int"))),
                        " in ",
                        self.expression(random.choice(("list<string>", "list<int>")), 1),
                    ),
                )
            case "has":
                return Expr("bool", ("has(", self.special("select", 1), ") && ", attribute("bool")))
            case "or":
                return Expr("bool", ("(", self.clause(), " || ", self.clause(), ")"))
            case "optional":
                return Expr(
                    "bool",
                    (
                        f"device.attributes[{domain}].?{random.choice(ATTRIBUTES['string'])}.orValue(",
                        self.leaf("string"),
                        ") == ",
                        self.leaf("string"),
                    ),
                )
            case _:
                return Expr(
                    "bool",
                    (
                        attribute(random.choice(("strings", "ints", "string"))),
                        ".includes(",
                        self.leaf(random.choice(("string", "int"))),
                        ")",
                    ),
                )

    def damaged(self, tree: Expr) -> Expr:
        """Now and then the text with a character more, less or doubled: most of these must not even parse."""
        if self.random.random() > 0.03:
            return tree
        text = tree.text
        at = self.random.randrange(len(text))
        insert = self.random.choice(
            (
                "",
                "",
                "(",
                ")",
                '"',
                ".",
                ",",
                " ",
                "&",
                "!",
                "?",
                "[",
                "}",
                "0",
                "u",
                "\\",
                "#",
                "`",
                "\n",
                "//",
                "-",
                "in",
                text[at] * 2,
            )
        )
        return Expr(tree.type, (text[:at], insert, text[at + 1 :]))

    def leaf(self, type: str) -> Expr:
        text = literal(self.random, type)
        return Expr(type, (text,)) if text is not None else self.expression(type, 0)

    def fresh(self) -> str:
        self.names += 1
        return f"x{self.names}"

    def expression(self, type: str, depth: int) -> Expr:
        """An expression of that type, not much deeper than `depth`."""
        random = self.random
        if random.random() < self.mistakes:
            type = random.choice(
                (
                    *SCALARS,
                    "quantity",
                    "semver",
                    "dyn",
                    "null",
                    "list<int>",
                    "list<string>",
                    "map<string,int>",
                    "optional<int>",
                    "ip",
                    "domains",
                    "attrmap",
                    "type",
                )
            )
        known = [name for name, its in self.scope if its == type]
        if known and random.random() < 0.6:
            return Expr(type, (random.choice(known),))
        if type in ("attribute", "capacity", "select"):
            return self.special(type, depth)
        if type.startswith("string:") and (depth <= 0 or random.random() < 0.93):
            return self.leaf(type)
        if type.startswith("string:"):
            type = "string"
        base, inner = split(type)
        if base == "list":
            return self.list(inner[0], depth)
        if base == "map":
            return self.map(inner[0], inner[1], depth)
        if base == "optional":
            return self.optional(inner[0], depth)
        text = literal(random, type)
        if text is not None and (depth <= 0 or random.random() < 0.15):
            return Expr(type, (text,))
        makers: list[Callable[[], Expr]] = [lambda: self.call(type, depth)] * 12
        if depth > 0:
            makers += [lambda: self.bind(type, depth)] + ([lambda: self.quantifier(depth)] * 3 if type == "bool" else [])
            makers += [lambda: self.conversion(type, depth)] if type in ("int", "string", "semver", "bool") else []
        return random.choice(makers)()

    def conversion(self, type: str, depth: int) -> Expr:
        """An attribute where the type is wanted: its static type is any, so it fits wherever the checker lets dyn in."""
        return self.special("attribute", depth, {"int": "int", "string": "string", "semver": "version", "bool": "bool"}[type])

    def call(self, type: str, depth: int) -> Expr:
        calls = CALLS.get(type) or []
        if depth <= 0:
            calls = [
                call for call in calls if not any(argument.split(":")[0] == type or "<" in argument for argument in call[1])
            ] or calls
        if not calls:
            return self.leaf(type)
        text, arguments = self.random.choice(calls)
        return self.filled(type, text, arguments, depth)

    def filled(self, type: str, text: str, arguments: tuple[str, ...], depth: int) -> Expr:
        """The text with an expression in each place, in parentheses where it could be read otherwise."""
        pieces = text.split("{}")
        parts: list[str | Expr] = [pieces[0]]
        before = pieces[0]
        for argument, after in zip(arguments, pieces[1:], strict=True):
            if argument == "int:small":
                tree = Expr("int", (self.random.choice(("0", "1", "3", "5", "10", "10", "20", "-1", "100")),))
            else:
                tree = self.expression(argument, depth - 1)
            enclosed = before.endswith(("(", "[", ", ")) and after[:1] in (")", ",", "]")
            if text == "{}" or enclosed or not needs_parentheses(tree.text):
                parts += [tree, after]
            else:
                parts += ["(", tree, ")" + after]
            before = after
        return Expr(type, tuple(parts))

    def special(self, kind: str, depth: int, of: str = "") -> Expr:
        """A path into the device: an attribute, a capacity, or any selection that `has` takes."""
        random = self.random
        domain = literal(random, "string:domain") or '""'
        texts = [name for name, its in self.scope if its == "string"]
        if texts and random.random() < 0.3:
            domain = random.choice(texts)
        name = random.choice(ATTRIBUTES[of or random.choice(list(ATTRIBUTES))])
        if kind == "capacity":
            return Expr(
                "quantity",
                (
                    random.choice(
                        (
                            f"device.capacity[{domain}].{random.choice(CAPACITIES)}",
                            f"device.capacity[{domain}][{quoted(random.choice(CAPACITIES))}]",
                            f"device.capacity.a.{random.choice(CAPACITIES)}",
                        )
                    ),
                ),
            )
        if kind == "select":
            if random.random() < 0.1:
                return Expr("select", (self.expression("map<string,int>", depth - 1), ".", random.choice(("a", "b", "`a-b`"))))
            part, chosen = random.choice((("attributes", name), ("capacity", random.choice(CAPACITIES))))
            return Expr(
                "select",
                (
                    random.choice(
                        (
                            f"device.{part}[{domain}].{chosen}",
                            f"device.{part}.a",
                            f"device.{part}.a.{chosen}",
                            f"device.{part}[{domain}].`{chosen}`",
                            "device.driver",
                            f"device.{part}",
                        )
                    ),
                ),
            )
        forms = [f"device.attributes[{domain}].{name}"] * 6 + [
            f"device.attributes[{domain}][{quoted(name)}]",
            f"device.attributes.a.{name}",
            f"device.attributes.b.{name}",
            f"device.attributes[{domain}].`{name}`",
        ]
        if depth > 0 and random.random() < 0.05:
            return Expr("dyn", (f"device.attributes[{domain}][", self.expression("string", depth - 1), "]"))
        return Expr("dyn", (random.choice(forms),))

    def list(self, element: str, depth: int) -> Expr:
        random = self.random
        type = f"list<{element}>"
        if depth <= 0 or random.random() < 0.35:
            parts: list[str | Expr] = ["["]
            for index in range(random.choice((0, 1, 1, 2, 3, 5))):
                optional = depth > 0 and random.random() < 0.04
                item = self.expression(f"optional<{element}>" if optional else element, depth - 2)
                parts += [", " if index else "", "?" if optional else "", item]
            return Expr(type, (*parts, "]"))
        other = random.choice(("int", "string", "int", element))
        forms: list[Callable[[], Expr]] = [
            lambda: self.sequence(type, "{}.map(%, {})", (f"list<{other}>",), element, depth, bound=other),
            lambda: self.sequence(type, "{}.map(%, {}, {})", (f"list<{other}>",), f"bool|{element}", depth, bound=other),
            lambda: self.sequence(type, "{}.filter(%, {})", (type,), "bool", depth, bound=element),
            lambda: self.filled(type, "{} + {}", (type, type), depth),
            lambda: self.filled(type, "{} ? {} : {}", ("bool", type, type), depth),
            lambda: self.filled(type, "{}.reverse()", (type,), depth),
            lambda: self.filled(type, "{}.distinct()", (type,), depth),
            lambda: self.filled(type, "{}.slice({}, {})", (type, "int", "int"), depth),
            lambda: self.filled(type, "{}.flatten()", (f"list<{type}>",), depth - 1),
            lambda: self.sequence(type, "{}.transformList(%, %, {})", (f"list<{other}>",), element, depth, bound=f"int|{other}"),
        ]
        if element in COMPARABLE:
            forms += [lambda: self.filled(type, "{}.sort()", (type,), depth)]
            forms += [
                lambda: self.sequence(
                    type, "{}.sortBy(%, {})", (type,), random.choice(("int", "string", element)), depth, bound=element
                )
            ]
        if element == "string":
            forms += [
                lambda: self.filled(type, "{}.split({})", ("string", "string"), depth),
                lambda: self.filled(type, "{}.split({}, {})", ("string", "string", "int"), depth),
                lambda: self.filled(type, "{}.findAll({})", ("string", "string:regex"), depth),
                lambda: self.filled(type, "{}.findAll({}, {})", ("string", "string:regex", "int"), depth),
                lambda: self.filled(type, "{}.validate({}).orValue({})", ("format", "string:name", type), depth),
                lambda: self.filled(type, "{}.getQuery()[{}]", ("url", "string"), depth),
                lambda: self.sequence(type, "{}.map(%, {})", ("domains",), "string", depth, bound="string"),
                lambda: self.sequence(type, "{}.map(%, {})", ("attrmap",), "string", depth, bound="string"),
            ]
        if element == "int":
            forms += [lambda: self.filled(type, "lists.range({})", ("int:small",), depth)] * 2
            forms += [
                lambda: self.sequence(type, "{}.transformList(%, %, {})", ("map<string,int>",), "int", depth, bound="string|int")
            ]
        return random.choice(forms)()

    def map(self, key: str, value: str, depth: int) -> Expr:
        random = self.random
        type = f"map<{key},{value}>"
        if depth <= 0 or random.random() < 0.6:
            parts: list[str | Expr] = ["{"]
            for index in range(random.choice((0, 1, 1, 2, 3))):
                optional = depth > 0 and random.random() < 0.04
                item = self.expression(f"optional<{value}>" if optional else value, depth - 2)
                parts += [", " if index else "", "?" if optional else "", self.expression(key, depth - 2), ": ", item]
            return Expr(type, (*parts, "}"))
        forms: list[Callable[[], Expr]] = [
            lambda: self.sequence(type, "{}.transformMap(%, %, {})", (f"map<{key},int>",), value, depth, bound=f"{key}|int"),
            lambda: self.sequence(
                type, "{}.transformMap(%, %, {}, {})", (f"map<{key},int>",), f"bool|{value}", depth, bound=f"{key}|int"
            ),
            lambda: self.filled(type, "{} ? {} : {}", ("bool", type, type), depth),
        ]
        if key == "string" and value == "int":
            forms += [
                lambda: self.sequence(
                    type,
                    "{}.transformMapEntry(%, %, {%: {}})".replace("{%: {}}", "{string(%1): {}}"),
                    ("list<int>",),
                    "int",
                    depth,
                    bound="int|int",
                )
            ]
        if key == "int":
            forms += [lambda: self.sequence(type, "{}.transformMap(%, %, {})", ("list<int>",), value, depth, bound="int|int")]
        return random.choice(forms)()

    def optional(self, inner: str, depth: int) -> Expr:
        random = self.random
        type = f"optional<{inner}>"
        if depth <= -1:
            return Expr(type, ("optional.none()",))
        forms: list[Callable[[], Expr]] = [
            lambda: self.filled(type, "optional.of({})", (inner,), depth),
            lambda: self.filled(type, "optional.ofNonZeroValue({})", (inner,), depth),
            lambda: Expr(type, ("optional.none()",)),
            lambda: self.filled(type, "{}[?{}]", (f"list<{inner}>", "int"), depth),
            lambda: self.filled(type, "{}.first()", (f"list<{inner}>",), depth),
            lambda: self.filled(type, "{}.last()", (f"list<{inner}>",), depth),
            lambda: self.filled(type, "{}[?{}]", (f"map<string,{inner}>", "string"), depth),
            lambda: self.filled(type, "{}.?" + random.choice(("a", "b")), (f"map<string,{inner}>",), depth),
            lambda: self.filled(type, "{}.or({})", (type, type), depth),
            lambda: self.sequence(type, "{}.optMap(%, {})", ("optional<int>",), inner, depth, bound="int"),
            lambda: self.sequence(type, "{}.optFlatMap(%, {})", ("optional<string>",), type, depth, bound="string"),
            lambda: self.filled(type, "{} ? {} : {}", ("bool", type, type), depth),
        ]
        if inner in ("dyn", "string", "int"):
            domain = literal(random, "string:domain")
            name = random.choice(ATTRIBUTES[{"dyn": random.choice(list(ATTRIBUTES))}.get(inner, inner)])
            forms += [
                lambda: Expr(
                    type,
                    (
                        random.choice(
                            (
                                f"device.attributes[{domain}].?{name}",
                                f"device.attributes[?{domain}].{name}",
                                f"device.attributes[?{domain}].?{name}",
                                f"device.attributes[{domain}][?{quoted(name)}]",
                                f"device.attributes.?a.{name}",
                            )
                        ),
                    ),
                )
            ] * 5
        return random.choice(forms if depth > 0 else forms[:3])()

    def sequence(self, type: str, text: str, receivers: tuple[str, ...], bodies: str, depth: int, bound: str) -> Expr:
        """A macro: `%` are the variables that it binds, then come receiver and bodies."""
        variables = [(self.fresh(), its) for its in bound.split("|")]
        if self.scope and self.random.random() < 0.1:  # shadowing
            variables[0] = (self.scope[-1][0], variables[0][1])
        for number, (name, _) in enumerate(variables, 1):
            text = text.replace(f"%{number}", name)
        for name, _ in variables:
            text = text.replace("%", name, 1)
        receiver = self.expression(receivers[0], depth - 1)
        self.scope += variables
        trees = [self.expression(body, depth - 1) for body in bodies.split("|")]
        del self.scope[-len(variables) :]
        pieces = text.split("{}")
        parts: list[str | Expr] = ["(", receiver, ")" + pieces[1]] if needs_parentheses(receiver.text) else [receiver, pieces[1]]
        for tree, after in zip(trees, pieces[2:], strict=True):
            parts += [tree, after]
        return Expr(type, tuple(parts))

    def quantifier(self, depth: int) -> Expr:
        random = self.random
        macro = random.choice(("all", "exists", "exists_one", "existsOne"))
        element = random.choice(("int", "string", "double", "semver", "quantity", "bool"))
        form = random.choice(("list", "list", "list", "map", "domains", "attributes", "pairs", "mapPairs", "attributePairs", "dyn"))
        one, two = f"{{}}.{macro}(%, {{}})", f"{{}}.{macro}(%, %, {{}})"
        if macro == "existsOne" and random.random() < 0.9:
            one = one.replace("existsOne", "exists_one")
        match form:
            case "list":
                return self.sequence("bool", one, (f"list<{element}>",), "bool", depth, bound=element)
            case "map":
                return self.sequence("bool", one, ("map<string,int>",), "bool", depth, bound="string")
            case "domains":
                return self.sequence("bool", one, ("domains",), "bool", depth, bound="string")
            case "attributes":
                return self.sequence("bool", one, ("attrmap",), "bool", depth, bound="string")
            case "pairs":
                return self.sequence("bool", two, (f"list<{element}>",), "bool", depth, bound=f"int|{element}")
            case "mapPairs":
                return self.sequence("bool", two, ("map<string,int>",), "bool", depth, bound="string|int")
            case "attributePairs":
                return self.sequence("bool", two, ("attrmap",), "bool", depth, bound="string|dyn")
            case _:
                return self.sequence("bool", one, ("dyn",), "bool", depth, bound="dyn")

    def bind(self, type: str, depth: int) -> Expr:
        its = self.random.choice(("int", "string", "bool", "dyn", "list<int>", "quantity", "attrmap", type))
        name = self.fresh()
        value = self.expression(its, depth - 1)
        self.scope.append((name, its))
        body = self.expression(type, depth - 1)
        self.scope.pop()
        return Expr(type, (f"cel.bind({name}, ", value, ", ", body, ")"))


def split(type: str) -> tuple[str, list[str]]:
    """`map<string,list<int>>` → ("map", ["string", "list<int>"])."""
    base, _, rest = type.partition("<")
    if not rest:
        return type, []
    inner, level, start = [], 0, 0
    rest = rest[:-1]
    for at, character in enumerate(rest):
        level += (character == "<") - (character == ">")
        if character == "," and not level:
            inner.append(rest[start:at])
            start = at + 1
    return base, [*inner, rest[start:]]


def needs_parentheses(text: str) -> bool:
    """Whether text as an operand could be read as something else; `-1.size()` too is not what was meant."""
    level, quote = 0, ""
    at = 0
    if text[:1] in "-!" or text[:1].isdigit() or text[:1] == ".":
        return True
    while at < len(text):
        character = text[at]
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            level += 1
        elif character in ")]}":
            level -= 1
        elif character == " " and not level:
            return True
        at += 1
    return False
