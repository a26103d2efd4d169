"""Files that come with a question: which are read, how they are fetched, and what is said of the others."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from bot.ids import BucketId, MessageId
from bot.inbound import AttachedFile, Inbound
from bot.replies import escaped

ATTACHED: Final = BucketId("attached/files")  # no bucket of people's may be called so
MOST_FILES: Final = 10  # in one conversation
MOST_BYTES: Final = 20 * 1024 * 1024  # of one file
MOST_TOGETHER: Final = 50 * 1024 * 1024  # bytes of all in one conversation
KINDS: Final = ("pdf", "docx", "pptx", "xlsx", "csv", "html", "md", "txt")

_BY_MEDIA_TYPE: Final = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
}
_OTHER_NAMES: Final = {"htm": "html", "markdown": "md", "text": "txt", "log": "txt"}
_KIND: Final = r"(?:file|document|pdf|docx|csv|xlsx|pptx|spreadsheet|sheet|table|presentation)s?"
_THIS: Final = re.compile(rf"\bth(?:is|ese) ({_KIND})\b", re.IGNORECASE)
_ATTACHED: Final = re.compile(rf"\b(?:(?:attached|uploaded) {_KIND}|attachments?)\b", re.IGNORECASE)
_NAMED: Final = 5
_NAMELESS: Final = "file"
_LONGEST: Final = 100
_READ: Final = (
    f"I read PDF, Word, PowerPoint, Excel, CSV, HTML, Markdown and text files of {MOST_BYTES // 1024**2} MB at most, "
    f"{MOST_FILES} in a conversation."
)
TOO_MANY: Final = f"there are {MOST_FILES} files in this conversation already"
TOO_MUCH: Final = f"the files of this conversation would have over {MOST_TOGETHER // 1024**2} MB together"
TOO_LARGE: Final = f"it has over {MOST_BYTES // 1024**2} MB"
NO_READER: Final = "I have no reader for files of its kind"


class FileUnread(Exception):
    """A file that was not had. `reason` is for people, and goes on after "was not read:"; `name` where it was told."""

    def __init__(self, reason: str, *, name: str = "") -> None:
        super().__init__(reason)
        self.reason, self.name = reason, name


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A file of a message that was not read, and why. The name is data, to be escaped."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A file as the product describes it now, with name and kind. `where` is the product's to read, and never kept."""

    file: AttachedFile
    where: str


class Files(Protocol):
    """Of one chat product: what people attach there. Patient with a product that is busy, within reason."""

    async def described(self, inbound: Inbound, file: AttachedFile) -> Described:
        """Raises `FileUnread` for one that is not to be had."""
        ...

    async def fetch(self, inbound: Inbound, file: Described, to: Path, *, most: int) -> None:
        """Its content, into a new file. Raises `FileUnread`, also once it turns out to have over `most` bytes, and
        `OSError`.
        """
        ...


def kind_of(name: str, media_type: str = "") -> str:
    """One of `KINDS`, by the ending of the name or else by the media type; the ending itself for one not read."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    kind = _OTHER_NAMES.get(ending, ending)
    if kind in KINDS:
        return kind
    return _BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower(), ending)


def sorted_out(files: Iterable[AttachedFile]) -> tuple[tuple[AttachedFile, ...], tuple[str, ...]]:
    """Those to read, and the names of the others: of another kind, too large, too many."""
    read, unread = list[AttachedFile](), list[str]()
    for one in files:
        is_read = len(read) < MOST_FILES and one.kind in ("", *KINDS) and (one.size or 0) <= MOST_BYTES
        if is_read:
            read.append(one)
        else:
            unread.append(one.name)
    return tuple(read), tuple(unread)


def brought_by(inbound: Inbound) -> MessageId:
    """The message that its files belong to: the first version of one that was edited."""
    return inbound.revises or inbound.message_id


def unread(names: Sequence[str]) -> str:
    """The sentence about files that are not even fetched, as Markdown."""
    return f"{_not_read(names)}: {_READ}"


def missed(files: Sequence[Missed]) -> list[str]:
    """A sentence a reason about those that were not had, or could not be read, as Markdown."""
    by_reason = dict[str, list[str]]()
    for one in files:
        by_reason.setdefault(one.reason, []).append(one.name)
    return [f"{_not_read(names)}: {escaped(reason)}." for reason, names in by_reason.items()]


def remark(name: str, said: str) -> str:
    """About one that was read, as Markdown."""
    return f"_{_name(name)}: {escaped(said)}_"


def asked_of_files(question: str, *, brought: bool) -> str | None:
    """The question in words that attached files are called by; None where it does not speak of them. `brought`: its
    message has files, so that "this document" is one of them.
    """
    if brought and _THIS.search(question):
        return _THIS.sub(r"the attached \1", question)
    return question if _ATTACHED.search(question) else None


def received(names: Sequence[str]) -> str:
    """The answer to files without a question. Raw text."""
    listed = _listed([name[:_LONGEST] for name in names])
    return f"I have read {listed}. What would you like to know about {'it' if len(names) == 1 else 'them'}?"


def _not_read(names: Sequence[str]) -> str:
    named = [_name(name) for name in names[:_NAMED]]
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return f"The attached {_listed([*named, *more])} {'was' if len(names) == 1 else 'were'} not read"


def _name(name: str) -> str:
    return f"**{escaped(name[:_LONGEST]) or _NAMELESS}**"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
