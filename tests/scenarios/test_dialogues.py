"""Dialogues as people hold them, each turn held against the generator's own records, under both namings."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

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
    earlier: tuple[Plan, ...] = ()
    asked_back: int = 0

    async def say(self, template: str) -> Outcome:
        scope = Scope(tenant=TENANT, buckets=frozenset(await self.index.buckets()), all_readers=True)
        context = Context(
            index=self.index.within(scope),
            reasoner=self.reasoner,
            now=NOW,
            last=self.last,
            earlier=self.earlier,
            asked_back=self.asked_back,
        )
        outcome = await answer(in_words(self.corpus, template), context)
        self._remember(outcome)
        self.asked_back = outcome.asked_back if isinstance(outcome, Clarify) else 0
        return outcome

    def _remember(self, outcome: Outcome) -> None:
        if isinstance(outcome, StartedOver):
            self.last, self.earlier = None, ()
        elif isinstance(outcome, (Answer, Clarify)):
            before = self.earlier if self.last is None else (*self.earlier, self.last)
            self.last, self.earlier = outcome.plan, self.earlier[:-1] if outcome.went_back else before

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


# -- going on with what was shown


async def test_what_was_said_last_is_taken_back_until_nothing_is_left(talk: Talk) -> None:
    in_2024 = (_TIRES, _REDWOOD, during("date", "2024"))
    first = await talk.answered("tire {receipts} from Redwood Tire & Wheel in 2024")
    dear = await talk.answered("only over $500")
    assert _listed(dear) == _ids(talk.records("receipts", *in_2024, over("total", 500), _DOLLARS))
    summed = await talk.answered("what is their total?")
    assert _values(summed) == _sums(talk.records("receipts", *in_2024, over("total", 500), _DOLLARS))

    back = await talk.answered("undo that")
    assert (_listed(back), back.went_back) == (_listed(dear), True)
    assert back.kept == ("“Only over $500”",)

    again = await talk.answered("go back")
    assert again.legs[0].doc_ids == first.legs[0].doc_ids

    march = await talk.answered("how many are from March?")
    assert march.legs[0].count == len(talk.records("receipts", *in_2024, during("date", "2024-03")))
    assert await talk.answered("take that back")
    assert isinstance(await talk.say("go back"), StartedOver)


async def test_a_long_list_is_gone_through_page_by_page(talk: Talk) -> None:
    known = talk.records("receipts", _TIRES, _REDWOOD, during("date", "2024"))
    listed = await talk.answered("tire {receipts} from Redwood Tire & Wheel in 2024")
    every = listed.legs[0].doc_ids
    assert len(known) == len(every) > 18

    more = await talk.answered("show me more")
    assert more.legs[0].doc_ids == every[10:20]
    third = await talk.answered("number 3")
    assert third.legs[0].doc_ids == every[12:13]
    await talk.answered("go back")
    three = await talk.answered("the next three")
    assert three.legs[0].doc_ids == every[20:23]
    rest = await talk.answered("10 more")
    assert rest.legs[0].doc_ids == every[23:33]
    none = await talk.answered("more")
    assert none.legs[0].doc_ids == ()


async def test_the_few_that_were_shown_are_set_side_by_side_and_left_out(talk: Talk) -> None:
    strong = talk.records("panels", equal("maker", "Heliant"), over("power", 400))
    await talk.answered("{panels} from Heliant over 400 W")
    cheapest = sorted((one for one in strong if "price" in one), key=lambda one: (one["price"], one["doc_id"]))[:2]
    two = await talk.answered("the 2 cheapest")
    assert list(two.legs[0].doc_ids) == [one["doc_id"] for one in cheapest]

    compared = await talk.answered("compare them")
    assert [leg.doc_ids[0] for leg in compared.legs] == [one["doc_id"] for one in cheapest]
    assert len(compared.grids[0].rows) > 3

    heavier = await talk.answered("which one has the higher {panels.weight}?")
    assert list(heavier.grids[0].rows[0][1:]) == [f"{one['weight']:g} kg" for one in cheapest]

    others = await talk.answered("the others")
    assert _listed(others) == _ids(strong) - _ids(cheapest)
    narrow = await talk.answered("how many of them are over 410 W?")
    left = [one for one in strong if one not in cheapest]
    assert narrow.legs[0].count == len(matching(left, [over("power", 410)]))


async def test_which_of_a_few_has_the_most_is_one_of_those_few(talk: Talk) -> None:
    strong = talk.records("panels", equal("maker", "Heliant"), over("power", 400))
    cheapest = sorted((one for one in strong if "price" in one), key=lambda one: (one["price"], one["doc_id"]))[:3]
    await talk.answered("{panels} from Heliant over 400 W")
    await talk.answered("the 3 cheapest")

    best = await talk.answered("which of them has the higher {panels.efficiency}?")
    most = max(one["efficiency"] for one in cheapest)
    (record,) = [one for one in cheapest if one["doc_id"] == best.legs[0].doc_ids[0]]
    assert record["efficiency"] == most


async def test_a_value_takes_the_place_of_another_of_its_field(talk: Talk) -> None:
    in_2023, in_2024 = during("date", "2023"), during("date", "2024")
    await talk.answered("how much did we spend at Redwood Tire & Wheel in 2023?")
    mesa = await talk.answered("same for Mesa Wheel Works")
    assert _values(mesa) == _sums(talk.records("receipts", _MESA, in_2023))

    both = await talk.answered("compare the two")
    assert both.plan.combine is Combine.COMPARE
    assert [_values(both, at) for at in (0, 1)] == [
        _sums(talk.records("receipts", vendor, in_2023)) for vendor in (_REDWOOD, _MESA)
    ]

    later = await talk.answered("and in 2024?")
    assert [_values(later, at) for at in (0, 1)] == [
        _sums(talk.records("receipts", vendor, in_2024)) for vendor in (_REDWOOD, _MESA)
    ]
    three = await talk.answered("what about Harbor Auto Center?")
    assert _values(three, 2) == _sums(talk.records("receipts", equal("vendor", "Harbor Auto Center"), in_2024))
    assert [_values(three, at) for at in (0, 1)] == [_values(later, at) for at in (0, 1)]


async def test_what_is_left_out_is_counted_and_shares_are_told(talk: Talk) -> None:
    fuel = talk.records("receipts", _FUEL, during("date", "2024"))
    await talk.say("{receipts} for fuel in 2024")
    stop = equal("vendor", "Sundown Truck Stop")
    some = await talk.answered("only from Sundown Truck Stop")
    assert _listed(some) == _ids(matching(fuel, [stop]))

    others = await talk.answered("without those")
    rest = matching(fuel, [other_than("vendor", "Sundown Truck Stop")])
    assert _listed(others) == _ids(rest)

    share = await talk.answered("what percentage of them are over $100?")
    dear = matching(rest, [over("total", 100), _DOLLARS])
    assert (share.legs[0].count, share.legs[0].values[0].value) == (len(dear), round(100 * len(dear) / len(rest), 2))


# -- numbers


async def test_the_values_of_a_field_are_counted_and_listed(talk: Talk) -> None:
    receipts = [one for one in talk.records("receipts") if "vendor" in one]
    names = {one["vendor"] for one in receipts}
    many = await talk.answered("how many different {receipts.vendor}s are there?")
    assert [(one.function.value, one.value, one.count) for one in many.legs[0].values] == [
        ("distinct", len(names), len(receipts))
    ]
    every = await talk.answered("which {receipts.vendor}s are there?")
    assert {(one.label, one.count) for one in every.legs[0].groups} == {
        (name, sum(one["vendor"] == name for one in receipts)) for name in names
    }
    tires = talk.records("receipts", _TIRES, during("date", "2024"))
    sold = await talk.answered("how many {receipts.vendor}s are on tire {receipts} in 2024?")
    assert sold.legs[0].values[0].value == len({one["vendor"] for one in tires if "vendor" in one})


async def test_medians_and_shares_are_exact(talk: Talk) -> None:
    priced = sorted(one["price"] for one in talk.records("panels") if "price" in one)
    middle = await talk.answered("what is the median {panels.price} of the {panels}?")
    assert middle.legs[0].values[0].value == pytest.approx(median(priced), abs=0.005)

    share = await talk.answered("what share of the {panels} are monocrystalline?")
    mono = talk.records("panels", equal("cell_type", "monocrystalline"))
    assert share.legs[0].count == len(mono)
    assert share.legs[0].values[0].value == round(100 * len(mono) / len(talk.records("panels")), 2)


async def test_the_first_of_each_currency_are_told_apart(talk: Talk) -> None:
    of_2024 = [one for one in talk.records("receipts", during("date", "2024")) if "vendor" in one and "total" in one]
    sums = dict[tuple[str, str], float]()
    for one in of_2024:
        key = (one["currency"], one["vendor"])
        sums[key] = round(sums.get(key, 0.0) + one["total"], 2)
    paid = await talk.answered("which {receipts.vendor} did we pay most in 2024?")
    most = {(unit, max((total, vendor) for (own, vendor), total in sums.items() if own == unit)[1]) for unit, _ in sums}
    assert {(one.unit, one.label) for one in paid.legs[0].groups} == most
    assert paid.legs[0].groups[0].unit == "USD"
