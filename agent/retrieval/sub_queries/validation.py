"""Validates passages against the whole question, also those that only a part of the question found.

A passage is dropped if it is far from the question in meaning and holds few of its words. A cosine of 0.25 alone would
drop 14 % of the passages with the answer to questions about companies' pages (WordLlama, 256 dimensions), so the words
count as well, and the cosine is lower.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.evidence.word_meanings import TextEmbedder
from agent.outcome import FoundPassage
from agent.retrieval.fusion import coverage_of_hit, matchers_by_bucket
from agent.retrieval.ranking_terms import FORM_WORDS
from agent.retrieval.relevance import QueryTerm
from storage.search.analyser import Analyser
from storage.search.ids import BucketId, ChunkId

_MIN_COSINE = 0.15  # with the whole question
_MIN_COVERAGE = 0.25  # share of the question's content words, from which a passage needs no such cosine


async def validate_passages(
    question: str,
    passages: Sequence[FoundPassage],
    embedder: TextEmbedder | None,
    analysers: Mapping[BucketId, Analyser],
    known_cosines: Mapping[ChunkId, float],
) -> tuple[FoundPassage, ...]:
    """Returns the passages that are near the question in meaning or in words, each with its cosine, in their order.

    `known_cosines`: those that the index has computed. Without an embedder all passages are returned as they are.
    """
    if embedder is None or not passages:
        return tuple(passages)
    cosines = await _cosines_with(question, passages, embedder, known_cosines)
    terms = _query_terms_of(question, analysers[passages[0].hit.bucket])
    matchers = matchers_by_bucket(terms, analysers)
    return tuple(
        replace(passage, validation_score=round(cosine, 4))
        for passage, cosine in zip(passages, cosines, strict=True)
        if cosine >= _MIN_COSINE or coverage_of_hit(passage.hit, terms, matchers[passage.hit.bucket]) >= _MIN_COVERAGE
    )


async def _cosines_with(
    question: str,
    passages: Sequence[FoundPassage],
    embedder: TextEmbedder,
    known_cosines: Mapping[ChunkId, float],
) -> list[float]:
    """Returns the cosine of the question and each passage, which is compared together with its title."""
    missing = [passage.hit for passage in passages if passage.hit.chunk_id not in known_cosines]
    cosines = dict(known_cosines)
    if missing:
        vectors = await embedder.embed_texts([question, *(f"{hit.title}\n{hit.text}" for hit in missing)])
        computed = (vectors[1:] @ vectors[0]).tolist()
        cosines |= {hit.chunk_id: cosine for hit, cosine in zip(missing, computed, strict=True)}
    return [cosines[passage.hit.chunk_id] for passage in passages]


def _query_terms_of(question: str, analyser: Analyser) -> tuple[QueryTerm, ...]:
    """Returns the content words of the question, each with the same weight."""
    pairs = zip(analyser.extract_words(question), analyser.extract_terms(question), strict=True)
    stems = {term.text: word.text for word, term in pairs if word.text not in FORM_WORDS}
    return tuple(QueryTerm(word=word, stem=stem, weight=1.0, is_known=True) for stem, word in stems.items())
