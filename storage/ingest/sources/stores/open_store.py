"""Opens the store of a URL: S3, Google Cloud Storage, Azure Blob Storage, SFTP, SMB or WebDAV.

The library of each scheme is an extra of the package. No file system is kept for later: its credentials would stay.
"""

import base64
import binascii
import io
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final, cast
from urllib.parse import SplitResult, unquote, urlsplit

from storage.ingest.errors import SourceUnavailable
from storage.ingest.sources.addresses import (
    address_rule_for,
    connect_to_host,
    require_allowed_host,
    socket_factory_for,
)
from storage.ingest.sources.stores.file_store import (
    FsspecStore,
    StoreProblem,
    StoreProblemKind,
    problem_of_error,
)

_TIMEOUT_S: Final = 30.0
_UNCACHED: Final = {"skip_instance_cache": True, "use_listings_cache": False}
_PACKAGES_BY_SCHEME: Final = {
    "s3": ("s3fs", "s3"),
    "gs": ("gcsfs", "gcs"),
    "abfs": ("adlfs", "azure"),
    "sftp": ("paramiko", "sftp"),
    "smb": ("smbprotocol", "smb"),
    "webdav": ("webdav4", "webdav"),
}
# Of SMB: expired, disabled, locked, restricted, and passwords that must be changed.
_REFUSED_LOGIN_STATUSES: Final = (0xC000006E, 0xC0000071, 0xC0000072, 0xC0000193, 0xC0000224, 0xC0000234)
STORE_SCHEMES: Final = tuple(_PACKAGES_BY_SCHEME)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLocation:
    """`user` is the user, the id of a key, or the account; `secret` is the password, key or token."""

    url: str
    user: str = ""
    secret: str = field(default="", repr=False)
    endpoint: str = ""  # of an S3, GCS or Azure server other than the provider's
    region: str = ""
    host_key: str = ""  # of an SFTP server, `SHA256:…`
    is_anonymous: bool = False
    allow_private: bool = False

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url)

    @property
    def scheme(self) -> str:
        return self.parts.scheme.partition("+")[0]

    @property
    def bucket_path(self) -> str:
        return f"{self.parts.netloc}/{unquote(self.parts.path).strip('/')}".strip("/")


def missing_extra_reason(scheme: str) -> str | None:
    """Returns what to install for URLs of this scheme; None if it is here."""
    package, extra = _PACKAGES_BY_SCHEME[scheme]
    if find_spec(package) is not None:
        return None
    return f"{scheme}:// needs the package {package}, which is not installed: uv pip install 'parley[{extra}]'"


@contextmanager
def open_file_store(location: StoreLocation) -> Generator[FsspecStore]:
    """Blocks. Raises `SourceUnavailable`."""
    if (reason := missing_extra_reason(location.scheme)) is not None:
        raise SourceUnavailable(reason)
    openers = {
        "s3": _open_s3,
        "gs": _open_gcs,
        "abfs": _open_azure,
        "sftp": _open_sftp,
        "smb": _open_smb,
        "webdav": _open_webdav,
    }
    with openers[location.scheme](location) as store:
        yield store


def _unavailable_error(location: StoreLocation, problem: StoreProblem) -> SourceUnavailable:
    return SourceUnavailable(f"{location.url}: {problem.reason}")


def _check_endpoint(location: StoreLocation) -> None:
    """Refuses a private address before any request; each connection checks its own address again."""
    if location.endpoint:
        parts = urlsplit(location.endpoint)
        try:
            require_allowed_host(parts.hostname or "", parts.port or 443, allow_private=location.allow_private)
        except OSError as exc:
            raise SourceUnavailable(f"{location.endpoint}: {problem_of_error(exc).reason}") from None


# -- object stores


