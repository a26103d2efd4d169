"""`parley demo`: loads the demo corpus into the home and plays the story on it."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.commands.chat import run_terminal_chat
from bot.cli.commands.ingest import open_progress_bar
from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import build_surface, is_on_terminal, print_line, run_with_bot
from bot.cli.speaker import TERMINAL_SURFACE, new_conversation_id, speaker_for

if TYPE_CHECKING:
    from bot.application import Application
    from bot.demo.corpus import DemoCorpus
    from bot.surface.inbound import InboundBody
    from bot.turns.turn_processor import FinishedTurn

_STRANGER_PERSON = "local:stranger"


def demo(
    stay: Annotated[bool, typer.Option(help="Stay in the chat afterwards, on a terminal.")] = True,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Load made-up documents and see what Parley does with them."""

    async def load_and_play_demo(bot: "Application") -> None:
        from bot.demo.corpus import generate_corpus

        corpus = await asyncio.to_thread(generate_corpus)
        await _load_corpus(bot, corpus)
        await _play_story(bot, corpus)
        if stay and is_on_terminal():
            await run_terminal_chat(bot, speaker_for(None))

    run_with_bot(load_and_play_demo, home=home, debug=debug, answers_questions=True)


async def _load_corpus(bot: "Application", corpus: "DemoCorpus") -> None:
    """Load the corpus. A bucket with as many documents as in the corpus is skipped. Raises `CommandFailed`."""
    from bot.demo.corpus import write_corpus
    from storage.ingest.pipeline import ingest_files

    document_counts = {name: state.document_count for name, state in (await bot.index.load_bucket_states()).items()}
    due_buckets = [
        demo_bucket
        for demo_bucket in corpus.buckets.values()
        if document_counts.get(demo_bucket.schema.bucket) != len(demo_bucket.records)
    ]
    if not due_buckets:
        return
    print_to_stderr(
        f"loading {sum(len(demo_bucket.records) for demo_bucket in due_buckets):,} made-up documents "
        f"into {bot.settings.home} …"
    )
    folder = bot.settings.home / "demo"
    await asyncio.to_thread(write_corpus, corpus, folder)
    for demo_bucket in due_buckets:
        name = demo_bucket.schema.bucket
        with open_progress_bar(demo_bucket.schema.label) as progress:
            report = await ingest_files(
                bot.index,
                [folder / f"{name}.jsonl"],
                extractor=bot.extractor,
                schema=demo_bucket.schema,
                progress=progress,
            )
        if report.failed:
            failure = report.failures[0]
            raise CommandFailed(f"the demo's {name} could not be loaded: {failure.where}: {failure.reason}")


async def _play_story(bot: "Application", corpus: "DemoCorpus") -> None:
    """Play the story and print each step. Raises `CommandFailed` when a step does not end as the story expects."""
    from bot.demo.story import StoryMismatch, StoryScene, play_story

    terminal = build_surface(TERMINAL_SURFACE, bot)
    if terminal is not None:
        bot.register_surface(terminal)
    operator, stranger = speaker_for(None), speaker_for(_STRANGER_PERSON)

    class BotScenePlayer:
        """Plays one scene's turns in one conversation."""

        def __init__(self, *, as_stranger: bool) -> None:
            self._speaker, self._conversation = stranger if as_stranger else operator, new_conversation_id()

        async def run_turn(self, body: "InboundBody", display_text: str) -> "FinishedTurn":
            print_line(f"› {display_text}\n")
            turn = await bot.accept_inbound(self._speaker.inbound_for(body, self._conversation))
            if turn is None:
                raise CommandFailed("a message of the story was taken for one sent before")
            sys.stdout.flush()
            return await bot.run_turn(turn)

    def open_scene(scene: StoryScene) -> BotScenePlayer:
        print_line(f"── {scene.title} ──\n")
        return BotScenePlayer(as_stranger=scene.as_stranger)

    try:
        await play_story(corpus, open_scene)
    except StoryMismatch as exc:
        raise CommandFailed(f"the demo ended otherwise than its story: {exc}") from exc
    finally:
        if terminal is not None:
            await terminal.close()
    print_to_stderr("every step ended as the story says")
