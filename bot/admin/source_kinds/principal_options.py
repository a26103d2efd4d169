"""The option of a source that maps the principals of a place to the subjects of Parley."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from bot.access.subjects import parse_subject
from bot.admin.source_kinds.source_kind import SourceRequest
from bot.errors import InvalidSource, InvalidSubject

if TYPE_CHECKING:
    from storage.ingest.sources.principals import PrincipalMapping

READERS_OPTION: Final = "readers"  # whether readers are taken from access lists
PRINCIPALS_OPTION: Final = "principals"
_MAX_PRINCIPALS: Final = 1_000


def parse_principal_options(request: SourceRequest) -> dict[str, object]:
    """Returns the option with its `PRINCIPAL=SUBJECT` parsed; nothing if there are none. Raises `InvalidSource`."""
    texts = cast("Sequence[str]", request.options.get(PRINCIPALS_OPTION) or ())
    if len(texts) > _MAX_PRINCIPALS:
        raise InvalidSource(f"a source maps {_MAX_PRINCIPALS:,} principals at most; map groups instead of people")
    subjects = dict(map(_parse_principal, texts))
    return {PRINCIPALS_OPTION: subjects} if subjects else {}


def _parse_principal(text: str) -> tuple[str, str]:
    principal, _, subject = text.rpartition("=")
    if not principal.strip():
        raise InvalidSource(f"--principal {text!r} is no pair such as group:staff=group:employees")
    try:
        return principal.strip(), parse_subject(subject.strip())
    except InvalidSubject as exc:
        raise InvalidSource(f"--principal {text!r}: {exc}") from exc


def principal_mapping_of(options: Mapping[str, object], *, takes_subjects: bool) -> "PrincipalMapping":
    from storage.ingest.sources.principals import PrincipalMapping
    from storage.search.ids import Subject

    subjects = cast("Mapping[str, str]", options.get(PRINCIPALS_OPTION) or {})
    return PrincipalMapping(
        {principal: Subject(subject) for principal, subject in subjects.items()}, takes_subjects=takes_subjects
    )
