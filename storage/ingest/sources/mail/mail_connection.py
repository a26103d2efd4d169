"""A connection to a mail server (IMAP, RFC 3501): encrypted unless the server is on a private network, and bounded."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (IMAPClient has no type annotations)

import contextlib
import logging
import re
import socket
import ssl
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from imapclient import IMAPClient
from imapclient.exceptions import CapabilityError, IMAPClientAbortError, IMAPClientError, LoginError
from imapclient.imap4 import IMAP4WithTimeout
from pydantic import SecretStr

from storage.ingest.sources.access_list import AccessList
from storage.ingest.sources.addresses import AddressRefused, is_any_address, is_public_address, socket_factory_for

_SOCKET_TIMEOUT_S: Final = 30.0
_MAX_COMMAND_BYTES: Final = 80 * 1024 * 1024  # of the answer to one command
TRANSLATED_ERRORS: Final = (IMAPClientError, OSError, ValueError, LookupError)
"""What a command may raise: `ssl.SSLError` is an OSError, and answers that cannot be parsed raise the others."""
_LISTED_PARTS: Final = ("UID", "RFC822.SIZE", "FLAGS")
_LIST_BATCH: Final = 500  # positions in a command; servers take lines of 8,000 bytes at least
_DELETED_FLAG: Final = b"\\Deleted"
_READ_RIGHT: Final = "r"
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAddress:
    """A folder of a mail server. `uses_tls` False: the connection begins in plain text and is then encrypted."""

    host: str
    port: int
    uses_tls: bool
    user: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedMail:
    uid: int
    size_bytes: int


class MailRefused(Exception):
    """The server, or a rule of ours, refuses what would fail again. `reason` is shown to people, without secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MailLost(Exception):
    """The connection failed, and another may work. `reason` is shown to people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MailConnection:
    """A connection with its folder open for reading. All methods block; one thread uses them at a time.

    Raises `MailRefused` and `MailLost`.
    """

    def __init__(self, client: "_BoundedClient", uid_validity: int, mail_count: int) -> None:
        self._client, self.uid_validity, self._mail_count = client, uid_validity, mail_count

    @classmethod
    def open_folder(cls, address: MailAddress, password: SecretStr, *, allow_private: bool) -> "MailConnection":
        logging.getLogger("imapclient").setLevel(logging.WARNING)  # it would log every command
        client: _BoundedClient | None = None
        try:
            with _translate_errors():
                client = _connect_client(address, allow_private=allow_private)
                _encrypt_connection(client, address, allow_private=allow_private)
                _log_in(client, address, password)
                return cls._select_folder(client, address.folder)
        except BaseException:
            if client is not None:
                client.close_socket()
            raise

    @classmethod
    def _select_folder(cls, client: "_BoundedClient", folder: str) -> "MailConnection":
        try:
            state = cast("Mapping[bytes, Any]", client.select_folder(folder, readonly=True))
        except IMAPClientAbortError:
            raise
        except IMAPClientError as exc:
            raise MailRefused(f"there is no mail folder {folder!r} that the user may read") from exc
        uid_validity, mail_count = state.get(b"UIDVALIDITY"), state.get(b"EXISTS")
        if not isinstance(uid_validity, int) or not isinstance(mail_count, int):
            raise MailRefused("the server gives its mails no lasting numbers, so changes cannot be seen")
        return cls(client, uid_validity, mail_count)

    def list_mails(self) -> Iterator[ListedMail]:
        """Yields the mails that are not marked as deleted, batch by batch.

        Mails are named by their position: while only FETCH is sent, the server must not renumber them (RFC 3501,
        section 7.4.1).
        """
        self._client.use_uid = False
        try:
            for start in range(1, self._mail_count + 1, _LIST_BATCH):
                yield from self._list_batch(range(start, min(start + _LIST_BATCH, self._mail_count + 1)))
        finally:
            self._client.use_uid = True

    def _list_batch(self, positions: range) -> list[ListedMail]:
        with _translate_errors():
            self._client.begin_command()
            fetched = cast("Mapping[int, Mapping[bytes, Any]]", self._client.fetch(positions, _LISTED_PARTS))
        mails: list[ListedMail] = []
        for parts in fetched.values():
            uid, size, flags = parts.get(b"UID"), parts.get(b"RFC822.SIZE"), parts.get(b"FLAGS", ())
            if not isinstance(uid, int) or not isinstance(size, int):
                raise MailLost("the mail server leaves out what it was asked for")
            if _DELETED_FLAG not in flags:
                mails.append(ListedMail(uid=uid, size_bytes=size))
        return mails

    def fetch_mail(self, uid: int) -> bytes | None:
        """Returns the mail, without marking it as read; None if it is no longer there."""
        with _translate_errors():
            self._client.begin_command()
            fetched = cast("Mapping[int, Mapping[bytes, Any]]", self._client.fetch([uid], ["BODY.PEEK[]"]))
        content = fetched.get(uid, {}).get(b"BODY[]")
        return content if isinstance(content, bytes) else None

    def load_access_list(self, folder: str) -> AccessList:
        """Who may read the mails of the folder (RFC 4314): all with the right `r`; a name behind `-` is denied it."""
        try:
            with _translate_connection_losses():
                self._client.begin_command()
                entries = cast("Sequence[tuple[object, object]]", self._client.getacl(folder))
        except CapabilityError as exc:
            raise MailRefused("the mail server does not tell who may read a folder (ACL, RFC 4314)") from exc
        except (ValueError, LookupError) as exc:
            raise MailRefused("the access list of the folder cannot be understood") from exc
        except IMAPClientError as exc:
            raise MailRefused(
                "the user may not see the access list of the folder; it needs the right to administer it (a)"
            ) from exc
        named = [(_text_of(name), _text_of(rights)) for name, rights in entries]
        names = [name for name, rights in named if _READ_RIGHT in rights]
        return AccessList(
            allowed=tuple((name,) for name in names if not name.startswith("-")),
            denied=tuple((name.removeprefix("-"),) for name in names if name.startswith("-")),
        )

    def close(self) -> None:
        """Closes the connection at once; a command that runs in another thread then fails."""
        self._client.close_socket()


# -- opening the connection


def _connect_client(address: MailAddress, *, allow_private: bool) -> "_BoundedClient":
    is_allowed = is_any_address if allow_private else is_public_address
    return _BoundedClient(address, is_allowed)


def _encrypt_connection(client: "_BoundedClient", address: MailAddress, *, allow_private: bool) -> None:
    """Starts TLS where the connection is in plain text; a server without it is left, unless it is a private one."""
    if address.uses_tls:
        return
    try:
        client.starttls(ssl.create_default_context())
    except CapabilityError as exc:
        if not allow_private or is_public_address(client.peer_address()):
            raise MailRefused(
                "the mail server offers no encryption, and the password would be sent in plain text; use imaps://"
            ) from exc


def _log_in(client: "_BoundedClient", address: MailAddress, password: SecretStr) -> None:
    try:
        client.login(address.user, password.get_secret_value())
    except LoginError:  # its text is the server's, which may repeat what was sent
        raise MailRefused("the mail server refuses the user or the password") from None
    except UnicodeError:
        raise MailRefused("the user or the password has characters that the mail server does not take") from None


def _text_of(token: object) -> str:
    """Returns what a word or quoted string of an answer says. Raises `MailRefused`."""
    if not isinstance(token, bytes):
        raise MailRefused("the access list of the folder cannot be understood")
    text = token.decode("utf-8", "replace")
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return _ESCAPED.sub(r"\1", text[1:-1]) if is_quoted else text


@contextlib.contextmanager
def _translate_connection_losses() -> Generator[None]:
    """Lets pass what the server refuses."""
    try:
        yield
    except (IMAPClientAbortError, OSError):
        with _translate_errors():
            raise


@contextlib.contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except AddressRefused as exc:
        raise MailRefused(str(exc.strerror)) from exc
    except ssl.SSLCertVerificationError as exc:
        raise MailRefused(f"the certificate of the mail server is not valid: {exc.verify_message}") from exc
    except TimeoutError as exc:
        raise MailLost("the mail server does not answer in time") from exc
    except socket.gaierror as exc:
        raise MailLost("there is no host of this name") from exc
    except OSError as exc:
        raise MailLost(f"the mail server cannot be reached: {exc.strerror or exc}") from exc
    except TRANSLATED_ERRORS as exc:
        raise MailLost("the mail server ended the connection, or answers what cannot be read") from exc


class _BoundedClient(IMAPClient):
    """A client whose answers are bounded, and which connects only to allowed addresses."""

    def __init__(self, address: MailAddress, is_allowed_address: Callable[[str], bool]) -> None:
        self._address, self._open_socket = address, socket_factory_for(is_allowed_address)
        super().__init__(address.host, port=address.port, ssl=address.uses_tls, timeout=_SOCKET_TIMEOUT_S)

    def _create_IMAP4(self) -> "_BoundedProtocol":  # noqa: N802 - the name that IMAPClient calls
        return _BoundedProtocol(self._address, self._open_socket)

    def begin_command(self) -> None:
        """Lets the answer to the next command have as many bytes as any."""
        cast(_BoundedProtocol, self._imap).received_bytes = 0

    def peer_address(self) -> str:
        return str(self.socket().getpeername()[0])

    def close_socket(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            self.socket().shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError, AttributeError):
            self._imap.shutdown()


class _BoundedProtocol(IMAP4WithTimeout):
    def __init__(self, address: MailAddress, open_socket: Callable[[Any], socket.socket]) -> None:
        self._address, self._open_socket, self.received_bytes = address, open_socket, 0
        super().__init__(address.host, address.port, _SOCKET_TIMEOUT_S)

    def _create_socket(self, timeout: float | None = None) -> socket.socket:
        """Connects to the first address of the host that answers, as `socket.create_connection` does."""
        failure = OSError("it has no address")
        for resolved in socket.getaddrinfo(self._address.host, self._address.port, type=socket.SOCK_STREAM):
            opened: socket.socket | None = None
            try:
                opened = self._open_socket(resolved)
                opened.settimeout(timeout or _SOCKET_TIMEOUT_S)
                opened.connect(resolved[4])
            except OSError as exc:
                failure = exc
                if opened is not None:
                    opened.close()
                continue
            return self._wrap_socket(opened)
        raise failure

    def _wrap_socket(self, opened: socket.socket) -> socket.socket:
        if not self._address.uses_tls:
            return opened
        try:
            return ssl.create_default_context().wrap_socket(opened, server_hostname=self._address.host)
        except BaseException:
            opened.close()
            raise

    def read_literal(self, size: int) -> bytes:
        self._count_bytes(size)
        return super().read(size)

    read = read_literal  # the name that imaplib calls

    def readline(self) -> bytes:
        line = super().readline()
        self._count_bytes(len(line))
        return line

    def _count_bytes(self, count: int) -> None:
        self.received_bytes += count
        if self.received_bytes > _MAX_COMMAND_BYTES:
            raise self.abort(f"an answer has more than {_MAX_COMMAND_BYTES // 1024**2} MB")
