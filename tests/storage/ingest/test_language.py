"""The language of texts, by their commonest words."""

import pytest

from storage.ingest.language import Heard

TEXTS = {
    "en": "The supplier shall deliver the goods to the buyer, and the buyer shall pay for them by the end of it.",
    "de": "Der Lieferant liefert die Ware an den Käufer, und der Käufer zahlt sie bis zum Ende des Monats.",
    "fr": "Le fournisseur livre les biens à l'acheteur, et l'acheteur les paie avant la fin du mois.",
    "es": "El proveedor entrega los bienes al comprador, y el comprador los paga antes del fin del mes.",
    "": "Il fornitore consegna i beni al compratore, e il compratore li paga entro la fine del mese.",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
def test_prose_tells_its_language(language: str, text: str) -> None:
    heard = Heard()
    for _ in range(2):
        heard.hear(text)
    assert heard.language == language


def test_another_script_has_no_stemmer() -> None:
    heard = Heard()
    heard.hear("Поставщик передаёт товар покупателю до конца месяца. " * 8)
    assert heard.language == ""


@pytest.mark.parametrize("text", ["", "Acme", "TO-220 BC547 45 V 100 mA NPN " * 20])
def test_names_and_figures_are_taken_for_english(text: str) -> None:
    heard = Heard()
    heard.hear(text)
    assert heard.language == "en"
