"""Language detection by function words."""

import pytest

from agent.rules.words.language_detection import detect_foreign_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Welche Verträge laufen im nächsten Jahr aus und wie viele sind es?", "German"),
        ("Wie viele Belege gibt es von Acme?", "German"),
        ("Combien de reçus avons-nous de chez Acme dans le dossier ?", "French"),
        ("¿Cuántos recibos hay de Acme?", "Spanish"),
        ("Quali contratti sono in scadenza e di chi sono?", "Italian"),
        ("Quantos recibos há da Acme e quais são?", "Portuguese"),
        ("Hoeveel bonnen zijn er van de winkel?", "Dutch"),
        ("Сколько квитанций от Acme?", "another language"),
        ("領収書は何枚ありますか", "another language"),
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
