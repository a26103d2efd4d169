"""Says in how many documents no value was found on which an answer depends.

Values are read from texts, so a document may state what was not found in it: no sentence says that it does not.
"""

from agent.compose.phrases.conditions import describe_value_noun
from agent.compose.phrases.set_description import describe_set
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import escape_markdown, join_alternatives
from agent.outcome import UnstatedRole, UnstatedValues
from agent.refine.unstated_values import search_without_fields
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import translate_message, translate_plural
from storage.search.conditions import MATCH_ALL
from storage.search.ids import FieldName
from storage.search.schema import FieldOrigin, SchemaField


def add_unstated_values(text: str, review: LegReview, *, scope_count: int | None = None) -> str:
    """Returns the text with a sentence for what was not found in some documents; what nearly all lack goes first.

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
        return translate_message(
            "I found no value for {label} in any of the {total} {documents}, so I cannot tell.", **values
        )
    return translate_plural(
        "I found a value for {label} in only {stated} of {total} {documents}, so this is far from complete.",
        "I found a value for {label} in only {stated} of {total} {documents}, so this is far from complete.",
        unstated.decided_count,
        stated=format_number(unstated.decided_count),
        **values,
    )


def _describe_remaining(unstated: UnstatedValues, review: LegReview, scope_count: int | None) -> str:
    """ "I found no value for pets in 22 of the other 37.", "5 more may fit, but I found no value for pets in them."."""
    count, found = unstated.count, review.count
    values = {"count": format_number(count), "label": _label_of(unstated.fields, review)}
    if unstated.role is not UnstatedRole.CONDITION:
        if unstated.total == 1:
            return translate_message("I found no value for {label} in it.", **values)
        return translate_plural(
            "I found no value for {label} in {count} of these {total}.",
            "I found no value for {label} in {count} of these {total}.",
            count,
            total=format_number(unstated.total),
            **values,
        )
    if unstated.is_only_reason and (unstated.total == scope_count or _is_whole_bucket(unstated, review)):
        return _describe_share(unstated, values, found)
    if found:
        return translate_plural(
            "{count} more may fit, but I found no value for {label} in it.",
            "{count} more may fit, but I found no value for {label} in them.",
            count,
            **values,
        )
    return translate_plural(
        "{count} may fit, but I found no value for {label} in it.",
        "{count} may fit, but I found no value for {label} in them.",
        count,
        **values,
    )


def _describe_share(unstated: UnstatedValues, values: dict[str, str], found: int) -> str:
    """Relates the count to the documents that are not in the set."""
    others, count = unstated.total - found, unstated.count
    if found and count == others:
        return translate_plural(
            "I found no value for {label} in the other one.",
            "I found no value for {label} in the other {count}.",
            count,
            **values,
        )
    message_values = values | {"others": format_number(others)}
    if found:
        return translate_plural(
            "I found no value for {label} in {count} of the other {others}.",
            "I found no value for {label} in {count} of the other {others}.",
            count,
            **message_values,
        )
    return translate_plural(
        "I found no value for {label} in {count} of the {others}.",
        "I found no value for {label} in {count} of the {others}.",
        count,
        **message_values,
    )


def _is_whole_bucket(unstated: UnstatedValues, review: LegReview) -> bool:
    """Whether nothing but the conditions on these fields narrows the set."""
    others = search_without_fields(review.leg.search, unstated.fields)
    return all(clause.display_condition == MATCH_ALL for clause in others.clauses)


def _label_of(names: tuple[FieldName, ...], review: LegReview) -> str:
    """Names the fields: "price", "pets or price". Markdown."""
    return escape_markdown(join_alternatives([describe_value_noun(field) for field in _fields_of(names, review)]))


def _fields_of(names: tuple[FieldName, ...], review: LegReview) -> list[SchemaField]:
    """The fields that documents state: not the kind, which is inferred."""
    schemas = [review.question_context.schemas[bucket] for bucket in review.leg.search.buckets]
    fields = [next(filter(None, (schema.by_name.get(name) for schema in schemas)), None) for name in names]
    return [field for field in fields if field is not None and field.origin is not FieldOrigin.KIND]
