"""`parley saved`: questions that are asked again by themselves."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.failures import CommandFailed
from bot.cli.options import BucketsOption, DebugOption, HomeOption, JsonOption, SpeakerOption
from bot.cli.runtime import build_surface, count_phrase_for, print_line, run_with_bot
from bot.cli.speaker import TERMINAL_SURFACE, new_conversation_id, speaker_for

if TYPE_CHECKING:
    from bot.application import Application
    from bot.turns.turn_processor import FinishedTurn
    from storage.sql.saved_search_store import StoredSavedSearch

app = typer.Typer(help="Questions that are asked again by themselves.", no_args_is_help=True)
NumberArgument = Annotated[int, typer.Argument(metavar="ID", min=1, show_default=False)]
_SILENT_SURFACES: Final = frozenset({TERMINAL_SURFACE, "mcp"})  # nothing can be posted there


@app.command()
def add(
    question: Annotated[str, typer.Argument(help="A question that names a set of documents.")],
    every: Annotated[
        str | None, typer.Option("--every", metavar="TIME", help="“monday 9:00”, “weekday at 8”, “month on the 1st”.")
    ] = None,
    on_change: Annotated[bool, typer.Option("--on-change", help="Whenever the documents have changed.")] = False,
    bucket: BucketsOption = None,
    as_: SpeakerOption = None,
    tz: Annotated[
        str | None, typer.Option("--tz", metavar="ZONE", help="Europe/Berlin. [default: this machine's]")
    ] = None,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Save a question. `parley saved run ID` shows what has changed since."""
    schedule_text = _read_schedule(every, on_change=on_change)
    _check_time_zone(tz)

    async def add_search(bot: "Application") -> None:
        from bot.surface.inbound import TextMessage

        speaker, body = speaker_for(as_), TextMessage(f"{schedule_text}: {question}")
        inbound = speaker.inbound_for(body, new_conversation_id(), bucket or ())
        turn = await bot.accept_inbound(replace(inbound, time_zone=tz or inbound.time_zone))
        if turn is None:
            raise CommandFailed("this message was sent before; send it again")
        finished_turn = await bot.run_turn(turn)
        if finished_turn.error is not None:
            raise CommandFailed(finished_turn.error)
        await _print_reply(bot, finished_turn)
        if await bot.saved_search_administration.find_search_of_turn(turn) is None:
            raise CommandFailed("nothing was saved")

    run_with_bot(add_search, home=home, debug=debug, answers_questions=True)


@app.command("list")
def list_searches(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """The saved searches of all people, with what each found the last time."""

    async def print_searches(bot: "Application") -> None:
        searches = await bot.saved_search_administration.list_searches()
        if json_:
            print_line(json.dumps([_search_to_json(search) for search in searches], ensure_ascii=False))
            return
        for search in searches:
            print_line(_describe_search(search))
        if not searches:
            print_line('There are no saved searches yet; parley saved add "QUESTION" --on-change adds one.')

    run_with_bot(print_searches, home=home, debug=debug)


@app.command("run")
def run_now(id_: NumberArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Ask now, due or not, and show what has changed; the search of a chat reports there."""

    async def run_search(bot: "Application") -> None:
        turn = await bot.saved_search_administration.start_run(id_, silent_surfaces=_SILENT_SURFACES)
        if turn is None:
            print_line(f"saved search {id_} is due now; parley serve reports it in its conversation")
            return
        finished_turn = await bot.run_turn(turn)
        if finished_turn.error is not None:
            raise CommandFailed(finished_turn.error)
        if finished_turn.reply.parts:
            await _print_reply(bot, finished_turn)
        else:
            print_line("nothing has changed since the last time, or the search is paused: parley saved list")

    run_with_bot(run_search, home=home, debug=debug, answers_questions=True)


@app.command()
def stop(id_: NumberArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """End a saved search for good."""

    async def stop_search(bot: "Application") -> None:
        search = await bot.saved_search_administration.stop_search(id_)
        print_line(f"stopped saved search {id_}: {search.question}")

    run_with_bot(stop_search, home=home, debug=debug)


@app.command()
def resume(id_: NumberArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Go on with a search that has paused."""

    async def resume_search(bot: "Application") -> None:
        search = await bot.saved_search_administration.resume_search(id_)
        print_line(f"saved search {id_} goes on, {search.schedule}: {search.question}")

    run_with_bot(resume_search, home=home, debug=debug)


def _read_schedule(every: str | None, *, on_change: bool) -> str:
    """The schedule in the words that a message begins with. Raises `typer.BadParameter`."""
    from bot.saved_searches.schedule import ON_CHANGE_TEXT, SCHEDULE_EXAMPLES, format_schedule, parse_schedule

    if (every is not None) == on_change:
        raise typer.BadParameter("give --every TIME or --on-change")
    if every is None:
        return ON_CHANGE_TEXT
    schedule = parse_schedule(every) or parse_schedule(f"every {every}")
    if schedule is None:
        raise typer.BadParameter(f"--every {every!r} is not a schedule; write {SCHEDULE_EXAMPLES}")
    return format_schedule(schedule)


def _check_time_zone(name: str | None) -> None:
    """Raises `typer.BadParameter` for a time zone that this machine does not know."""
    from datetime import UTC

    from bot.saved_searches.saved_searches import time_zone_of

    if name is not None and name != "UTC" and time_zone_of(name) is UTC:
        raise typer.BadParameter(f"--tz {name!r} is not a time zone such as Europe/Berlin")


async def _print_reply(bot: "Application", finished_turn: "FinishedTurn") -> None:
    terminal = build_surface(TERMINAL_SURFACE, bot)
    if terminal is not None:
        await terminal.outbox.thread_for(finished_turn.conversation, {}).post_message(finished_turn.reply)


def _describe_search(search: "StoredSavedSearch") -> str:
    due = "" if search.due_at is None else f", next {search.due_at:%Y-%m-%d %H:%M} UTC"
    documents = count_phrase_for(len(search.seen), "document")
    return (
        f"{search.position}  {search.question}  {search.schedule} ({search.time_zone}{due}); {documents}; "
        f"{search.status.value}; {search.person} in {search.conversation}"
    )


def _search_to_json(search: "StoredSavedSearch") -> dict[str, object]:
    names = ("question", "schedule", "time_zone", "person", "surface", "conversation", "buckets")
    values: dict[str, object] = {"id": search.position, **{name: getattr(search, name) for name in names}}
    times = {"due_at": search.due_at, "reported_at": search.reported_due_at, "created_at": search.created_at}
    return (
        values
        | {"status": search.status.value, "documents": len(search.seen)}
        | {name: time.isoformat() if time else None for name, time in times.items()}
    )
