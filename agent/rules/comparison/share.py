"""Plans a share: "what percentage of the panels are monocrystalline?"."""

import re

from agent.decomposition import PlannedQuestion
from agent.english.function_words import MONEY_WORDS, SPENDING_NOUNS
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.ids import LegId
from storage.search.plan import AggregateFunction, Clause, ComputeNumbers, Leg, Plan, Search

_SHARE_REQUEST = re.compile(
    r"\b(?:(?:what|which|how\s+(?:big|large|high))\b(?:\s+(?:is|are|was))?(?:\s+(?:the|a))?\s+)?"
    r"(?:share|percentage|percent|per\s+cent|proportion|fraction|%)\s+of\s+|"
    r"\bhow\s+many\s+(?:percent|per\s+cent|%)\s+of\s+",
    re.IGNORECASE,
)
_RELATION_WORD = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|come|comes|came|go|goes|went|that|which|with|without|from|over|"
    r"under|above|below|more|less|at|in|by|contains?|mentions?|[a-z]{3,}ed)\b",
    re.IGNORECASE,
)


def asks_for_share(question: str) -> bool:
    return _SHARE_REQUEST.search(question) is not None


def rephrase_as_count(question: str) -> str:
    """Returns the question with "what share of" replaced by "how many of"."""
    return _SHARE_REQUEST.sub("how many of ", question)


def plan_share(question: str, reader: QuestionReader) -> PlannedQuestion | None:
    """Returns a count of the part with a count of the whole as its base; None if no share of documents is asked.

    The whole is the text before the verb: "of *our receipts in 2024*, … are from Acme". A share of an amount of money
    is not a share of documents and is not computed.
    """
    match = _SHARE_REQUEST.search(question)
    if match is None or match.start() > _MAX_LEAD_CHARACTERS:
        return None
    text = question[match.end() :].strip(" ?.")
    part_reading = reader.readings_of(text)[0]
    words = {token.word for token in part_reading.tokens}
    if not part_reading.has_noun or words & (SPENDING_NOUNS | MONEY_WORDS) or not _has_constraints(part_reading):
        return None
    for relation_match in reversed([*_RELATION_WORD.finditer(text)]):
        whole_reading = next(
            reading
            for reading in reader.readings_of(text[: relation_match.start()])
            if reading.bucket == part_reading.bucket
        )
        if (
            whole_reading.has_noun
            and not whole_reading.unlinked_words
            and set(whole_reading.conditions) < set(part_reading.conditions)
        ):
            return _build_share_plan(question, part_reading, whole_reading)
        if (
            whole_reading.has_noun
            and not whole_reading.unlinked_words
            and whole_reading.conditions == part_reading.conditions
            and part_reading.unlinked_words
        ):
            return _build_share_plan(question, part_reading, whole_reading)
    return None


_MAX_LEAD_CHARACTERS = 12  # characters that may precede the words that ask for a share


def _has_constraints(reading: BucketReading) -> bool:
    return bool(reading.conditions or reading.unlinked_words or reading.unlinked_quotations)


def _build_share_plan(question: str, part_reading: BucketReading, whole_reading: BucketReading) -> PlannedQuestion:
    answer_form = ComputeNumbers(functions=(AggregateFunction.SHARE,), share_base=_search_of(whole_reading, ""))
    leg = Leg(id=LegId("a"), question=question, search=_search_of(part_reading, question), answer_form=answer_form)
    return PlannedQuestion(plan=Plan(question=question, legs=(leg,)), assumptions=part_reading.assumptions)


def _search_of(reading: BucketReading, ranking_text: str) -> Search:
    required = (*reading.unlinked_words, *reading.unlinked_quotations)
    return Search(
        clauses=(Clause(bucket=reading.bucket, condition=reading.condition, required_terms=required),),
        ranking_text=ranking_text,
    )
