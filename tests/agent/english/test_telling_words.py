"""Words that say what a question is about, apart from words of any talk."""

from agent.english.telling_words import select_telling_words


def test_words_of_any_talk_are_left_out_beside_words_that_tell_more() -> None:
    assert select_telling_words(["put", "client", "incl", "dont", "whats"]) == ("client",)
    assert select_telling_words(["year", "after", "him", "r", "dr"]) == ()


def test_a_phrase_tells_something_if_one_of_its_words_does() -> None:
    assert select_telling_words(["last invoice"]) == ("last invoice",)
