"""Ways to break a legal allocation, one for each rule, and what the checker must call it.

Each takes a world in which everything made is legal and returns one in which it is not, or None where there is nothing to break so
(no share whose capacity could be changed, …). The worlds are dictionaries here, as JSON has them: `slices`, `classes`, `nodes`,
`held`, `made`.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from reparto.allocation import BreachKind

Json = dict[str, Any]


@dataclass(frozen=True)
class Damage:
    """`apply` breaks the world in place and says whether it could."""

    kind: BreachKind
    name: str
    apply: Callable[[Json, random.Random], bool]


DAMAGES: list[Damage] = []


def breaks(kind: BreachKind) -> Callable[[Callable[[Json, random.Random], bool]], Callable[[Json, random.Random], bool]]:
    """Enters a function into the table."""

    def enter(function: Callable[[Json, random.Random], bool]) -> Callable[[Json, random.Random], bool]:
        DAMAGES.append(Damage(kind, function.__name__, function))
        return function

    return enter


def damaged(world: Json, damage: Damage, rng: random.Random) -> Json | None:
    """The world with the damage done, or None where it cannot be done."""
    broken = copy.deepcopy(world)
    return broken if damage.apply(broken, rng) else None


# --- looking around ---------------------------------------------------------------------------------------------------------------


def results(world: Json) -> Iterator[tuple[Json, Json]]:
    """The made claims' results, each with its claim."""
    for claim in world["made"]:
        for result in claim["status"]["allocation"]["devices"].get("results", ()):
            yield claim, result


def some(world: Json, rng: random.Random, wanted: Callable[[Json, Json], Any]) -> tuple[Json, Json] | None:
    """One of the results (with its claim) for which `wanted` is true."""
    found = [(claim, result) for claim, result in results(world) if wanted(claim, result)]
    return rng.choice(found) if found else None


def devices(world: Json, result: Json) -> list[Json]:
    """What is published under the name in a result."""
    return [
        device
        for published in world["slices"]
        if (published["spec"]["driver"], published["spec"]["pool"]["name"]) == (result["driver"], result["pool"])
        for device in published["spec"].get("devices", ())
        if device["name"] == result["device"]
    ]


def slices_of(world: Json, result: Json) -> list[Json]:
    """The slices of the pool in a result."""
    return [
        published
        for published in world["slices"]
        if (published["spec"]["driver"], published["spec"]["pool"]["name"]) == (result["driver"], result["pool"])
    ]


def request(claim: Json, result: Json) -> Json:
    """The request, or the alternative, that a result is for."""
    name, _, alternative = result["request"].partition("/")
    (found,) = (each for each in claim["spec"]["devices"]["requests"] if each["name"] == name)
    if not alternative:
        return found["exactly"]
    return next(each for each in found["firstAvailable"] if each["name"] == alternative)


# --- the claim itself -------------------------------------------------------------------------------------------------------------


@breaks(BreachKind.REQUEST_UNKNOWN)
def a_result_for_a_request_that_is_none(world: Json, rng: random.Random) -> bool:
    for _, result in results(world):
        result["request"] = "nobody"
        return True
    return False


@breaks(BreachKind.COUNT)
def a_result_less(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda claim, result: request(claim, result)["allocationMode"] == "ExactCount")
    if found is None:
        return False
    found[0]["status"]["allocation"]["devices"]["results"].remove(found[1])
    return True


@breaks(BreachKind.ALL_DEVICES)
def not_all_devices(world: Json, rng: random.Random) -> bool:
    for claim, result in results(world):
        listed = claim["status"]["allocation"]["devices"]["results"]
        if request(claim, result)["allocationMode"] == "All" and sum(r["request"] == result["request"] for r in listed) > 1:
            listed.remove(result)
            return True
    return False


@breaks(BreachKind.DEVICE_REPEATED)
def a_result_twice(world: Json, rng: random.Random) -> bool:
    for claim, result in results(world):
        again = copy.deepcopy(result)
        if "shareID" in again:
            again["shareID"] += "-again"
        claim["status"]["allocation"]["devices"]["results"].append(again)
        return True
    return False


