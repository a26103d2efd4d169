"""Answers from the rows of a table that appears in a document, where no field and no sentence answers.

The best passages say which documents hold tables. Their texts come in one round trip; the table and the query that
explain most of the question answer it. Where too much of the question is left over, or where two answers are as good,
nothing is claimed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from agent.evidence.question_words import WordStems
from agent.evidence.word_meanings import Likeness, WordMeanings
from agent.forms.clarifications import UnknownWordsFacts
from agent.forms.find_passages import (
    NoAnswerFacts,
    NoMentionFacts,
    QuotationsFacts,
    rank_leg_passages,
    report_no_answer,
)
from agent.outcome import ComputedFigure, FoundPassage, OutcomeKind, SearchRoute
from agent.refine.refinements import document_candidates
from agent.retrieval.full_text_fallback import search_all_text
from agent.retrieval.quotations import CitedQuote, DocumentQuote
from agent.review.leg_review import Enough, LegClarification, LegFacts, LegReview, build_leg_result
from agent.tables.asked_tokens import TableQuestion, tokenise_question
from agent.tables.row_queries import AnswerKind, RowSelection
from agent.tables.table_choice import ScoredReading, choose_readings, rank_readings
from agent.tables.text_tables import find_tables, looks_like_table
from agent.tables.typed_tables import TypedTable, type_table
from storage.search.conditions import DOC_ID_FIELD, ComparisonCondition, conjuncts_of
from storage.search.documents import Document
from storage.search.ids import DocId, FieldName
from storage.search.index import DocumentRecord, DocumentRequest
from storage.search.plan import AggregateFunction

_MAX_DOCUMENTS = 10  # whose tables are read
_MAX_CHARACTERS = 400_000  # code points of them
_MAX_CONTEXT_CHARACTERS = 400  # before a table, which say what it is about
_MIN_TABLE_SHARE = 0.8  # of a document's text, for the document to be a table
_MIN_EMBEDDED_COLUMNS, _MIN_EMBEDDED_ROWS = 3, 3  # of a table beside other text
_MAX_QUOTED_ROWS = 3
_FUNCTIONS = {
    AnswerKind.COUNT: AggregateFunction.COUNT,
    AnswerKind.SUM: AggregateFunction.SUM,
    AnswerKind.AVERAGE: AggregateFunction.AVERAGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedRow:
    """A row of a table: its number (from 1), the names and texts of its cells, and its place."""

    number: int
    cells: tuple[tuple[str, str], ...]
    quote: DocumentQuote


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAnswerFacts(LegFacts):
    """An answer from a table. `conditions`: column and words of the question that chose the rows."""

    document: DocumentRecord
    kind: AnswerKind
    values: tuple[str, ...]
    column: str | None  # of the values, or of the numbers that the value is computed from
    number: float | None
    row_count: int  # that the answer stands on
    conditions: tuple[tuple[str, str], ...]
    rows: tuple[QuotedRow, ...]  # the first of them

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return tuple(CitedQuote(document=self.document, quote=row.quote) for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralTableAnswersFacts(LegFacts):
    """What each of the tables answers that may be meant, the likeliest first; at least two."""

    answers: tuple[TableAnswerFacts, ...]

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return tuple(quote for answer in self.answers for quote in answer.quotes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralTablesFacts(LegFacts):
    """Several tables answer the question, each in its way: it is asked which one is meant."""

    table_count: int


async def answer_from_tables(
    review: LegReview, decision: Enough | LegClarification, meanings: WordMeanings
) -> Enough | LegClarification:
    """Returns an answer from a table, if one explains enough of the question; else `decision`.

    Values of fields and sets stay as they are: only quotations, and questions that nothing answers, are tried.
    """
    if not _may_be_answered_by_table(review, decision):
        return decision
    documents = await _find_table_documents(review)
    tables = [table for record, document in documents for table in _read_tables(record, document)]
    if not tables:
        return decision
    analyser = review.question_context.analysers[review.leg.search.buckets[0]]
    stems = WordStems(analyser)
    question = tokenise_question(review.leg.question, stems)
    places = {record.doc_id: place for place, (record, _) in enumerate(documents)}
    readings = rank_readings(
        question,
        tables,
        stems,
        await _compare_names(question, tables, meanings),
        [1 / (1 + places[table.document.doc_id]) for table in tables],
    )
    chosen = choose_readings(readings)
    if len(chosen) > 1 and review.may_ask_back:
        return _ask_which_table(review, chosen)
    if chosen:
        return _answer_with(review, decision, chosen)
    if isinstance(decision, Enough) and _quotes_only_rows(decision, tables):
        return report_no_answer(review, NoAnswerFacts(), decision.hits)
    return decision


def _quotes_only_rows(decision: Enough, tables: Sequence[TypedTable]) -> bool:
    """Whether all quotations are rows of documents that are tables: rows as they are written answer nothing."""
    if not isinstance(decision.facts, QuotationsFacts):
        return False
    whole = {table.document.doc_id: table for table in tables if not table.is_embedded}
    return all(
        (table := whole.get(cited.document.doc_id)) is not None and cited.quote.start >= table.table.start
        for cited in decision.facts.quotes
    )


def _ask_which_table(review: LegReview, chosen: Sequence[ScoredReading]) -> LegClarification:
    """Offers the documents whose tables explain the question equally well, and answer it differently."""
    records = [reading.table.document for reading in chosen]
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
        facts=SeveralTablesFacts(table_count=len(records)),
        candidates=tuple(document_candidates(records, has_more=False)),
        route=SearchRoute.HYBRID,
    )


def _may_be_answered_by_table(review: LegReview, decision: Enough | LegClarification) -> bool:
    if review.alternatives.is_checked:
        return False
    if isinstance(decision, Enough):
        return isinstance(decision.facts, QuotationsFacts)
    return isinstance(decision.facts, (NoAnswerFacts, NoMentionFacts, UnknownWordsFacts)) or (
        decision.kind is OutcomeKind.NO_RESULTS and not review.alternatives.is_understood
    )


async def _find_table_documents(review: LegReview) -> Sequence[tuple[DocumentRecord, Document]]:
    """Returns the documents whose best passages have rows of tables, best first."""
    reads_text = review.leg.answer_form.reads_text and bool(review.requests.passage_requests)
    text_review = review if reads_text else await search_all_text(review)
    requests = text_review.requests.passage_requests
    if not _is_document_chosen(review):
        requests = text_review.requests.fallback_requests or requests
    _, ranked = await rank_leg_passages(text_review, requests, include_naming_terms=True, use_reranker=False)
    records = _documents_with_tables(ranked)
    if not records:
        return ()
    request = DocumentRequest(tuple(records))
    documents = (await review.session.ask_index((request,)))[request]
    kept, characters = list[tuple[DocumentRecord, Document]](), 0
    for document in documents:
        characters += len(document.text)
        if kept and characters > _MAX_CHARACTERS:
            break
        kept.append((records[document.doc_id], document))
    return kept


def _is_document_chosen(review: LegReview) -> bool:
    """Whether the search is for a document that somebody chose: other documents do not count then."""
    conditions = (condition for clause in review.leg.search.clauses for condition in conjuncts_of(clause.condition))
    return any(isinstance(each, ComparisonCondition) and each.field == DOC_ID_FIELD for each in conditions)


def _documents_with_tables(passages: Sequence[FoundPassage]) -> Mapping[DocId, DocumentRecord]:
    """Returns the first documents that one of the passages shows to hold a table, in order."""
    hits = (passage.hit for passage in passages if looks_like_table(passage.hit.text))
    records = {
        hit.doc_id: DocumentRecord(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
        for hit in hits
    }
    return dict(islice(records.items(), _MAX_DOCUMENTS))


def _read_tables(record: DocumentRecord, document: Document) -> Sequence[TypedTable]:
    """Reads the tables of a document. Two columns beside other text are labels with their values, not rows."""
    text = document.text
    tables = list(find_tables(text))
    covered = sum(table.rows[-1].end - table.start for table in tables)
    is_embedded = covered < _MIN_TABLE_SHARE * len(text.strip())
    return [
        type_table(
            table,
            record,
            f"{record.title}\n{text[max(table.start - _MAX_CONTEXT_CHARACTERS, 0) : table.start]}",
            is_embedded=is_embedded,
        )
        for table in tables
        if not is_embedded or (len(table.names) >= _MIN_EMBEDDED_COLUMNS and len(table.rows) >= _MIN_EMBEDDED_ROWS)
    ]


async def _compare_names(question: TableQuestion, tables: Sequence[TypedTable], meanings: WordMeanings) -> Likeness:
    """Compares the words of the question with those of the columns' names in meaning."""
    asked = [token.word for token in question.tokens if token.is_content and token.word.isalpha()]
    names = {word for table in tables for column in table.columns for word in column.words if word.isalpha()}
    return await meanings.compare_words(list(dict.fromkeys(asked)), sorted(name for name in names if len(name) > 2))


