"""Renders the prompts for answers, with all texts of documents and people as data between delimiters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from babel import Locale, UnknownLocaleError

from agent.model.answering.evidence import EvidenceItem, clean_text
from prompts.data_texts import escape_attribute, escape_tags, quote_value
from prompts.prompt_library import RenderedPrompt, load_prompt

ANSWER_PROMPT, COMBINE_PROMPT = "answer_question", "combine_answers"
_UNKNOWN_LANGUAGE = "the language of the question"
_MAX_TEXT_CHARACTERS = 4_000  # of a question or summary

_TAGS = ("item", "evidence", "question", "conversation", "system", "assistant", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceQuestion:
    """What is asked about the evidence. `question`, `summary` and `missing` are data."""

    question: str
    language: str  # ISO 639-1, of the reply; empty: that of the question
    today: date
    summary: str = ""  # of the conversation
    searches: tuple[str, ...] = ()  # done so far
    missing: tuple[str, ...] = ()  # what the evidence of earlier rounds did not answer
    may_search_again: bool = True


def render_answer_prompt(asked: EvidenceQuestion, items: Sequence[EvidenceItem], threshold: float) -> RenderedPrompt:
    """Renders the prompt that reviews the items and answers from them. `threshold`: completeness that is enough."""
    return load_prompt(ANSWER_PROMPT).render(
        may_search_again=asked.may_search_again,
        threshold=threshold,
        language=name_language(asked.language),
        today=asked.today.isoformat(),
        summary=escape_data(asked.summary),
        searches=[quote_value(escape_line(search)) for search in asked.searches],
        missing=[quote_value(escape_line(gap)) for gap in asked.missing],
        items=[escape_item(item) for item in items],
        question=escape_data(asked.question),
    )


def render_joint_prompt(question: str, items: Sequence[EvidenceItem], language: str) -> RenderedPrompt:
    """Renders the prompt that joins the answers to the parts of a question."""
    return load_prompt(COMBINE_PROMPT).render(
        language=name_language(language),
        items=[escape_item(item) for item in items],
        question=escape_data(question),
    )


def escape_item(item: EvidenceItem) -> EvidenceItem:
    """Returns the item with texts that end no delimiter of the prompt and begin none."""
    return replace(
        item,
        title=escape_attribute(item.title)[:_MAX_TEXT_CHARACTERS],
        text=escape_data(item.text, limit=None),
        day=item.day if _is_day(item.day) else "",
    )


def _is_day(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None


def escape_data(text: str, limit: int | None = _MAX_TEXT_CHARACTERS) -> str:
    """Returns a text of documents or people that ends no delimiter of the prompt and begins none."""
    return escape_tags(clean_text(text)[:limit], *_TAGS)


def escape_line(text: str) -> str:
    """Returns the text on one line."""
    return " ".join(escape_data(text).split())


def name_language(code: str) -> str:
    """Returns the English name of a language: "German" for `de`, `de-AT`."""
    try:
        name = Locale.parse(code.replace("-", "_")).get_language_name("en") if code else None
    except (UnknownLocaleError, ValueError):
        name = None
    return name or _UNKNOWN_LANGUAGE
