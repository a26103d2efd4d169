"""Governing law: the places beside "law" where a sentence speaks of governing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.fields.categories import CategoryWords, value_for_words

_LAW_WORD = re.compile(r"(?<![a-z-])laws?(?![a-z])")
_PLACE_LEAD_IN = re.compile(
    r"[^.;()]{0,40}?(?:\([^)]{0,60}\))?[^.;()]{0,40}?\s(?:of|in)\s{1,3}(?=\S)|,?\s{1,3}(?=[Ss]tate\s+of)", re.IGNORECASE
)
_PLACE_BEFORE_LAW = re.compile(r"((?:[A-Z][A-Za-z.]+\s{1,3}){1,3})(?:[Ss]tate\s+)?$")
_BEFORE_CHARACTERS, _AFTER_CHARACTERS, _NAME_CHARACTERS, _LIST_CHARACTERS = 220, 120, 60, 90
_FIRST_PLACE_CONFIDENCE = 0.9  # the places beside the first law
_LATER_PLACE_CONFIDENCE = 0.62  # the places beside later laws
_BEHIND_LAW_PENALTY = 0.1  # for a cue after the law
_NEXT_LAW_CHARACTERS = 60  # at most, from one law to the next of the same sentence
_DISTANT_LAW_PENALTY = 0.2  # for a later law that is further away
_MAX_LAWS = 1_000  # in one document
_CAPITALIZED_WORD = re.compile(r"[A-Z][A-Za-z.'’&-]*")
_NOT_PLACE_WORDS = frozenset(
    "state states' commonwealth province republic kingdom country district the laws law agreement without and or as "
    "contract court courts exclusive jurisdiction applicable governing choice party parties its their any such this "
    "article section territory us substantive internal conflict conflicts federal local national international".split()
)
_PLACE_CONJUNCTION = re.compile(
    r"(?:\s+of\s+\w+)?[\s,]*and(?:\s+(?:the\s+)?(?:federal\s+)?laws?\s+of|\s+of)?(?:\s+the)?"
    r"(?:\s+(?:state|commonwealth|province)\s+of)?\s+"
)
_CLAUSE_END = re.compile(r"[;]|\.\s")
_PLACE_PREFIX_WORDS = frozenset("the state commonwealth province republic of people's people’s kingdom".split())


@dataclass(frozen=True, slots=True)
class _NamedPlaces:
    places: Sequence[str]
    end: int


def governing_law_candidates(
    document: DocumentText, target: ExtractionTarget, category_words: CategoryWords | None
) -> Iterator[ValueCandidate]:
    """One candidate a place, each a list of one member. Where the schema lists places, only those."""
    cue = target.concept.sentence_pattern if target.concept else None
    if cue is None:
        return
    base_confidence, last_end = _FIRST_PLACE_CONFIDENCE, 0
    for law in islice(_LAW_WORD.finditer(document.folded), _MAX_LAWS):
        before = cue.search(document.folded, max(0, law.start() - _BEFORE_CHARACTERS), law.start())
        if not before and not cue.search(document.folded, law.end(), law.end() + _AFTER_CHARACTERS):
            continue
        named = _without_federations(_places_beside_law(document, law, category_words), target, is_first=not last_end)
        for place in named.places:
            is_distant = last_end > 0 and law.start() - last_end > _NEXT_LAW_CHARACTERS
            confidence = base_confidence if before else base_confidence - _BEHIND_LAW_PENALTY
            confidence -= _DISTANT_LAW_PENALTY * is_distant
            start = before.start() if before else law.start()
            yield ValueCandidate(value=(place,), confidence=confidence, start=start, end=named.end)
        if named.places:
            base_confidence, last_end = _LATER_PLACE_CONFIDENCE, named.end


def _without_federations(named_places: _NamedPlaces, target: ExtractionTarget, *, is_first: bool) -> _NamedPlaces:
    """Drops a federation that appears beside one of its parts: the law of the part is meant."""
    federations = target.concept.exception_pattern if target.concept else None
    if federations is None:
        return named_places
    parts = [place for place in named_places.places if not federations.fullmatch(place.lower())]
    return _NamedPlaces(parts or (named_places.places if is_first else ()), named_places.end)


def _places_beside_law(
    document: DocumentText, law: re.Match[str], category_words: CategoryWords | None
) -> _NamedPlaces:
    """The places of `laws of the State of New York`, else of `New York law`."""
    lead_in = _PLACE_LEAD_IN.match(document.text, law.end(), law.end() + _AFTER_CHARACTERS)
    if lead_in:
        named = (
            _listed_places_at(document, lead_in.end(), category_words)
            if category_words
            else _written_places_at(document, lead_in.end())
        )
        if named.places:
            return named
    before = _PLACE_BEFORE_LAW.search(document.text, max(0, law.start() - 40), law.start())
    if not before:
        return _NamedPlaces((), 0)
    if category_words:
        value = value_for_words(document.folded[before.start() : law.start()], category_words)
        return _NamedPlaces((value,) if value else (), law.end())
    return _NamedPlaces(_parse_places(before[1]), law.end())


def _listed_places_at(document: DocumentText, start: int, category_words: CategoryWords) -> _NamedPlaces:
    """The first listed place, and the places that "and" alone joins to it."""
    places, end = list[str](), start
    for match in category_words.pattern.finditer(
        document.folded, start, min(len(document.folded), start + _LIST_CHARACTERS)
    ):
        between = document.folded[end : match.start()]
        is_far = len(between) > _NAME_CHARACTERS or _CLAUSE_END.search(between) is not None
        if (places and not _PLACE_CONJUNCTION.fullmatch(between)) or (not places and is_far):
            break
        if document.folded.startswith((" republic", " law"), match.end()):
            continue  # the Federal Republic of Germany
        if (value := value_for_words(match[0], category_words)) is not None:
            places.append(value)
        end = match.end()
    return _NamedPlaces(places, end)


def _written_places_at(document: DocumentText, start: int) -> _NamedPlaces:
    written = document.text[start : start + _AFTER_CHARACTERS]
    places = _parse_places(written)
    last = places[-1].split()[-1].casefold() if places else ""
    index = written.casefold().find(last)
    return _NamedPlaces(places, start + index + len(last) if places and index >= 0 else start)


def _parse_places(text: str) -> list[str]:
    """`ENGLAND AND WALES`, `New York without regard` → England, Wales; New York."""
    places: list[list[str]] = [[]]
    for word in text.split():
        bare = word.strip(".,;'\"")
        if bare.casefold() in _PLACE_PREFIX_WORDS and not places[-1]:
            continue
        if bare.casefold() == "and" and places[-1]:
            places.append([])
        elif bare.casefold() == "of" and places[-1]:
            places[-1].append("of")
        elif _CAPITALIZED_WORD.fullmatch(bare) and bare.casefold() not in _NOT_PLACE_WORDS:
            places[-1].append(bare.title() if bare.isupper() and len(bare) > 3 else bare)
        else:
            break
        if word.endswith((",", ";", ".")):
            break
    return [" ".join(words).removesuffix(" of") for words in places if words]
