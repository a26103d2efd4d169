"""The documents that a saved search watches: which sets a question names, what is in them, and what has changed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from agent.outcome import Answer, Clarify, ExportOutcome, Outcome, OutcomeKind, Refused, StartOverOutcome
from bot.access.audience_scope import scope_key_of
from bot.ids import BucketId, DocId
from storage.search.documents import Document
from storage.search.index import CountRequest, DocumentRequest, RecordPageRequest, ScopedIndex, SearchIndex
from storage.search.plan import Leg, ListDocuments, Plan, Search
from storage.search.scope import Scope

MAX_WATCHED_DOCUMENTS: Final = 5_000
_PAGE_RECORDS: Final = 500
_DOCUMENTS_PER_REQUEST: Final = 50  # with their texts
_FINGERPRINT_CHARS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedDocuments:
    """The documents of a saved search in one state of the index, by id. A fingerprint changes with title, text or
    values.
    """

    fingerprints: Mapping[str, str]
    titles: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TooManyDocuments:
    """More documents than one saved search can watch."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChanges:
    """What has changed since the last time, each in the order of the documents' ids."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.new or self.changed or self.gone)


WatchResult: TypeAlias = WatchedDocuments | TooManyDocuments


def find_watched_searches(outcome: Outcome) -> tuple[Search, ...]:
    """Returns the sets of documents that the question names; none if it is about what texts say, or is not clear."""
    match outcome:
        case Answer(plan=plan):
            legs = plan.legs
        case ExportOutcome(plan=plan, leg=leg):
            legs = (plan.leg_by_id(leg),)
        case Clarify(plan=plan):
            legs = plan.legs if _names_clear_set(outcome) else ()
        case StartOverOutcome() | Refused():
            legs = ()
        case _:
            assert_never(outcome)
    return _find_searches(legs)


def find_plan_searches(plan: Plan) -> tuple[Search, ...]:
    """Returns the sets of documents that the plan names; none if it is about what texts say."""
    return _find_searches(plan.legs)


def _find_searches(legs: Sequence[Leg]) -> tuple[Search, ...]:
    return tuple(leg.search for leg in legs) if all(map(_is_about_set, legs)) else ()


def find_read_buckets(searches: Sequence[Search]) -> frozenset[BucketId]:
    return frozenset[BucketId]().union(*(search.read_buckets for search in searches))


async def load_watched_documents(index: ScopedIndex, searches: Sequence[Search]) -> WatchResult:
    """Returns the documents of all sets, from one state of the index. Raises what the index raises."""
    async with index.open_snapshot(find_read_buckets(searches)) as snapshot:
        counts = [CountRequest(search) for search in searches]
        answers = await snapshot.answer_requests(*counts)
        if (total := sum(answers[count] for count in counts)) > MAX_WATCHED_DOCUMENTS:
            return TooManyDocuments(total)
        titles = dict[str, str]()
        for search in searches:
            titles |= await _load_titles(snapshot, search)
        fingerprints = dict[str, str]()
        doc_ids = sorted(titles)
        for start in range(0, len(doc_ids), _DOCUMENTS_PER_REQUEST):
            request = DocumentRequest(tuple(map(DocId, doc_ids[start : start + _DOCUMENTS_PER_REQUEST])))
            for document in (await snapshot.answer_requests(request))[request]:
                fingerprints[document.doc_id] = fingerprint_of(document)
    return WatchedDocuments(fingerprints=fingerprints, titles=titles)


def compare_documents(before: Mapping[str, str], after: WatchedDocuments) -> DocumentChanges:
    """`before`: the fingerprints of the last time."""
    now = after.fingerprints
    return DocumentChanges(
        new=tuple(doc_id for doc_id in sorted(now) if doc_id not in before),
        changed=tuple(doc_id for doc_id in sorted(now) if before.get(doc_id, now[doc_id]) != now[doc_id]),
        gone=tuple(sorted(before.keys() - now.keys())),
    )


def fingerprint_of(document: Document) -> str:
    """Equal for an equal title, text and values."""
    content = json.dumps([document.title, document.text, dict(document.values)], sort_keys=True, default=dict)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_FINGERPRINT_CHARS]


async def load_index_state(index: SearchIndex, scope: Scope, buckets: frozenset[BucketId]) -> str:
    """Returns a text that changes when the buckets or the rights of the scope change. Fast; reads no documents."""
    sizes = await index.load_bucket_sizes()
    generations = [[bucket, sizes[bucket].generation] for bucket in sorted(buckets & sizes.keys())]
    return hashlib.sha256(json.dumps([scope_key_of(scope), generations]).encode()).hexdigest()[:32]


async def _load_titles(index: ScopedIndex, search: Search) -> dict[str, str]:
    titles, cursor = dict[str, str](), None
    while True:
        request = RecordPageRequest(search, cursor=cursor, limit=_PAGE_RECORDS, fields=frozenset(), order_by_id=True)
        page = (await index.answer_requests(request))[request]
        titles |= {record.doc_id: record.title for record in page.records}
        if page.cursor is None:
            return titles
        cursor = page.cursor


def _names_clear_set(clarify: Clarify) -> bool:
    """Whether it asks back only because the set is large, or empty now."""
    is_clear = clarify.kind is OutcomeKind.OVERLOAD or (
        clarify.kind is OutcomeKind.NO_RESULTS and clarify.is_understood
    )
    return is_clear and not any(leg.unknown_words for leg in clarify.legs)


def _is_about_set(leg: Leg) -> bool:
    """Whether the answer is about a whole set: not about texts, and not about the first few of an order."""
    is_cut_off = isinstance(leg.answer_form, ListDocuments) and leg.answer_form.limit is not None
    return leg.answer_form.names_a_set and not is_cut_off and bool(leg.search.clauses)
