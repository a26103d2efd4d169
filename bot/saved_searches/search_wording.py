"""What Parley says about saved searches. Markdown, in English, as the requests are."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

from agent.compose.phrases.values import format_number
from agent.outcome import Answer, Clarify, Outcome
from bot.ids import BucketId
from bot.saved_searches.schedule import ChangeSchedule, SearchSchedule, format_schedule, parse_schedule
from bot.saved_searches.watched_documents import MAX_WATCHED_DOCUMENTS, DocumentChanges, WatchedDocuments
from bot.surface.inbound import SavedSearchRun
from bot.surface.replies import escape_markdown
from storage.search.conditions import conjuncts_of
from storage.search.plan import Plan
from storage.search.schema import Schema
from storage.sql.saved_search_store import SavedSearchStatus, StoredSavedSearch

NO_SET_NOTICE: Final = (
    "I can watch a set of documents, such as “contracts with a value over 10,000”, and this does not name one that I "
    "understand. Nothing was saved."
)
NO_SEARCHES_NOTICE: Final = (
    "You have no saved searches here. “Tell me when a new contract arrives” or “every Monday at 9:00: receipts over "
    "5,000” makes one."
)
SCHEDULE_CHOICES: Final = (
    ("When documents change", "on change"),
    ("Every day at 9:00", "every day at 09:00"),
    ("Every Monday at 9:00", "every Monday at 09:00"),
)  # label and schedule
LOST_RIGHTS_REASON: Final = "what it reads may no longer be seen here"
LEFT_CONVERSATION_REASON: Final = "the person who asked for it no longer reads this conversation"
NO_SET_REASON: Final = "its question no longer names a set of documents that I understand"
TOO_MANY_REASON: Final = f"it finds more than the {MAX_WATCHED_DOCUMENTS:,} documents that I can watch"
MAX_SHOWN_TITLES: Final = 5
_FIRST_SENTENCE: Final = re.compile(r"(?:I found |I read this as: )?(.+?[.!?])(?=\s|$)")


def describe_creation(
    search: StoredSavedSearch, outcome: Outcome, watched: WatchedDocuments, *, zone: tzinfo, is_posted: bool
) -> str:
    """The confirmation: what the search watches, how many documents that is now, and when it reports."""
    reading = _first_sentence_of(outcome)
    schedule = parse_schedule(search.schedule) or ChangeSchedule()
    found = _count_documents(len(watched.fingerprints))
    number = search.position
    lines = [
        f"I have saved this as search **{search.position}**: {_quote(search.question)}. It finds **{found}** now.",
        f"_I read it as: {reading}_" if reading else "",
        _describe_reports(search, schedule, zone)
        if is_posted
        else f"Nothing can be posted here; `parley saved run {number}` shows what has changed.",
        f"To end it, say “stop watching {number}”."
        if is_posted
        else f"`parley saved list` lists the saved searches, and `parley saved stop {number}` ends this one.",
    ]
    return "\n\n".join(filter(None, lines))


def ask_for_schedule(plan: Plan) -> str:
    """The question above the choices of `SCHEDULE_CHOICES`."""
    return f"When shall I ask this again by myself: {_quote(plan.question)}?"


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
    lines = [f"**Saved search {search.position}**: {_quote(search.question)}"]
    now = _count_documents(len(watched.fingerprints))
    if changes.is_empty:
        lines.append(f"Nothing has changed since the last time: {now}.")
    else:
        counts = [
            f"**{format_number(len(doc_ids))} {name}**"
            for name, doc_ids in (("new", changes.new), ("changed", changes.changed), ("gone", changes.gone))
            if doc_ids
        ]
        lines.append(f"{', '.join(counts)} since the last time; {now} now.")
    if isinstance(outcome, Answer) and any(leg.answer_form.computes for leg in outcome.plan.legs):
        lines.append("" if outcome.citations else outcome.text)
    lines.append(_list_titles("New", changes.new, watched))
    lines.append(_list_titles("Changed", changes.changed, watched))
    if run.missed_count:
        lines.append(_describe_delay(run, zone))
    lines.append(f"_To end it, say “stop watching {search.position}”._")
    return "\n\n".join(filter(None, lines))


def describe_pause(search: StoredSavedSearch, reason: str) -> str:
    """The one sentence of a search that pauses."""
    return f"I have paused saved search {search.position}, {_quote(search.question)}, because {reason}."


def describe_searches(searches: Sequence[StoredSavedSearch], readable_buckets: Collection[str]) -> str:
    """A line for each search. How many documents it found the last time is said where these may still be read."""
    if not searches:
        return NO_SEARCHES_NOTICE
    lines = [
        f"- **{search.position}** {_quote(search.question)}, {_describe_state(search, readable_buckets)}"
        for search in searches
    ]
    hint = f"To end one, say its number: “stop watching {searches[0].position}”."
    return "\n".join(["Your saved searches:", "", *lines, "", hint])


def describe_stop(stopped: Sequence[StoredSavedSearch]) -> str:
    questions = ", ".join(f"{search.position} ({_quote(search.question)})" for search in stopped)
    return f"I have stopped saved search {questions}." if len(stopped) == 1 else f"I have stopped these: {questions}."


def describe_limit(limit: int) -> str:
    return f"You have {limit} saved searches already, which is as many as one person may have. Stop one of them first."


def describe_excess(count: int) -> str:
    return (
        f"This finds {_count_documents(count)}, and a saved search can watch {MAX_WATCHED_DOCUMENTS:,} at most. "
        "Nothing was saved; please narrow it."
    )


def format_local_time(moment: datetime, zone: tzinfo) -> str:
    """ "Monday 30 November 2026 at 09:00"."""
    local = moment.astimezone(zone)
    return f"{local:%A} {local.day} {local:%B %Y} at {local:%H:%M}"


def _describe_reports(search: StoredSavedSearch, schedule: SearchSchedule, zone: tzinfo) -> str:
    if isinstance(schedule, ChangeSchedule):
        return "I will tell you here when a document is new, changed or gone."
    times = format_schedule(schedule)
    due = "" if search.due_at is None else f", next on {format_local_time(search.due_at, zone)}"
    return (
        f"{times[:1].upper()}{times[1:]} ({search.time_zone}{due}) I will tell you here what is new, changed and gone."
    )


def _describe_delay(run: SavedSearchRun, zone: tzinfo) -> str:
    due = format_local_time(run.due_at, zone)
    if run.missed_count == 1:
        return f"_This was due on {due}, when I was not running._"
    return f"_I was not running on {due}, when this was due, and missed {run.missed_count} times; this is about all._"


def _describe_state(search: StoredSavedSearch, readable_buckets: Collection[str]) -> str:
    found = f"; {_count_documents(len(search.seen))}" if set(search.buckets) <= set(readable_buckets) else ""
    return f"{search.schedule}{found}{'; paused' if search.status is SavedSearchStatus.PAUSED else ''}"


def _list_titles(heading: str, doc_ids: Sequence[str], watched: WatchedDocuments) -> str:
    if not doc_ids:
        return ""
    titles = [watched.titles.get(doc_id) or doc_id for doc_id in doc_ids[:MAX_SHOWN_TITLES]]
    lines = [f"- {escape_markdown(title)}" for title in titles]
    if (rest := len(doc_ids) - len(titles)) > 0:
        lines.append(f"- and {format_number(rest)} more")
    return "\n".join([f"{heading}:", "", *lines])


def _first_sentence_of(outcome: Outcome) -> str:
    """How the question was read, as the answer to it begins."""
    if not isinstance(outcome, (Answer, Clarify)):
        return ""
    match = _FIRST_SENTENCE.match(outcome.text)
    return "" if match is None else match[1].replace("**", "")


def _count_documents(count: int) -> str:
    return f"{format_number(count)} {'document' if count == 1 else 'documents'}"


def _quote(question: str) -> str:
    return f"“{escape_markdown(question)}”"
