"""Questions that are read as one phrase, composed of sets, their fields and how they are related."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.rules.composition.phrase_plan import plan_phrase
from agent.rules.lexicon.bucket_lexicon import build_lexicons
from agent.rules.reading.question_reader import QuestionReader
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    ComputeNumbers,
    FindPassages,
    GroupBy,
    Leg,
    ReadFields,
    unfiltered_search_of,
)
from tests.agent.rules.nested.mining import MiningHome, open_home_of, open_mining_home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("mining")) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("question", "expected", "field"),
    [
        ("what is the wage of the foreman of the deepest mine", "Mira Stenz", "wage_eur"),
        ("who is the foreman of the oldest mine", "Deepwell", "foreman"),
        ("the trade of the worker with the highest wage", "Mira Stenz", "trade"),
        ("area of the region of Deepwell", "Ostmark", "area_km2"),
    ],
)
async def test_a_field_is_read_of_what_another_phrase_names(
    home: MiningHome, question: str, expected: str, field: str
) -> None:
    leg = (await home.plan_question(question)).plan.legs[0]

    assert isinstance(leg.answer_form, ReadFields)
    assert [name for _, name in leg.answer_form.fields] == [field]
    assert await home.find_titles(leg) == {expected}


async def test_the_values_of_all_documents_of_a_set_are_read(home: MiningHome) -> None:
    leg = (await home.plan_question("the foremen of all mines in Ostmark")).plan.legs[0]

    assert leg.answer_form == ReadFields(fields=((BucketId("mines"), FieldName("foreman")),), of_each=True)
    assert await home.find_titles(leg) == {"Deepwell", "Redpit"}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("mines deeper than Deepwell", "Coldvein"),
        ("workers with a higher wage than the foreman of Redpit", "Edda Krone|Mira Stenz"),
        ("who was hired after Otto Brand", "Kai Vogt|Lena Pohl"),
        ("loads of more tonnes than L-5", "L-1|L-3|L-8"),
    ],
)
async def test_a_value_is_compared_with_that_of_another_document(
    home: MiningHome, question: str, expected: str
) -> None:
    leg = (await home.plan_question(question)).plan.legs[0]

    assert await home.find_titles(leg) == set(expected.split("|"))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("mines that no load comes from", ""),
        ("regions without a mine", "Quent|Falk"),
        ("drivers who work in the deepest mine of Ostmark", "Kai Vogt"),
        ("loads shipped from the mine that Jon Albers runs as foreman", "L-2|L-7"),
    ],
)
async def test_sets_are_related_by_the_words_between_them(home: MiningHome, question: str, expected: str) -> None:
    planned = await home.plan_question(question)

    assert await home.find_titles(planned.plan.legs[0]) == set(filter(None, expected.split("|")))


async def test_the_first_by_how_many_documents_belong_to_it(home: MiningHome) -> None:
    leg = (await home.plan_question("which mine has the most workers")).plan.legs[0]

    assert leg.search.buckets == (BucketId("workers"),)
    assert leg.answer_form == ComputeNumbers(
        functions=(AggregateFunction.COUNT,), group=GroupBy(field=FieldName("mine")), limit=1
    )


@pytest.mark.parametrize(
    "question",
    [
        "drivers in all mines but those in Ostmark",
        "workers who avoid mines in Ostmark",
        "workers of two mines in Ostmark",
        "workers in neither Redpit nor the mines in Tarland",
        "median wage of the workers of mines in Ostmark",
        "the foreman of the second deepest mine",
        "why do workers leave mines in Ostmark",
    ],
)
async def test_words_that_say_more_are_not_passed_over(home: MiningHome, question: str) -> None:
    """Such a question may be read otherwise, or not be understood, but not as if the words were not there."""
    lexicons = build_lexicons(home.context.schemas, home.context.vocabulary, home.context.analysers)
    reader = QuestionReader(lexicons, home.context.now.date())
    readings = reader.readings_of(question)
    plain = Leg(id=LegId("a"), question=question, search=unfiltered_search_of(), answer_form=FindPassages())

    assert plan_phrase(LegId("a"), question, plain, readings, reader) is None


async def test_numbers_of_a_related_set_are_added(home: MiningHome) -> None:
    leg = (await home.plan_question("total wage of the workers of mines in Tarland")).plan.legs[0]

    assert leg.answer_form == ComputeNumbers(functions=(AggregateFunction.SUM,), field=FieldName("wage_eur"))
    assert await home.find_titles(leg) == {"Mira Stenz", "Lena Pohl"}


async def test_a_short_name_and_a_whole_name_within_another_are_told_apart(tmp_path: Path) -> None:
    towns = ("Hale", "West Hale", "Stoke", "Denby", "Orton", "Lund", "Marsh End", "Calder")
    courses = {
        "Alder Canal": (0, 2), "Birch Canal": (1, 3), "Cedar Canal": (2, 4), "Elm Canal": (4, 5),
        "Fir Canal": (5, 6), "Hazel Canal": (6, 7), "Lime Canal": (7, 0), "Oak Canal": (3, 2),
    }  # fmt: skip
    rows = (f"{name},{'; '.join(towns[index] for index in course)},40" for name, course in courses.items())
    files = {
        "canals.csv": "\n".join(("name,towns,length_km", *rows)),
        "towns.csv": "\n".join(("name,people", *(f"{town},{1000 + 7 * index}" for index, town in enumerate(towns)))),
    }
    async with open_home_of(tmp_path, files, frozenset({"canals", "towns"})) as opened:
        through = (await opened.plan_question("which towns does the Alder flow through")).plan.legs[0]
        in_hale = (await opened.plan_question("what is the length of the canals that run through Hale")).plan.legs[0]

        assert await opened.find_titles(through) == {"Stoke", "Hale"}
        assert await opened.find_titles(in_hale) == {"Alder Canal", "Lime Canal"}


@pytest.mark.parametrize(
    "question",
    ["mines opened after 1980", "how many loads were shipped in March 2026", "list the fitters", "the deepest mine"],
)
async def test_a_question_for_one_set_is_left_to_the_plain_reading(home: MiningHome, question: str) -> None:
    search = (await home.plan_question(question)).plan.legs[0].search

    assert set(search.buckets) == search.read_buckets


async def test_a_field_of_an_unknown_id_is_looked_for_in_all_buckets(home: MiningHome) -> None:
    leg = (await home.plan_question("which mine is ZZ-999 from?")).plan.legs[0]

    assert await home.find_titles(leg) == set()
