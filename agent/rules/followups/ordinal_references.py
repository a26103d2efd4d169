"""Plans references to the results: documents by position, a comparison of them, or all the others."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.decomposition import OrdinalReference, PlannedQuestion
from agent.english.function_words import AGGREGATE_WORDS, SMALL_NUMBERS
from agent.rules.comparison.comparison_plan import comparable_fields, fields_of_comparatives
from agent.rules.comparison.cues import find_comparatives, mask_comparison
from agent.rules.followups.followup_context import FollowUpMessage, continue_plan
from agent.rules.followups.followup_filters import is_presence_check
from agent.rules.forms.recognisers import answer_form_of
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from storage.quantities.spelled_numbers import ORDINALS_BY_WORD, alternatives_of
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
    Scalar,
    conjunction_of,
    conjuncts_of,
)
from storage.search.ids import FieldName, LegId
from storage.search.plan import (
    AnswerForm,
    FindPassages,
    Leg,
    LegCombination,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    SummariseDocuments,
)

_ORDINAL_REFERENCE = re.compile(
    rf"\b(?:the\s+)?(?P<word>{alternatives_of(ORDINALS_BY_WORD)}|last|\d{{1,2}}(?:st|nd|rd|th))"
    rf"(?:\s+(?P<many>\d{{1,2}}|{alternatives_of(SMALL_NUMBERS, low=2)}))?"
    r"(?:\s+(?:one|ones|document|result|entry|item|of\s+(?:them|those|these)))?"
    r"(?=\s*(?:[?.,!:;]|'s|and\b|$)|\s+(?!\w+s\b))"
    r"|(?:\b(?:number|no\.?|nr\.?|item|result)\s*|(?<!\w)#)(?P<number>\d{1,2})\b",
    re.IGNORECASE,
)
_WORD_PATTERN = re.compile(r"[\w']+")
MAX_SIDES = 4
_PLURAL_PRONOUNS = frozenset("them they those these both".split())
_COUNTED_REFERENCE = re.compile(
    rf"\b(?:the|these|those)\s+({alternatives_of(SMALL_NUMBERS, low=2, high=MAX_SIDES)}|[2-{MAX_SIDES}])\b",
    re.IGNORECASE,
)
_REMAINDER_REQUEST = re.compile(
    r"\W*(?:(?:and|now|then|but|ok|okay|please|show|list|give|me|us|what|how|about|which|are)\s+)*"
    r"(?:(?:all\s+)?(?:the\s+)?(?:others|other\s+ones|rest|rest\s+of\s+(?:them|those|these)|remaining(?:\s+ones)?)"
    r"|(?:without|except(?:\s+for)?|excluding|exclude|all\s+but|everything\s+but|leave\s+out|remove|drop|minus|not)\s+"
    r"(?:them|those|these|that\s+one|this\s+one|it)"
    r"|(?:everything|all)\s+else)\W*",
    re.IGNORECASE,
)


# -- by position


def plan_ordinal_reference(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "The second one", "number 3", "the first two": documents by their positions in the last list."""
    if not follow_up.leg.answer_form.shows_documents and follow_up.last_plan.combination is not LegCombination.COMPARE:
        return None
    references = [(match, _positions_in(match)) for match in _ORDINAL_REFERENCE.finditer(follow_up.question)]
    references = [(match, places) for match, places in references if places]
    if not references or follow_up.reading.conditions or follow_up.reading.has_noun:
        return None
    remaining_text = follow_up.question
    for match, _ in references:
        remaining_text = (
            remaining_text[: match.start()] + " " * (match.end() - match.start()) + remaining_text[match.end() :]
        )
    reading = next(
        reading
        for reading in follow_up.reader.readings_of(remaining_text)
        if reading.bucket == follow_up.reading.bucket
    )
    places = tuple(dict.fromkeys(place for _, several in references for place in several))
    if mask_comparison(follow_up.question).is_explicit and 1 < len(places) <= MAX_SIDES:
        return _compare_positions(follow_up, places, reading)
    return _plan_picks(follow_up, places, _form_for_document(follow_up, remaining_text, reading))


def _plan_picks(follow_up: FollowUpMessage, positions: Sequence[int], answer_form: AnswerForm) -> PlannedQuestion:
    if follow_up.last_plan.combination is LegCombination.COMPARE and 0 < positions[0] <= len(follow_up.last_plan.legs):
        leg = replace(follow_up.last_plan.legs[positions[0] - 1], question=follow_up.question, answer_form=answer_form)
        return PlannedQuestion(plan=Plan(question=follow_up.question, legs=(leg,)), is_followup=True)
    leg = Leg(id=LegId("a"), question=follow_up.question, search=follow_up.leg.search, answer_form=answer_form)
    pick = OrdinalReference(leg=leg.id, list_leg=follow_up.leg, positions=tuple(positions))
    return PlannedQuestion(plan=Plan(question=follow_up.question, legs=(leg,)), references=(pick,), is_followup=True)