@breaks(BreachKind.TOLERATIONS_NOT_COPIED)
def a_toleration_more(world: Json, rng: random.Random) -> bool:
    for _, result in results(world):
        result.setdefault("tolerations", []).append({"key": "made-up", "operator": "Exists"})
        return True
    return False


@breaks(BreachKind.TOLERATIONS_NOT_COPIED)
def no_tolerations(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: result.get("tolerations"))
    return found is not None and bool(found[1].pop("tolerations"))


@breaks(BreachKind.ADMIN_ACCESS)
def admin_access_the_other_way_round(world: Json, rng: random.Random) -> bool:
    for _, result in results(world):
        if not result.pop("adminAccess", False):
            result["adminAccess"] = True
        return True
    return False


@breaks(BreachKind.CONFIG_OF_CLAIM)
def configuration_of_the_claim_lost(world: Json, rng: random.Random) -> bool:
    return _lose_config(world, "FromClaim")


@breaks(BreachKind.CONFIG_OF_CLASS)
def configuration_of_a_class_lost(world: Json, rng: random.Random) -> bool:
    return _lose_config(world, "FromClass")


def _lose_config(world: Json, source: str) -> bool:
    for claim in world["made"]:
        config = claim["status"]["allocation"]["devices"].get("config", [])
        for entry in config:
            if entry["source"] == source:
                config.remove(entry)
                return True
    return False


@breaks(BreachKind.CONFIG_OF_CLASS)
def configuration_for_other_requests(world: Json, rng: random.Random) -> bool:
    for claim in world["made"]:
        for entry in claim["status"]["allocation"]["devices"].get("config", []):
            if entry["source"] == "FromClass":
                entry["requests"] = ["nobody"]
                return True
    return False


# --- other claims -----------------------------------------------------------------------------------------------------------------


def _copy_of_claim(world: Json, claim: Json) -> Json:
    other = copy.deepcopy(claim)
    other["metadata"] = other["metadata"] | {"name": "another", "uid": "uid-another"}
    world["made"].append(other)
    return other


@breaks(BreachKind.DEVICE_HELD_TWICE)
def another_claim_with_the_same_devices(world: Json, rng: random.Random) -> bool:
    exclusive = some(world, rng, lambda _, result: not result.get("adminAccess") and "shareID" not in result)
    return exclusive is not None and bool(_copy_of_claim(world, exclusive[0]))


@breaks(BreachKind.SHARE_ID_REPEATED)
def another_claim_with_the_same_share(world: Json, rng: random.Random) -> bool:
    shared = some(world, rng, lambda _, result: "shareID" in result)
    return shared is not None and bool(_copy_of_claim(world, shared[0]))


@breaks(BreachKind.CAPACITY_OVERDRAWN)
def the_same_share_again_until_the_device_is_full(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: any(n != "0" for n in result.get("consumedCapacity", {}).values()))
    if found is None or not world["features"]["consumable_capacity"] or found[1].get("adminAccess"):
        return False
    for device in devices(world, found[1]):
        for name, capacity in device.get("capacity", {}).items():
            if found[1]["consumedCapacity"].get(name, "0") != "0":
                capacity["value"] = "1n"  # less than anybody ever takes
    return True


@breaks(BreachKind.COUNTERS_OVERDRAWN)
def counters_shrunk_to_less_than_is_drawn(world: Json, rng: random.Random) -> bool:
    found = some(
        world,
        rng,
        lambda _, result: (
            not result.get("adminAccess") and any(device.get("consumesCounters") for device in devices(world, result))
        ),
    )
    if found is None:
        return False
    for published in slices_of(world, found[1]):
        for counter_set in published["spec"].get("sharedCounters", ()):
            for counter in counter_set["counters"].values():
                counter["value"] = "-1k"
    return True


