"""The manifest requests exactly the scopes, events and commands that the code uses."""

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
from adapters.slack.events.delivery_listener import DeliveryListener
from adapters.slack.events.http_endpoint import EVENTS_PATH
from adapters.slack.home.listener import HomeTabListener
from adapters.slack.home.messages_tab import MessagesTabListener
from adapters.slack.payloads.responses import UserProfile
from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.render import ACTION_PREFIX
from adapters.slack.workspaces.oauth import REDIRECT_PATH
from adapters.slack.workspaces.scopes import OPTIONAL_SCOPES, REQUIRED_SCOPES
from tests.adapters.slack.conftest import InboxBot, build_surface
from tests.stand_ins.slack.manifest import PATH as MANIFEST
from tests.stand_ins.slack.manifest import Manifest, load_manifest
from tests.stand_ins.slack.server import EVENT_SCOPES, SCOPES

ROOT = Path(adapters.slack.app.__file__).parents[2]
GUIDE = ROOT / "docs" / "slack.md"
GOLDEN = ROOT / "tests" / "golden" / "slack"
SCHEMA = os.environ.get("PARLEY_SLACK_MANIFEST_SCHEMA", "")
SOURCE_FILES = sorted(Path(adapters.slack.app.__file__).parent.rglob("*.py"))
CALL = re.compile(r'\.call_method\(\s*\w+,\s*"(?P<method>[\w.]+)"')

CALLED_METHODS = {
    match["method"] for source in SOURCE_FILES for match in CALL.finditer(source.read_text(encoding="utf-8"))
}
NEEDED_BY_EVENTS = {scope for event in load_manifest().events for scope in EVENT_SCOPES[event]}


def test_the_called_methods_are_found_in_the_sources() -> None:
    assert {"chat.postMessage", "chat.update", "users.info", "files.completeUploadExternal"} <= CALLED_METHODS


def test_every_called_method_has_a_scope_that_allows_it() -> None:
    requested = load_manifest().scopes | load_manifest().optional_scopes
    assert [method for method in sorted(CALLED_METHODS) if SCOPES[method] and not SCOPES[method] & requested] == []


def test_every_scope_is_needed_by_a_method_or_an_event() -> None:
    by_methods = {scope for method in CALLED_METHODS for scope in SCOPES[method]}
    by_people = {"commands"} if load_manifest().commands | load_manifest().shortcuts else set[str]()
    assert load_manifest().scopes - by_methods - NEEDED_BY_EVENTS - by_people == set()


def test_every_event_has_its_scope() -> None:
    needed = {event: EVENT_SCOPES[event] for event in load_manifest().events}
    granted = load_manifest().scopes | load_manifest().optional_scopes
    assert [event for event, scopes in needed.items() if scopes and not scopes & granted] == []


def test_an_installation_requests_the_scopes_of_the_manifest_and_uses_its_redirect_address() -> None:
    assert (load_manifest().scopes, load_manifest().optional_scopes) == (REQUIRED_SCOPES, OPTIONAL_SCOPES)
    assert load_manifest().redirect_urls == {f"https://HOST{REDIRECT_PATH}"}


def test_every_optional_scope_is_needed_by_an_event_by_an_optional_method_or_for_a_field() -> None:
    optional = {scope for scope in SCOPES["files.info"] if "files.info" in CALLED_METHODS}
    optional |= {"users:read.email"} if "email" in UserProfile.model_fields else set[str]()

    assert load_manifest().optional_scopes - NEEDED_BY_EVENTS == optional


class BoltRegistrations:
    """Records what the listeners register with Bolt, by Bolt's method. As in Bolt, a pattern may match anywhere."""

    def __init__(self) -> None:
        self.by_kind: dict[str, list[str | re.Pattern[str]]] = defaultdict(list[str | re.Pattern[str]])

    def __getattr__(self, kind: str) -> Callable[..., Callable[[Any], None]]:
        def registered(wanted: Any, **_: Any) -> Callable[[Any], None]:
            self.by_kind[kind].append(cast(Any, wanted)["type"] if isinstance(wanted, dict) else wanted)
            return lambda _: None

        return registered

    def handles_callback(self, kind: str, name: str) -> bool:
        return any(
            re.search(pattern, name) if isinstance(pattern, re.Pattern) else pattern == name
            for pattern in self.by_kind[kind]
        )


@pytest.fixture
def listeners(bot: InboxBot, api: SlackApi) -> tuple[DeliveryListener, ...]:
    return build_surface(bot, api).listeners


@pytest.fixture
def registrations(listeners: tuple[DeliveryListener, ...]) -> BoltRegistrations:
    registered = BoltRegistrations()
    for listener in listeners:
        listener.register_bolt_handlers(registered)
    return registered


async def test_every_event_has_a_listener_and_every_listener_has_an_event(
    listeners: tuple[DeliveryListener, ...], registrations: BoltRegistrations
) -> None:
    subscribed = {event.partition(".")[0] for event in load_manifest().events}

    assert {event for listener in listeners for event in listener.events} == subscribed
    assert set(registrations.by_kind["event"]) == subscribed


