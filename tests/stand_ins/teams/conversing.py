"""People's actions in conversations: writing, editing, deleting, and stopping an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.stand_ins.teams.activities import ActivityBuilder
from tests.stand_ins.teams.deliveries import ActivityDelivery
from tests.stand_ins.teams.tenancy import TenantConversation, TenantMessage, TenantPerson


class TeamsActionNotPossible(Exception):
    """Teams' clients do not offer this action."""


@dataclass
class TeamsConversing(ActivityBuilder):
    async def say(
        self,
        person: TenantPerson,
        conversation: TenantConversation | None,
        text: str,
        *,
        mention: bool = True,
        mentions: Sequence[TenantPerson] = (),
        thread: TenantMessage | None = None,
        attachments: Sequence[dict[str, Any]] = (),
        deliveries: int = 1,
    ) -> tuple[TenantMessage, list[ActivityDelivery]]:
        """Write a message and deliver it `deliveries` times; without a conversation, in the chat with the app.

        `mention`: outside a personal chat the bot is mentioned; without that, Teams delivers nothing. `thread`: any
        message of the thread to answer in. `attachments`: those of `upload_attachment`.
        """
        place = conversation or self.tenant.personal_chat_of(person)
        self._check_member(person, place)
        is_mentioned = mention and place.kind != "personal"
        key = self.tenant.next_activity_id()
        root = "" if place.kind != "channel" else (thread.thread if thread is not None else key)
        address = f"{place.id};messageid={root}" if root else place.id
        fields = self.text_fields(person, place, text, mention=is_mentioned, mentions=mentions)
        files = list(attachments) if place.kind == "personal" else []  # bots get none elsewhere
        activity = {**self.base_activity("message", person, place, address, key), **fields}
        activity["attachments"] = [*files, *activity["attachments"]]
        message = TenantMessage(id=key, conversation=place.id, sender=person.id, activity=activity, thread=root)
        self.tenant.messages.append(message)
        if not self._is_delivered(place, is_mentioned):
            return message, []
        return message, [await self.deliver_activity(activity) for _ in range(deliveries)]

    async def edit_message(self, message: TenantMessage, text: str, *, mention: bool = True) -> ActivityDelivery:
        """Edit a message as its author. Its files stay."""
        person, place = self._author_of(message), self.conversation_of(message)
        is_mentioned = mention and place.kind != "personal"
        fields = self.text_fields(person, place, text, mention=is_mentioned)
        files = [part for part in message.attachments if part["contentType"] != "text/html"]
        fields["attachments"] = [*files, *fields["attachments"]]
        message.versions.append(message.activity)
        message.activity = {**message.activity, **fields}
        activity = {
            **self.base_activity("messageUpdate", person, place, message.address, message.id),
            **fields,
            "channelData": self.channel_data(place, eventType="editMessage"),
        }
        return await self._deliver_change(place, activity, is_mentioned)

    async def delete_message(self, message: TenantMessage) -> ActivityDelivery:
        """Delete a message as its author."""
        person, place = self._author_of(message), self.conversation_of(message)
        message.is_deleted = True
        return await self._deliver_change(place, self._deletion_of(person, place, message), True)

    async def restore_message(self, message: TenantMessage) -> ActivityDelivery:
        """Undo the deletion of a message as its author."""
        person, place = self._author_of(message), self.conversation_of(message)
        message.is_deleted = False
        activity = {
            **self.base_activity("messageUpdate", person, place, message.address, message.id),
            "text": message.text,
            "textFormat": "plain",
            "entities": message.activity.get("entities", []),
            "channelData": self.channel_data(place, eventType="undeleteMessage"),
        }
        return await self._deliver_change(place, activity, True)

    async def deliver_again(self, message: TenantMessage) -> ActivityDelivery:
        """Deliver a person's message once more, as it was first written."""
        return await self.deliver_activity(message.versions[0] if message.versions else message.activity)

    def stop_stream(self, person: TenantPerson) -> None:
        """Press the stop button beside an answer that is being streamed. The app learns it from its next call."""
        chat = self.tenant.personal_chat_of(person)
        streams = [stream for stream in self.streams.values() if stream.conversation == chat.id]
        for stream in streams:
            stream.end_if_overdue(self.clock())
        growing = [stream for stream in streams if stream.is_open]
        if not growing:
            raise TeamsActionNotPossible("nothing is being streamed")
        for stream in growing:
            stream.ending = "Content stream was canceled by user"

    def conversation_of(self, message: TenantMessage) -> TenantConversation:
        return self.tenant.conversations[message.conversation]

    def _deletion_of(self, person: TenantPerson, place: TenantConversation, message: TenantMessage) -> dict[str, Any]:
        return {
            **self.base_activity("messageDelete", person, place, message.address, message.id),
            "channelData": self.channel_data(place, eventType="softDeleteMessage"),
        }

    async def _deliver_change(
        self, place: TenantConversation, activity: dict[str, Any], is_mentioned: bool
    ) -> ActivityDelivery:
        if not self._is_delivered(place, is_mentioned):
            return ActivityDelivery(activity=activity, statuses=[])
        return await self.deliver_activity(activity)

    def _is_delivered(self, place: TenantConversation, is_mentioned: bool) -> bool:
        return place.lists_app and (place.kind == "personal" or is_mentioned or self.reads_all_messages)

    def _check_member(self, person: TenantPerson, place: TenantConversation) -> None:
        if person.id not in place.roster:
            raise TeamsActionNotPossible(f"{person.name} is no member of the conversation")

    def _author_of(self, message: TenantMessage) -> TenantPerson:
        author = self.tenant.people.get(message.sender)
        if author is None:
            raise TeamsActionNotPossible("only people edit and delete their messages")
        return author
