"""Who sees what, in every answer of every kind: what a scope does not hold might as well not be there.

A table of scopes against everything that can be asked; and, for random corpora, each answer under a scope held to that
of an index that has the visible documents only. `PARLEY_TEST_EXAMPLES` asks for more examples than those of every run.
"""

import os
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
    Aggregate,
    Count,
    Facet,
    Fetch,
    Hit,
    Nearest,
    NearPassages,
    Outlines,
    Passages,
    Records,
    Request,
    SearchIndex,
    Spellings,
)
from storage.search.plan import Clause, Group, Search, everything_in
from storage.search.schema import FieldType, Schema
from storage.search.scope import Scope
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_scope
from tests.strategies import conditions, corpora, scalars, schemas, scopes

_EXAMPLES = int(os.environ.get("PARLEY_TEST_EXAMPLES", "0"))
CLOSED = BucketId("closed")


# -- the table


def _marked(mark: str, number: float, day: str, *, readers: Sequence[str] = ()) -> Document:
    """A document with its mark wherever a document can hold something."""
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


PLAIN = _marked("plainmark", 11.0, "2001-01-01")
SECRET = _marked("secretmark", 77.0, "1977-07-07", readers=["user:x"])
HIDDEN = _marked("hiddenmark", 99.0, "1999-09-09")
_TRACES = {
    DocId("plainmark"): ("plainmark", "PLAINMARK", "11.0", "2001-"),
    DocId("secretmark"): ("secretmark", "SECRETMARK", "77.0", "1977-"),
    DocId("hiddenmark"): ("hiddenmark", "HIDDENMARK", "99.0", "1999-"),
}


def _asked(search: Search) -> dict[str, Request[object]]:
    """Everything that can be asked of a set, or of the documents of its buckets."""
    vendor, total, date = FieldName("vendor"), FieldName("total"), FieldName("date")
    return {
        "count": Count(search),
        "search by words": Passages(search, "plainmark secretmark hiddenmark"),
        "search by meaning": NearPassages(search, "marked words"),
        "outlines": Outlines(search, "plainmark secretmark hiddenmark marked"),
        "records": Records(search),
        "records in order": Records(search, limit=1),
        "values": Facet(search, vendor),
        "text values": Facet(search, FieldName("note")),
        "list values": Facet(search, FieldName("tags")),
        "flags": Facet(search, FieldName("paid")),
        "ranges": Facet(search, FieldName("weight")),
        "periods": Facet(search, date),
        "numbers": Aggregate(search, field=total),
        "groups": Aggregate(search, group=Group(field=vendor)),
        "numbers by group": Aggregate(search, field=total, group=Group(field=date)),
        "nearest number": Nearest(search, FieldName("weight"), 50.0),
        "nearest day": Nearest(search, date, "1990-01-01"),
        "suggestions": Spellings(frozenset(search.buckets), "secretmerk"),
        "other suggestions": Spellings(frozenset(search.buckets), "hiddenmork"),
        "get": Fetch((DocId("plainmark"), DocId("secretmark"), DocId("hiddenmark"))),
    }


@dataclass(frozen=True, kw_only=True)
class Who:
    """A scope, and the documents that it sees."""

    scope: Scope
    sees: frozenset[DocId]


_P, _S, _H = PLAIN.doc_id, SECRET.doc_id, HIDDEN.doc_id
_WHO = {
    "granted": Who(scope=a_scope(RECEIPTS), sees=frozenset({_P})),
    "granted, other readers": Who(
        scope=a_scope(RECEIPTS, subjects=["everyone", "user:y", "group:x", "user:x "]), sees=frozenset({_P})
    ),
    "granted, a reader": Who(scope=a_scope(RECEIPTS, subjects=["user:x", "user:y"]), sees=frozenset({_P, _S})),
    "operator": Who(scope=a_scope(RECEIPTS, CLOSED, all_readers=True), sees=frozenset({_P, _S, _H})),
    "a reader, not granted": Who(scope=a_scope(CLOSED, subjects=["user:x"]), sees=frozenset({_H})),
    "nothing granted": Who(scope=replace(a_scope(), buckets=frozenset()), sees=frozenset()),
    "nothing granted, all readers": Who(
        scope=replace(a_scope(all_readers=True), buckets=frozenset()), sees=frozenset()
    ),
    "granted what is not there": Who(scope=a_scope("gone", subjects=["user:x"]), sees=frozenset()),
}


