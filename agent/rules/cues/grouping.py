"""Finds groups in a question: the field to group by, the group with the most, and the distinct values."""

from collections.abc import Sequence
from itertools import pairwise

from agent.english.function_words import (
    BREAKDOWN_WORDS,
    DISTINCT_WORDS,
    GROUPING_WORDS,
    LIST_VERBS,
    MONEY_WORDS,
    PEOPLE_NOUNS,
    PERIOD_WORDS,
    QUANTIFIERS,
    QUESTION_WORDS,
    SORT_WORDS,
    YES_NO_VERBS,
)
from agent.rules.cues.function_phrases import is_counted_value, is_superlative_phrase, requested_limit
from agent.rules.cues.question_subject import (
    EARLY_TOKENS,
    MEASURABLE_TYPES,
    is_about_money,
    leading_category,
    names_one_document,
)
from agent.rules.cues.ranked_fields import fields_of_most
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, ComparisonOperator, OrCondition, fields_of
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, CalendarPeriod, ComputeNumbers, GroupBy
from storage.search.schema import FieldType
from storage.text.noun_classes import PERSON_NOUNS

_INTRODUCING_WORDS = (
    LIST_VERBS | QUANTIFIERS | DISTINCT_WORDS | frozenset("me us the our of a are were is there kinds types".split())
)

_OPENING_WORDS = LIST_VERBS | QUESTION_WORDS | YES_NO_VERBS
_FRONTED_WHOLES = frozenset({("of", "the"), ("of", "our"), ("of", "all")})  # "of the clients on gold, which …"
_MAX_COMPARED_GROUPS = 40  # values of a field that no word names
_MAX_WORDS_BEFORE_NOUN = 2  # between "most" and what is counted
_WORDS_BEFORE_GROUP = frozenset("each every of the our these those their".split())  # "in each of the branches"


