"""Drops conditions that another condition on the same field implies."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, Scalar


def drop_implied_conditions(conditions: Sequence[Condition]) -> list[Condition]:
    """Returns the conditions without those that a tighter one implies: "> 5" beside "≥ 8", a year beside its March.

    Keeps the order and drops duplicates.
    """
    distinct = list(dict.fromkeys(conditions))
    return [
        condition
        for condition in distinct
        if not any(_implies_condition(other, condition) for other in distinct if other != condition)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ValueBounds:
    """The interval of the allowed values; None is an open end. An excluded end is not itself allowed."""

    low: Scalar | None = None
    low_is_excluded: bool = False
    high: Scalar | None = None
    high_is_excluded: bool = False

    def is_within(self, other: "_ValueBounds") -> bool:
        return _is_end_inside(self.low, self.low_is_excluded, other.low, other.low_is_excluded, 1) and _is_end_inside(
            self.high, self.high_is_excluded, other.high, other.high_is_excluded, -1
        )


def _is_end_inside(
    end: Scalar | None, is_excluded: bool, outer_end: Scalar | None, outer_is_excluded: bool, sign: int
) -> bool:
    """Whether `end` lies within `outer_end`. `sign` is 1 for low ends and -1 for high ends."""
    if outer_end is None:
        return True
    if end is None:
        return False
    if end == outer_end:
        return is_excluded or not outer_is_excluded
    if isinstance(end, str) and isinstance(outer_end, str):
        return (end > outer_end) is (sign > 0)
    return not isinstance(end, str) and not isinstance(outer_end, str) and (end > outer_end) is (sign > 0)


def _implies_condition(tight: Condition, loose: Condition) -> bool:
    """Whether both conditions are on one field and every value that meets `tight` meets `loose`."""
    if (
        not isinstance(tight, ComparisonCondition)
        or not isinstance(loose, ComparisonCondition)
        or tight.field != loose.field
    ):
        return False
    tight_bounds, loose_bounds = _bounds_of(tight), _bounds_of(loose)
    return tight_bounds is not None and loose_bounds is not None and tight_bounds.is_within(loose_bounds)


def _bounds_of(condition: ComparisonCondition) -> _ValueBounds | None:
    value = condition.value
    match condition.op:
        case ComparisonOperator.BETWEEN if isinstance(value, tuple):
            return _ValueBounds(low=value[0], high=value[1])
        case ComparisonOperator.GT | ComparisonOperator.GTE if not isinstance(value, tuple):
            return _ValueBounds(low=value, low_is_excluded=condition.op is ComparisonOperator.GT)
        case ComparisonOperator.LT | ComparisonOperator.LTE if not isinstance(value, tuple):
            return _ValueBounds(high=value, high_is_excluded=condition.op is ComparisonOperator.LT)
        case _:
            return None
