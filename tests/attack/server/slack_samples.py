"""Sound deliveries of each kind, from which the odd ones are made."""

from collections.abc import Mapping
from typing import Any, Final

_ENVELOPE: Final[Mapping[str, Any]] = {
    "token": "unused",
    "team_id": "T0PARLEY",
    "api_app_id": "A0PARLEY",
    "type": "event_callback",
    "event_id": "Ev00000001",
    "event_time": 1_790_000_000,
    "authorizations": [{"team_id": "T0PARLEY", "enterprise_id": None, "user_id": "U0PARLEY", "is_bot": True}],
    "is_ext_shared_channel": False,
}
_MESSAGE: Final[Mapping[str, Any]] = {
    "channel": "C1GENERAL",
    "user": "U1ADA",
    "text": "<@U0PARLEY> List all receipts",
    "ts": "1790000000.000100",
    "event_ts": "1790000000.000100",
    "team": "T0PARLEY",
}
_FILE: Final[Mapping[str, Any]] = {
    "id": "F1",
    "name": "offer.pdf",
    "mimetype": "application/pdf",
    "mode": "hosted",
    "size": 12,
    "permalink": "https://parley.slack.com/files/F1",
}


def _envelope_of(event: Mapping[str, Any]) -> dict[str, Any]:
    return {**_ENVELOPE, "event": dict(event)}


EVENT_PAYLOADS: Final[tuple[dict[str, Any], ...]] = (
    _envelope_of({"type": "app_mention", **_MESSAGE}),
    _envelope_of({"type": "message", "channel_type": "im", **_MESSAGE, "files": [dict(_FILE)]}),
    _envelope_of({"type": "message", "channel_type": "channel", **_MESSAGE, "thread_ts": "1790000000.000001"}),
    _envelope_of(
        {
            "type": "message",
            "subtype": "message_changed",
            "channel": "C1GENERAL",
            "channel_type": "channel",
            "ts": "1790000000.000300",
            "message": dict(_MESSAGE),
            "previous_message": dict(_MESSAGE),
        }
    ),
    _envelope_of(
        {
            "type": "message",
            "subtype": "message_deleted",
            "channel": "C1GENERAL",
            "channel_type": "channel",
            "ts": "1790000000.000300",
            "previous_message": dict(_MESSAGE),
        }
    ),
    _envelope_of({"type": "app_home_opened", "user": "U1ADA", "channel": "D1", "tab": "home"}),
    _envelope_of({"type": "app_home_opened", "user": "U1ADA", "channel": "D1", "tab": "messages"}),
    _envelope_of({"type": "user_change", "user": {"id": "U1ADA", "name": "Ada"}}),
    _envelope_of({"type": "member_joined_channel", "user": "U1ADA", "channel": "C1GENERAL"}),
    _envelope_of({"type": "subteam_updated", "subteam": {"id": "S1"}}),
    _envelope_of({"type": "assistant_thread_started", "assistant_thread": {"channel_id": "D1", "thread_ts": "1.1"}}),
    _envelope_of({"type": "tokens_revoked", "tokens": {"oauth": ["U1"]}}),
    {"type": "url_verification", "challenge": "c", "token": "unused"},
)
_INTERACTION: Final[Mapping[str, Any]] = {
    "user": {"id": "U1ADA", "username": "ada", "name": "Ada", "team_id": "T0PARLEY"},
    "api_app_id": "A0PARLEY",
    "token": "unused",
    "trigger_id": "1.2.3",
    "team": {"id": "T0PARLEY", "domain": "parley"},
    "enterprise": None,
    "is_enterprise_install": False,
}
_VIEW: Final[Mapping[str, Any]] = {
    "id": "V1",
    "hash": "h",
    "type": "modal",
    "callback_id": "admin:bucket",
    "private_metadata": '{"channel": "C1GENERAL", "thread": "1.1", "message": "1.1", "about": "t1"}',
    "state": {"values": {"block": {"action": {"type": "plain_text_input", "value": "x"}}}},
}


def _button_of(action_id: str) -> dict[str, Any]:
    return {
        "type": "block_actions",
        **_INTERACTION,
        "channel": {"id": "C1GENERAL", "name": "general"},
        "container": {"type": "message", "message_ts": "1.1", "thread_ts": "1.1"},
        "message": dict(_MESSAGE),
        "actions": [{"type": "button", "action_id": action_id, "block_id": "b", "action_ts": "1.2", "value": "c1"}],
        "response_url": "http://127.0.0.1:9/response",
    }


def _home_click_of(action_id: str) -> dict[str, Any]:
    actions = [{"action_id": action_id, "block_id": "b", "value": "1"}]
    return {"type": "block_actions", **_INTERACTION, "view": {**_VIEW, "type": "home"}, "actions": actions}


def _submission_of(callback_id: str) -> dict[str, Any]:
    option = {"type": "static_select", "selected_option": {"value": "c1"}}
    values = {
        "person:0": {"person": {"selected_user": "U1ADA"}},
        "more": {"more": option},
        "reason": {"reason": {"value": "x"}},
    }
    return {
        "type": "view_submission",
        **_INTERACTION,
        "view": {**_VIEW, "callback_id": callback_id, "state": {"values": values}},
    }


INTERACTION_PAYLOADS: Final[tuple[dict[str, Any], ...]] = (
    *map(_button_of, ("clarify:1", "rate", "steps", "stop", "whole", "more", "home:mine:next")),
    *map(_home_click_of, ("home:mine:next", "admin:bucket", "admin:limits", "grant:page:next", "grant:remove")),
    *map(_submission_of, ("admin:bucket", "admin:admins", "admin:limits", "reason", "more")),
    {"type": "view_closed", **_INTERACTION, "view": dict(_VIEW)},
    {
        "type": "message_action",
        "callback_id": "ask_about_message",
        **_INTERACTION,
        "channel": {"id": "C1GENERAL", "name": "general"},
        "message": dict(_MESSAGE),
        "message_ts": "1.1",
        "response_url": "http://127.0.0.1:9/response",
    },
    {"type": "shortcut", "callback_id": "any", **_INTERACTION},
    {"type": "block_suggestion", **_INTERACTION, "action_id": "a", "block_id": "b", "value": "x", "view": dict(_VIEW)},
)
COMMAND_FIELDS: Final[dict[str, str]] = {
    "command": "/ask-docs",
    "text": "which contracts end this year?",
    "channel_id": "C1GENERAL",
    "channel_name": "general",
    "user_id": "U1ADA",
    "user_name": "ada",
    "team_id": "T0PARLEY",
    "team_domain": "parley",
    "trigger_id": "1.2.3",
    "response_url": "http://127.0.0.1:9/response",
    "is_enterprise_install": "false",
    "api_app_id": "A0PARLEY",
}
