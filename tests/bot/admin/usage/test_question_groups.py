"""Questions about the same are one group: by meaning where words can be compared, else by their words."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.word_meanings import TextEmbedder
from bot.admin.usage import question_groups
from bot.admin.usage.question_groups import UnansweredQuestion, group_questions
from storage.embedder import WordLlamaEmbedder
from tests.bot.admin.usage.measure_pairs import list_wrong_pairs, read_pairs
from tests.stand_ins.word_vectors import FailingEmbedder

WORD_LLAMA = WordLlamaEmbedder()
REPORT_PAGE = Path(__file__).parents[4] / "docs" / "report.md"


def unanswered(*texts: str, unknown: tuple[str, ...] = ()) -> list[UnansweredQuestion]:
    return [
        UnansweredQuestion(text=text, person=f"person {number}", unknown_words=unknown)
        for number, text in enumerate(texts)
    ]


async def wordings_of(
    questions: list[UnansweredQuestion], embedder: TextEmbedder | None = WORD_LLAMA
) -> list[tuple[str, ...]]:
    return [group.questions for group in await group_questions(questions, ["en", "de"], embedder)]


@pytest.mark.parametrize(
    ("question", "same"),
    [
        ("list the physicians", "show me all doctors"),
        ("list the footwear", "which shoes are there?"),
        ("how do I reset my password?", "I forgot my login, what now?"),
        ("movies about ships", "films about boats"),
        ("when is the trash picked up?", "garbage collection days"),
        ("how does the pension scheme work", "what is our retirement plan?"),
        ("guarantee of the pump", "warranty for the pump"),
        ("vaccination records", "immunisation certificates"),
    ],
)
async def test_questions_that_share_no_telling_word_but_mean_the_same_are_one_group(question: str, same: str) -> None:
    assert len(await wordings_of(unanswered(question, same))) == 1
    assert len(await wordings_of(unanswered(question, same), embedder=None)) == 2


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("who repairs the boats?", "who sells the boats?"),
        ("inspections of the north bridge", "inspections of the south bridge"),
        ("fire exits in the building", "fire insurance of the building"),
        ("contracts with the city of Bergen", "contracts with the city of Oslo"),
        ("employees with a driving licence", "software licence of employees"),
        ("how much holiday do I get?", "how much bonus do I get?"),
        ("invoices from Nordhavn", "invoices from Nordlys"),
        ("stock of part AB-1200", "stock of part AB-1300"),
    ],
)
async def test_questions_that_share_words_but_differ_in_meaning_are_two_groups(question: str, other: str) -> None:
    assert len(await wordings_of(unanswered(question, other))) == 2


@pytest.mark.parametrize("embedder", [None, WORD_LLAMA], ids=["by words", "by meaning"])
async def test_inflections_order_and_small_words_make_no_difference(embedder: TextEmbedder | None) -> None:
    questions = unanswered(
        "Please list the zeppelin hangars!", "zeppelin hangar", "which hangars for zeppelins are there?", "the masts"
    )

    assert [len(group) for group in await wordings_of(questions, embedder)] == [3, 1]


@pytest.mark.parametrize("embedder", [None, WORD_LLAMA], ids=["by words", "by meaning"])
async def test_a_word_that_no_bucket_knows_is_what_questions_have_in_common(embedder: TextEmbedder | None) -> None:
    questions = [
        *unanswered("lorries in Oslo", "how many lorries does Ada drive?", unknown=("lorries",)),
        *unanswered("submarines in Oslo", unknown=("submarines",)),
    ]

    groups = await group_questions(questions, ["en"], embedder)

    assert [(group.count, group.people, group.words) for group in groups] == [
        (2, 2, ("lorries",)),
        (1, 1, ("submarines",)),
    ]


async def test_a_group_tells_its_most_frequent_wording_and_counts_people_once() -> None:
    questions = [*unanswered("all doctors", "list the physicians"), *unanswered("list the physicians")]

    [group] = await group_questions(questions, ["en"], WORD_LLAMA)

    assert (group.questions, group.count, group.people) == (("list the physicians", "all doctors"), 3, 2)


async def test_nothing_is_joined_to_a_group_through_another_member() -> None:
    """Each is compared with the first question of a group: hospitals are near to doctors, but not to physicians."""
    by_themselves = await wordings_of(unanswered("the doctors", "the hospitals"))

    groups = await wordings_of(unanswered("the physicians", "the physicians", "the doctors", "the hospitals"))

    assert len(by_themselves) == 1
    assert groups == [("the physicians", "the doctors"), ("the hospitals",)]


@pytest.mark.parametrize(("language", "name"), [("de", "German"), ("fr", "French"), ("es", "Spanish")])
async def test_pairs_in_other_languages_are_joined_as_the_page_about_the_report_says(language: str, name: str) -> None:
    [row] = re.findall(rf"^\| {name} \| (.*) \|$", REPORT_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    counted = list[int]()
    for embedder in (WORD_LLAMA, None):
        wrong = await list_wrong_pairs(language, embedder)
        counted += [20 - sum(pair.is_alike == is_alike for pair in wrong) for is_alike in (True, False)]

    assert Counter(pair.is_alike for pair in read_pairs(language)) == {True: 20, False: 20}
    assert counted == list(map(int, row.split(" | ")))


async def test_without_an_answer_of_the_embedder_questions_are_grouped_by_their_words() -> None:
    questions = unanswered("the zeppelin hangars", "zeppelin hangar", "list the physicians", "all doctors")

    groups = await wordings_of(questions, FailingEmbedder(remaining_texts=0))

    assert sorted(map(len, groups)) == [1, 1, 2]


async def test_questions_beyond_the_bound_are_grouped_by_unknown_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_groups, "_MAX_COMPARED", 2)
    frequent = [
        *unanswered("the doctors", "the doctors"),
        *unanswered("the lorries", "the lorries", unknown=("lorries",)),
    ]
    rare = [*unanswered("the physicians"), *unanswered("lorries of Ada", unknown=("lorries",))]

    groups = await wordings_of([*rare, *frequent])

    assert sorted(groups) == [("the doctors",), ("the lorries", "lorries of Ada"), ("the physicians",)]


@pytest.mark.parametrize(
    "text", ["", "   ", "???", "12 + 3", "合同在哪里", "\ud800", "a" * 5_000, "to be or not to be"]
)
async def test_a_question_without_telling_words_is_a_group_too(text: str) -> None:
    groups = await wordings_of(unanswered(text, text, "all doctors"))

    assert groups == [(text,), ("all doctors",)]


@given(
    texts=st.lists(
        st.lists(
            st.sampled_from("boat ship mast doctor physician car roof lorry paint the of".split()), max_size=4
        ).map(" ".join),
        max_size=8,
    ),
    seed=st.integers(0, 1_000),
)
async def test_the_order_of_the_questions_changes_no_group_and_none_is_lost(texts: list[str], seed: int) -> None:
    questions = unanswered(*texts)
    shuffled = random.Random(seed).sample(questions, len(questions))

    groups = await group_questions(questions, ["en"], WORD_LLAMA)

    assert await group_questions(shuffled, ["en"], WORD_LLAMA) == groups
    assert sum(group.count for group in groups) == len(texts)
    assert sorted(text for group in groups for text in group.questions) == sorted(set(texts))
