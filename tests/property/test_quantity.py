"""What holds for every quantity: writing keeps the value, arithmetic is that of the rationals, order is that of the numbers."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from reparto.model.quantity import Quantity, QuantityError

SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
CAP = Fraction(2**63 - 1)

numbers = st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{0,11})?", fullmatch=True)
texts = st.tuples(numbers, st.sampled_from(sorted(SUFFIXES))).map("".join)


def rational(text: str) -> Fraction:
    """The value of a quantity's text by the rules alone: multiply, round away from zero to nano, cap binary ones."""
    suffix = text.lstrip("+-0123456789.")
    exact = Fraction(text.removesuffix(suffix).rstrip(".") or 0) * SUFFIXES[suffix]
    nano = -(-abs(exact) * 10**9 // 1)
    magnitude = Fraction(int(nano), 10**9)
    if suffix.endswith("i"):
        magnitude = min(magnitude, CAP)
    return magnitude if exact >= 0 else -magnitude


@given(texts)
def test_the_value_is_the_number_times_its_suffix(text: str) -> None:
    assert Fraction(Quantity.parse(text).nano, 10**9) == rational(text)


@given(texts)
def test_writing_and_reading_again_keeps_value_and_text(text: str) -> None:
    quantity = Quantity.parse(text)
    if abs(quantity.nano) >= 10**21 * 10**9:
        return  # upstream loses the exponent there; test_quantity.py in tests/unit says so
    again = Quantity.parse(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)


@given(texts, texts)
def test_sums_and_differences_are_exact(left: str, right: str) -> None:
    a, b = Quantity.parse(left), Quantity.parse(right)
    assert a.add(b).nano == a.nano + b.nano
    assert a.sub(b).nano == a.nano - b.nano
    assert a.add(b) == b.add(a)
    assert a.add(b).sub(b) == a


@given(texts, texts)
def test_order_is_the_order_of_the_rationals(left: str, right: str) -> None:
    a, b = Quantity.parse(left), Quantity.parse(right)
    assert (a < b, a == b, a > b) == (
        rational(left) < rational(right),
        rational(left) == rational(right),
        rational(left) > rational(right),
    )
    assert (hash(a) == hash(b)) or a != b


@given(texts)
def test_an_integer_is_the_value(text: str) -> None:
    quantity = Quantity.parse(text)
    if quantity.is_integer():
        assert quantity.as_integer() == rational(text)


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP x", max_size=40))
def test_any_text_is_read_or_refused_and_never_anything_else(text: str) -> None:
    try:
        quantity = Quantity.parse(text)
    except QuantityError:
        return
    assert str(quantity)
    assert quantity.sub(quantity).sign() == 0
