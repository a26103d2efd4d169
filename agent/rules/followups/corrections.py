"""Corrections of the last question: "no, I meant …", "make that …", "… instead"; and conditions to drop."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import Condition, fields_of
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_REJECTION = r"(?:no|nope|nah|wait|sorry|actually|oops|whoops|argh|ah|oh|hm+|well|ok|okay|right|rather)"
_LEAD = re.compile(
    rf"^\W*(?:{_REJECTION}(?:\s*[,.!;:–—-]+\s*|\s+(?={_REJECTION}\b|i\b|we\b|make\b|let|the\b|only\b|just\b|not\b)|\s*$))*"
    r"(?:(?:(?:but\s+)?(?:i|we)(?:\s+really|\s+actually)?\s+(?:meant?|was\s+thinking\s+of|want(?:ed)?)|make\s+(?:that|it)"
    r"|let['’]?s\s+(?:say|make\s+(?:that|it))|change\s+(?:that|it)\s+to|should\s+(?:be|have\s+been)|try)\b\s*)?",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?<![\s,])[\s,]+(?:instead|rather|then|this\s+time)(?=\W*$)", re.IGNORECASE)
_DROP_START = re.compile(
    r"^\W*+(?:(?:and|but|now|just|please)\s+)*(?:whatever|regardless(?:\s+of)?|no\s+matter|irrespective\s+of|forget(?:\s+about)?"
    r"|never\s*mind|drop|remove|ignore|skip|lose|leave\s+out|without\s+regard\s+to|any|don['’]?t\s+care\s+about"
    r"|(?:i|we)\s+do\s+not\s+care\s+about)\s+",
    re.IGNORECASE,
)
_UNIMPORTANT_END = re.compile(r"(?<!\s)\s+(?:does\s+not|doesn['’]?t|do\s+not)\s+matter\W*$", re.IGNORECASE)
_TIME_WORDS = frozenset("year years month months date dates day days time period when".split())


@dataclass(frozen=True, slots=True)
class CorrectionMessage:
    """A message as long as it was written, without the words that only correct."""

    text: str
    corrects: bool


def blank_correction_words(question: str) -> CorrectionMessage:
    """Returns the question, as long as before, with spaces in place of "no, I meant", "make that", "instead"."""
    lead = _LEAD.match(question)
    has_words = lead is not None and any(character.isalnum() for character in lead[0])
    text = " " * len(lead[0]) + question[lead.end() :] if lead is not None and has_words else question
    text = _TAIL.sub(lambda match: " " * len(match[0]), text)
    if not any(character.isalnum() for character in text):
        return CorrectionMessage(question, corrects=False)
    return CorrectionMessage(text, corrects=text != question)


def find_dropped_part(question: str) -> str | None:
    """ "Whatever the price", "forget the year": returns the words for what no longer matters; else None."""
    drop, unimportant = _DROP_START.match(question), _UNIMPORTANT_END.search(question)
    if drop is None and unimportant is None:
        return None
    start = 0 if drop is None else drop.end()
    end = len(question) if unimportant is None else unimportant.start()
    word_positions = [index for index in range(start, end) if question[index].isalnum()]
    return question[start if drop else word_positions[0] : word_positions[-1] + 1] if word_positions else None


def find_dropped_conditions(
    words: str, reading: BucketReading, conditions: Sequence[Condition], lexicon: BucketLexicon
) -> list[Condition]:
    """Returns the conditions that the words name, by their field, by their value, or as time."""
    named = {link.meaning.field for link in reading.links if isinstance(link.meaning, FieldMention)}
    named |= _date_fields_named(words, lexicon)
    named |= {name for name in (lexicon.field_hinted_by(token.stem) for token in reading.tokens) if name is not None}
    return [
        condition
        for condition in conditions
        if condition in reading.conditions or _fields_with_parts(named, lexicon) & fields_of(condition)
    ]


def _date_fields_named(words: str, lexicon: BucketLexicon) -> set[FieldName]:
    if not set(re.findall(r"\w+", words.lower())) & _TIME_WORDS:
        return set()
    return {field.name for field in lexicon.schema.fields if field.type is FieldType.DATE}


def _fields_with_parts(names: set[FieldName], lexicon: BucketLexicon) -> set[FieldName]:
    """Returns the fields, and for amounts of money the fields of their currencies."""
    currencies = {
        field.currency_field
        for field in lexicon.schema.fields
        if field.name in names and field.type is FieldType.MONEY and field.currency_field
    }
    return names | {FieldName(name) for name in currencies}
