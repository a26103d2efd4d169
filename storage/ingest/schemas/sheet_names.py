"""Tells the names that a spreadsheet program gives its sheets from those that people give."""

import re

_DEFAULT_NAME = re.compile(r"(?:sheet|tabelle|feuil|feuille|hoja|blatt|table|foglio)\s*\d*", re.IGNORECASE)


def is_default_sheet_name(name: str) -> bool:
    """Whether the name is one like `Sheet1`, which says nothing of the rows."""
    return _DEFAULT_NAME.fullmatch(name.strip()) is not None
