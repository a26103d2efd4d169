"""Question phrases: synonyms of a field that ask for it by a verb or adjective, around words of the question.

"who … repair" matches "who then repaired", "how … reach" matches "how do I reach". The last part of the phrase is
linked to the field. Forms of one irregular verb are the same word. Where only the last part appears in the question, it
is a hint, which needs support.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from agent.english.function_words import PREPOSITIONS, STOP_WORDS
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import Analyser
from storage.search.schema import QUESTION_GAP
from storage.text.irregular_verbs import base_form_of

_PRONOUN_FORMS = {"whom": "who"}
_WORDS_AFTER_VERB = PREPOSITIONS | frozenset("a an the our us me here there now today then again currently".split())
_LIMIT_WORDS = frozenset({"until", "till"})
_MAX_GAP = 9  # tokens of the question in one gap
_MAX_OPENING = 2  # tokens before a phrase of function words alone: "so where is …"
_CONTENT_WEIGHT, _FUNCTION_WEIGHT = 2.1, 0.3  # of a word in the last part
_CONTEXT_WEIGHT = 0.2  # of each word in the other parts
Meaning = TypeVar("Meaning")


@dataclass(frozen=True, slots=True)
class PhraseMatch(Generic[Meaning]):
    """`tokens[first:last]` are the last part of a phrase; if it `is_complete`, the others appear before it."""

    first: int
    last: int
    meaning: Meaning
    weight: float
    is_complete: bool
    has_content: bool  # the last part is more than function words
    context: frozenset[int] = frozenset()  # the tokens of the other parts

    @property
    def tokens(self) -> frozenset[int]:
        return self.context | frozenset(range(self.first, self.last))


@dataclass(frozen=True, slots=True)
class _IndexedPhrase(Generic[Meaning]):
    parts: tuple[tuple[str, ...], ...]
    has_content: bool  # the last part is more than function words
    weight: float
    meaning: Meaning

    @property
    def asks_for_limit(self) -> bool:
        """ "Until when … deliver": the verb alone says what was done, and not by when it must be."""
        return self.parts[0][0] in _LIMIT_WORDS


class QuestionPhraseIndex(Generic[Meaning]):
    """The question phrases of one bucket by the last word of their last part."""

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser
        self._stem_by_base: dict[str, str] = {}
        self._phrases = defaultdict[str, list[_IndexedPhrase[Meaning]]](list)

    def add_phrase(self, text: str, meaning: Meaning) -> None:
        parts = [[word.text for word in self._analyser.extract_words(part)] for part in text.split(QUESTION_GAP)]
        words = [tuple(map(self._base_stem_of, part)) for part in parts if part]
        if not words:
            return
        last_part = [part for part in parts if part][-1]
        content_count = sum(base_form_of(word) not in STOP_WORDS for word in last_part)
        weight = (
            max(_CONTENT_WEIGHT * content_count, _CONTENT_WEIGHT)
            + _FUNCTION_WEIGHT * (len(last_part) - max(content_count, 1))
            + _CONTEXT_WEIGHT * sum(len(part) for part in words[:-1])
        )
        self._phrases[words[-1][-1]].append(
            _IndexedPhrase(tuple(words), has_content=content_count > 0, weight=weight, meaning=meaning)
        )

    def find_matches(self, tokens: Sequence[QuestionToken]) -> Iterator[PhraseMatch[Meaning]]:
        """Yields the matches in the order of the question."""
        if not self._phrases:
            return
        stems = [self._base_stem_of(token.word, token.stem) for token in tokens]
        for last in range(1, len(stems) + 1):
            for phrase in self._phrases.get(stems[last - 1], ()):
                first = last - len(phrase.parts[-1])
                if first < 0 or tuple(stems[first:last]) != phrase.parts[-1]:
                    continue
                if any(token.is_quoted for token in tokens[first:last]):
                    continue
                context = _find_context(phrase.parts[:-1], stems, first)
                is_complete = context is not None and (
                    phrase.has_content or _asks_by_function_words(context, tokens, first, last)
                )
                if is_complete or (phrase.has_content and not phrase.asks_for_limit):
                    yield PhraseMatch(
                        first,
                        last,
                        phrase.meaning,
                        phrase.weight,
                        is_complete=is_complete,
                        has_content=phrase.has_content,
                        context=context or frozenset(),
                    )

    def _base_stem_of(self, word: str, stem: str = "") -> str:
        """Returns the stem of the base form; `stem` is the stem of the word itself, if it is known."""
        base = _PRONOUN_FORMS.get(word) or base_form_of(word)
        if base == word and stem:
            return stem
        if base not in self._stem_by_base:
            self._stem_by_base[base] = "".join(self._analyser.index_terms_of(base).joined_terms.split()) or base
        return self._stem_by_base[base]


def _asks_by_function_words(context: frozenset[int], tokens: Sequence[QuestionToken], first: int, last: int) -> bool:
    """Whether function words alone ask for the field: "who has L-12", "what does she do here", "whose dog is …".

    They open the question, and no verb or adjective follows the verb, only names and function words.
    """
    ends_in_preposition = last < len(tokens) and tokens[-1].word in PREPOSITIONS  # "where is it from" is not "where is"
    if min(context, default=first) > _MAX_OPENING or ends_in_preposition:
        return False
    return not context or all(
        token.word in _WORDS_AFTER_VERB or token.is_name or token.is_quoted for token in tokens[last:]
    )


def _find_context(parts: Sequence[tuple[str, ...]], stems: Sequence[str], end: int) -> frozenset[int] | None:
    """Returns the tokens of the parts if they appear before `end` in their order and near one another; else None."""
    found: set[int] = set()
    for part in reversed(parts):
        earliest = max(end - _MAX_GAP - len(part), 0)
        starts = range(end - len(part), earliest - 1, -1)
        start = next((start for start in starts if tuple(stems[start : start + len(part)]) == part), None)
        if start is None:
            return None
        found |= set(range(start, start + len(part)))
        end = start
    return frozenset(found)


def choose_matches(
    matches: Sequence[PhraseMatch[Meaning]], count_support: Callable[[PhraseMatch[Meaning]], float]
) -> list[PhraseMatch[Meaning]]:
    """Returns the complete matches without those that another one explains better.

    A match gives way to one with more of the same words, a match of function words to any other, and of the matches on
    the same words the best supported by the rest of the question stay.
    """
    complete = [match for match in matches if match.is_complete]
    starts = {min(match.tokens) for match in complete}
    # "since when", "until when": the preposition belongs to the question
    complete = [match for match in complete if min(match.tokens) - 1 not in starts]
    if any(match.has_content for match in complete):
        complete = [match for match in complete if match.has_content]
    longest = [match for match in complete if not any(match.tokens < other.tokens for other in complete)]
    spans = defaultdict[tuple[int, int], list[PhraseMatch[Meaning]]](list)
    for match in longest:
        spans[match.first, match.last].append(match)
    chosen: dict[tuple[int, int, Meaning], PhraseMatch[Meaning]] = {}
    for span, candidates in spans.items():
        support = {match.meaning: count_support(match) for match in candidates}
        best = (match for match in candidates if support[match.meaning] == max(support.values()))
        chosen |= {(*span, match.meaning): match for match in best}
    return list(chosen.values())
