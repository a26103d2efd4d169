"""The reply of an outcome as Slack and the browser get it, and what in it could be clicked or notify people."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any as Json
from typing import cast

from adapters.slack.posting.render import slack_message_for
from adapters.web.render import reply_html
from agent.outcome import Outcome
from bot.conversation.reply_builder import StoredOffer, reply_for
from bot.ids import ChoiceId, ClarificationId, TurnId
from tests.agent.tools.receipts_index import NOW

_LIVE_MRKDWN = re.compile(r"<[!@#]|<[a-z]+:[^>\s]+[|>]", re.IGNORECASE)
_LIVE_ELEMENTS = ("user", "usergroup", "channel", "broadcast", "image", "mrkdwn", "emoji")
_OWN_TAGS = frozenset(
    "article h2 time div p br strong em code a ol ul li span details summary blockquote table caption thead tbody tr "
    "th td button form small figure figcaption sup".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedReply:
    """What was posted: `text` of all of it, `links` that can be clicked, and `live` other than links."""

    text: str
    links: tuple[str, ...]
    live: tuple[str, ...]


def post_outcome(outcome: Outcome) -> PostedReply:
    choices = getattr(outcome, "choices", ())
    offer = StoredOffer(
        clarification=ClarificationId("offer"),
        expires_at=NOW + timedelta(days=1),
        choices=tuple((ChoiceId(f"choice{number}"), choice) for number, choice in enumerate(choices)),
    )
    reply = reply_for(TurnId("turn"), outcome, offer if choices else None)
    message = slack_message_for(reply)
    page = _ReadPage()
    page.feed(str(reply_html(reply, id_="m1", posted_at=NOW, now=NOW, steps_address="/steps")))
    elements = list(_walk_elements(message.blocks))
    live = [f"{element['type']} in Slack" for element in elements if element.get("type") in _LIVE_ELEMENTS]
    live += [f"{found} in Slack's text" for found in _LIVE_MRKDWN.findall(message.text)]
    live += [f"{found} in the page" for found in page.strange]
    links = [str(element["url"]) for element in elements if "url" in element]
    texts = [str(element[key]) for element in elements for key in ("text", "caption") if _is_text(element, key)]
    return PostedReply(
        text="\n".join((*texts, message.text, *page.texts)),
        links=tuple(dict.fromkeys((*links, *page.links))),
        live=tuple(live),
    )


def _is_text(element: Mapping[str, Json], key: str) -> bool:
    return isinstance(element.get(key), str)


def _walk_elements(value: Json) -> Iterator[Mapping[str, Json]]:
    if isinstance(value, Mapping):
        element = cast(Mapping[str, Json], value)
        yield element
        for member in element.values():
            yield from _walk_elements(member)
    elif isinstance(value, (list, tuple)):
        for member in cast(Sequence[Json], value):
            yield from _walk_elements(member)


class _ReadPage(HTMLParser):
    """Collects the links and texts of a page, and tags that the page does not write itself."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.texts: list[str] = []
        self.strange: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _OWN_TAGS:
            self.strange.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "style", "srcdoc"):
                self.strange.append(f"{tag} {name}")
            if name == "href" and value is not None and value != "/steps" and not value.startswith("#"):
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
