"""Quotable sentences of documents: those that contain a value, and those that cover most of a question."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.outcome import Citation, FoundPassage
from agent.retrieval.answer_type import answer_type_of, find_values_in
from agent.retrieval.relevance import QueryTerm, matched_share_of, stem_matcher_for
from storage.search.analyser import Analyser, fold_text
from storage.search.documents import Document
from storage.search.ids import BucketId, FieldName
from storage.search.index import DocumentRecord, PassageHit
from storage.search.plan import Leg
from storage.text.code_blocks import find_fence_lines
from storage.text.key_sentences import find_sentence_spans

_MAX_QUOTE_CHARACTERS = 400
_READ_PASSAGES = 8  # passages whose sentences get a score
_TITLE_WEIGHT = 0.5  # weight of a word in the title; a word in the sentence has the rest
_SCHEMA_WEIGHT, _ENOUGH_SCHEMA_WORDS = 0.2, 3  # bonus for words of the schema, and the number of words for all of it
_ANSWER_TYPE_BONUS = 0.15  # for a value of the answer's type
_HEADING_PENALTY = 0.25
_MIN_SENTENCE_WORDS = 4
_WORD = re.compile(r"\w+")
_MAX_CITATIONS_PER_SENTENCE = 5  # documents cited for one sentence
_RANK_PENALTY = 0.03
_VALUE_FORM_BONUS = 0.2  # for each form of the value in a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentQuote:
    """A sentence of a document that supports the answer: its offsets in the document's text, and its page.

    `is_code`: a line of a block of code, whose signs are no marks of Markdown.
    """

    start: int
    end: int
    page: int | None
    text: str
    is_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedQuote:
    """A sentence and its document."""

    document: Document | DocumentRecord
    quote: DocumentQuote


def find_sentence_with_value(
    document: Document, value_forms: Sequence[str], field_labels: Sequence[str]
) -> DocumentQuote | None:
    """Returns the sentence that contains a value, preferably with a label of the field; None if no sentence does."""
    folded_forms = [folded for form in value_forms if (folded := fold_text(form))]  # control characters fold to nothing
    folded_labels = [folded for label in field_labels if (folded := fold_text(label))]
    best: tuple[int, DocumentQuote] | None = None
    for quote in split_document_sentences(document):
        text = fold_text(quote.text)
        if not any(_contains_phrase(text, form) for form in folded_forms):
            continue
        score = 1 + sum(label in text for label in folded_labels)
        if best is None or score > best[0]:
            best = (score, quote)
    return best[1] if best else None


def find_extracted_sentence(document: Document, field_name: FieldName) -> DocumentQuote | None:
    """Returns the sentence that the most confident value of the field was extracted from.

    Of a sentence that is too long to quote, returns only the evidence.
    """
    spans = [
        annotation
        for annotation in document.annotations
        if annotation.field == field_name and annotation.start is not None and annotation.end is not None
    ]
    best = max(spans, key=lambda annotation: annotation.confidence, default=None)
    if best is None or best.start is None or best.end is None:
        return None
    passage = next((passage for passage in document.passages if passage.start <= best.start < passage.end), None)
    if passage is None:
        return None
    for quote in split_sentences(document.text[passage.start : passage.end], passage.start, passage.page):
        if quote.start <= best.start and best.end <= quote.end and quote.end - quote.start <= _MAX_QUOTE_CHARACTERS:
            return quote
    return DocumentQuote(start=best.start, end=best.end, page=passage.page, text=document.text[best.start : best.end])


def quote_beginning_of(document: Document) -> DocumentQuote:
    """Returns the beginning of the document: the citation for a known value that is not in the document's text."""
    first = document.passages[0] if document.passages else None
    end = min(first.end, first.start + 160) if first else 0
    start = first.start if first else 0
    end = next((start + fence for fence, _ in find_fence_lines(document.text[start:end]) if fence), end)
    return DocumentQuote(start=start, end=end, page=first.page if first else None, text=document.text[start:end])


def cite_values(document: Document, sentences: Iterable[DocumentQuote | None]) -> tuple[CitedQuote, ...]:
    """A quote for each value of the document: its sentence, or the beginning of the document where it has none."""
    beginning = quote_beginning_of(document)
    return tuple(CitedQuote(document=document, quote=sentence or beginning) for sentence in sentences)


def _contains_phrase(text: str, phrase: str) -> bool:
    index = text.find(phrase)
    while index >= 0:
        before = text[index - 1] if index else " "
        after = text[index + len(phrase)] if index + len(phrase) < len(text) else " "
        if not (before.isalnum() and phrase[0].isalnum()) and not (after.isalnum() and phrase[-1].isalnum()):
            return True
        index = text.find(phrase, index + 1)
    return False


def split_document_sentences(document: Document) -> list[DocumentQuote]:
    """Returns all sentences of the document, with their offsets in its text."""
    quotes: list[DocumentQuote] = []
    for passage in document.passages:
        quotes += split_sentences(document.text[passage.start : passage.end], passage.start, passage.page)
    return quotes


def split_sentences(text: str, offset: int, page: int | None) -> list[DocumentQuote]:
    """Returns the sentences and lines of `text`, whose first character is at `offset` in the document."""
    return [
        DocumentQuote(start=offset + start, end=offset + end, page=page, text=text[start:end], is_code=is_code)
        for start, end, is_code in find_sentence_spans(text)
    ]


