"""What a question sets side by side: where each side stands in it, what is asked of all of them, a question for each.

Nothing is known of the wording but a few words that compare. The sides are found by what they are made of: runs of
words on both sides of an "and", "or", "with", "than" that hold the same kinds of things (two parties and a kind of
contract here, two parties and a kind of contract there). The split whose sides match best, and cover most, is taken.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TypeAlias

from agent.rules.atoms import Days, Literal
from agent.rules.language import FILLER, FUNCTION_WORDS, MEASURES, PERIODS, STOP, SUMMARISE, SUPERLATIVES
from agent.rules.lexicon import Lexicon, Link, Mention, Noun, Partly, Valued
from agent.rules.reading import Reading
from agent.rules.tokens import Token
from storage.search.conditions import Op
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType

_MOST = 4  # sides
_MOST_CUTS = 12
_WORD_WEIGHT = 0.6
_WITHIN_NAMES = 0.9  # against a stroke as what sets sides apart
_LEAST = 1.0  # what a split must score
_COMPARING = re.compile(
    r"\b(?:in\s+)?compar(?:e[sd]?|ing|ison|isons|ative|atively)\b(?:\s+(?:to|with|against|between|of)\b)?"
    r"|\bcontrast(?:s|ed|ing)?\b(?:\s+(?:with|between|to)\b)?"
    r"|\bdiffer(?:s|ed|ing)?\b(?:\s+from\b)?|\bdifferen(?:ces?|tly|t(?=\s+(?:from|than|to)\b|\s*[?.!,]|\s*$))\b(?:\s+(?:between|from|than|to)\b)?"
    r"|\bdistinguish(?:es)?\b|\bside\s+by\s+side\b|\bversus\b|\bvs\.?(?=\s)|(?<!\d)(?<!\d\s)(?<!\.)\b(?-i:v)\.?(?=\s)|\bstacks?\s+up\b|\bin\s+common\b"
    r"|\bsimilarit(?:y|ies)\b(?:\s+between\b)?|\b(?:the\s+)?same\b|\bidentical\b|\balike\b|\bsimilar\b"
    r"|\b(?:relative|as\s+opposed)\s+to\b|\bas\s+against\b|\bset\s+against\b|\brespectively\b|\bwhich\s+of\b"
    r"|\bof\s+the\s+two\b",
    re.IGNORECASE,
)
_GRADED = frozenset(
    """more less fewer better worse longer shorter higher lower larger smaller bigger greater cheaper dearer older newer
    younger earlier later sooner heavier lighter wider narrower taller deeper shallower thicker thinner faster slower
    stronger weaker warmer colder hotter cooler denser stricter looser safer easier harder richer poorer broader closer
    further farther""".split()
)  # they count only beside "than" or "or"
_CHOOSES = re.compile(
    r"\W*(?:and\s+)?(?:which|who|what)\s+(?:of\s+(?:them|those|these|the\s+\w+)|ones?\b|is|are|has|have|was)",
    re.IGNORECASE,
)
_SUPERLATIVE = {one: f"{one.removesuffix('er')}est" for one in _GRADED if one.endswith("er")} | {
    "more": "highest", "greater": "highest", "larger": "highest", "bigger": "highest", "less": "lowest",
    "fewer": "lowest", "smaller": "lowest", "later": "latest", "newer": "newest", "better": "best", "worse": "worst",
    "dearer": "dearest",
}  # fmt: skip
_JOINS = frozenset({"and", "or", "nor", "&"})
_SETS_AGAINST = frozenset({"with", "to", "against", "from", "than", "versus", "vs", "v"})
_ABOUT = frozenset("in on by about regarding concerning as when for".split())
_FORM = STOP | FILLER | FUNCTION_WORDS | SUMMARISE | _SETS_AGAINST | MEASURES.keys() | PERIODS.keys()
_WORDLESS = re.compile(r"^[\s,;:.?!]+|[\s,;:.?!]+$")
_LOOKS_UP = frozenset("what when how who whose where".split())
_LEADS = frozenset(
    """what which who whose how is are was were do does did has have had can could would please tell me show us give
    list find between us we i you and or if whether there out""".split()
)


Kind: TypeAlias = str | tuple[FieldName, FieldName | None]  # the values of a field, or one of those below
_NOUN, _DAYS, _NUMBER, _ID, _WORD = "noun", "days", "number", "identifier", "word"


@dataclass(frozen=True, slots=True)
class _Anchor:
    """`tokens[first:last]` name something of a kind."""

    first: int
    last: int
    kind: Kind
    weight: float


@dataclass(frozen=True, slots=True)
class _Cut:
    """`tokens[first:last]` stand between two sides."""

    first: int
    last: int
    strong: bool  # a word that compares
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two to four sides as written, the words that all share before and after them, and whether they are compared."""

    sides: tuple[str, ...]
    before: str
    after: str
    topic: str  # the words shared, without those that only ask or compare
    plural: bool  # a side is a group of documents
    grouped: bool  # no document is spoken of, but what many have: a vendor, a year
    known: bool  # something in them is a value, an identifier, a day, a kind of document
    fields: tuple[FieldName, ...]  # asked for
    named: tuple[str, ...]  # the same, as spoken
    lead: str = ""  # what joins such a field to a side

    @property
    def names_fields(self) -> bool:
        return bool(self.named)

    def in_full(self) -> tuple[str, ...]:
        """Each side with all that is said of all of them: what its set is read from."""
        return tuple(" ".join((self.before, side, self.after)) for side in self.sides)

    def questions(self, *, of_fields: bool) -> tuple[str, ...]:
        """A question for each side, as a person would put it: of its fields, or in the words of the whole."""
        if self.named and of_fields:
            of = self.lead or "of the"
            return tuple(f"What is the {' and '.join(self.named)} {of} {side}?" for side in self.sides)
        return tuple(_joined(self.before, side, self.after) for side in self.sides)


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A question with its comparing words blanked out, so that what is left reads as what is asked of each side."""

    text: str  # as long as the question
    cues: tuple[tuple[int, int], ...]  # the blanked words
    explicit: bool  # compares in so many words
    graded: tuple[str, ...]  # "longer", "more": compares if there are two to choose from


def masked(question: str, literals: Sequence[Literal] = ()) -> Masked:
    """The question without its comparing words; those that compare a number with a field ("5 A or more") stay."""
    cues = [match.span() for match in _COMPARING.finditer(question)]
    explicit = any(question[a:b].lower() not in ("which of",) for a, b in cues) or _of_several(question)
    if re.match(r"\s*why\b", question, re.IGNORECASE):
        return Masked(text=question, cues=(), explicit=False, graded=())  # asks for a reason
    graded = bool(re.search(r"\b(?:than|or)\b|,", question, re.IGNORECASE))
    more = [match.span() for match in re.finditer(r"\w+", question)] if graded else []
    taken = [*cues, *((one.start, one.end) for one in literals)]
    kept = [one for one in more if not any(a <= one[0] < b for a, b in taken) and _is_graded(question, one)]
    text = question
    for a, b in (*cues, *kept):
        text = text[:a] + " " * (b - a) + text[b:]
    return Masked(
        text=text,
        cues=tuple(sorted((*cues, *kept))),
        explicit=explicit,
        graded=tuple(question[a:b].lower() for a, b in kept),
    )


def graded_words(question: str) -> tuple[str, ...]:
    """The words that set one thing above another: "longer", not "longer than 5 m"."""
    spans = [match.span() for match in re.finditer(r"\w+", question)]
    return tuple(question[a:b].lower() for a, b in spans if _is_graded(question, (a, b)))


def with_superlative(question: str) -> str:
    """ "Which of them is longer?": the longest of them."""
    if not _CHOOSES.match(question) or re.search(r"\bthan\b", question, re.IGNORECASE):
        return question
    most = re.sub(r"\bmore(?=\s+(?:expensive|costly|recent)\b)", "most", question, flags=re.IGNORECASE)
    most = re.sub(r"\bless(?=\s+expensive\b)", "least", most, flags=re.IGNORECASE)
    return re.sub(r"\w+", lambda one: _SUPERLATIVE.get(one[0].lower(), one[0]), most)


def without_ranges(question: Masked) -> Masked:
    """Days and numbers that "to" or a dash joins as two things: "compare 2023 to 2024"."""
    text = re.sub(r"(?<=\d)(\s+)to(\s+)(?=\w+)", r"\1or\2", question.text)
    return replace(question, text=re.sub(r"(?<=\d)\s*[-–]\s*(?=\d{4}\b)", lambda one: ";".ljust(len(one[0])), text))


def _of_several(question: str) -> bool:
    """ "Which of A and B has the longest …": a superlative among those that are named."""
    words = tuple(re.findall(r"\w+", question.lower()))
    return bool(re.search(r"\bwhich of\b", question, re.I)) and any(one in SUPERLATIVES for one in _grams(words))


def _grams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from ((word,) for word in words)
    yield from pairwise(words)


def _is_graded(question: str, span: tuple[int, int]) -> bool:
    """A comparative that compares the sides, rather than something with a number ("more than 50")."""
    followed = re.match(r"\s+than\s+(?:[$€£]|\w{0,3}\s?\d)", question[span[1] :], re.IGNORECASE)
    return question[span[0] : span[1]].lower() in _GRADED and not followed


def sides_of(
    question: Masked, readings: Sequence[Reading], literals: Sequence[Literal], known: Mapping[BucketId, Lexicon]
) -> Sides | None:
    """The sides that the question compares, read in the bucket that fits it best; None where there are not two.

    `readings` and `literals` are of the masked text.
    """
    best = readings[0]
    anchors = _anchors(question, readings, literals)
    split = _best_split(question, best, anchors, known[best.bucket])
    return None if split is None else _written(question, best, split, known[best.bucket])


# -- what there is


def _anchors(question: Masked, readings: Sequence[Reading], literals: Sequence[Literal]) -> list[_Anchor]:
    """Values, nouns, numbers and days, and words that mean nothing yet; in order."""
    best, tokens = readings[0], readings[0].tokens
    found: list[_Anchor] = []
    covered: set[int] = set()
    for link in best.links:
        covered |= set(range(link.first, link.last))
        match link.meaning:
            case Valued(field=field, column=column) | Partly(field=field, column=column):
                found.append(_Anchor(link.first, link.last, (field, column), 1.0))
            case Noun():
                found.append(_Anchor(link.first, link.last, _NOUN, 0.4))
            case Mention():
                pass
    for literal in literals:
        span = [at for at, one in enumerate(tokens) if one.start >= literal.number_start and one.end <= literal.end]
        if span and not set(span) & covered:
            covered |= set(span)
            if _is_side(literal):
                found.append(_Anchor(span[0], span[-1] + 1, _DAYS if isinstance(literal, Days) else _NUMBER, 1.0))
    found += [_Anchor(at, at + 1, _NOUN, 0.4) for at in _ones(tokens, found)]
    for first, last in _words(tokens, covered, question):
        identifies = any(c.isdigit() for one in tokens[first:last] for c in one.word)
        found.append(_Anchor(first, last, _ID if identifies else _WORD, 1.0 if identifies else _WORD_WEIGHT))
    return sorted(found, key=lambda one: one.first)


def _ones(tokens: Sequence[Token], named: Sequence[_Anchor]) -> Iterator[int]:
    """ "The A agreement and the B *one*": stands for the noun."""
    ends = {one.last for one in named}
    for at, token in enumerate(tokens):
        after = tokens[at + 1].word if at + 1 < len(tokens) else ""
        if token.word in ("one", "ones") and at in ends and after != "of":
            yield at


def _is_side(literal: Literal) -> bool:
    """A number that compares ("over 50") restricts; it is no side of a comparison."""
    return literal.op is Op.EQ or (isinstance(literal, Days) and literal.op is Op.BETWEEN)


def _words(tokens: Sequence[Token], covered: set[int], question: Masked) -> Iterator[tuple[int, int]]:
    """Runs of content words that nothing is known of."""
    run: list[int] = []
    for at, token in enumerate(tokens):
        plain = token.word in _FORM or (at == 0 and _only_opens(tokens))
        if at in covered or (plain and not token.quoted):
            if run:
                yield run[0], run[-1] + 1
            run = []
            continue
        if run and _is_apart(tokens[run[-1]].end, token.start, question):
            yield run[0], run[-1] + 1
            run = []
        run.append(at)
    if run:
        yield run[0], run[-1] + 1


def _is_apart(end: int, start: int, question: Masked) -> bool:
    """Whether what stands between two words sets them apart."""
    gap = question.text[end:start]
    return any(mark in gap for mark in (",", ";", ":", " /", "/ ")) or any(
        end <= first and last <= start for first, last in question.cues
    )


def _only_opens(tokens: Sequence[Token]) -> bool:
    """ "Put the one beside the other": a verb of asking, whatever it is."""
    return len(tokens) > 1 and tokens[1].word in STOP and tokens[1].word not in _JOINS


def _cuts(question: Masked, reading: Reading, anchors: Sequence[_Anchor]) -> list[_Cut]:
    """Where one side may end and the next begin: never within an anchor."""
    tokens = reading.tokens
    inside = {at for one in anchors for at in range(one.first, one.last)}
    found: list[_Cut] = []
    for at, token in enumerate(tokens):
        joins = token.word in _JOINS
        against = token.word in _SETS_AGAINST and bool(question.cues)
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


# -- which split


@dataclass(frozen=True, slots=True)
class _Split:
    sides: tuple[tuple[_Anchor, ...], ...]
    score: float


def _best_split(question: Masked, reading: Reading, anchors: Sequence[_Anchor], lexicon: Lexicon) -> _Split | None:
    cuts = _cuts(question, reading, anchors)
    named = set(range(len(reading.tokens) + 1))
    if question.explicit:  # "differ between A and B": what "between" follows is no name
        named = {one.last for one in anchors if not _is_cue_before(one.last, question, reading.tokens)}
    best: _Split | None = None
    for size in range(1, _MOST):
        for chosen in combinations(cuts, size):
            for sides in _divided(anchors, chosen):
                score = _score(reading, sides, chosen, named)
                if score is None or (best is not None and score <= best.score + 1e-9):
                    continue
                if _may_compare(question, reading, sides, chosen, lexicon):
                    best = _Split(sides, score)
    return best if best is not None and best.score >= _LEAST else None


def _is_cue_before(at: int, question: Masked, tokens: Sequence[Token]) -> bool:
    """Whether a comparing word stood right before the token."""
    return 0 < at < len(tokens) and any(
        tokens[at - 1].end <= first and last <= tokens[at].start for first, last in question.cues
    )


def _divided(anchors: Sequence[_Anchor], cuts: Sequence[_Cut]) -> Iterator[tuple[tuple[_Anchor, ...], ...]]:
    """The anchors between the cuts, with each run of the nearest ones at both ends."""
    groups: list[list[_Anchor]] = [[] for _ in range(len(cuts) + 1)]
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


def _score(reading: Reading, sides: Sequence[Sequence[_Anchor]], cuts: Sequence[_Cut], named: set[int]) -> float | None:
    """What all sides have alike counts for, what only some have counts against; None where nothing is alike."""
    size, kinds = len(sides), {one.kind: one.weight for side in sides for one in side if one.kind != _WORD}
    counted = [Counter(one.kind for one in side) for side in sides]
    words = [one[_WORD] for one in counted]  # any of them may be a name that is not known
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
    matched += size * alike * _WORD_WEIGHT
    left = sum(odd) - size * crossed + sum(one - alike for one in words) * _WORD_WEIGHT
    if not matched or all(one.kind == _NOUN for side in sides for one in side):
        return None
    score = matched - 0.8 * left + sum(1.0 for cut in cuts if cut.strong)
    score -= sum(_WITHIN_NAMES for cut in cuts if cut.word == "/")  # "the A / B agreement"
    if _same_lead(reading, sides):
        score += 1.0
    return score - 3.0 * sum(_is_bound(reading, sides[at], cut, named) for at, cut in enumerate(cuts))


def _lead(reading: Reading, side: Sequence[_Anchor]) -> tuple[str, ...]:
    """The function words right before a side."""
    first = at = side[0].first
    while at > 0 and reading.tokens[at - 1].word in STOP and first - at < 3:
        if reading.tokens[at - 1].word in _JOINS:
            break
        at -= 1
    return tuple(one.word for one in reading.tokens[at:first])


def _same_lead(reading: Reading, sides: Sequence[Sequence[_Anchor]]) -> bool:
    """ "In the … and in the …"."""
    leads = [_lead(reading, side)[-2:] for side in sides]
    shortest = min(map(len, leads))
    return shortest > 0 and len({lead[-shortest:] for lead in leads}) == 1


def _is_bound(reading: Reading, side: Sequence[_Anchor], cut: _Cut, named: set[int]) -> bool:
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
    question: Masked, reading: Reading, sides: Sequence[Sequence[_Anchor]], cuts: Sequence[_Cut], lexicon: Lexicon
) -> bool:
    """Whether the wording sets the sides against each other: in so many words, or by asking one thing of each."""
    if question.explicit:
        return True
    chosen_from = all(cut.word in ("or", "than", ",", "/", "") for cut in cuts) and cuts[-1].word in ("or", "than")
    if question.graded and (chosen_from or (question.graded and _names_each(sides))):
        return not (_is_plural(reading) and chosen_from and not reading.asked)
    if _is_headed(question, reading, sides):
        return True
    alone = len(cuts) == 1 and cuts[0].word == "and" and all(len(side) == 1 for side in sides)
    if alone and _asks_in_plural(reading, lexicon):
        return True
    return _names_each(sides) and _same_lead(reading, sides) and _asks_of_one(reading, sides, lexicon)


def _is_headed(question: Masked, reading: Reading, sides: Sequence[Sequence[_Anchor]]) -> bool:
    """ "A and B: governing law", "Capacity: A / B": a colon between the things and the field asked of each."""
    tokens = reading.tokens
    first, last = tokens[sides[0][0].first].start, tokens[sides[-1][-1].last - 1].end
    fields = [link for link in reading.links if isinstance(link.meaning, Mention) and link.meaning in reading.asked]
    spans = [(tokens[link.first].start, tokens[link.last - 1].end) for link in fields]
    between = [question.text[last:a] if a >= last else question.text[b:first] for a, b in spans]
    return _names_each(sides) and not _is_plural(reading) and any(":" in gap for gap in between)


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


def _names_each(sides: Sequence[Sequence[_Anchor]]) -> bool:
    return all(any(isinstance(one.kind, tuple) or one.kind == _ID for one in side) for side in sides)


def _asks_of_one(reading: Reading, sides: Sequence[Sequence[_Anchor]], lexicon: Lexicon) -> bool:
    """Each side is one document: it has a noun, or a value that only one document has at a time."""
    words = [one.word for one in reading.tokens]
    looks_up = bool(set(words[:2]) & _LOOKS_UP) and "many" not in words[:3]
    single = all(
        any(one.kind == _NOUN for one in side) or any(_is_single(one.kind, lexicon) for one in side) for side in sides
    )
    return looks_up and single and not _is_plural(reading)


def _is_single(kind: Kind, lexicon: Lexicon) -> bool:
    return isinstance(kind, tuple) and lexicon.schema.by_name[kind[0]].type in (FieldType.CATEGORY, FieldType.TEXT)


# -- in words


def _written(question: Masked, reading: Reading, split: _Split, lexicon: Lexicon) -> Sides:
    text, tokens = question.text, reading.tokens
    spans = [(tokens[side[0].first].start, tokens[side[-1].last - 1].end) for side in split.sides]
    before, after = text[: spans[0][0]], text[spans[-1][1] :]
    asked = _asked(reading, split)
    named = [_spoken(text[tokens[link.first].start : tokens[link.last - 1].end], lexicon, link) for link in asked]
    between = [text[a[1] : b[0]] for a, b in pairwise(spans)]
    after = f"{_tail(question, between[0], spans[0][1])} {after}"
    shared = " ".join((before, *between, after))
    return Sides(
        sides=tuple(" ".join(text[a:b].split()) for a, b in spans),
        before=before,
        after=after,
        topic=" ".join(_content(shared)),
        plural=_is_plural(reading),
        grouped=not any(isinstance(link.meaning, Noun) for link in reading.links)
        and all(_is_of_many(one.kind, lexicon) for side in split.sides for one in side),
        known=any(one.kind != _WORD for side in split.sides for one in side),
        fields=tuple(dict.fromkeys(link.meaning.field for link in asked if isinstance(link.meaning, Mention))),
        named=tuple(dict.fromkeys(named)),
    )


def _is_of_many(kind: Kind, lexicon: Lexicon) -> bool:
    """Whether what it names is said of several documents each."""
    if not isinstance(kind, tuple):
        return kind == _DAYS
    vocabulary = lexicon.vocabulary(*kind)
    return vocabulary is not None and vocabulary.documents >= 2 * max(len(vocabulary.values), 1)


def _tail(question: Masked, between: str, start: int) -> str:
    """What stands behind the first side and holds for all of them: "at A *in 2024* or at B"."""
    words = list(re.finditer(r"[\w'-]+", between))
    joins = [at for at, one in enumerate(words) if one[0].lower() in (_JOINS | _SETS_AGAINST)]
    cues = [a - start for a, _ in question.cues if start <= a < start + len(between)]
    ends = [words[joins[-1]].start()] if joins else []
    tail = between[: min([*ends, *cues], default=len(between))]
    return tail if _content(tail) else ""


def _asked(reading: Reading, split: _Split) -> list[Link]:
    """Fields that are spoken of outside the sides, and not to say of which value something is."""
    inside = {at for side in split.sides for at in range(side[0].first, side[-1].last)}
    ends = {side[-1].last for side in split.sides}  # "Texas law" speaks of no field that is asked for
    valued = {link.meaning.field for link in reading.links if isinstance(link.meaning, (Valued, Partly))}
    return [
        link
        for link in reading.links
        if isinstance(link.meaning, Mention)
        and link.meaning.column is None
        and link.first not in inside
        and (link.meaning.field not in valued or (link.meaning in reading.asked and link.first not in ends))
    ]


def _spoken(words: str, lexicon: Lexicon, link: Link) -> str:
    """The field in a person's words, if they are a noun phrase; else as the schema calls it."""
    written = " ".join(words.split())
    assert isinstance(link.meaning, Mention)  # noqa: S101 - as `_asked` picks them
    label = lexicon.field(link.meaning.field).label
    return written if " " in written and not written.endswith("s") else label[:1].lower() + label[1:]


def _is_plural(reading: Reading) -> bool:
    """Whether documents are spoken of in the plural."""
    nouns = (reading.tokens[link.last - 1].word for link in reading.links if isinstance(link.meaning, Noun))
    return any(word.endswith("s") and not word.endswith("ss") for word in nouns)


def _content(text: str) -> list[str]:
    words = re.findall(r"[\w'-]+", text)
    return [one for one in words if one.lower() not in STOP and one.lower() not in _SETS_AGAINST]


def _joined(before: str, side: str, after: str) -> str:
    """One question of one side; what only asks in the plural or set the sides apart is left away."""
    lead = before.split()
    while lead and _WORDLESS.sub("", lead[0]).lower() in (*_LEADS, ""):
        if lead[0].lower() in ("how", "what") and len(lead) > 1 and lead[1].lower() in ("much", "many"):
            break
        lead.pop(0)
    tail = _WORDLESS.sub("", " ".join(after.split()))
    return " ".join((" ".join(lead), side, tail)).strip(" ,;:")
