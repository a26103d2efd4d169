"""Names of fields and buckets in other languages, in English by the general vocabularies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from storage.text.vocabulary import GeneralVocabulary, VocabularyEntry, WordClass, load_vocabulary

_LINKING_LETTERS = ("s", "es", "n", "en", "e", "er")  # between the parts of a compound
_MAX_NAMES = 4  # English names of one field
# Small words in names: "date de fin" is the end date, "fällig am" is due on.
_OF_WORDS = frozenset("de du des d la le del von der".split())
_SMALL_WORDS = {"am": "on", "le": "on", "el": "on", "bis": "until", "ab": "from", "von": "from", "seit": "since"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignNoun:
    """A noun of another language: its singular and plural, and its English words, in the singular."""

    forms: tuple[str, str]
    english: tuple[str, ...]


def nouns_like(noun: str, language: str) -> ForeignNoun | None:
    """The noun with its other number; None if the vocabulary of the language has no such noun."""
    vocabulary = load_vocabulary(language)
    entry = None if vocabulary is None else vocabulary.find_noun(noun)
    if vocabulary is None or entry is None:
        return None
    singular, plural = vocabulary.number_forms_of(noun)
    return ForeignNoun(forms=(singular, plural), english=entry.english)


def translate_name(words: Sequence[str], language: str) -> Sequence[str]:
    """The English names that a name may have, the likeliest first; none if a word of it is not in the vocabulary."""
    vocabulary = load_vocabulary(language)
    if vocabulary is None or not words:
        return ()
    return tuple(dict.fromkeys(_translate_words(list(words), vocabulary)))[:_MAX_NAMES]


def _translate_words(words: Sequence[str], vocabulary: GeneralVocabulary) -> Iterator[str]:
    of_place = next(
        (index for index, word in enumerate(words) if 0 < index < len(words) - 1 and word in _OF_WORDS), None
    )
    if of_place is not None and (rest := [word for word in words[of_place:] if word not in _OF_WORDS]):
        words = [*rest, *words[:of_place]]
    options = [_english_of(word, vocabulary) for word in words]
    if any(not english for english in options) or all(word in _SMALL_WORDS for word in words):
        return
    yield from (" ".join(english) for english in product(*options))


def _english_of(word: str, vocabulary: GeneralVocabulary) -> Sequence[str]:
    entries = vocabulary.find_entries(word)
    if entries:
        return tuple(
            english
            for entry in sorted(entries, key=_is_verb)
            for english in (entry.inflected if entry.is_past else entry.english)
        )
    if word in _SMALL_WORDS:
        return (_SMALL_WORDS[word],)
    parts = vocabulary.split_compound(word, _LINKING_LETTERS)
    return tuple(" ".join(english) for english in product(*(part.english for part in parts))) if parts else ()


def _is_verb(entry: VocabularyEntry) -> bool:
    return entry.word_class is WordClass.VERB
