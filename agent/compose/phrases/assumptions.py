"""Describes the assumptions of an answer. Raw text, not escaped."""

from typing import assert_never

from agent.compose.phrases.conditions import (
    describe_condition,
    document_noun_of,
    escape_markdown,
    format_count,
    join_words,
)
from agent.compose.phrases.set_description import describe_set
from agent.refine.refinements import SchemasByBucket
from agent.review.assumptions import (
    AnyTextSearched,
    Assumption,
    CorrectedSpelling,
    FallbackReading,
    FirstOfSeveral,
    IgnoredWord,
    RequiredWords,
    TakenReading,
)


def describe_assumption(assumption: Assumption, schemas: SchemasByBucket) -> str:
    match assumption:
        case IgnoredWord(word=word):
            return f"ignored, since no document holds it: “{word}”"
        case RequiredWords(words=words):
            fit, pronoun = ("fits", "it") if len(words) == 1 else ("fit", "them")
            quoted = join_words([f"“{word}”" for word in words])
            return f"{quoted} {fit} no field, so the text must mention {pronoun}"
        case TakenReading(bucket=bucket, conditions=conditions, other_descriptions=others):
            taken = " and ".join(describe_condition(condition, schemas[bucket]) for condition in conditions)
            return f"took the reading “{taken}”, not {', '.join(f'“{other}”' for other in others)}"
        case CorrectedSpelling(written=written, meant=meant):
            return f"read “{written}” as “{meant}”"
        case FallbackReading(description=description):
            return f"took it to mean {description}"
        case FirstOfSeveral(count=count, search=search):
            clauses = search.clauses
            noun = document_noun_of(schemas[clauses[0].bucket]) if len(clauses) == 1 else "document"
            return f"took the first of the {format_count(count, noun)} that fit"
        case AnyTextSearched(search=search):
            return f"found no {escape_markdown(describe_set(search, schemas))}, so any text was searched"
        case _:
            assert_never(assumption)
