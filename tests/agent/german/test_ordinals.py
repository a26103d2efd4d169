"""German positions and forms of nouns."""

import pytest

from agent.german.nouns import dative_plural_of, german_forms_of
from agent.german.ordinals import parse_german_position


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("die erste", 1),
        ("Der Zweite", 2),
        ("das dritte", 3),
        ("den fünften", 5),
        ("Nummer 4", 4),
        ("nr. 4", 4),
        ("die 2.", 2),
        ("Option 3", 3),
        ("zwölfte", 12),
        ("die letzte", 7),
    ],
)
def test_a_position_is_read_in_its_usual_forms(text: str, position: int) -> None:
    assert parse_german_position(text, 7) == position


@pytest.mark.parametrize("text", ["die erste Rechnung", "erst", "der", "alle", "zweimal", ""])
def test_other_texts_are_no_positions(text: str) -> None:
    assert parse_german_position(text, 7) is None


@pytest.mark.parametrize(
    ("singular", "regular_plural", "label", "forms"),
    [
        ("Rechnung", "Rechnungs", "Rechnungen", ("Rechnung", "Rechnungen")),
        ("vertrag", "vertrags", "Verträge", ("Vertrag", "Verträge")),
        ("receipt", "receipts", "Receipts", ("Receipt", "Receipts")),
        ("contract", "contracts", "Supplier agreements", ("Contract", "Contracts")),
    ],
)
def test_the_label_of_a_bucket_gives_the_plural(
    singular: str, regular_plural: str, label: str, forms: tuple[str, str]
) -> None:
    assert german_forms_of(singular, regular_plural, label) == forms


@pytest.mark.parametrize(
    ("plural", "dative"),
    [
        ("Dokumente", "Dokumenten"),
        ("Artikel", "Artikeln"),
        ("Bücher", "Büchern"),
        ("Rechnungen", "Rechnungen"),
        ("Receipts", "Receipts"),
        ("Post", "Post"),
    ],
)
def test_a_plural_may_have_an_ending_in_the_dative(plural: str, dative: str) -> None:
    assert dative_plural_of(plural) == dative
