"""Gradable adjectives: their forms, which end of a scale each points to, and what kind of scale that is."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agent.english.inflection import may_be_adjective, root_of_word
from storage.search.plan import AggregateFunction


class ScaleKind(StrEnum):
    """What an adjective measures, where a field can be told by it."""

    MEASURE = "measure"  # a dimension: its nouns and units tell the field
    SIZE = "size"  # any extent or number of things
    MONEY = "money"
    DATE = "date"
    AGE = "age"  # a date, seen from today: the oldest has the earliest
    RANK = "rank"  # good or bad: what a rating says
    UNKNOWN = "unknown"  # only the family of the word may tell the field: "most toxic"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjectiveScale:
    """The scale of an adjective. `nouns` may name its field; `units` may measure it, the likeliest first."""

    kind: ScaleKind
    is_high_end: bool = True
    nouns: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


# high end | low end | kind | nouns | units
_SCALES = """
tall | | measure | height | meter
high | low | measure | height elevation altitude | meter
long | short brief | measure | length duration distance height | meter minute
wide broad | narrow | measure | width breadth |  meter
deep | shallow | measure | depth | meter
thick | thin slim slender | measure | thickness diameter | meter
heavy | light lightweight | measure | weight mass | kilogram
fast quick rapid swift speedy | slow | measure | speed velocity | kilometer/hour
hot warm | cold cool chilly | measure | temperature | celsius
powerful strong mighty potent | weak | measure | power strength output | watt
far remote distant | near close | measure | distance | meter
loud noisy | quiet silent | measure | noise loudness sound volume |
bright | dim dark | measure | brightness luminosity lumen | lumen
steep | flat | measure | slope gradient incline | degree
spacious roomy | cramped | measure | area space floorspace | meter**2
dense | sparse | measure | density concentration |
populous crowded | | measure | population inhabitants density people residents |
busy | | measure | visitors passengers traffic guests |
rich wealthy | | measure | income wealth fortune revenue |
big large great huge vast massive sizeable | small little tiny minor | size | size | meter**2
expensive dear costly pricey | cheap inexpensive affordable | money | price cost |
new recent late modern fresh | early | date | |
young | old ancient senior elderly | age | age |
good fine excellent great popular favourite favorite beloved nice lovely decent | bad poor terrible | rank | rating |
"""
# Adjectives without a scale of their own that have a form in -est. Those that end in -y are known by "-iest".
_OTHER_ADJECTIVES = frozenset(
    """bare bitter black bland bleak blind blond blue blunt bold brave brisk brown calm clean clear clever coarse
    common complete crisp crude cruel curt cute damp dense dry dull empty exact faint fair fat feeble few fierce firm
    fit fond foul frail frank full gentle grand grave gray green grey grim hard harsh hollow humble keen kind lame lax
    lean likely lively loose lush mad mature mean mellow mild moist neat noble numb odd pale pink plain pleasant
    polite poor prompt proud pure rare rash raw red rich right rigid ripe robust rough round rude sad safe sane scarce
    secure severe sharp shrewd shy sick simple sincere sleek slight smart smooth sober soft solid sore sound sour sparse
    stable stale stark stern stiff stout straight strange strict stupid sturdy subtle sure sweet tame tart taut tender
    tense tight tough true unfair unkind unsafe vague vain vivid wet white whole wicked wild wise yellow""".split()
)
IRREGULAR_COMPARATIVES = {"better": "good", "worse": "bad", "farther": "far", "further": "far"}
_WITHOUT_COMPARISON = frozenset({"late"})  # "later" and "latest" put days in order
_MIN_SUPERLATIVE_LETTERS = 5
_VOWELS = frozenset("aeiou")
# Comparative and superlative forms that no rule of endings gives.
_IRREGULAR_SUPERLATIVES = {
    "best": "good", "worst": "bad", "most": "much", "least": "little", "fewest": "little", "furthest": "far",
    "farthest": "far", "latest": "late", "newest": "new", "lowest": "low", "eldest": "old",
}  # fmt: skip


def _parse_scales() -> Mapping[str, AdjectiveScale]:
    scales: dict[str, AdjectiveScale] = {}
    for line in _SCALES.strip().splitlines():
        high, low, kind, nouns, units = (part.split() for part in line.split("|"))
        for words, is_high_end in ((high, True), (low, False)):
            for word in words:
                scale = AdjectiveScale(
                    kind=ScaleKind(kind[0]), is_high_end=is_high_end, nouns=tuple(nouns), units=tuple(units)
                )
                scales.setdefault(word, scale)
    return scales


SCALE_BY_ADJECTIVE = _parse_scales()
_SCALE_BY_ROOT = {root_of_word(word): scale for word, scale in reversed(tuple(SCALE_BY_ADJECTIVE.items()))}


# Of each noun, all nouns of the first scale that has it.
_NOUNS_BY_NOUN = {noun: scale.nouns for scale in reversed(tuple(SCALE_BY_ADJECTIVE.values())) for noun in scale.nouns}
_GRADABLE_ADJECTIVES = (SCALE_BY_ADJECTIVE.keys() | _OTHER_ADJECTIVES) - _WITHOUT_COMPARISON


_COMPARING_WORDS = frozenset("most least fewest best worst".split())
_WORDS_OF_TIME = frozenset("latest newest".split())  # the latest version is one that a text need not call so


def adjective_of_superlative(word: str) -> str | None:
    """ "Heaviest": returns the adjective ("heavy"); None for "harvest", which is not a form of a known adjective."""
    if len(word) < _MIN_SUPERLATIVE_LETTERS or not word.endswith("est"):
        return None
    stem = word.removesuffix("est")
    adjectives = [f"{stem[:-1]}y", f"{stem[:-1]}ey"] if stem.endswith("i") else [stem, f"{stem}e", stem[:-1]]
    known = next((adjective for adjective in adjectives if adjective in _GRADABLE_ADJECTIVES), None)
    is_regular = stem.endswith("i") and not _VOWELS.isdisjoint(stem[:-1])  # "muddiest", but not "priest"
    return known or (adjectives[0] if is_regular else None)


def adjective_of_comparative(word: str) -> str | None:
    """ "Heavier": returns the adjective ("heavy"); None for "number", which is not a form of a known adjective."""
    return adjective_of_superlative(f"{word.removesuffix('er')}est") if word.endswith("er") else None


def is_comparative_of_scale(word: str) -> bool:
    """Whether the word is the comparative of an adjective of a known scale: "heavier", "larger", "pricier"."""
    return adjective_of_comparative(word) in SCALE_BY_ADJECTIVE


def scale_of_adjective(adjective: str) -> AdjectiveScale:
    """Returns the scale of an adjective; one of an unknown kind for a word that is not in the table."""
    known = SCALE_BY_ADJECTIVE.get(adjective) or _SCALE_BY_ROOT.get(root_of_word(adjective))
    return known or AdjectiveScale(kind=ScaleKind.UNKNOWN)


def scale_of_superlative(words: tuple[str, ...]) -> tuple[str, AdjectiveScale] | None:
    """ "Heaviest", "most crowded", "least toxic": returns the adjective and its scale, turned round by "least".

    None for other words, and for a lone "most", which needs a noun.
    """
    if len(words) == 2 and words[0] in ("most", "least"):
        if words[1] not in SCALE_BY_ADJECTIVE and not may_be_adjective(words[1]):
            return None
        scale = scale_of_adjective(words[1])
        return words[1], scale if words[0] == "most" else _turn_round(scale)
    if len(words) != 1:
        return None
    adjective = _IRREGULAR_SUPERLATIVES.get(words[0]) or adjective_of_superlative(words[0])
    if adjective is None or adjective in ("much", "little"):
        return None
    return adjective, scale_of_adjective(adjective)


def nouns_beside(noun: str) -> tuple[str, ...]:
    """ "People": returns the nouns that name the same measure ("inhabitants", "population"); none for other words."""
    return _NOUNS_BY_NOUN.get(noun, ())


def function_of_superlative(words: tuple[str, ...]) -> AggregateFunction | None:
    """Returns the end of the values that the superlative asks for; of an age, the earliest day is the oldest."""
    found = scale_of_superlative(words)
    if found is None:
        return None
    return AggregateFunction.MAXIMUM if found[1].is_high_end else AggregateFunction.MINIMUM


def _turn_round(scale: AdjectiveScale) -> AdjectiveScale:
    return AdjectiveScale(kind=scale.kind, is_high_end=not scale.is_high_end, nouns=scale.nouns, units=scale.units)


def compares_all(text: str) -> bool:
    """Whether a superlative in the text compares all of a set: "the most", "the cheapest"; not "at least", "latest"."""
    words = re.findall(r"[a-z]+", text.casefold().replace("at the ", "at "))  # "at the earliest"
    return any(
        (word in _COMPARING_WORDS or (adjective_of_superlative(word) is not None and word not in _WORDS_OF_TIME))
        and before != "at"
        for before, word in itertools.pairwise(["", *words])
    )