def build_citation(marker: int, document: Document | DocumentRecord, quote: DocumentQuote) -> Citation:
    url = document.source if document.source.startswith(("http://", "https://")) else None
    return Citation(
        marker=str(marker), doc_id=document.doc_id, title=document.title, page=quote.page, start=quote.start,
        end=quote.end, text=quote.text[:_MAX_QUOTE_CHARACTERS], url=url,
    )  # fmt: skip


def sort_quoted_first(passages: Sequence[FoundPassage], quotes: Sequence[CitedQuote]) -> list[FoundPassage]:
    """Returns the passages that contain a quote, then the others, each in their order."""

    def is_quoted(hit: PassageHit) -> bool:
        return any(cited.document.doc_id == hit.doc_id and hit.start <= cited.quote.start < hit.end for cited in quotes)

    return sorted(passages, key=lambda passage: not is_quoted(passage.hit))


def rank_sentences(
    passages: Sequence[FoundPassage],
    query_terms: Sequence[QueryTerm],
    analysers: Mapping[BucketId, Analyser],
    leg: Leg,
    schema_phrases: Sequence[str] = (),
    *,
    read_passages: int = _READ_PASSAGES,
) -> list[tuple[float, FoundPassage, DocumentQuote]]:
    """Returns the sentences of the best passages with their scores, best first: how much of the question they cover.

    `schema_phrases`: the schema's words for what is asked; they count in addition to the question's own words. A
    sentence with a value of the answer's type ("when", "how much") scores higher, a heading lower.
    """
    kind, stems = answer_type_of(leg.question), frozenset(term.stem for term in query_terms)
    scored: list[tuple[float, FoundPassage, DocumentQuote]] = []
    for rank, passage in enumerate(passages[:read_passages]):
        analyser = analysers[passage.hit.bucket]
        own, schemas = (
            stem_matcher_for(stems, analyser),
            stem_matcher_for(_stems_of_phrases(schema_phrases, analyser), analyser),
        )
        title = own.find_stems(passage.hit.title)
        for quote in split_sentences(passage.hit.text, passage.hit.start, passage.hit.page):
            matched_stems = own.find_stems(quote.text)
            score = _TITLE_WEIGHT * matched_share_of(query_terms, {**title, **matched_stems}) + (
                1 - _TITLE_WEIGHT
            ) * matched_share_of(query_terms, matched_stems)
            score += (
                _SCHEMA_WEIGHT * min(len(schemas.find_stems(quote.text)), _ENOUGH_SCHEMA_WORDS) / _ENOUGH_SCHEMA_WORDS
                if schema_phrases
                else 0.0
            )
            score += _ANSWER_TYPE_BONUS if kind is not None and find_values_in(quote.text, kind) else 0.0
            score -= _HEADING_PENALTY if _is_heading_like(quote.text, matched_stems, title) else 0.0
            scored.append((score - _RANK_PENALTY * rank, passage, quote))
    return sorted(scored, key=lambda triple: -triple[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotableSentence:
    """A sentence and its places: one in each document, the best first."""

    score: float
    places: tuple[tuple[FoundPassage, DocumentQuote], ...]


def merge_equal_sentences(sentences: Sequence[tuple[float, FoundPassage, DocumentQuote]]) -> list[QuotableSentence]:
    """Returns each sentence once, in order: copies of a document in several formats have the same sentences."""
    once: dict[str, list[tuple[float, FoundPassage, DocumentQuote]]] = {}
    for score, passage, quote in sentences:
        words = " ".join(_WORD.findall(fold_text(quote.text))) or quote.text
        same = once.setdefault(words, [])
        if all(other.hit.doc_id != passage.hit.doc_id for _, other, _ in same):
            same.append((score, passage, quote))
    return [
        QuotableSentence(
            score=same[0][0], places=tuple((passage, quote) for _, passage, quote in same[:_MAX_CITATIONS_PER_SENTENCE])
        )
        for same in once.values()
    ]


def best_sentence_with_value(
    sentences: Sequence[tuple[float, FoundPassage, DocumentQuote]], value_forms: Sequence[str]
) -> DocumentQuote | None:
    """Returns the sentence that covers most of the question among those that contain a value; None if none does."""
    folded_forms = [folded for form in value_forms if (folded := fold_text(form))]
    best: tuple[float, DocumentQuote] | None = None
    for score, _, quote in sentences:
        text = fold_text(quote.text)
        form_count = sum(
            _contains_phrase(text, form) or _contains_phrase(_without_parentheses(text), form) for form in folded_forms
        )
        total = score + _VALUE_FORM_BONUS * min(form_count, 3)
        if form_count and (best is None or total > best[0]):
            best = (total, quote)
    return best[1] if best else None


def _without_parentheses(text: str) -> str:
    """ "Thirty (30) days" contains "30 days"."""
    return text.replace("(", "").replace(")", "")


def _stems_of_phrases(phrases: Sequence[str], analyser: Analyser) -> frozenset[str]:
    return frozenset(term.text for phrase in phrases for term in analyser.extract_terms(phrase))


def _is_heading_like(text: str, matched_stems: Mapping[str, object], title_stems: Mapping[str, object]) -> bool:
    """Whether the text looks like a heading: it has few words, or it is short and only repeats the title."""
    words = len(text.split())
    return (
        words < _MIN_SENTENCE_WORDS
        or text.startswith("#")
        or (words < 2 * _MIN_SENTENCE_WORDS and matched_stems.keys() <= title_stems.keys())
    )
