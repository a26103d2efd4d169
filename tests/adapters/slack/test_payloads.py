"""The payload models read what Slack sends, also where it leaves fields out."""

import pytest
from pydantic import ValidationError

from adapters.slack.payloads.events import AlteredEvent, InstallationFields, MessageEvent
from adapters.slack.payloads.interactions import ButtonPressPayload
from adapters.slack.payloads.objects import id_of_reference
from adapters.slack.payloads.responses import ChannelInfo, MessagesResponse

PRESS = {
    "user": {"id": "U1", "team_id": "T1"},
    "channel": {"id": "C1"},
    "container": {"message_ts": "1.0"},
    "actions": [{"action_id": "more", "action_ts": "2.0"}],
}


@pytest.mark.parametrize(
    ("metadata", "cursor"),
    [({}, ""), ({"response_metadata": None}, ""), ({"response_metadata": {"next_cursor": "p2"}}, "p2")],
)
def test_the_last_page_has_an_empty_cursor(metadata: dict[str, object], cursor: str) -> None:
    assert MessagesResponse.model_validate({"messages": [], **metadata}).next_cursor == cursor


def test_a_thread_message_is_read_with_fields_that_slack_adds() -> None:
    file = {"id": "F1", "name": "rows.csv", "size": 3, "new_field": "x"}
    page = MessagesResponse.model_validate({"messages": [{"ts": "1.0", "files": [file], "new_field": 1}]})

    assert [(message.ts, message.user, message.files[0].id) for message in page.messages] == [("1.0", None, "F1")]
    assert page.messages[0].metadata.event_type == ""


def test_a_button_without_a_value_has_an_empty_one() -> None:
    assert ButtonPressPayload.model_validate(PRESS).actions[0].value == ""


def test_a_press_has_at_least_one_action() -> None:
    with pytest.raises(ValidationError, match="actions"):
        ButtonPressPayload.model_validate(PRESS | {"actions": []})


def test_an_object_is_sent_whole_or_as_its_id() -> None:
    fields = InstallationFields.model_validate({"team": {"id": "T1", "domain": "acme"}, "enterprise": "E1"})

    assert (id_of_reference(fields.team), id_of_reference(fields.enterprise)) == ("T1", "E1")
    assert id_of_reference(None) is None


def test_the_remains_of_a_deleted_message_are_no_version() -> None:
    previous, remains = {"ts": "1.0", "text": "hello"}, {"ts": "1.0", "subtype": "tombstone"}
    altered = {"channel": "C1", "ts": "2.0", "previous_message": previous}

    assert AlteredEvent.model_validate(altered).current_version is None
    assert AlteredEvent.model_validate(altered | {"message": remains}).current_version is None
    assert AlteredEvent.model_validate(altered | {"message": previous}).current_version is not None


def test_a_bots_message_has_the_ids_of_all_its_fields() -> None:
    event = {
        "type": "message",
        "channel": "C1",
        "ts": "1.0",
        "bot_id": "B1",
        "bot_profile": {"id": "B1", "app_id": "A1"},
    }

    assert MessageEvent.model_validate(event).bot_ids == {"B1", "A1"}
    assert MessageEvent.model_validate({"type": "message", "channel": "C1", "ts": "1.0"}).bot_ids == frozenset()


def test_a_channel_without_details_counts_as_private() -> None:
    assert not ChannelInfo().is_public
    assert not ChannelInfo().is_member
    assert ChannelInfo(is_channel=True, is_private=False).is_public
    assert ChannelInfo(pending_shared=["T2"]).is_open_to_others
