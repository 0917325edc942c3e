"""The one list of reason codes and its page in the documentation say the same."""

import re
from pathlib import Path

from reparto.model import codes

PAGE = Path(__file__).parents[2] / "docs" / "codes.md"


def test_every_code_has_its_section_and_every_section_its_code():
    sections = re.findall(r"^### (RPT\d{3}) (\S+)$", PAGE.read_text(), re.MULTILINE)
    assert sections == [(entry.code, entry.slug) for entry in codes.CODES.values()]


def test_each_section_says_what_the_list_says():
    text = PAGE.read_text()
    for entry in codes.CODES.values():
        section = text.split(f"### {entry.code} ", 1)[1].split("\n#", 1)[0]
        assert f"**{entry.title}.** {entry.what}" in section
        assert f"*What to do:* {entry.fix}" in section


def test_codes_and_slugs_are_unique():
    assert len({entry.slug for entry in codes.CODES.values()}) == len(codes.CODES)
    assert all(re.fullmatch(r"RPT[1-5]\d\d", code) for code in codes.CODES)


def test_every_code_is_used_or_it_is_no_code_of_this_version():
    source = "\n".join(path.read_text() for path in (Path(codes.__file__).parents[1]).rglob("*.py") if path.name != "codes.py")
    names = {name for name, value in vars(codes).items() if isinstance(value, str) and value in codes.CODES}
    assert {name for name in names if f"codes.{name}" not in source} == set()
