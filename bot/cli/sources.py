"""`parley source`: where documents come from, and keep coming from."""

import json
import re
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import Failed, complain
from bot.cli.options import Debug, Home, Json
from bot.cli.running import say, with_bot

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from storage.ingest.sources.sync import Synced, SyncProgress
    from storage.sql.sources import Source

app = typer.Typer(help="Folders and sites that buckets are kept in step with.", no_args_is_help=True)
_add_app = typer.Typer(help="Name a source; its first sync loads what it has.", no_args_is_help=True)
app.add_typer(_add_app, name="add")

_NAMED = 20
_EVERY = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)", re.IGNORECASE)
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
Bucket = Annotated[str, typer.Option("--bucket", metavar="NAME", help="The bucket; made where it is not there.")]
Every = Annotated[
    str | None,
    typer.Option("--every", metavar="TIME", help="How often parley serve syncs it: 30m, 1h, 1d. [default: never]"),
]
Id = Annotated[str, typer.Argument(metavar="ID")]


@_add_app.command()
def folder(path: str, bucket: Bucket, every: Every = None, home: Home = None, debug: Debug = False) -> None:
    """A folder, with all that is below it."""
    _add("folder", path, bucket, every, allow_private=False, home=home, debug=debug)


@_add_app.command()
def site(
    url: str,
    bucket: Bucket,
    every: Every = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="It may be on this machine or a private network.")
    ] = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """The pages of a site, by its sitemap; URL is the site, a part of it, or a sitemap."""
    _add("site", url, bucket, every, allow_private=allow_private, home=home, debug=debug)


@app.command("list")
def list_(json_: Json = False, home: Home = None, debug: Debug = False) -> None:
    """Every source, and what came of its last sync."""

    async def work(bot: "Bot") -> None:
        there = await bot.sources.all()
        if json_:
            say(json.dumps([_as_json(one) for one in there], ensure_ascii=False))
            return
        for one in there:
            _tell(one)
        if not there:
            say("There are no sources yet; parley source add folder PATH --bucket NAME adds one.")

    with_bot(work, home=home, debug=debug)


