"""`parley bucket review`: what was read for each field, values of low confidence, and the names that were joined."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import print_line, run_with_bot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.application import Application
    from storage.ingest.extract.field_review import FieldReview, ReviewExample
    from storage.ingest.extract.review_list import ExtractionReview, UncertainValue
    from storage.search.schema import Schema

_MAX_VALUE_CHARACTERS = 80  # of a value on a line
_MAX_COMMON_CHARACTERS = 24  # of each of the commonest values


def review(
    name: Annotated[str, typer.Argument(metavar="BUCKET")],
    below: Annotated[float, typer.Option(min=0.0, max=1.01, help="Values less sure than this.")] = 0.7,
    limit: Annotated[int, typer.Option(min=1, help="How many of them.")] = 50,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """What was read for each field, how sure, with examples; the least sure values; names with several spellings."""

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
    _print_fields(review_list)
    if review_list.uncertain_values:
        print_line(f"\nLess sure than {confidence_limit:g}, the least sure first:")
    for uncertain_value in review_list.uncertain_values:
        print_line(_format_uncertain_value(uncertain_value))
    hidden = sum(counts.below for counts in review_list.counts_by_field.values()) - len(review_list.uncertain_values)
    if hidden > 0:
        print_line(f"… and {hidden:,} more below {confidence_limit:g}; --limit shows more")
    if review_list.joined_names:
        print_line("\nOne name in several spellings:")
    for joined in review_list.joined_names:
        spellings = ", ".join(f"{spelling} ({count:,})" for spelling, count in joined.spellings)
        print_line(f"  {joined.field}: {joined.name} ← {spellings}")


def _print_fields(review_list: "ExtractionReview") -> None:
    kindless = review_list.kindless_count
    unknown = f"; {kindless:,} of them have no kind" if kindless else ""
    print_line(f"{review_list.document_count:,} documents were read for values{unknown}.\n")
    has_kinds = any(review.kinds for review in review_list.fields)
    header = ("field", *(["kinds"] if has_kinds else []), "read in", "sure", "likely", "doubtful", "commonest values")
    rows = [_row_of_field(review, has_kinds=has_kinds) for review in review_list.fields]
    print_line(_align_rows([header, *rows]))
    for review in review_list.fields:
        print_line(f"\n{review.label}")
        for doubt in review.doubts:
            print_line(f"  ! {doubt}")
        for example in review.examples:
            print_line(f"  {_format_example(example)}")


def _row_of_field(review: "FieldReview", *, has_kinds: bool) -> tuple[str, ...]:
    has_common = any(count > 1 for _, count in review.common_values)
    values = ", ".join(
        _shorten(value, _MAX_COMMON_CHARACTERS) + (f" ({count:,})" if has_common else "")
        for value, count in review.common_values
    )
    more = review.distinct_count - len(review.common_values)
    return (
        review.label,
        *([", ".join(review.kinds) or "all"] if has_kinds else []),
        f"{review.read:,} of {review.documents:,}",
        *(_format_share(count, review.read) for count in (review.sure, review.likely, review.doubtful)),
        f"{values} and {more:,} more" if more > 0 else values,
    )


def _align_rows(rows: "Sequence[tuple[str, ...]]") -> str:
    """Returns the rows with columns aligned by blanks; shares are aligned on the right."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    are_shares = [name in ("sure", "likely", "doubtful") for name in rows[0]]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if is_share else cell.ljust(width)
            for cell, width, is_share in zip(row, widths, are_shares, strict=True)
        ).rstrip()
        for row in rows
    )


def _format_share(count: int, total: int) -> str:
    return f"{count / total:.0%}" if total else "–"


def _format_example(example: "ReviewExample") -> str:
    quoted = f"  “{_shorten(example.evidence, _MAX_VALUE_CHARACTERS)}”" if example.evidence else ""
    return f"{example.confidence:.2f}  {_shorten(example.value, _MAX_VALUE_CHARACTERS)}  {example.place}{quoted}"


def _shorten(text: str, max_characters: int) -> str:
    return text if len(text) <= max_characters else f"{text[: max_characters - 1]}…"


def _format_uncertain_value(entry: "UncertainValue") -> str:
    location = f"{entry.doc_id}, page {entry.page}" if entry.page is not None else str(entry.doc_id)
    evidence = f"  “{entry.evidence}”" if entry.evidence else ""
    return f"{entry.confidence:.2f}  {entry.field} = {_format_extracted_value(entry)}  {location}{evidence}"


def _format_extracted_value(entry: "UncertainValue") -> str:
    value = entry.value[0] if isinstance(entry.value, tuple) and len(entry.value) == 1 else entry.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=dict)
    return _shorten(text, _MAX_VALUE_CHARACTERS)


def _review_list_to_json(review_list: "ExtractionReview") -> dict[str, object]:
    return {
        "values": [asdict(item) for item in review_list.uncertain_values],
        "fields": {name: asdict(counts) for name, counts in review_list.counts_by_field.items()},
        "reviews": [asdict(review) for review in review_list.fields],
        "documents": review_list.document_count,
        "documents_without_kind": review_list.kindless_count,
        "names": [
            {"field": item.field, "name": item.name, "spellings": dict(item.spellings)}
            for item in review_list.joined_names
        ],
    }
