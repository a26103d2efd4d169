"""The permission matrix: a person who may not see a bucket sees nothing of it, in any product, by any way.

Product x audience x way x leak. Each audience has its own town, with a seat for each way and leak. All of them ask, and
then each cell checks everything that was ever sent to where its person reads.
"""

import asyncio
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

import pytest

from bot.ids import EVERYONE
from tests.scenarios.matrix.marked_buckets import SECRET, WEB_MARK, marks_in, open_matrix_home
from tests.scenarios.matrix.slack_ways import SlackMatrix
from tests.scenarios.matrix.teams_ways import TeamsMatrix
from tests.scenarios.matrix.town import SAVED_REPORTS, SAVED_SEARCH, Cell, MatrixProduct, MatrixTown, SeatKind
from tests.scenarios.surfaces.selection import SURFACES

PRODUCTS: Final[Mapping[str, MatrixProduct]] = {product.name: product for product in (SlackMatrix(), TeamsMatrix())}
# Surfaces without other people than those who may see everything, or who sit at this machine.
UNDIVIDED: Final = {
    "web": "its one person is the owner of the documents",
    "terminal": "a person at the terminal names who they are; what each may see is tested with `parley ask --as`",
}

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
    "web page": "What is the wingspan of the osprey?",
}


# -- audiences


class MatrixAudience(Protocol):
    """A kind of person. `create_seat` creates a seat; `remove_rights` later removes the rights of all seats."""

    had_the_right: bool
    is_admin: bool

    async def create_seat(self, town: MatrixTown, cell: Cell, name: str) -> None: ...

    async def remove_rights(self, town: MatrixTown) -> None: ...


class MemberAudience:
    had_the_right = is_admin = False

    async def create_seat(self, town: MatrixTown, cell: Cell, name: str) -> None:
        town.add_seat(cell, name, SeatKind.MEMBER)

    async def remove_rights(self, town: MatrixTown) -> None: ...


class AdminAudience(MemberAudience):
    """An admin of Parley, who administers buckets without reading them."""

    is_admin = True


class GuestAudience(MemberAudience):
    """A guest. The bucket is granted to everyone and to the channel, but neither grant includes guests."""

    async def create_seat(self, town: MatrixTown, cell: Cell, name: str) -> None:
        town.add_seat(cell, name, SeatKind.GUEST)
        await _grant_to_insiders(town, cell)


class ExternalAudience(MemberAudience):
    """A person of another organisation, in a channel shared with it."""

    async def create_seat(self, town: MatrixTown, cell: Cell, name: str) -> None:
        town.add_seat(cell, name, SeatKind.EXTERNAL)
        await _grant_to_insiders(town, cell)


class RemovedAudience:
    """A person whose right ended: what gave it was revoked, or they were removed from it."""

    had_the_right, is_admin = True, False

    async def create_seat(self, town: MatrixTown, cell: Cell, name: str) -> None:
        town.add_seat(cell, name, SeatKind.MEMBER)
        await town.entitle_seat(cell)

    async def remove_rights(self, town: MatrixTown) -> None:
        await town.end_entitlements()


class DeactivatedAudience:
    """A deactivated person. Their last actions are delivered late, and their old links are used."""

    had_the_right, is_admin = True, False

    async def create_seat(self, town: MatrixTown, cell: Cell, name: str) -> None:
        town.add_seat(cell, name, SeatKind.MEMBER)
        await town.grant(SECRET, town.person_subject_of(cell))

    async def remove_rights(self, town: MatrixTown) -> None:
        await town.deactivate_people()


class EntitledAudience(RemovedAudience):
    """The control: a person who keeps the right, so that every way shows what it can show."""

    async def remove_rights(self, town: MatrixTown) -> None: ...


AUDIENCES: Final[Mapping[str, MatrixAudience]] = {
    "member": MemberAudience(),
    "guest": GuestAudience(),
    "external": ExternalAudience(),
    "removed after the offer": RemovedAudience(),
    "deactivated": DeactivatedAudience(),
    "admin": AdminAudience(),
}
CONTROL: Final = "entitled"


