"""Names of documents in a bucket that refers to itself: whether the document is meant, or those that refer to it.

"The province Elmet" is that province; "provinces bordering Elmet" are others. A noun of the bucket that a verb or a
mention of the field connects with the name asks for those that refer to it; a name that nothing connects is the thing.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from agent.english.function_words import FILLER_WORDS, STOP_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, SpanLink
from agent.rules.reading.bucket_reading import UNLINKED_PENALTY, BucketReading
from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD, ComparisonCondition, ComparisonOperator, Condition
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldReference, FieldType, Schema, SchemaField

_INSIGNIFICANT_WORDS = STOP_WORDS | FILLER_WORDS | frozenset("of called named".split())
_DEMOTION = 0.1  # more than the difference of scores that count as equal
_AUXILIARIES = frozenset("do does did".split())


def settle_own_names(reading: BucketReading, lexicons: Mapping[BucketId, BucketLexicon]) -> BucketReading:
    """Returns the reading in which each name of a document is compared with the field that is meant."""
    references = list(_self_references_of(lexicons[reading.bucket]))
    if not references:
        return reading
    other_nouns = frozenset[str]().union(*(lexicons[name].noun_stems for name in lexicons if name != reading.bucket))
    other_nouns -= lexicons[reading.bucket].noun_stems
    settled = [_settle_condition(condition, reading, references, other_nouns) for condition in reading.conditions]
    connecting_words = {word for _, words in settled for word in words}
    unlinked = tuple(words for words in reading.unlinked_words if words.casefold() not in connecting_words)
    conditions = tuple(condition for condition, _ in settled)
    if (conditions, unlinked) == (reading.conditions, reading.unlinked_words) and not connecting_words:
        return reading
    relations = {
        condition.field for condition, words in settled if words and isinstance(condition, ComparisonCondition)
    }
    return replace(
        reading,
        conditions=conditions,
        unlinked_words=unlinked,
        asked_mentions=tuple(mention for mention in reading.asked_mentions if mention.field not in relations),
        score=reading.score + UNLINKED_PENALTY * (len(reading.unlinked_words) - len(unlinked)),
        equal_alternatives=(),
        fallback_alternatives=(),
    )


def count_lost_relations(reading: BucketReading, lexicons: Mapping[BucketId, BucketLexicon]) -> int:
    """ "Towns in provinces *bordering* Elmet": returns how many names are read as if nothing stood before them.

    The name is that of a document of another bucket, whose documents refer to one another, and words connect it with
    a noun for these.
    """
    schema, count = lexicons[reading.bucket].schema, 0
    for condition in reading.conditions:
        target = _target_of(condition, schema)
        if target is None or target.bucket == reading.bucket or target.bucket not in lexicons:
            continue
        refers_to_itself = any(True for _ in _self_references_of(lexicons[target.bucket]))
        if refers_to_itself and isinstance(condition, ComparisonCondition):
            count += bool(_words_before_name(condition, reading))
    return count


def _words_before_name(condition: ComparisonCondition, reading: BucketReading) -> Sequence[str]:
    """Returns the words between a mention of the condition's field and the name that it compares with."""
    span = _span_of(condition, reading)
    first = 0 if span is None else span[0]
    words = [token.word for token in reading.tokens]
    field_words = [
        link.last
        for link in reading.links
        if isinstance(link.meaning, FieldMention) and link.meaning.field == condition.field and link.last <= first
    ]
    between = words[max(field_words) : first] if field_words else ()
    return [word for word in between if word not in _INSIGNIFICANT_WORDS]


