"""Blocks that hold rows: `table` and `data_table`."""

from collections.abc import Sequence
from typing import Any, cast

from tests.stand_ins.slack.refusing import Payload, check_flags, is_between, known, members, need, text_length, valid
from tests.stand_ins.slack.rich_text import check_rich_text

TABLE_ROWS, COLUMNS, TABLE_TEXT = 100, 20, 10_000  # (sdk)
DATA_ROWS, DATA_TEXT, PAGE = 201, 20_000, 100  # header included


def check_table(block: Payload, where: str) -> None:
    known(block, where, "rows", "column_settings")
    rows = _rows(block, where, 1, TABLE_ROWS)
    for row in rows:
        for cell in row:
            _check_cell(cell, where, "raw_text", "rich_text")
    _check_settings(block.get("column_settings", []), where, columns=len(rows[0]))
    need(text_length(block) <= TABLE_TEXT, "msg_blocks_too_long", f"{where}: over {TABLE_TEXT} characters")


def check_data_table(block: Payload, where: str) -> None:
    """The first row is the header, and rich text is not for it."""
    known(block, where, "rows", "caption", "page_size", "row_header_column_index")
    caption = block.get("caption")
    valid(isinstance(caption, str) and bool(caption.strip()), f"{where}: no caption")
    rows = _rows(block, where, 2, DATA_ROWS)
    for number, row in enumerate(rows):
        for cell in row:
            _check_cell(cell, where, "raw_text", "raw_number", *(["rich_text"] if number else []))
    valid(is_between(block.get("page_size", 5), 1, PAGE), f"{where}: page_size")
    valid(is_between(block.get("row_header_column_index", 0), 0, len(rows[0]) - 1), f"{where}: row header")


def data_length(block: Payload) -> int:
    """Characters of a `data_table`, numbers as they are shown."""
    numbers = (str(cell.get("value", "")) for row in block["rows"] for cell in row if cell["type"] == "raw_number")
    return text_length(block) + sum(len(number) for number in numbers)


def _rows(block: Payload, where: str, least: int, most: int) -> Sequence[Sequence[Any]]:
    rows = [members(row, where) for row in members(block.get("rows", []), where)]
    valid(least <= len(rows) <= most, f"{where}: {len(rows)} rows")  # (sdk)
    for row in rows:
        valid(1 <= len(row) <= COLUMNS and len(row) == len(rows[0]), f"{where}: {len(row)} cells")  # (sdk)
    return rows


def _check_cell(cell: Payload, where: str, *kinds: str) -> None:
    kind = cell.get("type")
    valid(kind in kinds, f"{where}: cell {kind!r}")
    if kind == "rich_text":
        check_rich_text(cell, f"{where} cell")
    elif kind == "raw_number":
        known(cell, f"{where} cell", "value", "text")
        number = cell.get("value")
        valid(isinstance(number, int | float) and not isinstance(number, bool), f"{where}: no number")
    else:
        known(cell, f"{where} cell", "text")
        valid(isinstance(cell.get("text"), str) and bool(cell["text"].strip()), f"{where}: empty cell")


def _check_settings(value: object, where: str, *, columns: int) -> None:
    """One a column at most; null leaves a column as it is."""
    settings = members(value, where)
    valid(len(settings) <= columns, f"{where}: column_settings")
    for one in settings:
        if one is not None:
            setting = cast(Payload, one)
            known(setting, f"{where} column", "align", "is_wrapped")
            valid(setting.get("align", "left") in {"left", "center", "right"}, f"{where}: align")
            check_flags(setting, f"{where} column", "is_wrapped")