async def _marked_buckets(index: SearchIndex) -> None:
    for bucket, documents in ((RECEIPTS, [PLAIN, SECRET]), (CLOSED, [HIDDEN])):
        schema = a_receipt_schema(bucket)
        await index.set_schema(replace(schema, fields=tuple(replace(one, shared=True) for one in schema.fields)))
        await index.put(bucket, documents)


@pytest.mark.parametrize("name", _WHO)
async def test_every_answer_holds_what_the_scope_sees_and_nothing_else(index: SearchIndex, name: str) -> None:
    await _marked_buckets(index)
    who = _WHO[name]
    scoped = index.within(who.scope)
    seen = [bucket for bucket in (RECEIPTS, CLOSED) if bucket in who.scope.buckets]

    told = {
        what: repr((await scoped.ask(request))[request])
        for bucket in seen
        for what, request in _asked(everything_in(bucket)).items()
    }
    told |= {"vocabulary": repr(await scoped.vocabulary()), "schemas": repr(await scoped.schemas())}

    for what, answer in told.items():
        for doc_id, traces in _TRACES.items():
            if doc_id not in who.sees:
                assert not [trace for trace in traces if trace in answer], what
    assert ("receipts" in told["schemas"]) == (RECEIPTS in seen)
    assert ("closed" in told["schemas"]) == (CLOSED in seen)


@pytest.mark.parametrize("name", ["granted", "granted, a reader", "operator"])
async def test_every_answer_holds_all_that_the_scope_sees(index: SearchIndex, name: str) -> None:
    await _marked_buckets(index)
    who = _WHO[name]
    search = everything_in(*sorted(who.scope.buckets))
    asked = _asked(search)
    told = {what: repr(answer) for what, answer in (await _answers(index, who.scope, asked)).items()}
    told["vocabulary"] = repr(await index.within(who.scope).vocabulary())

    assert told["count"] == str(len(who.sees))
    for what in ("search by words", "search by meaning", "records", "values", "groups", "get", "vocabulary"):
        for doc_id in who.sees:
            assert doc_id in told[what], what


@pytest.mark.parametrize("name", _WHO)
async def test_a_bucket_that_the_scope_does_not_hold_is_refused_whatever_is_asked(
    index: SearchIndex, name: str
) -> None:
    await _marked_buckets(index)
    scope = _WHO[name].scope
    asked = {
        f"{what} of {bucket}": request
        for bucket in {RECEIPTS, CLOSED, BucketId("gone"), BucketId("never")} - (scope.buckets - {"gone"})
        for search in (everything_in(bucket), everything_in(bucket, *(scope.buckets - {bucket})))
        for what, request in _asked(search).items()
        if not isinstance(request, Fetch)
    }

    for request in asked.values():
        with pytest.raises(NotInScope, match=r"^bucket '\w+' is not in scope$"):
            await index.within(scope).ask(request)


async def test_another_tenant_asks_nothing_of_a_bucket_of_the_same_name(index: SearchIndex) -> None:
    await _marked_buckets(index)

    with pytest.raises(ValueError, match="tenant"):
        index.within(replace(_WHO["operator"].scope, tenant=TenantId("other")))


async def _answers(index: SearchIndex, scope: Scope, asked: dict[str, Request[object]]) -> dict[str, object]:
    answers = await index.within(scope).ask(*asked.values())
    return {what: answers[request] for what, request in asked.items()}


