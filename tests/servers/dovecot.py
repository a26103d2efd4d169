"""A real IMAP server for the session: Debian's `dovecot-imapd`, in a scratch folder, with its own certificate."""

import getpass
import grp
import imaplib
import os
import pwd
import shutil
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.servers.missing import ServerMissing
from tests.servers.process import UNPRIVILEGED, free_port, last_log_line, run_server, scratch_folder

_START_S: Final = 30
MAIL_USER: Final = "mara@mills.example"
COLLEAGUE: Final = "ola@mills.example"  # with the same password
MAIL_PASSWORD: Final = "correct horse"
_CONFIGURATION: Final = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
default_internal_user = {user}
default_login_user = {user}
default_internal_group = {group}
first_valid_uid = 1
mail_location = maildir:{folder}/mail/%u
{access_lists}
auth_failure_delay = 0
imap_id_log = *
disable_plaintext_auth = {disables_plain}
ssl = {ssl}
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.key
passdb {{
  driver = passwd-file
  args = scheme=PLAIN username_format=%u {folder}/users
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail/%u
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
service anvil {{
  chroot =
}}
"""


_ACCESS_LISTS: Final = """
mail_plugins = acl
plugin {
  acl = vfile
  acl_anyone = allow
  acl_shared_dict = file:{folder}/shared-folders
}
namespace inbox {
  inbox = yes
  separator = /
}
namespace {
  type = shared
  separator = /
  prefix = shared/%%u/
  location = maildir:{folder}/mail/%%u
  subscriptions = no
  list = children
}
protocol imap {
  mail_plugins = acl imap_acl
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """`port` begins in plain text, and offers STARTTLS if the server has TLS. `authority` signed its certificate."""

    host: str
    port: int
    tls_port: int
    authority: Path


@contextmanager
def dovecot_server(*, has_tls: bool = True) -> Generator[MailServer]:
    """Run a mail server with two users; without TLS it has access lists of folders. Raises `ServerMissing`."""
    binary = shutil.which("dovecot") or shutil.which("dovecot", path="/usr/sbin:/usr/local/sbin")
    if binary is None:
        raise ServerMissing("dovecot", "there is no dovecot (apt-get install dovecot-imapd)", required=False)
    with scratch_folder("imap") as scratch:
        server = MailServer(
            host="localhost", port=free_port(), tls_port=free_port(), authority=scratch / "authority.pem"
        )
        _write_configuration(scratch, server, has_tls=has_tls)
        log = scratch / "server.log"
        command = [binary, "-F", "-c", str(scratch / "dovecot.conf")]
        group = None if UNPRIVILEGED is None else _group_of(UNPRIVILEGED)
        with run_server(command, folder=scratch, log=log, group=group, stop=signal.SIGTERM) as process:
            deadline = time.monotonic() + _START_S
            while not _does_answer(server.port):
                if time.monotonic() > deadline or process.poll() is not None:
                    raise ServerMissing("dovecot", f"it did not start: {last_log_line(log)}", required=True)
                time.sleep(0.1)
            yield server


def _group_of(user: str) -> str:
    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def _does_answer(port: int) -> bool:
    try:
        imaplib.IMAP4("127.0.0.1", port, timeout=5).logout()
    except (OSError, imaplib.IMAP4.error):
        return False
    return True


def _write_configuration(scratch: Path, server: MailServer, *, has_tls: bool) -> None:
    user = UNPRIVILEGED or getpass.getuser()
    group = _group_of(user)
    write_certificates(scratch)
    (scratch / "users").write_text("".join(f"{name}:{{PLAIN}}{MAIL_PASSWORD}\n" for name in (MAIL_USER, COLLEAGUE)))
    (scratch / "dovecot.conf").write_text(
        _CONFIGURATION.format(
            folder=scratch,
            user=user,
            group=group,
            port=server.port,
            tls_port=server.tls_port if has_tls else 0,
            access_lists="" if has_tls else _ACCESS_LISTS.replace("{folder}", str(scratch)),
            ssl="yes" if has_tls else "no",
            disables_plain="yes" if has_tls else "no",
        )
    )
    if os.getuid() == 0:
        for file in (scratch / "users", scratch / "dovecot.conf", *scratch.glob("*.pem"), *scratch.glob("*.key")):
            shutil.chown(file, user)


def write_certificates(scratch: Path) -> None:
    """Writes an authority, and a certificate for `localhost` that it signed."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of the tests")])
    is_authority = x509.BasicConstraints(ca=True, path_length=None)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    authority = (
        _certificate_builder(authority_name, authority_name, authority_key.public_key())
        .add_extension(is_authority, critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    server_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    certificate = (
        _certificate_builder(server_name, authority_name, key.public_key())
        .add_extension(names, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    (scratch / "authority.pem").write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    (scratch / "server.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (scratch / "server.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def _certificate_builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
    )
