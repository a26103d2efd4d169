"""Files that come with a question: which of them are read, how they are fetched, and the notices about the others."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import join_words
from bot.ids import BucketId, MessageId
from bot.surface.inbound import AttachedFile, Inbound
from bot.surface.replies import escape_markdown
from bot.translation import translate_message, translate_plural

ATTACHMENTS_BUCKET: Final = BucketId("attached/files")  # reserved: no other bucket may have this name
MAX_FILES: Final = 10  # in one conversation
MAX_FILE_BYTES: Final = 20 * 1024 * 1024  # of one file
MAX_TOTAL_BYTES: Final = 50 * 1024 * 1024  # of all files in one conversation
FILE_KINDS: Final = ("pdf", "docx", "pptx", "xlsx", "csv", "html", "md", "txt", "eml")

_KIND_BY_MEDIA_TYPE: Final = {
    "application/pdf": "pdf",
    "message/rfc822": "eml",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
}
_EXTENSION_ALIASES: Final = {"htm": "html", "markdown": "md", "text": "txt", "log": "txt"}
_KIND_PATTERN: Final = r"(?:file|document|pdf|docx|csv|xlsx|pptx|spreadsheet|sheet|table|presentation|e-?mail|mail)s?"
_DEMONSTRATIVE_PATTERN: Final = re.compile(rf"\bth(?:is|ese) ({_KIND_PATTERN})\b", re.IGNORECASE)
_ATTACHMENT_PATTERN: Final = re.compile(rf"\b(?:(?:attached|uploaded) {_KIND_PATTERN}|attachments?)\b", re.IGNORECASE)
_MAX_NAMES_LISTED: Final = 5
_MAX_NAME_CHARS: Final = 100


class FileUnavailable(Exception):
    """A file that could not be fetched. `reason` is for people, and follows "was not read:". `name` is the file's name
    where it is known.
    """

    def __init__(self, reason: str, *, name: str = "") -> None:
        super().__init__(reason)
        self.reason, self.name = reason, name


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadFile:
    """A file of a message that was not read, and the reason. The name is data, to be escaped."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedFile:
    """A file with the name and kind that the product reports now. Only the product reads `location`; it is never
    stored.
    """

    file: AttachedFile
    location: str


class AttachmentSource(Protocol):
    """The files that people attach in one chat product. Retries within reason while the product is busy."""

    async def describe_file(self, inbound: Inbound, file: AttachedFile) -> DescribedFile:
        """Raises `FileUnavailable` for a file that cannot be fetched."""
        ...

    async def fetch_file(self, inbound: Inbound, file: DescribedFile, destination: Path, *, max_bytes: int) -> None:
        """Writes the content into a new file at `destination`. Raises `FileUnavailable`, also once the content turns
        out to be larger than `max_bytes`, and `OSError`.
        """
        ...


def reason_for_too_many_files() -> str:
    return translate_message("there are {count} files in this conversation already", count=MAX_FILES)


def reason_for_too_many_bytes() -> str:
    return translate_message(
        "the files of this conversation would have over {size} MB together", size=MAX_TOTAL_BYTES // 1024**2
    )


def reason_for_large_file() -> str:
    return translate_message("it has over {size} MB", size=MAX_FILE_BYTES // 1024**2)


def reason_for_unsupported_kind() -> str:
    return translate_message("I have no reader for files of its kind")


def reason_for_expired_link() -> str:
    return translate_message("the link to it no longer works; attach it again")


def reason_for_missing_content() -> str:
    return translate_message("its content is not where I can read it")


def reason_for_unreachable_host(product: str) -> str:
    return translate_message("{product} did not hand it over; attach it again a little later", product=product)


def file_kind_of(name: str, media_type: str = "") -> str:
    """One of `FILE_KINDS`, by the extension of the name or else by the media type; the extension itself for an
    unsupported kind.
    """
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    kind = _EXTENSION_ALIASES.get(extension, extension)
    if kind in FILE_KINDS:
        return kind
    return _KIND_BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower(), extension)


def split_readable(files: Iterable[AttachedFile]) -> tuple[tuple[AttachedFile, ...], tuple[str, ...]]:
    """The files to read, and the names of the others: files of another kind, too large, or too many."""
    readable, skipped_names = list[AttachedFile](), list[str]()
    for file in files:
        is_readable = (
            len(readable) < MAX_FILES and file.kind in ("", *FILE_KINDS) and (file.size or 0) <= MAX_FILE_BYTES
        )
        if is_readable:
            readable.append(file)
        else:
            skipped_names.append(file.name)
    return tuple(readable), tuple(skipped_names)


def origin_message_of(inbound: Inbound) -> MessageId:
    """The message that the inbound's files belong to. For an edited message that is its first version."""
    return inbound.revises or inbound.message_id


def format_unfetched_notice(names: Sequence[str]) -> str:
    """The sentence about files that are not fetched at all, as Markdown."""
    supported_files = translate_message(
        "I read PDF, Word, PowerPoint, Excel, CSV, HTML, Markdown, text and mail (.eml) files of {size} MB at most, "
        "{count} in a conversation.",
        size=MAX_FILE_BYTES // 1024**2,
        count=MAX_FILES,
    )
    return f"{_format_not_read(names)}: {supported_files}"


def format_unread_notices(files: Sequence[UnreadFile]) -> list[str]:
    """One sentence per reason about files that could not be fetched or read, as Markdown."""
    by_reason = dict[str, list[str]]()
    for file in files:
        by_reason.setdefault(file.reason, []).append(file.name)
    return [f"{_format_not_read(names)}: {escape_markdown(reason)}." for reason, names in by_reason.items()]


def format_remark(name: str, text: str) -> str:
    """A remark about a file that was read, as Markdown."""
    return f"_{_format_name(name)}: {escape_markdown(text)}_"


def rewrite_for_attachments(question: str, *, has_files: bool) -> str | None:
    """The question with "this document" as "the attached document". None where the question does not speak of attached
    files. `has_files`: its message has files, so that "this document" means one of them.
    """
    if has_files and _DEMONSTRATIVE_PATTERN.search(question):
        return _DEMONSTRATIVE_PATTERN.sub(r"the attached \1", question)
    return question if _ATTACHMENT_PATTERN.search(question) else None


def acknowledge_files(names: Sequence[str]) -> str:
    """The reply to files without a question. Raw text."""
    return translate_plural(
        "I have read {files}. What would you like to know about it?",
        "I have read {files}. What would you like to know about them?",
        len(names),
        files=join_words([name[:_MAX_NAME_CHARS] for name in names]),
    )


def _format_not_read(names: Sequence[str]) -> str:
    shown_names = [_format_name(name) for name in names[:_MAX_NAMES_LISTED]]
    if len(names) > _MAX_NAMES_LISTED:
        shown_names.append(translate_message("{count} more", count=format_number(len(names) - _MAX_NAMES_LISTED)))
    return translate_plural(
        "The attached {files} was not read",
        "The attached {files} were not read",
        len(names),
        files=join_words(shown_names),
    )


def _format_name(name: str) -> str:
    default_name = translate_message("file")
    return f"**{escape_markdown(name[:_MAX_NAME_CHARS]) or default_name}**"
