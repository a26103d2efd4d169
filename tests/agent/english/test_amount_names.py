"""Which amount of a record is its total."""

import pytest

from agent.english.amount_names import phrases_of_tax, rank_amount_name


@pytest.mark.parametrize(
    ("words", "rank"),
    [("total", 4), ("total inc vat", 4), ("vat", -1), ("total tax", -1), ("fee no vat", 1), ("total per unit", 0)],
)
def test_a_total_with_its_tax_is_not_the_tax(words: str, rank: int) -> None:
    assert rank_amount_name(set(words.split())) == rank


def test_a_label_says_whether_the_tax_is_in_the_amount() -> None:
    assert {"inc vat", "vat included", "vat and all"} <= set(phrases_of_tax("Total inc VAT"))
    assert {"without vat", "before vat"} <= set(phrases_of_tax("Fee (£, no VAT)"))
    assert "excluding tax" in phrases_of_tax("Net")
    assert phrases_of_tax("VAT") == ()
    assert phrases_of_tax("Price") == ()
