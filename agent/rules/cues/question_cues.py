"""The input of the recognisers: the words of a question, its functions and its group."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.rules.cues.function_phrases import FunctionPhrase, find_functions
from agent.rules.cues.grouping import find_groups, find_leading_group
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import looks_plural
from storage.search.plan import GroupBy
from storage.search.schema import FieldType

_ENDS_OF_DAYS = {"last": "latest", "first": "earliest"}
_ENDS_BEHIND_VERBS = {**_ENDS_OF_DAYS, "soonest": "earliest"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCues:
    """A reading of a question, with the data that most recognisers use."""

    reading: BucketReading
    lexicon: BucketLexicon
    words: Sequence[str]
    functions: tuple[FunctionPhrase, ...]  # in order
    group: GroupBy | None
    second_group: GroupBy | None = None

    @property
    def superlative(self) -> FunctionPhrase | None:
        return next((phrase for phrase in self.functions if phrase.is_superlative), None)


def _read_last_as_latest(reading: BucketReading, lexicon: BucketLexicon) -> list[str]:
    """ "Our *last* invoice", "the *first* order": returns the words, with "latest" and "earliest" for one document."""
    words = [token.word for token in reading.tokens]
    if not lexicon.roles.dates:
        return words
    for link in reading.links:
        meaning, index = link.meaning, link.first - 1
        if link.last == len(words) - 1 and _names_day(meaning, lexicon):  # "which contract ends *first*"
            words[link.last] = _ENDS_BEHIND_VERBS.get(words[link.last], words[link.last])
        is_document = isinstance(meaning, BucketNoun) or (
            isinstance(meaning, FieldMention) and meaning.column is None and lexicon.is_identifying(meaning.field)
        )
        if (
            index < 0
            or not is_document
            or index in reading.literal_tokens
            or looks_plural(reading.tokens[link.last - 1])
        ):
            continue
        words[index] = _ENDS_OF_DAYS.get(words[index], words[index])
    return words


def _names_day(meaning: object, lexicon: BucketLexicon) -> bool:
    return (
        isinstance(meaning, FieldMention)
        and meaning.column is None
        and lexicon.get_field(meaning.field).type is FieldType.DATE
    )


def find_cues(reading: BucketReading, lexicon: BucketLexicon) -> QuestionCues:
    words = _read_last_as_latest(reading, lexicon)
    groups = find_groups(words, reading, lexicon)
    return QuestionCues(
        reading=reading,
        lexicon=lexicon,
        words=words,
        functions=tuple(find_functions(words, reading)),
        group=groups[0] if groups else find_leading_group(words, reading, lexicon),
        second_group=groups[1] if len(groups) > 1 else None,
    )
