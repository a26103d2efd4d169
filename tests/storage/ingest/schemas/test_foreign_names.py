"""Names of fields and buckets in other languages."""

import pytest

from storage.ingest.schemas.foreign_names import translate_name
from storage.ingest.schemas.synonyms import nouns_for_bucket


@pytest.mark.parametrize(
    ("name", "english"),
    [
        ("vertragsende", "contract end"),
        ("fällig am", "due on"),
        ("monatliche kosten", "monthly cost"),
        ("lieferantennummer", "supplier number"),
    ],
)
def test_a_german_name_has_an_english_one(name: str, english: str) -> None:
    assert english in translate_name(name.split(), "de")


def test_a_name_with_an_unknown_word_has_none() -> None:
    assert translate_name(["quax", "nummer"], "de") == ()
    assert translate_name(["nummer"], "xx") == ()


def test_a_german_bucket_is_called_in_both_languages() -> None:
    nouns = nouns_for_bucket("rechnungen", "de")

    assert nouns[:2] == ("rechnung", "rechnungen")
    assert {"invoice", "invoices"} <= set(nouns)
