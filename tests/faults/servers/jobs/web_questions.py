"""Questions that only the web answers, over a search server and a site of the storm's own."""

import random
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.faults.servers.storm_checks import AskedText, FinishedRow, StormCheck
from tests.stand_ins.searxng import ListedPage, SearxngStandIn, serve_searxng
from tests.stand_ins.site import PageResponse, WebSite, serve_web_site

_KNOWN_SHARE: Final = 0.3  # of the questions, about a page that was fetched before
_LETTERS: Final = ("bcdfgklmnprtvz", "aeou")
_FROM_WEB: Final = "This is from the web"
_NO_ANSWERS: Final = (
    "The web could not be searched right now.",
    "I found nothing on the web that answers this either.",
)


@dataclass
class WebQuestions:
    server: SearxngStandIn
    site: WebSite
    rng: random.Random
    widths: dict[str, int] = field(default_factory=dict[str, int])  # in centimetres, by bird

    @property
    def settings(self) -> Mapping[str, str]:
        return {
            "PARLEY_WEB": "auto",
            "PARLEY_SEARXNG_URL": self.server.url,
            "PARLEY_WEB_NETWORKS": "127.0.0.0/8",
        }

    def make_question(self) -> tuple[str, str]:
        """A question, and what its answer has to say. Of a bird that no document mentions."""
        known = sorted(self.widths)
        bird = self.rng.choice(known) if known and self.rng.random() < _KNOWN_SHARE else self._make_bird()
        return f"What is the wingspan of the {bird}?", f"{self.widths[bird]} cm"

    def _make_bird(self) -> str:
        bird = "".join(self.rng.choice(letters) for _ in range(4) for letters in _LETTERS)
        self.widths.setdefault(bird, self.rng.randint(20, 300))
        text = f"<title>The {bird}</title><p>The wingspan of the {bird} is {self.widths[bird]} cm.</p>"
        self.site.pages[f"/{bird}"] = PageResponse(text=text, type="text/html")
        self.server.pages.append(
            ListedPage(
                url=f"{self.site.url}/{bird}",
                title=f"The {bird}",
                content=f"The wingspan of the {bird}",
                for_words=(bird,),
            )
        )
        return bird

    def check_answers(self, rows: Sequence[FinishedRow], texts: Mapping[tuple[str, str], AskedText]) -> StormCheck:
        asked = [row for row in rows if row.key in texts and texts[row.key].wanted]
        answered = [row for row in asked if row.result.get("outcome") == "answer"]
        return StormCheck(
            name="questions to the web are answered from it alone, and no others are sent there",
            checked=len(asked),
            problems=(
                *_find_wrong_answers(asked, texts),
                *(f"{query!r} was sent to the web" for query in self.server.queries if not self._is_about_bird(query)),
                *([] if answered else ["the web answered nothing"]),
            ),
        )

    def _is_about_bird(self, query: str) -> bool:
        return any(bird in query for bird in self.widths)


def _find_wrong_answers(rows: Sequence[FinishedRow], texts: Mapping[tuple[str, str], AskedText]) -> Iterator[str]:
    for row in rows:
        asked, outcome, text = texts[row.key], row.result.get("outcome"), str(row.result.get("text"))
        is_right = asked.wanted in text and _FROM_WEB in (row.outcome or "")
        if outcome == "answer" and not is_right:
            yield f"{asked.text!r} gave {text!r}, not {asked.wanted!r}"
        if outcome not in (None, "answer", "failed") and not any(
            notice in (row.outcome or "") for notice in _NO_ANSWERS
        ):
            yield f"{asked.text!r} gave {outcome}: {text!r}"


@asynccontextmanager
async def open_web_questions(rng: random.Random) -> AsyncGenerator[WebQuestions]:
    async with serve_searxng() as server, serve_web_site() as site:
        yield WebQuestions(server, site, rng)