async def test_the_commands_and_shortcuts_equal_those_registered(registrations: BoltRegistrations) -> None:
    assert set(registrations.by_kind["command"]) == load_manifest().commands
    assert set(registrations.by_kind["message_shortcut"]) == load_manifest().shortcuts


async def test_every_submittable_modal_has_a_listener(registrations: BoltRegistrations) -> None:
    submitted = {callback for source in SOURCE_FILES for callback in submittable_callbacks_in(source)}

    assert {"grant", "admin"} & {callback.partition(":")[0] for callback in submitted}
    assert [callback for callback in sorted(submitted) if not registrations.handles_callback("view", callback)] == []


async def test_every_posted_button_and_menu_has_a_listener(registrations: BoltRegistrations) -> None:
    posted = {action for file in GOLDEN.glob("*.json") for action in action_ids_in(json.loads(file.read_text("utf-8")))}

    assert posted
    assert [action for action in sorted(posted) if not registrations.handles_callback("action", action)] == []


def submittable_callbacks_in(source: Path) -> Iterator[str]:
    """Yield the callback ids of the modals with a submit button that a module builds."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "modal_view":
            [callback, *_], keyword_names = node.args, {keyword.arg for keyword in node.keywords}
            if "submit" in keyword_names and isinstance(callback, ast.Name):
                name = ".".join(source.relative_to(ROOT).with_suffix("").parts)
                yield getattr(importlib.import_module(name), callback.id)


def action_ids_in(value: Any) -> Iterator[str]:
    """Yield every `action_id` in a JSON value, except those of inputs, which arrive with the modal's submission."""
    match value:
        case {"type": "input", **rest} if not rest.get("dispatch_action"):
            return
        case dict():
            for key, member in cast(dict[str, Any], value).items():
                if key == "action_id":
                    yield member
                else:
                    yield from action_ids_in(member)
        case list():
            for member in cast(list[Any], value):
                yield from action_ids_in(member)
        case _:
            return


def test_events_clicks_and_commands_have_the_same_address() -> None:
    settings = load_manifest().settings
    urls = {settings.event_subscriptions.request_url, settings.interactivity.request_url}

    assert urls == {f"https://HOST{EVENTS_PATH}"}
    assert settings.interactivity.is_enabled
    assert ACTION_PREFIX
    assert {command["url"] for command in load_manifest().features["slash_commands"]} == urls


def test_the_home_tab_is_enabled_for_its_listener() -> None:
    assert load_manifest().home_tab == ("app_home_opened" in HomeTabListener.events)


def test_the_messages_tab_belongs_to_an_agent_and_has_a_listener() -> None:
    assert load_manifest().is_agent == ("app_home_opened" in MessagesTabListener.events)
    assert load_manifest().features["app_home"]["messages_tab_enabled"]
    assert "assistant_view" not in load_manifest().features


def test_the_guide_mentions_each_scope() -> None:
    guide = GUIDE.read_text(encoding="utf-8")

    assert [scope for scope in sorted(REQUIRED_SCOPES | OPTIONAL_SCOPES) if f"`{scope}`" not in guide] == []


def test_the_guides_manifest_for_socket_mode_has_no_addresses() -> None:
    [sed_script] = re.findall(r"sed -e '(.+)' manifest.yaml", GUIDE.read_text(encoding="utf-8"))
    changed = subprocess.run(["sed", "-e", sed_script, MANIFEST], capture_output=True, text=True, check=True).stdout

    http_manifest, socket_manifest = load_manifest_yaml(), yaml.safe_load(changed)
    assert "HOST" not in changed
    assert socket_manifest["settings"]["socket_mode_enabled"]
    assert socket_manifest["oauth_config"]["scopes"] == http_manifest["oauth_config"]["scopes"]
    for kind in ("event_subscriptions", "interactivity"):
        http_manifest["settings"][kind].pop("request_url")
        assert socket_manifest["settings"][kind] == http_manifest["settings"][kind]


@pytest.mark.skipif(
    not SCHEMA, reason="PARLEY_SLACK_MANIFEST_SCHEMA names no copy of Slack's manifest schema, version 2"
)
def test_slacks_published_schema_accepts_the_manifest() -> None:
    schema = json.loads(Path(SCHEMA).read_text(encoding="utf-8"))

    validate(load_manifest_yaml(), schema, cls=Draft7Validator)


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
def test_the_manifest_model_refuses_invalid_values(path: str, value: Any) -> None:
    changed = load_manifest_yaml()
    *parents, last_key = path.split(".")
    container: Any = changed
    for key in parents:
        container = container[int(key) if isinstance(container, list) else key]
    container[int(last_key) if isinstance(container, list) else last_key] = value

    with pytest.raises(ValidationError):
        Manifest.model_validate(changed)


def load_manifest_yaml() -> dict[str, Any]:
    return yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
