"""Extracts the text of a mail (RFC 5322): its head, its body, and the attachments whose format is read.

Runs in the worker process.
"""

import email
import email.policy
from collections.abc import Iterator
from datetime import datetime
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final, cast

from storage.ingest.errors import UnparsableFile
from storage.ingest.limits import MAX_TEXT_CHARACTERS, text_too_long_error
from storage.ingest.pages.markdown import format_heading, to_single_line
from storage.ingest.worker import FrameParser, ParserFrame

_MAX_ATTACHMENTS: Final = 100  # that are read; the names of the others are listed
_MAX_DEPTH: Final = 3  # of mails attached to mails
_MAX_ADDRESSES: Final = 200  # of a field
_MAX_HEADER_CHARACTERS: Final = 2_000
_ATTACHED_MAIL: Final = "message/rfc822"
_SUFFIX_BY_TYPE: Final = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/markdown": ".md",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
}
_READ_SUFFIXES: Final = frozenset((*_SUFFIX_BY_TYPE.values(), ".htm", ".csv"))
# What the header classes of `email` raise on malformed headers, and its codecs on malformed or unknown encodings.
TRANSLATED_ERRORS: Final = (ValueError, LookupError, TypeError, AttributeError)


def read_frames(path: Path) -> Iterator[ParserFrame]:
    """Yields a frame with the title and the fields, then one with the whole text. Raises `UnparsableFile`."""
    try:
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.compat32)
        if not any(message.get(name) for name in ("From", "Date", "Subject", "Message-ID")):
            raise UnparsableFile("it is not an email: it has neither sender nor date nor subject")
        text = "\n\n".join(filter(None, _MailRenderer().render_mail(message)))
    except RecursionError as exc:
        raise UnparsableFile("its parts are nested too deeply") from exc
    except TRANSLATED_ERRORS as exc:
        raise UnparsableFile("it is not an email, or a broken one") from exc
    yield {"title": _header_of(message, "Subject"), "fields": _fields_of(message)}
    yield {"page": text}


class _MailRenderer:
    """Renders a mail as text, block by block. Counts the attachments and characters of attached mails too."""

    def __init__(self) -> None:
        self._attachment_count = self._character_count = 0

    def render_mail(self, message: "Message[str, str]", depth: int = 1) -> Iterator[str]:
        if subject := _header_of(message, "Subject"):
            yield format_heading(depth, subject)
        yield "\n".join(_head_lines_of(message))
        body, attachments = _split_parts(message)
        if body is not None:
            yield self._read_part(body)
        for part in attachments:
            yield from self._render_attachment(part, depth)

    def _render_attachment(self, part: "Message[str, str]", depth: int) -> Iterator[str]:
        name = _attachment_name_of(part)
        yield format_heading(depth + 1, f"Attachment: {name}")
        self._attachment_count += 1
        if self._attachment_count > _MAX_ATTACHMENTS:
            return
        if part.get_content_type() == _ATTACHED_MAIL:
            attached = part.get_payload()
            if depth < _MAX_DEPTH and isinstance(attached, list) and attached:
                yield from self.render_mail(cast("Message[str, str]", attached[0]), depth + 1)
            return
        yield self._read_part(part)

    def _read_part(self, part: "Message[str, str]") -> str:
        try:
            text = _text_of_part(part)
        except UnparsableFile as exc:  # the rest of the mail can be read
            text = f"(not read: {exc.reason})"
        self._character_count += len(text)
        if self._character_count > MAX_TEXT_CHARACTERS:
            raise text_too_long_error(MAX_TEXT_CHARACTERS)
        return text


def _split_parts(message: "Message[str, str]") -> tuple["Message[str, str] | None", list["Message[str, str]"]]:
    """Returns the part with the body, plain text rather than HTML, and the attachments in their order."""
    plain: Message[str, str] | None = None
    html: Message[str, str] | None = None
    attachments: list[Message[str, str]] = []
    for part in _leaf_parts_of(message):
        is_attachment = part.get_content_disposition() == "attachment" or part.get_filename() is not None
        match part.get_content_type():
            case "text/plain" if not is_attachment and plain is None:
                plain = part
            case "text/html" if not is_attachment and html is None:
                html = part
            case kind if is_attachment or kind == _ATTACHED_MAIL:
                attachments.append(part)
            case _:  # another form of the body, a signature, a picture within the text
                continue
    has_plain_text = plain is not None and bool(_payload_of(plain).strip())
    return plain if has_plain_text or html is None else html, attachments


def _leaf_parts_of(message: "Message[str, str]") -> Iterator["Message[str, str]"]:
    """Yields the parts that contain no others; an attached mail is such a part."""
    payload = message.get_payload()
    if message.get_content_type() == _ATTACHED_MAIL or not message.is_multipart() or not isinstance(payload, list):
        yield message
        return
    for part in cast("list[Message[str, str]]", payload):
        yield from _leaf_parts_of(part)


