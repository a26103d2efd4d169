"""The permission matrix: by whichever way in, whoever may not see a bucket is shown nothing of it.

Surface x audience x leak. Each audience has a town of its own, with a person and a channel for each surface and leak;
all of them ask, and then each cell looks at everything that was ever sent to where its person reads.
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

from adapters.slack.home.blocks import key
from bot.ids import EVERYONE, PersonId
from tests.scenarios.permissions import (
    ENTITLED,
    LINK,
    SECRET,
    Seat,
    Town,
    a_home,
    a_town,
    a_view,
    make_offers,
    marks_in,
    turn_of,
)
from tests.stand_ins.slack.server import Fault
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Message

# What is asked to bring each of them to light, in words that are no marks themselves.
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


# -- ways in


class Surface(Protocol):
    """`offer` is a message with buttons that was sent to the person when they had the right, else None."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None: ...


class Mention:
    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.say(seat.person, seat.channel, f"<@{BOT_USER}> {words}")


class DirectMessage:
    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.say(seat.person, seat.direct, words)


class Thread:
    """In the thread of a question: of the person's own, from before, else of Ada's in the channel."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        if offer is not None:
            await town.slack.say(seat.person, seat.direct, words, thread_ts=offer.thread_ts)
            return
        root, _ = await town.slack.say(town.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
        await town.slack.say(seat.person, seat.channel, f"<@{BOT_USER}> {words}", thread_ts=root.ts)


class Command:
    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.command(seat.person, seat.channel, "/ask-docs", words)


class Shortcut:
    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        message, _ = await town.slack.say(town.ada, seat.channel, words)
        await town.slack.shortcut(seat.person, message, "ask_about_message")


class Home:
    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.open_home(seat.person)


class Click:
    """On every button of the person's own offer, else with those of Ada's, forged onto a message that they have."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        message = offer or await any_message(town, seat)
        for button in (offer or town.offer_of_ada).buttons():
            await town.slack.deliver_action(seat.person, message, button)


class TypedChoice:
    """By position and by name, where something was offered and where nothing was."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        thread = offer.thread_ts if offer else None
        for typed in ("1", "just answer"):
            await town.slack.say(seat.person, seat.direct, typed, thread_ts=thread)


class Export:
    """In words, of what was asked for before: with the right, or just now without it."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        root, _ = await town.slack.say(seat.person, seat.direct, "List every ledger")
        for thread in {root.ts, offer.thread_ts if offer else root.ts}:
            await town.slack.say(seat.person, seat.direct, "export as CSV", thread_ts=thread)


class Download:
    """By the link to a file of one's own, else by Ada's with another export, time or signature in it."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        for link in LINK.findall(str(offer.blocks)) if offer else self._forged(town):
            await town.fetch(seat.person, link)
        for path in ("/metrics", "/readyz", "/healthz", "/download/", "/download/1.2.3"):
            await town.fetch(seat.person, path)

    def _forged(self, town: Town) -> list[str]:
        base, _, signed = town.link.rpartition("/")
        export, expires, mac = signed.split(".")
        parts = [(export[::-1], expires, mac), (export, f"{int(expires) + 60}", mac), (export, expires, mac[::-1])]
        return [f"{base}/{'.'.join(part)}" for part in parts]


class Feedback:
    """With the buttons under an answer of the person's own, else with those under Ada's, forged as clicks are."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        message = offer or await any_message(town, seat)
        elements = [one for block in (offer or town.answer_to_ada).blocks for one in block.get("elements", [])]
        for rating in (one for one in elements if one.get("type") == "feedback_buttons"):
            for pressed in (rating["positive_button"], rating["negative_button"]):
                told = {"type": "feedback_buttons", "action_id": rating["action_id"], **pressed}
                await town.slack.deliver_action(seat.person, message, told)


class Steps:
    """How an answer came about, which shows what was looked for."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        message, shown = offer or await any_message(town, seat), offer or town.answer_to_ada
        for button in (one for one in shown.buttons() if one["text"]["text"] == "Show steps"):
            await town.slack.deliver_action(seat.person, message, button)


class Aside:
    """Somebody who may see it asks in the channel that the person reads, and goes on in private."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.say(town.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
        await town.quiet()
        for answer in town.answers(seat.channel):
            for button in (one for one in answer.buttons() if one["text"]["text"] == "Continue in private"):
                await town.slack.deliver_action(town.ada, answer, button)


