"""The lines of a passage under their headings."""

from agent.evidence.text_lines import split_lines
from agent.outcome import FoundPassage
from storage.search.ids import BucketId, ChunkId, DocId
from storage.search.index import PassageHit


def _headings_of(text: str) -> list[tuple[str, str]]:
    hit = PassageHit(
        doc_id=DocId("d"), chunk_id=ChunkId("d/0"), bucket=BucketId("b"), title="", source="", text=text,
        start=0, end=len(text), page=None, score=1.0,
    )  # fmt: skip
    passage = FoundPassage(hit=hit, score=1.0, found_by=())
    return [(line.heading, line.quote.text) for line in split_lines(passage) if not line.is_heading]


def test_a_numbered_heading_is_the_heading_of_its_section() -> None:
    text = "## 5. Carts\n\nCarts stay in the yard.\n\n6. Bell ropes\nPut off until May. Ropes are sold.\n"

    assert _headings_of(text) == [
        ("5. Carts", "Carts stay in the yard."),
        ("6. Bell ropes", "Put off until May."),
        ("6. Bell ropes", "Ropes are sold."),
    ]


def test_a_numbered_list_has_no_headings() -> None:
    text = "1. Open the gate\n2. Ring the bell\n3. Lock the yard\n\nThe verger waits."

    assert {heading for heading, _ in _headings_of(text)} == {""}


def test_a_numbered_sentence_is_no_heading() -> None:
    text = "4. **Bells.** They rest at night.\n5.1 All ropes stay in the tower. None is lent.\n"

    assert _headings_of(text) == [
        ("", "4. **Bells.** They rest at night."),
        ("", "5.1 All ropes stay in the tower."),
        ("", "None is lent."),
    ]


def test_a_topic_before_a_paragraph_is_its_heading() -> None:
    text = "Bell ropes. They are worn. We buy new ones.\n\nThe gate sticks. It is oiled.\n\nCarts.\n"

    assert _headings_of(text) == [
        ("", "Bell ropes."),
        ("Bell ropes.", "They are worn."),
        ("Bell ropes.", "We buy new ones."),
        ("", "The gate sticks."),
        ("", "It is oiled."),
        ("", "Carts."),
    ]
