"""`parley source`: lists, syncs and removes the sources of a bucket's documents, and replaces their secrets."""

import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, exit_on_failure, print_to_stderr
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import count_phrase_for, is_debug_on, print_line, run_with_bot
from bot.cli.sources.interface_adding import add_app
from bot.cli.sources.source_adding import AskSecretOption, SecretVariableOption, format_interval, read_secret

if TYPE_CHECKING:
    from bot.application import Application
    from storage.ingest.sources.sync import SyncProgress, SyncResult
    from storage.sql.stores.sources import StoredSource

app = typer.Typer(
    help="Places that buckets are kept in step with: folders, sites, stores of files, databases.", no_args_is_help=True
)
app.add_typer(add_app, name="add")

_MAX_SHOWN_FAILURES = 20
SourceIdArgument = Annotated[str, typer.Argument(metavar="ID")]


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
def secret(
    id_: SourceIdArgument,
    secret_variable: SecretVariableOption = None,
    asks_secret: AskSecretOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Another password, key or token for a source; it is sealed in the database."""
    with exit_on_failure(debug=is_debug_on(debug)):
        new_secret = read_secret(secret_variable, asks_secret=asks_secret)
        if new_secret is None:
            raise CommandFailed("give the secret with --secret-env VARIABLE or --ask-secret", exit_status=2)

    async def replace_secret(bot: "Application") -> None:
        await bot.sources.replace_secret(id_, new_secret)
        print_line(f"{id_} has another password, key or token; now: parley source sync {id_}")

    run_with_bot(replace_secret, home=home, debug=debug)


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


@app.command()
def pause(id_: SourceIdArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """End the schedule of a source until it is resumed; it can still be synced by hand."""

    async def pause_source(bot: "Application") -> None:
        is_new = await bot.sources.pause_source(id_, by="operator")
        print_line(f"{id_} is paused; parley source resume {id_}" if is_new else f"{id_} was paused already")

    run_with_bot(pause_source, home=home, debug=debug)


@app.command()
def resume(id_: SourceIdArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Continue the schedule of a source."""

    async def resume_source(bot: "Application") -> None:
        is_new = await bot.sources.resume_source(id_, by="operator")
        print_line(f"{id_} is synced again as before" if is_new else f"{id_} was not paused")

    run_with_bot(resume_source, home=home, debug=debug)


def _print_source(source: "StoredSource") -> None:
    documents = count_phrase_for(source.documents, "document")
    schedule = f", every {format_interval(source.every)}" if source.every else ""
    schedule += ", paused" if source.paused_at else ""
    last_sync = f"{source.outcome} at {source.synced_at:%Y-%m-%d %H:%M} UTC" if source.synced_at else "not synced yet"
    print_line(f"{source.id}  {source.kind} {source.location} → {source.bucket}{schedule}; {documents}; {last_sync}")
    if source.failure:
        print_line(f"  {source.failure}")


def _source_to_json(source: "StoredSource") -> dict[str, object]:
    names = ("id", "kind", "location", "bucket", "options", "documents", "outcome", "counts", "failure")
    values: dict[str, object] = {name: getattr(source, name) for name in names}
    values["every_s"] = int(source.every.total_seconds()) if source.every else None
    times = {"created_at": source.created_at, "due_at": source.due_at, "synced_at": source.synced_at}
    times["paused_at"] = source.paused_at
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
