"""Schedules of saved searches: read from words, and the next due time in every time zone and on every day."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.saved_searches.schedule import (
    CHECK_INTERVAL,
    ChangeSchedule,
    MonthlySchedule,
    SearchSchedule,
    WeeklySchedule,
    count_due_times,
    format_schedule,
    next_due_time,
    parse_schedule,
    resolve_local_time,
)

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",  # shifts by half an hour
        "Africa/Cairo",  # shifts at midnight
        "Pacific/Apia",  # skipped 2011-12-30
        "Asia/Kathmandu",
        "America/Sao_Paulo",
    )
]
times_of_day = st.times().map(lambda value: value.replace(microsecond=0, fold=0))
calendar_schedules = st.one_of(
    st.builds(
        WeeklySchedule,
        weekdays=st.frozensets(st.integers(0, 6), min_size=1),
        time_of_day=times_of_day.map(lambda value: value.replace(second=0)),
    ),
    st.builds(
        MonthlySchedule,
        day=st.integers(1, 31),
        time_of_day=times_of_day.map(lambda value: value.replace(second=0)),
    ),
)
moments = st.integers(1_167_609_600, 1_924_905_600).map(
    lambda second: datetime.fromtimestamp(second, UTC)
)  # 2007 to 2030


def weekly(*days: int, hour: int, minute: int = 0) -> WeeklySchedule:
    return WeeklySchedule(weekdays=frozenset(days), time_of_day=time(hour, minute))


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("every Monday 9:00", weekly(0, hour=9)),
        ("monday 9:00", weekly(0, hour=9)),
        ("every Monday at 9", weekly(0, hour=9)),
        ("Mondays at 9 am", weekly(0, hour=9)),
        ("every Tue and Thu at 8.30", weekly(1, 3, hour=8, minute=30)),
        ("every weekday at 8", weekly(0, 1, 2, 3, 4, hour=8)),
        ("weekdays at noon", weekly(0, 1, 2, 3, 4, hour=12)),
        ("daily at 17:30", weekly(*range(7), hour=17, minute=30)),
        ("every day at 5:30 pm", weekly(*range(7), hour=17, minute=30)),
        ("every day at 12 am", weekly(*range(7), hour=0)),
        ("every Friday", weekly(4, hour=9)),
        ("weekly on Sunday at midnight", weekly(6, hour=0)),
        ("every month on the 1st", MonthlySchedule(day=1, time_of_day=time(9))),
        ("monthly on the 31st at 18:00", MonthlySchedule(day=31, time_of_day=time(18))),
        ("every 15th of the month at 7", MonthlySchedule(day=15, time_of_day=time(7))),
        ("on change", ChangeSchedule()),
    ],
)
def test_words_describe_a_schedule(text: str, schedule: SearchSchedule) -> None:
    assert parse_schedule(text) == schedule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9:00",
        "every contract",
        "every Monday at 25:00",
        "every Monday at 9:75",
        "every month on the 32nd",
        "every month on the 0th",
        "every day at 13 pm",
        "every blue monday",
        "every monument at 9",
        "every Monday 9:00: receipts",
    ],
)
def test_other_words_describe_no_schedule(text: str) -> None:
    assert parse_schedule(text) is None


@given(calendar_schedules)
def test_a_schedule_is_read_back_from_its_words(schedule: SearchSchedule) -> None:
    assert parse_schedule(format_schedule(schedule)) == schedule


@given(calendar_schedules, moments, st.sampled_from(ZONES))
def test_the_next_due_time_is_later_and_on_the_wall_clock(
    schedule: WeeklySchedule | MonthlySchedule, after: datetime, zone: ZoneInfo
) -> None:
    due = next_due_time(schedule, after, zone)

    local = due.astimezone(zone)
    assert after < due <= after + timedelta(days=34)
    assert local.time() == schedule.time_of_day or _is_gap_end(due, zone)


@given(calendar_schedules, moments, st.sampled_from(ZONES))
def test_no_due_time_is_left_out_or_comes_twice(
    schedule: WeeklySchedule | MonthlySchedule, after: datetime, zone: ZoneInfo
) -> None:
    due = next_due_time(schedule, after, zone)

    assert next_due_time(schedule, due - timedelta(seconds=1), zone) == due
    following = next_due_time(schedule, due, zone)
    assert following > due
    middle = after + (due - after) / 2
    assume(middle < due)
    assert next_due_time(schedule, middle, zone) == due


@given(moments, times_of_day, st.sampled_from(ZONES))
def test_a_local_time_that_exists_is_the_first_instant_that_shows_it(
    moment: datetime, time_of_day: time, zone: ZoneInfo
) -> None:
    day = moment.date()

    due = resolve_local_time(day, time_of_day, zone)

    local = due.astimezone(zone)
    if local.replace(tzinfo=None) == datetime.combine(day, time_of_day):
        assert local.fold == 0
    else:
        assert local.replace(tzinfo=None) > datetime.combine(day, time_of_day)
        assert _is_gap_end(due, zone)


def test_a_time_that_the_spring_skips_is_the_first_one_after_it() -> None:
    schedule = weekly(6, hour=2, minute=30)

    due = next_due_time(schedule, datetime(2026, 3, 28, 12, tzinfo=UTC), BERLIN)

    assert due == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert due.astimezone(BERLIN).time() == time(3)
    assert next_due_time(schedule, due, BERLIN).astimezone(BERLIN).time() == time(2, 30)


def test_a_time_that_comes_twice_in_autumn_is_due_once_and_first() -> None:
    schedule = weekly(*range(7), hour=2, minute=30)

    due = next_due_time(schedule, datetime(2026, 10, 24, 12, tzinfo=UTC), BERLIN)

    assert due == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert next_due_time(schedule, due, BERLIN) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_nine_on_the_wall_stays_nine_when_the_clocks_change() -> None:
    schedule = weekly(0, hour=9)

    winter = next_due_time(schedule, datetime(2026, 3, 22, tzinfo=UTC), BERLIN)
    summer = next_due_time(schedule, winter, BERLIN)

    assert (winter.hour, summer.hour) == (8, 7)
    assert summer - winter == timedelta(days=7, hours=-1)


def test_a_short_month_has_its_last_day_instead() -> None:
    schedule = MonthlySchedule(day=31, time_of_day=time(9))

    due = next_due_time(schedule, datetime(2026, 2, 1, tzinfo=UTC), BERLIN)

    assert due.astimezone(BERLIN).date().isoformat() == "2026-02-28"
    assert next_due_time(schedule, due, BERLIN).astimezone(BERLIN).date().isoformat() == "2026-03-31"


def test_changes_are_looked_for_at_an_interval() -> None:
    now = datetime(2026, 2, 1, tzinfo=UTC)

    assert next_due_time(ChangeSchedule(), now, BERLIN) == now + CHECK_INTERVAL


def test_due_times_that_were_missed_are_counted_up_to_a_limit() -> None:
    schedule, first = weekly(*range(7), hour=9), datetime(2026, 2, 1, 8, tzinfo=UTC)

    assert count_due_times(schedule, first, first + timedelta(days=3), BERLIN, limit=100) == 4
    assert count_due_times(schedule, first, first + timedelta(days=3), BERLIN, limit=2) == 2


def _is_gap_end(due: datetime, zone: ZoneInfo) -> bool:
    """Whether the zone has set its clocks forward at this second."""
    before = (due - timedelta(seconds=1)).astimezone(zone).utcoffset()
    now = due.astimezone(zone).utcoffset()
    return before is not None and now is not None and now > before
