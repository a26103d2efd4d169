"""What follows on the last plan: a constraint more, other numbers of the same documents, one of them, a file.

A message follows if it is wholly constraints ("only 2024", "and from Acme?"), or points at what was found ("how many of
them", "the second one", "sort them"). What names documents of its own and asks of them is a new topic and inherits
nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.reasoner import Doubt, Pick, Planned
from agent.rules.atoms import Quantity
from agent.rules.compare import Reader
from agent.rules.intent import wanted_of
from agent.rules.language import (
    EXPORT,
    FOLLOW_UP_STARTS,
    FUNCTION_WORDS,
    LIST_VERBS,
    OF_DAYS,
    POINTERS,
    QUESTION_WORDS,
    START_OVER,
    SUMMARISE,
    SUPERLATIVES,
    YES_NO,
)
from agent.rules.lexicon import Lexicon, Mention
from agent.rules.reading import Reading
from agent.rules.sides import masked
from agent.wording import condition_words
from storage.search.conditions import TITLE, Compare, Condition, Not, Op, all_of, conjuncts, fields_of
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import (
    Clause,
    Combine,
    Compute,
    FindPassages,
    Function,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)
from storage.search.schema import FieldType, Schema, SchemaOrder

_WORD = re.compile(r"[\w']+")
_EXPORT_FILLER = frozenset(
    "as to a the in into file format please me can could you i want need give get send download save list of for "
    "export csv spreadsheet results result documents everything excel do would like".split()
)


def _phrases(written: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one.split()) for one in written.replace("\n", " ").split("|"))


_AFRESH = START_OVER + _phrases(
    """new question|another question|new search|start fresh|begin again|start from scratch|from the beginning
    |forget everything|forget all that|clear|something else|another topic|different topic|scratch that|restart"""
)
_POLITE = frozenset("please now ok okay let's lets thanks well so then just".split())
_OPENERS = FOLLOW_UP_STARTS + _phrases(
    """without|except|excluding|exclude|not|no|minus|drop|remove|leave out|include|including|add|or|make it|make that
    |same|the same|filter|keep|instead|in|from|for|with|over|under|since|before|after|between|by|then|ok|okay|those
    |these|ones|more|less|at"""
)
_AT_ALL = frozenset("them those these they their theirs ones it its same".split())  # point at what was found
_LONE = frozenset("it its that this".split())
_WIDENS = frozenset("also too include including add plus".split())
_ORDINALS: tuple[str, ...] = tuple("first second third fourth fifth sixth seventh eighth ninth tenth".split())
_NUMBERS = {one: at for at, one in enumerate("one two three four five six seven eight nine ten".split(), start=1)}
_PLACE = re.compile(
    r"\b(?:the\s+)?(?P<word>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d{1,2}(?:st|nd|rd|th))"
    r"(?:\s+(?P<many>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten))?"
    r"(?:\s+(?:one|ones|document|result|entry|item|of\s+(?:them|those|these)))?(?=\s*(?:[?.,!:;]|'s|and\b|$)|\s+(?!\w+s\b))"
    r"|(?:\b(?:number|no\.?|nr\.?|item|result)\s*|(?<!\w)#)(?P<number>\d{1,2})\b",
    re.IGNORECASE,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A message after a plan, read for the bucket that the plan is about."""

    question: str
    words: tuple[str, ...]
    last: Plan
    leg: Leg
    readings: Sequence[Reading]
    reading: Reading
    lexicon: Lexicon
    reader: Reader
    most: int | None  # documents that it asks for

    @property
    def opened(self) -> bool:
        return any(self.words[: len(start)] == start for start in _OPENERS)

    @property
    def pointed(self) -> bool:
        """Speaks of what was found. "That" and "this" do so alone, not before what they introduce."""
        ends = self.words[-1:] in (("that",), ("this",)) or self.words[:1] in (("that",), ("this",))
        return bool(set(self.words) & _AT_ALL) or ends or bool(re.search(r"\b(?:that|this) one\b", self.question, re.I))

    @property
    def asks(self) -> bool:
        return bool(self.words) and self.words[0] in QUESTION_WORDS | LIST_VERBS | YES_NO

    @property
    def says_of_its_own(self) -> bool:
        one = self.reading
        return bool(one.conditions or one.quoted or one.leftovers)


