"""Conditions on one field that no document can fulfil together: "under 3" and "over 5" are not a range."""

from typing import TypeAlias

from storage.search.conditions import AndCondition, ComparisonCondition, ComparisonOperator, Condition

_Bound: TypeAlias = tuple[float | str, bool]  # a value, and whether it is included
_Interval: TypeAlias = tuple[str, _Bound | None, _Bound | None]  # the field, the lower and the upper bound


def are_contradictory(condition: Condition, other: Condition) -> bool:
    """Whether both compare one field with bounds that leave no value."""
    interval, other_interval = _interval_of(condition), _interval_of(other)
    if interval is None or other_interval is None or interval[0] != other_interval[0]:
        return False
    lows = [bound for bound in (interval[1], other_interval[1]) if bound is not None]
    highs = [bound for bound in (interval[2], other_interval[2]) if bound is not None]
    return any(_leave_nothing(low, high) for low in lows for high in highs)


def _leave_nothing(low: _Bound, high: _Bound) -> bool:
    """Whether no value lies between the two bounds; values of unlike types are not compared."""
    (low_value, is_low_included), (high_value, is_high_included) = low, high
    if low_value == high_value:
        return not (is_low_included and is_high_included)
    if isinstance(low_value, str) and isinstance(high_value, str):
        return low_value > high_value
    return isinstance(low_value, float) and isinstance(high_value, float) and low_value > high_value


def _interval_of(condition: Condition) -> _Interval | None:
    if isinstance(condition, AndCondition) and condition.members:
        return _interval_of(condition.members[0])  # an amount and its currency
    if not isinstance(condition, ComparisonCondition):
        return None
    value = condition.value
    if condition.op is ComparisonOperator.BETWEEN and isinstance(value, tuple) and len(value) == 2:
        return condition.field, (value[0], True), (value[1], True)
    if isinstance(value, (tuple, bool)):
        return None
    match condition.op:
        case ComparisonOperator.EQ:
            return condition.field, (value, True), (value, True)
        case ComparisonOperator.GT | ComparisonOperator.GTE:
            return condition.field, (value, condition.op is ComparisonOperator.GTE), None
        case ComparisonOperator.LT | ComparisonOperator.LTE:
            return condition.field, None, (value, condition.op is ComparisonOperator.LTE)
        case _:
            return None
