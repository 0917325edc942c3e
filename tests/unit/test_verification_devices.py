"""`verify`, a claim against what is published: pools, nodes, selectors, taints, capacity, constraints.

Source: upstream-dra.md 3.2 to 3.14.
"""

import pytest

from reparto.allocation import BreachKind, Features, Standing
from unit.allocation_objects import ALL_FEATURES, DRIVER, ask, claim, device_class, node, pool, published
from unit.verification_objects import broken, held, on, without

ONE = claim(ask())


def slice_of(name: str, *devices: str, generation: int = 1, count: int = 1, **where: object):
    location = {"name": "n1", "generation": generation, "resourceSliceCount": count}
    body = {"driver": DRIVER, "pool": location, "devices": [{"name": device} for device in devices]}
    return published(name, **body, **(where or {"nodeName": "n1"}))


# --- pools ------------------------------------------------------------------------------------------------------------------------


def test_a_device_that_no_slice_has():
    assert broken([pool("d0")], [held(ONE, "d1")]) == [BreachKind.DEVICE_NOT_PUBLISHED]
    assert BreachKind.DEVICE_NOT_PUBLISHED.standing is Standing.WRONG_NOW


def test_a_pool_that_lacks_a_slice_gives_nothing():
    assert broken([slice_of("a", "d0", count=2)], [held(ONE, "d0")]) == [BreachKind.POOL_INCOMPLETE]
    assert broken([slice_of("a", "d0", count=2), slice_of("b", count=2)], [held(ONE, "d0")]) == []


def test_slices_on_other_nodes_make_a_pool_whole():
    slices = [slice_of("a", "d0", count=2), slice_of("b", "d1", count=2, nodeName="n2")]
    assert broken(slices, [held(ONE, "d0")]) == []


def test_slices_too_many_make_a_pool_incomplete():
    slices = [slice_of("a", "d0"), slice_of("b", "d1")]
    assert broken(slices, [held(ONE, "d0")]) == [BreachKind.POOL_INCOMPLETE]


def test_a_device_only_in_an_older_generation_is_outdated():
    slices = [slice_of("a", "d0", generation=1), slice_of("b", "d1", generation=2)]
    assert broken(slices, [held(ONE, "d0")]) == [BreachKind.POOL_OUTDATED]
    assert broken(slices, [held(ONE, "d1")]) == []


def test_a_newer_generation_on_another_node_outdates_a_pool_of_which_slices_are_missing():
    slices = [slice_of("a", "d0", count=2), slice_of("b", "d1", generation=2, count=2, nodeName="n2")]
    assert broken(slices, [held(ONE, "d0")]) == [BreachKind.POOL_OUTDATED]


def test_a_node_that_sees_all_slices_does_not_look_elsewhere():
    """Step 5a of 3.3: a complete pool is complete, whatever other nodes have."""
    slices = [slice_of("a", "d0"), slice_of("b", "d1", generation=2, nodeName="n2")]
    assert broken(slices, [held(ONE, "d0")]) == []


def test_a_device_name_twice_makes_the_pool_invalid():
    assert broken([pool("d0", "d1", "d1")], [held(ONE, "d0")]) == [BreachKind.POOL_INVALID]


@pytest.mark.parametrize("counter_set, counter", [("other", "slots"), ("s", "other")])
def test_a_counter_that_does_not_exist_makes_the_pool_invalid(counter_set, counter):
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    drawing = {"name": "d1", "consumesCounters": [{"counterSet": counter_set, "counters": {counter: {"value": "1"}}}]}
    counters = pool(
        name="counters", pool=location, devices=None, sharedCounters=[{"name": "s", "counters": {"slots": {"value": "1"}}}]
    )
    assert broken([pool("d0", drawing, pool=location), counters], [held(ONE, "d0")]) == [BreachKind.POOL_INVALID]


