"""Schedules of saved searches: read from words, and the next due time in every time zone and on every day."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
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
FIRST_SECOND, LAST_SECOND = 1_167_609_600, 1_924_905_600  # 2007 to 2030
_STEP_S = 7 * 86_400  # no zone of `ZONES` sets its clocks there and back within a week
_NEARBY_S = 2 * 86_400


def find_transitions(zone: ZoneInfo) -> list[int]:
    """The first seconds of the zone's new offsets, by bisection of each week in which its offset changes."""

    def offset_of(second: int) -> timedelta | None:
        return datetime.fromtimestamp(second, zone).utcoffset()

    transitions = list[int]()
    for start in range(FIRST_SECOND, LAST_SECOND, _STEP_S):
        low, high = start, start + _STEP_S
        if offset_of(low) == offset_of(high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset_of(middle) == offset_of(low) else (low, middle)
        transitions.append(high)
    return transitions


TRANSITIONS = {zone: find_transitions(zone) for zone in ZONES}
MOVING_ZONES = [zone for zone in ZONES if TRANSITIONS[zone]]


@dataclass(frozen=True)
class ZonedMoment:
    moment: datetime
    zone: ZoneInfo


@st.composite
def moments_near_transitions(draw: st.DrawFn) -> ZonedMoment:
    zone = draw(st.sampled_from(MOVING_ZONES))
    second = draw(st.sampled_from(TRANSITIONS[zone])) + draw(st.integers(-_NEARBY_S, _NEARBY_S))
    return ZonedMoment(datetime.fromtimestamp(second, UTC), zone)


zoned_moments = st.one_of(
    st.builds(
        ZonedMoment,
        st.integers(FIRST_SECOND, LAST_SECOND).map(lambda second: datetime.fromtimestamp(second, UTC)),
        st.sampled_from(ZONES),
    ),
    moments_near_transitions(),
)


@st.composite
def wall_times(draw: st.DrawFn, whole_minutes: bool = False) -> tuple[ZonedMoment, time]:
    """A moment and a time of day: any, or one that is on the wall within hours of the transition next to the moment."""
    zoned = draw(zoned_moments)
    transitions = TRANSITIONS[zoned.zone]
    if not transitions or draw(st.booleans()):
        time_of_day = draw(times_of_day)
    else:
        nearest = min(transitions, key=lambda second: abs(second - zoned.moment.timestamp()))
        before = datetime.fromtimestamp(nearest - 1, zoned.zone).replace(tzinfo=None)  # the wall goes on as before
        time_of_day = (before + timedelta(seconds=draw(st.integers(-7_200, 7_200)))).time().replace(fold=0)
    return zoned, time_of_day.replace(second=0) if whole_minutes else time_of_day


@st.composite
def zoned_schedules(draw: st.DrawFn) -> tuple[ZonedMoment, WeeklySchedule | MonthlySchedule]:
    zoned, time_of_day = draw(wall_times(whole_minutes=True))
    if draw(st.booleans()):
        return zoned, replace(draw(calendar_schedules), time_of_day=time_of_day)
    return zoned, WeeklySchedule(weekdays=frozenset(range(7)), time_of_day=time_of_day)


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


@given(zoned_schedules())
def test_the_next_due_time_is_later_and_on_the_wall_clock(
    drawn: tuple[ZonedMoment, WeeklySchedule | MonthlySchedule],
) -> None:
    zoned, schedule = drawn
    after, zone = zoned.moment, zoned.zone

    due = next_due_time(schedule, after, zone)

    local = due.astimezone(zone)
    assert after < due <= after + timedelta(days=34)
    assert local.time() == schedule.time_of_day or _is_gap_end(due, zone)


@given(zoned_schedules())
def test_no_due_time_is_left_out_or_comes_twice(drawn: tuple[ZonedMoment, WeeklySchedule | MonthlySchedule]) -> None:
    zoned, schedule = drawn
    after, zone = zoned.moment, zoned.zone

    due = next_due_time(schedule, after, zone)

    assert next_due_time(schedule, due - timedelta(seconds=1), zone) == due
    following = next_due_time(schedule, due, zone)
    assert following > due
    middle = after + (due - after) / 2
    assume(middle < due)
    assert next_due_time(schedule, middle, zone) == due


@given(wall_times())
def test_a_local_time_that_exists_is_the_first_instant_that_shows_it(drawn: tuple[ZonedMoment, time]) -> None:
    zoned, time_of_day = drawn
    zone, day = zoned.zone, zoned.moment.astimezone(zoned.zone).date()

    due = resolve_local_time(day, time_of_day, zone)

    local = due.astimezone(zone)
    if local.replace(tzinfo=None) == datetime.combine(day, time_of_day):
        assert local.fold == 0
    else:
        assert local.replace(tzinfo=None) > datetime.combine(day, time_of_day)
        assert _is_gap_end(due, zone)


@given(st.sampled_from(MOVING_ZONES), st.data())
def test_each_skipped_time_is_the_end_of_its_gap_and_each_repeated_one_the_first(
    zone: ZoneInfo, data: st.DataObject
) -> None:
    second = data.draw(st.sampled_from(TRANSITIONS[zone]))
    last, first = (datetime.fromtimestamp(second - 1, zone), datetime.fromtimestamp(second, zone))
    old_wall, new_wall = last.replace(tzinfo=None) + timedelta(seconds=1), first.replace(tzinfo=None)
    shift_s = int(abs((new_wall - old_wall).total_seconds()))
    passed = timedelta(seconds=data.draw(st.integers(0, shift_s - 1)))
    wall = min(old_wall, new_wall) + passed

    due = resolve_local_time(wall.date(), wall.time().replace(fold=0), zone)

    if new_wall > old_wall:
        assert due == datetime.fromtimestamp(second, UTC)
    else:
        assert due == datetime.fromtimestamp(second - shift_s, UTC) + passed


def test_the_transitions_of_a_zone_are_those_that_are_known() -> None:
    known = {
        "Europe/Berlin": (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)),
        "Pacific/Apia": (datetime(2011, 12, 30, 10, tzinfo=UTC),),
        "Australia/Lord_Howe": (datetime(2026, 4, 4, 15, tzinfo=UTC), datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
    }

    assert {zone.key for zone in ZONES} - {zone.key for zone in MOVING_ZONES} == {"UTC", "Asia/Kathmandu"}
    for name, moments in known.items():
        assert {int(moment.timestamp()) for moment in moments} <= set(TRANSITIONS[ZoneInfo(name)])


@pytest.mark.parametrize(
    ("zone", "day", "time_of_day", "due"),
    [
        ("Europe/Berlin", date(2026, 3, 29), time(1, 59), datetime(2026, 3, 29, 0, 59, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 3, 29), time(2, 0), datetime(2026, 3, 29, 1, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 3, 29), time(2, 59), datetime(2026, 3, 29, 1, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 3, 29), time(3, 0), datetime(2026, 3, 29, 1, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 10, 25), time(2, 0), datetime(2026, 10, 25, 0, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 10, 25), time(2, 59), datetime(2026, 10, 25, 0, 59, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 10, 25), time(3, 0), datetime(2026, 10, 25, 2, tzinfo=UTC)),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 10), datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 30), datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
        ("Australia/Lord_Howe", date(2026, 4, 5), time(1, 40), datetime(2026, 4, 4, 14, 40, tzinfo=UTC)),
        ("Australia/Lord_Howe", date(2026, 4, 5), time(2, 0), datetime(2026, 4, 4, 15, 30, tzinfo=UTC)),
        ("Pacific/Apia", date(2011, 12, 29), time(23, 59), datetime(2011, 12, 30, 9, 59, tzinfo=UTC)),
        ("Pacific/Apia", date(2011, 12, 30), time(0, 0), datetime(2011, 12, 30, 10, tzinfo=UTC)),
        ("Pacific/Apia", date(2011, 12, 30), time(9, 0), datetime(2011, 12, 30, 10, tzinfo=UTC)),
        ("Pacific/Apia", date(2011, 12, 31), time(0, 0), datetime(2011, 12, 30, 10, tzinfo=UTC)),
        ("Pacific/Apia", date(2011, 12, 31), time(9, 0), datetime(2011, 12, 30, 19, tzinfo=UTC)),
    ],
)
def test_a_local_time_at_a_change_of_the_clocks_is_this_instant(
    zone: str, day: date, time_of_day: time, due: datetime
) -> None:
    assert resolve_local_time(day, time_of_day, ZoneInfo(zone)) == due


def test_a_search_of_a_day_that_a_zone_skips_is_due_when_the_day_after_begins() -> None:
    apia, fridays, daily = ZoneInfo("Pacific/Apia"), weekly(4, hour=9), weekly(*range(7), hour=9)
    thursday = datetime(2011, 12, 29, 20, tzinfo=UTC)  # 10:00 there

    assert next_due_time(fridays, thursday, apia) == datetime(2011, 12, 30, 10, tzinfo=UTC)
    assert next_due_time(fridays, datetime(2011, 12, 30, 10, tzinfo=UTC), apia) == datetime(2012, 1, 5, 19, tzinfo=UTC)
    due_times = [thursday]
    for _ in range(3):
        due_times.append(next_due_time(daily, due_times[-1], apia))
    assert [f"{due.astimezone(apia):%d %H:%M}" for due in due_times[1:]] == ["31 00:00", "31 09:00", "01 09:00"]


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
