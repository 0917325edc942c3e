"""`reparto plan --policy best-fit`: devices and nodes that cost the rest least, with the reason for each."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from reparto import model
from reparto.allocation import Features, verify
from reparto.cli.main import main
from reparto.model import core, v1
from reparto.placement import Plan, make_plan, take_snapshot
from reparto.placement.plan import NodeChoice
from unit.placement_objects import any_device_class, gpus, node, pod, template

RESOURCES = (v1.ResourceSlice, v1.DeviceClass, v1.ResourceClaimTemplate)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        main(["plan", *arguments])
    return capsys.readouterr().out


def devices(document: dict[str, Any]) -> dict[str, list[str]]:
    """What each placed pod gets."""
    return {
        pod["name"]: [result["device"] for claim in pod["claims"] for result in claim["allocation"]["devices"]["results"]]
        for pod in document["pods"]
        if pod["verdict"] == "placed"
    }


def planned(*objects: core.Pod | core.Node | v1.ResourceSlice | v1.ResourceClaimTemplate, policy: Any = "best-fit") -> Plan:
    return make_plan(take_snapshot([any_device_class(), *objects]), Features.for_version("1.37"), policy=policy, keep_choices=True)


def nodes_of(plan: Plan) -> dict[str, str]:
    return {each.name: each.node for each in plan.pods}


def test_a_3g_leaves_the_other_half_to_the_4g_that_comes_after_it(capsys: pytest.CaptureFixture[str]):
    # examples/mig-partitions: a 4g.40gb can only start at slot 0, and first-fit gives just that to the 3g.40gb.
    folder = str(EXAMPLES / "mig-partitions")
    best = devices(json.loads(printed(capsys, "-f", folder, "--policy", "best-fit", "-o", "json")))
    first = devices(json.loads(printed(capsys, "-f", folder, "-o", "json")))
    assert best["three"] == ["gpu-1-mig-3g40gb-9-4"]
    assert best["four"] == ["gpu-1-mig-4g40gb-5-0"]
    assert first["three"] == ["gpu-1-mig-3g40gb-9-0"]
    assert "four" not in first


@pytest.mark.parametrize("folder", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_the_json_holds_to_the_schema_and_says_why_for_every_pod_that_got_devices(capsys: pytest.CaptureFixture[str], folder: str):
    document = json.loads(printed(capsys, "-f", str(EXAMPLES / folder), "--policy", "best-fit", "-o", "json"))
    schema = json.loads((files("reparto") / "schemas" / "plan-v1.json").read_text())
    assert [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)] == []
    for each in document["pods"]:
        allocated = [claim for claim in each["claims"] if claim["allocation"]]
        if each["verdict"] == "placed" and allocated and each["choices"]["devices"]:
            results = [result["device"] for claim in allocated for result in claim["allocation"]["devices"]["results"]]
            assert {line["device"] for line in each["choices"]["devices"]} <= set(results)
            assert all(line["message"] for line in [each["choices"]["node"], *each["choices"]["devices"]])
        elif each["verdict"] != "placed":
            assert "choices" not in each


@pytest.mark.parametrize("folder", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "broken"))
def test_everything_that_a_plan_by_best_fit_allocates_is_legal(folder: str):
    snapshot = take_snapshot(list(model.load(str(EXAMPLES / folder))))
    features = Features.for_version("1.37")
    plan = make_plan(snapshot, features, policy="best-fit")
    breaches = verify(plan.slices, snapshot.classes.values(), plan.claims, snapshot.nodes, features=features)
    assert [str(breach) for breach in breaches] == []


def written(item: Any) -> dict[str, Any]:
    """The object as a file has it."""
    kind = type(item).__name__
    return {"apiVersion": "resource.k8s.io/v1" if isinstance(item, RESOURCES) else "v1", "kind": kind} | msgspec.to_builtins(item)


def test_first_fit_says_nothing_about_choices(capsys: pytest.CaptureFixture[str]):
    assert '"choices"' not in printed(capsys, "-f", str(EXAMPLES / "mig-partitions"), "-o", "json")


@pytest.mark.parametrize("option", [("--reasons",), ("-o", "wide")])
def test_why_a_device_was_chosen_is_one_line_below_its_pod(capsys: pytest.CaptureFixture[str], option: tuple[str, ...]):
    lines = printed(capsys, "-f", str(EXAMPLES / "mig-partitions"), "--policy", "best-fit", *option).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("default/three:"))
    assert lines[at + 1] == "  mig-a: the only node that fits"
    assert lines[at + 2] == (
        "  gpu-1-mig-3g40gb-9-4: keeps 4g.40gb and 3g.40gb possible; ends gpu-1 and 7g.80gb; gpu-1-counter-set was unused"
    )


def test_a_node_among_several_says_how_many_there_were():
    objects = [node("a"), node("b"), gpus("a", 2), gpus("b", 2), template("one")]
    (placed,) = planned(*objects, pod("p", templates=("one",))).pods
    assert placed.choices and placed.choices.node.message == "of the 2 nodes that fit it costs the rest least here"
    assert placed.choices.devices[0].message == "all that fit are alike; the first"


def test_a_nominated_node_is_said_to_be_that():
    objects = [node("a"), node("b"), gpus("a", 2), gpus("b", 3), template("one")]
    (placed,) = planned(*objects, pod("p", templates=("one",), status=core.PodStatus(nominated_node_name="b"))).pods
    assert placed.choices and placed.choices.node == NodeChoice("b", "the pod is nominated for this node")


def test_scores_of_kube_scheduler_are_not_shown_where_they_did_not_decide(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    objects = [node("a"), node("b"), gpus("a", 1), gpus("b", 1), any_device_class(), template("one"), pod("p", templates=("one",))]
    file = tmp_path / "cluster.json"
    file.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": [written(each) for each in objects]}))
    text = printed(capsys, "-f", str(file), "--policy", "best-fit", "-o", "wide")
    assert "  a: of the 2 nodes that fit it costs the rest least here" in text.splitlines()


def test_an_unknown_policy_names_those_that_exist(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        main(["plan", "-f", str(EXAMPLES / "taints"), "--policy", "worst-fit"])
    assert stopped.value.code == 2
    assert "'first-fit', 'best-fit'" in capsys.readouterr().err


def test_nodes_are_filled_where_kube_scheduler_would_spread():
    objects = [node("a"), node("b"), gpus("a", 2), gpus("b", 2), template("one")]
    pods = [pod(f"p{number}", templates=("one",), labels={"app": "x"}) for number in range(4)]
    assert nodes_of(planned(*objects, *pods)) == {"p0": "a", "p1": "a", "p2": "b", "p3": "b"}


def test_a_node_that_already_is_in_use_is_filled_before_the_first_one():
    objects = [node("a"), node("b"), gpus("a", 2), gpus("b", 3), template("one"), template("three", count=3)]
    plan = planned(*objects, pod("big", templates=("three",)), pod("small", templates=("one",)))
    assert nodes_of(plan) == {"big": "b", "small": "a"}
    plan = planned(node("a"), node("b"), gpus("a", 3), gpus("b", 2), template("one"), pod("small", templates=("one",)))
    assert nodes_of(plan) == {"small": "b"}, "less is left there"


def test_what_a_pod_prefers_comes_before_what_is_cheap():
    disliked = core.Taint(key="slow", effect="PreferNoSchedule")
    objects = [node("a", taints=(disliked,)), node("b"), gpus("a", 1), gpus("b", 8), template("one")]
    (placed,) = planned(*objects, pod("p", templates=("one",))).pods
    assert placed.node == "b"
    assert placed.choices and placed.choices.node.message == "2 nodes fit, and the pod prefers this one"


def test_pods_without_devices_are_placed_as_kube_scheduler_places_them():
    objects = [
        node("a", has={"cpu": "4", "memory": "8Gi", "pods": "9"}),
        node("b", has={"cpu": "8", "memory": "16Gi", "pods": "9"}),
    ]
    assert nodes_of(planned(*objects, pod("p"))) == nodes_of(planned(*objects, pod("p"), policy="first-fit"))


def test_a_large_cluster_is_looked_at_as_a_whole():
    # kube-scheduler stops at 100 nodes that fit; the one with the least left is the last.
    objects = [each for number in range(150) for each in (node(f"n{number:03}"), gpus(f"n{number:03}", 1 if number == 149 else 2))]
    assert nodes_of(planned(*objects, template("one"), pod("p", templates=("one",)))) == {"p": "n149"}
