"""A delivery is parsed by the model of its kind: another form is refused, and unknown fields are left out."""

import copy
from random import Random
from typing import Any

import pytest

from adapters.slack.payloads.deliveries import UnreadableDelivery, parse_delivery
from tests.attack.server.odd_values import OddValueMaker
from tests.attack.server.slack_samples import COMMAND_FIELDS, EVENT_PAYLOADS, INTERACTION_PAYLOADS

SAMPLES = (*EVENT_PAYLOADS, *INTERACTION_PAYLOADS, COMMAND_FIELDS)
OTHER_FORMS: tuple[dict[str, Any], ...] = (
    {},
    {"type": None},
    {"type": ["event_callback"]},
    {"type": "event_callback"},
    EVENT_PAYLOADS[0] | {"event": ["message"]},
    EVENT_PAYLOADS[0] | {"event": {"type": {}}},
    EVENT_PAYLOADS[0] | {"authorizations": {"team_id": "T1"}},
    EVENT_PAYLOADS[0] | {"authorizations": [["T1"]]},
    EVENT_PAYLOADS[0] | {"event_time": 10**30},
    EVENT_PAYLOADS[0] | {"team": ["T1"]},
    EVENT_PAYLOADS[3] | {"event": {**EVENT_PAYLOADS[3]["event"], "previous_message": []}},
    INTERACTION_PAYLOADS[0] | {"user": ["U1"]},
    INTERACTION_PAYLOADS[0] | {"actions": {}},
    INTERACTION_PAYLOADS[0] | {"container": "1.1"},
    {name: value for name, value in INTERACTION_PAYLOADS[7].items() if name != "actions"},
    {"command": "/ask-docs"},
)


@pytest.mark.parametrize("payload", SAMPLES, ids=lambda payload: str(payload.get("type")))
def test_every_sound_delivery_is_read_and_reading_it_again_changes_nothing(payload: dict[str, Any]) -> None:
    delivery = parse_delivery(payload)

    assert delivery.get("type") == payload.get("type")
    assert parse_delivery(delivery) == delivery


def test_fields_that_slack_adds_are_left_out() -> None:
    payload = copy.deepcopy(EVENT_PAYLOADS[0])
    payload["new"] = payload["event"]["new"] = {"id": []}

    assert parse_delivery(payload) == parse_delivery(EVENT_PAYLOADS[0])


def test_a_null_is_a_missing_field() -> None:
    payload = copy.deepcopy(EVENT_PAYLOADS[0])
    payload["enterprise"] = payload["event"]["thread_ts"] = payload["event"]["files"] = None

    assert parse_delivery(payload) == parse_delivery(EVENT_PAYLOADS[0])


@pytest.mark.parametrize("payload", OTHER_FORMS)
def test_another_form_is_refused_and_its_reason_holds_no_value(payload: dict[str, Any]) -> None:
    with pytest.raises(UnreadableDelivery) as refusal:
        parse_delivery(payload)

    assert refusal.value.status == 400
    assert not any(text in refusal.value.reason for text in ("T1", "U1", "ask-docs"))


def test_an_event_that_no_listener_handles_is_read_by_its_type_alone() -> None:
    event = {"type": "channel_rename", "channel": {"id": ["C1"]}, "user": 3}

    assert parse_delivery(EVENT_PAYLOADS[0] | {"event": event})["event"] == {"type": "channel_rename"}


def test_an_odd_delivery_is_either_refused_or_read_as_its_models_say() -> None:
    maker = OddValueMaker(Random(7))
    for payload in SAMPLES * 40:
        odd_payload = maker.change_json(payload)
        try:
            delivery = parse_delivery(odd_payload)
        except UnreadableDelivery:
            continue
        assert parse_delivery(delivery) == delivery
