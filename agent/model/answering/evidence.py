"""The evidence for one leg: passages, values and figures, pruned, in the order of their relevance, each with an id."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, zip_longest

from agent.compose.phrases.figures import format_amount
from agent.forms.figures import currency_of_value
from agent.forms.find_passages import rank_leg_passages
from agent.forms.summarise_documents import OutlineFacts, SummariesFacts
from agent.outcome import FoundPassage
from agent.retrieval.key_sentences import KeySentence, key_sentences_of
from agent.retrieval.quotations import CitedQuote, DocumentQuote, quote_beginning_of, split_sentences
from agent.retrieval.sub_queries.sub_query_rankings import rank_sub_query
from agent.review.leg_review import Enough, LegClarification, LegReview
from agent.review.written_answer import SourceText
from agent.token_counts import estimate_tokens
from agent.verification.claimed_names import is_quoted_from, quotations_in
from prompts.data_texts import drop_hidden_characters
from storage.search.analyser import fold_text
from storage.search.documents import Document, FieldValue, FieldValues
from storage.search.ids import ChunkId, DocId
from storage.search.index import DocumentRecord, PassageHit
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_PASSAGES = 20  # read before the token budget cuts them
_PROBE_PASSAGES = 4  # the best of each refined query
_MIN_SCORE_SHARE = 0.25  # of the best passage's score
_MIN_COSINE = 0.15  # with the question, of a passage that shares no word with it
_SHINGLE_WORDS = 3
_MAX_SHARED_SHINGLES = 0.8  # of the smaller text; with more, two passages say the same
_MAX_RECORDS = 5  # whose values are shown
_MAX_VALUE_CHARACTERS = 200
_MAX_FIGURE_LINES = 20
_ITEM_TOKENS = 25  # of the frame around an item
_MIN_CUT_TOKENS = 60  # a passage is cut to fit if at least so much of it fits
_SENTENCE_TOKENS = 40  # of a key sentence, on average
_MIN_KEY_SENTENCES = 3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceItem:
    """An item of evidence. All texts are as the model reads them, but for the delimiters of the prompt."""

    id: int  # from 1
    title: str
    text: str
    page: int | None = None
    day: str = ""  # ISO; the first day among the values of the document
    is_outside: bool = False  # not in the documents that the question names
    document: Document | DocumentRecord | None = None  # None: figures over many documents
    quotes: tuple[DocumentQuote, ...] = ()  # its sentences; none: values or figures
    chunk_id: ChunkId | None = None

    @property
    def source(self) -> SourceText:
        url = self.document.source if self.document is not None else ""
        shown = (self.title, self.day, self.text)
        return SourceText(title=self.title, text="\n".join(shown[1:]), url=url if "://" in url else "")

    @property
    def tokens(self) -> int:
        return _ITEM_TOKENS + estimate_tokens(f"{self.title} {self.text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LegEvidence:
    """The items of a leg, the most relevant first."""

    items: tuple[EvidenceItem, ...]

    @property
    def passages(self) -> frozenset[ChunkId]:
        return frozenset(item.chunk_id for item in self.items if item.chunk_id is not None)

    def find_items(self, ids: Iterable[int]) -> tuple[EvidenceItem, ...] | None:
        """Returns the items in the order of `ids`, each once; None if one of them does not exist."""
        by_id = {item.id: item for item in self.items}
        unique = tuple(dict.fromkeys(ids))
        return tuple(by_id[number] for number in unique) if all(number in by_id for number in unique) else None


async def collect_evidence(review: LegReview, decision: Enough | LegClarification, budget_tokens: int) -> LegEvidence:
    """Returns the evidence of the leg; `decision` is what the rules made of it. Raises only the errors of the index."""
    if isinstance(decision.facts, (OutlineFacts, SummariesFacts)):
        return _number_items(_items_of_documents(decision.facts, review, budget_tokens), budget_tokens)
    passages = list(islice(_prune_passages(await _rank_passages(review, decision), review), _MAX_PASSAGES))
    records = {record.doc_id: record for record in review.records}
    in_set = _documents_of_set(review)
    items = [_item_of_passage(found.hit, records, in_set, review) for found in passages]
    if review.alternatives.is_confined:
        items = [item for item in items if not item.is_outside]
    shown = [record for record in records.values() if record.doc_id in {found.hit.doc_id for found in passages}]
    known = (shown or list(records.values()))[:_MAX_RECORDS]
    values = [item for record in known if (item := _item_of_values(record, review)) is not None]
    return _number_items([*items[:1], *values, *items[1:], *_items_of_figures(review)], budget_tokens)


# -- passages


async def _rank_passages(review: LegReview, decision: Enough | LegClarification) -> list[FoundPassage]:
    """Returns what the rules read, then the further passages of the set, with the best of each probe in between."""
    ranked = list(decision.hits)
    if review.requests.passage_requests and review.requests.content_stems:
        _, in_set = await rank_leg_passages(
            review, review.requests.passage_requests, include_naming_terms=False, use_reranker=False
        )
        ranked += in_set
    probes = (*review.requests.probes, *review.requests.fallback_probes)
    rankings = [rank_sub_query(probe, review.answers)[:_PROBE_PASSAGES] for probe in probes]
    best = max((found.score for found in ranked), default=0.0)
    kept = [found for found in ranked if found.score >= _MIN_SCORE_SHARE * best]
    unique = dict[ChunkId, FoundPassage]()
    for found in (found for row in zip_longest(kept, *rankings) for found in row if found is not None):
        unique.setdefault(found.hit.chunk_id, found)
    return list(unique.values())


def _prune_passages(passages: Sequence[FoundPassage], review: LegReview) -> Iterator[FoundPassage]:
    """Yields the passages without those far from the question, and those that repeat another."""
    cosines = {
        chunk_id: cosine
        for by_chunk in review.session.cosines_by_query.values()
        for chunk_id, cosine in by_chunk.items()
    }
    seen: list[frozenset[tuple[str, ...]]] = []
    for found in passages:
        is_far = found.found_by == ("semantic",) and cosines.get(found.hit.chunk_id, 1.0) < _MIN_COSINE
        shingles = _shingles_of(found.hit.text)
        if is_far or not shingles or any(_is_near_duplicate(shingles, other) for other in seen):
            continue
        seen.append(shingles)
        yield found


def _shingles_of(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(fold_text(text))
    if len(words) <= _SHINGLE_WORDS:
        return frozenset({tuple(words)}) if words else frozenset()
    return frozenset(tuple(words[index : index + _SHINGLE_WORDS]) for index in range(len(words) - _SHINGLE_WORDS + 1))


def _is_near_duplicate(shingles: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    return len(shingles & other) >= _MAX_SHARED_SHINGLES * min(len(shingles), len(other))


def _documents_of_set(review: LegReview) -> frozenset[DocId] | None:
    """Returns the documents of the leg's set that hold passages; None if it has no conditions or no documents."""
    if not review.requests.fallback_requests or not review.count:
        return None
    hits = (hit for request in review.requests.passage_requests.values() for hit in review.answers[request])
    probes = (request for probe in review.requests.probes for request in probe.passage_requests.values())
    further = (hit for request in probes for hit in review.answers[request])
    return frozenset(hit.doc_id for hit in (*hits, *further)) | {record.doc_id for record in review.records}


