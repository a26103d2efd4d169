"""Flag fields: yes or no beside the label, else whether the text speaks of it at all."""

import re
from collections.abc import Iterator

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.clauses import Clauses
from storage.ingest.extract.labelled import labels_of
from storage.ingest.extract.page import Page
from storage.ingest.extract.targets import Target
from storage.ingest.literals import flag_in

_WORD = re.compile(r"[\s:=|.?*-]*(?P<word>[^\W\d_]+|✓)(?![^\W_])")
_SHORT = 5_000  # characters of a text in which a mention tells something of the whole
_MENTIONED, _MENTIONED_IN_MUCH = 0.7, 0.4
_REACH = 40  # characters behind the label
_DENIED = re.compile(r"(?<![a-z])(?:not?|non|without|never|neither|nor|un|kein\w*|sem|sin|sans)[\s-]+(?:\w+\s){0,2}$")


def flags(page: Page, target: Target, clauses: Clauses) -> Iterator[Candidate]:
    for label in labels_of(page, target, target.own):
        word = _WORD.match(page.low, label.end, label.end + _REACH)
        cell = page.below(label.start)
        below = _WORD.match(page.low, cell.start, cell.end) if cell else None
        for answer in filter(None, (word, below)):
            said = flag_in(answer["word"])
            if said is not None:
                start, end = min(label.start, answer.start()), max(label.end, answer.end())
                yield Candidate(value=said, confidence=0.95, start=start, end=end)
        denied = _DENIED.search(page.low, max(0, label.start - 24), label.start)
        sure = _MENTIONED if len(page.text) <= _SHORT else _MENTIONED_IN_MUCH
        yield Candidate(value=denied is None, confidence=sure, start=label.start, end=label.end)
    for found in clauses.found_in(page):
        yield Candidate(value=True, confidence=found.confidence, start=found.start, end=found.end)
