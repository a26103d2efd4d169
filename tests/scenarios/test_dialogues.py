"""Dialogues of several turns, each compared with the generator's records, under both namings."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pytest

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify, ExportOutcome, Outcome, OutcomeKind, StartOverOutcome
from agent.rules.reasoner import RuleReasoner
from bot.demo.corpus import DEFAULT_SEED, DemoCorpus, generate_corpus
from bot.demo.naming import ORIGINAL_NAMING
from storage.embedded.index import EmbeddedIndex
from storage.search.plan import LegCombination, Plan
from storage.search.scope import Scope
from tests.scenarios.alternative_naming import ALTERNATIVE_NAMING
from tests.scenarios.questions import in_words
from tests.scenarios.test_questions import NOW, TENANT, fill_index, open_index
from tests.scenarios.truth import (
    Condition,
    PlainRecord,
    during,
    equal,
    has_members,
    more_than,
    other_than,
    per_currency,
    plain_records,
    records_meeting,
)

_TIRES, _FUEL = equal("category", "tires"), equal("category", "fuel")
_REDWOOD, _MESA = equal("vendor", "Redwood Tire & Wheel"), equal("vendor", "Mesa Wheel Works")
_DOLLARS = equal("currency", "USD")


@dataclass(frozen=True, kw_only=True)
class DialogueCorpus:
    corpus: DemoCorpus
    folder: Path


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(ORIGINAL_NAMING, id="original", marks=pytest.mark.xdist_group("dialogues-0")),
        pytest.param(ALTERNATIVE_NAMING, id="renamed", marks=pytest.mark.xdist_group("dialogues-1")),
    ],
)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> DialogueCorpus:
    corpus = generate_corpus(DEFAULT_SEED, naming=request.param)
    folder = tmp_path_factory.mktemp("dialogues")
    asyncio.run(_load_corpus(corpus, folder))
    return DialogueCorpus(corpus=corpus, folder=folder / "index")


async def _load_corpus(corpus: DemoCorpus, folder: Path) -> None:
    index = await open_index(folder / "index")
    try:
        await fill_index(index, corpus, folder)
    finally:
        await index.close()


@dataclass(kw_only=True)
class AgentDialogue:
    """A conversation with the agent that keeps its plans from turn to turn."""

    index: EmbeddedIndex
    corpus: DemoCorpus
    reasoner: RuleReasoner = field(default_factory=RuleReasoner)
    last_plan: Plan | None = None
    earlier_plans: tuple[Plan, ...] = ()
    clarifications_in_a_row: int = 0

    async def say(self, template: str) -> Outcome:
        scope = Scope(tenant=TENANT, buckets=frozenset(await self.index.load_bucket_states()), ignores_readers=True)
        context = AgentContext(
            index=self.index.within_scope(scope),
            reasoner=self.reasoner,
            now=NOW,
            last_plan=self.last_plan,
            earlier_plans=self.earlier_plans,
            clarifications_in_a_row=self.clarifications_in_a_row,
        )
        outcome = await answer(in_words(self.corpus, template), context)
        self._remember(outcome)
        self.clarifications_in_a_row = outcome.clarifications_in_a_row if isinstance(outcome, Clarify) else 0
        return outcome

    def _remember(self, outcome: Outcome) -> None:
        if isinstance(outcome, StartOverOutcome):
            self.last_plan, self.earlier_plans = None, ()
        elif isinstance(outcome, (Answer, Clarify)):
            earlier = self.earlier_plans if self.last_plan is None else (*self.earlier_plans, self.last_plan)
            self.last_plan, self.earlier_plans = outcome.plan, self.earlier_plans[:-1] if outcome.is_undo else earlier

    async def say_and_get_answer(self, template: str) -> Answer:
        outcome = await self.say(template)
        assert isinstance(outcome, Answer), f"{template}: {outcome}"
        return outcome

    def records(self, bucket: str, *conditions: Condition) -> list[PlainRecord]:
        return records_meeting(plain_records(self.corpus, bucket), conditions)


@pytest.fixture
async def talk(loaded: DialogueCorpus) -> AsyncIterator[AgentDialogue]:
    index = await open_index(loaded.folder)
    yield AgentDialogue(index=index, corpus=loaded.corpus)
    await index.close()


def _ids_of(records: Sequence[PlainRecord]) -> set[str]:
    return {record["doc_id"] for record in records}


def _listed_ids(outcome: Answer, leg: int = 0) -> set[str]:
    return set(outcome.legs[leg].doc_ids)


def _values_of(outcome: Answer | Clarify, leg: int = 0) -> set[tuple[str, float]]:
    return {(figure.unit or "", float(figure.value or 0)) for figure in outcome.legs[leg].figures}


def _expected_sums(records: Sequence[PlainRecord]) -> set[tuple[str, float]]:
    return {(value.unit, value.value) for value in per_currency("sum", records, "total", "currency")}


# -- receipts


async def test_a_list_is_narrowed_and_counted_and_one_document_is_asked_about(talk: AgentDialogue) -> None:
    in_2024 = during("date", "2024")
    every = await talk.say("list every tire {receipts:1}")
    assert isinstance(every, Clarify) and every.legs[0].count == len(talk.records("receipts", _TIRES))  # noqa: PT018

    narrowed = await talk.say("only 2024")
    assert isinstance(narrowed, Clarify)
    assert narrowed.legs[0].count == len(talk.records("receipts", _TIRES, in_2024))
    assert len(narrowed.kept_conditions) == 1

    dear = talk.records("receipts", _TIRES, in_2024, more_than("total", 500), _DOLLARS)
    counted = await talk.say_and_get_answer("how many of them are over $500?")
    assert (counted.legs[0].count, _values_of(counted)) == (len(dear), {("", float(len(dear)))})

    of_redwood = await talk.say_and_get_answer("which of them are from Redwood Tire & Wheel?")
    assert _listed_ids(of_redwood) == _ids_of(records_meeting(dear, [_REDWOOD]))

    second = await talk.say_and_get_answer("the second one")
    assert second.legs[0].doc_ids == of_redwood.legs[0].doc_ids[1:2]

    (record,) = [record for record in dear if record["doc_id"] == second.legs[0].doc_ids[0]]
    total = await talk.say_and_get_answer("what is its {receipts.total}?")
    assert f"{record['total']:,.2f}" in total.text
    assert [citation.doc_id for citation in total.citations] == [record["doc_id"]]


async def test_a_sum_is_repeated_for_another_year_and_vendor_by_month_and_exported(talk: AgentDialogue) -> None:
    spent_2023 = await talk.say_and_get_answer("how much did we spend at Redwood Tire & Wheel in 2023?")
    assert _values_of(spent_2023) == _expected_sums(talk.records("receipts", _REDWOOD, during("date", "2023")))

    spent_2024 = await talk.say_and_get_answer("what about 2024?")
    assert _values_of(spent_2024) == _expected_sums(talk.records("receipts", _REDWOOD, during("date", "2024")))

    of_mesa = talk.records("receipts", _MESA, during("date", "2024"))
    spent_at_mesa = await talk.say_and_get_answer("and Mesa Wheel Works?")
    assert _values_of(spent_at_mesa) == _expected_sums(of_mesa)

    monthly = await talk.say_and_get_answer("by month")
    assert {line.label for line in monthly.legs[0].groups} == {
        record["date"][:7] for record in of_mesa if "total" in record
    }
    assert sum(line.count for line in monthly.legs[0].groups) == sum("total" in record for record in of_mesa)

    large = await talk.say_and_get_answer("more than 10 of them?")
    assert large.legs[0].count == len(of_mesa)

    file = await talk.say("export them")
    assert isinstance(file, ExportOutcome) and file.count == len(of_mesa)  # noqa: PT018


async def test_a_list_is_widened_narrowed_summed_and_grouped(talk: AgentDialogue) -> None:
    dear = (during("date", "2024"), more_than("total", 2000), _DOLLARS)
    listed = await talk.say_and_get_answer("tire {receipts} in 2024 over 2000 USD")
    assert _listed_ids(listed) == _ids_of(talk.records("receipts", _TIRES, *dear))

    wider = await talk.say_and_get_answer("also fuel")
    assert _listed_ids(wider) == _ids_of(talk.records("receipts", equal("category", "tires", "fuel"), *dear))

    remaining = talk.records(
        "receipts", equal("category", "tires", "fuel"), other_than("vendor", "Redwood Tire & Wheel"), *dear
    )
    narrowed = await talk.say_and_get_answer("not from Redwood Tire & Wheel")
    assert _listed_ids(narrowed) == _ids_of(remaining)

    summed = await talk.say_and_get_answer("sum?")
    assert _values_of(summed) == _expected_sums(remaining)

    by_vendor = await talk.say_and_get_answer("by {receipts.vendor}")
    assert {line.label for line in by_vendor.legs[0].groups} == {record["vendor"] for record in remaining}

    counted = await talk.say_and_get_answer("how many?")
    assert counted.legs[0].count == len(remaining)


async def test_a_list_is_sorted_and_one_position_is_selected(talk: AgentDialogue) -> None:
    expected = talk.records("receipts", _TIRES, _REDWOOD, during("date", "2024"))
    priced = [record for record in expected if "total" in record]
    listed = await talk.say_and_get_answer("tire {receipts} from Redwood Tire & Wheel in 2024")
    assert _listed_ids(listed) == _ids_of(expected)

    rising = await talk.say_and_get_answer("sort them by {receipts.total}")
    assert list(rising.legs[0].doc_ids)[: len(priced)] == [
        record["doc_id"] for record in sorted(priced, key=lambda record: (record["total"], record["doc_id"]))
    ]

    newest = await talk.say_and_get_answer("newest first")
    assert newest.legs[0].doc_ids == listed.legs[0].doc_ids

    third = await talk.say_and_get_answer("number 3")
    assert third.legs[0].doc_ids == newest.legs[0].doc_ids[2:3]

    assert isinstance(await talk.say("start over, please"), StartOverOutcome)


# -- other buckets


async def test_the_cheapest_are_compared_and_a_new_topic_inherits_no_filters(talk: AgentDialogue) -> None:
    strong = talk.records("panels", equal("maker", "Heliant"), more_than("power", 400))
    listed = await talk.say_and_get_answer("{panels} from Heliant over 400 W")
    assert _listed_ids(listed) == _ids_of(strong)

    priced = sorted(
        (record for record in strong if "price" in record), key=lambda record: (record["price"], record["doc_id"])
    )
    cheapest = await talk.say_and_get_answer("the 3 cheapest")
    assert list(cheapest.legs[0].doc_ids) == [record["doc_id"] for record in priced[:3]]

    compared = await talk.say_and_get_answer("compare the first two by {panels.price}")
    assert compared.plan.combination is LegCombination.COMPARE
    assert [leg.doc_ids[0] for leg in compared.legs] == [record["doc_id"] for record in priced[:2]]
    assert [
        f"{record['price']:.2f}" in compared.tables[0].rows[0][column + 1] for column, record in enumerate(priced[:2])
    ] == [True] * 2

    topic = await talk.say_and_get_answer("how many {contracts} are with Mistral Catering?")
    assert topic.legs[0].count == len(talk.records("contracts", has_members("parties", "Mistral Catering")))
    assert topic.kept_conditions == ()


async def test_a_new_topic_before_a_question_leaves_the_last_one_and_can_be_undone(talk: AgentDialogue) -> None:
    tires = await talk.say("how many tire {receipts:1} are there?")
    every = await talk.say_and_get_answer("New topic: how many {receipts:1} are from Mesa Wheel Works?")
    assert every.legs[0].count == len(talk.records("receipts", _MESA))
    assert every.kept_conditions == ()

    undone = await talk.say_and_get_answer("go back")
    assert isinstance(tires, Answer)
    assert undone.legs[0].count == tires.legs[0].count == len(talk.records("receipts", _TIRES))

    over_again = await talk.say_and_get_answer("Start over. How many of them are from Mesa Wheel Works?")
    assert over_again.kept_conditions == ()


async def test_questions_about_one_contract_continue_with_the_next(talk: AgentDialogue) -> None:
    def of(number: str) -> PlainRecord:
        (record,) = [record for record in plain_records(talk.corpus, "contracts") if f" {number} " in record["title"]]
        return record

    notice_1001 = await talk.say_and_get_answer("what is the {contracts.notice_days} of {contracts:1} C-1001?")
    assert f"{of('C-1001')['notice_days']} days" in notice_1001.text

    notice_1002 = await talk.say_and_get_answer("and C-1002?")
    assert f"{of('C-1002')['notice_days']} days" in notice_1002.text

    end_date = await talk.say_and_get_answer("what is its {contracts.end_date}?")
    assert of("C-1002")["end_date"] in end_date.text

    termination = await talk.say_and_get_answer("what does it say about termination?")
    assert {citation.doc_id for citation in termination.citations} == {of("C-1002")["doc_id"]}

    topic = await talk.say_and_get_answer("how many {panels} are monocrystalline?")
    assert topic.legs[0].count == len(talk.records("panels", equal("cell_type", "monocrystalline")))


# -- several at once


async def test_two_questions_in_one_message_share_their_filters(talk: AgentDialogue) -> None:
    tires = talk.records("receipts", _TIRES, during("date", "2024"))
    joint_answer = await talk.say_and_get_answer(
        "how many tire {receipts} are there in 2024 and what did they cost in total?"
    )
    assert joint_answer.plan.combination is LegCombination.SEQUENCE
    assert joint_answer.legs[0].count == len(tires)
    assert _values_of(joint_answer, 1) == _expected_sums(tires)

    separate_answer = await talk.say_and_get_answer(
        "1. How many {panels} are monocrystalline? 2. How many {receipts} are from 2023?"
    )
    assert [leg.count for leg in separate_answer.legs] == [
        len(talk.records("panels", equal("cell_type", "monocrystalline"))),
        len(talk.records("receipts", during("date", "2023"))),
    ]


async def test_two_vendors_are_compared_side_by_side(talk: AgentDialogue) -> None:
    compared = await talk.say_and_get_answer("compare spending at Redwood Tire & Wheel and Mesa Wheel Works in 2024")
    for leg, vendor in enumerate((_REDWOOD, _MESA)):
        assert _values_of(compared, leg) == _expected_sums(talk.records("receipts", vendor, during("date", "2024")))
    assert len(compared.tables) == 1


async def test_a_comparison_reports_a_side_that_is_too_large_or_missing(talk: AgentDialogue) -> None:
    large = await talk.say("compare monocrystalline and polycrystalline {panels}")
    assert isinstance(large, Clarify)
    assert [leg.kind for leg in large.legs] == [OutcomeKind.OVERLOAD] * 2
    assert large.legs[0].count == len(talk.records("panels", equal("cell_type", "monocrystalline")))

    missing = await talk.say("compare the {panels.price} of Heliant and Sunvault {panels}")
    assert isinstance(missing, Clarify)
    assert [leg.kind for leg in missing.legs] == [OutcomeKind.ANSWER, OutcomeKind.NO_RESULTS]
    assert missing.legs[0].count == len(talk.records("panels", equal("maker", "Heliant")))


async def test_a_document_is_summarised_with_its_fields_and_pages(talk: AgentDialogue) -> None:
    about = await talk.say_and_get_answer("what is {contracts:1} C-1001 about?")
    assert about.legs[0].count == 1
    assert len(about.citations) > 3
    assert all(citation.text in about.text.replace("\\", "") for citation in about.citations)

    several = await talk.say_and_get_answer("give me an overview of the {manuals} of the B-80")
    assert several.legs[0].count == len(talk.records("manuals", equal("product", "B-80")))


# -- follow-ups on shown documents


async def test_the_last_turns_are_undone_until_none_is_left(talk: AgentDialogue) -> None:
    in_2024 = (_TIRES, _REDWOOD, during("date", "2024"))
    listed = await talk.say_and_get_answer("tire {receipts} from Redwood Tire & Wheel in 2024")
    dear = await talk.say_and_get_answer("only over $500")
    assert _listed_ids(dear) == _ids_of(talk.records("receipts", *in_2024, more_than("total", 500), _DOLLARS))
    summed = await talk.say_and_get_answer("what is their total?")
    assert _values_of(summed) == _expected_sums(talk.records("receipts", *in_2024, more_than("total", 500), _DOLLARS))

    first_undo = await talk.say_and_get_answer("undo that")
    assert (_listed_ids(first_undo), first_undo.is_undo) == (_listed_ids(dear), True)
    assert first_undo.kept_conditions == ("“Only over $500”",)

    second_undo = await talk.say_and_get_answer("go back")
    assert second_undo.legs[0].doc_ids == listed.legs[0].doc_ids

    march = await talk.say_and_get_answer("how many are from March?")
    assert march.legs[0].count == len(talk.records("receipts", *in_2024, during("date", "2024-03")))
    assert await talk.say_and_get_answer("take that back")
    assert isinstance(await talk.say("go back"), StartOverOutcome)


async def test_a_long_list_is_shown_page_by_page(talk: AgentDialogue) -> None:
    expected = talk.records("receipts", _TIRES, _REDWOOD, during("date", "2024"))
    listed = await talk.say_and_get_answer("tire {receipts} from Redwood Tire & Wheel in 2024")
    every = listed.legs[0].doc_ids
    assert len(expected) == len(every) > 18

    second_page = await talk.say_and_get_answer("show me more")
    assert second_page.legs[0].doc_ids == every[10:20]
    third = await talk.say_and_get_answer("number 3")
    assert third.legs[0].doc_ids == every[12:13]
    await talk.say_and_get_answer("go back")
    three = await talk.say_and_get_answer("the next three")
    assert three.legs[0].doc_ids == every[20:23]
    last_page = await talk.say_and_get_answer("10 more")
    assert last_page.legs[0].doc_ids == every[23:33]
    empty_page = await talk.say_and_get_answer("more")
    assert empty_page.legs[0].doc_ids == ()


async def test_the_shown_documents_are_compared_and_then_excluded(talk: AgentDialogue) -> None:
    strong = talk.records("panels", equal("maker", "Heliant"), more_than("power", 400))
    await talk.say_and_get_answer("{panels} from Heliant over 400 W")
    cheapest = sorted(
        (record for record in strong if "price" in record), key=lambda record: (record["price"], record["doc_id"])
    )[:2]
    two = await talk.say_and_get_answer("the 2 cheapest")
    assert list(two.legs[0].doc_ids) == [record["doc_id"] for record in cheapest]

    compared = await talk.say_and_get_answer("compare them")
    assert [leg.doc_ids[0] for leg in compared.legs] == [record["doc_id"] for record in cheapest]
    assert len(compared.tables[0].rows) > 3

    heavier = await talk.say_and_get_answer("which one has the higher {panels.weight}?")
    assert list(heavier.tables[0].rows[0][1:]) == [f"{record['weight']:g} kg" for record in cheapest]

    others_answer = await talk.say_and_get_answer("the others")
    assert _listed_ids(others_answer) == _ids_of(strong) - _ids_of(cheapest)
    narrow = await talk.say_and_get_answer("how many of them are over 410 W?")
    other_panels = [record for record in strong if record not in cheapest]
    assert narrow.legs[0].count == len(records_meeting(other_panels, [more_than("power", 410)]))


async def test_a_superlative_over_a_few_documents_selects_one_of_them(talk: AgentDialogue) -> None:
    strong = talk.records("panels", equal("maker", "Heliant"), more_than("power", 400))
    cheapest = sorted(
        (record for record in strong if "price" in record), key=lambda record: (record["price"], record["doc_id"])
    )[:3]
    await talk.say_and_get_answer("{panels} from Heliant over 400 W")
    await talk.say_and_get_answer("the 3 cheapest")

    best = await talk.say_and_get_answer("which of them has the higher {panels.efficiency}?")
    highest = max(record["efficiency"] for record in cheapest)
    (record,) = [record for record in cheapest if record["doc_id"] == best.legs[0].doc_ids[0]]
    assert record["efficiency"] == highest


async def test_a_new_value_replaces_another_of_the_same_field(talk: AgentDialogue) -> None:
    in_2023, in_2024 = during("date", "2023"), during("date", "2024")
    await talk.say_and_get_answer("how much did we spend at Redwood Tire & Wheel in 2023?")
    mesa = await talk.say_and_get_answer("same for Mesa Wheel Works")
    assert _values_of(mesa) == _expected_sums(talk.records("receipts", _MESA, in_2023))

    compared = await talk.say_and_get_answer("compare the two")
    assert compared.plan.combination is LegCombination.COMPARE
    assert [_values_of(compared, leg) for leg in (0, 1)] == [
        _expected_sums(talk.records("receipts", vendor, in_2023)) for vendor in (_REDWOOD, _MESA)
    ]

    later = await talk.say_and_get_answer("and in 2024?")
    assert [_values_of(later, leg) for leg in (0, 1)] == [
        _expected_sums(talk.records("receipts", vendor, in_2024)) for vendor in (_REDWOOD, _MESA)
    ]
    three = await talk.say_and_get_answer("what about Harbor Auto Center?")
    assert _values_of(three, 2) == _expected_sums(
        talk.records("receipts", equal("vendor", "Harbor Auto Center"), in_2024)
    )
    assert [_values_of(three, leg) for leg in (0, 1)] == [_values_of(later, leg) for leg in (0, 1)]


async def test_excluded_documents_are_counted_and_a_share_is_computed(talk: AgentDialogue) -> None:
    fuel = talk.records("receipts", _FUEL, during("date", "2024"))
    await talk.say("{receipts} for fuel in 2024")
    stop = equal("vendor", "Sundown Truck Stop")
    listed = await talk.say_and_get_answer("only from Sundown Truck Stop")
    assert _listed_ids(listed) == _ids_of(records_meeting(fuel, [stop]))

    others_answer = await talk.say_and_get_answer("without those")
    other_records = records_meeting(fuel, [other_than("vendor", "Sundown Truck Stop")])
    assert _listed_ids(others_answer) == _ids_of(other_records)

    share = await talk.say_and_get_answer("what percentage of them are over $100?")
    dear = records_meeting(other_records, [more_than("total", 100), _DOLLARS])
    assert (share.legs[0].count, share.legs[0].figures[0].value) == (
        len(dear),
        round(100 * len(dear) / len(other_records), 2),
    )


# -- numbers


async def test_the_values_of_a_field_are_counted_and_listed(talk: AgentDialogue) -> None:
    receipts = [record for record in talk.records("receipts") if "vendor" in record]
    names = {record["vendor"] for record in receipts}
    distinct = await talk.say_and_get_answer("how many different {receipts.vendor}s are there?")
    assert [(figure.function.value, figure.value, figure.count) for figure in distinct.legs[0].figures] == [
        ("distinct", len(names), len(receipts))
    ]
    every = await talk.say_and_get_answer("which {receipts.vendor}s are there?")
    assert {(line.label, line.count) for line in every.legs[0].groups} == {
        (name, sum(record["vendor"] == name for record in receipts)) for name in names
    }
    tires = talk.records("receipts", _TIRES, during("date", "2024"))
    sold = await talk.say_and_get_answer("how many {receipts.vendor}s are on tire {receipts} in 2024?")
    assert sold.legs[0].figures[0].value == len({record["vendor"] for record in tires if "vendor" in record})


async def test_medians_and_shares_are_exact(talk: AgentDialogue) -> None:
    priced = sorted(record["price"] for record in talk.records("panels") if "price" in record)
    middle = await talk.say_and_get_answer("what is the median {panels.price} of the {panels}?")
    assert middle.legs[0].figures[0].value == pytest.approx(median(priced), abs=0.005)

    share = await talk.say_and_get_answer("what share of the {panels} are monocrystalline?")
    mono = talk.records("panels", equal("cell_type", "monocrystalline"))
    assert share.legs[0].count == len(mono)
    assert share.legs[0].figures[0].value == round(100 * len(mono) / len(talk.records("panels")), 2)


async def test_the_largest_sums_are_separate_for_each_currency(talk: AgentDialogue) -> None:
    of_2024 = [
        record
        for record in talk.records("receipts", during("date", "2024"))
        if "vendor" in record and "total" in record
    ]
    sums = dict[tuple[str, str], float]()
    for record in of_2024:
        key = (record["currency"], record["vendor"])
        sums[key] = round(sums.get(key, 0.0) + record["total"], 2)
    paid = await talk.say_and_get_answer("which {receipts.vendor} did we pay most in 2024?")
    expected = {
        (unit, max((total, vendor) for (currency, vendor), total in sums.items() if currency == unit)[1])
        for unit, _ in sums
    }
    assert {(line.unit, line.label) for line in paid.legs[0].groups} == expected
    assert paid.legs[0].groups[0].unit == "USD"
