"""The registry of the handlers of answer forms. It finds every module of this folder that defines `HANDLER`."""

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import cast

import agent.forms
from agent.forms.clarifications import ask_which_field
from agent.forms.form_handler import FormHandler
from agent.forms.thresholds import ask_threshold
from agent.retrieval.leg_requests import LegInquiry, LegRequests, add_alternative_counts
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.plan import AnswerForm


@cache
def load_handlers() -> Mapping[type[AnswerForm], FormHandler[AnswerForm]]:
    """Returns the handlers by the class of their answer form. Each accepts only instances of its class."""
    names = (module.name for module in pkgutil.iter_modules(agent.forms.__path__))
    optional_handlers = (getattr(import_module(f"agent.forms.{name}"), "HANDLER", None) for name in names)
    handlers = cast(
        Iterator[FormHandler[AnswerForm]], (handler for handler in optional_handlers if handler is not None)
    )
    return {handler.answer_form: handler for handler in handlers}


def build_leg_requests(inquiry: LegInquiry) -> LegRequests:
    """Returns the requests of the leg, and counts for the other readings and for words that may be misspelt."""
    answer_form = inquiry.leg.answer_form
    return add_alternative_counts(load_handlers()[type(answer_form)].build_requests(answer_form, inquiry), inquiry)


async def decide_by_form(review: LegReview) -> Enough | LegClarification:
    answer_form = review.leg.answer_form
    if (several_fields := ask_which_field(review)) is not None:
        return several_fields
    if (threshold := await ask_threshold(review)) is not None:
        return threshold
    return await load_handlers()[type(answer_form)].decide(answer_form, review)
