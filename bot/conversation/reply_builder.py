"""Builds a `Reply` from an outcome: its parts and their order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from agent.compose.phrases.values import format_number
from agent.outcome import (
    Answer,
    Choice,
    Citation,
    Clarify,
    ExportOutcome,
    Outcome,
    Refused,
    ResultPicture,
    ResultTable,
    StartOverOutcome,
)
from agent.translation.local_formats import localize_count
from agent.translation.message_catalogues import mark_message
from bot.ids import ChoiceId, ClarificationId, TurnId
from bot.saved_searches.watched_documents import find_read_buckets, find_watched_searches
from bot.surface.attachments import ATTACHMENTS_BUCKET
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    FilePart,
    NoticePart,
    PicturePart,
    Reply,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
    escape_markdown,
)
from bot.translation import translate_message, translate_plural
from bot.web_search.web_pages import WEB_BUCKET

_DIRECT_MESSAGE_HINT = mark_message("In a direct message to me you may see more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOffer:
    """Stored choices in the order offered, each with the id that its button has."""

    clarification: ClarificationId
    expires_at: datetime
    choices: tuple[tuple[ChoiceId, Choice], ...]


def reply_for(
    turn: TurnId,
    outcome: Outcome,
    offer: StoredOffer | None,
    *,
    leading_parts: Sequence[ReplyPart] = (),
    show_pictures: bool = True,
) -> Reply:
    """The whole reply of a turn. `leading_parts` come first, such as a changed count ("now 39, was 37")."""
    parts = _outcome_parts(outcome, show_pictures=show_pictures)
    return Reply(turn=turn, parts=(*leading_parts, *parts, *_button_parts(offer), *_action_parts(outcome)))


def notice_reply_for(turn: TurnId, sentence: str) -> Reply:
    return Reply(turn=turn, parts=(NoticePart(text=sentence),))


def file_reply_for(turn: TurnId, file: FilePart, *, leading_parts: Sequence[ReplyPart] = ()) -> Reply:
    return Reply(turn=turn, parts=(*leading_parts, TextPart(markdown=file_sentence_for(file)), file))


def file_sentence_for(file: FilePart) -> str:
    return translate_message(
        "Here is **{file}** with {rows}.", file=escape_markdown(file.name), rows=file.row_count_text
    )


def _outcome_parts(outcome: Outcome, *, show_pictures: bool) -> tuple[ReplyPart, ...]:
    match outcome:
        case Answer():
            return (_text_part_of(outcome), *_figure_parts(outcome, show_pictures), *_remark_parts(outcome))
        case Clarify():  # the text comes last: it ends in the question that the buttons answer
            return (
                *_remark_parts(outcome),
                *_figure_parts(outcome, show_pictures),
                *_text_parts_before_choices(outcome),
            )
        case ExportOutcome(count=count):
            return (TextPart(markdown=_describe_row_count(count)),)
        case StartOverOutcome(text=text):
            return (TextPart(markdown=text),)
        case Refused(text=text, may_go_private=may_go_private):
            return (NoticePart(text=f"{text} {translate_message(_DIRECT_MESSAGE_HINT)}" if may_go_private else text),)
        case _:
            assert_never(outcome)


def _describe_row_count(count: int) -> str:
    return translate_plural(
        "The file will have {count} rows.", "The file will have {count} rows.", count, count=format_number(count)
    )


def _text_part_of(outcome: Answer | Clarify) -> TextPart:
    return TextPart(markdown=outcome.text, sources=tuple(map(_shown_citation_of, outcome.citations)))


def _text_parts_before_choices(clarify: Clarify) -> tuple[TextPart, ...]:
    """The text with its sources; then the line that introduces the choices, so that no source appears between them."""
    heading = clarify.choices_heading
    body = clarify.text.removesuffix(heading).rstrip()
    if not heading or not clarify.citations or not body or body == clarify.text:
        return (_text_part_of(clarify),)
    return (_text_part_of(replace(clarify, text=body)), TextPart(markdown=heading))


def _remark_parts(outcome: Answer | Clarify) -> tuple[ReplyPart, ...]:
    """The assumptions, and the conditions that a follow-up kept, with a hint how to drop them."""
    lines: list[str] = []
    if outcome.assumptions:
        lines.append(f"_{' '.join(map(_close_remark, map(escape_markdown, outcome.assumptions)))}_")
    if outcome.kept_conditions:
        kept = ", ".join(map(escape_markdown, outcome.kept_conditions))
        lines.append(translate_message("_kept: {conditions} · say “start over” to forget it_", conditions=kept))
    return (TextPart(markdown="\n\n".join(lines)),) if lines else ()


def _close_remark(remark: str) -> str:
    """Returns the remark as a sentence: with a capital letter and a full stop."""
    sentence = f"{remark[:1].upper()}{remark[1:]}"
    return sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."


def _shown_citation_of(citation: Citation) -> ShownCitation:
    return ShownCitation(
        marker=citation.marker,
        title=citation.title,
        page=citation.page,
        url=citation.url,
        quote=citation.text,
        doc_id=citation.doc_id,
    )


def _figure_parts(outcome: Answer | Clarify, show_pictures: bool) -> tuple[ReplyPart, ...]:
    """The pictures, then the tables."""
    pictures = map(_picture_part_of, outcome.pictures if show_pictures else ())
    return (*pictures, *map(_table_part_of, outcome.tables))


def _picture_part_of(picture: ResultPicture) -> PicturePart:
    return PicturePart(kind=picture.kind, title=picture.title, points=picture.points, description=picture.description)


def _table_part_of(grid: ResultTable) -> TablePart:
    return TablePart(caption=grid.caption, columns=grid.columns, rows=grid.rows)


def _action_parts(outcome: Outcome) -> tuple[ReplyPart, ...]:
    match outcome:
        case Answer():
            return (TurnActionsPart(handles=(TurnAction.RATE, TurnAction.STEPS, *_save_actions(outcome))),)
        case Clarify():
            return (TurnActionsPart(handles=(TurnAction.STEPS, *_save_actions(outcome))),)
        case ExportOutcome() | StartOverOutcome() | Refused():
            return ()
        case _:
            assert_never(outcome)


def _save_actions(outcome: Answer | Clarify) -> tuple[TurnAction, ...]:
    return (TurnAction.SAVE,) if can_be_saved(outcome) else ()


def can_be_saved(outcome: Outcome) -> bool:
    """Whether it names a set of documents that stay: neither attached to the conversation nor of the web."""
    searches = find_watched_searches(outcome)
    return bool(searches) and not find_read_buckets(searches) & {ATTACHMENTS_BUCKET, WEB_BUCKET}


def choices_reply_for(turn: TurnId, markdown: str, offer: StoredOffer | None) -> Reply:
    """A text with the choices that it introduces."""
    text_parts = (TextPart(markdown=markdown),) if markdown else ()
    return Reply(turn=turn, parts=(*text_parts, *_button_parts(offer)))


def _button_parts(offer: StoredOffer | None) -> tuple[ReplyPart, ...]:
    if offer is None or not offer.choices:
        return ()
    buttons = tuple(
        ChoiceButton(
            id=choice_id,
            label=choice.label,
            count=choice.count,
            kind=choice.kind.value,
            local_count=localize_count(choice.count),
        )
        for choice_id, choice in offer.choices
    )
    return (ChoicesPart(clarification=offer.clarification, buttons=buttons, expires=offer.expires_at),)
