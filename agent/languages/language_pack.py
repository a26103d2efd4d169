"""Language packs: the closed word classes of a language, each with the English words that the rules read.

A pack is a file `packs/<language>.yaml` beside a vocabulary of `storage.text`; `docs/languages.md` tells its format.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, cast

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from storage.quantities.languages import load_locale
from storage.text.vocabulary import GeneralVocabulary, fold_letters, load_vocabulary

_FOLDER = Path(__file__).with_name("packs")
WORD_OR_MARK = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+|\S")
GAP = "…"


def _split_words(value: object) -> object:
    return value.split() if isinstance(value, str) else value


class PrepositionUse(BaseModel):
    """The English words of a preposition by what follows it: a day, a number, a noun, or anything else."""

    model_config = ConfigDict(extra="forbid")
    date: str | None = None
    number: str | None = None
    noun: str | None = None
    other: str


class PackFile(BaseModel):
    """The content of a pack. `docs/languages.md` tells what each key is for."""

    model_config = ConfigDict(extra="forbid")
    language: str
    decimal_mark: str
    function_words: Annotated[tuple[str, ...], BeforeValidator(_split_words)]
    articles: Mapping[str, tuple[str, ...]]
    genitive_words: Mapping[str, str] = Field(default_factory=dict)
    singular_words: tuple[str, ...] = ()
    salutations: tuple[str, ...] = ()
    relative_pronouns: tuple[str, ...] = ()
    verb_final: bool = False
    subject_starts: tuple[str, ...] = ()
    possessive_relatives: tuple[str, ...] = ()
    participle_pattern: str = ""
    derived_endings: tuple[str, ...] = ()
    agreement_endings: tuple[str, ...] = ()
    common_noun_pattern: str = ""
    purpose_words: tuple[str, ...] = ()
    compounds: bool = False
    linking_letters: tuple[str, ...] = ()
    compound_modifiers: Mapping[str, str] = Field(default_factory=dict)
    comparison_words: tuple[str, ...] = ()
    digraphs: Mapping[str, str] = Field(default_factory=dict)
    elisions: tuple[str, ...] = ()
    adjectives_follow: bool = False
    degrees: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    inverting_words: tuple[str, ...] = ()
    subject_words: tuple[str, ...] = ()
    auxiliaries: Mapping[str, tuple[str, ...]]
    prepositions: Mapping[str, PrepositionUse]
    ago: tuple[str, ...]
    range_starts: tuple[str, ...]
    range_ends: tuple[str, ...]
    phrases: Mapping[str, tuple[str, ...]]
    gradables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackPhrase:
    """A phrase with its English words. `parts` appear in one clause, with other words between them.

    A word that ends in `*` stands for every word that begins so.
    """

    parts: tuple[tuple[str, ...], ...]
    english: str
    written: tuple[str, ...] = ()  # the words of the first part with their accents

    @property
    def first_part(self) -> tuple[str, ...]:
        return self.parts[0]


class LanguagePack:
    """A language as the rules read it: its closed word classes, and its vocabulary."""

    def __init__(self, content: PackFile, vocabulary: GeneralVocabulary) -> None:
        self.content = content
        self.vocabulary = vocabulary
        self.language = content.language
        self.function_words = frozenset(map(self.fold_word, content.function_words))
        self.articles = {self.fold_word(form): english for english, forms in content.articles.items() for form in forms}
        self.singular_words = frozenset(map(self.fold_word, content.singular_words))
        self.salutations = frozenset(map(self.fold_word, content.salutations))
        self.relative_pronouns = frozenset(map(self.fold_word, content.relative_pronouns))
        self.subject_starts = frozenset(map(self.fold_word, content.subject_starts))
        self.possessive_relatives = frozenset(map(self.fold_word, content.possessive_relatives))
        self.derived_endings = sorted(map(self.fold_word, content.derived_endings), key=len, reverse=True)
        self.purpose_words = frozenset(map(self.fold_word, content.purpose_words))
        self.genitive_words = {self.fold_word(word): english for word, english in content.genitive_words.items()}
        self.inverting_words = frozenset(map(self.fold_word, content.inverting_words))
        self.subject_words = frozenset(map(self.fold_word, content.subject_words))
        self.prepositions = {self.fold_word(word): use for word, use in content.prepositions.items()}
        self.auxiliaries = {
            self.fold_word(form): english for english, forms in content.auxiliaries.items() for form in forms
        }
        self.range_starts = frozenset(map(self.fold_word, content.range_starts))
        self.range_ends = frozenset(map(self.fold_word, content.range_ends))
        self.months = _names_of_months(content.language)
        self.ago = frozenset(map(self.fold_word, content.ago))
        self.gradables = dict(pair for line in content.gradables for pair in _forms_of_gradable(line, vocabulary))
        self.positive_forms = {
            form: words
            for line in content.gradables
            for form, words in _forms_of_gradable(line, vocabulary)
            if words == _positive_of(line) and words != self.gradables[form]
        }
        self.comparison_words = frozenset(map(self.fold_word, content.comparison_words))
        self.compound_modifiers = {
            self.fold_word(word): english for word, english in content.compound_modifiers.items()
        }
        self._phrases = defaultdict[str, list[PackPhrase]](list)
        for english, phrases in content.phrases.items():
            for phrase in phrases:
                parsed = self._parse_phrase(phrase, english)
                self._phrases[_key_of(parsed.first_part[0])].append(parsed)
        for phrase, english in _phrases_of_degrees(content, vocabulary):
            parsed = self._parse_phrase(phrase, english)
            self._phrases[_key_of(parsed.first_part[0])].append(parsed)
        self.degrees = frozenset(english for line in content.gradables for english in _degrees_of(line))
        elided = [rf"\b{letters}(?=['’])" for letters in content.elisions]
        self.word_pattern = re.compile("|".join((*elided, WORD_OR_MARK.pattern)), re.IGNORECASE)
        self._written_closed_words = frozenset(
            word
            for words in (*content.articles.values(), content.prepositions, *content.auxiliaries.values())
            for word in words
        )
        for phrases in self._phrases.values():
            phrases.sort(key=_length_of_phrase, reverse=True)

    def fold_word(self, word: str) -> str:
        """The form in which the pack compares words: small letters without accents and digraphs."""
        return self.spellings_of(word)[-1]

    def spellings_of(self, word: str) -> tuple[str, ...]:
        """The folded word, and the word with its digraphs for letters with accents: `fuer`, `fur`."""
        folded = fold_letters(word)
        collapsed = folded
        for digraph, letter in self.content.digraphs.items():
            collapsed = re.sub(rf"(?<![{_LETTERS_BEFORE_PLAIN_DIGRAPHS}]){digraph}", letter, collapsed)
        return (folded,) if collapsed == folded else (folded, collapsed)

    def phrases_at(self, words: Sequence[str], start: int, written: Sequence[str] = ()) -> Sequence[PackPhrase]:
        """Returns the phrases whose first part appears at `words[start]`, the longest first. The words are folded.

        `written`: the same words in small letters with their accents, which decide between "ou" and "où". A single word
        that is written like an article, a preposition or an auxiliary is that.
        """
        candidates = (*self._phrases.get(words[start], ()), *self._phrases.get(_key_of(words[start] + "*"), ()))
        found = [phrase for phrase in candidates if matches_words(phrase.first_part, words, start)]
        if not written:
            return found

        def is_exact(phrase: PackPhrase) -> bool:
            return phrase.written == tuple(written[start : start + len(phrase.written)])

        if written[start] in self._written_closed_words:
            found = [phrase for phrase in found if len(phrase.first_part) > 1 or is_exact(phrase)]
        return sorted(found, key=lambda phrase: (_negative_length_of(phrase), not is_exact(phrase)))

    def _parse_phrase(self, text: str, english: str) -> PackPhrase:
        written = [tuple(_PATTERN_WORD.findall(part.lower().replace("'", " "))) for part in text.split(GAP)]
        parts = tuple(tuple(map(self.fold_word, words)) for words in written)
        return PackPhrase(parts=parts, english=english, written=written[0])

    @property
    def phrase_count(self) -> int:
        return sum(map(len, self._phrases.values()))

    def is_preposition(self, word: str) -> bool:
        """Whether the folded word is a preposition: one of these, or a phrase that means one."""
        english = [phrase.english for phrase in self.phrases_at([word], 0)]
        return word in self.prepositions or any(text in _ENGLISH_PREPOSITIONS for text in english)

    def is_closed_class(self, word: str) -> bool:
        """Whether the word alone is one of the pack's: an article, a preposition, an auxiliary, a phrase."""
        folded = self.fold_word(word)
        return (
            folded in self.articles
            or folded in self.prepositions
            or folded in self.auxiliaries
            or any(len(phrase.parts) == 1 and len(phrase.first_part) == 1 for phrase in self.phrases_at([folded], 0))
        )


