"""Labels for the buttons of choices."""

from typing import assert_never

from agent.compose.phrases.conditions import (
    describe_condition,
    describe_reading,
    format_number,
    format_period,
    format_value,
    join_words,
    plural_of,
)
from agent.compose.phrases.figures import format_amount
from agent.outcome import Choice
from agent.refine.candidates import OfferedChoice
from agent.refine.choice_labels import (
    AllOfThemLabel,
    AlsoMissingLabel,
    BucketLabel,
    ChoiceLabel,
    ConditionsLabel,
    ExportLabel,
    FieldValueLabel,
    FlagLabel,
    GivenLabel,
    JustAnswerLabel,
    LikelyFieldLabel,
    MentionLabel,
    MissingFieldLabel,
    MoreValuesLabel,
    NearestValueLabel,
    NoneOfTheseLabel,
    OnlyConditionLabel,
    OtherBucketLabel,
    OtherDocumentLabel,
    PeriodLabel,
    RangeLabel,
    SearchByMeaningLabel,
    SpellingLabel,
    WithoutConditionLabel,
    WithoutWordLabel,
)
from agent.refine.refinements import SchemasByBucket
from storage.search.conditions import ComparisonCondition, ComparisonOperator, conjuncts_of
from storage.search.plan import Clause
from storage.search.schema import SchemaField


def compose_choice(offered: OfferedChoice, schemas: SchemasByBucket) -> Choice:
    return Choice(
        label=describe_choice(offered.label, schemas), count=offered.count, leg=offered.leg, effect=offered.effect
    )


def describe_choice(label: ChoiceLabel, schemas: SchemasByBucket) -> str:
    match label:
        case GivenLabel(text=text):
            return text
        case BucketLabel(bucket=bucket):
            return schemas[bucket].label
        case FlagLabel(field=field, is_set=is_set):
            return field.label if is_set else f"not {field.label}"
        case LikelyFieldLabel(field=field):
            return field.label
        case RangeLabel(field=field, low=low, high=high):
            return _describe_range(field, low, high)
        case PeriodLabel(first_day=first_day, last_day=last_day):
            return format_period(first_day, last_day)
        case MissingFieldLabel(field=field):
            return f"no {field.label.lower()}"
        case MoreValuesLabel(field=field, count=count):
            return f"{count:,} more {plural_of(field.label.lower()) if count > 1 else field.label.lower()}"
        case NoneOfTheseLabel(field=field):
            return f"none of these {plural_of(field.label.lower())}"
        case OtherBucketLabel(clause=clause):
            return f"in {schemas[clause.bucket].label}: {_describe_clause(clause, schemas)}"
        case NearestValueLabel(field=field, condition=condition):
            return f"{field.label} {_describe_nearest_condition(condition, field)} instead"
        case SpellingLabel(old=old, new=new):
            return f"“{new}” instead of “{old}”"
        case WithoutConditionLabel(condition=condition, bucket=bucket):
            return f"without: {describe_condition(condition, schemas[bucket], schemas)}"
        case WithoutWordLabel(word=word):
            return f"without: mentions “{word}”"
        case OnlyConditionLabel(condition=condition, bucket=bucket):
            return f"only: {describe_condition(condition, schemas[bucket], schemas)}"
        case AlsoMissingLabel(field=field):
            return f"also those with no {field.label.lower()}"
        case ConditionsLabel(conditions=conditions, bucket=bucket):
            return describe_reading(conditions, schemas[bucket], schemas)
        case AllOfThemLabel():
            return "all of them"
        case MentionLabel(words=words):
            return f"mention {join_words([f'“{word}”' for word in words])}"
        case FieldValueLabel(field=field, value=value):
            return f"{field.label}: {value}" if value else f"with {field.label.lower()}"
        case OtherDocumentLabel():
            return "another of them"
        case ExportLabel(question=question):
            return "Export all as CSV" + (f": {question}" if question else "")
        case JustAnswerLabel():
            return "Just answer"
        case SearchByMeaningLabel():
            return "Search by meaning instead"
        case _:
            assert_never(label)


def _describe_range(field: SchemaField, low: float, high: float | None) -> str:
    start = format_amount(low, field.currency or None, field)
    if high is None:
        return f"{start} and up"
    first = format_number(low) if field.unit else start  # the unit appears once
    last = format_amount(high, field.currency or None, field)
    return f"{first} to under {last.removeprefix(f'{field.currency} ')}"


def _describe_clause(clause: Clause, schemas: SchemasByBucket) -> str:
    schema = schemas[clause.bucket]
    words = [describe_condition(condition, schema, schemas) for condition in conjuncts_of(clause.condition)]
    return " and ".join([*words, *(f"mentions “{word}”" for word in clause.required_terms)])


def _describe_nearest_condition(condition: ComparisonCondition, field: SchemaField) -> str:
    if isinstance(condition.value, tuple):
        return format_period(str(condition.value[0]), str(condition.value[1]))
    sign = {ComparisonOperator.GTE: "from ", ComparisonOperator.LTE: "up to "}.get(condition.op, "")
    return sign + format_value(condition.value, field)
