"""Where the tables of a text begin and end, and what their cells hold."""

import pytest

from agent.tables.cell_values import CellDay, read_cell
from agent.tables.text_tables import find_tables, looks_like_table

QUOTED = '"Boat","Berth"\n"Sea \\"Otter\\"","A, 3"\n"Heron\nII","B"\n"Gull","C"\n'
BARS = "Berths of the quay.\n\n| Boat | Berth |\n|------|-------|\n| Otter | 3 |\n| Heron | 5 |\n\nAsk the warden."
PLAIN_BARS = "Boat | Berth\nOtter | 3\nHeron | 5\n\nafter"


@pytest.mark.parametrize("text", [BARS, PLAIN_BARS, "Boat\tBerth\nOtter\t3\nHeron\t5\n"])
def test_a_table_in_a_text_has_named_columns_and_rows_with_their_place(text: str) -> None:
    (table,) = find_tables(text)

    assert table.names == ("Boat", "Berth")
    assert [row.cells for row in table.rows] == [("Otter", "3"), ("Heron", "5")]
    assert all(text[row.start : row.end] == row.text for row in table.rows)
    assert looks_like_table(text)


def test_quoted_cells_may_hold_commas_line_breaks_and_quotation_marks() -> None:
    (table,) = find_tables(QUOTED)

    assert [row.cells for row in table.rows] == [('Sea "Otter"', "A, 3"), ("Heron\nII", "B"), ("Gull", "C")]
    assert QUOTED[table.rows[1].start : table.rows[1].end] == '"Heron\nII","B"'


def test_a_text_without_rows_holds_no_table() -> None:
    text = "The quay opens at nine.\nAsk the warden | or the clerk."

    assert list(find_tables(text)) == []
    assert not looks_like_table(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("17,956", 17956),
        ("1,400 tons", 1400),
        ("3:11", 191),
        ("4th (tie)", 4),
        ("-10.7", -10.7),
        ("2.5 million", 2.5e6),
    ],
)
def test_a_cell_has_a_number_without_its_unit_and_its_marks(text: str, number: float) -> None:
    assert read_cell(text).number == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2001–02 season", [(2001, 0, 0), (2002, 0, 0)]),
        ("March 28, 1991 - January 20, 1993", [(1991, 3, 28), (1993, 1, 20)]),
        ("April 1 to June 21, 1945", [(1945, 4, 1), (1945, 6, 21)]),
        ("2031-05-09", [(2031, 5, 9)]),
    ],
)
def test_a_cell_has_days_as_far_as_they_are_written(text: str, days: list[tuple[int, int, int]]) -> None:
    assert list(read_cell(text).days) == [CellDay(year=year, month=month, day=day) for year, month, day in days]


@pytest.mark.parametrize("text", ["", "–", "n/a", "N/A"])
def test_a_cell_without_a_value_is_empty(text: str) -> None:
    assert read_cell(text).is_empty
