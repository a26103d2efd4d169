"""The connector's calls that write: send, update and delete an activity, and open a personal chat."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from tests.stand_ins.teams.activity_checker import attachments_of, check_activity, check_shape
from tests.stand_ins.teams.json_parts import objects_of
from tests.stand_ins.teams.refusals import ConnectorRefused, JsonMapping, mapping_in, refuse_call_unless, sequence_in
from tests.stand_ins.teams.state import TeamsServerState
from tests.stand_ins.teams.streams import StandInStream, StreamPart, open_stream, stream_part_of, take_stream_part
from tests.stand_ins.teams.tenancy import FILE_CARD, TenantConversation, TenantMessage

CallAnswer: TypeAlias = tuple[int, Any]


def send_activity(teams: TeamsServerState, address: str, reply_to: str, body: JsonMapping) -> CallAnswer:
    """Send a message, or a `typing` activity. In a channel a new message without a thread begins one."""
    conversation, thread = writable_conversation(teams, address)
    _count_send(teams, address)
    _check_shape(body)
    part = stream_part_of(body)
    if part is not None:
        return _send_stream_part(teams, conversation, part, body)
    _check_body(teams, conversation, body)
    if body["type"] == "typing":
        return 201, {"id": teams.tenant.next_activity_id()}
    if reply_to and not thread and conversation.kind == "channel":
        thread = _message_of(teams, conversation, reply_to).thread
    pieces = split_message(body)
    messages = [_add_message(teams, conversation, thread, piece) for piece in pieces]
    return (201, {"id": messages[0].id}) if len(messages) == 1 else (202, None)


def split_message(body: JsonMapping) -> list[JsonMapping]:
    """Returns the messages that Teams makes of one activity: the text, then each attachment, unless it is a carousel.

    Of several messages the connector names none (https://github.com/microsoft/BotFramework-Services/issues/98).
    """
    attachments = [[part] for part in objects_of(body, "attachments")]
    if body.get("attachmentLayout") == "carousel":
        attachments = [[part for [part] in attachments]] if attachments else []
    has_text = bool((body.get("text") or "").strip())
    if len(attachments) + has_text <= 1:
        return [body]
    rest = {name: value for name, value in body.items() if name not in {"attachments", "text"}}
    texts = [{**rest, "text": body["text"]}] if has_text else []
    return [*texts, *({**rest, "attachments": group} for group in attachments)]


def update_activity(teams: TeamsServerState, address: str, activity_id: str, body: JsonMapping) -> CallAnswer:
    conversation, _ = writable_conversation(teams, address)
    _count_send(teams, address)
    _refuse_update_if_deleted(teams, conversation, activity_id)
    message = _own_message_of(teams, conversation, activity_id)
    check_shape(body)
    refuse_call_unless(body["type"] == "message", "an update is a message")
    refuse_call_unless(stream_part_of(body) is None, "an update is no part of a stream")
    _check_body(teams, conversation, body)
    stream = teams.streams.get(activity_id)
    if stream is not None:
        stream.end_if_overdue(teams.clock())
        if stream.is_open:
            raise ConnectorRefused(403, "ContentStreamNotAllowed", "the message is being streamed")
    message.versions.append(message.activity)
    message.activity = dict(body)
    return 200, {"id": activity_id}


def delete_activity(teams: TeamsServerState, address: str, activity_id: str, body: JsonMapping) -> CallAnswer:
    """Delete a message. The call has no body."""
    refuse_call_unless(not body, "a deletion has no body")
    conversation, _ = writable_conversation(teams, address)
    _own_message_of(teams, conversation, activity_id).is_deleted = True
    return 200, None


def create_conversation(teams: TeamsServerState, address: str, reply_to: str, body: JsonMapping) -> CallAnswer:
    """Open the personal chat with a person who has the app, or a new thread in a channel. The path names nothing."""
    refuse_call_unless(not address and not reply_to, "the path names a conversation")
    bot = mapping_in(body.get("bot"), "bot")
    refuse_call_unless(bot.get("id") == teams.tenant.bot_id, "bot is another app")
    channel_data = mapping_in(body.get("channelData") or {}, "channelData")
    if "channel" in channel_data:
        channel = str(mapping_in(channel_data["channel"], "channel").get("id"))
        refuse_call_unless("activity" in body, "a new thread needs its activity")
        answer = send_activity(teams, channel, "", mapping_in(body["activity"], "activity"))[1]
        return 201, {"id": f"{channel};messageid={answer['id']}", "activityId": answer["id"]}
    members = sequence_in(body.get("members"), "members")
    refuse_call_unless(len(members) == 1 and not body.get("isGroup"), "one member, in a personal chat")
    tenant = body.get("tenantId") or mapping_in(channel_data.get("tenant") or {}, "tenant").get("id")
    refuse_call_unless(tenant == teams.tenant.id, "the tenant is missing")
    wanted = mapping_in(members[0], "member").get("id")
    person = next((person for person in teams.tenant.people.values() if wanted in {person.id, person.object_id}), None)
    if person is None:
        raise ConnectorRefused(404, "MemberNotFound", "nobody of that id")
    chat = teams.tenant.find_personal_chat(person)
    if chat is None or not chat.has_app:
        raise ConnectorRefused(403, "BotNotInstalled", "Bot is not installed in user's personal scope")
    return 201, {"id": chat.id}


def writable_conversation(teams: TeamsServerState, address: str) -> tuple[TenantConversation, str]:
    """Returns a conversation in which the app is, and the id of the thread that the address names."""
    key, _, thread = address.partition(";messageid=")
    conversation = teams.tenant.conversations.get(key)
    if conversation is None:
        raise ConnectorRefused(404, "ConversationNotFound", "Conversation not found.")
    if not conversation.lists_app:
        raise ConnectorRefused(403, "BotNotInConversationRoster", "The bot is not part of the conversation roster.")
    if conversation.is_blocked:
        raise ConnectorRefused(403, "MessageWritesBlocked", "Message writes are blocked.")
    if thread:
        refuse_call_unless(conversation.kind == "channel", "only channels have threads")
        _message_of(teams, conversation, thread)
    return conversation, thread


CALLS: Final[Mapping[str, Callable[[TeamsServerState, str, str, JsonMapping], CallAnswer]]] = {
    "send": send_activity,
    "update": update_activity,
    "delete": delete_activity,
    "create": create_conversation,
}


def _send_stream_part(
    teams: TeamsServerState, conversation: TenantConversation, part: StreamPart, body: JsonMapping
) -> CallAnswer:
    if conversation.kind != "personal":
        raise ConnectorRefused(403, "ContentStreamNotAllowed", "Content stream is not allowed")
    _check_body(teams, conversation, body)
    now = teams.clock()
    if not part.stream_id:
        return _open_stream(teams, conversation, part, body, now)
    stream = teams.streams.get(part.stream_id)
    refuse_call_unless(
        stream is not None and stream.conversation == conversation.id, "no such streamId", code="BadRequest"
    )
    if stream is None or not take_stream_part(stream, part, now):
        return 202, {"error": {"code": "ContentStreamSequenceOrderPreConditionFailed"}}
    message = _message_of(teams, conversation, stream.id)
    message.activity = dict(body)
    return 202, {}


def _open_stream(
    teams: TeamsServerState, conversation: TenantConversation, part: StreamPart, body: JsonMapping, now: float
) -> CallAnswer:
    for stream in _streams_in(teams, conversation):
        stream.end_if_overdue(now)
        if stream.is_open:
            raise ConnectorRefused(403, "ContentStreamNotAllowed", "another stream is open in this conversation")
    opened = open_stream(part, teams.tenant.next_activity_id(), conversation.id, now)
    teams.streams[opened.id] = opened
    _add_message(teams, conversation, "", body, opened.id)
    return 201, {"id": opened.id}


def _streams_in(teams: TeamsServerState, conversation: TenantConversation) -> list[StandInStream]:
    return [stream for stream in teams.streams.values() if stream.conversation == conversation.id]


def _add_message(
    teams: TeamsServerState, conversation: TenantConversation, thread: str, body: JsonMapping, message_id: str = ""
) -> TenantMessage:
    key = message_id or teams.tenant.next_activity_id()
    message = TenantMessage(
        id=key,
        conversation=conversation.id,
        sender=teams.tenant.bot_id,
        activity=dict(body),
        thread=(thread or key) if conversation.kind == "channel" else "",
    )
    teams.tenant.messages.append(message)
    return message


def _message_of(teams: TeamsServerState, conversation: TenantConversation, message_id: str) -> TenantMessage:
    message = teams.tenant.find_message(conversation.id, message_id)
    if message is None:
        raise ConnectorRefused(404, "ActivityNotFoundInConversation", "The activity is not in the conversation.")
    return message


def _refuse_update_if_deleted(teams: TeamsServerState, conversation: TenantConversation, message_id: str) -> None:
    """Elsewhere than in a channel, a deleted message counts as unknown.

    https://github.com/microsoft/BotFramework-Services/issues/269
    """
    if conversation.kind == "channel" and teams.tenant.is_deleted_message(conversation.id, message_id):
        raise ConnectorRefused(403, "ServiceError", "Unknown")


def _own_message_of(teams: TeamsServerState, conversation: TenantConversation, message_id: str) -> TenantMessage:
    message = _message_of(teams, conversation, message_id)
    if message.sender != teams.tenant.bot_id:
        raise ConnectorRefused(403, "Forbidden", "The message is of another author.")
    return message


def _check_body(teams: TeamsServerState, conversation: TenantConversation, body: JsonMapping) -> None:
    check_activity(body, is_personal=conversation.kind == "personal", supports_files=teams.supports_files)
    sender = body.get("from")
    if sender is not None:
        refuse_call_unless(mapping_in(sender, "from").get("id") == teams.tenant.bot_id, "from is another account")
    for card in attachments_of(body, FILE_CARD):
        uploaded = teams.files.find_finished(card["content"]["uniqueId"])
        is_known = uploaded is not None and uploaded.content_url == card["contentUrl"]
        refuse_call_unless(is_known, "file card of a file that was not uploaded")


def _count_send(teams: TeamsServerState, address: str) -> None:
    if not teams.limits_sends:
        return
    wait = teams.limits.seconds_to_wait(address, teams.clock())
    if wait is not None:
        raise ConnectorRefused(429, "TooManyRequests", "API calls quota exceeded", retry_after=wait)


def _check_shape(body: JsonMapping) -> None:
    """Check the shape. A part of a stream that is too large is refused with an error of streams."""
    try:
        check_shape(body)
    except ConnectorRefused as exc:
        if exc.status == 413 and stream_part_of(body) is not None:
            raise ConnectorRefused(403, "ContentStreamNotAllowed", "Message size too large") from None
        raise
