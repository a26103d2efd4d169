"""The languages whose numbers, money and days the project reads, and their CLDR data (through Babel)."""

from functools import cache

from babel import Locale

from storage.search.analyser import decompose_text, drop_marks

LANGUAGES = ("en", "de", "fr", "es")  # of the project; ISO 639-1
DOCUMENT_LANGUAGES = (*LANGUAGES, "pt", "id", "ms")  # receipts of these are read as well


@cache
def load_locale(identifier: str) -> Locale:
    """CLDR data of `de` or `de_CH`. The first one takes some 20 ms, each other 5 ms."""
    return Locale.parse(identifier)


def strip_accents(text: str) -> str:
    """`août` → `aout`: combining marks are dropped, every other character stays."""
    if text.isascii():
        return text
    return drop_marks(decompose_text(text))
