"""The phrases that say what a document is: "Asset sheet" in a heading, `travel-policy-v2` as a file name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from storage.ingest.documents.headings import reads_as_heading
from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.labels.forms.heading_parts import find_heading_span
from storage.ingest.extract.labels.forms.line_labels import plain_line
from storage.ingest.extract.labels.forms.references import REFERENCE_PATTERN
from storage.ingest.schemas.names import singular_and_plural_of, words_in_name
from storage.text.vocabulary import fold_letters, list_vocabularies, load_vocabulary

_NOUNS_FILE = Path(__file__).with_name("document_nouns.yaml")
_LANGUAGES = ("en", "de", "fr", "es")
_HEAD_FIRST_LANGUAGES = ("fr", "es")  # "facture proforma": the noun comes first
_COMPOUND_LANGUAGES = ("de",)  # "Eingangsrechnung": the noun ends a word
_MIN_COMPOUND_PREFIX = 3
_MIN_NAME_WORD_LETTERS = 3  # of the words of a file name; shorter ones are parts of references
_MIN_HEAD_LETTERS = 5  # of the noun that ends a compound, where no list of document nouns knows it
_MAX_ENDING_LETTERS = 3  # of a plural
_MAX_PHRASE_WORDS = 5
_PHRASE_END = re.compile(
    r"\s*(?:[:,;(\[|#/]|\s[–—-]\s|\d|\b(?:of|on|for|about|to|from|re|regarding|dated|with|in|at|by|no|nr|number|version"
    r"|through|by|into|against|between|under|after|before"
    r"|von|vom|für|über|zur|zum|zu|an|der|des|de|du|del|la|pour|para|sobre)\b)",
    re.IGNORECASE,
)
_VERSION_WORDS = frozenset("v ver version final draft copy new old signed scan entwurf kopie final1 rev".split())
_DETERMINERS = frozenset("a an the our this ein eine das die unser unsere le la un une notre el una nuestra".split())
# A heading that begins so names what the document is about, or the document that it answers
_WORDS_OF_OTHER_DOCUMENTS = frozenset("your yours ihr ihre ihren votre vos su sus re fw fwd aw dear".split())
_BANNER_LINES, _MAX_BANNER_WORDS = 8, 4
_MAX_HEADING_CHARACTERS = 120
_SECTION_START = re.compile(r"##|\d{1,2}[.)]\s")  # from which headings say what a part is about


@dataclass(frozen=True, slots=True, kw_only=True)
class KindPhrase:
    """The words that name a kind, in small letters, in the singular. `noun` is their noun; empty: it is unknown."""

    words: str
    noun: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKind:
    """A phrase with the line in which it stands; None for the title and for names of files and folders."""

    phrase: KindPhrase
    span: TextSpan | None = None


def kind_phrase_in(text: str) -> KindPhrase | None:
    """Returns what a heading calls the document: of "Asset sheet A-107" the words "asset sheet". None: no words."""
    reference = REFERENCE_PATTERN.search(text)
    before = text[: reference.start()] if reference else text
    end = _PHRASE_END.search(before, 1)
    words = " ".join(re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", (before[: end.start()] if end else before).casefold()))
    listed = _whole_phrase_in(text.casefold())
    if listed is not None:
        return listed
    names = words.split()
    if names and names[0] in _WORDS_OF_OTHER_DOCUMENTS:
        return None
    names = names[1:] if len(names) > 1 and names[0] in _DETERMINERS else names
    return phrase_of_words(names) if 0 < len(names) <= _MAX_PHRASE_WORDS else None


def _whole_phrase_in(text: str) -> KindPhrase | None:
    """Returns a noun of several words that "of" or "and" holds together, at the start of the text."""
    return next(
        (
            KindPhrase(words=noun, noun=noun)
            for form, noun in _nouns_with_small_words().items()
            if re.match(rf"{re.escape(form)}\b", text)
        ),
        None,
    )


def phrase_of_words(words: Sequence[str]) -> KindPhrase:
    """Returns the phrase that ends in a known noun, or begins with one where a language has it first."""
    nouns = _nouns_by_form()
    for length in (2, 1):
        if len(words) >= length and (noun := nouns.get(" ".join(words[-length:]))):
            return KindPhrase(words=" ".join([*words[:-length], noun]), noun=noun)
    for length in (2, 1):
        first = " ".join(words[:length])
        if len(words) >= length and first in _head_first_nouns():
            return KindPhrase(words=nouns[first], noun=nouns[first])
    if words and (compound := _compound_noun_of(words[-1])):
        return KindPhrase(words=compound, noun=compound)
    return KindPhrase(words=" ".join(words), noun="")


def kind_phrase_of_name(name: str) -> KindPhrase | None:
    """Returns the kind that the name of a file or folder gives, by its last or first words; None if no noun is known.

    Numbers and words for versions do not count: `invoice_2031_004` and `Travel-policy-v2 final` name kinds.
    """
    words = [
        word
        for word in words_in_name(name)
        if word.isalpha() and len(word) >= _MIN_NAME_WORD_LETTERS and word not in _VERSION_WORDS
    ]
    phrase = phrase_of_words(words)
    if phrase.noun:
        return phrase
    for length in (2, 1):
        if len(words) >= length and (noun := _nouns_by_form().get(" ".join(words[:length]))):
            return KindPhrase(words=noun, noun=noun)
    return None


def named_kinds_of_text(document: DocumentText) -> Iterator[NamedKind]:
    """Yields the kinds that the first heading, the title, and short lines near the top name, in this order."""
    heading = find_heading_span(document)
    if heading is not None and (named := _named_kind_at(document, heading)):
        yield named
    if phrase := kind_phrase_in(document.title):
        yield NamedKind(phrase=phrase)
    filled = 0
    for line in document.lines_from():
        written = document.text[line.start : line.end].strip()
        text = plain_line(written)
        if not text:
            continue
        if _SECTION_START.match(written):
            return
        if (filled := filled + 1) > _BANNER_LINES:
            return
        is_short = text.isupper() or len(text.split()) <= _MAX_BANNER_WORDS
        if is_short and reads_as_heading(text) and (named := _named_kind_at(document, line)) and named.phrase.noun:
            yield named


def _named_kind_at(document: DocumentText, span: TextSpan) -> NamedKind | None:
    text = plain_line(document.text[span.start : span.end].strip().strip("#").strip())
    phrase = kind_phrase_in(text) if len(text) <= _MAX_HEADING_CHARACTERS else None
    trimmed = document.trim_span(span.start, span.end)
    return None if phrase is None else NamedKind(phrase=phrase, span=trimmed)


def folder_names_of(path: str) -> tuple[str, ...]:
    """Returns the names of the folders in a relative path, the outermost first; none for a web address."""
    return (
        () if "://" in path else tuple(part for part in PurePosixPath(path).parts[:-1] if part not in ("/", "..", "."))
    )


def file_stem_of(path: str) -> str:
    return PurePosixPath(path).stem


def forms_of_kind(kind: str) -> tuple[str, ...]:
    """Returns the singular and the plural of a kind: "asset sheet" and "asset sheets"."""
    *modifiers, last = kind.split()
    plural_of_last = _plurals().get(last) or _foreign_plural_of(last) or singular_and_plural_of(last)[1]
    plural = _plurals().get(kind) or " ".join([*modifiers, plural_of_last])
    return tuple(dict.fromkeys((kind, plural)))


@lru_cache(maxsize=1_000)
def _foreign_plural_of(noun: str) -> str | None:
    """Returns the plural of a noun of another language, also of a German compound; None for English and other words."""
    for language in list_vocabularies():
        vocabulary = load_vocabulary(language)
        if vocabulary is None or noun in vocabulary.english_words:
            continue
        is_compounding = language in _COMPOUND_LANGUAGES
        starts = (0, *range(_MIN_COMPOUND_PREFIX, len(noun) - _MIN_HEAD_LETTERS + 1)) if is_compounding else (0,)
        for start in starts:
            head = noun[start:]
            entry = vocabulary.find_noun(head)
            is_english_too = entry is not None and entry.english == (head,)  # "passport" ends in "sport"
            if entry is not None and not is_english_too and vocabulary.number_forms_of(head)[0] == head:
                return noun[:start] + vocabulary.number_forms_of(head)[1]
    return None


def names_bucket(kind: str, bucket: str) -> bool:
    """Whether the bucket is called by the kind, or by a special case of it: "wartungsvertraege" by "vertrag"."""
    name = _without_digraphs(bucket.split("_")[-1])
    noun = _without_digraphs(kind)
    stems = (name[: len(name) - length] for length in range(_MAX_ENDING_LETTERS + 1))
    return len(noun) >= _MIN_HEAD_LETTERS and any(stem.endswith(noun) for stem in stems)


def _without_digraphs(word: str) -> str:
    folded = fold_letters(word)
    for digraph, letter in (("ae", "a"), ("oe", "o"), ("ue", "u")):
        folded = folded.replace(digraph, letter)
    return folded


@lru_cache(maxsize=1_000)
def other_words_for(kind: str) -> tuple[str, ...]:
    """Returns the words that mean the same kind, each in its singular and plural."""
    groups = (group for group in _load_nouns()["same"] if kind in group)
    return tuple(form for group in groups for word in group if word != kind for form in forms_of_kind(word))


def singular_phrase_of(words: str) -> str:
    """Returns a phrase with its last word in the singular, as kinds are written."""
    *modifiers, last = words.casefold().split() or [""]
    known = _nouns_by_form().get(last)
    return " ".join([*modifiers, known or singular_and_plural_of(last)[0]])


@lru_cache(maxsize=1)
def _plurals() -> Mapping[str, str]:
    pairs = (entry.split("/") for language in _LANGUAGES for entry in _load_nouns()[language])
    return {pair[0]: pair[1] for pair in pairs if len(pair) > 1}


@lru_cache(maxsize=1)
def _nouns_by_form() -> Mapping[str, str]:
    """Returns the singular of each noun by its forms."""
    forms = dict[str, str]()
    for language in _LANGUAGES:
        for entry in _load_nouns()[language]:
            singular, _, plural = entry.partition("/")
            forms.setdefault(singular, singular)
            forms.setdefault(plural or singular_and_plural_of(singular)[1], singular)
    return forms


@lru_cache(maxsize=1)
def _nouns_with_small_words() -> Mapping[str, str]:
    return {form: noun for form, noun in _nouns_by_form().items() if {"of", "and"} & set(form.split())}


@lru_cache(maxsize=1)
def _head_first_nouns() -> frozenset[str]:
    return frozenset(
        form for language in _HEAD_FIRST_LANGUAGES for entry in _load_nouns()[language] for form in entry.split("/")
    )


def _compound_noun_of(word: str) -> str:
    """Returns the singular of a compound whose last part is a known noun; empty for other words."""
    for language in _COMPOUND_LANGUAGES:
        for entry in _load_nouns()[language]:
            singular, _, plural = entry.partition("/")
            for form in (plural, singular):
                if form and word.endswith(form) and len(word) - len(form) >= _MIN_COMPOUND_PREFIX:
                    return word.removesuffix(form) + singular
    return ""


@lru_cache(maxsize=1)
def _load_nouns() -> Mapping[str, Any]:
    return yaml.safe_load(_NOUNS_FILE.read_text(encoding="utf-8"))
