"""`parley forget`: erases a person."""

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.failures import CommandFailed, exit_on_failure
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import count_phrase_for, is_debug_on, print_line, settings_for_home

if TYPE_CHECKING:
    from bot.admin.person_erasure import ErasureReport
    from bot.ids import PersonId
    from bot.settings import Settings

_USER_PREFIX: Final = "user:"
_ROW_NOUNS: Final = {
    "turns": "question and click",
    "attempts": "search",
    "model_calls": "model call",
    "clarifications": "clarification",
    "choices": "choice",
    "conversations": "conversation summary",
    "exports": "export",
    "file_offers": "offered file",
    "attached_files": "attached file",
    "feedback": "rating",
    "saved_searches": "saved search",
    "grants": "grant",
    "members": "group membership",
    "person_links": "link between ids",
    "admins": "admin",
    "program_tokens": "token of a program",
    "audit": "audit entry",
}
_PLURALS: Final = {
    "question and click": "questions and clicks",
    "search": "searches",
    "saved search": "saved searches",
    "conversation summary": "conversation summaries",
    "token of a program": "tokens of programs",
    "link between ids": "links between ids",
    "audit entry": "audit entries",
}


def forget(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="user:slack:T1:U1, user:teams:TENANT:OBJECT, user:local:NAME")
    ],
    linked: Annotated[bool, typer.Option("--linked", help="Also the ids that are linked with this one.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Erase a person: questions, answers, files, exports, ratings, grants and memberships. This cannot be undone.

    In conversations with others, the person's messages and the replies to them become a mark. The audit keeps its
    entries, under a pseudonym. Parley may go on running meanwhile. If it was interrupted, run it again.
    """
    with exit_on_failure(debug=is_debug_on(debug)):
        person = _parse_person_subject(subject)
        settings = settings_for_home(home).settings
        report = asyncio.run(_count(settings, person, with_linked=linked))
        if not dry_run:
            if not report.is_empty:
                if not json_:
                    _print_report(report)
                _confirm_erasure(report, yes=yes)
            report = asyncio.run(_erase(settings, person, with_linked=linked))
        if json_:
            print_line(json.dumps(_report_to_json(report), ensure_ascii=False))
        else:
            _print_report(report)


def _parse_person_subject(subject: str) -> "PersonId":
    """Raises `InvalidSubject` for what names no person."""
    from bot.access.subjects import parse_person, parse_subject
    from bot.errors import InvalidSubject

    if not subject.startswith(_USER_PREFIX):
        try:
            parse_subject(subject)
        except InvalidSubject:
            return parse_person(subject)
        raise InvalidSubject(subject, "is not a person; only people are forgotten: user:slack:T1:U1, user:local:NAME")
    return parse_person(parse_subject(subject).removeprefix(_USER_PREFIX))


async def _count(settings: "Settings", person: "PersonId", *, with_linked: bool) -> "ErasureReport":
    from bot.admin.person_erasure import count_person_rows, find_linked_persons
    from bot.health.database_upkeep import open_database

    async with open_database(settings) as database:
        others = await find_linked_persons(database, person) if with_linked else frozenset["PersonId"]()
        return await count_person_rows(database, settings, {person, *others})


async def _erase(settings: "Settings", person: "PersonId", *, with_linked: bool) -> "ErasureReport":
    from bot.admin.person_erasure import erase_person, find_linked_persons
    from bot.health.database_upkeep import open_database

    async with open_database(settings) as database:
        others = await find_linked_persons(database, person) if with_linked else frozenset["PersonId"]()
        return await erase_person(database, settings, {person, *others})


def _confirm_erasure(report: "ErasureReport", *, yes: bool) -> None:
    names = ", ".join(report.persons)
    if not yes and not (sys.stdin.isatty() and typer.confirm(f"Erase {names}? This cannot be undone.", err=True)):
        raise CommandFailed("nothing was erased; give --yes to erase without being asked, --dry-run to count")


def _print_report(report: "ErasureReport") -> None:
    counts, verb = report.counts, "would be" if report.is_trial else "was"
    lines = [f"deleted: {_row_phrase_for(table, count)}" for table, count in counts.deleted.items()]
    lines += [f"deleted: {count_phrase_for(report.export_files, 'exported file')}"] if report.export_files else []
    if counts.marked:
        noun = _phrase_for(counts.marked, _ROW_NOUNS["turns"])
        lines.append(f"replaced by a mark: {noun}, with the replies, in conversations with others")
    lines += [f"under a pseudonym: {_row_phrase_for(table, count)}" for table, count in counts.pseudonymised.items()]
    lines += [f"masked: {count_phrase_for(report.log_entries, 'entry')} of the log"] if report.log_entries == 1 else []
    lines += [f"masked: {report.log_entries:,} entries of the log"] if report.log_entries > 1 else []
    print_line(
        f"{', '.join(report.persons)} {verb} erased" if lines else f"{', '.join(report.persons)}: nothing is kept"
    )
    for line in lines:
        print_line(f"  {line}")
    if report.linked:
        print_line(f"not erased: {', '.join(report.linked)}, the same person by a link; --linked erases them too")
    for sentence in report.remaining if lines else ():
        print_line(f"note: {sentence}")


def _row_phrase_for(table: str, count: int) -> str:
    return (
        _phrase_for(count, _ROW_NOUNS[table]) if table in _ROW_NOUNS else f"{count_phrase_for(count, 'row')} of {table}"
    )


def _phrase_for(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else _PLURALS.get(noun, f'{noun}s')}"


def _report_to_json(report: "ErasureReport") -> dict[str, object]:
    return {
        "persons": list(report.persons),
        "dry_run": report.is_trial,
        "conversations": report.counts.conversations,
        "deleted": dict(report.counts.deleted),
        "marked_turns": report.counts.marked,
        "pseudonymised": dict(report.counts.pseudonymised),
        "exported_files": report.export_files,
        "log_entries": report.log_entries,
        "linked": list(report.linked),
        "notes": list(report.remaining),
    }
