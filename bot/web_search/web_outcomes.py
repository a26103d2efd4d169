"""Which part of an outcome rests on pages of the web."""

from dataclasses import replace
from typing import Final

from agent.outcome import Answer, Clarify, Outcome
from bot.web_search.web_pages import is_web_doc_id
from storage.search.plan import CheckClaims, FindPassages, FindSteps, SummariseDocuments

_TEXT_FORMS: Final = (FindPassages, CheckClaims, FindSteps, SummariseDocuments)  # which quote what pages say


def is_web_answer(answer: Answer) -> bool:
    """Whether the answer says what pages of the web say: no list, number or table that counts them as documents."""
    return cites_web(answer) and all(isinstance(leg.answer_form, _TEXT_FORMS) for leg in answer.plan.legs)


def cites_web(answer: Answer) -> bool:
    return any(is_web_doc_id(citation.doc_id) for citation in answer.citations)


def rests_on_documents(answer: Answer) -> bool:
    """Whether some part of the answer is from documents: a citation, or a list or number, which counts them."""
    cites_documents = any(not is_web_doc_id(citation.doc_id) for citation in answer.citations)
    return cites_documents or not all(isinstance(leg.answer_form, _TEXT_FORMS) for leg in answer.plan.legs)


def web_texts_of(outcome: Outcome) -> list[str]:
    """The texts of the web that the outcome rests on, the cited ones first, each with its title."""
    if not isinstance(outcome, (Answer, Clarify)):
        return []
    hits = [found.hit for found in outcome.hits if is_web_doc_id(found.hit.doc_id)]
    return [f"{hit.title}\n{hit.text}" for hit in hits] or [
        f"{citation.title}\n{citation.text}" for citation in outcome.citations if is_web_doc_id(citation.doc_id)
    ]


def without_web_sources(outcome: Outcome) -> Outcome:
    """The outcome without citations and passages of the web, for what a conversation remembers."""
    if not isinstance(outcome, Answer) or not cites_web(outcome):
        return outcome
    return replace(
        outcome,
        citations=tuple(citation for citation in outcome.citations if not is_web_doc_id(citation.doc_id)),
        hits=tuple(found for found in outcome.hits if not is_web_doc_id(found.hit.doc_id)),
    )
