"""An embedder without a model: each word adds one to a dimension that its checksum chooses."""

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from storage.embedder import Vectors

_WORD = re.compile(r"\w+")


class ChecksumEmbedder:
    """Implements `Embedder`. Texts with a common word have similar vectors."""

    dimensions = 64

    def __init__(self, name: str = "checksum:64") -> None:
        self.name = name

    async def embed_texts(self, texts: Sequence[str]) -> "Vectors":
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.casefold()):
                vectors[row, zlib.crc32(word.encode(errors="replace")) % self.dimensions] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
