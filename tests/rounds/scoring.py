"""Scores replies to the questions of a round: right, asked back with a way to the truth, not found, or wrong.

- `RIGHT`: the reply states the truth; for a question without an answer: it says so, or asks back.
- `ASKED_BACK`: the reply asks back, and one of its choices leads to the truth.
- `NOT_FOUND`: the reply claims nothing: it found nothing, or its choices do not lead to the truth.
- `WRONG`: the reply answers, and the answer is not the truth.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any as Json

from pydantic import BaseModel

from bot.eval.answer_matching import parse_yes_or_no, states_answer

_MAX_NAMED_BESIDE = 4  # documents that a reply may name besides the values it was asked for
_MIN_TOLERANCE = 0.006  # absolute: two decimals are shown
_BOLD = re.compile(r"\*\*([^*\n]{1,100})\*\*")
_ASKING_OUTCOMES = frozenset({"no_results", "ambiguous", "overload"})
ResultJson = Mapping[str, Json]


class Truth(BaseModel):
    """The truth about a question. Exactly one of the fields is set, besides `tolerance`, `alternatives`, `readings`."""

    documents: tuple[str, ...] | None = None
    number: float | None = None
    tolerance: float = 0.0  # relative
    values: tuple[str, ...] | None = None
    alternatives: tuple[tuple[str, ...], ...] = ()  # other spellings of all values
    groups: dict[str, float] | None = None
    yes_no: str | None = None
    nothing: bool = False
    ask: bool = False
    readings: tuple["Truth", ...] = ()  # the meanings of an ambiguous question
    parts: tuple["Truth", ...] | None = None


class RoundQuestion(BaseModel):
    """A line of `questions.jsonl`. The reply to the last turn is scored."""

    id: str
    kind: str
    turns: tuple[str, ...]
    truth: Truth
    why: str = ""


class Verdict(StrEnum):
    RIGHT = "right"
    ASKED_BACK = "asked back"
    NOT_FOUND = "not found"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedReply:
    question: RoundQuestion
    verdict: Verdict
    result: ResultJson


def judge_first_reply(truth: Truth, result: ResultJson) -> Verdict:
    """Judges a reply without regard to where its choices lead."""
    if states_truth(truth, result):
        return Verdict.RIGHT
    return Verdict.WRONG if result["outcome"] in ("answer", "failed", "overload") else Verdict.NOT_FOUND


def may_lead_to_truth(result: ResultJson) -> bool:
    return result["outcome"] in _ASKING_OUTCOMES and bool(result["choices"])


def states_truth(truth: Truth, result: ResultJson) -> bool:
    """Whether the reply states the truth. `result` is in the format of `parley ask --json`."""
    outcome = result["outcome"]
    if truth.nothing:
        return outcome in ("no_results", "ambiguous", "refused") or (outcome == "answer" and _states_none(result))
    if truth.ask:
        return outcome in _ASKING_OUTCOMES or any(states_truth(reading, result) for reading in truth.readings)
    if truth.parts is not None:
        return all(any(states_truth(part, view) for view in _views_of(result)) for part in truth.parts)
    if truth.documents is not None:
        return _states_documents(set(truth.documents), result)
    if outcome != "answer":
        return False
    if truth.number is not None:
        return _states_number(truth.number, truth.tolerance, result)
    if truth.values is not None:
        if any(_lists_exactly(values, result) for values in (truth.values, *truth.alternatives)):
            return True
        leaders = [f"{group['label']} {group['value']}" for group in result["groups"][:1]]  # of a ranking
        text = " ".join((str(result["text"]), *result["doc_ids"], *leaders))
        return _is_focused(truth, result) and any(
            states_answer(words, text) for words in (truth.values, *truth.alternatives)
        )
    if truth.groups is not None:
        return _states_groups(truth.groups, truth.tolerance, result)
    return truth.yes_no is not None and parse_yes_or_no(str(result["text"])) is (truth.yes_no == "yes")


def _states_none(result: ResultJson) -> bool:
    values = result["values"]
    has_zero = bool(values) and all(value["value"] in (0, None) for value in values)
    return has_zero or result["count"] == 0 or parse_yes_or_no(str(result["text"])) is False


def _views_of(result: ResultJson) -> Iterator[ResultJson]:
    """The reply as a whole, and each of its legs with the text of the whole."""
    yield result
    for leg in result["legs"]:
        yield {**result, **leg, "legs": [], "text": result["text"]}


def _lists_exactly(values: Sequence[str], result: ResultJson) -> bool:
    """Whether the titles of the listed documents name all of the values, and each of them names some."""
    titles: Sequence[str] = result.get("titles", ())
    if len(titles) < len(result["doc_ids"]) or len(values) < 2:
        return False
    named = [{value for value in values if states_answer(value, title)} for title in titles]
    return all(named) and set[str]().union(*named) == set(values)


def _states_documents(documents: set[str], result: ResultJson) -> bool:
    if result["outcome"] == "overload":
        return result["count"] == len(documents)
    if result["outcome"] == "answer" and result["count"] == len(documents) and documents <= _names_in_bold(result):
        return True  # rows of a table without a key, which the reply calls by their titles
    listed = {str(doc_id): documents & _names_of_document(str(doc_id)) for doc_id in result["doc_ids"]}
    covered = set[str]().union(*listed.values())
    return result["outcome"] == "answer" and all(listed.values()) and covered == documents


def _names_in_bold(result: ResultJson) -> set[str]:
    return set(_BOLD.findall(str(result["text"])))


def _names_of_document(doc_id: str) -> set[str]:
    """By what a writer may name a document: its id, the key of a row, or the name of a file."""
    path = PurePosixPath(doc_id)
    return {doc_id, doc_id.rpartition("#")[2], path.name, path.stem}


def _states_number(number: float, tolerance: float, result: ResultJson) -> bool:
    stated = [value["value"] for value in result["values"] if value["value"] is not None]
    if not stated and result["count"] is not None:
        stated = [result["count"]]
    if not stated:
        return states_answer(number, str(result["text"]))
    return any(_is_near(value, number, tolerance) for value in stated)


def _is_near(value: float, number: float, tolerance: float) -> bool:
    return abs(value - number) <= max(_MIN_TOLERANCE, abs(number) * tolerance)


def _is_focused(truth: Truth, result: ResultJson) -> bool:
    """Whether the reply names few documents besides the answer: a list that holds the answer does not state it."""
    return result["count"] is None or len(result["doc_ids"]) <= len(truth.values or ()) + _MAX_NAMED_BESIDE


def _states_groups(groups: Mapping[str, float], tolerance: float, result: ResultJson) -> bool:
    stated = {str(group["label"]).casefold(): group["value"] for group in result["groups"]}
    return all(
        (value := stated.get(label.casefold())) is not None and _is_near(value, number, tolerance)
        for label, number in groups.items()
    )


_RESERVES = (
    *("I did not use", "I did not understand", "nicht berücksichtigt", "nicht verstanden"),
    *("sans tenir compte", "sin tener en cuenta"),
)


# What begins the text of a quotation that may not answer.
_UNSURE_BEGINNINGS = (
    *("I am not sure that", "Ich bin nicht sicher, ob"),
    *("Je ne suis pas sûr que", "No estoy seguro de que"),
)


def is_wrong_without_reserve(reply: JudgedReply) -> bool:
    """Whether a wrong reply says neither that it is not sure, nor which words of the question it leaves out."""
    assumptions = [str(assumption) for assumption in reply.result["assumptions"]]
    has_reserve = any(words.startswith(_RESERVES) for words in assumptions)
    return (
        reply.verdict is Verdict.WRONG and not has_reserve and not reply.result["text"].startswith(_UNSURE_BEGINNINGS)
    )


def share_of(verdict: Verdict, judged: Sequence[JudgedReply]) -> float:
    """The share (0 to 1) of the replies with this verdict."""
    return sum(reply.verdict is verdict for reply in judged) / len(judged)
