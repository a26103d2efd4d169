"""The scope through the whole bot: who is not granted a bucket is told nothing of it, by no way in."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any as Json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context import Limits
from agent.reasoner import Planned
from bot.bootstrap import Bot
from bot.errors import FileGone
from bot.ids import ChoiceId, PersonId, Subject
from bot.inbound import Audience, Clicked, Outsiders, Private, Said, Shared
from bot.replies import File
from bot.turns import TurnDone
from storage.search.documents import Document
from storage.search.ids import BucketId, LegId
from storage.search.plan import Leg, ListDocuments, Plan, Summarise, everything_in
from storage.search.schema import Schema
from tests.bot.conftest import Talk
from tests.builders import RECEIPTS, a_document, a_receipt_schema
from tests.scenarios.audiences import audiences, closed, limits, opened, some
from tests.scenarios.clicking import Script
from tests.scenarios.worlds import World, plainly_planned, worlds

CLOSED = BucketId("backroom")
LIMITS = Limits(overload=3, read=2)
_numbers = count()
_MARKS = ("secretmark", "backroom", "77")
ANN, BEN = PersonId("slack:T1:U1"), PersonId("slack:T1:U2")
CHANNEL = Shared(channel=Subject("channel:slack:T1:C1"), outsiders=Outsiders.NONE)
NOBODY: dict[str, Audience] = {
    "a person": Private(person=BEN),
    "a guest": Private(person=BEN, guest=True),
    "a member of a group": Private(person=BEN, subjects=frozenset({Subject("group:slack:T1:S1")})),
    "a channel": CHANNEL,
    "a channel with outsiders": replace(CHANNEL, outsiders=Outsiders.SOME),
}
QUESTIONS = (
    "List every backroom",
    "List every backroom with vendor secretmark",
    "How many backroom are there?",
    "What is the total of backroom by vendor?",
    "Summarise every backroom",
    "What does secretmark say?",
    "What is the total of secretmark 1?",
    "List every secretmerk",
    "export",
    "1",
    "the first one",
    "secretmark",
)


def _secret(n: int) -> Document:
    mark = f"secretmark {n % 2}"
    return a_document(f"s{n}", mark, title=f"{mark} title", vendor=mark, note=mark, total=77.0, date="1977-07-07")


@pytest.fixture
async def bot(clicked_bot: Bot) -> Bot:
    """With two receipts, and six documents in a bucket that Ann alone is granted."""
    await clicked_bot.index.set_schema(a_receipt_schema())
    await clicked_bot.index.put(RECEIPTS, [a_document(f"r{n}", "plain", title=f"Plain {n}") for n in range(2)])
    await clicked_bot.index.set_schema(a_receipt_schema(CLOSED))
    await clicked_bot.index.put(CLOSED, [_secret(n) for n in range(6)])
    await clicked_bot.grants.grant(CLOSED, Subject(f"user:{ANN}"), by="test")
    return clicked_bot


def talking(bot: Bot, audience: Audience, *, conversation: str = "", buckets: Sequence[str] = ()) -> Talk:
    person = audience.person if isinstance(audience, Private) else BEN
    conversation = conversation or f"scope {next(_numbers)}"
    return Talk(bot, audience=audience, person=person, conversation=conversation, buckets=tuple(buckets))


async def said(talk: Talk, body: Said | Clicked) -> TurnDone:
    return await talk.bot.run(await talk.accepted(body), limits=LIMITS)


def told(done: TurnDone) -> str:
    """All that a turn lets out, but for the words of the question itself and ids of its own."""
    own = {"question", "turn", "conversation", "ms", "stages", "attempts"}
    result = {key: value for key, value in done.result.items() if key not in own}
    attempts = [one["documents"] for one in done.result["attempts"]]
    return repr((done.reply.parts, result, attempts, done.error))


def holds_nothing(done: TurnDone) -> None:
    assert not [mark for mark in _MARKS if mark in told(done)]
    assert done.result["count"] is None
    assert not any(
        done.result[key] for key in ("doc_ids", "hits", "citations", "choices", "files", "groups", "missing")
    )


@pytest.mark.parametrize("name", NOBODY)
async def test_without_any_grant_every_question_is_refused(bot: Bot, name: str) -> None:
    for question in QUESTIONS:
        done = await said(talking(bot, NOBODY[name]), Said(question))

        assert done.result["outcome"] == "refused"
        holds_nothing(done)


@pytest.mark.parametrize("name", NOBODY)
async def test_a_bucket_asked_for_by_name_is_refused_whether_or_not_it_exists(bot: Bot, name: str) -> None:
    await bot.grants.grant(RECEIPTS, Subject(f"user:{BEN}"), by="test")
    done = [
        await said(talking(bot, NOBODY[name], buckets=[one]), Said("List every one")) for one in (CLOSED, "nowhere")
    ]

    assert [one.result["outcome"] for one in done] == ["refused", "refused"]
    assert told(done[0]) == told(done[1])
    holds_nothing(done[0])


async def test_a_grant_for_one_bucket_tells_nothing_of_another(bot: Bot) -> None:
    """What is said is what is said where the other bucket has never been."""
    await bot.grants.grant(RECEIPTS, Subject(f"user:{BEN}"), by="test")
    talk = NOBODY["a person"]
    among = [await said(talking(bot, talk), Said(question)) for question in QUESTIONS]
    await bot.index.drop_bucket(CLOSED)
    alone = [await said(talking(bot, talk), Said(question)) for question in QUESTIONS]

    for question, one, other in zip(QUESTIONS, among, alone, strict=True):
        assert comparable(one) == comparable(other), question


@pytest.mark.parametrize("name", NOBODY)
async def test_somebody_elses_choice_leads_nobody_anywhere(bot: Bot, name: str) -> None:
    asking = talking(bot, Private(person=ANN), conversation="shared")
    asked = await said(asking, Said("List every backroom"))
    assert asked.result["outcome"] == "overload"
    for choice in asked.result["choices"]:
        for conversation in ("shared", "another"):
            stranger = talking(bot, NOBODY[name], conversation=conversation)
            holds_nothing(await said(stranger, Clicked(ChoiceId(choice["id"]))))
            holds_nothing(await said(stranger, Said(choice["label"])))

    assert (await said(asking, Clicked(ChoiceId(asked.result["choices"][0]["id"])))).result["outcome"] == "answer"


async def test_a_choice_leads_nowhere_once_its_grant_is_gone(bot: Bot) -> None:
    ann = Private(person=ANN)
    labels = [one["label"] for one in (await said(talking(bot, ann), Said("List every backroom"))).result["choices"]]
    for label in labels:
        await bot.grants.grant(CLOSED, Subject(f"user:{ANN}"), by="test")
        clicking, typing = talking(bot, ann), talking(bot, ann)
        asked = await said(clicking, Said("List every backroom"))
        await said(typing, Said("List every backroom"))
        await bot.grants.revoke(CLOSED, Subject(f"user:{ANN}"), by="test")
        [choice] = [one for one in asked.result["choices"] if one["label"] == label]
        clicked, typed = await said(clicking, Clicked(ChoiceId(choice["id"]))), await said(typing, Said(label))

        if choice["kind"] != "restart":
            assert (clicked.result["outcome"], typed.result["outcome"]) == ("refused", "refused")
        holds_nothing(clicked)
        holds_nothing(typed)


async def test_a_plan_over_two_buckets_goes_on_in_the_one_that_is_still_granted(bot: Bot, script: Script) -> None:
    leg = Leg(id=LegId("a"), question="all", search=everything_in(RECEIPTS, CLOSED), wanted=ListDocuments())
    script.plans = {"all": Planned(plan=Plan(question="all", legs=(leg,)))}
    await bot.grants.grant(RECEIPTS, Subject(f"user:{ANN}"), by="test")
    asked = await said(ann := talking(bot, Private(person=ANN)), Said("all"))
    await bot.grants.revoke(CLOSED, Subject(f"user:{ANN}"), by="test")
    [anyway] = [one["id"] for one in asked.result["choices"] if one["kind"] == "anyway"]
    done = await said(ann, Clicked(ChoiceId(anyway)))

    assert sorted(done.result["doc_ids"]) == ["r0", "r1"]
    assert not [mark for mark in _MARKS if mark in told(done)]


async def test_a_file_is_nobodys_once_its_grant_is_gone(bot: Bot) -> None:
    ann = talking(bot, Private(person=ANN))
    asked = await said(ann, Said("List every backroom"))
    [export] = [one["id"] for one in asked.result["choices"] if one["kind"] == "export"]
    done = await said(ann, Clicked(ChoiceId(export)))
    file = done.reply.parts[-1]
    assert isinstance(file, File)
    signed = file.url.rsplit("/", 1)[1]
    assert (await bot.exports.find(signed)).path.is_file()
    await bot.grants.revoke(CLOSED, Subject(f"user:{ANN}"), by="test")

    with pytest.raises(FileGone) as gone:
        await bot.exports.find(signed)
    assert not [mark for mark in _MARKS if mark in str(gone.value)]


async def test_a_file_is_nobodys_once_somebody_is_no_reader_of_all_of_it(bot: Bot) -> None:
    """The bucket is still granted; a document in the file was for a group that its person has left."""
    await bot.groups.create("staff", "Staff", by="test")
    await bot.groups.add("staff", ANN, by="test")
    await bot.index.put(CLOSED, [replace(_secret(0), readers=frozenset({Subject("group:staff")}))])
    ann = talking(bot, Private(person=ANN))
    asked = await said(ann, Said("List every backroom"))
    [export] = [one["id"] for one in asked.result["choices"] if one["kind"] == "export"]
    file = (await said(ann, Clicked(ChoiceId(export)))).reply.parts[-1]
    assert isinstance(file, File)
    assert file.rows == 6
    await bot.groups.remove("staff", ANN, by="test")

    with pytest.raises(FileGone):
        await bot.exports.find(file.url.rsplit("/", 1)[1])


# -- as if it were not there


def comparable(done: TurnDone) -> Json:
    """What is said, without ids and times, and without what ranking by words alone brings."""
    own = {"turn", "conversation", "ms", "stages", "attempts", "hits"}
    result = {key: value for key, value in done.result.items() if key not in own}
    choices = [{key: value for key, value in one.items() if key != "id"} for one in done.result["choices"]]
    attempts = [(one["tool"], one["documents"]) for one in done.result["attempts"] if one["tool"] != "search_text"]
    return result | {"choices": choices, "attempts": attempts}


@some
@given(data=st.data())
async def test_what_is_said_is_what_is_said_without_the_hidden_documents(
    clicked_bot: Bot, script: Script, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", least=8))
    audience, granted = data.draw(audiences(world))
    question = f"planned {next(_numbers)}"
    planned = data.draw(plainly_planned(world, granted, question))
    script.plans = {question: planned}
    height = data.draw(limits)
    try:
        clicking = await opened(clicked_bot, world, audience, granted, height)
        among = (await clicking.ask(question)).done
        seen = {
            bucket: [one for one in held if clicking.scope.sees(bucket, one.readers)]
            for bucket, held in world.documents.items()
        }
        await closed(clicked_bot)
        alone = World(schemas=_granted(world, granted), documents=seen)
        clicking = await opened(clicked_bot, alone, audience, granted, height)
        without = (await clicking.ask(question)).done
    finally:
        await closed(clicked_bot)

    ranked = {"text", "doc_ids", "citations"} if isinstance(planned.plan.legs[0].wanted, Summarise) else set[str]()
    one, other = comparable(among), comparable(without)
    assert {key: one[key] for key in one if key not in ranked} == {
        key: other[key] for key in other if key not in ranked
    }


def _granted(world: World, granted: Sequence[BucketId]) -> dict[BucketId, Schema]:
    return {bucket: world.schemas[bucket] for bucket in granted}