async def _grant_to_insiders(town: MatrixTown, cell: Cell) -> None:
    await town.grant(SECRET, EVERYONE)
    await town.grant(SECRET, town.channel_subject_of(cell))


# -- cells

TOWNS: Final = 2  # at once
ANSWERED_BEFORE: Final = {"follow-up", "in private"}  # ways that begin at an answer to Ada in the channel
CONTINUED: Final = {"thread", "edit"}  # ways that are asked for each leak and begin at an own earlier answer
SeenTexts = Mapping[Cell, list[str]]


@cache
def load_seen_texts(product: str) -> Mapping[str, SeenTexts]:
    """By audience, everything that was sent after the rights were removed. A few towns run at once."""

    async def collect_seen_texts(folder: Path) -> Mapping[str, SeenTexts]:
        semaphore = asyncio.Semaphore(TOWNS)
        async with open_matrix_home(folder / "home"):
            audiences = {**AUDIENCES, CONTROL: EntitledAudience()}
        for name in audiences:
            shutil.copytree(folder / "home", folder / name)
        seen_per_audience = await asyncio.gather(
            *(_seen_texts_of(PRODUCTS[product], kind, folder / name, semaphore) for name, kind in audiences.items())
        )
        return dict(zip(audiences, seen_per_audience, strict=True))

    with TemporaryDirectory() as folder:
        return asyncio.run(collect_seen_texts(Path(folder)))


async def _seen_texts_of(
    product: MatrixProduct, audience: MatrixAudience, home: Path, semaphore: asyncio.Semaphore
) -> SeenTexts:
    cells = [(way, leak) for way in product.ways.names for leak in product.ways.leaks_of(way, LEAKS)]
    names = {cell: f"P{n:03}" for n, cell in enumerate(cells)}
    admins = product.person_ids_of(list(names.values())) if audience.is_admin else []
    async with semaphore, product.open_town(home, admins=admins) as town:
        for cell, name in names.items():
            await audience.create_seat(town, cell, name)
        for cell in cells:
            if cell[0] in ANSWERED_BEFORE:
                await town.answer_ada_at(cell)
        await town.make_offers_to_ada()
        if audience.had_the_right:
            await town.make_offers(_questions_of_offers(product, cells))
        await audience.remove_rights(town)
        town.begin_watching()
        for cell in cells:
            await town.use_way(cell, LEAKS.get(cell[1], ""))
        await town.wait_until_quiet()
        return {cell: town.texts_seen_at(cell) for cell in cells}


def _questions_of_offers(product: MatrixProduct, cells: list[Cell]) -> dict[Cell, str]:
    """The questions whose answers people have from when they had the right."""
    offering_ways = (CONTINUED | product.ways.once.keys()) - product.ways.without_offer
    return {
        cell: SAVED_SEARCH
        if cell[0] == SAVED_REPORTS
        else LEAKS["text" if cell[0] in {"feedback", "show all"} else "facet"]
        for cell in cells
        if cell[0] in offering_ways
    }


def seen_texts(product: str, way: str, audience: str, leak: str) -> list[str]:
    seen_cells = load_seen_texts(product)[audience]
    return seen_cells[(way, "all" if way in PRODUCTS[product].ways.once else leak)]


WAYS: Final = [(name, way) for name, product in PRODUCTS.items() for way in product.ways.names]
TELLING_WAYS: Final = [(name, way) for name, way in WAYS if way not in PRODUCTS[name].ways.shows_nothing]


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize(("product", "way"), WAYS)
@pytest.mark.parametrize("audience", AUDIENCES)
def test_nothing_leaks(audience: str, product: str, way: str, leak: str) -> None:
    marks = marks_in(seen_texts(product, way, audience, leak))
    allowed = PRODUCTS[product].ways.may_see.get(way, frozenset()) if audience == "admin" else frozenset[str]()

    assert marks - allowed == set()