def _item_of_passage(
    hit: PassageHit, records: dict[DocId, DocumentRecord], in_set: frozenset[DocId] | None, review: LegReview
) -> EvidenceItem:
    record = records.get(hit.doc_id)
    bare = DocumentRecord(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
    return EvidenceItem(
        id=0,
        title=clean_text(hit.title),
        text=clean_text(hit.text),
        page=hit.page,
        day=_day_of(record, review) if record is not None else "",
        is_outside=in_set is not None and hit.doc_id not in in_set,
        document=record or bare,
        quotes=tuple(split_sentences(hit.text, hit.start, hit.page)),
        chunk_id=hit.chunk_id,
    )


# -- values and figures


def _item_of_values(record: DocumentRecord, review: LegReview) -> EvidenceItem | None:
    schema = review.question_context.schemas[record.bucket]
    text = "; ".join(describe_values(record.values, schema))
    if not text:
        return None
    return EvidenceItem(
        id=0, title=clean_text(record.title), text=clean_text(text), day=_day_of(record, review), document=record
    )


def describe_values(values: FieldValues, schema: Schema) -> Iterator[str]:
    """Yields "label: value" for each value of a document, in the order of the schema; long values are cut."""
    for field in schema.fields:
        value = values.get(field.name)
        if value is not None and field.type is not FieldType.ROWS:
            shown = _format_value(value, field, values)
            yield f"{field.label}: {shown[:_MAX_VALUE_CHARACTERS]}"


def _format_value(value: FieldValue, field: SchemaField, values: FieldValues) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(member for member in value if isinstance(member, str))
    return format_amount(value, currency_of_value(values, field), field)


def _day_of(record: DocumentRecord, review: LegReview) -> str:
    fields = review.question_context.schemas[record.bucket].fields
    days = (record.values.get(field.name) for field in fields if field.type is FieldType.DATE)
    return next((day for day in days if isinstance(day, str)), "")


def _items_of_figures(review: LegReview) -> Iterator[EvidenceItem]:
    lines = [
        f"{line.group if line.group is not None else 'all'}: {line.count} documents, sum {line.sum:.12g}, average "
        f"{line.average:.12g}, minimum {line.minimum:.12g}, maximum {line.maximum:.12g} {line.unit or ''}".rstrip()
        for line in review.aggregate_lines[:_MAX_FIGURE_LINES]
    ]
    if lines:
        yield EvidenceItem(id=0, title=f"Figures over {review.count} documents", text=clean_text("\n".join(lines)))


# -- whole documents


def _items_of_documents(
    facts: OutlineFacts | SummariesFacts, review: LegReview, budget_tokens: int
) -> Iterator[EvidenceItem]:
    """Yields the key sentences: by page of a single document, else an item a document."""
    is_single = isinstance(facts, OutlineFacts)
    documents = (
        [facts.document] if isinstance(facts, OutlineFacts) else [summary.document for summary in facts.summaries]
    )
    limit = max(_MIN_KEY_SENTENCES, budget_tokens // (_SENTENCE_TOKENS * max(len(documents), 1)))
    if isinstance(facts, OutlineFacts) and (values := _item_of_values(facts.record, review)) is not None:
        yield values
    for document in documents:
        sentences = key_sentences_of(document, limit)
        if not sentences and document.passages:
            sentences = [KeySentence(quote=quote_beginning_of(document), heading="")]
        groups = groupby(sentences, key=lambda sentence: sentence.quote.page) if is_single else [(None, sentences)]
        for page, group in groups:
            yield _item_of_sentences(document, page, list(group))


def _item_of_sentences(document: Document, page: int | None, sentences: Sequence[KeySentence]) -> EvidenceItem:
    lines: list[str] = []
    heading = ""
    for sentence in sentences:
        if sentence.heading and sentence.heading != heading:
            lines.append(f"{sentence.heading}:")
        heading = sentence.heading
        lines.append(sentence.quote.text)
    return EvidenceItem(
        id=0,
        title=clean_text(document.title),
        text=clean_text("\n".join(lines)),
        page=page,
        document=document,
        quotes=tuple(sentence.quote for sentence in sentences),
    )


# -- the budget


def _number_items(items: Iterable[EvidenceItem], budget_tokens: int) -> LegEvidence:
    """Numbers the items that fit into the budget; the last one is cut to fit."""
    numbered: list[EvidenceItem] = []
    left = budget_tokens
    for item in items:
        fitting = item if item.tokens <= left else _cut_item(item, left)
        if fitting is None:
            continue
        numbered.append(replace(fitting, id=len(numbered) + 1))
        left -= fitting.tokens
    return LegEvidence(items=tuple(numbered))


def _cut_item(item: EvidenceItem, budget_tokens: int) -> EvidenceItem | None:
    """Returns the item with its first sentences; None if too little of it would be left."""
    kept: list[DocumentQuote] = []
    for quote in item.quotes:
        text = clean_text("\n".join(sentence.text for sentence in (*kept, quote)))
        if replace(item, text=text).tokens > budget_tokens:
            break
        kept.append(quote)
    text = clean_text("\n".join(sentence.text for sentence in kept))
    return replace(item, text=text, quotes=tuple(kept)) if estimate_tokens(text) >= _MIN_CUT_TOKENS else None


def clean_text(text: str) -> str:
    """Returns the text without characters that no reader sees, which may hide instructions or change the direction."""
    return drop_hidden_characters(text).strip()


# -- citations


def cite_item(item: EvidenceItem, text: str, quote: str) -> tuple[CitedQuote, ...]:
    """Returns the sentences of the item that support a claim best: those that it quotes, else the most similar one.

    Values have no sentence: they are cited by themselves, at the beginning of their document. Figures over many
    documents cannot be cited.
    """
    if item.document is None:
        return ()
    if not item.quotes:
        return (CitedQuote(document=item.document, quote=DocumentQuote(start=0, end=0, page=None, text=item.text)),)
    quoted = [sentence for part in (quote, *quotations_in(text)) if part
              for sentence in _sentences_with(part, item)]  # fmt: skip
    chosen = list(dict.fromkeys(quoted)) or [max(item.quotes, key=lambda sentence: _similarity(sentence.text, text))]
    return tuple(CitedQuote(document=item.document, quote=sentence) for sentence in chosen)


def _sentences_with(quotation: str, item: EvidenceItem) -> list[DocumentQuote]:
    """Returns the sentence that holds the quotation, or the sentences that it runs over."""
    for sentence in item.quotes:
        if is_quoted_from(quotation, sentence.text):
            return [sentence]
    for first, second in zip(item.quotes, item.quotes[1:], strict=False):
        if is_quoted_from(quotation, f"{first.text} {second.text}"):
            return [first, second]
    return []


def _similarity(sentence: str, claim: str) -> float:
    """Returns how many words of the claim are in the sentence, without short ones; those with digits count twice."""
    words = set(_WORD.findall(fold_text(sentence)))
    shared = words & set(_WORD.findall(fold_text(claim)))
    return sum(2.0 if any(character.isdigit() for character in word) else len(word) >= 3 for word in shared)
