"""`parley index`: rebuilds an index that has lost documents, or accepts it as it is."""

import asyncio
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, exit_on_failure, print_to_stderr
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import is_debug_on, print_line, run_with_bot, settings_for_home

if TYPE_CHECKING:
    from bot.application import Application
    from bot.settings import Settings
    from storage.search.ids import BucketId

app = typer.Typer(
    help="Rebuild an index that is damaged or has lost documents, or accept it as it is.", no_args_is_help=True
)


@app.command()
def rebuild(
    buckets: Annotated[
        list[str] | None, typer.Argument(metavar="[BUCKET]…", help="Only these, where the file itself is sound.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Load documents that the index has lost again, from their sources and from what parley ingest has loaded.

    A damaged index file is moved away first, not deleted. Until all documents are back, questions about them are not
    answered.
    """
    with exit_on_failure(debug=is_debug_on(debug)):
        asyncio.run(_rebuild_index(settings_for_home(home).settings, buckets or [], yes=yes))


@app.command()
def accept(
    buckets: Annotated[list[str], typer.Argument(metavar="BUCKET…")],
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Take what the index has of these buckets for all there is, for example after a backup was restored."""

    async def accept_buckets(bot: "Application") -> None:
        from storage.search.ids import BucketId

        record = bot.readiness.record
        losses = await record.find_losses()
        _require_losses(buckets, losses, await record.list_known_buckets())
        await record.accept_buckets([BucketId(name) for name in buckets])
        for name in buckets:
            loss = losses[BucketId(name)]
            print_line(f"{name}: {loss.documents:,} documents, and no longer {loss.recorded.documents:,}")

    run_with_bot(accept_buckets, home=home, debug=debug)


async def _rebuild_index(settings: "Settings", buckets: list[str], *, yes: bool) -> None:
    from bot.bootstrap import find_index_fault, move_index_away, open_application, plan_index_rebuild

    fault = await find_index_fault(settings)
    plans = await plan_index_rebuild(settings) if fault is not None else None
    if fault is not None and plans is not None:
        print_to_stderr(fault)
        if buckets:
            _require_losses(buckets, lost := [plan.bucket for plan in plans], lost)
            raise CommandFailed("the whole index is loaded again, with every bucket: name none")
        _ask_to_go_on([plan.sentence for plan in plans], yes=yes)
        print_line(f"the old file is in {await move_index_away(settings)}")
    async with open_application(settings, defers_dialogue=True) as bot:
        if plans is None:
            plans = await bot.index_rebuild.plan_buckets()
            if buckets:
                _require_losses(
                    buckets, [plan.bucket for plan in plans], await bot.readiness.record.list_known_buckets()
                )
                plans = [plan for plan in plans if plan.bucket in buckets]
            if not plans:
                print_line("The index has all documents that the database knows of.")
                return
            _ask_to_go_on([plan.sentence for plan in plans], yes=yes)
        problems = await bot.index_rebuild.rebuild_buckets(plans, print_to_stderr)
        sizes = await bot.index.load_bucket_sizes()
        for plan in plans:
            print_line(f"{plan.bucket}: {sizes[plan.bucket].document_count if plan.bucket in sizes else 0:,} documents")
    if problems:
        raise CommandFailed("\n  - ".join(["not all is as it was:", *problems]))


def _require_losses(names: Sequence[str], lost: "Collection[BucketId]", known: "Collection[BucketId]") -> None:
    """Raises `CommandFailed` for a bucket that does not exist, and for one that has lost nothing."""
    for name in names:
        if name in lost:
            continue
        if name in known:
            raise CommandFailed(f"nothing is missing in {name!r}")
        existing = f"there are {', '.join(known)}" if known else "there are none yet"
        raise CommandFailed(f"there is no bucket {name!r}; {existing}")


def _ask_to_go_on(sentences: list[str], *, yes: bool) -> None:
    """Print what will be loaded. Raises `CommandFailed` unless agreed."""
    for sentence in sentences:
        print_to_stderr(sentence)
    if not yes and not (sys.stdin.isatty() and typer.confirm("Load these documents again?", err=True)):
        raise CommandFailed("nothing was changed; give --yes to go on without being asked")
