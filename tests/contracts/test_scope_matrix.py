"""Scopes in answers of every kind: an index behaves as if documents outside the scope did not exist.

One part tests a table of scopes with requests of all kinds. The other compares, for random corpora, each answer within
a scope with that of an index that has only the visible documents. `PARLEY_TEST_EXAMPLES` sets a higher number of
examples.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from storage.search.documents import Document
from storage.search.errors import NotInScope
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexRequest,
    KeywordPassageRequest,
    NearestValueRequest,
    OutlineRequest,
    PassageHit,
    RecordPageRequest,
    SearchIndex,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.plan import Clause, GroupBy, Search, unfiltered_search_of
from storage.search.schema import FieldType, Schema
from storage.search.scope import Scope
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_scope
from tests.strategies import conditions, corpora, scalars, schemas, scopes

_EXAMPLES = int(os.environ.get("PARLEY_TEST_EXAMPLES", "0"))
CLOSED = BucketId("closed")


# -- the table


def _marked_document(mark: str, number: float, day: str, *, readers: Sequence[str] = ()) -> Document:
    """Return a document with the mark in every part of it."""
    return a_document(
        mark,
        f"the {mark} words",
        title=f"{mark} title",
        source=f"{mark}.txt",
        readers=readers,
        vendor=f"{mark} vendor",
        currency=mark.upper(),
        total=number,
        weight=number,
        date=day,
        tags=(f"{mark} tag",),
        items=({FieldName("name"): f"{mark} item", FieldName("qty"): number},),
        note=f"{mark} note",
        paid=True,
    )


PLAIN = _marked_document("plainmark", 11.0, "2001-01-01")
SECRET = _marked_document("secretmark", 77.0, "1977-07-07", readers=["user:x"])
HIDDEN = _marked_document("hiddenmark", 99.0, "1999-09-09")
# Patterns: a random id of a generation may hold the digits of a year.
_TRACES = {
    DocId("plainmark"): ("plainmark", "PLAINMARK", r"\b11\.0\b", r"\b2001-\d\d(-\d\d)?\b"),
    DocId("secretmark"): ("secretmark", "SECRETMARK", r"\b77\.0\b", r"\b1977-\d\d(-\d\d)?\b"),
    DocId("hiddenmark"): ("hiddenmark", "HIDDENMARK", r"\b99\.0\b", r"\b1999-\d\d(-\d\d)?\b"),
}


def _all_requests_for(search: Search) -> dict[str, IndexRequest[object]]:
    """Returns requests of all kinds for a set, or for the documents of its buckets."""
    vendor, total, date = FieldName("vendor"), FieldName("total"), FieldName("date")
    return {
        "count": CountRequest(search),
        "search by words": KeywordPassageRequest(search, "plainmark secretmark hiddenmark"),
        "search by meaning": SemanticPassageRequest(search, "marked words"),
        "outlines": OutlineRequest(search, "plainmark secretmark hiddenmark marked"),
        "records": RecordPageRequest(search),
        "records in order": RecordPageRequest(search, limit=1),
        "values": FacetRequest(search, vendor),
        "text values": FacetRequest(search, FieldName("note")),
        "list values": FacetRequest(search, FieldName("tags")),
        "flags": FacetRequest(search, FieldName("paid")),
        "ranges": FacetRequest(search, FieldName("weight")),
        "periods": FacetRequest(search, date),
        "numbers": AggregateRequest(search, field=total),
        "numbers multiplied": AggregateRequest(search, field=total, factor=FieldName("weight")),
        "groups": AggregateRequest(search, group=GroupBy(field=vendor)),
        "numbers by group": AggregateRequest(search, field=total, group=GroupBy(field=date)),
        "nearest number": NearestValueRequest(search, FieldName("weight"), 50.0),
        "nearest day": NearestValueRequest(search, date, "1990-01-01"),
        "suggestions": SpellingRequest(frozenset(search.buckets), "secretmerk"),
        "other suggestions": SpellingRequest(frozenset(search.buckets), "hiddenmork"),
        "get": DocumentRequest((DocId("plainmark"), DocId("secretmark"), DocId("hiddenmark"))),
    }


@dataclass(frozen=True, kw_only=True)
class ScopeCase:
    """A scope, and the documents that are visible within it."""

    scope: Scope
    visible_ids: frozenset[DocId]


_P, _S, _H = PLAIN.doc_id, SECRET.doc_id, HIDDEN.doc_id
_SCOPE_CASES = {
    "granted": ScopeCase(scope=a_scope(RECEIPTS), visible_ids=frozenset({_P})),
    "granted, other readers": ScopeCase(
        scope=a_scope(RECEIPTS, subjects=["everyone", "user:y", "group:x", "user:x "]), visible_ids=frozenset({_P})
    ),
    "granted, a reader": ScopeCase(
        scope=a_scope(RECEIPTS, subjects=["user:x", "user:y"]), visible_ids=frozenset({_P, _S})
    ),
    "operator": ScopeCase(scope=a_scope(RECEIPTS, CLOSED, all_readers=True), visible_ids=frozenset({_P, _S, _H})),
    "a reader, not granted": ScopeCase(scope=a_scope(CLOSED, subjects=["user:x"]), visible_ids=frozenset({_H})),
    "nothing granted": ScopeCase(scope=replace(a_scope(), buckets=frozenset()), visible_ids=frozenset()),
    "nothing granted, all readers": ScopeCase(
        scope=replace(a_scope(all_readers=True), buckets=frozenset()), visible_ids=frozenset()
    ),
    "granted what is not there": ScopeCase(scope=a_scope("gone", subjects=["user:x"]), visible_ids=frozenset()),
}


async def _put_marked_buckets(index: SearchIndex) -> None:
    for bucket, documents in ((RECEIPTS, [PLAIN, SECRET]), (CLOSED, [HIDDEN])):
        schema = a_receipt_schema(bucket)
        await index.set_schema(replace(schema, fields=tuple(replace(field, shared=True) for field in schema.fields)))
        await index.put(bucket, documents)


@pytest.mark.parametrize("name", _SCOPE_CASES)
async def test_no_answer_has_traces_of_documents_outside_the_scope(index: SearchIndex, name: str) -> None:
    await _put_marked_buckets(index)
    case = _SCOPE_CASES[name]
    scoped = index.within_scope(case.scope)
    granted_buckets = [bucket for bucket in (RECEIPTS, CLOSED) if bucket in case.scope.buckets]

    answers = {
        request_name: repr((await scoped.answer_requests(request))[request])
        for bucket in granted_buckets
        for request_name, request in _all_requests_for(unfiltered_search_of(bucket)).items()
    }
    answers |= {"vocabulary": repr(await scoped.load_vocabulary()), "schemas": repr(await scoped.load_schemas())}

    for request_name, answer in answers.items():
        for doc_id, traces in _TRACES.items():
            if doc_id not in case.visible_ids:
                assert not [trace for trace in traces if re.search(trace, answer)], request_name
    assert ("receipts" in answers["schemas"]) == (RECEIPTS in granted_buckets)
    assert ("closed" in answers["schemas"]) == (CLOSED in granted_buckets)


@pytest.mark.parametrize("name", ["granted", "granted, a reader", "operator"])
async def test_every_answer_covers_all_documents_in_the_scope(index: SearchIndex, name: str) -> None:
    await _put_marked_buckets(index)
    case = _SCOPE_CASES[name]
    search = unfiltered_search_of(*sorted(case.scope.buckets))
    requests = _all_requests_for(search)
    answers = {
        request_name: repr(answer)
        for request_name, answer in (await _load_answers(index, case.scope, requests)).items()
    }
    answers["vocabulary"] = repr(await index.within_scope(case.scope).load_vocabulary())

    assert answers["count"] == str(len(case.visible_ids))
    for request_name in ("search by words", "search by meaning", "records", "values", "groups", "get", "vocabulary"):
        for doc_id in case.visible_ids:
            assert doc_id in answers[request_name], request_name


@pytest.mark.parametrize("name", _SCOPE_CASES)
async def test_every_request_for_a_bucket_outside_the_scope_is_refused(index: SearchIndex, name: str) -> None:
    await _put_marked_buckets(index)
    scope = _SCOPE_CASES[name].scope
    requests = {
        f"{request_name} of {bucket}": request
        for bucket in {RECEIPTS, CLOSED, BucketId("gone"), BucketId("never")} - (scope.buckets - {"gone"})
        for search in (unfiltered_search_of(bucket), unfiltered_search_of(bucket, *(scope.buckets - {bucket})))
        for request_name, request in _all_requests_for(search).items()
        if not isinstance(request, DocumentRequest)
    }

    for request in requests.values():
        with pytest.raises(NotInScope, match=r"^bucket '\w+' is not in scope$"):
            await index.within_scope(scope).answer_requests(request)


async def test_a_scope_of_another_tenant_with_the_same_buckets_is_refused(index: SearchIndex) -> None:
    await _put_marked_buckets(index)

    with pytest.raises(ValueError, match="tenant"):
        index.within_scope(replace(_SCOPE_CASES["operator"].scope, tenant=TenantId("other")))


async def _load_answers(
    index: SearchIndex, scope: Scope, requests: dict[str, IndexRequest[object]]
) -> dict[str, object]:
    answers = await index.within_scope(scope).answer_requests(*requests.values())
    return {name: answers[request] for name, request in requests.items()}


# -- as if hidden documents did not exist


def _drawn_requests(schema: Schema, search: Search, data: st.DataObject) -> dict[str, IndexRequest[object]]:
    """Returns requests of all kinds for a drawn bucket."""
    requests: dict[str, IndexRequest[object]] = {"count": CountRequest(search), "records": RecordPageRequest(search)}
    for text in ("tire running quoted", "b-120 snake 日本"):
        # Keyword requests are not compared: their scores may depend on the frequency of words in hidden documents.
        requests |= {f"meaning of {text}": SemanticPassageRequest(search, text)}
    for field in schema.fields:
        if field.type is not FieldType.ROWS:
            requests |= {f"facet of {field.name}": FacetRequest(search, field.name, max_values=3, max_bins=3)}
            requests |= {f"groups of {field.name}": AggregateRequest(search, group=GroupBy(field=field.name))}
        if field.type in (FieldType.NUMBER, FieldType.MONEY):
            requests |= {f"numbers of {field.name}": AggregateRequest(search, field=field.name)}
        if field.type in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
            value = data.draw(scalars(field))
            assert not isinstance(value, bool)
            requests |= {f"nearest of {field.name}": NearestValueRequest(search, field.name, value)}
    for word in ("tirs", "runnin", "strasse", "quote", "日本誰", "snak"):
        requests |= {f"spellings of {word}": SpellingRequest(frozenset(search.buckets), word)}
    return requests


async def _load_comparable_answers(
    index: SearchIndex, scope: Scope, requests: dict[str, IndexRequest[object]], doc_ids: list[DocId]
) -> dict[str, object]:
    """Return all answers without generations and scores, which depend on the state of the index."""
    scoped, document_request = index.within_scope(scope), DocumentRequest(tuple(doc_ids))
    answers = await scoped.answer_requests(*requests.values(), document_request)
    vocabulary = await scoped.load_vocabulary()
    comparable_answers = {name: _drop_scores(answers[request]) for name, request in requests.items()}
    return comparable_answers | {
        "get": answers[document_request],
        "vocabulary": (vocabulary.fields, dict(vocabulary.document_counts)),
        "schemas": dict(await scoped.load_schemas()),
    }


def _drop_scores(answer: object) -> object:
    """Returns passages as a set without their scores, and any other answer unchanged."""
    if not isinstance(answer, tuple):
        return answer
    hits = [hit for hit in cast(tuple[object, ...], answer) if isinstance(hit, PassageHit)]
    return frozenset(replace(hit, score=0.0) for hit in hits) if hits else cast(object, answer)


@settings(
    max_examples=_EXAMPLES or 15,
    derandomize=not _EXAMPLES,
    phases=(Phase.explicit, Phase.generate),
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
async def test_every_answer_equals_that_of_an_index_without_the_hidden_documents(
    index: SearchIndex, data: st.DataObject
) -> None:
    schema = data.draw(schemas("drawn"))
    documents, hidden = data.draw(corpora(schema)), data.draw(corpora(replace(schema, bucket=CLOSED)))
    hidden = [replace(document, doc_id=DocId(f"hidden {document.doc_id}")) for document in hidden]
    scope = data.draw(scopes([schema.bucket]))
    clause = Clause(bucket=schema.bucket, condition=data.draw(conditions(schema, 2)))
    search = data.draw(st.sampled_from([unfiltered_search_of(schema.bucket), Search(clauses=(clause,))]))
    requests = _drawn_requests(schema, search, data)
    doc_ids = [document.doc_id for document in (*documents, *hidden)]
    try:
        for bucket_schema, bucket_documents in ((schema, documents), (replace(schema, bucket=CLOSED), hidden)):
            await index.set_schema(bucket_schema)
            await index.put(bucket_schema.bucket, bucket_documents)
        answers_with_hidden = await _load_comparable_answers(index, scope, requests, doc_ids)
        for bucket in (schema.bucket, CLOSED):
            await index.drop_bucket(bucket)
        await index.set_schema(schema)
        await index.put(
            schema.bucket, [document for document in documents if scope.can_see(schema.bucket, document.readers)]
        )
        answers_without_hidden = await _load_comparable_answers(index, scope, requests, doc_ids)
    finally:
        for bucket in await index.load_bucket_states():
            await index.drop_bucket(bucket)

    for name, answer in answers_without_hidden.items():
        assert answers_with_hidden[name] == answer, name
