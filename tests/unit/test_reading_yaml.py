"""YAML becomes objects with the lines they stand on."""

from pathlib import Path

from unit.reading_input import NAMESPACE, reading


def test_documents_of_one_file_come_in_order_with_their_first_lines(tmp_path: Path) -> None:
    found = reading(tmp_path, "# a comment\n" + NAMESPACE.format(name="a") + "---\n\n" + NAMESPACE.format(name="b"))
    assert found.names == ["a", "b"]
    assert found.lines == [2, 8]


def test_a_list_is_its_items_each_on_its_own_line(tmp_path: Path) -> None:
    text = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: {name: a}
- apiVersion: v1
  kind: Namespace
  metadata:
    name: b
"""
    found = reading(tmp_path, text)
    assert found.names == ["a", "b"]
    assert found.lines == [4, 7]


def test_items_of_a_typed_list_get_the_kind_that_the_api_leaves_out(tmp_path: Path) -> None:
    text = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSliceList
items:
- metadata: {name: a}
"""
    (document,) = reading(tmp_path, text).documents
    assert (document.head.api_version, document.head.kind) == ("resource.k8s.io/v1", "ResourceSlice")
    assert document.value["metadata"] == {"name": "a"}


def test_lists_in_lists_are_flattened(tmp_path: Path) -> None:
    inner = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Namespace, metadata: {name: a}}]}"
    found = reading(tmp_path, f"apiVersion: v1\nkind: List\nitems:\n- {inner}\n")
    assert found.names == ["a"]


def test_an_empty_list_holds_nothing_and_is_no_error(tmp_path: Path) -> None:
    found = reading(tmp_path, "apiVersion: v1\nkind: List\nitems: []\n")
    assert (found.documents, found.problems) == ([], [])


def test_a_kind_that_merely_ends_in_list_is_an_object(tmp_path: Path) -> None:
    found = reading(tmp_path, "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\nspec: {}\nitems: [1]\n")
    assert [document.head.kind for document in found.documents] == ["AllowList"]


def test_crlf_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    text = (NAMESPACE.format(name="a") + "---\n" + NAMESPACE.format(name="b")).replace("\n", "\r\n")
    found = reading(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert found.names == ["a", "b"]
    assert found.lines == [1, 6]


def test_anchors_and_merge_keys_are_expanded(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nbase: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\n"
    (document,) = reading(tmp_path, text).documents
    assert document.value["more"] == {"a": 1, "b": 3}


def test_of_several_merged_mappings_the_first_wins(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: C\nx: &x {a: 1}\ny: &y {a: 2, b: 2}\nz: {<<: [*x, *y]}\n"
    (document,) = reading(tmp_path, text).documents
    assert document.value["z"] == {"a": 1, "b": 2}


def test_keys_that_are_no_text_become_text(tmp_path: Path) -> None:
    (document,) = reading(tmp_path, "apiVersion: v1\nkind: C\n1: a\nyes: b\n1.5: c\n").documents
    assert document.value == {"apiVersion": "v1", "kind": "C", "1": "a", "true": "b", "1.5": "c"}


def test_flow_style_yaml_is_read_although_it_begins_like_json(tmp_path: Path) -> None:
    found = reading(tmp_path, "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n")
    assert found.names == ["a"]


def test_a_broken_document_does_not_hide_the_others(tmp_path: Path) -> None:
    text = (
        NAMESPACE.format(name="a")
        + "---\nfoo: [\n---\n"
        + NAMESPACE.format(name="b")
        + "---\nbar: }\n---\n"
        + NAMESPACE.format(name="c")
    )
    found = reading(tmp_path, text)
    assert found.names == ["a", "b", "c"]
    assert found.lines == [1, 8, 15]
    # libyaml notices an unclosed bracket where something else begins, a stray brace where it stands.
    assert [problem.line for problem in found.problems] == [7, 13]


def test_a_field_is_found_on_its_line_in_an_indented_list_item(tmp_path: Path) -> None:
    text = """\
apiVersion: v1
items:
  - apiVersion: resource.k8s.io/v1
    kind: ResourceSlice
    metadata: {name: a}
  - apiVersion: resource.k8s.io/v1
    kind: ResourceSlice
    spec:
      devices:
      - name: gpu-0
        attributes:
          example.com/model:
            string: A
      - name: gpu-1
        capacity: {memory: {value: 1Gi}}
kind: List
"""
    document = reading(tmp_path, text).documents[1]
    assert document.line == 6
    assert document.line_of("spec.devices[0].attributes[example.com/model].string") == 13
    assert document.line_of("spec.devices[1].name") == 14
    assert document.line_of("spec.devices[1].capacity.memory.value") == 15
    assert document.line_of("spec.devices[1]") == 14


def test_items_that_are_no_objects_move_no_line(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- null\n- text\n- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: a\n"
    (document,) = reading(tmp_path, text).documents
    assert (document.line, document.line_of("metadata.name")) == (6, 9)
