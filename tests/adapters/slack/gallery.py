"""One example of each message and view that the adapter shows in Slack, by the name of its golden file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from adapters.slack.actions.feedback import rating_reason_view
from adapters.slack.actions.overflow_menu import more_choices_view
from adapters.slack.actions.steps import turn_steps_view
from adapters.slack.home.home_tab import HomePages, home_tab_view
from adapters.slack.home.messages_tab import prompts_from
from adapters.slack.home.modals import (
    ASKING_NOTE,
    ModalState,
    UsergroupChoice,
    admins_view,
    bucket_grants_view,
    changes_view,
    limits_view,
    notice_view,
    page_link_view,
    past_questions_view,
)
from adapters.slack.home.post_modal import post_view, posting_view
from adapters.slack.home.schema_modal import SchemaState, schema_view, schema_waiting_view
from adapters.slack.home.synonym_modal import (
    SynonymState,
    first_state,
    synonym_added_view,
    synonym_view,
    synonym_waiting_view,
)
from adapters.slack.posting.render import Json, RenderedMessage, slack_message_for, with_choices_settled
from adapters.slack.posting.status import LOADING_MESSAGES, STATUS_TEXT
from agent.outcome import ChoiceKind
from bot.admin.administration import (
    AdminEntry,
    AdminOverview,
    AuditEntry,
    BucketOverview,
    Grant,
    LocalGroup,
    QuestionLimit,
)
from bot.admin.bucket_syncs import BucketSync
from bot.admin.sentences import opaque_key_of
from bot.conversation.personal_history import ExportStatus, PastExport, PastQuestion, PersonalOverview, VisibleBucket
from bot.ids import BucketId, ChoiceId, ClarificationId, PersonId, Subject, TurnId
from bot.saved_searches.personal_searches import OwnSearch
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    FullTextPart,
    NoticePart,
    PictureKind,
    PicturePart,
    PicturePoint,
    ProgressPart,
    Reply,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
)
from bot.turns.turn_actions import SearchStep, TurnSteps
from tests.adapters.slack.report_examples import (
    A_REPORT,
    EDIT_PREVIEW,
    EDITABLE_SCHEMA,
    SYNONYM_PREVIEW,
    TARGETS,
    UNKNOWN_WORD,
)

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
ACCOUNT_IDS: Final = frozenset({"T1"})
PDF: Final = "https://example.org/contracts/c-1449.pdf"


def numbered_buttons(count: int) -> tuple[ChoiceButton, ...]:
    return tuple(
        ChoiceButton(id=ChoiceId(f"id{n}"), label=f"Vendor {n}", count=n, kind="filter") for n in range(1, count + 1)
    )


def choices_part_of(*buttons_offered: ChoiceButton) -> ChoicesPart:
    return ChoicesPart(clarification=ClarificationId("c1"), buttons=buttons_offered, expires=NOON)


def reply_with_parts(*parts: ReplyPart) -> Reply:
    return Reply(turn=TurnId("t1"), parts=parts)


PARTS: Final[Mapping[str, ReplyPart]] = {
    "text": TextPart(
        markdown="**1,042** receipts match _tires_ [1].\nkept: `vendor = Acme`\n\n- 2023\n- 2024 \\*net\\*\n\nAll.",
        sources=(
            ShownCitation(marker="1", title="Receipt <7> & more", page=3, url="https://example.org/r/7", quote="tires"),
            ShownCitation(marker="2", title="Notes", page=None, url=None, quote="none"),
        ),
    ),
    "table": TablePart(
        caption="2 of 1,042 receipts",
        columns=("Vendor", "Total"),
        rows=(("Acme & Sons", "1,200.00 USD"), ("<!channel>", "")),
    ),
    "picture": PicturePart(
        kind=PictureKind.BARS,
        title="Sum of total, by vendor",
        points=(
            PicturePoint(label="Acme & Sons", value=1_200.0, value_text="USD 1,200.00"),
            PicturePoint(label="<!channel>", value=600.5, value_text="USD 600.50"),
        ),
        description="Bars: Acme & Sons USD 1,200.00, <!channel> USD 600.50",
    ),
    "choices": choices_part_of(
        ChoiceButton(id=ChoiceId("a1"), label="Acme", count=512, kind="filter"),
        ChoiceButton(id=ChoiceId("a2"), label="12 more vendors", count=87, kind="more"),
        ChoiceButton(id=ChoiceId("a3"), label="Export all as CSV", count=1042, kind="export"),
        ChoiceButton(id=ChoiceId("a4"), label="Just answer", count=None, kind="anyway"),
    ),
    "chosen": ChosenPart(label="Acme · 512", by="Ada <Lovelace>"),
    "expired": ChosenPart(label="This choice has expired; please ask again.", by=""),
    "file": FilePart(
        name="receipts.csv",
        title="Receipts",
        rows=1042,
        path="/nowhere/receipts.csv",
        url="https://example.org/download/x",
        expires=NOON,
    ),
    "whole": FullTextPart(name="answer-0a1b2c3d.txt", reply=reply_with_parts(NoticePart(text="All of it."))),
    "progress": ProgressPart(text="Searching 6 buckets"),
    "about": TurnActionsPart(handles=(TurnAction.RATE, TurnAction.STEPS, TurnAction.SAVE)),
    "stop": TurnActionsPart(handles=(TurnAction.STOP,)),
    "notice": NoticePart(text="I could not reach the index; please try again in a minute."),
}

_LABELS: Final = {
    ChoiceKind.FILTER: ("Acme", 512),
    ChoiceKind.DROP: ("any category", 1_042),
    ChoiceKind.NEAREST: ("Start date 2026 instead", 6),
    ChoiceKind.SPELLING: ("“Michelin” for “Michelen”", 31),
    ChoiceKind.MISSING: ("also those with no date", 281),
    ChoiceKind.BUCKET: ("Contracts", 64),
    ChoiceKind.DOCUMENT: ("Lease contract C-1456", 1),
    ChoiceKind.READING: ("the due date", 12),
    ChoiceKind.MORE: ("12 more vendors", 87),
    ChoiceKind.EXPORT: ("Export all as CSV", 1_042),
    ChoiceKind.WEB: ("Search the web", None),
    ChoiceKind.JUST_ANSWER: ("Just answer", None),
    ChoiceKind.PRIVATE: ("Continue in private", None),
    ChoiceKind.MEANING: ("Search by meaning instead", None),
    ChoiceKind.RESTART: ("Start over", None),
    ChoiceKind.SAVE: ("Every Monday at 9:00", None),
}
EVERY_CHOICE: Final = choices_part_of(
    *(
        ChoiceButton(id=ChoiceId(kind.value), label=label, count=count, kind=kind.value)
        for kind, (label, count) in _LABELS.items()
    )
)
_NOTICE_PERIOD: Final = TextPart(
    markdown="Notice period: **30 days** [1], **60 days** [2].",
    sources=(
        ShownCitation(marker="1", title="Lease C-1449", page=4, url=PDF, quote="By notice of 30 days in writing."),
        ShownCitation(
            marker="2",
            title="Lease C-1456",
            page=2,
            url=None,
            quote="This lease is for a year. Either party may end it by notice of 60 days. It then ends at once.",
        ),
    ),
)
_ASKED_BACK: Final = reply_with_parts(
    TextPart(markdown="_kept: category = tires · say “start over” to forget it_"),
    TextPart(markdown="I found **233 receipts**, more than the 100 that I list.\n\nWhich of them? By vendor:"),
    choices_part_of(
        *numbered_buttons(2), ChoiceButton(id=ChoiceId("r"), label="Start over", count=None, kind="restart")
    ),
    TurnActionsPart(handles=(TurnAction.STEPS,)),
)
_UNREAD_FILES_NOTICE: Final = (
    "The attached **plan \\<v2\\>.dwg** and **a\\_b.zip** were not read: I read other kinds of files."
)
_ROWS: Final = tuple((f"Receipt {n}", f"{n}.00") for n in range(1, 301))


def _message_of(*parts: ReplyPart) -> RenderedMessage:
    return slack_message_for(reply_with_parts(*parts))


MESSAGES: Final[Mapping[str, RenderedMessage]] = {
    **{name: _message_of(part) for name, part in PARTS.items()},
    "answer": _message_of(
        _NOTICE_PERIOD, TextPart(markdown="_“period” is taken for the notice period_"), PARTS["about"]
    ),
    "asked-back": slack_message_for(_ASKED_BACK),
    "asked-back-and-chosen": slack_message_for(
        with_choices_settled(_ASKED_BACK, ChosenPart(label="Vendor 2", by="Ada"))
    ),
    "every-choice": _message_of(EVERY_CHOICE),
    "file-as-link": slack_message_for(reply_with_parts(PARTS["file"]), frozenset({"/nowhere/receipts.csv"})),
    "file-beside-words": _message_of(TextPart(markdown="Here is **receipts.csv** with 1,042 rows."), PARTS["file"]),
    "more-choices": _message_of(choices_part_of(*numbered_buttons(60), *EVERY_CHOICE.buttons[-6:])),
    "shortened-table": _message_of(TablePart(caption="300 of 300", columns=("Document", "Total"), rows=_ROWS)),
    "shortened-text": _message_of(
        TextPart(markdown="\n\n".join(f"Paragraph {n}. {'word ' * 200}" for n in range(1, 15)))
    ),
    "table-as-text": slack_message_for(reply_with_parts(PARTS["table"]), allow_data_tables=False),
    "unread": _message_of(TextPart(markdown=_UNREAD_FILES_NOTICE), _NOTICE_PERIOD, PARTS["about"]),
    "working": _message_of(PARTS["progress"], PARTS["stop"]),
}

_ANSWERED_QUESTION: Final = PastQuestion(text="How many receipts per vendor?", asked_at=NOON, ending="answer")
_BADLY_RATED_QUESTION: Final = PastQuestion(
    text="Who pays for <!here>?", asked_at=NOON, ending="overload", reason="too many"
)
_PERSONAL_OVERVIEW: Final = PersonalOverview(
    buckets=(
        VisibleBucket(
            title="Receipts", description="Of six years.", documents=4_000, example="How many receipts per vendor?"
        ),
        VisibleBucket(title="Manuals", description="", documents=1, example="How many manuals are there?"),
    ),
    bucket_count=2,
    questions=(_ANSWERED_QUESTION, replace(_ANSWERED_QUESTION, ending=None)),
    exports=(
        PastExport(
            status=ExportStatus.DONE,
            asked_at=NOON,
            name="receipts-75.csv",
            rows=75,
            url="https://h/d/x",
            expires_at=NOON,
        ),
        PastExport(status=ExportStatus.RUNNING, asked_at=NOON, name="receipts-4000.csv"),
        PastExport(status=ExportStatus.EXPIRED, asked_at=NOON, name="contracts-1.csv", rows=1),
        PastExport(status=ExportStatus.DONE, asked_at=NOON),
    ),
    saved_searches=(
        OwnSearch(
            number=7,
            question="List every contract with <!here> & ACME",
            schedule="on change",
            watches_changes=True,
            due_at=NOON,
        ),
        OwnSearch(
            number=9,
            question="Receipts over 5,000 of last week",
            schedule="every Monday at 09:00",
            watches_changes=False,
            due_at=NOON,
        ),
        OwnSearch(
            number=12,
            question="Manuals of pumps",
            schedule="every day at 09:00",
            watches_changes=False,
            due_at=None,
        ),
    ),
)
_SUBJECTS: Final = ("everyone", "user:slack:T1:U1", "channel:slack:T1:C1", "group:slack:T1:S1", "group:legal")
_BUCKET: Final = BucketOverview(
    id=BucketId("receipts"),
    title="Receipts",
    document_count=4_000,
    sync=BucketSync(
        ended_at=NOON + timedelta(hours=1),
        succeeded_at=NOON,
        has_failed=True,
        reason="the share <@U1> cannot be reached",
        due_at=NOON + timedelta(hours=2),
    ),
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
_DELETED_BUCKET: Final = replace(_BUCKET, id=BucketId("old"), title="old", document_count=None, sync=None)
_ADMINS: Final = (
    AdminEntry(person=PersonId("slack:T1:U1"), is_from_settings=True),
    AdminEntry(person=PersonId("slack:T1:U2"), is_from_settings=False),
)
_LIMITS: Final = {QuestionLimit.PERSON_HOUR: 60, QuestionLimit.TENANT_DAY: 5_000}
_OVERVIEW: Final = AdminOverview(
    buckets=(_BUCKET, _DELETED_BUCKET),
    admins=_ADMINS,
    limits=_LIMITS,
    unanswered=(_ANSWERED_QUESTION,),
    rated_badly=(_BADLY_RATED_QUESTION,),
)


def _grants_view(bucket: BucketOverview, *, groups: bool = False, notice: str = "") -> Mapping[str, Json]:
    return bucket_grants_view(
        bucket,
        ModalState(),
        usergroups=[UsergroupChoice(id="S1", name="Entitled")] if groups else [],
        groups=[LocalGroup(id="legal", title="Legal", members=frozenset())] if groups else [],
        zone=UTC,
        account_ids=ACCOUNT_IDS,
        notice=notice,
    )


def _steps_view(*steps: SearchStep, reasoner: str = "rule", lines: tuple[str, ...] = ()) -> Mapping[str, Json]:
    return turn_steps_view(
        TurnSteps(route="long_text", reasoner=reasoner, elapsed_ms=41.7, steps=steps, reasoning_lines=lines)
    )


@dataclass(frozen=True, slots=True)
class ViewExample:
    """A view, and the function that builds it."""

    builder: Callable[..., Mapping[str, Json]]
    view: Mapping[str, Json]


VIEWS: Final[Mapping[str, ViewExample]] = {
    "home": ViewExample(home_tab_view, home_tab_view(_PERSONAL_OVERVIEW, None, HomePages(), UTC, ACCOUNT_IDS)),
    "home-of-a-newcomer": ViewExample(
        home_tab_view,
        home_tab_view(
            PersonalOverview(buckets=(), bucket_count=0, questions=(), exports=()),
            None,
            HomePages(),
            UTC,
            ACCOUNT_IDS,
        ),
    ),
    "home-of-an-admin": ViewExample(
        home_tab_view, home_tab_view(_PERSONAL_OVERVIEW, _OVERVIEW, HomePages(), UTC, ACCOUNT_IDS, report=A_REPORT)
    ),
    "home-of-an-admin-while-counting": ViewExample(
        home_tab_view, home_tab_view(_PERSONAL_OVERVIEW, _OVERVIEW, HomePages(), UTC, ACCOUNT_IDS)
    ),
    "modal-admins": ViewExample(admins_view, admins_view(_ADMINS, ModalState(), account_ids=ACCOUNT_IDS)),
    "modal-grants": ViewExample(bucket_grants_view, _grants_view(_BUCKET, groups=True)),
    "modal-grants-changed": ViewExample(
        bucket_grants_view, _grants_view(_BUCKET, notice="<@U1> may see this bucket now.")
    ),
    "modal-grants-of-none": ViewExample(bucket_grants_view, _grants_view(replace(_BUCKET, grants=()))),
    "modal-grants-of-what-is-gone": ViewExample(bucket_grants_view, _grants_view(_DELETED_BUCKET)),
    "modal-limits": ViewExample(limits_view, limits_view(_LIMITS, ModalState(), notice="Saved.")),
    "modal-more-choices": ViewExample(more_choices_view, more_choices_view(numbered_buttons(3), "{}")),
    "modal-more-choices-in-groups": ViewExample(more_choices_view, more_choices_view(numbered_buttons(101), "{}")),
    "modal-questions": ViewExample(
        past_questions_view, past_questions_view([_ANSWERED_QUESTION], [_BADLY_RATED_QUESTION])
    ),
    "modal-changes": ViewExample(
        changes_view,
        changes_view(
            [
                AuditEntry(
                    at=NOON,
                    by="slack:T1:U1",
                    action="grant",
                    matter="receipts → everyone",
                    before={"include_external": False, "granted_by": "operator"},
                    after={"include_external": True, "granted_by": "slack:T1:U1"},
                ),
                AuditEntry(
                    at=NOON, by="operator", action="limits", matter="limits", before={}, after={"person_hour": 20}
                ),
            ],
            UTC,
            account_ids=ACCOUNT_IDS,
        ),
    ),
    "modal-changes-none": ViewExample(changes_view, changes_view([], UTC, account_ids=ACCOUNT_IDS)),
    "modal-page-link": ViewExample(page_link_view, page_link_view("https://parley.example/admin/enter/a.b")),
    "modal-questions-none": ViewExample(past_questions_view, past_questions_view([], [])),
    "modal-reason": ViewExample(rating_reason_view, rating_reason_view("{}")),
    "modal-steps": ViewExample(
        turn_steps_view,
        _steps_view(
            SearchStep(
                tool="search_text", criteria="receipts: category = tires; “grip”", documents=1_042, elapsed_ms=3.04
            ),
            SearchStep(tool="annotations_aggregate", criteria="", documents=1, elapsed_ms=0.2),
        ),
    ),
    "modal-steps-none": ViewExample(turn_steps_view, _steps_view()),
    "modal-steps-of-a-model": ViewExample(
        turn_steps_view,
        _steps_view(
            SearchStep(tool="search_text", criteria="receipts: “grip”", documents=7, elapsed_ms=3.04),
            reasoner="model",
            lines=(
                "reading the question: 904.0 ms",
                "compose: 0.4 ms, taken over by the rules (timed out)",
                "1 model call: 1,200 tokens in, 80 out, cost unknown",
                "plan_question@3 to local/<@U1>: 812 ms, 1,200 tokens in, 80 out, cost unknown",
            ),
        ),
    ),
    "modal-post": ViewExample(post_view, post_view()),
    "modal-posting": ViewExample(posting_view, posting_view()),
    "modal-schema": ViewExample(
        schema_view,
        schema_view(
            SchemaState(bucket=opaque_key_of("vehicles"), part=opaque_key_of("load"), schema_version="1"),
            {"vehicles": "Vehicles", "plants": "Plants"},
            EDITABLE_SCHEMA,
            EDITABLE_SCHEMA.entries[1],
            preview=EDIT_PREVIEW,
            comparison=["Asked again, 4 of 40 questions of the last 30 days would be answered differently: 4 more."],
            note=ASKING_NOTE,
        ),
    ),
    "modal-schema-begin": ViewExample(schema_view, schema_view(SchemaState(), {"vehicles": "Vehicles"})),
    "modal-schema-without-grants": ViewExample(schema_view, schema_view(SchemaState(), {})),
    "modal-schema-waiting": ViewExample(schema_waiting_view, schema_waiting_view()),
    "modal-synonym": ViewExample(
        synonym_view,
        synonym_view(
            first_state("lorries", ["vehicles"], UNKNOWN_WORD.suggestions, TARGETS),
            TARGETS,
            suggestions=UNKNOWN_WORD.suggestions,
            preview=SYNONYM_PREVIEW,
        ),
    ),
    "modal-synonym-of-many-values": ViewExample(
        synonym_view,
        synonym_view(
            first_state("lorries", [], [], TARGETS).with_fields(
                opaque_key_of("vehicles"), opaque_key_of("driver"), "Ada"
            ),
            TARGETS,
            problem="no document has 'Adda' in driver; there are driver 0, driver 1, …",
        ),
    ),
    "modal-synonym-compared": ViewExample(
        synonym_view,
        synonym_view(
            first_state("lorries", ["vehicles"], UNKNOWN_WORD.suggestions, TARGETS),
            TARGETS,
            preview=SYNONYM_PREVIEW,
            comparison=[
                "Asked again, 1 of 40 questions of the last 30 days would be answered differently: 1 would find "
                "something now.",
                "“list the lorries” found nothing, and would find something.",
            ],
        ),
    ),
    "modal-synonym-asking": ViewExample(
        synonym_view,
        synonym_view(
            first_state("lorries", ["vehicles"], UNKNOWN_WORD.suggestions, TARGETS),
            TARGETS,
            preview=SYNONYM_PREVIEW,
            note=ASKING_NOTE,
        ),
    ),
    "modal-synonym-added": ViewExample(synonym_added_view, synonym_added_view(SYNONYM_PREVIEW)),
    "modal-synonym-without-grants": ViewExample(
        synonym_view, synonym_view(SynonymState(word="lorries"), replace(TARGETS, schemas={}))
    ),
    "modal-synonym-waiting": ViewExample(synonym_waiting_view, synonym_waiting_view("Adding it…")),
    "modal-told": ViewExample(notice_view, notice_view("You are no longer an admin.")),
}

OTHER_PAYLOADS: Final[Mapping[str, Json]] = {
    "prompts": [{**prompt} for prompt in prompts_from(_PERSONAL_OVERVIEW.buckets)],
    "prompts-of-a-newcomer": [{**prompt} for prompt in prompts_from([])],
    "status": {"status": STATUS_TEXT, "loading_messages": [*LOADING_MESSAGES]},
}
