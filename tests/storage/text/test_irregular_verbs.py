"""Forms of irregular English verbs."""

import pytest

from storage.text.irregular_verbs import BASE_FORMS, base_form_of, past_participle_of


@pytest.mark.parametrize(
    ("form", "base"), [("bought", "buy"), ("taught", "teach"), ("given", "give"), ("was", "be"), ("table", "table")]
)
def test_a_form_of_an_irregular_verb_has_its_base_form(form: str, base: str) -> None:
    assert base_form_of(form) == base


@pytest.mark.parametrize(
    ("verb", "participle"),
    [
        ("buy", "bought"),
        ("inspect", "inspected"),
        ("plan", "planned"),
        ("supply", "supplied"),
        ("delay", "delayed"),
        ("refer", "referred"),
        ("offer", "offered"),
        ("cancel", "cancelled"),
        ("release", "released"),
        ("throw away", "thrown away"),
        ("open", "opened"),
    ],
)
def test_a_verb_has_its_past_participle(verb: str, participle: str) -> None:
    assert past_participle_of(verb) == participle


def test_no_base_form_is_a_form_of_another_verb() -> None:
    assert not {base for base in BASE_FORMS.values() if BASE_FORMS.get(base, base) != base}
