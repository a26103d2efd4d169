"""Words of a question that the documents have in another form: as parts of a compound, or from the same root."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.english.function_words import (
    AGGREGATE_WORDS,
    CONTAINER_NOUNS,
    EMPTY_WORDS,
    EVERYDAY_WORDS,
    FILLER_WORDS,
    GENERIC_NOUNS,
    HAVING_VERBS,
    KINDS_OF_WRITING,
    MONEY_WORDS,
    PEOPLE_NOUNS,
    VAGUE_ADJECTIVES,
)
from agent.languages.language_pack import LanguagePack
from storage.quantities.days import ENGLISH_MONTHS
from storage.text.vocabulary import fold_letters

_MIN_PART_LETTERS = 3
_MIN_ROOT_LETTERS = 5
_WORDS_OF_ANY_BUCKET = (
    AGGREGATE_WORDS | CONTAINER_NOUNS | EMPTY_WORDS | EVERYDAY_WORDS | FILLER_WORDS | GENERIC_NOUNS | HAVING_VERBS
    | KINDS_OF_WRITING | MONEY_WORDS | PEOPLE_NOUNS | VAGUE_ADJECTIVES
)  # fmt: skip
_MEASURES = {"total": "sum of", "sum": "sum of", "number": "number of", "average": "average", "mean": "average"}


class BucketWords(Protocol):
    """What a bucket knows of words."""

    @property
    def language(self) -> str:
        """Of the documents, ISO 639-1; empty for a language without a stemmer."""
        ...

    @property
    def field_names(self) -> Sequence[str]:
        """The names of the fields as the documents have them."""
        ...

    def names_field_or_kind(self, phrase: str) -> bool:
        """Whether the phrase names a field or the documents, or is a word of such a name."""
        ...

    def knows_word(self, word: str) -> bool:
        """Whether the word appears in a name or a value, in any inflection."""
        ...

    def find_values(self, question: str) -> Sequence[tuple[int, int]]:
        """The places in the question at which values or titles of the documents stand."""
        ...

    def is_part_of_name(self, word: str) -> bool:
        """Whether the word is one of several in the name of a person, a company or a thing."""
        ...


def means_nothing_special(english: str) -> bool:
    """Whether the rules read the English words in every bucket: "thing", "people", "amount"."""
    return all(word in _WORDS_OF_ANY_BUCKET for word in english.lower().split())


@dataclass(frozen=True, slots=True)
class _CompoundPart:
    text: str
    is_name: bool  # of a field or of the documents


class CompoundDivider:
    """Divides compounds of words that buckets know: "Heizungsaufträge" → "Heizung Aufträge"."""

    def __init__(self, pack: LanguagePack, buckets: Sequence[BucketWords]) -> None:
        self._pack, self._buckets = pack, buckets

    def divide_word(self, written: str) -> str | None:
        """Returns the parts in the order of English; None for a word that is known as a whole or has unknown parts."""
        if len(written) < 2 * _MIN_PART_LETTERS or any(bucket.knows_word(written) for bucket in self._buckets):
            return None
        spellings = dict.fromkeys((written.lower(), *reversed(self._pack.spellings_of(written))))
        return next((text for form in spellings for text in self._divide_form(form)), None)

    def _divide_form(self, form: str) -> Iterator[str]:
        """The divisions into a known modifier and a head; a head that names something comes first."""
        divisions: list[tuple[bool, str]] = []
        for start in range(_MIN_PART_LETTERS, len(form) - _MIN_PART_LETTERS + 1):
            head = self._find_head(form[start:])
            if head is None:
                continue
            measure = _MEASURES.get(head.text)
            modifier = self._find_modifier(form[:start], names_kind=measure is not None)
            if modifier is not None:
                text = f"{measure} {modifier}" if measure else f"{modifier} {head.text}".strip()
                divisions.append((not head.is_name, text))
        divisions.sort(key=lambda division: division[0])
        yield from (text for _, text in divisions)

    def _find_head(self, text: str) -> _CompoundPart | None:
        if any(bucket.names_field_or_kind(text) for bucket in self._buckets):
            return _CompoundPart(text, is_name=True)
        noun = self._pack.vocabulary.find_noun(text)
        if noun is not None:
            for english in noun.inflected:
                if any(bucket.names_field_or_kind(english) for bucket in self._buckets):
                    return _CompoundPart(english, is_name=True)
            if noun.english[0] in _MEASURES:
                return _CompoundPart(noun.english[0], is_name=True)
            if means_nothing_special(noun.english[0]):
                return _CompoundPart(noun.inflected[0], is_name=True)
        is_known = len(text) > _MIN_PART_LETTERS and any(bucket.knows_word(text) for bucket in self._buckets)
        return _CompoundPart(text, is_name=False) if is_known or noun is not None else None

    def _find_modifier(self, text: str, *, names_kind: bool) -> str | None:
        """The modifier without its linking letters: a value or the name of a field of a bucket, or a month."""
        letters = [end for end in self._pack.content.linking_letters if text.endswith(end)]
        stems = [text[: -len(end)] for end in sorted(letters, key=len, reverse=True)]
        for stem in (*stems, text, f"{text}e", f"{text}en"):
            if len(stem) <= _MIN_PART_LETTERS:
                continue
            month = self._pack.months.get(fold_letters(stem))
            if month is not None:
                return ENGLISH_MONTHS[month - 1]
            if any(self._knows_modifier(bucket, stem, names_kind=names_kind) for bucket in self._buckets):
                is_name = any(bucket.is_part_of_name(stem) for bucket in self._buckets)
                return stem.capitalize() if is_name else stem
        return None

    def _knows_modifier(self, bucket: BucketWords, stem: str, *, names_kind: bool) -> bool:
        is_word = stem not in self._pack.function_words and bucket.knows_word(stem)
        return is_word and (names_kind or not bucket.names_field_or_kind(stem) or bool(bucket.find_values(stem)))


class RelatedNames:
    """Finds the name of a field from the same root: "lektoriert" → "Lektorat", "betreuen" → "Betreuung"."""

    def __init__(self, pack: LanguagePack, buckets: Sequence[BucketWords]) -> None:
        self._pack = pack
        self._names_by_root: dict[str, set[str]] = {}
        for name in {name for bucket in buckets for name in bucket.field_names}:
            if name.isalpha():
                self._names_by_root.setdefault(self._root_of(name), set()).add(name)

    def find_name(self, written: str) -> str | None:
        """Returns the only field name of the root; None if there is none or several."""
        root = self._root_of(written)
        names = self._names_by_root.get(root, set()) if len(root) >= _MIN_ROOT_LETTERS else set[str]()
        return next(iter(names)) if len(names) == 1 else None

    def _root_of(self, written: str) -> str:
        word = self._pack.fold_word(written)
        if self._pack.content.participle_pattern:
            word = re.sub(r"^([a-z]{2,5})?ge([a-z]{3,}t)$", r"\g<1>\g<2>", word)
        for ending in self._pack.derived_endings:
            if word.endswith(ending) and len(word) - len(ending) >= _MIN_ROOT_LETTERS:
                return word[: -len(ending)]
        return word
