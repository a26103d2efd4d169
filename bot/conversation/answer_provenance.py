"""Answer provenance: the buckets, subjects and documents that an answer is based on, stored with the answer.

An answer is shown again only to people who may still see all of these. Grants to audiences and the readers of
documents may have changed since the answer was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any as Json
from typing import Final

from agent.outcome import Answer, Clarify, LegResult, Outcome, Refused, StartOverOutcome
from bot.ids import BucketId, Subject
from bot.surface.attachments import ATTACHMENTS_BUCKET
from bot.web_search.web_pages import is_web_doc_id
from storage.search.codec import search_from_json, search_to_json
from storage.search.conditions import DOC_ID_FIELD, ComparisonCondition, ComparisonOperator
from storage.search.errors import InvalidCondition, NotInScope
from storage.search.ids import DocId
from storage.search.index import CountRequest, ScopedIndex
from storage.search.plan import Plan, Search, unfiltered_search_of
from storage.search.scope import Scope

_IDS_PER_CONDITION: Final = 1_000  # documents in one condition


@dataclass(frozen=True, slots=True)
class CountedSet:
    """A set of documents of which the answer gives the count, and not every document."""

    search: Search
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerProvenance:
    """The buckets and subjects that an audience needs to see an answer, and the documents that the answer is about."""

    buckets: frozenset[BucketId]
    subjects: frozenset[Subject]
    documents: frozenset[DocId] = frozenset()
    counted_sets: tuple[CountedSet, ...] = ()
    file_ids: frozenset[str] = frozenset()  # the attached files, if they were searched

    async def is_visible(self, index: ScopedIndex, file_ids: frozenset[str] = frozenset()) -> bool:
        """Whether readers within the index's scope may see all of it. `file_ids`: the files attached now.

        A set of attached documents is unchanged for as long as its files exist. Raises what the index raises.
        """
        scope = index.scope
        if ATTACHMENTS_BUCKET in self.buckets and not (self.file_ids and self.file_ids <= file_ids):
            return False
        granted = self.buckets - {ATTACHMENTS_BUCKET} <= scope.buckets
        if not granted or not (scope.ignores_readers or self.subjects <= scope.subjects):
            return False
        counted = [
            counted_set for counted_set in self.counted_sets if ATTACHMENTS_BUCKET not in counted_set.search.buckets
        ]
        expected = [
            *self._expected_document_counts(),
            *((CountRequest(counted_set.search), counted_set.documents) for counted_set in counted),
        ]
        if not expected:
            return True
        try:
            answers = await index.answer_requests(*(request for request, _ in expected))
        except (NotInScope, InvalidCondition):  # a bucket was deleted, or created again with another schema
            return False
        return all(answers[request] >= documents for request, documents in expected)

    def _expected_document_counts(self) -> list[tuple[CountRequest, int]]:
        ids = sorted(
            doc_id
            for doc_id in self.documents
            if doc_id.partition("/")[0] not in self.file_ids and not is_web_doc_id(doc_id)
        )
        all_documents = unfiltered_search_of(*sorted(self.buckets - {ATTACHMENTS_BUCKET}))
        id_groups = [tuple(ids[start : start + _IDS_PER_CONDITION]) for start in range(0, len(ids), _IDS_PER_CONDITION)]
        return [
            (
                CountRequest(
                    all_documents.with_condition(
                        ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=doc_ids)
                    )
                ),
                len(doc_ids),
            )
            for doc_ids in id_groups
        ]


def provenance_of(outcome: Outcome, scope: Scope, file_ids: frozenset[str] = frozenset()) -> AnswerProvenance | None:
    """The provenance of an outcome; None if it is about no documents. `file_ids`: the attached files in the search."""
    if isinstance(outcome, (StartOverOutcome, Refused)):
        return None
    buckets = outcome.plan.read_buckets
    files = file_ids if ATTACHMENTS_BUCKET in buckets else frozenset[str]()
    if not isinstance(outcome, (Answer, Clarify)):
        return AnswerProvenance(buckets=buckets, subjects=scope.subjects, file_ids=files)
    doc_ids = {doc_id for leg in outcome.legs for doc_id in leg.doc_ids}
    doc_ids |= {citation.doc_id for citation in outcome.citations}
    counted = (_counted_set_of(leg, outcome.plan) for leg in outcome.legs)
    return AnswerProvenance(
        buckets=buckets,
        subjects=scope.subjects,
        documents=frozenset(doc_ids),
        counted_sets=tuple(counted_set for counted_set in counted if counted_set is not None),
        file_ids=files,
    )


def _counted_set_of(leg: LegResult, plan: Plan) -> CountedSet | None:
    documents = leg.count if leg.document_count is None else leg.document_count
    if documents is None or documents <= len(leg.doc_ids):
        return None
    return CountedSet(plan.leg_by_id(leg.leg).search, documents)


def provenance_to_json(provenance: AnswerProvenance, result: Mapping[str, Json]) -> dict[str, Json]:
    """The provenance as JSON, without the documents that the result already names."""
    counted = [
        {"search": search_to_json(counted_set.search), "documents": counted_set.documents}
        for counted_set in provenance.counted_sets
    ]
    other_documents = sorted(provenance.documents - _documents_in_result(result))
    return {
        "buckets": sorted(provenance.buckets),
        "subjects": sorted(provenance.subjects),
        **({"documents": other_documents} if other_documents else {}),
        **({"counted": counted} if counted else {}),
        **({"files": sorted(provenance.file_ids)} if provenance.file_ids else {}),
    }


def provenance_from_json(data: Mapping[str, Json], result: Mapping[str, Json]) -> AnswerProvenance:
    counted = (CountedSet(search_from_json(item["search"]), int(item["documents"])) for item in data.get("counted", ()))
    return AnswerProvenance(
        buckets=frozenset(map(BucketId, data["buckets"])),
        subjects=frozenset(map(Subject, data["subjects"])),
        documents=_documents_in_result(result) | frozenset(map(DocId, data.get("documents", ()))),
        counted_sets=tuple(counted),
        file_ids=frozenset(data.get("files", ())),
    )


def _documents_in_result(result: Mapping[str, Json]) -> frozenset[DocId]:
    listed = [*result["doc_ids"], *(doc_id for leg in result["legs"] for doc_id in leg["doc_ids"])]
    return frozenset(map(DocId, [*listed, *(citation["doc_id"] for citation in result["citations"])]))
