"""Names are accepted and refused as the API server does it, in its words (validation-1.37.md, "Formats")."""

import pytest

from reparto.model import names


@pytest.mark.parametrize("text", ["a", "gpu-0", "0", "a" * 63, "a--b"])
def test_a_label_is_lower_case_letters_digits_and_inner_hyphens(text: str) -> None:
    assert names.dns1123_label(text) == []


@pytest.mark.parametrize("text", ["", "-a", "a-", "A", "a_b", "é", "a\n"])
def test_any_other_label_is_refused_with_the_rule(text: str) -> None:
    (message,) = names.dns1123_label(text)
    assert message.startswith("a lowercase RFC 1123 label must consist of")
    assert message.endswith("(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')")


def test_a_label_with_dots_is_told_so() -> None:
    assert names.dns1123_label("a.b") == ["must not contain dots"]


def test_a_label_has_at_most_63_bytes() -> None:
    assert names.dns1123_label("a" * 64) == ["must be no more than 63 characters"]
    assert names.dns1123_label("a" * 64, "bytes") == ["must be no more than 63 bytes"]


@pytest.mark.parametrize(
    ("text", "valid"),
    [("gpu.example.com", True), ("a" * 253, True), ("a.-b", False), ("a..b", False), (".a", False), ("a.", False)],
)
def test_a_subdomain_is_labels_joined_by_dots(text: str, valid: bool) -> None:
    assert (names.dns1123_subdomain(text) == []) is valid


def test_every_broken_rule_is_reported() -> None:
    assert [message.split()[0] for message in names.dns1123_subdomain("A" * 254)] == ["must", "a"]


def test_a_dns_1035_label_starts_with_a_letter() -> None:
    assert names.dns1035_label("a1") == []
    assert names.dns1035_label("1a")[0].startswith("a DNS-1035 label must consist of")


@pytest.mark.parametrize("text", ["app", "example.com/App_1.x", "a" * 63, "a" * 253 + "/b"])
def test_a_label_key_is_a_name_with_or_without_a_domain(text: str) -> None:
    assert names.qualified_name(text) == []


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("/a", ["prefix part must be non-empty"]),
        ("A.com/a", ["prefix part a lowercase RFC 1123 subdomain"]),
        ("a/", ["name part must be non-empty", "name part must consist of"]),
        ("a/b/c", ["a valid label key must consist of"]),
        ("a" * 64, ["name part must be no more than 63 bytes"]),
        ("_a", ["name part must consist of"]),
        ("a" * 254 + "/b", ["prefix part must be no more than 253 bytes"]),
    ],
)
def test_a_broken_label_key_names_the_part_that_is_wrong(text: str, starts: list[str]) -> None:
    messages = names.qualified_name(text)
    assert len(messages) == len(starts)
    assert all(message.startswith(start) for message, start in zip(messages, starts, strict=True))


@pytest.mark.parametrize(
    ("text", "valid"), [("", True), ("a_B.c", True), ("a" * 63, True), ("a" * 64, False), ("-a", False), ("a b", False)]
)
def test_a_label_value_may_be_empty(text: str, valid: bool) -> None:
    assert (names.label_value(text) == []) is valid


@pytest.mark.parametrize(("text", "valid"), [("driverVersion", True), ("_a1", True), ("1a", False), ("a-b", False), ("", False)])
def test_an_attribute_identifier_is_a_c_identifier(text: str, valid: bool) -> None:
    assert (names.c_identifier(text) == []) is valid


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("example.com/gpu", []),
        ("cpu", ["a name must be a domain-prefixed path"]),
        ("kubernetes.io/gpu", ['must not have "kubernetes.io/" domain']),
        ("my.kubernetes.io/gpu", ['must not have "kubernetes.io/" domain']),
        ("requests.example.com/gpu", ['must not have "requests." prefix']),
        ("example.com/" + "a" * 64, ["name part must be no more than 63 bytes"]),
        # 245 + len("requests.") = 254 bytes: too long only as a quota name.
        ("a" * 245 + "/gpu", ["prefix part must be no more than 253 bytes"]),
    ],
)
def test_an_extended_resource_has_a_foreign_domain_and_room_for_the_quota_prefix(text: str, starts: list[str]) -> None:
    messages = names.is_extended_resource_name(text)
    assert len(messages) == len(starts)
    assert all(message.startswith(start) for message, start in zip(messages, starts, strict=True))


@pytest.mark.parametrize("text", ["a" + "-" * 50_000, "a." * 50_000, "-" * 50_000])
def test_a_long_name_that_does_not_match_is_refused_at_once(text: str) -> None:
    assert names.dns1123_label(text)
    assert names.dns1123_subdomain(text)
    assert names.qualified_name(text)
