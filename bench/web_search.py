"""Measures the web search: `python -m bench.web_search ROUND …`. It asserts nothing.

The text documents of a round of questions (`tests/rounds`) are served as the pages of a local site, and a stand-in for
SearXNG finds ten of them for each query, by rare words, with the best sentence as the snippet. The home itself has one
document about something else, so every answer has to come from the pages. Only questions about a text are asked:
looking something up, yes or no, and questions without an answer.
"""

import argparse
import asyncio
import html
import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any as Json
from typing import Final

from rich.console import Console

from bot.bootstrap import open_application
from bot.scripting import ask_application
from bot.settings import load_settings
from storage.ingest.pipeline import ingest_files
from storage.search.ids import BucketId
from tests.rounds.measure import generate_round, read_round_clock, read_round_questions
from tests.rounds.scoring import RoundQuestion, Verdict, judge_first_reply
from tests.stand_ins.searxng import ListedPage, SearxngStandIn, serve_searxng
from tests.stand_ins.site import PageResponse, WebSite, serve_web_site

_KINDS: Final = frozenset({"lookup", "text", "yes_no", "nothing"})
_TYPES: Final = {".html": "text/html; charset=utf-8", ".md": "text/markdown", ".txt": "text/plain"}
_MAX_RESULTS: Final = 10
_SNIPPET_CHARACTERS: Final = 300
_SHOWN_CHARACTERS: Final = 240
_COMPLETE: Final = 0.8
_WORD: Final = re.compile(r"\w+")
_TAG: Final = re.compile(r"<[^>]*>")


class RankedPages(list[ListedPage]):
    """The pages of a round, of which iteration gives the best ones for the server's last query."""

    def __init__(self, server: SearxngStandIn, text_by_url: Mapping[str, str]) -> None:
        super().__init__()
        self._server, self._texts = server, text_by_url
        self._words = {url: Counter(_WORD.findall(text.casefold())) for url, text in text_by_url.items()}
        self._documents_with = Counter(word for words in self._words.values() for word in words)

    def __iter__(self) -> Iterator[ListedPage]:
        query = {*_WORD.findall(self._server.queries[-1].casefold())}
        scores = {url: self._score_words(words, query) for url, words in self._words.items()}
        best = sorted((url for url, score in scores.items() if score), key=lambda url: -scores[url])
        return iter([self._list_page(url, query) for url in best[:_MAX_RESULTS]])

    def _score_words(self, words: Mapping[str, int], query: set[str]) -> float:
        return sum(math.log(1 + len(self._words) / self._documents_with[word]) for word in query if word in words)

    def _list_page(self, url: str, query: set[str]) -> ListedPage:
        lines = [line for line in re.split(r"\n|(?<=[.!?])\s", self._texts[url]) if line.strip()]
        ranked = sorted(lines[1:], key=lambda line: -len(query & {*_WORD.findall(line.casefold())}))
        snippet = " … ".join(ranked[:3])[:_SNIPPET_CHARACTERS]
        return ListedPage(url=url, title=lines[0][:100] if lines else "", content=snippet)


@asynccontextmanager
async def serve_round(folder: Path) -> AsyncGenerator[tuple[SearxngStandIn, WebSite]]:
    """Serves the texts of a round, and the search for them."""
    async with serve_searxng() as server, serve_web_site() as site:
        texts: dict[str, str] = {}
        for path in sorted((folder / "documents").rglob("*")):
            if path.suffix in _TYPES:
                address = f"/{len(texts)}{path.suffix}"
                site.pages[address] = PageResponse(text=path.read_bytes(), type=_TYPES[path.suffix])
                texts[site.url + address] = html.unescape(_TAG.sub(" ", path.read_text("utf-8", "replace")))
        server.pages = RankedPages(server, texts)
        yield server, site


async def ask_round(name: str, folder: Path) -> list[tuple[RoundQuestion, Mapping[str, Json]]]:
    """Returns the results of the round's questions about texts."""
    round_folder = generate_round(name, folder)
    other = folder / "ferns.md"
    other.write_text("# Ferns\n\nFerns have no flowers.\n")
    questions = [
        question
        for question in read_round_questions(round_folder)
        if question.kind in _KINDS and len(question.turns) == 1
    ]
    async with serve_round(round_folder) as (server, _):
        environ = {"PARLEY_WEB": "auto", "PARLEY_SEARXNG_URL": server.url, "PARLEY_WEB_NETWORKS": "127.0.0.0/8"}
        settings = load_settings(folder / f"home-{name}", environ).settings
        async with open_application(settings, clock=read_round_clock) as bot:
            await ingest_files(bot.index, [other], extractor=bot.extractor, bucket=BucketId("ferns"))
            return [(question, await ask_application(bot, question.turns[0])) for question in questions]


def list_figures(
    name: str, results: Sequence[tuple[RoundQuestion, Mapping[str, Json]]], *, details: bool
) -> Iterator[str]:
    """Yields lines with the figures, and with the replies that are wrong and sure; with `details` with all replies."""
    searched = [(question, result) for question, result in results if "web" in result]
    judged = [(question, result, judge_first_reply(question.truth, result)) for question, result in searched]
    reports = [result["web"] for _, result in searched]
    answered = [result["web"] for _, result in searched if result["outcome"] == "answer"]
    verdicts = Counter(verdict for _, _, verdict in judged)
    yield (
        f"{name}: {len(results)} questions, {len(searched)} searched for: "
        + ", ".join(f"{verdicts[verdict]} {verdict.value}" for verdict in Verdict)
    )
    yield (
        f"  {sum(report['completeness'] >= _COMPLETE for report in answered)} of {len(answered)} answers complete, "
        f"{sum(report['status'] == 'best_available' for report in answered)} unsure; "
        f"{sum(report['urls_crawled'] for report in reports)} of"
        f" {sum(report['urls_found'] for report in reports)} URLs fetched"
    )
    for question, result, verdict in judged:
        status = result["web"]["status"]
        if details or (verdict is Verdict.WRONG and status == "complete"):
            text = " ".join(result["text"].split())[:_SHOWN_CHARACTERS]
            yield f"  [{verdict.value}, {status}, {result['web']['completeness']}] {question.turns[0]} → {text}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.web_search", description=__doc__)
    parser.add_argument("rounds", nargs="+", metavar="ROUND")
    parser.add_argument(
        "--details", action="store_true", help="print each reply, not only those that are wrong and sure"
    )
    options, console = parser.parse_args(), Console()
    with TemporaryDirectory() as folder:
        for name in options.rounds:
            results = asyncio.run(ask_round(name, Path(folder)))
            for line in list_figures(name, results, details=options.details):
                console.print(line, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
