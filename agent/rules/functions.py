"""The words of a question that compute: which function each stands for, and how many are wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.rules.language import (
    FUNCTIONS,
    SMALL_NUMBERS,
    SUPERLATIVES,
)
from agent.rules.lexicon import Link, Mention, Noun
from agent.rules.reading import Reading
from storage.search.ids import FieldName
from storage.search.plan import (
    Function,
)

_SORTS = frozenset("sort sorted order ordered rank ranked arrange arranged".split())
_LONE_SUPERLATIVES = frozenset(words[0] for words in SUPERLATIVES if len(words) == 1)


@dataclass(frozen=True, slots=True)
class Saying:
    """A function word at `words[first:last]`."""

    function: Function
    words: tuple[str, ...]
    first: int
    last: int


def named_after(said: Saying, reading: Reading) -> FieldName | None:
    """ "The maximum *collector current* of the …", "how much *notice* …": a field's value, nothing to compute."""
    if said.words == ("how", "many") or said.function is Function.AVERAGE:
        return None
    following = (link for link in reading.links if isinstance(link.meaning, Mention) and link.first == said.last)
    return next((link.meaning.field for link in following if isinstance(link.meaning, Mention)), None)


def functions_in(words: Sequence[str], reading: Reading) -> Iterator[Saying]:
    inside = {at for link in reading.links if link.last - link.first > 1 for at in range(link.first + 1, link.last)}
    inside |= {link.first for link in reading.links if _begins_with_extreme(link, words)}
    inside |= reading.in_literals
    inside |= {at for at in range(len(words)) if set(words[max(at - 3, 0) : at]) & _SORTS and words[at - 1] == "by"}
    mentions = [link for link in reading.links if isinstance(link.meaning, Mention)]
    inside |= {link.last for link in mentions if link.last < len(words) and words[link.last] == "number"}
    inside |= {at for at, word in enumerate(words) if word == "mean" and set(words[:at]) & {"does", "do", "did"}}
    at = 0
    while at < len(words):
        for size in (2, 1):
            phrase = tuple(words[at : at + size])
            if phrase in FUNCTIONS and len(phrase) == size and at not in inside:
                yield Saying(FUNCTIONS[phrase], phrase, at, at + size)
                at += size - 1
                break
        at += 1


def superlatives_in(words: Sequence[str], reading: Reading) -> list[Saying]:
    """ "The *cheapest* … with the *most expensive* …", in order."""
    return [one for one in functions_in(words, reading) if one.words in SUPERLATIVES]


def _begins_with_extreme(link: Link, words: Sequence[str]) -> bool:
    """ "Maximum collector current" may be what a field is called, "minimum commitment" what a clause is."""
    several = link.last - link.first > 1 and not isinstance(link.meaning, Noun)
    return several and FUNCTIONS.get((words[link.first],)) in (Function.MINIMUM, Function.MAXIMUM)


def is_summed(said: Sequence[Saying], words: Sequence[str]) -> bool:
    """ "Average total": the total is the field's name then, no sum; "the total and the average" are both."""
    sums = [one for one in said if one.function is Function.SUM]
    return any(one.words not in (("total",), ("totals",)) or _is_beside_another(one, said, words) for one in sums)


def _is_beside_another(one: Saying, said: Sequence[Saying], words: Sequence[str]) -> bool:
    """Whether "and" alone stands between it and another function."""
    gaps = [words[one.last : other.first] if other.first >= one.last else words[other.last : one.first]
            for other in said if other.function is not one.function]  # fmt: skip
    return any("and" in gap and set(gap) <= {"and", "the", "also"} for gap in gaps)


def top_of(words: Sequence[str], reading: Reading) -> int | None:
    """ "Top 5", "the 3 cheapest", "first ten"."""
    for at, word in enumerate(words):
        number = int(word) if word.isdigit() and len(word) <= 3 else SMALL_NUMBERS.get(word)
        if not number or at in reading.in_literals:
            continue  # "the last 2 years"
        before = words[at - 1] if at else ""
        after = tuple(words[at + 1 : at + 3])
        if before in ("top", "first", "last", "bottom") or after[:1] in SUPERLATIVES or after in SUPERLATIVES:
            return number
        if before == "the" and any(word in _LONE_SUPERLATIVES for word in words[at + 1 :]):
            return number  # "the 5 panels with the highest efficiency"
    return None