def test_a_counter_set_name_twice_makes_the_pool_invalid():
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    sets = [{"name": "s", "counters": {"slots": {"value": "1"}}}] * 2
    counters = pool(name="counters", pool=location, devices=None, sharedCounters=sets)
    assert broken([pool("d0", pool=location), counters], [held(ONE, "d0")]) == [BreachKind.POOL_INVALID]


def test_slices_with_compatibility_groups_are_not_there_without_the_feature():
    consumption = {"counterSet": "s", "counters": {"slots": {"value": "1"}}, "compatibilityGroups": ["g"]}
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    sets = [{"name": "s", "counters": {"slots": {"value": "1"}}}]
    slices = [
        pool("d0", {"name": "d1", "consumesCounters": [consumption]}, pool=location),
        pool(name="counters", pool=location, devices=None, sharedCounters=sets),
    ]
    assert broken(slices, [held(ONE, "d0")]) == []
    assert broken(slices, [held(ONE, "d0")], features=without("compatibility_groups")) == [BreachKind.DEVICE_NOT_PUBLISHED]


# --- nodes ------------------------------------------------------------------------------------------------------------------------


def test_a_node_that_is_gone():
    assert broken([pool("d0")], [held(ONE, "d0")], nodes=[node("n2")]) == [BreachKind.NODE_UNKNOWN]


def test_a_claim_with_a_local_device_is_bound_to_that_node():
    nodes = [node("n1"), node("n2")]
    assert broken([pool("d0")], [held(ONE, "d0", anywhere=True)], nodes=nodes) == [
        BreachKind.DEVICE_NOT_ON_NODE,
        BreachKind.NODE_SELECTOR,
    ]


EAST = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east"]}]}]}
NODES = [node("n1", zone="east"), node("n2", zone="east"), node("n3", zone="west")]


def test_a_claim_takes_over_the_node_selector_of_its_slice():
    slices = [pool("d0", nodeSelector=EAST)]
    assert broken(slices, [held(ONE, "d0", selector=EAST)], nodes=NODES) == []
    assert broken(slices, [held(ONE, "d0", selector=on("n1"))], nodes=NODES) == [BreachKind.NODE_SELECTOR]
    found = broken(slices, [held(ONE, "d0", anywhere=True)], nodes=NODES)
    assert found == [BreachKind.DEVICE_NOT_ON_NODE, BreachKind.NODE_SELECTOR]  # n3 is not in the east


def test_the_selectors_of_all_slices_are_joined_and_repeated_requirements_are_one():
    fast = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "net", "operator": "Exists"}]}]}
    again = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east", "east"]}]}]}
    slices = [pool("d0", nodeSelector=EAST), pool("e0", name="e", nodeSelector=fast), pool("f0", name="f", nodeSelector=again)]
    results = ["d0", {"pool": "e", "device": "e0"}, {"pool": "f", "device": "f0"}]
    nodes = [node("n1", zone="east"), node("n2", zone="east", net="yes")]
    joined = {
        "nodeSelectorTerms": [
            {"matchExpressions": [*EAST["nodeSelectorTerms"][0]["matchExpressions"], {"key": "net", "operator": "Exists"}]}
        ]
    }
    assert broken(slices, [held(claim(ask(3)), *results, selector=joined)], nodes=nodes) == []
    apart = {"nodeSelectorTerms": [*EAST["nodeSelectorTerms"], *fast["nodeSelectorTerms"]]}
    found = broken(slices, [held(claim(ask(3)), *results, selector=apart)], nodes=nodes)
    assert BreachKind.NODE_SELECTOR in found  # two terms mean one or the other


def test_a_device_for_all_nodes_leaves_the_claim_free():
    assert broken([pool("d0", allNodes=True)], [held(ONE, "d0", anywhere=True)], nodes=NODES) == []


def test_a_device_that_binds_to_its_node_binds_the_claim():
    slices = [pool({"name": "d0", "bindsToNode": True}, allNodes=True)]
    assert broken(slices, [held(ONE, "d0")], nodes=NODES) == []
    assert broken(slices, [held(ONE, "d0", anywhere=True)], nodes=NODES) == [BreachKind.NODE_SELECTOR]


