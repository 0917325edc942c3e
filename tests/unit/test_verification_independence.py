"""The checker shares no code with what it checks: read from its source, so that an import added in passing is found."""

import ast
from pathlib import Path

import reparto.allocation.verification as verification

FOLDER = Path(verification.__file__).parent
SHARED = {"reparto", "reparto.cel", "reparto.allocation.features"}
"""The language and the list of switches; `reparto` is there for `from reparto import cel`."""


def imported(path: Path) -> set[str]:
    modules = set[str]()
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.ImportFrom):
            modules.add(statement.module or "")
        elif isinstance(statement, ast.Import):
            modules |= {alias.name for alias in statement.names}
    return {module for module in modules if module.split(".")[0] == "reparto"}


def test_the_checker_imports_nothing_of_the_allocator():
    files = sorted(FOLDER.glob("*.py"))
    assert len(files) > 5
    for path in files:
        for module in imported(path) - SHARED:
            assert module.startswith(("reparto.model.", "reparto.allocation.verification")), f"{path.name} imports {module}"


def test_nothing_of_the_allocator_imports_the_checker():
    for path in FOLDER.parent.glob("*.py"):
        if path.name != "__init__.py":
            assert not any(module.startswith(verification.__name__) for module in imported(path)), path.name
