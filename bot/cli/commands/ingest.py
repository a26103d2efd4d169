"""`parley ingest`: loads documents into buckets."""

import json
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, exit_on_failure, print_to_stderr
from bot.cli.model_runs import ConsentOption, ModelReaders, ask_for_consent
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import global_options, is_debug_on, print_line, run_with_bot

if TYPE_CHECKING:
    from bot.application import Application
    from storage.ingest.extract.candidates import Extractor
    from storage.ingest.pipeline import PassageSituator
    from storage.ingest.report import IngestProgress, IngestReport

_MAX_SHOWN_FAILURES = 20


class _ValueReader(StrEnum):
    """What reads the values of fields in texts."""

    RULES = "rules"
    MODEL = "model"


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Files, folders or globs.")],
    bucket: Annotated[str | None, typer.Option(metavar="NAME", help="The bucket; made where it is not there.")] = None,
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help="Its schema; inferred without.")] = None,
    ignore_metadata: Annotated[
        bool, typer.Option("--ignore-metadata", help="Fill the fields from the text alone.")
    ] = False,
    extract_with: Annotated[
        _ValueReader, typer.Option(help="What reads values in texts; the model reads beside the rules.")
    ] = _ValueReader.RULES,
    chunk_context: Annotated[
        bool, typer.Option("--chunk-context", help="A model says what each passage is about, to be found by it.")
    ] = False,
    yes: ConsentOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would become of them and show the schemas; change nothing.")
    ] = False,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Load documents: .pdf, .docx, .pptx, .html, .md, .txt, .eml, each one document; .xlsx and .csv, a document a row;
    .jsonl and .jsonl.gz, a document a line.

    What is unchanged is skipped, so a run that was interrupted goes on where it stopped when it is started again.
    """

    async def load_paths(
        bot: "Application", extractor: "Extractor", situator: "PassageSituator | None", *, changes_nothing: bool
    ) -> "IngestReport":
        from storage.ingest.dry_run import DryRunIndex
        from storage.ingest.pipeline import ingest_files as load
        from storage.ingest.schemas.schema_file import read_schema_file
        from storage.search.ids import BucketId

        with open_progress_bar("Reading" if changes_nothing else "Loading") as progress:
            return await load(
                DryRunIndex(bot.index) if changes_nothing else bot.index,
                paths,
                extractor=extractor,
                situator=situator,
                bucket=BucketId(bucket) if bucket else None,
                schema=read_schema_file(schema) if schema else None,
                ignore_metadata=ignore_metadata,
                schema_folder=None if changes_nothing else bot.settings.home / "schemas",
                passage_characters=bot.settings.passage_characters,
                progress=progress,
            )

    async def record_load(bot: "Application", report: "IngestReport") -> None:
        from bot.health.document_loads import load_request_of
        from bot.health.index_record import ACCEPT_COMMAND

        request = load_request_of(
            paths,
            bucket=bucket,
            ignore_metadata=ignore_metadata,
            reads_with_model=extract_with is _ValueReader.MODEL,
            writes_contexts=chunk_context,
        )
        await bot.readiness.record.record_load(request, report.buckets)
        for loss in (await bot.readiness.record.find_losses()).values():
            print_to_stderr(f"{loss.sentence}: {ACCEPT_COMMAND} {loss.bucket} if they are gone for good")

    async def ingest_paths(bot: "Application") -> None:
        readers = ModelReaders.build(
            bot.models, bot.extractor, reads_values=extract_with is _ValueReader.MODEL, writes_contexts=chunk_context
        )
        if not readers.is_needed:
            report = await load_paths(bot, bot.extractor, None, changes_nothing=dry_run)
        else:
            report = await load_paths(bot, readers.metered_extractor, readers.metered_situator, changes_nothing=True)
            if dry_run:
                print_to_stderr(await readers.describe_cost())
            else:
                if readers.workload.calls:
                    ask_for_consent(await readers.describe_cost(), yes=yes)
                report = await load_paths(bot, readers.extractor, readers.situator, changes_nothing=False)
        if not dry_run:
            await record_load(bot, report)
        _output_report(report, dry_run=dry_run, json_=json_, failures=readers.describe_failures())

    with exit_on_failure(debug=is_debug_on(debug)), _open_home_for(home, dry_run=dry_run) as open_home:
        run_with_bot(ingest_paths, home=open_home, debug=debug)


@contextmanager
def _open_home_for(home: Path | None, *, dry_run: bool) -> Generator[Path | None]:
    """The home; a temporary one for a dry run if the home does not exist yet."""
    from bot.settings import resolve_home

    if not dry_run or resolve_home(home or global_options.get().home).is_dir():
        yield home
        return
    with TemporaryDirectory(prefix="parley-") as temporary_home:
        yield Path(temporary_home)


def _output_report(report: "IngestReport", *, dry_run: bool, json_: bool, failures: "Mapping[str, int]") -> None:
    """`failures`: what the model could not do, with the number of documents or passages."""
    if json_:
        failures_json = {"model_failures": dict(failures)} if failures else {}
        print_line(json.dumps(_report_to_json(report, dry_run=dry_run) | failures_json, ensure_ascii=False))
    else:
        _print_schemas(report, dry_run=dry_run)
        if len(report.by_bucket) > 1:
            for bucket, counts in report.by_bucket.items():
                print_line(f"{bucket}: {counts}")
        notes = "".join(f"; {what}: {count:,}" for what, count in failures.items())
        print_line(f"{'it would be: ' if dry_run else ''}{report.summary_line}{notes}")
    for failure in report.failures[:_MAX_SHOWN_FAILURES]:
        print_to_stderr(f"{failure.where}: {failure.reason}")
    if report.failed:
        hidden_note = (
            f"; {report.failed - _MAX_SHOWN_FAILURES:,} more are not shown"
            if report.failed > _MAX_SHOWN_FAILURES
            else ""
        )
        raise CommandFailed(f"{report.failed:,} could not be loaded{hidden_note}")


def _print_schemas(report: "IngestReport", *, dry_run: bool) -> None:
    from storage.ingest.schemas.schema_file import schema_to_yaml as as_yaml

    for change in report.schema_changes:
        phrase = "new bucket" if change.is_new else f"new fields {', '.join(change.added_fields)} in"
        print_line(f"{phrase} {change.schema.bucket}{f', schema in {change.path}' if change.path else ''}")
        if dry_run:
            print_line(as_yaml(change.schema).rstrip())
    for unfitting in report.unfitting_values:
        examples = ", ".join(unfitting.examples)
        print_line(
            f"{unfitting.bucket}.{unfitting.field}: {unfitting.count:,} values do not fit and stay text, "
            f"such as {examples}"
        )
    for renamed_key in report.renamed_keys:
        print_line(f"{renamed_key.bucket}: the key {renamed_key.key!r} is the field {renamed_key.field!r}")
    for ignored_key in report.ignored_keys:
        print_line(
            f"{ignored_key.bucket}: the key {ignored_key.key!r} of {ignored_key.count:,} documents is not in the schema"
        )
    for remark in report.remarks:
        print_line(remark)


def _report_to_json(report: "IngestReport", *, dry_run: bool) -> dict[str, object]:
    from storage.search.codec import schema_to_json

    report_json: dict[str, object] = {
        "added": report.added,
        "replaced": report.replaced,
        "skipped": report.skipped,
        "failed": report.failed,
        "failures": [asdict(failure) for failure in report.failures],
        "buckets": list(report.buckets),
        "by_bucket": {bucket: asdict(counts) for bucket, counts in report.by_bucket.items()},
        "schemas": [str(change.path) for change in report.schema_changes if change.path],
        "remarks": list(report.remarks),
    }
    if dry_run:
        report_json |= {
            "dry_run": True,
            "would_set": [schema_to_json(change.schema) for change in report.schema_changes],
        }
    return report_json


def open_progress_bar(title: str) -> "AbstractContextManager[Callable[[IngestProgress], None]]":
    """A progress bar on stderr; if stderr is not a terminal, a line for each file that takes long."""
    return _rich_progress_bar(title) if sys.stderr.isatty() else _slow_file_lines()


@contextmanager
def _slow_file_lines() -> "Generator[Callable[[IngestProgress], None]]":
    printed = set[tuple[bool, str]]()

    def print_slow_file(progress: "IngestProgress") -> None:
        key = (progress.is_first_pass, progress.file_name)
        if progress.is_file_slow and key not in printed:
            printed.add(key)
            print_to_stderr(describe_slow_file(progress))

    yield print_slow_file


def describe_slow_file(progress: "IngestProgress") -> str:
    """`reading parts.xlsx, for 7 s so far`."""
    return f"reading {progress.file_name}, for {progress.file_elapsed_s:,.0f} s so far"


@contextmanager
def _rich_progress_bar(title: str) -> "Generator[Callable[[IngestProgress], None]]":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, pace="")

        def update_bar(progress: "IngestProgress") -> None:
            description = "Looking" if progress.is_first_pass else title
            bar.update(
                task,
                description=description,
                completed=progress.bytes_done,
                total=progress.bytes_total,
                pace=describe_pace(progress),
            )

        yield update_bar


def describe_pace(progress: "IngestProgress") -> str:
    """`3 of 12 files, 4.0 of 20.5 MB, 1,250 documents, 310/s, 1:05 left`."""
    parts = [
        f"{progress.files_done:,} of {progress.files_total:,} files",
        f"{progress.bytes_done / 1e6:,.1f} of {progress.bytes_total / 1e6:,.1f} MB",
        f"{progress.documents:,} documents",
    ]
    if progress.documents_per_s:
        parts.append(f"{progress.documents_per_s:,.0f}/s")
    if progress.remaining_s is not None:
        minutes, seconds = divmod(round(progress.remaining_s), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    if progress.is_file_slow:
        parts.append(describe_slow_file(progress))
    return ", ".join(parts)
