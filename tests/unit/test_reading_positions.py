"""A field path of an error finds the line of the deepest part that the document has."""

import pytest

from reparto.model.reading.positions import json_lines, line_of, repeated_key, segments, yaml_lines

YAML = """\
apiVersion: resource.k8s.io/v1
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        count: 2
    - name: nic
"""
JSON = """\
{
  "apiVersion": "resource.k8s.io/v1",
  "spec": {"devices": {
    "requests": [
      {"name": "gpu",
       "exactly": {
         "count": 2}},
      {"name": "a \\"quoted\\" name"}
    ]}}
}"""


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("spec.devices.requests[0].exactly.count", ("spec", "devices", "requests", "0", "exactly", "count")),
        ("spec.devices[3].attributes[foo.com/bar].string", ("spec", "devices", "3", "attributes", "foo.com/bar", "string")),
        ("metadata.labels[a.b/c]", ("metadata", "labels", "a.b/c")),
        ("", ()),
    ],
)
def test_a_path_falls_into_segments(path: str, parts: tuple[str, ...]) -> None:
    assert segments(path) == parts


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("spec.devices.requests[0].exactly.count", 7),
        ("spec.devices.requests[1].name", 8),
        ("spec.devices.requests[1].exactly.count", 8),  # it has no exactly: the request
        ("spec.devices.requests[7]", 4),  # it has no such request: the list
        ("status.allocation", 1),  # it has no status: the object
    ],
)
def test_yaml_lines(path: str, line: int) -> None:
    assert line_of(yaml_lines(YAML, 1, 0), path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [("spec.devices.requests[0].exactly.count", 7), ("spec.devices.requests[1].name", 8), ("spec.devices.constraints", 3), ("", 1)],
)
def test_json_lines(path: str, line: int) -> None:
    assert line_of(json_lines(JSON, 1), path) == line


def test_a_path_of_another_version_is_found_by_leaving_out_or_putting_in_the_wrapper() -> None:
    flat = yaml_lines("spec:\n  devices:\n    requests:\n    - name: gpu\n      count: -1\n", 1, 0)
    assert line_of(flat, "spec.devices.requests[0].exactly.count") == 5
    nested = yaml_lines("spec:\n  devices:\n  - name: a\n    basic:\n      capacity: {}\n", 1, 0)
    assert line_of(nested, "spec.devices[0].capacity") == 5


def test_lines_count_from_where_the_node_stood() -> None:
    assert line_of(yaml_lines("a: 1\n    b: 2\n", 40, 4), "b") == 41


def test_a_repeated_key_is_found_in_its_own_object_only() -> None:
    assert repeated_key('{"a": {"b": 1},\n "c": {"b": 2}}') is None
    assert repeated_key('{"a": 1,\n "b": [{"c": 1,\n "c": 2}]}') == ("c", 2, 3)
