"""A composer that says something else than its facts: what it says is not posted."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.compose.composed_leg import ComposedLeg
from agent.compose.phrases.values import format_value
from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Clarify, OutcomeKind
from agent.review.leg_review import LegFacts, LegReview
from agent.rules.reasoner import RuleReasoner
from agent.verification.composed_sentences import find_sentence_fault
from agent.verification.leg_evidence import SentenceEvidence, evidence_text_of_field
from agent.verification.supported_claims import ClaimFault
from storage.embedded.index import EmbeddedIndex
from storage.search.conditions import ComparisonCondition, ComparisonOperator, OrCondition, text_condition_for
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName, LegId, TenantId
from storage.search.plan import Clause, Leg, ListDocuments, Plan, Search
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, PARCELS = TenantId("t"), BucketId("parcels")
CARRIER, WEIGHT, PRICE, SENT = (FieldName(name) for name in ("carrier", "weight", "price", "sent"))
SCHEMA = Schema(
    bucket=PARCELS,
    synonyms=("parcel",),
    fields=(
        SchemaField(name=CARRIER, type=FieldType.CATEGORY, facet=True),
        SchemaField(name=WEIGHT, type=FieldType.NUMBER, unit="kg"),
        SchemaField(name=PRICE, type=FieldType.MONEY, currency="EUR"),
        SchemaField(name=SENT, type=FieldType.DATE),
    ),
)
ROWS = (
    ("Blue Van", 4.0, 12.5, "2031-02-03"),
    ("Blue Van", 7.0, 20.0, "2031-05-09"),
    ("Blue Van", 9.0, 31.0, "2032-01-15"),
    ("Redline Post", 2.0, 8.25, "2031-03-21"),
)


def _build_document(number: int, carrier: str, weight: float, price: float, sent: str) -> Document:
    text = f"Parcel {number} went with {carrier}. Damaged goods are reported within 5 days of delivery."
    return Document(
        doc_id=DocId(f"parcel-{number}"),
        title=f"Parcel {number}",
        text=text,
        values={CARRIER: carrier, WEIGHT: weight, PRICE: price, SENT: sent},
        passages=(Passage(start=0, end=len(text)),),
    )


class FaultyReasoner(RuleReasoner):
    """Decides as the rules do, and changes what is said of it."""

    def __init__(self, change_sentence: Callable[[str], str]) -> None:
        super().__init__()
        self._change_sentence = change_sentence

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        composed = await super().compose_leg(facts, review)
        return replace(composed, sentences=tuple(map(self._change_sentence, composed.sentences)), tables=())


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await opened.set_schema(SCHEMA)
    await opened.put(PARCELS, [_build_document(number, *row) for number, row in enumerate(ROWS, 1)])
    yield opened
    await opened.close()


async def ask_question(question: str, index: EmbeddedIndex, change_sentence: Callable[[str], str]) -> Answer | Clarify:
    scope = Scope(tenant=TENANT, buckets=frozenset({PARCELS}), subjects=frozenset(), ignores_readers=True)
    context = AgentContext(
        index=index.within_scope(scope),
        reasoner=FaultyReasoner(change_sentence),
        now=datetime(2033, 3, 4, tzinfo=UTC),
    )
    outcome = await answer(question, context)
    assert isinstance(outcome, (Answer, Clarify))
    return outcome


BREAKS = {
    "a count": ("how many parcels went by Blue Van?", "3 parcels", "4 parcels"),
    "a sum": ("what is the total price of parcels by Blue Van?", "63.50", "68.50"),
    "a currency": ("what is the total price of parcels by Blue Van?", "EUR", "USD"),
    "a decimal point": ("what is the highest price of parcels by Redline Post?", "8.25", "82.5"),
    "a unit": ("what is the total weight of parcels by Blue Van?", "20 kg", "20 g"),
    "an average that is rounded wrongly": ("what is the average weight of parcels by Blue Van?", "6.67", "6.66"),
    "a name": ("how many parcels went by Blue Van?", "Blue Van", "Green Van"),
    "a title": ("list the parcels by Redline Post", "Parcel 4", "Parcel 9"),
    "the year of a condition": ("how many parcels were sent in 2032?", "2032", "2034"),
    "a day": ("when was the latest parcel sent?", "2032-01-15", "2032-01-25"),
    "a quotation": ("within how many days are damaged goods reported?", "**5** days", "**15** days"),
    "a change": ("how did the price of parcels develop by year?", "from **EUR 40.75**", "from **EUR 47.05**"),
    "a change in percent": ("how did the price of parcels develop by year?", "23.9%", "32.9%"),
    "an absence": ("how many parcels went by Blue Van?", "**3 parcels**", "I found no parcels"),
}


@pytest.mark.parametrize(("question", "said", "wrong"), BREAKS.values(), ids=BREAKS)
async def test_what_a_broken_composer_says_is_not_posted(
    index: EmbeddedIndex, question: str, said: str, wrong: str
) -> None:
    intact = await ask_question(question, index, lambda sentence: sentence)
    broken = await ask_question(question, index, lambda sentence: sentence.replace(said, wrong))

    assert said in intact.text
    assert wrong not in broken.text
    stage = next(stage for stage in broken.trace.stages if stage.name == "verify")
    assert stage.fallback is not None
    assert "not in the evidence" in stage.fallback


async def test_a_reply_without_a_verified_sentence_claims_no_answer(index: EmbeddedIndex) -> None:
    outcome = await ask_question(
        "how many parcels went by Blue Van?", index, lambda sentence: sentence.replace("3 parcels", "5 parcels")
    )

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert outcome.text.startswith("I found something, but could not verify")
    assert [(leg.count, leg.figures, leg.doc_ids) for leg in outcome.legs] == [(None, (), ())]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
async def test_the_number_of_values_that_are_not_named_passes(index: EmbeddedIndex, language: str) -> None:
    carriers = ("Blue Van", *(f"Van {letter}" for letter in "ABCDEFGHIJKLMNOPQRS"))
    accepted = ComparisonCondition(field=CARRIER, op=ComparisonOperator.IN, value=carriers)
    mentioned = OrCondition(
        tuple(text_condition_for(word) for word in ("went", *(f"rim{c}" for c in "abcdefghijklmnop")))
    )
    scope = Scope(tenant=TENANT, buckets=frozenset({PARCELS}), subjects=frozenset(), ignores_readers=True)
    context = AgentContext(
        index=index.within_scope(scope), reasoner=RuleReasoner(), now=datetime(2033, 3, 4, tzinfo=UTC)
    )

    for condition in (accepted, mentioned):
        search = Search(clauses=(Clause(bucket=PARCELS, condition=condition),), ranking_text="parcels")
        leg = Leg(id=LegId("a"), question="which parcels?", search=search, answer_form=ListDocuments())
        outcome = await resume(Plan(question="which parcels?", legs=(leg,), language=language), context)

        assert isinstance(outcome, Answer)
        assert str(outcome.legs[0].count) in outcome.text


@pytest.mark.parametrize("unit", ["m**2", "m**3", "km/h", "m/s", "degC", "percent", "day", "kW", "kWh", "hectare"])
def test_a_number_passes_with_the_unit_of_its_field(unit: str) -> None:
    field = SchemaField(name=FieldName("size"), type=FieldType.NUMBER, unit=unit)
    evidence = SentenceEvidence(numbers=frozenset({12.5}), text=evidence_text_of_field(field))

    assert find_sentence_fault(f"Median of size: {format_value(12.5, field)}.", evidence, "en") is None


@pytest.mark.parametrize(("year", "fault"), [(2013, None), (2014, ClaimFault.FIGURE)])
def test_a_year_passes_if_a_field_has_it_as_a_number(year: int, fault: ClaimFault | None) -> None:
    evidence = SentenceEvidence(
        numbers=frozenset({2013.0, 21.0}), text="built |\nBuilt |\nP12 |\n2027-05-06 |\nmachines"
    )

    assert (
        find_sentence_fault(f"P12 has the lowest value for “Built” of the 21 machines: {year}.", evidence, "en")
        is fault
    )
