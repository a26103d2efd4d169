"""The page about limits: how many questions may be asked, how many are asked now, and what models may cost."""

from collections.abc import Mapping
from typing import Final

from adapters.web.admin.layout import PageContext, admin_page, count_text, post_form, section_html
from adapters.web.html import SafeHtml, html_element
from bot.access.limits import MAX_LIMIT
from bot.admin.admin_page.limit_status import LimitStatus
from bot.admin.administration import QuestionLimit
from bot.admin.sentences import LIMIT_LABELS

SHOWN_PREFIX: Final = "shown_"  # of the fields with the limits as the page showed them
_HINT: Final = (
    "A whole number from 1 on; leave it empty for any number. A question that is put off is answered with when to ask "
    "again. The operator of the machine has no limit; a program has 20 questions an hour unless another is set."
)
_NO_BUDGET: Final = "Models have no budget. PARLEY_MODEL_BUDGET sets one, in US dollars for a calendar month."


def limits_page(
    context: PageContext,
    status: LimitStatus,
    typed: Mapping[QuestionLimit, str] | None = None,
    shown: Mapping[QuestionLimit, int] | None = None,
) -> str:
    """`typed`: what a refused form held, and `shown` the limits that it had begun with."""
    values = {limit: str(status.limits.get(limit, "")) for limit in QuestionLimit} if typed is None else typed
    before = status.limits if shown is None else shown
    return admin_page(
        context,
        "Limits",
        _limits_form(context, status, values, before),
        section_html("Cost of language models", html_element("p", _budget_text_of(status))),
    )


def _limits_form(
    context: PageContext, status: LimitStatus, values: Mapping[QuestionLimit, str], before: Mapping[QuestionLimit, int]
) -> SafeHtml:
    fields = [
        element
        for limit, label in LIMIT_LABELS.items()
        for element in _limit_field(limit, f"Questions {label}", values.get(limit, ""), _recent_text_of(limit, status))
    ]
    return post_form(
        context.visitor,
        "/admin/limits",
        *fields,
        html_element("p", _HINT, class_="hint", id="limits-hint"),
        html_element("button", "Save", type="submit", class_="main"),
        class_="fields",
        **{SHOWN_PREFIX + limit.value: str(number) for limit, number in before.items()},
    )


def _limit_field(limit: QuestionLimit, label: str, value: str, recent: str) -> list[SafeHtml]:
    input_id = limit.value.replace("_", "-")
    return [
        html_element("label", label, for_=input_id),
        html_element(
            "input",
            id=input_id,
            name=limit.value,
            value=value,
            inputmode="numeric",
            pattern="[0-9]*",
            maxlength=str(len(str(MAX_LIMIT))),
            placeholder="any number",
            aria_describedby=f"{input_id}-recent limits-hint",
        ),
        html_element("p", recent, class_="hint", id=f"{input_id}-recent"),
    ]


def _recent_text_of(limit: QuestionLimit, status: LimitStatus) -> str:
    asked = count_text(status.recent.get(limit, 0), "question")
    return f"now: {asked} of the person who asked most" if limit.is_per_person else f"now: {asked}"


def _budget_text_of(status: LimitStatus) -> str:
    if status.budget_usd is None:
        return _NO_BUDGET
    rest = "the rules answer until the next month" if status.spent_usd >= status.budget_usd else "then the rules answer"
    return (
        f"${status.spent_usd:,.2f} of ${status.budget_usd:,.2f} are spent in this calendar month (UTC); {rest}. "
        "PARLEY_MODEL_BUDGET sets the budget."
    )