def matches_words(pattern: Sequence[str], words: Sequence[str], start: int) -> bool:
    """Whether the pattern appears at `words[start]`."""
    if start + len(pattern) > len(words):
        return False
    return all(
        word.startswith(expected[:-1]) and len(word) - len(expected) < _MAX_ENDING if expected.endswith("*")
        else word == expected
        for expected, word in zip(pattern, words[start:], strict=False)
    )  # fmt: skip


_ENGLISH_PREPOSITIONS = frozenset("with for in from without during".split())
_LETTERS_BEFORE_PLAIN_DIGRAPHS = "aeq"  # "neuen", "Bauer" and "Quelle" have no umlaut
_MAX_ENDING = 3  # letters that `*` stands for
_KEY_LETTERS = 3  # of a pattern with `*`, by which it is looked up


def _key_of(word: str) -> str:
    return f"{word.removesuffix('*')[:_KEY_LETTERS]}*" if word.endswith("*") else word


def _names_of_months(language: str) -> Mapping[str, int]:
    """The whole names of the months in the language, in small letters without accents, with their numbers."""
    months = cast(Mapping[str, Mapping[str, Mapping[int, str]]], load_locale(language).months)
    return {fold_letters(name): number for number, name in months["format"]["wide"].items()}


def _negative_length_of(phrase: PackPhrase) -> tuple[int, int]:
    words, parts = _length_of_phrase(phrase)
    return -words, -parts


