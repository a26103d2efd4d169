"""Quoted lines are shown without the marks of Markdown."""

import pytest

from agent.compose.phrases.words import clean_quotation


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Visit to Thomas Keane", "Visit to Thomas Keane"),
        ("- A new key costs **48 euros**.", "A new key costs 48 euros."),
        ("> - Odometer: `139,620 km`", "Odometer: 139,620 km"),
        ("| Courtesy car | for at most **21** days |", "Courtesy car: for at most 21 days"),
        ("Reporting a loss | within 7 days", "Reporting a loss: within 7 days"),
        ("|---|:--|", ""),
        ("Kind .................. break-in", "Kind: break-in"),
        ("Kind: ........ break-in", "Kind: break-in"),
        ("Signed ______________", "Signed"),
        ("2 * 3 * 4 and snake__case", "2 * 3 * 4 and snake__case"),
        ("-40 °C to 85 °C", "-40 °C to 85 °C"),
        ("> 5 V at the input", "> 5 V at the input"),
        ("- 40 °C", "- 40 °C"),
        ("a|b", "a|b"),
        ("id: V7\ntitle: La Traviata\ntickets_sold: 339", "title: La Traviata · tickets sold: 339"),
        ("Two lines: first\nsecond: line", "Two lines: first\nsecond: line"),
    ],
)
def test_a_quotation_has_no_marks(text: str, shown: str) -> None:
    assert clean_quotation(text) == shown
