"""Sound activities of each kind, from which the odd ones are made."""

from typing import Any, Final

from tests.stand_ins.teams.server import TeamsServer

_SUBMISSIONS: Final[tuple[dict[str, Any], ...]] = (
    {"parley": "choice", "id": "c1"},
    {"parley": "pick", "choice": "c1", "clarification": "k1"},
    {"parley": "stop", "turn": "t1"},
    {"parley": "steps", "turn": "t1"},
    {"parley": "full", "turn": "t1"},
    {"parley": "more", "clarification": "k1"},
    {"parley": "admin", "page": "buckets"},
)
_INVOKES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("message/submitAction", {"actionName": "feedback", "actionValue": {"reaction": "like", "feedback": "{}"}}),
    ("fileConsent/invoke", {"type": "fileUpload", "action": "accept", "context": {"export": "e1"}, "uploadInfo": {}}),
    ("adaptiveCard/action", {"action": {"type": "Action.Execute", "verb": "x", "data": {}}}),
    ("task/fetch", {}),
)


def sample_activities(teams: TeamsServer) -> list[dict[str, Any]]:
    ada = teams.tenant.add_person("Ada")
    chat = teams.tenant.personal_chat_of(ada)

    def activity_of(kind: str, **fields: Any) -> dict[str, Any]:
        return teams.base_activity(kind, ada, chat, chat.id, "1") | fields

    file = {
        "contentType": "application/vnd.microsoft.teams.file.download.info",
        "contentUrl": "https://parley.sharepoint.com/offer.pdf",
        "name": "offer.pdf",
        "content": {"downloadUrl": "https://parley.sharepoint.com/download", "uniqueId": "f1", "fileType": "pdf"},
    }
    client = {"type": "clientInfo", "locale": "de-DE", "timezone": "Europe/Berlin"}
    mention = {"type": "mention", "mentioned": {"id": teams.tenant.bot_id, "name": "Parley"}, "text": "<at>Parley</at>"}
    return [
        activity_of("message", text="<at>Parley</at> List all receipts", entities=[mention, client], locale="de-DE"),
        activity_of("message", text="What is in it?", attachments=[file]),
        *(activity_of("message", value=value, replyToId="2") for value in _SUBMISSIONS),
        *(activity_of("invoke", name=name, value=value) for name, value in _INVOKES),
        activity_of("messageUpdate", text="List all", channelData=teams.channel_data(chat, eventType="editMessage")),
        activity_of("messageDelete", channelData=teams.channel_data(chat, eventType="softDeleteMessage")),
        activity_of("conversationUpdate", membersAdded=[{"id": teams.tenant.bot_id}]),
        activity_of("installationUpdate", action="add"),
        activity_of("messageReaction", reactionsAdded=[{"type": "like"}], replyToId="2"),
    ]