# -- what needs no dictionary


def starts_over(question: str) -> bool:
    words = [word for word in _WORD.findall(question.lower()) if word not in _POLITE]
    return tuple(words) in _AFRESH


def exports(question: str, last: Plan) -> LegId | None:
    """The leg to export when the message asks for a file and names no other set."""
    words = _WORD.findall(question.lower())
    if not set(words) & EXPORT:
        return None
    if last.question == question:
        return last.legs[-1].id
    rest = [word for word in words if word not in _EXPORT_FILLER | POINTERS and not word.isdigit()]
    return last.legs[-1].id if not rest else None


# -- what follows


def follows(question: str, last: Plan, reader: Reader) -> Planned | None:
    """The plan of a message that goes on with the last one; None for a new topic."""
    leg = last.legs[-1]
    how_many = _HOW_MANY.search(question)  # "the 3 cheapest" compares nothing with 3
    readings = reader.readings(_HOW_MANY.sub(lambda match: " " * len(match[0]), question))
    reading = next((one for one in readings if one.bucket in leg.search.buckets), None)
    if reading is None:
        return None
    said = _Said(
        question=question,
        words=tuple(_WORD.findall(question.lower())),
        last=last,
        leg=leg,
        readings=readings,
        reading=reading,
        lexicon=reader.known[reading.bucket],
        reader=reader,
        most=int(how_many[0]) if how_many else None,
    )
    if not said.words or _is_topic(said):
        return None
    for step in (_sorted, _picked, _counted, _grouped, _asked_of_them, _refined):
        planned = step(said)
        if planned is not None:
            return planned
    return None


def _is_topic(said: _Said) -> bool:
    """Whether the message names documents of its own and asks of them."""
    best, reading = said.readings[0], said.reading
    elsewhere = best.bucket != reading.bucket and not said.pointed
    if elsewhere and (best.has_noun or (best.score > reading.score + 1.0 and reading.leftovers)):
        return True
    if reading.has_noun and said.asks and not said.pointed and not _is_elliptic(said):
        return True
    narrows = said.words[0] in ("only", "just")
    return reading.has_noun and not (said.opened or said.pointed or narrows)


def _is_elliptic(said: _Said) -> bool:
    """ "Which are from 2024?", "how many were paid by card?": the subject is what was found."""
    at = 2 if said.words[:2] == ("how", "many") else 1 if said.words[:1] in (("which",), ("who",)) else 0
    verbs = {"are", "were", "have", "had", "is", "was", "of", "do", "did"}
    return bool(at) and said.words[at : at + 1] != () and said.words[at] in verbs and not said.reading.has_noun


# -- one of them


def _picked(said: _Said) -> Planned | None:
    """ "The second one", "number 3", "the first two": documents by their place in the list that was shown."""
    if not isinstance(said.leg.wanted, (ListDocuments, Summarise)) and said.last.combine is not Combine.COMPARE:
        return None
    found = [(match, _places(match)) for match in _PLACE.finditer(said.question)]
    found = [(match, places) for match, places in found if places]
    if not found or said.reading.conditions or said.reading.has_noun:
        return None
    rest = said.question
    for match, _ in found:
        rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
    asked = said.reader.readings(rest)
    reading = next(one for one in asked if one.bucket == said.reading.bucket)
    places = tuple(dict.fromkeys(place for _, several in found for place in several))
    compares = masked(said.question).explicit
    if compares and 1 < len(places) <= 4:
        return _picked_sides(said, places, reading)
    wanted = _of_one(said, rest, reading)
    source = said.leg
    if said.last.combine is Combine.COMPARE and 0 < places[0] <= len(said.last.legs):
        leg = replace(said.last.legs[places[0] - 1], question=said.question, wanted=wanted)
        return Planned(plan=Plan(question=said.question, legs=(leg,)), follows=True)
    leg = Leg(id=LegId("a"), question=said.question, search=said.leg.search, wanted=wanted)
    pick = Pick(leg=leg.id, of=source, places=places)
    return Planned(plan=Plan(question=said.question, legs=(leg,)), picks=(pick,), follows=True)