def distinct_values_form(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> ComputeNumbers | None:
    """ "How many different vendors", "list all vendors": returns the distinct values of a field, or their count."""
    if (
        names_one_document(reading, lexicon)
        or requested_limit(words, reading) is not None
        or set(words) & {"most", "fewest", "least"}
    ):
        return None
    counts = ("how", "many") in pairwise(words[:EARLY_TOKENS])
    lists = words[:1] and (
        words[0] in LIST_VERBS or words[0] in ("which", "what") or bool(set(words[:2]) & QUANTIFIERS)
    )
    is_fronted = tuple(words[:2]) in _FRONTED_WHOLES and "which" in words
    lists = lists or is_fronted
    start = words.index("many") + 1 if counts else 2 * is_fronted
    mention = _plural_field_mention(start, words, reading, lexicon) if counts or lists else None
    if mention is None or len(reading.unlinked_words) > bool(set(words) & DISTINCT_WORDS) + ("us" in words):
        return None  # "which vendors *sold* us …": an unlinked word may be a verb
    group = None if counts else GroupBy(field=mention.field)
    return ComputeNumbers(functions=(AggregateFunction.DISTINCT,), field=mention.field, group=group)


def _plural_field_mention(
    start: int, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> FieldMention | None:
    """Returns the field named in the plural at `start`, after words that only introduce it."""
    index = start
    while index < len(words) and words[index] in _INTRODUCING_WORDS:
        index += 1
    apart = bool(set(words[start:index]) & DISTINCT_WORDS)
    for link in reading.links:
        mention = link.meaning
        if not isinstance(mention, FieldMention) or mention.column is not None or link.first != index:
            continue
        if lexicon.is_identifying(mention.field) and not apart:
            continue  # "which jobs …" asks for the documents, if the field names each of them
        kind = lexicon.get_field(mention.field).type
        sorts = kind in (FieldType.CATEGORY, FieldType.LIST) or (apart and kind in (*MEASURABLE_TYPES, FieldType.TEXT))
        last_token = reading.tokens[link.last - 1]
        if (
            sorts
            and (looks_plural(last_token) or last_token.word in PEOPLE_NOUNS)
            and mention in reading.asked_mentions
        ):
            return mention
    return None


def counts_by_group(words: Sequence[str], reading: BucketReading) -> bool:
    """ "Receipts by category": whether the question asks for a count per group, not for a list or a sum."""
    if (
        not reading.has_noun
        or requested_limit(words, reading) is not None
        or set(words) & (BREAKDOWN_WORDS | MONEY_WORDS)
    ):
        return False
    return bool(words) and words[0] not in _OPENING_WORDS


def group_with_more(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> ComputeNumbers | None:
    """ "Who has *more* vans, A or B?": the named groups in order of their counts, or of the sums of a named number."""
    index = next((index for index, word in enumerate(words) if _compares_groups(index, word, words, reading)), None)
    if index is None or (words[0] not in QUESTION_WORDS and "or" not in words):
        return None
    named: dict[FieldName, set[str]] = {}
    for link in reading.links:
        meaning = link.meaning
        if isinstance(meaning, (ValueMatch, PartialMatch)) and meaning.column is None:
            words_of_link = " ".join(words[link.first : link.last])
            named.setdefault(meaning.field, set()).add(words_of_link)
    compared = [
        name
        for name, values in named.items()
        if len(values) > 1 and name in _fields_of_set_conditions(reading) and not lexicon.is_identifying(name)
    ]
    if len(compared) != 1:
        return None
    numeric = next(iter(fields_of_most(index, words, reading, lexicon)), None)
    function = AggregateFunction.COUNT if numeric is None else AggregateFunction.SUM
    return ComputeNumbers(
        functions=(function,), field=numeric, group=GroupBy(field=compared[0]), limit=len(named[compared[0]]),
        descending=words[index] == "more",
    )  # fmt: skip


def _compares_groups(index: int, word: str, words: Sequence[str], reading: BucketReading) -> bool:
    """ "*More* vans", but not "more than ten" nor "more expensive"."""
    after = words[index + 1] if index + 1 < len(words) else ""
    return (
        word in ("more", "fewer", "less")
        and index not in reading.literal_tokens
        and after not in ("than", "or", "")
        and (is_counted_value(index, words, reading) or not is_superlative_phrase(("most", after)))
    )


def _fields_of_set_conditions(reading: BucketReading) -> set[FieldName]:
    """The fields with a condition that several values meet: A or B."""
    return {
        name
        for condition in reading.conditions
        if isinstance(condition, OrCondition)
        or (isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.IN)
        for name in fields_of(condition)
    }


def find_group(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> GroupBy | None:
    return next(iter(find_groups(words, reading, lexicon)), None) or find_leading_group(words, reading, lexicon)


def find_leading_group(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> GroupBy | None:
    """ "Which 3 branches …": returns the group that the question asks for a number of."""
    leading = leading_category(words, reading, lexicon)
    return GroupBy(field=leading) if leading is not None and requested_limit(words, reading) is not None else None


def find_groups(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> tuple[GroupBy, ...]:
    """ "Per branch", "by branch and month": returns the groups in order, each field once."""
    if (compared := _field_of_each(words, reading)) is not None:
        return (GroupBy(field=compared),)
    groups: dict[FieldName, GroupBy] = {}
    for index, word in enumerate(words[:-1]):
        continues = bool(groups) and word == "and"
        if (
            word == "by" and words[max(index - 1, 0)] in SORT_WORDS
        ):  # "sorted by end date" asks for a list in this order
            continue
        if word not in GROUPING_WORDS and (word, words[index + 1]) != ("for", "each") and not continues:
            continue
        start = _first_of_group(index + 1, words)
        group = _group_at(start, words, reading, lexicon)
        if group is not None:
            groups.setdefault(group.field, group)
    return tuple(groups.values())


def _field_of_each(words: Sequence[str], reading: BucketReading) -> FieldName | None:
    """ "How much have Acme and Orlo *each* billed": returns the field of which several values are named."""
    if "each" not in words[1:] or words[words.index("each") - 1] in GROUPING_WORDS | {"of", "for"}:
        return None
    named = [
        condition.field
        for condition in reading.conditions
        if isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.IN
    ]
    return named[0] if len(named) == 1 else None


def _group_at(start: int, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> GroupBy | None:
    """Returns the field or period to group by that is named at the token."""
    for link in reading.links:
        if isinstance(link.meaning, FieldMention) and link.meaning.column is None and link.first == start:
            field = lexicon.get_field(link.meaning.field)
            if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG):
                return GroupBy(field=field.name)
            if field.type is FieldType.DATE:
                return GroupBy(field=field.name, period=CalendarPeriod.MONTH)
    if (hinted := _hinted_group(start, reading, lexicon)) is not None:
        return hinted
    if (called := _field_called_after_noun(start, reading, lexicon)) is not None:
        return GroupBy(field=called)
    period = PERIOD_WORDS.get(words[start]) if start < len(words) else None
    natural = lexicon.schema.natural_order
    dates = [field.name for field in lexicon.schema.fields if field.type is FieldType.DATE]
    if period is None or not dates or _is_rate_of(period, reading, lexicon):
        return None
    return GroupBy(field=natural.field if natural and natural.field in dates else dates[0], period=period)


def _is_rate_of(period: CalendarPeriod, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "What do they pay *per month*", of a `monthly fee`: whether the amount that is asked for is one of a period."""
    asked = {mention.field for mention in reading.asked_mentions if mention.column is None}
    amounts = asked | set(lexicon.roles.sums_of_money[:1])
    return any(
        PERIOD_WORDS.get(word) is period
        for name in amounts
        if (field := lexicon.get_field(name)).type in (FieldType.MONEY, FieldType.NUMBER)
        for word in fold_text(field.label).replace("/", " ").replace("_", " ").split()
    )


def _hinted_group(index: int, reading: BucketReading, lexicon: BucketLexicon) -> GroupBy | None:
    """ "Each *investigator*" for a field "principal investigator": returns the only field that the word hints at."""
    token = reading.tokens[index] if index < len(reading.tokens) else None
    name = lexicon.field_hinted_by(token.stem) if token is not None and token.word in reading.unlinked_words else None
    sorts = name is not None and lexicon.get_field(name).type in (FieldType.CATEGORY, FieldType.LIST)
    if name is not None and sorts:
        return GroupBy(field=name)
    nearest = _field_near_group_noun(token, reading, lexicon) if token is not None else None
    return GroupBy(field=nearest) if nearest is not None else None


def _field_called_after_noun(index: int, reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """ "Contracts by *type*" for a field "contract type": the only field called so after the documents' noun."""
    stem = reading.tokens[index].stem if index < len(reading.tokens) else ""
    called = [
        field.name
        for field in lexicon.schema.fields
        if field.type in (FieldType.CATEGORY, FieldType.LIST)
        and {term.text for term in lexicon.analyser.extract_terms(field.label)} - lexicon.noun_stems == {stem}
    ]
    return called[0] if len(called) == 1 else None


def _field_near_group_noun(token: QuestionToken, reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """ "By *branch*" for a field "clinic": returns the only field of that role, or the nearest in meaning."""
    if token.word not in {word.casefold() for word in reading.unlinked_words} or token.word in PERIOD_WORDS:
        return None
    groupable = [
        field.name
        for field in lexicon.schema.fields
        if field.type in (FieldType.CATEGORY, FieldType.LIST) and not lexicon.is_identifying(field.name)
    ]
    referring = [
        name
        for name in groupable
        if (reference := lexicon.get_field(name).reference) is not None
        and token.stem in {term.text for term in lexicon.analyser.extract_terms(reference.bucket.replace("_", " "))}
    ]
    if len(referring) == 1:
        return referring[0]
    of_role = [name for name in lexicon.roles.fields_of_role(token.word) if name in groupable]
    return of_role[0] if len(of_role) == 1 else reading.similarities.nearest_of(token.word, groupable)


def group_nouns(words: Sequence[str]) -> frozenset[str]:
    """ "Per *branch*", "in each of the *towns*": returns the words that may name a group."""
    nouns: set[str] = set()
    for index, word in enumerate(words[:-1]):
        if word in GROUPING_WORDS:
            nouns.add(words[_first_of_group(index + 1, words)])
    return frozenset(nouns)


def _first_of_group(index: int, words: Sequence[str]) -> int:
    """ "Each *of the towns*": returns the first token from `index` on that may name the group."""
    while index < len(words) - 1 and words[index] in _WORDS_BEFORE_GROUP:
        index += 1
    return index


def group_of_reading(reading: BucketReading, lexicon: BucketLexicon) -> GroupBy | None:
    """ "By year", "per vendor": returns the field and period to group by."""
    return find_group([token.word for token in reading.tokens], reading, lexicon)


def unnamed_groups(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Which *estate* has the most repairs?", "where do most …": the fields that may hold what no word names.

    The field nearest in meaning first, if one is near. Empty if the noun has a meaning, or if no documents of the
    bucket are counted.
    """
    if words[:1] not in (["which"], ["what"], ["where"]):
        return ()
    index = next((index for index, word in enumerate(words) if word in ("most", "fewest")), None)
    if index is None or not _counts_own_noun(index, reading):
        return ()
    if words[0] == "where":
        near = next((name for name in lexicon.roles.places if _may_be_compared(name, reading, lexicon)), None)
    elif words[1] in reading.unlinked_words:
        near = _field_near_group_noun(reading.tokens[1], reading, lexicon)
    else:
        return ()
    groupable = [field.name for field in lexicon.schema.fields if _may_be_compared(field.name, reading, lexicon)]
    if (
        words[1].removesuffix("s") in PERSON_NOUNS
    ):  # "which *engineer* has the most jobs" is none of the places or states
        groupable = [name for name in groupable if name in lexicon.roles.persons] or groupable
    return tuple(sorted(groupable, key=lambda name: name != near))


def _may_be_compared(name: FieldName, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether the documents can be counted by the field: it has few values, and no condition on it."""
    vocabulary = lexicon.vocabulary_of(name)
    return (
        lexicon.get_field(name).type in (FieldType.CATEGORY, FieldType.LIST)
        and not lexicon.is_identifying(name)
        and name not in fields_of(reading.condition)
        and vocabulary is not None
        and 1 < len(vocabulary.values) <= _MAX_COMPARED_GROUPS
    )


def _counts_own_noun(index: int, reading: BucketReading) -> bool:
    """Whether a noun for the bucket's documents appears behind "most"."""
    return any(
        isinstance(link.meaning, BucketNoun) and index < link.first <= index + 1 + _MAX_WORDS_BEFORE_NOUN
        for link in reading.links
    )


def group_with_most(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> ComputeNumbers | None:
    """ "Which vendor do we buy the *most* tires from?": the groups with the highest or lowest count or sum."""
    index = next(
        (
            index
            for index, word in enumerate(words)
            if word in ("most", "fewest", "least") and index not in reading.literal_tokens
        ),
        None,
    )
    if index is None:
        return None
    leading = leading_category(words, reading, lexicon) or next(iter(unnamed_groups(words, reading, lexicon)), None)
    if leading is None:
        return None
    if is_superlative_phrase(tuple(words[index : index + 2])) and not is_counted_value(index, words, reading):
        return None
    if words[index - 1 : index] != ["the"] and words[0] not in QUESTION_WORDS:
        return None
    if lexicon.is_identifying(leading):
        return None
    numeric = next(iter(fields_of_most(index, words, reading, lexicon)), None)
    if numeric is None and is_about_money(index, words, reading, lexicon):
        numeric = next(iter(lexicon.roles.sums_of_money), None)
    function = AggregateFunction.COUNT if numeric is None else AggregateFunction.SUM
    limit = requested_limit(words, reading) or 1
    return ComputeNumbers(functions=(function,), field=numeric, group=GroupBy(field=leading), limit=limit,
                   descending=words[index] == "most")  # fmt: skip
