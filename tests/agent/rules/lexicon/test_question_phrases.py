"""Question phrases: a question word and a verb or adjective that ask for a field."""

import pytest

from agent.rules.lexicon.question_phrases import PhraseMatch, QuestionPhraseIndex, choose_matches
from agent.rules.words.tokens import find_quotations, tokenize_question
from storage.text.snowball_analyser import analyser_for

ANALYSER = analyser_for("en")


def matches_of(question: str, **phrases: str) -> list[PhraseMatch[str]]:
    index = QuestionPhraseIndex[str](ANALYSER)
    for meaning, phrase in phrases.items():
        index.add_phrase(phrase, meaning)
    return list(index.find_matches(tokenize_question(question, ANALYSER, find_quotations(question))))


def complete_meanings(question: str, **phrases: str) -> set[str]:
    return {match.meaning for match in choose_matches(matches_of(question, **phrases), lambda _: 0)}


@pytest.mark.parametrize(
    ("phrase", "question"),
    [
        ("who … mend", "who mended the red kayak"),
        ("who … teach", "who taught the evening class"),
        ("who … take care of", "whom did they ask who takes care of Rex"),
        ("how … reach", "how do I reach Mrs Lund"),
        ("when … last oil", "when did somebody last oil the lathe"),
        ("how old …", "how old is the lathe"),
        ("who … have", "who has K-12"),
        ("what … do", "what does Mrs Lund do here"),
    ],
)
def test_a_phrase_matches_around_other_words_and_in_every_form_of_the_verb(phrase: str, question: str) -> None:
    assert complete_meanings(question, asked=phrase) == {"asked"}


@pytest.mark.parametrize(
    ("phrase", "question"),
    [
        ("who … mend", "the kayak that Anna mended"),
        ("who … mend", 'who wrote "mended"'),
        ("who … have", "who has painted the red kayak"),
        ("what … do", "what does the lathe weigh"),
        ("when … oil", "when it is cold and wet and the workshop has been closed for days somebody should oil it"),
    ],
)
def test_a_phrase_needs_its_question_word_and_the_verb_of_the_question(phrase: str, question: str) -> None:
    assert complete_meanings(question, asked=phrase) == set()


def test_a_verb_without_its_question_word_is_found_but_not_complete() -> None:
    (match,) = matches_of("kayaks mended in May", asked="when … mend")

    assert not match.is_complete
    assert (match.first, match.last) == (1, 2)


def test_the_phrase_with_more_of_the_words_is_meant() -> None:
    phrases = {"price": "what … cost", "rate": "what … cost … rent"}

    assert complete_meanings("what does it cost to rent the kayak", **phrases) == {"rate"}
    assert complete_meanings("what did the kayak cost", **phrases) == {"price"}


def test_until_when_is_not_when() -> None:
    phrases = {"end": "until when …", "start": "when … run"}

    assert complete_meanings("until when does the class run", **phrases) == {"end"}


def test_two_fields_share_a_phrase_unless_the_question_supports_one() -> None:
    matches = matches_of("when does the licence run out", insurance="when … run out", licence="when … run out")

    assert {match.meaning for match in choose_matches(matches, lambda _: 0)} == {"insurance", "licence"}
    supported = choose_matches(matches, lambda match: float(match.meaning == "licence"))
    assert [match.meaning for match in supported] == ["licence"]
