"""Loads the documents that may belong to a set, with the passages of each that are nearest to the question."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.model.document_check.text_sets import TextSet
from agent.retrieval.fusion import fuse_hits
from agent.retrieval.session import RetrievalSession
from storage.search.documents import Document
from storage.search.ids import DocId
from storage.search.index import (
    CountRequest,
    DocumentRequest,
    IndexAnswers,
    KeywordPassageRequest,
    PassageHit,
    RecordPageRequest,
    SemanticPassageRequest,
)
from storage.search.plan import Search

MAX_READ_DOCUMENTS = 40  # of one set
_RANKED_PASSAGES = 200  # of all documents of a set
_PASSAGES_A_DOCUMENT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateDocument:
    """A document, and its passages, the nearest to the question first; none: the index has ranked none of it."""

    document: Document
    passages: tuple[PassageHit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCandidates:
    """The documents to read of a set, in its order."""

    text_set: TextSet
    documents: tuple[CandidateDocument, ...]
    has_all: bool  # all that meet the known conditions; else only those that hold the words
    certain: frozenset[DocId] = frozenset()  # those that belong to the set by their fields


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadingList:
    """The ids of the documents to read; `search` finds them."""

    text_set: TextSet
    search: Search
    doc_ids: tuple[DocId, ...]

    @property
    def keyword_request(self) -> KeywordPassageRequest:
        texts = (self.text_set.leg.question, *self.text_set.mentions)
        return KeywordPassageRequest(self.search, " ".join(texts), _RANKED_PASSAGES)

    @property
    def semantic_request(self) -> SemanticPassageRequest:
        return SemanticPassageRequest(self.search, self.text_set.leg.question, _RANKED_PASSAGES)

    @property
    def certain_request(self) -> RecordPageRequest:
        return RecordPageRequest(self.text_set.certain, limit=MAX_READ_DOCUMENTS, fields=frozenset())

    @property
    def documents_request(self) -> DocumentRequest:
        return DocumentRequest(self.doc_ids)


async def load_candidates(session: RetrievalSession, text_sets: Sequence[TextSet]) -> list[SetCandidates]:
    """Returns the documents of each set that is small enough to be read; two round trips for all sets.

    Those are all documents that meet the known conditions, else those of them that hold the words. Raises only the
    errors of the index.
    """
    lists = await _choose_documents(session, text_sets) if text_sets else []
    if not lists:
        return []
    requests = [
        request for each in lists for request in (each.documents_request, each.keyword_request, each.semantic_request)
    ]
    certain = [each.certain_request for each in lists if each.text_set.sufficient]
    recorded = [each.keyword_request for each in lists]
    answers = await session.ask_index((*requests, *certain), record=recorded)
    return [_build_candidates(each, answers) for each in lists]


async def _choose_documents(session: RetrievalSession, text_sets: Sequence[TextSet]) -> list[_ReadingList]:
    searches = [search for text_set in text_sets for search in (text_set.candidates, text_set.leg.search)]
    counts = {search: CountRequest(search) for search in searches}
    pages = {search: RecordPageRequest(search, limit=MAX_READ_DOCUMENTS, fields=frozenset()) for search in searches}
    answers = await session.ask_index((*counts.values(), *pages.values()), record=(*counts.values(),))
    lists = list[_ReadingList]()
    for text_set in text_sets:
        few = [
            search
            for search in (text_set.candidates, text_set.leg.search)
            if answers[counts[search]] <= MAX_READ_DOCUMENTS
        ]
        records = answers[pages[few[0]]].records if few else ()
        if records:  # of no documents nothing need be read
            doc_ids = tuple(record.doc_id for record in records)
            lists.append(_ReadingList(text_set=text_set, search=few[0], doc_ids=doc_ids))
    return lists


def _build_candidates(reading_list: _ReadingList, answers: IndexAnswers) -> SetCandidates:
    hits = {"text": answers[reading_list.keyword_request], "semantic": answers[reading_list.semantic_request]}
    passages = _passages_by_document(hits)
    sufficient = reading_list.text_set.sufficient
    certain = answers[reading_list.certain_request].records if sufficient else ()
    return SetCandidates(
        certain=frozenset(record.doc_id for record in certain),
        text_set=reading_list.text_set,
        documents=tuple(
            CandidateDocument(document=document, passages=passages.get(document.doc_id, ()))
            for document in answers[reading_list.documents_request]
        ),
        has_all=reading_list.search == reading_list.text_set.candidates,
    )


def _passages_by_document(hits: Mapping[str, Sequence[PassageHit]]) -> dict[DocId, tuple[PassageHit, ...]]:
    by_document: dict[DocId, list[PassageHit]] = defaultdict(list)
    for found in fuse_hits(hits):
        by_document[found.hit.doc_id].append(found.hit)
    return {doc_id: tuple(passages[:_PASSAGES_A_DOCUMENT]) for doc_id, passages in by_document.items()}
