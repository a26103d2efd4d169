"""Mails in the real worker process: the head, the body in its forms, attachments, and broken mails."""

from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import docx
import pytest

from storage.ingest.files import SourceFile
from storage.ingest.load import load_records
from storage.ingest.records import LoadedItem, RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker

WORD_TYPE = "vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.fixture(scope="module")
def worker() -> Iterator[ParserWorker]:
    with ParserWorker() as parser_worker:
        yield parser_worker


def a_mail(text: str = "The pump leaks.", **headers: str) -> EmailMessage:
    message = EmailMessage()
    fields = {
        "From": "Mara Lind <mara@mills.example>",
        "To": "service@mills.example, Ola <ola@mills.example>",
        "Subject": "Pump 7 leaks",
        "Date": "Mon, 02 Nov 2026 09:30:00 +0100",
    } | headers
    for name, value in fields.items():
        if value:
            message[name] = value
    message.set_content(text)
    return message


def load_mail(data: bytes | EmailMessage, folder: Path, worker: ParserWorker) -> LoadedItem:
    path = folder / "m.eml"
    path.write_bytes(data if isinstance(data, bytes) else data.as_bytes())
    (item,) = load_records(SourceFile(path=path, name=path.name), worker)
    return item


def load_mail_record(data: bytes | EmailMessage, folder: Path, worker: ParserWorker) -> SourceRecord:
    item = load_mail(data, folder, worker)
    assert isinstance(item, SourceRecord), item
    return item


def rejection_reason_of(data: bytes | EmailMessage, folder: Path, worker: ParserWorker) -> str:
    item = load_mail(data, folder, worker)
    assert isinstance(item, RejectedInput), item
    return item.reason


def test_a_mail_has_its_subject_as_title_and_its_head_as_metadata(tmp_path: Path, worker: ParserWorker) -> None:
    record = load_mail_record(a_mail(), tmp_path, worker)

    assert record.title == "Pump 7 leaks"
    assert record.metadata == {
        "sender": "Mara Lind",
        "recipients": ["service@mills.example", "Ola"],
        "sent": "2026-11-02",
    }
    assert record.text == (
        "# Pump 7 leaks\n\nFrom: Mara Lind <mara@mills.example>\n"
        "To: service@mills.example, Ola <ola@mills.example>\nDate: 2026-11-02 09:30 +0100\n\nThe pump leaks."
    )


def test_plain_text_is_read_rather_than_its_copy_in_html(tmp_path: Path, worker: ParserWorker) -> None:
    message = a_mail("plain words")
    message.add_alternative("<p>words in HTML</p>", subtype="html")

    assert load_mail_record(message, tmp_path, worker).text.endswith("\n\nplain words")


def test_a_body_in_html_alone_is_read_without_its_tags(tmp_path: Path, worker: ParserWorker) -> None:
    message = a_mail()
    message.set_content("<h1>Überholung</h1><p>am <b>Montag</b></p><script>x()</script>", subtype="html")

    assert load_mail_record(message, tmp_path, worker).text.endswith("# Überholung\n\nam Montag")


def test_attachments_are_read_in_the_formats_that_are_read(tmp_path: Path, worker: ParserWorker) -> None:
    letter = docx.Document()
    letter.add_paragraph("The seal is worn.")
    letter.save(str(tmp_path / "letter.docx"))
    message = a_mail()
    message.add_attachment(
        (tmp_path / "letter.docx").read_bytes(), maintype="application", subtype=WORD_TYPE, filename="letter.docx"
    )
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="photo.png")
    message.add_attachment(b"nothing", maintype="application", subtype="pdf", filename="broken.pdf")

    record = load_mail_record(message, tmp_path, worker)

    assert "## Attachment: letter.docx\n\nThe seal is worn." in record.text
    assert "## Attachment: photo.png\n\n## Attachment: broken.pdf\n\n(not read: " in record.text
    assert record.metadata["attachments"] == ["letter.docx", "photo.png", "broken.pdf"]


def test_an_attached_mail_is_read_with_its_head(tmp_path: Path, worker: ParserWorker) -> None:
    message = a_mail("see below")
    message.add_attachment(a_mail("the first message", Subject="Earlier"))

    text = load_mail_record(message, tmp_path, worker).text

    assert "## Attachment: Earlier\n\n## Earlier\n\nFrom: Mara Lind" in text
    assert text.endswith("the first message")


def test_encoded_words_and_declared_character_sets_are_decoded(tmp_path: Path, worker: ParserWorker) -> None:
    data = (
        b"From: =?iso-8859-1?q?J=FCrg?= <j@mills.example>\r\nSubject: =?utf-8?b?UHLDvGZiZXJpY2h0?=\r\n"
        b"Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        b"gepr=FCft\r\n"
    )

    record = load_mail_record(data, tmp_path, worker)

    assert (record.title, record.metadata["sender"]) == ("Prüfbericht", "Jürg")
    assert record.text.endswith("geprüft")


def test_an_unknown_character_set_does_not_lose_the_text(tmp_path: Path, worker: ParserWorker) -> None:
    data = b"Subject: x\r\nContent-Type: text/plain; charset=klingon-1\r\n\r\nstill \xc3\xa4 here \xff\r\n"

    assert load_mail_record(data, tmp_path, worker).text.endswith("still ä here \ufffd")


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02", b"just words\n\nand more"])
def test_what_is_no_mail_is_rejected_with_a_reason(data: bytes, tmp_path: Path, worker: ParserWorker) -> None:
    assert "not an email" in rejection_reason_of(data, tmp_path, worker)


def test_parts_nested_without_end_are_rejected(tmp_path: Path, worker: ParserWorker) -> None:
    parts = b"".join(b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n' % (n, n) for n in range(5_000))

    assert "nested too deeply" in rejection_reason_of(b"Subject: x\r\n" + parts, tmp_path, worker)


@pytest.mark.parametrize(
    "head",
    [
        b"Date: Mon, 99 Foo 2026",
        b"Date: Mon, 02 Nov 99999 09:30:00 +9999",
        b"From: <<<@@>>,,;;:::",
        b"Subject: =?utf-8?q?=FF=?= =?x?y?z?=",
        b"Content-Type: multipart/mixed",
        b"Content-Type: text/plain; charset*=ab''%FF",
        b"Content-Disposition: attachment; filename*0*=x''%FF; filename*2=b",
        b"Content-Transfer-Encoding: base64",
        b"To: " + b"a@b.example," * 5_000,
    ],
)
def test_a_malformed_head_does_not_lose_the_mail(head: bytes, tmp_path: Path, worker: ParserWorker) -> None:
    data = b"Message-ID: <1@mills.example>\r\nSubject: The seal\r\n" + head + b"\r\n\r\nwords\r\n"

    assert "seal" in load_mail_record(data, tmp_path, worker).text or head.startswith(b"Subject")
