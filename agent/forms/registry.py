"""The registry of the forms of answer. It finds every module of this folder that defines `FORM`."""

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import cast

import agent.forms
from agent.forms.form_of_answer import FormOfAnswer
from agent.retrieval.leg_requests import LegInquiry, LegRequests, add_alternative_counts
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.plan import AnswerForm


@cache
def load_forms() -> Mapping[type[AnswerForm], FormOfAnswer[AnswerForm]]:
    """Returns the forms by the class of `AnswerForm` that they answer. Each accepts only instances of its class."""
    names = (module.name for module in pkgutil.iter_modules(agent.forms.__path__))
    found = (getattr(import_module(f"agent.forms.{name}"), "FORM", None) for name in names)
    forms = cast(Iterator[FormOfAnswer[AnswerForm]], (form for form in found if form is not None))
    return {form.answer_form: form for form in forms}


def build_leg_requests(inquiry: LegInquiry) -> LegRequests:
    """Returns the requests of the leg's form, and counts for the other readings and for words that may be misspelt."""
    answer_form = inquiry.leg.answer_form
    return add_alternative_counts(load_forms()[type(answer_form)].build_requests(answer_form, inquiry), inquiry)


async def decide_by_form(review: LegReview) -> Enough | LegClarification:
    answer_form = review.leg.answer_form
    return await load_forms()[type(answer_form)].decide(answer_form, review)
