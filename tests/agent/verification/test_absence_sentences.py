"""Sentences of absence are recognised in every language of replies, as the catalogues word them."""

import pytest

from agent.translation.languages import list_languages, use_language
from agent.translation.message_catalogues import translate_message
from agent.verification.absence_sentences import find_absence_claims


@pytest.mark.parametrize("language", list_languages())
@pytest.mark.parametrize("documents", ["contracts with “rim” in it", "options"])
def test_a_set_without_documents_is_a_claim_of_absence(language: str, documents: str) -> None:
    with use_language(language):
        sentences = [
            translate_message("I found no {documents}.", documents=documents),
            translate_message("I found no {documents}", documents=documents),
            translate_message(" No document mentions {words}.", words="“rim”"),
        ]
    assert [len(list(find_absence_claims(sentence, language))) for sentence in sentences] == [1, 1, 1]


@pytest.mark.parametrize("language", list_languages())
def test_an_answer_that_was_not_found_is_no_claim_of_absence(language: str) -> None:
    with use_language(language):
        sentences = [
            translate_message("I did not find an answer in “{title}”.", title="C-1"),
            translate_message("I did not find an answer to this. What comes closest:"),
            translate_message("I did not find an answer to this."),
            translate_message("No difference in {labels}", labels="price"),
        ]
    assert [list(find_absence_claims(sentence, language)) for sentence in sentences] == [[], [], [], []]
