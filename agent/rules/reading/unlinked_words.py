"""Finds the unlinked words of a question: content words and quotations without a meaning in the bucket."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from agent.english.amount_names import TAX_WORDS, WORDS_BEFORE_TAXES
from agent.english.date_roles import JOINING_NAMES, JOINING_VERBS, SETTLED_WORDS
from agent.english.function_words import (
    AGGREGATE_WORDS,
    COMPARATORS,
    DISJUNCTIONS,
    DOCUMENT_PART_NOUNS,
    GROUPING_WORDS,
    LIST_VERBS,
    MODAL_VERBS,
    MONEY_WORDS,
    PERIOD_WORDS,
    PREPOSITIONS,
    PRESENT_WORDS,
    PRONOUNS,
    QUANTIFIERS,
    RELATING_VERBS,
    RELATIVE_PRONOUNS,
    SMALL_NUMBERS,
    YES_NO_VERBS,
)
from agent.english.light_words import is_particle, is_returned
from agent.english.price_words import currency_said, is_unit_of_price
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.link_filter import is_content_word
from agent.rules.linking.span_selection import SpanSelection
from agent.rules.literals.literal_types import DateLiteral
from agent.rules.reading.word_roles import WordRole, find_guessed_noun, find_word_roles, names_kind
from agent.rules.words.tokens import QuotedPhrase
from storage.search.schema import FieldType
from storage.text.irregular_verbs import base_form_of

_NO_LETTERS = re.compile(r"[\W\d_]+")
_MAX_SHORT_VERB_LETTERS = 4
_WORDS_FOR_ASKERS = frozenset("company firm business organisation organization".split())  # whose documents these are
_WORDS_BEFORE_ASKERS = frozenset({"the", "our"})
_NEGATING_WORDS = frozenset({"non", "never"})  # they say no more than the negation of what follows
_PRONOUNS = RELATIVE_PRONOUNS | PRONOUNS
_WORDS_FOR_NUMBERS = frozenset("score scores figure figures reading readings rating ratings".split())
_JOINING_MARKS = ("-", "/", ".", "'", "’", "&")
_WORDS_BEFORE_PHRASES = LIST_VERBS | QUANTIFIERS | frozenset("a an the our some many and or of for with no".split())
_WORDS_BEFORE_VALUES = (
    PREPOSITIONS | COMPARATORS | frozenset("a an the any some as up out only exactly no not than".split())
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlinkedWords:
    """The content words and quotations of a question without a meaning in the bucket, as written."""

    words: tuple[str, ...]
    quotations: tuple[str, ...]
    negated: tuple[str, ...]  # words and quotations
    alternatives: tuple[tuple[str, ...], ...]  # groups of words of which one is enough: "Acme or Globex"
    roles: Mapping[str, WordRole]  # of `words`
    guessed_noun: tuple[int, int] | None  # first and last token of a word that stands where the noun of a list stands


def find_unlinked_words(selection: SpanSelection, quotations: Sequence[QuotedPhrase]) -> UnlinkedWords:
    covered_tokens = {index for link in selection.links for index in range(link.first, link.last)}
    covered_tokens |= {index for _, first, last in selection.literal_spans for index in range(first, last)}
    quoted, negated = _find_unlinked_quotations(selection, quotations, covered_tokens)
    covered_tokens |= selection.usage.tokens | {
        index
        for index, token in enumerate(selection.tokens)
        if token.word in _NEGATING_WORDS and index + 1 in selection.negated_tokens
    }
    runs_by_text: dict[str, tuple[int, int]] = {}
    for first, last in _find_unlinked_runs(selection, covered_tokens):
        restricts = any(_restricts_set(selection, index) for index in range(first, last))
        if not restricts and not _is_compound(selection, first, last):
            continue  # asked first, since most words of a question are function words
        if (
            _is_requested_count(selection, first, last)
            or _is_relating_verb(selection, first, last, covered_tokens)
            or _is_document_part(selection, first, last)
            or _is_word_for_amount(selection, first, last)
            or _names_own_bucket(selection, first, last)
            or _is_deed_of_rows(selection, first, last)
            or _is_beginning(selection, first, last)
            or _is_unit_of_amount(selection, first, last)
        ):
            continue
        text = selection.question[selection.tokens[first].start : selection.tokens[last - 1].end]
        runs_by_text.setdefault(text, (first, last))
    runs_by_text |= _find_present_words(selection, covered_tokens)
    roles = find_word_roles(selection, runs_by_text)
    required = {text: run for text, run in runs_by_text.items() if roles[text] is WordRole.REQUIRED}
    negated += [text for text, (first, _) in required.items() if first in selection.negated_tokens]
    affirmed = {text: run for text, run in required.items() if text not in negated}
    alternatives = _group_alternatives(selection, affirmed)
    grouped = {text for words in alternatives for text in words}
    return UnlinkedWords(
        words=tuple(text for text in runs_by_text if text not in grouped and text not in negated),
        quotations=tuple(quoted),
        negated=tuple(dict.fromkeys(negated)),
        alternatives=alternatives,
        roles=roles,
        guessed_noun=find_guessed_noun(selection, runs_by_text),
    )


def _names_own_bucket(selection: SpanSelection, first: int, last: int) -> bool:
    """ "*Machine* jobs" of a bucket `machine_service_log`: whether a word beside the noun is of the bucket's name."""
    nouns = [link for link in selection.links if isinstance(link.meaning, BucketNoun)]
    has_article = bool(first) and selection.tokens[first - 1].word in ("the", "our")  # "no-shows on *the rota*"
    if not has_article and not any(link.first in (last, last + 1) or link.last == first for link in nouns):
        return False
    stems = selection.lexicon.stems_in(_NO_LETTERS.sub(" ", selection.lexicon.schema.bucket))
    return all(token.stem in stems for token in selection.tokens[first:last])


