"""Says how many documents do not state what an answer depends on."""

from agent.compose.phrases.conditions import describe_value_noun
from agent.compose.phrases.set_description import describe_set
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import escape_markdown, join_alternatives, singular_of
from agent.outcome import UnstatedRole, UnstatedValues
from agent.refine.unstated_values import search_without_fields
from agent.review.leg_review import LegReview
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import translate_message, translate_plural
from storage.search.conditions import MATCH_ALL
from storage.search.ids import FieldName
from storage.search.schema import FieldOrigin, SchemaField


def add_unstated_values(text: str, review: LegReview, *, scope_count: int | None = None) -> str:
    """Returns the text with a sentence for what some documents do not state; a field that hardly any states goes first.

    `scope_count`: documents that the text names as the whole, besides those of the set.
    """
    warnings, remarks = describe_unstated_values(review, scope_count=scope_count)
    return " ".join(filter(None, (*warnings, close_sentence(text) if remarks else text, *remarks)))


def close_sentence(text: str) -> str:
    """Ends a text with a full stop that ends with a colon, so that a sentence can follow."""
    return f"{text[:-1]}." if text.endswith(":") else text


def describe_unstated_values(
    review: LegReview, *, scope_count: int | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the sentences on fields that hardly any document states, and those on other fields."""
    scarce = [values for values in review.unstated_values if values.is_scarce and len(values.fields) == 1]
    others = [values for values in review.unstated_values if values not in scarce and _is_remarkable(values, review)]
    return (
        tuple(_warn_of_scarce_field(values, review) for values in scarce),
        tuple(_describe_remaining(values, review, scope_count) for values in others),
    )


def _is_remarkable(unstated: UnstatedValues, review: LegReview) -> bool:
    """Whether readers should know of it. That some documents are of no kind says nothing about the answer."""
    return bool(_fields_of(unstated.fields, review))


def _warn_of_scarce_field(unstated: UnstatedValues, review: LegReview) -> str:
    schemas, search = review.question_context.schemas, review.leg.search
    is_condition = unstated.role is UnstatedRole.CONDITION
    others = search_without_fields(search, unstated.fields) if is_condition else search
    values = {
        "documents": escape_markdown(describe_set(others, schemas)),
        "label": _label_of(unstated.fields, review),
        "total": format_number(unstated.total),
    }
    if not unstated.decided_count:
        return translate_message("None of the {total} {documents} states {label}, so I cannot tell.", **values)
    return translate_plural(
        "Only {stated} of {total} {documents} states {label}, so this is far from complete.",
        "Only {stated} of {total} {documents} state {label}, so this is far from complete.",
        unstated.decided_count,
        stated=format_number(unstated.decided_count),
        **values,
    )


def _describe_remaining(unstated: UnstatedValues, review: LegReview, scope_count: int | None) -> str:
    """ "22 of the other 37 do not state pets.", "5 more may fit, but do not state pets or the price."."""
    count, found = unstated.count, review.count
    values = {"count": format_number(count), "label": _label_of(unstated.fields, review)}
    if unstated.role is not UnstatedRole.CONDITION:
        if unstated.total == 1:
            return translate_message("It does not state {label}.", **values)
        return translate_plural(
            "{count} of these {total} does not state {label}.",
            "{count} of these {total} do not state {label}.",
            count,
            total=format_number(unstated.total),
            **values,
        )
    if unstated.is_only_reason and (unstated.total == scope_count or _is_whole_bucket(unstated, review)):
        return _describe_share(unstated, values, found)
    if found:
        return translate_plural(
            "{count} more may fit, but does not state {label}.",
            "{count} more may fit, but do not state {label}.",
            count,
            **values,
        )
    return translate_plural(
        "{count} may fit, but does not state {label}.",
        "{count} may fit, but do not state {label}.",
        count,
        **values,
    )


def _describe_share(unstated: UnstatedValues, values: dict[str, str], found: int) -> str:
    """Relates the count to the documents that are not in the set."""
    others, count = unstated.total - found, unstated.count
    if found and count == others:
        return translate_plural(
            "The other one does not state {label}.", "The other {count} do not state {label}.", count, **values
        )
    message_values = values | {"others": format_number(others)}
    if found:
        return translate_plural(
            "{count} of the other {others} does not state {label}.",
            "{count} of the other {others} do not state {label}.",
            count,
            **message_values,
        )
    return translate_plural(
        "{count} of the {others} does not state {label}.",
        "{count} of the {others} do not state {label}.",
        count,
        **message_values,
    )


def _is_whole_bucket(unstated: UnstatedValues, review: LegReview) -> bool:
    """Whether nothing but the conditions on these fields narrows the set."""
    others = search_without_fields(review.leg.search, unstated.fields)
    return all(clause.display_condition == MATCH_ALL for clause in others.clauses)


def _label_of(names: tuple[FieldName, ...], review: LegReview) -> str:
    """Names the fields: "price", "pets or price". Markdown."""
    nouns = [describe_value_noun(field) for field in _fields_of(names, review)]
    if is_reply_in_english():
        nouns = [noun if noun.startswith("“") or singular_of(noun) != noun else f"the {noun}" for noun in nouns]
    return escape_markdown(join_alternatives(nouns))


def _fields_of(names: tuple[FieldName, ...], review: LegReview) -> list[SchemaField]:
    """The fields that documents state: not the kind, which is inferred."""
    schemas = [review.question_context.schemas[bucket] for bucket in review.leg.search.buckets]
    fields = [next(filter(None, (schema.by_name.get(name) for schema in schemas)), None) for name in names]
    return [field for field in fields if field is not None and field.origin is not FieldOrigin.KIND]