def _picked_sides(said: _Said, places: Sequence[int], reading: Reading) -> Planned:
    names = tuple(dict.fromkeys(one.field for one in reading.asked if one.column is None)) or _telling(said.lexicon)
    wanted = ReadFields(fields=tuple((reading.bucket, name) for name in names))
    legs = tuple(
        Leg(id=LegId(chr(97 + at)), question=f"number {place}", search=said.leg.search, wanted=wanted)
        for at, place in enumerate(places)
    )
    picks = tuple(Pick(leg=leg.id, of=said.leg, places=(place,)) for leg, place in zip(legs, places, strict=True))
    plan = Plan(question=said.question, legs=legs, combine=Combine.COMPARE)
    return Planned(plan=plan, picks=picks, follows=True)


def _telling(lexicon: Lexicon) -> tuple[FieldName, ...]:
    return tuple(one.name for one in lexicon.schema.fields if one.type is not FieldType.ROWS)


def _places(match: re.Match[str]) -> tuple[int, ...]:
    """Places from 1; from the end they are negative."""
    if match["number"]:
        return (int(match["number"]),) if int(match["number"]) else ()
    word = match["word"].lower()
    many = match["many"]
    count = 1 if many is None else int(many) if many.isdigit() else _NUMBERS[many.lower()]
    if word == "last":
        return tuple(range(-count, 0))
    place = int(word[:-2]) if word[0].isdigit() else _ORDINALS.index(word) + 1
    return (place,) if many is None else tuple(range(place, place + count)) if place == 1 else (place,)


def _of_one(said: _Said, rest: str, reading: Reading) -> Wanted:
    """What is asked of the document: values of fields, what its text says, or what it is about."""
    fields = tuple(dict.fromkeys(one.field for one in reading.asked if one.column is None))
    if fields:
        return ReadFields(fields=tuple((reading.bucket, name) for name in fields))
    if reading.leftovers or reading.quoted:
        return FindPassages()
    wanted = wanted_of(reading, said.lexicon)
    if isinstance(wanted, Compute) and wanted.field is not None and set(_WORD.findall(rest.lower())) & FUNCTION_WORDS:
        return ReadFields(fields=((reading.bucket, wanted.field),))
    return Summarise()


# -- the same documents otherwise


def _sorted(said: _Said) -> Planned | None:
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
    return _again(said, said.leg.search, wanted)


def _sort_field(said: _Said) -> FieldName | None:
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


def _counted(said: _Said) -> Planned | None:
    """ "More than 50 of them?": how many there are, which tells; "how many are over $50?" is a constraint."""
    literals = [one for one in said.reader.literals(said.question) if isinstance(one, Quantity)]
    of_them = any(re.match(r"\s*(?:of\s+(?:them|those|these)\b)", said.question[one.end :], re.I) for one in literals)
    words = {word for word in said.words if not word.isdigit()}
    how_many = bool(words & {"many", "count"}) and not words - _COUNTING - {"how", "many", "count", "number", "what"}
    if not ((how_many and (of_them or not literals)) or (of_them and not words - _COUNTING)) or said.reading.has_noun:
        return None
    return _again(said, said.leg.search, Compute(functions=(Function.COUNT,)))


_COUNTING = frozenset(
    "more less fewer than at least most over under about around exactly of them those these are there is it so really "
    "only just not no up to do we have even".split()
)


def _grouped(said: _Said) -> Planned | None:
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
    if isinstance(own, Compute):
        wanted = replace(own, group=wanted.group, limit=None)
    return _again(said, said.leg.search, wanted)


_GROUPING = frozenset(
    "and now group grouped split splits broken break down it them those these that show same then please count how "
    "many the summed sum total".split()
)


