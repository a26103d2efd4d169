"""Every choice has the result that its button shows, for any documents, questions and rights.

For random corpora, searches and scopes, every choice is requested, stored, clicked and compared with the naive
evaluation, on each engine. `PARLEY_TEST_EXAMPLES` sets a larger number of examples than in a usual run.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decomposition import AlternativeReading, LegAlternatives, PlannedQuestion
from agent.limits import AnswerLimits
from agent.outcome import ChoiceKind
from bot.application import Application
from bot.surface.inbound import OperatorAudience
from storage.search.conditions import conjunction_of
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.index import CountRequest, IndexAnswers, IndexRequest, ScopedIndex, SearchIndex
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    Clause,
    ComputeNumbers,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    SummariseDocuments,
)
from storage.search.scope import Scope
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_search, where
from tests.scenarios.audiences import audiences, clear_index, few_examples, limits, open_world, write_world
from tests.scenarios.clicking import ScriptedReasoner
from tests.scenarios.conftest import a_bot
from tests.scenarios.worlds import (
    DocumentWorld,
    changed_worlds,
    plainly_planned_questions,
    planned_questions,
    questions,
    worlds,
)
from tests.stand_ins.wrapped_index import WrappedIndex

INVOICES = BucketId("invoices")
_numbers = count()


# -- random plans


@few_examples
@given(data=st.data())
async def test_every_choice_of_a_plan_has_the_result_of_its_button(
    clicked_bot: Application, script: ScriptedReasoner, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", min_documents=8))
    audience, granted = data.draw(audiences(world))
    question_texts = [f"planned {next(_numbers)}" for _ in range(2)]
    script.plans = {question: data.draw(planned_questions(world, granted, question)) for question in question_texts}
    try:
        clicking = await open_world(clicked_bot, world, audience, granted, data.draw(limits))
        for question in question_texts:
            await clicking.check_question(question, pick=lambda n: data.draw(st.integers(0, n - 1)))
    finally:
        await clear_index(clicked_bot)


@few_examples
@given(data=st.data())
async def test_a_click_after_writes_uses_the_new_documents_and_notes_a_changed_count(
    clicked_bot: Application, script: ScriptedReasoner, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", min_documents=8))
    new_world = data.draw(changed_worlds(world))
    audience, granted = data.draw(audiences(world))
    question = f"planned {next(_numbers)}"
    script.plans = {question: data.draw(planned_questions(world, granted, question))}
    try:
        clicking = await open_world(clicked_bot, world, audience, granted, data.draw(limits))
        await clicking.check_question(question, lambda: write_world(clicked_bot.index, world, new_world))
    finally:
        await clear_index(clicked_bot)


# -- questions in words


@few_examples
@given(data=st.data())
async def test_every_choice_of_a_question_in_words_has_the_result_of_its_button(
    clicked_bot: Application, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", min_documents=8))
    audience, granted = data.draw(audiences(world))
    question_texts = data.draw(st.lists(questions(world, granted), min_size=2, max_size=2))
    try:
        clicking = await open_world(clicked_bot, world, audience, granted, data.draw(limits))
        for question in question_texts:
            await clicking.check_question(question, pick=lambda n: data.draw(st.integers(0, n - 1)))
    finally:
        await clear_index(clicked_bot)


# -- every kind


def _receipt_world() -> DocumentWorld:
    """Receipts of ten vendors, two of them without a vendor, and invoices of one vendor."""
    receipts = [
        a_document(
            f"r{n:02}",
            ("a tire", "two tires and a wheel")[n % 2],
            title=f"Receipt {n}",
            vendor=_vendor_of(n),
            date=f"20{21 + n % 4}-05-09",
            total=n + 0.5,
        )
        for n in range(16)
    ]
    invoices = [a_document(f"i{n}", title=f"Invoice {n}", vendor="Acme", date="2031-01-02") for n in range(3)]
    schemas = {name: a_receipt_schema(name) for name in (RECEIPTS, INVOICES)}
    return DocumentWorld(schemas=schemas, documents={RECEIPTS: receipts, INVOICES: invoices})


def _vendor_of(n: int) -> str | None:
    return None if n in (7, 8) else "Acme" if n % 3 == 0 else f"Vendor {n}"


ACME, IN_2031 = where("vendor", "eq", "Acme"), where("date", "between", ("2031-01-01", "2031-12-31"))
SINCE_2022 = where("date", "gte", "2022-01-01")
_BOTH = Search(clauses=(Clause(bucket=RECEIPTS), Clause(bucket=INVOICES)))
_ONE = LegId("a")
_ELSEWHERE = LegAlternatives(
    leg=_ONE, other_bucket_clauses=(Clause(bucket=INVOICES, condition=conjunction_of(ACME, IN_2031)),)
)
_ALIKE = LegAlternatives(
    leg=_ONE,
    equal_readings=(AlternativeReading(bucket=RECEIPTS, conditions=(SINCE_2022,), search=a_search(SINCE_2022)),),
)
_KINDS: Mapping[str, tuple[Search, AnswerForm, tuple[LegAlternatives, ...]]] = {
    "every receipt": (a_search(), ListDocuments(), ()),
    "all there is": (_BOTH, ListDocuments(), ()),
    "what they say": (a_search(ACME), SummariseDocuments(), ()),
    "acme in 2031": (a_search(conjunction_of(ACME, IN_2031)), ListDocuments(), (_ELSEWHERE,)),
    "the first of acme in 2031": (a_search(conjunction_of(ACME, IN_2031)), ListDocuments(limit=2), (_ELSEWHERE,)),
    "acme's tirres": (a_search(ACME, required=["tirres"]), ListDocuments(), ()),
    "since then": (a_search(where("date", "gte", "2024-01-01")), ListDocuments(), (_ALIKE,)),
    "its total": (a_search(), ReadFields(fields=((RECEIPTS, FieldName("total")),)), ()),
    "how many": (a_search(where("date", "gt", "2022-01-01")), ComputeNumbers(functions=(AggregateFunction.COUNT,)), ()),
}


async def test_every_kind_of_choice_is_offered_and_has_the_result_of_its_button(
    clicked_bot: Application, script: ScriptedReasoner
) -> None:
    for question, (search, answer_form, doubts) in _KINDS.items():
        leg = Leg(id=_ONE, question=question, search=search, answer_form=answer_form)
        script.plans[question] = PlannedQuestion(plan=Plan(question=question, legs=(leg,)), alternatives=doubts)
    clicking = await open_world(
        clicked_bot, _receipt_world(), OperatorAudience(), (), AnswerLimits(overload_documents=5, read_documents=3)
    )

    kinds = [await clicking.check_question(question) for question in _KINDS]

    other_kinds = {ChoiceKind.WEB, ChoiceKind.PRIVATE, ChoiceKind.SAVE}  # these kinds start no search
    assert set[ChoiceKind]().union(*kinds) == set(ChoiceKind) - other_kinds


async def test_a_choice_that_now_finds_nothing_offers_new_choices(
    clicked_bot: Application, script: ScriptedReasoner
) -> None:
    world, search = _receipt_world(), a_search(where("date", "gte", "2001-01-01"))
    leg = Leg(id=_ONE, question="since 2001", search=search, answer_form=ListDocuments())
    script.plans = {"since 2001": PlannedQuestion(plan=Plan(question="since 2001", legs=(leg,)))}
    clicking = await open_world(
        clicked_bot, world, OperatorAudience(), (), AnswerLimits(overload_documents=5, read_documents=3)
    )
    turn = await clicking.ask_question("since 2001")
    acme_index = [label for label, *_ in turn.offers].index("Acme")
    kept_documents = [
        document for document in world.documents[RECEIPTS] if document.values.get(FieldName("vendor")) != "Acme"
    ]
    new_world = DocumentWorld(schemas=world.schemas, documents={**world.documents, RECEIPTS: kept_documents})
    clicking = replace(clicking, world=await write_world(clicked_bot.index, world, new_world))
    click_turn = await clicking.click_choice(turn, acme_index)

    assert click_turn.result["outcome"] == "no_results"
    assert click_turn.result["text"].startswith("_now 0, was 6_")
    assert {"drop", "missing"} <= {kind for _, _, kind, _ in click_turn.offers}


# -- a wrong engine


class OvercountingIndex(WrappedIndex):
    """An index that counts one too many for `overcounted_request`. It records the requested counts."""

    def __init__(self, wrapped: SearchIndex) -> None:
        super().__init__(wrapped)
        self.overcounted_request: CountRequest | None = None
        self.count_requests: dict[CountRequest, None] = {}

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return _OvercountingScopedIndex(self, self.wrapped.within_scope(scope))


class _OvercountingScopedIndex(ForwardingScopedIndex):
    def __init__(self, index: OvercountingIndex, wrapped: ScopedIndex) -> None:
        super().__init__(wrapped)
        self._index = index

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        answers = await self.wrapped.answer_requests(*requests)
        reported = {request: answers[request] for request in requests}
        for request in requests:
            if isinstance(request, CountRequest):
                self._index.count_requests[request] = None
                reported[request] = answers[request] + (request == self._index.overcounted_request)
        return IndexAnswers(answers.generation, reported)


@pytest.fixture
def wrong(index: SearchIndex) -> OvercountingIndex:
    return OvercountingIndex(index)


@pytest.fixture
async def wrong_bot(tmp_path: Path, wrong: OvercountingIndex, script: ScriptedReasoner) -> AsyncIterator[Application]:
    async with a_bot(tmp_path, wrong, script) as bot:
        yield bot


def is_ranking_count(search: Search, question: str) -> bool:
    """Whether the search only counts documents with a word of the question. Such counts rank and are never shown."""
    return search.ranking_text == question or all(
        clause.condition == conjunction_of() and clause.required_terms and clause.required_terms[0] in question
        for clause in search.clauses
    )


@few_examples
@given(data=st.data())
async def test_the_check_detects_an_engine_that_counts_one_too_many(
    wrong_bot: Application, wrong: OvercountingIndex, script: ScriptedReasoner, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", min_documents=4))
    audience, granted = data.draw(audiences(world))
    question = f"planned {next(_numbers)}"
    script.plans = {question: data.draw(plainly_planned_questions(world, granted, question))}
    try:
        clicking = await open_world(wrong_bot, world, audience, granted, data.draw(limits))
        wrong.overcounted_request, wrong.count_requests = None, {}
        await clicking.check_question(question)
        shown_requests = [request for request in wrong.count_requests if not is_ranking_count(request.search, question)]
        wrong.overcounted_request = data.draw(st.sampled_from(shown_requests))
        with pytest.raises(AssertionError):
            await clicking.check_question(question)
    finally:
        await clear_index(wrong_bot)
