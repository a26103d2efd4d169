"""Names of fields and buckets in other languages, in English by the general vocabularies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from storage.text.vocabulary import GeneralVocabulary, VocabularyEntry, WordClass, load_vocabulary

_LINKING_LETTERS = ("s", "es", "n", "en", "e", "er")  # between the parts of a compound
_MIN_MODIFIER_LETTERS, _MIN_HEAD_LETTERS = 4, 4  # of the parts of a compound that names the documents
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
    if vocabulary is None:
        return None
    noun = vocabulary.write_accents(noun)
    entry = vocabulary.find_noun(noun)
    if entry is not None:
        return ForeignNoun(forms=vocabulary.number_forms_of(noun), english=entry.english)
    start = _find_head(noun, vocabulary)
    if start is None:
        return None
    before, head = noun[:start], noun[start:]
    entry = vocabulary.find_noun(head)
    singular, plural = vocabulary.number_forms_of(head)
    return ForeignNoun(forms=(before + singular, before + plural), english=entry.english if entry is not None else ())


def write_name(name: str, language: str) -> str:
    """The name with the accents that the vocabulary of the language has: `Auftraege` → `Aufträge`."""
    vocabulary = load_vocabulary(language)
    return name if vocabulary is None else " ".join(map(vocabulary.write_accents, name.split(" ")))


def _find_head(noun: str, vocabulary: GeneralVocabulary) -> int | None:
    """Where the last part of a compound begins, in a language that writes compounds as one word."""
    if not vocabulary.writes_compounds:
        return None
    starts = range(_MIN_MODIFIER_LETTERS, len(noun) - _MIN_HEAD_LETTERS + 1)
    return next((start for start in starts if vocabulary.find_noun(noun[start:]) is not None), None)


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
