"""One of each thing that the adapter shows in Slack, by the name of its golden file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from adapters.slack.feedback import reason_view
from adapters.slack.home.modals import (
    Kept,
    Usergroup,
    admins_view,
    bucket_view,
    limits_view,
    questions_view,
    told_view,
)
from adapters.slack.home.tab import Pages, home
from adapters.slack.messages_tab import prompts_from
from adapters.slack.more import more_view
from adapters.slack.render import Json, Message, message_for, settled
from adapters.slack.status import LOADING, STATUS
from adapters.slack.steps import steps_view
from agent.outcome import ChoiceKind
from bot.administration import Admin, Bucket, Grant, Limit, LocalGroup, Overview
from bot.afterwards import Step, Steps
from bot.ids import BucketId, ChoiceId, ClarificationId, PersonId, Subject, TurnId
from bot.personal import ExportStatus, Own, PastExport, PastQuestion, VisibleBucket
from bot.replies import (
    Button,
    Choices,
    Chosen,
    File,
    Handle,
    Handles,
    Notice,
    Part,
    Progress,
    Reply,
    Source,
    Table,
    Text,
    Whole,
)

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOMES: Final = frozenset({"T1"})
PDF: Final = "https://example.org/contracts/c-1449.pdf"


def buttons(count: int) -> tuple[Button, ...]:
    return tuple(
        Button(id=ChoiceId(f"id{n}"), label=f"Vendor {n}", count=n, kind="filter") for n in range(1, count + 1)
    )


def a_choices(*offered: Button) -> Choices:
    return Choices(clarification=ClarificationId("c1"), buttons=offered, expires=NOON)


def a_reply(*parts: Part) -> Reply:
    return Reply(turn=TurnId("t1"), parts=parts)


PARTS: Final[Mapping[str, Part]] = {
    "text": Text(
        markdown="**1,042** receipts match _tires_ [1].\nkept: `vendor = Acme`\n\n- 2023\n- 2024 \\*net\\*\n\nAll.",
        sources=(
            Source(marker="1", title="Receipt <7> & more", page=3, url="https://example.org/r/7", quote="tires"),
            Source(marker="2", title="Notes", page=None, url=None, quote="none"),
        ),
    ),
    "table": Table(
        caption="2 of 1,042 receipts",
        columns=("Vendor", "Total"),
        rows=(("Acme & Sons", "1,200.00 USD"), ("<!channel>", "")),
    ),
    "choices": a_choices(
        Button(id=ChoiceId("a1"), label="Acme", count=512, kind="filter"),
        Button(id=ChoiceId("a2"), label="12 more vendors", count=87, kind="more"),
        Button(id=ChoiceId("a3"), label="Export all as CSV", count=1042, kind="export"),
        Button(id=ChoiceId("a4"), label="Just answer", count=None, kind="anyway"),
    ),
    "chosen": Chosen(label="Acme · 512", by="Ada <Lovelace>"),
    "expired": Chosen(label="This choice has expired; please ask again.", by=""),
    "file": File(
        name="receipts.csv",
        title="Receipts",
        rows=1042,
        path="/nowhere/receipts.csv",
        url="https://example.org/download/x",
        expires=NOON,
    ),
    "whole": Whole(name="answer-0a1b2c3d.txt", said=a_reply(Notice(text="All of it."))),
    "progress": Progress(text="Searching 6 buckets"),
    "about": Handles(handles=(Handle.RATE, Handle.STEPS)),
    "stop": Handles(handles=(Handle.STOP,)),
    "notice": Notice(text="I could not reach the index; please try again in a minute."),
}

_LABELS: Final = {
    ChoiceKind.FILTER: ("Acme", 512),
    ChoiceKind.DROP: ("without: category = tires", 1_042),
    ChoiceKind.NEAREST: ("Start date 2026 instead", 6),
    ChoiceKind.SPELLING: ("“Michelin” for “Michelen”", 31),
    ChoiceKind.MISSING: ("also those with no date", 281),
    ChoiceKind.BUCKET: ("Contracts", 64),
    ChoiceKind.DOCUMENT: ("Lease contract C-1456", 1),
    ChoiceKind.READING: ("the due date", 12),
    ChoiceKind.MORE: ("12 more vendors", 87),
    ChoiceKind.EXPORT: ("Export all as CSV", 1_042),
    ChoiceKind.WEB: ("Search the web", None),
    ChoiceKind.ANYWAY: ("Just answer", None),
    ChoiceKind.PRIVATE: ("Continue in private", None),
    ChoiceKind.MEANING: ("Search by meaning instead", None),
    ChoiceKind.RESTART: ("Start over", None),
}
EVERY_CHOICE: Final = a_choices(
    *(
        Button(id=ChoiceId(kind.value), label=label, count=count, kind=kind.value)
        for kind, (label, count) in _LABELS.items()
    )
)
_NOTICE_PERIOD: Final = Text(
    markdown="Notice period: **30 days** [1], **60 days** [2].",
    sources=(
        Source(marker="1", title="Lease C-1449", page=4, url=PDF, quote="By notice of 30 days in writing."),
        Source(
            marker="2",
            title="Lease C-1456",
            page=2,
            url=None,
            quote="This lease is for a year. Either party may end it by notice of 60 days. It then ends at once.",
        ),
    ),
)
_ASKED_BACK: Final = a_reply(
    Text(markdown="_kept: category = tires · say “start over” to forget it_"),
    Text(markdown="I found **233 receipts**, more than the 100 that I list.\n\nWhich of them? By vendor:"),
    a_choices(*buttons(2), Button(id=ChoiceId("r"), label="Start over", count=None, kind="restart")),
    Handles(handles=(Handle.STEPS,)),
)
_UNREAD: Final = "The attached **plan \\<v2\\>.dwg** and **a\\_b.zip** were not read: I read other kinds of files."
_ROWS: Final = tuple((f"Receipt {n}", f"{n}.00") for n in range(1, 301))


def _of(*parts: Part) -> Message:
    return message_for(a_reply(*parts))


MESSAGES: Final[Mapping[str, Message]] = {
    **{name: _of(part) for name, part in PARTS.items()},
    "answer": _of(_NOTICE_PERIOD, Text(markdown="_“period” is taken for the notice period_"), PARTS["about"]),
    "asked-back": message_for(_ASKED_BACK),
    "asked-back-and-chosen": message_for(settled(_ASKED_BACK, Chosen(label="Vendor 2", by="Ada"))),
    "every-choice": _of(EVERY_CHOICE),
    "file-as-link": message_for(a_reply(PARTS["file"]), frozenset({"/nowhere/receipts.csv"})),
    "file-beside-words": _of(Text(markdown="Here is **receipts.csv** with 1,042 rows."), PARTS["file"]),
    "more-choices": _of(a_choices(*buttons(60), *EVERY_CHOICE.buttons[-6:])),
    "shortened-table": _of(Table(caption="300 of 300", columns=("Document", "Total"), rows=_ROWS)),
    "shortened-text": _of(Text(markdown="\n\n".join(f"Paragraph {n}. {'word ' * 200}" for n in range(1, 15)))),
    "table-as-text": message_for(a_reply(PARTS["table"]), grids=False),
    "unread": _of(Text(markdown=_UNREAD), _NOTICE_PERIOD, PARTS["about"]),
    "working": _of(PARTS["progress"], PARTS["stop"]),
}

_ASKED: Final = PastQuestion(text="How many receipts per vendor?", asked_at=NOON, ending="answer")
_BADLY: Final = PastQuestion(text="Who pays for <!here>?", asked_at=NOON, ending="overload", reason="too many")
_OWN: Final = Own(
    buckets=(
        VisibleBucket(
            title="Receipts", description="Of six years.", documents=4_000, example="How many receipts per vendor?"
        ),
        VisibleBucket(title="Manuals", description="", documents=1, example="How many manuals are there?"),
    ),
    bucket_count=2,
    questions=(_ASKED, replace(_ASKED, ending=None)),
    exports=(
        PastExport(
            status=ExportStatus.DONE, asked_at=NOON, name="receipts-75.csv", rows=75, url="https://h/d/x", expires=NOON
        ),
        PastExport(status=ExportStatus.RUNNING, asked_at=NOON, name="receipts-4000.csv"),
        PastExport(status=ExportStatus.EXPIRED, asked_at=NOON, name="contracts-1.csv", rows=1),
        PastExport(status=ExportStatus.DONE, asked_at=NOON),
    ),
)
_SUBJECTS: Final = ("everyone", "user:slack:T1:U1", "channel:slack:T1:C1", "group:slack:T1:S1", "group:legal")
_BUCKET: Final = Bucket(
    id=BucketId("receipts"),
    title="Receipts",
    documents=4_000,
    synced=NOON,
    grants=tuple(
        Grant(
            bucket=BucketId("receipts"),
            subject=Subject(subject),
            include_external=subject.startswith("channel"),
            granted_by="x",
            granted_at=NOON,
        )
        for subject in _SUBJECTS
    ),
)
_GONE: Final = replace(_BUCKET, id=BucketId("old"), title="old", documents=None, synced=None)
_ADMINS: Final = (
    Admin(person=PersonId("slack:T1:U1"), by_settings=True),
    Admin(person=PersonId("slack:T1:U2"), by_settings=False),
)
_LIMITED: Final = {Limit.PERSON_HOUR: 60, Limit.TENANT_DAY: 5_000}
_OVERVIEW: Final = Overview(
    buckets=(_BUCKET, _GONE), admins=_ADMINS, limits=_LIMITED, unanswered=(_ASKED,), rated_badly=(_BADLY,)
)


def _grants(bucket: Bucket, *, groups: bool = False, said: str = "") -> Mapping[str, Json]:
    return bucket_view(
        bucket,
        Kept(),
        usergroups=[Usergroup(id="S1", name="Entitled")] if groups else [],
        groups=[LocalGroup(id="legal", title="Legal", members=frozenset())] if groups else [],
        zone=UTC,
        homes=HOMES,
        said=said,
    )


def _steps(*steps: Step) -> Mapping[str, Json]:
    return steps_view(Steps(route="long_text", reasoner="rule", ms=41.7, steps=steps))


@dataclass(frozen=True, slots=True)
class Shown:
    """A view, and the function that makes it."""

    by: Callable[..., Mapping[str, Json]]
    view: Mapping[str, Json]


VIEWS: Final[Mapping[str, Shown]] = {
    "home": Shown(home, home(_OWN, None, Pages(), UTC, HOMES)),
    "home-of-a-newcomer": Shown(
        home, home(Own(buckets=(), bucket_count=0, questions=(), exports=()), None, Pages(), UTC, HOMES)
    ),
    "home-of-an-admin": Shown(home, home(_OWN, _OVERVIEW, Pages(), UTC, HOMES)),
    "modal-admins": Shown(admins_view, admins_view(_ADMINS, Kept(), homes=HOMES)),
    "modal-grants": Shown(bucket_view, _grants(_BUCKET, groups=True)),
    "modal-grants-changed": Shown(bucket_view, _grants(_BUCKET, said="<@U1> may see this bucket now.")),
    "modal-grants-of-none": Shown(bucket_view, _grants(replace(_BUCKET, grants=()))),
    "modal-grants-of-what-is-gone": Shown(bucket_view, _grants(_GONE)),
    "modal-limits": Shown(limits_view, limits_view(_LIMITED, Kept(), said="Saved.")),
    "modal-more-choices": Shown(more_view, more_view(buttons(3), "{}")),
    "modal-more-choices-in-groups": Shown(more_view, more_view(buttons(101), "{}")),
    "modal-questions": Shown(questions_view, questions_view([_ASKED], [_BADLY])),
    "modal-questions-none": Shown(questions_view, questions_view([], [])),
    "modal-reason": Shown(reason_view, reason_view("{}")),
    "modal-steps": Shown(
        steps_view,
        _steps(
            Step(tool="search_text", looked_for="receipts: category = tires; “grip”", documents=1_042, ms=3.04),
            Step(tool="annotations_aggregate", looked_for="", documents=1, ms=0.2),
        ),
    ),
    "modal-steps-none": Shown(steps_view, _steps()),
    "modal-told": Shown(told_view, told_view("You are no longer an admin.")),
}

BESIDE: Final[Mapping[str, Json]] = {
    "prompts": [{**one} for one in prompts_from(_OWN.buckets)],
    "prompts-of-a-newcomer": [{**one} for one in prompts_from([])],
    "status": {"status": STATUS, "loading_messages": [*LOADING]},
}
