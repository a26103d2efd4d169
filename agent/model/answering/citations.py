"""Finds the sentences of documents that hold values which an answer cites."""

from dataclasses import replace

from agent.english.written_values import written_forms_of
from agent.retrieval.quotations import CitedQuote, find_sentence_with_value, quote_beginning_of
from agent.review.leg_review import LegReview
from agent.review.written_answer import WrittenAnswerFacts, WrittenSentence
from storage.search.analyser import fold_text
from storage.search.documents import Document
from storage.search.ids import DocId
from storage.search.index import DocumentRecord, DocumentRequest
from storage.search.schema import Schema


async def locate_cited_values(facts: WrittenAnswerFacts, review: LegReview) -> WrittenAnswerFacts:
    """Returns the facts with each cited value of a document replaced by the sentence of its text that holds it.

    A value that is not in the text is cited by the beginning of the document. Raises only the errors of the index.
    """
    cited = {quote.document.doc_id for sentence in facts.sentences for quote in sentence.quotes if _is_value(quote)}
    if not cited:
        return facts
    fetch = DocumentRequest(tuple(sorted(cited)))
    documents = {document.doc_id: document for document in (await review.session.ask_index((fetch,)))[fetch]}
    schemas = review.question_context.schemas

    def locate_all(sentence: WrittenSentence) -> WrittenSentence:
        quotes = (
            _locate_value(quote, documents, schemas[quote.document.bucket], sentence.claim.text)
            if isinstance(quote.document, DocumentRecord) and _is_value(quote)
            else quote
            for quote in sentence.quotes
        )
        return replace(sentence, quotes=tuple(quotes))

    contradiction = facts.contradiction
    return replace(
        facts,
        sentences=tuple(map(locate_all, facts.sentences)),
        contradiction=locate_all(contradiction) if contradiction is not None else None,
    )


def _is_value(cited: CitedQuote) -> bool:
    return cited.quote.start == cited.quote.end


def _locate_value(cited: CitedQuote, documents: dict[DocId, Document], schema: Schema, claim: str) -> CitedQuote:
    document = documents.get(cited.document.doc_id)
    if document is None:  # deleted since the first round trip
        return cited
    fields = [field for field in schema.fields if field.name in document.values]
    forms = {field.name: written_forms_of(document.values[field.name], field) for field in fields}
    folded = fold_text(claim)
    claimed = [field for field in fields if any(form and fold_text(form) in folded for form in forms[field.name])]
    quote = find_sentence_with_value(
        document,
        [form for field in claimed for form in forms[field.name]],
        [label for field in claimed for label in (field.label, *field.plain_synonyms)],
    )
    return CitedQuote(document=document, quote=quote or quote_beginning_of(document))
