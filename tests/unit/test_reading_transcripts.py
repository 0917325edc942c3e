"""What people paste from terminals and documentation is read as the YAML it shows, on the lines where it stands."""

from pathlib import Path

import pytest

from unit.reading_input import NAMESPACE, reading

A, B = NAMESPACE.format(name="a"), NAMESPACE.format(name="b")


@pytest.mark.parametrize(
    "prompt",
    [
        "$ kubectl get ns a -o yaml",
        "% kubectl get ns a -o yaml",
        "❯ kubectl get ns a -o yaml",
        "> kubectl get ns a -o yaml",
        "# kubectl get ns a -o yaml",
        "user@host:~/manifests$ kubectl get ns a -o yaml",
        "[root@node1 ~]# kubectl get ns a -o yaml",
        "PS C:\\Users\\me> kubectl get ns a -o yaml",
        "~/work$ k get ns a -o yaml",
        "kubectl get ns a -o yaml",
    ],
)
def test_the_command_line_above_is_passed_over(prompt: str, tmp_path: Path) -> None:
    found = reading(tmp_path, f"{prompt}\n{A}")
    assert (found.names, found.lines, found.problems) == (["a"], [2], [])


def test_each_command_begins_a_new_document(tmp_path: Path) -> None:
    found = reading(tmp_path, f"$ kubectl get ns a -o yaml\n{A}$ kubectl get ns b -o yaml\n{B}$ \n")
    assert (found.names, found.lines, found.problems) == (["a", "b"], [2, 7], [])


def test_tables_between_objects_are_passed_over_and_said(tmp_path: Path) -> None:
    table = "$ kubectl get pods\nNAME   READY   STATUS\nweb    1/1     Running\n"
    found = reading(tmp_path, f"{table}$ kubectl get ns a -o yaml\n{A}")
    assert (found.names, found.lines, found.problems) == (["a"], [5], [])
    assert [note.line for note in found.notes] == [2]


@pytest.mark.parametrize("mark", ["...", "…", "[...]", "(...)", "<snip>", "- ...", "- …", "# ..."])
def test_elision_marks_are_passed_over_and_said(mark: str, tmp_path: Path) -> None:
    found = reading(tmp_path, f"$ kubectl get ns a -o yaml\n{A}  labels:\n    x: y\n    {mark}\n")
    assert (found.names, found.problems) == (["a"], [])
    assert [(note.line, mark in note.message) for note in found.notes] == [(8, True)]


def test_an_indented_elision_needs_no_prompt(tmp_path: Path) -> None:
    found = reading(tmp_path, f"{A}  labels:\n    x: y\n    ...\n")
    assert (found.names, found.problems) == (["a"], [])


def test_an_unindented_end_mark_ends_a_document_as_yaml_says(tmp_path: Path) -> None:
    found = reading(tmp_path, f"{A}...\n---\n{B}")
    assert (found.names, found.notes) == (["a", "b"], [])


def test_fenced_blocks_of_documentation_are_read(tmp_path: Path) -> None:
    found = reading(tmp_path, f"```yaml\n{A}```\n```yaml\n{B}```\n")
    assert (found.names, found.lines) == (["a", "b"], [2, 8])


def test_a_script_inside_an_object_is_left_as_it_is(tmp_path: Path) -> None:
    script = "$ kubectl get pods\n...\nkubectl apply -f x\n"
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata:\n  run.sh: |\n" + "".join(
        f"    {line}\n" for line in script.splitlines()
    )
    (document,) = reading(tmp_path, text).documents
    assert document.value["data"]["run.sh"] == script


def test_an_elision_inside_quoted_prose_of_a_block_scalar_stays(tmp_path: Path) -> None:
    text = (
        "$ kubectl get cm -o yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata:\n  a: |\n    one\n    ...\n    two\n"
    )
    (document,) = reading(tmp_path, text).documents
    assert document.value["data"]["a"] == "one\n...\ntwo\n"


def test_json_in_a_transcript_is_read(tmp_path: Path) -> None:
    found = reading(
        tmp_path, '$ kubectl get ns a -o json\n{"apiVersion": "v1", "kind": "Namespace",\n "metadata": {"name": "a"}}\n'
    )
    assert found.names == ["a"]


@pytest.mark.parametrize(
    "prompt", ["$ cat <<EOF | kubectl apply -f -", "$ kubectl create -f - <<'EOF'", '$ kubectl apply -f - <<-"EOF"']
)
@pytest.mark.parametrize("shell", ["", "> "])
def test_a_here_document_is_an_object_like_any(prompt: str, shell: str, tmp_path: Path) -> None:
    body = "".join(f"{shell}{line}\n" for line in f"{A}EOF".splitlines())
    found = reading(tmp_path, f"{prompt}\n{body}namespace/a created\n$ kubectl get ns b -o yaml\n{B}")
    assert (found.names, found.lines, found.problems) == (["a", "b"], [2, 9], [])


def test_a_command_may_go_on_over_several_lines(tmp_path: Path) -> None:
    found = reading(tmp_path, f"$ kubectl get ns a \\\n    -o \\\n    yaml\n{A}")
    assert (found.names, found.lines, found.problems, found.notes) == (["a"], [4], [], [])
