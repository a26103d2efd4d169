"""A chat product for the permission matrix: people on seats of their own, and every way in which they reach Parley.

Each cell of the matrix is a way and a leak, and has a seat: a person with their own channel and private chat. So what
was sent to a seat belongs to its cell.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from bot.application import Application
from bot.ids import PersonId, Subject
from storage.search.ids import BucketId

Cell: TypeAlias = tuple[str, str]  # a way and a leak

TOWN_LIMIT_S: Final = 600.0  # of a whole town, on a busy machine; a town that hangs fails
SAVED_SEARCH: Final = "Every Monday at 9:00: list every ledger"
SAVED_REPORTS: Final = "saved reports"  # the way that begins at a search that the person has saved


class SeatKind(Enum):
    MEMBER = auto()
    GUEST = auto()
    EXTERNAL = auto()  # of another organisation, in a channel shared with it where the product has such channels


@dataclass(frozen=True, kw_only=True)
class MatrixWays:
    """The ways of one product, by name, in the order in which they are used.

    `once`: ways that are used once for all leaks, each with the reason. `shows_nothing`: ways that show nothing even to
    a person with the right, with the reason. `without_offer`: ways that use no earlier answer to the person. `missing`:
    ways that other products have, with the reason why this one has none. `may_see`: what admins see by a way; they see
    names and document counts of all buckets, but nothing of the contents.
    """

    names: tuple[str, ...]
    once: Mapping[str, str] = field(default_factory=dict[str, str])
    shows_nothing: Mapping[str, str] = field(default_factory=dict[str, str])
    without_offer: frozenset[str] = frozenset()
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    may_see: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def leaks_of(self, way: str, leaks: Collection[str]) -> Collection[str]:
        return ["all"] if way in self.once else leaks


class MatrixTown(Protocol):
    """A running bot in one product. Ada may see both buckets; everyone may see the open one."""

    @property
    def bot(self) -> Application: ...

    def add_seat(self, cell: Cell, name: str, kind: SeatKind) -> None: ...

    def channel_subject_of(self, cell: Cell) -> Subject: ...

    def person_subject_of(self, cell: Cell) -> Subject: ...

    async def entitle_seat(self, cell: Cell) -> None:
        """Gives the person the right to the marked bucket, by the strongest means of the product, until it ends."""
        ...

    async def end_entitlements(self) -> None: ...

    async def deactivate_people(self) -> None:
        """The organisation deactivates everyone but Ada."""
        ...

    async def grant(self, bucket: BucketId, subject: str) -> None: ...

    async def make_offers_to_ada(self) -> None:
        """Sends Ada alone an answer, choices, and a link to a file, all from the marked bucket."""
        ...

    async def answer_ada_at(self, cell: Cell) -> None:
        """Ada gets an answer from the marked bucket in the channel of the seat."""
        ...

    async def make_offers(self, question_by_cell: Mapping[Cell, str]) -> None:
        """Sends people answers to these questions in their private chats, which their ways then use."""
        ...

    def begin_watching(self) -> None:
        """From now on counts what is sent."""
        ...

    async def use_way(self, cell: Cell, words: str) -> None: ...

    async def wait_until_quiet(self) -> None:
        """Waits until no turn is open."""
        ...

    def texts_seen_at(self, cell: Cell) -> list[str]:
        """Everything sent to where the person reads since the watching began, what they fetched, and what still stands
        there for them alone.
        """
        ...


class MatrixProduct(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def ways(self) -> MatrixWays: ...

    def person_ids_of(self, names: Sequence[str]) -> list[PersonId]:
        """The people whom seats of these names will have."""
        ...

    def open_town(self, home: Path, *, admins: Sequence[PersonId] = ()) -> "AbstractAsyncContextManager[MatrixTown]":
        """The bot's home has both buckets."""
        ...
