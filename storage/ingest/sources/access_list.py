"""Access lists of files and folders: whom a place allows and denies, and the readers that follow."""

import hashlib
import json
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from storage.ingest.sources.principals import PrincipalMapping, intersect_readers
from storage.search.ids import Subject
from storage.search.subjects import NOBODY

PrincipalNames: TypeAlias = tuple[str, ...]
"""All names that a place has for one of its persons or groups, such as an id and an account."""
_MAX_UNKNOWN: Final = 20
_CLOSED: Final = frozenset({NOBODY})
_PERSON_PREFIX: Final = "user:"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessList:
    """Who may read a file, or pass a folder.

    `denied` wins over `allowed`, whatever their order in the place. `is_for_all`: all who reach the place are allowed,
    and nobody is denied; `allowed` has the place's name for them all.
    """

    allowed: tuple[PrincipalNames, ...]
    denied: tuple[PrincipalNames, ...] = ()
    is_for_all: bool = False


def restrict_readers(
    readers: frozenset[Subject], access: AccessList, principals: PrincipalMapping
) -> frozenset[Subject]:
    """Returns who of the readers may pass the folder. An empty set restricts nothing."""
    if access.is_for_all and not access.denied:
        return readers
    return intersect_readers(readers, _readers_of(access, principals))


def readers_of_file(
    folder_readers: frozenset[Subject], access: AccessList, principals: PrincipalMapping
) -> frozenset[Subject]:
    """Returns who may read a file, of those who may pass its folders. The result is never empty."""
    return restrict_readers(folder_readers, access, principals) or _readers_of(access, principals)


def unknown_principals_of(access: AccessList, principals: PrincipalMapping) -> tuple[str, ...]:
    """Returns a name of each who is allowed and stands for nobody here; the first twenty."""
    unknown = (names[-1] for names in access.allowed if principals.readers_of(names) == _CLOSED)
    return tuple(islice(unknown, _MAX_UNKNOWN))


def digest_of_readers(readers: frozenset[Subject]) -> str:
    """Returns an empty text where access lists are not read."""
    return hashlib.sha256(json.dumps(sorted(readers)).encode()).hexdigest()[:32] if readers else ""


def _readers_of(access: AccessList, principals: PrincipalMapping) -> frozenset[Subject]:
    """Returns the subjects of the list; `NOBODY` if there are none, or if it cannot be said who is denied.

    Someone denied may be among the members of a group that is allowed. So a denial can only be expressed where all who
    are allowed and denied are known, and are persons.
    """
    allowed = principals.readers_of(name for names in access.allowed for name in names)
    if not access.denied or allowed == _CLOSED:
        return allowed
    denied = [principals.readers_of(names) for names in access.denied]
    if not all(subject.startswith(_PERSON_PREFIX) for subject in allowed.union(*denied)):
        return _CLOSED
    return allowed.difference(*denied) or _CLOSED
