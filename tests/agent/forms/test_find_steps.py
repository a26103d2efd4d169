"""Which section of a document is quoted as a procedure."""

from collections.abc import Sequence

from agent.forms.find_steps import _sections_of  # pyright: ignore[reportPrivateUsage]
from storage.search.documents import Document, Passage
from storage.search.ids import DocId

LINES = """# Care of bowls

## How to wrap a bowl
1. **Fold** the paper.
2. Lay the bowl on it.
   - Rim downwards.

## Step 2: Close the box
Press the lid down until it clicks into place.
"""


def document(text: str) -> Document:
    return Document(doc_id=DocId("d"), title="Care", text=text, passages=(Passage(start=0, end=len(text), page=3),))


def texts_of(text: str) -> dict[str, Sequence[str]]:
    return {section.heading: [step.quote.text for step in section.steps] for section in _sections_of(document(text))}


def test_a_section_holds_the_items_of_its_lists_whole() -> None:
    assert texts_of(LINES)["How to wrap a bowl"] == ["**Fold** the paper.", "Lay the bowl on it.", "Rim downwards."]


def test_a_heading_above_holds_what_stands_under_those_below_it() -> None:
    assert len(texts_of(LINES)["Care of bowls"]) == 4  # the heading below, and its three items


def test_a_heading_that_counts_steps_is_one_of_several() -> None:
    [closing] = [section for section in _sections_of(document(LINES)) if section.heading == "Close the box"]

    assert closing.is_step
    assert [step.quote.text for step in closing.sentences] == ["Press the lid down until it clicks into place."]


def test_a_page_without_lines_is_headed_by_its_first_sentence() -> None:
    text = "Wrapping. Fold the paper around the bowl twice. Lay it into the box with care."

    [section] = _sections_of(document(text))

    assert section.heading == "Wrapping"
    assert [step.quote.page for step in section.sentences] == [3, 3]