@breaks(BreachKind.COMPATIBILITY_GROUPS)
def groups_that_nobody_shares(world: Json, rng: random.Random) -> bool:
    drawing = [
        (result, consumption)
        for _, result in results(world)
        if not result.get("adminAccess")
        for device in devices(world, result)
        for consumption in device.get("consumesCounters", ())
    ]
    for first, one in drawing:
        for second, other in drawing:
            same_pool = (first["driver"], first["pool"]) == (second["driver"], second["pool"])
            if same_pool and first["device"] != second["device"] and one["counterSet"] == other["counterSet"]:
                one["compatibilityGroups"], other["compatibilityGroups"] = ["one"], ["another"]
                return world["features"]["compatibility_groups"]
    return False


# --- pools and nodes --------------------------------------------------------------------------------------------------------------


@breaks(BreachKind.DEVICE_NOT_PUBLISHED)
def a_device_that_is_none(world: Json, rng: random.Random) -> bool:
    for _, result in results(world):
        result["device"] = "made-up"
        return True
    return False


@breaks(BreachKind.POOL_INCOMPLETE)
def a_pool_that_is_one_slice_short(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: True)
    if found is None:
        return False
    for published in slices_of(world, found[1]):
        published["spec"]["pool"]["resourceSliceCount"] += 1000
    return True


@breaks(BreachKind.POOL_INVALID)
def a_device_published_twice(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: True)
    if found is None:
        return False
    for published in slices_of(world, found[1]):
        listed = published["spec"].get("devices", [])
        for device in listed:
            if device["name"] == found[1]["device"]:
                listed.append(copy.deepcopy(device))
                return True
    return False


@breaks(BreachKind.POOL_OUTDATED)
def a_newer_generation_without_the_device(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: True)
    if found is None:
        return False
    newest = max(published["spec"]["pool"].get("generation", 0) for published in slices_of(world, found[1]))
    pool = {"name": found[1]["pool"], "generation": newest + 1, "resourceSliceCount": 1}
    spec = {"driver": found[1]["driver"], "pool": pool, "allNodes": True, "devices": [{"name": "brand-new"}]}
    world["slices"].append({"kind": "ResourceSlice", "metadata": {"name": "zzz-newer"}, "spec": spec})
    return True


@breaks(BreachKind.NODE_UNKNOWN)
def no_nodes(world: Json, rng: random.Random) -> bool:
    world["nodes"] = []
    return next(results(world), None) is not None