def _attachment_name_of(part: "Message[str, str]") -> str:
    name = part.get_filename() or ""
    attached = part.get_payload()
    if not name and part.get_content_type() == _ATTACHED_MAIL and isinstance(attached, list) and attached:
        name = _header_of(cast("Message[str, str]", attached[0]), "Subject")
    return to_single_line(_decode_header(name))[:200] or "without a name"


def _text_of_part(part: "Message[str, str]") -> str:
    """Returns the text of a part; empty for a format that is not read within mails. Raises `UnparsableFile`."""
    kind, data = part.get_content_type(), _payload_of(part)
    suffix = PurePosixPath(part.get_filename() or "").suffix.lower()
    if suffix not in _READ_SUFFIXES:
        suffix = _SUFFIX_BY_TYPE.get(kind, "")
    parser = _load_parser(suffix)
    if parser is None or not data.strip():
        return ""
    if kind.startswith("text/"):
        data = _decode_text(data, part.get_content_charset()).encode()
        data = (b'<meta charset="utf-8">' + data) if suffix in (".html", ".htm") else data
    with TemporaryDirectory(prefix="parley-") as folder:
        file = Path(folder) / f"part{suffix}"
        file.write_bytes(data)
        texts = [str(frame.get("page", frame.get("text", ""))) for frame in parser(file)]
    return "\n\n".join(filter(None, (text.strip() for text in texts)))


def _load_parser(suffix: str) -> FrameParser | None:
    """Returns the parser of an attachment; None for tables, pictures and unknown formats."""
    match suffix:
        case ".txt" | ".md" | ".csv":
            from storage.ingest.pages.plain_text import read_frames
        case ".html" | ".htm":
            from storage.ingest.pages.html import read_frames
        case ".pdf":
            from storage.ingest.pages.pdf import read_frames
        case ".docx":
            from storage.ingest.pages.docx import read_frames
        case ".pptx":
            from storage.ingest.pages.pptx import read_frames
        case _:
            return None
    return read_frames


def _payload_of(part: "Message[str, str]") -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _decode_text(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8")
    except (LookupError, ValueError):  # an unknown charset, or not what the mail says
        return data.decode("utf-8", "replace") if charset is None else _decode_text(data, None)


# -- the head


def _head_lines_of(message: "Message[str, str]") -> Iterator[str]:
    for name in ("From", "To", "Cc"):
        if addresses := _addresses_of(message, name):
            yield f"{name}: {', '.join(_format_address(*address) for address in addresses)}"
    if (sent := _sent_time_of(message)) is not None:
        yield f"Date: {sent:%Y-%m-%d %H:%M %z}".rstrip()


def _fields_of(message: "Message[str, str]") -> dict[str, object]:
    sender = _addresses_of(message, "From")[:1]
    recipients = [*_addresses_of(message, "To"), *_addresses_of(message, "Cc")]
    sent = _sent_time_of(message)
    names = [_attachment_name_of(part) for part in _split_parts(message)[1]]
    fields: dict[str, object] = {
        "sender": next((name or address for name, address in sender), ""),
        "recipients": list(dict.fromkeys(name or address for name, address in recipients))[:_MAX_ADDRESSES],
        "sent": "" if sent is None else sent.date().isoformat(),
        "attachments": names[:_MAX_ATTACHMENTS],
    }
    return {name: value for name, value in fields.items() if value}


def _addresses_of(message: "Message[str, str]", name: str) -> list[tuple[str, str]]:
    values = [str(value)[: _MAX_HEADER_CHARACTERS * 10] for value in message.get_all(name, [])]
    parsed = getaddresses(values[:10])
    return [
        (to_single_line(_decode_header(display))[:200], address[:320])
        for display, address in parsed[:_MAX_ADDRESSES]
        if display or address
    ]


def _format_address(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and address else name or address


def _sent_time_of(message: "Message[str, str]") -> datetime | None:
    try:
        return parsedate_to_datetime(str(message.get("Date", "")))
    except (TypeError, ValueError, OverflowError):
        return None


def _header_of(message: "Message[str, str]", name: str) -> str:
    return to_single_line(_decode_header(str(message.get(name, ""))))


def _decode_header(value: str) -> str:
    """Returns a header with its encoded words decoded (RFC 2047)."""
    value = value[:_MAX_HEADER_CHARACTERS].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        parts = decode_header(value)
    except TRANSLATED_ERRORS:
        return value
    decoded = (_decode_text(part, charset) if isinstance(part, bytes) else part for part, charset in parts)
    return "".join(decoded)
