"""General vocabularies: words of everyday and business life in other languages, with their English words.

A vocabulary is a file `vocabularies/<language>.txt`; `docs/languages.md` tells its format. It holds no word of a
collection of documents.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path

from storage.search.analyser import decompose_text, drop_marks
from storage.text.irregular_verbs import past_participle_of

_FOLDER = Path(__file__).with_name("vocabularies")
_IRREGULAR_PLURALS = {"person": "people", "child": "children", "man": "men", "woman": "women", "shelf": "shelves"}
_WITHOUT_PLURAL = frozenset(
    "people staff equipment furniture stock sales goods vat percent hr minutes money utilities software".split()
)
_MIN_PART_LETTERS = 3  # of a part of a compound


class WordClass(StrEnum):
    NOUN = "noun"
    VERB = "verb"
    ADJECTIVE = "adjective"


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyEntry:
    """What a form of a word means: its English words in the basic form, the likeliest first."""

    english: tuple[str, ...]
    word_class: WordClass
    is_plural: bool = False
    is_past: bool = False  # a verb in the past or its participle
    particle: str = ""  # the separated part of a verb: "ab" of "läuft … ab"

    @property
    def inflected(self) -> tuple[str, ...]:
        """The English words in the number of the noun, or the tense of the verb."""
        if self.word_class is WordClass.NOUN and self.is_plural:
            return tuple(map(pluralize_noun, self.english))
        if self.is_past:
            return tuple(map(_participle_of_phrase, self.english))
        return self.english


class GeneralVocabulary:
    """The words of one language by their forms, without regard to case and accents."""

    def __init__(self, language: str, entries: Mapping[str, Sequence[VocabularyEntry]], forms: "_WordForms") -> None:
        self.language = language
        self._entries = entries
        self._written = forms.written
        self._numbers = forms.numbers
        self.adjective_endings = forms.adjective_endings
        self._digraphs = forms.digraphs
        self._compounds = forms.writes_compounds
        self.adjective_vowels = forms.adjective_vowels  # final letters that give way to the endings: "abierto"

    @cached_property
    def english_words(self) -> frozenset[str]:
        """All words of the English side, in small letters."""
        distinct_entries = {id(entry): entry for entry in self.list_entries()}  # an entry has many forms
        return frozenset(
            word
            for entry in distinct_entries.values()
            for text in (*entry.english, *entry.inflected)
            for word in text.lower().split()
        )

    def __contains__(self, form: str) -> bool:
        return fold_letters(form) in self._entries

    def find_entries(self, form: str) -> Sequence[VocabularyEntry]:
        """Returns what the form may mean, as the file orders its words; nothing for an unknown form.

        Accents that are written count: "payé" is not "paye". Without them both are possible, "paye" before "payé".
        """
        exact = self._written.get(form.lower(), [])
        if exact and not form.isascii():
            return exact
        return list(dict.fromkeys((*exact, *self._entries.get(fold_letters(form), ()))))

    def list_entries(self) -> Iterator[VocabularyEntry]:
        return (entry for entries in self._entries.values() for entry in entries)

    def find_noun(self, form: str) -> VocabularyEntry | None:
        return next((entry for entry in self.find_entries(form) if entry.word_class is WordClass.NOUN), None)

    def number_forms_of(self, form: str) -> tuple[str, str]:
        """The singular and the plural of a noun, as the file writes them in small letters."""
        return self._numbers[fold_letters(form)]

    @property
    def writes_compounds(self) -> bool:
        """Whether the language writes compounds as one word."""
        return self._compounds

    def write_accents(self, word: str) -> str:
        """`vertraege` → `verträge`: the word as the vocabulary writes it, also the last part of a compound.

        Returns the word itself if it has no letters that are typed as two, or is unknown.
        """
        lowered = word.lower()
        if lowered in self._written or not any(digraph in lowered for digraph in self._digraphs):
            return word
        for start in range(len(lowered) - _MIN_PART_LETTERS + 1):
            written = self._accented_forms.get(lowered[start:])
            if written is not None and (not start or start >= _MIN_PART_LETTERS):
                return word[:start] + (written if start else _with_case_of(word, written))
        return word

    @cached_property
    def _accented_forms(self) -> Mapping[str, str]:
        """The forms with accents by their spelling with digraphs: `vertraege` → `verträge`."""
        forms: dict[str, str] = {}
        for form in self._written:
            typed = form
            for digraph, letter in self._digraphs.items():
                typed = typed.replace(letter, digraph)
            if typed != form:
                forms[typed] = form
        return forms

    def split_compound(self, form: str, linking_letters: Sequence[str]) -> Sequence[VocabularyEntry]:
        """Returns the parts of a compound of known words, the head last: `Vertrags|summe`; nothing for other words.

        The split with the fewest parts and then the longest head is taken.
        """
        word = fold_letters(form)
        if not word.isalpha():
            return ()
        for is_noun in (True, False):
            for start in range(_MIN_PART_LETTERS, len(word) - _MIN_PART_LETTERS + 1):
                entries = self._entries.get(word[start:], ())
                head = next((entry for entry in entries if (entry.word_class is WordClass.NOUN) is is_noun), None)
                modifier = self._find_modifier(word[:start], linking_letters) if head is not None else None
                if head is not None and modifier is not None:
                    return (modifier, head)
        return ()

    def _find_modifier(self, text: str, linking_letters: Sequence[str]) -> VocabularyEntry | None:
        for letters in ("", *linking_letters):
            stem = text.removesuffix(letters) if letters and text.endswith(letters) else text
            entry = next(iter(self._entries.get(stem, ())), None)
            if entry is not None and len(stem) >= _MIN_PART_LETTERS and (stem != text or not letters):
                return entry
        return next((entry for ending in ("e", "en") for entry in self._entries.get(text + ending, ())), None)


@lru_cache(maxsize=16)
def load_vocabulary(language: str) -> GeneralVocabulary | None:
    """The vocabulary of a language, ISO 639-1; None if there is no file. Reading one takes some 10 ms."""
    path = _FOLDER / f"{language}.txt"
    if not language.isalpha() or not path.exists():
        return None
    sections = _read_sections(path.read_text(encoding="utf-8"))
    forms = _WordForms(dict(_split_line(line) for line in sections["forms"]))
    entries = defaultdict[str, list[VocabularyEntry]](list)
    for form, entry in (
        *(pair for line in sections["nouns"] for pair in forms.forms_of_noun(*_split_line(line))),
        *(pair for line in sections["adjectives"] for pair in forms.forms_of_adjective(*_split_line(line))),
        *(pair for line in sections["verbs"] for pair in forms.forms_of_verb(*_split_line(line))),
    ):
        for known in (entries[fold_letters(form)], forms.written[form.lower()]):
            if entry not in known:
                known.append(entry)
    return GeneralVocabulary(language, entries, forms)


def list_vocabularies() -> tuple[str, ...]:
    """The languages that have a vocabulary, ISO 639-1, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


