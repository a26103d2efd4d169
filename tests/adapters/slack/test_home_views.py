"""Views with any data: within Slack's limits, without live mentions, and without silent omissions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.home.blocks import fit_on_one_line, subject_as_mrkdwn
from adapters.slack.home.home_tab import HomePages, home_tab_view
from adapters.slack.home.messages_tab import prompts_from
from adapters.slack.home.modals import (
    ModalState,
    UsergroupChoice,
    admins_view,
    bucket_grants_view,
    limits_view,
    notice_view,
    past_questions_view,
)
from adapters.slack.home.schema_modal import SchemaState, schema_view
from adapters.slack.home.synonym_modal import first_state, synonym_view
from adapters.slack.posting.render import MAX_FALLBACK_CHARACTERS, escape_as_mrkdwn
from bot.admin.admin_page.schema_edits import EditPreview
from bot.admin.administration import AdminEntry, AdminOverview, BucketOverview, Grant, LocalGroup, QuestionLimit
from bot.admin.bucket_syncs import BucketSync
from bot.admin.sentences import ending_label_of, opaque_key_of
from bot.conversation.personal_history import ExportStatus, PastExport, PastQuestion, PersonalOverview, VisibleBucket
from bot.errors import ChoiceAlreadyMade
from bot.ids import BucketId, PersonId, Subject
from bot.saved_searches.personal_searches import OwnSearch
from bot.saved_searches.saved_searches import MAX_SEARCHES_OF_PERSON
from tests.adapters.slack.report_examples import SYNONYM_PREVIEW, editable_schema_of, report_of, targets_of
from tests.stand_ins.slack.checker import check_message, check_view, live_mentions, utf16_length

ACCOUNT_IDS = frozenset({"T1"})
MOMENT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
HOSTILE = [
    "<!channel> <!here|x> <@U1> <#C1> @everyone",
    "x" * 20_000,
    "\U0001f600" * 20_000,
    "\u202e\u2067\u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627" * 500,
    "a\0b\x1b[31m\r\n\t&amp;<&>*_~`|",
    "",
    " \u2028 ",
    "\ud800",
]
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=400))
View = Mapping[str, Any]


def personal_overview_of(words: str, buckets: int = 12, count: int = 300) -> PersonalOverview:
    bucket = VisibleBucket(title=words, description=words, documents=1, example=words)
    past_question = PastQuestion(text=words, asked_at=MOMENT, ending="answer")
    exports = [
        PastExport(status=status, asked_at=MOMENT, name=words, rows=1_042, url="https://h/d", expires_at=MOMENT)
        for status in ExportStatus
    ]
    hidden_export = PastExport(status=ExportStatus.DONE, asked_at=MOMENT)
    return PersonalOverview(
        buckets=(bucket,) * buckets,
        bucket_count=count,
        questions=(past_question,) * 10,
        exports=(*exports, *exports[:4], hidden_export)[:10],
        saved_searches=tuple(own_searches(words)),
    )


def own_searches(words: str) -> list[OwnSearch]:
    """As many as one person may have, all paused, which shows most buttons."""
    return [
        OwnSearch(number=number, question=words, schedule="every day at 09:00", watches_changes=False, due_at=None)
        for number in range(1, MAX_SEARCHES_OF_PERSON + 1)
    ]


def bucket_overviews(words: str, count: int, granted: int = 0) -> tuple[BucketOverview, ...]:
    return tuple(
        BucketOverview(
            id=BucketId(f"{number} {words}"),
            title=f"{number} {words}",
            document_count=number,
            sync=failed_sync_of(words),
            grants=grants_for(words, granted),
        )
        for number in range(count)
    )


def failed_sync_of(words: str) -> BucketSync:
    """A sync with as much to say as one can have."""
    return BucketSync(
        source=words[:60],
        ended_at=MOMENT,
        succeeded_at=MOMENT,
        has_failed=True,
        reason=words,
        other_problems=999,
        due_at=MOMENT,
    )


def grants_for(words: str, count: int) -> tuple[Grant, ...]:
    kinds = ("user:slack:T1:U{}", "channel:slack:T1:C{}", "group:slack:T1:S{}", "user:slack:T2:U{}", "group:{}" + words)
    return tuple(
        Grant(
            bucket=BucketId("b"),
            subject=Subject(kinds[number % len(kinds)].replace("{}", str(number), 1)),
            include_external=number % 2 == 0,
            granted_by="x",
            granted_at=MOMENT,
        )
        for number in range(count)
    )


def admin_overview_of(words: str, count: int = 300) -> AdminOverview:
    past_question = PastQuestion(text=words, asked_at=MOMENT, ending="failed", reason=words)
    admins = tuple(AdminEntry(person=PersonId(f"slack:T1:U{n}"), is_from_settings=n == 0) for n in range(count))
    return AdminOverview(
        buckets=bucket_overviews(words, count, 2),
        admins=admins,
        limits=dict.fromkeys(QuestionLimit, 10**9),
        unanswered=(past_question,) * 5,
        rated_badly=(past_question,) * 5,
    )


def checked_view_text(view: View) -> str:
    """Returns the text of a view after checking that it is valid and mentions only the people it shows."""
    check_view(view)
    without_names = _without_person_names(view)
    assert live_mentions(without_names) == []
    return "\n".join(_texts_in(view))


def _without_person_names(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = cast(Mapping[str, Any], value)
        return {name: _without_person_names(member) for name, member in members.items()}
    if isinstance(value, list | tuple):
        return [_without_person_names(member) for member in cast(Sequence[Any], value)]
    return re.sub(r"<(?:@U|#C|!subteam\^S)\d+>", "", value) if isinstance(value, str) else value


def _texts_in(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        members = cast(Mapping[str, Any], value)
        own_texts = [members["text"]] if isinstance(members.get("text"), str) else []
        return own_texts + [text for member in members.values() for text in _texts_in(member)]
    return (
        [text for member in cast(Sequence[Any], value) for text in _texts_in(member)] if isinstance(value, list) else []
    )


def bucket_modal_view(bucket: BucketOverview, state: ModalState, words: str = "", groups: int = 0) -> View:
    return bucket_grants_view(
        bucket,
        state,
        usergroups=[UsergroupChoice(id=f"S{n}", name=words) for n in range(groups)],
        groups=[LocalGroup(id=f"g{n}", title=words, members=frozenset()) for n in range(groups)],
        zone=UTC,
        account_ids=ACCOUNT_IDS,
    )


@given(words=texts)
@settings(max_examples=40, deadline=None)
def test_views_with_any_data_are_valid_for_slack(words: str) -> None:
    past_questions = (PastQuestion(text=words, asked_at=MOMENT, ending=None, reason=words),) * 30
    [bucket] = bucket_overviews(words, 1, 30)

    for view in (
        home_tab_view(
            personal_overview_of(words),
            admin_overview_of(words, 12),
            HomePages(),
            UTC,
            ACCOUNT_IDS,
            report=report_of(words),
        ),
        schema_view(
            SchemaState(bucket=opaque_key_of("vehicles"), part=opaque_key_of("load"), schema_version="1"),
            {"vehicles": words},
            editable_schema_of(words),
            editable_schema_of(words).entries[1],
            preview=EditPreview(changes=(words,), effects=(words,) * 40),
            comparison=[words] * 6,
        ),
        synonym_view(
            first_state("word", [], report_of(words).unknown_words[0].suggestions, targets_of(words)),
            targets_of(words),
            suggestions=report_of(words).unknown_words[0].suggestions,
            problem=words,
        ),
        synonym_view(
            first_state("word", [], report_of(words).unknown_words[0].suggestions, targets_of(words)),
            targets_of(words),
            preview=replace(SYNONYM_PREVIEW, word=words, bucket=words, field=words, value=words),
            comparison=[words] * 6,
        ),
        bucket_modal_view(bucket, ModalState(), words, groups=100),
        past_questions_view(past_questions, past_questions),
        notice_view(words),
    ):
        checked_view_text(view)


@given(words=texts)
@settings(max_examples=30, deadline=None)
def test_admins_with_any_name_are_valid_for_slack(words: str) -> None:
    admins = [AdminEntry(person=PersonId(f"{words}{n}"), is_from_settings=n % 2 == 0) for n in range(70)]

    checked_view_text(
        admins_view(
            admins, ModalState(), account_ids=ACCOUNT_IDS, notice=subject_as_mrkdwn(Subject(words), ACCOUNT_IDS)
        )
    )
    checked_view_text(
        home_tab_view(
            personal_overview_of(words, 1, 1),
            replace(admin_overview_of("x", 1), admins=tuple(admins)),
            HomePages(),
            UTC,
            ACCOUNT_IDS,
        )
    )
    checked_view_text(
        home_tab_view(
            personal_overview_of(words, 1, 1),
            replace(admin_overview_of("x", 1), admins=tuple(admins[:1])),
            HomePages(),
            UTC,
            ACCOUNT_IDS,
        )
    )


@given(words=texts)
@settings(max_examples=15, deadline=None)
def test_prompts_of_buckets_with_any_name_are_valid_for_slack(words: str) -> None:
    bucket = VisibleBucket(title=words, description=words, documents=1, example=words)

    prompts = prompts_from([bucket] * 4)

    assert 1 <= len(prompts) <= 4
    for prompt in prompts:
        assert 1 <= utf16_length(prompt["title"]) <= 60
        assert 1 <= utf16_length(prompt["message"]) <= 300
        assert live_mentions({"blocks": [{"type": "plain_text", "text": text} for text in prompt.values()]}) == []


@given(words=texts)
@settings(max_examples=60, deadline=None)
def test_refusals_with_any_label_are_valid_and_mention_nobody(words: str) -> None:
    message = {"text": escape_as_mrkdwn(str(ChoiceAlreadyMade(words, words)), MAX_FALLBACK_CHARACTERS)}

    check_message(message)
    assert live_mentions(message) == []


@pytest.mark.parametrize("words", HOSTILE)
def test_three_hundred_buckets_fit_page_by_page_and_each_is_on_one(words: str) -> None:
    keys_seen: set[str] = set()
    for first in range(0, 300, 12):
        view = home_tab_view(
            personal_overview_of(words), admin_overview_of(words), HomePages(first, first), UTC, ACCOUNT_IDS
        )
        checked_view_text(view)
        keys_seen |= set(re.findall(r'"value": "([0-9a-f]{32})"', str(view).replace("'", '"')))

    assert keys_seen == {opaque_key_of(bucket.id) for bucket in bucket_overviews(words, 300)}


def test_five_hundred_grants_fit_page_by_page_and_each_is_on_one() -> None:
    [bucket] = bucket_overviews("b", 1, 500)
    page_texts = [
        checked_view_text(bucket_modal_view(bucket, ModalState(first=first), groups=100)) for first in range(0, 500, 30)
    ]

    assert (
        sum(page_text.count("Remove") for page_text in page_texts) == 2 * 500
    )  # on the button and in its confirmation dialog
    assert "481 to 500 of 500" in page_texts[-1]


def test_a_page_that_no_longer_exists_becomes_the_first() -> None:
    [bucket] = bucket_overviews("b", 1, 31)

    assert "1 to 30 of 31" in checked_view_text(bucket_modal_view(bucket, ModalState(first=60)))
    assert (
        "there are no more"
        in checked_view_text(
            home_tab_view(personal_overview_of("b", 0), None, HomePages(600, 0), UTC, ACCOUNT_IDS)
        ).casefold()
    )


def test_many_admins_fit_page_by_page() -> None:
    admins = [AdminEntry(person=PersonId(f"slack:T1:U{n}"), is_from_settings=n == 0) for n in range(300)]

    text = checked_view_text(admins_view(admins, ModalState(first=240), account_ids=ACCOUNT_IDS))

    assert "241 to 300 of 300" in text
    assert "280 more" in checked_view_text(
        home_tab_view(personal_overview_of("b"), admin_overview_of("b"), HomePages(), UTC, ACCOUNT_IDS)
    )


def test_the_limits_view_carries_the_limits_shown() -> None:
    view = limits_view({QuestionLimit.PERSON_DAY: 5}, ModalState())
    checked_view_text(view)
    state = ModalState.parse_metadata(str(view["private_metadata"]))

    assert state is not None
    assert state.limits == {QuestionLimit.PERSON_DAY: 5}


@given(text=texts, most=st.integers(min_value=2, max_value=300))
def test_data_fits_and_is_never_empty(text: str, most: int) -> None:
    fitted = fit_on_one_line(text, most)

    assert 1 <= utf16_length(fitted) <= most
    assert not {"\n", "\x00", "\u202e"} & set(fitted)


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("user:slack:T1:U12", "<@U12>"),
        ("channel:slack:T1:C12", "<#C12>"),
        ("group:slack:T1:S12", "<!subteam^S12>"),
        ("user:slack:T2:U12", "slack:T2:U12"),
        ("user:slack:T1:U1>", "slack:T1:U1&gt;"),
        ("group:<!channel>", "Group &lt;\u200b!channel&gt;"),
        ("everyone", "Everyone in the organisation, guests not included"),
    ],
)
def test_only_subjects_of_this_installation_are_shown_by_name(subject: str, words: str) -> None:
    assert subject_as_mrkdwn(Subject(subject), ACCOUNT_IDS) == words


@pytest.mark.parametrize(
    ("ending", "words"),
    [("stopped", "stopped"), ("limited", "put off"), (None, "being answered"), ("answer", "answered")],
)
def test_the_label_tells_how_a_question_ended(ending: str | None, words: str) -> None:
    assert ending_label_of(PastQuestion(text="which?", asked_at=MOMENT, ending=ending)) == words


@pytest.mark.parametrize("value", ["", "1", "1:2:3:4", "-1:0", "a:b", "\u0664:0", "9999999:0", "1.5:0"])
def test_an_invalid_page_becomes_the_first(value: str) -> None:
    assert HomePages.parse_button_value(value) == HomePages()
