"""Whether a value of one type may stand where another is expected, and what that says about type variables.

Follows cel-go's checker, whose answers have to be matched to the letter: `dyn` and `any` fit everything, `null` fits abstract
types, a variable takes the more general of the types it meets.
"""

from __future__ import annotations

from reparto.cel.types import DYN, Kind, Type, is_dyn, type_param

_NULLABLE = frozenset({Kind.OPAQUE, Kind.STRUCT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP})
_PARAMETERISED = frozenset({Kind.OPAQUE, Kind.LIST, Kind.MAP})
_HOLDERS = frozenset({Kind.OPAQUE, Kind.LIST, Kind.MAP, Kind.TYPE})
_DYNAMIC = frozenset({Kind.DYN, Kind.ANY, Kind.ERROR})


# Kinds that fit, or may be fitted by, types of other kinds.
_FLEXIBLE = frozenset({Kind.DYN, Kind.ANY, Kind.ERROR, Kind.TYPE_PARAM, Kind.NULL})


def may_fit(targets: tuple[Type, ...], sources: tuple[Type, ...]) -> bool:
    """A quick look at kinds alone: false only where `Unifier.are_assignable` would say no."""
    if len(targets) != len(sources):
        return False
    for target, source in zip(targets, sources, strict=True):
        if target.kind is not source.kind and target.kind not in _FLEXIBLE and source.kind not in _FLEXIBLE:
            return False
    return True


def is_exact(first: Type, second: Type) -> bool:
    """The same type, names of type variables included; a wrapper counts as what it wraps."""
    if first is second or first == second:
        return True
    return (
        first.kind is second.kind
        and first.name == second.name
        and len(first.parameters) == len(second.parameters)
        and all(map(is_exact, first.parameters, second.parameters))
    )


def is_equivalent(first: Type, second: Type) -> bool:
    """The same type but for the names of type variables."""
    if first.kind is not second.kind or len(first.parameters) != len(second.parameters):
        return False
    if first.kind is not Kind.TYPE_PARAM and first.name != second.name:
        return False
    return all(map(is_equivalent, first.parameters, second.parameters))


def most_general(first: Type, second: Type) -> Type:
    return first if _is_equal_or_less_specific(first, second) else second


def _is_equal_or_less_specific(first: Type, second: Type) -> bool:
    if is_dyn(first) or first.kind is Kind.TYPE_PARAM:
        return True
    if is_dyn(second) or second.kind is Kind.TYPE_PARAM or first.kind is not second.kind:
        return False
    if first.kind in _PARAMETERISED:
        if first.name != second.name or len(first.parameters) != len(second.parameters):
            return False
        return all(map(_is_equal_or_less_specific, first.parameters, second.parameters))
    return first.kind is Kind.TYPE or is_exact(first, second)


def instantiate(type: Type, variables: dict[str, Type]) -> Type:
    """The type with its variables replaced, once and not further."""
    if type.kind is Kind.TYPE_PARAM:
        return variables.get(type.name, type)
    if not type.parameters:
        return type
    return Type(type.kind, type.name, tuple(instantiate(parameter, variables) for parameter in type.parameters), type.nullable)


class Unifier:
    """What is known about type variables so far."""

    def __init__(self) -> None:
        self._known: dict[str, Type] = {}
        self._changes: list[tuple[str, Type | None]] = []  # variables learned since the last success, and what was known before
        self._counter = 0

    def fresh(self) -> Type:
        """A new type variable."""
        variable = type_param(f"_var{self._counter}")
        self._counter += 1
        return variable

    def skip(self, count: int) -> None:
        """Leave out the names of variables that nobody needs, so that the next ones are called as in the reference."""
        self._counter += count

    def resolve(self, type: Type, free_as_dyn: bool) -> Type:
        """The type with everything known put in; variables that nothing is known about stay, or become `dyn`."""
        while type.kind is Kind.TYPE_PARAM:
            known = self._known.get(type.name)
            if known is None:
                return DYN if free_as_dyn else type
            type = known
        if not type.parameters or type.kind is Kind.STRUCT:
            return type
        parameters = tuple(self.resolve(parameter, free_as_dyn) for parameter in type.parameters)
        return type if parameters == type.parameters else Type(type.kind, type.name, parameters)

    def is_assignable(self, target: Type, source: Type) -> bool:
        """Whether `source` fits where `target` is expected. What is learned about variables is kept only if so."""
        return self._settle(self._fits(target, source))

    def are_assignable(self, targets: tuple[Type, ...], sources: tuple[Type, ...]) -> bool:
        """`is_assignable` for several pairs at once, all or nothing."""
        return len(targets) == len(sources) and self._settle(all(map(self._fits, targets, sources)))

    def _settle(self, fits: bool) -> bool:
        """Keep what was learned, or forget it again."""
        if not fits:
            for name, before in reversed(self._changes):
                if before is None:
                    del self._known[name]
                else:
                    self._known[name] = before
        self._changes.clear()
        return fits

    def _learn(self, variable: Type, type: Type) -> None:
        self._changes.append((variable.name, self._known.get(variable.name)))
        self._known[variable.name] = type

    def _fits(self, target: Type, source: Type) -> bool:
        if source.kind is Kind.TYPE_PARAM:
            fits, known = self._substitutes(target, source)
            if fits:
                return True
            if known:
                return False
        if target.kind is Kind.TYPE_PARAM:
            return self._substitutes(source, target)[0]
        if target.kind in _DYNAMIC or source.kind in _DYNAMIC:
            return True
        if target.kind is Kind.NULL:
            return _takes_null(source)
        if source.kind is Kind.NULL:
            return _takes_null(target)
        if target.kind is Kind.TYPE:
            return source.kind is Kind.TYPE
        if target.kind is not source.kind or target.name != source.name:
            return False
        if target.kind in _PARAMETERISED:
            return len(target.parameters) == len(source.parameters) and all(map(self._fits, target.parameters, source.parameters))
        return True

    def _substitutes(self, type: Type, variable: Type) -> tuple[bool, bool]:
        """Whether `type` may stand for `variable`, and whether something was known about the variable already."""
        if type.kind is variable.kind and is_exact(type, variable):
            return True, True
        known = self._known.get(variable.name)
        if known is not None:
            if type.kind is known.kind and is_exact(type, known):
                return True, True
            if self._fits(type, known):
                general = most_general(type, known)
                if self._is_free_of(variable, general):
                    self._learn(variable, general)
                return True, True
            return False, True
        if self._is_free_of(variable, type):
            self._learn(variable, type)
            return True, False
        return False, False

    def _is_free_of(self, variable: Type, within: Type) -> bool:
        """That the variable does not occur in the type, which would make it infinite."""
        if is_exact(variable, within):
            return False
        if within.kind is Kind.TYPE_PARAM:
            known = self._known.get(within.name)
            return known is None or self._is_free_of(variable, known)
        if within.kind in _HOLDERS:
            return all(self._is_free_of(variable, parameter) for parameter in within.parameters)
        return True


def _takes_null(type: Type) -> bool:
    return type.kind in _NULLABLE or type.nullable or type.kind in (Kind.NULL, Kind.DYN, Kind.TYPE_PARAM)
