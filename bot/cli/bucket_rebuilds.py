"""Rebuilds of a bucket's index by a command: the estimate before, the progress meanwhile, the rate at the end."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.model_runs import open_count_bar
from bot.cli.runtime import count_phrase_for, print_line

if TYPE_CHECKING:
    from bot.application import Application
    from storage.search.ids import BucketId
    from storage.search.index import PassageVolume, RebuildProgress


async def rebuild_bucket(
    bot: "Application", bucket: "BucketId", outdated: "PassageVolume", shard_count: int | None
) -> None:
    """Rebuild the bucket's index; print what was done. `outdated`: the passages to embed.

    `shard_count`: None keeps the number of shards. Raises `CommandFailed` if the embedding model does not answer or the
    index has no shards, and what the index raises.
    """
    plan = await bot.index.plan_rebuild(bucket, shard_count=shard_count)
    if shard_count is not None and plan.shard_count is None:
        raise CommandFailed("the embedded index has no shards; --shards is for OpenSearch", exit_status=2)
    free = "" if plan.free_bytes is None else f"; {format_size(plan.free_bytes)} are free"
    print_to_stderr(
        f"{bucket}: to re-index {count_phrase_for(plan.document_count, 'document')} takes some"
        f" {format_size(plan.needed_bytes)} of disk{free}"
    )
    start_s = time.monotonic()
    with _fail_without_embedder(), open_rebuild_bar(bucket) as report_progress:
        document_count = await bot.index.rebuild_bucket(bucket, report_progress, shard_count=shard_count)
    rate = document_count / max(time.monotonic() - start_s, 0.001)
    if outdated.passage_count:
        print_line(f"{bucket}: embedded {count_phrase_for(outdated.passage_count, 'passage')}")
    spread = "" if shard_count is None else f" in {count_phrase_for(shard_count, 'shard')}"
    print_line(f"{bucket}: re-indexed {count_phrase_for(document_count, 'document')}{spread}, {rate:,.0f} a second")


async def embed_bucket(bot: "Application", bucket: "BucketId", outdated: "PassageVolume") -> None:
    """Embed the passages that need it; print what was done. Raises what `rebuild_bucket` raises."""
    with _fail_without_embedder(), open_count_bar(f"Embedding {bucket}", outdated.passage_count) as report_progress:
        count = await bot.index.update_vectors(bucket, report_progress)
    print_line(f"{bucket}: embedded {count_phrase_for(count, 'passage')}")


@contextmanager
def _fail_without_embedder() -> Generator[None]:
    from storage.search.errors import EmbedderUnavailable

    try:
        yield
    except EmbedderUnavailable as exc:
        raise CommandFailed(f"{exc}; what was embedded is kept, so run the command again") from exc


async def clean_up_bucket(bot: "Application", bucket: "BucketId") -> None:
    """Delete earlier indexes of the bucket; print what was done."""
    deleted = await bot.index.clean_up_bucket(bucket)
    if deleted.index_count:
        noun = "earlier or unfinished index" + ("es" if deleted.index_count > 1 else "")
        print_line(f"{bucket}: deleted {deleted.index_count} {noun}, {format_size(deleted.size_bytes)}")
    else:
        print_line(f"{bucket}: nothing to clean up")


def format_size(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:,.1f} MB"


@contextmanager
def open_rebuild_bar(title: str) -> "Generator[Callable[[RebuildProgress], None]]":
    """A progress bar with a rate on stderr, if that is a terminal; else a line for each stage."""
    if not sys.stderr.isatty():
        yield _stage_printer_for(title)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f}/s")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = dict[str, TaskID]()

        def show(progress: "RebuildProgress") -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bar.add_task(f"{title}: {progress.stage}", total=progress.total)
            bar.update(tasks[progress.stage], completed=progress.done, total=progress.total)

        yield show


def _stage_printer_for(title: str) -> "Callable[[RebuildProgress], None]":
    seen_stages = set[str]()

    def print_stage(progress: "RebuildProgress") -> None:
        if progress.stage not in seen_stages:
            seen_stages.add(progress.stage)
            print_to_stderr(f"{title}: {progress.stage}")

    return print_stage