def _length_of_phrase(phrase: PackPhrase) -> tuple[int, int]:
    return sum(map(len, phrase.parts)), len(phrase.parts)


_PATTERN_WORD = re.compile(r"\d+|[^\W\d_]+\*?|[^\s\w*]")


def _forms_of_gradable(line: str, vocabulary: GeneralVocabulary) -> Iterator[tuple[str, str]]:
    """The forms of an adjective with the English of each degree: `teurer` → "more expensive"."""
    own, english = ([degree.strip() for degree in side.split("|")] for side in line.split("="))
    endings = ("", *vocabulary.adjective_endings)
    for forms, words in zip(own, english[: len(own)], strict=True):
        for form in map(str.strip, forms.split(",")):
            stem = next((form[: -len(end)] for end in vocabulary.adjective_vowels if form.endswith(end)), form)
            for inflected in (form, *(stem + ending for ending in endings)):
                yield fold_letters(inflected), words


def _phrases_of_degrees(content: PackFile, vocabulary: GeneralVocabulary) -> Iterator[tuple[str, str]]:
    """ "Plus cher que", "la plus chère": the phrases of degrees that a language says with words of their own."""
    degrees = content.degrees
    for line in content.gradables if degrees else ():
        positive, comparative, superlative = _degrees_of(line)
        lesser = positive.removeprefix("more ")
        for form, _ in _forms_of_gradable(line, vocabulary):
            for word in (*degrees.get("comparative", ()), *degrees.get("before_than", ())):
                yield f"{word} {form} que", f"{comparative} than"
            yield from ((f"{word} {form}", comparative) for word in degrees.get("comparative", ()))
            yield from ((f"{word} {form}", superlative) for word in degrees.get("superlative", ()))
            yield from ((f"{word} {form}", f"less {lesser}") for word in degrees.get("reduced", ()))
            yield from ((f"{word} {form}", f"least {lesser}") for word in degrees.get("least", ()))


def _degrees_of(line: str) -> tuple[str, str, str]:
    positive, comparative, superlative = (degree.strip() for degree in line.partition("=")[2].split("|"))
    return positive, comparative, superlative


def _positive_of(line: str) -> str:
    return _degrees_of(line)[0]


@lru_cache(maxsize=16)
def load_pack(language: str) -> LanguagePack | None:
    """The pack of a language, ISO 639-1; None for a language without one. Reading one takes some 50 ms."""
    path = _FOLDER / f"{language}.yaml"
    vocabulary = load_vocabulary(language)
    if not language.isalpha() or not path.exists() or vocabulary is None:
        return None
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # "on" and "no" stay words
    content = PackFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=loader))  # noqa: S506 - strings alone
    return LanguagePack(content, vocabulary)


def list_packs() -> tuple[str, ...]:
    """The languages that have a pack, ISO 639-1, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))
