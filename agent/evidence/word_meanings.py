"""How near words are in meaning, and how much each word of a question adds to it, by static word vectors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MIN_COSINE = 0.35  # from which two words have something in common (WordLlama, 256 dimensions)
_UNRELATED_COSINE, _EQUAL_COSINE = 0.1, 0.7  # of unrelated words, and of words that mean the same
_MAX_LIKENESS = 0.9  # of two different words
_MAX_CACHED_TEXTS = 50_000  # a full cache is cleared

Likeness: TypeAlias = Mapping[str, Mapping[str, float]]
"""For each word of a question, the words of a text that mean nearly the same, and how nearly (0 to 1)."""


class TextEmbedder(Protocol):
    """Maps texts to vectors. `storage.embedder.Embedder` is one."""

    async def embed_texts(self, texts: Sequence[str]) -> "Vectors":
        """Returns the vectors of the texts: float32 of shape (len(texts), dimensions), each row L2-normalised."""
        ...


class WordMeanings:
    """Compares words and texts in meaning; without an embedder no two of them are alike. Keeps the vectors."""

    def __init__(self, embedder: TextEmbedder | None) -> None:
        self._embedder = embedder
        self._vector_by_text: dict[str, Vectors] = {}

    @property
    def is_available(self) -> bool:
        return self._embedder is not None

    async def compare_words(
        self, words: Sequence[str], others: Iterable[str], gloss: Callable[[str], str] = str
    ) -> Likeness:
        """Returns for each of `words` the words of `others` that are like it, with a likeness from 0 to 1.

        `gloss`: gives the English words of a word, which are compared.
        """
        known = list(dict.fromkeys(others))
        if self._embedder is None or not words or not known:
            return {word: {} for word in words}
        glossed = await self._embed_texts([*map(gloss, words)])
        cosines = glossed @ (await self._embed_texts([*map(gloss, known)])).T
        return {
            word: {
                other: min((cosine - _UNRELATED_COSINE) / (_EQUAL_COSINE - _UNRELATED_COSINE), _MAX_LIKENESS)
                for other, cosine in zip(known, row, strict=True)
                if cosine >= MIN_COSINE
            }
            for word, row in zip(words, cosines.tolist(), strict=True)
        }

    async def cosines_with(self, text: str, others: Sequence[str]) -> Sequence[float]:
        """Returns the cosine of `text` and each of `others`; 0 without an embedder."""
        if self._embedder is None or not others:
            return [0.0] * len(others)
        return ((await self._embed_texts(others)) @ (await self._embed_texts([text]))[0]).tolist()

    async def weigh_words(
        self, question: Sequence[str], words: Sequence[str], gloss: Callable[[str], str] = str
    ) -> Mapping[str, float]:
        """Returns how far the meaning of `question` moves without each of `words` (0 to 2); 1 without an embedder."""
        if self._embedder is None:
            return dict.fromkeys(words, 1.0)
        texts = [" ".join(gloss(other) for other in question if other != word) for word in words]
        cosines = await self.cosines_with(" ".join(map(gloss, question)), texts)
        return {word: max(1.0 - cosine, 0.0) for word, cosine in zip(words, cosines, strict=True)}

    async def _embed_texts(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        if len(self._vector_by_text) > _MAX_CACHED_TEXTS:
            self._vector_by_text.clear()
        missing = [text for text in dict.fromkeys(texts) if text not in self._vector_by_text]
        if missing and self._embedder is not None:
            for text, vector in zip(missing, await self._embedder.embed_texts(missing), strict=True):
                self._vector_by_text[text] = vector
        return np.array([self._vector_by_text[text] for text in texts])