def _is_deed_of_rows(selection: SpanSelection, first: int, last: int) -> bool:
    """ "Which beer have we *brewed*" of brews: whether the verb says what every row is."""
    token = selection.tokens[first]
    return (
        last - first == 1
        and first not in selection.negated_tokens
        and token.word.endswith("ed")
        and token.stem in selection.lexicon.noun_stems
        and not token.is_quoted
    )


def _is_beginning(selection: SpanSelection, first: int, last: int) -> bool:
    """ "Who *joined* us in 2024", of a column "customer since": whether the verb says what the day or year is."""
    lexicon = selection.lexicon
    return (
        last - first == 1
        and first not in selection.negated_tokens
        and selection.tokens[first].word in JOINING_VERBS
        and bool(selection.literal_spans)
        and any(
            not JOINING_NAMES.isdisjoint(lexicon.get_field(name).label.casefold().split())
            for name in (*lexicon.roles.dates, *lexicon.roles.years)
        )
    )


def _is_unit_of_amount(selection: SpanSelection, first: int, last: int) -> bool:
    """ "In *pounds*", "per *kilo*": whether the word is the currency of an amount, or what a price is of."""
    word, before = selection.tokens[first].word, selection.tokens[first - 1].word if first else ""
    if last - first != 1:
        return False
    amounts = [field for field in selection.lexicon.schema.fields if field.type is FieldType.MONEY]
    if code := currency_said(before, word):
        return bool(amounts) and all(field.currency in ("", code) and not field.currency_field for field in amounts)
    return is_unit_of_price(before, word) and any("per" in field.label.casefold().split() for field in amounts)


def _is_compound(selection: SpanSelection, first: int, last: int) -> bool:
    """ "No-show", "follow-up": whether words with a hyphen between them say more than each of them."""
    if last - first < 2:
        return False
    tokens = selection.tokens[first:last]
    marks = [selection.question[token.end : following.start] for token, following in pairwise(tokens)]
    return bool(marks) and all(mark == "-" for mark in marks) and all(token.word.isalpha() for token in tokens)


def _restricts_set(selection: SpanSelection, index: int) -> bool:
    """Whether the token is about the subject; "paid" is where it is denied: "that we haven't *paid*"."""
    token = selection.tokens[index]
    following = selection.tokens[index + 1].word if index + 1 < len(selection.tokens) else ""
    if token.word in WORDS_BEFORE_TAXES and following in TAX_WORDS:
        return False  # "*incl* VAT" says which amount
    return is_content_word(token) or (index in selection.negated_tokens and token.word in SETTLED_WORDS)


def _find_present_words(selection: SpanSelection, covered_tokens: Set[int]) -> Mapping[str, tuple[int, int]]:
    """ "Drivers we have *now*": returns words for the present, where a date says which documents are of the past."""
    if not selection.lexicon.has_end_dates:
        return {}
    found = (
        (index, token)
        for index, token in enumerate(selection.tokens)
        if token.word in PRESENT_WORDS and index not in covered_tokens and not token.is_quoted
    )
    return {selection.question[token.start : token.end]: (index, index + 1) for index, token in found}


