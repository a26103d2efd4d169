"""Plans a question of one part or several."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from agent.assumptions import Assumption
from agent.decomposition import Decomposition, ExportRequest, LegAlternatives, PlannedQuestion, UnrecognisedQuestion
from agent.english.commands import leg_to_export
from agent.english.function_words import DOCUMENT_NOUNS
from agent.english.stock_words import names_quantity_at_place
from agent.english.telling_words import tells_subject
from agent.rules.comparison.comparison_plan import plan_comparison
from agent.rules.comparison.cues import mask_comparison
from agent.rules.comparison.share import plan_share
from agent.rules.composition.day_columns import plan_day_column
from agent.rules.composition.phrase_plan import plan_phrase
from agent.rules.composition.stock_quantity import plan_stock_quantity
from agent.rules.composition.stock_value import plan_stock_value
from agent.rules.followups.combined_sets import unite_legs
from agent.rules.followups.question_parts import (
    QuestionPart,
    add_missing_noun,
    continue_part,
    only_asks_to_show,
    searches_everything,
)
from agent.rules.followups.replaced_words import complete_part, write_name_of_party
from agent.rules.forms.recognisers import answer_form_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.nested.nested_plan import NestedPlanner
from agent.rules.nested.own_names import put_own_documents_first, settle_own_names
from agent.rules.nested.party_documents import plan_party_documents
from agent.rules.nested.party_fields import plan_party_fields
from agent.rules.nested.subordinates import plan_subordinates
from agent.rules.planning.identified_documents import plan_identified_document
from agent.rules.planning.leg_plan import assumptions_of_leg, plan_leg
from agent.rules.planning.spelling import add_spelling_correction
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.overview_questions import normalize_summary_request
from storage.search.conditions import semi_joins_in
from storage.search.ids import BucketId, LegId
from storage.search.plan import AggregateFunction, Leg, LegCombination, Plan, ReadFields

_MAX_LEGS = 4


def plan_parts(
    question: str, parts: Sequence[str], reader: QuestionReader, last_plan: Plan | None
) -> PlannedQuestion | None:
    """Plans a leg per part, or a leg per side of a comparison; a part may continue the leg before it.

    Returns None if a part is not a question, or if there are too many legs.
    """
    planned = _plan_all_parts(question, parts, reader, last_plan)
    identified = [
        plan_identified_document(LegId(chr(97 + index)), part, reader.readings_of(part), reader.lexicons)
        for index, part in enumerate(parts)
    ]
    pairs = tuple(pair for pair in identified if pair is not None)
    if planned is None or len(pairs) < len(parts):
        return planned
    legs, alternatives = zip(*pairs, strict=True)
    return PlannedQuestion(
        plan=Plan(question=question, legs=legs, combination=LegCombination.SIDE_BY_SIDE),
        alternatives=alternatives,
        fallback=planned,
    )


def _plan_all_parts(
    question: str, parts: Sequence[str], reader: QuestionReader, last_plan: Plan | None
) -> PlannedQuestion | None:
    planned_parts: list[QuestionPart] = []
    plan = last_plan
    for part in parts:
        new_parts = _plan_part(part, planned_parts, plan, reader)
        if not new_parts or len(planned_parts) + len(new_parts) > _MAX_LEGS:
            return None
        planned_parts += new_parts
        united = unite_legs([new_part.leg for new_part in new_parts])
        plan = Plan(question=question, legs=(united or planned_parts[-1].leg,))
    if any(later.continues_search and searches_everything(earlier.leg) for earlier, later in pairwise(planned_parts)):
        return None  # "it" has no referent yet, so this is one question
    planned_parts = [planned.with_leg_id(LegId(chr(97 + index))) for index, planned in enumerate(planned_parts)]
    is_sequence = any(planned_part.continues_search for planned_part in planned_parts[1:])
    return PlannedQuestion(
        plan=Plan(
            question=question,
            legs=tuple(planned_part.leg for planned_part in planned_parts),
            combination=LegCombination.SEQUENCE if is_sequence else LegCombination.SIDE_BY_SIDE,
        ),
        alternatives=tuple(planned_part.alternatives for planned_part in planned_parts),
        assumptions=tuple(assumption for planned_part in planned_parts for assumption in planned_part.assumptions),
        references=tuple(reference for planned_part in planned_parts for reference in planned_part.references),
        is_followup=planned_parts[0].continues_search,
    )


def has_compared_part(parts: Sequence[str]) -> bool:
    """Whether some part compares by itself, and others ask something else."""
    comparing = [mask_comparison(part).is_explicit for part in parts]
    return any(comparing) and not all(comparing)


def _plan_part(
    part: str, earlier_parts: Sequence[QuestionPart], plan: Plan | None, reader: QuestionReader
) -> Sequence[QuestionPart]:
    """Returns the part as a leg, or as a leg per compared side; nothing for a part that is not a question.

    `plan` is that of the parts before it, or of the last message.
    """
    if only_asks_to_show(part):
        return ()
    compared = _plan_compared_sides(part, reader)
    if compared:
        return compared
    completed = _complete_part(part, earlier_parts, reader)
    if completed is not None:
        return (_plan_complete_part(completed, reader),)
    named = write_name_of_party(part, earlier_parts[-1].leg) if earlier_parts else None
    about_party = None if named is None else _plan_complete_part(named, reader)
    if about_party is not None and about_party.alternatives.is_understood:
        return (about_party,)
    continuation = None if plan is None else continue_part(part, plan, reader, is_first=not earlier_parts)
    if continuation is not None:
        return (_share_references(continuation, earlier_parts),)
    completed = add_missing_noun(part, earlier_parts[-1], reader) if earlier_parts else part
    readings = reader.readings_of(normalize_summary_request(completed))
    if not (_has_own_content(readings[0]) or _asks_about_all(readings[0], reader.lexicons)):
        return ()
    return (_plan_complete_part(completed, reader),)


def _complete_part(part: str, earlier_parts: Sequence[QuestionPart], reader: QuestionReader) -> str | None:
    """Returns the question before the part with the part's words in it, if the part has no verb of its own."""
    if not earlier_parts or earlier_parts[-1].continues_search:
        return None
    before = earlier_parts[-1].leg
    bucket = before.search.buckets[0] if len(before.search.buckets) == 1 else None
    return complete_part(part, before.question, reader, bucket)


