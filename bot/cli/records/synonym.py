"""`parley bucket synonym`: another word for a value or a field, counted before it is added."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import count_phrase_for, print_line, run_with_bot

if TYPE_CHECKING:
    from bot.admin.schema_synonyms import SynonymPreview
    from bot.application import Application


def add_synonym(
    name: Annotated[str, typer.Argument(metavar="BUCKET")],
    field: Annotated[str, typer.Argument(metavar="FIELD", help="The field's name in the schema.")],
    word: Annotated[str, typer.Argument(metavar="WORD", help="What people write.")],
    value: Annotated[
        str | None, typer.Argument(metavar="[VALUE]", help="The value that it means; without it, the field itself.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Another word for a value or a field. It is counted first: what it would find. The next question uses it."""

    async def preview_and_add(bot: "Application") -> None:
        from bot.admin.schema_synonyms import SchemaSynonyms

        synonyms = SchemaSynonyms(bot.index, bot.access)
        preview = await synonyms.preview_synonym(name, field, word, value)
        if not json_:
            print_line(_describe_preview(preview))
        if not dry_run:
            _confirm_synonym(preview, yes=yes)
            await synonyms.add_synonym(preview)
        if json_:
            print_line(json.dumps(_preview_to_json(preview, is_added=not dry_run), ensure_ascii=False))
        elif not dry_run:
            print_line(f"added; parley bucket schema {preview.bucket} shows the schema, and takes the word out again")

    run_with_bot(preview_and_add, home=home, debug=debug)


def _describe_preview(preview: "SynonymPreview") -> str:
    meaning = f"{preview.field} = {preview.value}" if preview.value is not None else f"the field {preview.field}"
    found = count_phrase_for(preview.document_count, "document")
    mentions = (
        f"; {count_phrase_for(preview.mention_count, 'document')} mention the word in their text"
        if preview.mention_count
        else ""
    )
    return f"“{preview.word}” as {meaning} would find {found}{mentions}"


def _confirm_synonym(preview: "SynonymPreview", *, yes: bool) -> None:
    if not yes and not (sys.stdin.isatty() and typer.confirm(f"Add “{preview.word}” to {preview.bucket}?", err=True)):
        raise CommandFailed("nothing was changed; give --yes to add it without being asked, --dry-run to count")


def _preview_to_json(preview: "SynonymPreview", *, is_added: bool) -> dict[str, object]:
    return {
        "bucket": preview.bucket,
        "field": preview.field,
        "value": preview.value,
        "word": preview.word,
        "documents": preview.document_count,
        "mentions": preview.mention_count,
        "added": is_added,
    }