def _find_unlinked_quotations(
    selection: SpanSelection, quotations: Sequence[QuotedPhrase], covered_tokens: set[int]
) -> tuple[list[str], list[str]]:
    """Returns the unlinked quotations, and the negated ones. Adds all quotations to `covered_tokens`."""
    quoted: list[str] = []
    negated: list[str] = []
    for quotation in quotations:
        inside_tokens = [
            index for index, token in enumerate(selection.tokens) if quotation.start <= token.start < quotation.end
        ]
        if not set(inside_tokens) <= covered_tokens:
            (negated if set(inside_tokens) & selection.negated_tokens else quoted).append(quotation.text)
        covered_tokens |= set(inside_tokens)
    return quoted, negated


def _find_unlinked_runs(selection: SpanSelection, covered_tokens: Set[int]) -> list[tuple[int, int]]:
    """Returns the spans of unlinked tokens; tokens joined by a mark such as a hyphen are one span."""
    redundant_stems = _redundant_stems(selection)
    runs: list[tuple[int, int]] = []
    for index, token in enumerate(selection.tokens):
        if index in covered_tokens or (token.stem in redundant_stems and index not in selection.negated_tokens):
            continue
        if index and is_particle(selection.tokens[index - 1].word, token.word):
            continue  # "do we look *after*"
        if token.word == "back" and is_returned(*_words_around(selection, index)):
            continue
        if token.word in _WORDS_FOR_ASKERS and index and selection.tokens[index - 1].word in _WORDS_BEFORE_ASKERS:
            continue  # "who left *the company*"
        is_joined = (
            selection.question[selection.tokens[index - 1].end : token.start] in _JOINING_MARKS if index else False
        )
        if runs and runs[-1][1] == index and is_joined:
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs


def _words_around(selection: SpanSelection, index: int) -> tuple[Sequence[str], str, str]:
    words = [token.word for token in selection.tokens]
    return words[:index], words[index], words[index + 1] if index + 1 < len(words) else ""


def _group_alternatives(
    selection: SpanSelection, unlinked_runs: Mapping[str, tuple[int, int]]
) -> tuple[tuple[str, ...], ...]:
    """Returns groups of spans with only "or" between them."""
    groups: list[list[str]] = []
    group_by_end: dict[int, list[str]] = {}
    for text, (first, last) in unlinked_runs.items():
        group = group_by_end.get(first - 1) if first and selection.tokens[first - 1].word in DISJUNCTIONS else None
        if group is None:
            group = list[str]()
            groups.append(group)
        group.append(text)
        group_by_end[last] = group
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _redundant_stems(selection: SpanSelection) -> frozenset[str]:
    """Returns the stems of fields with a condition: "governed" adds nothing to "governed by Texas law"."""
    fields = {link.meaning.field for link in selection.links if isinstance(link.meaning, (ValueMatch, PartialMatch))}
    fields |= {
        link.meaning.field
        for index, link in enumerate(selection.links)
        if index in selection.usage.links and isinstance(link.meaning, FieldMention)
    }
    return frozenset[str]().union(*(selection.lexicon.stems_of(name) for name in fields))


def _is_determiner(selection: SpanSelection, index: int) -> bool:
    """Whether "that" stands before a noun: nothing but a verb or a preposition precedes it, which no clause is of."""
    word_before = selection.tokens[index - 1].word if index else ""
    return not word_before or word_before in YES_NO_VERBS or word_before in PREPOSITIONS


def _is_relating_verb(selection: SpanSelection, first: int, last: int, covered_tokens: Set[int]) -> bool:
    """Whether the token is a verb between documents and their values: "receipts *costing* over 5".

    Such a verb has no meaning of its own if a linked value follows: "agreements that *end* in 2012".
    """
    token = selection.tokens[first]
    if last - first != 1 or token.is_quoted or first in selection.negated_tokens:
        return False
    next_index = first + 1
    while (
        next_index < len(selection.tokens)
        and next_index not in covered_tokens
        and selection.tokens[next_index].word in _WORDS_BEFORE_VALUES
    ):
        next_index += 1
    if next_index not in covered_tokens or _is_in_noun(selection, next_index):
        return False
    if next_index == first + 1 and _modifies_category(selection, first):
        return False
    word_before = selection.tokens[first - 1].word if first else ""
    if word_before in RELATIVE_PRONOUNS and first == 1:
        return False  # "which turnips weigh …": it asks, and a noun follows
    if word_before == "that" and _is_determiner(selection, first - 1):
        return False  # "what did that robot at North Street cost"
    is_after_noun = first > 0 and any(_stands_for_documents(link) and link.last == first for link in selection.links)
    word_after = selection.tokens[first + 1].word if first + 1 < len(selection.tokens) else ""
    if is_after_noun and not token.is_name and word_after in ("a", "an", "the", "no", "any", "at"):
        return True  # "agreements demand a notice of …"
    if word_before in MODAL_VERBS and first > 1 and selection.tokens[first - 2].word in _PRONOUNS:
        return not token.is_name  # "that can dissipate at least …"
    if word_before == "to" and not token.is_name:
        return True  # "notice to stop renewal"
    if token.word in RELATING_VERBS or word_before in RELATIVE_PRONOUNS:
        return is_after_noun or word_before in _PRONOUNS or word_before in ("and", "or", "to", "do", "does")
    if token.word.endswith("ing") and len(token.word) > _MAX_SHORT_VERB_LETTERS:
        return is_after_noun
    is_past = token.word.endswith("ed") or base_form_of(token.word) != token.word  # "sailed", "flew"
    if is_past and is_after_noun and _may_name_another_day(selection, next_index):
        return False
    return is_past and len(token.word) >= _MAX_SHORT_VERB_LETTERS


