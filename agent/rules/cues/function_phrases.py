"""Finds the words in a question that name a function to compute, and the number of results it asks for."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.english.function_words import (
    AGGREGATE_PHRASES,
    AMOUNT_SUPERLATIVES,
    DOCUMENT_NOUNS,
    MONEY_WORDS,
    SMALL_NUMBERS,
    SORT_WORDS,
    SPENDING_NOUNS,
    SUMMING_PHRASES,
    SUPERLATIVE_PHRASES,
)
from agent.english.gradable_adjectives import function_of_superlative
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction

_COUNTING_WORDS = AMOUNT_SUPERLATIVES | {"more", "fewer", "less"}
_LONE_SUPERLATIVES = frozenset(words[0] for words in SUPERLATIVE_PHRASES if len(words) == 1)


@dataclass(frozen=True, slots=True)
class FunctionPhrase:
    """A function word at `words[first:last]`."""

    function: AggregateFunction
    words: tuple[str, ...]
    first: int
    last: int

    @property
    def is_superlative(self) -> bool:
        return is_superlative_phrase(self.words)


def is_superlative_phrase(words: tuple[str, ...]) -> bool:
    """ "Cheapest", "most crowded": whether the words are a superlative, listed or by inflection."""
    return words in SUPERLATIVE_PHRASES or function_of_superlative(words) is not None


def _function_of_phrase(words: tuple[str, ...]) -> AggregateFunction | None:
    if words in SUMMING_PHRASES:
        return AggregateFunction.SUM
    return AGGREGATE_PHRASES.get(words) or function_of_superlative(words)


def field_named_after(phrase: FunctionPhrase, reading: BucketReading) -> FieldName | None:
    """ "The maximum *collector current* of …", "how much *notice* …": returns the field right after the phrase."""
    if phrase.words == ("how", "many") or phrase.function is AggregateFunction.AVERAGE:
        return None
    following = (link for link in reading.links if isinstance(link.meaning, FieldMention) and link.first == phrase.last)
    return next((link.meaning.field for link in following if isinstance(link.meaning, FieldMention)), None)


def find_functions(words: Sequence[str], reading: BucketReading) -> Iterator[FunctionPhrase]:
    inside = {
        index for link in reading.links if link.last - link.first > 1 for index in range(link.first + 1, link.last)
    }
    inside |= {link.first for link in reading.links if _begins_with_extreme(link, words)}
    inside |= reading.literal_tokens
    inside |= {
        index
        for index in range(len(words))
        if set(words[max(index - 3, 0) : index]) & SORT_WORDS and words[index - 1] == "by"
    }
    mentions = [link for link in reading.links if isinstance(link.meaning, FieldMention)]
    inside |= {link.last for link in mentions if link.last < len(words) and words[link.last] == "number"}
    unknown = {part for phrase in reading.unlinked_words for part in phrase.casefold().split()}
    inside |= {  # "the *reg* number of the lorry" is counted by nobody
        index for index, word in enumerate(words) if word == "number" and words[max(index - 1, 0)] in unknown
    }
    inside |= {
        index for index, word in enumerate(words) if word == "mean" and set(words[:index]) & {"does", "do", "did"}
    }
    index = 0
    while index < len(words):
        for size in (2, 1):
            phrase = tuple(words[index : index + size])
            function = _function_of_phrase(phrase) if len(phrase) == size and index not in inside else None
            if phrase == ("combined",) and not _combines_numbers(index, words, reading):
                continue
            if phrase == ("total",) and _totals_count_of_documents(index, words, reading):
                continue
            if function is not None and not (
                size > 1 and (_is_part_of_name(index, reading) or is_counted_value(index, words, reading))
            ):
                yield FunctionPhrase(function, phrase, index, index + size)
                index += size - 1
                break
        index += 1


def _is_part_of_name(index: int, reading: BucketReading) -> bool:
    """ "*Most favoured* nation", "the most *building permits*": whether a longer name begins at the token or after."""
    return any(
        (link.first in (index, index + 1) and link.last > index + 2 and not isinstance(link.meaning, BucketNoun))
        or (link.first == index and link.last == index + 2 and isinstance(link.meaning, (ValueMatch, PartialMatch)))
        for link in reading.links
    )


def _combines_numbers(index: int, words: Sequence[str], reading: BucketReading) -> bool:
    """ "The *combined* rent", "how many … combined": whether a number is combined; "combined boilers" are a kind."""
    after = index + 1
    return (
        after == len(words)
        or words[after] in MONEY_WORDS
        or words[after] in SPENDING_NOUNS
        or any(link.first == after and isinstance(link.meaning, FieldMention) for link in reading.links)
    )


def _totals_count_of_documents(index: int, words: Sequence[str], reading: BucketReading) -> bool:
    """ "*How many repairs* … in *total*": whether documents are counted, so that nothing is left to add up."""
    nouns = {link.first for link in reading.links if isinstance(link.meaning, BucketNoun)}
    nouns |= {first for first, word in enumerate(words) if word in DOCUMENT_NOUNS}
    counted = {first + 2 for first, pair in enumerate(itertools.pairwise(words)) if pair == ("how", "many")}
    return words[index - 1 : index] == ["in"] and bool(nouns & counted)


def is_counted_value(index: int, words: Sequence[str], reading: BucketReading) -> bool:
    """ "The most *cancelled* trips", "the most *planning applications*": whether a value or a noun of several words
    follows "most", which then counts and does not compare.
    """
    return words[index] in _COUNTING_WORDS and any(
        link.first == index + 1
        and (
            isinstance(link.meaning, (ValueMatch, PartialMatch))
            or (isinstance(link.meaning, BucketNoun) and link.last > link.first + 1)
        )
        for link in reading.links
    )


def find_superlatives(words: Sequence[str], reading: BucketReading) -> list[FunctionPhrase]:
    """ "The *cheapest* … with the *most expensive* …": returns the superlatives in order."""
    return [phrase for phrase in find_functions(words, reading) if phrase.is_superlative]


def _begins_with_extreme(link: SpanLink, words: Sequence[str]) -> bool:
    """ "Maximum collector current", "minimum commitment": whether a longer name begins with an extreme."""
    several = link.last - link.first > 1 and not isinstance(link.meaning, BucketNoun)
    return several and AGGREGATE_PHRASES.get((words[link.first],)) in (
        AggregateFunction.MINIMUM,
        AggregateFunction.MAXIMUM,
    )


def asks_for_sum(phrases: Sequence[FunctionPhrase], words: Sequence[str]) -> bool:
    """Whether a sum is asked for: not in "average total", a field's name, but in "the total and the average"."""
    sums = [phrase for phrase in phrases if phrase.function is AggregateFunction.SUM]
    return any(
        phrase.words not in (("total",), ("totals",)) or _is_joined_to_another(phrase, phrases, words)
        for phrase in sums
    )


