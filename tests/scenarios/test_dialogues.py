"""Dialogues as people hold them, each turn held against the generator's own records, under both namings."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.context import Context
from agent.loop import answer
from agent.outcome import Answer, Clarify, ExportWanted, Outcome, OutcomeKind, StartedOver
from agent.rules.reasoner import RuleReasoner
from bot.demo.corpus import DEFAULT_SEED, Corpus, generate
from bot.demo.naming import ORIGINAL, RENAMED
from storage.embedded.index import EmbeddedIndex
from storage.search.plan import Combine, Plan
from storage.search.scope import Scope
from tests.scenarios.questions import in_words
from tests.scenarios.test_questions import NOW, TENANT, fill, opened
from tests.scenarios.truth import (
    Condition,
    Plain,
    during,
    equal,
    holds,
    matching,
    other_than,
    over,
    per_currency,
    plain_records,
)

_TIRES, _FUEL = equal("category", "tires"), equal("category", "fuel")
_REDWOOD, _MESA = equal("vendor", "Redwood Tire & Wheel"), equal("vendor", "Mesa Wheel Works")
_DOLLARS = equal("currency", "USD")


@dataclass(frozen=True, kw_only=True)
class Loaded:
    corpus: Corpus
    folder: Path


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(ORIGINAL, id="original", marks=pytest.mark.xdist_group("dialogues-0")),
        pytest.param(RENAMED, id="renamed", marks=pytest.mark.xdist_group("dialogues-1")),
    ],
)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    corpus = generate(DEFAULT_SEED, names=request.param)
    folder = tmp_path_factory.mktemp("dialogues")
    asyncio.run(_load(corpus, folder))
    return Loaded(corpus=corpus, folder=folder / "index")


async def _load(corpus: Corpus, folder: Path) -> None:
    index = await opened(folder / "index")
    try:
        await fill(index, corpus, folder)
    finally:
        await index.close()


@dataclass(kw_only=True)
class Talk:
    """A conversation: what is said goes on with what was said before."""

    index: EmbeddedIndex
    corpus: Corpus
    reasoner: RuleReasoner = field(default_factory=RuleReasoner)
    last: Plan | None = None
    asked_back: int = 0

    async def say(self, template: str) -> Outcome:
        scope = Scope(tenant=TENANT, buckets=frozenset(await self.index.buckets()), all_readers=True)
        context = Context(
            index=self.index.within(scope),
            reasoner=self.reasoner,
            now=NOW,
            last=self.last,
            asked_back=self.asked_back,
        )
        outcome = await answer(in_words(self.corpus, template), context)
        self.last = None if isinstance(outcome, StartedOver) else getattr(outcome, "plan", self.last)
        self.asked_back = outcome.asked_back if isinstance(outcome, Clarify) else 0
        return outcome

    async def answered(self, template: str) -> Answer:
        outcome = await self.say(template)
        assert isinstance(outcome, Answer), f"{template}: {outcome}"
        return outcome

    def records(self, bucket: str, *conditions: Condition) -> list[Plain]:
        return matching(plain_records(self.corpus, bucket), conditions)


@pytest.fixture
async def talk(loaded: Loaded) -> AsyncIterator[Talk]:
    index = await opened(loaded.folder)
    yield Talk(index=index, corpus=loaded.corpus)
    await index.close()


def _ids(records: Sequence[Plain]) -> set[str]:
    return {record["doc_id"] for record in records}


def _listed(outcome: Answer, leg: int = 0) -> set[str]:
    return set(outcome.legs[leg].doc_ids)


def _values(outcome: Answer | Clarify, leg: int = 0) -> set[tuple[str, float]]:
    return {(one.unit or "", float(one.value or 0)) for one in outcome.legs[leg].values}


def _sums(records: Sequence[Plain]) -> set[tuple[str, float]]:
    return {(one.unit, one.value) for one in per_currency("sum", records, "total", "currency")}


# -- receipts


async def test_a_list_is_narrowed_counted_and_one_of_it_is_asked_about(talk: Talk) -> None:
    in_2024 = during("date", "2024")
    every = await talk.say("list every tire {receipts:1}")
    assert isinstance(every, Clarify) and every.legs[0].count == len(talk.records("receipts", _TIRES))  # noqa: PT018

    narrowed = await talk.say("only 2024")
    assert isinstance(narrowed, Clarify)
    assert narrowed.legs[0].count == len(talk.records("receipts", _TIRES, in_2024))
    assert len(narrowed.kept) == 1

    dear = talk.records("receipts", _TIRES, in_2024, over("total", 500), _DOLLARS)
    counted = await talk.answered("how many of them are over $500?")
    assert (counted.legs[0].count, _values(counted)) == (len(dear), {("", float(len(dear)))})

    of_redwood = await talk.answered("which of them are from Redwood Tire & Wheel?")
    assert _listed(of_redwood) == _ids(matching(dear, [_REDWOOD]))

    second = await talk.answered("the second one")
    assert second.legs[0].doc_ids == of_redwood.legs[0].doc_ids[1:2]

    (record,) = [one for one in dear if one["doc_id"] == second.legs[0].doc_ids[0]]
    total = await talk.answered("what is its {receipts.total}?")
    assert f"{record['total']:,.2f}" in total.text
    assert [one.doc_id for one in total.citations] == [record["doc_id"]]


async def test_a_sum_is_asked_for_another_year_another_vendor_by_month_and_as_a_file(talk: Talk) -> None:
    first = await talk.answered("how much did we spend at Redwood Tire & Wheel in 2023?")
    assert _values(first) == _sums(talk.records("receipts", _REDWOOD, during("date", "2023")))

    later = await talk.answered("what about 2024?")
    assert _values(later) == _sums(talk.records("receipts", _REDWOOD, during("date", "2024")))

    of_mesa = talk.records("receipts", _MESA, during("date", "2024"))
    other = await talk.answered("and Mesa Wheel Works?")
    assert _values(other) == _sums(of_mesa)

    monthly = await talk.answered("by month")
    assert {one.label for one in monthly.legs[0].groups} == {one["date"][:7] for one in of_mesa if "total" in one}
    assert sum(one.count for one in monthly.legs[0].groups) == sum("total" in one for one in of_mesa)

    many = await talk.answered("more than 10 of them?")
    assert many.legs[0].count == len(of_mesa)

    file = await talk.say("export them")
    assert isinstance(file, ExportWanted) and file.count == len(of_mesa)  # noqa: PT018


async def test_a_list_is_widened_cut_down_added_up_and_split(talk: Talk) -> None:
    dear = (during("date", "2024"), over("total", 2000), _DOLLARS)
    first = await talk.answered("tire {receipts} in 2024 over 2000 USD")
    assert _listed(first) == _ids(talk.records("receipts", _TIRES, *dear))

    wider = await talk.answered("also fuel")
    assert _listed(wider) == _ids(talk.records("receipts", equal("category", "tires", "fuel"), *dear))

    rest = talk.records(
        "receipts", equal("category", "tires", "fuel"), other_than("vendor", "Redwood Tire & Wheel"), *dear
    )
    without = await talk.answered("not from Redwood Tire & Wheel")
    assert _listed(without) == _ids(rest)

    summed = await talk.answered("sum?")
    assert _values(summed) == _sums(rest)

    by_vendor = await talk.answered("by {receipts.vendor}")
    assert {one.label for one in by_vendor.legs[0].groups} == {one["vendor"] for one in rest}

    counted = await talk.answered("how many?")
    assert counted.legs[0].count == len(rest)


async def test_a_list_is_sorted_and_its_ends_are_asked_for(talk: Talk) -> None:
    known = talk.records("receipts", _TIRES, _REDWOOD, during("date", "2024"))
    priced = [one for one in known if "total" in one]
    listed = await talk.answered("tire {receipts} from Redwood Tire & Wheel in 2024")
    assert _listed(listed) == _ids(known)

    rising = await talk.answered("sort them by {receipts.total}")
    assert list(rising.legs[0].doc_ids)[: len(priced)] == [
        one["doc_id"] for one in sorted(priced, key=lambda one: (one["total"], one["doc_id"]))
    ]

    newest = await talk.answered("newest first")
    assert newest.legs[0].doc_ids == listed.legs[0].doc_ids

    last = await talk.answered("number 3")
    assert last.legs[0].doc_ids == newest.legs[0].doc_ids[2:3]

    assert isinstance(await talk.say("start over, please"), StartedOver)


# -- other buckets


async def test_the_cheapest_are_averaged_and_compared_and_a_new_topic_inherits_nothing(talk: Talk) -> None:
    strong = talk.records("panels", equal("maker", "Heliant"), over("power", 400))
    listed = await talk.answered("{panels} from Heliant over 400 W")
    assert _listed(listed) == _ids(strong)

    priced = sorted((one for one in strong if "price" in one), key=lambda one: (one["price"], one["doc_id"]))
    cheapest = await talk.answered("the 3 cheapest")
    assert list(cheapest.legs[0].doc_ids) == [one["doc_id"] for one in priced[:3]]

    compared = await talk.answered("compare the first two by {panels.price}")
    assert compared.plan.combine is Combine.COMPARE
    assert [leg.doc_ids[0] for leg in compared.legs] == [one["doc_id"] for one in priced[:2]]
    assert [f"{one['price']:.2f}" in compared.grids[0].rows[0][at + 1] for at, one in enumerate(priced[:2])] == [
        True
    ] * 2

    topic = await talk.answered("how many {contracts} are with Mistral Catering?")
    assert topic.legs[0].count == len(talk.records("contracts", holds("parties", "Mistral Catering")))
    assert topic.kept == ()


async def test_one_contract_leads_to_the_next(talk: Talk) -> None:
    def of(number: str) -> Plain:
        (record,) = [one for one in plain_records(talk.corpus, "contracts") if f" {number} " in one["title"]]
        return record

    first = await talk.answered("what is the {contracts.notice_days} of {contracts:1} C-1001?")
    assert f"{of('C-1001')['notice_days']} days" in first.text

    second = await talk.answered("and C-1002?")
    assert f"{of('C-1002')['notice_days']} days" in second.text

    ends = await talk.answered("what is its {contracts.end_date}?")
    assert of("C-1002")["end_date"] in ends.text

    said = await talk.answered("what does it say about termination?")
    assert {one.doc_id for one in said.citations} == {of("C-1002")["doc_id"]}

    topic = await talk.answered("how many {panels} are monocrystalline?")
    assert topic.legs[0].count == len(talk.records("panels", equal("cell_type", "monocrystalline")))


# -- several at once


async def test_two_questions_share_what_they_ask_about(talk: Talk) -> None:
    tires = talk.records("receipts", _TIRES, during("date", "2024"))
    both = await talk.answered("how many tire {receipts} are there in 2024 and what did they cost in total?")
    assert both.plan.combine is Combine.SEQUENCE
    assert both.legs[0].count == len(tires)
    assert _values(both, 1) == _sums(tires)

    apart = await talk.answered("1. How many {panels} are monocrystalline? 2. How many {receipts} are from 2023?")
    assert [leg.count for leg in apart.legs] == [
        len(talk.records("panels", equal("cell_type", "monocrystalline"))),
        len(talk.records("receipts", during("date", "2023"))),
    ]


async def test_two_vendors_are_compared_side_by_side(talk: Talk) -> None:
    compared = await talk.answered("compare spending at Redwood Tire & Wheel and Mesa Wheel Works in 2024")
    for at, vendor in enumerate((_REDWOOD, _MESA)):
        assert _values(compared, at) == _sums(talk.records("receipts", vendor, during("date", "2024")))
    assert len(compared.grids) == 1


async def test_a_side_that_is_too_large_to_read_asks_back_and_one_that_is_not_there_is_said(talk: Talk) -> None:
    large = await talk.say("compare monocrystalline and polycrystalline {panels}")
    assert isinstance(large, Clarify)
    assert [leg.kind for leg in large.legs] == [OutcomeKind.OVERLOAD] * 2
    assert large.legs[0].count == len(talk.records("panels", equal("cell_type", "monocrystalline")))

    missing = await talk.say("compare the {panels.price} of Heliant and Sunvault {panels}")
    assert isinstance(missing, Clarify)
    assert [leg.kind for leg in missing.legs] == [OutcomeKind.ANSWER, OutcomeKind.NO_RESULTS]
    assert missing.legs[0].count == len(talk.records("panels", equal("maker", "Heliant")))


async def test_a_document_is_summed_up_with_its_fields_and_pages(talk: Talk) -> None:
    about = await talk.answered("what is {contracts:1} C-1001 about?")
    assert about.legs[0].count == 1
    assert len(about.citations) > 3
    assert all(one.text in about.text.replace("\\", "") for one in about.citations)

    several = await talk.answered("give me an overview of the {manuals} of the B-80")
    assert several.legs[0].count == len(talk.records("manuals", equal("product", "B-80")))
