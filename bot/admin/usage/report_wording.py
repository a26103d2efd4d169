"""The report for admins in short lines, the same in every chat product and in the language of the reply.

Words of people are put in as they are: each product shortens and escapes them.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from agent.compose.phrases.values import format_number
from agent.translation.message_catalogues import mark_message
from bot.conversation.reasoning_record import label_of_stage
from bot.translation import translate_message, translate_plural

if TYPE_CHECKING:
    from bot.admin.usage.usage_report import GroupWebCost, QuestionGroup, UnknownWord, UsageReport

_MAX_NAMES: Final = 3  # of one line
_ENDINGS: Final = (
    ("answered", mark_message("{count} answered")),
    ("asked_back", mark_message("{count} asked back")),
    ("nothing_found", mark_message("{count} found nothing")),
    ("refused", mark_message("{count} refused")),
    ("failed", mark_message("{count} failed")),
    ("other", mark_message("{count} stopped, edited or put off")),
)
# What people choose, by the kind of the choice in results.
_CHOICE_LABELS: Final[Mapping[str, str]] = {
    "filter": mark_message("narrowing down"),
    "drop": mark_message("leaving a condition out"),
    "nearest": mark_message("the nearest value"),
    "spelling": mark_message("another spelling"),
    "missing": mark_message("documents without a value"),
    "bucket": mark_message("one of several buckets"),
    "document": mark_message("a document"),
    "reading": mark_message("another meaning"),
    "more": mark_message("further choices"),
    "export": mark_message("a file of all"),
    "web": mark_message("searching the web"),
    "anyway": mark_message("an answer nevertheless"),
    "private": mark_message("asking in private"),
    "meaning": mark_message("searching by meaning"),
    "restart": mark_message("starting over"),
    "save": mark_message("saving the search"),
}


def label_of_choice(kind: str) -> str:
    """What is chosen, in words that are translated where they are shown; the kind where none are known."""
    return _CHOICE_LABELS.get(kind, kind)


def describe_counts(report: "UsageReport") -> str:
    """How many questions were asked, and how they ended."""
    counts = report.counts
    if not counts.asked:
        return translate_plural(
            "Nothing was asked in the last {days} day.",
            "Nothing was asked in the last {days} days.",
            report.days,
            days=format_number(report.days),
        )
    endings = [
        translate_message(message, count=format_number(number))
        for name, message in _ENDINGS
        if (number := getattr(counts, name))
    ]
    return translate_message(
        "{questions} of {people}: {endings}.",
        questions=count_questions(counts.asked),
        people=count_people(report.people),
        endings=", ".join(endings),
    )


def list_figures(report: "UsageReport", buckets: Collection[str] | None = None) -> list[str]:
    """A line each about clicks, bad ratings, the slowest question, the costs and the buckets that nobody found anything
    in. None of them has words of a question. `buckets`: only these are named.
    """
    lines: list[str] = []
    clicked = [use for use in report.choices if use.clicked]
    if report.clicks:
        kinds = [
            translate_message(
                "{kind} ({clicked} of {offered})",
                kind=translate_message(label_of_choice(use.kind)),
                clicked=format_number(use.clicked),
                offered=format_number(use.offered),
            )
            for use in clicked
        ]
        lines.append(
            translate_message("Clicked after asking back: {clicks}", clicks=_join_first(kinds))
            if kinds
            else translate_message("Clicks: {count}", count=format_number(report.clicks))
        )
    if report.rated_badly:
        lines.append(translate_message("Rated badly: {count}", count=format_number(len(report.rated_badly))))
    if report.slowest:
        slow = report.slowest[0]
        seconds = format_number(round(slow.seconds, 1))
        stage = translate_message(label_of_stage(slow.slowest_stage)) if slow.slowest_stage else ""
        lines.append(
            translate_message("The slowest took {seconds} s; its longest step: {stage}", seconds=seconds, stage=stage)
            if stage
            else translate_message("The slowest took {seconds} s", seconds=seconds)
        )
    if report.costs:
        costs = [f"{cost.model}, {cost.group} ${cost.cost_usd:,.2f}" for cost in report.costs]
        lines.append(translate_message("Models, by group: {costs}", costs=_join_first(costs, "; ")))
    if report.web_costs:
        costs = [describe_web_cost(cost) for cost in report.web_costs]
        lines.append(translate_message("Web searches, by group: {costs}", costs=_join_first(costs, "; ")))
    unasked = [bucket for bucket in report.unasked_buckets if buckets is None or bucket in buckets]
    if unasked:
        lines.append(translate_message("Nobody found anything in: {buckets}", buckets=_join_first(unasked)))
    return lines


def describe_web_cost(cost: "GroupWebCost") -> str:
    """What a group's web searches cost: requests to the search server, pages and megabytes fetched."""
    requests = translate_plural(
        "{count} request", "{count} requests", cost.requests, count=format_number(cost.requests)
    )
    pages = translate_plural("{count} page", "{count} pages", cost.pages, count=format_number(cost.pages))
    return f"{cost.group} {requests}, {pages}, {format_megabytes(cost.bytes_read)}"


def format_megabytes(size_bytes: int) -> str:
    return f"{format_number(round(size_bytes / 1_000_000, 1))} MB"


def describe_group(group: "QuestionGroup") -> str:
    """Questions about the same, by the wording that is most frequent."""
    more = len(group.questions) - 1
    wordings = f"“{group.questions[0]}”" + (f" {_and_more(more)}" if more else "")
    return f"{wordings} · {format_number(group.count)}× · {count_people(group.people)}"


def describe_word(word: "UnknownWord", buckets: Collection[str] | None = None) -> str:
    """A word that no bucket knows, and where it was looked for. `buckets`: only these are named."""
    asked_in = [bucket for bucket in word.buckets if buckets is None or bucket in buckets]
    line = f"“{word.word}” · {count_questions(word.questions)} · {count_people(word.people)}"
    return f"{line} · {_join_first(asked_in)}" if asked_in else line


def count_questions(number: int) -> str:
    return translate_plural("{count} question", "{count} questions", number, count=format_number(number))


def count_people(number: int) -> str:
    return translate_plural("{count} person", "{count} people", number, count=format_number(number))


def _join_first(names: list[str], separator: str = ", ") -> str:
    more = len(names) - _MAX_NAMES
    return separator.join(names[:_MAX_NAMES]) + (f" {_and_more(more)}" if more > 0 else "")


def _and_more(number: int) -> str:
    return translate_message("and {count} more", count=format_number(number))
