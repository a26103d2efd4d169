"""Describes values of one document, each with the sentence that supports it."""

from collections.abc import Iterator, Sequence

from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.figures import format_amount
from agent.compose.phrases.value_sentences import state_value
from agent.compose.phrases.values import format_number, format_value
from agent.compose.phrases.words import escape_markdown, format_quotation, join_words, lowercase_label
from agent.forms.find_passages import is_part_of_record
from agent.forms.read_fields import FieldValueFact, FieldValuesFacts, MissingValuesFacts, SeveralValuesFacts
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import translate_message, translate_plural
from agent.verification.derived_figures import DerivationKind, DerivedFigure, compute_derived_figure
from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD, ComparisonCondition, ComparisonOperator, conjuncts_of
from storage.search.documents import Document
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, SchemaField

_NAMING_OPERATORS = frozenset({ComparisonOperator.EQ, ComparisonOperator.CONTAINS})
_NAMING_TYPES = (FieldType.CATEGORY, FieldType.TEXT)


def _compose_values(facts: FieldValuesFacts, review: LegReview) -> ComposedLeg:
    sentences = (_describe_value(value, facts, marker, review) for marker, value in enumerate(facts.values, 1))
    return ComposedLeg(
        sentences=(*sentences, *_describe_days_between(facts.values), *_describe_margin(facts.values)),
        citations=cite_quotes(facts.quotes),
        derived_figures=(*_derive_days_between(facts.values), *_derive_margin(facts.values)),
    )


def _describe_days_between(values: Sequence[FieldValueFact]) -> Iterator[str]:
    """Yields the time between two days."""
    for derived in _derive_days_between(values):
        apart = compute_derived_figure(derived) or 0
        yield translate_plural(
            "That is **{count} day** apart.", "That is **{count} days** apart.", int(apart), count=format_number(apart)
        )


def _derive_days_between(values: Sequence[FieldValueFact]) -> Iterator[DerivedFigure]:
    days = [value.value for value in values if value.field.type is FieldType.DATE and isinstance(value.value, str)]
    if len(days) == len(values) == 2:
        yield DerivedFigure(kind=DerivationKind.DAYS_BETWEEN, days=tuple(days))


def _describe_margin(values: Sequence[FieldValueFact]) -> Iterator[str]:
    """Yields what lies between two prices."""
    for derived in _derive_margin(values):
        amount = format_amount(compute_derived_figure(derived), values[0].currency, values[0].field)
        yield translate_message("That is a difference of **{amount}**.", amount=escape_markdown(amount))


def _derive_margin(values: Sequence[FieldValueFact]) -> Iterator[DerivedFigure]:
    amounts = [
        value.value for value in values if value.field.type is FieldType.MONEY and isinstance(value.value, float)
    ]
    if len(amounts) == len(values) == 2 and len({value.currency for value in values}) == 1:
        yield DerivedFigure(kind=DerivationKind.DIFFERENCE, inputs=tuple(amounts))


def _describe_value(fact: FieldValueFact, facts: FieldValuesFacts, marker: int, review: LegReview) -> str:
    title = _name_document(facts.document, fact.field, review)
    value, field, sentence = fact.value, fact.field, fact.sentence
    shown = (
        format_amount(value, fact.currency, field) if isinstance(value, (str, float)) else format_value(value, field)
    )
    shown += f" ({fact.referred_name})" if fact.referred_name else ""
    line = state_value(field, escape_markdown(title), f"**{escape_markdown(shown)}**")
    if sentence is None or is_part_of_record(sentence.text, review):
        return f"{line} [{marker}]"
    return f"{line} — “{format_quotation(sentence.text, is_code=sentence.is_code)}” [{marker}]"


def _name_document(document: Document, asked: SchemaField, review: LegReview) -> str:
    """ "Kittiwake (B14)": returns the value by which the question means this document alone, with its title.

    Only the title where the question means it by its title, or by what several documents have. `asked`: the field whose
    value is told; a title that is this value is left out.
    """
    for bucket, name in _naming_fields_of(review):
        value = document.values.get(name)
        if name == asked.name or not isinstance(value, str) or not _is_of_single_document(bucket, name, value, review):
            continue
        if fold_text(value) in fold_text(document.title):
            return document.title
        if document.values.get(asked.name) == document.title:
            return value
        return f"{value}, {document.title}" if value.endswith(")") else f"{value} ({document.title})"
    return document.title


def _naming_fields_of(review: LegReview) -> Iterator[tuple[BucketId, FieldName]]:
    for clause in review.leg.search.clauses:
        schema = review.question_context.schemas[clause.bucket]
        for condition in conjuncts_of(clause.condition):
            if not isinstance(condition, ComparisonCondition) or condition.op not in _NAMING_OPERATORS:
                continue
            field = schema.by_name.get(condition.field)
            if field is not None and field.name != TITLE_FIELD and field.type in _NAMING_TYPES:
                yield clause.bucket, field.name


def _is_of_single_document(bucket: BucketId, name: FieldName, value: str, review: LegReview) -> bool:
    vocabulary = review.question_context.vocabulary.field_of(bucket, name)
    folded = fold_text(value)
    counts = () if vocabulary is None else vocabulary.values
    return any(count.count == 1 and fold_text(count.value) == folded for count in counts)


def _compose_several(facts: SeveralValuesFacts, review: LegReview) -> ComposedLeg:
    pairs = [(value, part) for part in facts.documents for value in part.values]
    sentences = (f"- {_describe_value(value, part, marker, review)}" for marker, (value, part) in enumerate(pairs, 1))
    lines = list(sentences)
    if facts.count > len(facts.documents):
        more = translate_message("{count} more", count=format_number(facts.count - len(facts.documents)))
        lines.append(f"- {more}")
    return ComposedLeg(sentences=("\n".join(lines),), citations=cite_quotes(facts.quotes))


def _compose_missing_values(facts: MissingValuesFacts, review: LegReview) -> ComposedLeg:
    labels = join_words([lowercase_label(field.label) for field in facts.fields])
    line = translate_message(
        "That is not known: {title} has no value for {labels}.", title=facts.record.title, labels=labels
    )
    return ComposedLeg(sentences=(escape_markdown(line),))


COMPOSERS = (
    LegComposer(FieldValuesFacts, _compose_values),
    LegComposer(MissingValuesFacts, _compose_missing_values),
    LegComposer(SeveralValuesFacts, _compose_several),
)