def test_devices_may_choose_their_nodes_themselves():
    devices = [{"name": "d0", "nodeName": "n1"}, {"name": "d1", "nodeName": "n2"}]
    slices = [pool(*devices, perDeviceNodeSelection=True)]
    assert broken(slices, [held(ONE, "d0")], nodes=NODES) == []
    assert broken(slices, [held(ONE, "d1")], nodes=NODES) == [BreachKind.DEVICE_NOT_ON_NODE]
    assert broken(slices, [held(ONE, "d1", selector=on("n2"))], nodes=NODES) == []


@pytest.mark.parametrize(
    "requirement, labels, matches",
    [
        ({"operator": "In", "values": ["a", "b"]}, {"k": "b"}, True),
        ({"operator": "In", "values": ["a", "b"]}, {}, False),
        ({"operator": "NotIn", "values": ["a"]}, {"k": "b"}, True),
        ({"operator": "NotIn", "values": ["a"]}, {}, True),
        ({"operator": "NotIn", "values": ["a"]}, {"k": "a"}, False),
        ({"operator": "Exists"}, {"k": ""}, True),
        ({"operator": "Exists"}, {}, False),
        ({"operator": "DoesNotExist"}, {}, True),
        ({"operator": "DoesNotExist"}, {"k": ""}, False),
        ({"operator": "Gt", "values": ["9"]}, {"k": "10"}, True),
        ({"operator": "Gt", "values": ["10"]}, {"k": "10"}, False),
        ({"operator": "Gt", "values": ["1"]}, {"k": "x"}, False),
        ({"operator": "Gt", "values": ["1"]}, {}, False),
        ({"operator": "Lt", "values": ["10"]}, {"k": "9"}, True),
        ({"operator": "Lt", "values": ["-3"]}, {"k": "-4"}, True),
        ({"operator": "Near", "values": ["1"]}, {"k": "1"}, False),
    ],
)
def test_requirements_of_node_selectors_mean_what_node_affinity_means_by_them(requirement, labels, matches):
    selector = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k"} | requirement]}]}
    found = broken([pool("d0", nodeSelector=selector)], [held(ONE, "d0", selector=selector)], nodes=[node(**labels)])
    assert found == ([] if matches else [BreachKind.NODE_UNKNOWN])


def test_a_term_without_requirements_matches_no_node():
    selector = {"nodeSelectorTerms": [{}]}
    found = broken([pool("d0", nodeSelector=selector)], [held(ONE, "d0", anywhere=True)])
    assert BreachKind.DEVICE_NOT_ON_NODE in found


# --- selectors, taints, conditions ------------------------------------------------------------------------------------------------


def test_selectors_of_class_and_request_are_true_for_every_device():
    gpus = [
        pool({"name": "d0", "attributes": {"model": {"string": "x"}}}, {"name": "d1", "attributes": {"model": {"string": "y"}}})
    ]
    is_x = f'device.attributes["{DRIVER}"].model == "x"'
    assert broken(gpus, [held(claim(ask(1, is_x)), "d0")]) == []
    assert broken(gpus, [held(claim(ask(1, is_x)), "d1")]) == [BreachKind.SELECTOR]
    assert broken(gpus, [held(ONE, "d0")], classes=[device_class("gpu", is_x)]) == []
    assert broken(gpus, [held(ONE, "d1")], classes=[device_class("gpu", is_x)]) == [BreachKind.SELECTOR]


@pytest.mark.parametrize("expression", ["device.attributes['gpu.example.com'].nothing == 1", "device.", "1"])
def test_a_selector_without_an_answer_is_not_true(expression):
    assert broken([pool("d0")], [held(claim(ask(1, expression)), "d0")]) == [BreachKind.SELECTOR]


