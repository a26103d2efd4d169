"""The one idea, held to: every choice leads where it says, whatever the documents, the question and the rights.

For random corpora, searches and scopes every choice is asked for, stored, clicked, and held to the naive evaluation, on
each engine. `PARLEY_TEST_EXAMPLES` asks for more examples than the few of every run.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context import Limits
from agent.outcome import ChoiceKind
from agent.reasoner import Doubt, Planned, Reread
from bot.bootstrap import Bot
from bot.inbound import Operator
from storage.search.conditions import all_of
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, LegId, TenantId
from storage.search.index import Answers, BucketState, Count, Put, Request, ScopedIndex, SearchIndex, Vocabulary
from storage.search.plan import (
    Clause,
    Compute,
    Function,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.search.text import Analyser
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_search, where
from tests.scenarios.audiences import audiences, closed, limits, opened, some, written
from tests.scenarios.clicking import Script
from tests.scenarios.conftest import a_bot
from tests.scenarios.worlds import World, changed, plainly_planned, planned, questions, worlds

INVOICES = BucketId("invoices")
_numbers = count()


# -- random plans


@some
@given(data=st.data())
async def test_every_choice_of_a_plan_leads_where_it_says(
    clicked_bot: Bot, script: Script, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", least=8))
    audience, granted = data.draw(audiences(world))
    asked = [f"planned {next(_numbers)}" for _ in range(2)]
    script.plans = {one: data.draw(planned(world, granted, one)) for one in asked}
    try:
        clicking = await opened(clicked_bot, world, audience, granted, data.draw(limits))
        for question in asked:
            await clicking.check(question, pick=lambda n: data.draw(st.integers(0, n - 1)))
    finally:
        await closed(clicked_bot)


@some
@given(data=st.data())
async def test_a_click_after_writes_finds_what_is_there_now_and_says_what_has_changed(
    clicked_bot: Bot, script: Script, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", least=8))
    after = data.draw(changed(world))
    audience, granted = data.draw(audiences(world))
    question = f"planned {next(_numbers)}"
    script.plans = {question: data.draw(planned(world, granted, question))}
    try:
        clicking = await opened(clicked_bot, world, audience, granted, data.draw(limits))
        await clicking.check(question, lambda: written(clicked_bot.index, world, after))
    finally:
        await closed(clicked_bot)


# -- questions in words


@some
@given(data=st.data())
async def test_every_choice_of_a_question_in_words_leads_where_it_says(clicked_bot: Bot, data: st.DataObject) -> None:
    world = data.draw(worlds("drawn", least=8))
    audience, granted = data.draw(audiences(world))
    asked = data.draw(st.lists(questions(world, granted), min_size=2, max_size=2))
    try:
        clicking = await opened(clicked_bot, world, audience, granted, data.draw(limits))
        for question in asked:
            await clicking.check(question, pick=lambda n: data.draw(st.integers(0, n - 1)))
    finally:
        await closed(clicked_bot)


# -- every kind


def _receipts() -> World:
    """Receipts of ten vendors, two without one, and invoices of one."""
    receipts = [
        a_document(
            f"r{n:02}",
            ("a tire", "two tires and a wheel")[n % 2],
            title=f"Receipt {n}",
            vendor=_vendor(n),
            date=f"20{21 + n % 4}-05-09",
            total=n + 0.5,
        )
        for n in range(16)
    ]
    invoices = [a_document(f"i{n}", title=f"Invoice {n}", vendor="Acme", date="2031-01-02") for n in range(3)]
    schemas = {name: a_receipt_schema(name) for name in (RECEIPTS, INVOICES)}
    return World(schemas=schemas, documents={RECEIPTS: receipts, INVOICES: invoices})


def _vendor(n: int) -> str | None:
    return None if n in (7, 8) else "Acme" if n % 3 == 0 else f"Vendor {n}"


ACME, IN_2031 = where("vendor", "eq", "Acme"), where("date", "between", ("2031-01-01", "2031-12-31"))
_BOTH = Search(clauses=(Clause(bucket=RECEIPTS), Clause(bucket=INVOICES)))
_ONE = LegId("a")
_ELSEWHERE = Doubt(leg=_ONE, elsewhere=(Clause(bucket=INVOICES, condition=all_of(ACME, IN_2031)),))
_ALIKE = Doubt(leg=_ONE, alike=(Reread(words="in 2022", search=a_search(where("date", "gte", "2022-01-01"))),))
_KINDS: Mapping[str, tuple[Search, Wanted, tuple[Doubt, ...]]] = {
    "every receipt": (a_search(), ListDocuments(), ()),
    "all there is": (_BOTH, ListDocuments(), ()),
    "what they say": (a_search(ACME), Summarise(), ()),
    "acme in 2031": (a_search(all_of(ACME, IN_2031)), ListDocuments(), (_ELSEWHERE,)),
    "the first of acme in 2031": (a_search(all_of(ACME, IN_2031)), ListDocuments(limit=2), (_ELSEWHERE,)),
    "acme's tirres": (a_search(ACME, required=["tirres"]), ListDocuments(), ()),
    "since then": (a_search(where("date", "gte", "2024-01-01")), ListDocuments(), (_ALIKE,)),
    "its total": (a_search(), ReadFields(fields=((RECEIPTS, FieldName("total")),)), ()),
    "how many": (a_search(where("date", "gt", "2022-01-01")), Compute(functions=(Function.COUNT,)), ()),
}


async def test_every_kind_of_choice_is_offered_and_leads_where_it_says(clicked_bot: Bot, script: Script) -> None:
    for question, (search, wanted, doubts) in _KINDS.items():
        leg = Leg(id=_ONE, question=question, search=search, wanted=wanted)
        script.plans[question] = Planned(plan=Plan(question=question, legs=(leg,)), doubts=doubts)
    clicking = await opened(clicked_bot, _receipts(), Operator(), (), Limits(overload=5, read=3))

    kinds = [await clicking.check(question) for question in _KINDS]

    not_from_here = {ChoiceKind.WEB, ChoiceKind.PRIVATE}  # search nothing
    assert set[ChoiceKind]().union(*kinds) == set(ChoiceKind) - not_from_here


async def test_a_choice_that_has_come_to_lead_nowhere_offers_afresh(clicked_bot: Bot, script: Script) -> None:
    world, search = _receipts(), a_search(where("date", "gte", "2001-01-01"))
    leg = Leg(id=_ONE, question="since 2001", search=search, wanted=ListDocuments())
    script.plans = {"since 2001": Planned(plan=Plan(question="since 2001", legs=(leg,)))}
    clicking = await opened(clicked_bot, world, Operator(), (), Limits(overload=5, read=3))
    asked = await clicking.ask("since 2001")
    acme = [label for label, *_ in asked.offers].index("Acme")
    kept = [one for one in world.documents[RECEIPTS] if one.values.get(FieldName("vendor")) != "Acme"]
    after = World(schemas=world.schemas, documents={**world.documents, RECEIPTS: kept})
    clicking = replace(clicking, world=await written(clicked_bot.index, world, after))
    done = await clicking.choose(asked, acme)

    assert done.result["outcome"] == "no_results"
    assert done.result["text"].startswith("_now 0, was 6_")
    assert {"drop", "missing"} <= {kind for _, _, kind, _ in done.offers}


# -- a wrong engine


class OneTooMany:
    """An index that counts one set, `wrong`, one too many, whenever it is asked. Keeps what it was asked to count."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self.wrong: Count | None = None
        self.asked: dict[Count, None] = {}

    @property
    def tenant(self) -> TenantId:
        return self._index.tenant

    def within(self, scope: Scope) -> ScopedIndex:
        return _OneTooManyWithin(self, self._index.within(scope))

    async def set_schema(self, schema: Schema) -> None:
        await self._index.set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put:
        return await self._index.put(bucket, documents)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._index.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await self._index.drop_bucket(bucket)

    async def buckets(self) -> Mapping[BucketId, BucketState]:
        return await self._index.buckets()

    async def digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await self._index.digests(bucket)

    async def ping(self) -> None:
        await self._index.ping()

    async def close(self) -> None:
        await self._index.close()


