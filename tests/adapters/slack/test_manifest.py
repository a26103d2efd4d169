"""The manifest asks for what the code uses, and the code uses what the manifest asks for."""

import ast
import importlib
import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from jsonschema import Draft7Validator, validate
from pydantic import ValidationError

import adapters.slack.app
from adapters.slack.api import SlackApi
from adapters.slack.dispatch import Listener
from adapters.slack.home.listener import AppHome
from adapters.slack.install import REDIRECT
from adapters.slack.messages_tab import MessagesTab
from adapters.slack.receiving import PATH
from adapters.slack.render import ACTION_PREFIX
from adapters.slack.scopes import OPTIONAL, REQUIRED
from tests.adapters.slack.conftest import InboxBot, a_surface
from tests.stand_ins.slack.manifest import PATH as MANIFEST
from tests.stand_ins.slack.manifest import Manifest, manifest
from tests.stand_ins.slack.server import EVENT_SCOPES, SCOPES

ROOT = Path(adapters.slack.app.__file__).parents[2]
GUIDE = ROOT / "docs" / "slack.md"
GOLDEN = ROOT / "tests" / "golden" / "slack"
SCHEMA = os.environ.get("PARLEY_SLACK_MANIFEST_SCHEMA", "")
SOURCES = sorted(Path(adapters.slack.app.__file__).parent.rglob("*.py"))
CALL = re.compile(r'\.call\(\s*\w+,\s*"(?P<method>[\w.]+)"')

CALLED = {match["method"] for source in SOURCES for match in CALL.finditer(source.read_text(encoding="utf-8"))}
NEEDED_BY_EVENTS = {scope for event in manifest().events for scope in EVENT_SCOPES[event]}


def test_the_methods_called_are_found() -> None:
    assert {"chat.postMessage", "chat.update", "users.info", "files.completeUploadExternal"} <= CALLED


def test_every_method_called_has_a_scope_that_allows_it() -> None:
    asked_for = manifest().scopes | manifest().optional_scopes
    assert [method for method in sorted(CALLED) if SCOPES[method] and not SCOPES[method] & asked_for] == []


def test_every_scope_is_needed_by_a_method_or_an_event() -> None:
    by_methods = {scope for method in CALLED for scope in SCOPES[method]}
    by_people = {"commands"} if manifest().commands | manifest().shortcuts else set[str]()
    assert manifest().scopes - by_methods - NEEDED_BY_EVENTS - by_people == set()


def test_every_event_has_its_scope() -> None:
    needed = {event: EVENT_SCOPES[event] for event in manifest().events}
    granted = manifest().scopes | manifest().optional_scopes
    assert [event for event, scopes in needed.items() if scopes and not scopes & granted] == []


def test_an_installation_asks_for_the_scopes_of_the_manifest_and_returns_to_its_address() -> None:
    assert (manifest().scopes, manifest().optional_scopes) == (REQUIRED, OPTIONAL)
    assert manifest().redirect_urls == {f"https://HOST{REDIRECT}"}


def test_every_optional_scope_is_needed_by_an_event_or_by_a_method_that_can_be_done_without() -> None:
    optional = {scope for scope in SCOPES["files.info"] if "files.info" in CALLED}

    assert manifest().optional_scopes - NEEDED_BY_EVENTS == optional


class Heard:
    """What listeners register with Bolt, by what it is called there. As in Bolt, a pattern may match anywhere."""

    def __init__(self) -> None:
        self.by_kind: dict[str, list[str | re.Pattern[str]]] = defaultdict(list[str | re.Pattern[str]])

    def __getattr__(self, kind: str) -> Callable[..., Callable[[Any], None]]:
        def registered(wanted: Any, **_: Any) -> Callable[[Any], None]:
            self.by_kind[kind].append(cast(Any, wanted)["type"] if isinstance(wanted, dict) else wanted)
            return lambda _: None

        return registered

    def hears(self, kind: str, name: str) -> bool:
        return any(re.search(one, name) if isinstance(one, re.Pattern) else one == name for one in self.by_kind[kind])


@pytest.fixture
def listeners(bot: InboxBot, api: SlackApi) -> tuple[Listener, ...]:
    return a_surface(bot, api).listeners


@pytest.fixture
def heard(listeners: tuple[Listener, ...]) -> Heard:
    heard = Heard()
    for listener in listeners:
        listener.listen(heard)
    return heard


async def test_every_event_has_its_listener_and_every_listener_its_event(
    listeners: tuple[Listener, ...], heard: Heard
) -> None:
    subscribed = {event.partition(".")[0] for event in manifest().events}

    assert {event for listener in listeners for event in listener.events} == subscribed
    assert set(heard.by_kind["event"]) == subscribed


async def test_every_command_and_shortcut_has_its_listener_and_every_listener_its_own(heard: Heard) -> None:
    assert set(heard.by_kind["command"]) == manifest().commands
    assert set(heard.by_kind["message_shortcut"]) == manifest().shortcuts


