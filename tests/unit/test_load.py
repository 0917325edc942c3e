"""`model.load`: typed objects, or one exception with everything that is wrong."""

from pathlib import Path

import pytest

from reparto import model
from reparto.model import core, load, v1

CLASS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}
WRONG = CLASS | {"metadata": {"name": "Not A Name"}}


def test_paths_and_dicts_mix(tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: node-1}}\n")
    loaded = load(CLASS, tmp_path / "node.yaml")
    assert [type(each) for each in loaded] == [v1.DeviceClass, core.Node]


def test_a_decoded_list_is_its_items() -> None:
    assert len(load({"apiVersion": "v1", "kind": "List", "items": [CLASS]})) == 1


def test_the_callers_dict_is_not_changed() -> None:
    given = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    load(given)
    assert given["metadata"] == {"name": "p"}


def test_all_errors_are_in_the_exception(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: }\n")
    with pytest.raises(model.ModelError) as caught:
        load(WRONG, tmp_path / "broken.yaml", CLASS)
    assert [error.type for error in caught.value.errors] == ["FieldValueInvalid", "Decode"]
    assert str(tmp_path / "broken.yaml") + ":1" in str(caught.value)


def test_objects_can_be_taken_as_they_are() -> None:
    assert len(load(WRONG, validate=False)) == 1
