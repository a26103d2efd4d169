"""English numbers in words: cardinals up to billions, ordinals up to 99. The only tables of them in the project."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

_UP_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_IRREGULAR_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
                       "nine": "ninth", "twelve": "twelfth"}  # fmt: skip
NUMBERS_BY_WORD: Mapping[str, int] = {
    **{word: number for number, word in enumerate(_UP_TO_NINETEEN)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
}
MULTIPLIERS_BY_WORD: Mapping[str, int] = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}


def _ordinal_of(word: str) -> str:
    return _IRREGULAR_ORDINALS.get(word) or (f"{word[:-1]}ieth" if word.endswith("y") else f"{word}th")


def _ordinals() -> Iterator[tuple[str, int]]:
    yield from ((_ordinal_of(word), number) for word, number in NUMBERS_BY_WORD.items())
    for tens in _TENS:
        for digit in _UP_TO_NINETEEN[1:10]:
            yield f"{tens}-{_ordinal_of(digit)}", NUMBERS_BY_WORD[tens] + NUMBERS_BY_WORD[digit]


ORDINALS_BY_WORD: Mapping[str, int] = {word: number for word, number in _ordinals() if number}


def alternatives_of(words: Mapping[str, int], low: int = 1, high: int = 10**9) -> str:
    """The words of the numbers from `low` to `high` as alternatives of a pattern, longer words first."""
    chosen = (word for word, number in words.items() if low <= number <= high)
    return "|".join(sorted(chosen, key=len, reverse=True))


_WORD_PATTERN = alternatives_of({**NUMBERS_BY_WORD, **MULTIPLIERS_BY_WORD}, low=0)
SPELLED_NUMBER_PATTERN = rf"(?:{_WORD_PATTERN})(?:[\s-]+(?:and\s+)?(?:{_WORD_PATTERN})){{0,15}}(?![a-z])"
_SEPARATOR = re.compile(r"[\s-]+")
_HALVES = frozenset({"half", "half a", "half an"})


def parse_spelled_number(text: str) -> Decimal | None:
    """The number that the whole string spells: `sixty-five`, `a hundred and twenty`, `two million`, `half a`.

    None for other strings, also for number words in an order that no number has (`thirty sixty`).
    """
    words = [word for word in _SEPARATOR.split(text.strip().lower()) if word]
    if " ".join(words) in _HALVES:
        return Decimal("0.5")
    if words[:1] in (["half"], ["a"], ["an"]):
        return _multiplied_article(words)
    return _sum_of_words([word for word in words if word != "and"])


def _multiplied_article(words: list[str]) -> Decimal | None:
    """`a hundred`, `half a million`; `a` alone is not a number."""
    factor = Decimal("0.5") if words[0] == "half" else Decimal(1)
    rest = words[1:] if words[0] != "half" or words[1] not in ("a", "an") else words[2:]
    if not rest or rest[0] not in MULTIPLIERS_BY_WORD:
        return None
    if words[0] == "half":
        return factor * MULTIPLIERS_BY_WORD[rest[0]] if len(rest) == 1 else None
    return _sum_of_words(["one", *(word for word in rest if word != "and")])


def _sum_of_words(words: list[str]) -> Decimal | None:
    """Adds smaller numbers to larger ones; the largest multiplier that is still free bounds what may follow."""
    if not words:
        return None
    total, part, free, limit = 0, 0, 100, 10**12  # `free`: a number below it may be added to `part`
    for word in words:
        if word in NUMBERS_BY_WORD:
            number = NUMBERS_BY_WORD[word]
            if number >= free or (number == 0 and len(words) > 1):
                return None
            part += number
            free = 10 if number >= 20 else 0
        elif word == "hundred":
            if not 0 < part < 100:
                return None
            part, free = part * 100, 100
        elif word in MULTIPLIERS_BY_WORD:
            scale = MULTIPLIERS_BY_WORD[word]
            if part == 0 or scale >= limit:
                return None
            total, part, free, limit = total + part * scale, 0, 100, scale
        else:
            return None
    return Decimal(total + part)
