"""Checks blocks that slack_sdk supports since 2026 (`models/blocks/blocks.py`): alerts, cards, tasks and plans."""

from collections.abc import Sequence
from typing import Any, cast

from tests.stand_ins.slack.elements import check_element
from tests.stand_ins.slack.refusing import (
    ID,
    Payload,
    check_id,
    check_known_keys,
    check_text,
    is_text,
    list_members,
    refuse_block_unless,
    utf16_length,
)
from tests.stand_ins.slack.rich_text import URL, check_rich_text

ALERT_TEXT = 200  # slackapi/java-slack-sdk#1624 (sdk)
TITLE, SUBTITLE, BODY = 150, 150, 200
CARD_ACTIONS, CARDS = 3, 10  # `CARD_ACTIONS` is the limit of other block builders (sdk)
TASKS = 50  # the limit of Slack's own validator, according to slack-morphism (sdk)
TASK_TITLE = 255  # the same limit as in a stream
_LEVELS = {"default", "info", "warning", "error", "success"}
_STATUSES = {"pending", "in_progress", "complete", "error"}


def check_alert(block: Payload, where: str) -> None:
    check_known_keys(block, where, "text", "level")
    check_text(block.get("text"), where, ALERT_TEXT)
    refuse_block_unless(block.get("level", "default") in _LEVELS, f"{where}: level")


def check_card(block: Payload, where: str) -> None:
    check_known_keys(block, where, "hero_image", "icon", "title", "subtitle", "body", "actions")
    refuse_block_unless(bool({"hero_image", "title", "actions", "body"} & block.keys()), f"{where}: an empty card")
    for name in ("hero_image", "icon"):
        if name in block:
            check_element(block[name], f"{where} {name}", frozenset({"image"}))
    for name, most in (("title", TITLE), ("subtitle", SUBTITLE), ("body", BODY)):
        if name in block:
            check_text(block[name], f"{where} {name}", most)
    if "actions" in block:
        buttons = list_members(block["actions"], where)
        refuse_block_unless(1 <= len(buttons) <= CARD_ACTIONS, f"{where}: {len(buttons)} buttons")
        for button in buttons:
            check_element(button, where, frozenset({"button"}))
        _check_ids_unique([button["action_id"] for button in buttons if "action_id" in button], f"{where}: action_id")


def check_carousel(block: Payload, where: str) -> None:
    check_known_keys(block, where, "elements")
    cards = list_members(block.get("elements", []), where)
    refuse_block_unless(1 <= len(cards) <= CARDS, f"{where}: {len(cards)} cards")
    for card in cards:
        _check_object_type(card, "card", where)
        check_id(card, "block_id", where)
        check_card(card, f"{where} card")


def check_plan(block: Payload, where: str) -> None:
    check_known_keys(block, where, "title", "tasks")
    refuse_block_unless(is_text(block.get("title"), TASK_TITLE), f"{where}: title")
    tasks = list_members(block.get("tasks", []), where)
    refuse_block_unless(len(tasks) <= TASKS, f"{where}: {len(tasks)} tasks")
    for task in tasks:
        _check_object_type(task, "task_card", where)
        check_task_card(task, f"{where} task")
    _check_ids_unique([task["task_id"] for task in tasks], f"{where}: task_id")


def check_task_card(block: Payload, where: str) -> None:
    check_known_keys(block, where, "task_id", "title", "details", "output", "sources", "status")
    refuse_block_unless(is_text(block.get("task_id"), ID), f"{where}: task_id")
    refuse_block_unless(is_text(block.get("title"), TASK_TITLE), f"{where}: title")
    refuse_block_unless(block.get("status") in _STATUSES, f"{where}: status")
    for name in ("details", "output"):
        if name in block:
            _check_object_type(block[name], "rich_text", f"{where} {name}")
            refuse_block_unless(
                len(list_members(block[name].get("elements", []), where)) == 1, f"{where} {name}: one element"
            )
            check_rich_text(block[name], f"{where} {name}")
    for source in list_members(block.get("sources", []), where):
        _check_source(source, f"{where} source")


def _check_source(source: Any, where: str) -> None:
    _check_object_type(source, "url", where)
    check_known_keys(source, where, "url", "text")
    url = source.get("url")
    refuse_block_unless(
        isinstance(url, str) and url.startswith(("https://", "http://")) and utf16_length(url) <= URL, f"{where}: url"
    )
    refuse_block_unless(is_text(source.get("text"), URL), f"{where}: text")


def _check_object_type(value: Any, kind: str, where: str) -> None:
    refuse_block_unless(isinstance(value, dict) and cast(Payload, value).get("type") == kind, f"{where}: wants {kind}")


def _check_ids_unique(ids: Sequence[str], where: str) -> None:
    refuse_block_unless(len(ids) == len(set(ids)), f"{where} twice")
