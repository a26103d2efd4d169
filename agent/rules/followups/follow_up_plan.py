"""Plans follow-ups of the last plan: more constraints, other numbers, one of the documents, the next page.

A message is a follow-up if it consists of constraints ("only 2024", "and from Acme?") or refers to the results ("how
many of them", "the second one", "sort them"). A question that names its own documents is a new topic and inherits
nothing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.decomposition import LegAlternatives, PlannedQuestion
from agent.english.commands import parse_more_request
from agent.english.function_words import (
    AGGREGATE_WORDS,
    DAY_WORDS,
    LIST_VERBS,
    QUESTION_WORDS,
    SMALL_NUMBERS,
    SORT_WORDS,
    SUMMARY_WORDS,
    SUPERLATIVE_PHRASES,
    YES_NO_VERBS,
)
from agent.limits import SHOWN_DOCUMENTS
from agent.rules.comparison.cues import replace_comparatives
from agent.rules.comparison.share import asks_for_share, rephrase_as_count
from agent.rules.cues.computed_fields import sums_quantity_at_place
from agent.rules.cues.form_wording import drop_measure_words
from agent.rules.cues.function_phrases import is_superlative_phrase
from agent.rules.followups.combined_sets import unite_legs
from agent.rules.followups.corrections import blank_correction_words, find_dropped_conditions, find_dropped_part
from agent.rules.followups.followup_context import FollowUpMessage, continue_plan
from agent.rules.followups.followup_filters import add_implied_year, add_unknown_words, narrow_search, plan_refinement
from agent.rules.followups.inherited_fields import add_last_field, find_inherited_form, find_total_field
from agent.rules.followups.ordinal_references import (
    MAX_SIDES,
    plan_ordinal_reference,
    plan_remainder,
    plan_repeated_comparison,
)
from agent.rules.followups.referenced_documents import plan_about_results, plan_further_thing, plan_referenced_document
from agent.rules.followups.result_references import (
    SINGULAR_PRONOUNS,
    confine_to_found_documents,
    is_about_place,
    is_about_whole_result,
)
from agent.rules.followups.single_document import plan_single_document, without_claims
from agent.rules.forms.recognisers import answer_form_of, drop_form_words
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.literals.literal_types import QuantityLiteral
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    conjunction_of,
    conjuncts_of,
)
from storage.search.ids import DocId, FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    ComputeNumbers,
    FindPassages,
    Leg,
    LegCombination,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    SummariseDocuments,
)
from storage.search.schema import FieldType, SchemaOrder

_WORD_PATTERN = re.compile(r"[\w']+")
_SAME_AGAIN = re.compile(
    r"^(?P<lead>\W*(?:and\s+|now\s+)?)(?:the\s+)?same(?:\s+(?:thing|question|again))?\b(?=\s+\w)", re.I
)
_LEAD_OF_QUESTION = re.compile(
    rf"^\W*(?:(?:and|but|so|ok|okay|also|then|now)\b\W*)+(?=(?:{'|'.join(sorted(QUESTION_WORDS | YES_NO_VERBS))})\b)",
    re.IGNORECASE,
)  # "and who is …": the question word comes first
_THAT_ONE = re.compile(r"\b(?:that|this) one\b", re.IGNORECASE)
_SUPERLATIVE_COUNT = re.compile(
    r"\b\d{1,3}\b(?=\s+(?:most\s+\w+|"
    + "|".join(phrase[0] for phrase in SUPERLATIVE_PHRASES if len(phrase) == 1)
    + r")\b)",
    re.IGNORECASE,
)
_COUNT_AFTER_SUPERLATIVE = re.compile(
    rf"\b({'|'.join(phrase[0] for phrase in SUPERLATIVE_PHRASES if len(phrase) == 1)})\s+(\d{{1,3}})\b(?=\W*$)",
    re.IGNORECASE,
)
_SORT_COMMAND = re.compile(
    r"\W*(?:(?:and|now|then|ok|okay|please|can|could|you|just)\W+)*(?:sort|order|rank|arrange)(?:ed|d)?\s+"
    r"(?:(?:them|those|these|it|that|this|all)\s+)*by\b",
    re.IGNORECASE,
)
_ASCENDING_WORDS = frozenset(
    "ascending asc lowest smallest cheapest oldest earliest shortest lightest increasing up".split()
)
_DESCENDING_WORDS = frozenset(
    """descending desc highest largest biggest newest latest recent longest heaviest decreasing down expensive reverse
    most""".split()
)
_VERSUS = re.compile(
    r"\W*(?:and\s+)?(?:vs\.?|versus|(?:as\s+)?compared\s+(?:to|with)|against|how\s+does\s+(?:that|it)\s+compare\s+(?:to|with))\s",
    re.IGNORECASE,
)
_TOP_REQUEST = re.compile(
    r"\W*(?:(?:and|ok|just|only|now|then|show|give|list|me|us|the|please)\s+)*(?:top|first)\s+"
    rf"(?P<number>\d{{1,3}}|{'|'.join(SMALL_NUMBERS)})(?:\s+(?:ones|results|of\s+(?:them|those|these)|please))?\W*",
    re.IGNORECASE,
)
_CONDITION_START = re.compile(
    r"\W*(?:(?:and|but|ok|okay|now)\s+)*(?:(?:what|how)\s+about|same\s+for|only|just|in|from|for|drop|forget|whatever)\s+(?!(?:it|its|that|this|the\s+\w+)\W*$)",
    re.IGNORECASE,
)
_UNION_REQUEST = re.compile(
    r"\W*(?:(?:and|now|then|what|how|about|for|give|show|me|us|list|please)\s+)*"
    r"(?:(?:the\s+)?(?:two|both|three|all)(?:\s+of\s+(?:them|those|these))?\s+"
    r"(?:combined|together|added(?:\s+up|\s+together)?|summed(?:\s+up)?|taken\s+together|in\s+total|joined)"
    r"|both(?:\s+of\s+(?:them|those))?|combined|together|(?:add|put|take|combine)\s+(?:them|those|both|the\s+two)(?:\s+up|\s+together)?)\W*",
    re.IGNORECASE,
)
_COUNT_WORDS = frozenset(
    "more less fewer than at least most over under about around exactly of them those these are there is it so really "
    "only just not no up to do we have even".split()
)
_GROUP_WORDS = frozenset(
    "and now group grouped split splits broken break down it them those these that show same then please count how "
    "many the summed sum total".split()
)


def plan_follow_up(
    question: str,
    last_plan: Plan,
    reader: QuestionReader,
    earlier_plans: Sequence[Plan] = (),
    found_documents: Sequence[DocId] | None = None,
) -> PlannedQuestion | None:
    """Returns the plan of a follow-up; None for a new topic.

    `earlier_plans` are the plans before `last_plan`; `found_documents` are those that the last answer cited, None
    before the answer.
    """
    follow_up = _read_follow_up(question, last_plan, reader, earlier_plans)
    if follow_up is None:
        return None
    if follow_up.refers_to_results and found_documents is not None:
        follow_up = replace(follow_up, leg=confine_to_found_documents(follow_up.leg, found_documents))
    first_steps = (
        _plan_sort_command,
        _plan_next_page,
        _plan_top_of_list,
        plan_remainder,
        _plan_dropped_condition,
        _plan_union,
        _plan_added_side,
        plan_repeated_comparison,
    )
    for step in first_steps:
        planned = step(follow_up)
        if planned is not None:
            return planned
    if _is_new_topic(follow_up):
        return None
    steps = (
        plan_further_thing,
        _plan_sort,
        plan_ordinal_reference,
        _plan_share_of_results,
        _plan_count,
        _plan_quantity_at_place,
        plan_referenced_document,
        plan_single_document,
        _plan_new_form,
    )
    for step in steps:
        planned = step(follow_up)
        if planned is not None:
            return planned
    return (
        _apply_to_all_sides(follow_up, _plan_grouping)
        or _apply_to_all_sides(follow_up, plan_refinement)
        or (None if found_documents is None else plan_about_results(follow_up))
    )


def _apply_to_all_sides(
    follow_up: FollowUpMessage, step: Callable[[FollowUpMessage], PlannedQuestion | None]
) -> PlannedQuestion | None:
    """Applies `step` to each side of the last comparison; a message that names another set adds a side."""
    sides, own_plan = follow_up.last_plan.legs, step(follow_up)
    compares = (
        follow_up.last_plan.combination is LegCombination.COMPARE
        and not follow_up.refers_to_results
        and not follow_up.is_elliptic
    )
    if (
        own_plan is None
        or not compares
        or not all(leg.answer_form.computes or leg.answer_form.lists_documents for leg in sides)
    ):
        return own_plan
    side_plans = [planned for leg in sides if (planned := step(replace(follow_up, leg=leg))) is not None]
    legs = [planned.plan.legs[0] for planned in side_plans]
    if len({leg.search.clauses for leg in legs}) < len(sides):
        legs = [*sides[: MAX_SIDES - 1], replace(own_plan.plan.legs[0], id=LegId(chr(97 + len(sides))))]
    plan = Plan(question=follow_up.question, legs=tuple(legs), combination=LegCombination.COMPARE)
    kept_conditions = tuple(
        condition
        for condition in own_plan.kept_conditions
        if all(condition in planned.kept_conditions for planned in side_plans)
    )
    return replace(
        own_plan,
        plan=plan,
        alternatives=tuple(LegAlternatives(leg=leg.id) for leg in legs),
        kept_conditions=kept_conditions,
    )


def _read_follow_up(
    question: str, last_plan: Plan, reader: QuestionReader, earlier_plans: Sequence[Plan]
) -> FollowUpMessage | None:
    leg = _find_continued_leg(question, last_plan, earlier_plans)
    correction = blank_correction_words(question)
    rephrased = _SAME_AGAIN.sub(
        lambda match: match["lead"] + " " * (len(match[0]) - len(match["lead"])), correction.text
    )
    rephrased = _COUNT_AFTER_SUPERLATIVE.sub(r"\2 \1", rephrased)
    rephrased = replace_comparatives(add_implied_year(rephrase_as_count(rephrased), leg))
    count_match = _SUPERLATIVE_COUNT.search(rephrased)  # in "the 3 cheapest" the 3 is not a value of a field
    plain_question = _LEAD_OF_QUESTION.sub(lambda match: " " * len(match[0]), rephrased)
    readings = reader.readings_of(_SUPERLATIVE_COUNT.sub(lambda match: " " * len(match[0]), plain_question))
    reading = next((reading for reading in readings if reading.bucket in leg.search.buckets), None)
    words = tuple(_WORD_PATTERN.findall(rephrased.lower()))
    if reading is None or not words:
        return None
    with_field = add_last_field(rephrased, leg, reading, reader)
    if with_field != rephrased:
        readings = reader.readings_of(with_field)
        reading = next(found for found in readings if found.bucket == reading.bucket)
    return FollowUpMessage(
        question=question,
        words=words,
        last_plan=last_plan,
        earlier_plans=earlier_plans,
        leg=without_claims(leg, reading, reader.lexicons[reading.bucket]),
        readings=readings,
        reading=reading,
        lexicon=reader.lexicons[reading.bucket],
        reader=reader,
        corrects=correction.corrects or with_field != rephrased,
        requested_count=int(count_match[0]) if count_match else None,
    )


def _find_continued_leg(question: str, last_plan: Plan, earlier_plans: Sequence[Plan]) -> Leg:
    """ "How about Oslo?", after a question about one document of a list: returns the leg of the list.

    Only a message that begins like a condition goes back to it; "is it sold?" stays with the document.
    """
    leg = last_plan.legs[-1]
    if not _CONDITION_START.match(question) or not _is_by_id(leg):
        return leg
    lists = (plan.legs[-1] for plan in reversed(earlier_plans))
    return next(
        (before for before in lists if before.search.buckets == leg.search.buckets and not _is_by_id(before)), leg
    )


def _is_by_id(leg: Leg) -> bool:
    """Whether the leg is about a document of an earlier list."""
    return any(
        isinstance(condition, ComparisonCondition)
        and condition.field == DOC_ID_FIELD
        and condition.op is ComparisonOperator.EQ
        for clause in leg.search.clauses
        for condition in conjuncts_of(clause.condition)
    )


def _is_new_topic(follow_up: FollowUpMessage) -> bool:
    """Whether the message names its own documents and asks about them."""
    best, reading = follow_up.readings[0], follow_up.reading
    is_other_bucket = best.bucket != reading.bucket and not follow_up.refers_to_results
    if is_other_bucket and (best.has_noun or (best.score > reading.score + 1.0 and reading.unlinked_words)):
        return True
    if (
        reading.has_noun
        and follow_up.starts_as_question
        and not follow_up.refers_to_results
        and not follow_up.is_elliptic
    ):
        return True
    narrows = follow_up.words[0] in ("only", "just")
    return reading.has_noun and not (follow_up.has_opener or follow_up.refers_to_results or narrows)


# -- the next page


def _plan_next_page(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "More", "the next ten": the documents after those on the last page."""
    answer_form, more = follow_up.leg.answer_form, parse_more_request(follow_up.question)
    if more is None or not answer_form.lists_documents:
        return None
    shown_count = min(answer_form.list_limit or SHOWN_DOCUMENTS, SHOWN_DOCUMENTS)
    page_size = min(more.count or shown_count, SHOWN_DOCUMENTS)
    return continue_plan(
        follow_up,
        follow_up.leg.search,
        ListDocuments(
            order=answer_form.list_order,
            limit=page_size,
            skip=answer_form.list_skip + shown_count,
            shown=answer_form.shown_documents,
        ),
    )


