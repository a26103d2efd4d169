"""Turns documents into items of a prompt: the whole text where it fits, else the sentences nearest to the question."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log1p

from agent.model.answering.evidence import EvidenceItem, clean_text, describe_values
from agent.model.document_check.candidate_documents import CandidateDocument
from agent.retrieval.quotations import DocumentQuote, split_sentences
from agent.retrieval.relevance import StemMatcher
from agent.token_counts import estimate_tokens
from storage.search.analyser import Analyser, fold_text
from storage.search.documents import Document
from storage.search.schema import Schema

_OMISSION = "…"
_NEIGHBOUR_WEIGHT = 0.3  # of the score of the sentence before and after: what a sentence means, they may say
_VALUES_SHARE = 0.5  # at most, of an item whose text is cut
_BYTES_A_TOKEN = 3  # of a text that is cut within a sentence; fewer than in an estimate, so that it surely fits


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBuilder:
    """Builds the items of one set. `stems`: of the words of the question, and of those that its plan looks for."""

    schema: Schema
    analyser: Analyser
    stems: frozenset[str]

    def build_items(self, candidates: Sequence[CandidateDocument], budget_tokens: int) -> tuple[EvidenceItem, ...]:
        """Returns an item for each document, numbered from 1; together they have about `budget_tokens`.

        What short documents leave of their even share goes to the long ones.
        """
        whole = [self._build_whole(number, candidate) for number, candidate in enumerate(candidates, 1)]
        share = _share_evenly([item.tokens for item in whole], budget_tokens)
        sentences = [
            _sentences_of(candidate) if item.tokens > share else []
            for item, candidate in zip(whole, candidates, strict=True)
        ]
        weights = self._weigh_stems([quote.text for quotes in sentences for quote in quotes])
        return tuple(
            self._cut_item(item, candidate.document, quotes, weights, share) if item.tokens > share else item
            for item, candidate, quotes in zip(whole, candidates, sentences, strict=True)
        )

    def _build_whole(self, number: int, candidate: CandidateDocument) -> EvidenceItem:
        document = candidate.document
        folded = fold_text(document.text)
        told = [value for value in describe_values(document.values, self.schema) if fold_text(value) not in folded]
        text = "\n".join(filter(None, (clean_text("; ".join(told)), clean_text(document.text))))
        return EvidenceItem(id=number, title=clean_text(document.title), text=text, document=document)

    def _weigh_stems(self, texts: Sequence[str]) -> dict[str, float]:
        """Returns the weight of each stem: the more, the fewer of the sentences hold it."""
        matcher = StemMatcher(self.stems, self.analyser)
        counts = Counter(stem for text in texts for stem in matcher.find_stems(text))
        return {stem: log1p(len(texts) / count) for stem, count in counts.items()}

    def _cut_item(
        self,
        item: EvidenceItem,
        document: Document,
        sentences: Sequence[DocumentQuote],
        weights: dict[str, float],
        share_tokens: int,
    ) -> EvidenceItem:
        room = max(share_tokens - replace(item, text="").tokens, 1)
        values = _cut_text(
            clean_text("; ".join(describe_values(document.values, self.schema))), int(room * _VALUES_SHARE)
        )
        matcher = StemMatcher(self.stems, self.analyser)
        own = [sum(weights[stem] for stem in matcher.find_stems(quote.text)) for quote in sentences]
        scores = [
            score + _NEIGHBOUR_WEIGHT * (sum(own[max(index - 1, 0) : index]) + sum(own[index + 1 : index + 2]))
            for index, score in enumerate(own)
        ]
        ranked = sorted(range(len(sentences)), key=lambda index: (-scores[index], index))
        chosen = _choose_sentences([sentences[index] for index in ranked], room - estimate_tokens(values))
        text = "\n".join(filter(None, (values, _join_sentences(chosen))))
        return replace(item, text=text)


def _share_evenly(sizes: Sequence[int], budget: int) -> int:
    """Returns the size to which the larger ones must be cut, so that all together are within the budget."""
    left = budget
    for index, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - index)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _sentences_of(candidate: CandidateDocument) -> list[DocumentQuote]:
    """Returns the sentences of the nearest passages, else of the whole document; those of better passages first."""
    if not candidate.passages:
        return split_sentences(candidate.document.text, 0, None)
    return list(_sentences_in_passages(candidate))


def _sentences_in_passages(candidate: CandidateDocument) -> Iterator[DocumentQuote]:
    seen = set[int]()
    for passage in candidate.passages:
        for quote in split_sentences(passage.text, passage.start, passage.page):
            if quote.start not in seen:  # passages may overlap
                seen.add(quote.start)
                yield quote


def _choose_sentences(ranked: Sequence[DocumentQuote], room_tokens: int) -> list[DocumentQuote]:
    """Returns the first sentences that fit, each wording once, in the order of the text; of the first one at least a
    part.
    """
    chosen, left, seen = list[DocumentQuote](), room_tokens, set[str]()
    for quote in ranked:
        tokens, folded = estimate_tokens(quote.text) + 1, fold_text(quote.text)
        if tokens <= left and folded not in seen:
            seen.add(folded)
            chosen.append(quote)
            left -= tokens
    if not chosen and ranked:
        chosen = [replace(ranked[0], text=_cut_text(ranked[0].text, room_tokens))]
    return sorted(chosen, key=lambda quote: quote.start)


def _join_sentences(sentences: Sequence[DocumentQuote]) -> str:
    """Joins sentences of one text, with "…" where something is left out between them, before and after them."""
    if not sentences:
        return ""
    parts = [_OMISSION, sentences[0].text]
    for before, quote in pairwise(sentences):
        parts += [_OMISSION, quote.text] if quote.start > before.end + 1 else [quote.text]
    return clean_text(" ".join((*parts, _OMISSION)))


def _cut_text(text: str, tokens: int) -> str:
    if estimate_tokens(text) <= tokens:
        return text
    cut = text.encode()[: max(tokens, 0) * _BYTES_A_TOKEN].decode(errors="ignore")
    return f"{cut}{_OMISSION}"
