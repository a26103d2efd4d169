"""Describes values of one document, each with the sentence that supports it."""

from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.conditions import escape_markdown, format_value
from agent.compose.phrases.figures import format_amount
from agent.forms.read_fields import FieldValueFact, FieldValuesFacts
from agent.review.leg_review import LegReview


def _compose_values(facts: FieldValuesFacts, review: LegReview) -> ComposedLeg:
    sentences = (_describe_value(value, facts.document.title, marker) for marker, value in enumerate(facts.values, 1))
    return ComposedLeg(sentences=tuple(sentences), citations=cite_quotes(facts.quotes))


def _describe_value(fact: FieldValueFact, title: str, marker: int) -> str:
    value, field, sentence = fact.value, fact.field, fact.sentence
    shown = (
        format_amount(value, fact.currency, field) if isinstance(value, (str, float)) else format_value(value, field)
    )
    label = field.label[:1].upper() + field.label[1:]
    line = f"{escape_markdown(label)} of {escape_markdown(title)}: **{escape_markdown(shown)}**"
    return line + (
        f" — “{escape_markdown(sentence.text[:400])}” [{marker}]" if sentence is not None else f" [{marker}]"
    )


COMPOSERS = (LegComposer(FieldValuesFacts, _compose_values),)
