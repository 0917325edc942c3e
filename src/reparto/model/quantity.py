"""Quantities: "80Gi", "500m", "1e3" as Kubernetes reads, compares, adds and writes them.

A quantity is a number with a memory. It remembers the family of its suffix, because that decides how it is written back, and
whether it came in through the plain integer route or through arbitrary precision, because CEL's `isInteger()` and the rounding of
floats depend on that and on nothing a user can see (`1.5k` is an integer, `1000m` is not). Both are kept here so that no caller has
to know.

The value itself is exact: an integer count of 1e-9 units (`nano`). Source: apimachinery `pkg/api/resource` 0.37.2; cel.md section
4.

Two deliberate limits. Powers of ten above 1e10000 count as 1e10000 in `nano`, comparison and arithmetic, where upstream would
compute for minutes or run out of memory. And upstream loses the exponent of a decimal of 1e21 or more that ends in zeros when it
writes it without an exponent suffix (`1000E` is written `1`): that is what the API shows and stores, so it is what `str` returns
here.
"""

import re
from functools import lru_cache
from typing import Literal

import msgspec

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

FORMAT_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMBER_TEXT = "unable to parse numeric part of quantity"
SUFFIX_TEXT = "unable to parse quantity's suffix"
INTEGER_TEXT = "cannot convert value to integer"

_INT64_MAX = 2**63 - 1
_INT64_MIN = -(2**63)
_NANO = -9
_PLAIN_DIGITS = 18  # decimal digits that always fit int64
_EXPANDED_EXPONENT = 1_000  # up to here an arbitrary-precision value is held in nano units, as upstream holds it
_LARGEST_EXPONENT = 10_000
_STR_CHUNK = 4_000  # CPython refuses to convert more than 4,300 digits at once

# Possessive throughout: the scanner upstream never goes back either, and a hostile text costs linear time.
_SHAPE = re.compile(r"([+-]?+)(0*+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)").fullmatch
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)").fullmatch

_DECIMAL_UNITS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_UNITS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES = {power: suffix for suffix, power in _DECIMAL_UNITS.items()}
_BINARY_SUFFIXES = {power: suffix for suffix, power in _BINARY_UNITS.items()}
_POWERS = tuple(10**power for power in range(64))


class QuantityError(ValueError):
    """A text that is no quantity, or a quantity asked for an integer it cannot give. The message is upstream's."""


