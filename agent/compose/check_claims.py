"""Composes a yes or no with the claims that hold or do not."""

from agent.compose.composed_leg import ComposedLeg, FallbackSentence, LegComposer, cite_quotes
from agent.compose.phrases.conditions import describe_condition, list_conditions
from agent.compose.phrases.figures import format_amount
from agent.compose.phrases.nouns import format_count
from agent.compose.phrases.set_description import (
    describe_absence,
    describe_leg_set,
    describe_set,
    noun_of,
    qualifier_of,
)
from agent.compose.phrases.unstated_values import describe_unstated_values
from agent.compose.phrases.value_sentences import claim_value
from agent.compose.phrases.values import format_number, format_value, format_verdict
from agent.compose.phrases.words import (
    escape_markdown,
    format_quotation,
    join_all,
    join_alternatives,
    join_by_colon,
    join_words,
    lowercase_label,
)
from agent.english.function_words import STOP_WORDS
from agent.forms.check_claims import Claim, CountedClaimFacts, YesNoFacts
from agent.forms.figures import currency_of_value
from agent.forms.find_passages import is_part_of_record
from agent.retrieval.quotations import cite_values
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import mark_message, translate_message
from agent.verification.claimed_names import words_of_text
from storage.search.conditions import ComparisonCondition, FieldComparisonCondition, RowCondition, fields_of
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_MAX_NAMED_DOCUMENTS = 5


def _compose_yes_no(facts: YesNoFacts, review: LegReview) -> ComposedLeg:
    claims = join_all([_describe_claim(claim, facts, review) for claim in facts.claims])
    line = join_by_colon(f"**{format_verdict(holds=facts.holds)}**", claims)
    is_quoted = facts.support is not None and not is_part_of_record(facts.support.text, review)
    quote = (
        f" — “{format_quotation(facts.support.text, is_code=facts.support.is_code)}” [1]"
        if facts.support is not None and is_quoted
        else " [1]"
    )
    document_citation = cite_quotes(cite_values(facts.document, [None]))[0]
    return ComposedLeg(
        sentences=(f"{line}{quote}",),
        citations=cite_quotes(facts.quotes),
        fallback=FallbackSentence(text=f"{line} [1]", citation=document_citation),
    )


def _describe_claim(claim: Claim, facts: YesNoFacts, review: LegReview) -> str:
    """Says whether the claim holds: "Source code escrow is not among the clauses of …". Markdown."""
    title, values = escape_markdown(facts.document.title), facts.document.values
    if isinstance(claim, FieldComparisonCondition):
        fields = [facts.schema.by_name[name] for name in (claim.field, claim.other_field)]
        shown = [f"{lowercase_label(field.label)} {format_value(values[field.name], field)}" for field in fields]
        return translate_message("{values} of {title}", values=escape_markdown(join_all(shown)), title=title)
    if isinstance(claim, RowCondition):
        rows = escape_markdown(describe_condition(claim, facts.schema, review.question_context.schemas))
        message = mark_message("{title} has {rows}") if facts.holds else mark_message("{title} has no {rows}")
        return translate_message(message, title=title, rows=rows)
    if not isinstance(claim, ComparisonCondition):
        return join_all([_describe_day(name, facts) for name in sorted(fields_of(claim))])
    field = facts.schema.by_name[claim.field]
    label = escape_markdown(lowercase_label(field.label))
    if field.type is FieldType.LIST:
        message = (
            mark_message("{members} is among the {label} of {title}")
            if facts.holds
            else mark_message("{members} is not among the {label} of {title}")
        )
        members = escape_markdown(_describe_members(claim))
        return translate_message(message, members=members, label=label, title=title)
    if field.type is FieldType.FLAG:
        return _describe_flag(title, label, is_set=bool(claim.value), holds=facts.holds)
    currency = currency_of_value(values, field)
    value = values[field.name]
    shown = format_amount(value, currency, field) if isinstance(value, (str, float)) else format_value(value, field)
    return claim_value(field, title, escape_markdown(shown))


def _describe_flag(title: str, label: str, *, is_set: bool, holds: bool) -> str:
    match is_set, holds:
        case True, True:
            return translate_message("{title} is marked {label}", title=title, label=label)
        case True, False:
            return translate_message("{title} is not marked {label}", title=title, label=label)
        case False, True:
            return translate_message("{title} is without {label}", title=title, label=label)
        case _:
            return translate_message("{title} is not without {label}", title=title, label=label)


