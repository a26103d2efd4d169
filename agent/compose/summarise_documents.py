"""Composes summaries: one document by heading and page, several documents with a sentence or two each."""

from collections.abc import Sequence

from agent.compose.composed_leg import ComposedLeg, FallbackSentence, LegComposer, cite_quotes
from agent.compose.phrases.nouns import format_count
from agent.compose.phrases.set_description import noun_of, qualifier_of
from agent.compose.phrases.tables import list_cells, table_of_records
from agent.compose.phrases.words import escape_markdown, format_quotation, join_by_colon
from agent.evidence.whole_rows import WholeRow
from agent.forms.summarise_documents import OutlineFacts, SummariesFacts, quotes_of_summary
from agent.retrieval.quotations import build_citation, quote_beginning_of
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import translate_message
from storage.search.documents import Document

_MAX_SENTENCE_CHARACTERS = 300


def _compose_outline(facts: OutlineFacts, review: LegReview) -> ComposedLeg:
    """The most informative fields, then the most informative sentences, by heading and page; of a row all cells."""
    if facts.row is not None:
        return _compose_row(facts.row, facts, review)
    grid = table_of_records([facts.record], review.leg.search, review.question_context.schemas, caption="")
    known = zip(grid.columns[1:], grid.rows[0][1:], strict=True)
    fields = " · ".join(
        join_by_colon(escape_markdown(label), escape_markdown(value)) for label, value in known if value
    )
    sentences = [*_describe_summarised(facts.summarised_count, review), f"**{escape_markdown(facts.document.title)}**"]
    sentences += [fields] if fields else []
    sentences += [translate_message("Closest to your question:")] if facts.is_for_question else []
    place = ""
    for marker, sentence in enumerate(facts.sentences, 1):
        page = sentence.quote.page
        here = sentence.heading or (translate_message("Page {page}", page=page) if page is not None else "")
        if here and here != place:
            sentences.append(f"\n**{escape_markdown(here)}**")
        place = here
        sentences.append(f"- “{format_quotation(sentence.quote.text, _MAX_SENTENCE_CHARACTERS)}” [{marker}]")
    return ComposedLeg(
        sentences=tuple(sentences),
        separator="\n",
        citations=cite_quotes(facts.quotes),
        fallback=_quote_beginning([facts.document]),
    )


def _compose_row(row: WholeRow, facts: OutlineFacts, review: LegReview) -> ComposedLeg:
    return ComposedLeg(
        sentences=(
            *_describe_summarised(facts.summarised_count, review),
            f"**{escape_markdown(facts.document.title)}**",
            *list_cells(row.lines),
        ),
        separator="\n",
        citations=cite_quotes(facts.quotes),
        fallback=_quote_beginning([facts.document]),
    )


def _compose_summaries(facts: SummariesFacts, review: LegReview) -> ComposedLeg:
    sentences, marker = _describe_summarised(facts.summarised_count, review), 0
    for summary in facts.summaries:
        quoted: list[str] = []
        for cited in quotes_of_summary(summary):
            marker += 1
            quoted.append(f"“{format_quotation(cited.quote.text, _MAX_SENTENCE_CHARACTERS)}” [{marker}]")
        sentences.append(join_by_colon(f"- **{escape_markdown(summary.document.title)}**", " ".join(quoted)))
    quotes = [cited for summary in facts.summaries for cited in quotes_of_summary(summary)]
    return ComposedLeg(
        sentences=tuple(sentences),
        separator="\n",
        citations=cite_quotes(quotes),
        fallback=_quote_beginning([summary.document for summary in facts.summaries]),
    )


def _describe_summarised(summarised_count: int, review: LegReview) -> list[str]:
    if review.count <= 1:
        return []
    documents = format_count(review.count, noun_of(review))
    if summarised_count != review.count:
        documents = translate_message("{count} of {documents}", count=summarised_count, documents=documents)
    return [f"{documents}{qualifier_of(review)}."]


def _quote_beginning(documents: Sequence[Document]) -> FallbackSentence | None:
    if not documents:
        return None
    citation = build_citation(1, documents[0], quote_beginning_of(documents[0]))
    return FallbackSentence(text=f"“{escape_markdown(citation.text)}” [1]", citation=citation)


COMPOSERS = (LegComposer(OutlineFacts, _compose_outline), LegComposer(SummariesFacts, _compose_summaries))
