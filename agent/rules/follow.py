"""What follows on the last plan: a constraint more, other numbers of the same documents, one of them, more of them.

A message follows if it is wholly constraints ("only 2024", "and from Acme?"), or points at what was found ("how many of
them", "the second one", "sort them"). What names documents of its own and asks of them is a new topic and inherits
nothing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.compose import SHOWN
from agent.reasoner import Doubt, Planned
from agent.rules.after import Said, again, order_of
from agent.rules.atoms import Quantity
from agent.rules.commands import further
from agent.rules.compare import Reader
from agent.rules.comparing import with_superlative
from agent.rules.intent import wanted_of
from agent.rules.language import FUNCTION_WORDS, LIST_VERBS, OF_DAYS, SUMMARISE, SUPERLATIVES, YES_NO
from agent.rules.lexicon import Mention
from agent.rules.narrowed import in_that_year, narrowed, refined
from agent.rules.pointed import MOST_SIDES, compared_again, others, picked
from agent.rules.share import as_count, asks_for_share
from storage.search.ids import FieldName, LegId
from storage.search.plan import (
    Combine,
    Compute,
    FindPassages,
    Function,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)
from storage.search.schema import FieldType, SchemaOrder

_WORD = re.compile(r"[\w']+")
_SAME = re.compile(r"^(?P<lead>\W*(?:and\s+|now\s+)?)(?:the\s+)?same(?:\s+(?:thing|question|again))?\b(?=\s+\w)", re.I)
_LONE = frozenset("it its that this".split())
_ONE = re.compile(r"\b(?:that|this) one\b", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"\b\d{1,3}\b(?=\s+(?:most\s+\w+|" + "|".join(one[0] for one in SUPERLATIVES if len(one) == 1) + r")\b)",
    re.IGNORECASE,
)
_SORTS = frozenset("sort sorted order ordered rank ranked arrange arranged".split())
_UP = frozenset("ascending asc lowest smallest cheapest oldest earliest shortest lightest increasing up".split())
_DOWN = frozenset(
    """descending desc highest largest biggest newest latest recent longest heaviest decreasing down expensive reverse
    most""".split()
)
_COUNTING = frozenset(
    "more less fewer than at least most over under about around exactly of them those these are there is it so really "
    "only just not no up to do we have even".split()
)
_GROUPING = frozenset(
    "and now group grouped split splits broken break down it them those these that show same then please count how "
    "many the summed sum total".split()
)


def follows(question: str, last: Plan, reader: Reader, earlier: Sequence[Plan] = ()) -> Planned | None:
    """The plan of a message that goes on with the last one; None for a new topic. `earlier`: the plans before it."""
    said = _read(question, last, reader, earlier)
    if said is None:
        return None
    for step in (_further, others, compared_again):
        planned = step(said)
        if planned is not None:
            return planned
    if _is_topic(said):
        return None
    for step in (_sorted, picked, _part_of_them, _counted, _asked_of_them):
        planned = step(said)
        if planned is not None:
            return planned
    return _of_all_sides(said, _grouped) or _of_all_sides(said, refined)


def _of_all_sides(said: Said, step: Callable[[Said], Planned | None]) -> Planned | None:
    """What goes on with a comparison of sets goes on with each side; what names another such set is a side more."""
    sides, alone = said.last.legs, step(said)
    compares = said.last.combine is Combine.COMPARE and not said.pointed and not said.is_elliptic
    if alone is None or not compares or not all(isinstance(one.wanted, (Compute, ListDocuments)) for one in sides):
        return alone
    each = [planned for one in sides if (planned := step(replace(said, leg=one))) is not None]
    legs = [one.plan.legs[0] for one in each]
    if len({one.search.clauses for one in legs}) < len(sides):
        legs = [*sides[: MOST_SIDES - 1], replace(alone.plan.legs[0], id=LegId(chr(97 + len(sides))))]
    plan = Plan(question=said.question, legs=tuple(legs), combine=Combine.COMPARE)
    kept = tuple(words for words in alone.kept if all(words in one.kept for one in each))
    return replace(alone, plan=plan, doubts=tuple(Doubt(leg=one.id) for one in legs), kept=kept)


def _read(question: str, last: Plan, reader: Reader, earlier: Sequence[Plan]) -> Said | None:
    leg = last.legs[-1]
    meant = _SAME.sub(lambda match: match["lead"] + " " * (len(match[0]) - len(match["lead"])), question)
    meant = with_superlative(in_that_year(as_count(meant), leg))
    how_many = _HOW_MANY.search(meant)  # "the 3 cheapest" compares nothing with 3
    readings = reader.readings(_HOW_MANY.sub(lambda match: " " * len(match[0]), meant))
    reading = next((one for one in readings if one.bucket in leg.search.buckets), None)
    words = tuple(_WORD.findall(meant.lower()))
    if reading is None or not words:
        return None
    return Said(
        question=question,
        words=words,
        last=last,
        earlier=earlier,
        leg=leg,
        readings=readings,
        reading=reading,
        lexicon=reader.known[reading.bucket],
        reader=reader,
        most=int(how_many[0]) if how_many else None,
    )


def _is_topic(said: Said) -> bool:
    """Whether the message names documents of its own and asks of them."""
    best, reading = said.readings[0], said.reading
    elsewhere = best.bucket != reading.bucket and not said.pointed
    if elsewhere and (best.has_noun or (best.score > reading.score + 1.0 and reading.leftovers)):
        return True
    if reading.has_noun and said.asks and not said.pointed and not said.is_elliptic:
        return True
    narrows = said.words[0] in ("only", "just")
    return reading.has_noun and not (said.opened or said.pointed or narrows)


# -- more of the list


def _further(said: Said) -> Planned | None:
    """ "More", "the next ten": what comes after the documents that were shown."""
    wanted, more = said.leg.wanted, further(said.question)
    if more is None or not isinstance(wanted, ListDocuments):
        return None
    shown = wanted.limit or SHOWN
    many = more.many or shown
    return again(said, said.leg.search, ListDocuments(order=wanted.order, limit=many, skip=wanted.skip + shown))


# -- the same documents otherwise


def _sorted(said: Said) -> Planned | None:
    """ "Sort them by total", "newest first"."""
    words = set(said.words)
    first = len(said.words) <= 4 and said.words[-1:] == ("first",) and bool(words & (_UP | _DOWN))
    if not (words & _SORTS or first) or said.reading.conditions or said.reading.has_noun:
        return None
    field = _sort_field(said)
    if field is None:
        return None
    natural = said.lexicon.schema.natural_order
    default = natural.descending if natural is not None and natural.field == field else False
    descending = True if words & _DOWN else False if words & _UP else default
    limit = said.leg.wanted.limit if isinstance(said.leg.wanted, ListDocuments) else None
    wanted = ListDocuments(order=SchemaOrder(field=field, descending=descending), limit=limit)
    return again(said, said.leg.search, wanted)


def _sort_field(said: Said) -> FieldName | None:
    sortable = {one.name for one in said.lexicon.schema.fields if one.type not in (FieldType.LIST, FieldType.ROWS)}
    mentions = [one.meaning for one in said.reading.links if isinstance(one.meaning, Mention)]
    named = [one.field for one in mentions if one.column is None and one.field in sortable]
    if named:
        return named[-1]
    wanted = wanted_of(said.reading, said.lexicon)
    if isinstance(wanted, ListDocuments) and wanted.order is not None and wanted.order.field in sortable:
        return wanted.order.field
    if isinstance(wanted, Compute) and wanted.field is not None:
        return wanted.field
    dates = [one.name for one in said.lexicon.schema.fields if one.type is FieldType.DATE]
    return dates[0] if dates and set(said.words) & OF_DAYS else None


def _counted(said: Said) -> Planned | None:
    """ "More than 50 of them?": how many there are, which tells; "how many are over $50?" is a constraint."""
    literals = [one for one in said.reader.literals(said.question) if isinstance(one, Quantity)]
    of_them = any(re.match(r"\s*(?:of\s+(?:them|those|these)\b)", said.question[one.end :], re.I) for one in literals)
    words = {word for word in said.words if not word.isdigit()}
    how_many = bool(words & {"many", "count"}) and not words - _COUNTING - {"how", "many", "count", "number", "what"}
    if not ((how_many and (of_them or not literals)) or (of_them and not words - _COUNTING)) or said.reading.has_noun:
        return None
    return again(said, said.leg.search, Compute(functions=(Function.COUNT,)))


def _part_of_them(said: Said) -> Planned | None:
    """ "What percentage of them are from Acme?": a count of those beside a count of all."""
    if not (asks_for_share(said.question) and said.of_them) or not said.says_of_its_own:
        return None
    search, kept = narrowed(said)
    return again(said, search, Compute(functions=(Function.SHARE,), whole=said.leg.search), kept=kept)


def _grouped(said: Said) -> Planned | None:
    """ "By vendor", "split by month": the same numbers by group, or how many there are of each."""
    lead = next((at for at, word in enumerate(said.words) if word in ("by", "per")), None)
    before = set(said.words[:lead]) if lead is not None else set[str]()
    if lead is None or said.reading.conditions or said.reading.has_noun or before - _GROUPING:
        return None
    text = "how many of them " + " ".join(said.words[lead:])
    reading = next(one for one in said.reader.readings(text) if one.bucket == said.reading.bucket)
    wanted = wanted_of(reading, said.lexicon)
    if not isinstance(wanted, Compute) or wanted.group is None:
        return None
    own = said.leg.wanted
    if isinstance(own, Compute) and not {Function.DISTINCT, Function.SHARE} & {*own.functions}:
        wanted = replace(own, group=wanted.group, limit=None)
    return again(said, said.leg.search, wanted)


def _asked_of_them(said: Said) -> Planned | None:
    """Something else is asked of the documents found: how many, their sum, the cheapest, one's value, what it says."""
    own = _own_wanted(said)
    if own is None:
        return None
    reading = said.reading
    free = said.is_elliptic or said.pointed or said.opened
    bare = not (said.says_of_its_own or reading.has_noun)
    if not (said.pointed or bare or (free and not reading.leftovers)):
        return None
    if isinstance(own, FindPassages):
        search = Search(clauses=said.leg.search.clauses, ranking=said.question)
        return again(said, search, own)
    search, kept = narrowed(said) if said.says_of_its_own else (said.leg.search, None)
    return again(said, search, own, kept=kept)


