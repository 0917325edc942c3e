r"""Regular expressions are Go's RE2; where google-re2 reads a pattern differently, Go counts.

The values are those of Go 1.26, `regexp`.
"""

import pytest

from reparto.cel.functions.regex import PatternError, compile_pattern, find_all


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\p{L_}", "a1", ("a",)),
        (r"\p{greek}", "aβ", ("β",)),
        (r"\P{LATIN}", "aβ", ("β",)),
        (r"\Pp", "a.", ("a",)),
        (r"\p{^Lu}", "aB", ("a",)),
        (r"\p{Uppercase_Letter}", "aB", ("B",)),
        (r"\p{digit}+", "a٣4", ("٣4",)),
        (r"\p{LC}+", "aBǅª", ("aBǅ",)),
        (r"[\P{LC}-]+", "aB1-ª", ("1-ª",)),
        (r"\p{ascii}+", "aé~", ("a", "~")),
        (r"[^\p{ASCII}]", "aé~", ("é",)),
        (r"\p{C}", "a\x01\u0378", ("\x01", "\u0378")),  # U+0378 is not assigned; RE2 itself leaves it out of C
        (r"\p{Cn}", "a\x01\u0378", ("\u0378",)),
        (r"\p{Assigned}+", "a\x01\u0378", ("a\x01",)),
        (r"[^\p{Assigned}a]", "a\x01\u0378", ("\u0378",)),
    ],
)
def test_the_names_of_unicode_classes_are_loose(pattern: str, text: str, found: tuple[str, ...]) -> None:
    assert find_all(text, pattern) == found


@pytest.mark.parametrize("name", ["Old_Italic", "SignWriting", "Klingon", "^^L", ""])
def test_a_class_that_go_does_not_find_is_refused(name: str) -> None:
    # Go drops the underscore of a name before it looks for a script, and so finds none that has one.
    with pytest.raises(PatternError, match="invalid character class range"):
        compile_pattern(f"\\p{{{name}}}")


@pytest.mark.parametrize("pattern", ["(?P<größe>a)", "(?<größe>a)", "(?P<a-b>a)", "(?P<>a)"])
def test_the_name_of_a_group_is_made_of_ascii_letters_digits_and_underscores(pattern: str) -> None:
    with pytest.raises(PatternError, match="invalid named capture"):
        compile_pattern(pattern)


def test_a_group_may_have_a_name() -> None:
    assert find_all("ab", "(?P<first_1>a)(?<second>b)") == ("ab",)


def test_groups_nest_less_than_a_thousand_deep() -> None:
    assert find_all("a", "(" * 999 + "a" + ")" * 999) == ("a",)
    with pytest.raises(PatternError, match="nests too deeply"):
        compile_pattern("(" * 1000 + "a" + ")" * 1000)
    assert find_all("a", "(?:" * 1000 + "a" + ")" * 1000) == ("a",)  # these leave no trace in Go's syntax tree
    assert find_all("aa", "(a)" * 1500 + "|a") == ("a", "a")


@pytest.mark.parametrize("pattern", [r"\C", r"a\\\C", r"[\C]"])
def test_a_single_byte_cannot_be_matched(pattern: str) -> None:
    with pytest.raises(PatternError, match="invalid"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\Q\C\E", r"\C"),
        (r"\Q\p{L_}", r"\p{L_}"),
        (r"\Q(?P<größe>\E", "(?P<größe>"),
        (r"\\p{L_}", r"\p{L_}"),
        (r"[(?P<ß>]+", "(?P<ß>"),
        (r"[]\p{L_}]+", "]a"),
        (r"[[:alpha:]\]]+", "a]"),
    ],
)
def test_what_is_quoted_or_in_brackets_is_text(pattern: str, text: str) -> None:
    assert find_all(text, pattern) == (text,)
