"""Who may read an item: the principals that a place names, mapped to the subjects that Parley knows.

Every doubt closes: a principal that is not known counts as nobody, and an item that only unknown principals may read is
read by nobody.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from storage.search.ids import Subject
from storage.search.subjects import NOBODY, SUBJECT_PATTERN, email_subject_for

_EMAIL_PATTERN: Final = re.compile(r"[^\s@:<>]{1,128}@[^\s@:<>]{1,255}")
_MAX_PRINCIPALS: Final = 5_000  # of an item; the others count as unknown


class PrincipalMapping:
    """Subjects by principal, as the person who added the source has written them. Case does not matter."""

    def __init__(self, subject_by_principal: Mapping[str, Subject], *, takes_subjects: bool = False) -> None:
        """`takes_subjects`: the place writes subjects as grants name them, such as `group:staff`."""
        self._takes_subjects = takes_subjects
        self._subjects = {principal.casefold(): subject for principal, subject in subject_by_principal.items()}

    def readers_of(self, principals: Iterable[str]) -> frozenset[Subject]:
        """Returns the subjects of the known principals; `NOBODY` if none is known.

        A principal is one of the mapping, else an e-mail address, else perhaps a subject.
        """
        known: set[Subject] = set()
        for count, principal in enumerate(principals):
            subject = self._subject_of(principal.strip())
            if subject is not None and count < _MAX_PRINCIPALS:
                known.add(subject)
        return frozenset(known) or frozenset({NOBODY})

    def _subject_of(self, principal: str) -> Subject | None:
        if (mapped := self._subjects.get(principal.casefold())) is not None:
            return mapped
        if _EMAIL_PATTERN.fullmatch(principal):
            return email_subject_for(principal)
        is_subject = self._takes_subjects and SUBJECT_PATTERN.fullmatch(principal) is not None
        return Subject(principal) if is_subject else None


def intersect_readers(readers: frozenset[Subject], further: frozenset[Subject]) -> frozenset[Subject]:
    """Returns who may read what both sets of readers restrict. An empty set restricts nothing."""
    if not readers or not further:
        return readers or further
    return (readers & further) or frozenset({NOBODY})
