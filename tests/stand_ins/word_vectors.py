"""An embedder without a model: each word adds one to a dimension that its checksum chooses."""

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from storage.search.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from storage.embedder import Vectors

_WORD = re.compile(r"\w+")


class ChecksumEmbedder:
    """Implements `Embedder`. Texts with a common word have similar vectors."""

    def __init__(self, name: str = "checksum:64", *, dimensions: int = 64, is_metered: bool = False) -> None:
        self.name, self.dimensions, self.is_metered = name, dimensions, is_metered

    async def load(self) -> None: ...

    async def load_dimensions(self) -> int:
        return self.dimensions

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.casefold()):
                vectors[row, zlib.crc32(word.encode(errors="replace")) % self.dimensions] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class FailingEmbedder(ChecksumEmbedder):
    """A metered embedder that keeps the vectors of texts, and does not answer while `remaining_texts` is 0."""

    def __init__(self, name: str = "remote", *, remaining_texts: int = 1_000) -> None:
        super().__init__(name, is_metered=True)
        self.remaining_texts = remaining_texts
        self.embedded_texts = list[str]()  # in order, each once

    async def load_dimensions(self) -> int:
        await self.embed_texts(["dimensions"])
        return self.dimensions

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        for text in dict.fromkeys(texts):
            if text not in self.embedded_texts:
                if not self.remaining_texts:
                    raise EmbedderUnavailable("the embedding model remote does not answer")
                self.remaining_texts -= 1
                self.embedded_texts.append(text)
        return await super().embed_texts(texts)
