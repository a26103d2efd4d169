"""Describes the assumptions of an answer, and what a follow-up keeps. Raw text, not escaped."""

from collections.abc import Sequence
from typing import assert_never

from agent.assumptions import (
    AnyTextSearched,
    Assumption,
    BestPassagesListed,
    CorrectedSpelling,
    DateFieldTaken,
    DocumentsRead,
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
    UnansweredPart,
    UnboundedAdjective,
    UnknownWords,
    UnmatchedSuperlative,
    UnusedWords,
    WordsDecide,
    WordsTakenAsField,
)
from agent.compose.phrases.conditions import describe_condition, describe_mention, describe_reading
from agent.compose.phrases.nouns import document_noun_of, format_count, noun_for_documents
from agent.compose.phrases.set_description import describe_set
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import (
    escape_markdown,
    join_alternatives,
    join_words,
    lowercase_words,
    quote_alternatives,
)
from agent.decomposition import KeptCondition, KeptFieldCondition, KeptQuestion, KeptWord
from agent.refine.refinements import SchemasByBucket
from agent.translation.languages import is_reply_in_english
from agent.translation.local_formats import language_name_of
from agent.translation.message_catalogues import translate_message, translate_plural
from storage.search.conditions import TEXT_FIELD, Condition, fields_of
from storage.search.schema import Schema


def describe_assumption(assumption: Assumption, schemas: SchemasByBucket) -> str:
    match assumption:
        case IgnoredWord(word=word):
            return translate_message("ignored, since no document holds it: “{word}”", word=word)
        case UnknownWords(words=words):
            return translate_message("did not understand {words}, so it restricts nothing", words=_quote_words(words))
        case UnusedWords(words=words):
            return translate_message("took no account of {words}", words=_quote_words(words))
        case UnansweredPart(question=question):
            return translate_message("could not plan “{question}”, so it is not answered", question=question)
        case RequiredWords(words=words):
            return translate_plural(
                "looked for {words} in the texts, since no field is about it",
                "looked for {words} in the texts, since no field is about them",
                len(words),
                words=_quote_words(words),
            )
        case WordsDecide(words=words):
            return translate_message(
                "went by words in the texts ({words}), so some may be missing or wrong", words=quote_alternatives(words)
            )
        case DocumentsRead(bucket=bucket):
            return _describe_reading_of_documents(assumption, schemas[bucket])
        case TakenReading(bucket=bucket, conditions=conditions, other_conditions=others):
            taken, *rejected = (
                describe_reading(reading, schemas[bucket], schemas) for reading in (conditions, *others)
            )
            quoted = ", ".join(f"“{reading}”" for reading in rejected)
            return translate_message("took the reading “{taken}”, not {others}", taken=taken, others=quoted)
        case TakenField(field_label=label, other_labels=others):
            other_labels = join_words([lowercase_words(other) for other in others])
            return translate_message(
                "went by {label}, not by {other_labels}", label=lowercase_words(label), other_labels=other_labels
            )
        case UnboundedAdjective(word=word):
            return translate_message("“{word}” says no limit, so none was set", word=word)
        case TakenInnerSet(bucket=bucket, conditions=conditions):
            return translate_message(
                "took it to mean the {noun} {qualifier}",
                noun=document_noun_of(schemas[bucket]).singular,
                qualifier=describe_reading(conditions, schemas[bucket], schemas),
            )
        case CorrectedSpelling(written=written, meant=meant):
            return translate_message("read “{written}” as “{meant}”", written=written, meant=meant)
        case FallbackReading(bucket=bucket, conditions=conditions):
            return translate_message(
                "took it to mean {reading}",
                reading=_describe_fallback_reading(conditions, schemas[bucket], schemas),
            )
        case FirstOfSeveral(count=count, search=search):
            clauses = search.clauses
            noun = document_noun_of(schemas[clauses[0].bucket]) if len(clauses) == 1 else noun_for_documents()
            return translate_message("took the first of the {documents} that fit", documents=format_count(count, noun))
        case AnyTextSearched(search=search):
            return translate_message(
                "found no {documents}, so any text was searched",
                documents=escape_markdown(describe_set(search, schemas)),
            )
        case BestPassagesListed():
            return translate_message("went by the passages that fit best, so there may be more")
        case ForeignLanguage(language=language):
            name = translate_message("another language") if language == "und" else language_name_of(language)
            return translate_message(
                "questions are read in English; this one seems to be in {language}, so the text was searched for its"
                " words",
                language=name,
            )
        case WordsTakenAsField(words=words, field_label=label):
            return translate_message("took “{words}” to mean {label}", words=words, label=label)
        case DateFieldTaken(words=words, field_label=label, other_labels=others):
            return translate_message(
                "took “{words}” to mean {label}, not {other_labels}",
                words=words,
                label=label,
                other_labels=join_alternatives(others),
            )
        case MarginTaken(words=words):
            return translate_message("took “{words}” as 10 % more or less", words=words)
        case UnmatchedSuperlative(words=words):
            return translate_message(
                "found nothing to sort by for “{words}”, so the order is the usual one", words=" ".join(words)
            )
        case IgnoredSuperlative(words=words):
            return translate_message(
                "“{words}” was left out: a list has one end, so ask for the other by itself", words=" ".join(words)
            )
        case IgnoredGrouping(group_label=label, ignored_label=ignored_label):
            return translate_message(
                "grouped by {label} alone, not by {ignored_label} as well",
                label=lowercase_words(label),
                ignored_label=lowercase_words(ignored_label),
            )
        case _:
            assert_never(assumption)


def _describe_reading_of_documents(read: DocumentsRead, schema: Schema) -> str:
    """ "read all 24 letters: 5 fit, 2 are unclear"."""
    fit, unclear = read.fit_count, read.unclear_count
    result = (
        translate_plural("{count} fits", "{count} fit", fit, count=format_number(fit))
        if fit
        else translate_message("none fits")
    )
    if unclear:
        result += translate_plural(
            ", {count} is unclear", ", {count} are unclear", unclear, count=format_number(unclear)
        )
    values = {"documents": format_count(read.read_count, document_noun_of(schema)), "result": result}
    if read.has_all:
        return translate_plural(
            "read {documents}: {result}", "read all {documents}: {result}", read.read_count, **values
        )
    return translate_plural(
        "read only the {documents} that holds words of it: {result}",
        "read only the {documents} that hold words of it: {result}",
        read.read_count,
        **values,
    )


def _quote_words(words: Sequence[str]) -> str:
    return join_words([f"“{word}”" for word in words])


def _describe_fallback_reading(conditions: Sequence[Condition], schema: Schema, schemas: SchemasByBucket) -> str:
    if all(fields_of(condition) <= {TEXT_FIELD} for condition in conditions):
        described = [describe_condition(condition, schema, schemas) for condition in conditions]
        return translate_message("one that {conditions}", conditions=join_words(described))
    reading = describe_reading(conditions, schema, schemas)
    return f"those {reading}" if is_reply_in_english() else reading


def describe_kept_condition(kept: KeptCondition, schemas: SchemasByBucket) -> str:
    match kept:
        case KeptFieldCondition(condition=condition, bucket=bucket):
            return describe_reading([condition], schemas[bucket], schemas)
        case KeptWord(word=word):
            return describe_mention(word)
        case KeptQuestion(question=question):
            return f"“{question}”"
        case _:
            assert_never(kept)
