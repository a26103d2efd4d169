"""The registry of the forms of answer. It finds every module of this folder that defines `FORM`."""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

import agent.forms
from agent.forms.form_of_answer import FormOfAnswer
from agent.retrieval.leg_requests import LegInquiry, LegRequests, add_alternative_counts
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.plan import AnswerForm


@cache
def load_forms() -> Mapping[type[AnswerForm], FormOfAnswer]:
    """Returns the forms by the class of `AnswerForm` that they answer."""
    names = (module.name for module in pkgutil.iter_modules(agent.forms.__path__))
    found = (getattr(import_module(f"agent.forms.{name}"), "FORM", None) for name in names)
    return {form.answer_form: form for form in found if isinstance(form, FormOfAnswer)}


def form_for(answer_form: AnswerForm) -> FormOfAnswer:
    return load_forms()[type(answer_form)]


def build_leg_requests(inquiry: LegInquiry) -> LegRequests:
    """Returns the requests of the leg's form, and counts for the other readings and for words that may be misspelt."""
    return add_alternative_counts(form_for(inquiry.leg.answer_form).build_requests(inquiry), inquiry)


async def decide_by_form(review: LegReview) -> Enough | LegClarification:
    return await form_for(review.leg.answer_form).decide(review)
