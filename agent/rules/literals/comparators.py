"""The grammar of comparators: the words before or after a number or date that make it a bound.

A comparator is a phrase of a closed class ("at least", "north of"), an adjective in the comparative before "than", by
inflection ("heavier than", "more costly than"), or one of these behind a negation, which turns it round ("not under").
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from agent.english.gradable_adjectives import IRREGULAR_COMPARATIVES, is_comparative_of_scale
from storage.search.conditions import ComparisonOperator

_GT, _GTE, _LT, _LTE, _EQ = (
    ComparisonOperator.GT,
    ComparisonOperator.GTE,
    ComparisonOperator.LT,
    ComparisonOperator.LTE,
    ComparisonOperator.EQ,
)
COMPLEMENTS: Mapping[ComparisonOperator, ComparisonOperator] = {_GT: _LTE, _LTE: _GT, _LT: _GTE, _GTE: _LT}
MIRRORED: Mapping[ComparisonOperator, ComparisonOperator] = {_GT: _LT, _LT: _GT, _GTE: _LTE, _LTE: _GTE}


@dataclass(frozen=True, slots=True)
class ComparatorMatch:
    """A comparator at `question[start:end]`."""

    start: int
    end: int
    op: ComparisonOperator
    is_age: bool = False  # "older than": compares an age, so a date the other way round
    is_approximate: bool = False
    is_temporal: bool = False  # compares dates only: "before", "since"
    is_day: bool = False  # "later than": compares days, not numbers
    is_weak: bool = False  # a preposition that also has other meanings: "from", "by"


def _entries(
    op: ComparisonOperator, phrases: str, *, is_approximate: bool = False, is_temporal: bool = False,
    is_weak: bool = False,
) -> Iterator[tuple[tuple[str, ...], ComparatorMatch]]:  # fmt: skip
    for phrase in phrases.split("·"):
        yield (
            tuple(phrase.split()),
            ComparatorMatch(0, 0, op, is_approximate=is_approximate, is_temporal=is_temporal, is_weak=is_weak),
        )


_PHRASES_BEFORE: Mapping[tuple[str, ...], ComparatorMatch] = dict(
    (
        *_entries(
            _GT,
            """over · above · exceed · exceeds · exceeding · exceeded · surpass · surpasses · surpassing · surpassed
            · tops · topped · topping · beyond · in excess of · north of · well over · well above · go over · goes over
            · going over · went over · go above · goes above · upward of · more than · just over · slightly over
            · anything over · anything above · > · past""",
        ),
        *_entries(
            _LT,
            """under · below · beneath · underneath · south of · shy of · short of · less than · just under · well under
            · well below · anything under · anything below · <""",
        ),
        *_entries(
            _GTE,
            """at least · at the least · at the very least · a minimum of · the minimum of · minimum of · minimum · min
            · min. · starting at · as of · reach · reaches · reached · reaching · attain · attains · attained
            · upwards of · a floor of · >= · => · ≥""",
        ),
        *_entries(
            _LTE,
            """at most · at the most · at the very most · a maximum of · the maximum of · maximum of · maximum · max
            · max. · up to · up to and including · anything up to
            · upto · a cap of · capped at · a ceiling of · limited to · not exceeding
            · <= · =< · ≤""",
        ),
        *_entries(_EQ, "exactly · precisely · equal · equals · equal to · of exactly · ="),
        *_entries(
            _EQ,
            """around · approximately · approx · approx. · roughly · circa · ca · ca. · ~ · in the region of
            · in the neighbourhood of · in the neighborhood of · in the vicinity of · close to · something like
            · in the order of · on the order of · about""",
            is_approximate=True,
        ),
        *_entries(_GTE, "since · ever since · on or after · from and including", is_temporal=True),
        *_entries(_LTE, "until · till · through · up until · up till · on or before", is_temporal=True),
        *_entries(_GT, "after · following · subsequent to", is_temporal=True),
        *_entries(_LT, "before · prior to · ahead of · preceding", is_temporal=True),
        (("not", "yet"), ComparatorMatch(0, 0, _LT, is_age=True)),
        (("not", "even"), ComparatorMatch(0, 0, _LT)),
        *_entries(_GTE, "from · starting · starting from · beginning", is_weak=True),
        *_entries(_LTE, "by · within", is_weak=True),
    )
)
_LONGEST_PHRASE = max(map(len, _PHRASES_BEFORE))
_MORE_WORDS = frozenset("more over above up upwards upward greater beyond plus".split())
_LESS_WORDS = frozenset("less fewer under below down downwards".split())
# Comparatives that point to the lower end; every other one ("heavier", "dearer") points to the higher end.
_DOWNWARD_COMPARATIVES = frozenset(
    """less fewer lower smaller shorter narrower lighter cheaper earlier colder cooler slower weaker thinner nearer
    closer poorer worse softer quieter dimmer shallower tinier slimmer sooner quicker lesser scarcer rarer drier leaner
    milder littler flatter finer""".split()
)
_DAY_COMPARATIVES = frozenset({"later", "earlier", "sooner"})
_AGE_UP, _AGE_DOWN = frozenset({"older", "elder"}), frozenset({"younger", "newer", "fresher"})
_OTHER_COMPARATIVES = IRREGULAR_COMPARATIVES.keys() | {"more", "less", "fewer"}
_NO_COMPARATIVES_BEFORE_THAN = frozenset({"other", "rather"})
_LISTED_COMPARATIVES = _DOWNWARD_COMPARATIVES | _DAY_COMPARATIVES | _AGE_UP | _AGE_DOWN | _OTHER_COMPARATIVES
_NEGATORS = frozenset("not no never cannot nor t".split())
_BETWEEN_NEGATION = frozenset("even to go going be been any ever really quite always get that much yet".split())
_FILLERS = frozenset(
    "of the a an is are was were that it be on in rated rating ratings only just nearly almost year".split()
)
_MAX_FILLERS = 3
_MAX_WORDS = 10
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*\.?|[<>=≤≥~]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class _WrittenWord:
    """A word, or a sign, in small letters at `question[start:end]`."""

    text: str
    start: int
    end: int


def _words_between(question: str, start: int, end: int) -> list[_WrittenWord]:
    return [
        _WrittenWord(match[0].lower().replace("’", "'"), match.start(), match.end())
        for match in _WORD.finditer(question, start, end)
    ]


def find_comparator_before(question: str, start: int, end: int) -> ComparatorMatch | None:
    """The comparator that ends at `end`, up to three fillers before that ("over the"), and not before `start`."""
    words = _words_between(question, max(start, end - 120), end)[-_MAX_WORDS:]
    for _ in range(_MAX_FILLERS + 1):
        if not words:
            return None
        match = _comparator_at_end(words)
        if match is not None:
            return _turn_by_negation(match, words)
        if words[-1].text not in _FILLERS and words[-1].text != ":":
            return None
        words.pop()
    return None


def _comparator_at_end(words: Sequence[_WrittenWord]) -> ComparatorMatch | None:
    end = words[-1].end
    comparative = _comparative_at_end(words)
    if comparative is not None:
        return comparative
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        entry = _PHRASES_BEFORE.get(tuple(word.text for word in words[-length:]))
        if entry is not None:
            start = words[-length].start
            return None if _is_topic(entry, words[:-length], words[-1]) else replace(entry, start=start, end=end)
    return None


_TOPIC_NOUNS = frozenset(
    """anything something everything nothing what information info know tell talk talks talking read reading say says
    more all documents document docs files file pages notes details how""".split()
)


def _is_topic(entry: ComparatorMatch, words_before: Sequence[_WrittenWord], word: _WrittenWord) -> bool:
    """ "Anything about 12 V relays": whether "about" leads to what the text is about."""
    if not entry.is_approximate or word.text != "about":
        return False
    return bool(words_before) and words_before[-1].text in _TOPIC_NOUNS


def _comparative_at_end(words: Sequence[_WrittenWord]) -> ComparatorMatch | None:
    """ "Heavier than", "more costly than", "no fewer than": by the inflection of the word before "than"."""
    if words[-1].text != "than" or len(words) < 2:
        return None
    word, end = words[-2], words[-1].end
    if len(words) > 2 and words[-3].text in ("more", "less") and word.text.isalpha():
        return ComparatorMatch(words[-3].start, end, _GT if words[-3].text == "more" else _LT)
    op = direction_of_comparative(word.text)
    if op is None:
        return None
    is_day = word.text in _DAY_COMPARATIVES
    return ComparatorMatch(word.start, end, op, is_age=word.text in _AGE_UP or word.text in _AGE_DOWN, is_day=is_day)


def direction_of_comparative(word: str) -> ComparisonOperator | None:
    """`>` for "heavier" and "older", `<` for "lighter" and "newer"; None for a word that is not a comparative."""
    is_comparative = word in _OTHER_COMPARATIVES or (word.endswith("er") and word not in _NO_COMPARATIVES_BEFORE_THAN)
    if not is_comparative:
        return None
    return _LT if word in _DOWNWARD_COMPARATIVES or word in _AGE_DOWN else _GT


def _turn_by_negation(match: ComparatorMatch, words: Sequence[_WrittenWord]) -> ComparatorMatch:
    """ "Not under", "no fewer than", "didn't even reach": returns the complement, from the negation on."""
    if match.op not in COMPLEMENTS or match.is_weak:
        return match
    before = [word for word in words if word.end <= match.start]
    while before and before[-1].text in _BETWEEN_NEGATION:
        before.pop()
    if not before or not (before[-1].text in _NEGATORS or before[-1].text.endswith(("n't", "dnt", "snt"))):
        return match
    is_until = match.is_temporal and match.op is _LTE  # "not until 2024" begins in 2024
    return replace(match, op=_GTE if is_until else COMPLEMENTS[match.op], start=_start_of_negation(before))


def _start_of_negation(words: Sequence[_WrittenWord]) -> int:
    """ "Did not", "does not": the auxiliary belongs to the negation."""
    has_auxiliary = len(words) > 1 and words[-2].text in (
        "did",
        "does",
        "do",
        "is",
        "was",
        "were",
        "are",
        "must",
        "can",
    )
    return words[-2].start if has_auxiliary else words[-1].start


# -- after

_AFTER = re.compile(
    r"[\s,]*(?:(?P<plus>\+(?!\w))"
    r"|\b(?P<approximate>or\s+so|give\s+or\s+take|more\s+or\s+less|or\s+thereabouts|thereabouts|approximately)\b"
    r"|(?P<ish>-?ish)\b|(?P<less><=?|≤)(?=\s*[A-Za-z])|(?P<greater>>=?|≥)(?=\s*[A-Za-z])"
    r"|(?:or|and)\s+(?:(?P<measure>more|less)\s+(?=expensive|costly)|)(?P<direction>[a-z]+)\b"
    r"|(?P<least>at\s+(?:the\s+)?(?:very\s+)?least|minimum|min\b|upwards?|onwards?|plus|on\s+(?:up|upwards?|forwards?))\b"
    r"|(?P<most>at\s+(?:the\s+)?(?:very\s+)?most|maximum|max|tops|at\s+the\s+outside)\b"
    r"|(?P<on>on)\b(?!\s+\w)|(?P<todate>to\s+date|(?:until|till|up\s+to|to)\s+(?:now|today))\b)",
    re.IGNORECASE,
)  # fmt: skip
_NUMBER_FOLLOWS = re.compile(r"\.?\s*(?:of\s+|than\b|to\s|[^\w\s]{0,2}\d)", re.IGNORECASE)


def find_comparator_after(question: str, end: int) -> ComparatorMatch | None:
    """The comparator right after a literal that ends at `end`: "or more", "tops", "at the very least", "+"."""
    match = _AFTER.match(question, end)
    if match is None or (match.lastgroup != "plus" and _NUMBER_FOLLOWS.match(question, match.end())):
        return None
    if match["less"] or match["greater"]:  # "5 < weight"
        bounds = (_GT, _GTE) if match["less"] else (_LT, _LTE)
        return ComparatorMatch(end, match.end(), bounds[len(match[0].strip()) > 1 or match[0].strip() in "≤≥"])
    if match["approximate"] or match["ish"]:
        return ComparatorMatch(end, match.end(), _EQ, is_approximate=True)
    if match["plus"] or match["least"] or match["on"] or match["todate"]:
        is_temporal = bool(match["on"] or match["todate"])
        return ComparatorMatch(end, match.end(), _GTE, is_temporal=is_temporal)
    if match["most"]:
        return ComparatorMatch(end, match.end(), _LTE)
    return _coordinated_comparator(match["direction"].lower(), match)


def _coordinated_comparator(word: str, match: re.Match[str]) -> ComparatorMatch | None:
    """ "Or more", "and under", "or heavier"."""
    if word in _MORE_WORDS or word in _LESS_WORDS:
        op = _GTE if word in _MORE_WORDS else _LTE
    elif word in _LISTED_COMPARATIVES or is_comparative_of_scale(word):  # "2 bedrooms and shower" compares nothing
        op = _GTE if direction_of_comparative(word) is _GT else _LTE
    else:
        return None
    is_age, is_day = word in _AGE_UP or word in _AGE_DOWN, word in _DAY_COMPARATIVES
    return ComparatorMatch(match.start(), match.end(), op, is_age=is_age, is_day=is_day)


# Where the name of a field appears between a comparator and its number: "a minimum drain current of 8 A".
_NAME = r"(?:\s+(?!and\b|or\b|with\b|but\b)[A-Za-z()/-]+){1,3}?"
_MORE_OR_LESS_AFTER = tuple(
    (re.compile(rf"{_NAME}\s+(?P<op>or\s+(?:{'|'.join(sorted(words))})|{bound})\b", re.IGNORECASE), op)
    for words, bound, op in (
        (_MORE_WORDS | {"higher", "longer", "larger", "better", "later"}, "minimum|min", _GTE),
        (_LESS_WORDS | {"lower", "shorter", "smaller", "cheaper", "earlier"}, "maximum|max", _LTE),
    )
)
_NAME_BEFORE_NUMBER = r"(?:\s+[\w()/-]+){1,4}?"
_BOUND_BEFORE_NAME = tuple(
    (re.compile(rf"(?<!\w){bound}(?={article}{_NAME_BEFORE_NUMBER}\s*(?:of|is|:|=|at)?\s*$)", re.IGNORECASE), op)
    for (bound, op), article in (
        *product((("(?:minimum|min\\.?)", _GTE), ("(?:maximum|max\\.?)", _LTE)), ("",)),
        *product((("at\\s+least", _GTE), ("at\\s+(?:the\\s+)?most", _LTE)), (r"\s+an?",)),
    )
)


def find_distant_comparator(question: str, start: int, literal_start: int, literal_end: int) -> ComparatorMatch | None:
    """A comparator that is separated from the number by the field's name: "a minimum power of 5 W"."""
    for pattern, op in _MORE_OR_LESS_AFTER:
        if match := pattern.match(question, literal_end):
            return ComparatorMatch(match.start("op"), match.end("op"), op)
    before = question[start:literal_start]
    for pattern, op in _BOUND_BEFORE_NAME:
        if match := pattern.search(before):
            return ComparatorMatch(start + match.start(), start + match.end(), op)
    return None
