"""The activities that Teams delivers, as JSON."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from tests.stand_ins.teams.deliveries import TeamsDeliveries
from tests.stand_ins.teams.tenancy import TenantConversation, TenantMessage, TenantPerson, TenantTeam


@dataclass
class ActivityBuilder(TeamsDeliveries):
    def base_activity(
        self, kind: str, person: TenantPerson, conversation: TenantConversation, address: str, activity_id: str
    ) -> dict[str, Any]:
        """Returns the fields that all activities have. `address`: the conversation's id with that of the thread."""
        now = datetime.fromtimestamp(self.clock(), UTC)
        local = now.astimezone(timezone(timedelta(hours=2)))
        return {
            "type": kind,
            "id": activity_id,
            "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "localTimestamp": local.isoformat(timespec="milliseconds"),
            "localTimezone": person.time_zone,
            "serviceUrl": self.service_url,
            "channelId": "msteams",
            "from": {"id": person.id, "name": person.name, "aadObjectId": person.object_id},
            "conversation": self.conversation_fields(conversation, address),
            "recipient": {"id": self.tenant.bot_id, "name": self.bot_name},
            "channelData": self.channel_data(conversation),
        }

    def conversation_fields(self, conversation: TenantConversation, address: str) -> dict[str, Any]:
        fields = {"conversationType": conversation.kind, "tenantId": conversation.tenant, "id": address}
        return fields if conversation.kind == "personal" else {"isGroup": True, **fields}

    def channel_data(self, conversation: TenantConversation, **extra: Any) -> dict[str, Any]:
        """Returns the tenant, and in a channel the team and the channel."""
        place: dict[str, Any] = {}
        if conversation.team is not None:
            place = {
                "teamsTeamId": conversation.team.id,
                "teamsChannelId": conversation.id,
                "team": describe_team(conversation.team),
                "channel": {"id": conversation.id},
            }
        return {**place, **extra, "tenant": {"id": conversation.tenant}}

    def text_fields(
        self,
        person: TenantPerson,
        conversation: TenantConversation,
        text: str,
        *,
        mention: bool,
        mentions: Sequence[TenantPerson] = (),
    ) -> dict[str, Any]:
        """Returns the fields of a text that a person has typed.

        `mention`: the bot is mentioned, where `@` and its name stand in the text, else before it. Teams escapes what
        is typed, and gives the text as HTML beside it.
        """
        escaped = html.escape(text, quote=False)
        entities: list[dict[str, Any]] = [client_info_of(person)]
        bot_tag, bot_word = f"<at>{self.bot_name}</at>", f"@{self.bot_name}"
        if mention:
            has_place = bot_word in escaped
            escaped = escaped.replace(bot_word, bot_tag, 1) if has_place else f"{bot_tag} {escaped}"
            account = {"id": self.tenant.bot_id, "name": self.bot_name}
            entities.insert(0, {"type": "mention", "mentioned": account, "text": bot_tag})
        for mentioned in mentions:
            tag = f"<at>{html.escape(mentioned.name, quote=False)}</at>"
            escaped = escaped.replace(f"@{mentioned.name}", tag, 1)
            entities.append({"type": "mention", "mentioned": {"id": mentioned.id, "name": mentioned.name}, "text": tag})
        return {
            "text": escaped,
            "textFormat": "plain",
            "locale": person.locale,
            "entities": entities,
            "attachments": [{"contentType": "text/html", "content": f"<div>{escaped}</div>"}],
        }

    def click_activity(
        self, person: TenantPerson, conversation: TenantConversation, message: TenantMessage, value: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Returns a click on `Action.Submit`: a message without text, in reply to the card."""
        key = self.tenant.next_activity_id()
        return {
            **self.base_activity("message", person, conversation, message.address, key),
            "channelData": self.channel_data(conversation, source={"name": "message"}),
            "locale": person.locale,
            "entities": [client_info_of(person)],
            "replyToId": message.id,
            "value": dict(value),
        }

    def invoke_activity(
        self,
        person: TenantPerson,
        message: TenantMessage,
        conversation: TenantConversation,
        name: str,
        value: Mapping[str, Any],
    ) -> dict[str, Any]:
        key = f"f:{self.tenant.next_activity_id()}"
        return {
            **self.base_activity("invoke", person, conversation, message.address, key),
            "channelData": self.channel_data(conversation, source={"name": "message"}),
            "locale": person.locale,
            "entities": [client_info_of(person)],
            "replyToId": message.id,
            "name": name,
            "value": dict(value),
        }


def client_info_of(person: TenantPerson) -> dict[str, Any]:
    country = person.locale.rpartition("-")[2]
    return {
        "type": "clientInfo",
        "locale": person.locale,
        "country": country,
        "platform": "Web",
        "timezone": person.time_zone,
    }


def describe_team(team: TenantTeam) -> dict[str, Any]:
    return {"id": team.id, "name": team.name, "aadGroupId": team.group_id}