class FollowUp:
    """Without a mention, in the thread of an answer to Ada in the channel that the person reads."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.say(seat.person, seat.channel, words, thread_ts=town.roots[seat.channel.id])


class Edit:
    """Of a question that was answered before, when there was the right to it, else of any words."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        asked = None if offer is None else town.slack.workspace.message(offer.channel, str(offer.thread_ts))
        await town.slack.edit(asked or await any_message(town, seat), words)


class ShowAll:
    """The file with all of an answer: of the person's own, else of Ada's, by its id."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        message, turn = offer or await any_message(town, seat), turn_of(offer or town.answer_to_ada)
        await town.slack.deliver_action(seat.person, message, {"type": "button", "action_id": "whole", "value": turn})


class More:
    """The choices that a message has no room for: asked for by the offer's id, and chosen from a modal."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        shown, message = offer or town.offer_of_ada, offer or await any_message(town, seat)
        pressed = {"type": "button", "action_id": "more", "value": await town.clarification_of(turn_of(shown))}
        await town.slack.deliver_action(seat.person, message, pressed)
        spot = {"channel": message.channel, "thread": message.thread_ts or message.ts, "message": message.ts}
        for button in (one for one in shown.buttons() if one["action_id"].startswith("clarify:")):
            chosen = {"selected_option": {"value": button["value"]}}
            view = a_view("modal", "more", json.dumps({**spot, "about": ""}), more=chosen)
            await town.submit(seat.person, view)


class InPrivate:
    """What Ada asked in the channel that the person reads, gone on with by that person."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        for answer in town.answers(seat.channel):
            for button in (one for one in answer.buttons() if one["text"]["text"] == "Continue in private"):
                await town.slack.deliver_action(seat.person, answer, button)


class Prompts:
    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.open_home(seat.person, tab="messages")


class Administering:
    """Every button of an admin's Home tab. Who is none also submits its modals: with grants to themself, then asks."""

    async def ask(self, town: Town, seat: Seat, words: str, offer: Message | None) -> None:
        await town.slack.open_home(seat.person)
        for action, value in self._buttons():
            await town.click_in_view(seat.person, action, value)
        if not await town.bot.administration.is_admin(PersonId(f"slack:{seat.person.team}:{seat.person.id}")):
            for view in self._submissions(seat):
                await town.submit(seat.person, view)
            await town.slack.say(seat.person, seat.direct, "List every ledger")

    def _buttons(self) -> Iterator[tuple[str, str]]:
        for modal in ("bucket", "admins", "limits", "questions"):
            yield f"admin:{modal}", key(SECRET)
        for ways in ("home:mine:next", "home:all:next", "grant:page:next", "admin:page:next"):
            yield ways, "0:0"
        yield from (("grant:remove", "nobody"), ("admin:remove", "nobody"))

    def _submissions(self, seat: Seat) -> Iterator[dict[str, Any]]:
        kept, person = json.dumps({"bucket": key(SECRET)}), {"selected_user": seat.person.id}
        everyone = {"selected_options": [{"value": "yes"}]}
        yield a_view("modal", "admin:bucket", kept, person=person, everyone=everyone)
        yield a_view("modal", "admin:admins", kept, person=person)
        yield a_view("modal", "admin:limits", kept)


async def any_message(town: Town, seat: Seat) -> Message:
    message, _ = await town.slack.say(seat.person, seat.direct, "hello")
    return message


SURFACES: Final[Mapping[str, Surface]] = {
    "mention": Mention(),
    "DM": DirectMessage(),
    "thread": Thread(),
    "command": Command(),
    "shortcut": Shortcut(),
    "Home": Home(),
    "click": Click(),
    "typed choice": TypedChoice(),
    "export": Export(),
    "download": Download(),
    "feedback": Feedback(),
    "steps": Steps(),
    "aside": Aside(),
    "follow-up": FollowUp(),
    "edit": Edit(),
    "show all": ShowAll(),
    "more choices": More(),
    "in private": InPrivate(),
    "prompts": Prompts(),
    "administering": Administering(),
}


# -- audiences


class Audience(Protocol):
    """`place` gives a person a seat; `strip` takes from everybody what they had, once offers were made."""

    had_the_right: bool
    is_admin: bool

    async def place(self, town: Town, name: str) -> Seat: ...

    async def strip(self, town: Town, seats: list[Seat]) -> None: ...


