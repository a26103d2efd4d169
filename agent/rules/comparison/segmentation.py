"""Segmentation: splits a question into the sides that it compares.

The method does not depend on the wording. Sides are spans of words on both sides of an "and", "or", "with" or "than"
that contain the same kinds of anchors (for example two parties and a kind of contract in each). The split whose sides
match best and cover most is taken.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent.english.function_words import STOP_WORDS, YES_NO_VERBS
from agent.rules.comparison.anchors import (
    CONTRAST_WORDS,
    COORDINATORS,
    IDENTIFIER_KIND,
    NOUN_KIND,
    WORD_KIND,
    WORD_WEIGHT,
    AnchorKind,
    ComparisonAnchor,
    speaks_in_plural,
)
from agent.rules.comparison.cues import AMOUNT_COMPARATIVES, MaskedQuestion
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import QuestionToken
from storage.search.schema import FieldType

_MAX_SIDES = 4
_MAX_CUTS = 12
_SLASH_PENALTY = 0.9  # for a slash between two sides
_MIN_SCORE = 1.0  # a split with a lower score is not a comparison
_TOPIC_PREPOSITIONS = frozenset("in on by about regarding concerning as when for".split())
_DIFFERENCE_STARTS = (["how", "many"], ["how", "much"])
_LOOKUP_WORDS = frozenset("what when how who whose where".split())


@dataclass(frozen=True, slots=True)
class _SideBoundary:
    """`tokens[first:last]` separate two sides."""

    first: int
    last: int
    is_strong: bool  # a comparing word
    separator: str


def _find_boundaries(
    question: MaskedQuestion, reading: BucketReading, anchors: Sequence[ComparisonAnchor]
) -> list[_SideBoundary]:
    """Returns the positions between two possible sides; none is within an anchor."""
    tokens = reading.tokens
    anchor_tokens = {index for anchor in anchors for index in range(anchor.first, anchor.last)}
    boundaries: list[_SideBoundary] = []
    for index, token in enumerate(tokens):
        is_coordinator = token.word in COORDINATORS
        is_contrast = token.word in CONTRAST_WORDS and bool(question.cue_spans)
        if index in anchor_tokens or not (is_coordinator or is_contrast):
            continue
        boundaries.append(
            _SideBoundary(index, index + 1, is_strong=token.word in ("than", "versus", "vs"), separator=token.word)
        )
    for index in range(1, len(tokens)):
        if (
            index - 1 in anchor_tokens
            and {index} <= anchor_tokens
            and index not in {anchor.first for anchor in anchors}
        ):
            continue
        gap = question.text[tokens[index - 1].end : tokens[index].start]
        may_separate = tokens[index].word not in _TOPIC_PREPOSITIONS  # "differ in": what is asked follows
        has_cue = may_separate and any(
            cue_start >= tokens[index - 1].end and cue_end <= tokens[index].start
            for cue_start, cue_end in question.cue_spans
        )
        if has_cue or any(separator_mark in gap for separator_mark in ",;/&"):
            mark = "," if any(separator_mark in gap for separator_mark in ",;") else "/"
            boundaries.append(_SideBoundary(index, index, is_strong=has_cue, separator="" if has_cue else mark))
    return boundaries[:_MAX_CUTS]


@dataclass(frozen=True, slots=True)
class SideSplit:
    sides: tuple[tuple[ComparisonAnchor, ...], ...]
    score: float


def find_best_split(
    question: MaskedQuestion, reading: BucketReading, anchors: Sequence[ComparisonAnchor], lexicon: BucketLexicon
) -> SideSplit | None:
    boundaries = _find_boundaries(question, reading, anchors)
    name_ends = set(range(len(reading.tokens) + 1))
    if question.is_explicit:  # "differ between A and B": no name precedes "between"
        name_ends = {anchor.last for anchor in anchors if not _is_cue_before(anchor.last, question, reading.tokens)}
    best: SideSplit | None = None
    for boundary_count in range(1, _MAX_SIDES):
        for chosen in combinations(boundaries, boundary_count):
            for sides in _possible_divisions(anchors, chosen):
                score = _score_split(reading, sides, chosen, name_ends)
                if score is None or (best is not None and score <= best.score + 1e-9):
                    continue
                if _sets_sides_apart(question, reading, sides, chosen, lexicon):
                    best = SideSplit(sides, score)
    return best if best is not None and best.score >= _MIN_SCORE else None


def _is_cue_before(index: int, question: MaskedQuestion, tokens: Sequence[QuestionToken]) -> bool:
    """Whether a blanked comparing word appears right before the token."""
    return 0 < index < len(tokens) and any(
        tokens[index - 1].end <= first and last <= tokens[index].start for first, last in question.cue_spans
    )


def _possible_divisions(
    anchors: Sequence[ComparisonAnchor], boundaries: Sequence[_SideBoundary]
) -> Iterator[tuple[tuple[ComparisonAnchor, ...], ...]]:
    """Yields the divisions: all anchors between two boundaries, and every span of the nearest anchors at both ends."""
    groups: list[list[ComparisonAnchor]] = [[] for _ in range(len(boundaries) + 1)]
    for anchor in anchors:
        groups[sum(boundary.last <= anchor.first for boundary in boundaries)].append(anchor)
    if not all(groups):
        return
    inner_sides = tuple(tuple(group) for group in groups[1:-1])
    if len(groups) == 2:  # "what A says of it, and B": what is asked may follow the first side
        first_group = groups[0][-8:]
        for end in range(1, len(first_group)):
            for start in range(end):
                for right_size in range(1, min(len(groups[-1]), 8) + 1):
                    yield (tuple(first_group[start:end]), tuple(groups[-1][:right_size]))
    for left_size in range(1, min(len(groups[0]), 8) + 1):
        for right_size in range(1, min(len(groups[-1]), 8) + 1):
            yield (tuple(groups[0][-left_size:]), *inner_sides, tuple(groups[-1][:right_size]))


def _score_split(
    reading: BucketReading,
    sides: Sequence[Sequence[ComparisonAnchor]],
    boundaries: Sequence[_SideBoundary],
    name_ends: set[int],
) -> float | None:
    """Returns the score: anchors that all sides share count for it, others against it. None if nothing is shared."""
    size, kinds = (
        len(sides),
        {anchor.kind: anchor.weight for side in sides for anchor in side if anchor.kind != WORD_KIND},
    )
    counters = [Counter(anchor.kind for anchor in side) for side in sides]
    unknown_words = [counter[WORD_KIND] for counter in counters]  # any of them may be an unknown name
    matched = 0.0
    unmatched, unmatched_values = [0.0] * size, [0.0] * size
    for kind, weight in sorted(kinds.items(), key=lambda pair: (-pair[1], str(pair[0]))):
        most = max(counter[kind] for counter in counters)
        lacking = [most - counter[kind] for counter in counters]
        is_filled = all(lack <= words for lack, words in zip(lacking, unknown_words, strict=True))
        if isinstance(kind, tuple) and any(lacking) and is_filled:
            unknown_words = [words - lack for lack, words in zip(lacking, unknown_words, strict=True)]
            matched += size * 0.8 * weight * most
            continue
        shared = min(counter[kind] for counter in counters)
        matched += size * shared * weight
        surplus = [(counter[kind] - shared) * weight for counter in counters]
        unmatched = [total + extra for total, extra in zip(unmatched, surplus, strict=True)]
        if isinstance(kind, tuple):
            unmatched_values = [total + extra for total, extra in zip(unmatched_values, surplus, strict=True)]
    crossed = min(unmatched_values)  # the same names in different fields
    matched += size * 0.55 * crossed
    shared = min(unknown_words)
    matched += size * shared * WORD_WEIGHT
    remaining = sum(unmatched) - size * crossed + sum(words - shared for words in unknown_words) * WORD_WEIGHT
    if not matched or all(anchor.kind == NOUN_KIND for side in sides for anchor in side):
        return None
    score = matched - 0.8 * remaining + sum(1.0 for boundary in boundaries if boundary.is_strong)
    score -= sum(_SLASH_PENALTY for boundary in boundaries if boundary.separator == "/")  # "the A / B agreement"
    if _have_same_lead(reading, sides):
        score += 1.0
    return score - 3.0 * sum(
        _is_within_name(reading, sides[index], boundary, name_ends) for index, boundary in enumerate(boundaries)
    )


def _lead_words(reading: BucketReading, side: Sequence[ComparisonAnchor]) -> tuple[str, ...]:
    """Returns up to three function words right before a side."""
    first = start = side[0].first
    while start > 0 and reading.tokens[start - 1].word in STOP_WORDS and first - start < 3:
        if reading.tokens[start - 1].word in COORDINATORS:
            break
        start -= 1
    return tuple(token.word for token in reading.tokens[start:first])


def _have_same_lead(reading: BucketReading, sides: Sequence[Sequence[ComparisonAnchor]]) -> bool:
    """ "In the … and in the …": whether all sides begin with the same function words."""
    leads = [_lead_words(reading, side)[-2:] for side in sides]
    shortest = min(map(len, leads))
    return shortest > 0 and len({lead[-shortest:] for lead in leads}) == 1


def _is_within_name(
    reading: BucketReading, side: Sequence[ComparisonAnchor], boundary: _SideBoundary, name_ends: set[int]
) -> bool:
    """Whether the "and" belongs to a "between A and B" that describes the name right before it."""
    if boundary.separator != "and":
        return False
    start = max(side[0].first - 2, 0)
    words = [token.word for token in reading.tokens[start : boundary.first]]
    if "between" not in words:
        return False
    between_index = len(words) - 1 - words[::-1].index("between")
    return "and" not in words[between_index + 1 :] and start + between_index in name_ends


def _sets_sides_apart(
    question: MaskedQuestion,
    reading: BucketReading,
    sides: Sequence[Sequence[ComparisonAnchor]],
    boundaries: Sequence[_SideBoundary],
    lexicon: BucketLexicon,
) -> bool:
    """Whether the wording compares the sides: explicitly, or by asking the same of each."""
    if question.is_explicit:
        return True
    is_choice = all(boundary.separator in ("or", "than", ",", "/", "") for boundary in boundaries) and boundaries[
        -1
    ].separator in ("or", "than")
    if is_choice and _asks_which_has_more(question, reading, sides):
        return True
    if question.comparatives and (is_choice or (question.comparatives and _names_each_side(sides))):
        return not (speaks_in_plural(reading) and is_choice and not reading.asked_mentions)
    if _has_colon_heading(question, reading, sides):
        return True
    has_two_single_anchors = (
        len(boundaries) == 1 and boundaries[0].separator == "and" and all(len(side) == 1 for side in sides)
    )
    if has_two_single_anchors and _asks_in_plural(reading, lexicon):
        return True
    return (
        _names_each_side(sides)
        and _have_same_lead(reading, sides)
        and _asks_of_single_documents(reading, sides, lexicon)
    )


def _asks_which_has_more(
    question: MaskedQuestion, reading: BucketReading, sides: Sequence[Sequence[ComparisonAnchor]]
) -> bool:
    """ "Are there *more keepers* in Ghent than in Bruges": of two sides that are named alike."""
    kinds = [{anchor.kind for anchor in side if anchor.kind != NOUN_KIND} for side in sides]
    return (
        not AMOUNT_COMPARATIVES.isdisjoint(question.comparatives)
        and (reading.tokens[0].word in YES_NO_VERBS or _asks_for_difference(question, reading))
        and all(side_kinds == kinds[0] for side_kinds in kinds)
    )


def _asks_for_difference(question: MaskedQuestion, reading: BucketReading) -> bool:
    """ "*How many more* keepers are in Ghent than in Bruges", "*more* keepers in Ghent than in Bruges?"."""
    words = [token.word for token in reading.tokens[:3] if token.word != "by"]
    return words[:2] in _DIFFERENCE_STARTS or not question.text[: question.cue_spans[0][1]].strip()


def _has_colon_heading(
    question: MaskedQuestion, reading: BucketReading, sides: Sequence[Sequence[ComparisonAnchor]]
) -> bool:
    """ "A and B: governing law", "Capacity: A / B": whether a colon separates the sides and the field."""
    tokens = reading.tokens
    first, last = tokens[sides[0][0].first].start, tokens[sides[-1][-1].last - 1].end
    field_links = [
        link
        for link in reading.links
        if isinstance(link.meaning, FieldMention) and link.meaning in reading.asked_mentions
    ]
    spans = [(tokens[link.first].start, tokens[link.last - 1].end) for link in field_links]
    gaps = [question.text[last:start] if start >= last else question.text[end:first] for start, end in spans]
    return _names_each_side(sides) and not speaks_in_plural(reading) and any(":" in text for text in gaps)


def _asks_in_plural(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "What are the boiling points of A and B": whether a field is asked for in the plural."""
    words = [token.word for token in reading.tokens]
    field_links = [
        link
        for link in reading.links
        if isinstance(link.meaning, FieldMention)
        and link.meaning in reading.asked_mentions
        and link.meaning.column is None
    ]
    return words[:2] == ["what", "are"] and any(
        words[link.last - 1].endswith("s")
        and isinstance(link.meaning, FieldMention)
        and not lexicon.get_field(link.meaning.field).label.endswith("s")
        for link in field_links
    )


def _names_each_side(sides: Sequence[Sequence[ComparisonAnchor]]) -> bool:
    return all(
        any(isinstance(anchor.kind, tuple) or anchor.kind == IDENTIFIER_KIND for anchor in side) for side in sides
    )


def _asks_of_single_documents(
    reading: BucketReading, sides: Sequence[Sequence[ComparisonAnchor]], lexicon: BucketLexicon
) -> bool:
    """Whether each side is a single document: it has a noun, or a value of a field with one value per document."""
    words = [token.word for token in reading.tokens]
    looks_up = bool(set(words[:2]) & _LOOKUP_WORDS) and "many" not in words[:3]
    has_single_documents = all(
        any(anchor.kind == NOUN_KIND for anchor in side)
        or any(_is_single_valued(anchor.kind, lexicon) for anchor in side)
        for side in sides
    )
    return looks_up and has_single_documents and not speaks_in_plural(reading)


def _is_single_valued(kind: AnchorKind, lexicon: BucketLexicon) -> bool:
    return isinstance(kind, tuple) and lexicon.schema.by_name[kind[0]].type in (FieldType.CATEGORY, FieldType.TEXT)