def _own_wanted(said: Said) -> Wanted | None:
    """The form of answer that the message itself asks for; None where it keeps the last one's."""
    reading, words = said.reading, set(said.words)
    wanted = wanted_of(reading, said.lexicon)
    asked = tuple(dict.fromkeys(one.field for one in reading.asked if one.column is None))
    lone = bool(words & _LONE) or bool(_ONE.search(said.question))
    if words & SUMMARISE or (re.search(r"\babout\s*[?.]?$", said.question) and lone):
        return Summarise()
    if lone and said.pointed and isinstance(wanted, Compute) and wanted.field is not None and not reading.conditions:
        return ReadFields(fields=((reading.bucket, wanted.field),))
    if isinstance(wanted, Compute) and (words & FUNCTION_WORDS or Function.DISTINCT in wanted.functions):
        return wanted
    if said.words[:2] == ("how", "many") and said.is_elliptic:
        return Compute(functions=(Function.COUNT,))
    if isinstance(wanted, ListDocuments) and wanted.order is not None and _is_superlative(said.words):
        return wanted if said.most is None else ListDocuments(order=wanted.order, limit=said.most)
    if said.pointed and asked and not reading.leftovers and (said.asks or lone):
        return ReadFields(fields=tuple((reading.bucket, name) for name in asked))
    if said.pointed and lone and said.asks and (reading.leftovers or reading.conditions):
        return FindPassages()
    if said.words[0] in LIST_VERBS or (said.words[0] == "which" and (said.is_elliptic or said.pointed)):
        return ListDocuments(order=order_of(said.leg.wanted))
    if said.words[0] in YES_NO and said.pointed and reading.conditions:
        return ListDocuments(order=order_of(said.leg.wanted))
    return None


def _is_superlative(words: Sequence[str]) -> bool:
    return any(tuple(words[at : at + size]) in SUPERLATIVES for at in range(len(words)) for size in (1, 2))
