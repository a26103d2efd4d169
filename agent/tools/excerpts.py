"""The part of a passage that is shown to a model, and text of documents between delimiters."""

from collections.abc import Iterable, Mapping, Sequence

from agent.retrieval.relevance import QueryTerm, StemMatcher
from prompts.data_texts import drop_hidden_characters, escape_tags

MAX_RESULT_CHARACTERS = 20_000  # of documents, in the result of one call
_LEAD_SHARE = 0.25  # of an excerpt, that may appear before its first word of the query


def delimit_text(text: str) -> str:
    """Returns the text between delimiters that it cannot contain itself, so that it cannot end early."""
    return f"<text>\n{escape_tags(drop_hidden_characters(text), 'text')}\n</text>"


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
