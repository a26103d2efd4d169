"""Composes a yes or no with the claims that hold or do not."""

from agent.compose.composed_leg import ComposedLeg, FallbackSentence, LegComposer, cite_quotes
from agent.compose.phrases.conditions import escape_markdown, format_value, lowercase_label
from agent.forms.check_claims import Claim, YesNoFacts
from agent.review.leg_review import LegReview
from storage.search.conditions import ComparisonCondition, FieldComparisonCondition, fields_of
from storage.search.ids import FieldName
from storage.search.schema import FieldType


def _compose_yes_no(facts: YesNoFacts, review: LegReview) -> ComposedLeg:
    claims = " and ".join(_describe_claim(claim, facts) for claim in facts.claims)
    line = f"**{'Yes' if facts.holds else 'No'}**: {claims}"
    if facts.support is None:
        return ComposedLeg(sentences=(f"{line}.",))
    return ComposedLeg(
        sentences=(f"{line} — “{escape_markdown(facts.support.quote.text[:400])}” [1]",),
        citations=cite_quotes(facts.quotes),
        fallback=FallbackSentence(text=f"{line}."),
    )


def _describe_claim(claim: Claim, facts: YesNoFacts) -> str:
    """Says whether the claim holds: "Source code escrow is not among the clauses of …". Markdown."""
    if isinstance(claim, FieldComparisonCondition):
        names, values = (claim.field, claim.other_field), facts.record.values
        fields = [facts.schema.by_name[name] for name in names]
        shown = [f"{lowercase_label(field.label)} {format_value(values[field.name], field)}" for field in fields]
        return f"{escape_markdown(' and '.join(shown))} of {escape_markdown(facts.record.title)}"
    if not isinstance(claim, ComparisonCondition):
        return " and ".join(_describe_day(name, facts) for name in sorted(fields_of(claim)))
    field, title = facts.schema.by_name[claim.field], escape_markdown(facts.record.title)
    negation, label = "" if facts.holds else "not ", escape_markdown(field.label.lower())
    if field.type is FieldType.LIST:
        return f"{escape_markdown(str(claim.value))} is {negation}among the {label} of {title}"
    if field.type is FieldType.FLAG:
        return f"{title} is {negation}{'marked' if claim.value else 'without'} {label}"
    return f"{label} of {title} is {escape_markdown(format_value(facts.record.values[field.name], field))}"


def _describe_day(name: FieldName, facts: YesNoFacts) -> str:
    """ "End date of Ida Berg is 2024-10-09", "no end date of Ida Berg is on record". Markdown."""
    field, title = facts.schema.by_name[name], escape_markdown(facts.record.title)
    label = escape_markdown(field.label.lower())
    if name not in facts.record.values:
        return f"no {label} of {title} is on record"
    return f"{label} of {title} is {escape_markdown(format_value(facts.record.values[name], field))}"


COMPOSERS = (LegComposer(YesNoFacts, _compose_yes_no),)