def fold_letters(word: str) -> str:
    """`Größe` → `grosse`: small letters without accents; `rendez-vous` → `rendez vous`."""
    if "-" in word or "'" in word or "’" in word:
        word = re.sub(r"(?<=\w)['’-](?=\w)", " ", word)
    if word.isascii():
        return word.lower()
    return drop_marks(decompose_text(word.casefold()))


def pluralize_noun(noun: str) -> str:
    """The plural of an English noun phrase: `date of birth` → `dates of birth`."""
    head, separator, rest = noun.partition(" of ")
    before, _, last = head.rpartition(" ")
    lowered = last.lower()
    if lowered in _WITHOUT_PLURAL or noun[:1].isupper():
        plural = last
    elif lowered in _IRREGULAR_PLURALS:
        plural = _IRREGULAR_PLURALS[lowered]
    elif lowered.endswith("y") and lowered[-2:-1] not in "aeiou":
        plural = f"{last[:-1]}ies"
    else:
        plural = last + ("es" if lowered.endswith(("s", "x", "z", "ch", "sh")) else "s")
    return f"{before} {plural}".strip() + separator + rest


def _participle_of_phrase(phrase: str) -> str:
    verb, separator, rest = phrase.partition(" ")
    if verb == "be":
        return f"been{separator}{rest}"
    return past_participle_of(verb) + separator + rest


def _with_case_of(word: str, written: str) -> str:
    return written[:1].upper() + written[1:] if word[:1].isupper() else written


def _read_sections(text: str) -> Mapping[str, Sequence[str]]:
    sections, name = defaultdict[str, list[str]](list), ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            name = line[1:-1]
        elif line and not line.startswith("#"):
            sections[name].append(line)
    return sections


def _split_line(line: str) -> tuple[str, str]:
    forms, _, english = line.partition("=")
    return forms.strip(), english.strip()


def _list_members(text: str) -> tuple[str, ...]:
    return tuple(member.strip() for member in text.split(",") if member.strip())