def _plan_complete_part(part: str, reader: QuestionReader) -> QuestionPart:
    readings = reader.readings_of(normalize_summary_request(part))
    leg, alternatives, assumptions = _plan_best_leg(LegId("a"), part, readings, reader)
    return QuestionPart(leg=leg, alternatives=alternatives, assumptions=assumptions)


def _share_references(part: QuestionPart, earlier_parts: Sequence[QuestionPart]) -> QuestionPart:
    """ "Which is the oldest, what is its price and who has it?": returns a part about that document."""
    before = earlier_parts[-1] if earlier_parts else None
    if before is None or part.references or part.leg.search.clauses != before.leg.search.clauses:
        return part
    return replace(part, references=before.references)


def _plan_compared_sides(part: str, reader: QuestionReader) -> Sequence[QuestionPart]:
    """ "Spending in 2024 vs 2023": returns a part per side; nothing if the part compares no known things."""
    comparison = plan_comparison(part, reader) if mask_comparison(part).is_explicit else None
    if comparison is None or not comparison.is_certain:
        return ()
    pairs = zip(comparison.planned.plan.legs, comparison.planned.alternatives, strict=True)
    return tuple(QuestionPart(leg=leg, alternatives=alternatives) for leg, alternatives in pairs)


def plan_single_question(question: str, reader: QuestionReader) -> Decomposition:
    """Plans a question that has only one part."""
    share = plan_share(question, reader)
    if share is not None:
        return share
    readings = reader.readings_of(normalize_summary_request(question))
    leg, alternatives, assumptions = _plan_best_leg(LegId("a"), question, readings, reader)
    identified = plan_identified_document(leg.id, question, readings, reader.lexicons)
    if identified is not None:
        fallback = PlannedQuestion(
            plan=Plan(question=question, legs=(leg,)), alternatives=(alternatives,), assumptions=assumptions
        )
        identified_leg, identified_alternatives = identified
        return PlannedQuestion(
            plan=Plan(question=question, legs=(identified_leg,)),
            alternatives=(identified_alternatives,),
            fallback=fallback,
        )
    if not _has_any_meaning(readings) and not _wants_all_documents(leg, readings):
        return UnrecognisedQuestion()
    plan = Plan(question=question, legs=(leg,))
    if leg_to_export(question, plan) and leg.answer_form.lists_documents:
        return ExportRequest(plan=plan, leg=leg.id, assumptions=assumptions)
    return PlannedQuestion(plan=plan, alternatives=(alternatives,), assumptions=assumptions)