async def test_every_modal_that_can_be_submitted_has_its_listener(heard: Heard) -> None:
    submitted = {callback for source in SOURCES for callback in callbacks_in(source)}

    assert {"grant", "admin"} & {callback.partition(":")[0] for callback in submitted}
    assert [callback for callback in sorted(submitted) if not heard.hears("view", callback)] == []


async def test_every_button_and_menu_that_is_posted_has_its_listener(heard: Heard) -> None:
    posted = {action for file in GOLDEN.glob("*.json") for action in actions_in(json.loads(file.read_text("utf-8")))}

    assert posted
    assert [action for action in sorted(posted) if not heard.hears("action", action)] == []


def callbacks_in(source: Path) -> Iterator[str]:
    """The callback ids of the modals that a module makes with a button to submit."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "modal":
            [callback, *_], named = node.args, {keyword.arg for keyword in node.keywords}
            if "submit" in named and isinstance(callback, ast.Name):
                name = ".".join(source.relative_to(ROOT).with_suffix("").parts)
                yield getattr(importlib.import_module(name), callback.id)


def actions_in(value: Any) -> Iterator[str]:
    """Every `action_id` below, but of inputs: those come with the modal's submission."""
    match value:
        case {"type": "input", **rest} if not rest.get("dispatch_action"):
            return
        case dict():
            for key, below in cast(dict[str, Any], value).items():
                if key == "action_id":
                    yield below
                else:
                    yield from actions_in(below)
        case list():
            for below in cast(list[Any], value):
                yield from actions_in(below)
        case _:
            return


def test_events_and_clicks_come_to_the_one_route() -> None:
    settings = manifest().settings
    urls = {settings.event_subscriptions.request_url, settings.interactivity.request_url}

    assert urls == {f"https://HOST{PATH}"}
    assert settings.interactivity.is_enabled
    assert ACTION_PREFIX  # beside those of the Home tab
    assert {one["url"] for one in manifest().features["slash_commands"]} == urls


def test_the_home_tab_is_there_for_its_listener() -> None:
    assert manifest().home_tab == ("app_home_opened" in AppHome.events)


def test_the_messages_tab_is_an_agents_and_has_its_listener() -> None:
    assert manifest().is_agent == ("app_home_opened" in MessagesTab.events)
    assert manifest().features["app_home"]["messages_tab_enabled"]
    assert "assistant_view" not in manifest().features


def test_the_guide_says_what_each_scope_is_for() -> None:
    guide = GUIDE.read_text(encoding="utf-8")

    assert [scope for scope in sorted(REQUIRED | OPTIONAL) if f"`{scope}`" not in guide] == []


def test_the_guides_manifest_for_socket_mode_has_no_addresses() -> None:
    [change] = re.findall(r"sed -e '(.+)' manifest.yaml", GUIDE.read_text(encoding="utf-8"))
    changed = subprocess.run(["sed", "-e", change, MANIFEST], capture_output=True, text=True, check=True).stdout

    addressed, socketed = given(), yaml.safe_load(changed)
    assert "HOST" not in changed
    assert socketed["settings"]["socket_mode_enabled"]
    assert socketed["oauth_config"]["scopes"] == addressed["oauth_config"]["scopes"]
    for kind in ("event_subscriptions", "interactivity"):
        addressed["settings"][kind].pop("request_url")
        assert socketed["settings"][kind] == addressed["settings"][kind]


@pytest.mark.skipif(
    not SCHEMA, reason="PARLEY_SLACK_MANIFEST_SCHEMA names no copy of Slack's manifest schema, version 2"
)
def test_slacks_published_schema_accepts_it() -> None:
    schema = json.loads(Path(SCHEMA).read_text(encoding="utf-8"))

    validate(given(), schema, cls=Draft7Validator)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("display_information.name", "x" * 36),
        ("display_information.description", "x" * 141),
        ("display_information.background_color", "green"),
        ("features.agent_view.agent_description", "x" * 301),
        ("features.agent_view.suggested_prompts", [{"title": "t", "message": "m"}] * 5),
        ("features.shortcuts.0.name", "x" * 25),
        ("features.slash_commands.0.command", "ask-docs"),
        ("features.assistant_view", {}),
        ("oauth_config.scopes.bot.0", "x" * 51),
        ("settings.event_subscriptions.request_url", "HOST/slack/events"),
        ("settings.socket_mode_enabled", "no"),
        ("settings.unknown", True),
    ],
)
def test_what_slack_would_not_accept_is_refused(path: str, value: Any) -> None:
    changed = given()
    *way, last = path.split(".")
    below: Any = changed
    for step in way:
        below = below[int(step) if isinstance(below, list) else step]
    below[int(last) if isinstance(below, list) else last] = value

    with pytest.raises(ValidationError):
        Manifest.model_validate(changed)


def given() -> dict[str, Any]:
    return yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
