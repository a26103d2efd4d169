"""Requests to an interface that answers with JSON, with a token that goes to no other host."""

import base64
import io
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urljoin

from pydantic import SecretStr

from storage.ingest.sources.addresses import is_any_address, is_public_address
from storage.ingest.sources.robots import rewind_body
from storage.ingest.sources.site_client import (
    ByteSink,
    SiteClient,
    UnreachableUrl,
    WebResponse,
    open_site_client,
)
from storage.ingest.sources.urls import origin_of

_MAX_ANSWER_BYTES: Final = 50 * 1024 * 1024
_REFUSED_STATUSES: Final = frozenset({401, 403})


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderCredential:
    """A secret that is sent with each request.

    In the header `Authorization` it is a bearer token, or with a user the password of Basic authentication. In a header
    of another name it stands alone.
    """

    secret: SecretStr
    user: str | None = None
    header: str = "Authorization"

    def make_headers(self) -> dict[str, str]:
        secret = self.secret.get_secret_value()
        if self.header.lower() != "authorization":
            return {self.header: secret}
        if self.user is None:
            return {self.header: f"Bearer {secret}"}
        return {self.header: f"Basic {base64.b64encode(f'{self.user}:{secret}'.encode()).decode()}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonAnswer:
    """`url` is where the redirects led. Header names are lower case."""

    url: str
    headers: Mapping[str, str]
    value: object


class JsonClient:
    """Requests URLs of one origin: scheme, host and port. Redirects to another are refused."""

    def __init__(self, client: SiteClient, base_url: str, credential: HeaderCredential | None) -> None:
        self._client, self._origin = client, origin_of(base_url)
        self._headers = {} if credential is None else credential.make_headers()

    async def load_json(self, url: str) -> JsonAnswer:
        """Raises `UnreachableUrl`, also for what is no JSON; its `status` is None then."""
        body = io.BytesIO()
        response = await self.fetch_content(url, lambda: rewind_body(body), headers={"Accept": "application/json"})
        return JsonAnswer(url=response.url, headers=response.headers, value=parse_json(body.getvalue()))

    async def fetch_content(
        self,
        url: str,
        make_sink: Callable[[], ByteSink],
        *,
        headers: Mapping[str, str],
    ) -> WebResponse:
        """Raises `UnreachableUrl`."""
        try:
            return await self._client.fetch_url(
                url,
                make_sink,
                max_bytes=_MAX_ANSWER_BYTES,
                check_url=self._check_url,
                headers={**self._headers, **headers},
            )
        except UnreachableUrl as exc:
            if exc.status in _REFUSED_STATUSES:
                advice = "give another password or token" if self._headers else "it wants a password or token"
                raise UnreachableUrl(f"the site refuses access ({exc.status}); {advice}", status=exc.status) from exc
            raise

    def resolve_url(self, url: str, reference: str) -> str:
        """Returns the URL that an answer of `url` refers to. Raises `UnreachableUrl`."""
        try:
            return urljoin(url, reference)
        except ValueError as exc:
            raise UnreachableUrl("it names an address that cannot be read") from exc

    async def _check_url(self, url: str) -> str | None:
        return None if origin_of(url) == self._origin else "it leads to another host, which may not get the token"


@asynccontextmanager
async def open_json_client(
    base_url: str,
    credential: HeaderCredential | None,
    *,
    allow_private: bool = False,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> AsyncGenerator[JsonClient]:
    """Opens a client that connects to private addresses only if `allow_private`."""
    is_allowed = is_any_address if allow_private else is_public_address
    async with open_site_client(is_allowed_address=is_allowed, clock=clock) as client:
        yield JsonClient(client, base_url, credential)


def parse_json(data: bytes) -> object:
    """Raises `UnreachableUrl` for what is no JSON, or is nested too deeply."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise UnreachableUrl("its answer is no JSON, or is nested too deeply") from exc
