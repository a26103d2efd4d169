"""Numbers by group: what they are grouped by, which group has the most, which values there are."""

from collections.abc import Sequence
from itertools import pairwise

from agent.rules.functions import top_of
from agent.rules.language import (
    ALL_WORDS,
    APART,
    BREAKDOWNS,
    GROUP_BEFORE,
    LIST_VERBS,
    OF_MONEY,
    PERIODS,
    QUESTION_WORDS,
    SUPERLATIVES,
    YES_NO,
)
from agent.rules.lexicon import Lexicon, Mention
from agent.rules.reading import Reading
from agent.rules.spoken import EARLY, MEASURED, NUMERIC, leading_category, names_one, speaks_of_money
from agent.rules.tokens import is_plural
from storage.search.plan import (
    Compute,
    Function,
    Group,
    Period,
)
from storage.search.schema import FieldType

_INTRODUCE = LIST_VERBS | ALL_WORDS | APART | frozenset("me us the our of a are were is there kinds types".split())


def values_apart(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Compute | None:
    """ "How many different vendors", "list all vendors": the values of a field, each once."""
    if names_one(reading, lexicon) or top_of(words, reading) is not None or set(words) & {"most", "fewest", "least"}:
        return None
    counts = ("how", "many") in pairwise(words[:EARLY])
    lists = words[:1] and (words[0] in LIST_VERBS | {"which", "what"} or bool(set(words[:2]) & ALL_WORDS))
    start = words.index("many") + 1 if counts else 0
    mention = _value_mention(start, words, reading, lexicon) if counts or lists else None
    if mention is None or len(reading.leftovers) > bool(set(words) & APART) + ("us" in words):
        return None  # "which vendors *sold* us …": a verb may be left over
    group = None if counts else Group(field=mention.field)
    return Compute(functions=(Function.DISTINCT,), field=mention.field, group=group)


def _value_mention(start: int, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Mention | None:
    """The field, in the plural, that is spoken of at the place, after words that only introduce it."""
    at = start
    while at < len(words) and words[at] in _INTRODUCE:
        at += 1
    apart = bool(set(words[start:at]) & APART)
    for link in reading.links:
        mention = link.meaning
        if not isinstance(mention, Mention) or mention.column is not None or link.first != at:
            continue
        kind = lexicon.field(mention.field).type
        sorts = kind in (FieldType.CATEGORY, FieldType.LIST) or (apart and kind in (*MEASURED, FieldType.TEXT))
        if sorts and is_plural(reading.tokens[link.last - 1]) and mention in reading.asked:
            return mention
    return None


def tells_kinds_apart(words: Sequence[str], reading: Reading) -> bool:
    """ "Receipts by category": how many there are of each; no list, no sum."""
    if not reading.has_noun or top_of(words, reading) is not None or set(words) & (BREAKDOWNS | OF_MONEY):
        return False
    return bool(words) and words[0] not in LIST_VERBS | QUESTION_WORDS | YES_NO


def group_in(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Group | None:
    for at, word in enumerate(words[:-1]):
        if word not in GROUP_BEFORE and (word, words[at + 1]) != ("for", "each"):
            continue
        start = at + 1 + (words[at + 1] in ("each", "every", "the"))
        for link in reading.links:
            if isinstance(link.meaning, Mention) and link.meaning.column is None and link.first == start:
                field = lexicon.field(link.meaning.field)
                if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG):
                    return Group(field=field.name)
                if field.type is FieldType.DATE:
                    return Group(field=field.name, period=Period.MONTH)
        if (hinted := _hinted_group(start, reading, lexicon)) is not None:
            return hinted
        period = PERIODS.get(words[start]) if start < len(words) else None
        natural = lexicon.schema.natural_order
        dates = [one.name for one in lexicon.schema.fields if one.type is FieldType.DATE]
        if period is not None and dates:
            name = natural.field if natural and natural.field in dates else dates[0]
            return Group(field=name, period=period)
    leading = leading_category(words, reading, lexicon)
    return Group(field=leading) if leading is not None and top_of(words, reading) is not None else None


def _hinted_group(at: int, reading: Reading, lexicon: Lexicon) -> Group | None:
    """ "Each *investigator*", of a principal investigator: a word that speaks of one field and means nothing else."""
    token = reading.tokens[at] if at < len(reading.tokens) else None
    name = lexicon.hinted_field(token.stem) if token is not None and token.word in reading.leftovers else None
    sorts = name is not None and lexicon.field(name).type in (FieldType.CATEGORY, FieldType.LIST)
    return Group(field=name) if name is not None and sorts else None


def group_of(reading: Reading, lexicon: Lexicon) -> Group | None:
    """ "By year", "per vendor": what numbers are to be grouped by."""
    return group_in([token.word for token in reading.tokens], reading, lexicon)


def most_of(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Compute | None:
    """ "Which vendor do we buy the *most* tires from?": the group with the most, or the fewest, documents."""
    at = next(
        (at for at, word in enumerate(words) if word in ("most", "fewest") and at not in reading.in_literals), None
    )
    leading = leading_category(words, reading, lexicon)
    if at is None or leading is None or tuple(words[at : at + 2]) in SUPERLATIVES:
        return None
    if words[at - 1 : at] != ["the"] and words[0] not in QUESTION_WORDS:
        return None
    fields = [link.meaning.field for link in reading.links if isinstance(link.meaning, Mention) and link.first > at]
    numeric = next((one for one in fields if lexicon.field(one).type in NUMERIC), None)
    if numeric is None and speaks_of_money(at, words, reading, lexicon):
        numeric = next((one.name for one in lexicon.schema.fields if one.type is FieldType.MONEY), None)
    function = Function.COUNT if numeric is None else Function.SUM
    limit = top_of(words, reading) or 1
    return Compute(functions=(function,), field=numeric, group=Group(field=leading), limit=limit,
                   descending=words[at] == "most")  # fmt: skip
