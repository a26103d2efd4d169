"""Finds the parts of a question that its plan does not handle, to tell the asker."""

from collections.abc import Iterator, Sequence

from agent.assumptions import Assumption, IgnoredGrouping, IgnoredSuperlative, UnmatchedSuperlative
from agent.english.function_words import GROUPING_WORDS
from agent.rules.cues.function_phrases import find_superlatives
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.ids import FieldName
from storage.search.plan import AnswerForm, ComputeNumbers, ListDocuments
from storage.search.schema import FieldType

_BOUND_WORDS = frozenset({"maximum", "max", "minimum", "min"})  # "with a maximum liability" orders nothing


def find_unhandled_terms(
    answer_form: AnswerForm, reading: BucketReading, lexicon: BucketLexicon
) -> tuple[Assumption, ...]:
    words = [token.word for token in reading.tokens]
    match answer_form:
        case ListDocuments(order=None):
            return tuple(_unmatched_superlatives(words, reading))
        case ListDocuments(limit=int()):
            return tuple(_opposite_superlatives(words, reading))
        case ComputeNumbers(group=group, second_group=None) if group is not None:
            return tuple(_second_groupings(words, reading, lexicon, group.field))
        case _:
            return ()


def _unmatched_superlatives(words: Sequence[str], reading: BucketReading) -> Iterator[Assumption]:
    for superlative in find_superlatives(words, reading):
        if not _BOUND_WORDS.intersection(superlative.words):
            yield UnmatchedSuperlative(words=tuple(superlative.words))


def _opposite_superlatives(words: Sequence[str], reading: BucketReading) -> Iterator[Assumption]:
    """ "The smallest *and the largest*": yields each superlative that the list ignores."""
    ends = find_superlatives(words, reading)
    for superlative in ends[1:]:
        if superlative.function is not ends[0].function:
            yield IgnoredSuperlative(words=tuple(superlative.words))


def _second_groupings(
    words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon, group_field: FieldName
) -> Iterator[Assumption]:
    """ "Per airline *and destination*": yields each grouping that was left out."""
    fields = {
        link.first: (link.last, link.meaning.field) for link in reading.links if isinstance(link.meaning, FieldMention)
    }
    for first, (last, name) in fields.items():
        also = fields.get(last + 1)
        is_by = name == group_field and bool(set(words[max(first - 2, 0) : first]) & GROUPING_WORDS)
        if not is_by or also is None or words[last : last + 1] != ["and"] or also[1] == group_field:
            continue
        field = lexicon.get_field(also[1])
        if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG, FieldType.DATE):
            yield IgnoredGrouping(group_label=lexicon.get_field(group_field).label, ignored_label=field.label)
