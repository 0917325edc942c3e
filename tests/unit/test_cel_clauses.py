"""A selector taken apart: its clauses, what each reads of a device, what each says by itself."""

from __future__ import annotations

from reparto import cel

DRIVER = "gpu.nvidia.com"
TEXT = (
    'device.driver == "gpu.nvidia.com" && (device.attributes["gpu.nvidia.com"].type == "gpu" && '
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0) && '
    'device.attributes["gpu.nvidia.com"].missing == 1'
)
DEVICE = cel.Device(DRIVER, {"type": {"string": "gpu"}}, {"memory": {"value": "24Gi"}})


def paths(expression: str) -> tuple[cel.Path, ...]:
    (clause,) = cel.compile(expression).clauses
    return clause.paths


def test_clauses_are_the_parts_of_the_top_level_and_through_parentheses() -> None:
    clauses = cel.compile(TEXT).clauses
    assert [clause.text for clause in clauses] == [
        'device.driver == "gpu.nvidia.com"',
        'device.attributes["gpu.nvidia.com"].type == "gpu"',
        'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0',
        'device.attributes["gpu.nvidia.com"].missing == 1',
    ]
    assert all(TEXT[clause.start : clause.end] == clause.text for clause in clauses)


def test_every_clause_is_evaluated_by_itself() -> None:
    answers = cel.compile(TEXT).clause_answers(DEVICE)
    assert [answer.value for answer in answers] == [True, True, False, None]
    assert str(answers[3].error) == "no such key: missing"


def test_an_expression_without_and_is_its_only_clause() -> None:
    assert [clause.text for clause in cel.compile("true || false").clauses] == ["true || false"]


def test_paths_name_section_domain_and_name() -> None:
    assert paths('device.attributes["d"].x == device.capacity["e"]["y"] || device.driver == ""') == (
        cel.Path("attributes", "d", "x"),
        cel.Path("capacity", "e", "y"),
        cel.Path("driver"),
    )


def test_what_is_only_known_later_or_read_as_a_whole_is_left_open() -> None:
    assert paths("device.attributes[device.driver].x == 1") == (
        cel.Path("attributes", None, "x"),
        cel.Path("driver"),
    )
    assert paths('device.attributes["d"].exists(n, n == "x")') == (cel.Path("attributes", "d", None),)


def test_bindings_are_followed() -> None:
    assert paths('cel.bind(d, device.attributes["d"], d.x == 1 && has(d.y))') == (
        cel.Path("attributes", "d", "x"),
        cel.Path("attributes", "d", "y"),
    )