def _positions_in(match: re.Match[str]) -> tuple[int, ...]:
    """Returns positions, counted from 1; positions from the end are negative."""
    if match["number"]:
        return (int(match["number"]),) if int(match["number"]) else ()
    word = match["word"].lower()
    many = match["many"]
    count = 1 if many is None else int(many) if many.isdigit() else SMALL_NUMBERS[many.lower()]
    if word == "last":
        return tuple(range(-count, 0))
    place = int(word[:-2]) if word[0].isdigit() else ORDINALS_BY_WORD[word]
    return (place,) if many is None else tuple(range(place, place + count)) if place == 1 else (place,)


def _form_for_document(follow_up: FollowUpMessage, remaining_text: str, reading: BucketReading) -> AnswerForm:
    """Returns the answer form for the document: fields, passages or a summary."""
    fields = tuple(dict.fromkeys(mention.field for mention in reading.asked_mentions if mention.column is None))
    if fields:
        return ReadFields(fields=tuple((reading.bucket, name) for name in fields))
    if reading.unlinked_words or reading.unlinked_quotations:
        return FindPassages()
    answer_form = answer_form_of(reading, follow_up.lexicon)
    if answer_form.computed_field is not None and set(_WORD_PATTERN.findall(remaining_text.lower())) & AGGREGATE_WORDS:
        return ReadFields(fields=((reading.bucket, answer_form.computed_field),))
    return SummariseDocuments()


# -- side by side


