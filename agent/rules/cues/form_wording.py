"""Drops the unlinked words of a question that only say what is computed, ordered or grouped."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from agent.english.function_words import (
    BREAKDOWN_WORDS,
    DIMENSION_UNITS,
    LASTING_VERBS,
    MONEY_WORDS,
    ORDINALS,
    PERIOD_WORDS,
    STOP_WORDS,
)
from agent.english.gradable_adjectives import adjective_of_superlative, scale_of_adjective
from agent.rules.cues.function_phrases import FunctionPhrase, find_functions
from agent.rules.cues.grouping import group_nouns
from agent.rules.cues.question_subject import EARNING_VERBS, SIZE_NOUNS
from agent.rules.cues.ranked_fields import first_of_measure_phrase, measures_anything
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention, SpanLink, ValueMatch
from agent.rules.linking.link_filter import content_coverage
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.word_roles import WordRole
from storage.quantities.units import convert_unit
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition
from storage.search.ids import FieldName
from storage.search.plan import AnswerForm
from storage.search.schema import FieldType, SchemaField

_MIN_KIND_SIMILARITY = 0.3  # cosine from which a noun after a superlative names the documents of a bucket
_SETBACK_WORDS = frozenset({"set", "back"})  # "it set us back"
_MAX_NOUN_WORDS = 3
_NOUNS_OF_ANYTHING = frozenset("place places one ones thing things item items person people".split())


def drop_added_groups(reading: BucketReading, answer_form: AnswerForm) -> BucketReading:
    """ "For each branch *and head office*": drops the condition on the field of the groups, which adds one of them."""
    group = answer_form.grouping
    if group is None:
        return reading
    added = {
        link.meaning.value
        for link in reading.links
        if isinstance(link.meaning, ValueMatch)
        and link.meaning.field == group.field
        and any(_joins_group(other, link, group.field, reading) for other in reading.links)
    }
    kept = tuple(
        condition
        for condition in reading.conditions
        if not (
            isinstance(condition, ComparisonCondition) and condition.field == group.field and condition.value in added
        )
    )
    return replace(reading, conditions=kept)


def _joins_group(mention: SpanLink, value: SpanLink, name: FieldName, reading: BucketReading) -> bool:
    """Whether "and", and an article at most, is between the name of the group and the value."""
    is_group = isinstance(mention.meaning, FieldMention) and mention.meaning.field == name
    between = [token.word for token in reading.tokens[mention.last : value.first]]
    return is_group and between[:1] == ["and"] and set(between[1:]) <= {"the", "for", "our"}


def drop_measure_words(reading: BucketReading, answer_form: AnswerForm, lexicon: BucketLexicon) -> BucketReading:
    """Drops the unlinked words that only name the computed field, its unit or its group: "average *hours*"."""
    names = _fields_of_form(answer_form)
    if not names:
        return reading
    field, stems = lexicon.get_field(names[0]), frozenset[str]().union(*map(lexicon.stems_of, names))
    stem_by_word = {token.word: token.stem for token in reading.tokens}
    phrases = [
        phrase
        for phrase in find_functions([token.word for token in reading.tokens], reading)
        if phrase.is_superlative or phrase.function in answer_form.computed_functions
    ]
    words = [token.word for token in reading.tokens]
    spoken = frozenset(word for phrase in phrases for word in phrase.words) | frozenset(
        token.word for token in reading.tokens if _only_names_form(token.word, answer_form, field, lexicon)
    )
    if answer_form.grouping is not None:
        spoken |= group_nouns(words)
    extremes = [phrase for phrase in phrases if phrase.is_superlative]
    if answer_form.list_order is not None or extremes:
        spoken |= frozenset(words[start:] if (start := first_of_measure_phrase(words)) is not None else ())
        spoken |= _noun_of_superlative(extremes, reading, lexicon)
    left = tuple(
        words
        for words in reading.unlinked_words
        if not (
            stem_by_word.get(fold_text(words)) in stems
            or _is_unit_of(fold_text(words), field)
            or set(fold_text(words).replace("-", " ").split()) <= spoken
        )
    )
    if left == reading.unlinked_words:
        return reading
    return replace(reading, unlinked_words=left, coverage=content_coverage(reading.tokens, left))


def _only_names_form(word: str, answer_form: AnswerForm, field: SchemaField, lexicon: BucketLexicon) -> bool:
    """Whether the word only says how the field is ordered or computed: an adjective, a verb of money, a family word."""
    if answer_form.list_order is not None and (
        (answer_form.list_skip and word in ORDINALS)
        or word in LASTING_VERBS
        or adjective_of_superlative(word) is not None
        or scale_of_adjective(word).nouns
    ):
        return True
    if answer_form.computes and word in SIZE_NOUNS:
        return True
    if answer_form.second_grouping is not None and word in PERIOD_WORDS:
        return True
    if answer_form.grouping is not None and word in BREAKDOWN_WORDS:
        return True
    if field.type is FieldType.MONEY and word in MONEY_WORDS | EARNING_VERBS | _SETBACK_WORDS:
        return True
    return field.name in lexicon.roles.fields_of_family(word, (field.name,))


def _fields_of_form(answer_form: AnswerForm) -> list[FieldName]:
    """Returns the ordered or computed field first, then the field of the group."""
    order, group, second = answer_form.list_order, answer_form.grouping, answer_form.second_grouping
    named = (order.field if order else None, answer_form.computed_field)
    return [name for name in (*named, group.field if group else None, second.field if second else None) if name]


def _is_unit_of(word: str, field: SchemaField) -> bool:
    """ "How many *watts*": whether the word is a unit or a dimension of the field."""
    unit = DIMENSION_UNITS.get(word, word)
    return bool(field.unit) and len(word) > 1 and convert_unit(Decimal(1), unit, field.unit) is not None


def mark_unmeasured_superlative(
    reading: BucketReading, answer_form: AnswerForm, lexicon: BucketLexicon
) -> BucketReading:
    """ "The *oldest* region", where nothing tells an age: returns the word as one that was not understood."""
    if not answer_form.lists_documents or answer_form.list_order is not None:
        return reading
    words = [token.word for token in reading.tokens]
    unmeasured = [
        " ".join(phrase.words)
        for phrase in find_functions(words, reading)
        if phrase.is_superlative and not measures_anything(phrase, words, reading, lexicon)
    ]
    if not unmeasured:
        return reading
    return replace(
        reading,
        unlinked_words=(*reading.unlinked_words, *unmeasured),
        word_roles={**reading.word_roles, **dict.fromkeys(unmeasured, WordRole.UNKNOWN)},
    )


def _noun_of_superlative(
    phrases: Sequence[FunctionPhrase], reading: BucketReading, lexicon: BucketLexicon
) -> frozenset[str]:
    """ "The longest *train journey*": returns the words after a superlative, if they name the kind of documents."""
    linked = {index for link in reading.links if link.weight for index in range(link.first, link.last)}
    found = _NOUNS_OF_ANYTHING
    for phrase in phrases:
        index = phrase.last
        words: list[str] = []
        while index < len(reading.tokens) and len(words) < _MAX_NOUN_WORDS:
            if index in linked or index in reading.literal_tokens or reading.tokens[index].word in STOP_WORDS:
                break
            words.append(reading.tokens[index].word)
            index += 1
        if any(_names_kind(word, reading, lexicon) for word in words):
            found |= frozenset(words)
    return found


def _names_kind(word: str, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    names = (lexicon.schema.bucket.replace("_", " "), lexicon.schema.title, *lexicon.schema.synonyms)
    stems = {term.text for name in names for term in lexicon.analyser.extract_terms(name)}
    own = {term.text for term in lexicon.analyser.extract_terms(word)}
    return bool(own & stems) or reading.similarities.similarity_to_noun(word) >= _MIN_KIND_SIMILARITY
