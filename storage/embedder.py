"""Text embeddings: the `Embedder` protocol that the engines use, and the model that ships with Parley."""

import asyncio
import logging
import re
import threading
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, cast

from storage.search.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from storage.search.documents import Document

    Vectors = NDArray[np.float32]

QUERY_TIMEOUT = timedelta(seconds=3)  # of an embedder that embeds the text of a question
_MAX_TEXT_CHARS = 20_000  # code points; the rest of a longer text is not embedded
_BLANK = "▁"  # the tokenizer's sign for a blank and for the start of a text
_PIECE_PATTERN = re.compile(rf"\n|{_BLANK}*[^{_BLANK}\n]+|{_BLANK}+")
_MAX_CACHED_PIECES = 200_000  # pieces; a full cache is cleared
_MAX_CACHED_PIECE_CHARS = 64  # code points


class Embedder(Protocol):
    """Maps texts to vectors; texts with similar meanings get vectors with a small angle between them."""

    @property
    def name(self) -> str:
        """The name of the model. Vectors of models with different names are never compared."""
        ...

    @property
    def is_metered(self) -> bool:
        """Whether calls cost money or take long. Then an index embeds what it has only when it is told to."""
        ...

    async def load(self) -> None:
        """Load what embedding needs, once; the first time may take seconds. Raises `EmbedderUnavailable`."""
        ...

    async def load_dimensions(self) -> int:
        """Return the length of a vector. Raises `EmbedderUnavailable`."""
        ...

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        """Return the vectors of the texts: float32 of shape (len(texts), dimensions), each row L2-normalised.

        The vector of a text without words may be zero; that of a blank text is. A text has the same vector in every
        call, whatever the other texts are, and in every process that uses the model.

        A metered embedder keeps the vectors of passages, so that it costs nothing to embed them again.

        Does not block the event loop. Calls may run at the same time. Never NaN. Raises `EmbedderUnavailable`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedQueries:
    """The vectors of the texts of requests. `failure`: why there are none; empty: there is no failure."""

    vectors: "Mapping[str, Vectors]"
    failure: str = ""


async def embed_queries(embedder: Embedder | None, texts: Sequence[str]) -> EmbeddedQueries:
    """Return the vectors of texts that people search for; none without an embedder, and if it fails or is late.

    The time that it takes to load the embedder does not count.
    """
    if embedder is None or not texts:
        return EmbeddedQueries(vectors={})
    try:
        await embedder.load()
        async with asyncio.timeout(QUERY_TIMEOUT.total_seconds()):
            vectors = await embedder.embed_texts(texts)
    except TimeoutError:
        return EmbeddedQueries(vectors={}, failure="the embedding model is late")
    except EmbedderUnavailable as exc:
        return EmbeddedQueries(vectors={}, failure=str(exc))
    return EmbeddedQueries(vectors=dict(zip(texts, vectors, strict=True)))


async def embed_passages(embedder: Embedder, documents: "Sequence[Document]") -> "list[Vectors]":
    """Return for each document the vectors of its passages. The embedded text is title, context and passage."""
    texts = [
        "\n".join((document.title, *filter(None, [passage.context]), document.text[passage.start : passage.end]))
        for document in documents
        for passage in document.passages
    ]
    vectors = await embedder.embed_texts(texts, are_passages=True)
    ends = accumulate(len(document.passages) for document in documents)
    return [vectors[end - len(document.passages) : end] for document, end in zip(documents, ends, strict=True)]


class WordLlamaEmbedder:
    """WordLlama (l2_supercat, 256 dimensions). Loads the weights in its wheel on first use; needs no network."""

    name = "wordllama:l2_supercat:256"
    dimensions = 256
    is_metered = False

    def __init__(self) -> None:
        self._model: _WordLlamaModel | None = None
        self._lock = threading.Lock()

    async def load(self) -> None:
        if self._model is None:
            await asyncio.to_thread(self._get_model)

    async def load_dimensions(self) -> int:
        return self.dimensions

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        return await asyncio.to_thread(self._embed_blocking, list(texts))

    def _embed_blocking(self, texts: list[str]) -> "Vectors":
        import numpy as np

        model = self._get_model()
        sums: Vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for index, text in enumerate(texts):
            if text.strip():
                model.add_token_rows(text[:_MAX_TEXT_CHARS], sums[index])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _get_model(self) -> "_WordLlamaModel":
        with self._lock:
            if self._model is None:
                self._model = _WordLlamaModel(_load_wordllama())
            return self._model


class _WordLlamaModel:
    """Computes a text's vector as the sum of its tokens' rows. Normalised, this equals the library's mean.

    No token of the vocabulary crosses the start of a word or a line break, so the tokens of a text are the tokens of
    its pieces. A corpus repeats a small number of pieces, and the library's tokenizer takes five times as long as all
    other steps together: the tokens of each piece are cached.
    """

    def __init__(self, library: Any) -> None:  # the library has no type information
        self._token_rows = cast("Vectors", library.embedding)
        self._token_cache = _TokenCache(library.tokenizer.model)

    def add_token_rows(self, text: str, total: "Vectors") -> None:
        """Write the sum of the token rows of `text` into `total`. Replaces lone surrogates, which tokenizers refuse."""
        import numpy as np

        marked = _BLANK + text.encode(errors="replace").decode().replace(" ", _BLANK)
        tokens = np.frombuffer(
            b"".join(map(self._token_cache.__getitem__, _PIECE_PATTERN.findall(marked))), dtype=np.int64
        )
        self._token_rows.take(tokens, axis=0, mode="clip").sum(axis=0, out=total)


class _TokenCache(dict[str, bytes]):
    """Piece -> its tokens as consecutive 64-bit numbers, so that numpy reads the joined bytes without a conversion."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, piece: str) -> bytes:
        tokens = array("q", [int(token.id) for token in self._tokenizer.tokenize(piece)]).tobytes()
        if len(piece) <= _MAX_CACHED_PIECE_CHARS:
            if len(self) >= _MAX_CACHED_PIECES:
                self.clear()
            self[piece] = tokens
        return tokens


def _load_wordllama() -> Any:
    from pathlib import Path

    root = logging.getLogger()
    logging_state = list(root.handlers), root.level
    import wordllama  # pyright: ignore[reportMissingTypeStubs]

    root.handlers, root.level = logging_state  # the import sets up logging for the whole process
    # The weights and the tokenizer are in the package's folder; the library looks there only when told to.
    package_folder = Path(wordllama.__file__).parent
    return cast(Any, wordllama.WordLlama).load(cache_dir=package_folder, disable_download=True)