def put_own_documents_first(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> list[BucketReading]:
    """ "The population of Elmet": returns the readings with the document of that name before those that refer to it.

    Only where nothing names the kind of those that refer to it, and the document explains as much of the question.
    """
    by_bucket = {reading.bucket: reading for reading in readings}
    demoted = [_demote_reference(reading, by_bucket, lexicons[reading.bucket].schema) for reading in readings]
    return sorted(demoted, key=lambda reading: -reading.score)


def _demote_reference(
    reading: BucketReading, readings: Mapping[BucketId, BucketReading], schema: Schema
) -> BucketReading:
    targets = {_target_of(condition, schema) for condition in reading.conditions}
    if reading.has_noun or len(targets) != 1:
        return reading
    if len({condition.field for condition in reading.conditions if isinstance(condition, ComparisonCondition)}) > 1:
        return reading  # "from Arvo to Belk": what joins the two is meant, not each of them
    target = next(iter(targets))
    own = None if target is None or target.bucket == reading.bucket else readings.get(target.bucket)
    if own is None or len(own.unlinked_words) > len(reading.unlinked_words) or not own.conditions:
        return reading
    if len(own.asked_mentions) < len(reading.asked_mentions) and not own.has_noun:
        return reading
    return replace(reading, score=min(reading.score, own.score - _DEMOTION))


def _target_of(condition: Condition, schema: Schema) -> FieldReference | None:
    """Returns the field of documents that the condition names one of."""
    if not isinstance(condition, ComparisonCondition) or condition.field not in schema.by_name:
        return None
    is_name = condition.op in (ComparisonOperator.EQ, ComparisonOperator.HAS)
    return schema.references.get(condition.field) if is_name else None


def _self_references_of(lexicon: BucketLexicon) -> Iterator[tuple[SchemaField, FieldName]]:
    """Yields each field that refers to documents of its own bucket, with the field that identifies them."""
    for name, reference in lexicon.schema.references.items():
        own = reference.field
        if reference.bucket == lexicon.bucket and (own == TITLE_FIELD or own in lexicon.schema.by_name):
            yield lexicon.schema.by_name[name], own


def _settle_condition(
    condition: Condition,
    reading: BucketReading,
    references: Sequence[tuple[SchemaField, FieldName]],
    other_nouns: Set[str],
) -> tuple[Condition, Sequence[str]]:
    """Returns the condition on the field that is meant, and the words that connect a noun with the name.

    `other_nouns` are the stems of nouns for documents of other buckets.
    """
    if not isinstance(condition, ComparisonCondition) or not isinstance(condition.value, str):
        return condition, ()
    if not _names_document(condition):
        return condition, ()
    for field, key in references:
        if condition.field in (field.name, key):
            relation = _connecting_words(condition, reading, field.name, other_nouns)
            if relation is None:
                continue
            if not relation:
                return _condition_on_key(condition, key), relation
            op = ComparisonOperator.HAS if field.type is FieldType.LIST else ComparisonOperator.EQ
            return replace(condition, field=field.name, op=op), relation
    return condition, ()


def _names_document(condition: ComparisonCondition) -> bool:
    """Whether the condition compares a field with a whole name."""
    ops = (ComparisonOperator.EQ, ComparisonOperator.HAS)
    return condition.op in ops or (condition.field == TITLE_FIELD and condition.op is ComparisonOperator.CONTAINS)


def _condition_on_key(condition: ComparisonCondition, key: FieldName) -> ComparisonCondition:
    op = ComparisonOperator.CONTAINS if key == TITLE_FIELD else ComparisonOperator.EQ
    return replace(condition, field=key, op=op)


def _connecting_words(
    condition: ComparisonCondition, reading: BucketReading, field: FieldName, other_nouns: Set[str]
) -> Sequence[str] | None:
    """Returns the words that connect a noun of the bucket with the name.

    None if another link or a noun for other documents lies between them.
    """
    span = _span_of(condition, reading)
    if span is None:
        return None
    first, last = span
    nouns = [link for link in reading.links if isinstance(link.meaning, BucketNoun)]
    words = [token.word for token in reading.tokens]
    nouns_before = [link for link in nouns if link.last <= first]
    if not nouns_before:
        noun_after = min((link.first for link in nouns if link.first >= last), default=last)
        names_field = any(_mentions(link, field, last, noun_after) for link in reading.links)
        return words[last:noun_after] if names_field else ()  # "Elmet borders how many provinces"
    noun: SpanLink = max(nouns_before, key=lambda link: link.last)
    between = words[noun.last : first]
    if _AUXILIARIES & set(between) and last < len(words):  # "which provinces does Elmet border"
        return None if any(token.stem in other_nouns for token in reading.tokens[last:]) else words[last:]
    if any(token.stem in other_nouns for token in reading.tokens[noun.last : first]):
        return None
    linked = [link.meaning for link in reading.links if noun.last <= link.first and link.last <= first]
    if any(not isinstance(meaning, FieldMention) or meaning.field != field for meaning in linked):
        return None
    return [word for word in between if word not in _INSIGNIFICANT_WORDS]


def _mentions(link: SpanLink, field: FieldName, first: int, last: int) -> bool:
    """Whether the link mentions the field between the two tokens."""
    is_between = first <= link.first and link.last <= last
    return is_between and isinstance(link.meaning, FieldMention) and link.meaning.field == field


def _span_of(condition: ComparisonCondition, reading: BucketReading) -> tuple[int, int] | None:
    """Returns the tokens that name the value."""
    value_words = fold_text(condition.words).split()
    words = [token.word for token in reading.tokens]
    for first in range(len(words) - len(value_words) + 1):
        if value_words and words[first : first + len(value_words)] == value_words:
            return first, first + len(value_words)
    return None
