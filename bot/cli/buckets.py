"""`parley bucket`: what the buckets are and hold."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import Failed
from bot.cli.options import Debug, Home, Json
from bot.cli.review import review
from bot.cli.running import say, with_bot

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from storage.search.index import BucketState
    from storage.search.schema import Schema

app = typer.Typer(help="List, show, create and delete buckets, and read or change a schema.", no_args_is_help=True)
app.command()(review)
Name = Annotated[str, typer.Argument(metavar="BUCKET")]
_BY = "operator"


@app.command("list")
def list_(json_: Json = False, home: Home = None, debug: Debug = False) -> None:
    """Every bucket, with its documents."""

    async def work(bot: "Bot") -> None:
        states = await bot.index.buckets()
        if json_:
            say(json.dumps([_summary(state) for state in states.values()], ensure_ascii=False))
            return
        for name, state in states.items():
            say(f"{name}  {_counted(state.documents, 'document')}")
        if not states:
            say("There are no buckets yet; parley ingest PATH --bucket NAME makes one.")

    with_bot(work, home=home, debug=debug)


@app.command()
def show(name: Name, json_: Json = False, home: Home = None, debug: Debug = False) -> None:
    """What a bucket holds, field by field."""

    async def work(bot: "Bot") -> None:
        state = await state_of(bot, name)
        if json_:
            say(json.dumps(_summary(state) | {"fields": _fields(state)}, ensure_ascii=False))
            return
        say(f"{name}: {_counted(state.documents, 'document')}, {_counted(state.passages, 'passage')}")
        for field in _fields(state):
            unit = f" in {field['unit']}" if field["unit"] else ""
            say(f"  {field['name']}: {field['type']}{unit}, in {field['documents']:,}")

    with_bot(work, home=home, debug=debug)


@app.command()
def create(
    name: Name,
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help="Its schema, as YAML.")] = None,
    title: Annotated[str, typer.Option(help="What people call it.")] = "",
    home: Home = None,
    debug: Debug = False,
) -> None:
    """A new, empty bucket."""

    async def work(bot: "Bot") -> None:
        from dataclasses import replace

        from storage.ingest.pipeline import is_bucket_name

        if not is_bucket_name(name):
            raise Failed(f"{name!r} cannot be the name of a bucket: no slashes, no dot at the start", status=2)
        if name in await bot.index.buckets():
            raise Failed(
                f"there is a bucket {name!r} already; to change its schema: parley bucket schema {name} --set FILE"
            )
        made = await read_schema(schema, name)
        await bot.index.set_schema(replace(made, title=title or made.title))
        say(f"created {name}")

    with_bot(work, home=home, debug=debug)


@app.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """A bucket with all its documents, sources and grants, and its schema's file."""

    async def work(bot: "Bot") -> None:
        state = await state_of(bot, name)
        bucket = state.schema.bucket
        sources = [one.id for one in await bot.sources.all() if one.bucket == bucket]
        _confirm(f"Delete {_with(name, state.documents, sources)}?", yes=yes)
        removed = await bot.sources.remove_of(bucket, by=_BY)  # first: one that is being synced would fill it again
        for one in removed:
            say(f"removed the source {one.id}: {one.kind} {one.location}")
        for grant in await bot.grants.all():
            if grant.bucket == bucket:  # a bucket of this name made later is another one
                await bot.grants.revoke(grant.bucket, grant.subject, by=_BY)
                say(f"revoked {name} from {grant.subject}")
        await bot.index.drop_bucket(bucket)
        file = await asyncio.to_thread(_without_schema_file, bot, name)
        if file is not None:
            say(f"deleted {file}")
        say(f"deleted {name}: {_counted(state.documents, 'document')}")

    with_bot(work, home=home, debug=debug)


def _with(name: str, documents: int, sources: Sequence[str]) -> str:
    named = f" and its source{'' if len(sources) == 1 else 's'} {', '.join(sources)}" if sources else ""
    return f"{name} with {_counted(documents, 'document')}{named}"


def _without_schema_file(bot: "Bot", name: str) -> Path | None:
    """Deletes what ingestion wrote for people to edit: another bucket of this name is not like it. Where it was."""
    from storage.ingest.pipeline import is_bucket_name, schema_path

    path = schema_path(bot.settings.home / "schemas", name)
    if not is_bucket_name(name) or not path.is_file():
        return None
    path.unlink(missing_ok=True)
    return path


@app.command("schema")
def schema_(
    name: Name,
    set_: Annotated[Path | None, typer.Option("--set", metavar="FILE", help="Change it to this.")] = None,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """The schema as editable YAML, or with --set another one."""

    async def work(bot: "Bot") -> None:
        from storage.ingest.schema_file import written

        state = await state_of(bot, name)
        if set_ is None:
            sys.stdout.write(written(state.schema, await _evidence(bot, state)))
            return
        schema = await read_schema(set_, name)
        await bot.index.set_schema(schema)
        say(f"{name} has the schema of {set_}")
        synced = await bot.sources.load_again(schema.bucket) if state.schema.fields != schema.fields else []
        if unfilled := _unfilled(state.schema, schema) if state.documents else []:
            say(f"to fill {', '.join(unfilled)}: {_filled_by(synced)}")

    with_bot(work, home=home, debug=debug)


def _unfilled(before: "Schema", after: "Schema") -> list[str]:
    """Fields that are new or of another type: what documents hold for them is missing until they are put again."""
    known = {one.name: one.type for one in before.fields}
    return [one.name for one in after.fields if known.get(one.name) is not one.type]


def _filled_by(synced: list[str]) -> str:
    """What to do, given the sources that the bucket has."""
    if not synced:
        return "ingest the documents again"
    return f"parley source sync {' '.join(synced)}; what parley ingest brought, ingest again"


async def _evidence(bot: "Bot", state: "BucketState") -> dict[str, str]:
    """What the bucket's documents hold, by field."""
    from bot.inbound import Operator
    from storage.ingest.evidence import held_by

    vocabulary = await bot.index.within(await bot.access.scope(Operator())).vocabulary()
    return held_by([one for one in vocabulary.fields if one.bucket == state.schema.bucket], state.documents)


async def state_of(bot: "Bot", name: str) -> "BucketState":
    """Raises `Failed` for a bucket that is not there."""
    states = {str(bucket): state for bucket, state in (await bot.index.buckets()).items()}
    if name not in states:
        there = f"there are {', '.join(states)}" if states else "there are none yet"
        raise Failed(f"there is no bucket {name!r}; {there}")
    return states[name]


async def read_schema(path: Path | None, name: str) -> "Schema":
    """The schema of the file for the bucket `name`; an empty one without a file."""
    from dataclasses import replace

    from storage.ingest.schema_file import read
    from storage.search.ids import BucketId
    from storage.search.schema import Schema

    if path is None:
        return Schema(bucket=BucketId(name))
    return replace(await asyncio.to_thread(read, path), bucket=BucketId(name))


def _confirm(question: str, *, yes: bool) -> None:
    if not yes and not (sys.stdin.isatty() and typer.confirm(question)):
        raise Failed("nothing was deleted; give --yes to delete without being asked")


def _summary(state: "BucketState") -> dict[str, object]:
    return {
        "bucket": state.schema.bucket,
        "title": state.schema.label,
        "documents": state.documents,
        "passages": state.passages,
    }


def _fields(state: "BucketState") -> list[dict[str, object]]:
    return [
        {"name": one.name, "type": one.type.value, "unit": one.unit or None, "documents": state.fields.get(one.name, 0)}
        for one in state.schema.fields
    ]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
