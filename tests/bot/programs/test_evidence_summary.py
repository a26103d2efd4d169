"""What programs are told about how completely a result answers."""

from collections.abc import Mapping, Sequence
from typing import Any as Json

from bot.ids import ConversationId, TurnId
from bot.programs.evidence_summary import summarise_evidence
from bot.surface.replies import Reply
from bot.turns.turn_processor import FinishedTurn

TURN = TurnId("t1")


def a_turn(*texts: str, reviews: Sequence[Mapping[str, Json]] = (), **changes: Json) -> FinishedTurn:
    """A turn that is answered with sentences of these texts."""
    result: dict[str, Json] = {
        "question": "When was the Nightjar painted blue?",
        "outcome": "answer",
        "route": "hybrid",
        "files": [],
        "citations": [{"title": "Log", "text": text} for text in texts],
    }
    return FinishedTurn(
        turn=TURN,
        conversation=ConversationId("c1"),
        reply=Reply(turn=TURN, parts=()),
        result=result | changes,
        reasoning={"reviews": reviews} if reviews else {},
    )


async def test_the_words_of_the_question_in_the_cited_sentences_are_measured() -> None:
    whole = await summarise_evidence(a_turn("The Nightjar was painted blue in 2029."))
    part = await summarise_evidence(a_turn("The Nightjar has two masts."))

    assert (whole["status"], whole["completeness"], whole["gaps"]) == ("complete", 1.0, [])
    assert (part["status"], part["gaps"]) == ("best_available", ["painted", "blue"])
    assert 0 < part["completeness"] < 0.8


async def test_a_model_judges_what_it_has_reviewed() -> None:
    first: Mapping[str, Json] = {"completeness": 0.3, "reasoning": "no day", "missing": ["the day"]}
    last: Mapping[str, Json] = {"completeness": 0.9, "reasoning": "the day is there", "missing": []}

    summary = await summarise_evidence(a_turn("In 2029.", reviews=[first, last]))

    assert summary == {
        "success": True,
        "status": "complete",
        "iterations": 2,
        "completeness": 0.9,
        "reason": "the day is there",
        "gaps": [],
    }


async def test_a_search_of_the_web_judges_itself() -> None:
    web = {"status": "best_available", "iterations": 3, "completeness": 0.6, "reason": "some words", "gaps": ["blue"]}
    failed = web | {"status": "nothing_found", "completeness": 0.0, "gaps": ["Nightjar"]}

    answered = await summarise_evidence(a_turn("On the web.", web=web))
    nothing = await summarise_evidence(a_turn(outcome="no_results", web=failed))

    assert (answered["status"], answered["completeness"], answered["iterations"]) == ("best_available", 0.6, 3)
    assert (nothing["success"], nothing["status"], nothing["gaps"]) == (False, "nothing_found", ["Nightjar"])


async def test_values_and_files_are_complete_and_open_choices_are_not() -> None:
    counted = await summarise_evidence(a_turn(route="structured"))
    exported = await summarise_evidence(a_turn(route=None, files=[{"name": "a.csv"}]))
    asked_back = await summarise_evidence(a_turn(outcome="overload", route="structured"))

    assert (counted["completeness"], exported["completeness"]) == (1.0, 1.0)
    assert (asked_back["status"], asked_back["completeness"]) == ("needs_choice", 0.0)
