"""Tables of two groups: the periods that the columns stand for."""

from agent.forms.cross_table import condition_of_group
from storage.search.conditions import ComparisonCondition
from storage.search.ids import FieldName
from storage.search.plan import CalendarPeriod, GroupBy
from storage.search.schema import FieldType, SchemaField

SOLD = SchemaField(name=FieldName("sold"), type=FieldType.DATE)


def days_of(first_day: str, period: CalendarPeriod) -> object:
    condition = condition_of_group(first_day, GroupBy(field=SOLD.name, period=period), SOLD)
    return condition.value if isinstance(condition, ComparisonCondition) else None


def test_a_period_ends_with_its_last_day_also_at_the_end_of_the_calendar() -> None:
    assert days_of("2024-02-01", CalendarPeriod.MONTH) == ("2024-02-01", "2024-02-29")
    assert days_of("2023-10-01", CalendarPeriod.QUARTER) == ("2023-10-01", "2023-12-31")
    assert days_of("9999-12-31", CalendarPeriod.DAY) == ("9999-12-31", "9999-12-31")
    for first_day, period in (
        ("9999-12-01", CalendarPeriod.MONTH),
        ("9999-10-01", CalendarPeriod.QUARTER),
        ("9999-01-01", CalendarPeriod.YEAR),
    ):
        assert days_of(first_day, period) == (first_day, "9999-12-31")
