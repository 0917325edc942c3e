"""Updates: what may not change, and what an update need not repair (ratcheting; validation-1.37.md sections 1, 4, 6 and 7)."""

import pytest

from unit.api_objects import Json, claim, device, device_class, exact, found, only, slice_of, taint_rule, template, updated


def test_a_claim_spec_never_changes() -> None:
    error = only(updated(claim(exact(count=2))), claim(exact(count=1)))
    assert (error.type, error.path, error.value, error.message) == ("FieldValueInvalid", "spec", None, "field is immutable")


def test_a_template_spec_never_changes_and_the_new_one_is_judged_as_well() -> None:
    assert found(updated(template(exact("A"))), template()) == {
        ("Invalid", "spec"),
        ("Invalid", "spec.spec.devices.requests[0].name"),
    }


def test_equal_quantities_are_no_change() -> None:
    old = claim(exact(capacity={"requests": {"memory": "1073741824"}}))
    new = claim(exact(capacity={"requests": {"memory": "1Gi"}}))
    assert found(updated(new), old) == set()


def test_the_order_of_an_opaque_object_is_a_change() -> None:
    old, new = (claim(config=[{"opaque": {"driver": "d", "parameters": each}}]) for each in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert found(updated(new), old) == {("Invalid", "spec")}
    # True is not 1, whatever Python thinks.
    old, new = (claim(config=[{"opaque": {"driver": "d", "parameters": {"a": each}}}]) for each in (1, True))
    assert found(updated(new), old) == {("Invalid", "spec")}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"driver": "other"}, {("Invalid", "spec.driver")}),
        ({"pool": {"name": "other", "resourceSliceCount": 1}}, {("Invalid", "spec.pool.name")}),
        ({"nodeName": "other"}, {("Invalid", "spec.nodeName")}),
        ({"pool": {"name": "node-1", "resourceSliceCount": 2, "generation": 5}}, set()),
    ],
)
def test_a_slice_stays_with_its_driver_pool_and_node(spec: Json, errors: set[tuple[str, str]]) -> None:
    assert found(updated(slice_of(**spec)), slice_of()) == errors


def test_unchanged_capacity_of_a_device_is_not_judged_again() -> None:
    broken = {"capacity": {"m": {"value": "1", "requestPolicy": {"default": "1"}}}}
    assert found(slice_of(device(**broken))) == {("Forbidden", "spec.devices[0].capacity[m].requestPolicy")}
    changed_elsewhere = slice_of(device(**broken, attributes={"a": {"int": 1}}))
    assert found(updated(changed_elsewhere), slice_of(device(**broken))) == set()


def test_unchanged_taints_of_a_device_are_not_judged_again() -> None:
    taint = {"key": "a", "effect": "New", "timeAdded": "2024-01-01T00:00:00Z"}
    old = slice_of(device(taints=[taint]))
    assert found(updated(slice_of(device(taints=[taint]))), old) == set()
    assert found(updated(slice_of(device(taints=[{**taint, "value": "x"}]))), old) == {
        ("NotSupported", "spec.devices[0].taints[0].effect")
    }


def test_an_unchanged_attribute_without_value_is_still_found_but_in_other_words() -> None:
    broken = slice_of(device(attributes={"a": {}}))
    error = only(updated(broken), broken)
    assert error.message == "exactly one value must be specified"  # the handwritten text: the declarative rule is silent


def test_a_new_name_of_a_device_is_a_new_device() -> None:
    broken = {"capacity": {"m": {"value": "1", "requestPolicy": {"default": "1"}}}}
    errors = found(updated(slice_of(device("b", **broken))), slice_of(device("a", **broken)))
    assert errors == {("Forbidden", "spec.devices[0].capacity[m].requestPolicy")}


def test_unchanged_configuration_of_a_class_may_be_too_long_but_not_malformed() -> None:
    long = {"opaque": {"driver": "d", "parameters": {"a": "x" * 10240}}}
    assert found(updated(device_class(config=[long])), device_class(config=[long])) == set()
    assert found(updated(device_class(config=[long])), device_class()) == {("TooLong", "spec.config[0].opaque.parameters")}
    text = {"opaque": {"driver": "d", "parameters": "x"}}
    assert found(updated(device_class(config=[text])), device_class(config=[text])) == {
        ("Invalid", "spec.config[0].opaque.parameters")
    }


def test_an_unchanged_effect_of_a_rule_may_be_unknown() -> None:
    old = taint_rule(taint={"key": "a", "effect": "New", "timeAdded": "2024-01-01T00:00:00Z"})
    new = taint_rule(taint={"key": "b", "effect": "New", "timeAdded": "2024-01-01T00:00:00Z"})
    assert found(updated(new), old) == set()
    assert found(new) == {("NotSupported", "spec.taint.effect")}


@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        ("name", "s", "t"),
        ("uid", "u", "v"),
        ("creationTimestamp", "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"),
        ("deletionGracePeriodSeconds", 1, 2),
    ],
)
def test_metadata_that_the_server_sets_does_not_change(field: str, before: Json, after: Json) -> None:
    old, new = slice_of(), slice_of()
    old["metadata"] |= {field: before}
    new["metadata"] |= {field: after}
    assert found(updated(new), old) == {("Invalid", f"metadata.{field}")}


def test_a_generation_only_grows() -> None:
    old, new = slice_of(), slice_of()
    old["metadata"] |= {"generation": 2}
    new["metadata"] |= {"generation": 1}
    assert found(updated(new), old) == {("Invalid", "metadata.generation")}


def test_an_update_replaces_an_object_by_one_of_its_kind() -> None:
    with pytest.raises(TypeError, match="ResourceSlice"):
        found(updated(slice_of()), claim())


def test_an_invalid_template_is_found_even_where_an_update_leaves_it_as_it_is() -> None:
    broken = template(exact("A"))
    assert found(updated(broken), broken) == {("Invalid", "spec.spec.devices.requests[0].name")}