@app.command()
def sync(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID…]", show_default=False)] = None,
    sweep_anyway: Annotated[
        bool, typer.Option("--sweep-anyway", help="Delete what is gone, also where that is over a fifth.")
    ] = False,
    json_: Json = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Load what changed and delete what is gone, of these sources or of all."""

    async def work(bot: "Bot") -> None:
        wanted = await _wanted(bot, ids or [])
        problems: list[str] = []
        lines: list[dict[str, object]] = []
        for one in wanted:
            lines.append(await _synced(bot, one, problems, sweep_anyway=sweep_anyway, aloud=not json_))
        if json_:
            say(json.dumps(lines, ensure_ascii=False))
        elif not wanted:
            say("There are no sources yet; parley source add folder PATH --bucket NAME adds one.")
        _end(problems)

    with_bot(work, home=home, debug=debug)


@app.command()
def remove(
    id_: Id,
    keep_documents: Annotated[
        bool, typer.Option("--keep-documents", help="Leave its documents in the bucket.")
    ] = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """A source, with the documents that came from it."""

    async def work(bot: "Bot") -> None:
        count = await bot.sources.remove(id_, keep_documents=keep_documents, by="operator")
        documents = f"{count:,} document{'' if count == 1 else 's'}"
        say(f"removed {id_}; {documents} {'stay' if keep_documents else 'deleted'}")

    with_bot(work, home=home, debug=debug)


def _add(
    kind: str,
    location: str,
    bucket: str,
    every: str | None,
    *,
    allow_private: bool,
    home: Home,
    debug: bool,
) -> None:
    async def work(bot: "Bot") -> None:
        from bot.errors import InvalidSource
        from bot.sources import Wanted

        wanted = Wanted(
            kind=kind, location=location, bucket=bucket, every=_interval(every), allow_private=allow_private
        )
        try:
            added = await bot.sources.add(wanted)
        except InvalidSource as exc:
            raise Failed(str(exc), status=2) from exc
        when = f"; parley serve syncs it every {_written(added.every)}" if added.every else ""
        say(f"added {added.id} for {added.bucket}{when}; now: parley source sync {added.id}")

    with_bot(work, home=home, debug=debug)


def _interval(written: str | None) -> timedelta | None:
    """Raises `Failed`."""
    if written is None:
        return None
    match = _EVERY.fullmatch(written.strip())
    if match is None or int(match[1]) == 0:
        raise Failed(f"--every {written!r} is no time such as 30m, 1h or 1d", status=2)
    return timedelta(**{_UNITS[match[2].lower()]: int(match[1])})


def _written(every: timedelta) -> str:
    minutes = int(every.total_seconds()) // 60
    for unit, size in (("d", 24 * 60), ("h", 60)):
        if minutes % size == 0:
            return f"{minutes // size}{unit}"
    return f"{minutes}m"


def _tell(source: "Source") -> None:
    documents = f"{source.documents:,} document{'' if source.documents == 1 else 's'}"
    schedule = f", every {_written(source.every)}" if source.every else ""
    last = f"{source.outcome} at {source.synced_at:%Y-%m-%d %H:%M} UTC" if source.synced_at else "not synced yet"
    say(f"{source.id}  {source.kind} {source.location} → {source.bucket}{schedule}; {documents}; {last}")
    if source.failure:
        say(f"  {source.failure}")


def _as_json(source: "Source") -> dict[str, object]:
    names = ("id", "kind", "location", "bucket", "options", "documents", "outcome", "counts", "failure")
    values: dict[str, object] = {name: getattr(source, name) for name in names}
    values["every_s"] = int(source.every.total_seconds()) if source.every else None
    times = {"created_at": source.created_at, "due_at": source.due_at, "synced_at": source.synced_at}
    return values | {name: at.isoformat() if at else None for name, at in times.items()}


async def _wanted(bot: "Bot", ids: Sequence[str]) -> list[str]:
    """Those named, or all. Raises `UnknownSource` before anything is done."""
    from bot.errors import UnknownSource

    there = [one.id for one in await bot.sources.all()]
    for one in ids:
        if one not in there:
            raise UnknownSource(one, there)
    return list(dict.fromkeys(ids)) or there


async def _synced(
    bot: "Bot", source: str, problems: list[str], *, sweep_anyway: bool, aloud: bool
) -> dict[str, object]:
    """One source's line; what fails as a whole keeps the others from nothing."""
    from bot.errors import BotError
    from bot.sources import problem_of
    from storage.ingest.errors import IngestError
    from storage.search.errors import SearchError

    try:
        with _progress_bar(source) as progress:
            synced = await bot.sources.sync(source, sweep_anyway=sweep_anyway, progress=progress)
    except (BotError, IngestError, SearchError, OSError) as exc:
        problems.append(f"{source}: {exc}" if source not in str(exc) else str(exc))
        return {"source": source, "outcome": "failed", "problem": problems[-1]}
    if aloud:
        _tell_synced(source, synced)
    problem = problem_of(source, synced)
    problems += [problem] if problem else []
    return _synced_as_json(source, synced, problem)


def _progress_bar(source: str) -> "AbstractContextManager[Callable[[SyncProgress], None]]":
    """On stderr, and only on a terminal."""
    return _bar(source) if sys.stderr.isatty() else nullcontext(lambda progress: None)


@contextmanager
def _bar(source: str) -> "Generator[Callable[[SyncProgress], None]]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(source, total=None)
        yield lambda progress: bar.update(task, completed=progress.fetched, total=progress.of)


def _tell_synced(source: str, synced: "Synced") -> None:
    from bot.sources import counts_of

    counts = counts_of(synced)
    documents = ", ".join(f"{name} {counts[name]:,}" for name in ("added", "replaced", "skipped", "deleted", "failed"))
    passed_over = f", {synced.passed_over:,} of no format that is read" if synced.passed_over else ""
    items = f"{synced.items:,} item{'' if synced.items == 1 else 's'}"
    say(f"{source}: {items}, {synced.unchanged:,} unchanged{passed_over}; {documents}")
    for failure in synced.failures[:_NAMED]:
        complain(f"{failure.where}: {failure.reason}")
    for remark in synced.remarks[:_NAMED]:
        complain(remark)


def _synced_as_json(source: str, synced: "Synced", problem: str | None) -> dict[str, object]:
    from bot.sources import counts_of, outcome_of

    values: dict[str, object] = {"source": source, "outcome": outcome_of(synced), "problem": problem}
    values |= counts_of(synced)
    return values | {"failures": [{"where": one.where, "reason": one.reason} for one in synced.failures]}


def _end(problems: Sequence[str]) -> None:
    """Raises `Failed` with the last of the problems, once the others are said."""
    for problem in problems[:-1]:
        complain(problem)
    if problems:
        raise Failed(problems[-1])
