"""Named formats: which texts they accept. What a name's rules say is `reparto.model.names`' affair."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import holds, value

NAMES = (
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("dns1123Label", "gpu-node-17"),
        ("dns1123Subdomain", "gpu.vendor.example"),
        ("dns1123Subdomain", "localhost"),
        ("dns1035Label", "gpu-node-17"),
        ("qualifiedName", "gpu.vendor.example/Model_80"),
        ("qualifiedName", "Model_80"),
        ("dns1123LabelPrefix", "17-gpu-"),
        ("dns1123SubdomainPrefix", "node.17-"),
        ("dns1035LabelPrefix", "gpu-17-"),
        ("labelValue", "Orca_80.SXM-5"),
        ("uri", "https://docs.vendor.example/gpu?model=80"),
        ("uri", "/dev/gpu0"),
        ("uuid", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"),
        ("uuid", "0A1B2C3D4E5F60718293A4B5C6D7E8F9"),
        ("byte", "T3JjYQ=="),
        ("date", "2026-11-30"),
        ("date", "2024-02-29"),
        ("datetime", "2026-11-30T20:50:00Z"),
        ("datetime", "2026-11-30t20:50:59.125-08:00"),
    ],
)
def test_a_valid_text_has_no_messages(format: str, text: str) -> None:
    assert not holds(f'format.{format}().validate("{text}").hasValue()')


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("dns1123Label", "GPU-17", "a lowercase RFC 1123 label must consist of"),
        ("dns1123Subdomain", "gpu..example", "a lowercase RFC 1123 subdomain must consist of"),
        ("dns1035Label", "17-gpu", "a DNS-1035 label must consist of"),
        ("qualifiedName", "model 80", "name part must consist of"),
        ("dns1123LabelPrefix", "gpu_17-", "a lowercase RFC 1123 label must consist of"),
        ("dns1123SubdomainPrefix", "gpu..17-", "a lowercase RFC 1123 subdomain must consist of"),
        ("dns1035LabelPrefix", "17-", "a DNS-1035 label must consist of"),
        ("labelValue", "Orca 80", "a valid label must be an empty string or consist of"),
        ("byte", "T3JjYQ", "invalid base64"),
        ("date", "2026-11-31", "invalid date"),
        ("date", "2026-02-29", "invalid date"),
        ("datetime", "2026-11-31T20:50:00Z", "invalid datetime"),
        ("datetime", "2026-11-30T24:00:00Z", "invalid datetime"),
        ("uuid", "GPU-0a1b2c3d", "does not match the UUID format"),
        ("uri", "vendor.example", 'parse "vendor.example": invalid URI for request'),
    ],
)
def test_an_invalid_text_has_a_message(format: str, text: str, message: str) -> None:
    messages = value(f'format.{format}().validate("{text}").value()')
    assert len(messages) == 1
    assert message in messages[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_format_can_be_looked_up_by_name(name: str) -> None:
    assert holds(f'format.named("{name}").hasValue() && format.named("{name}").value() == format.{name}()')


def test_formats_differ_from_each_other() -> None:
    for name in NAMES:
        assert [other for other in NAMES if holds(f"format.{name}() == format.{other}()")] == [name]


def test_an_unknown_name_is_absent() -> None:
    assert not holds('format.named("unknown").hasValue()')