class Member:
    had_the_right = is_admin = False

    async def place(self, town: Town, name: str) -> Seat:
        return town.seat(name)

    async def strip(self, town: Town, seats: list[Seat]) -> None: ...


class Admin(Member):
    """Of Parley: administers buckets without reading them."""

    is_admin = True


class Guest(Member):
    """The bucket is granted to everyone, and to the channel: neither means guests."""

    async def place(self, town: Town, name: str) -> Seat:
        return await _opened_to_all_but_outsiders(town, town.seat(name, is_guest=True))


class External(Member):
    """In a channel shared with their organisation."""

    async def place(self, town: Town, name: str) -> Seat:
        seat = town.seat(name, team="T9OTHER", is_stranger=True)
        seat.channel.is_ext_shared = True
        return await _opened_to_all_but_outsiders(town, seat)


class Removed:
    """From the user group that the bucket was granted to; and the channel's own grant is revoked."""

    had_the_right, is_admin = True, False

    async def place(self, town: Town, name: str) -> Seat:
        seat = town.seat(name)
        await town.grant(SECRET, f"channel:slack:{TEAM}:{seat.channel.id}")
        await town.grant(SECRET, f"group:slack:{TEAM}:{ENTITLED}")
        town.slack.workspace.groups[ENTITLED].members.append(seat.person.id)
        return seat

    async def strip(self, town: Town, seats: list[Seat]) -> None:
        for seat in seats:
            await town.revoke(SECRET, f"channel:slack:{TEAM}:{seat.channel.id}")
        await town.slack.change_group(town.slack.workspace.groups[ENTITLED], [town.ada.id])


class Deactivated:
    """What they did just before is delivered late, and the links that they kept are used."""

    had_the_right, is_admin = True, False

    async def place(self, town: Town, name: str) -> Seat:
        seat = town.seat(name)
        await town.grant(SECRET, f"user:slack:{TEAM}:{seat.person.id}")
        return seat

    async def strip(self, town: Town, seats: list[Seat]) -> None:
        for seat in seats:
            await town.slack.change_user(seat.person, deleted=True)


class Entitled(Removed):
    """The control: nothing is taken from them, so that every way in shows what it can show."""

    async def strip(self, town: Town, seats: list[Seat]) -> None: ...


AUDIENCES: Final[Mapping[str, Audience]] = {
    "member": Member(),
    "guest": Guest(),
    "external": External(),
    "removed after the offer": Removed(),
    "deactivated": Deactivated(),
    "admin": Admin(),
}
CONTROL: Final = "entitled"


async def _opened_to_all_but_outsiders(town: Town, seat: Seat) -> Seat:
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
# Admins see the names of all buckets, and how many documents they have: nothing of what is in them.
MAY_SEE: Final = {(surface, "admin"): {"kestrelvault", "137"} for surface in ("Home", "administering")}
UNASKED: Final = {"Home", "prompts", "administering"}  # nothing was offered before


TOWNS: Final = 2  # at once: what works in one is given a minute
Seen = Mapping[tuple[str, str], list[str]]  # by surface and leak


@cache
def seen_by_all() -> Mapping[str, Seen]:
    """By audience, all that they were sent once they had no right. A few towns live side by side."""

    async def all_seen(folder: Path) -> Mapping[str, Seen]:
        few = asyncio.Semaphore(TOWNS)
        async with a_home(folder / "home"):
            kinds = {**AUDIENCES, CONTROL: Entitled()}
        for name in kinds:
            shutil.copytree(folder / "home", folder / name)
        found = await asyncio.gather(*(_seen_of(kind, folder / name, few) for name, kind in kinds.items()))
        return dict(zip(kinds, found, strict=True))

    with TemporaryDirectory() as folder:
        return asyncio.run(all_seen(Path(folder)))


async def _seen_of(kind: Audience, home: Path, few: asyncio.Semaphore) -> Seen:
    cells = [(surface, leak) for surface in SURFACES for leak in (["all"] if surface in ONCE else LEAKS)]
    names = {cell: f"P{n:03}" for n, cell in enumerate(cells)}
    admins = [f"slack:{TEAM}:U{name}" for name in names.values()] if kind.is_admin else []
    async with few, a_town(home, admins=admins) as town:
        seats = {cell: await kind.place(town, name) for cell, name in names.items()}
        for (surface, _), seat in seats.items():
            if surface in {"follow-up", "in private"}:
                await town.asked_by_ada(seat)
        await make_offers(town)
        offers = await _offers(town, seats) if kind.had_the_right else {}
        await kind.strip(town, list(seats.values()))
        mark = town.mark()
        for (surface, leak), seat in seats.items():
            words = LEAKS.get(leak, "")
            await SURFACES[surface].ask(town, _now(town, seat), words, offers.get((surface, leak)))
        await town.quiet()
        return {cell: town.seen_by(seat, mark) for cell, seat in seats.items()}


