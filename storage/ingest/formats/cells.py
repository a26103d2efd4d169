"""Cells of tables."""

from typing import TypeAlias

CellValue: TypeAlias = str | int | float | bool | None  # None: blank


def text_of_cell(cell: CellValue) -> str:
    """Returns the cell as a spreadsheet shows it: at most 15 digits, `yes` and `no`; empty for a blank cell."""
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:.15g}"
        case _:
            return str(cell)