def test_a_class_that_is_gone():
    assert broken([pool("d0")], [held(ONE, "d0")], classes=[]) == [BreachKind.CLASS_MISSING]


@pytest.mark.parametrize(
    "taint, toleration, tolerated",
    [
        ({"effect": "NoSchedule"}, {"operator": "Exists"}, True),
        ({"effect": "NoSchedule"}, {"operator": "Exists", "effect": "NoExecute"}, False),
        ({"effect": "NoExecute"}, {"operator": "Exists", "effect": "NoExecute"}, True),
        ({"effect": "NoExecute"}, {"key": "other", "operator": "Exists"}, False),
        ({"effect": "NoExecute", "value": "a"}, {"key": "sick", "operator": "Equal", "value": "a"}, True),
        ({"effect": "NoExecute", "value": "a"}, {"key": "sick", "value": "b"}, False),
        ({"effect": "NoExecute", "value": "a"}, {"operator": "Like", "value": "a"}, False),
        ({"effect": "None"}, {"key": "other", "operator": "Exists"}, True),
        ({"effect": "Unheard"}, {"key": "other", "operator": "Exists"}, True),
    ],
)
def test_taints_that_keep_pods_away_are_tolerated(taint, toleration, tolerated):
    gpus = [pool({"name": "d0", "taints": [{"key": "sick"} | taint]})]
    claims = [held(claim(ask(tolerations=[toleration])), {"device": "d0", "tolerations": [toleration]})]
    assert broken(gpus, claims) == ([] if tolerated else [BreachKind.TAINT])
    assert broken(gpus, claims, features=without("device_taints")) == []


def test_a_taint_under_a_running_pod_is_no_wrong():
    assert BreachKind.TAINT.standing is Standing.NOT_AGAIN


def test_admin_access_does_not_get_past_a_taint():
    gpus = [pool({"name": "d0", "taints": [{"key": "sick", "effect": "NoSchedule"}]})]
    assert broken(gpus, [held(claim(ask(adminAccess=True)), {"device": "d0", "adminAccess": True})]) == [BreachKind.TAINT]


def test_binding_conditions_are_those_of_the_device():
    conditions = {"bindingConditions": ["a/ready"], "bindingFailureConditions": ["a/failed"]}
    gpus = [pool({"name": "d0", **conditions})]
    assert broken(gpus, [held(ONE, {"device": "d0", **conditions})]) == []
    assert broken(gpus, [held(ONE, "d0")]) == [BreachKind.BINDING_CONDITIONS] * 2
    off = without("device_binding_and_status")
    assert broken(gpus, [held(ONE, "d0")], features=off) == [BreachKind.FEATURE_OFF]


def test_skipped_node_operations_are_those_of_the_slice_and_need_a_node_that_can():
    gpus = [pool("d0", skipNodeOperations=["*"])]
    able, unable = [node(features=("DRAOptionalNodeOperations",))], [node()]
    copied = {"device": "d0", "skipNodeOperations": ["*"]}
    assert broken(gpus, [held(ONE, copied)], nodes=able) == []
    assert broken(gpus, [held(ONE, "d0")], nodes=able) == [BreachKind.NODE_OPERATIONS]
    assert broken(gpus, [held(ONE, copied)], nodes=unable) == [BreachKind.NODE_OPERATIONS]
    assert broken(gpus, [held(ONE, copied)], nodes=able, features=without("optional_node_operations")) == [BreachKind.FEATURE_OFF]


def test_releases_that_know_nothing_of_skipped_node_operations_do_not_copy_them():
    gpus = [pool("d0", skipNodeOperations=["*"])]
    assert broken(gpus, [held(ONE, "d0")], features=Features.for_version("1.37")) == []


# --- capacity ---------------------------------------------------------------------------------------------------------------------

SHARED = {"name": "d0", "allowMultipleAllocations": True, "capacity": {"mem": {"value": "40Gi"}, "cores": {"value": "8"}}}


