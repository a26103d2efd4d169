"""Text that any index can store."""

import re
from typing import cast

_SURROGATE = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Without lone surrogates, which JSON and PDFs can spell and no index can store; the length stays."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def without_halves(value: object) -> object:
    """The same for all strings of a JSON value."""
    match value:
        case str():
            return whole(value)
        case dict():
            return {
                str(without_halves(key)): without_halves(one) for key, one in cast(dict[object, object], value).items()
            }
        case list():
            return [without_halves(one) for one in cast(list[object], value)]
        case _:
            return value
