"""The scope through the whole bot: a person without a grant for a bucket learns nothing of it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any as Json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decomposition import PlannedQuestion
from agent.limits import AnswerLimits
from bot.application import Application
from bot.errors import FileGone
from bot.ids import ChoiceId, PersonId, Subject
from bot.surface.inbound import Audience, ButtonClick, ChannelAudience, OutsiderPresence, PrivateAudience, TextMessage
from bot.surface.replies import FilePart
from bot.turns.turn_processor import FinishedTurn
from storage.search.documents import Document
from storage.search.ids import BucketId, LegId
from storage.search.plan import Leg, ListDocuments, Plan, SummariseDocuments, unfiltered_search_of
from storage.search.schema import Schema
from tests.bot.conftest import ConversationDriver
from tests.builders import RECEIPTS, a_document, a_receipt_schema
from tests.scenarios.audiences import audiences, clear_index, few_examples, limits, open_world
from tests.scenarios.clicking import ScriptedReasoner
from tests.scenarios.worlds import DocumentWorld, plainly_planned_questions, worlds

CLOSED = BucketId("backroom")
LIMITS = AnswerLimits(overload_documents=3, read_documents=2)
_numbers = count()
_MARKS = ("secretmark", "backroom", "77")
ANN, BEN = PersonId("slack:T1:U1"), PersonId("slack:T1:U2")
CHANNEL = ChannelAudience(channel=Subject("channel:slack:T1:C1"), outsiders=OutsiderPresence.NONE)
NOBODY: dict[str, Audience] = {
    "a person": PrivateAudience(person=BEN),
    "a guest": PrivateAudience(person=BEN, is_guest=True),
    "a member of a group": PrivateAudience(person=BEN, subjects=frozenset({Subject("group:slack:T1:S1")})),
    "a channel": CHANNEL,
    "a channel with outsiders": replace(CHANNEL, outsiders=OutsiderPresence.SOME),
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
async def bot(clicked_bot: Application) -> Application:
    """A bot with two receipts, and with six documents in a bucket that only Ann may see."""
    await clicked_bot.index.set_schema(a_receipt_schema())
    await clicked_bot.index.put(RECEIPTS, [a_document(f"r{n}", "plain", title=f"Plain {n}") for n in range(2)])
    await clicked_bot.index.set_schema(a_receipt_schema(CLOSED))
    await clicked_bot.index.put(CLOSED, [_secret(n) for n in range(6)])
    await clicked_bot.grants.grant_bucket_access(CLOSED, Subject(f"user:{ANN}"), by="test")
    return clicked_bot


def talk_as(
    bot: Application, audience: Audience, *, conversation: str = "", buckets: Sequence[str] = ()
) -> ConversationDriver:
    person = audience.person if isinstance(audience, PrivateAudience) else BEN
    conversation = conversation or f"scope {next(_numbers)}"
    return ConversationDriver(bot, audience=audience, person=person, conversation=conversation, buckets=tuple(buckets))


async def run_message(talk: ConversationDriver, body: TextMessage | ButtonClick) -> FinishedTurn:
    return await talk.bot.run_turn(await talk.accept_body(body), limits=LIMITS)


def revealed_text_of(turn: FinishedTurn) -> str:
    """Everything that a turn reveals, without the question's own words and without ids and times."""
    own_keys = {"question", "turn", "conversation", "ms", "stages", "attempts"}
    result = {key: value for key, value in turn.result.items() if key not in own_keys}
    attempts = [attempt["documents"] for attempt in turn.result["attempts"]]
    return repr((turn.reply.parts, result, attempts, turn.error))


def assert_reveals_nothing(turn: FinishedTurn) -> None:
    assert not [mark for mark in _MARKS if mark in revealed_text_of(turn)]
    assert turn.result["count"] is None
    assert not any(
        turn.result[key] for key in ("doc_ids", "hits", "citations", "choices", "files", "groups", "missing")
    )


@pytest.mark.parametrize("name", NOBODY)
async def test_without_any_grant_every_question_is_refused(bot: Application, name: str) -> None:
    for question in QUESTIONS:
        turn = await run_message(talk_as(bot, NOBODY[name]), TextMessage(question))

        assert turn.result["outcome"] == "refused"
        assert_reveals_nothing(turn)


