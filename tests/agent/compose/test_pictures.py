"""Pictures of groups and of change over time show the figures of their tables."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent.compose.pictures.figure_pictures import MAX_BARS, picture_groups, picture_periods
from agent.forms.change_over_time import ChangeFacts, PeriodFigure
from agent.forms.compute_numbers import ComputationFacts
from agent.forms.figures import label_of_period, ordinal_of_period
from agent.outcome import GroupLine, PictureKind
from agent.translation.languages import use_language
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, CalendarPeriod, ComputeNumbers, GroupBy
from tests.builders import a_receipt_schema

SCHEMA = a_receipt_schema()


def grouped(
    lines: Sequence[GroupLine],
    *,
    function: AggregateFunction = AggregateFunction.SUM,
    field: str | None = "weight",
    by: str = "vendor",
    period: CalendarPeriod | None = None,
    limit: int | None = None,
) -> ComputationFacts:
    return ComputationFacts(
        answer_form=ComputeNumbers(
            functions=(function,),
            field=None if field is None else FieldName(field),
            group=GroupBy(field=FieldName(by), period=period),
            limit=limit,
        ),
        schema=SCHEMA,
        figures=(),
        groups=tuple(lines),
        support=None,
        has_value_in_text=False,
    )


def a_line(label: str, value: float, unit: str | None = None, count: int = 1) -> GroupLine:
    return GroupLine(label=label, value=value, unit=unit, count=count)


def lines_of_vendors(count: int) -> list[GroupLine]:
    return [a_line(f"Vendor {n}", 100.0 - n) for n in range(1, count + 1)]


def test_groups_become_bars_in_the_order_of_the_table_and_words_that_say_the_same() -> None:
    [picture] = picture_groups(grouped([a_line("Ghent", 1291.9), a_line("Kortrijk", 633.9)]))

    assert (picture.kind, picture.title) == (PictureKind.BARS, "Sum of weight, by vendor")
    assert [(point.label, point.value) for point in picture.points] == [("Ghent", 1291.9), ("Kortrijk", 633.9)]
    assert picture.description == "Bars: Ghent 1,291.9 kg, Kortrijk 633.9 kg"


def test_counted_groups_show_their_documents() -> None:
    lines = [a_line("Acme", 2.0, count=2), a_line("Globex", 1.0, count=1)]
    [picture] = picture_groups(grouped(lines, function=AggregateFunction.COUNT, field=None))

    assert (picture.title, picture.description) == ("Documents, by vendor", "Bars: Acme 2, Globex 1")


def test_one_value_has_no_picture() -> None:
    assert picture_groups(grouped([a_line("Acme", 2.0)])) == ()
    assert picture_groups(grouped([])) == ()


def test_days_have_no_length_and_so_no_picture() -> None:
    lines = [a_line("Acme", 2.0), a_line("Globex", 3.0)]

    assert picture_groups(grouped(lines, function=AggregateFunction.MAXIMUM, field="date")) == ()


def test_amounts_in_two_currencies_have_two_pictures() -> None:
    lines = [
        a_line("Acme", 20.0, "USD"),
        a_line("Globex", 10.0, "USD"),
        a_line("Acme", 9.0, "EUR"),
        a_line("B", 1, "EUR"),
    ]
    pictures = picture_groups(grouped(lines, field="total"))

    assert [(picture.title, picture.unit, picture.points[0].value_text) for picture in pictures] == [
        ("Sum of total, by vendor (USD)", "USD", "USD 20.00"),
        ("Sum of total, by vendor (EUR)", "EUR", "EUR 9.00"),
    ]


def test_the_groups_behind_the_last_bar_are_their_true_sum() -> None:
    [picture] = picture_groups(grouped(lines_of_vendors(40)))

    *bars, rest = picture.points
    assert (len(picture.points), rest.label, rest.is_rest) == (MAX_BARS, "29 others", True)
    assert rest.value == sum(100.0 - n for n in range(12, 41))
    assert not any(bar.is_rest for bar in bars)


@pytest.mark.parametrize(
    "facts",
    [
        grouped(lines_of_vendors(40), function=AggregateFunction.AVERAGE),
        grouped(lines_of_vendors(40), by="tags"),  # a receipt has several
        grouped(lines_of_vendors(40), limit=40),
    ],
)
def test_groups_that_do_not_add_up_are_left_out_and_the_title_says_so(facts: ComputationFacts) -> None:
    [picture] = picture_groups(facts)

    assert len(picture.points) == MAX_BARS
    assert picture.title.endswith("(the first 12 of 40)")
    assert not any(point.is_rest for point in picture.points)


def test_periods_become_a_line_that_breaks_where_periods_are_missing() -> None:
    lines = [a_line(label, 1.0, count=3) for label in ("2030-11", "2030-12", "2031-01", "2031-04", "(none)")]
    [picture] = picture_groups(
        grouped(lines, function=AggregateFunction.COUNT, field=None, by="date", period=CalendarPeriod.MONTH)
    )

    assert picture.kind is PictureKind.LINE
    assert [(point.label, point.follows_gap) for point in picture.points] == [
        ("2030-11", False),
        ("2030-12", False),
        ("2031-01", False),
        ("2031-04", True),
    ]


def test_two_periods_and_ranked_periods_are_bars() -> None:
    lines = [a_line("2031-04", 5.0), a_line("2031-01", 4.0), a_line("2031-03", 3.0)]
    ranked = grouped(lines, by="date", period=CalendarPeriod.MONTH, limit=3)
    two = grouped(lines[:2], by="date", period=CalendarPeriod.MONTH)

    assert [picture.kind for facts in (ranked, two) for picture in picture_groups(facts)] == [PictureKind.BARS] * 2


def periods(values: Sequence[float]) -> ChangeFacts:
    figures = tuple(
        PeriodFigure(label=str(2000 + n), value=value, unit=None, count=1, change=None, change_percent=None)
        for n, value in enumerate(values)
    )
    return ChangeFacts(
        function=AggregateFunction.SUM,
        field=SCHEMA.by_name[FieldName("weight")],
        day_field=SCHEMA.by_name[FieldName("date")],
        period=CalendarPeriod.YEAR,
        series={None: figures},
        undated_count=0,
    )


def test_change_over_time_is_a_line_of_all_periods() -> None:
    [picture] = picture_periods(periods([1.0, 4.0, 2.0]))

    assert (picture.kind, picture.title) == (PictureKind.LINE, "Sum of weight, by date")
    assert picture.description == "Line: 2000 1 kg, 2001 4 kg, 2002 2 kg"


def test_a_long_line_is_described_by_its_ends_and_extremes() -> None:
    [picture] = picture_periods(periods([5.0, 1.0, *[3.0] * 20, 9.0, 4.0]))

    assert len(picture.points) == 24
    assert picture.description == "Line: from 2000 5 kg to 2023 4 kg, highest 2022 9 kg, lowest 2001 1 kg"


def test_a_picture_speaks_the_language_of_the_answer() -> None:
    with use_language("de"):
        [picture] = picture_groups(grouped([a_line("Gent", 1291.9), a_line("Brügge", 633.9)]))

    assert picture.description == "Balken: Gent 1.291,9 kg, Brügge 633,9 kg"


def test_a_period_has_the_next_number_after_the_one_before() -> None:
    days = ("2030-10-01", "2031-01-01")
    for period, apart in (
        (CalendarPeriod.DAY, 92),
        (CalendarPeriod.MONTH, 3),
        (CalendarPeriod.QUARTER, 1),
        (CalendarPeriod.YEAR, 1),
    ):
        before, after = (ordinal_of_period(label_of_period(day, period), period) for day in days)
        assert before is not None
        assert after is not None
        assert after - before == apart

    assert ordinal_of_period("(none)", CalendarPeriod.MONTH) is None


def test_the_pictures_of_an_empty_series_are_none() -> None:
    assert picture_periods(replace(periods([1.0]), series={})) == ()
