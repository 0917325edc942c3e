"""Parses the text of an expression into a tree.

Follows CEL's grammar with the syntax that Kubernetes turns on (optionals, identifiers in backticks). Macros are recognised on the
way (`macros`); their expansion into loops is left to `expansion`, which only the checker and the estimator look at.

The first syntax error ends the parse; what else was found wrong until then (reserved words, numbers out of range, macro arguments)
is reported with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from reparto.cel import literals, syntax_errors
from reparto.cel.ast import (
    Ast,
    Bind,
    Call,
    Comprehension,
    Conditional,
    Constant,
    Has,
    Ident,
    Index,
    ListLiteral,
    Literal,
    LiteralKind,
    Logical,
    MapEntry,
    MapLiteral,
    Node,
    OptionalMap,
    Select,
    SortBy,
    StructField,
    StructLiteral,
    children,
)
from reparto.cel.errors import CompileError, issue_at, issue_everywhere
from reparto.cel.lexer import Token, tokenize
from reparto.cel.macros import INVALID_HAS, Macros
from reparto.cel.recursion import ALWAYS_FITS, FRAMES_PER_LEVEL, MAX_NESTING, ensure_room
from reparto.cel.syntax_errors import STARTING

MAX_CODE_POINTS = 100_000
"""Texts longer than this are refused unread. The API allows selectors of 10,240 bytes, which is validation's business."""

RESERVED = frozenset(
    {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    }
)
_RELATIONS = {"<": "_<_", "<=": "_<=_", ">=": "_>=_", ">": "_>_", "==": "_==_", "!=": "_!=_", "in": "@in"}
_PRODUCTS = {"*": "_*_", "/": "_/_", "%": "_%_"}
_SUMS = {"+": "_+_", "-": "_-_"}
_BINARY = frozenset({*_RELATIONS.values(), *_PRODUCTS.values(), *_SUMS.values()})
_ELEMENT_STARTS = STARTING | {"?"}
_FIELD_STARTS = frozenset({"ident", "quoted", "?"})


class _SyntaxFailure(Exception):
    """Ends the parse; the issue is already recorded."""


def parse(text: str, *, sort_by: bool = True) -> Ast:
    """The tree of an expression.

    `sort_by` tells whether the macro of that name exists (the lists library of Kubernetes 1.34). Raises `CompileError` with all
    issues.
    """
    if len(text) > MAX_CODE_POINTS:
        message = f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_CODE_POINTS}"
        raise CompileError(text, (issue_everywhere(message),))
    parser = _Parser(text, sort_by)
    root = parser.run()
    if root is None or parser.issues:
        raise CompileError(text, tuple(parser.issues))
    _check_depth(text, root)
    return Ast(text, root, parser.next_id)


