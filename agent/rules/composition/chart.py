"""Finds the readings of all spans of a question, the shorter ones first (the algorithm of Cocke, Younger, Kasami)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from agent.rules.composition.phrases import Phrase, SpanPhrase

Combine: TypeAlias = Callable[[SpanPhrase, SpanPhrase], Iterable[SpanPhrase]]
_MAX_READINGS = 10  # of one span, the most likely ones


Chart: TypeAlias = Mapping[tuple[int, int], Sequence[SpanPhrase]]


def parse_spans(token_count: int, words: Iterable[SpanPhrase], combine: Combine) -> Chart:
    """Returns the readings of each span of tokens, the most likely first.

    `words` are the phrases of single words and names. `combine` yields what two phrases side by side may mean.
    """
    readings: dict[tuple[int, int], dict[Phrase, SpanPhrase]] = {}
    for phrase in words:
        _keep_better(readings.setdefault((phrase.first, phrase.last), {}), phrase)
    best: dict[tuple[int, int], Sequence[SpanPhrase]] = {}
    for length in range(1, token_count + 1):
        for first in range(token_count - length + 1):
            last = first + length
            found = readings.setdefault((first, last), {})
            for middle in range(first + 1, last):
                for left in best[first, middle]:
                    for right in best[middle, last]:
                        for phrase in combine(left, right):
                            _keep_better(found, phrase)
            best[first, last] = sorted(found.values(), key=lambda phrase: phrase.cost)[:_MAX_READINGS]
    return best


def _keep_better(found: dict[Phrase, SpanPhrase], phrase: SpanPhrase) -> None:
    known = found.get(phrase.phrase)
    if known is None or phrase.cost < known.cost:
        found[phrase.phrase] = phrase
