"""Quantities, semantic versions and names mean what they mean to Kubernetes 1.37.2: random texts, no difference.

Every text is judged through CEL (`quantity()`, `semver()`, `format`), and quantities once more through the API server's decoding,
where the canonical form comes back. `REPARTO_SEED` and `REPARTO_PROBLEMS` choose other texts and more of them.
"""

import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.oracle import Oracle, allocation, validation
from conformance.scale import amount
from reparto.model import names
from reparto.model.quantity import Quantity, QuantityError
from reparto.model.semver import Semver, SemverError

pytestmark = pytest.mark.reference

CASES = amount(1_500)

SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
EXPONENTS = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 17, 18, 20, 21, 24, 30, 60]


@pytest.fixture(scope="module")
def cel() -> Iterator[Oracle]:
    with allocation() as oracle:
        yield oracle


@pytest.fixture(scope="module")
def server() -> Iterator[Oracle]:
    with validation() as oracle:
        yield oracle


@pytest.fixture
def rng(seed: str) -> random.Random:
    return random.Random(f"values {seed}")


def quantity_text(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return "".join(rng.choices("0123456789.+-eEinumkKMGTP x_", k=rng.randint(0, 6)))
    text = rng.choice(["", "", "", "-", "+"]) + rng.choice(["", "", "0", "00"])
    whole = "".join(rng.choices("0123456789", k=rng.choice([0, 1, 1, 1, 2, 3, 4, 6, 9, 14, 15, 16, 17, 18, 19, 20, 25])))
    text += whole[:1] + "0" * max(0, len(whole) - 1) if rng.random() < 0.3 else whole
    if rng.random() < 0.4:
        text += "." + "".join(rng.choices("0123456789", k=rng.choice([0, 1, 1, 2, 3, 3, 6, 8, 9, 10, 12])))
    if rng.random() < 0.25:
        return text + rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.choice(EXPONENTS))
    return text + rng.choice(SUFFIXES)


def version_text(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return "".join(rng.choices('0123456789.+-v ab"\\é\n\x01\u200b\x7f😀', k=rng.randint(0, 9)))

    def number() -> str:
        if rng.random() < 0.65:
            return rng.choice("0123")
        return rng.choice(["10", "01", "00", "000", "580", "06", str(2**64 - 1), str(2**64), "", "x", "9" * 23])

    def identifiers() -> str:
        kinds = ["0", "1", "10", "11", "010", str(2**64), "".join(rng.choices("01abzAZ-", k=rng.randint(0, 3)))]
        return ".".join(rng.choices(kinds, k=rng.randint(1, 3)))

    text = rng.choice(["", "", "", "v", "V", "vv"]) + ".".join(number() for _ in range(rng.choice([1, 2, 3, 3, 3, 3, 3, 4])))
    if rng.random() < 0.45:
        text += "-" + identifiers()
    if rng.random() < 0.25:
        text += "+" + identifiers()
    return text


def name_text(rng: random.Random) -> str:
    length = rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 62, 63, 64, 70, 252, 253, 254])
    if length > 60 and rng.random() < 0.8:
        return rng.choice(["a", "a.", "-a", "a/"]) * (length // 2) + rng.choice(["a", "b", "", ".a", "-"]) * (length % 2)
    return "".join(rng.choice("ab19AZ-._/" if rng.random() < 0.97 else "é \n") for _ in range(length))


def literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def attempt(parse: Callable[..., Any], *arguments: Any) -> Any:
    """The parsed value, or the error's text."""
    try:
        return parse(*arguments)
    except (QuantityError, SemverError) as error:
        return str(error)


def differences(oracle: Oracle, expected: list[tuple[str, Any]]) -> list[tuple[str, Any, Any]]:
    """Expressions that Kubernetes evaluates to something else.

    Expected: an int, a float (asked for as text), a text in a list of one, a version in a tuple of one, or the text of the error.
    """
    questions = [{"selector": {"expression": expression, "derived": True, "device": {"driver": "d"}}} for expression, _ in expected]
    wrong: list[tuple[str, Any, Any]] = []
    for (expression, want), answer in zip(expected, oracle.ask_many(questions), strict=True):
        got = answer.get("selector", {})
        attribute = got.get("attribute") or {}
        match want:
            case str():
                same = want in got.get("matchError", "")
            case float():
                text = attribute.get("string", "none").replace("+Inf", "inf")
                same = text != "none" and (float(text) == want or (math.isnan(float(text)) and math.isnan(want)))
            case [text]:
                same = attribute.get("version" if isinstance(want, tuple) else "string") == text
            case _:
                same = attribute.get("int") == want
        if not same:
            wrong.append((expression, want, got))
    return wrong


def integer_or(quantity: Quantity) -> int:
    return quantity.as_integer() if quantity.is_integer() else -77


def test_quantities_are_read_compared_added_and_converted_as_cel_does(cel: Oracle, rng: random.Random) -> None:
    expected: list[tuple[str, Any]] = []
    for _ in range(CASES):
        left_text, right_text = quantity_text(rng), quantity_text(rng)
        left, right = attempt(Quantity.parse, left_text), attempt(Quantity.parse, right_text)
        a, b = f"quantity({literal(left_text)})", f"quantity({literal(right_text)})"
        expected.append((f"isQuantity({literal(left_text)}) ? 1 : 0", int(isinstance(left, Quantity))))
        if not isinstance(left, Quantity):
            expected.append((f"sign({a})", left))
            continue
        expected.append((f"sign({a})", left.sign()))
        expected.append((f"{a}.isInteger() ? {a}.asInteger() : -77", integer_or(left)))
        expected.append((f"string({a}.asApproximateFloat())", left.as_approximate_float()))
        far = left.add(1234567890123).sub(-(2**63))
        expected.append(
            (f"string({a}.add(1234567890123).sub(-9223372036854775808).asApproximateFloat())", far.as_approximate_float())
        )
        if isinstance(right, Quantity):
            total, rest = left.add(right), left.sub(right)
            expected.append((f"{a}.compareTo({b})", (left > right) - (left < right)))
            expected.append((f"{a}.add({b}).isInteger() ? {a}.add({b}).asInteger() : -77", integer_or(total)))
            expected.append((f"{a}.sub({b}).isInteger() ? {a}.sub({b}).asInteger() : -77", integer_or(rest)))
            expected.append((f"string({a}.sub({b}).asApproximateFloat())", rest.as_approximate_float()))
    assert differences(cel, expected) == []


def test_quantities_are_written_as_the_api_server_writes_them(server: Oracle, rng: random.Random) -> None:
    texts = [text for text in (quantity_text(rng) for _ in range(2 * CASES)) if text]
    texts += [
        "1000E",
        "1e21",
        "1" + "0" * 30 + "Ki",
        "1e400",
        "1e-30",
        "1e4294967296",
        "1e4294967299",
        "0e400",
        "7" * 5000,
        "7" * 5000 + "Ki",
    ]

    def slice_with(text: str) -> dict[str, Any]:
        pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
        devices = [{"name": "d", "capacity": {"c": {"value": text}}}]
        spec = {"driver": "d.example.com", "nodeName": "n", "pool": pool, "devices": devices}
        return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}

    wrong: list[tuple[str, str, Any]] = []
    for text, answer in zip(texts, server.ask_many({"object": slice_with(text)} for text in texts), strict=True):
        ours = str(attempt(Quantity.parse, text.strip()))
        if "decode" in answer:
            same = ours in answer["decode"]
        else:
            same = answer["defaulted"]["spec"]["devices"][0]["capacity"]["c"]["value"] == ours
        if not same:
            wrong.append((text, ours, answer))
    assert wrong == []