@contextmanager
def _open_s3(location: StoreLocation) -> Generator[FsspecStore]:
    import s3fs  # pyright: ignore[reportMissingTypeStubs]
    from botocore.exceptions import BotoCoreError, NoCredentialsError  # pyright: ignore[reportMissingTypeStubs]

    from storage.ingest.sources.stores.object_access import S3AccessReader

    def translate_error(exc: Exception) -> StoreProblem | None:
        return _denied_problem() if isinstance(exc, NoCredentialsError) else None

    _check_endpoint(location)
    file_system = cast(Any, s3fs).S3FileSystem(
        anon=location.is_anonymous,
        key=location.user or None,
        secret=location.secret or None,
        endpoint_url=location.endpoint or None,
        client_kwargs={"region_name": location.region} if location.region else {},
        config_kwargs={
            "connect_timeout": _TIMEOUT_S,
            "read_timeout": _TIMEOUT_S,
            "retries": {"max_attempts": 2},
            "connector_args": _connector_arguments_for(location),
        },
        default_block_size=8 * 1024 * 1024,
        **_UNCACHED,
    )
    file_system.retries = 1  # the source waits between the tries
    yield FsspecStore(
        file_system,
        location.bucket_path,
        max_calls=4,
        library_errors=(BotoCoreError,),
        translate_error=translate_error,
        access_reader=S3AccessReader(file_system),
    )


def _connector_arguments_for(location: StoreLocation) -> dict[str, object]:
    """The provider's own servers may have private addresses in a cloud's network; nobody else has their names."""
    if not location.endpoint:
        return {}
    return {"socket_factory": socket_factory_for(address_rule_for(allow_private=location.allow_private))}


@contextmanager
def _open_gcs(location: StoreLocation) -> Generator[FsspecStore]:
    from gcsfs.core import GCSFileSystem  # pyright: ignore[reportMissingTypeStubs]
    from gcsfs.retry import HttpError, NonRetryableError  # pyright: ignore[reportMissingTypeStubs]
    from google.auth.exceptions import GoogleAuthError  # pyright: ignore[reportMissingTypeStubs]

    from storage.ingest.sources.stores.checked_google import checked_session_options
    from storage.ingest.sources.stores.object_access import GoogleAccessReader

    def translate_error(exc: Exception) -> StoreProblem | None:
        if isinstance(exc, GoogleAuthError):
            return _denied_problem()
        return _problem_of_status(getattr(exc, "code", None)) if isinstance(exc, HttpError) else None

    _check_endpoint(location)
    token: object = "anon" if location.is_anonymous else None
    if location.secret:
        token = _parse_service_account(location.secret)
    try:
        file_system = cast(Any, GCSFileSystem)(  # of gcsfs.core: the other one asks for the kind of the bucket by gRPC
            project=location.user or "-",  # only for creating buckets; without one it warns
            token=token,
            endpoint_url=location.endpoint or None,
            access="read_only",
            requests_timeout=_TIMEOUT_S,
            session_kwargs=checked_session_options(allow_private=location.allow_private) if location.endpoint else {},
            **_UNCACHED,
        )
    except (OSError, ValueError, GoogleAuthError) as exc:
        raise _unavailable_error(location, translate_error(exc) or problem_of_error(exc)) from None
    yield FsspecStore(
        file_system,
        location.bucket_path,
        max_calls=4,
        library_errors=(HttpError, NonRetryableError, GoogleAuthError),
        translate_error=translate_error,
        access_reader=GoogleAccessReader(file_system),
    )


def _parse_service_account(secret: str) -> Mapping[str, object]:
    try:
        account: object = json.loads(secret)
    except ValueError:
        account = None
    if not isinstance(account, dict):
        raise SourceUnavailable("the secret of a gs:// source is the JSON file of a service account; this is none")
    return cast("dict[str, object]", account)


@contextmanager
def _open_azure(location: StoreLocation) -> Generator[FsspecStore]:
    import adlfs  # pyright: ignore[reportMissingTypeStubs]
    from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

    from storage.ingest.sources.stores.checked_azure import CheckedContainers

    def translate_error(exc: Exception) -> StoreProblem | None:
        if isinstance(exc, ClientAuthenticationError):
            return _denied_problem()
        return _problem_of_status(exc.status_code) if isinstance(exc, HttpResponseError) else None

    _check_endpoint(location)
    try:
        if location.endpoint:
            file_system = cast(Any, CheckedContainers)(
                connection_string=_connection_string_for(location), allow_private=location.allow_private, **_UNCACHED
            )
        else:
            file_system = cast(Any, adlfs).AzureBlobFileSystem(**_azure_arguments_for(location), **_UNCACHED)
    except (OSError, ValueError, AzureError) as exc:
        raise _unavailable_error(location, translate_error(exc) or problem_of_error(exc)) from None
    yield FsspecStore(
        file_system,
        location.bucket_path,
        max_calls=4,
        library_errors=(AzureError,),
        translate_error=translate_error,
    )


