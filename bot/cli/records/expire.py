"""`parley bucket expire`: deletes the documents of a bucket that are older than its rules keep them."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import count_phrase_for, print_line, run_with_bot

if TYPE_CHECKING:
    from bot.application import Application


def expire_documents(
    name: Annotated[str, typer.Argument(metavar="BUCKET")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also more than a fifth of the documents.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Delete what is older than its retention keeps it, as `parley serve` does every hour."""

    async def expire_bucket(bot: "Application") -> None:
        rules = [rule for rule in await bot.document_retention.load_rules() if rule.bucket == name]
        if not rules:
            raise CommandFailed(
                f"neither PARLEY_DOCUMENT_RETENTION, which takes BUCKET:DATE_FIELD:DAYS, nor the admin page has a rule"
                f" for {name!r}"
            )
        for rule in rules:
            found = await bot.document_retention.count_expired(rule)
            if found.problem:
                raise CommandFailed(found.problem)
            print_line(
                f"{name}: {found.expired:,} of {count_phrase_for(found.total, 'document')} "
                f"{'were loaded' if rule.counts_from_loading else f'have a {rule.field}'} more than"
                f" {count_phrase_for(rule.days, 'day')} ago"
            )
            if found.undated:
                print_line(
                    f"{count_phrase_for(found.undated, 'document')}, loaded by an earlier version, without that"
                    " day: kept until changed"
                )
            if dry_run or not found.expired:
                continue
            if found.is_refused and not anyway:
                raise CommandFailed("that is more than a fifth, so none was deleted; if that is right: --anyway")
            if not yes and not (sys.stdin.isatty() and typer.confirm("Delete them?", err=True)):
                raise CommandFailed("nothing was deleted; give --yes to delete without being asked")
            print_line(f"deleted {count_phrase_for(await bot.document_retention.delete_expired(rule), 'document')}")

    run_with_bot(expire_bucket, home=home, debug=debug)
