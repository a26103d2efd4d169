"""Shapes of long questions: each repeats one thing, as pasted texts, mistakes and attacks do."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

Piece: TypeAlias = Callable[[int], str]
"""The piece of a question at a position, counted from 0."""

QUESTION_SHAPES: Final[Mapping[str, Piece]] = {
    "identifiers": lambda index: f"AB-{index:04d}",
    "identifiers with commas": lambda index: f"AB-{index:04d},",
    "identifiers on lines": lambda index: f"AB-{index:04d}\n",
    "names with commas": lambda index: f"Company {index % 40} Ltd,",
    "without": lambda index: f"without w{index}",
    "except": lambda _: "except for red ones",
    "percentages": lambda index: f"{index % 100}%",
    "amounts of money": lambda index: f"EUR {index}.50",
    "function words": lambda _: "of the",
    "days": lambda index: f"{index % 28 + 1}.{index % 12 + 1}.202{index % 6}",
    "conjunctions": lambda _: "and",
    "negations": lambda _: "not",
    "quotations": lambda index: f'"word{index}"',
    "open quotation marks": lambda _: '"',
    "commas": lambda _: ",",
    "questions": lambda index: f"how many in {2000 + index % 25}?",
    "unknown words": lambda index: f"zorg{chr(97 + index % 26)}{chr(97 + index // 26 % 26)}",
    "one long word": lambda _: "a" * 50,
    "ranges": lambda index: f"between {index} and {index + 5}",
    "people": lambda _: "Maria Berger and",
    "alternatives": lambda _: "red or blue",
    "comparisons": lambda _: "versus the red ones",
    "groups": lambda _: "per month",
    "brackets": lambda _: "(",
    "periods": lambda _: "last year",
    "emoji": lambda _: "🙂",
    "numbers": str,
    "relative clauses": lambda _: "parcels whose carrier has parcels that",
    "German": lambda _: "ohne die",
    "combining marks": lambda _: "e\u0301\u0301",
}


def make_question(piece: Piece, length: int) -> str:
    """Returns a question of exactly `length` code points."""
    parts: list[str] = []
    reached = 0
    while reached <= length:
        parts.append(piece(len(parts)))
        reached += len(parts[-1]) + 1
    return " ".join(parts)[:length]
