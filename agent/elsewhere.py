"""What any text says, where the set that a question was taken to mean holds nothing.

The words of a dictionary turn up by chance in questions about other things: "how many matches were won" need not ask
for amounts in won. Where a question named no kind of document and its set is empty, but a passage somewhere holds
nearly all that was said, that is what was asked for. Else nothing is quoted, and the nearest passages are there for
whoever asks for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.decision import AskBack, Enough, Under
from agent.documents import said_in
from agent.gather import asked_of, hits_of, weighted
from agent.named import confines, speaking_of
from agent.outcome import FoundPassage, Route
from agent.prune import coverage, fused, reranked, spotters_of
from agent.reasoner import Doubt
from agent.rerank import Weighted
from agent.rules.language import DOCUMENT_NOUNS, QUESTION_WORDS, YES_NO
from storage.search.index import NearPassages, Passages
from storage.search.plan import FindPassages, Leg, everything_in

_NEARLY_ALL = 0.75  # of a question's weight; a word that no document holds weighs most
_ASKING = QUESTION_WORDS | YES_NO


async def or_in_text(under: Under, nothing: AskBack) -> Enough | AskBack:
    """What a passage says that holds nearly all of the question; else `nothing`, with the nearest passages as hits."""
    if under.asked.fallback:
        return _nearest(under, nothing, under.asked.fallback)[0]
    leg = _of_any_text(under.leg, under)
    asked = asked_of(leg, Doubt(leg=leg.id), under.material, under.desk.context.limits, narrowing=False)
    answers = await under.desk.ask([*asked.requests()], note=[*asked.noted()])
    decided, ranked = _nearest(replace(under, asked=asked, answers=answers), nothing, asked.ranked)
    if not ranked or not _may_be_meant(under):
        return decided
    anywhere = replace(under, leg=leg, asked=asked, answers=answers, doubt=Doubt(leg=leg.id))
    question = weighted(asked, answers, under.material, anywhere=True)
    if _held(anywhere, question, ranked) < _NEARLY_ALL:
        return decided
    said = said_in(anywhere, question, speaking_of(under, ranked), Route.HYBRID)
    if not isinstance(said, Enough):
        return decided
    return replace(said, assumptions=(*said.assumptions, f"found no {under.where}, so any text was searched"))


def _of_any_text(leg: Leg, under: Under) -> Leg:
    search = replace(everything_in(*under.material.schemas), ranking=leg.question)
    return Leg(id=leg.id, question=leg.question, search=search, wanted=FindPassages())


def _nearest(
    under: Under, nothing: AskBack, requests: Mapping[str, Passages | NearPassages]
) -> tuple[AskBack, list[FoundPassage]]:
    question = weighted(under.asked, under.answers, under.material, anywhere=True)
    ranked = reranked(fused(hits_of(requests, under.answers)), question, under.material.analysers)
    return replace(nothing, hits=nothing.hits or tuple(ranked[: under.desk.context.limits.hits])), ranked


def _may_be_meant(under: Under) -> bool:
    """A question, not an order to list, without a word for the documents looked for or a name that is surely theirs."""
    words = under.leg.question.casefold().split()
    if not words or words[0] not in _ASKING or confines(under):
        return False
    said = set[str]()
    for clause in under.leg.search.clauses:
        schema, analyser = under.material.schemas[clause.bucket], under.material.analysers[clause.bucket]
        nouns = (clause.bucket.replace("_", " "), *schema.synonyms, *DOCUMENT_NOUNS)
        stems = {term.text for term in analyser.terms(under.leg.question)}
        said |= stems & {term.text for noun in nouns for term in analyser.terms(noun)}
    return not said


def _held(under: Under, question: Sequence[Weighted], ranked: Sequence[FoundPassage]) -> float:
    spotters = spotters_of(question, under.material.analysers)
    return max((coverage(one.hit, question, spotters[one.hit.bucket]) for one in ranked[:5]), default=0.0)
