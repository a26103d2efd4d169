"""How much of what a question asks the words of a text hold."""

from dataclasses import replace

import pytest

from agent.evidence.question_words import WeighedQuestion, WeighedWord, WordStems
from storage.text.snowball_analyser import analyser_for

STEMS = WordStems(analyser_for("en"))


def _weighed(word: str, weight: float = 1.0, *, is_name: bool = False) -> WeighedWord:
    return WeighedWord(word=word, stem=STEMS.stem_of(word), weight=weight, is_name=is_name)


ASKED = (_weighed("treasurer", 0.8), _weighed("payment", 0.2))
QUESTION = WeighedQuestion(
    text="When must the treasurer get the payment at Elmet?",
    asks_account=False,
    names=(_weighed("elmet", is_name=True),),
    asked=ASKED,
    stems=frozenset(),
    likeness={"payment": {"fee": 0.5}},
    word_stems=STEMS,
)


@pytest.mark.parametrize(
    ("words", "share"),
    [
        ({"treasurers", "payments"}, 1.0),  # by their stems
        ({"treasurer"}, 0.8),
        ({"treasury"}, 0.8 * 0.7),  # the same beginning
        ({"fee"}, 0.2 * 0.5),  # near in meaning
        ({"gate"}, 0.0),
        (set[str](), 0.0),
    ],
)
def test_a_text_holds_words_by_their_stems_beginnings_and_meanings(words: set[str], share: float) -> None:
    assert QUESTION.share_of(ASKED, (1.0, frozenset(words))) == pytest.approx(share)


def test_a_word_counts_by_the_best_level_that_holds_it() -> None:
    line, heading = frozenset({"payment"}), frozenset({"treasurer", "payment"})

    assert QUESTION.share_of(ASKED, (1.0, line), (0.5, heading)) == pytest.approx(0.2 + 0.4)


def test_a_name_must_be_there_itself() -> None:
    assert QUESTION.share_of(QUESTION.names, (1.0, frozenset({"elmets"}))) == 1.0
    assert QUESTION.share_of(QUESTION.names, (1.0, frozenset({"elmetia"}))) == 0.0


def test_half_of_a_name_is_another_person() -> None:
    names = (_weighed("ada", is_name=True), _weighed("lund", is_name=True))
    question = replace(QUESTION, text="what did Ada Lund pay", names=names)

    assert question.holds_half_of_name(frozenset({"ada", "moor"}))
    assert not question.holds_half_of_name(frozenset({"ada", "lund"}))
    assert not question.holds_half_of_name(frozenset({"moor"}))


@pytest.mark.parametrize(
    ("words", "is_contradicted"),
    [
        ({"closes", "at", "five"}, True),
        ({"opens", "at", "nine", "closes", "five"}, False),
        ({"closed", "on", "sundays"}, False),  # among the hours of opening
        ({"nine", "to", "five"}, False),
    ],
)
def test_a_text_about_the_opposite_does_not_answer(words: set[str], is_contradicted: bool) -> None:
    question = replace(QUESTION, text="when does it open", asked=(_weighed("open"),))

    assert question.is_contradicted_by(frozenset(words)) is is_contradicted


@pytest.mark.parametrize(("text", "share"), [("when does it open again", 0.9), ("when does it open", 0.0)])
def test_a_word_that_says_again_holds_both_words(text: str, share: float) -> None:
    question = replace(QUESTION, text=text, asked=(_weighed("open"),), likeness={})

    assert question.share_of(question.asked, (1.0, frozenset({"reopens"}))) == pytest.approx(share)


@pytest.mark.parametrize(
    ("asked", "told", "are"),
    [
        ("sacked", "dismissed", True),
        ("loo", "toilets", True),
        ("gp", "doctors", True),
        ("rang", "called", True),
        ("holiday", "leave", True),
        ("leave", "holiday", False),  # "who may leave early"
        ("goat", "sheep", False),
    ],
)
def test_an_everyday_word_stands_for_what_texts_write(asked: str, told: str, are: bool) -> None:
    assert STEMS.are_synonyms(STEMS.stem_of(asked), STEMS.stem_of(told)) is are


def test_synonyms_are_of_english_alone() -> None:
    german = WordStems(analyser_for("de"))

    assert not german.are_synonyms("sack", "dismiss")
