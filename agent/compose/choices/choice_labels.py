"""Labels for the buttons of choices."""

from typing import assert_never

from agent.compose.choices.document_labels import describe_document
from agent.compose.phrases.conditions import (
    describe_known_value,
    describe_mention,
    describe_missing_value,
    describe_qualifier,
    describe_reading,
    describe_value_noun,
    describe_widening,
    list_conditions,
)
from agent.compose.phrases.figures import describe_functions, format_amount
from agent.compose.phrases.nouns import document_noun_of, kind_required_by, label_noun_of
from agent.compose.phrases.order_words import describe_order
from agent.compose.phrases.values import (
    format_amount_of_money,
    format_money,
    format_number,
    format_period,
    format_value,
)
from agent.compose.phrases.words import join_by_colon, join_words, lowercase_words
from agent.outcome import Choice
from agent.refine.candidates import OfferedChoice
from agent.refine.choice_labels import (
    AllOfThemLabel,
    AlsoMissingLabel,
    AlsoUnclearLabel,
    BucketLabel,
    ChoiceLabel,
    ConditionsLabel,
    DocumentLabel,
    ExportLabel,
    FieldValueLabel,
    FlagLabel,
    GivenLabel,
    JustAnswerLabel,
    LikelyFieldLabel,
    ListThemLabel,
    MentionLabel,
    MissingFieldLabel,
    MoreValuesLabel,
    NearestValueLabel,
    NoneOfTheseLabel,
    OnlyConditionLabel,
    OnlyTheseLabel,
    OtherBucketLabel,
    OtherDocumentLabel,
    PeriodLabel,
    PossibleFormLabel,
    RangeLabel,
    SearchByMeaningLabel,
    SpellingLabel,
    TextSearchLabel,
    ThisReadingLabel,
    WithoutConditionLabel,
    WithoutWordLabel,
    WithoutWordsLabel,
)
from agent.refine.refinements import SchemasByBucket
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import translate_message, translate_plural
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, conjuncts_of
from storage.search.plan import Clause
from storage.search.schema import FieldType, Schema, SchemaField


def compose_choice(offered: OfferedChoice, schemas: SchemasByBucket) -> Choice:
    label = describe_choice(offered.label, schemas)
    is_given = isinstance(offered.label, (GivenLabel, DocumentLabel, PeriodLabel, RangeLabel))
    return Choice(
        label=label if is_given else f"{label[:1].upper()}{label[1:]}",
        count=offered.count,
        leg=offered.leg,
        effect=offered.effect,
    )


def describe_choice(label: ChoiceLabel, schemas: SchemasByBucket) -> str:
    match label:
        case GivenLabel(text=text):
            return text
        case DocumentLabel():
            return describe_document(label, schemas.get(label.bucket))
        case BucketLabel(bucket=bucket):
            return schemas[bucket].label
        case FlagLabel(field=field, is_set=is_set):
            return join_by_colon(_title_of(field), translate_message("yes") if is_set else translate_message("no"))
        case LikelyFieldLabel(field=field):
            return field.label
        case PossibleFormLabel():
            return _describe_possible_form(label, schemas)
        case RangeLabel(field=field, low=low, high=high):
            return _describe_range(field, low, high)
        case PeriodLabel(first_day=first_day, last_day=last_day):
            return format_period(first_day, last_day)
        case MissingFieldLabel(field=field):
            return describe_missing_value(field)
        case MoreValuesLabel(field=field, count=count):
            noun = label_noun_of(lowercase_words(field.label))
            values = {"label": noun.singular if count == 1 else noun.plural, "count": format_number(count)}
            return translate_plural("{count} more {label}", "{count} more {label}", count, **values)
        case NoneOfTheseLabel(field=field):
            noun = label_noun_of(lowercase_words(field.label))
            return translate_message("none of these {labels}", labels=noun.plural)
        case OtherBucketLabel(clause=clause):
            bucket, conditions = schemas[clause.bucket].label, _describe_clause(clause, schemas)
            if not conditions:
                return translate_message("in {bucket}", bucket=bucket)
            return translate_message("in {bucket}: {conditions}", bucket=bucket, conditions=conditions)
        case NearestValueLabel(field=field, condition=condition):
            value = _describe_nearest_condition(condition, field)
            return join_by_colon(_title_of(field), value)
        case SpellingLabel(old=old, new=new):
            return translate_message("“{new}” instead of “{old}”", new=new, old=old)
        case WithoutConditionLabel(condition=condition, bucket=bucket):
            return describe_widening(condition, schemas[bucket], schemas)
        case WithoutWordLabel(word=word):
            return translate_message("without {words}", words=f"“{word}”")
        case OnlyConditionLabel(condition=condition, bucket=bucket):
            return _describe_only(condition, schemas[bucket], schemas)
        case AlsoMissingLabel(field=field):
            return translate_message("also those without {label}", label=describe_value_noun(field))
        case AlsoUnclearLabel(count=count):
            return translate_plural(
                "also the {count} that is unclear",
                "also the {count} that are unclear",
                count,
                count=format_number(count),
            )
        case ConditionsLabel(conditions=conditions, bucket=bucket):
            return describe_reading(conditions, schemas[bucket], schemas)
        case OnlyTheseLabel():
            return translate_message("no, only these")
        case ThisReadingLabel():
            return translate_message("yes, that is what I mean")
        case TextSearchLabel():
            return translate_message("no, look in the texts")
        case AllOfThemLabel():
            return translate_message("all of them")
        case WithoutWordsLabel(words=words):
            return translate_message("without {words}", words=join_words([f"“{word}”" for word in words]))
        case MentionLabel(words=words):
            return translate_message("mention {words}", words=join_words([f"“{word}”" for word in words]))
        case FieldValueLabel(field=field, value=value):
            if value:
                return join_by_colon(_title_of(field), value)
            return describe_known_value(field)
        case OtherDocumentLabel():
            return translate_message("another of them")
        case ExportLabel(question=question):
            return translate_message("Export all as CSV") + (f": {question}" if question else "")
        case ListThemLabel():
            return translate_message("List them")
        case JustAnswerLabel():
            return translate_message("Just answer")
        case SearchByMeaningLabel():
            return translate_message("Look for texts about it instead")
        case _:
            assert_never(label)


