"""`parley bucket review`: what extraction was not sure of, and the names it brought together."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import Debug, Home, Json
from bot.cli.running import say, with_bot

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from storage.ingest.extract.reviewing import Doubt, Review
    from storage.search.schema import Schema

_VALUE = 80  # characters of a value in a line


def review(
    name: Annotated[str, typer.Argument(metavar="BUCKET")],
    below: Annotated[float, typer.Option(min=0.0, max=1.01, help="Values less sure than this.")] = 0.7,
    limit: Annotated[int, typer.Option(min=1, help="How many of them.")] = 50,
    json_: Json = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Extracted values to look through, the least sure first, and names with several spellings."""

    async def work(bot: "Bot") -> None:
        from bot.cli.buckets import state_of  # here: it registers this command
        from storage.ingest.extract.reviewing import review as reviewed

        schema = (await state_of(bot, name)).schema
        found = await reviewed(bot.index, schema, below=below, limit=limit)
        if json_:
            say(json.dumps(_as_json(found), ensure_ascii=False))
        else:
            _tell(found, schema, below)

    with_bot(work, home=home, debug=debug)


def _tell(found: "Review", schema: "Schema", below: float) -> None:
    name = schema.bucket
    if not schema.fields:
        say(f"{name} has no fields to fill; parley bucket schema {name} --set FILE gives it some.")
        return
    if not found.fields:
        say(f"No value of {name} was read from a text; its values are as they were given.")
        return
    for doubt in found.doubts:
        say(_line(doubt))
    hidden = sum(one.below for one in found.fields.values()) - len(found.doubts)
    if hidden > 0:
        say(f"… and {hidden:,} more below {below:g}; --limit shows more")
    say("")
    for field, counts in found.fields.items():
        say(f"{field}: {counts.read:,} read, {counts.taken:,} taken, {counts.below:,} below {below:g}")
    if found.names:
        say("\nOne name in several spellings:")
    for joined in found.names:
        spellings = ", ".join(f"{spelling} ({count:,})" for spelling, count in joined.spellings)
        say(f"  {joined.field}: {joined.name} ← {spellings}")


def _line(doubt: "Doubt") -> str:
    where = f"{doubt.doc_id}, page {doubt.page}" if doubt.page is not None else str(doubt.doc_id)
    evidence = f"  “{doubt.evidence}”" if doubt.evidence else ""
    return f"{doubt.confidence:.2f}  {doubt.field} = {_shown(doubt)}  {where}{evidence}"


def _shown(doubt: "Doubt") -> str:
    value = doubt.value[0] if isinstance(doubt.value, tuple) and len(doubt.value) == 1 else doubt.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=dict)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


def _as_json(found: "Review") -> dict[str, object]:
    return {
        "values": [asdict(one) for one in found.doubts],
        "fields": {name: asdict(counts) for name, counts in found.fields.items()},
        "names": [{"field": one.field, "name": one.name, "spellings": dict(one.spellings)} for one in found.names],
    }
