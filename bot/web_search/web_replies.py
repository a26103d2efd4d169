"""What people read about a search of the web: when it is offered, the marks of its answers, and its failures."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agent.compose.phrases.words import join_words
from agent.outcome import Answer, Choice, Citation, Clarify, Outcome, OutcomeKind
from agent.translation.message_catalogues import mark_message
from bot.surface.replies import escape_markdown
from bot.translation import translate_message
from bot.web_search.settings import WebSearchSettings, WebUse
from bot.web_search.web_outcomes import rests_on_documents
from bot.web_search.web_pages import WEB_BUCKET, WebPage
from bot.web_search.web_report import WebSearchReport, WebSearchStatus
from storage.search.ids import DocId
from storage.search.plan import Plan
from storage.search.refinement import SearchWeb

SEARCH_WEB_LABEL: Final = mark_message("Search the web")
_WEB_NOTE: Final = mark_message("_Your documents do not answer this. This is from the web:_")
_UNSURE_NOTE: Final = mark_message(
    "_Your documents do not answer this. On the web, this comes closest, and it may not answer your question:_"
)
_MIXED_NOTE: Final = mark_message("_This is from your documents and from the web; sources of the web are marked._")
_GAPS_NOTE: Final = mark_message("_It may be incomplete: the pages do not mention {words}._")
_NOTHING_NOTICE: Final = mark_message("I found nothing on the web that answers this either.")
_FAILURE_NOTICE: Final = mark_message("The web could not be searched right now.")
_WEB_TITLE: Final = mark_message("{title} (web, {host}, fetched {day})")
_MAX_GAPS_SHOWN: Final = 5


def finds_nothing(outcome: Outcome) -> bool:
    """Whether no part of the question found anything. A set of no documents counts as well."""
    return (
        isinstance(outcome, Clarify)
        and outcome.kind is OutcomeKind.NO_RESULTS
        and outcome.is_understood
        and all(leg.kind is OutcomeKind.NO_RESULTS for leg in outcome.legs)
    )


def lacks_sure_answer(outcome: Outcome) -> bool:
    """Whether nothing was found, or only what may not answer the question: then a click searches the web."""
    return finds_nothing(outcome) or (isinstance(outcome, Answer) and not any(leg.is_sure for leg in outcome.legs))


def may_search_at_once(settings: WebSearchSettings, outcome: Outcome) -> bool:
    """Whether the web is searched without a click. A set of no documents is an answer about the documents."""
    return (
        settings.is_allowed
        and settings.web is WebUse.AUTO
        and isinstance(outcome, Clarify)
        and finds_nothing(outcome)
        and all(leg.count is None for leg in outcome.legs)
    )


def offer_web_search(outcome: Outcome) -> tuple[Choice, ...]:
    """Returns the button for an outcome without a sure answer; none for others."""
    if not isinstance(outcome, (Answer, Clarify)) or not lacks_sure_answer(outcome):
        return ()
    leg = outcome.plan.legs[0].id
    return (Choice(label=translate_message(SEARCH_WEB_LABEL), count=None, leg=leg, effect=SearchWeb()),)


def gap_words_of(outcome: Outcome) -> tuple[str, ...]:
    """The words of the question that no document mentions."""
    if not isinstance(outcome, Clarify):
        return ()
    return tuple(dict.fromkeys(word for leg in outcome.legs for word in leg.unknown_words))


def mark_web_answer(report: WebSearchReport) -> Answer | None:
    """Returns the answer with its sources of the web marked, by URL and the day on which they were fetched.

    It offers no choices, and its plan does not name the bucket of the pages: they are gone after this turn.
    """
    answer = report.answer
    if answer is None:
        return None
    pages = {page.doc_id: page for page in report.pages}
    trace = replace(answer.trace, attempts=(*report.attempts, *answer.trace.attempts))
    return replace(
        answer,
        plan=_without_web_bucket(answer.plan),
        citations=tuple(_mark_citation(citation, pages) for citation in answer.citations),
        choices=(),
        trace=trace,
    )


def web_notes_of(report: WebSearchReport) -> tuple[str, ...]:
    """The lines before an answer from the web, as Markdown; the plain sentence where the web has none."""
    if report.answer is None:
        is_unavailable = report.status is WebSearchStatus.UNAVAILABLE
        return (translate_message(_FAILURE_NOTICE if is_unavailable else _NOTHING_NOTICE),)
    sure_note = _MIXED_NOTE if rests_on_documents(report.answer) else _WEB_NOTE
    is_said_by_answer = not all(leg.is_sure for leg in report.answer.legs)
    notes = [translate_message(sure_note if report.is_sure or is_said_by_answer else _UNSURE_NOTE)]
    gaps = report.completeness.gaps[:_MAX_GAPS_SHOWN]
    if report.status is WebSearchStatus.BEST_AVAILABLE and gaps:
        words = join_words([f"“{escape_markdown(word)}”" for word in gaps])
        notes.append(translate_message(_GAPS_NOTE, words=words))
    return tuple(notes)


def subject_of(report: WebSearchReport) -> str:
    """What the page is about that the answer cites first, in a few words; empty without an answer."""
    if report.answer is None:
        return ""
    pages = {page.doc_id: page for page in report.pages}
    cited = (pages.get(citation.doc_id) for citation in report.answer.citations)
    return next((page.outline.subject for page in cited if page is not None), "")


def _mark_citation(citation: Citation, pages: Mapping[DocId, WebPage]) -> Citation:
    page = pages.get(citation.doc_id)
    if page is None:
        return citation
    title = translate_message(_WEB_TITLE, title=citation.title, host=page.host, day=page.fetched_at.date().isoformat())
    return replace(citation, title=title, url=page.url)


def _without_web_bucket(plan: Plan) -> Plan:
    for leg in plan.legs:
        clauses = tuple(clause for clause in leg.search.clauses if clause.bucket != WEB_BUCKET)
        plan = plan.with_search(leg.id, leg.search.with_clauses(*clauses))
    return plan
