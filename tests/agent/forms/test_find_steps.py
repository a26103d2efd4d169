"""Which section of a document is quoted as a procedure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agent.context import AgentContext
from agent.forms.find_steps import _lists_of, _sections_of  # pyright: ignore[reportPrivateUsage]
from agent.loop import answer
from agent.outcome import Answer
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

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


BOWLS = """# Bowls

Bowls break. To wrap a bowl:
1. Fold the paper.
2. Lay the bowl on it.

We pack, for example:
- Bowls.
- Plates.

To stack plates:
- Sort them by size.
- Put felt between them.
:
"""


def test_a_list_is_headed_by_the_sentence_that_introduces_it() -> None:
    lists = {section.heading: section for section in _lists_of(document(BOWLS)) if section.has_list}

    assert list(lists) == ["To wrap a bowl", "To stack plates"]
    wrapping = lists["To wrap a bowl"]
    assert [step.quote.text for step in wrapping.steps] == ["Fold the paper.", "Lay the bowl on it."]
    assert wrapping.is_numbered


async def test_an_introduced_list_answers_where_no_heading_does(tmp_path: Path) -> None:
    index = await EmbeddedIndex.open(tmp_path, tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    bucket = BucketId("crafts")
    await index.set_schema(Schema(bucket=bucket, fields=()))
    await index.put(bucket, [document(BOWLS), replace(document("Plates are stacked."), doc_id=DocId("e"))])
    scope = Scope(tenant=TenantId("t"), buckets=frozenset({bucket}), ignores_readers=True)
    context = AgentContext(
        index=index.within_scope(scope), reasoner=RuleReasoner(), now=datetime(2031, 5, 9, tzinfo=UTC)
    )

    outcome = await answer("How do I wrap a bowl?", context)

    assert isinstance(outcome, Answer)
    assert "1. “Fold the paper.” [1]\n2. “Lay the bowl on it.” [2]" in outcome.text
    await index.close()


TWO_PARTS = """# Lathe handbook

## Care, part one: each week
1. Sweep the bed of the lathe.
2. Oil the ways.

## Care, part two: each year
1. Change the gear oil.
2. Level the lathe.

## Delivery of the lathe
1. Open the crate.
2. Lift the lathe out.
"""


async def test_the_parts_of_a_procedure_are_quoted_together_without_the_other_lists(tmp_path: Path) -> None:
    bucket, passage = BucketId("guides"), Passage(start=0, end=len(TWO_PARTS), page=1)
    index = await EmbeddedIndex.open(tmp_path, tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    await index.set_schema(Schema(bucket=bucket))
    guide = Document(doc_id=DocId("lathe"), title="Lathe handbook", text=TWO_PARTS, passages=(passage,), digest="d")
    await index.put(bucket, [guide])
    scope = Scope(tenant=TenantId("t"), buckets=frozenset({bucket}), ignores_readers=True)
    context = AgentContext(
        index=index.within_scope(scope), reasoner=RuleReasoner(), now=datetime(2031, 5, 9, tzinfo=UTC)
    )

    outcome = await answer("What are the care steps for the lathe?", context)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith("**Care, part one: each week** (Lathe handbook, page 1):\n1. “Sweep")
    assert "**Care, part two: each year**" in outcome.text
    assert "Level the lathe." in outcome.text
    assert "crate" not in outcome.text
    await index.close()
