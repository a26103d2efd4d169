"""`parley demo`: the demo corpus in the home, and the story played on it."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.chat import converse
from bot.cli.failures import Failed, complain
from bot.cli.ingest import progress_bar
from bot.cli.options import Debug, Home
from bot.cli.running import on_terminal, say, surface_named, with_bot
from bot.cli.speaker import SURFACE, new_conversation, speaker

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from bot.demo.corpus import Corpus
    from bot.inbound import Body
    from bot.turns import TurnDone

_STRANGER = "local:stranger"


def demo(
    stay: Annotated[bool, typer.Option(help="Stay in the chat afterwards, on a terminal.")] = True,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Load made-up documents and see what Parley does with them."""

    async def work(bot: "Bot") -> None:
        from bot.demo.corpus import generate

        corpus = await asyncio.to_thread(generate)
        await _load(bot, corpus)
        await _play(bot, corpus)
        if stay and on_terminal():
            await converse(bot, speaker(None))

    with_bot(work, home=home, debug=debug)


async def _load(bot: "Bot", corpus: "Corpus") -> None:
    """Once: buckets that hold as many documents as the corpus are left as they are. Raises `Failed`."""
    from bot.demo.corpus import write
    from storage.ingest.pipeline import ingest

    there = {name: state.documents for name, state in (await bot.index.buckets()).items()}
    due = [one for one in corpus.buckets.values() if there.get(one.schema.bucket) != len(one.records)]
    if not due:
        return
    complain(f"loading {sum(len(one.records) for one in due):,} made-up documents into {bot.settings.home} …")
    folder = bot.settings.home / "demo"
    await asyncio.to_thread(write, corpus, folder)
    for one in due:
        name = one.schema.bucket
        with progress_bar(one.schema.label) as progress:
            report = await ingest(bot.index, [folder / f"{name}.jsonl"], schema=one.schema, progress=progress)
        if report.failed:
            first = report.failures[0]
            raise Failed(f"the demo's {name} could not be loaded: {first.where}: {first.reason}")


async def _play(bot: "Bot", corpus: "Corpus") -> None:
    """Every step as a person would see it. Raises `Failed` where one ends otherwise than the story says."""
    from bot.demo.story import Otherwise, Scene, play

    terminal = surface_named(SURFACE, bot)
    if terminal is not None:
        bot.register(terminal)
    operator, stranger = speaker(None), speaker(_STRANGER)

    class Stage:
        """Plays one scene's turns in one conversation."""

        def __init__(self, *, as_stranger: bool) -> None:
            self._who, self._where = stranger if as_stranger else operator, new_conversation()

        async def turn(self, body: "Body", shown: str) -> "TurnDone":
            say(f"› {shown}\n")
            turn = await bot.accept(self._who.says(body, self._where))
            if turn is None:
                raise Failed("a message of the story was taken for one sent before")
            sys.stdout.flush()
            return await bot.run(turn)

    def open_scene(scene: Scene) -> Stage:
        say(f"── {scene.title} ──\n")
        return Stage(as_stranger=scene.as_stranger)

    try:
        await play(corpus, open_scene)
    except Otherwise as exc:
        raise Failed(f"the demo ended otherwise than its story: {exc}") from exc
    finally:
        if terminal is not None:
            await terminal.close()
    complain("every step ended as the story says")
