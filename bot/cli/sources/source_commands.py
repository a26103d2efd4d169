"""`parley source`: adds, lists, syncs and removes the sources of a bucket's documents."""

import json
import re
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import count_phrase_for, print_line, run_with_bot

if TYPE_CHECKING:
    from bot.application import Application
    from storage.ingest.sources.sync import SyncProgress, SyncResult
    from storage.sql.stores.sources import StoredSource

app = typer.Typer(help="Folders and sites that buckets are kept in step with.", no_args_is_help=True)
_add_app = typer.Typer(help="Name a source; its first sync loads what it has.", no_args_is_help=True)
app.add_typer(_add_app, name="add")

_MAX_SHOWN_FAILURES = 20
_INTERVAL_PATTERN = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)", re.IGNORECASE)
_TIMEDELTA_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
BucketOption = Annotated[str, typer.Option("--bucket", metavar="NAME", help="The bucket; made where it is not there.")]
IntervalOption = Annotated[
    str | None,
    typer.Option("--every", metavar="TIME", help="How often parley serve syncs it: 30m, 1h, 1d. [default: never]"),
]
SourceIdArgument = Annotated[str, typer.Argument(metavar="ID")]


@_add_app.command()
def folder(
    path: str, bucket: BucketOption, every: IntervalOption = None, home: HomeOption = None, debug: DebugOption = False
) -> None:
    """A folder, with all that is below it."""
    _add_source("folder", path, bucket, every, allow_private=False, home=home, debug=debug)


@_add_app.command()
def site(
    url: str,
    bucket: BucketOption,
    every: IntervalOption = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="It may be on this machine or a private network.")
    ] = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """The pages of a site, by its sitemap; URL is the site, a part of it, or a sitemap."""
    _add_source("site", url, bucket, every, allow_private=allow_private, home=home, debug=debug)


