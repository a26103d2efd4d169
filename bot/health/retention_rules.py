"""How long the documents of a bucket are kept, as a setting says it: `BUCKET:DATE_FIELD:DAYS`.

In the place of a field, `@loaded` means the day on which Parley loaded the content of a document.
"""

from dataclasses import dataclass
from typing import Final

MAX_DAYS: Final = 36_500
LOADED: Final = "@loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRule:
    """Documents whose date in `field` is more than `days` ago are deleted; those without a date stay."""

    bucket: str
    field: str
    days: int

    @property
    def counts_from_loading(self) -> bool:
        return self.field == LOADED

    @property
    def start_name(self) -> str:
        """What the days are counted from."""
        return "loading" if self.counts_from_loading else self.field


def parse_document_rule(text: str) -> DocumentRule:
    """Raises `ValueError` for what is not a rule."""
    bucket, _, rest = text.strip().partition(":")
    field, _, days = rest.rpartition(":")
    if not (bucket and field and days.isascii() and days.isdigit() and 1 <= int(days) <= MAX_DAYS):
        raise ValueError(f"{text!r} is not BUCKET:DATE_FIELD:DAYS or BUCKET:{LOADED}:DAYS with 1 to {MAX_DAYS:,} days")
    return DocumentRule(bucket=bucket, field=field, days=int(days))


def validate_document_rule(text: str) -> str:
    """The text, if it is a rule. Raises `ValueError`."""
    parse_document_rule(text)
    return text.strip()
