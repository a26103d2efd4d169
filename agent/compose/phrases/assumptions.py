"""Describes the assumptions of an answer, and what a follow-up keeps. Raw text, not escaped."""

from collections.abc import Sequence
from typing import assert_never

from agent.assumptions import (
    AnyTextSearched,
    Assumption,
    CorrectedSpelling,
    DateFieldTaken,
    FallbackReading,
    FirstOfSeveral,
    ForeignLanguage,
    IgnoredGrouping,
    IgnoredSuperlative,
    IgnoredWord,
    MarginTaken,
    RequiredWords,
    TakenField,
    TakenInnerSet,
    TakenReading,
    UnboundedAdjective,
    UnknownWords,
    UnmatchedSuperlative,
    WordsTakenAsField,
)
from agent.compose.phrases.conditions import (
    describe_condition,
    describe_reading,
    document_noun_of,
    escape_markdown,
    format_count,
    join_words,
)
from agent.compose.phrases.set_description import describe_set
from agent.decomposition import KeptCondition, KeptFieldCondition, KeptQuestion, KeptWord
from agent.refine.refinements import SchemasByBucket
from storage.search.conditions import TEXT_FIELD, Condition, fields_of
from storage.search.schema import Schema


def describe_assumption(assumption: Assumption, schemas: SchemasByBucket) -> str:
    match assumption:
        case IgnoredWord(word=word):
            return f"ignored, since no document holds it: “{word}”"
        case UnknownWords(words=words):
            return f"did not understand {join_words([f'“{word}”' for word in words])}, so it restricts nothing"
        case RequiredWords(words=words):
            fit, pronoun = ("fits", "it") if len(words) == 1 else ("fit", "them")
            quoted = join_words([f"“{word}”" for word in words])
            return f"{quoted} {fit} no field, so the text must mention {pronoun}"
        case TakenReading(bucket=bucket, conditions=conditions, other_conditions=others):
            taken, *rejected = (
                describe_reading(reading, schemas[bucket], schemas) for reading in (conditions, *others)
            )
            return f"took the reading “{taken}”, not {', '.join(f'“{reading}”' for reading in rejected)}"
        case TakenField(field_label=label, other_labels=others):
            return f"went by {label.lower()}, not by {join_words([other.lower() for other in others])}"
        case UnboundedAdjective(word=word):
            return f"“{word}” says no limit, so none was set"
        case TakenInnerSet(bucket=bucket, conditions=conditions):
            noun = document_noun_of(schemas[bucket])
            return f"took it to mean the {noun} where {describe_reading(conditions, schemas[bucket], schemas)}"
        case CorrectedSpelling(written=written, meant=meant):
            return f"read “{written}” as “{meant}”"
        case FallbackReading(bucket=bucket, conditions=conditions):
            return f"took it to mean {_describe_fallback_reading(conditions, schemas[bucket], schemas)}"
        case FirstOfSeveral(count=count, search=search):
            clauses = search.clauses
            noun = document_noun_of(schemas[clauses[0].bucket]) if len(clauses) == 1 else "document"
            return f"took the first of the {format_count(count, noun)} that fit"
        case AnyTextSearched(search=search):
            return f"found no {escape_markdown(describe_set(search, schemas))}, so any text was searched"
        case ForeignLanguage(language=language):
            return (
                f"questions are read in English; this one seems to be in {language}, so the text was searched for its"
                " words"
            )
        case WordsTakenAsField(words=words, field_label=label):
            return f"took “{words}” to mean {label}"
        case DateFieldTaken(words=words, field_label=label, other_labels=others):
            return f"took “{words}” to mean {label}, not {' or '.join(others)}"
        case MarginTaken(words=words):
            return f"took “{words}” as 10 % more or less"
        case UnmatchedSuperlative(words=words):
            return f"“{' '.join(words)}” fits no field, so nothing is in order of it"
        case IgnoredSuperlative(words=words):
            return f"“{' '.join(words)}” was left out: a list has one end, so ask for the other by itself"
        case IgnoredGrouping(group_label=label, ignored_label=ignored_label):
            return f"grouped by {label.lower()} alone, not by {ignored_label.lower()} as well"
        case _:
            assert_never(assumption)


def _describe_fallback_reading(conditions: Sequence[Condition], schema: Schema, schemas: SchemasByBucket) -> str:
    if all(fields_of(condition) <= {TEXT_FIELD} for condition in conditions):
        return f"one that {join_words([describe_condition(condition, schema, schemas) for condition in conditions])}"
    return describe_reading(conditions, schema, schemas)


def describe_kept_condition(kept: KeptCondition, schemas: SchemasByBucket) -> str:
    match kept:
        case KeptFieldCondition(condition=condition, bucket=bucket):
            return describe_condition(condition, schemas[bucket], schemas)
        case KeptWord(word=word):
            return f"mentions “{word}”"
        case KeptQuestion(question=question):
            return f"“{question}”"
        case _:
            assert_never(kept)
