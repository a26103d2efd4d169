"""The general vocabularies of other languages."""

import pytest

from storage.text.vocabulary import GeneralVocabulary, load_vocabulary


@pytest.fixture
def german() -> GeneralVocabulary:
    vocabulary = load_vocabulary("de")
    assert vocabulary is not None
    return vocabulary


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("Auftraege", "Aufträge"),
        ("wartungsvertraege", "wartungsverträge"),
        ("Steuer", "Steuer"),
        ("neuen", "neuen"),
        ("Qxaeql", "Qxaeql"),
    ],
)
def test_letters_that_are_typed_as_two_are_written_as_one(german: GeneralVocabulary, typed: str, written: str) -> None:
    assert german.write_accents(typed) == written
