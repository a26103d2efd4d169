"""Language detection by function words."""

import pytest

from agent.rules.words.language_detection import UNDETERMINED_LANGUAGE, choose_reply_language, detect_foreign_language
from storage.search.plan import Plan


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Welche Verträge laufen im nächsten Jahr aus und wie viele sind es?", "de"),
        ("Wie viele Belege gibt es von Acme?", "de"),
        ("Combien de reçus avons-nous de chez Acme dans le dossier ?", "fr"),
        ("¿Cuántos recibos hay de Acme?", "es"),
        ("Quali contratti sono in scadenza e di chi sono?", "it"),
        ("Quantos recibos há da Acme e quais são?", "pt"),
        ("Hoeveel bonnen zijn er van de winkel?", "nl"),
        ("Сколько квитанций от Acme?", UNDETERMINED_LANGUAGE),
        ("領収書は何枚ありますか", UNDETERMINED_LANGUAGE),
    ],
)
def test_a_question_in_another_language_is_detected_by_its_function_words(question: str, language: str) -> None:
    assert detect_foreign_language(question) == language


@pytest.mark.parametrize(
    "question",
    [
        "List all receipts from Restaurante El Sol de La Mancha",
        "Receipts from Talho Restaurante Alxama in 2019",
        "When was the receipt from Mª do Rosário da Graça Roque Fernandes?",
        "contracts with Das Haus der Kunst GmbH",
        "TO-220 60 V 5 A",
        "der",
        "",
    ],
)
def test_foreign_names_do_not_change_the_language_of_a_question(question: str) -> None:
    assert detect_foreign_language(question) is None


@pytest.mark.parametrize(
    ("question", "last_language", "language"),
    [
        ("Wie viele Belege gibt es von Acme?", "en", "de"),
        ("Combien de reçus avons-nous ?", "de", "fr"),
        ("How many of them are there?", "de", "en"),
        ("only 2024", "de", "de"),
        ("was in 2024", "de", "de"),
        ("Acme", "en", "en"),
        ("als CSV", "en", "de"),
        ("領収書は何枚ありますか", "de", "de"),
    ],
)
def test_a_reply_is_in_the_language_of_the_question_else_of_the_conversation(
    question: str, last_language: str, language: str
) -> None:
    last_plan = Plan(question="", legs=(), language=last_language)

    assert choose_reply_language(question, last_plan) == language


def test_a_reply_to_an_unclear_first_question_is_in_english() -> None:
    assert choose_reply_language("Acme 2024", None) == "en"
