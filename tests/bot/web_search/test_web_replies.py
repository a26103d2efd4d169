"""When the button is offered, and what the notes before an answer from the web say."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.outcome import Answer, Citation, Clarify, LegResult, OutcomeKind, SearchRoute, SearchTrace
from agent.web_search.completeness import EvidenceCompleteness
from bot.web_search.page_outline import PageOutline
from bot.web_search.settings import WebSearchSettings, WebUse
from bot.web_search.web_pages import WEB_BUCKET, WebPage, web_doc_id_of
from bot.web_search.web_replies import (
    lacks_sure_answer,
    mark_web_answer,
    may_search_at_once,
    offer_web_search,
    subject_of,
    web_notes_of,
)
from bot.web_search.web_report import WebSearchReport, WebSearchStatus, report_of_timeout
from storage.search.ids import BucketId, DocId, Generation, LegId
from storage.search.plan import FindPassages, Leg, Plan, unfiltered_search_of

DOCUMENTS = BucketId("documents")
URL = "https://towers.example/eiffel"
SEARCH = unfiltered_search_of(DOCUMENTS, WEB_BUCKET)
LEG = Leg(id=LegId("a"), question="How tall is it?", search=SEARCH, answer_form=FindPassages())
PLAN = Plan(question=LEG.question, legs=(LEG,))
TRACE = SearchTrace(route=SearchRoute.HYBRID)
RESULT = LegResult(leg=LEG.id, question=LEG.question, kind=OutcomeKind.ANSWER, text="")
PAGE = WebPage(
    doc_id=web_doc_id_of(URL),
    url=URL,
    outline=PageOutline(title="Eiffel Tower | Facts"),
    fetched_at=datetime(2031, 5, 9, 12, tzinfo=UTC),
)
COMPLETE = EvidenceCompleteness(score=0.9, reason="", gaps=())
AUTO = WebSearchSettings(web=WebUse.AUTO, searxng_url="http://searx.example")


def cite_document(doc_id: DocId, title: str = "Eiffel Tower | Facts") -> Citation:
    return Citation(marker="1", doc_id=doc_id, title=title, page=None, start=0, end=4, text="text")


def answer_with(*citations: Citation, is_sure: bool = True) -> Answer:
    leg = replace(RESULT, is_sure=is_sure)
    return Answer(
        plan=PLAN, text="“text” [1]", legs=(leg,), citations=citations, trace=TRACE, generation=Generation("")
    )


def report_with(answer: Answer, *, is_sure: bool = True, gaps: tuple[str, ...] = ()) -> WebSearchReport:
    return WebSearchReport(
        rounds=(),
        status=WebSearchStatus.COMPLETE if is_sure and not gaps else WebSearchStatus.BEST_AVAILABLE,
        completeness=replace(COMPLETE, gaps=gaps),
        answer=answer,
        is_sure=is_sure,
        pages=(PAGE,),
    )


def clarify_with(
    *kinds: OutcomeKind,
    count: int | None = None,
    is_understood: bool = True,
    kind: OutcomeKind = OutcomeKind.NO_RESULTS,
) -> Clarify:
    return Clarify(
        plan=PLAN,
        kind=kind,
        leg=LEG.id,
        text="",
        legs=tuple(replace(RESULT, kind=leg_kind, count=count) for leg_kind in kinds),
        choices=(),
        is_understood=is_understood,
        trace=TRACE,
        generation=Generation(""),
    )


@pytest.mark.parametrize(
    ("outcome", "is_offered", "is_searched"),
    [
        (clarify_with(OutcomeKind.NO_RESULTS), True, True),
        (clarify_with(OutcomeKind.NO_RESULTS, count=0), True, False),
        (clarify_with(OutcomeKind.NO_RESULTS, OutcomeKind.ANSWER), False, False),
        (clarify_with(OutcomeKind.NO_RESULTS, is_understood=False), False, False),
        (clarify_with(OutcomeKind.AMBIGUOUS, kind=OutcomeKind.AMBIGUOUS), False, False),
        (answer_with(is_sure=False), True, False),
        (answer_with(), False, False),
    ],
)
def test_the_web_is_for_questions_without_a_sure_answer(
    outcome: Answer | Clarify, is_offered: bool, is_searched: bool
) -> None:
    assert lacks_sure_answer(outcome) == is_offered
    assert [choice.label for choice in offer_web_search(outcome)] == (["Search the web"] if is_offered else [])
    assert may_search_at_once(AUTO, outcome) == is_searched
    assert not may_search_at_once(AUTO.model_copy(update={"web": WebUse.ASK}), outcome)


def test_sources_of_the_web_are_marked_and_those_of_documents_are_not() -> None:
    answer = answer_with(cite_document(PAGE.doc_id), cite_document(DocId("lease.pdf"), "Lease"))

    marked = mark_web_answer(report_with(answer))

    assert marked is not None
    assert [(citation.title, citation.url) for citation in marked.citations] == [
        ("Eiffel Tower | Facts (web, towers.example, fetched 2031-05-09)", URL),
        ("Lease", None),
    ]
    assert marked.plan.read_buckets == {DOCUMENTS}
    assert web_notes_of(report_with(answer)) == (
        "_This is from your documents and from the web; sources of the web are marked._",
    )
    assert subject_of(report_with(answer)) == "Eiffel Tower"


def test_an_unsure_or_incomplete_answer_says_so_once() -> None:
    cited = cite_document(PAGE.doc_id)

    closest = web_notes_of(report_with(answer_with(cited), is_sure=False))
    unsure = web_notes_of(report_with(answer_with(cited, is_sure=False), is_sure=False))
    incomplete = web_notes_of(report_with(answer_with(cited), gaps=("winter", "*ice*")))

    assert closest == (
        "_Your documents do not answer this. On the web, this comes closest, and it may not answer your question:_",
    )
    assert unsure == ("_Your documents do not answer this. This is from the web:_",)
    assert incomplete[1] == r"_It may be incomplete: the pages do not mention “winter” and “\*ice\*”._"


def test_a_search_that_took_too_long_is_said_in_one_sentence() -> None:
    assert web_notes_of(report_of_timeout()) == ("The web could not be searched right now.",)
    assert mark_web_answer(report_of_timeout()) is None
    assert report_of_timeout().to_json()["status"] == "unavailable"
