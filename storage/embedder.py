"""What turns texts into vectors: the protocol that the engines own, and the model that comes with Parley."""

import asyncio
import logging
import re
import threading
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_LONGEST_TEXT = 20_000  # code points read of a text
_BLANK = "▁"  # as the tokenizer writes a blank, and the start of a text
_PIECE = re.compile(rf"\n|{_BLANK}*[^{_BLANK}\n]+|{_BLANK}+")
_REMEMBERED = 200_000  # pieces; beyond that they are learnt anew
_LONGEST_REMEMBERED = 64  # code points


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
        self._model: _Model | None = None
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> "Vectors":
        import numpy as np

        model = self._loaded()
        sums: Vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for at, text in enumerate(texts):
            if text.strip():
                model.add_up(text[:_LONGEST_TEXT], sums[at])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _loaded(self) -> "_Model":
        with self._lock:
            if self._model is None:
                self._model = _Model(_load())
            return self._model


class _Model:
    """A text's vector is the sum of its tokens' rows (normalised, the same as the library's mean of them).

    No token of the vocabulary goes across the start of a word or a line break, so a text's tokens are those of its
    pieces; a corpus has few of these, but often, and its own tokenizer takes five times as long as all the rest.
    """

    def __init__(self, library: Any) -> None:  # it has no types
        self._rows = cast("Vectors", library.embedding)
        self._tokens = _Tokens(library.tokenizer.model)

    def add_up(self, text: str, total: "Vectors") -> None:
        """The sum of the rows of the tokens of `text` into `total`. Tokenizers refuse lone surrogates."""
        import numpy as np

        marked = _BLANK + text.encode(errors="replace").decode().replace(" ", _BLANK)
        tokens = np.frombuffer(b"".join(map(self._tokens.__getitem__, _PIECE.findall(marked))), dtype=np.int64)
        self._rows.take(tokens, axis=0, mode="clip").sum(axis=0, out=total)


class _Tokens(dict[str, bytes]):
    """The tokens of a piece, remembered as 64-bit numbers one after the other: numpy reads what is joined as it is."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, piece: str) -> bytes:
        tokens = array("q", [int(token.id) for token in self._tokenizer.tokenize(piece)]).tobytes()
        if len(piece) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[piece] = tokens
        return tokens


def _load() -> Any:
    from pathlib import Path

    root = logging.getLogger()
    before = list(root.handlers), root.level
    import wordllama  # pyright: ignore[reportMissingTypeStubs]

    root.handlers, root.level = before  # the import sets up logging for the whole process
    # Weights and tokenizer lie beside the package, where the library does not look unless it is told to.
    beside = Path(wordllama.__file__).parent
    return cast(Any, wordllama.WordLlama).load(cache_dir=beside, disable_download=True)
