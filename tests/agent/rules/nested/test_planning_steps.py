"""How much of a question is read: counted readings, each of one text in one bucket, and not time."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.rules.lexicon.bucket_lexicon import build_lexicons
from agent.rules.planning.question_plan import plan_single_question
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import tokenize_question
from storage.search.ids import BucketId
from tests.agent.rules.nested.mining import TABLES, MiningHome, open_mining_home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("mining")) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


def _reader_for(home: MiningHome) -> QuestionReader:
    lexicons = build_lexicons(home.context.schemas, home.context.vocabulary, home.context.analysers)
    return QuestionReader(lexicons, home.context.now.date())


def _count_readings(home: MiningHome, question: str) -> int:
    reader = _reader_for(home)
    plan_single_question(question, reader)
    return reader.reading_count


@pytest.mark.parametrize(
    "question",
    [
        "show me all loads",
        "how many workers are there?",
        "loads shipped in March 2026",
        "mines deeper than 300 m",
        "which workers are drivers?",
        "what is the total of tonnes?",
    ],
)
async def test_a_question_that_is_explained_is_read_once_a_bucket(home: MiningHome, question: str) -> None:
    assert _count_readings(home, question) == len(TABLES)


@pytest.mark.parametrize(
    ("question", "most"),
    [
        ("loads from mines in Ostmark", 6),
        ("loads of the oldest mine", 6),
        ("mines whose foreman was hired before 2005", 6),
        ("loads from mines in regions larger than 3000 km2", 23),
        ("which loads come from mines that nobody has ever liked?", 16),
    ],
)
async def test_a_question_within_a_question_takes_few_readings(home: MiningHome, question: str, most: int) -> None:
    assert len(TABLES) <= _count_readings(home, question) <= most


async def test_a_text_is_read_once_a_bucket_by_all_steps(home: MiningHome) -> None:
    reader = _reader_for(home)

    plan_single_question("loads shipped in March 2026", reader)
    plan_single_question("loads shipped in March 2026", reader)
    reader.read_in_bucket("loads shipped in March 2026", BucketId("loads"))

    assert reader.reading_count == len(TABLES)


async def test_the_links_and_literals_of_a_text_are_looked_up_once(home: MiningHome) -> None:
    reader, text = _reader_for(home), "loads shipped in March 2026"
    lexicon = reader.lexicons[BucketId("loads")]

    assert lexicon.find_links(tokenize_question(text, lexicon.analyser)) is lexicon.find_links(
        list(tokenize_question(text, lexicon.analyser))
    )
    assert reader.literals_in(text) is reader.literals_in(text)
