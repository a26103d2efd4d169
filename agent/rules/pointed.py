"""Documents that a message points at in what was shown: by their place, all of them side by side, or all but them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.reasoner import Pick, Planned
from agent.rules.after import Said, again, order_of
from agent.rules.compare import graded_fields, telling_fields
from agent.rules.comparing import graded_words, masked
from agent.rules.intent import wanted_of
from agent.rules.language import FUNCTION_WORDS, SMALL_NUMBERS
from agent.rules.lexicon import Mention
from agent.rules.narrowed import is_known
from agent.rules.reading import Reading
from storage.search.conditions import DOC_ID, Any, Compare, Condition, Not, Op, Scalar, all_of, conjuncts
from storage.search.ids import FieldName, LegId
from storage.search.plan import (
    Combine,
    Compute,
    FindPassages,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)

_ORDINALS: tuple[str, ...] = tuple("first second third fourth fifth sixth seventh eighth ninth tenth".split())
_PLACE = re.compile(
    r"\b(?:the\s+)?(?P<word>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d{1,2}(?:st|nd|rd|th))"
    r"(?:\s+(?P<many>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten))?"
    r"(?:\s+(?:one|ones|document|result|entry|item|of\s+(?:them|those|these)))?(?=\s*(?:[?.,!:;]|'s|and\b|$)|\s+(?!\w+s\b))"
    r"|(?:\b(?:number|no\.?|nr\.?|item|result)\s*|(?<!\w)#)(?P<number>\d{1,2})\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w']+")
MOST_SIDES = 4
_ALL_OF_THEM = frozenset("them they those these both".split())
_SO_MANY = re.compile(r"\b(?:the|these|those)\s+(two|three|four|[234])\b", re.IGNORECASE)
_OTHERS = re.compile(
    r"\W*(?:(?:and|now|then|but|ok|okay|please|show|list|give|me|us|what|how|about|which|are)\s+)*"
    r"(?:(?:all\s+)?(?:the\s+)?(?:others|other\s+ones|rest|rest\s+of\s+(?:them|those|these)|remaining(?:\s+ones)?)"
    r"|(?:without|except(?:\s+for)?|excluding|exclude|all\s+but|everything\s+but|leave\s+out|remove|drop|minus|not)\s+"
    r"(?:them|those|these|that\s+one|this\s+one|it)"
    r"|(?:everything|all)\s+else)\W*",
    re.IGNORECASE,
)


# -- by their place


def picked(said: Said) -> Planned | None:
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
    reading = next(one for one in said.reader.readings(rest) if one.bucket == said.reading.bucket)
    places = tuple(dict.fromkeys(place for _, several in found for place in several))
    if masked(said.question).explicit and 1 < len(places) <= MOST_SIDES:
        return _places_compared(said, places, reading)
    return _these(said, places, _of_one(said, rest, reading))


def _these(said: Said, places: Sequence[int], wanted: Wanted) -> Planned:
    if said.last.combine is Combine.COMPARE and 0 < places[0] <= len(said.last.legs):
        leg = replace(said.last.legs[places[0] - 1], question=said.question, wanted=wanted)
        return Planned(plan=Plan(question=said.question, legs=(leg,)), follows=True)
    leg = Leg(id=LegId("a"), question=said.question, search=said.leg.search, wanted=wanted)
    pick = Pick(leg=leg.id, of=said.leg, places=tuple(places))
    return Planned(plan=Plan(question=said.question, legs=(leg,)), picks=(pick,), follows=True)


def _places(match: re.Match[str]) -> tuple[int, ...]:
    """Places from 1; from the end they are negative."""
    if match["number"]:
        return (int(match["number"]),) if int(match["number"]) else ()
    word = match["word"].lower()
    many = match["many"]
    count = 1 if many is None else int(many) if many.isdigit() else SMALL_NUMBERS[many.lower()]
    if word == "last":
        return tuple(range(-count, 0))
    place = int(word[:-2]) if word[0].isdigit() else _ORDINALS.index(word) + 1
    return (place,) if many is None else tuple(range(place, place + count)) if place == 1 else (place,)


def _of_one(said: Said, rest: str, reading: Reading) -> Wanted:
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


# -- side by side


def compared_again(said: Said) -> Planned | None:
    """ "Compare them", "which of the two is heavier?": what was shown, or the last two things asked, side by side."""
    asked = masked(said.question)
    chooses = re.search(r"\bwhich\s+of\b", said.question, re.IGNORECASE) is not None
    of_two = said.last.combine is Combine.COMPARE and (chooses or bool(graded_words(said.question)))
    many = _SO_MANY.search(said.question)
    points = many is not None or bool(set(said.words) & _ALL_OF_THEM) or len(said.words) == 1 or of_two
    compares = asked.explicit and not chooses
    if not (compares or of_two) or not points or said.reading.quoted or not all(map(is_known, said.reading.conditions)):
        return None
    reading = next(one for one in said.reader.readings(asked.text) if one.bucket == said.reading.bucket)
    sides = _sides_before(said)
    if sides:
        return _sides_again(said, sides, reading)
    if not isinstance(said.leg.wanted, (ListDocuments, Summarise)):
        return None
    limit = said.leg.wanted.limit if isinstance(said.leg.wanted, ListDocuments) else None
    number = None if many is None else int(many[1]) if many[1].isdigit() else SMALL_NUMBERS[many[1].lower()]
    number = 2 if "both" in said.words else number
    return _places_compared(said, range(1, min(number or limit or MOST_SIDES, MOST_SIDES) + 1), reading, fixed=number)


def _sides_before(said: Said) -> tuple[Leg, ...]:
    """The legs that are set side by side: those of the last plan, or its one leg and that of the plan before."""
    if len(said.last.legs) > 1:
        return said.last.legs[:MOST_SIDES]
    before = said.earlier[-1].legs[-1] if said.earlier else None
    if before is None or before.search.clauses == said.leg.search.clauses:
        return ()
    alike = isinstance(said.leg.wanted, (Compute, ReadFields)) and before.wanted == said.leg.wanted
    return (before, said.leg) if alike else ()


def _sides_again(said: Said, sides: Sequence[Leg], reading: Reading) -> Planned | None:
    """Other fields of the same sides; the same numbers where none is spoken of."""
    fields = _fields_asked(said, reading)
    computes = {type(one.wanted) for one in sides} == {Compute}
    if not fields and computes and len({one.wanted for one in sides}) > 1:
        return None  # a count beside a sum
    if fields and computes:
        return None
    names = tuple((reading.bucket, name) for name in fields)
    legs = tuple(
        replace(one, id=LegId(chr(97 + at)), wanted=ReadFields(fields=names) if fields else one.wanted)
        for at, one in enumerate(sides)
    )
    return Planned(plan=Plan(question=said.question, legs=legs, combine=Combine.COMPARE), follows=True)


def _places_compared(said: Said, places: Sequence[int], reading: Reading, fixed: int | None = 0) -> Planned:
    """`fixed` None: as many of the places as there are."""
    names = _fields_asked(said, reading) or telling_fields(said.lexicon)
    wanted = ReadFields(fields=tuple((reading.bucket, name) for name in names))
    legs = tuple(
        Leg(id=LegId(chr(97 + at)), question=f"number {place}", search=said.leg.search, wanted=wanted)
        for at, place in enumerate(places)
    )
    picks = tuple(
        Pick(leg=leg.id, of=said.leg, places=(place,), if_there=fixed is None)
        for leg, place in zip(legs, places, strict=True)
    )
    plan = Plan(question=said.question, legs=legs, combine=Combine.COMPARE)
    return Planned(plan=plan, picks=picks, follows=True)


def _fields_asked(said: Said, reading: Reading) -> tuple[FieldName, ...]:
    mentions = [link.meaning for link in reading.links if isinstance(link.meaning, Mention)]
    named = tuple(dict.fromkeys(one.field for one in mentions if one.column is None))
    return named or graded_fields(graded_words(said.question), said.lexicon)


# -- all but them


def others(said: Said) -> Planned | None:
    """ "The others", "without those": what is left of a longer list, or of what was asked about before."""
    if _OTHERS.fullmatch(said.question) is None:
        return None
    wanted = said.leg.wanted
    if isinstance(wanted, ListDocuments) and wanted.limit is not None and not wanted.skip:
        planned = again(said, said.leg.search, ListDocuments(order=wanted.order))
        leg = planned.plan.legs[0]
        pick = Pick(leg=leg.id, of=said.leg, places=tuple(range(1, wanted.limit + 1)), but=True)
        return replace(planned, picks=(pick,))
    for plan in reversed(said.earlier):
        before = plan.legs[-1]
        apart = [*_apart(said.last, before.search)]
        if len(plan.legs) > 1 or not apart or before.search.buckets != said.leg.search.buckets:
            continue
        search = _without(before.search, apart)
        form = wanted if isinstance(wanted, Compute) else ListDocuments(order=order_of(before.wanted))
        return replace(again(said, search, form), picks=())
    return None


def _without(search: Search, apart: Sequence[Sequence[Condition]]) -> Search:
    """The rest of the set; of the few documents that were asked about, where it was of a few."""
    picks = [one for side in apart for one in side if isinstance(one, Compare) and one.field == DOC_ID]
    if len(picks) == sum(map(len, apart)):
        ids = [str(each) for one in picks for each in _values(one)]
        these = Compare(field=DOC_ID, op=Op.IN, value=tuple(dict.fromkeys(ids)))
        return search.narrowed(Not(picks[0] if len(picks) == 1 else these))
    if len(apart) == 1 and picks:
        return search.narrowed(picks[0]).narrowed(Not(all_of(*(one for one in apart[0] if one not in picks))))
    sides = [all_of(*one) for one in apart]
    return search.narrowed(Not(Any(tuple(sides)) if len(sides) > 1 else sides[0]))


def _values(condition: Compare) -> tuple[Scalar, ...]:
    return condition.value if isinstance(condition.value, tuple) else (condition.value,)


def _apart(last: Plan, before: Search) -> Iterator[Sequence[Condition]]:
    """What each leg of the last plan says beyond the search before it, where both lie in one bucket."""
    shared = {one for clause in before.clauses for one in conjuncts(clause.everything)}
    for leg in last.legs:
        if len(leg.search.clauses) != 1:
            continue
        more = [one for one in conjuncts(leg.search.clauses[0].everything) if one not in shared]
        if more:
            yield more
