"""`parley ingest`: documents into buckets."""

import json
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import Failed, complain, plainly
from bot.cli.options import Debug, Home, Json
from bot.cli.running import given, is_debug, say, with_bot

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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would become of them and show the schemas; change nothing.")
    ] = False,
    json_: Json = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Load documents: .pdf, .docx, .pptx, .html, .md, .txt, each one document; .xlsx and .csv, a document a row; .jsonl
    and .jsonl.gz, a document a line.

    What is unchanged is skipped, so a run that was interrupted goes on where it stopped when it is started again.
    """

    async def work(bot: "Bot") -> None:
        from storage.ingest.pipeline import ingest as load
        from storage.ingest.rehearsal import Rehearsal
        from storage.ingest.schema_file import read
        from storage.search.ids import BucketId

        with progress_bar("Reading" if dry_run else "Loading") as progress:
            report = await load(
                Rehearsal(bot.index) if dry_run else bot.index,
                paths,
                bucket=BucketId(bucket) if bucket else None,
                schema=read(schema) if schema else None,
                ignore_metadata=ignore_metadata,
                schema_folder=None if dry_run else bot.settings.home / "schemas",
                progress=progress,
            )
        _tell(report, dry_run=dry_run, json_=json_)

    with plainly(debug=is_debug(debug)), _home_for(home, dry_run=dry_run) as place:
        with_bot(work, home=place, debug=debug)


@contextmanager
def _home_for(home: Path | None, *, dry_run: bool) -> Generator[Path | None]:
    """The home; where there is none yet and none shall be made, one for the time being."""
    from bot.settings import home_of

    if not dry_run or home_of(home or given.get().home).is_dir():
        yield home
        return
    with TemporaryDirectory(prefix="parley-") as place:
        yield Path(place)


def _tell(report: "Report", *, dry_run: bool, json_: bool) -> None:
    if json_:
        say(json.dumps(_as_json(report, dry_run=dry_run), ensure_ascii=False))
    else:
        _tell_schemas(report, dry_run=dry_run)
        if len(report.by_bucket) > 1:
            for bucket, counts in report.by_bucket.items():
                say(f"{bucket}: {counts}")
        say(f"{'it would be: ' if dry_run else ''}{report.last_line}")
    for failure in report.failures[:_NAMED]:
        complain(f"{failure.where}: {failure.reason}")
    if report.failed:
        more = f"; {report.failed - _NAMED:,} more are not shown" if report.failed > _NAMED else ""
        raise Failed(f"{report.failed:,} could not be loaded{more}")


def _tell_schemas(report: "Report", *, dry_run: bool) -> None:
    from storage.ingest.schema_file import written as as_yaml

    for written in report.schemas:
        what = "new bucket" if written.is_new else f"new fields {', '.join(written.added)} in"
        say(f"{what} {written.schema.bucket}{f', schema in {written.path}' if written.path else ''}")
        if dry_run:
            say(as_yaml(written.schema).rstrip())
    for one in report.unfitting:
        examples = ", ".join(one.examples)
        say(f"{one.bucket}.{one.field}: {one.count:,} values do not fit and stay text, such as {examples}")
    for renamed in report.renamed:
        say(f"{renamed.bucket}: the key {renamed.key!r} is the field {renamed.field!r}")
    for ignored in report.ignored:
        say(f"{ignored.bucket}: the key {ignored.key!r} of {ignored.count:,} documents is not in the schema")
    for remark in report.remarks:
        say(remark)


def _as_json(report: "Report", *, dry_run: bool) -> dict[str, object]:
    from storage.search.codec import schema_to_json

    told: dict[str, object] = {
        "added": report.added,
        "replaced": report.replaced,
        "skipped": report.skipped,
        "failed": report.failed,
        "failures": [asdict(one) for one in report.failures],
        "buckets": list(report.buckets),
        "by_bucket": {bucket: asdict(counts) for bucket, counts in report.by_bucket.items()},
        "schemas": [str(one.path) for one in report.schemas if one.path],
        "remarks": list(report.remarks),
    }
    if dry_run:
        told |= {"dry_run": True, "would_set": [schema_to_json(one.schema) for one in report.schemas]}
    return told


def progress_bar(title: str) -> "AbstractContextManager[Callable[[Progress], None] | None]":
    """On stderr, and only on a terminal; elsewhere None."""
    return _bar(title) if sys.stderr.isatty() else _no_bar()


@contextmanager
def _no_bar() -> Generator[None]:
    yield None


@contextmanager
def _bar(title: str) -> "Generator[Callable[[Progress], None]]":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, pace="")

        def show(one: "Progress") -> None:  # the ingestion's own
            what = "Looking" if one.looking else title
            bar.update(task, description=what, completed=one.bytes, total=one.of_bytes, pace=pace_of(one))

        yield show


def pace_of(one: "Progress") -> str:
    """`3 of 12 files, 4.0 of 20.5 MB, 1,250 documents, 310/s, 1:05 left`."""
    parts = [
        f"{one.files:,} of {one.of_files:,} files",
        f"{one.bytes / 1e6:,.1f} of {one.of_bytes / 1e6:,.1f} MB",
        f"{one.documents:,} documents",
    ]
    if one.documents_per_s:
        parts.append(f"{one.documents_per_s:,.0f}/s")
    if one.remaining_s is not None:
        minutes, seconds = divmod(round(one.remaining_s), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)
