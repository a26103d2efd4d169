"""Numbers that a composer derives from others. They carry their inputs, so that the check computes them again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import assert_never


class DerivationKind(StrEnum):
    DIFFERENCE = "difference"  # the first input less the second
    CHANGE_PERCENT = "change_percent"  # from the second input to the first, in percent of the second
    SUM = "sum"
    DAYS_BETWEEN = "days_between"  # the two days


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedFigure:
    """A number that a sentence states, and that appears in no fact. `inputs` must all appear in the facts."""

    kind: DerivationKind
    inputs: tuple[float, ...] = ()
    days: tuple[str, ...] = ()  # ISO; they must appear in the facts, too


def compute_derived_figure(derived: DerivedFigure) -> float | None:
    """Returns the number; None if it does not exist, such as a change in percent of zero."""
    match derived.kind:
        case DerivationKind.DIFFERENCE:
            return derived.inputs[0] - derived.inputs[1]
        case DerivationKind.CHANGE_PERCENT:
            last, first = derived.inputs
            return 100 * (last - first) / abs(first) if first else None
        case DerivationKind.SUM:
            return sum(derived.inputs)
        case DerivationKind.DAYS_BETWEEN:
            first, last = map(date.fromisoformat, derived.days)
            return abs((last - first).days)
        case _:
            assert_never(derived.kind)


def derive_changes(first: float, last: float) -> Sequence[DerivedFigure]:
    """The two figures that describe a change: the difference, and the change in percent."""
    return tuple(
        DerivedFigure(kind=kind, inputs=(last, first))
        for kind in (DerivationKind.DIFFERENCE, DerivationKind.CHANGE_PERCENT)
    )