def _azure_arguments_for(location: StoreLocation) -> dict[str, object]:
    secret_name = "account_key" if _is_base64(location.secret) else "sas_token"
    secret = {secret_name: location.secret} if location.secret else {}
    return {"account_name": location.user, "anon": location.is_anonymous, **secret}


def _connection_string_for(location: StoreLocation) -> str:
    secret_name = "AccountKey" if _is_base64(location.secret) else "SharedAccessSignature"
    parts = {"AccountName": location.user, "BlobEndpoint": location.endpoint}
    parts |= {secret_name: location.secret} if location.secret else {}
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _is_base64(text: str) -> bool:
    """Whether it is the key of an account; a token of a shared access signature has `=` and `&` within."""
    try:
        return bool(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False


# -- servers


@contextmanager
def _open_sftp(location: StoreLocation) -> Generator[FsspecStore]:
    import paramiko

    from storage.ingest.sources.stores.sftp_server import AccessListingServer, ModeReader

    def translate_error(exc: Exception) -> StoreProblem | None:
        match exc:
            case paramiko.AuthenticationException() | paramiko.PasswordRequiredException():
                return _denied_problem()
            case _UnknownHostKey():
                return StoreProblem(exc.reason, StoreProblemKind.FINAL)
            case paramiko.BadHostKeyException():
                return StoreProblem("the server has another host key than it had", StoreProblemKind.FINAL)
            case _:
                return None

    class PinnedHostKey(paramiko.MissingHostKeyPolicy):
        def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
            fingerprint = cast(str, cast(Any, key).fingerprint)
            if fingerprint != location.host_key:
                raise _UnknownHostKey(fingerprint, is_first=not location.host_key)

    host, port = location.parts.hostname or "", location.parts.port or 22
    try:
        connection = connect_to_host(host, port, allow_private=location.allow_private, timeout_s=_TIMEOUT_S)
        file_system = cast(Any, AccessListingServer)(
            host,
            port=port,
            sock=connection,
            username=location.user or None,
            **_sftp_secret_arguments(location.secret),
            host_key_policy=PinnedHostKey(),
            allow_agent=not location.secret,
            look_for_keys=not location.secret,
            timeout=_TIMEOUT_S,
            banner_timeout=_TIMEOUT_S,
            auth_timeout=_TIMEOUT_S,
            channel_timeout=_TIMEOUT_S,
            skip_instance_cache=True,
        )
    except (OSError, ValueError, EOFError, paramiko.SSHException, _UnknownHostKey) as exc:
        raise _unavailable_error(location, translate_error(exc) or problem_of_error(exc)) from None
    try:
        file_system.ftp.get_channel().settimeout(_TIMEOUT_S)
        root = "/" + unquote(location.parts.path).strip("/")
        yield FsspecStore(
            file_system,
            root,
            max_calls=1,  # a client of paramiko reads its answers in one thread
            library_errors=(paramiko.SSHException,),
            translate_error=translate_error,
            access_reader=ModeReader(file_system, root),
        )
    finally:
        file_system.client.close()


class _UnknownHostKey(Exception):
    def __init__(self, fingerprint: str, *, is_first: bool) -> None:
        is_not_known = "is not known" if is_first else "is another than the source's --host-key"
        self.reason = (
            f"the server's key {fingerprint} {is_not_known}; if its admin confirms it, "
            f"add the source with --host-key {fingerprint}"
        )
        super().__init__(self.reason)


def _sftp_secret_arguments(secret: str) -> dict[str, object]:
    if not secret.lstrip().startswith("-----BEGIN"):
        return {"password": secret or None}
    import paramiko

    for key_type in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        try:
            return {"pkey": key_type.from_private_key(io.StringIO(secret.strip() + "\n"))}
        except (paramiko.SSHException, ValueError):
            continue
    raise SourceUnavailable("the private key of the source cannot be read; give one without a passphrase")


@contextmanager
def _open_smb(location: StoreLocation) -> Generator[FsspecStore]:
    from smbprotocol.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
        AccessDenied,
        LogonFailure,
        SMBAuthenticationError,
        SMBException,
        SMBResponseException,
    )

    from storage.ingest.sources.stores.share_access import ShareAccessReader
    from storage.ingest.sources.stores.smb_share import CheckedShare

    def translate_error(exc: Exception) -> StoreProblem | None:
        is_refused_login = isinstance(exc, SMBResponseException) and cast(Any, exc).status in _REFUSED_LOGIN_STATUSES
        if is_refused_login or isinstance(exc, (AccessDenied, LogonFailure, SMBAuthenticationError)):
            return _denied_problem()
        return problem_of_error(OSError()) if isinstance(exc, ValueError) else None  # of a failed connection

    host, port = location.parts.hostname or "", location.parts.port or 445
    try:
        file_system = cast(Any, CheckedShare)(
            host,
            port=port,
            username=location.user or None,
            password=location.secret or None,
            allow_private=location.allow_private,
            timeout_s=int(_TIMEOUT_S),
            share_access="rwd",  # so that nobody is kept from the file while it is read
            skip_instance_cache=True,
        )
    except (OSError, ValueError, SMBException) as exc:
        raise _unavailable_error(location, translate_error(exc) or problem_of_error(exc)) from None
    root = "/" + unquote(location.parts.path).strip("/")
    try:
        yield FsspecStore(
            file_system,
            root,
            max_calls=4,
            library_errors=(SMBException,),
            translate_error=translate_error,
            access_reader=ShareAccessReader(file_system, root),
        )
    finally:
        file_system.close_connections()


