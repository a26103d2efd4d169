"""Numbers as the engines hold them: the nearest double to the decimal, money also as scaled integers."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

# Minor digits of the currencies that do not have two. Source: ISO 4217, list one.
_NO_MINOR = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THREE_MINOR = "BHD IQD JOD KWD LYD OMR TND"
_MINOR_DIGITS: dict[str, int] = {**dict.fromkeys(_NO_MINOR.split(), 0), **dict.fromkeys(_THREE_MINOR.split(), 3)}
_EXTRA_DIGITS = 2  # amounts finer than the minor unit (a fuel price of 1.459) still add up exactly
_SUM_DIGITS = 12
_EVERY_DIGIT = 400  # of the largest double in the finest scale, whole


def nearest_double(number: Decimal) -> float:
    """The double nearest to `number`. Raises `ValueError` where there is none (NaN, infinite, too large)."""
    result = float(number)
    if not number.is_finite() or result in (float("inf"), float("-inf")):
        raise ValueError(f"not a number that can be stored: {number}")
    return result + 0.0  # -0.0 and 0.0 are one value


def minor_digits(currency: str | None) -> int:
    """Digits after the decimal point of the currency's minor unit; 2 for an unknown one."""
    return _MINOR_DIGITS.get(currency or "", 2)


def money_scale(currency: str | None) -> int:
    """How many scaled units make one unit of `currency`: two digits finer than its minor unit."""
    return 10 ** (minor_digits(currency) + _EXTRA_DIGITS)


def scaled(amount: float, currency: str | None) -> int:
    """`amount` in scaled integers of `currency`, half to even."""
    exact = Decimal(repr(amount)) * money_scale(currency)
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_EVEN, context=Context(prec=_EVERY_DIGIT)))


def money_from_scaled(total: int, currency: str | None, count: int = 1) -> float:
    """The sum (or with `count`, the average) of scaled integers, rounded half to even to the minor unit."""
    exact = Decimal(total) / (money_scale(currency) * count)
    quantum = Decimal(1).scaleb(-minor_digits(currency))
    return float(exact.quantize(quantum, rounding=ROUND_HALF_EVEN, context=Context(prec=_EVERY_DIGIT)))


def rounded_sum(total: float, largest: float) -> float:
    """`total` to 12 significant digits of the larger of itself and `largest`, the greatest magnitude added.

    Engines add in different orders; what cancels out must not leave one of them with a residue.
    """
    magnitude = Decimal(repr(max(abs(total), abs(largest))))
    if not magnitude:
        return 0.0
    quantum = Decimal(1).scaleb(magnitude.adjusted() - _SUM_DIGITS + 1)
    rounded = Decimal(repr(total)).quantize(quantum, rounding=ROUND_HALF_EVEN, context=Context(prec=_EVERY_DIGIT))
    return float(rounded) + 0.0


def rounded_average(total: float, count: int) -> float:
    """The average of `count` numbers whose `rounded_sum` is `total`, to 12 significant digits."""
    return rounded_sum(total / count, 0.0)


def median_of(lower: float, upper: float, currency: str | None, *, money: bool) -> float:
    """The average of the middle two values, rounded as an average is; the value itself where they are one."""
    if lower == upper:
        return lower + 0.0
    if money:
        return money_from_scaled(scaled(lower, currency) + scaled(upper, currency), currency, 2)
    return rounded_average(rounded_sum(lower + upper, max(abs(lower), abs(upper))), 2)


def plain(number: float) -> int | float:
    """The number as JSON shows it: whole ones without a point, up to where doubles are exact."""
    return int(number) if number == int(number) and abs(number) < 2**53 else number
