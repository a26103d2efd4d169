"""Replaces lone surrogates, so that any index can store the text."""

import re
from typing import cast

_SURROGATE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """Returns the text with U+FFFD for each lone surrogate; the length stays the same.

    JSON and PDF files can contain lone surrogates, and no index can store them.
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def replace_surrogates_in_json(value: object) -> object:
    """Replaces the lone surrogates in all strings of a JSON value."""
    match value:
        case str():
            return replace_surrogates(value)
        case dict():
            return {
                str(replace_surrogates_in_json(key)): replace_surrogates_in_json(member)
                for key, member in cast(dict[object, object], value).items()
            }
        case list():
            return [replace_surrogates_in_json(member) for member in cast(list[object], value)]
        case _:
            return value