def _is_in_noun(selection: SpanSelection, index: int) -> bool:
    """ "*Dented* parcels", "*dented* crates": whether the token names the documents; a word before it modifies it."""
    nouns = [link for link in selection.links if isinstance(link.meaning, BucketNoun)]
    nouns = nouns or [link for link in selection.links if names_kind(selection, link)]
    return any(link.first <= index < link.last for link in nouns)


def _may_name_another_day(selection: SpanSelection, index: int) -> bool:
    """ "Loans *cancelled* in 2024": whether a day follows a verb and no field of the day is known by the verb.

    With a single date the verb can only mean this date.
    """
    days = [
        first for literal, first, _ in selection.literal_spans if isinstance(literal, DateLiteral) and first == index
    ]
    dates = [field for field in selection.lexicon.schema.fields if field.type is FieldType.DATE]
    return bool(days) and len(dates) > 1


def _modifies_category(selection: SpanSelection, index: int) -> bool:
    """ "*Salted* butter": whether the token begins a phrase that ends in a category, which it modifies."""
    word_before = selection.tokens[index - 1].word if index else ""
    begins_phrase = not word_before or word_before in _WORDS_BEFORE_PHRASES
    return begins_phrase and any(
        link.first == index + 1
        and isinstance(link.meaning, (ValueMatch, PartialMatch))
        and link.meaning.column is None
        and selection.lexicon.is_categorical(link.meaning.field)
        and not selection.tokens[link.first].is_name
        for link in selection.links
    )


def _stands_for_documents(link: SpanLink) -> bool:
    return isinstance(link.meaning, (BucketNoun, ValueMatch, PartialMatch))


def _is_document_part(selection: SpanSelection, first: int, last: int) -> bool:
    """ "A non-compete *clause*": whether the token is a noun for a document part that a value beside it names."""
    if last - first != 1 or selection.tokens[first].word not in DOCUMENT_PART_NOUNS:
        return False
    return any(
        isinstance(link.meaning, (ValueMatch, PartialMatch)) and first in (link.last, link.first - 1)
        for link in selection.links
    )


def _is_word_for_amount(selection: SpanSelection, first: int, last: int) -> bool:
    """ "The actual *cost*", "satisfaction *score*": whether the token says what the number is that is named before."""
    if last - first != 1:
        return False
    word = selection.tokens[first].word
    is_amount, is_number = word in MONEY_WORDS, word in _WORDS_FOR_NUMBERS
    return any(
        isinstance(link.meaning, FieldMention)
        and link.last == first
        and {FieldType.MONEY: is_amount, FieldType.NUMBER: is_number}.get(
            selection.lexicon.get_field(link.meaning.field, link.meaning.column).type, False
        )
        for link in selection.links
    )


def _is_requested_count(selection: SpanSelection, first: int, last: int) -> bool:
    """ "5 panels", "top 3", "how long": whether the words say how many or what is asked; no document contains them."""
    word_before = selection.tokens[first - 1].word if first else ""
    if word_before in ("most", "least") and selection.tokens[first].word in ("often", "frequently"):
        return True
    if word_before == "how" or (word_before in GROUPING_WORDS and selection.tokens[first].word in PERIOD_WORDS):
        return True
    if last - first != 1 or not (
        selection.tokens[first].word.isdigit() or selection.tokens[first].word in SMALL_NUMBERS
    ):
        return False
    noun_follows = any(
        isinstance(link.meaning, (BucketNoun, FieldMention)) and link.first == last for link in selection.links
    )
    word_after = selection.tokens[last].word if last < len(selection.tokens) else ""
    return noun_follows or word_after in AGGREGATE_WORDS or word_before in ("top", "first", "last", "bottom")
