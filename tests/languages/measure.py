"""Measures the reading of languages: `python -m tests.languages.measure [LANGUAGE …] [--wrong]`.

Asks the questions of each language over its documents, and prints the share of each verdict.
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.bootstrap import open_application
from bot.cli.runtime import settings_for_home
from tests.rounds.measure import (
    describe_reply,
    judge_questions,
    load_round_documents,
    print_figures,
    read_round_clock,
    read_round_questions,
)
from tests.rounds.scoring import JudgedReply, Verdict

FOLDER = Path(__file__).parent
LANGUAGES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/questions.jsonl")))


async def measure_language(language: str, home: Path) -> list[JudgedReply]:
    """Judges the replies to the questions of a language, over its documents in a home of their own."""
    folder = FOLDER / language
    settings = settings_for_home(home / f"home-{language}").settings
    settings = settings.model_copy(update={"index_url": "embedded:", "database_url": None})
    async with open_application(settings, clock=read_round_clock) as bot:
        await load_round_documents(bot, [folder])
        return await judge_questions(bot, read_round_questions(folder))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", default=LANGUAGES)
    parser.add_argument("--wrong", action="store_true", help="print every reply that is not right")
    options = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="parley-languages-") as folder:
        judged = {language: asyncio.run(measure_language(language, Path(folder))) for language in options.languages}
    print_figures(judged)
    if options.wrong:
        for replies in judged.values():
            for reply in replies:
                if reply.verdict is not Verdict.RIGHT:
                    print(describe_reply(reply))  # noqa: T201


if __name__ == "__main__":
    main()
