"""By what a cluster knows Parley: a user and a password, an API key, or signatures of AWS (Signature Version 4)."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any as Json
from typing import TypeAlias, assert_never, cast
from urllib.parse import urlencode

from opensearchpy import AIOHttpConnection, AWSV4SignerAsyncAuth

from storage.search.errors import IndexUnavailable

_AWS_SERVICE = "es"  # the managed clusters; the serverless ones lack what Parley asks for
_NO_CREDENTIALS = (
    "no credentials of AWS were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the"
    " machine a role"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPassword:
    user: str
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterApiKey:
    """The token that the security plugin has shown when the key was made."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsSignature:
    """Each request is signed with the credentials that AWS's own tools find: variables, a profile, a role."""

    region: str


ClusterCredentials: TypeAlias = UserPassword | ClusterApiKey | AwsSignature


def client_options_for(credentials: ClusterCredentials | None, location: str) -> dict[str, Json]:
    """Returns the options of opensearch-py's client."""
    match credentials:
        case None:
            return {}
        case UserPassword(user=user, password=password):
            return {"http_auth": (user, password)}
        case ClusterApiKey(token=token):
            return {"headers": {"authorization": f"ApiKey {token}"}}
        case AwsSignature(region=region):
            return {"connection_class": SignedConnection, "signer": AwsSigner(region, location)}
        case _:
            assert_never(credentials)


class AwsSigner:
    """Signs requests with the credentials that it has found for the first one. botocore renews those that expire."""

    def __init__(self, region: str, location: str) -> None:
        self._region, self._location = region, location
        self._signer: AWSV4SignerAsyncAuth | None = None

    def sign_request(self, method: str, url: str, body: bytes | None, headers: dict[str, str]) -> dict[str, str]:
        """Returns `headers` with those of the signature. Raises `IndexUnavailable` where there are no credentials.

        It blocks while credentials are looked for, which may take requests.
        """
        try:
            import botocore.session as aws  # pyright: ignore[reportMissingTypeStubs]
            from botocore.exceptions import BotoCoreError  # pyright: ignore[reportMissingTypeStubs]
        except ImportError as exc:
            reason = "signatures of AWS need another package: pip install 'parley[aws]'"
            raise IndexUnavailable(self._location, reason) from exc
        try:
            if self._signer is None:
                found = cast(Json, aws).get_session().get_credentials()
                if found is None:
                    raise IndexUnavailable(self._location, _NO_CREDENTIALS)
                self._signer = AWSV4SignerAsyncAuth(found, self._region, _AWS_SERVICE)
            return self._signer(method, url, body, headers)
        except BotoCoreError as exc:
            raise IndexUnavailable(self._location, f"the credentials of AWS cannot be used ({exc})") from exc


class SignedConnection(AIOHttpConnection):
    """Signs each request just before it is sent, since a signature holds for a few minutes only.

    It is signed in a thread, because credentials are found and renewed over the network.
    """

    def __init__(self, *, signer: AwsSigner, **options: Json) -> None:
        super().__init__(**options)
        self._signer = signer

    async def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Json] | None = None,
        body: bytes | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own signature
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        address = f"{self.host}{self.url_prefix}{url}" + (f"?{urlencode(params)}" if params else "")
        signed_headers = await asyncio.to_thread(self._signer.sign_request, method, address, body, dict(headers or {}))
        return await super().perform_request(method, url, params, body, timeout, ignore, signed_headers)