def plan_repeated_comparison(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Compare them", "which of the two is heavier?": a comparison of the last results or the last two questions."""
    comparison = mask_comparison(follow_up.question)
    chooses = re.search(r"\bwhich\s+of\b", follow_up.question, re.IGNORECASE) is not None
    of_two = follow_up.last_plan.combination is LegCombination.COMPARE and (
        chooses or bool(find_comparatives(follow_up.question))
    )
    many = _COUNTED_REFERENCE.search(follow_up.question)
    points = many is not None or bool(set(follow_up.words) & _PLURAL_PRONOUNS) or len(follow_up.words) == 1 or of_two
    compares = comparison.is_explicit and not chooses
    if (
        not (compares or of_two)
        or not points
        or follow_up.reading.unlinked_quotations
        or not all(map(is_presence_check, follow_up.reading.conditions))
    ):
        return None
    reading = next(
        reading
        for reading in follow_up.reader.readings_of(comparison.text)
        if reading.bucket == follow_up.reading.bucket
    )
    sides = _previous_sides(follow_up)
    if sides:
        return _compare_sides(follow_up, sides, reading)
    if not follow_up.leg.answer_form.shows_documents:
        return None
    limit = follow_up.leg.answer_form.list_limit
    number = None if many is None else int(many[1]) if many[1].isdigit() else SMALL_NUMBERS[many[1].lower()]
    number = 2 if "both" in follow_up.words else number
    return _compare_positions(
        follow_up, range(1, min(number or limit or MAX_SIDES, MAX_SIDES) + 1), reading, fixed_count=number
    )


def _previous_sides(follow_up: FollowUpMessage) -> tuple[Leg, ...]:
    """Returns the legs to compare: those of the last plan, or its only leg and the leg of the plan before it."""
    if len(follow_up.last_plan.legs) > 1:
        return follow_up.last_plan.legs[:MAX_SIDES]
    before = follow_up.earlier_plans[-1].legs[-1] if follow_up.earlier_plans else None
    if before is None or before.search.clauses == follow_up.leg.search.clauses:
        return ()
    alike = (
        follow_up.leg.answer_form.computes or follow_up.leg.answer_form.reads_values
    ) and before.answer_form == follow_up.leg.answer_form
    return (before, follow_up.leg) if alike else ()


def _compare_sides(
    follow_up: FollowUpMessage, side_legs: Sequence[Leg], reading: BucketReading
) -> PlannedQuestion | None:
    """Plans other fields of the same sides, or the same numbers if the message mentions no field."""
    fields = _asked_fields(follow_up, reading)
    computes = all(leg.answer_form.computes for leg in side_legs)
    if not fields and computes and len({leg.answer_form for leg in side_legs}) > 1:
        return None  # a count and a sum do not compare
    if fields and computes:
        return None
    names = tuple((reading.bucket, name) for name in fields)
    legs = tuple(
        replace(leg, id=LegId(chr(97 + index)), answer_form=ReadFields(fields=names) if fields else leg.answer_form)
        for index, leg in enumerate(side_legs)
    )
    return PlannedQuestion(
        plan=Plan(question=follow_up.question, legs=legs, combination=LegCombination.COMPARE), is_followup=True
    )


def _compare_positions(
    follow_up: FollowUpMessage, positions: Sequence[int], reading: BucketReading, fixed_count: int | None = 0
) -> PlannedQuestion:
    """Plans a leg for each position. If `fixed_count` is None, positions beyond the end of the list are dropped."""
    names = _asked_fields(follow_up, reading) or comparable_fields(follow_up.lexicon)
    answer_form = ReadFields(fields=tuple((reading.bucket, name) for name in names))
    legs = tuple(
        Leg(id=LegId(chr(97 + index)), question=f"number {place}", search=follow_up.leg.search, answer_form=answer_form)
        for index, place in enumerate(positions)
    )
    references = tuple(
        OrdinalReference(
            leg=leg.id, list_leg=follow_up.leg, positions=(place,), drop_leg_if_missing=fixed_count is None
        )
        for leg, place in zip(legs, positions, strict=True)
    )
    plan = Plan(question=follow_up.question, legs=legs, combination=LegCombination.COMPARE)
    return PlannedQuestion(plan=plan, references=references, is_followup=True)


def _asked_fields(follow_up: FollowUpMessage, reading: BucketReading) -> tuple[FieldName, ...]:
    mentions = [link.meaning for link in reading.links if isinstance(link.meaning, FieldMention)]
    named_fields = tuple(dict.fromkeys(mention.field for mention in mentions if mention.column is None))
    return named_fields or fields_of_comparatives(find_comparatives(follow_up.question), follow_up.lexicon)


# -- the others


def plan_remainder(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "The others", "without those": the rest of a longer list, or of the set of an earlier plan."""
    if _REMAINDER_REQUEST.fullmatch(follow_up.question) is None:
        return None
    answer_form = follow_up.leg.answer_form
    if answer_form.list_limit is not None and not answer_form.list_skip:
        planned = continue_plan(follow_up, follow_up.leg.search, ListDocuments(order=answer_form.list_order))
        leg = planned.plan.legs[0]
        pick = OrdinalReference(
            leg=leg.id, list_leg=follow_up.leg, positions=tuple(range(1, answer_form.list_limit + 1)), is_exclusion=True
        )
        return replace(planned, references=(pick,))
    for plan in reversed(follow_up.earlier_plans):
        before = plan.legs[-1]
        apart = [*_added_conditions(follow_up.last_plan, before.search)]
        if len(plan.legs) > 1 or not apart or before.search.buckets != follow_up.leg.search.buckets:
            continue
        search = _exclude_conditions(before.search, apart)
        form = answer_form if answer_form.computes else ListDocuments(order=before.answer_form.list_order)
        return replace(continue_plan(follow_up, search, form), references=())
    return None


def _exclude_conditions(search: Search, excluded_groups: Sequence[Sequence[Condition]]) -> Search:
    """Returns the search without the documents of the groups. A condition on ids stays if the groups were within it."""
    id_conditions = [
        condition
        for side in excluded_groups
        for condition in side
        if isinstance(condition, ComparisonCondition) and condition.field == DOC_ID_FIELD
    ]
    if len(id_conditions) == sum(map(len, excluded_groups)):
        ids = [str(each) for condition in id_conditions for each in _values_of(condition)]
        these = ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=tuple(dict.fromkeys(ids)))
        return search.with_condition(NotCondition(id_conditions[0] if len(id_conditions) == 1 else these))
    if len(excluded_groups) == 1 and id_conditions:
        return search.with_condition(id_conditions[0]).with_condition(
            NotCondition(
                conjunction_of(*(condition for condition in excluded_groups[0] if condition not in id_conditions))
            )
        )
    sides = [conjunction_of(*group) for group in excluded_groups]
    return search.with_condition(NotCondition(OrCondition(tuple(sides)) if len(sides) > 1 else sides[0]))


def _values_of(condition: ComparisonCondition) -> tuple[Scalar, ...]:
    return condition.value if isinstance(condition.value, tuple) else (condition.value,)


def _added_conditions(last_plan: Plan, earlier_search: Search) -> Iterator[Sequence[Condition]]:
    """Yields the conditions of each leg of the last plan that the earlier search lacks; only legs with one clause."""
    shared = {condition for clause in earlier_search.clauses for condition in conjuncts_of(clause.display_condition)}
    for leg in last_plan.legs:
        if len(leg.search.clauses) != 1:
            continue
        more = [
            condition for condition in conjuncts_of(leg.search.clauses[0].display_condition) if condition not in shared
        ]
        if more:
            yield more
