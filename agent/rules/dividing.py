"""Which runs of a question stand against each other.

Nothing is known of the wording: sides are runs of words on both sides of an "and", "or", "with", "than" that hold the
same kinds of things (two parties and a kind of contract here, two parties and a kind of contract there). The split
whose sides match best, and cover most, is taken.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent.rules.anchors import ID, JOINS, NOUN, SETS_AGAINST, WORD, WORD_WEIGHT, Anchor, Kind, in_plural
from agent.rules.comparing import Masked
from agent.rules.language import STOP
from agent.rules.lexicon import Lexicon, Mention
from agent.rules.reading import Reading
from agent.rules.tokens import Token
from storage.search.schema import FieldType

_MOST = 4  # sides
_MOST_CUTS = 12
_WITHIN_NAMES = 0.9  # against a stroke as what sets sides apart
_LEAST = 1.0  # what a split must score
_ABOUT = frozenset("in on by about regarding concerning as when for".split())
_LOOKS_UP = frozenset("what when how who whose where".split())


@dataclass(frozen=True, slots=True)
class _Cut:
    """`tokens[first:last]` stand between two sides."""

    first: int
    last: int
    strong: bool  # a word that compares
    word: str


def _cuts(question: Masked, reading: Reading, anchors: Sequence[Anchor]) -> list[_Cut]:
    """Where one side may end and the next begin: never within an anchor."""
    tokens = reading.tokens
    inside = {at for one in anchors for at in range(one.first, one.last)}
    found: list[_Cut] = []
    for at, token in enumerate(tokens):
        joins = token.word in JOINS
        against = token.word in SETS_AGAINST and bool(question.cues)
        if at in inside or not (joins or against):
            continue
        found.append(_Cut(at, at + 1, strong=token.word in ("than", "versus", "vs"), word=token.word))
    for at in range(1, len(tokens)):
        if at - 1 in inside and {at} <= inside and at not in {one.first for one in anchors}:
            continue
        gap = question.text[tokens[at - 1].end : tokens[at].start]
        sets_apart = tokens[at].word not in _ABOUT  # "differ in": what follows is what is asked
        blanked = sets_apart and any(a >= tokens[at - 1].end and b <= tokens[at].start for a, b in question.cues)
        if blanked or any(one in gap for one in ",;/&"):
            mark = "," if any(one in gap for one in ",;") else "/"
            found.append(_Cut(at, at, strong=blanked, word="" if blanked else mark))
    return found[:_MOST_CUTS]


@dataclass(frozen=True, slots=True)
class Split:
    sides: tuple[tuple[Anchor, ...], ...]
    score: float


def best_split(question: Masked, reading: Reading, anchors: Sequence[Anchor], lexicon: Lexicon) -> Split | None:
    cuts = _cuts(question, reading, anchors)
    named = set(range(len(reading.tokens) + 1))
    if question.explicit:  # "differ between A and B": what "between" follows is no name
        named = {one.last for one in anchors if not _is_cue_before(one.last, question, reading.tokens)}
    best: Split | None = None
    for size in range(1, _MOST):
        for chosen in combinations(cuts, size):
            for sides in _divided(anchors, chosen):
                score = _score(reading, sides, chosen, named)
                if score is None or (best is not None and score <= best.score + 1e-9):
                    continue
                if _may_compare(question, reading, sides, chosen, lexicon):
                    best = Split(sides, score)
    return best if best is not None and best.score >= _LEAST else None


def _is_cue_before(at: int, question: Masked, tokens: Sequence[Token]) -> bool:
    """Whether a comparing word stood right before the token."""
    return 0 < at < len(tokens) and any(
        tokens[at - 1].end <= first and last <= tokens[at].start for first, last in question.cues
    )


def _divided(anchors: Sequence[Anchor], cuts: Sequence[_Cut]) -> Iterator[tuple[tuple[Anchor, ...], ...]]:
    """The anchors between the cuts, with each run of the nearest ones at both ends."""
    groups: list[list[Anchor]] = [[] for _ in range(len(cuts) + 1)]
    for one in anchors:
        groups[sum(cut.last <= one.first for cut in cuts)].append(one)
    if not all(groups):
        return
    inner = tuple(tuple(one) for one in groups[1:-1])
    if len(groups) == 2:  # "what the one says of it, and the other": what is asked may follow the first side
        first = groups[0][-8:]
        for end in range(1, len(first)):
            for start in range(end):
                for right in range(1, min(len(groups[-1]), 8) + 1):
                    yield (tuple(first[start:end]), tuple(groups[-1][:right]))
    for left in range(1, min(len(groups[0]), 8) + 1):
        for right in range(1, min(len(groups[-1]), 8) + 1):
            yield (tuple(groups[0][-left:]), *inner, tuple(groups[-1][:right]))


def _score(reading: Reading, sides: Sequence[Sequence[Anchor]], cuts: Sequence[_Cut], named: set[int]) -> float | None:
    """What all sides have alike counts for, what only some have counts against; None where nothing is alike."""
    size, kinds = len(sides), {one.kind: one.weight for side in sides for one in side if one.kind != WORD}
    counted = [Counter(one.kind for one in side) for side in sides]
    words = [one[WORD] for one in counted]  # any of them may be a name that is not known
    matched = 0.0
    odd, named_odd = [0.0] * size, [0.0] * size
    for kind, weight in sorted(kinds.items(), key=lambda pair: (-pair[1], str(pair[0]))):
        most = max(one[kind] for one in counted)
        lacking = [most - one[kind] for one in counted]
        fills = all(lack <= left for lack, left in zip(lacking, words, strict=True))
        if isinstance(kind, tuple) and any(lacking) and fills:
            words = [left - lack for lack, left in zip(lacking, words, strict=True)]
            matched += size * 0.8 * weight * most
            continue
        alike = min(one[kind] for one in counted)
        matched += size * alike * weight
        more = [(one[kind] - alike) * weight for one in counted]
        odd = [before + own for before, own in zip(odd, more, strict=True)]
        if isinstance(kind, tuple):
            named_odd = [before + own for before, own in zip(named_odd, more, strict=True)]
    crossed = min(named_odd)  # the same names in different fields
    matched += size * 0.55 * crossed
    alike = min(words)
    matched += size * alike * WORD_WEIGHT
    left = sum(odd) - size * crossed + sum(one - alike for one in words) * WORD_WEIGHT
    if not matched or all(one.kind == NOUN for side in sides for one in side):
        return None
    score = matched - 0.8 * left + sum(1.0 for cut in cuts if cut.strong)
    score -= sum(_WITHIN_NAMES for cut in cuts if cut.word == "/")  # "the A / B agreement"
    if _same_lead(reading, sides):
        score += 1.0
    return score - 3.0 * sum(_is_bound(reading, sides[at], cut, named) for at, cut in enumerate(cuts))


def _lead(reading: Reading, side: Sequence[Anchor]) -> tuple[str, ...]:
    """The function words right before a side."""
    first = at = side[0].first
    while at > 0 and reading.tokens[at - 1].word in STOP and first - at < 3:
        if reading.tokens[at - 1].word in JOINS:
            break
        at -= 1
    return tuple(one.word for one in reading.tokens[at:first])


def _same_lead(reading: Reading, sides: Sequence[Sequence[Anchor]]) -> bool:
    """ "In the … and in the …"."""
    leads = [_lead(reading, side)[-2:] for side in sides]
    shortest = min(map(len, leads))
    return shortest > 0 and len({lead[-shortest:] for lead in leads}) == 1


def _is_bound(reading: Reading, side: Sequence[Anchor], cut: _Cut, named: set[int]) -> bool:
    """Whether the "and" belongs to a "between A and B" that names one thing, which stands right before it."""
    if cut.word != "and":
        return False
    start = max(side[0].first - 2, 0)
    words = [one.word for one in reading.tokens[start : cut.first]]
    if "between" not in words:
        return False
    at = len(words) - 1 - words[::-1].index("between")
    return "and" not in words[at + 1 :] and start + at in named


def _may_compare(
    question: Masked, reading: Reading, sides: Sequence[Sequence[Anchor]], cuts: Sequence[_Cut], lexicon: Lexicon
) -> bool:
    """Whether the wording sets the sides against each other: in so many words, or by asking one thing of each."""
    if question.explicit:
        return True
    chosen_from = all(cut.word in ("or", "than", ",", "/", "") for cut in cuts) and cuts[-1].word in ("or", "than")
    if question.graded and (chosen_from or (question.graded and _names_each(sides))):
        return not (in_plural(reading) and chosen_from and not reading.asked)
    if _is_headed(question, reading, sides):
        return True
    alone = len(cuts) == 1 and cuts[0].word == "and" and all(len(side) == 1 for side in sides)
    if alone and _asks_in_plural(reading, lexicon):
        return True
    return _names_each(sides) and _same_lead(reading, sides) and _asks_of_one(reading, sides, lexicon)


def _is_headed(question: Masked, reading: Reading, sides: Sequence[Sequence[Anchor]]) -> bool:
    """ "A and B: governing law", "Capacity: A / B": a colon between the things and the field asked of each."""
    tokens = reading.tokens
    first, last = tokens[sides[0][0].first].start, tokens[sides[-1][-1].last - 1].end
    fields = [link for link in reading.links if isinstance(link.meaning, Mention) and link.meaning in reading.asked]
    spans = [(tokens[link.first].start, tokens[link.last - 1].end) for link in fields]
    between = [question.text[last:a] if a >= last else question.text[b:first] for a, b in spans]
    return _names_each(sides) and not in_plural(reading) and any(":" in gap for gap in between)


def _asks_in_plural(reading: Reading, lexicon: Lexicon) -> bool:
    """ "The boiling points of the one and the other"."""
    words = [one.word for one in reading.tokens]
    spoken = [
        link
        for link in reading.links
        if isinstance(link.meaning, Mention) and link.meaning in reading.asked and link.meaning.column is None
    ]
    return words[:2] == ["what", "are"] and any(
        words[link.last - 1].endswith("s")
        and isinstance(link.meaning, Mention)
        and not lexicon.field(link.meaning.field).label.endswith("s")
        for link in spoken
    )


def _names_each(sides: Sequence[Sequence[Anchor]]) -> bool:
    return all(any(isinstance(one.kind, tuple) or one.kind == ID for one in side) for side in sides)


def _asks_of_one(reading: Reading, sides: Sequence[Sequence[Anchor]], lexicon: Lexicon) -> bool:
    """Each side is one document: it has a noun, or a value that only one document has at a time."""
    words = [one.word for one in reading.tokens]
    looks_up = bool(set(words[:2]) & _LOOKS_UP) and "many" not in words[:3]
    single = all(
        any(one.kind == NOUN for one in side) or any(_is_single(one.kind, lexicon) for one in side) for side in sides
    )
    return looks_up and single and not in_plural(reading)


def _is_single(kind: Kind, lexicon: Lexicon) -> bool:
    return isinstance(kind, tuple) and lexicon.schema.by_name[kind[0]].type in (FieldType.CATEGORY, FieldType.TEXT)
