"""Measures how often pairs of questions in `pairs/LANGUAGE.tsv` are put into groups as people would.

python -m tests.bot.admin.usage.measure_pairs [LANGUAGE]…
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.admin.usage.question_groups import UnansweredQuestion, group_questions
from storage.embedder import WordLlamaEmbedder

PAIRS: Final = Path(__file__).parent / "pairs"
LANGUAGES: Final = ("de", "fr", "es")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPair:
    is_alike: bool
    first: str
    second: str


def read_pairs(language: str) -> list[QuestionPair]:
    rows = [line.split("\t") for line in (PAIRS / f"{language}.tsv").read_text(encoding="utf-8").splitlines()]
    return [QuestionPair(is_alike=kind == "alike", first=first, second=second) for kind, first, second in rows]


async def list_wrong_pairs(language: str, embedder: WordLlamaEmbedder | None) -> list[QuestionPair]:
    """Those that are alike and make two groups, and those that differ and make one."""
    wrong = list[QuestionPair]()
    for pair in read_pairs(language):
        questions = [UnansweredQuestion(text=text, person=text, unknown_words=()) for text in (pair.first, pair.second)]
        groups = await group_questions(questions, [language], embedder)
        if (len(groups) == 1) != pair.is_alike:
            wrong.append(pair)
    return wrong


async def print_figures(languages: list[str]) -> None:
    for language in languages or LANGUAGES:
        pairs = read_pairs(language)
        for name, embedder in (("by meaning", WordLlamaEmbedder()), ("by words", None)):
            wrong = await list_wrong_pairs(language, embedder)
            for is_alike, kind in ((True, "alike"), (False, "different")):
                total = sum(pair.is_alike == is_alike for pair in pairs)
                missed = [pair for pair in wrong if pair.is_alike == is_alike]
                sys.stdout.write(f"{language} {name}: {total - len(missed)} of {total} {kind}\n")
                sys.stdout.writelines(f"    {pair.first} | {pair.second}\n" for pair in missed)


if __name__ == "__main__":
    asyncio.run(print_figures(sys.argv[1:]))
