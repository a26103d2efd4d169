"""Cards with any data: within Teams' limits, without live mentions, links or Markdown of the data, and paged."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.teams.administration.card_parts import fit_in_bytes
from adapters.teams.administration.grant_cards import (
    CardNotice,
    bucket_grants_card,
    bucket_list_card,
    confirm_revoke_card,
)
from adapters.teams.administration.overview_cards import (
    BUCKETS_IN_HELP,
    OWN_BUCKETS_PER_PAGE,
    help_card,
    own_buckets_card,
)
from adapters.teams.administration.people_cards import (
    QUESTIONS_PER_LIST,
    admins_card,
    confirm_removal_card,
    limits_card,
    past_questions_card,
)
from adapters.teams.administration.report_card import report_card
from adapters.teams.administration.saved_search_cards import SEARCHES_PER_PAGE, confirm_stop_card, saved_searches_card
from adapters.teams.administration.submissions import AdminSubmission
from adapters.teams.administration.teams_links import read_channel_link
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.cards import MAX_CARD_BYTES
from bot.access.limits import MAX_LIMIT
from bot.admin.administration import AdminEntry, BucketOverview, Grant, LocalGroup, QuestionLimit
from bot.admin.bucket_syncs import BucketSync
from bot.conversation.personal_history import ExportStatus, PastExport, PastQuestion, PersonalOverview, VisibleBucket
from bot.ids import BucketId, PersonId, Subject
from bot.saved_searches.personal_searches import OwnSearch
from tests.adapters.slack.report_examples import report_of
from tests.stand_ins.teams.activity_checker import check_activity, check_shape
from tests.stand_ins.teams.tenancy import TENANT

MOMENT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
HOSTILE = [
    "<at>Everyone</at> @everyone [link](https://evil.example) **bold** # heading {{DATE(2026-01-01T00:00:00Z)}}",
    "x" * 20_000,
    "\U0001f600" * 20_000,
    '"\\' * 10_000,
    "\u202e\u2067\u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627" * 500,
    "a\0b\x1b[31m\r\n\t&amp;<&>*_~`|",
    "",
    " \u2028 ",
    "\ud800",
]
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=300))
COUNT = 300


def every_card(words: str) -> Iterator[JsonObject]:
    """Each card, with as much data as it can have."""
    question = PastQuestion(text=words, asked_at=MOMENT, ending="failed", reason=words)
    exports = [
        PastExport(status=status, asked_at=MOMENT, name=words, rows=10**6, url="https://h/d/" + "s" * 200)
        for status in ExportStatus
    ]
    linked = PastExport(
        status=ExportStatus.DONE, asked_at=MOMENT, name=words, rows=1, url="https://h/d/" + "s" * 200, expires_at=MOMENT
    )
    bucket = VisibleBucket(title=words, description=words, documents=1, example=words)
    subjects = [Subject(f"user:local:{number}{words}") for number in range(COUNT)]
    names = {subject: subject + words for subject in subjects}
    grants = tuple(
        Grant(bucket=BucketId(words), subject=subject, include_external=True, granted_by="x", granted_at=MOMENT)
        for subject in subjects
    )
    sync = BucketSync(ended_at=MOMENT, succeeded_at=MOMENT, has_failed=True, reason=words, due_at=MOMENT)
    overviews = [
        BucketOverview(id=BucketId(f"{n}{words}"), title=words, document_count=n, sync=sync, grants=grants)
        for n in range(COUNT)
    ]
    admins = [AdminEntry(person=PersonId(f"local:{n}{words}"), is_from_settings=n == 0) for n in range(COUNT)]
    names |= {Subject(f"user:{admin.person}"): admin.person for admin in admins}
    notice = CardNotice(sentence=words, is_error=True)
    typing = words[:900].encode(errors="replace").decode()
    typed = AdminSubmission(parley="admin", action="grant", typed_person=typing, typed_channel=typing, everyone="yes")

    searches = [
        OwnSearch(number=n, question=words, schedule="on change", watches_changes=True, due_at=None)
        for n in range(10**9 - COUNT, 10**9)
    ]

    def overview_of(buckets: int) -> PersonalOverview:
        return PersonalOverview(
            buckets=(bucket,) * buckets,
            bucket_count=COUNT,
            questions=(question,) * 10,
            exports=(linked, linked, linked, *exports, linked, linked),
            saved_searches=tuple(searches),
        )

    yield help_card(overview_of(BUCKETS_IN_HELP), UTC, is_admin=True)
    yield own_buckets_card(overview_of(OWN_BUCKETS_PER_PAGE), OWN_BUCKETS_PER_PAGE)
    yield saved_searches_card(searches, SEARCHES_PER_PAGE, UTC, notice)
    yield confirm_stop_card(searches[0], 0, UTC)
    yield bucket_list_card(overviews, 10, UTC, notice)
    for group_count in (1, 40, 41):
        groups = [LocalGroup(id=f"{n}{words}", title=words, members=frozenset()) for n in range(group_count)]
        yield bucket_grants_card(overviews[0], 10, groups=groups, names=names, zone=UTC, notice=notice, typed=typed)
    yield confirm_revoke_card(overviews[0], subjects[0], words, 0, UTC)
    yield admins_card(admins, 15, names, notice=notice, typed=typed)
    yield confirm_removal_card(admins[1], words, 0)
    yield limits_card(dict.fromkeys(QuestionLimit, MAX_LIMIT), notice=notice, typed=typed)
    yield report_card(report_of(words, 20))
    yield past_questions_card([question] * QUESTIONS_PER_LIST, [question] * QUESTIONS_PER_LIST)


def card_of(activity: JsonObject) -> Mapping[str, Any]:
    [attachment] = cast(list[dict[str, Any]], activity["attachments"])
    return attachment["content"]


@settings(max_examples=25, deadline=None)
@given(words=texts)
def test_every_card_is_one_that_teams_shows(words: str) -> None:
    for activity in every_card(words):
        sent = json.loads(json.dumps(activity))

        check_shape(sent)
        check_activity(sent, is_personal=True, supports_files=True)

        card = card_of(activity)
        size = len(json.dumps(card, ensure_ascii=False).encode("utf-8", errors="replace"))
        assert size <= MAX_CARD_BYTES
        assert len(cast(list[Any], card.get("actions", []))) <= 6


def test_data_stands_in_runs_and_menus_and_never_where_markdown_is_read() -> None:
    words = HOSTILE[0]
    for activity in every_card(words):
        for element in _elements_of(card_of(activity)):
            if element.get("type") == "TextBlock":
                text = str(element["text"])
                assert "**bold**" not in text
                assert "](https://evil" not in text
                assert "<at>" not in text
            for value in element.values():
                assert not isinstance(value, str) or "{{" not in value


def _elements_of(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, Mapping):
        mapping = cast(Mapping[str, object], value)
        yield mapping
        for member in mapping.values():
            yield from _elements_of(member)
    elif isinstance(value, (list, tuple)):
        for member in cast(list[object], value):
            yield from _elements_of(member)


def test_an_export_that_can_be_downloaded_has_its_link() -> None:
    export = PastExport(
        status=ExportStatus.DONE, asked_at=MOMENT, name="a_b *c*.csv", rows=1_042, url="https://h/d", expires_at=MOMENT
    )
    overview = PersonalOverview(buckets=(), bucket_count=0, questions=(), exports=(export,))

    shown = json.dumps(help_card(overview, UTC, is_admin=False), ensure_ascii=False)

    assert r"[a\\_b \\*c\\*.csv](https://h/d) · 1,042 rows · 20 Nov 2026, 09:30 UTC · until" in shown


def test_the_limits_card_carries_the_limits_shown() -> None:
    card = json.dumps(limits_card({QuestionLimit.PERSON_DAY: 5}))

    assert '"limits": {"person_day": 5}' in card


def test_a_bucket_that_is_gone_has_no_form() -> None:
    gone = BucketOverview(id=BucketId("b"), title="b", document_count=None, sync=None, grants=())

    card = json.dumps(bucket_grants_card(gone, 0, groups=(), names={}, zone=UTC))

    assert "this bucket is gone" in card
    assert "Input." not in card


@given(text=texts, most=st.integers(min_value=8, max_value=300))
def test_data_fits_and_is_never_empty(text: str, most: int) -> None:
    fitting = fit_in_bytes(text, most)

    assert fitting
    assert len(json.dumps(fitting, ensure_ascii=False).encode("utf-8", errors="replace")) - 2 <= most
    assert not {"\n", "\x00", "\u202e"} & set(fitting)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("19:a1@thread.tacv2", f"channel:teams:{TENANT}:19:a1@thread.tacv2"),
        (
            f"https://teams.microsoft.com/l/channel/19%3Aa1%40thread.tacv2/General?groupId=g&tenantId={TENANT}",
            f"channel:teams:{TENANT}:19:a1@thread.tacv2",
        ),
        (
            f"https://teams.microsoft.com/l/team/19%3Aa1%40thread.tacv2/conversations?groupId=g&tenantId={TENANT}",
            f"team:teams:{TENANT}:19:a1@thread.tacv2",
        ),
        (
            "https://teams.cloud.microsoft/l/chat/19:a1@thread.v2/conversations",
            f"channel:teams:{TENANT}:19:a1@thread.v2",
        ),
        ("https://teams.microsoft.com/l/channel/19%3Aa1%40thread.tacv2/General?tenantId=other", None),
        ("https://evil.example/l/channel/19%3Aa1%40thread.tacv2/General", None),
        ("http://teams.microsoft.com/l/channel/19%3Aa1%40thread.tacv2/General", None),
        ("https://teams.microsoft.com/l/meetup-join/19%3Aa1%40thread.tacv2/0", None),
        ("https://teams.microsoft.com/l/channel/19%3Aa%20b%40thread.tacv2/General", None),
        ("https://teams.microsoft.com/", None),
        ("https://[", None),
        ("General", None),
        ("", None),
    ],
)
def test_the_links_of_teams_name_channels_chats_and_teams(text: str, subject: str | None) -> None:
    assert read_channel_link(text, TENANT) == subject
