"""Device selectors from end to end: verdict or error, estimated and actual cost.

Each row was asked of Kubernetes 1.37.2 (`reference/allocation`). What is in `EVERYWHERE` holds for new and for stored expressions
and with every combination of the two gates; `GATED` tells where a row holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from reparto import cel

DRIVER = "gpu.vendor.example"
HERE = f'device.attributes["{DRIVER}"]'
CAPACITY = f'device.capacity["{DRIVER}"]'

GPU = cel.Device(
    DRIVER,
    {
        "product": {"string": "Orca 80"},
        "cores": {"int": 132},
        "ecc": {"bool": True},
        "firmware": {"version": "12.4.1"},
        f"{DRIVER}/rack": {"string": "r7"},
        "pcie.example/root": {"string": "pci0000:40"},
    },
    {"memory": {"value": "81559Mi"}, "slots": {"value": "7"}},
    allow_multiple_allocations=False,
)
LINKS = cel.Device(
    DRIVER,
    {
        "peers": {"ints": [1, 3, 5]},
        "modes": {"strings": ["mps", "timeslice"]},
        "flags": {"bools": [True, False, True]},
        "drivers": {"versions": ["550.1.0", "570.2.0"]},
        "cores": {"int": 16},
        "product": {"string": "Minke"},
        "firmware": {"version": "2.0.0"},
        "ecc": {"bool": False},
    },
    allow_multiple_allocations=True,
)
BARE = cel.Device("bare")

#: Seven nested loops over eight numbers each.
LOOPS = "device.driver.find('[a-z]+') != ''"
for variable in "gfedcba":
    LOOPS = f"[0, 1, 2, 3, 4, 5, 6, 7].all({variable}, {LOOPS})"

#: (what it shows, expression, device, verdict or start of the error, estimate, cost); no costs where it does not compile.
Row = tuple[str, str, cel.Device, bool | str, int | None, int | None]

EVERYWHERE: list[Row] = [
    ("a constant", "false", BARE, False, 0, 0),
    ("a text that ends too soon", "device.driver ==", GPU, "Syntax error: mismatched input '<EOF>' expecting {'[',", None, None),
    ("a number", "40 + 2", GPU, "must evaluate to bool or the unknown type, not int", None, None),
    ("a name that nobody declared", 'gpu.driver == "x"', GPU, "undeclared reference to 'gpu' (in container '')", None, None),
    ("the driver", 'device.driver.endsWith(".example")', GPU, True, 3, 3),
    ("another driver", 'device.driver == "gpu.other.example"', GPU, False, 4, 4),
    ("no driver of that name in a list", '!(device.driver in ["a", "b", "c"])', GPU, True, 16, 3),
    ("a flag", f"{HERE}.ecc", GPU, True, 4, 4),
    ("a flag by index", f'{HERE}["ecc"]', LINKS, False, 4, 4),
    ("a number above a threshold", f"{HERE}.cores >= 108", GPU, True, 5, 5),
    ("a number below it", f"{HERE}.cores >= 108", LINKS, False, 5, 5),
    ("arithmetic on a number", f"{HERE}.cores * 2 % 5 == 4", GPU, True, 7, 7),
    ("a text", f'{HERE}.product == "Orca 80"', GPU, True, 5, 5),
    ("part of a text", f'{HERE}.product.contains("80")', GPU, True, 11, 5),
    ("lower case", f'{HERE}.product.lowerAscii().startsWith("orca")', GPU, True, 12, 6),
    ("a pattern", f'{HERE}.product.matches("^Orca [0-9]{{2,3}}$")', GPU, True, 39, 9),
    ("a found pattern", f'int({HERE}.product.find("[0-9]+")) > 40', GPU, True, 20, 8),
    ("one of several texts", f'{HERE}.product in ["Orca 40", "Orca 80", "Minke"]', LINKS, True, 17, 4),
    ("a version", f'{HERE}.firmware.compareTo(semver("12.0.0")) >= 0', GPU, True, 7, 7),
    ("an older version", f'{HERE}.firmware.isLessThan(semver("12.0.0"))', LINKS, True, 6, 6),
    ("the major part of a version", f"{HERE}.firmware.major() == 12", GPU, True, 6, 6),
    ("a version and a text", f'{HERE}.firmware == "12.4.1"', GPU, "no such overload", 5, 5),
    ("a capacity", f'{CAPACITY}.memory.compareTo(quantity("79Gi")) > 0', GPU, True, 7, 7),
    ("a capacity that falls short", f'{CAPACITY}.memory.compareTo(quantity("80Gi")) >= 0', GPU, False, 7, 7),
    ("a capacity in decimal units", f'{CAPACITY}["memory"].isGreaterThan(quantity("85G"))', GPU, True, 6, 6),
    ("a whole number of slots", f"{CAPACITY}.slots.asInteger() == 7", GPU, True, 6, 6),
    ("an attribute with its domain", f'{HERE}.rack == "r7"', GPU, True, 5, 5),
    ("an attribute of another domain", 'device.attributes["pcie.example"].root == "pci0000:40"', GPU, True, 5, 5),
    ("a domain that the device has", '"pcie.example" in device.attributes', GPU, True, 3, 3),
    ("a domain that it lacks", '"nvlink.example" in device.attributes', GPU, False, 3, 3),
    ("an attribute of a domain that it lacks", 'device.attributes["nvlink.example"].lanes > 4', GPU, "no such key: lanes", 5, 5),
    ("an attribute that it lacks", f"{HERE}.lanes > 4", GPU, "no such key: lanes", 5, 5),
    ("a capacity that it lacks", f'{CAPACITY}.lanes.isGreaterThan(quantity("4"))', LINKS, "no such key: lanes", 6, 6),
    ("a guarded attribute", f"has({HERE}.lanes) && {HERE}.lanes > 4", GPU, False, 8, 3),
    ("an optional attribute", f"{HERE}.?lanes.orValue(18) == 18", GPU, True, 6, 4),
    ("an optional attribute that is there", f'{HERE}[?"cores"].orValue(0) == 132', GPU, True, 6, 5),
    ("an error that the other side absorbs", f"{HERE}.lanes > 4 || {HERE}.ecc", GPU, True, 9, 9),
    ("an error that nothing absorbs", f"{HERE}.lanes > 4 && {HERE}.ecc", GPU, "no such key: lanes", 9, 9),
    ("a bound variable", f"cel.bind(gpu, {HERE}, gpu.ecc && gpu.cores > 100)", GPU, True, 18, 8),
    ("a choice", f"{HERE}.ecc ? {HERE}.cores > 100 : {HERE}.cores > 10", LINKS, True, 9, 9),
    ("the names in a domain", f'{HERE}.exists_one(name, name == "ecc")', GPU, True, 133, 17),
    ("keys and values", f"{CAPACITY}.all(name, amount, sign(amount) > 0)", GPU, True, 196, 16),
    ("how many values a list has", f"{HERE}.peers.size() == 3", LINKS, True, 6, 6),
    ("an element of a list", f"3 in {HERE}.peers", LINKS, True, 68, 5),
    ("an element that is missing", f'"mig" in {HERE}.modes', LINKS, False, 68, 5),
    ("an element by position", f'{HERE}.modes[1] == "timeslice"', LINKS, True, 6, 6),
    ("a position beyond the end", f'{HERE}.modes[2] == "x"', LINKS, "index out of bounds: 2", 6, 6),
    ("a list for a verdict", f"{HERE}.flags", LINKS, "CEL result of type list could not be converted to bool:", 4, 4),
    ("a number for a verdict", f"{HERE}.cores", GPU, "CEL result of type int could not be converted to bool:", 4, 4),
    ("more work than a selector may do", LOOPS, GPU, "operation cancelled: actual cost limit exceeded", 44040187, 1000003),
]

#: The same, and where it holds: (stored, list attributes, consumable capacity), None for either.
GATED: list[tuple[Row, tuple[bool | None, bool | None, bool | None]]] = [
    (("a walk over a list", f"{HERE}.peers.exists(peer, peer > 4)", LINKS, True, 389, 23), (True, None, None)),
    (("a walk over a list", f"{HERE}.peers.exists(peer, peer > 4)", LINKS, True, 389, 23), (None, True, None)),
    (
        (
            "a walk over a list",
            f"{HERE}.peers.exists(peer, peer > 4)",
            LINKS,
            "expression of type 'any' cannot be range of a",
            None,
            None,
        ),
        (False, False, None),
    ),
    (("a walk over texts", f"{HERE}.modes.all(mode, mode.size() < 12)", LINKS, True, 389, 17), (True, None, None)),
    (("a walk over texts", f"{HERE}.modes.all(mode, mode.size() < 12)", LINKS, True, 389, 17), (None, True, None)),
    (
        (
            "a walk over texts",
            f"{HERE}.modes.all(mode, mode.size() < 12)",
            LINKS,
            "expression of type 'any' cannot be range of a",
            None,
            None,
        ),
        (False, False, None),
    ),
    (
        ("a walk over versions", f"{HERE}.drivers.exists_one(release, release.major() == 570)", LINKS, True, 326, 14),
        (True, None, None),
    ),
    (
        ("a walk over versions", f"{HERE}.drivers.exists_one(release, release.major() == 570)", LINKS, True, 326, 14),
        (None, True, None),
    ),
    (
        (
            "a walk over versions",
            f"{HERE}.drivers.exists_one(release, release.major() == 570)",
            LINKS,
            "expression of type 'any' cannot be range of a",
            None,
            None,
        ),
        (False, False, None),
    ),
    (
        ("a walk over a scalar", f"{HERE}.cores.exists(core, core > 4)", GPU, "got 'types.Int', expected iterable type", 389, 4),
        (True, None, None),
    ),
    (
        ("a walk over a scalar", f"{HERE}.cores.exists(core, core > 4)", GPU, "got 'types.Int', expected iterable type", 389, 4),
        (None, True, None),
    ),
    (
        (
            "a walk over a scalar",
            f"{HERE}.cores.exists(core, core > 4)",
            GPU,
            "expression of type 'any' cannot be range of a",
            None,
            None,
        ),
        (False, False, None),
    ),
    (("a list that includes a text", f'{HERE}.modes.includes("mps")', LINKS, True, 68, 4), (True, None, None)),
    (("a list that includes a text", f'{HERE}.modes.includes("mps")', LINKS, True, 68, 4), (None, True, None)),
    (
        (
            "a list that includes a text",
            f'{HERE}.modes.includes("mps")',
            LINKS,
            "undeclared reference to 'includes' (in container '')",
            None,
            None,
        ),
        (False, False, None),
    ),
    (("a list that does not", f'{HERE}.modes.includes("mig")', LINKS, False, 68, 4), (True, None, None)),
    (("a list that does not", f'{HERE}.modes.includes("mig")', LINKS, False, 68, 4), (None, True, None)),
    (
        (
            "a list that does not",
            f'{HERE}.modes.includes("mig")',
            LINKS,
            "undeclared reference to 'includes' (in container '')",
            None,
            None,
        ),
        (False, False, None),
    ),
    (("a scalar that includes itself", f'{HERE}.product.includes("Minke")', LINKS, True, 68, 4), (True, None, None)),
    (("a scalar that includes itself", f'{HERE}.product.includes("Minke")', LINKS, True, 68, 4), (None, True, None)),
    (
        (
            "a scalar that includes itself",
            f'{HERE}.product.includes("Minke")',
            LINKS,
            "undeclared reference to 'includes' (in container '')",
            None,
            None,
        ),
        (False, False, None),
    ),
    (("a list that includes a version", f'{HERE}.drivers.includes(semver("570.2.0"))', LINKS, True, 69, 7), (True, None, None)),
    (("a list that includes a version", f'{HERE}.drivers.includes(semver("570.2.0"))', LINKS, True, 69, 7), (None, True, None)),
    (
        (
            "a list that includes a version",
            f'{HERE}.drivers.includes(semver("570.2.0"))',
            LINKS,
            "undeclared reference to 'includes' (in container '')",
            None,
            None,
        ),
        (False, False, None),
    ),
    (("a list that includes a flag", f"{HERE}.flags.includes(false)", LINKS, True, 68, 7), (True, None, None)),
    (("a list that includes a flag", f"{HERE}.flags.includes(false)", LINKS, True, 68, 7), (None, True, None)),
    (
        (
            "a list that includes a flag",
            f"{HERE}.flags.includes(false)",
            LINKS,
            "undeclared reference to 'includes' (in container '')",
            None,
            None,
        ),
        (False, False, None),
    ),
    (("a device that can be shared", "device.allowMultipleAllocations", LINKS, True, 2, 2), (True, None, None)),
    (("a device that can be shared", "device.allowMultipleAllocations", LINKS, True, 2, 2), (None, None, True)),
    (
        (
            "a device that can be shared",
            "device.allowMultipleAllocations",
            LINKS,
            "undefined field 'allowMultipleAllocations'",
            None,
            None,
        ),
        (False, None, False),
    ),
    (("a device that does not say", "device.allowMultipleAllocations == false", BARE, True, 3, 3), (True, None, None)),
    (("a device that does not say", "device.allowMultipleAllocations == false", BARE, True, 3, 3), (None, None, True)),
    (
        (
            "a device that does not say",
            "device.allowMultipleAllocations == false",
            BARE,
            "undefined field 'allowMultipleAllocations'",
            None,
            None,
        ),
        (False, None, False),
    ),
]


def settings(stored: bool | None, lists: bool | None, consumable: bool | None) -> Iterator[cel.Options]:
    both = (True, False)
    for choice in product(*(both if each is None else (each,) for each in (stored, lists, consumable))):
        yield cel.Options(stored=choice[0], list_type_attributes=choice[1], consumable_capacity=choice[2])


@pytest.mark.parametrize("row", EVERYWHERE, ids=lambda row: row[0])
def test_a_selector_has_the_verdict_and_the_costs_that_kubernetes_gives_it(row: Row) -> None:
    for options in settings(None, None, None):
        judge(row, options)


@pytest.mark.parametrize(("row", "where"), GATED, ids=lambda part: part[0] if isinstance(part[0], str) else "")
def test_new_and_stored_selectors_and_gates_differ_where_kubernetes_lets_them(
    row: Row, where: tuple[bool | None, bool | None, bool | None]
) -> None:
    for options in settings(*where):
        judge(row, options)


def judge(row: Row, options: cel.Options) -> None:
    _, expression, device, outcome, estimate, cost = row
    if estimate is None:
        with pytest.raises(cel.CompileError) as refused:
            cel.compile(expression, options)
        assert str(outcome) in str(refused.value)
        return
    program = cel.compile(expression, options)
    answer = program.evaluate(device)
    assert (program.max_cost, answer.cost) == (estimate, cost)
    if isinstance(outcome, bool):
        assert (answer.error, answer.value) == (None, outcome)
        assert program.matches(device) is outcome
        return
    assert outcome in str(answer.error)
    with pytest.raises(cel.EvaluationError) as failed:
        program.matches(device)
    assert str(failed.value) == str(answer.error)
