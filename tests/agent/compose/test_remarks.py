"""Remarks name no word as unused that the reply uses."""

from agent.assumptions import Assumption, CorrectedSpelling, UnusedWords
from agent.compose.phrases.assumptions import drop_words_of_reply
from agent.compose.phrases.words import spell_as_asked


def remarks_beside(text: str, *assumptions: Assumption) -> list[Assumption]:
    return list(drop_words_of_reply(*assumptions, text=text))


def test_a_word_that_the_reply_uses_is_not_called_unused() -> None:
    unused = UnusedWords(words=("finch", "won"))

    assert remarks_beside("**2 horses** with trainer Ada Finch.", unused) == [UnusedWords(words=("won",))]
    assert remarks_beside("**2 horses** won by Ada Finch.", unused) == []


def test_a_word_that_was_read_in_another_spelling_is_not_called_unused() -> None:
    corrected = CorrectedSpelling(written="risoto", meant="risotto")

    assert remarks_beside("**2 dishes**.", UnusedWords(words=("risoto",)), corrected) == [corrected]


def test_a_name_is_written_as_in_the_question() -> None:
    assert spell_as_asked("harkova", "What did we pay Ludmila Harkova?") == "Harkova"
    assert spell_as_asked("fee", "What did we pay?") == "fee"
    assert spell_as_asked("9999", "What does the toner of TCK-9999 weigh?") == "TCK-9999"