def _describe_members(claim: ComparisonCondition) -> str:
    """ "Acme Ltd", "Acme Ltd or Acme Inc": the members that the claim accepts."""
    members = claim.value if isinstance(claim.value, tuple) else (claim.value,)
    return join_alternatives([str(value) for value in members])


def _describe_day(name: FieldName, facts: YesNoFacts) -> str:
    """ "End date of Ida Berg is 2024-10-09", "no end date of Ida Berg is on record". Markdown."""
    field, title = facts.schema.by_name[name], escape_markdown(facts.document.title)
    label = escape_markdown(lowercase_label(field.label))
    if name not in facts.document.values:
        return translate_message("no {label} of {title} is on record", label=label, title=title)
    return claim_value(field, title, escape_markdown(format_value(facts.document.values[name], field)))


def _compose_counted_claims(facts: CountedClaimFacts, review: LegReview) -> ComposedLeg:
    """ "**No**: 7 of 12 venues have wheelchair access", "**Yes**: 3 trainings with result failed". Markdown."""
    answer = format_verdict(holds=facts.verdict)
    schemas, noun = review.question_context.schemas, noun_of(review)
    if facts.scope is not None and facts.unknown_fields:
        labels = join_words([lowercase_label(field.label) for field in facts.unknown_fields])
        line = translate_message(
            "That is not known: none of the {documents} has a value for {labels}.",
            documents=describe_set(facts.scope, schemas),
            labels=labels,
        )
        return ComposedLeg(sentences=(escape_markdown(line),))
    claimed = escape_markdown("; ".join(list_conditions(facts.claims, facts.schema, schemas)))
    if facts.scope is None or facts.scope_count is None:
        found = f"**{format_count(facts.count, noun)}**{qualifier_of(review)}" if facts.count else ""
        denial = describe_absence(review)
        nothing = denial or translate_message("I found no {documents}", documents=describe_leg_set(review))
        line = join_by_colon(f"**{answer}**", found or nothing)
    elif facts.scope_count == 1 and facts.records and not _is_named(facts.records[0].title, review.leg.question):
        line = f"**{answer}**"
    elif facts.scope_count == 1 and facts.records:
        line = join_by_colon(f"**{answer}**", _describe_values(facts))
    else:
        true_of = translate_message(
            "that is true of **{count}** of the **{all_count}** {documents} ({claims})",
            claims=claimed,
            count=format_number(facts.count),
            all_count=format_number(facts.scope_count),
            documents=escape_markdown(describe_set(facts.scope, schemas)),
        )
        line = join_by_colon(f"**{answer}**", true_of)
    warnings, remarks = describe_unstated_values(review, scope_count=facts.scope_count)
    is_settled = facts.scope_count == 1 or (facts.scope is None and facts.verdict is True)  # whatever others state
    unstated = () if is_settled else (*warnings, *remarks)
    return ComposedLeg(sentences=(" ".join((f"{line}{_describe_titles(facts)}.", *unstated)),))


def _is_named(title: str, question: str) -> bool:
    """Whether the question speaks of the document: the values of another one explain nothing."""
    return bool(words_of_text(title) & words_of_text(question) - STOP_WORDS)


def _describe_values(facts: CountedClaimFacts) -> str:
    """Gives the values of the one document that decide: "Left on of Ida Berg: 2019-04-05"."""
    record = facts.records[0]
    names = dict.fromkeys(name for claim in facts.claims for name in sorted(fields_of(claim)))
    fields = [facts.schema.by_name[name] for name in names if name in facts.schema.by_name]
    shown = [
        claim_value(field, record.title, format_value(record.values[field.name], field))
        if field.name in record.values
        else translate_message("{title} has no {label}", title=record.title, label=lowercase_label(field.label))
        for field in fields
    ]
    return escape_markdown(join_all(shown))


def _describe_titles(facts: CountedClaimFacts) -> str:
    """Names the documents that fit, if there are few."""
    if facts.scope is not None or not 0 < facts.count <= _MAX_NAMED_DOCUMENTS:
        return ""
    return f" ({escape_markdown(', '.join(record.title for record in facts.records))})"


COMPOSERS = (
    LegComposer(YesNoFacts, _compose_yes_no),
    LegComposer(CountedClaimFacts, _compose_counted_claims),
)
