"""Language detection by common words, to choose the stemmer of a bucket."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from storage.text.vocabulary import fold_letters, list_vocabularies, load_vocabulary

_STEMMED_LANGUAGES = ("en", "de", "fr", "es")
_COMMON_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(word for word in words.split() if len(word) > 1)
    for language, words in {
        "en": "the of and to in is for that with as this by on are be or from an which it at was shall not have",
        "de": "der die das und den von zu mit sich des ist im für auf ein eine dem nicht als auch werden bei oder wird",
        "fr": "de la en un le les des et du une est dans que pour qui sur par au pas avec sont aux cette ou ne ce il",
        "es": "de la un el los las del y en que por con una para se al lo como más pero sus este entre su no ha son",
        "it": "la un il di che è per una con non sono della del da gli nel alla dei delle anche più si questo le ha al",
        "pt": "de um o os do da em que não uma para com por dos das ao mais se na no são pela pelo como foi seu",
        "nl": "de het een van en in is dat op te zijn voor met die niet aan er om ook als bij door naar wordt",
        "sv": "och att det som en på är av för med den till inte har ett om var de kan vid från eller ska",
        "pl": "i w na z do się nie to jest że o od za przez po dla oraz są jak przy lub który być tym",
    }.items()
}
_WORD_PATTERN = re.compile(r"[^\W\d_]+")
_MAX_TEXT_CHARS = 2_000  # characters of a text
_MAX_TEXTS = 300
_MIN_WORDS = 30  # with fewer words there is no detection
_MIN_COMMON_SHARE = 0.08  # of the words; prose has at least this share of its language's common words
_MIN_COMMON_WORDS = 3  # different ones in prose; a table repeats one: the "No" of its flags is a Spanish word, too
_FIRST_NON_LATIN = 0x250
_MIN_VOCABULARY_SHARE = 0.08  # of the words of a table that must be words of its language
_MIN_VOCABULARY_WORDS = 2  # different ones


@dataclass(slots=True)
class LanguageDetector:
    """Counts the words of a bucket's texts by language."""

    text_count: int = 0
    word_count: int = 0
    foreign_word_count: int = 0  # words in another script than Latin
    common_word_counts: Counter[str] = field(default_factory=Counter[str])  # language -> common words of the language
    _common_words: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])  # that were found: language, word
    _words: Counter[str] = field(default_factory=Counter[str])

    def add_names(self, names: Iterable[str]) -> None:
        """Count the names of a table's columns. Ignores those of records after the first few hundred."""
        if self.text_count <= _MAX_TEXTS:
            self._words.update(word for name in names for word in map(fold_letters, _WORD_PATTERN.findall(name)))

    def add_text(self, text: str) -> None:
        """Count the words at the beginning of a text. Ignores texts after the first few hundred."""
        if self.text_count >= _MAX_TEXTS:
            return
        self.text_count += 1
        words = [word.lower() for word in _WORD_PATTERN.findall(text[:_MAX_TEXT_CHARS])]
        self.word_count += len(words)
        self._words.update(map(fold_letters, words))
        self.foreign_word_count += sum(ord(word[0]) >= _FIRST_NON_LATIN for word in words)
        for language, common in _COMMON_WORDS.items():
            found = [word for word in words if word in common]
            self.common_word_counts[language] += len(found)
            self._common_words.update((language, word) for word in found)

    @property
    def language(self) -> str:
        """The detected language, ISO 639-1; empty for a language without a stemmer.

        Tables have only names and figures, so the words of their columns and values tell it; `en` if there are too few.
        """
        if self.word_count < _MIN_WORDS:
            return self._find_language_of_table()
        if 2 * self.foreign_word_count > self.word_count:
            return ""
        best, count = max(self.common_word_counts.items(), key=lambda pair: (pair[1], pair[0] == "en"))
        different = sum(language == best for language, _ in self._common_words)
        if count < _MIN_COMMON_SHARE * self.word_count or different < _MIN_COMMON_WORDS:
            return self._find_language_of_table()
        return best if best in _STEMMED_LANGUAGES else ""

    def _find_language_of_table(self) -> str:
        """The language whose vocabulary has most of the words that are not English; else `en`."""
        vocabularies = [
            vocabulary for vocabulary in map(load_vocabulary, list_vocabularies()) if vocabulary is not None
        ]
        english = frozenset[str]().union(*(vocabulary.english_words for vocabulary in vocabularies))
        english_count = sum(count for word, count in self._words.items() if word in english)
        shares: dict[str, int] = {}
        for vocabulary in vocabularies:
            known = {word: count for word, count in self._words.items() if word in vocabulary and word not in english}
            if len(known) >= _MIN_VOCABULARY_WORDS:
                shares[vocabulary.language] = sum(known.values())
        best = max(shares, key=shares.__getitem__, default="en")
        is_clear = shares.get(best, 0) > max(english_count, _MIN_VOCABULARY_SHARE * self._words.total())
        return best if is_clear and best in _STEMMED_LANGUAGES else "en"
