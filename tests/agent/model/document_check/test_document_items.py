"""Documents share a budget of tokens: whole if they are short, else with the sentences nearest to the question."""

from agent.model.answering.evidence import EvidenceItem
from agent.model.document_check.candidate_documents import CandidateDocument
from agent.model.document_check.document_items import ItemBuilder
from storage.search.index import PassageHit
from storage.search.schema import FieldType, Schema
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, a_document, a_field

SCHEMA = Schema(bucket=RECEIPTS, fields=(a_field("vendor"), a_field("note", FieldType.TEXT)), language="en")
ANALYSER = analyser_for("en")
STEMS = frozenset(term.text for term in ANALYSER.extract_terms("payment refused"))
FILLER = "The weather in this region is often mild and the roads are dry. "
REFUSAL = "We have refused the payment. "


def build(
    *texts: str, budget: int = 6_000, vendor: str | None = None, note: str | None = None
) -> tuple[EvidenceItem, ...]:
    candidates = [
        CandidateDocument(
            document=a_document(f"r{number}", text, title=f"R {number}", vendor=vendor, note=note), passages=()
        )
        for number, text in enumerate(texts, 1)
    ]
    return ItemBuilder(schema=SCHEMA, analyser=ANALYSER, stems=STEMS).build_items(candidates, budget)


def test_short_documents_are_read_whole_with_their_values() -> None:
    first, second = build("One.", "Two.", vendor="Acme")

    assert (first.id, first.text, second.id) == (1, "vendor: Acme\nOne.", 2)


def test_a_value_that_the_text_gives_with_its_label_is_not_repeated() -> None:
    [item] = build("Vendor: Acme\nBolts, 3 kg", vendor="Acme")

    assert item.text == "Vendor: Acme\nBolts, 3 kg"


def test_a_long_text_is_cut_to_the_sentences_about_the_question() -> None:
    [item] = build(40 * FILLER + REFUSAL + 40 * FILLER, budget=100)

    assert "We have refused the payment." in item.text
    assert item.text.startswith("…")
    assert item.tokens <= 110


def test_a_sentence_is_read_once_and_its_neighbours_before_others() -> None:
    beside = "It concerns the roof of the barn. "
    texts = [f"Line {number} is about something else. " for number in range(60)]

    [item] = build("".join((*texts, beside, REFUSAL, *texts, REFUSAL)), budget=90)

    assert item.text.count("refused the payment") == 1
    assert beside.strip() in item.text


def test_all_items_are_within_the_budget() -> None:
    texts = [number * 20 * FILLER + REFUSAL for number in range(40)]

    items = build(*texts, vendor="Acme", note=5 * FILLER)

    assert len(items) == 40
    assert sum(item.tokens for item in items) <= 6_200
    assert all("refused the payment" in item.text for item in items)


def test_what_short_documents_leave_goes_to_the_long_ones() -> None:
    long = "".join(f"In {year} the weather was mild and the roads were dry. " for year in range(1900, 2000))

    alone = build(long, budget=1_000)[0].tokens
    beside = build(long, "Short.", "Short.", budget=1_000)[0].tokens

    assert beside > 0.9 * alone > 800


def test_the_nearest_passage_is_read_where_no_word_tells() -> None:
    text = 60 * FILLER + "Nothing will reach your account from us."
    start = 60 * len(FILLER)
    hit = PassageHit(
        doc_id=a_document("r1").doc_id, bucket=RECEIPTS, chunk_id=a_document("r1").chunk_id_at(1), title="R",
        source="", page=None, start=start, end=len(text), text=text[start:], score=1.0,
    )  # fmt: skip
    candidate = CandidateDocument(document=a_document("r1", text), passages=(hit,))

    [item] = ItemBuilder(schema=SCHEMA, analyser=ANALYSER, stems=STEMS).build_items([candidate], 100)

    assert item.text == "… Nothing will reach your account from us. …"


def test_a_sentence_longer_than_its_room_is_cut() -> None:
    [item] = build("refused " * 2_000, budget=100)

    assert item.text.startswith("… refused refused")
    assert item.tokens <= 110


def test_documents_without_text_are_cut_to_their_values() -> None:
    items = build(*[""] * 38, budget=4_000, note="x " * 400)

    assert len(items) == 38
    assert all("x x" in item.text for item in items)
