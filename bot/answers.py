"""From an outcome to a Reply: what is said, in which parts, in which order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from agent.outcome import Answer, Choice, Citation, Clarify, ExportWanted, Grid, Outcome, Refused, StartedOver
from bot.ids import ChoiceId, ClarificationId, TurnId
from bot.replies import Button, Choices, File, Handle, Handles, Notice, Part, Reply, Source, Table, Text, escaped

_ALONE = "In a direct message to me you may see more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Choices as they were stored: each with the id that its button carries, in the order offered."""

    clarification: ClarificationId
    expires: datetime
    choices: tuple[tuple[ChoiceId, Choice], ...]


def reply_to(turn: TurnId, outcome: Outcome, offer: Offer | None, *, before: Sequence[Part] = ()) -> Reply:
    """All that the turn says; `before` comes first (a recount: "now 39, was 37")."""
    return Reply(turn=turn, parts=(*before, *_parts(outcome), *_buttons(offer), *_handles(outcome)))


def notice(turn: TurnId, sentence: str) -> Reply:
    return Reply(turn=turn, parts=(Notice(text=sentence),))


def file_reply(turn: TurnId, file: File, *, before: Sequence[Part] = ()) -> Reply:
    return Reply(turn=turn, parts=(*before, Text(markdown=file_text(file)), file))


def file_text(file: File) -> str:
    rows = "1 row" if file.rows == 1 else f"{file.rows:,} rows"
    return f"Here is **{escaped(file.name)}** with {rows}."


def _parts(outcome: Outcome) -> tuple[Part, ...]:
    match outcome:
        case Answer():
            return (_text(outcome), *map(_table, outcome.grids), *_remarks(outcome))
        case Clarify():  # its text ends in the question that the buttons answer
            return (*_remarks(outcome), *map(_table, outcome.grids), _text(outcome))
        case ExportWanted(count=count):
            return (Text(markdown=f"The file will have {count:,} rows."),)
        case StartedOver(text=text):
            return (Text(markdown=text),)
        case Refused(text=text, may_go_private=may_go_private):
            return (Notice(text=f"{text} {_ALONE}" if may_go_private else text),)
        case _:
            assert_never(outcome)


def _text(outcome: Answer | Clarify) -> Text:
    return Text(markdown=outcome.text, sources=tuple(map(_source, outcome.citations)))


def _remarks(outcome: Answer | Clarify) -> tuple[Part, ...]:
    """What was taken for granted, and what a follow-up kept, with the way to forget it."""
    lines: list[str] = []
    if outcome.assumptions:
        lines.append(f"_{'; '.join(map(escaped, outcome.assumptions))}_")
    if outcome.kept:
        lines.append(f"_kept: {', '.join(map(escaped, outcome.kept))} · say “start over” to forget it_")
    return (Text(markdown="\n\n".join(lines)),) if lines else ()


def _source(citation: Citation) -> Source:
    return Source(
        marker=citation.marker, title=citation.title, page=citation.page, url=citation.url, quote=citation.text
    )


def _table(grid: Grid) -> Table:
    return Table(caption=grid.caption, columns=grid.columns, rows=grid.rows)


def _handles(outcome: Outcome) -> tuple[Part, ...]:
    match outcome:
        case Answer():
            return (Handles(handles=(Handle.RATE, Handle.STEPS)),)
        case Clarify():
            return (Handles(handles=(Handle.STEPS,)),)
        case ExportWanted() | StartedOver() | Refused():
            return ()
        case _:
            assert_never(outcome)


def _buttons(offer: Offer | None) -> tuple[Part, ...]:
    if offer is None or not offer.choices:
        return ()
    buttons = tuple(
        Button(id=choice_id, label=choice.label, count=choice.count, kind=choice.kind.value)
        for choice_id, choice in offer.choices
    )
    return (Choices(clarification=offer.clarification, buttons=buttons, expires=offer.expires),)
