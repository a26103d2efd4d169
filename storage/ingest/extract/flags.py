"""Flag fields: yes or no beside the label, else whether the text speaks of it at all."""

import re
from collections.abc import Iterator

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.clauses import Clauses
from storage.ingest.extract.labelled import labels_in, places_after
from storage.ingest.extract.page import Page
from storage.ingest.extract.targets import Target
from storage.ingest.literals import flag_in

_WORD = re.compile(r"[^\W\d_]+|✓|✗|☑|☒")
_DENIED = re.compile(r"(?<![a-z])(?:not?|non|without|never|neither|nor|un|kein\w*|sem|sin|sans)[\s-]+(?:\w+\s){0,2}$")


def flags(page: Page, target: Target, clauses: Clauses) -> Iterator[Candidate]:
    for label in labels_in(page, target.own):
        for place in places_after(page, label):
            word = _WORD.match(page.low, place.start, place.end)
            said = flag_in(word[0]) if word else None
            if said is not None and word:
                yield Candidate(value=said, confidence=0.95, start=label.start, end=word.end())
        denied = _DENIED.search(page.low, max(0, label.start - 24), label.start)
        yield Candidate(value=denied is None, confidence=0.7, start=label.start, end=label.end)
    for found in clauses.found_in(page):
        yield Candidate(value=True, confidence=found.confidence, start=found.start, end=found.end)
