"""Which gates are on while an object is judged: the caller's settings over the defaults of Kubernetes 1.37."""

from reparto.model.gates import Gates, default_gates

_DEFAULTS = {**default_gates("1.37"), "DeclarativeValidationBeta": True}


def enabled(gates: Gates | None, name: str) -> bool:
    """Whether gate `name` is on. Names that 1.37 does not know are off."""
    if gates is not None and name in gates:
        return gates[name]
    return _DEFAULTS.get(name, False)


def resolved(gates: Gates | None) -> Gates:
    """All gates with their settings, for a compiler that must not know the defaults."""
    return {**_DEFAULTS, **gates} if gates else _DEFAULTS
