"""Sentences of other languages in English words, one for one, as far as the pack and the vocabulary know them.

What the rules know about words they know of English: how near two words are in meaning, which words deny, which kind of
value is asked for. A gloss is read by these rules; it is never shown.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from agent.english.function_words import QUESTION_WORDS, STOP_WORDS, YES_NO_VERBS
from agent.languages.language_pack import LanguagePack, load_pack
from storage.search.analyser import fold_text

_MIN_HEAD_LETTERS, _MIN_MODIFIER_LETTERS = 4, 3  # of the parts of a compound whose last part is known
_ENGLISH_FUNCTION_WORDS = STOP_WORDS | QUESTION_WORDS | YES_NO_VERBS
_ENGLISH_SALUTATIONS = frozenset("mr mrs ms miss mister dr prof professor sir madam".split())
_WORD = re.compile(r"[^\W_]+")


class WordGlosses(Protocol):
    """The English words of one language."""

    @property
    def is_english(self) -> bool:
        """Whether all words stay as they are."""
        ...

    @property
    def salutations(self) -> frozenset[str]:
        """The folded words before a person's name that say nothing about the person."""
        ...

    def gloss_of(self, word: str) -> str:
        """Returns the English words of a word; the word itself if it is unknown."""
        ...

    def gloss_sentence(self, text: str) -> str:
        """Returns a sentence of the documents with the English words of those that are known."""
        ...

    def gloss_question(self, text: str) -> str:
        """Returns a question, whose function words are English already, with the English words of the others."""
        ...

    def is_common_word(self, word: str) -> bool:
        """Whether the word is not a name, though it is written with a capital letter."""
        ...

    def may_be_name(self, word: str) -> bool:
        """Whether the word, which has a capital letter, is missing from the vocabulary of the language."""
        ...


class EnglishGlosses:
    """The glosses of English itself, and of a language without a pack: every word stays."""

    is_english = True
    salutations = _ENGLISH_SALUTATIONS

    def gloss_of(self, word: str) -> str:
        return word

    def gloss_sentence(self, text: str) -> str:
        return text

    def gloss_question(self, text: str) -> str:
        return text

    def is_common_word(self, word: str) -> bool:
        return False

    def may_be_name(self, word: str) -> bool:
        return False


class PackGlosses:
    """The glosses of a language with a pack. Keeps the words that it has looked up."""

    is_english = False

    def __init__(self, pack: LanguagePack) -> None:
        self._pack = pack
        self._gloss_by_word: dict[str, str] = {}
        self._closed_words: Mapping[str, str] = {**pack.auxiliaries, **pack.articles}
        self.salutations = pack.salutations | _ENGLISH_SALUTATIONS

    def gloss_of(self, word: str) -> str:
        if word not in self._gloss_by_word:
            self._gloss_by_word[word] = self._look_up(word) or word
        return self._gloss_by_word[word]

    def gloss_sentence(self, text: str) -> str:
        words = list(_WORD.finditer(text))
        folded = [self._pack.fold_word(match[0]) for match in words]
        glossed, copied, index = "", 0, 0
        while index < len(words):
            english, length = self._phrase_at(folded, index) or (self.gloss_of(words[index][0]), 1)
            glossed += f"{text[copied : words[index].start()]}{english}"
            copied, index = words[index + length - 1].end(), index + length
        return glossed + text[copied:]

    def gloss_question(self, text: str) -> str:
        def replace_word(match: re.Match[str]) -> str:
            return match[0] if fold_text(match[0]) in _ENGLISH_FUNCTION_WORDS else self.gloss_of(match[0])

        return _WORD.sub(replace_word, text)

    def is_common_word(self, word: str) -> bool:
        """Whether the vocabulary knows the word, or the last part of a compound of a language that writes it as one."""
        vocabulary, folded = self._pack.vocabulary, fold_text(word)
        if word in vocabulary or self._pack.is_closed_class(word):
            return True
        heads = range(_MIN_MODIFIER_LETTERS, len(folded) - _MIN_HEAD_LETTERS + 1) if vocabulary.writes_compounds else ()
        return any(vocabulary.find_noun(folded[start:]) is not None for start in heads)

    def may_be_name(self, word: str) -> bool:
        folded = self._pack.fold_word(word)
        return len(word) > 2 and not self.is_common_word(word) and folded not in self._pack.function_words

    def _phrase_at(self, folded: list[str], index: int) -> tuple[str, int] | None:
        """Returns the English of the closed-class words at a place, and their number; None if there are none."""
        word = folded[index]
        phrases = [phrase for phrase in self._pack.phrases_at(folded, index) if len(phrase.parts) == 1]
        if phrases and (len(phrases[0].first_part) > 1 or word not in self._closed_words):
            return phrases[0].english, len(phrases[0].first_part)
        return (self._closed_words[word], 1) if word in self._closed_words else None

    def _look_up(self, word: str) -> str | None:
        vocabulary = self._pack.vocabulary
        entry = next(iter(vocabulary.find_entries(word)), None)
        if entry is not None:
            return entry.inflected[0]
        parts = (
            vocabulary.split_compound(word, self._pack.content.linking_letters) if vocabulary.writes_compounds else ()
        )
        return " ".join(part.english[0] for part in parts) or None


NO_GLOSSES: WordGlosses = EnglishGlosses()


@lru_cache(maxsize=16)
def glosses_for(language: str) -> WordGlosses:
    """Returns the glosses of a language, ISO 639-1."""
    pack = load_pack(language)
    return NO_GLOSSES if pack is None else PackGlosses(pack)