async def _offers(town: Town, seats: Mapping[tuple[str, str], Seat]) -> dict[tuple[str, str], Message]:
    """What people who had the right were offered: a file by its link, or buttons."""
    offering = {cell: seat for cell, seat in seats.items() if cell[0] in {"thread", "edit", *ONCE} - UNASKED}
    for (surface, _), seat in offering.items():
        words = LEAKS["text" if surface in {"feedback", "show all"} else "facet"]
        await town.slack.say(seat.person, seat.direct, words)
    await town.quiet()
    offers = {cell: town.answers(seat.direct)[-1] for cell, seat in offering.items()}
    for cell in offers.keys() & {("download", "all")}:
        town.slack.fail("files.getUploadURLExternal", *[Fault(status=500)] * 3)
        await town.slack.click(seats[cell].person, offers[cell], "Export all")
        await town.quiet()
        offers[cell] = town.answers(seats[cell].direct)[-1]
    return offers


def _now(town: Town, seat: Seat) -> Seat:
    return replace(seat, person=town.slack.workspace.users[seat.person.id])


def seen(surface: str, audience: str, leak: str) -> list[str]:
    found = seen_by_all()[audience]
    return found[(surface, "all")] if surface in ONCE else found[(surface, leak)]


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("audience", AUDIENCES)
def test_nothing_leaks(audience: str, surface: str, leak: str) -> None:
    marks = marks_in(seen(surface, audience, leak))

    assert marks - MAY_SEE.get((surface, audience), set()) == set()


@pytest.mark.parametrize("surface", sorted(SURFACES.keys() - SHOWS_NOTHING.keys()))
def test_who_has_the_right_is_shown_it_there(surface: str) -> None:
    """Else that nothing leaks would prove nothing."""
    who = "admin" if surface == "administering" else CONTROL

    assert any(marks_in(seen(surface, who, leak)) for leak in LEAKS)


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
def test_what_is_looked_for_comes_to_light_where_it_is_granted(surface: str, leak: str, mark: str) -> None:
    assert mark in marks_in(seen(surface, CONTROL, leak))


@pytest.mark.parametrize("audience", AUDIENCES)
def test_what_goes_on_in_private_is_told_of_in_the_channel(audience: str) -> None:
    assert any("This goes on in a direct message" in text for text in seen("aside", audience, "text"))


# What the matrix has to have at least.
DEMANDED: Final = (
    {"mention", "DM", "thread", "command", "shortcut", "Home", "click", "typed choice", "export", "download",
     "feedback"},
    {"member", "guest", "external", "removed after the offer", "deactivated", "admin"},
    {"text", "count", "facet", "suggestion", "value", "citation", "CSV", "error text", "summary"},
)  # fmt: skip
ASKED: Final = {"mention", "DM", "thread", "command", "shortcut", "follow-up", "edit"}  # once for each thing to leak


def test_the_matrix_has_what_it_must() -> None:
    assert DEMANDED[0] <= SURFACES.keys()
    assert DEMANDED[1] == AUDIENCES.keys()
    assert DEMANDED[2] == LEAKS.keys()


@pytest.mark.parametrize("surface", SURFACES)
def test_each_cell_is_asked_for_or_has_a_reason_why_it_cannot_be(surface: str) -> None:
    """Never both. Where words are not asked, all leaks are looked for in the one thing that can be done."""
    cells = {cell for cell in seen_by_all()[CONTROL] if cell[0] == surface}
    reason = ONCE.get(surface, "")

    assert (surface in ASKED) != bool(reason.strip())
    assert cells == {(surface, leak) for leak in (LEAKS if surface in ASKED else ["all"])}


def test_no_reason_is_left_over() -> None:
    assert ONCE.keys() | SHOWS_NOTHING.keys() <= SURFACES.keys()
    assert all(reason.strip() for reason in SHOWS_NOTHING.values())
