"""Whose law governs: the places that stand beside "law" where something is governed by it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.categories import Kinds, value_in
from storage.ingest.extract.page import Page
from storage.ingest.extract.targets import Target

_LAW = re.compile(r"(?<![a-z-])laws?(?![a-z])")
_OF = re.compile(
    r"[^.;()]{0,40}?(?:\([^)]{0,60}\))?[^.;()]{0,40}?\s(?:of|in)\s{1,3}(?=\S)|,?\s{1,3}(?=[Ss]tate\s+of)", re.IGNORECASE
)
_AHEAD = re.compile(r"((?:[A-Z][A-Za-z.]+\s{1,3}){1,3})(?:[Ss]tate\s+)?$")
_BEFORE, _AFTER, _NAME, _LIST = 220, 120, 60, 90
_SURE, _LATER, _BEHIND = 0.9, 0.62, 0.1  # the first such place, another one; what is said behind the law counts less
_NEXT, _APART = 60, 0.2  # characters from one law to the next of the same sentence; further ones count less
_MOST = 1_000  # laws that are looked at in one document
_CAPITAL = re.compile(r"[A-Z][A-Za-z.'’&-]*")
_NO_PLACE = frozenset(
    "state states' commonwealth province republic kingdom country district the laws law agreement without and or as "
    "contract court courts exclusive jurisdiction applicable governing choice party parties its their any such this "
    "article section territory us substantive internal conflict conflicts federal local national international".split()
)
_LEAD = frozenset("the state commonwealth province republic of people's people’s kingdom".split())


@dataclass(frozen=True, slots=True)
class _Named:
    places: Sequence[str]
    end: int


def governing(page: Page, target: Target, kinds: Kinds | None) -> Iterator[Candidate]:
    """Each place as a member. Where the schema lists places, only those."""
    near = target.concept.near if target.concept else None
    if near is None:
        return
    confidence, last = _SURE, 0
    for law in islice(_LAW.finditer(page.low), _MOST):
        before = near.search(page.low, max(0, law.start() - _BEFORE), law.start())
        if not before and not near.search(page.low, law.end(), law.end() + _AFTER):
            continue
        named = _narrowed(_named(page, law, kinds), target, is_first=not last)
        for place in named.places:
            sure = (confidence if before else confidence - _BEHIND) - _APART * (last > 0 and law.start() - last > _NEXT)
            yield Candidate(
                value=(place,), confidence=sure, start=before.start() if before else law.start(), end=named.end
            )
        if named.places:
            confidence, last = _LATER, named.end


def _narrowed(named: _Named, target: Target, *, is_first: bool) -> _Named:
    """Without a federation beside its parts: theirs is the law that is meant."""
    wide = target.concept.unless if target.concept else None
    if wide is None:
        return named
    narrow = [one for one in named.places if not wide.fullmatch(one.lower())]
    return _Named(narrow or (named.places if is_first else ()), named.end)


def _named(page: Page, law: re.Match[str], kinds: Kinds | None) -> _Named:
    """`laws of the State of New York`, else `New York law`."""
    of = _OF.match(page.text, law.end(), law.end() + _AFTER)
    if of:
        found = _listed(page, of.end(), kinds) if kinds else _written(page, of.end())
        if found.places:
            return found
    ahead = _AHEAD.search(page.text, max(0, law.start() - 40), law.start())
    if not ahead:
        return _Named((), 0)
    if kinds:
        value = value_in(page.low[ahead.start() : law.start()], kinds)
        return _Named((value,) if value else (), law.end())
    return _Named(_places(ahead[1]), law.end())


def _listed(page: Page, start: int, kinds: Kinds) -> _Named:
    """The first listed place, and those joined to it by "and" alone."""
    places, end = list[str](), start
    for match in kinds.pattern.finditer(page.low, start, min(len(page.low), start + _LIST)):
        between = page.low[end : match.start()]
        if (
            places
            and not re.fullmatch(
                r"(?:\s+of\s+\w+)?[\s,]*and(?:\s+(?:the\s+)?(?:federal\s+)?laws?\s+of|\s+of)?(?:\s+the)?(?:\s+(?:state|commonwealth|province)\s+of)?\s+",
                between,
            )
        ) or (not places and (len(between) > _NAME or re.search(r"[;]|\.\s", between))):
            break
        if page.low.startswith((" republic", " law"), match.end()):
            continue  # the Federal Republic of Germany
        if (value := value_in(match[0], kinds)) is not None:
            places.append(value)
        end = match.end()
    return _Named(places, end)


def _written(page: Page, start: int) -> _Named:
    written = page.text[start : start + _AFTER]
    places = _places(written)
    last = places[-1].split()[-1].casefold() if places else ""
    at = written.casefold().find(last)
    return _Named(places, start + at + len(last) if places and at >= 0 else start)


def _places(written: str) -> list[str]:
    """`ENGLAND AND WALES`, `New York without regard` → England, Wales; New York."""
    places: list[list[str]] = [[]]
    for word in written.split():
        bare = word.strip(".,;'\"")
        if bare.casefold() in _LEAD and not places[-1]:
            continue
        if bare.casefold() == "and" and places[-1]:
            places.append([])
        elif bare.casefold() == "of" and places[-1]:
            places[-1].append("of")
        elif _CAPITAL.fullmatch(bare) and bare.casefold() not in _NO_PLACE:
            places[-1].append(bare.title() if bare.isupper() and len(bare) > 3 else bare)
        else:
            break
        if word.endswith((",", ";", ".")):
            break
    return [" ".join(one).removesuffix(" of") for one in places if one]
