"""The contract of `SearchIndex` about the contexts of passages: they rank, and they do nothing else."""

from dataclasses import replace

from storage.search.documents import Document, Passage
from storage.search.ids import DocId, FieldName
from storage.search.index import (
    CountRequest,
    DocumentRequest,
    KeywordPassageRequest,
    RecordPageRequest,
    SearchIndex,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.schema import FieldType, SchemaField
from tests.builders import RECEIPTS, a_receipt_schema, a_scope, a_search

TEXT = "Its revenue grew. The valves are of brass."
CONTEXT = "From the annual report of Kestrel Motors, on its growth."
SITUATED = Document(
    doc_id=DocId("a"),
    title="Paper",
    text=TEXT,
    passages=(Passage(start=0, end=17, context=CONTEXT), Passage(start=18, end=len(TEXT))),
    digest="with",
)
PLAIN = replace(
    SITUATED, passages=tuple(replace(passage, context="") for passage in SITUATED.passages), digest="without"
)


async def find_chunks(index: SearchIndex, text: str) -> list[str]:
    request = KeywordPassageRequest(a_search(), text)
    return [hit.chunk_id for hit in (await index.within_scope(a_scope()).answer_requests(request))[request]]


async def fill_index(index: SearchIndex, *documents: Document) -> None:
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, documents)


async def test_a_passage_is_found_by_the_words_of_its_context_and_shown_without_them(index: SearchIndex) -> None:
    await fill_index(index, SITUATED)
    request = KeywordPassageRequest(a_search(), "Kestrel growth")
    (hit,) = (await index.within_scope(a_scope()).answer_requests(request))[request]

    assert (hit.chunk_id, hit.text, hit.start, hit.end) == ("a#0", "Its revenue grew.", 0, 17)


async def test_a_context_moves_the_vector_of_its_passage(index: SearchIndex) -> None:
    await fill_index(index, SITUATED, replace(PLAIN, doc_id=DocId("b")))
    request = SemanticPassageRequest(a_search(), "annual report of Kestrel Motors")
    hits = (await index.within_scope(a_scope()).answer_requests(request))[request]
    scores = {str(hit.chunk_id): hit.score for hit in hits}

    assert hits[0].chunk_id == "a#0"
    assert scores["a#0"] > scores["b#0"]
    assert abs(scores["a#1"] - scores["b#1"]) < 1e-3


async def test_no_set_count_or_vocabulary_knows_the_words_of_a_context(index: SearchIndex) -> None:
    await fill_index(index, SITUATED)
    count, phrase = CountRequest(a_search(required=["kestrel"])), CountRequest(a_search(required=["annual report"]))
    spelling = SpellingRequest(frozenset({RECEIPTS}), "kestrl")
    answers = await index.within_scope(a_scope()).answer_requests(count, phrase, spelling)

    assert (answers[count], answers[phrase], answers[spelling]) == (0, 0, ())


async def test_a_document_comes_back_with_its_contexts_also_after_a_change_of_the_schema(index: SearchIndex) -> None:
    await fill_index(index, SITUATED)
    schema = a_receipt_schema()
    changed = replace(schema, fields=(*schema.fields, SchemaField(name=FieldName("added"), type=FieldType.NUMBER)))
    await index.set_schema(changed)
    request = DocumentRequest((DocId("a"),))
    (document,) = (await index.within_scope(a_scope()).answer_requests(request))[request]

    assert document.passages == SITUATED.passages
    assert await find_chunks(index, "Kestrel") == ["a#0"]


async def test_replacing_or_deleting_a_document_leaves_nothing_of_its_contexts(index: SearchIndex) -> None:
    await fill_index(index, SITUATED)
    await index.put(RECEIPTS, [PLAIN])
    found_after_replacement = await find_chunks(index, "Kestrel")
    await index.put(RECEIPTS, [SITUATED])
    found_again = await find_chunks(index, "Kestrel")
    await index.delete([DocId("a")])
    records = RecordPageRequest(a_search())

    assert (found_after_replacement, found_again) == ([], ["a#0"])
    assert await find_chunks(index, "Kestrel") == []
    assert (await index.within_scope(a_scope()).answer_requests(records))[records].records == ()