class _WordForms:
    """Derives the regular forms of words by the endings that the section `[forms]` of a vocabulary gives."""

    def __init__(self, endings: Mapping[str, str]) -> None:
        self.written = defaultdict[str, list[VocabularyEntry]](list)  # forms with their accents, in small letters
        self.numbers: dict[str, tuple[str, str]] = {}  # folded form of a noun -> its singular and plural
        self._singular, self._plural, self.adjective_endings, self._regular_plural = (
            tuple(endings.get(name, "").split()) for name in ("singular", "plural", "adjective", "regular plural")
        )
        self.adjective_vowels = tuple(endings.get("adjective without", "").split())
        self.writes_compounds = endings.get("compounds") == "yes"
        self.digraphs = dict(pair.split(":") for pair in endings.get("digraphs", "").split())
        self._verbs = {name.split()[1]: rule.split("|") for name, rule in endings.items() if name.startswith("verb ")}
        self._tenses: dict[str, tuple[Sequence[str], Sequence[str]]] = {}  # by the infinitive
        self._prefix = endings.get("participle prefix", "")
        self._inseparable = tuple(map(fold_letters, endings.get("participle without prefix", "").split()))

    def forms_of_noun(self, forms: str, english: str) -> Iterator[tuple[str, VocabularyEntry]]:
        singular, *plurals = _list_members(forms)
        words = _list_members(english)
        plurals = plurals or [form for form in self._regular_plurals_of(singular) if form != singular]
        plural_entry = VocabularyEntry(english=words, word_class=WordClass.NOUN, is_plural=True)
        plural_forms = {
            form.lower(): plural_entry for plural in plurals for form in (plural, *_with(plural, self._plural))
        }
        folded_plurals = set(map(fold_letters, plural_forms))
        entry = VocabularyEntry(english=words, word_class=WordClass.NOUN)
        numbers = (singular.lower(), (plurals or [singular])[0].lower())
        for form in (singular, *plural_forms, *_with(singular, self._singular)):
            self.numbers.setdefault(fold_letters(form), numbers)
        yield singular, entry
        yield from plural_forms.items()
        yield from (
            (form, entry) for form in _with(singular, self._singular) if fold_letters(form) not in folded_plurals
        )

    def _regular_plurals_of(self, singular: str) -> list[str]:
        head, *rest = singular.split(" ")
        return [" ".join([form, *rest]) for form in _with(head, self._regular_plural)]

    def forms_of_adjective(self, forms: str, english: str) -> Iterator[tuple[str, VocabularyEntry]]:
        entry = VocabularyEntry(english=_list_members(english), word_class=WordClass.ADJECTIVE)
        for form in _list_members(forms):
            stem = next((form[: -len(end)] for end in self.adjective_vowels if form.endswith(end)), form)
            yield form, entry
            yield from ((ending, entry) for ending in _with(stem, self.adjective_endings))

    def forms_of_verb(self, forms: str, english: str) -> Iterator[tuple[str, VocabularyEntry]]:
        words = _list_members(english)
        present, past = self._tenses_of(forms)
        for forms_of_tense, is_past in ((present, False), (past, True)):
            entries: dict[str, VocabularyEntry] = {}  # by the particle
            for form in dict.fromkeys(forms_of_tense):
                verb, _, particle = form.removeprefix("sich ").partition(" ")
                if particle not in entries:
                    entries[particle] = VocabularyEntry(
                        english=words, word_class=WordClass.VERB, is_past=is_past, particle=fold_letters(particle)
                    )
                yield verb, entries[particle]

    def _tenses_of(self, forms: str) -> tuple[Sequence[str], Sequence[str]]:
        """The forms of the present, the infinitive first, and of the past."""
        particle, separator, base = forms.partition("_")
        if separator:
            return self._separable_tenses(particle, base)
        present_text, _, past_text = forms.partition("|")
        present, past = [*_list_members(present_text)], [*_list_members(past_text)]
        infinitive = present[0]
        ending = next((end for end in sorted(self._verbs, key=len, reverse=True) if infinitive.endswith(end)), None)
        if ending is not None:
            stem = infinitive.removesuffix(ending)
            now, then = (rule.split() for rule in self._verbs[ending])
            present += _with(stem, now)
            if not past:
                past = list(self._regular_past_of(infinitive, stem, then))
            elif self._prefix:
                past += _with(past[-1], self.adjective_endings)
        self._tenses.setdefault(infinitive, (present, past))
        return present, past

    def _separable_tenses(self, particle: str, base: str) -> tuple[Sequence[str], Sequence[str]]:
        """ "ab_holen": "abholen", "abzuholen", "abholt", "holt ab", "abgeholt"."""
        present, past = self._tenses.get(base) or self._tenses_of(base)
        infinitives = (f"{particle}{base}", f"{particle}zu{base}")
        joined = tuple(f"{particle}{form}" for form in present[1:])
        parted = tuple(f"{form} {particle}" for form in present)
        past_parted = tuple(f"{form} {particle}" for form in past if not form.startswith(self._prefix))
        return (*infinitives, *joined, *parted), (*(f"{particle}{form}" for form in past), *past_parted)

    def _regular_past_of(self, infinitive: str, stem: str, endings: Sequence[str]) -> Iterator[str]:
        yield from _with(stem, endings)
        has_prefix = self._prefix and not fold_letters(infinitive).startswith(self._inseparable)
        participles = [f"{self._prefix if has_prefix else ''}{stem}{ending}" for ending in endings[-2:]]
        if self._prefix:
            yield from participles
            yield from (form for participle in participles for form in _with(participle, self.adjective_endings))


def _with(stem: str, endings: Sequence[str]) -> list[str]:
    return [stem + ending for ending in endings]