@pytest.mark.parametrize(("product", "way"), WAYS)
@pytest.mark.parametrize("audience", [*AUDIENCES, CONTROL])
def test_no_kept_page_of_the_web_is_shown_without_a_search_of_the_web(audience: str, product: str, way: str) -> None:
    texts = [text for leak in LEAKS for text in seen_texts(product, way, audience, leak)]

    assert WEB_MARK not in marks_in(texts)


@pytest.mark.parametrize(("product", "way"), TELLING_WAYS)
def test_a_person_with_the_right_sees_the_secret_by_each_way(product: str, way: str) -> None:
    """Without this test, `test_nothing_leaks` would prove nothing."""
    audience = "admin" if way == "administering" else CONTROL

    assert any(marks_in(seen_texts(product, way, audience, leak)) for leak in LEAKS)


@pytest.mark.parametrize(
    ("way", "leak", "mark"),
    [
        ("private chat", "text", "goshawkclause"),
        ("private chat", "count", "142"),
        ("private chat", "facet", "harrierfirm"),
        ("private chat", "suggestion", "merlinworks"),
        ("private chat", "value", "987,654"),
        ("private chat", "citation", "gyrfalcon"),
        ("export", "CSV", "falconetnote"),
        ("download", "CSV", "falconetnote"),
        ("private chat", "error text", "buzzardgrade"),
        ("thread", "summary", "lannerhaus"),
    ],
)
@pytest.mark.parametrize("product", PRODUCTS)
def test_each_mark_is_shown_to_a_person_with_the_right(product: str, way: str, leak: str, mark: str) -> None:
    assert mark in marks_in(seen_texts(product, way, CONTROL, leak))


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("product", PRODUCTS)
def test_the_channel_is_told_that_a_question_continues_in_private(product: str, audience: str) -> None:
    texts = seen_texts(product, "aside", audience, "text")

    assert any("This goes on in a direct message" in text for text in texts)


# What the matrix must have at least.
DEMANDED: Final = (
    {"mention", "private chat", "thread", "command", "shortcut", "Home", "click", "typed choice", "export", "download",
     "feedback", "saving", "saved reports", "saved aside"},
    {"member", "guest", "external", "removed after the offer", "deactivated", "admin"},
    {"text", "count", "facet", "suggestion", "value", "citation", "CSV", "error text", "summary", "web page"},
)  # fmt: skip


def test_the_matrix_has_the_demanded_ways_audiences_and_leaks() -> None:
    assert set(PRODUCTS["slack"].ways.names) >= DEMANDED[0]
    assert DEMANDED[1] == AUDIENCES.keys()
    assert DEMANDED[2] == LEAKS.keys()


@pytest.mark.parametrize("product", PRODUCTS)
def test_each_product_has_every_way_or_a_reason_for_lacking_it(product: str) -> None:
    ways, every_way = PRODUCTS[product].ways, {way for _, way in WAYS}

    assert {*ways.names} | ways.missing.keys() == every_way
    assert not {*ways.names} & ways.missing.keys()


@pytest.mark.parametrize(("product", "way"), WAYS)
def test_each_way_is_used_for_each_leak_or_has_a_reason_for_being_used_once(product: str, way: str) -> None:
    """Without a question, all leaks are searched in what the one use shows."""
    cells = {cell for cell in load_seen_texts(product)[CONTROL] if cell[0] == way}

    assert cells == {(way, leak) for leak in PRODUCTS[product].ways.leaks_of(way, LEAKS)}


@pytest.mark.parametrize("product", PRODUCTS)
def test_every_reason_is_a_sentence_about_a_way_of_the_product(product: str) -> None:
    ways = PRODUCTS[product].ways
    reasons = [*ways.once.values(), *ways.shows_nothing.values(), *ways.missing.values()]

    assert ways.once.keys() | ways.shows_nothing.keys() | ways.may_see.keys() | ways.without_offer <= {*ways.names}
    assert all(reason.strip() for reason in reasons)


def test_every_surface_is_in_the_matrix_or_has_a_reason_for_being_outside() -> None:
    assert {*PRODUCTS, *UNDIVIDED} == {*SURFACES}
    assert all(reason.strip() for reason in UNDIVIDED.values())
