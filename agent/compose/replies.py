"""Replies that need no search."""

from agent.compose.phrases.nouns import document_noun_of, noun_for_documents
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import escape_markdown
from agent.decomposition import QuestionContext
from agent.english.commands import is_thanks
from agent.languages.command_phrases import CommandKind, is_foreign_command
from agent.outcome import Clarify, LegResult, OutcomeKind, SearchRoute
from agent.retrieval.session import RetrievalSession
from agent.translation.languages import get_reply_language
from agent.translation.message_catalogues import mark_message, translate_message
from storage.search.errors import InnerSetTooLarge
from storage.search.ids import LegId
from storage.search.plan import Clause, FindPassages, Leg, Plan, Search

SEARCHING_PROGRESS = mark_message("Searching")
READING_PROGRESS = mark_message("Reading the documents")
WRITING_PROGRESS = mark_message("Writing the answer")
STARTED_OVER_TEXT = mark_message("Started over: what was said before no longer counts.")
NOTHING_BEFORE_TEXT = mark_message("There was nothing before that: we are back at the start.")
NO_BUCKET_GRANTED_TEXT = mark_message(
    "There is nothing here that you may ask. An admin can grant a bucket to you or to this channel."
)


def clarify_not_understood(question: str, session: RetrievalSession, question_context: QuestionContext) -> Clarify:
    """Says that no word of the question tells what to look for. Offers no choices."""
    if is_thanks(question) or is_foreign_command(question, CommandKind.THANKS):
        text = translate_message("You are welcome.")
    else:
        text = translate_message("I did not understand what to look for in the documents.")
    return _reply_without_search(question, text, session, question_context)


def clarify_nothing_to_export(question: str, session: RetrievalSession, question_context: QuestionContext) -> Clarify:
    """Says that there are no results to make a file of. Offers no choices."""
    text = translate_message("There is nothing to export: the last question found no documents. Ask for some first.")
    return _reply_without_search(question, text, session, question_context)


def clarify_large_inner_set(
    plan: Plan, too_large: InnerSetTooLarge, session: RetrievalSession, question_context: QuestionContext
) -> Clarify:
    """Says that the question compares with too many documents of another bucket, and asks which of them are meant."""
    schema = question_context.schemas.get(too_large.bucket)
    noun = document_noun_of(schema) if schema is not None else noun_for_documents()
    text = translate_message(
        "That depends on more than {count} {nouns}, which are too many to compare with. "
        "Which {nouns} do you mean? Name a property of them, such as a year or a place.",
        count=format_number(too_large.max_values),
        nouns=escape_markdown(noun.plural),
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
        plan=Plan(question=question, legs=(leg,), language=get_reply_language()),
        kind=OutcomeKind.NO_RESULTS,
        leg=leg.id,
        text=text,
        legs=(LegResult(leg=leg.id, question=question, kind=OutcomeKind.NO_RESULTS, text=text),),
        choices=(),
        is_understood=False,
        trace=session.build_trace(SearchRoute.HYBRID),
        generation=question_context.vocabulary.generation,
    )
