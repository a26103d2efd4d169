"""Blocks that slack_sdk has known since 2026 (`models/blocks/blocks.py`): `alert`, `card`, `carousel`, tasks, plans."""

from collections.abc import Sequence
from typing import Any, cast

from tests.stand_ins.slack.elements import check_element
from tests.stand_ins.slack.refusing import ID, Payload, check_id, check_text, is_text, known, length, members, valid
from tests.stand_ins.slack.rich_text import URL, check_rich_text

ALERT_TEXT = 200  # slackapi/java-slack-sdk#1624 (sdk)
TITLE, SUBTITLE, BODY = 150, 150, 200
CARD_ACTIONS, CARDS = 3, 10  # the first as other builders of blocks have it (sdk)
TASKS = 50  # slack-morphism, of Slack's own validator (sdk)
TASK_TITLE = 255  # as in a stream
_LEVELS = {"default", "info", "warning", "error", "success"}
_STATUSES = {"pending", "in_progress", "complete", "error"}


def check_alert(block: Payload, where: str) -> None:
    known(block, where, "text", "level")
    check_text(block.get("text"), where, ALERT_TEXT)
    valid(block.get("level", "default") in _LEVELS, f"{where}: level")


def check_card(block: Payload, where: str) -> None:
    known(block, where, "hero_image", "icon", "title", "subtitle", "body", "actions")
    valid(bool({"hero_image", "title", "actions", "body"} & block.keys()), f"{where}: an empty card")
    for name in ("hero_image", "icon"):
        if name in block:
            check_element(block[name], f"{where} {name}", frozenset({"image"}))
    for name, most in (("title", TITLE), ("subtitle", SUBTITLE), ("body", BODY)):
        if name in block:
            check_text(block[name], f"{where} {name}", most)
    if "actions" in block:
        buttons = members(block["actions"], where)
        valid(1 <= len(buttons) <= CARD_ACTIONS, f"{where}: {len(buttons)} buttons")
        for button in buttons:
            check_element(button, where, frozenset({"button"}))
        _check_differ([button["action_id"] for button in buttons if "action_id" in button], f"{where}: action_id")


def check_carousel(block: Payload, where: str) -> None:
    known(block, where, "elements")
    cards = members(block.get("elements", []), where)
    valid(1 <= len(cards) <= CARDS, f"{where}: {len(cards)} cards")
    for card in cards:
        _check_typed(card, "card", where)
        check_id(card, "block_id", where)
        check_card(card, f"{where} card")


def check_plan(block: Payload, where: str) -> None:
    known(block, where, "title", "tasks")
    valid(is_text(block.get("title"), TASK_TITLE), f"{where}: title")
    tasks = members(block.get("tasks", []), where)
    valid(len(tasks) <= TASKS, f"{where}: {len(tasks)} tasks")
    for task in tasks:
        _check_typed(task, "task_card", where)
        check_task_card(task, f"{where} task")
    _check_differ([task["task_id"] for task in tasks], f"{where}: task_id")


def check_task_card(block: Payload, where: str) -> None:
    known(block, where, "task_id", "title", "details", "output", "sources", "status")
    valid(is_text(block.get("task_id"), ID), f"{where}: task_id")
    valid(is_text(block.get("title"), TASK_TITLE), f"{where}: title")
    valid(block.get("status") in _STATUSES, f"{where}: status")
    for name in ("details", "output"):
        if name in block:
            _check_typed(block[name], "rich_text", f"{where} {name}")
            valid(len(members(block[name].get("elements", []), where)) == 1, f"{where} {name}: one element")
            check_rich_text(block[name], f"{where} {name}")
    for source in members(block.get("sources", []), where):
        _check_source(source, f"{where} source")


def _check_source(source: Any, where: str) -> None:
    _check_typed(source, "url", where)
    known(source, where, "url", "text")
    url = source.get("url")
    valid(isinstance(url, str) and url.startswith(("https://", "http://")) and length(url) <= URL, f"{where}: url")
    valid(is_text(source.get("text"), URL), f"{where}: text")


def _check_typed(value: Any, kind: str, where: str) -> None:
    valid(isinstance(value, dict) and cast(Payload, value).get("type") == kind, f"{where}: wants {kind}")


def _check_differ(ids: Sequence[str], where: str) -> None:
    valid(len(ids) == len(set(ids)), f"{where} twice")
