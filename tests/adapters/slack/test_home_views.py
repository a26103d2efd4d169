"""Views of any size and with any words: within Slack's limits, nothing in them live, nothing left out in silence."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.home.blocks import fitting, key, shown
from adapters.slack.home.modals import (
    Kept,
    Usergroup,
    admins_view,
    bucket_view,
    limits_view,
    questions_view,
    told_view,
)
from adapters.slack.home.tab import Pages, ending_of, home
from adapters.slack.messages_tab import prompts_from
from adapters.slack.render import FALLBACK_CHARACTERS, escaped
from bot.administration import Admin, Bucket, Grant, Limit, LocalGroup, Overview
from bot.errors import ChoiceMade
from bot.ids import BucketId, PersonId, Subject
from bot.personal import ExportStatus, Own, PastExport, PastQuestion, VisibleBucket
from tests.stand_ins.slack.checker import check_message, check_view, length, live_mentions

HOMES = frozenset({"T1"})
AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
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


def own(words: str, buckets: int = 12, count: int = 300) -> Own:
    bucket = VisibleBucket(title=words, description=words, documents=1, example=words)
    past = PastQuestion(text=words, asked_at=AT, ending="answer")
    files = [
        PastExport(status=status, asked_at=AT, name=words, rows=1_042, url="https://h/d", expires=AT)
        for status in ExportStatus
    ]
    gone = PastExport(status=ExportStatus.DONE, asked_at=AT)
    return Own(
        buckets=(bucket,) * buckets, bucket_count=count, questions=(past,) * 10, exports=(*files, *files[:4], gone)[:10]
    )


def buckets(words: str, count: int, granted: int = 0) -> tuple[Bucket, ...]:
    return tuple(
        Bucket(
            id=BucketId(f"{number} {words}"),
            title=f"{number} {words}",
            documents=number,
            synced=AT,
            grants=grants(words, granted),
        )
        for number in range(count)
    )


def grants(words: str, count: int) -> tuple[Grant, ...]:
    kinds = ("user:slack:T1:U{}", "channel:slack:T1:C{}", "group:slack:T1:S{}", "user:slack:T2:U{}", "group:{}" + words)
    return tuple(
        Grant(
            bucket=BucketId("b"),
            subject=Subject(kinds[number % len(kinds)].format(number)),
            include_external=number % 2 == 0,
            granted_by="x",
            granted_at=AT,
        )
        for number in range(count)
    )


def overview(words: str, count: int = 300) -> Overview:
    past = PastQuestion(text=words, asked_at=AT, ending="failed", reason=words)
    admins = tuple(Admin(person=PersonId(f"slack:T1:U{n}"), by_settings=n == 0) for n in range(count))
    return Overview(
        buckets=buckets(words, count, 2),
        admins=admins,
        limits=dict.fromkeys(Limit, 10**9),
        unanswered=(past,) * 5,
        rated_badly=(past,) * 5,
    )


def checked(view: View) -> str:
    """The words of a view that Slack would take. Our own names of people aside, nothing in it is live."""
    check_view(view)
    without_names = _without_names(view)
    assert live_mentions(without_names) == []
    return "\n".join(_texts(view))


def _without_names(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = cast(Mapping[str, Any], value)
        return {name: _without_names(member) for name, member in members.items()}
    if isinstance(value, list | tuple):
        return [_without_names(member) for member in cast(Sequence[Any], value)]
    return re.sub(r"<(?:@U|#C|!subteam\^S)\d+>", "", value) if isinstance(value, str) else value


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        members = cast(Mapping[str, Any], value)
        own = [members["text"]] if isinstance(members.get("text"), str) else []
        return own + [text for member in members.values() for text in _texts(member)]
    return [text for member in cast(Sequence[Any], value) for text in _texts(member)] if isinstance(value, list) else []


def bucket_modal(bucket: Bucket, kept: Kept, words: str = "", groups: int = 0) -> View:
    return bucket_view(
        bucket,
        kept,
        usergroups=[Usergroup(id=f"S{n}", name=words) for n in range(groups)],
        groups=[LocalGroup(id=f"g{n}", title=words, members=frozenset()) for n in range(groups)],
        zone=UTC,
        homes=HOMES,
    )


@given(words=texts)
@settings(max_examples=40, deadline=None)
def test_any_words_make_views_that_slack_takes(words: str) -> None:
    past = (PastQuestion(text=words, asked_at=AT, ending=None, reason=words),) * 30
    [bucket] = buckets(words, 1, 30)

    for view in (
        home(own(words), overview(words, 12), Pages(), UTC, HOMES),
        bucket_modal(bucket, Kept(), words, groups=100),
        questions_view(past, past),
        told_view(words),
    ):
        checked(view)


@given(words=texts)
@settings(max_examples=30, deadline=None)
def test_whoever_administers_is_shown_as_slack_takes_it(words: str) -> None:
    admins = [Admin(person=PersonId(f"{words}{n}"), by_settings=n % 2 == 0) for n in range(70)]

    checked(admins_view(admins, Kept(), homes=HOMES, said=shown(Subject(words), HOMES)))
    checked(home(own(words, 1, 1), replace(overview("x", 1), admins=tuple(admins)), Pages(), UTC, HOMES))
    checked(home(own(words, 1, 1), replace(overview("x", 1), admins=tuple(admins[:1])), Pages(), UTC, HOMES))


@given(words=texts)
@settings(max_examples=15, deadline=None)
def test_whatever_a_bucket_is_called_its_prompt_can_be_taken(words: str) -> None:
    bucket = VisibleBucket(title=words, description=words, documents=1, example=words)

    prompts = prompts_from([bucket] * 4)

    assert 1 <= len(prompts) <= 4
    for prompt in prompts:
        assert 1 <= length(prompt["title"]) <= 60
        assert 1 <= length(prompt["message"]) <= 300
        assert live_mentions({"blocks": [{"type": "plain_text", "text": text} for text in prompt.values()]}) == []


@given(words=texts)
@settings(max_examples=60, deadline=None)
def test_whatever_a_refusal_names_it_is_said_and_mentions_nobody(words: str) -> None:
    said = {"text": escaped(str(ChoiceMade(words, words)), FALLBACK_CHARACTERS)}

    check_message(said)
    assert live_mentions(said) == []


@pytest.mark.parametrize("words", HOSTILE)
def test_three_hundred_buckets_fit_page_by_page_and_each_is_on_one(words: str) -> None:
    seen: set[str] = set()
    for first in range(0, 300, 12):
        view = home(own(words), overview(words), Pages(first, first), UTC, HOMES)
        checked(view)
        seen |= set(re.findall(r'"value": "([0-9a-f]{32})"', str(view).replace("'", '"')))

    assert seen == {key(bucket.id) for bucket in buckets(words, 300)}


def test_five_hundred_grants_fit_page_by_page_and_each_is_on_one() -> None:
    [bucket] = buckets("b", 1, 500)
    told = [checked(bucket_modal(bucket, Kept(first=first), groups=100)) for first in range(0, 500, 30)]

    assert sum(words.count("Remove") for words in told) == 2 * 500  # the button, and the question before it is done
    assert "481 to 500 of 500" in told[-1]


def test_a_page_that_is_no_longer_there_is_the_first() -> None:
    [bucket] = buckets("b", 1, 31)

    assert "1 to 30 of 31" in checked(bucket_modal(bucket, Kept(first=60)))
    assert "there are no more" in checked(home(own("b", 0), None, Pages(600, 0), UTC, HOMES)).casefold()


def test_many_admins_fit_page_by_page() -> None:
    admins = [Admin(person=PersonId(f"slack:T1:U{n}"), by_settings=n == 0) for n in range(300)]

    words = checked(admins_view(admins, Kept(first=240), homes=HOMES))

    assert "241 to 300 of 300" in words
    assert "280 more" in checked(home(own("b"), overview("b"), Pages(), UTC, HOMES))


def test_limits_carry_what_was_shown() -> None:
    view = limits_view({Limit.PERSON_DAY: 5}, Kept())
    checked(view)
    kept = Kept.read(str(view["private_metadata"]))

    assert kept is not None
    assert kept.limits == {Limit.PERSON_DAY: 5}


@given(text=texts, most=st.integers(min_value=2, max_value=300))
def test_data_fits_and_is_never_empty(text: str, most: int) -> None:
    fitted = fitting(text, most)

    assert 1 <= length(fitted) <= most
    assert not {"\n", "\x00", "\u202e"} & set(fitted)


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("user:slack:T1:U12", "<@U12>"),
        ("channel:slack:T1:C12", "<#C12>"),
        ("group:slack:T1:S12", "<!subteam^S12>"),
        ("user:slack:T2:U12", "user:slack:T2:U12"),
        ("user:slack:T1:U1>", "user:slack:T1:U1&gt;"),
        ("group:<!channel>", "Group &lt;\u200b!channel&gt;"),
        ("everyone", "Everyone in the organisation, guests not included"),
    ],
)
def test_only_names_of_this_installation_are_slacks_to_show(subject: str, words: str) -> None:
    assert shown(Subject(subject), HOMES) == words


@pytest.mark.parametrize(
    ("ending", "words"),
    [("stopped", "stopped"), ("limited", "put off"), (None, "being answered"), ("answer", "answered")],
)
def test_how_a_question_ended_is_said_as_it_was(ending: str | None, words: str) -> None:
    assert ending_of(PastQuestion(text="which?", asked_at=AT, ending=ending)) == words


@pytest.mark.parametrize("value", ["", "1", "1:2:3", "-1:0", "a:b", "\u0664:0", "9999999:0", "1.5:0"])
def test_a_page_that_makes_no_sense_is_the_first(value: str) -> None:
    assert Pages.read(value) == Pages()
