"""Checks the blocks with rows: `table` and `data_table`."""

from collections.abc import Sequence
from typing import Any, cast

from tests.stand_ins.slack.refusing import (
    Payload,
    check_flags,
    check_known_keys,
    is_between,
    list_members,
    refuse_block_unless,
    refuse_unless,
    text_length,
)
from tests.stand_ins.slack.rich_text import check_rich_text

TABLE_ROWS, COLUMNS, TABLE_TEXT = 100, 20, 10_000  # (sdk)
DATA_ROWS, DATA_TEXT, PAGE = 201, 20_000, 100  # header included


def check_table(block: Payload, where: str) -> None:
    check_known_keys(block, where, "rows", "column_settings")
    rows = _checked_rows(block, where, 1, TABLE_ROWS)
    for row in rows:
        for cell in row:
            _check_cell(cell, where, "raw_text", "rich_text")
    _check_column_settings(block.get("column_settings", []), where, columns=len(rows[0]))
    refuse_unless(text_length(block) <= TABLE_TEXT, "msg_blocks_too_long", f"{where}: over {TABLE_TEXT} characters")


def check_data_table(block: Payload, where: str) -> None:
    """Check a data table. Its first row is the header, which takes no rich text."""
    check_known_keys(block, where, "rows", "caption", "page_size", "row_header_column_index")
    caption = block.get("caption")
    refuse_block_unless(isinstance(caption, str) and bool(caption.strip()), f"{where}: no caption")
    rows = _checked_rows(block, where, 2, DATA_ROWS)
    for number, row in enumerate(rows):
        for cell in row:
            _check_cell(cell, where, "raw_text", "raw_number", *(["rich_text"] if number else []))
    refuse_block_unless(is_between(block.get("page_size", 5), 1, PAGE), f"{where}: page_size")
    refuse_block_unless(
        is_between(block.get("row_header_column_index", 0), 0, len(rows[0]) - 1), f"{where}: row header"
    )


def data_table_length(block: Payload) -> int:
    """Returns the number of characters of a `data_table`, with numbers as shown."""
    numbers = (str(cell.get("value", "")) for row in block["rows"] for cell in row if cell["type"] == "raw_number")
    return text_length(block) + sum(len(number) for number in numbers)


def _checked_rows(block: Payload, where: str, least: int, most: int) -> Sequence[Sequence[Any]]:
    rows = [list_members(row, where) for row in list_members(block.get("rows", []), where)]
    refuse_block_unless(least <= len(rows) <= most, f"{where}: {len(rows)} rows")  # (sdk)
    for row in rows:
        refuse_block_unless(
            1 <= len(row) <= COLUMNS and len(row) == len(rows[0]), f"{where}: {len(row)} cells"
        )  # (sdk)
    return rows


def _check_cell(cell: Payload, where: str, *kinds: str) -> None:
    kind = cell.get("type")
    refuse_block_unless(kind in kinds, f"{where}: cell {kind!r}")
    if kind == "rich_text":
        check_rich_text(cell, f"{where} cell")
    elif kind == "raw_number":
        check_known_keys(cell, f"{where} cell", "value", "text")
        number = cell.get("value")
        refuse_block_unless(isinstance(number, int | float) and not isinstance(number, bool), f"{where}: no number")
    else:
        check_known_keys(cell, f"{where} cell", "text")
        refuse_block_unless(isinstance(cell.get("text"), str) and bool(cell["text"].strip()), f"{where}: empty cell")


def _check_column_settings(value: object, where: str, *, columns: int) -> None:
    """Check the column settings: at most one per column; null means no setting."""
    settings = list_members(value, where)
    refuse_block_unless(len(settings) <= columns, f"{where}: column_settings")
    for value_or_null in settings:
        if value_or_null is not None:
            setting = cast(Payload, value_or_null)
            check_known_keys(setting, f"{where} column", "align", "is_wrapped")
            refuse_block_unless(setting.get("align", "left") in {"left", "center", "right"}, f"{where}: align")
            check_flags(setting, f"{where} column", "is_wrapped")
