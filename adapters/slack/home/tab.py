"""The Home tab: what a person may ask, asked and exported; below it, for admins, what there is to administer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import accumulate
from typing import Final

from adapters.slack.home.blocks import (
    actions,
    bullets,
    button,
    counted,
    divider,
    fitting,
    header,
    key,
    lines,
    link,
    marked,
    moment,
    note,
    pager,
    raw,
    shown,
    words,
)
from adapters.slack.render import Block, Json
from bot.administration import Admin, Bucket, Limit, Overview
from bot.ids import Subject
from bot.personal import ExportStatus, Own, PastExport, PastQuestion, VisibleBucket

MINE, ALL, PEOPLE, QUESTIONS = 12, 12, 20, 5  # shown at once
NAMES: Final = 2_900  # UTF-16 units of people's names: a section takes 3,000
_ENDINGS: Final = {
    None: "being answered",
    "answer": "answered",
    "overload": "asked back",
    "ambiguous": "asked back",
    "no_results": "nothing found",
    "refused": "nothing you may see",
    "failed": "failed",
    "limited": "put off",
    "stopped": "stopped",
}
_STATES: Final = {
    ExportStatus.QUEUED: "waiting",
    ExportStatus.RUNNING: "being written",
    ExportStatus.DONE: "done",
    ExportStatus.FAILED: "stopped",
    ExportStatus.EXPIRED: "expired; ask for it again",
}
LIMITS: Final = {
    Limit.PERSON_HOUR: "per person in an hour",
    Limit.PERSON_DAY: "per person in 24 hours",
    Limit.TENANT_HOUR: "by everyone together in an hour",
    Limit.TENANT_DAY: "by everyone together in 24 hours",
}


@dataclass(frozen=True, slots=True)
class Pages:
    """Where each of the two lists of buckets begins."""

    mine: int = 0
    all: int = 0

    @classmethod
    def read(cls, value: str) -> "Pages":
        """As a button carries them. From the beginning where it carries anything else."""
        parts = value.split(":")
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
            return cls()
        return cls(int(parts[0]), int(parts[1]))


def home(own: Own, overview: Overview | None, pages: Pages, zone: tzinfo, homes: frozenset[str]) -> Mapping[str, Json]:
    """`overview`: for admins. `homes`: the ids under which people and channels of this installation are known."""
    blocks = [
        header("Parley"),
        lines(
            "I answer questions about your company's documents, and ask back where a question can mean several things."
        ),
        *_asking(own, pages),
        *_questions(own, zone),
        *_exports(own, zone),
        header("Help"),
        _help(),
    ]
    if overview is not None:
        blocks += [divider(), *_administration(overview, pages, zone, homes)]
    return {"type": "home", "callback_id": "home", "blocks": blocks}


def ending_of(question: PastQuestion) -> str:
    return _ENDINGS.get(question.ending, "answered")


def _asking(own: Own, pages: Pages) -> list[Block]:
    if not own.buckets:
        return [header("What you may ask"), lines(_nothing(own, pages))]
    listed = [bullets([_bucket(one)]) for one in own.buckets]
    paging = pager("home:mine", pages.mine, MINE, own.bucket_count, f"{{}}:{pages.all}")
    return [header("What you may ask"), *listed, *paging]


def _nothing(own: Own, pages: Pages) -> str:
    if pages.mine and own.bucket_count:
        return "There are no more. Open this tab again to see the list from its beginning."
    return "No documents are open to you alone yet. In channels you may see more: ask me there, or ask an admin."


def _bucket(bucket: VisibleBucket) -> list[Json]:
    described = [words(bucket.description, 200)] if bucket.description.strip() else []
    return [
        words(bucket.title, 120, bold=True),
        raw(f" · {counted(bucket.documents, 'document')}"),
        *([raw("\n"), *described] if described else []),
        raw("\nFor example: "),
        words(bucket.example, 150),
    ]


def _questions(own: Own, zone: tzinfo) -> list[Block]:
    if not own.questions:
        return [header("Your recent questions"), lines("You have not asked anything yet.")]
    items = [
        [words(one.text, 150), raw(f" · {ending_of(one)} · {moment(one.asked_at, zone)}")] for one in own.questions
    ]
    return [header("Your recent questions"), bullets(items)]


def _exports(own: Own, zone: tzinfo) -> list[Block]:
    if not own.exports:
        return [
            header("Your exports"),
            lines("You have not asked for a file yet. Under any list there is a button for it."),
        ]
    return [header("Your exports"), bullets([_export(one, zone) for one in own.exports])]


def _export(export: PastExport, zone: tzinfo) -> list[Json]:
    asked = f" · {moment(export.asked_at, zone)} · "
    if export.name is None:
        return [words("A file"), raw(f"{asked}what it lists is not open to you now")]
    rows = "" if export.rows is None else f" · {counted(export.rows, 'row')}"
    named: list[Json] = [words(export.name, 120, bold=True), raw(f"{rows}{asked}")]
    if export.url is None or export.expires is None:
        state = _STATES[export.status]
        return [*named, raw(state if state != "done" else "in the conversation where you asked")]
    until = raw(f" until {moment(export.expires, zone)}")
    return [*named, link(export.url, "Download"), until]


def _help() -> Block:
    told = (
        "Write to me in the Messages tab, or mention me in a channel: there I answer from what the channel may see.",
        "Narrow down as you would with a colleague: “only 2024”, “and from Acme?”. “Start over” forgets what was said.",
        "Where there is too much, I offer buttons. Each says how many documents it leads to.",
        "“As CSV” makes a file of any list, whole, however long it is.",
    )
    return bullets([[words(one)] for one in told])


# -- for admins


def _administration(overview: Overview, pages: Pages, zone: tzinfo, homes: frozenset[str]) -> list[Block]:
    page = overview.buckets[pages.all : pages.all + ALL]
    listed = [_managed(one, zone) for one in page] or [lines("There are no buckets here.")]
    return [
        header("Administration: buckets"),
        *listed,
        *pager("home:all", pages.all, ALL, len(overview.buckets), f"{pages.mine}:{{}}"),
        header("Administration: admins"),
        marked(_people(overview.admins, homes), button("Change", "admin:admins", "open")),
        header("Administration: limits"),
        lines(*_limits(overview.limits), button=button("Change", "admin:limits", "open")),
        header("Administration: questions of the last 30 days"),
        *_looked_back("Without an answer", overview.unanswered),
        *_looked_back("Rated badly", overview.rated_badly),
        actions([button("Show more questions", "admin:questions", "open")]),
    ]


def _managed(bucket: Bucket, zone: tzinfo) -> Block:
    return lines(
        *bucket_lines(bucket, zone),
        button=button("Grants", "admin:bucket", key(bucket.id)),
    )


def bucket_lines(bucket: Bucket, zone: tzinfo) -> tuple[str, str]:
    """What it is called, and what is in it."""
    named = fitting(bucket.title, 120)
    title = named if bucket.title == bucket.id else f"{named} ({fitting(bucket.id, 100)})"
    if bucket.documents is None:
        return title, f"this bucket is gone · {counted(len(bucket.grants), 'grant')}"
    synced = "" if bucket.synced is None else f" · synced {moment(bucket.synced, zone)}"
    return title, f"{counted(bucket.documents, 'document')}{synced} · {counted(len(bucket.grants), 'grant')}"


def _people(admins: Sequence[Admin], homes: frozenset[str]) -> str:
    if not admins:
        return "Nobody yet but the owner of the machine. Name the first in PARLEY_ADMINS."
    named = _within_a_section([shown(Subject(f"user:{one.person}"), homes) for one in admins[:PEOPLE]])
    more = f" and {len(admins) - len(named):,} more" if len(admins) > len(named) else ""
    return ", ".join(named) + more


def _within_a_section(names: Sequence[str]) -> Sequence[str]:
    """The first of them. One that Slack knows is short; the operator may have named anybody."""
    ends = accumulate(len(name.encode("utf-16-le")) // 2 + len(", ") for name in names)
    return names[: sum(end <= NAMES for end in ends)]


def _limits(limits: Mapping[Limit, int]) -> list[str]:
    told = [f"{counted(limits[one], 'question')} {words}" for one, words in LIMITS.items() if one in limits]
    return told or ["Any number of questions may be asked."]


def _looked_back(title: str, questions: Sequence[PastQuestion]) -> list[Block]:
    if not questions:
        return [note(f"{title}: none")]
    return [note(f"{title}, the newest first"), bullets([past(one) for one in questions])]


def past(question: PastQuestion) -> list[Json]:
    """A question as admins look back at it: nobody's name is needed for that."""
    reason = f" · {fitting(question.reason, 100)}" if question.reason.strip() else ""
    return [words(question.text, 120), raw(f" · {ending_of(question)}{reason}")]