def _asked_of_them(said: _Said) -> Planned | None:
    """Something else is asked of the documents found: how many, their sum, the cheapest, one's value, what it says."""
    own = _own_wanted(said)
    if own is None:
        return None
    reading = said.reading
    free = _is_elliptic(said) or said.pointed or said.opened
    bare = not (said.says_of_its_own or reading.has_noun)
    if not (said.pointed or bare or (free and not reading.leftovers)):
        return None
    if isinstance(own, FindPassages):
        search = Search(clauses=said.leg.search.clauses, ranking=said.question)
        return _again(said, search, own)
    search, kept = _narrowed(said) if said.says_of_its_own else (said.leg.search, None)
    return _again(said, search, own, kept=kept)


def _own_wanted(said: _Said) -> Wanted | None:
    """The form of answer that the message itself asks for; None where it keeps the last one's."""
    reading, words = said.reading, set(said.words)
    wanted = wanted_of(reading, said.lexicon)
    asked = tuple(dict.fromkeys(one.field for one in reading.asked if one.column is None))
    lone = bool(words & _LONE) or bool(re.search(r"\b(?:that|this) one\b", said.question, re.I))
    if words & SUMMARISE or (re.search(r"\babout\s*[?.]?$", said.question) and lone):
        return Summarise()
    if lone and said.pointed and isinstance(wanted, Compute) and wanted.field is not None and not reading.conditions:
        return ReadFields(fields=((reading.bucket, wanted.field),))
    if isinstance(wanted, Compute) and words & FUNCTION_WORDS:
        return wanted
    if isinstance(wanted, ListDocuments) and wanted.order is not None and _is_superlative(said.words):
        return wanted if said.most is None else ListDocuments(order=wanted.order, limit=said.most)
    if said.pointed and asked and not reading.leftovers and (said.asks or lone):
        return ReadFields(fields=tuple((reading.bucket, name) for name in asked))
    if said.pointed and lone and said.asks and (reading.leftovers or reading.conditions):
        return FindPassages()
    if said.words[0] in LIST_VERBS or (said.words[0] == "which" and (_is_elliptic(said) or said.pointed)):
        return ListDocuments(order=_order_of(said.leg.wanted))
    if said.words[0] in YES_NO and said.pointed and reading.conditions:
        return ListDocuments(order=_order_of(said.leg.wanted))
    return None


def _is_superlative(words: Sequence[str]) -> bool:
    return any(tuple(words[at : at + size]) in SUPERLATIVES for at in range(len(words)) for size in (1, 2))


def _order_of(wanted: Wanted) -> SchemaOrder | None:
    return wanted.order if isinstance(wanted, ListDocuments) else None


# -- a constraint more


def _refined(said: _Said) -> Planned | None:
    """A message that is wholly constraints. One on a field that the plan compares takes its place; "also" widens it."""
    current = [one for one in said.readings if one.bucket in said.leg.search.buckets]
    narrows = said.words[0] in ("only", "just", "without", "with", "mentioning", "and", "about")
    says = any(one.conditions or one.quoted or (narrows and one.leftovers) for one in current)
    names = _is_one(said.leg) and said.opened and bool(said.reading.leftovers)
    if not says and not names:
        return None
    if said.asks and not (said.pointed or said.opened):
        return None
    if any(one.leftovers for one in current) and not (said.opened or said.pointed):
        return None
    search, kept = _narrowed(said)
    return _again(said, search, said.leg.wanted, kept=kept)


def _is_one(leg: Leg) -> bool:
    """Asks about one document, named by its title or otherwise."""
    return isinstance(leg.wanted, ReadFields)


def _narrowed(said: _Said) -> tuple[Search, tuple[str, ...]]:
    """The last search with what the message says; and what was kept of it, in words."""
    by_bucket = {one.bucket: one for one in said.readings}
    clauses = tuple(_with(clause, by_bucket.get(clause.bucket), said) for clause in said.leg.search.clauses)
    schemas = {clause.bucket: said.reader.known[clause.bucket].schema for clause in clauses}
    kept = _kept(said.leg.search.clauses, clauses, schemas)
    return Search(clauses=clauses, ranking=f"{said.leg.search.ranking} {said.question}".strip()), kept