@pytest.mark.parametrize("name", NOBODY)
async def test_a_requested_bucket_is_refused_whether_or_not_it_exists(bot: Application, name: str) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, Subject(f"user:{BEN}"), by="test")
    turns = [
        await run_message(talk_as(bot, NOBODY[name], buckets=[turn]), TextMessage("List every one"))
        for turn in (CLOSED, "nowhere")
    ]

    assert [turn.result["outcome"] for turn in turns] == ["refused", "refused"]
    assert revealed_text_of(turns[0]) == revealed_text_of(turns[1])
    assert_reveals_nothing(turns[0])


async def test_a_grant_for_one_bucket_reveals_nothing_of_another(bot: Application) -> None:
    """The replies are the same as without the other bucket."""
    await bot.grants.grant_bucket_access(RECEIPTS, Subject(f"user:{BEN}"), by="test")
    audience = NOBODY["a person"]
    turns_with_bucket = [await run_message(talk_as(bot, audience), TextMessage(question)) for question in QUESTIONS]
    await bot.index.drop_bucket(CLOSED)
    turns_without_bucket = [await run_message(talk_as(bot, audience), TextMessage(question)) for question in QUESTIONS]

    for question, with_other_bucket, without_other_bucket in zip(
        QUESTIONS, turns_with_bucket, turns_without_bucket, strict=True
    ):
        assert comparable_result_of(with_other_bucket) == comparable_result_of(without_other_bucket), question


@pytest.mark.parametrize("name", NOBODY)
async def test_another_persons_choice_shows_nothing(bot: Application, name: str) -> None:
    asking = talk_as(bot, PrivateAudience(person=ANN), conversation="shared")
    question_turn = await run_message(asking, TextMessage("List every backroom"))
    assert question_turn.result["outcome"] == "overload"
    for choice in question_turn.result["choices"]:
        for conversation in ("shared", "another"):
            stranger = talk_as(bot, NOBODY[name], conversation=conversation)
            assert_reveals_nothing(await run_message(stranger, ButtonClick(ChoiceId(choice["id"]))))
            assert_reveals_nothing(await run_message(stranger, TextMessage(choice["label"])))

    assert (await run_message(asking, ButtonClick(ChoiceId(question_turn.result["choices"][0]["id"])))).result[
        "outcome"
    ] == "answer"


async def test_a_choice_shows_nothing_after_its_grant_is_revoked(bot: Application) -> None:
    ann = PrivateAudience(person=ANN)
    labels = [
        choice["label"]
        for choice in (await run_message(talk_as(bot, ann), TextMessage("List every backroom"))).result["choices"]
    ]
    for label in labels:
        await bot.grants.grant_bucket_access(CLOSED, Subject(f"user:{ANN}"), by="test")
        clicking, typing = talk_as(bot, ann), talk_as(bot, ann)
        question_turn = await run_message(clicking, TextMessage("List every backroom"))
        await run_message(typing, TextMessage("List every backroom"))
        await bot.grants.revoke_grant(CLOSED, Subject(f"user:{ANN}"), by="test")
        [choice] = [choice for choice in question_turn.result["choices"] if choice["label"] == label]
        clicked, typed = (
            await run_message(clicking, ButtonClick(ChoiceId(choice["id"]))),
            await run_message(typing, TextMessage(label)),
        )

        if choice["kind"] != "restart":
            assert (clicked.result["outcome"], typed.result["outcome"]) == ("refused", "refused")
        assert_reveals_nothing(clicked)
        assert_reveals_nothing(typed)


async def test_a_plan_over_two_buckets_continues_in_the_bucket_that_is_still_granted(
    bot: Application, script: ScriptedReasoner
) -> None:
    leg = Leg(id=LegId("a"), question="all", search=unfiltered_search_of(RECEIPTS, CLOSED), answer_form=ListDocuments())
    script.plans = {"all": PlannedQuestion(plan=Plan(question="all", legs=(leg,)))}
    await bot.grants.grant_bucket_access(RECEIPTS, Subject(f"user:{ANN}"), by="test")
    question_turn = await run_message(ann := talk_as(bot, PrivateAudience(person=ANN)), TextMessage("all"))
    await bot.grants.revoke_grant(CLOSED, Subject(f"user:{ANN}"), by="test")
    [anyway] = [choice["id"] for choice in question_turn.result["choices"] if choice["kind"] == "anyway"]
    click_turn = await run_message(ann, ButtonClick(ChoiceId(anyway)))

    assert sorted(click_turn.result["doc_ids"]) == ["r0", "r1"]
    assert not [mark for mark in _MARKS if mark in revealed_text_of(click_turn)]


