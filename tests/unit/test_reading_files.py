"""Sources: files, directories, standard input, compressed or not; each file once."""

import gzip
import io
from pathlib import Path

import pytest

from reparto.model.reading import read
from reparto.model.reading.compression import Unreadable, contents
from unit.reading_input import NAMESPACE, Found


def write(path: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(NAMESPACE.format(name=name))
    return path


def test_a_directory_is_read_recursively_in_order_of_paths(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "a/c/d.json", "c.yaml"):
        write(tmp_path / name, name.replace("/", "-").replace(".", "-"))
    (tmp_path / "a/c/d.json").write_text('{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a-c-d-json"}}')
    assert Found(read([tmp_path])).names == ["a-c-d-json", "a-z-yml", "b-yaml", "c-yaml"]


def test_other_files_and_hidden_ones_in_a_directory_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "a")
    for name in ("notes.txt", "logs.txt", ".hidden.yaml", ".git/config.yaml", "a.yaml.bak"):
        write(tmp_path / name, "no")
    assert Found(read([tmp_path])).names == ["a"]


def test_a_dump_of_kubectl_cluster_info_is_read(tmp_path: Path) -> None:
    (tmp_path / "default/web").mkdir(parents=True)
    (tmp_path / "default/web/logs.txt").write_text("==== START logs\n")
    (tmp_path / "nodes.json").write_text('{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "n1"}}]}')
    (tmp_path / "default/pods.json").write_text('{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "web"}}]}')
    found = Found(read([tmp_path]))
    assert [document.head.kind for document in found.documents] == ["Pod", "Node"]
    assert found.problems == []


def test_the_logs_in_a_dump_that_went_to_a_pipe_are_passed_over(tmp_path: Path) -> None:
    nodes = '{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "n1"}}]}\n'
    of = "logs for container web of pod default/web ===="
    logs = f"==== START {of}\n{{ not json\n: }}\n==== END {of}\n"
    pods = '{"kind": "PodList", "apiVersion": "v1",\n "items": [\n{"metadata": {"name": "web"}}]}\n'
    (tmp_path / "dump.txt").write_text(nodes + logs + pods + logs)
    found = Found(read([tmp_path / "dump.txt"]))
    assert (found.names, found.lines, found.problems) == (["n1", "web"], [1, 8], [])


def test_a_named_file_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    assert Found(read([write(tmp_path / "dump.txt", "a")])).names == ["a"]


def test_gzip_is_recognised_by_its_content(tmp_path: Path) -> None:
    for name in ("a.yaml.gz", "b.yaml"):
        (tmp_path / name).write_bytes(gzip.compress(NAMESPACE.format(name=name[0]).encode()))
    assert Found(read([tmp_path])).names == ["a", "b"]


@pytest.mark.parametrize("packed", [False, True], ids=("plain", "gzip"))
def test_a_file_of_many_pieces_comes_whole(packed: bool, tmp_path: Path) -> None:
    content = bytes(range(1, 256)) * 5000  # 1.2 MB, five times what is read at once
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(content) if packed else content)
    with path.open("rb") as stream:
        assert contents(stream) == content


def test_a_nul_byte_far_into_a_file_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a: b\n" * 100_000 + b"\0\n")
    with path.open("rb") as stream, pytest.raises(Unreadable) as caught:
        contents(stream)
    assert caught.value.line == 100_001


def test_gzip_of_several_members_is_read_whole(tmp_path: Path) -> None:
    first, second = (NAMESPACE.format(name=name).encode() for name in "ab")
    (tmp_path / "x.gz").write_bytes(gzip.compress(first) + gzip.compress(b"---\n" + second) + b"\0" * 512)
    assert Found(read([tmp_path / "x.gz"])).names == ["a", "b"]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", "a")
    (tmp_path / "link.yaml").symlink_to(file)
    assert Found(read([file, tmp_path, file])).names == ["a"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(NAMESPACE.format(name="a").encode())))
    found = Found(read(["-", "-"]))
    assert (found.names, found.files) == (["a"], ["<stdin>"])


@pytest.mark.parametrize("name", ["nothing.yaml", "no/such/folder"])
def test_what_is_not_there_is_said_and_the_rest_is_read(name: str, tmp_path: Path) -> None:
    found = Found(read([tmp_path / name, write(tmp_path / "a.yaml", "a")]))
    assert found.names == ["a"]
    assert [(problem.file, problem.message) for problem in found.problems] == [(str(tmp_path / name), "no such file or directory")]


def test_a_directory_without_manifests_is_an_error(tmp_path: Path) -> None:
    assert "holds no" in Found(read([tmp_path])).problem.message


def test_an_empty_file_among_others_is_only_noted(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "a")
    (tmp_path / "b.yaml").write_text("")
    found = Found(read([tmp_path]))
    assert (found.names, found.problems, len(found.notes)) == (["a"], [], 1)


def test_progress_ends_at_the_size_of_all_files(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.yaml", name) for name in "ab"]
    calls: list[tuple[int, int]] = []
    list(read(files, lambda done, total: calls.append((done, total))))
    size = sum(file.stat().st_size for file in files)
    assert calls[-1] == (size, size)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


@pytest.mark.parametrize("named", [True, False], ids=["named", "in a directory"])
def test_a_link_that_leads_nowhere_is_said(tmp_path: Path, named: bool) -> None:
    (tmp_path / "link.yaml").symlink_to(tmp_path / "gone.yaml")
    (problem,) = Found(read([tmp_path / "link.yaml" if named else tmp_path])).problems
    assert (problem.file, problem.message) == (str(tmp_path / "link.yaml"), "a link to a file that does not exist")


def test_links_in_a_circle_are_followed_by_nobody(tmp_path: Path) -> None:
    write(tmp_path / "a/b.yaml", "b")
    (tmp_path / "a/up").symlink_to(tmp_path)
    assert Found(read([tmp_path])).names == ["b"]


def test_an_empty_name_is_what_an_unset_variable_leaves() -> None:
    (problem,) = Found(read([""])).problems
    assert (problem.file, problem.message) == ("''", "no such file: the name is empty")


def test_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    (problem,) = Found(read(["-"])).problems
    assert (problem.file, problem.message) == ("<stdin>", "standard input is closed")
