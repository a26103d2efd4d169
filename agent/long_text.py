"""Long documents: by what they are about first, then the passages of the best of those.

A passage of a long document seldom says what the document is about: the words of a question that name its subject
stand in the title, the headings and the summary, those that ask stand in the passage. Where the best passages lack
words that a long document is about, the passages of such documents are looked at by themselves, and each is taken
together with the summary of its document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.decision import Under
from agent.gather import hits_of, weighted
from agent.outcome import FoundPassage
from agent.passages import passages_asked, ranking_of
from agent.prune import fused, reranked, spotters_of
from agent.rerank import Spotter, Weighted, share
from storage.search.conditions import DOC_ID, Compare, Op, all_of
from storage.search.ids import BucketId, DocId
from storage.search.index import Hit, Outline
from storage.search.plan import Search

_LOOKED_AT = 5  # documents whose passages are
_WIDE = 50  # of their passages fetched before re-ranking
_ABOUT = 0.8  # what a word of title or summary counts for, beside one of the passage
_OF_SUBJECT = 1.0  # what a document that is about all that is asked adds to the score of its passages
_CLEARLY = 0.25  # by how much more of the question must be held than by what was found without summaries
_ALIKE = 0.1  # by how much less of the question a passage may hold than the best, and answer as well
_ANSWERING = 3  # passages that are quoted from; the others stand behind what was found without summaries
_IN_OUTLINE = 0.15  # of the question's weight, that a document is about: else nothing tells it from others
_IN_PASSAGE = 0.15  # of the question's weight, that the passage itself must hold: else it only stands in the document


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Passages of the documents that are about what is asked."""

    question: Sequence[Weighted]
    ranked: Sequence[FoundPassage]  # the few that hold about as much of the question as the best, best first
    others: Sequence[FoundPassage]
    held: float  # the share (0 to 1) of the question that the best holds with the summary of its document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """What passages and documents hold of the question."""

    question: Sequence[Weighted]
    spotters: Mapping[BucketId, Spotter]
    told: Mapping[DocId, Outline]

    def in_outline(self, one: Outline) -> float:
        return share(self.question, self._outline(one))

    def in_passage(self, hit: Hit) -> float:
        return share(self.question, self.spotters[hit.bucket].found(hit.text))

    def held(self, hit: Hit) -> float:
        """By the passage, and by what its document is about."""
        own = self.in_passage(hit)
        return own + _ABOUT * (share(self.question, self._with_its_document(hit)) - own)

    def beyond(self, hit: Hit) -> float:
        """What the passage holds that is not merely what its document is about."""
        own = self.told.get(hit.doc_id)
        subject = frozenset(self._outline(own)) if own is not None else frozenset[str]()
        return share(self.question, frozenset(self.spotters[hit.bucket].found(hit.text)) - subject)

    def lacks_known(self, hit: Hit) -> bool:
        """Whether words that some document holds are missing from the passage and the title."""
        found = self.spotters[hit.bucket].found
        known = [one for one in self.question if one.known]
        return share(known, {**found(hit.text), **found(hit.title)}) <= 1 - _ALIKE

    def _with_its_document(self, hit: Hit) -> Mapping[str, object]:
        found, own = self.spotters[hit.bucket].found, self.told.get(hit.doc_id)
        return {**found(hit.text), **found(hit.title), **(self._outline(own) if own is not None else {})}

    def _outline(self, one: Outline) -> Mapping[str, object]:
        found = self.spotters[one.bucket].found
        return {**found(one.title), **found(one.summary)}


def names_a_long_one(under: Under) -> bool:
    """Whether the question is about one document, a long one: then its passages alone were looked at."""
    outlines = under.answers[under.asked.outlines] if under.asked.outlines is not None else ()
    return under.count == 1 and any(one.summary for one in outlines)


async def of_the_best(under: Under, ranked: Sequence[FoundPassage], *, answers: bool) -> Found | None:
    """The passages of the documents that are most about what is asked, if a long one is among them and the best of
    `ranked` lacks some of it. `answers`: `ranked` does answer, so that None comes back unless they hold clearly more.
    """
    if under.asked.outlines is None or under.count == 1:
        return None
    outlines = under.answers[under.asked.outlines]
    question = weighted(under.asked, under.answers, under.material, anywhere=True)
    spotters = spotters_of(question, under.material.analysers)
    reader = _Reader(question=question, spotters=spotters, told={one.doc_id: one for one in outlines})
    best = sorted(outlines, key=lambda one: (-reader.in_outline(one), -one.score, one.doc_id))[:_LOOKED_AT]
    if not any(one.summary and reader.in_outline(one) >= _IN_OUTLINE for one in best):
        return None
    if ranked and not reader.lacks_known(ranked[0].hit):
        return None
    found = await _passages_of(under, under.asked.outlines.search, best, reader)
    held = max((reader.held(one.hit) for one in found), default=0.0)
    alike = [one for one in found if reader.held(one.hit) > held - _ALIKE][:_ANSWERING]
    if not alike or (answers and not _is_better(alike[0].hit, ranked[0].hit, reader)):
        return None
    return Found(question=question, ranked=alike, others=[one for one in found if one not in alike], held=held)


def _is_better(hit: Hit, than: Hit, reader: _Reader) -> bool:
    """Whether the passage is to be taken in place of one that was found without summaries, which weighed all that
    stands in passages: what its document is about must make the difference.

    That tells documents apart, not the passages of one: of the same document another is taken where the one found
    holds nothing asked but the subject, and more of that than the other does.
    """
    told = reader.held(hit) - reader.in_passage(hit)
    if told < _ALIKE or reader.held(hit) < reader.held(than) + _CLEARLY:
        return False
    if hit.doc_id != than.doc_id:
        return True
    return reader.beyond(than) < _IN_PASSAGE and reader.in_passage(hit) <= reader.in_passage(than)


async def _passages_of(
    under: Under, search: Search, best: Sequence[Outline], reader: _Reader
) -> Sequence[FoundPassage]:
    """Those that say something asked, best first: each with what its document is about."""
    asked = passages_asked(_within(search, best), ranking_of(under.leg, under.material), under.leg.question, _WIDE)
    answers = await under.desk.ask([*asked.values()], note=[*asked.values()])
    subject = {one.doc_id: _OF_SUBJECT * reader.in_outline(one) for one in best}
    found = [
        replace(one, score=one.score + subject[one.hit.doc_id], found_by=(*one.found_by, "summary"))
        for one in fused(hits_of(asked, answers))
        if reader.in_passage(one.hit) >= _IN_PASSAGE
    ]
    ordered = sorted(found, key=lambda one: (-one.score, one.hit.chunk_id))
    return reranked(ordered, reader.question, under.material.analysers)


def _within(search: Search, best: Sequence[Outline]) -> Search:
    """To rank passages by: the set of the leg stays what it is."""
    ids = {bucket: tuple(one.doc_id for one in best if one.bucket == bucket) for bucket in search.buckets}
    return search.with_clauses(
        *(
            replace(one, condition=all_of(one.condition, Compare(field=DOC_ID, op=Op.IN, value=ids[one.bucket])))
            for one in search.clauses
            if ids[one.bucket]
        )
    )