def _title_of(field: SchemaField) -> str:
    return f"{field.label[:1].upper()}{field.label[1:]}"


def _describe_only(condition: Condition, schema: Schema, schemas: SchemasByBucket) -> str:
    """ "only those held in 2025"; of a kind "all invoices"."""
    if kind_required_by(condition, schema) is not None:
        return translate_message("all {documents}", documents=document_noun_of(schema, [condition]).plural)
    described = describe_qualifier([condition], schema, schemas)
    return translate_message("only those {condition}", condition=described)


def _describe_possible_form(label: PossibleFormLabel, schemas: SchemasByBucket) -> str:
    """ "Stock: the highest price", "Claims: sum of credit (problem: corked)"."""
    order = label.answer_form.list_order
    asked = (
        describe_functions(label.answer_form.computed_functions, label.field, begins_sentence=False)
        if order is None
        else describe_order(label.field, descending=order.descending, is_single=True)
    )
    described = join_by_colon(schemas[label.clause.bucket].label, asked)
    conditions = _describe_clause(label.clause, schemas)
    return f"{described} ({conditions})" if conditions else described


def _describe_range(field: SchemaField, low: float, high: float | None) -> str:
    """ "USD 100.00 to under 200.00", "5 to under 10 kg": the unit appears once."""
    currency = field.currency or None
    start = format_amount(low, currency, field)
    if high is None:
        return translate_message("{start} and up", start=start)
    if field.type is FieldType.MONEY and currency is not None:
        first, last = format_amount_of_money(low, currency), format_amount_of_money(high, currency)
        if is_reply_in_english():
            return f"{currency} {first} to under {last}"
        return translate_message("{low} to under {high}", low=first, high=format_money(high, currency))
    first = format_number(low) if field.unit else start
    return translate_message("{low} to under {high}", low=first, high=format_amount(high, currency, field))


def _describe_clause(clause: Clause, schemas: SchemasByBucket) -> str:
    schema = schemas[clause.bucket]
    conditions = list_conditions(conjuncts_of(clause.condition), schema, schemas)
    return "; ".join([*conditions, *map(describe_mention, clause.required_terms)])


def _describe_nearest_condition(condition: ComparisonCondition, field: SchemaField) -> str:
    if isinstance(condition.value, tuple):
        return format_period(str(condition.value[0]), str(condition.value[1]))
    value = format_value(condition.value, field)
    match condition.op:
        case ComparisonOperator.GTE:
            return translate_message("from {value}", value=value)
        case ComparisonOperator.LTE:
            return translate_message("up to {value}", value=value)
        case _:
            return value
