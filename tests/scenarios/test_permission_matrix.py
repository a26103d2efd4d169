"""The permission matrix: a person who may not see a bucket sees nothing of it on any surface.

Surface x audience x leak. Each audience has its own workspace, with a person and a channel for each surface and leak.
All of them ask, and then each cell checks everything that was ever sent to where its person reads.
"""

import asyncio
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol

import pytest

from adapters.slack.home.blocks import opaque_key_of
from bot.ids import EVERYONE, PersonId
from tests.scenarios.permissions import (
    ENTITLED,
    LINK,
    SECRET,
    MatrixSeat,
    MatrixWorkspace,
    a_view,
    make_offers,
    marks_in,
    open_matrix_home,
    open_matrix_workspace,
    turn_of,
)
from tests.stand_ins.slack.server import Fault
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackMessage

# The question that could reveal each kind of leak. Its words are no marks themselves.
LEAKS: Final = {
    "text": "What may be hunted at dawn?",
    "count": "How many documents are there?",
    "facet": "List every ledger",
    "suggestion": "List every ledger of merlinwerks",
    "value": "What is the total amount of every ledger?",
    "citation": "Who says hunting at dawn?",
    "CSV": "List every ledger as CSV",
    "error text": "List every ledger with an amount over 900,000,000",
    "summary": "Summarise every ledger",
}


# -- surfaces


