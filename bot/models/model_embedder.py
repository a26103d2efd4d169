"""The embedder of `PARLEY_EMBEDDER` if that is the name of an embedding model: texts are embedded by the gateway."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cachetools import LRUCache

from agent.errors import ModelUnavailable
from agent.reasoning_log import ReasoningLog, active_reasoning_log
from bot.errors import ResultCacheUnavailable
from bot.models.result_cache import ResultCache, result_key_of
from storage.search.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Vector = NDArray[np.float32]

FAMILY_PREFIX = "vectors of "
_MAX_TEXT_CHARS = 20_000  # code points; the rest of a longer text is not embedded
BATCH_TEXTS = 64  # of one call of the gateway
_MAX_QUERIES = 1_000  # whose vectors stay in memory; a turn asks for the same text several times
_PROBE_TEXT = "dimensions"  # embedded to learn the length of a vector


class TextVectorSource(Protocol):
    """The part of `ModelGateway` that embeds."""

    async def load(self) -> None:
        """Loads what calls need; the first time takes seconds."""
        ...

    async def embed_texts(self, texts: Sequence[str], log: ReasoningLog) -> Sequence[Sequence[float]]:
        """Returns the vector of each text, in their order. Raises `ModelUnavailable`."""
        ...


class ModelEmbedder:
    """Implements `Embedder`. The vectors of passages are kept in the cache, in 16 bits a number as in the index.

    At most `concurrency` calls run at once.
    """

    is_metered = True

    def __init__(
        self,
        model: str,
        source: TextVectorSource,
        cache: ResultCache,
        *,
        requested_dimensions: int | None = None,
        concurrency: int = 4,
    ) -> None:
        """`requested_dimensions`: the length of vectors that the source asks the model for; None: the model's own."""
        self.model = model
        self.name = model if requested_dimensions is None else f"{model}:{requested_dimensions}"
        self._source, self._cache = source, cache
        self._dimensions: int | None = None
        self._calls = asyncio.Semaphore(concurrency)
        self._query_vectors: LRUCache[str, Vector] = LRUCache(_MAX_QUERIES)

    async def load(self) -> None:
        await self._source.load()

    async def load_dimensions(self) -> int:
        if self._dimensions is None:
            [vector] = await self._fetch_vectors([_PROBE_TEXT])
            self._dimensions = len(vector)
        return self._dimensions

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        import numpy as np

        sent_texts = [text[:_MAX_TEXT_CHARS].encode(errors="replace").decode() for text in texts]
        distinct = [text for text in dict.fromkeys(sent_texts) if text.strip()]
        vectors = await (self._embed_passages(distinct) if are_passages else self._embed_queries(distinct))
        dimensions = len(next(iter(vectors.values()))) if vectors else await self.load_dimensions()
        if any(len(vector) != dimensions for vector in vectors.values()):
            raise EmbedderUnavailable(f"the embedding model {self.name} returns vectors of different lengths")
        rows = np.zeros((len(texts), dimensions), dtype=np.float32)
        for row, text in enumerate(sent_texts):
            if text in vectors:
                rows[row] = vectors[text]
        return rows

    async def _embed_queries(self, texts: Sequence[str]) -> "Mapping[str, Vector]":
        known = {text: self._query_vectors[text] for text in texts if text in self._query_vectors}
        missing = [text for text in texts if text not in known]
        fetched = dict(zip(missing, await self._fetch_vectors(missing), strict=True)) if missing else {}
        self._query_vectors.update(fetched)
        return known | fetched

    async def _embed_passages(self, texts: Sequence[str]) -> "Mapping[str, Vector]":
        """Each batch is kept when it arrives, so that a failure or a kill loses no more than the calls under way."""
        keys = {text: result_key_of(text) for text in texts}
        vectors = await self._load_kept_vectors(keys)
        missing = [text for text in texts if text not in vectors]
        batches = [missing[start : start + BATCH_TEXTS] for start in range(0, len(missing), BATCH_TEXTS)]
        for fetched in await _finish_all([self._fetch_and_keep(batch, keys) for batch in batches]):
            vectors |= fetched
        return vectors

    async def _load_kept_vectors(self, keys: Mapping[str, bytes]) -> "dict[str, Vector]":
        import numpy as np

        try:
            kept = await self._cache.load_results(self._family, list(keys.values()))
        except ResultCacheUnavailable as exc:
            raise EmbedderUnavailable(str(exc)) from exc
        vectors = {
            text: _normalise(np.frombuffer(kept[key], dtype=np.float16).astype(np.float32))
            for text, key in keys.items()
            if key in kept
        }
        return {
            text: vector
            for text, vector in vectors.items()
            if self._dimensions is None or len(vector) == self._dimensions
        }

    async def _fetch_and_keep(self, texts: Sequence[str], keys: Mapping[str, bytes]) -> "Mapping[str, Vector]":
        fetched = await self._fetch_vectors(texts)
        results = {keys[text]: vector.astype("float16").tobytes() for text, vector in zip(texts, fetched, strict=True)}
        try:
            await self._cache.store_results(self._family, results)
        except ResultCacheUnavailable as exc:
            raise EmbedderUnavailable(str(exc)) from exc
        return dict(zip(texts, fetched, strict=True))

    async def _fetch_vectors(self, texts: Sequence[str]) -> "list[Vector]":
        import numpy as np

        try:
            async with self._calls:
                vectors = await self._source.embed_texts(texts, active_reasoning_log())
        except ModelUnavailable as exc:
            raise EmbedderUnavailable(f"the embedding model {self.name} does not answer ({exc})") from exc
        lengths = {len(vector) for vector in vectors}
        if len(vectors) != len(texts) or len(lengths) != 1 or 0 in lengths:
            raise EmbedderUnavailable(f"the embedding model {self.name} returns something else than a vector a text")
        rows = np.array(vectors, dtype=np.float32)
        if not np.isfinite(rows).all() or not rows.any(axis=1).all():
            raise EmbedderUnavailable(f"the embedding model {self.name} returns vectors without a direction")
        return [_normalise(_normalise(row).astype(np.float16).astype(np.float32)) for row in rows]

    @property
    def _family(self) -> str:
        return f"{FAMILY_PREFIX}{self.name}"

    async def forget_other_models(self) -> None:
        """Delete the vectors of earlier models. Raises `ResultCacheUnavailable`."""
        await self._cache.forget_families(FAMILY_PREFIX, exclude=self._family)


def _normalise(vector: "Vector") -> "Vector":
    import numpy as np

    return (vector / np.linalg.norm(vector)).astype(np.float32)


async def _finish_all(calls: "Sequence[Awaitable[Mapping[str, Vector]]]") -> "list[Mapping[str, Vector]]":
    """Returns the results; raises the first error only after every call has ended, because each costs money."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
