"""Changes a folder of the tests' mail server, over a connection of its own."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# (IMAPClient has no type annotations)

import imaplib
from collections.abc import Generator
from contextlib import contextmanager
from email.message import EmailMessage
from uuid import uuid4

from tests.servers.dovecot import MAIL_PASSWORD, MAIL_USER, MailServer


class MailFolder:
    """A folder with mails whose UIDs begin at 1."""

    def __init__(self, connection: imaplib.IMAP4, name: str) -> None:
        self._connection, self.name = connection, name

    def add_mail(self, subject: str, text: str = "words") -> None:
        message = EmailMessage()
        message["From"], message["Subject"] = "Ola Berg <ola@mills.example>", subject
        message.set_content(text)
        self._check(self._connection.append(self.name, "", "", message.as_bytes()))

    def mark_deleted(self, uid: int) -> None:
        self._check(self._connection.select(self.name))
        self._check(self._connection.uid("STORE", str(uid), "+FLAGS", r"(\Deleted)"))
        self._check(self._connection.unselect())

    def expunge(self, *uids: int) -> None:
        for uid in uids:
            self.mark_deleted(uid)
        self._check(self._connection.select(self.name))
        self._check(self._connection.expunge())
        self._check(self._connection.unselect())

    def allow(self, who: str, rights: str) -> None:
        """Sets the rights of somebody, or with `-` before `who` the rights that are denied; none of either if empty."""
        self._check(self._connection.setacl(self.name, f'"{who}"', f'"{rights}"'))

    def list_flags(self) -> list[bytes]:
        self._check(self._connection.select(self.name, readonly=True))
        _, lines = self._connection.fetch("1:*", "(FLAGS)")
        self._check(self._connection.unselect())
        return [line for line in lines if isinstance(line, bytes)]

    def make_again(self) -> None:
        """Deletes the folder and makes another of its name, whose UIDVALIDITY differs."""
        self._check(self._connection.delete(self.name))
        self._check(self._connection.create(self.name))

    @staticmethod
    def _check(answer: tuple[str, object]) -> None:
        assert answer[0] == "OK", answer


@contextmanager
def open_mail_folder(server: MailServer) -> Generator[MailFolder]:
    """A new folder on a server without TLS."""
    connection = imaplib.IMAP4("127.0.0.1", server.port, timeout=20)
    connection.login(MAIL_USER, MAIL_PASSWORD)
    name = f"box-{uuid4().hex[:12]}"
    connection.create(name)
    try:
        yield MailFolder(connection, name)
    finally:
        connection.delete(name)
        connection.logout()