def test_a_share_records_all_capacities_those_not_asked_for_in_full():
    asked = claim(ask(capacity={"requests": {"mem": "10Gi"}}))
    full = {"device": "d0", "shareID": "1", "consumedCapacity": {"mem": "10Gi", "cores": "8"}}
    assert broken([pool(SHARED)], [held(asked, full)]) == []
    for wrong in ({"mem": "10Gi"}, {"mem": "11Gi", "cores": "8"}, {"mem": "10Gi", "cores": "8", "more": "1"}):
        found = broken([pool(SHARED)], [held(asked, full | {"consumedCapacity": wrong})])
        assert found == [BreachKind.CONSUMED_CAPACITY]


def test_amounts_are_compared_by_value():
    asked = claim(ask(capacity={"requests": {"mem": "10Gi"}}))
    share = {"device": "d0", "shareID": "1", "consumedCapacity": {"mem": "10737418240", "cores": "8000m"}}
    assert broken([pool(SHARED)], [held(asked, share)]) == []


def test_a_device_that_allows_several_allocations_is_held_by_shares_and_no_other():
    share = {"device": "d0", "shareID": "1", "consumedCapacity": {"mem": "40Gi", "cores": "8"}}
    assert broken([pool(SHARED)], [held(ONE, {"device": "d0", "consumedCapacity": share["consumedCapacity"]})]) == [
        BreachKind.SHARE_ID
    ]
    assert broken([pool("d0")], [held(ONE, {"device": "d0", "shareID": "1"})]) == [BreachKind.SHARE_ID]


def test_an_exclusive_device_has_at_least_what_is_asked_for_and_records_nothing():
    gpus = [pool({"name": "d0", "capacity": {"mem": {"value": "40Gi"}}})]
    for amount, found in (("40Gi", []), ("41Gi", [BreachKind.CAPACITY_REQUEST])):
        assert broken(gpus, [held(claim(ask(capacity={"requests": {"mem": amount}})), "d0")]) == found
    recorded = {"device": "d0", "consumedCapacity": {"mem": "40Gi"}}
    assert broken(gpus, [held(ONE, recorded)]) == [BreachKind.CONSUMED_CAPACITY]


def test_a_device_without_the_capacity_asked_for_cannot_serve():
    assert broken([pool("d0")], [held(claim(ask(capacity={"requests": {"mem": "1"}})), "d0")]) == [BreachKind.CAPACITY_REQUEST]


def test_without_consumable_capacity_a_device_is_held_whole_and_its_capacity_is_not_looked_at():
    assert broken([pool(SHARED)], [held(ONE, "d0")], features=without("consumable_capacity")) == []
    share = {"device": "d0", "shareID": "1", "consumedCapacity": {"mem": "40Gi", "cores": "8"}}
    assert broken([pool(SHARED)], [held(ONE, share)], features=without("consumable_capacity")) == [BreachKind.SHARE_ID]


