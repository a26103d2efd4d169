"""Values without the words around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.extract.labels.plain_values import plain_value_of
from storage.ingest.extract.labels.value_members import members_of, people_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("EUR 940 per month", "EUR 940"),
        ("about USD 1,250.00 (net)", "USD 1,250.00"),
        ("940,- EUR", "940 EUR"),
        ("GBP 12,000 plus VAT", "GBP 12,000"),
        ("18 months (fixed)", "18 months"),
        ("two years", "2 years"),
        ("thirty (30) days", "30 days"),
        ("approx. 62 m²", "62 m²"),
        ("4 out of 5 stars", "4"),
        ("2 h 15 min", "135 min"),
        ("Tue, 6 May 2031 08:00:00 +0000", "2031-05-06"),
        ("6 May 2031, 14:00", "2031-05-06"),
        ("06/05/31 at 14:00", "06/05/31"),
        ("Nora Falk <n@x.example>", "Nora Falk"),
        ("Nora Falk (chair)", "Nora Falk"),
        ("Nora Falk, senior surveyor", "Nora Falk"),
    ],
)
def test_words_around_a_value_are_left_out(text: str, value: str) -> None:
    assert plain_value_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "12 High Street",
        "1 May 2031 to 30 April 2032",
        "EUR 900 to EUR 1,200",
        "Lyon, France",
        "Yes, with consent",
        "0113 496 0000",
        "LS1 4AB",
        "03/04/2031",
        "1st floor",
    ],
)
def test_a_value_that_says_more_stays_as_it_is(text: str) -> None:
    assert plain_value_of(text) == text


@given(
    number=st.integers(1, 99_999),
    currency=st.sampled_from(["EUR", "USD", "GBP"]),
    before=st.sampled_from(["", "about ", "approx. ", "ca. "]),
    after=st.sampled_from(["", " per month", " (net)", " plus VAT", ", payable in advance", " / year", " in total"]),
)
def test_an_amount_is_found_whatever_qualifies_it(number: int, currency: str, before: str, after: str) -> None:
    assert plain_value_of(f"{before}{currency} {number:,}{after}") == f"{currency} {number:,}"


@given(st.text(max_size=60))
def test_any_text_has_a_plain_value_and_reducing_it_again_changes_no_type(text: str) -> None:
    assert len(plain_value_of(text)) <= len(text) + 12


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("red; blue | green", ("red", "blue", "green")),
        ("red, blue", ("red", "blue")),
        ("Nora Falk (chair), Tim Brand and Ida Holm", ("Nora Falk", "Tim Brand", "Ida Holm")),
        ("Salt and pepper, oil", ("Salt and pepper", "oil")),
    ],
)
def test_a_text_is_divided_into_members(text: str, members: tuple[str, ...]) -> None:
    assert members_of(text) == members


def test_a_place_with_its_country_is_no_list_of_people() -> None:
    assert people_in("Lyon, France") == ()
