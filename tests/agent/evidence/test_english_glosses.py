"""Sentences of other languages in English words."""

import pytest

from agent.evidence.english_glosses import glosses_for
from agent.evidence.yes_or_no import verdict_of
from storage.text.snowball_analyser import analyser_for


@pytest.mark.parametrize(
    ("language", "sentence", "words"),
    [
        ("de", "Hunde sind im Lager nicht erlaubt.", {"dogs", "not", "allowed"}),
        ("fr", "Les chiens ne sont pas autorisés.", {"dogs", "not", "allowed"}),
        ("es", "Está prohibido entrar.", {"forbidden"}),
        ("en", "Dogs stay outside.", {"Dogs", "stay", "outside"}),
    ],
)
def test_a_sentence_is_written_in_the_english_words_that_are_known(
    language: str, sentence: str, words: set[str]
) -> None:
    assert words <= set(glosses_for(language).gloss_sentence(sentence).rstrip(".").split())


def test_the_english_function_words_of_a_question_stay() -> None:
    assert glosses_for("de").gloss_question("may i eat in Lager") == "may i eat in warehouse"


@pytest.mark.parametrize("word", ["Heizung", "Pelletkessel", "Notdienst"])
def test_a_german_noun_is_no_name_for_its_capital_letter(word: str) -> None:
    assert glosses_for("de").is_common_word(word)


@pytest.mark.parametrize("word", ["Brandlmayr", "Zacherl"])
def test_a_word_that_the_vocabulary_does_not_know_may_be_a_name(word: str) -> None:
    assert glosses_for("de").may_be_name(word)


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    [
        ("de", "Auszubildende fahren keinen Notdienst.", "may apprentices Notdienst fahren?"),
        ("fr", "Les chiens ne sont pas autorisés.", "are chiens allowed?"),
        ("es", "Está prohibido comprar perros.", "may i comprar perros?"),
        ("de", "Samstags wird nicht geliefert.", "do we samstags liefern?"),
        ("de", "Eine Lieferung am Samstag wird nicht angeboten.", "do we am Samstag liefern?"),
        ("de", "Geöffnete Packungen sind vom Umtausch ausgeschlossen.", "can i geöffnete Packungen umtauschen?"),
        ("fr", "La livraison le samedi n'est pas proposée.", "do we livrer samedi?"),
        ("fr", "Les barbecues sont interdits dans le parc.", "are barbecues autorisés parc?"),
        ("es", "Los perros están excluidos del parque infantil.", "may perros entrar parque infantil?"),
    ],
)
def test_a_sentence_in_another_language_settles_a_question(language: str, sentence: str, question: str) -> None:
    glosses = glosses_for(language)
    told, asked = glosses.gloss_sentence(sentence), glosses.gloss_question(question)

    assert verdict_of(told, asked, analyser_for("en")) is False