async def test_a_file_cannot_be_downloaded_after_its_grant_is_revoked(bot: Application) -> None:
    ann = talk_as(bot, PrivateAudience(person=ANN))
    question_turn = await run_message(ann, TextMessage("List every backroom"))
    [export] = [choice["id"] for choice in question_turn.result["choices"] if choice["kind"] == "export"]
    click_turn = await run_message(ann, ButtonClick(ChoiceId(export)))
    file = click_turn.reply.parts[-1]
    assert isinstance(file, FilePart)
    signed = file.url.rsplit("/", 1)[1]
    assert (await bot.exports.find_download(signed)).path.is_file()
    await bot.grants.revoke_grant(CLOSED, Subject(f"user:{ANN}"), by="test")

    with pytest.raises(FileGone) as caught:
        await bot.exports.find_download(signed)
    assert not [mark for mark in _MARKS if mark in str(caught.value)]


async def test_a_file_cannot_be_downloaded_by_a_person_who_may_not_read_all_of_it(bot: Application) -> None:
    """The bucket is still granted, but a document in the file is for a group that the person has left."""
    await bot.groups.create_group("staff", "Staff", by="test")
    await bot.groups.add_group_member("staff", ANN, by="test")
    await bot.index.put(CLOSED, [replace(_secret(0), readers=frozenset({Subject("group:staff")}))])
    ann = talk_as(bot, PrivateAudience(person=ANN))
    question_turn = await run_message(ann, TextMessage("List every backroom"))
    [export] = [choice["id"] for choice in question_turn.result["choices"] if choice["kind"] == "export"]
    file = (await run_message(ann, ButtonClick(ChoiceId(export)))).reply.parts[-1]
    assert isinstance(file, FilePart)
    assert file.rows == 6
    await bot.groups.remove_group_member("staff", ANN, by="test")

    with pytest.raises(FileGone):
        await bot.exports.find_download(file.url.rsplit("/", 1)[1])


# -- comparison with an index without the hidden documents


def comparable_result_of(turn: FinishedTurn) -> Json:
    """The result without ids and times, and without hits that only word ranking finds."""
    own_keys = {"turn", "conversation", "ms", "stages", "attempts", "hits"}
    result = {key: value for key, value in turn.result.items() if key not in own_keys}
    choices = [{key: value for key, value in choice.items() if key != "id"} for choice in turn.result["choices"]]
    attempts = [
        (attempt["tool"], attempt["documents"])
        for attempt in turn.result["attempts"]
        if attempt["tool"] != "search_text"
    ]
    return result | {"choices": choices, "attempts": attempts}


@few_examples
@given(data=st.data())
async def test_a_reply_is_the_same_with_and_without_the_hidden_documents(
    clicked_bot: Application, script: ScriptedReasoner, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", min_documents=8))
    audience, granted = data.draw(audiences(world))
    question = f"planned {next(_numbers)}"
    planned = data.draw(plainly_planned_questions(world, granted, question))
    script.plans = {question: planned}
    answer_limits = data.draw(limits)
    try:
        clicking = await open_world(clicked_bot, world, audience, granted, answer_limits)
        turn_with_hidden = (await clicking.ask_question(question)).finished_turn
        visible_documents = {
            bucket: [document for document in documents if clicking.scope.can_see(bucket, document.readers)]
            for bucket, documents in world.documents.items()
        }
        await clear_index(clicked_bot)
        visible_world = DocumentWorld(schemas=_granted_schemas(world, granted), documents=visible_documents)
        clicking = await open_world(clicked_bot, visible_world, audience, granted, answer_limits)
        turn_without_hidden = (await clicking.ask_question(question)).finished_turn
    finally:
        await clear_index(clicked_bot)

    ranked_keys = (
        {"text", "doc_ids", "citations"}
        if isinstance(planned.plan.legs[0].answer_form, SummariseDocuments)
        else set[str]()
    )
    with_hidden, without_hidden = comparable_result_of(turn_with_hidden), comparable_result_of(turn_without_hidden)
    assert {key: with_hidden[key] for key in with_hidden if key not in ranked_keys} == {
        key: without_hidden[key] for key in without_hidden if key not in ranked_keys
    }


def _granted_schemas(world: DocumentWorld, granted: Sequence[BucketId]) -> dict[BucketId, Schema]:
    return {bucket: world.schemas[bucket] for bucket in granted}
