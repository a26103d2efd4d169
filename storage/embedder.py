"""What turns texts into vectors: the protocol that the engines own, and the model that comes with Parley."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_LONGEST_TEXT = 20_000  # code points read of a text; a batch is padded to its longest


class Embedder(Protocol):
    """Gives texts of like meaning vectors of small angle."""

    @property
    def name(self) -> str:
        """Of the model: vectors of two names never meet in one comparison."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """float32 of shape (len(texts), dimensions), each row L2-normalised; a zero row for a text without words.

        Does not block the event loop. Never NaN.
        """
        ...


class WordLlamaEmbedder:
    """WordLlama (l2_supercat, 256 dimensions), from the weights within its wheel: no network, loaded on first use."""

    name = "wordllama:l2_supercat:256"
    dimensions = 256

    def __init__(self) -> None:
        self._model: Any = None  # the library has no types
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> "Vectors":
        import numpy as np

        vectors: Vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        # By length, since a batch is padded to its longest text. Tokenizers refuse lone surrogates.
        order = sorted((at for at, text in enumerate(texts) if text.strip()), key=lambda at: len(texts[at]))
        if order:
            clean = [texts[at][:_LONGEST_TEXT].encode(errors="replace").decode() for at in order]
            vectors[order] = cast("Vectors", self._loaded().embed(clean))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> Any:
    from pathlib import Path

    root = logging.getLogger()
    before = list(root.handlers), root.level
    import wordllama  # pyright: ignore[reportMissingTypeStubs]

    root.handlers, root.level = before  # the import sets up logging for the whole process
    # Weights and tokenizer lie beside the package, where the library does not look unless it is told to.
    beside = Path(wordllama.__file__).parent
    return cast(Any, wordllama.WordLlama).load(cache_dir=beside, disable_download=True)
