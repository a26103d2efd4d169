"""The parts of a reply for an outcome, in their order."""

import json
from datetime import UTC, datetime

from agent.outcome import (
    Answer,
    Choice,
    Citation,
    Clarify,
    Outcome,
    OutcomeKind,
    PictureKind,
    PicturePoint,
    Refused,
    ResultPicture,
    ResultTable,
    SearchRoute,
    SearchTrace,
)
from bot.conversation.reply_builder import StoredOffer, reply_for
from bot.ids import ChoiceId, ClarificationId, DocId, TurnId
from bot.surface.json_codec import reply_from_json, reply_to_json
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    NoticePart,
    PicturePart,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
)
from storage.search.ids import Generation, LegId
from storage.search.plan import Leg, ListDocuments, Plan
from storage.search.refinement import JustAnswer
from tests.builders import a_search

LEG = Leg(id=LegId("1"), question="q", search=a_search(), answer_form=ListDocuments())
PLAN = Plan(question="q", legs=(LEG,))
TRACE = SearchTrace(route=SearchRoute.STRUCTURED)
GRID = ResultTable(caption="The first 10", columns=("title",), rows=(("*r1*",),))
EXPIRES = datetime(2031, 5, 9, tzinfo=UTC)
OFFER = StoredOffer(
    clarification=ClarificationId("k"),
    expires_at=EXPIRES,
    choices=((ChoiceId("x"), Choice(label="Just answer", count=None, leg=LEG.id, effect=JustAnswer())),),
)


def parts_of(outcome: Outcome, offer: StoredOffer | None = None) -> tuple[ReplyPart, ...]:
    return reply_for(TurnId("t"), outcome, offer).parts


def test_the_line_that_introduces_the_choices_stands_after_the_sources() -> None:
    citation = Citation(marker="1", doc_id=DocId("d"), title="T", page=3, start=0, end=1, text="quote")
    clarify = Clarify(
        plan=PLAN,
        kind=OutcomeKind.NO_RESULTS,
        leg=LEG.id,
        text="“quote” [1]\n\nInstead, I can show:",
        legs=(),
        choices=(),
        citations=(citation,),
        choices_heading="Instead, I can show:",
        trace=TRACE,
        generation=Generation("g"),
    )

    quotation, heading, *_ = parts_of(clarify, OFFER)

    assert isinstance(quotation, TextPart)
    assert (quotation.markdown, len(quotation.sources)) == ("“quote” [1]", 1)
    assert heading == TextPart(markdown="Instead, I can show:")


def test_an_answer_has_text_with_sources_then_table_remarks_and_buttons() -> None:
    citation = Citation(marker="1", doc_id=DocId("d"), title="T", page=3, start=0, end=1, text="quote")
    answer = Answer(
        plan=PLAN,
        text="Found [1].",
        legs=(),
        citations=(citation,),
        tables=(GRID,),
        assumptions=("“a_b” is ignored",),
        kept_conditions=("vendor = Acme",),
        trace=TRACE,
        generation=Generation("g"),
    )

    assert parts_of(answer, OFFER) == (
        TextPart(
            markdown="Found [1].",
            sources=(ShownCitation(marker="1", title="T", page=3, url=None, quote="quote", doc_id="d"),),
        ),
        TablePart(caption="The first 10", columns=("title",), rows=(("*r1*",),)),
        TextPart(markdown="_“a\\_b” is ignored._\n\n_kept: vendor = Acme · say “start over” to forget it_"),
        ChoicesPart(
            clarification=ClarificationId("k"),
            buttons=(ChoiceButton(id=ChoiceId("x"), label="Just answer", count=None, kind="anyway"),),
            expires=EXPIRES,
        ),
        TurnActionsPart(handles=(TurnAction.RATE, TurnAction.STEPS, TurnAction.SAVE)),
    )


def test_a_picture_comes_before_its_table_unless_pictures_are_off() -> None:
    points = (PicturePoint(label="a", value=1.0, value_text="1"), PicturePoint(label="b", value=2.0, value_text="2"))
    picture = ResultPicture(kind=PictureKind.BARS, title="Sum", unit=None, points=points, description="Bars: a 1, b 2")
    answer = Answer(
        plan=PLAN,
        text="Sum:",
        legs=(),
        tables=(GRID,),
        pictures=(picture,),
        trace=TRACE,
        generation=Generation("g"),
    )

    shown = reply_for(TurnId("t"), answer, None)
    assert [type(part) for part in shown.parts[:3]] == [TextPart, PicturePart, TablePart]
    assert shown.parts[1] == PicturePart(
        kind=PictureKind.BARS, title="Sum", points=points, description="Bars: a 1, b 2"
    )
    without = reply_for(TurnId("t"), answer, None, show_pictures=False)
    assert [type(part) for part in without.parts[:2]] == [TextPart, TablePart]
    assert reply_from_json(json.loads(json.dumps(reply_to_json(shown)))) == shown


def test_a_clarification_ends_in_its_question_and_buttons() -> None:
    clarify = Clarify(
        plan=PLAN,
        kind=OutcomeKind.OVERLOAD,
        leg=LEG.id,
        text="Which?",
        legs=(),
        choices=(),
        tables=(GRID,),
        kept_conditions=("vendor = Acme",),
        trace=TRACE,
        generation=Generation("g"),
    )

    assert [type(part) for part in parts_of(clarify, OFFER)] == [
        TextPart,
        TablePart,
        TextPart,
        ChoicesPart,
        TurnActionsPart,
    ]
    assert parts_of(clarify, OFFER)[-3] == TextPart(markdown="Which?")


def test_a_refusal_is_one_sentence_and_may_suggest_a_direct_message() -> None:
    assert parts_of(Refused(text="No.")) == (NoticePart(text="No."),)
    assert parts_of(Refused(text="No.", may_go_private=True)) == (
        NoticePart(text="No. In a direct message to me you may see more."),
    )
