"""Recognition of identifiers such as part numbers, independent of the language of the text."""

import re

_IDENTIFIER_PATTERN = re.compile(r"(?=[^\W_]*[^\W\d_])(?=(?:\D*\d){2})[^\W_]+(?:-[^\W_]+)*")
_CANDIDATE_PATTERN = re.compile(r"(?<![\w-])[^\W_]+(?:-[^\W_]+)*(?![\w-])")
_MIN_LENGTH = 5  # characters


def is_identifier(word: str) -> bool:
    """Whether the word has letters and at least two digits, as "BC240" or "INV-2041" have."""
    return _IDENTIFIER_PATTERN.fullmatch(word) is not None and len(word) >= _MIN_LENGTH


def find_identifiers(text: str) -> list[str]:
    """Returns the identifiers in the text, as written, in order."""
    return [match[0] for match in _CANDIDATE_PATTERN.finditer(text) if is_identifier(match[0])]
