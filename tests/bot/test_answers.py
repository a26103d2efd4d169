"""From an outcome to the parts of a reply, in the order they are read."""

from datetime import UTC, datetime

from agent.outcome import Answer, Choice, Citation, Clarify, Grid, Outcome, OutcomeKind, Refused, Route, Trace
from bot.answers import Offer, reply_to
from bot.ids import ChoiceId, ClarificationId, DocId, TurnId
from bot.replies import Button, Choices, Handle, Handles, Notice, Part, Source, Table, Text
from storage.search.ids import Generation, LegId
from storage.search.plan import Leg, ListDocuments, Plan
from storage.search.refinement import JustAnswer
from tests.builders import a_search

LEG = Leg(id=LegId("1"), question="q", search=a_search(), wanted=ListDocuments())
PLAN = Plan(question="q", legs=(LEG,))
TRACE = Trace(route=Route.STRUCTURED)
GRID = Grid(caption="The first 10", columns=("title",), rows=(("*r1*",),))
EXPIRES = datetime(2031, 5, 9, tzinfo=UTC)
OFFER = Offer(
    clarification=ClarificationId("k"),
    expires=EXPIRES,
    choices=((ChoiceId("x"), Choice(label="Just answer", count=None, leg=LEG.id, does=JustAnswer())),),
)


def parts_of(outcome: Outcome, offer: Offer | None = None) -> tuple[Part, ...]:
    return reply_to(TurnId("t"), outcome, offer).parts


def test_an_answer_is_its_text_with_sources_its_table_the_remarks_and_the_buttons() -> None:
    citation = Citation(marker="1", doc_id=DocId("d"), title="T", page=3, start=0, end=1, text="quote")
    answer = Answer(
        plan=PLAN,
        text="Found [1].",
        legs=(),
        citations=(citation,),
        grids=(GRID,),
        assumptions=("“a_b” is ignored",),
        kept=("vendor = Acme",),
        trace=TRACE,
        generation=Generation("g"),
    )

    assert parts_of(answer, OFFER) == (
        Text(markdown="Found [1].", sources=(Source(marker="1", title="T", page=3, url=None, quote="quote"),)),
        Table(caption="The first 10", columns=("title",), rows=(("*r1*",),)),
        Text(markdown="_“a\\_b” is ignored_\n\n_kept: vendor = Acme · say “start over” to forget it_"),
        Choices(
            clarification=ClarificationId("k"),
            buttons=(Button(id=ChoiceId("x"), label="Just answer", count=None, kind="anyway"),),
            expires=EXPIRES,
        ),
        Handles(handles=(Handle.RATE, Handle.STEPS)),
    )


def test_a_question_back_ends_in_the_question_and_its_buttons() -> None:
    clarify = Clarify(
        plan=PLAN,
        kind=OutcomeKind.OVERLOAD,
        leg=LEG.id,
        text="Which?",
        legs=(),
        choices=(),
        grids=(GRID,),
        kept=("vendor = Acme",),
        trace=TRACE,
        generation=Generation("g"),
    )

    assert [type(part) for part in parts_of(clarify, OFFER)] == [Text, Table, Text, Choices, Handles]
    assert parts_of(clarify, OFFER)[-3] == Text(markdown="Which?")


def test_a_refusal_says_no_more_than_that_and_where_one_may_see_more() -> None:
    assert parts_of(Refused(text="No.")) == (Notice(text="No."),)
    assert parts_of(Refused(text="No.", may_go_private=True)) == (
        Notice(text="No. In a direct message to me you may see more."),
    )
