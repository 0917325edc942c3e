"""What stands in for objects that the input lacks, and what is said of it."""

from reparto.hardware.classes import built_in_class, built_in_classes
from reparto.model import codes, v1
from reparto.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectMeta
from reparto.placement.snapshot import take_snapshot
from unit.placement_objects import allocated, claim, gpus, node, pod, template


def node_names(seen) -> list[str]:
    return [item.metadata.name for item in seen.nodes]


def test_nodes_are_in_order_of_their_names():
    assert node_names(take_snapshot([node("b"), node("a")])) == ["a", "b"]


def test_without_node_objects_nodes_are_inferred_and_that_is_said():
    named = NodeSelectorTerm(match_fields=[NodeSelectorRequirement(key="metadata.name", operator="In", values=["c"])])
    selected = v1.ResourceSlice(
        metadata=ObjectMeta(name="s"),
        spec=v1.ResourceSliceSpec(driver="d", node_selector=NodeSelector(node_selector_terms=[named])),
    )
    seen = take_snapshot([gpus("b", 1), gpus("a", 1), selected, allocated(claim("x"), "e", "gpu-0"), pod("p", node_name="f")])
    assert node_names(seen) == ["a", "b", "c", "e", "f"]
    assert [(note.code, note.message) for note in seen.notes] == [
        (
            codes.NODES_INFERRED,
            "no Node objects in the input: 5 nodes were inferred from slices; labels, taints and CPU are not known",
        )
    ]


def test_with_node_objects_none_is_inferred_and_slices_of_others_are_remarked():
    seen = take_snapshot([node("a"), gpus("a", 1), gpus("gone", 1)])
    assert node_names(seen) == ["a"]
    assert [(note.code, note.object) for note in seen.notes] == [(codes.NODE_ABSENT, "Node/gone")]


def test_a_class_that_a_known_driver_ships_stands_in_for_a_missing_one():
    seen = take_snapshot([claim("a", device_class="gpu.nvidia.com"), template("b", device_class="dranet.net"), node("n")])
    assert set(seen.classes) == {"gpu.nvidia.com"}  # dranet's classes are written by users: nothing is guessed
    assert [(note.code, note.object) for note in seen.notes] == [(codes.BUILT_IN_CLASS, "DeviceClass/gpu.nvidia.com")]


def test_the_input_s_own_class_wins_and_a_refused_one_is_not_replaced():
    own = v1.DeviceClass(metadata=ObjectMeta(name="gpu.nvidia.com"))
    assert take_snapshot([claim("a", device_class="gpu.nvidia.com"), own, node("n")]).classes == {"gpu.nvidia.com": own}
    refused = take_snapshot([claim("a", device_class="gpu.nvidia.com"), node("n")], refused=["DeviceClass/gpu.nvidia.com"])
    assert refused.classes == {}


def test_the_shipped_classes_of_the_nvidia_driver():
    # gpu-landscape.md 2.4
    for name in ("gpu", "mig", "vfio.gpu", "compute-domain-daemon", "compute-domain-default-channel"):
        assert f"{name}.nvidia.com" in built_in_classes()
    gpu = built_in_class("gpu.nvidia.com")
    assert gpu is not None
    assert gpu.spec.extended_resource_name == "nvidia.com/gpu"
    assert built_in_class("imex.nvidia.com") is None  # gone since 25.3: ComputeDomains took its place
