"""Numbers as the engines store them: the double nearest to the decimal, and money also as scaled integers."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

# Minor digits of the currencies that do not have two. Source: ISO 4217, list one.
_WITHOUT_MINOR_DIGITS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_WITH_THREE_MINOR_DIGITS = "BHD IQD JOD KWD LYD OMR TND"
_MINOR_DIGITS: dict[str, int] = {
    **dict.fromkeys(_WITHOUT_MINOR_DIGITS.split(), 0),
    **dict.fromkeys(_WITH_THREE_MINOR_DIGITS.split(), 3),
}
_EXTRA_DIGITS = 2  # amounts finer than the minor unit (a fuel price of 1.459) still add up exactly
_SUM_DIGITS = 12
_EXACT_SCALED_LIMIT = 10**27  # engines hold the digits above 10^18 as doubles: exact below it, for millions of amounts
_EXACT_PRECISION = 400  # enough digits for the largest double in the finest scale


def nearest_double(number: Decimal) -> float:
    """The double nearest to `number`. Raises `ValueError` if there is none (NaN, infinite, too large)."""
    result = float(number)
    if not number.is_finite() or result in (float("inf"), float("-inf")):
        raise ValueError(f"not a number that can be stored: {number}")
    return result + 0.0  # -0.0 and 0.0 are one value


def multiply_numbers(first: float, second: float) -> float | None:
    """The double nearest to the product of the two decimals; None if the product is too large for a double."""
    try:
        return nearest_double(Context(prec=_EXACT_PRECISION).multiply(Decimal(repr(first)), Decimal(repr(second))))
    except ValueError:
        return None


def minor_digits_of(currency: str | None) -> int:
    """Digits after the decimal point of the currency's minor unit; 2 for an unknown one."""
    return _MINOR_DIGITS.get(currency or "", 2)


def money_scale_of(currency: str | None) -> int:
    """How many scaled units make one unit of `currency`: two digits finer than its minor unit."""
    return 10 ** (minor_digits_of(currency) + _EXTRA_DIGITS)


def scale_amount(amount: float, currency: str | None) -> int:
    """`amount` as a scaled integer of `currency`, rounded half to even."""
    exact = Decimal(repr(amount)) * money_scale_of(currency)
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_EVEN, context=Context(prec=_EXACT_PRECISION)))


def money_from_scaled(total: int, currency: str | None, count: int = 1) -> float:
    """The sum (or with `count`, the average) of scaled integers, rounded half to even to the minor unit."""
    exact = Decimal(total) / (money_scale_of(currency) * count)
    quantum = Decimal(1).scaleb(-minor_digits_of(currency))
    return float(exact.quantize(quantum, rounding=ROUND_HALF_EVEN, context=Context(prec=_EXACT_PRECISION)))


def round_money_totals(total: int, currency: str | None, count: int, largest_magnitude: float) -> tuple[float, float]:
    """The sum and the average of `count` amounts, from their sum in scaled integers.

    Both are rounded half to even to the minor unit. If `largest_magnitude`, the greatest magnitude among the amounts,
    is 10^27 scaled integers or more, they are rounded like other numbers.
    """
    exact_sum = money_from_scaled(total, currency)
    if scale_amount(largest_magnitude, currency) < _EXACT_SCALED_LIMIT:
        return exact_sum, money_from_scaled(total, currency, count)
    return round_number_totals(exact_sum, count, largest_magnitude)


def round_number_totals(total: float, count: int, largest_magnitude: float) -> tuple[float, float]:
    """The sum and the average of `count` numbers, to 12 significant digits (see `round_sum`)."""
    rounded_sum = round_sum(total, largest_magnitude)
    return rounded_sum, round_average(rounded_sum, count)


def round_sum(total: float, largest_magnitude: float) -> float:
    """`total`, rounded to 12 significant digits of the larger of itself and `largest_magnitude`.

    `largest_magnitude` is the greatest magnitude among the summands. Engines add in different orders; rounding
    removes the residue that this leaves when numbers cancel out.
    """
    magnitude = Decimal(repr(max(abs(total), abs(largest_magnitude))))
    if not magnitude:
        return 0.0
    quantum = Decimal(1).scaleb(magnitude.adjusted() - _SUM_DIGITS + 1)
    rounded = Decimal(repr(total)).quantize(quantum, rounding=ROUND_HALF_EVEN, context=Context(prec=_EXACT_PRECISION))
    return float(rounded) + 0.0


def round_average(total: float, count: int) -> float:
    """The average of `count` numbers whose `round_sum` is `total`, to 12 significant digits."""
    return round_sum(total / count, 0.0)


def median_of(lower: float, upper: float, currency: str | None, *, is_money: bool) -> float:
    """The average of the middle two values, rounded like an average; the value itself if both are equal."""
    if lower == upper:
        return lower + 0.0
    if is_money:
        return money_from_scaled(scale_amount(lower, currency) + scale_amount(upper, currency), currency, 2)
    return round_average(round_sum(lower + upper, max(abs(lower), abs(upper))), 2)


def to_json_number(number: float) -> int | float:
    """The number for JSON: whole numbers have no decimal point, as long as doubles are exact."""
    return int(number) if number == int(number) and abs(number) < 2**53 else number