def _answer_with(review: LegReview, decision: Enough | LegClarification, chosen: Sequence[ScoredReading]) -> Enough:
    answers = tuple(map(_build_facts, chosen))
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=tuple(dict.fromkeys(facts.document.doc_id for facts in answers)),
            figures=tuple(_figures_of(answers[0])) if len(answers) == 1 else (),
        ),
        facts=answers[0] if len(answers) == 1 else SeveralTableAnswersFacts(answers=answers),
        hits=decision.hits,
        route=SearchRoute.HYBRID,
    )


def _figures_of(facts: TableAnswerFacts) -> Sequence[ComputedFigure]:
    function = _FUNCTIONS.get(facts.kind)
    if function is None or facts.number is None:
        return ()
    field = None if facts.column is None or function is AggregateFunction.COUNT else FieldName(facts.column)
    return (ComputedFigure(function=function, field=field, value=facts.number, unit=None, count=facts.row_count),)


def _build_facts(chosen: ScoredReading) -> TableAnswerFacts:
    table, answer = chosen.table, chosen.answer
    selection = getattr(chosen.reading.query, "selection", None)
    conditions = selection.conditions if isinstance(selection, RowSelection) else ()
    return TableAnswerFacts(
        document=table.document,
        kind=answer.kind,
        values=answer.values,
        column=table.columns[answer.column].name if answer.column is not None else None,
        number=answer.number,
        row_count=len(answer.rows),
        conditions=tuple(
            (table.columns[condition.column].name if condition.column >= 0 else "", condition.words)
            for condition in conditions
        ),
        rows=tuple(_quote_row(table, row) for row in answer.rows[:_MAX_QUOTED_ROWS]),
    )


def _quote_row(table: TypedTable, index: int) -> QuotedRow:
    row = table.rows[index]
    return QuotedRow(
        number=row.number,
        cells=tuple(
            (column.name, column.values[index].text) for column in table.columns if not column.values[index].is_empty
        ),
        quote=DocumentQuote(start=row.start, end=row.end, page=None, text=row.text),
    )
