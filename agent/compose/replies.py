"""Replies that need no search."""

from agent.compose.phrases.conditions import document_noun_of, escape_markdown, plural_of
from agent.decomposition import QuestionContext
from agent.english.commands import is_thanks
from agent.outcome import Clarify, LegResult, OutcomeKind, SearchRoute
from agent.retrieval.session import RetrievalSession
from storage.search.errors import InnerSetTooLarge
from storage.search.ids import LegId
from storage.search.plan import Clause, FindPassages, Leg, Plan, Search

SEARCHING_PROGRESS = "Searching"
WRITING_PROGRESS = "Writing the answer"
STARTED_OVER_TEXT = "Started over: what was said before no longer counts."
NOTHING_BEFORE_TEXT = "There was nothing before that: we are back at the start."
NO_BUCKET_GRANTED_TEXT = (
    "There is nothing here that you may ask. An admin can grant a bucket to you or to this channel."
)
_NOTHING_TO_EXPORT_TEXT = "There is nothing to export: the last question found no documents. Ask for some first."
_THANKS_REPLY = "You are welcome."


def clarify_not_understood(
    question: str, unknown_words: tuple[str, ...], session: RetrievalSession, question_context: QuestionContext
) -> Clarify:
    """Says that no word of the question is known here. Offers no choices."""
    quoted_words = ", ".join(f"“{escape_markdown(word)}”" for word in unknown_words[:5])
    text = "I found nothing: no word of this stands in the documents" + (f" ({quoted_words})." if quoted_words else ".")
    return _reply_without_search(question, _THANKS_REPLY if is_thanks(question) else text, session, question_context)


def clarify_nothing_to_export(question: str, session: RetrievalSession, question_context: QuestionContext) -> Clarify:
    """Says that there are no results to make a file of. Offers no choices."""
    return _reply_without_search(question, _NOTHING_TO_EXPORT_TEXT, session, question_context)


def clarify_large_inner_set(
    plan: Plan, too_large: InnerSetTooLarge, session: RetrievalSession, question_context: QuestionContext
) -> Clarify:
    """Says that the question compares with too many documents of another bucket, and asks which of them are meant."""
    schema = question_context.schemas.get(too_large.bucket)
    noun = escape_markdown(plural_of(document_noun_of(schema))) if schema is not None else "documents"
    text = (
        f"That depends on more than {too_large.max_values:,} {noun}, which are too many to compare with. "
        f"Which {noun} do you mean? Name a property of them, such as a year or a place."
    )
    leg = plan.legs[0]
    return Clarify(
        plan=plan,
        kind=OutcomeKind.OVERLOAD,
        leg=leg.id,
        text=text,
        legs=(LegResult(leg=leg.id, question=leg.question, kind=OutcomeKind.OVERLOAD, text=text),),
        choices=(),
        clarifications_in_a_row=session.context.clarifications_in_a_row + 1,
        trace=session.build_trace(SearchRoute.STRUCTURED),
        generation=question_context.vocabulary.generation,
    )


def _reply_without_search(
    question: str, text: str, session: RetrievalSession, question_context: QuestionContext
) -> Clarify:
    search = Search(clauses=tuple(Clause(bucket=bucket) for bucket in question_context.schemas), ranking_text=question)
    leg = Leg(id=LegId("a"), question=question, search=search, answer_form=FindPassages())
    return Clarify(
        plan=Plan(question=question, legs=(leg,)),
        kind=OutcomeKind.NO_RESULTS,
        leg=leg.id,
        text=text,
        legs=(LegResult(leg=leg.id, question=question, kind=OutcomeKind.NO_RESULTS, text=text),),
        choices=(),
        is_understood=False,
        trace=session.build_trace(SearchRoute.HYBRID),
        generation=question_context.vocabulary.generation,
    )
