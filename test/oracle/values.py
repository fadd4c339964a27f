"""Values as docs/values.md and docs/abstract-kinds.md describe them: what fits a type, and the key by which it is compared.

A key is a Python value whose own order is the documented order: str by code point, int, float, Fraction. None is no value.
Example: key('Quantity', '1000m') == key('Quantity', 1) == Fraction(1).
"""

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

NUMBERS = ("Int64", "Float", "Quantity")
LONGEST_TEXT = 4096

QUANTITY = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]+)?")
SUFFIXES = {
    **{f"{letter}i": Fraction(1024) ** (power + 1) for power, letter in enumerate("KMGTPE")},
    **{letter: Fraction(1000) ** power for letter, power in (("n", -3), ("u", -2), ("m", -1), ("k", 1), ("M", 2))},
    **{letter: Fraction(1000) ** power for letter, power in (("G", 3), ("T", 4), ("P", 5), ("E", 6))},
}
DURATION_UNITS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\nTt]([0-9]+))?(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))(?:[Tt][\s\S]*)?"
)

NUMBER_AND_WORD = re.compile("([0-9]+)[\\t\\n\\f\\r ]*([A-Za-z\u00b5]+)")
WORDS = [
    (1, ("ns",), "nano"),
    (10**3, ("us", "\u00b5s"), "micro"),
    (10**6, ("ms",), "milli"),
    (10**9, ("s",), "sec"),
    (60 * 10**9, ("m",), "min"),
    (3600 * 10**9, ("h", "hr"), "hour"),
    (86400 * 10**9, ("d",), "day"),
    (604800 * 10**9, ("w", "wk"), "week"),
]


def number_text(number):
    """A JSON number as JavaScript and Go write it: 1e+21, 0.000001, 1e-7."""
    if isinstance(number, int):
        return str(number)
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if -6 < point <= 21:
        if exponent >= 0:
            shown = text + "0" * exponent
        elif point > 0:
            shown = f"{text[:point]}.{text[point:]}"
        else:
            shown = "0." + "0" * -point + text
    else:
        rest = f".{text[1:]}" if len(text) > 1 else ""
        shown = f"{text[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"-{shown}" if sign else shown


def text_of(value):
    """A scalar as its text; None for what is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    return None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def quantity(value):
    if is_number(value):
        return Fraction(number_text(value))
    found = QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    sign, digits, suffix = found.groups()
    number = Fraction(digits if not digits.endswith(".") else digits[:-1])
    if suffix is not None:
        number *= SUFFIXES[suffix] if suffix in SUFFIXES else Fraction(10) ** int(suffix[1:])
    return -number if sign == "-" else number


def duration(value):
    """Nanoseconds, as the API server reads them: in Go's form, otherwise every number before a unit counts."""
    if not isinstance(value, str):
        return None
    found = go_duration(value)
    if found is not None:
        return found
    total = None
    for digits, word in NUMBER_AND_WORD.findall(value):
        if int(digits) >= 2**63:
            return None
        for unit, words, prefix in WORDS:
            if word.lower() in words or word.lower().startswith(prefix):
                total = (total or 0) + int(digits) * unit
    return None if total is None else (total + 2**63) % 2**64 - 2**63


def go_duration(value):
    """Nanoseconds, of the grammar of Go's time.ParseDuration."""
    sign, rest = (value[0], value[1:]) if value[:1] in ("+", "-") else ("+", value)
    if rest == "0":
        return 0
    total, at = 0, 0
    while at < len(rest):
        part = DURATION_PART.match(rest, at)
        if part is None:
            return None
        digits, unit = part.groups()
        total += int(Fraction(digits[:-1] if digits.endswith(".") else digits) * DURATION_UNITS[unit])
        at = part.end()
    if at == 0 or total > 2**63 - 1:
        return None
    return -total if sign == "-" else total