class MatrixSurface(Protocol):
    """A way to reach the bot. `offer`: a message with buttons from when the person had the right, else None."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None: ...


class MentionSurface:
    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.post_as_person(seat.person, seat.channel, f"<@{BOT_USER}> {words}")


class DirectMessageSurface:
    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.post_as_person(seat.person, seat.direct, words)


class ThreadSurface:
    """Asks in the thread of the person's own earlier question, else in the thread of Ada's question in the channel."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        if offer is not None:
            await town.slack.post_as_person(seat.person, seat.direct, words, thread_ts=offer.thread_ts)
            return
        root, _ = await town.slack.post_as_person(town.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
        await town.slack.post_as_person(seat.person, seat.channel, f"<@{BOT_USER}> {words}", thread_ts=root.ts)


class CommandSurface:
    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.use_command(seat.person, seat.channel, "/ask-docs", words)


class ShortcutSurface:
    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        message, _ = await town.slack.post_as_person(town.ada, seat.channel, words)
        await town.slack.use_shortcut(seat.person, message, "ask_about_message")


class HomeTabSurface:
    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.open_home(seat.person)


class ClickSurface:
    """Clicks every button of the person's own offer, else Ada's buttons, forged onto a message of the person."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        message = offer or await any_message(town, seat)
        for button in (offer or town.offer_of_ada).block_buttons():
            await town.slack.deliver_action(seat.person, message, button)


class TypedChoiceSurface:
    """Types a choice by position and by name, with and without an earlier offer."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        thread = offer.thread_ts if offer else None
        for typed in ("1", "just answer"):
            await town.slack.post_as_person(seat.person, seat.direct, typed, thread_ts=thread)


class ExportSurface:
    """Asks for an export of an earlier list: one from when the person had the right, and one without the right."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        root, _ = await town.slack.post_as_person(seat.person, seat.direct, "List every ledger")
        for thread in {root.ts, offer.thread_ts if offer else root.ts}:
            await town.slack.post_as_person(seat.person, seat.direct, "export as CSV", thread_ts=thread)


class DownloadSurface:
    """Opens the link to the person's own file, else Ada's link with another export, time or signature."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        for link in LINK.findall(str(offer.blocks)) if offer else self._forged(town):
            await town.fetch(seat.person, link)
        for path in ("/metrics", "/readyz", "/healthz", "/download/", "/download/1.2.3"):
            await town.fetch(seat.person, path)

    def _forged(self, town: MatrixWorkspace) -> list[str]:
        base, _, signed = town.link.rpartition("/")
        export, expires, mac = signed.split(".")
        forged_parts = [
            (export[::-1], expires, mac),
            (export, f"{int(expires) + 60}", mac),
            (export, expires, mac[::-1]),
        ]
        return [f"{base}/{'.'.join(link_parts)}" for link_parts in forged_parts]


class FeedbackSurface:
    """Rates with the buttons of the person's own answer, else of Ada's answer, forged as in `ClickSurface`."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        message = offer or await any_message(town, seat)
        elements = [element for block in (offer or town.answer_to_ada).blocks for element in block.get("elements", [])]
        for rating in (element for element in elements if element.get("type") == "feedback_buttons"):
            for pressed in (rating["positive_button"], rating["negative_button"]):
                payload = {"type": "feedback_buttons", "action_id": rating["action_id"], **pressed}
                await town.slack.deliver_action(seat.person, message, payload)


class StepsSurface:
    """Shows the steps of an answer, which contain its searches."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        message, shown_message = offer or await any_message(town, seat), offer or town.answer_to_ada
        for button in (button for button in shown_message.block_buttons() if button["text"]["text"] == "Show steps"):
            await town.slack.deliver_action(seat.person, message, button)


class OthersPrivateSurface:
    """Ada, who may see the bucket, asks in the channel that the person reads, and continues in private."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.post_as_person(town.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
        await town.wait_until_quiet()
        for answer in town.answers(seat.channel):
            for button in (
                element for element in answer.block_buttons() if element["text"]["text"] == "Continue in private"
            ):
                await town.slack.deliver_action(town.ada, answer, button)


class FollowUpSurface:
    """Asks without a mention, in the thread of an answer to Ada in the person's channel."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.post_as_person(seat.person, seat.channel, words, thread_ts=town.roots[seat.channel.id])


class EditSurface:
    """Edits a question that was answered when the person had the right, else any message."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        question = None if offer is None else town.slack.workspace.find_message(offer.channel, str(offer.thread_ts))
        await town.slack.edit_message(question or await any_message(town, seat), words)


class FullTextSurface:
    """Requests the full text of the person's own answer, else of Ada's answer by its id."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        message, turn = offer or await any_message(town, seat), turn_of(offer or town.answer_to_ada)
        await town.slack.deliver_action(seat.person, message, {"type": "button", "action_id": "whole", "value": turn})


class MoreChoicesSurface:
    """Requests further choices by the offer's id, and chooses from a modal."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        shown_message, message = offer or town.offer_of_ada, offer or await any_message(town, seat)
        pressed = {"type": "button", "action_id": "more", "value": await town.clarification_of(turn_of(shown_message))}
        await town.slack.deliver_action(seat.person, message, pressed)
        message_position = {
            "channel": message.channel,
            "thread": message.thread_ts or message.ts,
            "message": message.ts,
        }
        for button in (
            element for element in shown_message.block_buttons() if element["action_id"].startswith("clarify:")
        ):
            chosen = {"selected_option": {"value": button["value"]}}
            view = a_view("modal", "more", json.dumps({**message_position, "about": ""}), more=chosen)
            await town.submit_view(seat.person, view)


class OwnPrivateSurface:
    """Continues in private with a question that Ada asked in the person's channel."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        for answer in town.answers(seat.channel):
            for button in (
                element for element in answer.block_buttons() if element["text"]["text"] == "Continue in private"
            ):
                await town.slack.deliver_action(seat.person, answer, button)


class PromptsSurface:
    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.open_home(seat.person, tab="messages")


class AdministrationSurface:
    """Clicks every button of an admin's Home tab. A person who is no admin also submits modals to get access."""

    async def ask(self, town: MatrixWorkspace, seat: MatrixSeat, words: str, offer: SlackMessage | None) -> None:
        await town.slack.open_home(seat.person)
        for action, value in self._buttons():
            await town.click_in_view(seat.person, action, value)
        if not await town.bot.administration.is_admin(PersonId(f"slack:{seat.person.team}:{seat.person.id}")):
            for view in self._submissions(seat):
                await town.submit_view(seat.person, view)
            await town.slack.post_as_person(seat.person, seat.direct, "List every ledger")

    def _buttons(self) -> Iterator[tuple[str, str]]:
        for modal in ("bucket", "admins", "limits", "questions"):
            yield f"admin:{modal}", opaque_key_of(SECRET)
        for ways in ("home:mine:next", "home:all:next", "grant:page:next", "admin:page:next"):
            yield ways, "0:0"
        yield from (("grant:remove", "nobody"), ("admin:remove", "nobody"))

    def _submissions(self, seat: MatrixSeat) -> Iterator[dict[str, Any]]:
        metadata, person = json.dumps({"bucket": opaque_key_of(SECRET)}), {"selected_user": seat.person.id}
        everyone = {"selected_options": [{"value": "yes"}]}
        yield a_view("modal", "admin:bucket", metadata, person=person, everyone=everyone)
        yield a_view("modal", "admin:admins", metadata, person=person)
        yield a_view("modal", "admin:limits", metadata)


async def any_message(town: MatrixWorkspace, seat: MatrixSeat) -> SlackMessage:
    message, _ = await town.slack.post_as_person(seat.person, seat.direct, "hello")
    return message


SURFACES: Final[Mapping[str, MatrixSurface]] = {
    "mention": MentionSurface(),
    "DM": DirectMessageSurface(),
    "thread": ThreadSurface(),
    "command": CommandSurface(),
    "shortcut": ShortcutSurface(),
    "Home": HomeTabSurface(),
    "click": ClickSurface(),
    "typed choice": TypedChoiceSurface(),
    "export": ExportSurface(),
    "download": DownloadSurface(),
    "feedback": FeedbackSurface(),
    "steps": StepsSurface(),
    "aside": OthersPrivateSurface(),
    "follow-up": FollowUpSurface(),
    "edit": EditSurface(),
    "show all": FullTextSurface(),
    "more choices": MoreChoicesSurface(),
    "in private": OwnPrivateSurface(),
    "prompts": PromptsSurface(),
    "administering": AdministrationSurface(),
}


# -- audiences


class MatrixAudience(Protocol):
    """A kind of person. `create_seat` creates a seat; `remove_rights` later removes the rights of all seats."""

    had_the_right: bool
    is_admin: bool

    async def create_seat(self, town: MatrixWorkspace, name: str) -> MatrixSeat: ...

    async def remove_rights(self, town: MatrixWorkspace, seats: list[MatrixSeat]) -> None: ...


class MemberAudience:
    had_the_right = is_admin = False

    async def create_seat(self, town: MatrixWorkspace, name: str) -> MatrixSeat:
        return town.add_seat(name)

    async def remove_rights(self, town: MatrixWorkspace, seats: list[MatrixSeat]) -> None: ...


class AdminAudience(MemberAudience):
    """An admin of Parley, who administers buckets without reading them."""

    is_admin = True


class GuestAudience(MemberAudience):
    """A guest. The bucket is granted to everyone and to the channel, but neither grant includes guests."""

    async def create_seat(self, town: MatrixWorkspace, name: str) -> MatrixSeat:
        return await _grant_to_insiders(town, town.add_seat(name, is_guest=True))


class ExternalAudience(MemberAudience):
    """A person of another organisation, in a channel shared with it."""

    async def create_seat(self, town: MatrixWorkspace, name: str) -> MatrixSeat:
        seat = town.add_seat(name, team="T9OTHER", is_stranger=True)
        seat.channel.is_ext_shared = True
        return await _grant_to_insiders(town, seat)


class RemovedAudience:
    """A person removed from the user group that has the grant; the channel's own grant is revoked."""

    had_the_right, is_admin = True, False

    async def create_seat(self, town: MatrixWorkspace, name: str) -> MatrixSeat:
        seat = town.add_seat(name)
        await town.grant(SECRET, f"channel:slack:{TEAM}:{seat.channel.id}")
        await town.grant(SECRET, f"group:slack:{TEAM}:{ENTITLED}")
        town.slack.workspace.groups[ENTITLED].members.append(seat.person.id)
        return seat

    async def remove_rights(self, town: MatrixWorkspace, seats: list[MatrixSeat]) -> None:
        for seat in seats:
            await town.revoke(SECRET, f"channel:slack:{TEAM}:{seat.channel.id}")
        await town.slack.change_group(town.slack.workspace.groups[ENTITLED], [town.ada.id])


class DeactivatedAudience:
    """A deactivated person. Their last actions are delivered late, and their old links are used."""

    had_the_right, is_admin = True, False

    async def create_seat(self, town: MatrixWorkspace, name: str) -> MatrixSeat:
        seat = town.add_seat(name)
        await town.grant(SECRET, f"user:slack:{TEAM}:{seat.person.id}")
        return seat

    async def remove_rights(self, town: MatrixWorkspace, seats: list[MatrixSeat]) -> None:
        for seat in seats:
            await town.slack.change_user_fields(seat.person, deleted=True)


class EntitledAudience(RemovedAudience):
    """The control: a person who keeps the right, so that every surface shows what it can show."""

    async def remove_rights(self, town: MatrixWorkspace, seats: list[MatrixSeat]) -> None: ...


AUDIENCES: Final[Mapping[str, MatrixAudience]] = {
    "member": MemberAudience(),
    "guest": GuestAudience(),
    "external": ExternalAudience(),
    "removed after the offer": RemovedAudience(),
    "deactivated": DeactivatedAudience(),
    "admin": AdminAudience(),
}
CONTROL: Final = "entitled"


async def _grant_to_insiders(town: MatrixWorkspace, seat: MatrixSeat) -> MatrixSeat:
    await town.grant(SECRET, EVERYONE)
    await town.grant(SECRET, f"channel:slack:{TEAM}:{seat.channel.id}")
    return seat


# -- cells

ONCE: Final = {
    "Home": "a Home tab is opened without a question",
    "download": "a link is fetched without a question",
    "click": "every button is pressed, whatever is looked for",
    "typed choice": "the same is typed, whatever is looked for",
    "export": "the same is said, whatever is looked for",
    "feedback": "every button is pressed, whatever is looked for",
    "steps": "the button is pressed, whatever is looked for",
    "aside": "somebody else asks",
    "show all": "the button is pressed, whatever is looked for",
    "more choices": "the button is pressed, whatever is looked for",
    "in private": "somebody else has asked",
    "prompts": "the Messages tab is opened without a question",
    "administering": "every button is pressed and every modal submitted, whatever is looked for",
}
SHOWS_NOTHING: Final = {
    "feedback": "a rating is thanked for, and a bad one asks why: neither says anything again",
    "in private": "where the channel may see it as well, there is nothing to go on with in private",
}
# Admins see the names and document counts of all buckets, but nothing of their contents.
MAY_SEE: Final = {(surface, "admin"): {"kestrelvault", "137"} for surface in ("Home", "administering")}
UNASKED: Final = {"Home", "prompts", "administering"}  # surfaces without an earlier offer


TOWNS: Final = 2  # workspaces at once; each has a time limit of a minute for a turn
Seen = Mapping[tuple[str, str], list[str]]  # by surface and leak


@cache
def load_seen_texts() -> Mapping[str, Seen]:
    """By audience, everything that was sent after the rights were removed. A few workspaces run at once."""

    async def collect_seen_texts(folder: Path) -> Mapping[str, Seen]:
        semaphore = asyncio.Semaphore(TOWNS)
        async with open_matrix_home(folder / "home"):
            audiences = {**AUDIENCES, CONTROL: EntitledAudience()}
        for name in audiences:
            shutil.copytree(folder / "home", folder / name)
        seen_per_audience = await asyncio.gather(
            *(_seen_texts_of(kind, folder / name, semaphore) for name, kind in audiences.items())
        )
        return dict(zip(audiences, seen_per_audience, strict=True))

    with TemporaryDirectory() as folder:
        return asyncio.run(collect_seen_texts(Path(folder)))


async def _seen_texts_of(audience: MatrixAudience, home: Path, semaphore: asyncio.Semaphore) -> Seen:
    cells = [(surface, leak) for surface in SURFACES for leak in (["all"] if surface in ONCE else LEAKS)]
    names = {cell: f"P{n:03}" for n, cell in enumerate(cells)}
    admins = [f"slack:{TEAM}:U{name}" for name in names.values()] if audience.is_admin else []
    async with semaphore, open_matrix_workspace(home, admins=admins) as town:
        seats = {cell: await audience.create_seat(town, name) for cell, name in names.items()}
        for (surface, _), seat in seats.items():
            if surface in {"follow-up", "in private"}:
                await town.ask_as_ada(seat)
        await make_offers(town)
        offers = await _make_seat_offers(town, seats) if audience.had_the_right else {}
        await audience.remove_rights(town, list(seats.values()))
        mark = town.call_count()
        for (surface, leak), seat in seats.items():
            words = LEAKS.get(leak, "")
            await SURFACES[surface].ask(town, _refresh_seat(town, seat), words, offers.get((surface, leak)))
        await town.wait_until_quiet()
        return {cell: town.texts_seen_by(seat, mark) for cell, seat in seats.items()}


async def _make_seat_offers(
    town: MatrixWorkspace, seats: Mapping[tuple[str, str], MatrixSeat]
) -> dict[tuple[str, str], SlackMessage]:
    """The offers made while people had the right: a link to a file, or buttons."""
    offering = {cell: seat for cell, seat in seats.items() if cell[0] in {"thread", "edit", *ONCE} - UNASKED}
    for (surface, _), seat in offering.items():
        words = LEAKS["text" if surface in {"feedback", "show all"} else "facet"]
        await town.slack.post_as_person(seat.person, seat.direct, words)
    await town.wait_until_quiet()
    offers = {cell: town.answers(seat.direct)[-1] for cell, seat in offering.items()}
    for cell in offers.keys() & {("download", "all")}:
        town.slack.plan_faults("files.getUploadURLExternal", *[Fault(status=500)] * 3)
        await town.slack.click_button(seats[cell].person, offers[cell], "Export all")
        await town.wait_until_quiet()
        offers[cell] = town.answers(seats[cell].direct)[-1]
    return offers


def _refresh_seat(town: MatrixWorkspace, seat: MatrixSeat) -> MatrixSeat:
    return replace(seat, person=town.slack.workspace.users[seat.person.id])


def seen_texts(surface: str, audience: str, leak: str) -> list[str]:
    seen_cells = load_seen_texts()[audience]
    return seen_cells[(surface, "all")] if surface in ONCE else seen_cells[(surface, leak)]


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("audience", AUDIENCES)
def test_nothing_leaks(audience: str, surface: str, leak: str) -> None:
    marks = marks_in(seen_texts(surface, audience, leak))

    assert marks - MAY_SEE.get((surface, audience), set()) == set()


@pytest.mark.parametrize("surface", sorted(SURFACES.keys() - SHOWS_NOTHING.keys()))
def test_a_person_with_the_right_sees_the_secret_on_each_surface(surface: str) -> None:
    """Without this test, `test_nothing_leaks` would prove nothing."""
    audience = "admin" if surface == "administering" else CONTROL

    assert any(marks_in(seen_texts(surface, audience, leak)) for leak in LEAKS)


@pytest.mark.parametrize(
    ("surface", "leak", "mark"),
    [
        ("DM", "text", "goshawkclause"),
        ("DM", "count", "142"),
        ("DM", "facet", "harrierfirm"),
        ("DM", "suggestion", "merlinworks"),
        ("DM", "value", "987,654"),
        ("DM", "citation", "gyrfalcon"),
        ("export", "CSV", "falconetnote"),
        ("download", "CSV", "falconetnote"),
        ("DM", "error text", "buzzardgrade"),
        ("thread", "summary", "lannerhaus"),
    ],
)
def test_each_mark_is_shown_to_a_person_with_the_right(surface: str, leak: str, mark: str) -> None:
    assert mark in marks_in(seen_texts(surface, CONTROL, leak))


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_channel_is_told_that_a_question_continues_in_private(audience: str) -> None:
    assert any("This goes on in a direct message" in text for text in seen_texts("aside", audience, "text"))


# The surfaces, audiences and leaks that the matrix must have at least.
DEMANDED: Final = (
    {"mention", "DM", "thread", "command", "shortcut", "Home", "click", "typed choice", "export", "download",
     "feedback"},
    {"member", "guest", "external", "removed after the offer", "deactivated", "admin"},
    {"text", "count", "facet", "suggestion", "value", "citation", "CSV", "error text", "summary"},
)  # fmt: skip
ASKED: Final = {"mention", "DM", "thread", "command", "shortcut", "follow-up", "edit"}  # asked once for each leak


def test_the_matrix_has_the_demanded_surfaces_audiences_and_leaks() -> None:
    assert DEMANDED[0] <= SURFACES.keys()
    assert DEMANDED[1] == AUDIENCES.keys()
    assert DEMANDED[2] == LEAKS.keys()


@pytest.mark.parametrize("surface", SURFACES)
def test_each_surface_is_asked_for_each_leak_or_has_a_reason_for_asking_once(surface: str) -> None:
    """A surface has exactly one of both. Without a question, all leaks are searched in its one result."""
    cells = {cell for cell in load_seen_texts()[CONTROL] if cell[0] == surface}
    reason = ONCE.get(surface, "")

    assert (surface in ASKED) != bool(reason.strip())
    assert cells == {(surface, leak) for leak in (LEAKS if surface in ASKED else ["all"])}


def test_every_reason_belongs_to_a_surface() -> None:
    assert ONCE.keys() | SHOWS_NOTHING.keys() <= SURFACES.keys()
    assert all(reason.strip() for reason in SHOWS_NOTHING.values())