def _plan_best_leg(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], reader: QuestionReader
) -> tuple[Leg, LegAlternatives, tuple[Assumption, ...]]:
    """Returns the leg of the question or, where that explains more of it, of a question within it."""
    settled = [settle_own_names(reading, reader.lexicons) for reading in readings]
    readings = put_own_documents_first(settled, reader.lexicons)
    stock_value = plan_stock_value(leg_id, question, readings, reader)
    if stock_value is not None:
        assumptions = assumptions_of_leg(stock_value.leg, [stock_value.reading], reader.lexicons)
        return stock_value.leg, stock_value.alternatives, (*assumptions, *stock_value.assumptions)
    quantity = plan_stock_quantity(leg_id, question, readings, reader)
    if quantity is not None:
        return (
            quantity.leg,
            quantity.alternatives,
            assumptions_of_leg(quantity.leg, [quantity.reading], reader.lexicons),
        )

    day = plan_day_column(leg_id, question, readings, reader)
    if day is not None:
        return day.leg, day.alternatives, ()

    def plan_outer_leg(leg_id: LegId, text: str, readings: Sequence[BucketReading]) -> tuple[Leg, LegAlternatives]:
        return plan_leg(leg_id, text, readings, reader.lexicons)

    subordinates = plan_subordinates(leg_id, question, readings, reader, plan_outer_leg)
    if subordinates is not None:
        return subordinates.leg, subordinates.alternatives, subordinates.assumptions
    leg, alternatives = _plan_leg_with_corrections(leg_id, question, readings, reader)
    if _is_about_quantity_at_place(leg, readings, reader.lexicons):
        return leg, alternatives, assumptions_of_leg(leg, readings, reader.lexicons)
    composed = plan_phrase(leg_id, question, leg, readings, reader)
    party = plan_party_fields(leg_id, question, leg, readings, reader, plan_outer_leg)
    reads_other_field = composed is not None and composed.leg.answer_form.reads_values
    if party is not None and party.leg.answer_form.reads_values and not reads_other_field:
        return party.leg, party.alternatives, party.assumptions
    if composed is not None and not (alternatives.is_understood and _leads_to_own_bucket(leg, composed.leg)):
        return composed.leg, composed.alternatives, composed.assumptions

    nested = NestedPlanner(reader, plan_outer_leg).plan_nested(leg_id, question, leg, readings)
    if nested is not None:
        return nested.leg, nested.alternatives, nested.assumptions
    related = plan_party_documents(leg_id, question, readings, reader, plan_outer_leg)
    related = related or party
    if related is not None:
        return related.leg, related.alternatives, related.assumptions
    return leg, alternatives, assumptions_of_leg(leg, readings, reader.lexicons)


def _is_about_quantity_at_place(
    leg: Leg, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> bool:
    """ "How many frames are there at Harbury": whether a number that the rows have for the place explains the place.

    No other table that has the place as well needs to be asked.
    """
    reading = next((reading for reading in readings if leg.search.buckets == (reading.bucket,)), None)
    if reading is None or reading.unlinked_words or not (reading.has_noun or reading.conditions):
        return False
    mentions = (link.meaning for link in reading.links if isinstance(link.meaning, FieldMention))
    return any(
        mention.column is None and names_quantity_at_place(lexicons[reading.bucket].get_field(mention.field).label)
        for mention in mentions
    )


def _leads_to_own_bucket(plain: Leg, composed: Leg) -> bool:
    """ "Who is Ida Berg's boss": whether the row that a value refers to would be listed, and not the value read.

    Nor is the value of one row read where rows are listed: "which customers are in Upton" is no customer of Upton's.
    """
    reads_one = isinstance(composed.answer_form, ReadFields) and not composed.answer_form.of_each
    if plain.answer_form.lists_documents and reads_one:
        joins = [join for clause in composed.search.clauses for join in semi_joins_in(clause.condition)]
        return composed.search.buckets == plain.search.buckets and not joins
    if not (plain.answer_form.reads_values and composed.answer_form.lists_documents):
        return False
    return composed.search.buckets == plain.search.buckets and all(
        join.bucket == clause.bucket for clause in composed.search.clauses for join in semi_joins_in(clause.condition)
    )


def _plan_leg_with_corrections(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], reader: QuestionReader
) -> tuple[Leg, LegAlternatives]:
    planned_leg = plan_leg(leg_id, question, readings, reader.lexicons)
    return add_spelling_correction(planned_leg, question, readings, reader)


def _has_own_content(reading: BucketReading) -> bool:
    """Whether a part of a message is complete by itself; "Show them." is not."""
    return bool(reading.conditions or reading.unlinked_words or reading.unlinked_quotations or reading.asked_mentions)


def _asks_about_all(reading: BucketReading, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    """ "How many receipts are there?", "which is the oldest receipt": the question is about all receipts.

    "List the receipts" may be about earlier results.
    """
    answer_form = answer_form_of(reading, lexicons[reading.bucket])
    return reading.has_noun and (answer_form.computes or answer_form.list_limit is not None)


def _wants_all_documents(leg: Leg, readings: Sequence[BucketReading]) -> bool:
    """ "List all documents": whether it asks for all buckets; numbers other than a count need a single bucket."""
    names_documents = any(token.word in DOCUMENT_NOUNS for token in readings[0].tokens)
    answer_form = leg.answer_form
    counts = answer_form.computed_functions == (AggregateFunction.COUNT,) or (
        answer_form.computes and len(readings) == 1
    )
    return names_documents and (answer_form.lists_documents or counts)


def _has_any_meaning(readings: Sequence[BucketReading]) -> bool:
    """Whether any reading has a condition, a noun, a field or a word to search for.

    A word may be linked to a value that the reading makes no condition of: texts may say more of it.
    """
    return any(
        reading.conditions
        or reading.unlinked_words
        or reading.unlinked_quotations
        or reading.has_noun
        or reading.asked_mentions
        or any(tells_subject(token.word) for token in reading.tokens)
        for reading in readings
    )
