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


@pytest.mark.parametrize(
    ("form", "particle", "english"),
    [
        ("abgeholt", "", "collect"),
        ("abzuholen", "", "collect"),
        ("holte", "ab", "collect"),
        ("angenommenen", "", "accept"),
        ("nimmt", "an", "accept"),
    ],
)
def test_a_separable_verb_has_the_forms_of_its_base(
    german: GeneralVocabulary, form: str, particle: str, english: str
) -> None:
    entries = german.find_entries(form)

    assert any(entry.english[0] == english and entry.particle == particle for entry in entries)
