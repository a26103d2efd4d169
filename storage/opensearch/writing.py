"""Putting and deleting documents.

Each document is one entry, one of its text and one a passage, all written in one bulk with the deletion of passages it
no longer has. Its main entry is written on the condition that it is as it was read, so that of two writers the later
one begins again and leaves no passage of the other behind. Which bucket a document id belongs to is decided by one
entry of the registry, which only one writer can create.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate
from typing import TYPE_CHECKING, cast

from storage.embedder import Embedder
from storage.opensearch import bulk
from storage.opensearch.bulk import Action
from storage.opensearch.catalogue import DOCUMENT_ID, Catalogue
from storage.opensearch.connection import Object, Refused, lines_of
from storage.opensearch.encode import document_key, entries
from storage.opensearch.layout import Layout, digest_of
from storage.search.documents import Document
from storage.search.errors import IndexTimedOut, IndexUnavailable
from storage.search.fit import fitted, is_unicode
from storage.search.ids import DocId

if TYPE_CHECKING:
    from storage.embedder import Vectors

_BATCH = 200
_TRIES = 8  # of documents that other writers change at the same time
_WAITS, _WAIT_S = 120, 0.25  # for a bucket that is being indexed anew
# What a write meets when the version it knows is closed to writes, or gone.
_MOVED = frozenset({"cluster_block_exception", "index_not_found_exception"})


class Fate(Enum):
    ADDED = "added"
    REPLACED = "replaced"
    SKIPPED = "skipped"
    TAKEN = "taken"


class Moved(Exception):
    """The version that was written to is not the one in use any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A document as it is in the index."""

    digest: str
    revision: str
    passages: int
    conditions: Mapping[str, int]  # under which it is still so


@dataclass(frozen=True, kw_only=True)
class Writer:
    catalogue: Catalogue
    embedder: Embedder | None

    async def put(self, layout: Layout, documents: Sequence[Document]) -> dict[DocId, Fate]:
        """`layout` as it is at the moment. Raises `UnknownBucket` (dropped meanwhile) and `InvalidCondition`."""
        latest = list({document.doc_id: document for document in documents}.values())
        for document in latest:
            fitted(document, layout.schema)
        fates = dict[DocId, Fate]()
        for at in range(0, len(latest), _BATCH):
            fates |= await self._put_where_it_is(layout, latest[at : at + _BATCH])
        return fates

    async def _put_where_it_is(self, layout: Layout, documents: Sequence[Document]) -> dict[DocId, Fate]:
        """Into the version in use, waiting for one that is being made."""
        for _ in range(_WAITS):
            try:
                return await self._put(layout, documents)
            except Moved:
                await self.catalogue.connection.pause(_WAIT_S)
                layout = await self.catalogue.fresh(layout.bucket)
        raise IndexUnavailable(self.catalogue.connection.where, "the bucket is being indexed anew")

    async def _put(self, layout: Layout, documents: Sequence[Document]) -> dict[DocId, Fate]:
        fates = dict[DocId, Fate]()
        waiting = [replace(one, values=fitted(one, layout.schema)) for one in documents]
        for _ in range(_TRIES):
            decided = await self._decide(layout, waiting)
            written = [one for one in waiting if decided[one.doc_id][0] in (Fate.ADDED, Fate.REPLACED)]
            overtaken = await self._write(layout, written, {doc_id: held for doc_id, (_, held) in decided.items()})
            for one in waiting:
                if one.doc_id not in overtaken:
                    fates.setdefault(one.doc_id, decided[one.doc_id][0])
            waiting = [one for one in waiting if one.doc_id in overtaken]
            if not waiting:
                break
        else:
            raise IndexTimedOut(self.catalogue.connection.where)
        if any(fate in (Fate.ADDED, Fate.REPLACED) for fate in fates.values()):
            await self.catalogue.show([layout])
        return fates

    # -- what is to be done

    def revision(self, layout: Layout) -> str:
        """The same content is put again under another schema, for its values, and another embedder, for its vectors."""
        return digest_of(repr((layout.tag, self.embedder.name if self.embedder else "")))

    async def _decide(self, layout: Layout, documents: Sequence[Document]) -> dict[DocId, tuple[Fate, _Held | None]]:
        owners = await self._owners([one.doc_id for one in documents])
        if free := [one.doc_id for one in documents if one.doc_id not in owners]:
            owners |= await self._claim(layout, free)
        held = await self._held(layout, [one.doc_id for one in documents])
        mine, revision = digest_of(layout.bucket), self.revision(layout)
        decided = dict[DocId, tuple[Fate, _Held | None]]()
        for one in documents:
            before = held.get(one.doc_id)
            if owners[one.doc_id] != mine:
                decided[one.doc_id] = Fate.TAKEN, None
            elif before is None:
                decided[one.doc_id] = Fate.ADDED, None
            else:
                same = bool(one.digest) and (before.digest, before.revision) == (one.digest, revision)
                decided[one.doc_id] = Fate.SKIPPED if same else Fate.REPLACED, before
        return decided

    async def _owners(self, doc_ids: Sequence[DocId]) -> dict[DocId, str]:
        """The digest of the bucket that each id belongs to; at once, also for what no search can see yet."""
        wanted = [{"_index": self.catalogue.names.registry, "_id": _entry(doc_id)} for doc_id in doc_ids]
        found = await self._get(wanted)
        return {doc_id: one["_source"]["bucket"] for doc_id, one in zip(doc_ids, found, strict=True) if one["found"]}

    async def _claim(self, layout: Layout, doc_ids: Sequence[DocId]) -> dict[DocId, str]:
        mine = digest_of(layout.bucket)
        source = {"kind": DOCUMENT_ID, "bucket": mine}
        claims = [bulk.claim(self.catalogue.names.registry, _entry(doc_id), source) for doc_id in doc_ids]
        refusals = await bulk.write(self.catalogue.connection, claims)
        lost = [doc_id for doc_id, refused in zip(doc_ids, refusals, strict=True) if _is_conflict(refused)]
        _raise_first([refused for refused in refusals if not _is_conflict(refused)])
        return dict.fromkeys(doc_ids, mine) | (await self._owners(lost) if lost else {})

    async def _held(self, layout: Layout, doc_ids: Sequence[DocId]) -> dict[DocId, _Held]:
        source = ["stored.digest", "stored.revision", "stored.passages"]
        wanted = [
            {"_index": layout.index, "_id": document_key(one), "routing": document_key(one), "_source": source}
            for one in doc_ids
        ]
        found = await self._get(wanted)
        return {doc_id: _read(one) for doc_id, one in zip(doc_ids, found, strict=True) if one["found"]}

    async def _get(self, wanted: Sequence[Object]) -> list[Object]:
        if not wanted:
            return []
        answer = await self.catalogue.connection.call("POST", "/_mget", {"docs": list(wanted)})
        found = cast(list[Object], answer["docs"])
        for one in found:
            if "error" in one:
                kind = str(one["error"].get("type", ""))
                raise Moved if kind in _MOVED else IndexUnavailable(self.catalogue.connection.where, kind)
        return found

    # -- doing it

    async def _write(
        self, layout: Layout, documents: Sequence[Document], held: Mapping[DocId, _Held | None]
    ) -> set[DocId]:
        """The documents that another writer changed in the meantime, which are to be written again."""
        if not documents:
            return set()
        vectors = await self.vectors(layout, documents)
        revision = self.revision(layout)

        def prepared() -> list[list[Action]]:
            target = self.catalogue.names.writing(layout.index)
            return [
                _actions(target, one, revision, layout, None if vectors is None else vectors[at], held.get(one.doc_id))
                for at, one in enumerate(documents)
            ]

        actions = await asyncio.to_thread(prepared)
        marked = Action("index", lines_of(self.catalogue.mark(layout)))
        every = [*(action for some in actions for action in some), marked]
        refusals = await bulk.write(self.catalogue.connection, every)
        return _overtaken(documents, actions, refusals)

    async def vectors(self, layout: Layout, documents: Sequence[Document]) -> "list[Vectors] | None":
        """For each document the vectors of its passages, each with the title before it."""
        if self.embedder is None or self.embedder.name != layout.embedder:
            return None
        texts = [f"{one.title}\n{one.text[p.start : p.end]}" for one in documents for p in one.passages]
        vectors = await self.embedder.embed(texts)
        ends = list(accumulate(len(one.passages) for one in documents))
        return [vectors[end - len(one.passages) : end] for one, end in zip(documents, ends, strict=True)]

    async def copy(self, layout: Layout, documents: Sequence[Document], revisions: Sequence[str]) -> None:
        """Into a version that no one else writes. Raises `IndexUnavailable`."""
        vectors = await self.vectors(layout, documents)

        def prepared() -> list[Action]:
            target = self.catalogue.names.writing(layout.index)
            return [
                action
                for at, one in enumerate(documents)
                for action in _actions(
                    target, one, revisions[at], layout, None if vectors is None else vectors[at], None
                )
            ]

        refusals = await bulk.write(self.catalogue.connection, await asyncio.to_thread(prepared))
        _raise_first(refusals)

    # -- deleting

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        """How many of them were there."""
        known = [doc_id for doc_id in dict.fromkeys(doc_ids) if is_unicode(doc_id)]
        deleted = 0
        for at in range(0, len(known), _BATCH):
            deleted += await self._delete_where_they_are(known[at : at + _BATCH])
        return deleted

    async def _delete_where_they_are(self, doc_ids: Sequence[DocId]) -> int:
        for _ in range(_WAITS):
            await self.catalogue.reload()
            try:
                return await self._delete(doc_ids)
            except Moved:
                await self.catalogue.connection.pause(_WAIT_S)
        raise IndexUnavailable(self.catalogue.connection.where, "a bucket is being indexed anew")

    async def _delete(self, doc_ids: Sequence[DocId]) -> int:
        owners = await self._owners(doc_ids)
        touched, actions = list[Layout](), list[Action]()
        deleted = 0
        for layout in self.catalogue.layouts.values():
            mine = [doc_id for doc_id in doc_ids if owners.get(doc_id) == digest_of(layout.bucket)]
            held = await self._held(layout, mine)
            for doc_id, before in held.items():
                actions += _removal(self.catalogue.names.writing(layout.index), doc_id, before)
            touched += [layout] if held else []
            deleted += len(held)
        _raise_first(await bulk.write(self.catalogue.connection, actions), missing_is_fine=True)
        released = [bulk.delete(self.catalogue.names.registry, _entry(doc_id)) for doc_id in owners]
        _raise_first(await bulk.write(self.catalogue.connection, released), missing_is_fine=True)
        await self.catalogue.show(touched)
        return deleted


def _actions(
    target: str,
    document: Document,
    revision: str,
    layout: Layout,
    vectors: "Vectors | None",
    held: _Held | None,
) -> list[Action]:
    """The main entry first: where it is refused, another writer was quicker."""
    own = document_key(document.doc_id)
    (entry, source), *others = entries(document, revision, layout, vectors)
    first = (
        bulk.create(target, entry, source, routing=own)
        if held is None
        else bulk.index(target, entry, source, routing=own, **held.conditions)
    )
    written = [bulk.index(target, entry, source, routing=own) for entry, source in others]
    before = 0 if held is None else held.passages
    leftover = [
        bulk.delete(target, f"{own}.{position}", routing=own) for position in range(len(document.passages), before)
    ]
    return [first, *written, *leftover]


def _removal(target: str, doc_id: DocId, held: _Held) -> list[Action]:
    own = document_key(doc_id)
    names = [own, f"{own}.text", *(f"{own}.{position}" for position in range(held.passages))]
    return [bulk.delete(target, name, routing=own) for name in names]


def _entry(doc_id: DocId) -> str:
    return f"{DOCUMENT_ID}:{document_key(doc_id)}"


def _read(found: Object) -> _Held:
    stored = found["_source"]["stored"]
    return _Held(
        digest=stored["digest"],
        revision=stored["revision"],
        passages=len(stored["passages"]),
        conditions={"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]},
    )


def _overtaken(
    documents: Sequence[Document], actions: Sequence[Sequence[Action]], refusals: Sequence[Refused | None]
) -> set[DocId]:
    overtaken, at = set[DocId](), 0
    for document, some in zip(documents, actions, strict=True):
        mine = refusals[at : at + len(some)]
        at += len(some)
        if _is_conflict(mine[0]):
            overtaken.add(document.doc_id)
        _raise_first([refused for refused in mine if not _is_conflict(refused)], missing_is_fine=True)
    _raise_first(refusals[at:])
    return overtaken


def _is_conflict(refused: Refused | None) -> bool:
    return refused is not None and refused.status == 409


def _raise_first(refusals: Sequence[Refused | None], *, missing_is_fine: bool = False) -> None:
    """Raises `Moved` where the version is closed or gone, else the first refusal."""
    for refused in refusals:
        if refused is None or (missing_is_fine and refused.status == 404 and refused.kind not in _MOVED):
            continue
        raise Moved if refused.kind in _MOVED else refused
