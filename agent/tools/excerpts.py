"""The part of a passage that is shown to a model, and text of documents between delimiters."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from agent.retrieval.relevance import QueryTerm, StemMatcher

_OPENING, _CLOSING = "<text>", "</text>"
# What looks like a delimiter, also with look-alikes of the angle brackets
_DELIMITER = re.compile(r"[<＜‹〈⟨]\s*(?P<slash>/?)\s*(?P<name>text)\b", re.IGNORECASE)
_JOINERS = "\u200c\u200d"  # some scripts need them between letters
_LINE_BREAKS = "\u2028\u2029"
MAX_RESULT_CHARACTERS = 20_000  # of documents, in the result of one call
_LEAD_SHARE = 0.25  # of an excerpt, that may stand before its first word of the query


def delimit_text(text: str) -> str:
    """Returns the text between delimiters that it cannot contain itself, so that it cannot end early."""
    harmless = _DELIMITER.sub(lambda match: f"({match['slash']}{match['name']}", drop_hidden_characters(text))
    return f"{_OPENING}\n{harmless}\n{_CLOSING}"


def drop_hidden_characters(text: str) -> str:
    """Returns the text without characters that no reader sees, which may hide instructions or change the direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\n" if character in _LINE_BREAKS else character
        for character in text
        if character in "\n\t"
        or character in _JOINERS
        or unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs")
    )


def quote_value(text: str, max_characters: int = 200) -> str:
    """Returns the text as a JSON string on one line, without its end if it is long."""
    shown = text if len(text) <= max_characters else text[:max_characters] + "…"
    return json.dumps(drop_hidden_characters(shown), ensure_ascii=False)


def join_lines(lines: Iterable[str]) -> str:
    """Returns the lines as far as a model should read them at once, and how many are left out."""
    kept, size, every_line = list[str](), 0, list(lines)
    for line in every_line:
        size += len(line)
        if kept and size > MAX_RESULT_CHARACTERS:
            return "\n".join((*kept, f"({len(every_line) - len(kept)} more lines are left out)"))
        kept.append(line[:MAX_RESULT_CHARACTERS])
    return "\n".join(kept)


def excerpt_of(text: str, length: int, query_terms: Sequence[QueryTerm], matcher: StemMatcher) -> str:
    """Returns the `length` characters of the text that hold most of the query, cut between words."""
    if len(text) <= length:
        return text
    start = min(max(_best_start(matcher.find_stems(text), length, query_terms), 0), len(text) - length)
    end = start + length
    if start:
        start = _next_blank(text, start)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + length // 2)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


def _best_start(positions: Mapping[str, Sequence[int]], length: int, query_terms: Sequence[QueryTerm]) -> int:
    weights = {term.stem: term.weight for term in query_terms}
    occurrences = sorted((position, stem) for stem, found in positions.items() for position in found)
    best, best_weight = 0, 0.0
    for position, _ in occurrences:
        start = position - int(_LEAD_SHARE * length)
        stems = {stem for other, stem in occurrences if start <= other < start + length}
        weight = sum(weights.get(stem, 0.0) for stem in stems)
        if weight > best_weight:
            best, best_weight = start, weight
    return best


def _next_blank(text: str, start: int) -> int:
    blank = text.find(" ", start, start + 40)
    return start if blank < 0 else blank + 1