def days_since_1970(year, month, day):
    """None if the month has no such day."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= month <= 12 or not 1 <= day <= lengths[month - 1]:
        return None
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    return days + sum(lengths[: month - 1]) + day - 1 - 719162


def date_time(value):
    """Microseconds since 1970; further digits are cut off."""
    found = DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    fraction, _, sign, ahead_hours, ahead_minutes = found.groups()[6:]
    days = days_since_1970(year, month, day)
    if days is None or hour > 23 or minute > 59 or second > 59:
        return None
    ahead = 0 if sign is None else (int(ahead_hours) * 60 + int(ahead_minutes)) * (-1 if sign == "-" else 1)
    seconds = days * 86400 + hour * 3600 + (minute - ahead) * 60 + second
    return seconds * 10**6 + int(((fraction or "") + "000000")[:6])


def length(text):
    """The characters of a text as JavaScript counts them: those beyond U+FFFF are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def int64(value):
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        if re.fullmatch(r"-?(0|[1-9][0-9]*)", value) is None:
            return None
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(2**63) <= value < 2**63 else None


def boolean(value):
    if isinstance(value, bool):
        return int(value)
    return {"true": 1, "false": 0}.get(value.lower()) if isinstance(value, str) else None


def floating(value):
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", value) is None:
        return None
    return float(value) if is_number(value) or isinstance(value, str) else None


def string(value):
    text = text_of(value)
    return text if text is not None and length(text) <= LONGEST_TEXT else None


KEYS = {
    "String": string,
    "Enum": string,
    "Boolean": boolean,
    "Int64": int64,
    "Float": floating,
    "Quantity": quantity,
    "DateTime": date_time,
    "Duration": duration,
}


def key(of_type, value):
    """The key of a JSON value in a column of the type; None if it is absent or does not fit."""
    return None if value is None else KEYS[of_type](value)


def amount(of_type, of_key):
    """A key as the exact number that sums add; a Float counts as its shortest decimal, a Duration in seconds."""
    if of_type == "Float":
        return Fraction(repr(of_key))
    return Fraction(of_key, 10**9) if of_type == "Duration" else Fraction(of_key)


def decimal_text(number):
    """All digits of a fraction that has finitely many."""
    digits = Fraction(number)
    scale = 0
    while digits.denominator != 1:
        digits *= 10
        scale += 1
    text = str(abs(digits.numerator)).rjust(scale + 1, "0")
    shown = f"{text[:-scale]}.{text[-scale:]}" if scale else text
    return f"-{shown}" if number < 0 else shown


def mean_text(total, count):
    """The sum divided by the number of values, to 20 significant digits, rounded half away from zero."""
    context = Context(prec=20, rounding=ROUND_HALF_UP, Emax=999999, Emin=-999999)
    exact = Context(prec=5000, Emax=999999, Emin=-999999)
    quotient = Fraction(total) / count
    # 5,000 digits first: a tie of the twentieth digit is exact there.
    mean = context.plus(exact.divide(Decimal(quotient.numerator), Decimal(quotient.denominator)))
    return decimal_text(Fraction(mean))


def canonical_duration(nanoseconds):
    """As Go writes it."""
    if nanoseconds == 0:
        return "0s"
    sign, left = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if left < 10**9:
        unit, size = next((u, DURATION_UNITS[u]) for u in ("ms", "\u00b5s", "ns") if left >= DURATION_UNITS[u])
        return f"{sign}{decimal_text(Fraction(left, size))}{unit}"
    hours, left = divmod(left, 3600 * 10**9)
    minutes, left = divmod(left, 60 * 10**9)
    seconds = f"{decimal_text(Fraction(left, 10**9))}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def canonical_quantity(number):
    """A whole number with the largest decimal suffix; None where the docs give no form, below a nano."""
    for suffix in ("E", "P", "T", "G", "M", "k", "", "m", "u", "n"):
        whole = number / SUFFIXES.get(suffix, 1)
        if whole.denominator == 1 and (number != 0 or suffix == ""):
            return f"{whole.numerator}{suffix}"
    return None


def natural_key(text):
    """Runs of ASCII digits compare by value; the others by code point."""
    parts = re.findall(r"[0-9]+|[^0-9]", text)
    return tuple((48, int(part)) if part[0] in "0123456789" else (ord(part), -1) for part in parts)