def test_versions_are_read_and_compared_as_cel_does(cel: Oracle, rng: random.Random) -> None:
    expected: list[tuple[str, Any]] = []
    for _ in range(CASES):
        text, other_text, normalize = version_text(rng), version_text(rng), rng.random() < 0.4
        version, other = attempt(Semver.parse, text, normalize), attempt(Semver.parse, other_text)
        a = f"semver({literal(text)}, true)" if normalize else f"semver({literal(text)})"
        b = f"semver({literal(other_text)})"
        expected.append((f"isS{a[1:]} ? 1 : 0", int(isinstance(version, Semver))))
        if not isinstance(version, Semver):
            expected.append((a, version))
            continue
        expected.append((a, (version.text,)))
        # CEL has signed integers only: beyond int64 its accessors wrap.
        expected += [(f"{a}.{part}()", (getattr(version, part) + 2**63) % 2**64 - 2**63) for part in ("major", "minor", "patch")]
        if isinstance(other, Semver):
            expected.append((f"{a}.compareTo({b})", (version > other) - (version < other)))
            expected.append((f"{a} == {b} ? 1 : 0", int(version == other)))
    assert differences(cel, expected) == []


FORMATS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": names.dns1123_label,
    "dns1123Subdomain": names.dns1123_subdomain,
    "dns1035Label": names.dns1035_label,
    "qualifiedName": names.qualified_name,
    "labelValue": names.label_value,
}


@pytest.mark.parametrize("format", FORMATS)
def test_names_are_judged_as_cel_does(cel: Oracle, rng: random.Random, format: str) -> None:
    expected: list[tuple[str, Any]] = []
    for _ in range(CASES):
        text = name_text(rng)
        expected.append((f"format.{format}().validate({literal(text)}).orValue([]).join('|')", ["|".join(FORMATS[format](text))]))
    assert differences(cel, expected) == []


def test_extended_resource_names_are_judged_as_the_api_server_does(server: Oracle, rng: random.Random) -> None:
    texts = [name_text(rng) for _ in range(CASES)] + [
        "kubernetes.io/x",
        "a.kubernetes.io/x",
        "requests.a/b",
        "example.com/gpu",
        "cpu",
    ]

    def class_with(text: str) -> dict[str, Any]:
        spec = {"extendedResourceName": text}
        return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": spec}

    answers = server.ask_many({"object": class_with(text)} for text in texts)
    judged = [[error["detail"] for error in answer["errors"]] for answer in answers]
    assert judged == [names.is_extended_resource_name(text) for text in texts]
