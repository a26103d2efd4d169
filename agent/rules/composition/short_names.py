"""Names without the noun for what they name: "the Mississippi" of the Mississippi River."""

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from storage.search.analyser import fold_text
from storage.search.ids import FieldName

_MAX_NAMES = 50_000
_MAX_WORDS_OF_PERSON = 3
_caches: WeakKeyDictionary[BucketLexicon, dict[FieldName, Mapping[str, str]]] = WeakKeyDictionary()


def short_names_of(key: FieldName, lexicon: BucketLexicon) -> Mapping[str, str]:
    """Returns the names in the field by what is left of each, folded, without the nouns of the bucket.

    Names that leave the same words are left out.
    """
    cache = _caches.setdefault(lexicon, {})
    if key not in cache:
        cache[key] = _find_short_names(key, lexicon)
    return cache[key]


def _find_short_names(key: FieldName, lexicon: BucketLexicon) -> Mapping[str, str]:
    vocabulary = lexicon.vocabulary_of(key)
    if vocabulary is None or len(vocabulary.values) > _MAX_NAMES:
        return {}
    nouns = lexicon.noun_stems
    names: dict[str, set[str]] = {}
    for counted in vocabulary.values:
        words = [word.text for word in lexicon.analyser.extract_words(counted.value)]
        stems = [term.text for term in lexicon.analyser.extract_terms(counted.value)]
        kept = [word for word, stem in zip(words, stems, strict=True) if stem not in nouns]
        if 0 < len(kept) < len(words):
            names.setdefault(" ".join(kept), set()).add(counted.value)
    if lexicon.roles.holds_people:
        for counted in vocabulary.values:
            if (first := _first_name_in(counted.value)) is not None:
                names.setdefault(first, set()).add(counted.value)
    return {short: next(iter(values)) for short, values in names.items() if len(values) == 1}


def _first_name_in(name: str) -> str | None:
    """Returns the folded first name of a person, in a list of people; None of a name that is no first and last name."""
    words = name.split()
    is_plain = 1 < len(words) <= _MAX_WORDS_OF_PERSON and all(word[:1].isupper() and word.isalpha() for word in words)
    return fold_text(words[0]) if is_plain and len(words[0]) > 1 else None


def longer_names(name: str, key: FieldName, lexicon: BucketLexicon) -> tuple[str, ...]:
    """ "Virginia": returns the names that hold this one among other words, such as "West Virginia"."""
    folded = f" {fold_text(name)} "
    vocabulary = lexicon.vocabulary_of(key)
    if vocabulary is None:
        return ()
    pairs = zip(lexicon.folded_values_of(key), vocabulary.values, strict=True)
    return tuple(counted.value for text, counted in pairs if folded in f" {text} " and folded.strip() != text)
