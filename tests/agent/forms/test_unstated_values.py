"""Replies that depend on a field which only some documents state say how many do not."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Clarify, UnstatedRole
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, FieldValue, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, GUESTHOUSES = TenantId("t"), BucketId("guesthouses")
GUESTHOUSE_SCHEMA = Schema(
    bucket=GUESTHOUSES,
    synonyms=("guesthouse",),
    fields=(
        SchemaField(name=FieldName("town"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("pets"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("price"), type=FieldType.MONEY, currency="EUR"),
        SchemaField(name=FieldName("breakfast"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("style"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("sauna"), type=FieldType.FLAG),
        SchemaField(name=FieldName("sold_on"), type=FieldType.DATE),
    ),
)


def _build_document(doc_id: str, title: str, values: dict[str, FieldValue | None]) -> Document:
    text = f"{title}."
    return Document(
        doc_id=DocId(doc_id),
        title=title,
        text=text,
        values={FieldName(name): value for name, value in values.items() if value is not None},
        passages=(Passage(start=0, end=len(text)),),
    )


def _build_guesthouse(number: int) -> Document:
    """20 guesthouses, 10 in each town; the odd numbers are in Belk."""
    return _build_document(
        f"h{number}",
        f"House {number}",
        {
            "town": "Belk" if number % 2 else "Arvo",
            "pets": {0: "dogs", 1: "dogs", 2: "cats", 3: "cats", 4: "dogs"}.get(number),
            "price": None if number < 4 else 50.0 + number,
            "breakfast": "buffet" if number == 7 else None,
            "style": "rustic" if number > 1 else None,
            "sauna": True if number == 5 else None,
            "sold_on": "2029-03-01" if number == 6 else None,
        },
    )


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(GUESTHOUSE_SCHEMA)
    await index.put(GUESTHOUSES, [_build_guesthouse(number) for number in range(20)])
    scope = Scope(tenant=TENANT, buckets=frozenset({GUESTHOUSES}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


async def _ask(question: str, context: AgentContext) -> Answer | Clarify:
    outcome = await answer(question, context)
    assert isinstance(outcome, (Answer, Clarify))
    return outcome


@pytest.mark.parametrize(
    ("question", "text"),
    [
        pytest.param(
            "which guesthouses have pets dogs?",
            "**3 guesthouses** with pets dogs: **House 0**, **House 1**, **House 4**. "
            "I found no value for pets in 15 of the other 17.",
            id="list",
        ),
        pytest.param(
            "how many guesthouses in Belk have pets dogs?",
            "**1 guesthouse** in Belk with pets dogs. [1] 8 more may fit, but I found no value for pets in them.",
            id="count with another condition",
        ),
        pytest.param(
            "which guesthouses are not rustic?",
            "I found no guesthouses with style other than rustic. I found no value for style in 2 of the 20.",
            id="negation",
        ),
        pytest.param(
            "is there any guesthouse with price over 90?",
            "**No**: I found no guesthouses with a price of more than EUR 90.00. "
            "I found no value for price in 4 of the 20.",
            id="none found",
        ),
        pytest.param(
            "are all guesthouses rustic?",
            "**Unknown**: that is true of **18** of the **20** guesthouses (style: rustic). "
            "I found no value for style in the other 2.",
            id="all without a counterexample",
        ),
        pytest.param(
            "are all guesthouses pets cats?",
            "**No**: that is true of **2** of the **20** guesthouses (pets: cats). "
            "I found no value for pets in 15 of the other 18.",
            id="all with a counterexample",
        ),
        pytest.param(
            "what is the average price of the guesthouses in Arvo?",
            "Average of price: **EUR 61.00** (8 guesthouses in Arvo). I found no value for price in 2 of these 10.",
            id="number",
        ),
        pytest.param(
            "what is the average price of guesthouses by town?",
            "Average of price of **20 guesthouses**, by town. I found no value for price in 4 of these 20.",
            id="number by group",
        ),
        pytest.param(
            "which guesthouse is the cheapest?",
            "**House 4** has the lowest price of the **20 guesthouses**: EUR 54.00. "
            "I found no value for price in 4 of these 20.",
            id="superlative",
        ),
        pytest.param(
            "what percentage of guesthouses have pets dogs?",
            "**15%** (3 guesthouses) of 20 guesthouses. I found no value for pets in 15 of the other 17.",
            id="share",
        ),
        pytest.param(
            "which guesthouses have breakfast buffet?",
            "I found a value for breakfast in only 1 of 20 guesthouses, so this is far from complete. "
            "**1 guesthouse** with breakfast buffet: **House 7**.",
            id="scarce field",
        ),
    ],
)
async def test_a_reply_says_how_many_documents_do_not_state_a_value(
    question: str, text: str, context: AgentContext
) -> None:
    assert text in (await _ask(question, context)).text


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("which guesthouses are in Arvo?", id="every document states it"),
        pytest.param("which guesthouses have a sauna?", id="absent means none"),
        pytest.param("which guesthouses were sold on 2029-03-01?", id="absent means not yet"),
        pytest.param("how many guesthouses are there by pets?", id="the table has a line for them"),
        pytest.param("which rustic guesthouses have a sauna?", id="another condition excludes them"),
    ],
)
async def test_nothing_is_said_where_no_document_may_fit_for_want_of_a_value(
    question: str, context: AgentContext
) -> None:
    outcome = await _ask(question, context)

    assert isinstance(outcome, Answer)
    assert "state" not in outcome.text
    assert "may fit" not in outcome.text


async def test_no_document_known_of_a_scarce_field_is_no_answer_of_no(context: AgentContext) -> None:
    outcome = await _ask("is there any guesthouse where breakfast is not buffet?", context)

    assert outcome.text.startswith("**Unknown**: I found no guesthouses")
    assert outcome.text.endswith(
        "I found a value for breakfast in only 1 of 20 guesthouses, so this is far from complete."
    )


async def test_documents_that_lack_several_values_are_counted_once(context: AgentContext) -> None:
    outcome = await _ask("how many guesthouses in Arvo with pets dogs have a price under 60?", context)

    # House 0 lacks the price, House 6 and 8 the pets; no other house of Arvo with a price under 60 lacks one
    assert "**1 guesthouse**" in outcome.text
    assert "3 more may fit, but I found no value for" in outcome.text


async def test_documents_that_may_fit_are_no_share_where_two_fields_are_asked(context: AgentContext) -> None:
    outcome = await _ask("how many guesthouses with pets dogs have a price under 60?", context)

    assert "of the other" not in outcome.text
    assert "more may fit, but I found no value for" in outcome.text


async def test_a_field_is_scarce_only_among_the_documents_that_are_named(context: AgentContext) -> None:
    outcome = await _ask("how many guesthouses with breakfast buffet have a price under 60?", context)

    assert "far from complete" not in outcome.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("which guesthouses have pets dogs?", "Bei 15 der anderen 17 habe ich keine Angabe zu pets gefunden."),
        (
            "how many guesthouses in Belk have pets dogs?",
            "Noch 8 könnten passen: Eine Angabe zu pets habe ich dort nicht gefunden.",
        ),
        ("is there any guesthouse with price over 90?", "Bei 4 der 20 habe ich keine Angabe zu price gefunden."),
        ("are all guesthouses rustic?", "**Unbekannt**: "),
        ("which guesthouse is the cheapest?", "Bei 4 dieser 20 habe ich keine Angabe zu price gefunden."),
        (
            "which guesthouses have breakfast buffet?",
            "Eine Angabe zu breakfast habe ich nur bei 1 von 20 (Guesthouses) gefunden",
        ),
    ],
)
async def test_a_german_reply_says_it_in_german(question: str, text: str, context: AgentContext) -> None:
    outcome = await _ask(question, context)

    german = await resume(replace(outcome.plan, language="de"), context)

    assert isinstance(german, (Answer, Clarify))
    assert text in german.text


async def test_the_result_names_what_is_not_stated(context: AgentContext) -> None:
    outcome = await _ask("how many guesthouses in Belk have pets dogs?", context)

    [unstated] = outcome.legs[0].unstated
    assert (unstated.role, unstated.fields) == (UnstatedRole.CONDITION, (FieldName("pets"),))
    assert (unstated.count, unstated.total) == (8, 10)