class _OneTooManyWithin:
    def __init__(self, index: OneTooMany, scoped: ScopedIndex) -> None:
        self._index, self._scoped = index, scoped

    @property
    def scope(self) -> Scope:
        return self._scoped.scope

    async def ask(self, *requests: Request[object]) -> Answers:
        answers = await self._scoped.ask(*requests)
        said = {request: answers[request] for request in requests}
        for request in requests:
            if isinstance(request, Count):
                self._index.asked[request] = None
                said[request] = answers[request] + (request == self._index.wrong)
        return Answers(answers.generation, said)

    async def vocabulary(self, limit: int = 200_000) -> Vocabulary:
        return await self._scoped.vocabulary(limit)

    async def schemas(self) -> Mapping[BucketId, Schema]:
        return await self._scoped.schemas()

    def analyser(self, bucket: BucketId) -> Analyser:
        return self._scoped.analyser(bucket)


@pytest.fixture
def wrong(index: SearchIndex) -> OneTooMany:
    return OneTooMany(index)


@pytest.fixture
async def wrong_bot(tmp_path: Path, wrong: OneTooMany, script: Script) -> AsyncIterator[Bot]:
    async with a_bot(tmp_path, wrong, script) as bot:
        yield bot


def only_ranks(search: Search, question: str) -> bool:
    """How many documents hold a word of the question, or any text: it ranks passages, and is shown to nobody."""
    return search.ranking == question or all(
        one.condition == all_of() and one.required and one.required[0] in question for one in search.clauses
    )


@some
@given(data=st.data())
async def test_an_engine_that_counts_one_too_many_is_found_out(
    wrong_bot: Bot, wrong: OneTooMany, script: Script, data: st.DataObject
) -> None:
    world = data.draw(worlds("drawn", least=4))
    audience, granted = data.draw(audiences(world))
    question = f"planned {next(_numbers)}"
    script.plans = {question: data.draw(plainly_planned(world, granted, question))}
    try:
        clicking = await opened(wrong_bot, world, audience, granted, data.draw(limits))
        wrong.wrong, wrong.asked = None, {}
        await clicking.check(question)
        shown = [one for one in wrong.asked if not only_ranks(one.search, question)]
        wrong.wrong = data.draw(st.sampled_from(shown))
        with pytest.raises(AssertionError):
            await clicking.check(question)
    finally:
        await closed(wrong_bot)
