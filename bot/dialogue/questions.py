"""Questions of people: validated, and asked again in a private conversation."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from agent.compose.phrases.values import format_number
from bot.errors import InvalidQuestion
from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.inbound import MAX_QUESTION_CHARS, AttachedFile, Inbound, PrivateAudience, TextMessage
from bot.translation import translate_message


def validate_question(text: str) -> str:
    """Returns the question without NUL characters, lone surrogates and surrounding blanks.

    Raises `InvalidQuestion` when it is empty or too long.
    """
    question = text.encode(errors="replace").decode().replace("\x00", " ").strip()
    if not question:
        raise InvalidQuestion(translate_message("There is no question here; ask me something about your documents."))
    if len(question) > MAX_QUESTION_CHARS:
        raise InvalidQuestion(
            translate_message(
                "That is too long: a question may have {count} characters at most.",
                count=format_number(MAX_QUESTION_CHARS),
            )
        )
    return question


def private_question_of(
    inbound: Inbound,
    turn: TurnId,
    question: str,
    address: Mapping[str, str],
    now: datetime,
    files: tuple[AttachedFile, ...] = (),
) -> Inbound:
    """Returns the same question as a message that the person sends in a private conversation.

    Its event id is unique per turn. `files` are attached and fetched again.
    """
    event = f"alone:{turn}"
    return replace(
        inbound,
        event_id=event,
        conversation=ConversationId(f"{inbound.surface}:{event}"),
        message_id=MessageId(event),
        audience=PrivateAudience(person=inbound.person, is_guest=True),
        body=TextMessage(question),
        received_at=now,
        address=address,
        files=files,
        skipped_files=(),
        needs_thread=True,
    )
