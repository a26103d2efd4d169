"""Values in sentences, of fields that other documents give by label: "the monthly rent is EUR 900"."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.field_patterns import any_phrase_pattern
from storage.ingest.extract.labels.label_concepts import ValueDomain, words_of_concept
from storage.ingest.extract.labels.labelled_texts import label_key_of
from storage.ingest.extract.labels.person_names import PERSON_PATTERN
from storage.search.schema import FieldType, SchemaField
from storage.text.snowball_analyser import SnowballAnalyser

_READ_TYPES = frozenset({FieldType.NUMBER, FieldType.MONEY, FieldType.DATE})
_DOMAINS = {
    FieldType.NUMBER: ValueDomain.NUMBER,
    FieldType.MONEY: ValueDomain.MONEY,
    FieldType.DATE: ValueDomain.DATE,
    FieldType.CATEGORY: ValueDomain.NAME,
}
_PHRASE_CONFIDENCE, _STEM_CONFIDENCE, _PERSON_CONFIDENCE = 0.65, 0.6, 0.6
_LINK = re.compile(
    r"(?:\s*[:=]|\s+(?:is|are|was|were|be|will|shall|of|amounts?|amounting|equals?|comes?|stands?|set|agreed|fixed|"
    r"currently|now|then|has|have|had|been|to|at|on|from|by|the|a|as|about|approximately|approx\.?|planned|due|"
    r"scheduled|for|begins?|starts?|takes?|took|effect|place|carried|out|made|done|given|came|held|"
    r"ist|war|sind|betragt|betrug|betragen|am|dem|den|der|die|das|bis|zum|ab|est|sont|le|du|de|es|son|el)){0,6}(?:\s+|(?<=[:=]))(?=\S)"
)
_TEXT_AFTER = re.compile(r"[^\n|;]{1,60}")
_WORD_END = re.compile(r"\S+")
_MAX_WORDS = 5  # of a value
_MAX_MATCHES = 20
# Too general to mean one field in a sentence
GENERAL_LABEL_WORDS = frozenset(
    "date day time name number no nr type kind place city from to by of on at total amount value status ref "
    "reference subject title page note notes remark remarks person contact sender recipient author document id code "
    "year month".split()
)
_SMALL_WORDS = frozenset("date day of on the a an in for to at by our your".split())
_PERSON = re.compile(rf"(?:\s+(?:is|was|are|will be|,)|\s*:|(?<=\bby))\s+(?P<name>{PERSON_PATTERN})(?=[\s,.;]|$)")


_FUNCTION_WORDS = frozenset(
    "from to by of on at no nr until till with where when who whom what how which for you need get is as".split()
)


def is_function_word(key: str) -> bool:
    """Whether a label is "From", "No." or the like, which no sentence can say of a document."""
    return _FUNCTION_WORDS.issuperset(key.split())


def says_little(key: str) -> bool:
    """Whether a label has only general words, so that in a sentence it need not name its field: "no", "from", "by"."""
    return (GENERAL_LABEL_WORDS | _FUNCTION_WORDS).issuperset(key.split())


@dataclass(frozen=True, slots=True)
class ProseValue:
    """A place after a label in a sentence. `possible_texts`: what the value may be with its end, longest first."""

    start: int
    possible_texts: tuple[tuple[str, int], ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class ProsePattern:
    """How sentences name a field."""

    phrases: re.Pattern[str]
    stem: re.Pattern[str] | None  # of a date: the verb of its label, "starts", "inspected"
    names_person: bool

    @classmethod
    def for_field(cls, field: SchemaField) -> "ProsePattern | None":
        """Returns the pattern of a field; None for too general labels and other types of values."""
        domain = _DOMAINS.get(field.type)
        same = words_of_concept(field.labels[0], domain) if field.labels and domain is not None else ()
        if (
            domain is not ValueDomain.DATE
        ):  # "a charge" in a sentence need not be the price; "the basic rent" is the rent
            same = tuple(words for words in same if " " in words)
        return cls.for_labels(field, (*field.labels, field.title, *same))

    @classmethod
    def for_labels(cls, field: SchemaField, labels: Iterable[str]) -> "ProsePattern | None":
        """Returns the pattern of a field that has these labels."""
        keys = [label_key_of(label) for label in labels]
        specific = [key for key in keys if not GENERAL_LABEL_WORDS.issuperset(key.split())]
        phrases = any_phrase_pattern(specific)
        if phrases is None or field.type not in _READ_TYPES | {FieldType.CATEGORY}:
            return None
        stem = _verb_pattern(specific) if field.type is FieldType.DATE else None
        return cls(phrases, stem, field.type is FieldType.CATEGORY)


def _verb_pattern(keys: list[str]) -> re.Pattern[str] | None:
    """Matches inflected forms of the only word with a meaning of a label: of "Start date" `starts`, `starting`."""
    contents = [[word for word in key.split() if word not in _SMALL_WORDS] for key in keys]
    stems = {
        _stem_of(content[0]) for content in contents if len(content) == 1 and content[0] not in GENERAL_LABEL_WORDS
    }
    alternatives = "|".join(sorted(re.escape(stem) for stem in stems if len(stem) >= 3))
    return re.compile(rf"(?<![^\W_])(?:{alternatives})[a-z]{{0,4}}(?![^\W_])") if alternatives else None


@lru_cache(maxsize=1)
def _english_analyser() -> SnowballAnalyser:
    return SnowballAnalyser("en")


def _stem_of(word: str) -> str:
    terms = _english_analyser().extract_terms(word)
    return terms[0].text if terms else word


def find_prose_values(document: DocumentText, pattern: ProsePattern) -> Iterator[ProseValue]:
    """Yields the places of sentences that name the field and go on with a value."""
    for phrases, confidence in ((pattern.phrases, _PHRASE_CONFIDENCE), (pattern.stem, _STEM_CONFIDENCE)):
        for count, match in enumerate(phrases.finditer(document.folded) if phrases else ()):
            if count == _MAX_MATCHES:
                break
            if pattern.names_person:
                yield from _person_after(document, match)
            elif link := _LINK.match(document.folded, match.end(), match.end() + 80):
                yield ProseValue(match.start(), _possible_texts(document.text, link.end()), confidence)


def _person_after(document: DocumentText, match: re.Match[str]) -> Iterator[ProseValue]:
    if person := _PERSON.match(document.text, match.end(), match.end() + 80):
        yield ProseValue(match.start(), ((person["name"], person.end()),), _PERSON_CONFIDENCE)


def _possible_texts(text: str, start: int) -> tuple[tuple[str, int], ...]:
    """Returns the next words, then fewer of them, up to the end of the line."""
    after = _TEXT_AFTER.match(text, start)
    if after is None:
        return ()
    ends = [word.end() for word in _WORD_END.finditer(after[0])][:_MAX_WORDS]
    return tuple((after[0][:end].rstrip(".,)"), start + end) for end in reversed(ends))
