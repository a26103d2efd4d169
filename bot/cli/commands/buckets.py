"""`parley bucket`: lists, shows, creates, reindexes, cleans up and deletes buckets, and reads or sets their schemas."""

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.bucket_rebuilds import clean_up_bucket, embed_bucket, rebuild_bucket
from bot.cli.commands.review import review
from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.model_runs import ConsentOption, ask_for_consent
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import count_phrase_for, print_line, run_with_bot
from storage.search.bucket_parts import PART_SEPARATOR, is_part, parts_among

if TYPE_CHECKING:
    from bot.application import Application
    from storage.search.ids import BucketId
    from storage.search.index import BucketState, PassageVolume
    from storage.search.schema import Schema

app = typer.Typer(
    help="List, show, create, reindex and delete buckets, and read or change a schema.", no_args_is_help=True
)
app.command()(review)
BucketArgument = Annotated[str, typer.Argument(metavar="BUCKET")]
_ACTOR = "operator"


@app.command("list")
def list_buckets(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Every bucket, with its documents."""

    async def print_buckets(bot: "Application") -> None:
        states = await bot.index.load_bucket_states()
        wholes = [_whole_with_parts(name, states) for name in states if not is_part(name)]
        if json_:
            print_line(json.dumps([_bucket_to_json(*members) for members in wholes], ensure_ascii=False))
            return
        for whole, *parts in wholes:
            print_line(f"{whole.schema.bucket}  {_count_documents(whole, *parts)}")
            for part in parts:
                print_line(f"  {part.schema.bucket}  {_count_documents(part)}")
        problems = await bot.readiness.record.find_missing_documents()
        for problem in problems:
            print_to_stderr(problem)
        for rule in await bot.document_retention.list_orphaned_rules(await bot.readiness.record.list_known_buckets()):
            print_to_stderr(
                f"there is no bucket {rule.bucket!r}, for which the admin page has a rule of retention;"
                f" to end it: parley bucket delete {rule.bucket}"
            )
        if not states and not problems:
            print_line("There are no buckets yet; parley ingest PATH --bucket NAME makes one.")

    run_with_bot(print_buckets, home=home, debug=debug)


@app.command()
def show(name: BucketArgument, json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """What a bucket holds, field by field."""

    async def print_bucket(bot: "Application") -> None:
        members = await _load_members(bot, name)
        if json_:
            fields = {"fields": [field for member in members for field in _fields_to_json(member)]}
            print_line(json.dumps(_bucket_to_json(*members) | fields, ensure_ascii=False))
            return
        passages = count_phrase_for(sum(member.passage_count for member in members), "passage")
        print_line(f"{name}: {_count_documents(*members)}, {passages}")
        for member in members:
            if member.schema.bucket != name:
                print_line(f"{member.schema.bucket}: {_count_documents(member)}")
            for field in _fields_to_json(member):
                unit = f" in {field['unit']}" if field["unit"] else ""
                print_line(f"  {field['name']}: {field['type']}{unit}, in {field['documents']:,}")
        for rule in await bot.document_retention.load_rules():
            if rule.bucket == name:
                found = await bot.document_retention.count_expired(rule)
                state_of_rule = found.problem or f"{count_phrase_for(found.expired, 'document')} older than that"
                print_line(f"  kept {count_phrase_for(rule.days, 'day')} after {rule.start_name}: {state_of_rule}")

    run_with_bot(print_bucket, home=home, debug=debug)


@app.command()
def create(
    name: BucketArgument,
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help="Its schema, as YAML.")] = None,
    title: Annotated[str, typer.Option(help="What people call it.")] = "",
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """A new, empty bucket."""

    async def create_bucket(bot: "Application") -> None:
        from dataclasses import replace

        from storage.ingest.pipeline import is_bucket_name

        if not is_bucket_name(name):
            raise CommandFailed(
                f"{name!r} cannot be the name of a bucket: no slashes, no dot at the start", exit_status=2
            )
        if name in await bot.index.load_bucket_states():
            raise CommandFailed(
                f"there is a bucket {name!r} already; to change its schema: parley bucket schema {name} --set FILE"
            )
        new_schema = await read_schema(schema, name)
        await bot.index.set_schema(replace(new_schema, title=title or new_schema.title))
        print_line(f"created {name}")

    run_with_bot(create_bucket, home=home, debug=debug)


@app.command()
def delete(
    name: BucketArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """A bucket with all its documents, sources, grants and retention, and its schema's file."""

    async def delete_bucket(bot: "Application") -> None:
        if name not in await bot.readiness.record.list_known_buckets() and await _end_retention(bot, name):
            return
        members = await _load_members(bot, name)
        bucket, documents = members[0].schema.bucket, _count_documents(*members)
        sources = [source.id for source in await bot.sources.list_sources() if source.bucket == bucket]
        _confirm_deletion(f"Delete {_deletion_summary_of(name, documents, sources)}?", yes=yes)
        removed = await bot.sources.remove_bucket_sources(
            bucket, by=_ACTOR
        )  # before the bucket: a running sync would fill it again
        for source in removed:
            print_line(f"removed the source {source.id}: {source.kind} {source.location}")
        for grant in await bot.grants.list_grants():
            if grant.bucket == bucket:  # a later bucket of the same name must not inherit grants
                await bot.grants.revoke_grant(grant.bucket, grant.subject, by=_ACTOR)
                print_line(f"revoked {name} from {grant.subject}")
        for member in reversed(members):  # the bucket last: after a kill, the command can be repeated
            await bot.readiness.record.forget_bucket(member.schema.bucket)
            await _end_retention(bot, member.schema.bucket)
            await bot.index.drop_bucket(member.schema.bucket)
            file = await asyncio.to_thread(_delete_schema_file, bot, member.schema.bucket)
            if file is not None:
                print_line(f"deleted {file}")
        print_line(f"deleted {name}: {documents}")
        if bot.document_retention.is_set_by_operator(name):
            print_line(f"PARLEY_DOCUMENT_RETENTION still names {name}, and holds for a later bucket of this name")

    run_with_bot(delete_bucket, home=home, debug=debug)


async def _end_retention(bot: "Application", bucket: str) -> bool:
    """Says which rule it has ended; False if admins have set none for the bucket."""
    rule = await bot.document_retention.remove_rule(bucket, by=_ACTOR)
    if rule is not None:
        days = count_phrase_for(rule.days, "day")
        print_line(f"ended the retention of {bucket}: {days} after {rule.start_name}")
    return rule is not None


@app.command()
def reindex(
    names: Annotated[list[str] | None, typer.Argument(metavar="[BUCKET]…")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every bucket that needs it.")] = False,
    shards: Annotated[int | None, typer.Option(min=1, max=64, help="OpenSearch: the shards of the new index.")] = None,
    yes: ConsentOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Index the stored documents of these buckets again, and embed what has no vector of the current embedder.

    With --all only buckets with passages to embed, after a change of PARLEY_EMBEDDER or a failure of its model.
    Questions are answered meanwhile, from the index as it was. --shards spreads a large bucket over the machines of an
    OpenSearch cluster, or over fewer; without it, the number of shards stays as it is. Answers are the same. A run that
    was killed goes on where it stopped when it is started again.
    """

    async def reindex_buckets(bot: "Application") -> None:
        if bool(names) == all_:
            raise CommandFailed("name the buckets, or give --all", exit_status=2)
        if all_ and shards is not None:
            raise CommandFailed("--shards is for named buckets", exit_status=2)
        members = [member for name in names or () for member in await _load_members(bot, name)]
        buckets = list(dict.fromkeys(member.schema.bucket for member in members)) or list(
            await bot.index.load_vector_states()
        )
        volumes = {bucket: await bot.index.measure_outdated_passages(bucket) for bucket in buckets}
        outdated = {bucket: volume for bucket, volume in volumes.items() if volume.passage_count}
        if all_:
            for bucket in sorted(volumes.keys() - outdated.keys()):
                print_line(f"{bucket}: every passage has its vector")
        if outdated and (estimate := await bot.models.describe_embedding_cost(_sum_volumes(outdated.values()))):
            ask_for_consent(f"to embed {', '.join(outdated)}: {estimate}", yes=yes)
        for bucket, volume in (outdated if all_ else volumes).items():
            await (embed_bucket(bot, bucket, volume) if all_ else rebuild_bucket(bot, bucket, volume, shards))
        if all(state.is_current for state in (await bot.index.load_vector_states()).values()):
            await bot.models.forget_earlier_vectors()

    run_with_bot(reindex_buckets, home=home, debug=debug)


@app.command()
def cleanup(
    names: Annotated[list[str] | None, typer.Argument(metavar="[BUCKET]…")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every bucket.")] = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Delete the indexes that a bucket no longer uses: the one before the last change, and an unfinished one."""

    async def clean_up_buckets(bot: "Application") -> None:
        if bool(names) == all_:
            raise CommandFailed("name the buckets, or give --all", exit_status=2)
        members = [member for name in names or () for member in await _load_members(bot, name)]
        for bucket in dict.fromkeys(member.schema.bucket for member in members) or await bot.index.load_vector_states():
            await clean_up_bucket(bot, bucket)

    run_with_bot(clean_up_buckets, home=home, debug=debug)


def _sum_volumes(volumes: "Iterable[PassageVolume]") -> "PassageVolume":
    from storage.search.index import PassageVolume

    counts = [(volume.passage_count, volume.character_count) for volume in volumes]
    return PassageVolume(
        passage_count=sum(passages for passages, _ in counts), character_count=sum(chars for _, chars in counts)
    )


def _deletion_summary_of(name: str, documents: str, sources: Sequence[str]) -> str:
    sources_phrase = f" and its source{'' if len(sources) == 1 else 's'} {', '.join(sources)}" if sources else ""
    return f"{name} with {documents}{sources_phrase}"


def _delete_schema_file(bot: "Application", name: str) -> Path | None:
    """Delete the schema file that ingestion wrote, and return its path; None if there is none.

    A later bucket of the same name must not use it.
    """
    from storage.ingest.pipeline import is_bucket_name, schema_path_for

    path = schema_path_for(bot.settings.home / "schemas", name)
    if not all(map(is_bucket_name, name.split(PART_SEPARATOR))) or not path.is_file():
        return None
    path.unlink(missing_ok=True)
    return path


@app.command("schema")
def show_or_set_schema(
    name: BucketArgument,
    set_: Annotated[Path | None, typer.Option("--set", metavar="FILE", help="Change it to this.")] = None,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """The schema as editable YAML, or with --set another one."""

    async def print_or_set_schema(bot: "Application") -> None:
        from storage.ingest.schemas.schema_file import schema_to_yaml

        state, *parts = await _load_members(bot, name)
        if set_ is None:
            if parts:
                names = ", ".join(part.schema.bucket for part in parts)
                print_to_stderr(f"{name} has parts with schemas of their own: {names}")
            sys.stdout.write(schema_to_yaml(state.schema, await _field_evidence_of(bot, state)))
            return
        schema = await read_schema(set_, name)
        await bot.index.set_schema(schema)
        print_line(f"{name} has the schema of {set_}")
        marked_sources = (
            await bot.sources.mark_for_reload(schema.bucket) if state.schema.fields != schema.fields else []
        )
        if unfilled := _fields_to_refill(state.schema, schema) if state.document_count else []:
            print_line(f"to fill {', '.join(unfilled)}: {_refill_advice_for(marked_sources)}")

    run_with_bot(print_or_set_schema, home=home, debug=debug)


def _fields_to_refill(old_schema: "Schema", new_schema: "Schema") -> list[str]:
    """Fields that are new or have another type. Documents lack their values until they are loaded again."""
    old_types = {field.name: field.type for field in old_schema.fields}
    return [field.name for field in new_schema.fields if old_types.get(field.name) is not field.type]


def _refill_advice_for(source_ids: list[str]) -> str:
    """How to load the documents again, given the sources of the bucket."""
    if not source_ids:
        return "ingest the documents again"
    return f"parley source sync {' '.join(source_ids)}; what parley ingest brought, ingest again"


async def _field_evidence_of(bot: "Application", state: "BucketState") -> dict[str, str]:
    """For each field, a note on the values in the bucket's documents."""
    from bot.surface.inbound import OperatorAudience
    from storage.ingest.schemas.evidence import evidence_from_vocabulary

    vocabulary = await bot.index.within_scope(await bot.access.scope_for_audience(OperatorAudience())).load_vocabulary()
    return evidence_from_vocabulary(
        [field for field in vocabulary.fields if field.bucket == state.schema.bucket], state.document_count
    )


async def bucket_state_of(bot: "Application", name: str) -> "BucketState":
    """Raises `CommandFailed` for a bucket that does not exist."""
    states = {str(bucket): state for bucket, state in (await bot.index.load_bucket_states()).items()}
    if name not in states:
        existing = f"there are {', '.join(states)}" if states else "there are none yet"
        raise CommandFailed(f"there is no bucket {name!r}; {existing}")
    return states[name]


async def _load_members(bot: "Application", name: str) -> "list[BucketState]":
    """The bucket, then its parts. Raises `CommandFailed` for a bucket that does not exist."""
    whole = (await bucket_state_of(bot, name)).schema.bucket
    return _whole_with_parts(whole, await bot.index.load_bucket_states())


def _whole_with_parts(bucket: "BucketId", states: "Mapping[BucketId, BucketState]") -> "list[BucketState]":
    return [states[bucket], *(states[part] for part in parts_among(states, bucket))]


def _count_documents(*states: "BucketState") -> str:
    return count_phrase_for(sum(state.document_count for state in states), "document")


async def read_schema(path: Path | None, name: str) -> "Schema":
    """The schema of the file for the bucket `name`; an empty one without a file."""
    from dataclasses import replace

    from storage.ingest.schemas.schema_file import read_schema_file
    from storage.search.ids import BucketId
    from storage.search.schema import Schema

    if path is None:
        return Schema(bucket=BucketId(name))
    return replace(await asyncio.to_thread(read_schema_file, path), bucket=BucketId(name))


def _confirm_deletion(question: str, *, yes: bool) -> None:
    if not yes and not (sys.stdin.isatty() and typer.confirm(question)):
        raise CommandFailed("nothing was deleted; give --yes to delete without being asked")


def _bucket_to_json(state: "BucketState", *parts: "BucketState") -> dict[str, object]:
    """The bucket; its counts include its parts, which are listed if there are any."""
    return {
        "bucket": state.schema.bucket,
        "title": state.schema.label,
        "documents": sum(member.document_count for member in (state, *parts)),
        "passages": sum(member.passage_count for member in (state, *parts)),
        **({"parts": [_bucket_to_json(part) for part in parts]} if parts else {}),
    }


def _fields_to_json(state: "BucketState") -> list[dict[str, object]]:
    return [
        {
            **({"bucket": state.schema.bucket} if is_part(state.schema.bucket) else {}),
            "name": field.name,
            "type": field.type.value,
            "unit": field.unit or None,
            "documents": state.field_counts.get(field.name, 0),
        }
        for field in state.schema.fields
    ]