@contextmanager
def _open_webdav(location: StoreLocation) -> Generator[FsspecStore]:
    import httpx
    from webdav4.client import (  # pyright: ignore[reportMissingTypeStubs]
        ClientError,
        ForbiddenOperation,
        HTTPError,
    )
    from webdav4.fsspec import WebdavFileSystem  # pyright: ignore[reportMissingTypeStubs]

    from storage.ingest.sources.stores.checked_http import CheckedHttpTransport

    def translate_error(exc: Exception) -> StoreProblem | None:
        if isinstance(exc, ForbiddenOperation):
            return _denied_problem()
        return _problem_of_status(exc.status_code) if isinstance(exc, HTTPError) else None

    parts = location.parts
    is_plain = parts.scheme == "webdav+http"
    port = parts.port or (80 if is_plain else 443)
    try:
        require_allowed_host(parts.hostname or "", port, allow_private=location.allow_private)  # before any request
    except OSError as exc:
        raise _unavailable_error(location, problem_of_error(exc)) from None
    base_url = parts._replace(scheme="http" if is_plain else "https", netloc=parts.netloc.rpartition("@")[2]).geturl()
    file_system = WebdavFileSystem(
        base_url,
        auth=(location.user, location.secret) if location.secret else None,
        retry=False,
        timeout=_TIMEOUT_S,
        follow_redirects=False,  # a redirect could lead into a private network, with the password
        transport=CheckedHttpTransport(allow_private=location.allow_private),
        trust_env=False,
        skip_instance_cache=True,
    )
    try:
        yield FsspecStore(
            file_system,
            "",
            max_calls=2,
            library_errors=(ClientError, httpx.HTTPError),
            translate_error=translate_error,
        )
    finally:
        file_system.client.http.close()


def _denied_problem() -> StoreProblem:
    return problem_of_error(PermissionError())


def _problem_of_status(status: object) -> StoreProblem | None:
    match status:
        case 401 | 403:
            return _denied_problem()
        case 404 | 410:
            return problem_of_error(FileNotFoundError())
        case 429 | 503 | 509:
            return StoreProblem("the store is too busy", StoreProblemKind.TRANSIENT)
        case int() if 300 <= status < 500:
            return StoreProblem(f"the store answers {status}", StoreProblemKind.FINAL)
        case int():
            return StoreProblem(f"the store answers {status}", StoreProblemKind.TRANSIENT)
        case _:
            return None
