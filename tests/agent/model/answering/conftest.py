"""A shelf of handbooks, and questions about them that a scripted model answers."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict, Unpack

import pytest

from agent.context import AgentContext
from agent.loop import resume
from agent.model.answering.evidence_answerer import AnswerOptions
from agent.outcome import Answer, Clarify, Outcome
from agent.reasoning_log import ReasoningLog
from agent.retrieval.search_context import ignore_partial_answer
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, LegId
from storage.search.plan import AnswerForm, FindPassages, Leg, LegCombination, Plan, Search, unfiltered_search_of
from storage.search.schema import Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.agent.model.answering.answering_reasoner import AnsweringReasoner
from tests.agent.model.scripted_model import ScriptedModel
from tests.builders import TENANT

HANDBOOKS = BucketId("handbooks")
NOW = datetime(2031, 5, 9, tzinfo=UTC)
TEXTS: Mapping[str, str] = {
    "Crane handbook": "The crane lifts nine tonnes. Its jib is 40 metres long. Acme Ltd built it on 12 June 2019.",
    "Crane report": "The crane was tested again. The crane lifts eight tonnes since the repair.",
    "Ramp handbook": "The ferry ramp rests on two rollers. To grease the rollers of the ramp, lift the ramp. Then "
    "brush the old grease off. Then press 20 g of new grease into each roller.",
    "Mooring rules": "Yachts leave the quay by noon. Dogs are never allowed on the quay.",
    "Boom sheet": "The boom measures forty metres from end to end.",
}


class AskSettings(TypedDict, total=False):
    """How to ask; all have defaults."""

    form: AnswerForm
    search: Search
    options: AnswerOptions
    language: str
    summary: str
    log: ReasoningLog
    is_watched: bool


@dataclass(slots=True)
class AskedShelf:
    """Asks the shelf with a scripted model, and keeps the last call's log and what was shown meanwhile."""

    index: EmbeddedIndex
    log: ReasoningLog = field(default_factory=ReasoningLog)
    shown: list[tuple[LegId, str]] = field(default_factory=list[tuple[LegId, str]])

    async def ask(self, model: ScriptedModel, *questions: str, **settings: Unpack[AskSettings]) -> Outcome:
        self.log, self.shown = settings.get("log", ReasoningLog()), []
        form, search = settings.get("form", FindPassages()), settings.get("search")
        legs = tuple(_leg(letter, question, form, search) for letter, question in zip("abcd", questions, strict=False))
        combination = LegCombination.ONE if len(legs) == 1 else LegCombination.SIDE_BY_SIDE
        scope = Scope(tenant=TENANT, buckets=frozenset({HANDBOOKS}), ignores_readers=True)
        context = AgentContext(
            index=self.index.within_scope(scope),
            reasoner=AnsweringReasoner(
                model,
                self.log,
                settings.get("options"),
                language=settings.get("language", "en"),
                summary=settings.get("summary", ""),
            ),
            now=NOW,
            reasoning_log=self.log,
            report_partial_answer=self._note_partial_answer if settings.get("is_watched") else ignore_partial_answer,
        )
        return await resume(Plan(question=" ".join(questions), legs=legs, combination=combination), context)

    async def answer_of(self, model: ScriptedModel, question: str, **settings: Unpack[AskSettings]) -> Answer:
        outcome = await self.ask(model, question, **settings)
        assert isinstance(outcome, Answer)
        return outcome

    async def clarification_of(self, model: ScriptedModel, question: str) -> Clarify:
        outcome = await self.ask(model, question)
        assert isinstance(outcome, Clarify)
        return outcome

    def _note_partial_answer(self, leg: LegId, markdown: str) -> None:
        self.shown.append((leg, markdown))


def _leg(leg_id: str, question: str, form: AnswerForm, search: Search | None) -> Leg:
    whole = search or replace(unfiltered_search_of(HANDBOOKS), ranking_text=question)
    return Leg(id=LegId(leg_id), question=question, search=whole, answer_form=form)


async def open_shelf(folder: Path, texts: Mapping[str, str], fields: Sequence[SchemaField] = ()) -> EmbeddedIndex:
    index = await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(Schema(bucket=HANDBOOKS, fields=tuple(fields)))
    documents = [
        Document(
            doc_id=DocId(title.casefold().replace(" ", "-")),
            title=title,
            text=text,
            source="https://files.example/" + title.split()[0],
            passages=(Passage(start=0, end=len(text), page=3),),
            digest=title,
        )
        for title, text in texts.items()
    ]
    await index.put(HANDBOOKS, documents)
    return index


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[AskedShelf]:
    index = await open_shelf(tmp_path, TEXTS)
    yield AskedShelf(index)
    await index.close()
