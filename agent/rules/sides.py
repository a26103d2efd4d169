"""What a question sets side by side: where each side stands in it, what is asked of all of them, a question for each.

The sides are found by what they are made of (`anchors`), as the split whose sides match best and cover most
(`dividing`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.rules.anchors import DAYS, JOINS, SETS_AGAINST, WORD, Kind, anchors_of, in_plural
from agent.rules.atoms import Literal
from agent.rules.comparing import Masked
from agent.rules.dividing import Split, best_split
from agent.rules.language import STOP
from agent.rules.lexicon import Lexicon, Link, Mention, Noun, Partly, Valued
from agent.rules.reading import Reading
from storage.search.ids import BucketId, FieldName

_WORDLESS = re.compile(r"^[\s,;:.?!]+|[\s,;:.?!]+$")
_LEADS = frozenset(
    """what which who whose how is are was were do does did has have had can could would please tell me show us give
    list find between us we i you and or if whether there out""".split()
)


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


def sides_of(
    question: Masked, readings: Sequence[Reading], literals: Sequence[Literal], known: Mapping[BucketId, Lexicon]
) -> Sides | None:
    """The sides that the question compares, read in the bucket that fits it best; None where there are not two.

    `readings` and `literals` are of the masked text.
    """
    best = readings[0]
    anchors = anchors_of(question, readings, literals)
    split = best_split(question, best, anchors, known[best.bucket])
    return None if split is None else _written(question, best, split, known[best.bucket])


def _written(question: Masked, reading: Reading, split: Split, lexicon: Lexicon) -> Sides:
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
        plural=in_plural(reading),
        grouped=not any(isinstance(link.meaning, Noun) for link in reading.links)
        and all(_is_of_many(one.kind, lexicon) for side in split.sides for one in side),
        known=any(one.kind != WORD for side in split.sides for one in side),
        fields=tuple(dict.fromkeys(link.meaning.field for link in asked if isinstance(link.meaning, Mention))),
        named=tuple(dict.fromkeys(named)),
    )


def _is_of_many(kind: Kind, lexicon: Lexicon) -> bool:
    """Whether what it names is said of several documents each."""
    if not isinstance(kind, tuple):
        return kind == DAYS
    vocabulary = lexicon.vocabulary(*kind)
    return vocabulary is not None and vocabulary.documents >= 2 * max(len(vocabulary.values), 1)


def _tail(question: Masked, between: str, start: int) -> str:
    """What stands behind the first side and holds for all of them: "at A *in 2024* or at B"."""
    words = list(re.finditer(r"[\w'-]+", between))
    joins = [at for at, one in enumerate(words) if one[0].lower() in (JOINS | SETS_AGAINST)]
    cues = [a - start for a, _ in question.cues if start <= a < start + len(between)]
    ends = [words[joins[-1]].start()] if joins else []
    tail = between[: min([*ends, *cues], default=len(between))]
    return tail if _content(tail) else ""


def _asked(reading: Reading, split: Split) -> list[Link]:
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


def _content(text: str) -> list[str]:
    words = re.findall(r"[\w'-]+", text)
    return [one for one in words if one.lower() not in STOP and one.lower() not in SETS_AGAINST]


def _joined(before: str, side: str, after: str) -> str:
    """One question of one side; what only asks in the plural or set the sides apart is left away."""
    lead = before.split()
    while lead and _WORDLESS.sub("", lead[0]).lower() in (*_LEADS, ""):
        if lead[0].lower() in ("how", "what") and len(lead) > 1 and lead[1].lower() in ("much", "many"):
            break
        lead.pop(0)
    tail = _WORDLESS.sub("", " ".join(after.split()))
    return " ".join((" ".join(lead), side, tail)).strip(" ,;:")
