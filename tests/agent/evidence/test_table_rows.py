"""Rows of tables in texts, and the cells that hold what is counted."""

import pytest

from agent.evidence.table_rows import holds_counted_cell, split_cells

QUOTED = '"Ferry","Trips Made","Trips Cancelled"\n"Osprey","412","9"\n"Heron","many","3"'
PIPED = "| Ferry | Crew |\n| --- | --- |\n| Osprey | 7 |"


def test_a_row_is_split_into_its_cells() -> None:
    assert split_cells('"Osprey","1,412","said \\"no\\""') == ("Osprey", "1,412", 'said "no"')
    assert split_cells("| Osprey | 7 |") == ("Osprey", "7")
    assert split_cells("The Osprey, a ferry, sails at 7.") == ()


@pytest.mark.parametrize(
    ("row", "text", "noun", "question", "expected"),
    [
        ('"Osprey","412","9"', QUOTED, "trips", "how many trips has Osprey cancelled", True),
        ('"Osprey","412","9"', QUOTED, "trips", "how many trips does Osprey have", False),  # made or cancelled?
        ('"Heron","many","3"', QUOTED, "trips", "how many trips has Heron made", False),  # no number
        ('"Osprey","412","9"', QUOTED, "passengers", "how many passengers has Osprey", False),
        ("| Osprey | 7 |", PIPED, "crew", "how many crew has Osprey", True),
    ],
)
def test_a_number_answers_in_the_column_that_the_question_names(
    row: str, text: str, noun: str, question: str, expected: bool
) -> None:
    assert holds_counted_cell(row, text, noun, question) is expected
