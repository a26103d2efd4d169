"""Finds the field to compute over. A field that nobody named is taken only if no other fits."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from agent.english.function_words import (
    AGGREGATE_WORDS,
    FILLER_WORDS,
    GROUPING_WORDS,
    MONEY_WORDS,
    OWING_WORDS,
    SPENDING_NOUNS,
)
from agent.english.gradable_adjectives import nouns_beside
from agent.english.stock_words import names_quantity_at_place
from agent.rules.cues.asked_fields import AskedKind, asked_kind
from agent.rules.cues.function_phrases import FunctionPhrase, requested_limit
from agent.rules.cues.question_subject import NUMERIC_TYPES, SIZE_NOUNS, field_of_unlinked_words
from agent.rules.cues.scale_fields import numbers_named_by
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, AnswerForm

_SUMMING_WORDS = frozenset("total totals sum altogether much spend spent spending".split())
_WORDS_OF_NO_NUMBER = FILLER_WORDS | GROUPING_WORDS | AGGREGATE_WORDS
_AREA_UNITS = ("meter**2", "meter**3", "meter", "kilogram")


_TAXES = frozenset("vat tax taxes gst".split())
_WITHOUT_WORDS = frozenset("excl exc excluding without ex before less".split())
_WITH_OR_WITHOUT = _WITHOUT_WORDS | frozenset("incl inc including includes with plus".split())
_NET_NAMES = frozenset("net sub subtotal excl excluding ex".split())
_SPENDING_WORDS = SPENDING_NOUNS | frozenset("spend spent paid invoiced billed".split())
_NOUNS_OF_MONEY = frozenset("rent rents price prices fee fees salary wage wages turnover".split())
_OPEN_AMOUNT_NAMES = frozenset("due outstanding balance owed owing unpaid open remaining".split())
_EARNING_WORDS = frozenset("earn earns earned earning salary salaries wage wages".split())


def computed_fields(
    reading: BucketReading,
    lexicon: BucketLexicon,
    words: Sequence[str],
    phrases: Sequence[FunctionPhrase] = (),
    excluded_field: FieldName | None = None,
) -> tuple[FieldName, ...]:
    """Returns the fields that may be computed over, the equally likely ones together; empty if there is no number.

    One that is named or hinted at, else money where the question speaks of it, else the only number there is.
    """
    if (said := find_amount_said(words, lexicon)) is not None:
        return (said,)
    if _asks_for_rate(reading, lexicon, words):
        return ()
    for mention in _numeric_mentions(reading, lexicon, words):
        if mention.field != excluded_field:
            return (mention.field,)
    hinted = field_of_unlinked_words(reading, lexicon)
    amounts = lexicon.roles.amounts
    if set(words) & _EARNING_WORDS and hinted not in (*amounts, *lexicon.roles.amounts_without_currency):
        hinted = None  # "how much does she earn an hour" is no number of hours
    if asked_kind(words) is AskedKind.MONEY and hinted not in amounts and len(amounts) == 1:
        return amounts
    if hinted is not None and hinted != excluded_field:
        return (hinted,)
    if set(words) & SIZE_NOUNS:
        return lexicon.roles.fields_in_units(_AREA_UNITS)
    if (related := _fields_of_object(phrases, words, lexicon)) and excluded_field not in related:
        return related
    if amounts and not _names_other_measure(reading, phrases, words) and _speaks_of_money(phrases, words):
        return amounts
    if set(words) & _EARNING_WORDS:
        return ()
    if not _NOUNS_OF_MONEY.isdisjoint(words) and not amounts:  # "how much is the rent" is no number of beds
        return tuple(sorted(lexicon.roles.amounts_without_currency))
    is_money = not _SPENDING_WORDS.isdisjoint(words)  # "how much have we spent" is no number of days
    return tuple(
        name
        for name in lexicon.roles.numbers
        if name != excluded_field and not (is_money and lexicon.get_field(name).unit)
    )


def _asks_for_rate(reading: BucketReading, lexicon: BucketLexicon, words: Sequence[str]) -> bool:
    """ "How much does she earn *an hour*": whether money for each hour is asked for, of which only hours are known."""
    if asked_kind(words) is not AskedKind.MONEY or set(words).isdisjoint(_EARNING_WORDS | MONEY_WORDS):
        return False
    return any(
        isinstance(link.meaning, FieldMention)
        and link.meaning.column is None
        and words[link.first - 1] in ("a", "an", "per")
        and link.meaning.field in lexicon.roles.durations
        for link in reading.links
        if link.first
    )


def computed_field(
    reading: BucketReading, lexicon: BucketLexicon, words: Sequence[str], excluded_field: FieldName | None
) -> FieldName | None:
    """Returns the likeliest field to compute over; None if the bucket has no number."""
    return next(iter(computed_fields(reading, lexicon, words, excluded_field=excluded_field)), None)


def find_amount_said(words: Sequence[str], lexicon: BucketLexicon) -> FieldName | None:
    """ "Including VAT", "what does Acme still *owe*": returns the amount that is said so, and not the tax."""
    roles = lexicon.roles
    amounts = (*roles.amounts, *sorted(roles.amounts_without_currency))
    labels = {name: set(lexicon.get_field(name).label.casefold().split()) for name in amounts}
    for index, word in enumerate(words):
        if word in _TAXES and (before := _WITH_OR_WITHOUT & set(words[max(index - 2, 0) : index])):
            if before & _WITHOUT_WORDS:
                found = [name for name, label in labels.items() if label & _NET_NAMES]
            else:
                found = [name for name in roles.main_amounts if not labels.get(name, set()) & (_NET_NAMES | _TAXES)]
            return found[0] if len(found) == 1 else None
    if set(words) & OWING_WORDS:
        found = [name for name, label in labels.items() if label & _OPEN_AMOUNT_NAMES]
        return found[0] if len(found) == 1 else None
    return None


def _numeric_mentions(reading: BucketReading, lexicon: BucketLexicon, words: Sequence[str]) -> Iterator[FieldMention]:
    """Yields the mentions of numbers, first those that give no condition; "by year" names a group."""
    grouped = {link.meaning for link in reading.links if link.first and words[link.first - 1] in GROUPING_WORDS}
    asked = [mention for mention in reading.asked_mentions if mention not in grouped or requested_limit(words, reading)]
    others = [
        link.meaning
        for link in reading.links
        if isinstance(link.meaning, FieldMention)
        and link.meaning not in grouped
        and not reading.literal_tokens & set(range(link.first, link.last))
    ]
    owed = {link.meaning for link in reading.links if words[link.first] in OWING_WORDS}  # "how much rent is *owed*"
    summing = {  # "*total* VAT": the word asks for a sum
        link.meaning
        for link, following in pairwise(reading.links)
        if isinstance(following.meaning, FieldMention)
        and following.first == link.last
        and _SUMMING_WORDS.issuperset(words[link.first : link.last])
        and lexicon.get_field(following.meaning.field, following.meaning.column).type in NUMERIC_TYPES
    }
    for mention in sorted((*asked, *others), key=lambda mention: (mention in summing, mention not in owed)):
        if mention.column is None and lexicon.get_field(mention.field).type in NUMERIC_TYPES:
            yield mention


def counts_measure(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether the question names or hints at a number of each document, and not only at the documents."""
    asked = any(
        mention.column is None and lexicon.get_field(mention.field).type in NUMERIC_TYPES
        for mention in reading.asked_mentions
    )
    return asked or field_of_unlinked_words(reading, lexicon) is not None


