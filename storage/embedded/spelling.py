"""Words that resemble one, among those that visible documents hold."""

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from rapidfuzz.distance import DamerauLevenshtein
from rapidfuzz.process import extract_iter

from storage.embedded.columns import Mask
from storage.embedded.compile import Reading
from storage.search.index import Spelling, Spellings

_MOST_EDITS = 2


def spellings(readings: Sequence[tuple[Reading, Mask]], request: Spellings) -> tuple[Spelling, ...]:
    """`readings`: the buckets asked, each with its visible documents."""
    found = dict[str, tuple[int, int]]()  # word -> distance, documents
    for reading, visible in readings:
        words = [word.text for word in reading.analyser.words(request.word)]
        if len(words) != 1:
            continue
        for word, distance in _near(reading, words[0]):
            if documents := _documents(reading, word, visible):
                found[word] = (distance, documents + found.get(word, (0, 0))[1])
    ranked = sorted(found.items(), key=lambda one: (one[1][0], -one[1][1], one[0]))
    return tuple(
        Spelling(word=word, distance=distance, documents=documents)
        for word, (distance, documents) in ranked[: max(request.limit, 0)]
    )


def _near(reading: Reading, wanted: str) -> Iterator[tuple[str, int]]:
    near = extract_iter(
        wanted,
        _words(reading),
        scorer=DamerauLevenshtein.distance,
        processor=None,
        score_cutoff=_MOST_EDITS,
    )
    return ((word, int(distance)) for word, distance, _ in near if distance > 0)


def _words(reading: Reading) -> Sequence[str]:
    """Every word of the bucket, whoever may see it; none leaves this module uncounted."""

    def load() -> Sequence[str]:
        table = f"spelt_{reading.bucket.header.id:d}"
        return [row[0] for row in reading.connection.execute(f"SELECT term FROM {table}")]  # noqa: S608

    return cast(Sequence[str], reading.bucket.derived.get("words", load))


def _documents(reading: Reading, word: str, visible: Mask) -> int:
    """Visible documents that hold the word."""
    bucket = reading.bucket
    table = f"words_{bucket.header.id:d}"
    rows = reading.connection.execute(
        f"SELECT rowid FROM {table} WHERE {table} MATCH ?",  # noqa: S608
        (f'"{word}"',),
    ).fetchall()
    return int(visible[bucket.at(np.array([row[0] for row in rows], dtype=np.int64))].sum())