def _with(clause: Clause, reading: Reading | None, said: _Said) -> Clause:
    if reading is None:
        return clause
    widens = bool(set(said.words) & _WIDENS)
    replaced = frozenset[object]().union(*(fields_of(one) for one in reading.conditions if not isinstance(one, Not)))
    old = conjuncts(clause.condition)
    if _is_one(said.leg) and (reading.leftovers or reading.conditions):
        titles = [Compare(field=TITLE, op=Op.CONTAINS, value=one, words=one) for one in reading.leftovers]
        kept = [one for one in old if not fields_of(one) & (replaced | {TITLE})]
        return Clause(bucket=clause.bucket, condition=all_of(*kept, *reading.conditions, *titles))
    conditions: list[Condition] = []
    for one in reading.conditions:
        before = next((other for other in old if fields_of(other) == fields_of(one)), None)
        conditions.append(_either(before, one) if widens and before is not None else one)
    kept = [one for one in old if isinstance(one, Not) or not fields_of(one) & replaced]
    contradicted = {one.condition for one in reading.conditions if isinstance(one, Not)}
    kept = [one for one in kept if one not in contradicted]
    required = (*clause.required, *reading.leftovers, *reading.quoted)
    return Clause(bucket=clause.bucket, condition=all_of(*kept, *conditions), required=required)


def _either(before: Condition, more: Condition) -> Condition:
    """ "Also from Acme": one of the values, old or new."""
    both = [one for one in (before, more) if isinstance(one, Compare) and one.op in (Op.EQ, Op.IN)]
    if len(both) < 2:
        return more
    values = [value for one in both for value in (one.value if isinstance(one.value, tuple) else (one.value,))]
    words = ", ".join(one.words for one in both if one.words)
    return Compare(field=both[0].field, op=Op.IN, value=tuple(dict.fromkeys(values)), words=words)


def _kept(old: Sequence[Clause], new: Sequence[Clause], schemas: Mapping[BucketId, Schema]) -> tuple[str, ...]:
    kept = [
        condition_words(one, schemas[before.bucket])
        for before, after in zip(old, new, strict=True)
        for one in conjuncts(before.condition)
        if one in conjuncts(after.condition)
    ]
    kept += [f"mentions “{word}”" for before, after in zip(old, new, strict=True) for word in before.required
             if word in after.required]  # fmt: skip
    return tuple(dict.fromkeys(kept))


def _again(said: _Said, search: Search, wanted: Wanted, kept: tuple[str, ...] | None = None) -> Planned:
    """The last leg with another search or another form of answer. Other legs are left behind."""
    if len(search.clauses) > 1 and _speaks_of_field(wanted):
        search = search.with_clauses(*(one for one in search.clauses if one.bucket == said.reading.bucket))
    before = [one for one in said.leg.search.clauses if one.bucket in search.buckets]
    schemas = {clause.bucket: said.reader.known[clause.bucket].schema for clause in search.clauses}
    reads = isinstance(wanted, (FindPassages, ReadFields)) and wanted == said.leg.wanted and kept is not None
    question = said.leg.question if reads else said.question  # its words still say what is sought in the text
    leg = Leg(id=said.leg.id, question=question, search=search, wanted=wanted, probes=said.leg.probes)
    return Planned(
        plan=Plan(question=said.question, legs=(leg,)),
        doubts=(Doubt(leg=leg.id),),
        kept=kept if kept is not None else _kept(before, search.clauses, schemas),
        picks=_of_a_few(said, leg),
        follows=True,
    )


def _speaks_of_field(wanted: Wanted) -> bool:
    """What only one bucket can answer."""
    if isinstance(wanted, Compute):
        return wanted.field is not None or wanted.group is not None
    return isinstance(wanted, ListDocuments) and wanted.order is not None


def _of_a_few(said: _Said, leg: Leg) -> tuple[Pick, ...]:
    """ "Their sum", after "the five cheapest": of those five alone."""
    before = said.leg.wanted
    limit = before.limit if isinstance(before, ListDocuments) else None
    if limit is None or leg.search.clauses != said.leg.search.clauses or isinstance(leg.wanted, ListDocuments):
        return ()
    return (Pick(leg=leg.id, of=said.leg, places=tuple(range(1, limit + 1))),)