@app.command("list")
def list_sources(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Every source, and what came of its last sync."""

    async def print_sources(bot: "Application") -> None:
        sources = await bot.sources.list_sources()
        if json_:
            print_line(json.dumps([_source_to_json(source) for source in sources], ensure_ascii=False))
            return
        for source in sources:
            _print_source(source)
        if not sources:
            print_line("There are no sources yet; parley source add folder PATH --bucket NAME adds one.")

    run_with_bot(print_sources, home=home, debug=debug)


@app.command()
def sync(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID…]", show_default=False)] = None,
    sweep_anyway: Annotated[
        bool, typer.Option("--sweep-anyway", help="Delete what is gone, also where that is over a fifth.")
    ] = False,
    reload_: Annotated[
        bool, typer.Option("--reload", help="Load what is unchanged as well, for an index that has lost documents.")
    ] = False,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Load what changed and delete what is gone, of these sources or of all."""

    async def sync_sources(bot: "Application") -> None:
        source_ids = await _select_source_ids(bot, ids or [])
        sources = await bot.sources.list_sources() if reload_ else []
        for bucket in {source.bucket for source in sources if source.id in source_ids}:
            await bot.sources.mark_for_reload(bucket)
        problems: list[str] = []
        lines: list[dict[str, object]] = []
        for source_id in source_ids:
            lines.append(
                await _sync_one_source(bot, source_id, problems, sweep_anyway=sweep_anyway, print_result=not json_)
            )
        await bot.readiness.record.find_losses()
        if json_:
            print_line(json.dumps(lines, ensure_ascii=False))
        elif not source_ids:
            print_line("There are no sources yet; parley source add folder PATH --bucket NAME adds one.")
        _raise_last_problem(problems)

    run_with_bot(sync_sources, home=home, debug=debug)


@app.command()
def remove(
    id_: SourceIdArgument,
    keep_documents: Annotated[
        bool, typer.Option("--keep-documents", help="Leave its documents in the bucket.")
    ] = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """A source, with the documents that came from it."""

    async def remove_source(bot: "Application") -> None:
        count = await bot.sources.remove_source(id_, keep_documents=keep_documents, by="operator")
        documents = count_phrase_for(count, "document")
        print_line(f"removed {id_}; {documents} {'stay' if keep_documents else 'deleted'}")

    run_with_bot(remove_source, home=home, debug=debug)


def _add_source(
    kind: str,
    location: str,
    bucket: str,
    interval_text: str | None,
    *,
    allow_private: bool,
    home: HomeOption,
    debug: bool,
) -> None:
    async def add_with_bot(bot: "Application") -> None:
        from bot.admin.sources import SourceRequest
        from bot.errors import InvalidSource

        request = SourceRequest(
            kind=kind,
            location=location,
            bucket=bucket,
            sync_interval=_parse_interval(interval_text),
            allow_private=allow_private,
        )
        try:
            source = await bot.sources.add_source(request)
        except InvalidSource as exc:
            raise CommandFailed(str(exc), exit_status=2) from exc
        schedule = f"; parley serve syncs it every {_format_interval(source.every)}" if source.every else ""
        print_line(f"added {source.id} for {source.bucket}{schedule}; now: parley source sync {source.id}")

    run_with_bot(add_with_bot, home=home, debug=debug)


def _parse_interval(interval_text: str | None) -> timedelta | None:
    """The interval of `30m`, `1h` or `1d`. Raises `CommandFailed`."""
    if interval_text is None:
        return None
    match = _INTERVAL_PATTERN.fullmatch(interval_text.strip())
    if match is None or int(match[1]) == 0:
        raise CommandFailed(f"--every {interval_text!r} is no time such as 30m, 1h or 1d", exit_status=2)
    return timedelta(**{_TIMEDELTA_UNITS[match[2].lower()]: int(match[1])})


def _format_interval(interval: timedelta) -> str:
    minutes = int(interval.total_seconds()) // 60
    for unit, size in (("d", 24 * 60), ("h", 60)):
        if minutes % size == 0:
            return f"{minutes // size}{unit}"
    return f"{minutes}m"


def _print_source(source: "StoredSource") -> None:
    documents = count_phrase_for(source.documents, "document")
    schedule = f", every {_format_interval(source.every)}" if source.every else ""
    last_sync = f"{source.outcome} at {source.synced_at:%Y-%m-%d %H:%M} UTC" if source.synced_at else "not synced yet"
    print_line(f"{source.id}  {source.kind} {source.location} → {source.bucket}{schedule}; {documents}; {last_sync}")
    if source.failure:
        print_line(f"  {source.failure}")


def _source_to_json(source: "StoredSource") -> dict[str, object]:
    names = ("id", "kind", "location", "bucket", "options", "documents", "outcome", "counts", "failure")
    values: dict[str, object] = {name: getattr(source, name) for name in names}
    values["every_s"] = int(source.every.total_seconds()) if source.every else None
    times = {"created_at": source.created_at, "due_at": source.due_at, "synced_at": source.synced_at}
    return values | {name: time.isoformat() if time else None for name, time in times.items()}


async def _select_source_ids(bot: "Application", ids: Sequence[str]) -> list[str]:
    """The named sources, or all. Raises `UnknownSource`."""
    from bot.errors import UnknownSource

    known_ids = [source_id.id for source_id in await bot.sources.list_sources()]
    for source_id in ids:
        if source_id not in known_ids:
            raise UnknownSource(source_id, known_ids)
    return list(dict.fromkeys(ids)) or known_ids


async def _sync_one_source(
    bot: "Application", source_id: str, problems: list[str], *, sweep_anyway: bool, print_result: bool
) -> dict[str, object]:
    """Sync one source and return its line as JSON. A failure goes into `problems`, so the other sources still sync."""
    from bot.admin.sources import sync_problem_of
    from bot.errors import BotError
    from storage.ingest.errors import IngestError
    from storage.search.errors import SearchError

    try:
        with _open_progress_bar(source_id) as progress:
            sync_result = await bot.sources.sync_source(source_id, sweep_anyway=sweep_anyway, progress=progress)
    except (BotError, IngestError, SearchError, OSError) as exc:
        problems.append(f"{source_id}: {exc}" if source_id not in str(exc) else str(exc))
        return {"source": source_id, "outcome": "failed", "problem": problems[-1]}
    if print_result:
        _print_sync_result(source_id, sync_result)
    problem = sync_problem_of(source_id, sync_result)
    problems += [problem] if problem else []
    return _sync_result_to_json(source_id, sync_result, problem)


def _open_progress_bar(source_id: str) -> "AbstractContextManager[Callable[[SyncProgress], None]]":
    """A progress bar on stderr; without effect if stderr is not a terminal."""
    return _rich_progress_bar(source_id) if sys.stderr.isatty() else nullcontext(lambda progress: None)


@contextmanager
def _rich_progress_bar(source_id: str) -> "Generator[Callable[[SyncProgress], None]]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(source_id, total=None)
        yield lambda progress: bar.update(task, completed=progress.items_done, total=progress.items_total)


def _print_sync_result(source_id: str, sync_result: "SyncResult") -> None:
    from bot.admin.sources import sync_counts_of

    counts = sync_counts_of(sync_result)
    documents = ", ".join(f"{name} {counts[name]:,}" for name in ("added", "replaced", "skipped", "deleted", "failed"))
    passed_over_phrase = f", {sync_result.passed_over:,} of no format that is read" if sync_result.passed_over else ""
    items = count_phrase_for(sync_result.items, "item")
    print_line(f"{source_id}: {items}, {sync_result.unchanged:,} unchanged{passed_over_phrase}; {documents}")
    for failure in sync_result.failures[:_MAX_SHOWN_FAILURES]:
        print_to_stderr(f"{failure.where}: {failure.reason}")
    for remark in sync_result.remarks[:_MAX_SHOWN_FAILURES]:
        print_to_stderr(remark)


def _sync_result_to_json(source_id: str, sync_result: "SyncResult", problem: str | None) -> dict[str, object]:
    from bot.admin.sources import sync_counts_of, sync_outcome_of

    values: dict[str, object] = {"source": source_id, "outcome": sync_outcome_of(sync_result), "problem": problem}
    values |= sync_counts_of(sync_result)
    return values | {
        "failures": [{"where": failure.where, "reason": failure.reason} for failure in sync_result.failures]
    }


def _raise_last_problem(problems: Sequence[str]) -> None:
    """Print all problems but the last, and raise `CommandFailed` with the last one."""
    for problem in problems[:-1]:
        print_to_stderr(problem)
    if problems:
        raise CommandFailed(problems[-1])
