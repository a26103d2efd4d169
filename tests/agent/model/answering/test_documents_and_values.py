"""Answers from the values of documents, from whole documents, and in another language than the documents'."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.model.answering.evidence_answerer import AnswerOptions
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.plan import ReadFields, SummariseDocuments, unfiltered_search_of
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for
from tests.agent.model.answering.answering_reasoner import a_reply, a_sentence
from tests.agent.model.answering.conftest import HANDBOOKS, AskedShelf
from tests.agent.model.answering.test_evidence_answerer import item_id_of
from tests.agent.model.scripted_model import ScriptedModel
from tests.builders import TENANT, where

FIELDS = (
    SchemaField(name=FieldName("owner"), type=FieldType.CATEGORY),
    SchemaField(name=FieldName("load"), type=FieldType.NUMBER, unit="kg"),
    SchemaField(name=FieldName("built"), type=FieldType.DATE),
    SchemaField(name=FieldName("colour"), type=FieldType.CATEGORY),
)
TEXTS = {
    "Crane": (
        "The quay crane belongs to Acme Ltd. It was built in a yard.\n\nIt may lift 9,000 kg at most.",
        "Acme Ltd",
    ),
    "Ramp": ("The ferry ramp belongs to Bolt Ltd. It rests on two rollers in the summer season.", "Bolt Ltd"),
}


@pytest.fixture
async def machines(tmp_path: Path) -> AsyncIterator[AskedShelf]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(Schema(bucket=BucketId(HANDBOOKS), fields=FIELDS))
    documents = [
        Document(
            doc_id=DocId(title.casefold()),
            title=title,
            text=text,
            passages=(Passage(start=0, end=len(text), page=2),),
            values={
                FieldName("owner"): owner,
                FieldName("load"): 9000.0,
                FieldName("built"): "2019-06-12",
            },
            digest=title,
        )
        for title, (text, owner) in TEXTS.items()
    ]
    await index.put(HANDBOOKS, documents)
    yield AskedShelf(index)
    await index.close()


OWNED = replace(unfiltered_search_of(HANDBOOKS), ranking_text="colour").with_condition(where("owner", "eq", "Acme Ltd"))


async def test_the_values_of_documents_are_evidence_and_cited_by_the_sentence_that_holds_them(
    machines: AskedShelf,
) -> None:
    question, form = "What colour is the crane of Acme Ltd?", ReadFields(fields=((HANDBOOKS, FieldName("colour")),))
    first = ScriptedModel(a_reply(completeness=0))
    await machines.ask(first, question, form=form, search=OWNED)
    values = item_id_of(first, "load: 9,000 kg")
    model = ScriptedModel(
        a_reply(a_sentence("It may lift 9 t, that is 9,000 kg.", values), a_sentence("It may lift 9,000 kg.", values))
    )

    outcome = await machines.answer_of(model, question, form=form, search=OWNED)

    assert 'title="Crane" date="2019-06-12"' in first.user_text(0)
    assert outcome.text == "It may lift 9,000 kg. [1]"
    assert outcome.citations[0].text == "It may lift 9,000 kg at most."
    assert outcome.citations[0].page == 2


async def test_passages_outside_the_named_documents_are_marked(machines: AskedShelf) -> None:
    question = "On what does the ferry ramp of Acme Ltd rest?"
    model = ScriptedModel(a_reply(completeness=0))

    await machines.ask(model, question, search=OWNED)

    assert 'title="Ramp" page="2" outside="yes"' in model.user_text(0)
    assert 'title="Crane" page="2" date="2019-06-12">' in model.user_text(0)


async def test_a_summary_is_written_from_the_key_sentences_of_each_document(machines: AskedShelf) -> None:
    search = unfiltered_search_of(HANDBOOKS)
    first = ScriptedModel(a_reply(completeness=0))
    await machines.ask(first, "Summarise the machines", form=SummariseDocuments(), search=search)
    crane, ramp = item_id_of(first, "Acme Ltd"), item_id_of(first, "two rollers")
    model = ScriptedModel(
        a_reply(
            a_sentence("The crane belongs to Acme Ltd.", crane),
            a_sentence("The ramp rests on two rollers.", ramp),
            layout="list",
        )
    )

    outcome = await machines.answer_of(model, "Summarise the machines", form=SummariseDocuments(), search=search)

    assert outcome.text == "- The crane belongs to Acme Ltd. [1]\n- The ramp rests on two rollers. [2]"
    assert [citation.doc_id for citation in outcome.citations] == ["crane", "ramp"]
    assert outcome.legs[0].count == 2


async def test_a_reply_in_german_is_checked_against_english_documents(machines: AskedShelf) -> None:
    question = "Wie viel darf der Kran heben?"
    first = ScriptedModel(a_reply(completeness=0))
    await machines.ask(first, f"{question} crane", language="de")
    crane = item_id_of(first, "9,000 kg at most")
    model = ScriptedModel(
        a_reply(
            a_sentence("Der Kran darf höchstens 9.000 kg heben.", crane),
            a_sentence("Er gehört der Acme Ltd.", crane),
            a_sentence("Er darf 9.500 kg heben.", crane),
            completeness=0.5,
            missing=["das Gewicht des Krans"],
        )
    )

    outcome = await machines.answer_of(model, f"{question} crane", language="de", options=AnswerOptions(max_rounds=1))

    assert outcome.text.startswith("Der Kran darf höchstens 9.000 kg heben. [1] Er gehört der Acme Ltd. [2]")
    assert "9.500" not in outcome.text
