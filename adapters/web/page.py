"""Builds the web chat's pages from their templates."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from string import Template
from urllib.parse import urlencode

from adapters.web.html import SafeHtml, html_element, join_html
from adapters.web.render import question_html, reply_html
from adapters.web.transcript import TranscriptEntry

_FOLDER = Path(__file__).parent
STATIC_FILES = {
    "chat.css": "text/css",
    "chat.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
TOKEN_TARGETS = ("/", "/admin")  # the pages that the access token opens


def chat_page(
    entries: Sequence[TranscriptEntry],
    *,
    conversation: str,
    event_id: str,
    speaker: str,
    max_characters: int,
    status_text: str,
    now: datetime,
    examples: Sequence[str] = (),
) -> str:
    """Returns the chat page. `event_id` identifies the next post, so that a form sent twice is one message.

    `examples`: questions for an empty page.
    """
    messages = [entry_html(entry, now, conversation) for entry in entries]
    return _load_page_template("page.html").substitute(
        conversation=join_html(conversation),
        revision=str(max((entry.revision for entry in entries), default=0)),
        messages=join_html(*(messages or [_welcome_html(examples, event_id)])),
        event=join_html(event_id),
        speaker=join_html(speaker),
        limit=str(max_characters),
        status=join_html(status_text),
    )


def token_page(status_text: str, *, leads_to: str = "/") -> str:
    """Returns the page that asks for the access token. `leads_to`: one of `TOKEN_TARGETS`."""
    return _load_page_template("token.html").substitute(status=join_html(status_text), target=join_html(leads_to))


def steps_page(content: SafeHtml) -> str:
    """Returns the page about the steps of one answer."""
    return _load_page_template("steps.html").substitute(content=content)


def entry_html(entry: TranscriptEntry, now: datetime, conversation: str) -> SafeHtml:
    if isinstance(entry.content, str):
        return question_html(entry.content, id_=entry.id, posted_at=entry.posted_at)
    address = f"/chat/steps?{urlencode({'c': conversation, 'turn': entry.content.turn})}"
    return reply_html(
        entry.content,
        id_=entry.id,
        posted_at=entry.posted_at,
        now=now,
        steps_address=address,
        pictures_address=f"/chat/picture?{urlencode({'c': conversation, 'message': entry.id})}",
    )


def read_static_file(name: str) -> str:
    """Returns the text of one of `STATIC_FILES`."""
    return _read_page_file(name)


@cache
def _load_page_template(name: str) -> Template:
    return Template(_read_page_file(name))


@cache
def _read_page_file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _welcome_html(examples: Sequence[str], event_id: str) -> SafeHtml:
    buttons = [html_element("button", example, type="submit", name="text", value=example) for example in examples]
    form = html_element(
        "form",
        html_element("h3", "For example"),
        html_element("input", type="hidden", name="event", value=event_id),
        html_element("div", *buttons, class_="actions"),
        class_="choices",
        method="post",
        role="group",
        aria_label="Questions to begin with",
    )
    return html_element(
        "article",
        html_element("h2", "What would you like to know?"),
        html_element(
            "p",
            "Ask in your own words. When a question finds too much or nothing at all, Parley asks back, and every "
            "button shows how many documents it leads to.",
        ),
        *([form] if buttons else []),
        class_="welcome",
    )
