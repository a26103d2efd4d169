"""The nouns of kinds: their plurals in the languages of documents, and kinds that the name of the bucket repeats."""

import pytest

from storage.ingest.extract.kinds.kind_phrases import forms_of_kind, names_bucket


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("invoice", "invoices"),
        ("policy", "policies"),
        ("asset sheet", "asset sheets"),
        ("passport", "passports"),
        ("wartungsvertrag", "wartungsverträge"),
        ("anleitung", "anleitungen"),
        ("protokoll", "protokolle"),
        ("contrat", "contrats"),
    ],
)
def test_a_kind_has_the_plural_of_its_language(kind: str, plural: str) -> None:
    assert forms_of_kind(kind)[-1] == plural


@pytest.mark.parametrize(
    ("kind", "bucket", "is_named"),
    [
        ("wartungsvertrag", "wartungsvertraege", True),
        ("vertrag", "wartungsvertraege", True),
        ("contract", "contracts", True),
        ("lease", "contracts", False),
        ("wartungsvertrag", "vertraege", False),
    ],
)
def test_a_kind_that_the_bucket_is_called_by_is_recognised(kind: str, bucket: str, *, is_named: bool) -> None:
    assert names_bucket(kind, bucket) is is_named
