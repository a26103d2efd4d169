"""`parley ingest`: documents into buckets."""

import json
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import Failed, complain
from bot.cli.options import Debug, Home, Json
from bot.cli.running import say, with_bot

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from storage.ingest.report import Progress, Report

_NAMED = 20


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Files, folders or globs.")],
    bucket: Annotated[str | None, typer.Option(metavar="NAME", help="The bucket; made where it is not there.")] = None,
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help="Its schema; inferred without.")] = None,
    ignore_metadata: Annotated[
        bool, typer.Option("--ignore-metadata", help="Fill the fields from the text alone.")
    ] = False,
    json_: Json = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Load documents: .jsonl(.gz), .csv, .md, .txt, .pdf."""

    async def work(bot: "Bot") -> None:
        from storage.ingest.pipeline import ingest as load
        from storage.ingest.schema_file import read
        from storage.search.ids import BucketId

        with progress_bar("Loading") as progress:
            report = await load(
                bot.index,
                paths,
                bucket=BucketId(bucket) if bucket else None,
                schema=read(schema) if schema else None,
                ignore_metadata=ignore_metadata,
                schema_folder=bot.settings.home / "schemas",
                progress=progress,
            )
        _tell(report, json_=json_)

    with_bot(work, home=home, debug=debug)


def _tell(report: "Report", *, json_: bool) -> None:
    if json_:
        say(json.dumps(_as_json(report), ensure_ascii=False))
    else:
        _tell_schemas(report)
        say(report.last_line)
    for failure in report.failures[:_NAMED]:
        complain(f"{failure.where}: {failure.reason}")
    if report.failed:
        more = f"; {report.failed - _NAMED:,} more are not shown" if report.failed > _NAMED else ""
        raise Failed(f"{report.failed:,} could not be loaded{more}")


def _tell_schemas(report: "Report") -> None:
    for written in report.schemas:
        what = "new bucket" if written.is_new else f"new fields {', '.join(written.added)} in"
        say(f"{what} {written.schema.bucket}{f', schema in {written.path}' if written.path else ''}")
    for one in report.unfitting:
        examples = ", ".join(one.examples)
        say(f"{one.bucket}.{one.field}: {one.count:,} values do not fit and stay text, such as {examples}")
    for renamed in report.renamed:
        say(f"{renamed.bucket}: the key {renamed.key!r} is the field {renamed.field!r}")
    for ignored in report.ignored:
        say(f"{ignored.bucket}: the key {ignored.key!r} of {ignored.count:,} documents is not in the schema")
    for remark in report.remarks:
        say(remark)


def _as_json(report: "Report") -> dict[str, object]:
    return {
        "added": report.added,
        "replaced": report.replaced,
        "skipped": report.skipped,
        "failed": report.failed,
        "failures": [asdict(one) for one in report.failures],
        "buckets": list(report.buckets),
        "schemas": [str(one.path) for one in report.schemas if one.path],
    }


def progress_bar(title: str) -> "AbstractContextManager[Callable[[Progress], None] | None]":
    """On stderr, and only on a terminal; elsewhere None."""
    return _bar(title) if sys.stderr.isatty() else _no_bar()


@contextmanager
def _no_bar() -> Generator[None]:
    yield None


@contextmanager
def _bar(title: str) -> "Generator[Callable[[Progress], None]]":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[documents]:,} documents"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, documents=0)

        def show(one: "Progress") -> None:  # the ingestion's own
            what = "Looking" if one.looking else title
            bar.update(task, description=what, completed=one.bytes, total=one.of_bytes, documents=one.documents)

        yield show
