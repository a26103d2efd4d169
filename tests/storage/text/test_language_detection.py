"""Language detection by common words."""

import pytest

from storage.text.language_detection import LanguageDetector

TEXTS = {
    "en": "The supplier shall deliver the goods to the buyer, and the buyer shall pay for them by the end of it.",
    "de": "Der Lieferant liefert die Ware an den Käufer, und der Käufer zahlt sie bis zum Ende des Monats.",
    "fr": "Le fournisseur livre les biens à l'acheteur, et l'acheteur les paie avant la fin du mois.",
    "es": "El proveedor entrega los bienes al comprador, y el comprador los paga antes del fin del mes.",
    "": "Il fornitore consegna i beni al compratore, e il compratore li paga entro la fine del mese.",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
def test_the_language_of_prose_is_detected(language: str, text: str) -> None:
    detector = LanguageDetector()
    for _ in range(2):
        detector.add_text(text)
    assert detector.language == language


def test_text_in_another_script_has_no_stemmed_language() -> None:
    detector = LanguageDetector()
    detector.add_text("Поставщик передаёт товар покупателю до конца месяца. " * 8)
    assert detector.language == ""


@pytest.mark.parametrize("text", ["", "Acme", "TO-220 BC547 45 V 100 mA NPN " * 20])
def test_names_and_figures_count_as_english(text: str) -> None:
    detector = LanguageDetector()
    detector.add_text(text)
    assert detector.language == "en"


def test_a_table_is_in_the_language_of_its_columns_and_values() -> None:
    detector = LanguageDetector()
    for number in range(5):
        detector.add_names(["Rechnungsnummer", "Lieferant", "Betrag", "Fällig am"])
        detector.add_text(f"R-{number} Acme {number * 100} 01.02.2031")

    assert detector.language == "de"


def test_small_words_that_dutch_shares_do_not_make_a_table_dutch() -> None:
    detector = LanguageDetector()
    for number in range(20):
        detector.add_names(["matrícula", "fecha de entrada", "fecha de salida", "en garantía"])
        detector.add_text(f"{number} Acme cambio de aceite no")

    assert detector.language == "es"


def test_a_table_with_english_columns_stays_english() -> None:
    detector = LanguageDetector()
    for number in range(5):
        detector.add_names(["Name", "Status", "Hotel", "City", "Amount"])
        detector.add_text(f"R-{number} Acme Köln {number * 100} 01.02.2031")

    assert detector.language == "en"


def test_flags_that_say_no_do_not_make_a_table_spanish() -> None:
    detector = LanguageDetector()
    for number in range(12):
        detector.add_names(["Lease", "Tenant", "Band", "Pets Allowed", "Deposit Paid"])
        detector.add_text(f"Lease: L-{number}\nTenant: T{number}\nBand: Basic\nPets Allowed: No\nDeposit Paid: No")

    assert detector.language == "en"
