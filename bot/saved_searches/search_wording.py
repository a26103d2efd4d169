"""What Parley says about saved searches. Markdown, in the language of the reply."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final, assert_never

from babel.dates import get_day_names, get_month_names

from agent.compose.phrases.values import format_number
from agent.outcome import Answer, Clarify, Outcome
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import mark_message
from bot.ids import BucketId
from bot.saved_searches.schedule import (
    ChangeSchedule,
    MonthlySchedule,
    SearchSchedule,
    WeeklySchedule,
    format_schedule,
    parse_schedule,
)
from bot.saved_searches.watched_documents import MAX_WATCHED_DOCUMENTS, DocumentChanges, WatchedDocuments
from bot.surface.inbound import SavedSearchRun
from bot.surface.replies import escape_markdown
from bot.translation import get_reply_language, translate_message, translate_plural
from storage.search.conditions import conjuncts_of
from storage.search.plan import Plan
from storage.search.schema import Schema
from storage.sql.saved_search_store import SavedSearchKind, SavedSearchStatus, StoredSavedSearch

NO_SET_NOTICE: Final = mark_message(
    "I can watch a set of documents, such as “contracts with a value over 10,000”, and this does not name one that I "
    "understand. Nothing was saved."
)
NO_SEARCHES_NOTICE: Final = mark_message(
    "You have no saved searches here. “Tell me when a new contract arrives” or “every Monday at 9:00: receipts over "
    "5,000” makes one."
)
SCHEDULE_CHOICES: Final = (
    (mark_message("When documents change"), "on change"),
    (mark_message("Every day at 9:00"), "every day at 09:00"),
    (mark_message("Every Monday at 9:00"), "every Monday at 09:00"),
)  # label and schedule
LOST_RIGHTS_REASON: Final = mark_message("what it reads may no longer be seen here")
LEFT_CONVERSATION_REASON: Final = mark_message("the person who asked for it no longer reads this conversation")
NO_SET_REASON: Final = mark_message("its question no longer names a set of documents that I understand")
TOO_MANY_REASON: Final = mark_message("it finds more documents than I can watch")
MAX_SHOWN_TITLES: Final = 5
_FIRST_SENTENCE: Final = re.compile(r"(?:I found |I read this as: )?(.+?[.!?])(?=\s|$)")


def describe_creation(
    search: StoredSavedSearch, outcome: Outcome, watched: WatchedDocuments, *, zone: tzinfo, is_posted: bool
) -> str:
    """The confirmation: what the search watches, how many documents that is now, and when it reports."""
    reading = _first_sentence_of(outcome)
    schedule = parse_schedule(search.schedule) or ChangeSchedule()
    number = search.position
    saved = translate_message(
        "I have saved this as search **{number}**: {question}. It finds **{found}** now.",
        number=number,
        question=_quote(search.question),
        found=_count_documents(len(watched.fingerprints)),
    )
    if is_posted:
        reports = _describe_reports(search, schedule, zone)
        ending = translate_message("To end it, say “stop watching {number}”.", number=number)
    else:
        reports = translate_message(
            "Nothing can be posted here; `parley saved run {number}` shows what has changed.", number=number
        )
        ending = translate_message(
            "`parley saved list` lists the saved searches, and `parley saved stop {number}` ends this one.",
            number=number,
        )
    read_as = translate_message("_I read it as: {reading}_", reading=reading) if reading else ""
    return "\n\n".join(filter(None, [saved, read_as, reports, ending]))


def ask_for_schedule(plan: Plan) -> str:
    """The question above the choices of `SCHEDULE_CHOICES`."""
    return translate_message("When shall I ask this again by myself: {question}?", question=_quote(plan.question))


def name_plan(plan: Plan, schemas: Mapping[BucketId, Schema]) -> str:
    """Names a plan by its question and the conditions that it has come to, as raw text."""
    from agent.compose.phrases.conditions import describe_condition

    names = dict[str, None]()
    for leg in plan.legs:
        for clause in leg.search.clauses:
            if clause.bucket in schemas:
                for member in conjuncts_of(clause.display_condition):
                    names[describe_condition(member, schemas[clause.bucket], schemas)] = None
    return f"{plan.question} ({', '.join(names)})" if names else plan.question


def describe_report(
    search: StoredSavedSearch,
    run: SavedSearchRun,
    watched: WatchedDocuments,
    changes: DocumentChanges,
    *,
    outcome: Outcome,
    zone: tzinfo,
) -> str:
    """What is new, changed and gone, with counts, and the figures that the question asks for. Documents that are gone
    are counted only.
    """
    number, now = search.position, _count_documents(len(watched.fingerprints))
    lines = [
        translate_message("**Saved search {number}**: {question}", number=number, question=_quote(search.question))
    ]
    if changes.is_empty:
        lines.append(translate_message("Nothing has changed since the last time: {documents}.", documents=now))
    else:
        counts = ", ".join(_count_changes(changes))
        lines.append(translate_message("{counts} since the last time; {documents} now.", counts=counts, documents=now))
    if isinstance(outcome, Answer) and any(leg.answer_form.computes for leg in outcome.plan.legs):
        lines.append("" if outcome.citations else outcome.text)
    lines.append(_list_titles(translate_message("New:"), changes.new, watched))
    lines.append(_list_titles(translate_message("Changed:"), changes.changed, watched))
    if run.missed_count:
        lines.append(describe_delay(run, zone))
    lines.append(translate_message("_To end it, say “stop watching {number}”._", number=number))
    return "\n\n".join(filter(None, lines))


def _count_changes(changes: DocumentChanges) -> list[str]:
    return [
        translate_message(message, count=format_number(len(doc_ids)))
        for message, doc_ids in (
            (mark_message("**{count} new**"), changes.new),
            (mark_message("**{count} changed**"), changes.changed),
            (mark_message("**{count} gone**"), changes.gone),
        )
        if doc_ids
    ]


def describe_pause(search: StoredSavedSearch, reason: str) -> str:
    """The one sentence of a search that pauses. `reason`: one of the reasons above."""
    return translate_message(
        "I have paused saved search {number}, {question}, because {reason}.",
        number=search.position,
        question=_quote(search.question),
        reason=translate_message(reason),
    )


def describe_searches(searches: Sequence[StoredSavedSearch], readable_buckets: Collection[str]) -> str:
    """A line for each search. How many documents it found the last time is said where these may still be read."""
    if not searches:
        return translate_message(NO_SEARCHES_NOTICE)
    lines = [
        f"- **{search.position}** {_quote(search.question)}, {_describe_state(search, readable_buckets)}"
        for search in searches
    ]
    hint = translate_message("To end one, say its number: “stop watching {number}”.", number=searches[0].position)
    return "\n".join([translate_message("Your saved searches:"), "", *lines, "", hint])


def describe_stop(stopped: Sequence[StoredSavedSearch]) -> str:
    questions = ", ".join(f"{search.position} ({_quote(search.question)})" for search in stopped)
    if len(stopped) == 1:
        return translate_message("I have stopped saved search {search}.", search=questions)
    return translate_message("I have stopped these: {searches}.", searches=questions)


def describe_limit(limit: int) -> str:
    return translate_message(
        "You have {count} saved searches already, which is as many as one person may have. Stop one of them first.",
        count=limit,
    )


def describe_excess(count: int) -> str:
    return translate_message(
        "This finds {documents}, and a saved search can watch {limit} at most. Nothing was saved; please narrow it.",
        documents=_count_documents(count),
        limit=format_number(MAX_WATCHED_DOCUMENTS),
    )


def format_local_time(moment: datetime, zone: tzinfo) -> str:
    """ "Monday 30 November 2026 at 09:00"."""
    local, language = moment.astimezone(zone), get_reply_language()
    return translate_message(
        "{weekday} {day} {month} {year} at {time}",
        weekday=get_day_names("wide", locale=language)[local.weekday()],
        day=local.day,
        month=get_month_names("wide", locale=language)[local.month],
        year=local.year,
        time=f"{local:%H:%M}",
    )


def describe_schedule(schedule: SearchSchedule) -> str:
    """The schedule in words, without a capital letter."""
    match schedule:
        case ChangeSchedule():
            return translate_message("on change")
        case MonthlySchedule(day=day, time_of_day=time_of_day):
            if is_reply_in_english():
                return format_schedule(schedule)
            return translate_message("every month on day {day} at {time}", day=day, time=f"{time_of_day:%H:%M}")
        case WeeklySchedule(weekdays=weekdays, time_of_day=time_of_day):
            time = f"{time_of_day:%H:%M}"
            if len(weekdays) == 7:
                return translate_message("every day at {time}", time=time)
            if weekdays == frozenset(range(5)):
                return translate_message("every weekday at {time}", time=time)
            names = get_day_names("wide", locale=get_reply_language())
            days = translate_message(" and ").join(names[number] for number in sorted(weekdays))
            return translate_message("every {days} at {time}", days=days, time=time)
        case _:
            assert_never(schedule)


def _describe_reports(search: StoredSavedSearch, schedule: SearchSchedule, zone: tzinfo) -> str:
    if isinstance(schedule, ChangeSchedule):
        return translate_message("I will tell you here when a document is new, changed or gone.")
    times = describe_schedule(schedule)
    due = (
        ""
        if search.due_at is None
        else translate_message(", next on {time}", time=format_local_time(search.due_at, zone))
    )
    return translate_message(
        "{times} ({zone}{due}) I will tell you here what is new, changed and gone.",
        times=f"{times[:1].upper()}{times[1:]}",
        zone=search.time_zone,
        due=due,
    )


def describe_delay(run: SavedSearchRun, zone: tzinfo) -> str:
    due = format_local_time(run.due_at, zone)
    if run.was_held and run.missed_count == 1:
        return translate_message("_This was due on {time}, when the run before it had not ended._", time=due)
    if run.was_held:
        return translate_message(
            "_The run before had not ended on {time}, when this was due. I missed {count} times; this is about all._",
            time=due,
            count=run.missed_count,
        )
    if run.missed_count == 1:
        return translate_message("_This was due on {time}, when I was not running._", time=due)
    return translate_message(
        "_I was not running on {time}, when this was due, and missed {count} times; this is about all._",
        time=due,
        count=run.missed_count,
    )


def _describe_state(search: StoredSavedSearch, readable_buckets: Collection[str]) -> str:
    schedule = parse_schedule(search.schedule)
    states = [search.schedule if schedule is None else describe_schedule(schedule)]
    if search.kind is SavedSearchKind.SEARCH and set(search.buckets) <= set(readable_buckets):
        states.append(_count_documents(len(search.seen)))
    if search.status is SavedSearchStatus.PAUSED:
        states.append(translate_message("paused"))
    return "; ".join(states)


def _list_titles(heading: str, doc_ids: Sequence[str], watched: WatchedDocuments) -> str:
    if not doc_ids:
        return ""
    titles = [watched.titles.get(doc_id) or doc_id for doc_id in doc_ids[:MAX_SHOWN_TITLES]]
    lines = [f"- {escape_markdown(title)}" for title in titles]
    if (rest := len(doc_ids) - len(titles)) > 0:
        lines.append("- " + translate_message("and {count} more", count=format_number(rest)))
    return "\n".join([heading, "", *lines])


def _first_sentence_of(outcome: Outcome) -> str:
    """How the question was read, as the answer to it begins."""
    if not isinstance(outcome, (Answer, Clarify)):
        return ""
    match = _FIRST_SENTENCE.match(outcome.text)
    return "" if match is None else match[1].replace("**", "")


def _count_documents(count: int) -> str:
    return translate_plural("{count} document", "{count} documents", count, count=format_number(count))


def _quote(question: str) -> str:
    return f"“{escape_markdown(question)}”"
