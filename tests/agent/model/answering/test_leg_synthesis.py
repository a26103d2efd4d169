"""A joint answer to a question of two parts: what it may say, and what stands if it fails."""

import json
from collections.abc import Sequence
from typing import Any as Json

import pytest

from agent.answer_combination import AnswerCombiner, JointAnswer
from agent.context import AgentContext
from agent.errors import ModelUnavailable
from agent.loop import resume
from agent.model.answering.leg_synthesis import asks_joint_statement, combine_leg_answers
from agent.outcome import Answer
from agent.reasoning_log import ReasoningLog
from agent.review.review import ReviewedPlan
from agent.rules.reasoner import RuleReasoner
from agent.verify import VerifiedLeg
from storage.search.ids import LegId
from storage.search.plan import (
    AggregateFunction,
    ComputeNumbers,
    FindPassages,
    Leg,
    LegCombination,
    Plan,
    unfiltered_search_of,
)
from storage.search.scope import Scope
from tests.agent.model.answering.answering_reasoner import a_sentence
from tests.agent.model.answering.conftest import HANDBOOKS, NOW, AskedShelf
from tests.agent.model.scripted_model import ScriptedModel
from tests.builders import TENANT

QUESTION = "How many tonnes does the crane lift, and why is the ramp greased?"
RULES_TEXT = "“The ferry ramp rests on two rollers.”"


class CombiningReasoner(RuleReasoner):
    """Answers by rules and joins the answers with a model."""

    def __init__(self, model: ScriptedModel, max_calls: int = 4) -> None:
        super().__init__()
        self._model, self._max_calls = model, max_calls

    async def combine_answers(self, reviewed: ReviewedPlan, legs: Sequence[VerifiedLeg]) -> JointAnswer | None:
        return await combine_leg_answers(self._model, reviewed, legs, language="en", max_calls=self._max_calls)


async def ask_both(
    shelf: AskedShelf,
    model: ScriptedModel,
    question: str = QUESTION,
    *,
    combination: LegCombination = LegCombination.SIDE_BY_SIDE,
    max_calls: int = 4,
) -> tuple[Answer, ReasoningLog]:
    questions = ("How many tonnes does the crane lift?", "On what does the ferry ramp rest?", "How many?")
    legs = tuple(
        Leg(
            id=LegId(letter),
            question=text,
            search=unfiltered_search_of(HANDBOOKS),
            answer_form=ComputeNumbers(functions=(AggregateFunction.COUNT,)) if letter == "c" else FindPassages(),
        )
        for letter, text in zip("abc", questions, strict=True)
    )
    log = ReasoningLog()
    scope = Scope(tenant=TENANT, buckets=frozenset({HANDBOOKS}), ignores_readers=True)
    context = AgentContext(
        index=shelf.index.within_scope(scope),
        reasoner=CombiningReasoner(model, max_calls),
        now=NOW,
        reasoning_log=log,
    )
    outcome = await resume(Plan(question=question, legs=legs, combination=combination), context)
    assert isinstance(outcome, Answer)
    return outcome, log


def a_joint_reply(*sentences: dict[str, Json]) -> str:
    return json.dumps({"sentences": list(sentences)})


def test_a_reasoner_that_can_join_answers_is_recognised() -> None:
    assert isinstance(CombiningReasoner(ScriptedModel()), AnswerCombiner)
    assert not isinstance(RuleReasoner(), AnswerCombiner)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("How did sales change, and why?", True),
        ("How did sales compare and what drove the change?", True),
        ("Wie viel kostet es, und warum?", True),
        ("How many cranes are there, and how many ramps?", False),
    ],
)
def test_only_a_question_for_a_connection_is_joined(question: str, asks: bool) -> None:
    assert asks_joint_statement(question) is asks


async def test_joined_sentences_take_the_place_of_the_answers_that_they_cite(shelf: AskedShelf) -> None:
    model = ScriptedModel(
        a_joint_reply(
            a_sentence("The crane lifts 9 tonnes, the ramp rests on two rollers.", 2, 3),
            a_sentence("It costs EUR 5.", 3),
        )
    )

    outcome, log = await ask_both(shelf, model)

    first, _, rest = outcome.text.partition("\n\n")
    assert first == "The crane lifts 9 tonnes, the ramp rests on two rollers. [2][3]"
    assert "**5 handbooks**" in rest
    assert RULES_TEXT not in outcome.text
    assert [citation.marker for citation in outcome.citations] == ["1", "2", "3"]
    assert [result.text for result in outcome.legs][1] == f"{RULES_TEXT} [1]"
    assert log.fallbacks == {}
    assert [stage.name for stage in outcome.trace.stages][-1] == "combine"


async def test_figures_of_counted_parts_may_be_joined(shelf: AskedShelf) -> None:
    model = ScriptedModel(a_joint_reply(a_sentence("There are 5 handbooks, and the ramp has two rollers.", 3, 4)))

    outcome, _ = await ask_both(shelf, model)

    assert outcome.text.startswith("There are 5 handbooks, and the ramp has two rollers. [3]\n\n")


@pytest.mark.parametrize(
    "reply",
    [
        ModelUnavailable("down"),
        a_joint_reply(a_sentence("Together that is 14.", 1, 3)),
        a_joint_reply(a_sentence("It lifts nine tonnes.", 2)),  # joins nothing
        a_joint_reply(a_sentence("It lifts nine tonnes.", 99, 3)),
        a_joint_reply(),
    ],
)
async def test_the_parts_stand_one_after_the_other_with_a_remark_if_joining_fails(
    shelf: AskedShelf, reply: str | Exception
) -> None:
    outcome, log = await ask_both(shelf, ScriptedModel(reply))

    assert outcome.text.startswith("I could not join this into one answer, so here is each part:\n\n“")
    assert RULES_TEXT in outcome.text
    assert "combine" in log.fallbacks


@pytest.mark.parametrize("reason", ["question", "comparison"])
async def test_other_questions_cost_no_call(shelf: AskedShelf, reason: str) -> None:
    if reason == "question":
        outcome, _ = await ask_both(shelf, ScriptedModel(), "How many tonnes? And on what does it rest?")
        assert RULES_TEXT in outcome.text
    else:
        outcome, _ = await ask_both(shelf, ScriptedModel(), combination=LegCombination.ONE)
        assert RULES_TEXT in outcome.text


async def test_without_calls_left_the_parts_stand(shelf: AskedShelf) -> None:
    outcome, log = await ask_both(shelf, ScriptedModel(), max_calls=0)

    assert RULES_TEXT in outcome.text
    assert log.fallbacks == {"combine": "no calls left"}