# -- as if it were not there


def _everything(schema: Schema, search: Search, data: st.DataObject) -> dict[str, Request[object]]:
    """Everything that can be asked of a drawn bucket."""
    asked: dict[str, Request[object]] = {"count": Count(search), "records": Records(search)}
    for text in ("tire running quoted", "b-120 snake 日本"):
        asked |= {f"meaning of {text}": NearPassages(search, text)}  # ranks by words may know how common a word is
    for one in schema.fields:
        if one.type is not FieldType.ROWS:
            asked |= {f"facet of {one.name}": Facet(search, one.name, limit=3, parts=3)}
            asked |= {f"groups of {one.name}": Aggregate(search, group=Group(field=one.name))}
        if one.type in (FieldType.NUMBER, FieldType.MONEY):
            asked |= {f"numbers of {one.name}": Aggregate(search, field=one.name)}
        if one.type in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
            value = data.draw(scalars(one))
            assert not isinstance(value, bool)
            asked |= {f"nearest of {one.name}": Nearest(search, one.name, value)}
    for word in ("tirs", "runnin", "strasse", "quote", "日本誰", "snak"):
        asked |= {f"spellings of {word}": Spellings(frozenset(search.buckets), word)}
    return asked


async def _told(
    index: SearchIndex, scope: Scope, asked: dict[str, Request[object]], doc_ids: list[DocId]
) -> dict[str, object]:
    """All that is said, without what depends on when it is asked: the state of the index, and ranking scores."""
    scoped, fetch = index.within(scope), Fetch(tuple(doc_ids))
    answers = await scoped.ask(*asked.values(), fetch)
    vocabulary = await scoped.vocabulary()
    said = {what: _unranked(answers[request]) for what, request in asked.items()}
    return said | {
        "get": answers[fetch],
        "vocabulary": (vocabulary.fields, dict(vocabulary.documents)),
        "schemas": dict(await scoped.schemas()),
    }


def _unranked(answer: object) -> object:
    """Passages as a set, without their scores."""
    if not isinstance(answer, tuple):
        return answer
    hits = [one for one in cast(tuple[object, ...], answer) if isinstance(one, Hit)]
    return frozenset(replace(one, score=0.0) for one in hits) if hits else cast(object, answer)


@settings(
    max_examples=_EXAMPLES or 15,
    derandomize=not _EXAMPLES,
    phases=(Phase.explicit, Phase.generate),
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
async def test_every_answer_is_that_of_an_index_without_what_is_hidden(index: SearchIndex, data: st.DataObject) -> None:
    schema = data.draw(schemas("drawn"))
    documents, hidden = data.draw(corpora(schema)), data.draw(corpora(replace(schema, bucket=CLOSED)))
    hidden = [replace(one, doc_id=DocId(f"hidden {one.doc_id}")) for one in hidden]
    scope = data.draw(scopes([schema.bucket]))
    clause = Clause(bucket=schema.bucket, condition=data.draw(conditions(schema, 2)))
    search = data.draw(st.sampled_from([everything_in(schema.bucket), Search(clauses=(clause,))]))
    asked = _everything(schema, search, data)
    doc_ids = [one.doc_id for one in (*documents, *hidden)]
    try:
        for one, held in ((schema, documents), (replace(schema, bucket=CLOSED), hidden)):
            await index.set_schema(one)
            await index.put(one.bucket, held)
        among_others = await _told(index, scope, asked, doc_ids)
        for bucket in (schema.bucket, CLOSED):
            await index.drop_bucket(bucket)
        await index.set_schema(schema)
        await index.put(schema.bucket, [one for one in documents if scope.sees(schema.bucket, one.readers)])
        alone = await _told(index, scope, asked, doc_ids)
    finally:
        for bucket in await index.buckets():
            await index.drop_bucket(bucket)

    for what, answer in alone.items():
        assert among_others[what] == answer, what
