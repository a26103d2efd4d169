"""The sides of a comparison: their position in the question, what is asked of all of them, and a question for each.

The sides consist of anchors (`anchors`). `segmentation` chooses the best split.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.english.function_words import STOP_WORDS
from agent.rules.comparison.anchors import (
    CONTRAST_WORDS,
    COORDINATORS,
    DATE_KIND,
    WORD_KIND,
    AnchorKind,
    find_anchors,
    speaks_in_plural,
)
from agent.rules.comparison.cues import MaskedQuestion
from agent.rules.comparison.segmentation import SideSplit, find_best_split
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.literals.literal_types import QuestionLiteral
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.ids import BucketId, FieldName

_EDGE_PUNCTUATION = re.compile(r"^[\s,;:.?!]+|[\s,;:.?!]+$")
_LEAD_WORDS = frozenset(
    """what which who whose how is are was were do does did has have had can could would please tell me show us give
    list find between us we i you and or if whether there out""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSides:
    """Two to four sides as written, with the words before and after them that apply to all sides."""

    sides: tuple[str, ...]
    text_before: str
    text_after: str
    topic: str  # the shared words, without those that only ask or compare
    is_plural: bool  # a side is a group of documents
    is_grouped: bool  # the sides are values that many documents have: a vendor, a year
    is_known: bool  # the sides contain a value, an identifier, a date or a noun for documents
    asked_fields: tuple[FieldName, ...]
    field_phrases: tuple[str, ...]  # the asked fields in the words of the question
    field_connector: str = ""  # the words between such a field and a side

    @property
    def names_fields(self) -> bool:
        return bool(self.field_phrases)

    def full_texts(self) -> tuple[str, ...]:
        """Returns each side with the shared words; the set of the side is read from this text."""
        return tuple(" ".join((self.text_before, side, self.text_after)) for side in self.sides)

    def side_questions(self, *, for_fields: bool) -> tuple[str, ...]:
        """Returns a question for each side: for its fields, or in the words of the whole question."""
        if self.field_phrases and for_fields:
            connector = self.field_connector or "of the"
            return tuple(f"What is the {' and '.join(self.field_phrases)} {connector} {side}?" for side in self.sides)
        return tuple(_side_question(self.text_before, side, self.text_after) for side in self.sides)


def find_sides(
    question: MaskedQuestion,
    readings: Sequence[BucketReading],
    literals: Sequence[QuestionLiteral],
    lexicons: Mapping[BucketId, BucketLexicon],
) -> ComparedSides | None:
    """Returns the sides that the question compares, read for the best bucket; None if there are fewer than two.

    `readings` and `literals` belong to the masked text.
    """
    best = readings[0]
    anchors = find_anchors(question, readings, literals)
    split = find_best_split(question, best, anchors, lexicons[best.bucket])
    return None if split is None else _build_sides(question, best, split, lexicons[best.bucket])


def _build_sides(
    question: MaskedQuestion, reading: BucketReading, split: SideSplit, lexicon: BucketLexicon
) -> ComparedSides:
    text, tokens = question.text, reading.tokens
    spans = [(tokens[side[0].first].start, tokens[side[-1].last - 1].end) for side in split.sides]
    text_before, text_after = text[: spans[0][0]], text[spans[-1][1] :]
    asked_links = _asked_field_links(reading, split)
    phrases = [
        _field_phrase(text[tokens[link.first].start : tokens[link.last - 1].end], lexicon, link) for link in asked_links
    ]
    texts_between = [text[a[1] : b[0]] for a, b in pairwise(spans)]
    text_after = f"{_shared_tail(question, texts_between[0], spans[0][1])} {text_after}"
    shared_text = " ".join((text_before, *texts_between, text_after))
    return ComparedSides(
        sides=tuple(" ".join(text[a:b].split()) for a, b in spans),
        text_before=text_before,
        text_after=text_after,
        topic=" ".join(_content_words(shared_text)),
        is_plural=speaks_in_plural(reading),
        is_grouped=not any(isinstance(link.meaning, BucketNoun) for link in reading.links)
        and all(_is_shared_value(anchor.kind, lexicon) for side in split.sides for anchor in side),
        is_known=any(anchor.kind != WORD_KIND for side in split.sides for anchor in side),
        asked_fields=tuple(
            dict.fromkeys(link.meaning.field for link in asked_links if isinstance(link.meaning, FieldMention))
        ),
        field_phrases=tuple(dict.fromkeys(phrases)),
    )


def _is_shared_value(kind: AnchorKind, lexicon: BucketLexicon) -> bool:
    """Whether the anchor names a date, or a value of a field whose values have several documents each."""
    if not isinstance(kind, tuple):
        return kind == DATE_KIND
    vocabulary = lexicon.vocabulary_of(*kind)
    return vocabulary is not None and vocabulary.document_count >= 2 * max(len(vocabulary.values), 1)


def _shared_tail(question: MaskedQuestion, text_between: str, start: int) -> str:
    """Returns the words after the first side that apply to all sides: "at A *in 2024* or at B"."""
    words = list(re.finditer(r"[\w'-]+", text_between))
    joining_indexes = [index for index, word in enumerate(words) if word[0].lower() in (COORDINATORS | CONTRAST_WORDS)]
    cues = [cue_start - start for cue_start, _ in question.cue_spans if start <= cue_start < start + len(text_between)]
    boundaries = [words[joining_indexes[-1]].start()] if joining_indexes else []
    tail = text_between[: min([*boundaries, *cues], default=len(text_between))]
    return tail if _content_words(tail) else ""


def _asked_field_links(reading: BucketReading, split: SideSplit) -> list[SpanLink]:
    """Returns the mentions of fields outside the sides that do not belong to a value."""
    side_tokens = {index for side in split.sides for index in range(side[0].first, side[-1].last)}
    side_ends = {side[-1].last for side in split.sides}  # "Texas law" does not ask for the field
    fields_with_values = {
        link.meaning.field for link in reading.links if isinstance(link.meaning, (ValueMatch, PartialMatch))
    }
    return [
        link
        for link in reading.links
        if isinstance(link.meaning, FieldMention)
        and link.meaning.column is None
        and link.first not in side_tokens
        and (
            link.meaning.field not in fields_with_values
            or (link.meaning in reading.asked_mentions and link.first not in side_ends)
        )
    ]


def _field_phrase(words: str, lexicon: BucketLexicon, link: SpanLink) -> str:
    """Returns the field in the words of the question if they are a noun phrase; else the schema's label."""
    phrase = " ".join(words.split())
    assert isinstance(link.meaning, FieldMention)  # noqa: S101 - as `_asked_field_links` picks them
    label = lexicon.get_field(link.meaning.field).label
    return phrase if " " in phrase and not phrase.endswith("s") else label[:1].lower() + label[1:]


def _content_words(text: str) -> list[str]:
    words = re.findall(r"[\w'-]+", text)
    return [word for word in words if word.lower() not in STOP_WORDS and word.lower() not in CONTRAST_WORDS]


def _side_question(text_before: str, side: str, text_after: str) -> str:
    """Returns the question for one side, without opening words that only ask or compare."""
    lead = text_before.split()
    while lead and _EDGE_PUNCTUATION.sub("", lead[0]).lower() in (*_LEAD_WORDS, ""):
        if lead[0].lower() in ("how", "what") and len(lead) > 1 and lead[1].lower() in ("much", "many"):
            break
        lead.pop(0)
    tail = _EDGE_PUNCTUATION.sub("", " ".join(text_after.split()))
    return " ".join((" ".join(lead), side, tail)).strip(" ,;:")