def _is_joined_to_another(phrase: FunctionPhrase, phrases: Sequence[FunctionPhrase], words: Sequence[str]) -> bool:
    """Whether only "and" appears between the phrase and another function."""
    gaps = [words[phrase.last : other.first] if other.first >= phrase.last else words[other.last : phrase.first]
            for other in phrases if other.function is not phrase.function]  # fmt: skip
    return any("and" in gap and set(gap) <= {"and", "the", "also"} for gap in gaps)


def requested_limit(words: Sequence[str], reading: BucketReading) -> int | None:
    """ "Top 5", "the 3 cheapest", "first ten": returns the number of results."""
    for index, word in enumerate(words):
        number = int(word) if word.isdigit() and len(word) <= 3 else SMALL_NUMBERS.get(word)
        if not number or index in reading.literal_tokens:
            continue  # "the last 2 years"
        before = words[index - 1] if index else ""
        after = tuple(words[index + 1 : index + 3])
        if (
            before in ("top", "first", "last", "bottom")
            or is_superlative_phrase(after[:1])
            or is_superlative_phrase(after)
        ):
            return number
        later = words[index + 1 :]
        if (before == "the" or index == 0) and any(
            word in _LONE_SUPERLATIVES or word in AMOUNT_SUPERLATIVES or is_superlative_phrase((word,))
            for word in later
        ):
            return number  # "the 5 panels with the highest efficiency"
    return None
