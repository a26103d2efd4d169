"""The manifest asks for what the code uses, and the code uses what the manifest asks for."""

import re
from pathlib import Path

import adapters.slack.app
from adapters.slack.asking import Asking
from adapters.slack.changes import Changes
from adapters.slack.commands import COMMAND, SHORTCUT
from adapters.slack.home.listener import AppHome
from adapters.slack.install import REDIRECT
from adapters.slack.installations import Leaving
from adapters.slack.messages_tab import MessagesTab
from adapters.slack.receiving import PATH
from adapters.slack.render import ACTION_PREFIX
from adapters.slack.scopes import OPTIONAL, REQUIRED
from adapters.slack.stopping import Stopping
from tests.stand_ins.slack.manifest import manifest
from tests.stand_ins.slack.server import EVENT_SCOPES, SCOPES

SOURCES = sorted(Path(adapters.slack.app.__file__).parent.rglob("*.py"))
CALL = re.compile(r'\.call\(\s*\w+,\s*"(?P<method>[\w.]+)"')

CALLED = {match["method"] for source in SOURCES for match in CALL.finditer(source.read_text(encoding="utf-8"))}
NEEDED_BY_EVENTS = {scope for event in manifest().events for scope in EVENT_SCOPES[event]}


def test_the_methods_called_are_found() -> None:
    assert {"chat.postMessage", "chat.update", "users.info", "files.completeUploadExternal"} <= CALLED


def test_every_method_called_has_a_scope_that_allows_it() -> None:
    assert [method for method in sorted(CALLED) if SCOPES[method] and not SCOPES[method] & manifest().scopes] == []


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


def test_every_optional_scope_is_needed_by_an_event() -> None:
    assert manifest().optional_scopes - NEEDED_BY_EVENTS == set()


def test_every_event_has_its_listener_and_every_listener_its_event() -> None:
    assert {event.partition(".")[0] for event in manifest().events} == {
        *Asking.events,
        *AppHome.events,
        *Stopping.events,
        *Changes.events,
        *Leaving.events,
    }


def test_events_and_clicks_come_to_the_one_route() -> None:
    settings = manifest().settings
    urls = {settings.event_subscriptions.request_url, settings.interactivity.request_url}

    assert urls == {f"https://HOST{PATH}"}
    assert settings.interactivity.is_enabled
    assert ACTION_PREFIX  # beside those of the Home tab
    assert {one["url"] for one in manifest().features["slash_commands"]} == urls


def test_each_command_and_shortcut_has_its_handler() -> None:
    assert manifest().commands == {COMMAND}
    assert manifest().shortcuts == {SHORTCUT}


def test_the_home_tab_is_there_for_its_listener() -> None:
    assert manifest().home_tab == ("app_home_opened" in AppHome.events)


def test_the_messages_tab_is_an_agents_and_has_its_listener() -> None:
    assert manifest().is_agent == ("app_home_opened" in MessagesTab.events)
    assert manifest().features["app_home"]["messages_tab_enabled"]
    assert "assistant_view" not in manifest().features
