"""The pages of the web chat as a whole."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from string import Template

from adapters.web.html import Html, element, joined
from adapters.web.render import question_html, reply_html
from adapters.web.transcript import Entry

_FOLDER = Path(__file__).parent
STATIC = {
    "chat.css": "text/css",
    "chat.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


def chat_page(
    entries: Sequence[Entry], *, conversation: str, event: str, speaker: str, limit: int, status: str, now: datetime
) -> str:
    """`event` is what the next post is known by, so that a form sent twice is one message."""
    messages = [entry_html(entry, now) for entry in entries]
    return _template("page.html").substitute(
        conversation=joined(conversation),
        revision=str(max((entry.revision for entry in entries), default=0)),
        messages=joined(*(messages or [_welcome()])),
        event=joined(event),
        speaker=joined(speaker),
        limit=str(limit),
        status=joined(status),
    )


def token_page(status: str) -> str:
    """Asks for the token."""
    return _template("token.html").substitute(status=joined(status))


def entry_html(entry: Entry, now: datetime) -> Html:
    if isinstance(entry.content, str):
        return question_html(entry.content, id_=entry.id, at=entry.at)
    return reply_html(entry.content, id_=entry.id, at=entry.at, now=now)


def static_file(name: str) -> str:
    """One of `STATIC`."""
    return _read(name)


@cache
def _template(name: str) -> Template:
    return Template(_read(name))


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _welcome() -> Html:
    return element(
        "article",
        element("h2", "What would you like to know?"),
        element(
            "p",
            "Ask in your own words. When a question finds too much or nothing at all, Parley asks back, and every "
            "button shows how many documents it leads to.",
        ),
        class_="welcome",
    )