def _check_depth(text: str, root: Node) -> None:
    """Refuse what the reference finds too deep when it walks over its parse tree, and make room for our own walks."""
    pending: list[tuple[Node, int, int]] = [(root, 0, 0)]
    deepest = 0
    while pending:
        node, counted, depth = pending.pop()
        match node:
            case Select() | Index() | Conditional() | Has() | Comprehension() | Bind() | OptionalMap() | SortBy():
                counted += 1
            case Call():
                # Binary operators and member calls count, global calls and unary operators do not.
                if node.target is not None or node.function in _BINARY:
                    counted += 1
            case _:
                pass
        if counted > MAX_NESTING:
            raise CompileError(text, (issue_everywhere("max recursion depth exceeded"),))
        depth += 1
        deepest = max(deepest, depth)
        pending.extend((child, counted, depth) for child in children(node))
    if deepest > ALWAYS_FITS:
        # Checker and estimator spend at most three frames on a node; macros add a few nodes of their own, chains of && a logarithm.
        ensure_room(deepest * FRAMES_PER_LEVEL + 200)


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, sort_by: bool) -> None:
        self.text = text
        self._macros = Macros(self._report, sort_by)
        self.tokens, self.issues = tokenize(text)
        self.next_id = 1
        self._index = 0
        self._token = self.tokens[0]
        # How deep the reference's parser is nested in each of its recursive rules.
        self._expressions = 0
        self._relations = 0
        self._calculations = 0

    def run(self) -> Node | None:
        nesting = deepest = 0
        for token in self.tokens:
            if token.kind in ("(", "[", "{", "?"):
                nesting += 1
                deepest = max(deepest, nesting)
            elif token.kind in (")", "]", "}"):
                nesting -= 1
        if deepest > ALWAYS_FITS:
            # Each may nest the rule for sums twice.
            ensure_room((min(deepest, MAX_NESTING) + 1) * FRAMES_PER_LEVEL * 2)
        try:
            root = self._expression()
            if self._token.kind != "end":
                self._unexpected("<EOF>")
            return root
        except _SyntaxFailure:
            return None

    # Tokens and issues.

    def _advance(self) -> Token:
        token = self._token
        if token.kind != "end":
            self._index += 1
            self._token = self.tokens[self._index]
        return token

    def _peek(self, distance: int = 1) -> str:
        index = self._index + distance
        return self.tokens[index].kind if index < len(self.tokens) else "end"

    def _accept(self, kind: str) -> bool:
        if self._token.kind != kind:
            return False
        self._advance()
        return True

    def _expect(self, kind: str) -> Token:
        if self._token.kind != kind:
            self._unexpected(syntax_errors.spelled(kind), (kind,))
        return self._advance()

    def _close(self, kind: str) -> Token:
        """Take the bracket that ends a list or map literal, where a comma was possible too."""
        if self._token.kind != kind:
            if self._index > 0 and self.tokens[self._index - 1].kind == ",":
                self._unexpected(f"'{kind}'", (kind,))
            self._unexpected(f"{{'{kind}', ','}}", (kind, ","))
        return self._advance()

    def _unexpected(self, expected: str, kinds: tuple[str, ...] = ()) -> NoReturn:
        """Report the current token; `kinds` are those that would have done."""
        self._fail(syntax_errors.unexpected(self.tokens, self._index, expected, kinds), self._token.start)

    def _fail(self, message: str, position: int) -> NoReturn:
        self._report(message, position)
        raise _SyntaxFailure

    def _report(self, message: str, position: int) -> None:
        self.issues.append(issue_at(self.text, position, message))

    def _too_deep(self) -> NoReturn:
        self.issues = [issue_everywhere(f"expression recursion limit exceeded: {MAX_NESTING}")]
        raise _SyntaxFailure

    def _id(self) -> int:
        id = self.next_id
        self.next_id = id + 1
        return id

    def _end(self) -> int:
        """End of the last token taken."""
        return self.tokens[self._index - 1].end if self._index else 0

    def _broken(self, token: Token) -> Node:
        """Stands for something already reported."""
        return Literal(self._id(), token.start, self._end(), token.start, LiteralKind.NULL, None)

    # Grammar, one method a rule.

    def _expression(self) -> Node:
        self._expressions += 1
        if self._expressions > MAX_NESTING:
            self._too_deep()
        condition = self._or()
        if self._token.kind == "?":
            position = self._advance().start
            then = self._or()
            self._expect(":")
            otherwise = self._expression()
            condition = Conditional(self._id(), condition.start, otherwise.end, position, condition, then, otherwise)
        self._expressions -= 1
        return condition

    def _or(self) -> Node:
        first = self._and()
        return self._chain("||", first, self._and) if self._token.kind == "||" else first

    def _and(self) -> Node:
        first = self._relation()
        return self._chain("&&", first, self._relation) if self._token.kind == "&&" else first

    def _chain(self, operator: str, first: Node, term: Callable[[], Node]) -> Node:
        terms, operators = [first], list[int]()
        while self._token.kind == operator:
            operators.append(self._advance().start)
            terms.append(term())
        # The reference balances the chain into a tree; its root is the middle operator.
        position = operators[len(operators) // 2]
        return Logical(self._id(), first.start, terms[-1].end, position, operator, tuple(terms), tuple(operators))

    def _relation(self) -> Node:
        self._enter_relation()
        left = self._calculation(1)
        while (function := _RELATIONS.get(self._token.kind)) is not None:
            position = self._advance().start
            self._enter_relation()
            right = self._calculation(1)
            self._relations -= 1
            left = Call(self._id(), left.start, right.end, position, function, None, (left, right))
        self._relations -= 1
        return left

    def _enter_relation(self) -> None:
        self._relations += 1
        if self._relations > MAX_NESTING:
            self._too_deep()

    def _calculation(self, level: int) -> Node:
        """Sums at level 1, products only from level 2, single operands at level 3."""
        self._calculations += 1
        if self._calculations > MAX_NESTING:
            self._too_deep()
        left = self._unary()
        while True:
            kind = self._token.kind
            if kind in _PRODUCTS and level <= 2:
                function, next_level = _PRODUCTS[kind], 3
            elif kind in _SUMS and level <= 1:
                function, next_level = _SUMS[kind], 2
            else:
                break
            position = self._advance().start
            right = self._calculation(next_level)
            left = Call(self._id(), left.start, right.end, position, function, None, (left, right))
        self._calculations -= 1
        return left

    def _unary(self) -> Node:
        token = self._token
        if token.kind not in ("!", "-"):
            return self._member()
        count = 0
        while self._token.kind == token.kind:
            # A minus directly before a number belongs to the number, if it is the only one.
            if token.kind == "-" and count == 0 and self._peek() in ("int", "float"):
                break
            self._advance()
            count += 1
        operand = self._member()
        if count % 2 == 0:
            return operand
        function = "!_" if token.kind == "!" else "-_"
        return Call(self._id(), token.start, operand.end, token.start, function, None, (operand,))

    def _member(self) -> Node:
        node = self._primary()
        while True:
            token = self._token
            if token.kind == ".":
                node = self._dotted(node, self._advance())
            elif token.kind == "[":
                self._advance()
                optional = self._accept("?")
                key = self._expression()
                end = self._expect("]").end
                node = Index(self._id(), node.start, end, token.start, node, key, optional)
            else:
                return node

    def _dotted(self, operand: Node, dot: Token) -> Node:
        optional = self._accept("?")
        name = self._token
        if name.kind not in ("ident", "quoted"):
            if optional:
                self._unexpected("{IDENTIFIER, ESC_IDENTIFIER}", ("ident", "quoted"))
            if name.kind in ("true", "false", "null"):
                self._fail(f"Syntax error: mismatched input '{name.text}' expecting IDENTIFIER", name.start)
            self._fail(*syntax_errors.no_alternative(self.text, self.tokens, self._index - 1, self._index))
        self._advance()
        if name.kind == "ident" and not optional and self._token.kind == "(":
            opening = self._advance()
            arguments = self._arguments()
            head = (self._id(), operand.start, self._end(), opening.start)
            return self._macros.method(head, operand, name.text, arguments)
        field = name.text[1:-1] if name.kind == "quoted" else name.text
        return Select(self._id(), operand.start, name.end, dot.start, operand, field, optional)

    def _arguments(self) -> tuple[Node, ...]:
        """Arguments up to and including the closing parenthesis."""
        found: list[Node] = []
        if self._token.kind != ")":
            found.append(self._expression())
            while self._accept(","):
                found.append(self._expression())
        self._expect(")")
        return tuple(found)

    def _presence_argument(self) -> tuple[Node, ...]:
        """The argument of `has`, of which the reference complains even where it breaks off, unless it is a selection by then."""
        first = self._index
        try:
            return self._arguments()
        except _SyntaxFailure:
            position = syntax_errors.abandoned_position(self.tokens, first, self._index)
            if position is not None:
                self._report(INVALID_HAS, position)
            raise

    def _primary(self) -> Node:
        token = self._token
        match token.kind:
            case "ident":
                return self._name(token, token)
            case "." if self._peek() == "ident":
                self._advance()
                return self._name(token, self._token)
            case "(":
                self._advance()
                node = self._expression()
                self._expect(")")
                return node
            case "[":
                return self._list(self._advance())
            case "{":
                return self._map(self._advance())
            case "-" if self._peek() in ("int", "float"):
                self._advance()
                return self._number(token, self._advance(), negative=True)
            case "int" | "uint" | "float":
                return self._number(token, self._advance(), negative=False)
            case "string" | "bytes":
                return self._text(self._advance())
            case "true" | "false":
                self._advance()
                return self._literal(token, LiteralKind.BOOL, token.kind == "true")
            case "null":
                self._advance()
                return self._literal(token, LiteralKind.NULL, None)
            case _:
                self._fail(*syntax_errors.no_expression(self.text, self.tokens, self._index))

    def _name(self, first: Token, name: Token) -> Node:
        """A variable, a global call or a message literal; the current token is the name, `first` its leading dot if it has one."""
        if self._starts_message():
            return self._message(first)
        self._advance()
        text = name.text if first is name else f".{name.text}"
        if self._token.kind == "(":
            opening = self._advance()
            arguments = self._presence_argument() if text == "has" else self._arguments()
            if name.text in RESERVED:
                self._report(f"reserved identifier: {name.text}", first.start)
                return self._broken(first)
            return self._macros.function((self._id(), first.start, self._end(), opening.start), text, arguments)
        if name.text in RESERVED:
            self._report(f"reserved identifier: {name.text}", first.start)
            return self._broken(first)
        return Ident(self._id(), first.start, name.end, name.start, text)

    def _starts_message(self) -> bool:
        distance = 1
        while self._peek(distance) == "." and self._peek(distance + 1) == "ident":
            distance += 2
        return self._peek(distance) == "{"

    def _message(self, first: Token) -> Node:
        name = "." if first.kind == "." else ""
        name += self._advance().text
        while self._accept("."):
            name += "." + self._advance().text
        opening = self._expect("{")
        fields: list[StructField] = []
        more = self._token.kind not in ("}", ",")
        while more:
            optional = self._accept("?")
            if self._token.kind not in ("ident", "quoted"):
                self._unexpected("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}", ("ident", "quoted"))
            field = self._advance()
            colon = self._expect(":")
            value = self._expression()
            text = field.text[1:-1] if field.kind == "quoted" else field.text
            fields.append(StructField(text, value, optional, colon.start))
            more = self._continues(_FIELD_STARTS)
        self._accept(",")
        end = self._close("}").end
        return StructLiteral(self._id(), first.start, end, opening.start, name, tuple(fields))

    def _continues(self, starting: frozenset[str]) -> bool:
        """Take the comma before another element, which begins with one of the given tokens; a trailing comma is left."""
        if self._token.kind == "," and self._peek() in starting:
            self._advance()
            return True
        return False

    def _list(self, opening: Token) -> Node:
        elements: list[Node] = []
        optional: set[int] = set()
        more = self._token.kind not in ("]", ",")
        while more:
            if self._accept("?"):
                optional.add(len(elements))
            elements.append(self._expression())
            more = self._continues(_ELEMENT_STARTS)
        self._accept(",")
        end = self._close("]").end
        return ListLiteral(self._id(), opening.start, end, opening.start, tuple(elements), frozenset(optional))

    def _map(self, opening: Token) -> Node:
        entries: list[MapEntry] = []
        more = self._token.kind not in ("}", ",")
        while more:
            optional = self._accept("?")
            key = self._expression()
            colon = self._expect(":")
            entries.append(MapEntry(key, self._expression(), optional, colon.start))
            more = self._continues(_ELEMENT_STARTS)
        self._accept(",")
        end = self._close("}").end
        return MapLiteral(self._id(), opening.start, end, opening.start, tuple(entries))

    # Literals.

    def _literal(self, first: Token, kind: LiteralKind, value: Constant) -> Node:
        return Literal(self._id(), first.start, self._end(), first.start, kind, value)

    def _number(self, first: Token, token: Token, negative: bool) -> Node:
        try:
            match token.kind:
                case "int":
                    return self._literal(first, LiteralKind.INT, literals.int_value(token.text, negative))
                case "uint":
                    return self._literal(first, LiteralKind.UINT, literals.uint_value(token.text))
                case _:
                    return self._literal(first, LiteralKind.DOUBLE, literals.double_value(token.text, negative))
        except literals.LiteralError as error:
            self._report(str(error), first.start)
            return self._broken(first)

    def _text(self, token: Token) -> Node:
        try:
            if token.kind == "string":
                return self._literal(token, LiteralKind.STRING, literals.string_value(token.text))
            return self._literal(token, LiteralKind.BYTES, literals.bytes_value(token.text))
        except literals.LiteralError as error:
            self._report(str(error), token.start)
            return self._broken(token)