class Quantity(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An immutable quantity. Order, `==` and `hash` go by value alone: `1`, `1000m` and `1.0` are equal.

    Make one with `parse`, `from_int` or `from_milli`. `mantissa * 10**exponent` is the value as upstream holds it and `big` says
    that upstream holds it in arbitrary precision; callers want `nano` (the exact value in 1e-9 units) and `format`.
    """

    nano: int
    format: Format
    mantissa: int
    exponent: int
    big: bool = False
    text: str = ""

    @staticmethod
    @lru_cache(maxsize=65_536)
    def parse(text: str) -> "Quantity":
        """The quantity that `text` denotes, as the API server and CEL's `quantity()` read it; blanks are not trimmed.

        Magnitudes below 1e-9 are rounded away from zero; values with a binary suffix are capped at 2^63-1, decimal ones are not.
        Raises `QuantityError` with one of upstream's three texts.
        """
        return _parse(text)

    @staticmethod
    def from_int(number: int, format: Format = "DecimalSI") -> "Quantity":
        """The quantity of an int64 `number`, written in `format`."""
        return Quantity(number * 1_000_000_000, format, number, 0)

    @staticmethod
    def from_milli(number: int, format: Format = "DecimalSI") -> "Quantity":
        """The quantity of `number` thousandths, written in `format`."""
        return Quantity(number * 1_000_000, format, number, -3)

    def __str__(self) -> str:
        """The canonical text the API server writes. A text that upstream takes to be canonical already is kept as it was given."""
        return self.text or _canonical(self)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Quantity) else NotImplemented

    def __ne__(self, other: object) -> bool:
        # msgspec's base brings a `!=` of its own, which would compare field by field.
        return not self == other

    def __hash__(self) -> int:
        return hash(self.nano)

    def __lt__(self, other: "Quantity") -> bool:
        return self.nano < other.nano

    def __le__(self, other: "Quantity") -> bool:
        return self.nano <= other.nano

    def __gt__(self, other: "Quantity") -> bool:
        return self.nano > other.nano

    def __ge__(self, other: "Quantity") -> bool:
        return self.nano >= other.nano

    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.nano > 0) - (self.nano < 0)

    def is_integer(self) -> bool:
        """Whether `as_integer` answers: upstream's rule, which looks at the representation and refuses some whole numbers."""
        return _int64(self) is not None

    def as_integer(self) -> int:
        """The value as an int64. Raises `QuantityError` where `is_integer` is false."""
        number = _int64(self)
        if number is None:
            raise QuantityError(INTEGER_TEXT)
        return number

    def as_approximate_float(self) -> float:
        """The nearest double upstream computes: mantissa times a power of ten, each rounded; infinite or NaN out of range."""
        if self.big and self.mantissa and self.exponent > _EXPANDED_EXPONENT:
            return float("inf") if self.mantissa > 0 else float("-inf")
        try:
            base = float(self.mantissa)
        except OverflowError:
            base = float("inf") if self.mantissa > 0 else float("-inf")
        return base if self.exponent == 0 else base * _power_of_ten(self.exponent)

    def add(self, other: "Quantity | int") -> "Quantity":
        """The exact sum. It is written as the receiver is, or as `other` where the receiver is zero."""
        return _add(self, _operand(other), 1)

    def sub(self, other: "Quantity | int") -> "Quantity":
        """The exact difference. It is written as the receiver is, or as `other` where the receiver is zero."""
        return _add(self, _operand(other), -1)

    def value(self) -> int:
        """The int64 of upstream's `Value()`: rounded away from zero; beyond int64 it wraps or is 0, as upstream's does."""
        return _scaled(self, 0)

    def milli_value(self) -> int:
        """The int64 that upstream's `MilliValue()` returns, in thousandths; rounding and overflow as for `value`."""
        return _scaled(self, -3)


def _parse(text: str) -> Quantity:
    if text == "0":
        return Quantity(0, "DecimalSI", 0, 0, False, text)
    shape = _SHAPE(text)
    if shape is None or not text:
        raise QuantityError(FORMAT_TEXT)
    sign, zeros, whole, fraction, suffix = shape.groups("")
    power = _BINARY_UNITS.get(suffix)
    if power is not None:
        return _parse_binary(text, sign, zeros, whole, fraction, power)
    exponent = _DECIMAL_UNITS.get(suffix)
    format: Format = "DecimalSI"
    if exponent is None:
        exponent, format = _exponent(suffix), "DecimalExponent"
    exponent -= len(fraction)
    digits = (whole or "0") + fraction
    if len(digits) <= _PLAIN_DIGITS and exponent >= _NANO:
        mantissa = int(digits)
        if sign == "-":
            mantissa = -mantissa
        # What upstream takes for canonical, hence echoes: also "+5", "005", "5." and "1.500".
        echo = text if exponent % 3 == 0 and digits[0] != "0" and not digits.endswith("000") else ""
        return Quantity(_nano(mantissa, exponent), format, mantissa, exponent, False, echo)
    if not (zeros or whole or fraction):
        raise QuantityError(NUMBER_TEXT)
    return _big(_integer(digits), exponent, format, sign == "-")


def _parse_binary(text: str, sign: str, zeros: str, whole: str, fraction: str, power: int) -> Quantity:
    digits = whole or "0"
    if not fraction and 15 - len(digits) - power * 3 // 10 - 1 >= 0:
        number = int(digits)
        mantissa = number << power
        if sign == "-":
            mantissa = -mantissa
        return Quantity(mantissa * 1_000_000_000, "BinarySI", mantissa, 0, False, text if number & 7 else "")
    if not (zeros or whole or fraction):
        raise QuantityError(NUMBER_TEXT)
    return _big(_integer(digits + fraction) << power, -len(fraction), "BinarySI", sign == "-")


def _exponent(suffix: str) -> int:
    """The power of ten of an `e…` suffix: any int64, of which upstream keeps the low 32 bits."""
    shape = _EXPONENT(suffix)
    # 20 digits cover int64; more could still be leading zeros, hence the strip.
    number = int(shape[1]) if shape is not None and len(shape[1].lstrip("+-0")) < 20 and len(shape[1]) < _STR_CHUNK else None
    if number is None or not _INT64_MIN <= number <= _INT64_MAX:
        raise QuantityError(SUFFIX_TEXT)
    return (number + 2**31) % 2**32 - 2**31


def _big(magnitude: int, exponent: int, format: Format, negative: bool) -> Quantity:
    """The arbitrary-precision route: rounded away from zero to nano, binary values capped."""
    if magnitude:
        if exponent < _NANO:
            shift = _NANO - exponent
            # More places to drop than the number has: one nano is left, and 10**shift need not be computed.
            magnitude = -(-magnitude // 10**shift) if shift < magnitude.bit_length() else 1
            exponent = _NANO
        elif exponent <= _EXPANDED_EXPONENT:
            magnitude *= 10 ** (exponent - _NANO)
            exponent = _NANO
        if format == "BinarySI":
            nano = _nano(magnitude, exponent)
            if nano > _INT64_MAX * 1_000_000_000:
                magnitude, exponent = _INT64_MAX, 0
            elif nano < 1_000_000_000:
                format = "DecimalSI"
    mantissa = -magnitude if negative else magnitude
    return Quantity(_nano(mantissa, exponent), format, mantissa, exponent, True)


def _nano(mantissa: int, exponent: int) -> int:
    if not mantissa:
        return 0
    power = exponent - _NANO
    return mantissa * (_POWERS[power] if power < 64 else 10 ** (min(exponent, _LARGEST_EXPONENT) - _NANO))


def _int64(quantity: Quantity) -> int | None:
    if quantity.big or quantity.exponent < 0:
        return None
    return _times_power(quantity.mantissa, quantity.exponent)


def _times_power(number: int, power: int) -> int | None:
    """`number * 10**power` where that fits int64; upstream keeps no int64 minimum that it would have to multiply."""
    if not number or not power:
        return number
    if power > _PLAIN_DIGITS or number == _INT64_MIN:
        return None
    product = number * _POWERS[power]
    return product if _INT64_MIN <= product <= _INT64_MAX else None


def _operand(other: Quantity | int) -> Quantity:
    return other if isinstance(other, Quantity) else Quantity.from_int(other, "DecimalExponent")


def _add(left: Quantity, right: Quantity, direction: Literal[1, -1]) -> Quantity:
    format = left.format if left.nano else right.format
    addend = right.mantissa * direction
    if not left.big and not right.big:
        # Negating the int64 minimum gives the minimum again; upstream does not look.
        plain = _add_plain(left.mantissa, left.exponent, _INT64_MIN if addend == _INT64_MAX + 1 else addend, right.exponent)
        if plain is not None:
            mantissa, exponent = plain
            return Quantity(_nano(mantissa, exponent), format, mantissa, exponent)
    # Zero has no magnitude to align; without this an exponent of two thousand million would be expanded for nothing.
    left_exponent = min(left.exponent, _LARGEST_EXPONENT)
    right_exponent = min(right.exponent, _LARGEST_EXPONENT)
    exponent = min(left_exponent, right_exponent)
    mantissa = left.mantissa * 10 ** (left_exponent - exponent) + addend * 10 ** (right_exponent - exponent)
    return Quantity(
        _nano(mantissa, exponent) if exponent >= _NANO else mantissa // 10 ** (_NANO - exponent), format, mantissa, exponent, True
    )


def _add_plain(left: int, left_exponent: int, right: int, right_exponent: int) -> tuple[int, int] | None:
    if not right:
        return left, left_exponent
    if not left:
        return right, right_exponent
    exponent = min(left_exponent, right_exponent)
    scaled_left = _times_power(left, left_exponent - exponent)
    scaled_right = _times_power(right, right_exponent - exponent)
    if scaled_left is None or scaled_right is None:
        return None
    total = scaled_left + scaled_right
    return (total, exponent) if _INT64_MIN <= total <= _INT64_MAX else None


def _scaled(quantity: Quantity, scale: int) -> int:
    mantissa, exponent = quantity.mantissa, quantity.exponent
    if not quantity.big:
        if exponent >= scale:
            return _overflowing(mantissa, exponent - scale)
        magnitude = -(-abs(mantissa) // 10 ** (scale - exponent))
        return magnitude if mantissa > 0 else -magnitude
    if exponent >= scale:
        power = exponent - scale
        return _wrap(_wrap(mantissa) * (10**power if power <= _PLAIN_DIGITS else _INT64_MIN))
    divisor = 10 ** (scale - exponent)
    if mantissa < _INT64_MAX and scale - exponent < 19:
        # Upstream's quick division truncates and then adds one, so -1.5 becomes 0, not -2 and not -1.
        mantissa = _wrap(mantissa)
        quotient = abs(mantissa) // divisor
        return (quotient if mantissa >= 0 else -quotient) + (mantissa % divisor != 0)
    quotient, remainder = divmod(mantissa, divisor)
    return _wrap(_wrap(quotient) + (remainder != 0))


def _overflowing(number: int, power: int) -> int:
    """`number * 10**power` in int64: the powers that upstream multiplies in one step wrap, the others give 0 when they overflow."""
    product = _times_power(number, power)
    if product is not None:
        return product
    return _wrap(number * 10**power) if power in (1, 2, 3, 6, 9) and number != _INT64_MIN else 0


def _wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _canonical(quantity: Quantity) -> str:
    nano = quantity.nano
    if not nano:
        return "0"
    if quantity.format == "BinarySI" and abs(nano) >= 1024 * 1_000_000_000 and nano % 1_000_000_000 == 0:
        number, power = _without_factors(nano // 1_000_000_000, 1024)
        return _digits(number) + _BINARY_SUFFIXES.get(power * 10, "")
    number, power = _without_factors(quantity.mantissa, 10)
    exponent = quantity.exponent + power
    number *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if quantity.format == "DecimalExponent":
        return _digits(number) + (f"e{exponent}" if exponent else "")
    return _digits(number) + _DECIMAL_SUFFIXES.get(exponent, "")


def _without_factors(number: int, base: int) -> tuple[int, int]:
    times = 0
    while number % base == 0:
        number //= base
        times += 1
    return number, times


def _integer(digits: str) -> int:
    number = 0
    for start in range(0, len(digits), _STR_CHUNK):
        chunk = digits[start : start + _STR_CHUNK]
        number = number * 10 ** len(chunk) + int(chunk)
    return number


def _digits(number: int) -> str:
    sign, number, chunks = "-" if number < 0 else "", abs(number), list[str]()
    while number >= 10**_STR_CHUNK:
        number, chunk = divmod(number, 10**_STR_CHUNK)
        chunks.append(str(chunk).zfill(_STR_CHUNK))
    return sign + str(number) + "".join(reversed(chunks))


def _power_of_ten(exponent: int) -> float:
    """10**exponent as Go computes it: the product of two table entries, so a last-place error where Go has one."""
    if 0 <= exponent <= 308:
        return float(f"1e{exponent // 32 * 32}") * float(f"1e{exponent % 32}")
    if -323 <= exponent <= 0:
        return float(f"1e-{-exponent // 32 * 32}") / float(f"1e{-exponent % 32}")
    return float("inf") if exponent > 0 else 0.0