def test_partitions_are_not_to_be_had_without_the_feature():
    partition = {"name": "d0", "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]}
    found = broken([pool(partition)], [held(ONE, "d0")], features=without("partitionable_devices"))
    assert found == [BreachKind.FEATURE_OFF]


# --- constraints ------------------------------------------------------------------------------------------------------------------


def numbered(**numa: object):
    """A pool of devices with these NUMA attributes; a list is a list attribute."""
    return [
        pool(
            *(
                {
                    "name": name,
                    "attributes": {} if value is None else {"numa": {"ints" if isinstance(value, list) else "int": value}},
                }
                for name, value in numa.items()
            )
        )
    ]


NUMA = f"{DRIVER}/numa"


def test_devices_that_should_agree_do():
    two = claim(ask(2), constraints=({"matchAttribute": NUMA},))
    assert broken(numbered(d0=0, d1=0), [held(two, "d0", "d1")]) == []
    assert broken(numbered(d0=0, d1=1), [held(two, "d0", "d1")]) == [BreachKind.CONSTRAINT]
    assert broken(numbered(d0=0, d1=None), [held(two, "d0", "d1")]) == [BreachKind.CONSTRAINT]


def test_devices_that_should_differ_do():
    three = claim(ask(3), constraints=({"distinctAttribute": NUMA},))
    assert broken(numbered(d0=0, d1=1, d2=2), [held(three, "d0", "d1", "d2")]) == []
    assert broken(numbered(d0=0, d1=1, d2=0), [held(three, "d0", "d1", "d2")]) == [BreachKind.CONSTRAINT]


def test_a_constraint_is_about_the_requests_that_it_names():
    asked = claim(ask(), ask(), ask(), constraints=({"matchAttribute": NUMA, "requests": ["r0", "r2"]},))
    results = [{"request": f"r{index}", "device": f"d{index}"} for index in range(3)]
    assert broken(numbered(d0=0, d1=1, d2=0), [held(asked, *results)]) == []
    assert broken(numbered(d0=0, d1=0, d2=1), [held(asked, *results)]) == [BreachKind.CONSTRAINT]


@pytest.mark.parametrize("named, found", [("r0", [BreachKind.CONSTRAINT]), ("r0/s1", [BreachKind.CONSTRAINT]), ("r0/s0", [])])
def test_a_constraint_may_be_about_a_request_or_one_of_its_alternatives(named, found):
    asked = claim([ask(3), ask(2)], constraints=({"matchAttribute": NUMA, "requests": [named]},))
    results = [{"request": "r0/s1", "device": device} for device in ("d0", "d1")]
    assert broken(numbered(d0=0, d1=1), [held(asked, *results)]) == found


def test_where_both_are_given_agreement_counts():
    """Validation lets both pass; upstream looks at matchAttribute alone (upstream-dra.md 2.3)."""
    two = claim(ask(2), constraints=({"matchAttribute": NUMA, "distinctAttribute": NUMA},))
    assert broken(numbered(d0=0, d1=0), [held(two, "d0", "d1")]) == []


def test_values_of_different_types_differ_and_never_agree():
    gpus = [pool({"name": "d0", "attributes": {"numa": {"int": 1}}}, {"name": "d1", "attributes": {"numa": {"string": "1"}}})]
    for kind, found in (("matchAttribute", [BreachKind.CONSTRAINT]), ("distinctAttribute", [])):
        assert broken(gpus, [held(claim(ask(2), constraints=({kind: NUMA},)), "d0", "d1")]) == found


def test_lists_agree_if_one_element_is_common_to_all_not_just_to_each_pair():
    three = claim(ask(3), constraints=({"matchAttribute": NUMA},))
    assert broken(numbered(d0=[0, 1], d1=[1, 2], d2=1), [held(three, "d0", "d1", "d2")]) == []
    assert broken(numbered(d0=[0, 1], d1=[1, 2], d2=[0, 2]), [held(three, "d0", "d1", "d2")]) == [BreachKind.CONSTRAINT]


def test_lists_differ_if_no_two_share_an_element():
    three = claim(ask(3), constraints=({"distinctAttribute": NUMA},))
    assert broken(numbered(d0=[0, 1], d1=[2], d2=3), [held(three, "d0", "d1", "d2")]) == []
    assert broken(numbered(d0=[0, 1], d1=[2], d2=[3, 0]), [held(three, "d0", "d1", "d2")]) == [BreachKind.CONSTRAINT]


def test_the_name_of_the_driver_may_be_left_out_by_the_device_but_not_that_of_another():
    gpus = [
        pool(
            {"name": "d0", "attributes": {"numa": {"int": 0}}},
            {"name": "d1", "attributes": {f"{DRIVER}/numa": {"int": 0}}},
            {"name": "d2", "attributes": {"other.example.com/numa": {"int": 0}}},
        )
    ]
    two = claim(ask(2), constraints=({"matchAttribute": NUMA},))
    assert broken(gpus, [held(two, "d0", "d1")]) == []
    assert broken(gpus, [held(two, "d0", "d2")]) == [BreachKind.CONSTRAINT]


def test_derived_attributes_are_worked_out_and_come_before_published_ones():
    derived = {"name": NUMA, "expression": f'device.attributes["{DRIVER}"].numa / 2'}
    two = claim(ask(2, derivedAttributes=[derived]), constraints=({"matchAttribute": NUMA},))
    assert broken(numbered(d0=2, d1=3), [held(two, "d0", "d1")]) == []  # both 1
    assert broken(numbered(d0=1, d1=2), [held(two, "d0", "d1")]) == [BreachKind.CONSTRAINT]  # 0 and 1
    assert broken(numbered(d0=1, d1=None), [held(two, "d0", "d1")]) == [BreachKind.CONSTRAINT]


def test_a_constraint_that_names_no_attribute_cannot_hold():
    assert broken([pool("d0")], [held(claim(ask(), constraints=({},)), "d0")], features=ALL_FEATURES) == [BreachKind.CONSTRAINT]


def test_without_list_attributes_a_list_agrees_with_nothing():
    two = claim(ask(2), constraints=({"matchAttribute": NUMA},))
    off = without("list_type_attributes")
    assert broken(numbered(d0=0, d1=0), [held(two, "d0", "d1")], features=off) == []
    assert broken(numbered(d0=0, d1=[0]), [held(two, "d0", "d1")], features=off) == [BreachKind.CONSTRAINT]
    assert broken(numbered(d0=[0], d1=0), [held(two, "d0", "d1")], features=off) == [BreachKind.CONSTRAINT]


@pytest.mark.parametrize("expression", ["[]", "device.", "device.attributes['gpu.example.com'].nothing"])
def test_a_derived_attribute_without_a_value_cannot_be_compared(expression):
    """An empty list has no type (3.9); the others fail."""
    asked = claim(ask(derivedAttributes=[{"name": "x/y", "expression": expression}]), constraints=({"matchAttribute": "x/y"},))
    assert broken([pool("d0")], [held(asked, "d0")]) == [BreachKind.CONSTRAINT]


def test_a_selector_of_no_known_type_is_not_true():
    assert broken([pool("d0")], [held(claim(ask(selectors=[{}])), "d0")]) == [BreachKind.SELECTOR]


def test_where_two_nodes_have_a_device_of_one_name_the_claim_is_judged_by_that_of_its_node():
    """An easy mistake of drivers (upstream-dra.md section 8, 13): upstream takes the two for one device."""
    place = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    models = {"n1": "x", "n2": "y"}
    slices = [
        published(
            f"of-{name}",
            driver=DRIVER,
            pool=place,
            nodeName=name,
            devices=[{"name": "d0", "attributes": {"model": {"string": model}}}],
        )
        for name, model in models.items()
    ]
    wants_y = claim(ask(1, f'device.attributes["{DRIVER}"].model == "y"'))
    nodes = [node("n1"), node("n2")]
    assert broken(slices, [held(wants_y, "d0", selector=on("n2"))], nodes=nodes) == []
    assert broken(slices, [held(wants_y, "d0", selector=on("n1"))], nodes=nodes) == [BreachKind.SELECTOR]


def test_devices_that_choose_their_nodes_are_not_there_without_partitionable_devices():
    slices = [pool({"name": "d0", "nodeName": "n1"}, perDeviceNodeSelection=True)]
    assert broken(slices, [held(ONE, "d0")]) == []
    found = broken(slices, [held(ONE, "d0")], features=without("partitionable_devices"))
    assert found == [BreachKind.DEVICE_NOT_ON_NODE]


def test_a_slice_that_says_in_no_known_way_where_it_belongs_is_for_no_node():
    place = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    slices = [published("a", driver=DRIVER, pool=place, devices=[{"name": "d0", "nodeName": "n1"}])]
    assert BreachKind.DEVICE_NOT_ON_NODE in broken(slices, [held(ONE, "d0")])
