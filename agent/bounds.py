"""Conditions that say between what a field's values lie, and which of several say no more than another does."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.search.conditions import Compare, Condition, Op, Scalar


def without_implied(conditions: Sequence[Condition]) -> list[Condition]:
    """Without what another of them says more tightly: "> 5" beside "≥ 8", a year beside its March. In order."""
    told = list(dict.fromkeys(conditions))
    return [one for one in told if not any(_implies(other, one) for other in told if other != one)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounds:
    """None: open. `above`, `below`: whether the end itself is out."""

    low: Scalar | None = None
    above: bool = False
    high: Scalar | None = None
    below: bool = False

    def lie_in(self, other: "_Bounds") -> bool:
        return _is_inside(self.low, self.above, other.low, other.above, 1) and _is_inside(
            self.high, self.below, other.high, other.below, -1
        )


def _is_inside(end: Scalar | None, is_out: bool, of: Scalar | None, of_is_out: bool, sign: int) -> bool:
    """`sign`: 1 for low ends, -1 for high ones."""
    if of is None:
        return True
    if end is None:
        return False
    if end == of:
        return is_out or not of_is_out
    if isinstance(end, str) and isinstance(of, str):
        return (end > of) is (sign > 0)
    return not isinstance(end, str) and not isinstance(of, str) and (end > of) is (sign > 0)


def _implies(tight: Condition, loose: Condition) -> bool:
    """Whether of one field's values whatever fulfils the one fulfils the other."""
    if not isinstance(tight, Compare) or not isinstance(loose, Compare) or tight.field != loose.field:
        return False
    inner, outer = _bounds(tight), _bounds(loose)
    return inner is not None and outer is not None and inner.lie_in(outer)


def _bounds(condition: Compare) -> _Bounds | None:
    value = condition.value
    match condition.op:
        case Op.BETWEEN if isinstance(value, tuple):
            return _Bounds(low=value[0], high=value[1])
        case Op.GT | Op.GTE if not isinstance(value, tuple):
            return _Bounds(low=value, above=condition.op is Op.GT)
        case Op.LT | Op.LTE if not isinstance(value, tuple):
            return _Bounds(high=value, below=condition.op is Op.LT)
        case _:
            return None
