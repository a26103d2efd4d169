"""Whose law governs: the places that phrases name."""

import re
from collections.abc import Iterator

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.page import Page
from storage.ingest.extract.targets import Target

_CAPITAL = re.compile(r"[A-Z][A-Za-z.'’&-]*")
_LAW = re.compile(r"(?<![a-z-])laws?(?![a-z])")
_OF = re.compile(
    r"(?:[^.;()]{0,60}?\([^)]{0,60}\))?(?:\s+(?:and\s+decisions|and\s+regulations|in\s+force|in\s+effect|applicable))?,?\s+(?:of|in)\s+(?=\S)",
    re.IGNORECASE,
)
_ADJECTIVE = re.compile(r"((?:[A-Z][A-Za-z.]+\s+){1,3})(?:[Ss]tate\s+)?$")
_BEFORE, _AFTER = 220, 120
_NO_PLACE = frozenset(
    "state states' commonwealth province republic kingdom country district the laws law agreement without and or as "
    "contract court courts exclusive jurisdiction applicable party parties its their any such this article section "
    "territory us".split()
)
_LEAD = frozenset("the state commonwealth province republic of people's people’s kingdom".split())


def governing(page: Page, target: Target) -> Iterator[Candidate]:
    """Each place as a member; the first "laws of" that is said to govern decides."""
    near = target.concept.near if target.concept else None
    if near is None:
        return
    for law in _LAW.finditer(page.low):
        before = near.search(page.low, max(0, law.start() - _BEFORE), law.start())
        after = None if before else near.search(page.low, law.end(), law.end() + _AFTER)
        places, end = _places_after(page, law) if before or after else ([], 0)
        for place in places:
            start = before.start() if before else law.start()
            yield Candidate(value=(place,), confidence=0.88 if before else 0.7, start=start, end=end)
        if places:
            return


def _places_after(page: Page, law: re.Match[str]) -> tuple[list[str], int]:
    """`laws of the State of New York`; `New York law`."""
    of = _OF.match(page.text, law.end(), law.end() + _AFTER)
    if of:
        written = page.text[of.end() : of.end() + _AFTER]
        if places := _places(written):
            return places, of.end() + _reach(written, places[-1])
    ahead = _ADJECTIVE.search(page.text, max(0, law.start() - 40), law.start())
    if ahead and (places := _places(ahead[1])):
        return places, law.end()
    return [], 0


def _reach(written: str, place: str) -> int:
    last = place.split()[-1].casefold()
    at = written.casefold().find(last)
    return at + len(last) if at >= 0 else 0


def _places(written: str) -> list[str]:
    """`ENGLAND AND WALES`, `New York without regard` → England, Wales; New York."""
    words = written.replace("\n", " ").split()
    places: list[list[str]] = [[]]
    for word in words:
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
