"""Describes sets of documents."""

from collections.abc import Iterable, Mapping, Sequence

from agent.compose.phrases.conditions import describe_denial, describe_mention, describe_qualifier, list_conditions
from agent.compose.phrases.english_qualifiers import MIN_LISTED_CONDITIONS
from agent.compose.phrases.nouns import NounForms, document_noun_of, kind_required_by, noun_for_documents
from agent.compose.phrases.words import escape_markdown, join_words
from agent.refine.implied_conditions import drop_implied_conditions
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import mark_message, translate_message, translate_plural
from storage.search.conditions import (
    DOC_ID_FIELD,
    MATCH_ALL,
    TEXT_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    OrCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId
from storage.search.plan import Clause, Search
from storage.search.schema import Schema

_OF_THESE = mark_message(" of these")


def _selects_by_id(condition: Condition) -> bool:
    """Whether the condition selects documents by id, which means nothing to readers, or matches no document."""
    return condition == OrCondition(()) or (
        isinstance(condition, ComparisonCondition) and condition.field == DOC_ID_FIELD
    )


def _words_of_selection(condition: Condition) -> str:
    """Returns the words of the question that documents were selected by; empty if there are none."""
    if isinstance(condition, ComparisonCondition) and condition.field == DOC_ID_FIELD:
        return condition.words
    return ""


def describe_set(search: Search, schemas: Mapping[BucketId, Schema], *, singular_verb: bool = False) -> str:
    """Describes the set: "receipts with category tires". Raw text.

    `singular_verb`: the set has one document, so "that mentions" instead of "that mention".
    """
    nouns = dict[str, list[str]]()
    for clause in search.clauses:
        noun = _noun_of_clause(clause, schemas).plural
        nouns.setdefault(_describe_clause(clause, schemas, singular_verb=singular_verb), []).append(noun)
    if len(nouns) == 1 and len(search.clauses) > 1:
        return f"{noun_for_documents().plural}{next(iter(nouns))}"
    sets = "; ".join(f"{join_words(own)}{words}" for words, own in nouns.items())
    return f"{noun_for_documents().plural} ({sets})" if len(nouns) > 1 else sets


def _noun_of_clause(clause: Clause, schemas: Mapping[BucketId, Schema]) -> NounForms:
    return document_noun_of(schemas[clause.bucket], conjuncts_of(clause.condition))


def _describe_clause(clause: Clause, schemas: Mapping[BucketId, Schema], *, singular_verb: bool) -> str:
    """Describes the conditions: " with no date that mention “rim”"; empty for a whole bucket."""
    schema = schemas[clause.bucket]
    conditions = drop_implied_conditions(conjuncts_of(clause.condition)) if clause.condition != MATCH_ALL else ()
    lacks = [condition for condition in conditions if isinstance(condition, MissingCondition)]
    text_conditions = [
        condition
        for condition in conditions
        if isinstance(condition, ComparisonCondition) and condition.field == TEXT_FIELD
    ]
    where = [
        condition
        for condition in conditions
        if not (
            condition in lacks
            or condition in text_conditions
            or _selects_by_id(condition)
            or kind_required_by(condition, schema) is not None  # its noun says so
        )
    ]
    fitting = [word for word in map(_words_of_selection, conditions) if word]
    mentioned = dict.fromkeys([*(str(condition.value) for condition in text_conditions), *clause.required_terms])
    listed = _list_set_conditions([*where, *lacks], fitting, mentioned, schema, schemas)
    if len(listed) >= MIN_LISTED_CONDITIONS:
        return f" ({'; '.join(listed)})"
    is_selected = any(map(_selects_by_id, conditions)) and not fitting
    words = translate_message(_OF_THESE) if is_selected else ""
    words += _describe_field_conditions(where, lacks, schema, schemas)
    number = 1 if singular_verb else 2
    if fitting:
        quoted = join_words([f"“{word}”" for word in dict.fromkeys(fitting)])
        words += (
            translate_plural(", that fits {words}", ", that fit {words}", number, words=quoted)
            if words
            else translate_plural(" that fits {words}", " that fit {words}", number, words=quoted)
        )
    if mentioned:
        quoted = join_words([f"“{word}”" for word in mentioned])
        words += (
            translate_plural(", that mentions {words}", ", that mention {words}", number, words=quoted)
            if words
            else translate_plural(" that mentions {words}", " that mention {words}", number, words=quoted)
        )
    return words


def _list_set_conditions(
    conditions: Sequence[Condition],
    fitting: Iterable[str],
    mentioned: Iterable[str],
    schema: Schema,
    schemas: Mapping[BucketId, Schema],
) -> list[str]:
    """Returns the conditions of a set one by one: "provider Red Cross", "held in 2025", "mentions “rim”"."""
    listed = list_conditions(conditions, schema, schemas)
    fits = [translate_message("fits “{words}”", words=words) for words in dict.fromkeys(fitting)]
    return [*listed, *fits, *map(describe_mention, mentioned)]


def _describe_field_conditions(
    where: Sequence[Condition], lacks: Sequence[MissingCondition], schema: Schema, schemas: Mapping[BucketId, Schema]
) -> str:
    qualifier = describe_qualifier([*where, *lacks], schema, schemas)
    return f" {qualifier}" if qualifier else ""


def describe_empty_set(search: Search, schemas: Mapping[BucketId, Schema]) -> str | None:
    """Returns "No contract with ACME starts in 2031" for a set without documents. Raw text.

    None: there is no such sentence, because no field of the conditions has a pattern or there are several buckets.
    """
    clause = search.clauses[0]
    conditions = drop_implied_conditions(conjuncts_of(clause.condition)) if clause.condition != MATCH_ALL else ()
    if len(search.clauses) > 1 or any(map(_selects_by_id, conditions)):
        return None
    required = [_mention_of(term) for term in clause.required_terms]
    return describe_denial([*conditions, *required], schemas[clause.bucket], schemas)


def _mention_of(term: str) -> Condition:
    return ComparisonCondition(field=TEXT_FIELD, op=ComparisonOperator.CONTAINS, value=term)


def noun_of(review: LegReview) -> NounForms:
    """Returns the noun for the leg's documents: the bucket's own, or "document" if there are several buckets."""
    clauses = review.leg.search.clauses
    return _noun_of_clause(clauses[0], review.question_context.schemas) if len(clauses) == 1 else noun_for_documents()


def describe_leg_set(review: LegReview) -> str:
    """Describes the leg's set as Markdown."""
    return escape_markdown(describe_set(review.leg.search, review.question_context.schemas))


def describe_absence(review: LegReview) -> str | None:
    """Returns "No contract with ACME starts in 2031" as Markdown, without a full stop.

    None: there is no such sentence, or it would be more than is known, since some documents state no value.
    """
    if review.unstated_values:
        return None
    denial = describe_empty_set(review.leg.search, review.question_context.schemas)
    return escape_markdown(denial) if denial is not None else None


def qualifier_of(review: LegReview) -> str:
    """Returns the part of `describe_leg_set` after the noun: " with a total of more than 5"; empty if there is none."""
    noun = escape_markdown(noun_of(review).plural)
    where = escape_markdown(
        describe_set(review.leg.search, review.question_context.schemas, singular_verb=review.count == 1)
    )
    qualifier = where.removeprefix(noun)
    if qualifier in ("", translate_message(_OF_THESE)):
        return ""
    return qualifier if where.startswith((f"{noun} ", f"{noun},")) else f": {where}"
