"""Rankings of two indexes as one.

Cosines of one embedder compare as they are. Scores by words do not: each index has statistics and a formula of its own.
So the scores of the smaller index are multiplied by one factor, which leaves its own order as it is and puts its best
passage where the best of the other would stand if it held as much of what was asked: best scores relate as the shares
of the asked terms that the two best hold, each term weighed by its rarity among the documents of both.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

from storage.search.halves import Asked, Halves, Said, Steps, of_both
from storage.search.ids import BucketId, DocId
from storage.search.index import Count, Fetch, Hit, NearPassages, Outline, Outlines, Passages
from storage.search.plan import Clause, Search, everything_in
from storage.search.text import Analyser

_MOST_WORDS = 32  # of a ranking text that rarities are counted of
_MOST_SAID = 8  # times that one word of a text counts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The words of a ranking text, and in how many documents of each index they stand."""

    said: Counter[str]
    halves: Halves

    def requests(self, half: Search) -> tuple[Count, ...]:
        """The documents of the buckets, then those with each word."""
        whole = everything_in(*half.buckets)
        return (Count(whole), *(Count(_holding(whole, word)) for word in self.said))

    def weights(self, said: Said) -> dict[str, float]:
        mine = [said.main[one] for one in self.requests(self.halves.main)]
        theirs = [said.beside[one] for one in self.requests(self.halves.beside)]
        total, *held = (one + other for one, other in zip(mine, theirs, strict=True))
        return {
            word: min(self.said[word], _MOST_SAID) * log(1 + (total - documents + 0.5) / (documents + 0.5))
            for word, documents in zip(self.said, held, strict=True)
        }


def _holding(search: Search, word: str) -> Search:
    return search.with_clauses(*(Clause(bucket=one.bucket, required=(word,)) for one in search.clauses))


def _words(text: str, halves: Halves, analyser: Analyser) -> _Words:
    terms = analyser.terms(text)
    first = dict[str, str]()  # each term in its first form
    for term in terms:
        first.setdefault(term.text, text[term.start : term.end])
    said = Counter(first[term.text] for term in terms)
    return _Words(said=Counter({word: said[word] for word in list(said)[:_MOST_WORDS]}), halves=halves)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Best:
    """The best of one index: its score, and the text that it was found by."""

    bucket: BucketId
    score: float
    text: str

    def share(self, weights: dict[str, float], said: Said) -> float:
        """Of the weights, of the words that it holds."""
        analyser = said.analyser(self.bucket)
        held = {term.text for term in analyser.terms(self.text)}
        return sum(weight for word, weight in weights.items() if held.issuperset(_terms(word, analyser)))


def _terms(word: str, analyser: Analyser) -> list[str]:
    return [term.text for term in analyser.terms(word)]


def _factor(main: _Best, beside: _Best, words: _Words, said: Said) -> float:
    """What the scores of the index beside are multiplied by."""
    weights = words.weights(said)
    one, other = main.share(weights, said), beside.share(weights, said)
    return main.score / beside.score * (other / one if one and other else 1.0)


def near_passages(halves: Halves, request: NearPassages) -> Steps[tuple[Hit, ...]]:
    one, other = yield from of_both(replace(request, search=halves.main), replace(request, search=halves.beside))
    return _first((*one, *other), request.limit)


def passages(halves: Halves, request: Passages, analyser: Analyser) -> Steps[tuple[Hit, ...]]:
    """`analyser`: of a bucket of the index beside, which tells the words of the text."""
    words = _words(request.text, halves, analyser)
    main, beside = replace(request, search=halves.main), replace(request, search=halves.beside)
    said = yield Asked(main=(main, *words.requests(halves.main)), beside=(beside, *words.requests(halves.beside)))
    one, other = said.main[main], said.beside[beside]
    if one and other:
        factor = _factor(_best_hit(one), _best_hit(other), words, said)
        other = tuple(replace(hit, score=hit.score * factor) for hit in other)
    return _first((*one, *other), request.limit)


def _best_hit(hits: Sequence[Hit]) -> _Best:
    return _Best(bucket=hits[0].bucket, score=hits[0].score, text=f"{hits[0].title}\n{hits[0].text}")


def _first(hits: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(limit, 0)])


def outlines(halves: Halves, request: Outlines, analyser: Analyser) -> Steps[tuple[Outline, ...]]:
    """A best document without a summary is read, in another round trip: it was found by its beginning."""
    words = _words(request.text, halves, analyser)
    main, beside = replace(request, search=halves.main), replace(request, search=halves.beside)
    said = yield Asked(main=(main, *words.requests(halves.main)), beside=(beside, *words.requests(halves.beside)))
    one, other = said.main[main], said.beside[beside]
    if one and other:
        texts = yield from _texts(one[0], other[0])
        factor = _factor(_best_outline(one[0], texts), _best_outline(other[0], texts), words, said)
        other = tuple(replace(outline, score=outline.score * factor) for outline in other)
    merged = sorted((*one, *other), key=lambda one: (-one.score, one.doc_id))
    return tuple(merged[: max(request.limit, 0)])


def _texts(main: Outline, beside: Outline) -> Steps[dict[DocId, str]]:
    one, other = Fetch((main.doc_id,)), Fetch((beside.doc_id,))
    asked = Asked(main=() if main.summary else (one,), beside=() if beside.summary else (other,))
    if not asked.main and not asked.beside:
        return {}
    said = yield asked
    found = (*(said.main[one] if asked.main else ()), *(said.beside[other] if asked.beside else ()))
    return {document.doc_id: document.text for document in found}


def _best_outline(outline: Outline, texts: dict[DocId, str]) -> _Best:
    text = outline.summary or texts.get(outline.doc_id, "")
    return _Best(bucket=outline.bucket, score=outline.score, text=f"{outline.title}\n{text}")