def sums_quantity_at_place(answer_form: AnswerForm, lexicon: BucketLexicon) -> bool:
    """Whether a quantity is summed of which the documents have one for each of several places: "Qty HB"."""
    name = answer_form.computed_field
    field = None if name is None else lexicon.schema.by_name.get(name)
    return field is not None and answer_form.computes and names_quantity_at_place(field.label)


def _fields_of_object(
    phrases: Sequence[FunctionPhrase], words: Sequence[str], lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """ "Average *age*": returns the numbers of the family of the word right after a function."""
    for phrase in phrases:
        word = words[phrase.last] if phrase.last < len(words) else ""
        if word and word not in _WORDS_OF_NO_NUMBER:
            found = numbers_named_by((word,), lexicon) or numbers_named_by(nouns_beside(word), lexicon)
            if found:
                return found
    return ()


def _names_other_measure(reading: BucketReading, phrases: Sequence[FunctionPhrase], words: Sequence[str]) -> bool:
    """ "Average *temperature*" where nothing is a temperature: whether an unknown word follows an average."""
    unlinked = {word for phrase in reading.unlinked_words for word in phrase.casefold().split()}
    return any(
        phrase.function is not AggregateFunction.SUM
        and phrase.last < len(words)
        and words[phrase.last] in unlinked - MONEY_WORDS
        for phrase in phrases
    )


def _speaks_of_money(phrases: Sequence[FunctionPhrase], words: Sequence[str]) -> bool:
    """Whether money is the likeliest measure: a sum, or a word for spending; without a function, too."""
    if not phrases or set(words) & (MONEY_WORDS | SPENDING_NOUNS):
        return True
    return any(set(phrase.words) & _SUMMING_WORDS for phrase in phrases)
