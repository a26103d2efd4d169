"""Finds adjectives that need a threshold: "good", "large" or "cheap" say an end of a scale, but not from where on."""

from agent.decomposition import VagueCondition
from agent.english.function_words import FORMS_OF_BE
from agent.english.gradable_adjectives import SCALE_BY_ADJECTIVE, ScaleKind
from agent.rules.cues.scale_fields import fields_on_scale
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_DELAY_WORDS = frozenset("late early near close fine great flat".split())  # more often no measure: "late fees"
_WORDS_BEFORE_ADJECTIVE = FORMS_OF_BE | {"that", "which"}
_INTENSIFIERS = frozenset("very really quite rather pretty so too particularly especially reasonably fairly".split())
_MEASURABLE_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)


def find_vague_condition(reading: BucketReading, lexicon: BucketLexicon) -> VagueCondition | None:
    """ "Which hotels are *good*", "*large* flats", "flats with a *low* rent": returns the scale and its likely fields.

    None without such an adjective, and where no field measures it.
    """
    for index, token in enumerate(reading.tokens):
        if token.word not in SCALE_BY_ADJECTIVE or _is_linked(index, reading) or token.is_quoted:
            continue
        fields = _fields_measured_at(index, reading, lexicon)
        fields = tuple(name for name in fields if _has_single_scale(name, lexicon))
        if fields:
            return VagueCondition(
                bucket=lexicon.bucket,
                word=token.word,
                fields=fields,
                is_high_end=_is_high_end(token.word, fields[0], lexicon),
            )
    return None


def _is_linked(index: int, reading: BucketReading) -> bool:
    return index in reading.literal_tokens or any(
        link.first <= index < link.last and isinstance(link.meaning, (ValueMatch, PartialMatch, BucketNoun))
        for link in reading.links
    )


def _fields_measured_at(index: int, reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the fields that the adjective at the token measures; none if it stands by nothing that has them."""
    word = reading.tokens[index].word
    for link in reading.links:
        mention = link.meaning
        if isinstance(mention, FieldMention) and link.first == index + 1 and mention.column is None:
            field = lexicon.get_field(mention.field)
            if field.type in _MEASURABLE_TYPES:
                return (field.name,)
    if word in _DELAY_WORDS or word in ("high", "low") or not _modifies_documents(index, reading, lexicon):
        return ()
    numeric = (name for name in fields_on_scale(word, lexicon))
    return tuple(name for name in numeric if lexicon.get_field(name).type in _MEASURABLE_TYPES)


def _modifies_documents(index: int, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether documents appear right after the adjective, or it says something of them: "… that are cheap"."""
    words = [token.word for token in reading.tokens]
    after = index + 1
    while after < len(words) and (words[after] in SCALE_BY_ADJECTIVE or words[after] == "and"):
        after += 1
    if any(link.first == after and _stands_for_documents(link.meaning, lexicon) for link in reading.links):
        return True
    before = index - 1
    while before > 0 and words[before] in _INTENSIFIERS:
        before -= 1
    return (
        before > 0
        and words[before] in _WORDS_BEFORE_ADJECTIVE
        and (after == len(words) or words[after] in ("in", "at", "for"))
    )


def _stands_for_documents(meaning: object, lexicon: BucketLexicon) -> bool:
    if isinstance(meaning, FieldMention):
        return meaning.column is None and lexicon.is_identifying(meaning.field)
    return isinstance(meaning, (BucketNoun, ValueMatch, PartialMatch))


def _has_single_scale(name: FieldName, lexicon: BucketLexicon) -> bool:
    """Whether all values can be compared: amounts in several currencies cannot."""
    field = lexicon.get_field(name)
    if field.type is not FieldType.MONEY or field.currency or field.currency_field is None:
        return True
    currencies = lexicon.vocabulary_of(field.currency_field)
    return currencies is not None and len(currencies.values) <= 1


def _is_high_end(word: str, name: FieldName, lexicon: BucketLexicon) -> bool:
    scale = SCALE_BY_ADJECTIVE[word]
    is_age = scale.kind is ScaleKind.AGE and lexicon.get_field(name).type is FieldType.NUMBER
    return scale.is_high_end is not is_age
