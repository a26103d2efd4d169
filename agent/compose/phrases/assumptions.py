"""Describes the assumptions of an answer, and what a follow-up keeps. Raw text, not escaped."""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from agent.assumptions import (
    AnyTextSearched,
    Assumption,
    BestPassagesListed,
    CorrectedSpelling,
    DateFieldTaken,
    DocumentsRead,
    ExcerptRead,
    FallbackReading,
    FirstOfSeveral,
    ForeignLanguage,
    IgnoredGrouping,
    IgnoredSuperlative,
    IgnoredWord,
    ListTaken,
    MarginTaken,
    RequiredWords,
    SiblingsLeftOut,
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
from agent.compose.phrases.conditions import describe_condition, describe_label, describe_mention, describe_reading
from agent.compose.phrases.nouns import document_noun_of, format_count, noun_for_documents
from agent.compose.phrases.set_description import describe_set
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import (
    escape_markdown,
    join_alternatives,
    join_words,
    quote_alternatives,
)
from agent.decomposition import KeptCondition, KeptFieldCondition, KeptQuestion, KeptWord
from agent.english.telling_words import select_telling_words
from agent.refine.refinements import SchemasByBucket
from agent.translation.languages import is_reply_in_english
from agent.translation.local_formats import language_name_of
from agent.translation.message_catalogues import translate_message, translate_plural
from storage.search.analyser import fold_text
from storage.search.conditions import TEXT_FIELD, Condition, fields_of
from storage.search.schema import FieldType, Schema

_MAX_EXCERPT_CHARS = 200  # code points that the reply repeats


def describe_assumption(assumption: Assumption, schemas: SchemasByBucket) -> str:
    match assumption:
        case IgnoredWord(word=word):
            return translate_message("I left out “{word}”: no document holds it", word=word)
        case UnknownWords(words=words):
            return translate_message("I did not understand {words}, so I left it out", words=_quote_words(words))
        case UnusedWords(words=words):
            quoted = (select_telling_words(words) or words) if is_reply_in_english() else words
            return translate_message("I did not use {words} from your question", words=_quote_words(quoted))
        case ListTaken():
            return _describe_list(assumption)
        case ExcerptRead(text=text):
            shown = text if len(text) <= _MAX_EXCERPT_CHARS else f"{text[:_MAX_EXCERPT_CHARS].rstrip()} …"
            return translate_message("I read only this part of your long message: “{text}”", text=shown)
        case UnansweredPart(question=question):
            return translate_message(
                "I did not understand “{question}”, so that part is not answered", question=question
            )
        case RequiredWords(words=words):
            return translate_message("I looked for {words} in the texts", words=_quote_words(words))
        case WordsDecide(words=words):
            return translate_message(
                "I went by words in the texts ({words}), so some may be missing or wrong",
                words=quote_alternatives(words),
            )
        case DocumentsRead(bucket=bucket):
            return _describe_reading_of_documents(assumption, schemas[bucket])
        case TakenReading(bucket=bucket, conditions=conditions, other_conditions=others):
            taken, *rejected = (
                describe_reading(reading, schemas[bucket], schemas) for reading in (conditions, *others)
            )
            quoted = ", ".join(f"“{reading}”" for reading in rejected)
            return translate_message("I took this to mean “{taken}”, not {others}", taken=taken, others=quoted)
        case TakenField(field_label=label, other_labels=others):
            return translate_message(
                "I went by {label}, not by {other_labels}",
                label=describe_label(label),
                other_labels=_quote_labels(others),
            )
        case UnboundedAdjective(word=word):
            return translate_message("“{word}” gives no limit, so I set none", word=word)
        case TakenInnerSet(bucket=bucket):
            return translate_message(
                "I took this to be about the {noun} {qualifier}",
                noun=document_noun_of(schemas[bucket]).plural,
                qualifier=describe_taken_set(assumption, schemas),
            )
        case CorrectedSpelling(written=written, meant=meant):
            return translate_message("I read “{written}” as “{meant}”", written=written, meant=meant)
        case FallbackReading(bucket=bucket, conditions=conditions):
            return translate_message(
                "I took this to mean {reading}",
                reading=_describe_fallback_reading(conditions, schemas[bucket], schemas),
            )
        case FirstOfSeveral(count=count, search=search):
            clauses = search.clauses
            noun = document_noun_of(schemas[clauses[0].bucket]) if len(clauses) == 1 else noun_for_documents()
            return translate_message(
                "I took the first of the {documents} that fit", documents=format_count(count, noun)
            )
        case AnyTextSearched(search=search):
            return translate_message(
                "I found no {documents}, so I searched all texts",
                documents=escape_markdown(describe_set(search, schemas)),
            )
        case BestPassagesListed():
            return translate_message("went by the passages that fit best, so there may be more")
        case ForeignLanguage(language=language):
            name = translate_message("another language") if language == "und" else language_name_of(language)
            return translate_message(
                "Questions are read in English; this one seems to be in {language}, so I searched the texts for its"
                " words",
                language=name,
            )
        case WordsTakenAsField(words=words, field_label=label):
            return translate_message("I took “{words}” to mean {label}", words=words, label=describe_label(label))
        case DateFieldTaken(words=words, field_label=label, other_labels=others):
            return translate_message(
                "For “{words}” I went by {label}, not by {other_labels}",
                words=words,
                label=describe_label(label, FieldType.DATE),
                other_labels=_quote_labels(others),
            )
        case SiblingsLeftOut(bucket=bucket, others=others):
            return translate_message(
                "I did not use {others}, only {bucket}",
                others=join_words([f"“{schemas[other].label}”" for other in others]),
                bucket=f"“{schemas[bucket].label}”",
            )
        case MarginTaken(words=words):
            return translate_message("I took “{words}” as 10 % more or less", words=words)
        case UnmatchedSuperlative(words=words):
            return translate_message(
                "I found nothing to sort by for “{words}”, so the list is in its usual order", words=" ".join(words)
            )
        case IgnoredSuperlative(words=words):
            return translate_message(
                "I left out “{words}”: a list is sorted from one end, so ask for the other by itself",
                words=" ".join(words),
            )
        case IgnoredGrouping(group_label=label, ignored_label=ignored_label):
            return translate_message(
                "I grouped by {label} alone, not by {ignored_label} as well",
                label=describe_label(label),
                ignored_label=describe_label(ignored_label),
            )
        case _:
            assert_never(assumption)


def drop_words_of_reply(*assumptions: Assumption, text: str) -> Iterator[Assumption]:
    """Yields the assumptions. Words that the reply uses, or that were read in another spelling, are not unused."""
    folded = fold_text(text)
    corrected = {
        fold_text(assumption.written) for assumption in assumptions if isinstance(assumption, CorrectedSpelling)
    }
    for assumption in assumptions:
        if not isinstance(assumption, UnusedWords):
            yield assumption
            continue
        words = tuple(
            word
            for word in assumption.words
            if fold_text(word) not in corrected and not re.search(rf"\b{re.escape(fold_text(word))}\b", folded)
        )
        if words:
            yield UnusedWords(words=words)


def repeats_reply(assumption: Assumption, text: str, schemas: SchemasByBucket) -> bool:
    """Whether the text (Markdown) already says what the assumption says."""
    match assumption:
        case TakenInnerSet():
            return escape_markdown(describe_taken_set(assumption, schemas)) in text
        case RequiredWords(words=words) | UnusedWords(words=words):
            return all(f"“{escape_markdown(word)}”" in text for word in words)
        case _:
            return False


def describe_taken_set(taken: TakenInnerSet, schemas: SchemasByBucket) -> str:
    """Returns what the documents of the set have in common, without their noun."""
    return describe_reading(taken.conditions, schemas[taken.bucket], schemas)


def _describe_list(taken: ListTaken) -> str:
    known = translate_message(
        "I took the {count} entries of your list as one condition", count=format_number(taken.entry_count)
    )
    if not taken.unknown_count:
        return known
    named = [f"“{entry}”" for entry in taken.unknown_entries]
    others = taken.unknown_count - len(named)
    if others:
        named.append(translate_plural("{count} other", "{count} others", others, count=format_number(others)))
    return f"{known}; " + translate_message("no document holds {entries}", entries=join_words(named))


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
            "I read {documents}: {result}", "I read all {documents}: {result}", read.read_count, **values
        )
    return translate_plural(
        "I read only the {documents} that holds words of it: {result}",
        "I read only the {documents} that hold words of it: {result}",
        read.read_count,
        **values,
    )


def _quote_labels(labels: Sequence[str]) -> str:
    """ "“Deliver by”, “Delivered on” or “Paid on”"."""
    quoted = [f"“{label[:1].upper()}{label[1:]}”" for label in labels]
    return join_alternatives([*filter(None, (", ".join(quoted[:-1]), *quoted[-1:]))])


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
