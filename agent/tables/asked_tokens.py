"""The words of a question about a table, with the numbers and days among them."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.english.table_words import QUESTION_FRAME, TABLE_WORDS
from agent.evidence.question_words import WordStems
from agent.tables.cell_values import WORD, words_of_text
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, ORDINALS_BY_WORD
from storage.search.analyser import fold_text


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedToken:
    """A word or number. `number` is that of digits and number words; `ordinal` that of `3rd` and `third`."""

    index: int
    word: str  # folded
    stem: str
    is_name: bool  # it has a capital letter, but does not begin the question
    number: float | None
    ordinal: int | None

    @property
    def is_content(self) -> bool:
        """Whether a query that leaves the word out may mean something else."""
        return self.word not in QUESTION_FRAME and self.word not in TABLE_WORDS

    @property
    def is_value(self) -> bool:
        return self.is_content or self.number is not None or self.ordinal is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuestion:
    """A question in tokens."""

    text: str
    tokens: tuple[AskedToken, ...]

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(token.word for token in self.tokens)

    def find_phrase(self, *phrase: str, start: int = 0) -> int | None:
        """Returns the index of the first token of the phrase; None if the question does not hold it."""
        words = self.words
        return next(
            (
                index
                for index in range(start, len(words) - len(phrase) + 1)
                if words[index : index + len(phrase)] == phrase
            ),
            None,
        )

    def indices_of(self, words: Sequence[str] | frozenset[str]) -> list[int]:
        return [token.index for token in self.tokens if token.word in words]


def tokenise_question(text: str, stems: WordStems) -> TableQuestion:
    """Splits the question into folded words and numbers."""
    tokens = list[AskedToken]()
    for match in WORD.finditer(" ".join(text.split())):
        for word in words_of_text(fold_text(match[0])):
            tokens.append(
                AskedToken(
                    index=len(tokens),
                    word=word,
                    stem=stems.stem_of(word),
                    is_name=bool(tokens) and match[0][0].isupper(),
                    number=_number_of(word),
                    ordinal=_ordinal_of(word),
                )
            )
    return TableQuestion(text=text, tokens=tuple(tokens))


def _number_of(word: str) -> float | None:
    if word in NUMBERS_BY_WORD and word not in ("one", "second"):
        return float(NUMBERS_BY_WORD[word])
    if ":" in word:
        parts = word.split(":")
        return sum(float(part) * 60**power for power, part in enumerate(reversed(parts)))
    try:
        return float(word) if word[0].isdigit() else None
    except ValueError:
        return None


def _ordinal_of(word: str) -> int | None:
    if word[0].isdigit() and word[-2:] in ("st", "nd", "rd", "th"):
        return int(word[:-2]) if word[:-2].isdigit() else None
    return ORDINALS_BY_WORD.get(word)