@breaks(BreachKind.DEVICE_NOT_ON_NODE)
def a_local_device_for_a_pod_elsewhere(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: slices_of(world, result)[0]["spec"].get("nodeName"))
    if found is None or any(not published["spec"].get("nodeName") for published in slices_of(world, found[1])):
        return False
    world["nodes"].append({"kind": "Node", "metadata": {"name": "far-away"}, "status": {"declaredFeatures": [_CAN_SKIP]}})
    fields = [{"key": "metadata.name", "operator": "In", "values": ["far-away"]}]
    found[0]["status"]["allocation"]["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return True


_CAN_SKIP = "DRAOptionalNodeOperations"


@breaks(BreachKind.NODE_SELECTOR)
def a_claim_for_other_nodes_than_its_devices(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda claim, _: "nodeSelector" in claim["status"]["allocation"])
    return found is not None and bool(found[0]["status"]["allocation"].pop("nodeSelector"))


@breaks(BreachKind.NODE_OPERATIONS)
def skipped_operations_lost(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: result.get("skipNodeOperations"))
    return found is not None and bool(found[1].pop("skipNodeOperations"))


@breaks(BreachKind.NODE_OPERATIONS)
def nodes_that_cannot_skip_operations(world: Json, rng: random.Random) -> bool:
    for node in world["nodes"]:
        node["status"] = {}
    return some(world, rng, lambda _, result: result.get("skipNodeOperations")) is not None


# --- device and request -----------------------------------------------------------------------------------------------------------


@breaks(BreachKind.CLASS_MISSING)
def no_classes(world: Json, rng: random.Random) -> bool:
    world["classes"] = []
    return next(results(world), None) is not None


@breaks(BreachKind.SELECTOR)
def a_class_that_selects_nothing(world: Json, rng: random.Random) -> bool:
    for device_class in world["classes"]:
        device_class.setdefault("spec", {}).setdefault("selectors", []).append({"cel": {"expression": "false"}})
    return next(results(world), None) is not None


@breaks(BreachKind.SELECTOR)
def a_request_that_selects_other_drivers(world: Json, rng: random.Random) -> bool:
    for claim, result in results(world):
        selector = {"cel": {"expression": f'device.driver != "{result["driver"]}"'}}
        request(claim, result).setdefault("selectors", []).append(selector)
        return True
    return False


@breaks(BreachKind.TAINT)
def a_taint_that_nobody_tolerates(world: Json, rng: random.Random) -> bool:
    def strict(claim: Json, result: Json) -> bool:
        return all(toleration.get("key") for toleration in request(claim, result).get("tolerations", ()))

    found = some(world, rng, strict) if world["features"]["device_taints"] else None
    if found is None:
        return False
    for device in devices(world, found[1]):
        device.setdefault("taints", []).append({"key": "made-up", "effect": rng.choice(("NoSchedule", "NoExecute"))})
    return True


@breaks(BreachKind.CONSTRAINT)
def a_constraint_on_what_no_device_has(world: Json, rng: random.Random) -> bool:
    for claim, _ in results(world):
        kind = rng.choice(("matchAttribute", "distinctAttribute"))
        claim["spec"]["devices"].setdefault("constraints", []).append({kind: "made.up/attribute"})
        return True
    return False


@breaks(BreachKind.CONSTRAINT)
def devices_that_should_be_alike_and_are_not(world: Json, rng: random.Random) -> bool:
    for claim in world["made"]:
        held = claim["status"]["allocation"]["devices"].get("results", [])
        if len({(result["driver"], result["pool"], result["device"]) for result in held}) < 2:
            continue
        claim["spec"]["devices"]["constraints"] = [{"matchAttribute": "made.up/number"}]
        for number, result in enumerate(held):
            for device in devices(world, result):
                device.setdefault("attributes", {})["made.up/number"] = {"int": number}
        return True
    return False


@breaks(BreachKind.CAPACITY_REQUEST)
def a_request_for_a_capacity_that_no_device_has(world: Json, rng: random.Random) -> bool:
    for claim, result in results(world):
        request(claim, result)["capacity"] = {"requests": {"made-up": "1"}}
        return world["features"]["consumable_capacity"]
    return False


@breaks(BreachKind.SHARE_ID)
def a_share_id_too_many_or_too_few(world: Json, rng: random.Random) -> bool:
    for _, result in results(world):
        if result.pop("shareID", None) is None:
            result["shareID"] = "made-up"
        return True
    return False


@breaks(BreachKind.CONSUMED_CAPACITY)
def a_capacity_that_was_not_recorded(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: result.get("consumedCapacity"))
    return found is not None and found[1]["consumedCapacity"].popitem() is not None


@breaks(BreachKind.CONSUMED_CAPACITY)
def a_capacity_recorded_a_billionth_too_high(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: result.get("consumedCapacity"))
    if found is None:
        return False
    name = rng.choice(sorted(found[1]["consumedCapacity"]))
    for other in ("1n", "2n"):
        if found[1]["consumedCapacity"][name] != other:
            found[1]["consumedCapacity"][name] = other
            return True
    return False


@breaks(BreachKind.BINDING_CONDITIONS)
def binding_conditions_lost(world: Json, rng: random.Random) -> bool:
    found = some(world, rng, lambda _, result: result.get("bindingConditions"))
    return found is not None and bool(found[1].pop("bindingConditions"))


@breaks(BreachKind.FEATURE_OFF)
def alternatives_without_the_feature(world: Json, rng: random.Random) -> bool:
    world["features"]["prioritized_list"] = False
    return some(world, rng, lambda _, result: "/" in result["request"]) is not None
