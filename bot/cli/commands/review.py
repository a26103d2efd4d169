"""`parley bucket review`: extracted values of low confidence, and the names that extraction joined."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import print_line, run_with_bot

if TYPE_CHECKING:
    from bot.application import Application
    from storage.ingest.extract.review_list import ExtractionReview, UncertainValue
    from storage.search.schema import Schema

_MAX_VALUE_CHARACTERS = 80  # of a value on a line


def review(
    name: Annotated[str, typer.Argument(metavar="BUCKET")],
    below: Annotated[float, typer.Option(min=0.0, max=1.01, help="Values less sure than this.")] = 0.7,
    limit: Annotated[int, typer.Option(min=1, help="How many of them.")] = 50,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Extracted values to look through, the least sure first, and names with several spellings."""

    async def print_review(bot: "Application") -> None:
        from bot.cli.commands.buckets import bucket_state_of
        from storage.ingest.extract.review_list import review_extraction as reviewed

        schema = (await bucket_state_of(bot, name)).schema
        review_list = await reviewed(bot.index, schema, below_confidence=below, limit=limit)
        if json_:
            print_line(json.dumps(_review_list_to_json(review_list), ensure_ascii=False))
        else:
            _print_review_list(review_list, schema, below)

    run_with_bot(print_review, home=home, debug=debug)


def _print_review_list(review_list: "ExtractionReview", schema: "Schema", confidence_limit: float) -> None:
    name = schema.bucket
    if not schema.fields:
        print_line(f"{name} has no fields to fill; parley bucket schema {name} --set FILE gives it some.")
        return
    if not review_list.counts_by_field:
        print_line(f"No value of {name} was read from a text; its values are as they were given.")
        return
    for uncertain_value in review_list.uncertain_values:
        print_line(_format_uncertain_value(uncertain_value))
    hidden = sum(counts.below for counts in review_list.counts_by_field.values()) - len(review_list.uncertain_values)
    if hidden > 0:
        print_line(f"… and {hidden:,} more below {confidence_limit:g}; --limit shows more")
    print_line("")
    for field, counts in review_list.counts_by_field.items():
        print_line(
            f"{field}: {counts.read:,} read, {counts.taken:,} taken, {counts.below:,} below {confidence_limit:g}"
        )
    if review_list.joined_names:
        print_line("\nOne name in several spellings:")
    for joined in review_list.joined_names:
        spellings = ", ".join(f"{spelling} ({count:,})" for spelling, count in joined.spellings)
        print_line(f"  {joined.field}: {joined.name} ← {spellings}")


def _format_uncertain_value(entry: "UncertainValue") -> str:
    location = f"{entry.doc_id}, page {entry.page}" if entry.page is not None else str(entry.doc_id)
    evidence = f"  “{entry.evidence}”" if entry.evidence else ""
    return f"{entry.confidence:.2f}  {entry.field} = {_format_extracted_value(entry)}  {location}{evidence}"


def _format_extracted_value(entry: "UncertainValue") -> str:
    value = entry.value[0] if isinstance(entry.value, tuple) and len(entry.value) == 1 else entry.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=dict)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[: _MAX_VALUE_CHARACTERS - 1]}…"


def _review_list_to_json(review_list: "ExtractionReview") -> dict[str, object]:
    return {
        "values": [asdict(item) for item in review_list.uncertain_values],
        "fields": {name: asdict(counts) for name, counts in review_list.counts_by_field.items()},
        "names": [
            {"field": item.field, "name": item.name, "spellings": dict(item.spellings)}
            for item in review_list.joined_names
        ],
    }
