"""Which columns of a table are aligned as numbers."""

import pytest

from bot.surface.replies import TablePart


def is_numeric(*cells: str) -> bool:
    rows = tuple(("a", cell) for cell in cells)
    return TablePart(caption="", columns=("Name", "Value"), rows=rows).is_numeric(1)


@pytest.mark.parametrize(
    "cells",
    [
        ("1", "1,042"),
        ("USD 4,153.26", "EUR 12.00", "USD −40.00"),
        ("1.234,50 €", "−12,00 €"),
        ("$12.50", "-$3"),
        ("+92.7%", "−3%", "–"),
        ("", "7"),
        ("1 234,5",),
    ],
)
def test_numbers_amounts_and_percentages_are_numeric_also_beside_empty_cells(cells: tuple[str, ...]) -> None:
    assert is_numeric(*cells)


@pytest.mark.parametrize("cells", [("2031-05-09",), ("2031 Q1",), ("–",), (), ("12", "twelve"), ("12 kg",), ("A 12",)])
def test_days_words_and_empty_columns_are_not(cells: tuple[str, ...]) -> None:
    assert not is_numeric(*cells)


def test_the_first_column_names_the_rows_even_if_it_holds_years() -> None:
    table = TablePart(caption="", columns=("Year", "Sum"), rows=(("2022", "1"), ("2023", "2")))

    assert (table.is_numeric(0), table.is_numeric(1)) == (False, True)
