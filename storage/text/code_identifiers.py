"""The identifiers of programs, and the words that they are made of: `parseConfig`, `parse_config`."""

import re
from collections.abc import Iterator

_IDENTIFIER = re.compile(r"[^\W\d]\w{0,200}")
_RUN = re.compile(r"\d+|[^\W\d_]+")


def find_code_identifiers(text: str) -> Iterator[str]:
    """Yields the identifiers in order, as written."""
    return (match[0] for match in _IDENTIFIER.finditer(text))


def words_of_identifier(identifier: str) -> tuple[str, ...]:
    """Returns the words in small letters: of `parseHTTPConfig` parse, http, config."""
    return tuple(word.lower() for match in _RUN.finditer(identifier) for word in _divide_at_capitals(match[0]))


def _divide_at_capitals(run: str) -> Iterator[str]:
    """Yields `parse`, `HTTP` and `Config` of `parseHTTPConfig`."""
    start = 0
    for position in range(1, len(run)):
        begins_word = not run[position - 1].isupper() or run[position + 1 : position + 2].islower()
        if run[position].isupper() and begins_word:
            yield run[start:position]
            start = position
    yield run[start:]


def hidden_words_of(code: str, limit: int) -> tuple[str, ...]:
    """Returns the words of identifiers whose parts only capital letters tell apart, each word once, at most `limit`.

    An analyser that divides at signs finds the parts of `parse_config`, and takes `parseConfig` for one word.
    """
    words: dict[str, None] = {}
    for identifier in find_code_identifiers(code):
        for run in identifier.split("_"):
            parts = words_of_identifier(run)
            words |= dict.fromkeys(parts if len(parts) > 1 else ())
        if len(words) >= limit:
            break
    return tuple(words)[:limit]
