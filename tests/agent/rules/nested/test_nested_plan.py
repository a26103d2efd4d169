"""Questions within questions: which set they mean, and which questions stay plain."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.compose.phrases.assumptions import describe_assumption
from agent.compose.phrases.set_description import describe_set
from agent.refine.relaxations import derive_relaxations, relaxation_requests
from storage.search.conditions import semi_join_depth
from storage.search.plan import AggregateFunction, ComputeNumbers, ReadFields
from storage.search.refinement import UseNearest, apply_refinement
from tests.agent.rules.nested.mining import TABLES, MiningHome, open_mining_home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("mining")) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("loads from mines in Ostmark", "L-1 L-2 L-5 L-7"),
        ("loads from Ostmark", "L-1 L-2 L-5 L-7"),
        ("show me all loads of mines deeper than 300 m", "L-1 L-3 L-5 L-6"),
        ("which loads come from mines opened after 1980?", "L-2 L-4 L-7 L-8"),
        ("drivers in mines in Ostmark", "Kai Vogt|Pia Ross"),
        ("workers whose mine is in Hollin", "Otto Brand|Rolf Meck"),
        ("loads of the oldest mine", "L-1 L-5"),
        ("loads from mines in regions larger than 3000 km2", "L-1 L-2 L-4 L-5 L-7 L-8"),
        ("workers in mines in regions that border Hollin", "Edda Krone|Jon Albers|Kai Vogt|Pia Ross"),
        ("regions that border the largest region", "Tarland Hollin"),
        ("which regions border Hollin?", "Ostmark Quent Falk"),
        ("which regions does Hollin border?", "Ostmark Quent Falk"),
        ("mines whose foreman was hired before 2005", "Deepwell Coldvein"),
        ("which region has the oldest mine?", "Ostmark"),
    ],
)
async def test_a_question_within_a_question_finds_its_set(home: MiningHome, question: str, expected: str) -> None:
    planned = await home.plan_question(question)

    separator = "|" if "|" in expected else " "
    assert await home.find_titles(planned.plan.legs[0]) == set(expected.split(separator))


async def test_a_number_is_computed_over_the_joined_set(home: MiningHome) -> None:
    leg = (await home.plan_question("what is the total of tonnes of loads from mines in Tarland?")).plan.legs[0]

    assert isinstance(leg.answer_form, ComputeNumbers)
    assert leg.answer_form.functions == (AggregateFunction.SUM,)
    assert await home.find_titles(leg) == {"L-3", "L-6"}


async def test_a_field_is_read_through_a_reference(home: MiningHome) -> None:
    planned = await home.plan_question("what is the wage of the foreman of Coldvein?")
    leg = planned.plan.legs[0]

    assert [describe_assumption(assumption, home.context.schemas) for assumption in planned.assumptions] == [
        "I took this to be about the workers among the foremans of the mines called Coldvein"
    ]
    assert isinstance(leg.answer_form, ReadFields)
    assert [name for _, name in leg.answer_form.fields] == ["wage_eur"]
    assert await home.find_titles(leg) == {"Mira Stenz"}


@pytest.mark.parametrize(
    "question",
    [
        "loads of Deepwell",
        "how many mines are there?",
        "workers in Coldvein",
        "which mine has the most loads?",
        "tonnes per mine",
        "who is the foreman of Redpit?",
        "mines in Ostmark",
        "list all loads",
        "loads from mines",
    ],
)
async def test_no_join_is_invented_where_a_plain_reading_explains_the_question(home: MiningHome, question: str) -> None:
    planned = await home.plan_question(question)

    assert all(semi_join_depth(clause.condition) == 0 for leg in planned.plan.legs for clause in leg.search.clauses)


async def test_the_set_is_described_in_words(home: MiningHome) -> None:
    leg = (await home.plan_question("workers in mines in regions larger than 3000 km2")).plan.legs[0]

    assert describe_set(leg.search, home.context.schemas) == (
        "workers whose mine is in one of the regions with an area of more than 3,000 km²"
    )


async def test_a_thing_comes_before_those_that_refer_to_it(home: MiningHome) -> None:
    leg = (await home.plan_question("area of Hollin")).plan.legs[0]

    assert leg.search.buckets == ("regions",)


async def test_an_empty_inner_set_offers_its_nearest_values(home: MiningHome) -> None:
    planned = await home.plan_question("loads from mines deeper than 900 m")
    leg = planned.plan.legs[0]
    answers = await home.index.answer_requests(*relaxation_requests(leg, home.context.schemas))
    candidates = derive_relaxations(leg, answers, planned.alternatives[0], home.context.schemas)

    relaxed = [
        apply_refinement(candidate.refinement, leg.search)
        for candidate in candidates
        if isinstance(candidate.refinement, UseNearest)
    ]
    assert [describe_set(search, home.context.schemas) for search in relaxed] == [
        "loads whose mine has a depth of at least 655 m"
    ]


async def test_a_bucket_that_is_not_granted_joins_nothing(tmp_path: Path) -> None:
    async with open_mining_home(tmp_path, frozenset(TABLES) - {"mines"}) as home:
        planned = await home.plan_question("loads from mines in Ostmark")

    assert all(semi_join_depth(clause.condition) == 0 for clause in planned.plan.legs[0].search.clauses)


async def test_words_left_over_beside_an_inner_set_are_asked_about(home: MiningHome) -> None:
    planned = await home.plan_question("gilded loads from mines in Ostmark")

    assert semi_join_depth(planned.plan.legs[0].search.clauses[0].condition) == 1
    assert planned.alternatives[0].unknown_words == ("gilded",)


async def test_words_of_an_earlier_sentence_are_no_request_for_the_noun_of_a_later_one(home: MiningHome) -> None:
    planned = await home.plan_question("How much went into lamps after 2010? Leave the drivers out of it")

    assert "lamps" in planned.alternatives[0].unknown_words
