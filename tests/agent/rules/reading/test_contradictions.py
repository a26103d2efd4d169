"""Two conditions on one field contradict each other where no number fulfils both."""

import operator
from collections.abc import Callable, Mapping
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from agent.rules.binding.contradictions import are_contradictory
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import FieldName

_HOLDS: Mapping[ComparisonOperator, Callable[[float, float], bool]] = {
    ComparisonOperator.GT: operator.gt,
    ComparisonOperator.GTE: operator.ge,
    ComparisonOperator.LT: operator.lt,
    ComparisonOperator.LTE: operator.le,
    ComparisonOperator.EQ: operator.eq,
}
CONDITIONS = st.builds(
    ComparisonCondition,
    field=st.just(FieldName("reach")),
    op=st.sampled_from(list(_HOLDS)),
    value=st.integers(min_value=0, max_value=6).map(float),
)


@given(CONDITIONS, CONDITIONS)
def test_two_conditions_contradict_each_other_where_no_number_fulfils_both(
    condition: ComparisonCondition, other: ComparisonCondition
) -> None:
    halves = [number / 2 for number in range(-2, 16)]
    fulfilled = [
        number
        for number in halves
        if all(_HOLDS[part.op](number, cast(float, part.value)) for part in (condition, other))
    ]

    assert are_contradictory(condition, other) is not bool(fulfilled)


def test_conditions_on_two_fields_and_on_unlike_values_never_contradict() -> None:
    low = ComparisonCondition(field=FieldName("reach"), op=ComparisonOperator.LT, value=1.0)
    high = ComparisonCondition(field=FieldName("depth"), op=ComparisonOperator.GT, value=5.0)
    day = ComparisonCondition(field=FieldName("reach"), op=ComparisonOperator.GT, value="2027-01-01")

    assert not are_contradictory(low, high)
    assert not are_contradictory(low, day)