def _plan_top_of_list(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Top 3": the first documents of the list, or the first groups."""
    match = _TOP_REQUEST.fullmatch(follow_up.question)
    answer_form = follow_up.leg.answer_form
    if match is None:
        return None
    number = match["number"].lower()
    limit = int(number) if number.isdigit() else SMALL_NUMBERS[number]
    if answer_form.lists_documents:
        new_form: AnswerForm = ListDocuments(order=answer_form.list_order, limit=limit)
    elif isinstance(answer_form, ComputeNumbers) and answer_form.group is not None:
        new_form = replace(answer_form, limit=limit)
    else:
        return None
    return replace(continue_plan(follow_up, follow_up.leg.search, new_form), references=())


# -- more documents than those of the last question


def _plan_added_side(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Vs Oslo?": the last question beside the same one with the new condition."""
    match = _VERSUS.match(follow_up.question)
    if match is None or len(follow_up.last_plan.legs) > 1:
        return None
    side = follow_up.question[match.end() :]
    message = _read_follow_up(side, follow_up.last_plan, follow_up.reader, follow_up.earlier_plans)
    other = None if message is None else plan_refinement(replace(message, corrects=True))
    if other is None or other.plan.legs[0].search.clauses == follow_up.leg.search.clauses:
        return None
    legs = tuple(
        replace(leg, id=LegId(letter)) for leg, letter in zip((follow_up.leg, other.plan.legs[0]), "ab", strict=True)
    )
    plan = Plan(question=follow_up.question, legs=legs, combination=LegCombination.COMPARE)
    alternatives = tuple(LegAlternatives(leg=leg.id) for leg in legs)
    return replace(other, plan=plan, alternatives=alternatives, references=())


def _plan_dropped_condition(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Whatever the price", "forget the year": the last search without the conditions that the message names."""
    dropped = find_dropped_part(follow_up.question)
    clauses = follow_up.leg.search.clauses
    if dropped is None or len(clauses) != 1:
        return None
    conditions = conjuncts_of(clauses[0].condition)
    readings = follow_up.reader.readings_of(dropped)
    reading = next(found for found in readings if found.bucket == follow_up.reading.bucket)
    gone = find_dropped_conditions(dropped, reading, conditions, follow_up.lexicon)
    names_field = bool(reading.asked_mentions) and not (reading.conditions or reading.unlinked_words)
    if not gone and not names_field:
        return None
    kept = [condition for condition in conditions if condition not in gone]
    search = follow_up.leg.search.with_clauses(replace(clauses[0], condition=conjunction_of(*kept)))
    return replace(continue_plan(follow_up, search, follow_up.leg.answer_form), references=())


def _plan_union(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "The two of them combined": the union of the last results, or of those of the last two questions."""
    if _UNION_REQUEST.fullmatch(follow_up.question) is None:
        return None
    legs = follow_up.last_plan.legs
    if len(legs) == 1 and follow_up.earlier_plans:
        legs = (follow_up.earlier_plans[-1].legs[-1], *legs)
    united = unite_legs(legs) if len(legs) > 1 else None
    if united is None:
        return None
    return replace(continue_plan(follow_up, united.search, united.answer_form), references=())


# -- the same documents in another form


def _plan_sort(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Sort them by total", "newest first"."""
    words = set(follow_up.words)
    puts_first = (
        len(follow_up.words) <= 4
        and follow_up.words[-1:] == ("first",)
        and bool(words & (_ASCENDING_WORDS | _DESCENDING_WORDS))
    )
    if not (words & SORT_WORDS or puts_first) or follow_up.reading.conditions or follow_up.reading.has_noun:
        return None
    field = _sort_field(follow_up)
    if field is None:
        return _ask_about_order(follow_up) if _SORT_COMMAND.match(follow_up.question) else None
    natural = follow_up.lexicon.schema.natural_order
    default = natural.descending if natural is not None and natural.field == field else False
    descending = True if words & _DESCENDING_WORDS else False if words & _ASCENDING_WORDS else default
    limit = follow_up.leg.answer_form.list_limit
    answer_form = ListDocuments(order=SchemaOrder(field=field, descending=descending), limit=limit)
    return continue_plan(follow_up, follow_up.leg.search, answer_form)


def _plan_sort_command(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Sorted by total": a message that begins so is about the last list, whatever it is sorted by."""
    lists = follow_up.leg.answer_form.lists_documents
    return _plan_sort(follow_up) if lists and _SORT_COMMAND.match(follow_up.question) else None


def _ask_about_order(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Sorted by prestige": the same list, and a question about the words that name no field."""
    words = follow_up.reading.unlinked_words
    if not words:
        return None
    planned = continue_plan(follow_up, follow_up.leg.search, ListDocuments())
    return replace(
        planned,
        alternatives=tuple(replace(alternatives, unknown_words=words) for alternatives in planned.alternatives),
    )


def _sort_field(follow_up: FollowUpMessage) -> FieldName | None:
    sortable = {
        field.name for field in follow_up.lexicon.schema.fields if field.type not in (FieldType.LIST, FieldType.ROWS)
    }
    mentions = [link.meaning for link in follow_up.reading.links if isinstance(link.meaning, FieldMention)]
    named_fields = [mention.field for mention in mentions if mention.column is None and mention.field in sortable]
    if named_fields:
        return named_fields[-1]
    answer_form = answer_form_of(follow_up.reading, follow_up.lexicon)
    if answer_form.list_order is not None and answer_form.list_order.field in sortable:
        return answer_form.list_order.field
    if answer_form.computed_field is not None:
        return answer_form.computed_field
    hinted = [follow_up.lexicon.field_hinted_by(token.stem) for token in follow_up.reading.tokens]
    if hinted_fields := [name for name in hinted if name in sortable]:
        return hinted_fields[0]
    dates = [field.name for field in follow_up.lexicon.schema.fields if field.type is FieldType.DATE]
    return dates[0] if dates and set(follow_up.words) & DAY_WORDS else None


def _plan_count(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "More than 50 of them?": the count answers this; "how many are over $50?" is a constraint instead."""
    literals = [
        literal for literal in follow_up.reader.literals_in(follow_up.question) if isinstance(literal, QuantityLiteral)
    ]
    of_them = any(
        re.match(r"\s*(?:of\s+(?:them|those|these)\b)", follow_up.question[literal.end :], re.I) for literal in literals
    )
    words = {word for word in follow_up.words if not word.isdigit()}
    how_many = bool(words & {"many", "count"}) and not words - _COUNT_WORDS - {"how", "many", "count", "number", "what"}
    if (
        not ((how_many and (of_them or not literals)) or (of_them and not words - _COUNT_WORDS))
        or follow_up.reading.has_noun
    ):
        return None
    return continue_plan(follow_up, follow_up.leg.search, ComputeNumbers(functions=(AggregateFunction.COUNT,)))


def _plan_share_of_results(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "What percentage of them are from Acme?": a count of the part and a count of all results."""
    if not (asks_for_share(follow_up.question) and follow_up.is_restricted_to_results) or not follow_up.has_own_content:
        return None
    search, kept_conditions = narrow_search(follow_up)
    return continue_plan(
        follow_up,
        search,
        ComputeNumbers(functions=(AggregateFunction.SHARE,), share_base=follow_up.leg.search),
        kept_conditions=kept_conditions,
    )


def _plan_grouping(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "By vendor", "split by month": the same numbers by group, or the count of each group."""
    by_index = next((index for index, word in enumerate(follow_up.words) if word in ("by", "per")), None)
    leading_words = set(follow_up.words[:by_index]) if by_index is not None else set[str]()
    if by_index is None or follow_up.reading.conditions or follow_up.reading.has_noun or leading_words - _GROUP_WORDS:
        return None
    text = "how many of them " + " ".join(follow_up.words[by_index:])
    reading = next(
        reading for reading in follow_up.reader.readings_of(text) if reading.bucket == follow_up.reading.bucket
    )
    answer_form = answer_form_of(reading, follow_up.lexicon)
    if answer_form.grouping is None:
        return None
    same_numbers = follow_up.leg.answer_form.grouped_by(answer_form.grouping)
    return continue_plan(follow_up, follow_up.leg.search, same_numbers or answer_form)


def _plan_quantity_at_place(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "And how many have we got at Harbury", after the price of a thing: a sum over all its rows."""
    answer_form = answer_form_of(follow_up.reading, follow_up.lexicon)
    if not sums_quantity_at_place(answer_form, follow_up.lexicon):
        return None
    search, kept_conditions = narrow_search(follow_up) if follow_up.reading.conditions else (follow_up.leg.search, None)
    return continue_plan(follow_up, search, answer_form, kept_conditions=kept_conditions)


def _plan_new_form(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """Plans another question about the results: their count, their sum, the cheapest, a field, a passage."""
    own_form = _own_answer_form(follow_up)
    if own_form is None:
        return None
    if own_form.depends_on_field:
        explained = drop_form_words(follow_up.reading, follow_up.lexicon)
        follow_up = replace(follow_up, reading=drop_measure_words(explained, own_form, follow_up.lexicon))
    reading = follow_up.reading
    continues = follow_up.is_elliptic or follow_up.refers_to_results or follow_up.has_opener
    has_no_content = not (follow_up.has_own_content or reading.has_noun)
    if not (follow_up.refers_to_results or has_no_content or (continues and not reading.unlinked_words)):
        return None
    if own_form.reads_text:
        search = Search(clauses=follow_up.leg.search.clauses, ranking_text=follow_up.question)
        return continue_plan(follow_up, search, own_form)
    search, kept_conditions = narrow_search(follow_up) if follow_up.has_own_content else (follow_up.leg.search, None)
    planned = continue_plan(follow_up, search, own_form, kept_conditions=kept_conditions)
    return add_unknown_words(planned, follow_up) if follow_up.has_own_content else planned


def _own_answer_form(follow_up: FollowUpMessage) -> AnswerForm | None:
    """Returns the answer form that the message itself asks for; None if it keeps the last one."""
    reading, words = follow_up.reading, set(follow_up.words)
    answer_form = answer_form_of(reading, follow_up.lexicon)
    asked_fields = tuple(dict.fromkeys(mention.field for mention in reading.asked_mentions if mention.column is None))
    is_singular = bool(words & SINGULAR_PRONOUNS) or bool(_THAT_ONE.search(follow_up.question))
    is_singular = is_singular or is_about_place(follow_up.question)
    if words & SUMMARY_WORDS or (re.search(r"\babout\s*[?.]?$", follow_up.question) and is_singular):
        return SummariseDocuments()
    total_field = find_total_field(follow_up, answer_form)
    if total_field is not None and (not is_singular or is_about_whole_result(follow_up.question)):
        return ComputeNumbers(functions=(AggregateFunction.SUM,), field=total_field)
    if (
        is_singular
        and follow_up.refers_to_results
        and answer_form.computed_field is not None
        and not reading.conditions
    ):
        return ReadFields(fields=((reading.bucket, answer_form.computed_field),))
    inherited_form = find_inherited_form(follow_up, answer_form)
    if inherited_form is not None:
        return inherited_form
    if answer_form.computes and (
        words & AGGREGATE_WORDS or AggregateFunction.DISTINCT in answer_form.computed_functions
    ):
        return answer_form
    if follow_up.words[:2] == ("how", "many") and follow_up.is_elliptic:
        return ComputeNumbers(functions=(AggregateFunction.COUNT,))
    chooses = follow_up.is_restricted_to_results or follow_up.is_elliptic
    names_first = answer_form.list_limit is not None and chooses
    if answer_form.list_order is not None and (names_first or _has_superlative(follow_up.words)):
        return (
            answer_form
            if follow_up.requested_count is None
            else ListDocuments(order=answer_form.list_order, limit=follow_up.requested_count)
        )
    if (
        follow_up.refers_to_results
        and asked_fields
        and not reading.unlinked_words
        and (follow_up.starts_as_question or is_singular)
    ):
        return ReadFields(fields=tuple((reading.bucket, name) for name in asked_fields))
    if (
        follow_up.refers_to_results
        and is_singular
        and follow_up.starts_as_question
        and (reading.unlinked_words or reading.conditions)
    ):
        return FindPassages()
    if follow_up.words[0] in LIST_VERBS | {"any"} or (
        follow_up.words[0] == "which" and (follow_up.is_elliptic or follow_up.refers_to_results)
    ):
        return ListDocuments(order=follow_up.leg.answer_form.list_order)
    if follow_up.words[0] in YES_NO_VERBS and follow_up.refers_to_results and reading.conditions:
        return ListDocuments(order=follow_up.leg.answer_form.list_order)
    return None


def _has_superlative(words: Sequence[str]) -> bool:
    return any(
        is_superlative_phrase(tuple(words[index : index + size])) for index in range(len(words)) for size in (1, 2)
    )
