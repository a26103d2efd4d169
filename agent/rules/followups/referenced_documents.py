"""Follow-ups about the results that the other steps leave: about the documents that the results refer to ("there",
after a town), and about what the results themselves say. They never become questions about all documents.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.decomposition import PlannedQuestion
from agent.rules.followups.followup_context import FollowUpMessage, continue_plan
from agent.rules.followups.followup_filters import add_unknown_words, narrow_search
from agent.rules.followups.result_references import SINGULAR_PRONOUNS, is_about_another, is_about_place
from agent.rules.followups.single_document import is_about_single_document
from agent.rules.forms.recognisers import answer_form_of
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import MAX_SEMI_JOIN_DEPTH, SemiJoinCondition, semi_join_depth
from storage.search.ids import FieldName
from storage.search.plan import Clause, FindPassages, ListDocuments, ReadFields, Search
from storage.search.schema import FieldReference

_MAX_UNEXPLAINED = 1  # words of a question that the documents referred to need not explain: "does she *earn*"


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReferredReading:
    """The message as read for the documents that a field of the results refers to."""

    field: FieldName  # of the results
    reference: FieldReference
    form: ReadFields


def plan_referenced_document(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Who is the mayor there?", after the town of a lake: a field of the document that the answer refers to.

    The field is one that the results lack. After a question for a field, only the document that its value names is
    meant.
    """
    if not follow_up.refers_to_results or follow_up.is_restricted_to_results or len(follow_up.leg.search.clauses) != 1:
        return None
    if not is_about_single_document(follow_up) and follow_up.leg.answer_form.list_limit != 1:
        return None
    if _answers_itself(follow_up.reading):
        return None
    referred = [*_referred_readings(follow_up)]
    if len({each.reference.bucket for each in referred}) != 1:
        return None
    chosen = referred[0]
    condition = _condition_of_reference(follow_up, chosen)
    if semi_join_depth(condition) > MAX_SEMI_JOIN_DEPTH:
        return None
    search = Search(
        clauses=(Clause(bucket=chosen.reference.bucket, condition=condition),), ranking_text=follow_up.question
    )
    return continue_plan(follow_up, search, chosen.form, kept_conditions=())


def _answers_itself(reading: BucketReading) -> bool:
    """Whether a field of the results themselves is asked for."""
    asked = [mention for mention in reading.asked_mentions if not mention.is_hint]
    return bool(asked or reading.conditions) and not reading.unlinked_words


def _referred_readings(follow_up: FollowUpMessage) -> Iterator[_ReferredReading]:
    """Yields the readings for the documents that the answered fields refer to, or all fields after a whole document."""
    by_bucket = {reading.bucket: reading for reading in follow_up.readings}
    answered = {name for _, name in follow_up.leg.answer_form.requested_fields}
    for field in follow_up.lexicon.schema.fields:
        reference = field.reference
        if reference is None or reference.bucket not in by_bucket or (answered and field.name not in answered):
            continue
        reading = by_bucket[reference.bucket]
        asked = [mention for mention in reading.asked_mentions if mention.column is None]
        names = tuple(dict.fromkeys(mention.field for mention in asked if mention.field != reference.field))
        if not names or reading.conditions or len(reading.unlinked_words) > _MAX_UNEXPLAINED:
            continue
        if len(reading.unlinked_words) > len(follow_up.reading.unlinked_words):
            continue
        form = ReadFields(fields=tuple((reference.bucket, name) for name in names))
        yield _ReferredReading(field=field.name, reference=reference, form=form)


def _condition_of_reference(follow_up: FollowUpMessage, referred: _ReferredReading) -> SemiJoinCondition:
    """Returns the condition that one of the results refers to a document."""
    order, limit = follow_up.leg.answer_form.list_order, follow_up.leg.answer_form.list_limit
    is_ordered = order is not None and limit is not None
    return SemiJoinCondition(
        field=referred.reference.field,
        bucket=follow_up.reading.bucket,
        key=referred.field,
        condition=follow_up.leg.search.clauses[0].match_condition,
        order_by=order.field if is_ordered and order is not None else None,
        is_descending=order is None or order.descending,
        limit=limit if is_ordered and limit is not None else 1,
        words=follow_up.question,
    )


def plan_further_thing(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """Plans "what would *the next one* cost", after an answer from texts: no field of its document tells that."""
    if not (follow_up.leg.answer_form.reads_text and is_about_another(follow_up.question)):
        return None
    search = Search(clauses=follow_up.leg.search.clauses, ranking_text=follow_up.question)
    return continue_plan(follow_up, search, FindPassages())


def plan_about_results(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """Plans a message that refers to the results in words that were not understood: it asks about these words, or
    looks them up in the text of the one document that the message is about.
    """
    if not follow_up.refers_to_results:
        return None
    form = answer_form_of(follow_up.reading, follow_up.lexicon)
    if form.computes and not follow_up.reading.unlinked_words:
        return continue_plan(follow_up, follow_up.leg.search, form)
    is_singular = bool(set(follow_up.words) & SINGULAR_PRONOUNS) or is_about_place(follow_up.question)
    last_form = follow_up.leg.answer_form
    is_of_one = last_form.reads_values or last_form.reads_text or last_form.list_limit == 1
    says_nothing_new = not (follow_up.has_own_content or follow_up.reading.has_noun)
    if says_nothing_new and form.reads_values:
        return continue_plan(follow_up, follow_up.leg.search, form)
    if (is_singular or is_of_one or says_nothing_new) and not follow_up.is_restricted_to_results:
        search = Search(clauses=follow_up.leg.search.clauses, ranking_text=follow_up.question)
        return continue_plan(follow_up, search, FindPassages())
    search, kept_conditions = narrow_search(follow_up)
    planned = continue_plan(
        follow_up, search, ListDocuments(order=last_form.list_order), kept_conditions=kept_conditions
    )
    return add_unknown_words(planned, follow_up)
