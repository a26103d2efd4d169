"""Divides a period into its two days: `Term: 1 May 2031 to 30 April 2032` has a start date and an end date."""

import re
from collections.abc import Iterator
from dataclasses import replace

from storage.ingest.extract.document_text import fold_characters
from storage.ingest.extract.labels.labelled_texts import LabelledText
from storage.quantities.days import find_dates
from storage.text.noun_classes import PERIOD_NOUNS

START_LABEL, END_LABEL = "Start date", "End date"
_BETWEEN = re.compile(r"[\s,]*(?:to|until|till|through|and|bis|au|-|–|—|→)[\s,]*(?:and\s+including\s+)?", re.IGNORECASE)
_BEFORE = re.compile(r"(?:[^\d]{0,40}\b)?(?:from|between|von|du)?\s*", re.IGNORECASE)
_MAX_PERIOD_CHARACTERS = 90


def find_period_bounds(labelled: LabelledText) -> Iterator[LabelledText]:
    """Yields start and end of a value that is a period; nothing for other values.

    A label for periods ("Term", "Valid") gives a start date and an end date; any other label is kept: "Trip start".
    """
    if not any(c.isdigit() for c in labelled.text) or len(labelled.text) > _MAX_PERIOD_CHARACTERS:
        return
    days = find_dates(fold_characters(labelled.text))
    if len(days) != 2 or not _BETWEEN.fullmatch(labelled.text, days[0].end, days[1].start):
        return
    if not _BEFORE.fullmatch(labelled.text, 0, days[0].start):
        return
    is_general = not PERIOD_NOUNS.isdisjoint(labelled.key.split())
    labels = (START_LABEL, END_LABEL) if is_general else (f"{labelled.label} start", f"{labelled.label} end")
    for label, day in zip(labels, days, strict=True):
        yield replace(labelled, label=label, text=labelled.text[day.start : day.end])
