"""The assessment of a plan counts the words of the question, and the operations, that the plan leaves out."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from agent.review.answer_confidence import MIN_CONFIDENCE, ReadingAssessment, score_reading
from tests.agent.rules.nested.mining import MiningHome, open_home_of

FILES = {
    "crates.csv": (
        "id,keeper,shed,packed_on,weight_kg\nCR-1,Ada Moor,Ghent,2031-03-01,4\nCR-2,Ben Lund,Ghent,2031-03-02,7\n"
        "CR-3,Cy Nash,Bruges,2031-03-05,2\nCR-4,Di Orr,Bruges,2031-03-09,9\n"
    )
}

TUBS = {
    "tubs.csv": (
        "id,keeper,remark,return_date\nT-1,Ada Moor,handle with care please,2031-03-01\nT-2,Ada Moor,blue lid,\n"
        "T-3,Ben Lund,handle with care please,\nT-4,Ben Lund,blue lid,2031-04-01\n"
    )
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("crates"), FILES, frozenset({"crates"})) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guessed_home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("tubs"), TUBS, frozenset({"tubs"})) as opened:
        yield opened


async def assess_question(home: MiningHome, question: str) -> ReadingAssessment:
    planned = await home.plan_question(question)
    assessment = planned.alternatives[0].assessment
    assert assessment is not None
    return assessment


@pytest.mark.parametrize(
    "question",
    [
        "how many crates were packed in March 2031 in Ghent?",
        "what is the average weight of the crates in Bruges?",
        "which crate in Ghent is the heaviest?",
        "crates per shed",
    ],
)
async def test_a_plan_that_uses_every_word_is_confident(home: MiningHome, question: str) -> None:
    assessment = await assess_question(home, question)

    assert assessment.unused_words == ()
    assert score_reading(assessment.features) >= MIN_CONFIDENCE


async def test_groups_that_the_plan_does_not_make_are_missed(home: MiningHome) -> None:
    assessment = await assess_question(home, "list the crates in Ghent per goblin")

    assert assessment.features.misses_operation == 1
    assert score_reading(assessment.features) < MIN_CONFIDENCE


@pytest.mark.parametrize(
    "question",
    [
        "crates packed in the last -5 days",
        "crates packed 1000000 weeks ago",
        "crates packed in the last 0 days",
        "the first 0 crates",
    ],
)
async def test_a_number_of_days_or_crates_that_cannot_be_meant_is_missed(home: MiningHome, question: str) -> None:
    assessment = await assess_question(home, question)

    assert assessment.features.misses_operation == 1 or assessment.unused_words
    assert score_reading(assessment.features) < MIN_CONFIDENCE


@pytest.mark.parametrize(
    "question", ["crates packed in the last 5 days", "crates packed 3 weeks ago", "the first 2 crates"]
)
async def test_a_number_of_days_or_crates_that_the_plan_has_is_not_missed(home: MiningHome, question: str) -> None:
    assessment = await assess_question(home, question)

    assert assessment.features.misses_operation == 0


@pytest.mark.parametrize(
    "question",
    ['crates that say "handle with care"', 'crates with the words "blue lid"', 'crates that mention "Ada Moor"'],
)
async def test_words_that_ask_for_words_of_the_text_are_used(home: MiningHome, question: str) -> None:
    assert score_reading((await assess_question(home, question)).features) >= MIN_CONFIDENCE


async def test_the_noun_before_an_identifier_and_how_long_are_used(home: MiningHome) -> None:
    assessment = await assess_question(home, "how heavy is the weight of goblin CR-1001?")

    assert "heavy" not in assessment.unused_words
    assert "goblin" not in assessment.unused_words


async def test_a_word_that_is_asked_for_counts_more(home: MiningHome) -> None:
    asked = await assess_question(home, "which shows in Ghent weigh more than 5 kg?")
    beside = await assess_question(home, "which crates in Ghent that we called off weigh more than 5 kg?")

    assert asked.features.misses_asked_word == 1
    assert beside.features.misses_asked_word == 0


async def test_words_that_the_reply_asks_about_are_not_counted_again(home: MiningHome) -> None:
    planned = await home.plan_question("who is the keeper of CR-3, which the ferret chewed?")

    alternatives = planned.alternatives[0]
    assert set(alternatives.unknown_words) == {"ferret", "chewed"}
    assert alternatives.assessment is not None
    assert alternatives.assessment.unused_words == ()


async def test_a_follow_up_is_marked_as_such(home: MiningHome) -> None:
    first = await home.plan_question("how many crates are in Ghent?")
    later = MiningHome(index=home.index, context=replace(home.context, last_plan=first.plan))

    assessment = await assess_question(later, "and in Bruges?")

    assert assessment.features.is_followup == 1


async def test_a_question_that_texts_answer_is_not_assessed(home: MiningHome) -> None:
    planned = await home.plan_question("why do the crates smell of tar?")

    assert planned.plan.legs[0].answer_form.reads_text
    assert planned.alternatives[0].assessment is None


async def test_a_condition_on_a_word_of_a_longer_value_is_a_guess(guessed_home: MiningHome) -> None:
    by_word = await assess_question(guessed_home, "Please list the tubs of Ada Moor")
    by_value = await assess_question(guessed_home, "tubs with the remark handle with care please")

    assert by_word.guesses_condition
    assert not by_value.guesses_condition


async def test_a_missing_value_that_no_word_speaks_of_is_a_guess(guessed_home: MiningHome) -> None:
    by_field = await assess_question(guessed_home, "tubs without a return date")

    assert not by_field.guesses_condition


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("total weight of the crates we paid", "paid"),
        ("average weight of the crates that keepers like", "keepers like"),
        ("how many crates did we return?", "return"),
    ],
)
async def test_a_clause_that_restricts_the_set_is_not_left_out_silently(
    home: MiningHome, question: str, clause: str
) -> None:
    assessment = await assess_question(home, question)

    assert clause in assessment.unused_words
    assert score_reading(assessment.features) < MIN_CONFIDENCE


@pytest.mark.parametrize(
    "question",
    [
        "how many crates are there in total?",
        "how many crates do we have?",
        "total weight of the crates that we have so far",
        "list the crates that were packed in March 2031",
        "which crates are there that Ada Moor keeps?",
        "the crate that is the heaviest",
        "total weight of the crates that we keep in Ghent",
        "how many crates are there by shed?",
        "how many crates have we got per keeper?",
    ],
)
async def test_a_clause_that_the_plan_has_or_that_says_nothing_raises_no_doubt(home: MiningHome, question: str) -> None:
    assessment = await assess_question(home, question)

    assert score_reading(assessment.features) >= MIN_CONFIDENCE


async def test_the_word_for_a_day_is_used_where_a_day_is_read(tmp_path: Path) -> None:
    rows = (
        "id,name,post,joined,contract_until\nS-1,Ada Moor,porter,2031-03-01,\nS-2,Ben Lund,cook,2030-03-02,2032-05-01\n"
    )
    async with open_home_of(tmp_path, {"staff.csv": rows}, frozenset({"staff"})) as home:
        assessment = await assess_question(home, "on what date did Ada Moor begin?")

    assert assessment.unused_words == ()


async def test_a_share_of_documents_with_a_word_is_doubtful_unless_mentions_are_asked_for(home: MiningHome) -> None:
    insured = await assess_question(home, "what share of the crates is insured?")
    mentioned = await assess_question(home, "what share of the crates mention glass?")

    assert score_reading(insured.features) < MIN_CONFIDENCE
    assert score_reading(mentioned.features) >= MIN_CONFIDENCE
