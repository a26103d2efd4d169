"""Composes a procedure: its heading with the page, then its steps, each cited."""

from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.words import escape_markdown, format_quotation
from agent.forms.find_steps import ProcedureStep, StepsFacts
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import translate_message


def _compose_steps(facts: StepsFacts, review: LegReview) -> ComposedLeg:
    page = facts.steps[0].quote.page
    place = escape_markdown(facts.document.title)
    if page is not None:
        place = translate_message("{title}, page {page}", title=place, page=page)
    lines = [_compose_step(step, marker) for marker, step in enumerate(facts.steps, 1)]
    return ComposedLeg(
        sentences=(f"**{escape_markdown(facts.heading)}** ({place}):", *lines),
        separator="\n",
        citations=cite_quotes(facts.quotes),
    )


def _compose_step(step: ProcedureStep, marker: int) -> str:
    if step.is_heading:
        return f"**{escape_markdown(step.quote.text.strip('#* '))}** [{marker}]"
    bullet = f"{step.number}." if step.number is not None else "-"
    return f"{bullet} “{format_quotation(step.quote.text, max_characters=None, is_code=step.quote.is_code)}” [{marker}]"


COMPOSERS = (LegComposer(StepsFacts, _compose_steps),)
