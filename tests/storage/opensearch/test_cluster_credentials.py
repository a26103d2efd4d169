"""How the connection says who it is: what a server gets, and that the signatures of AWS hold by AWS's own rules."""

import base64
import hashlib
import hmac
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qsl, quote

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from storage.opensearch.cluster_credentials import AwsSignature, ClusterApiKey, ClusterCredentials, UserPassword
from storage.opensearch.connection import ClusterConnection
from storage.search.errors import IndexUnavailable

KEY_ID, SECRET, SESSION, REGION = (
    "AKIDEXAMPLE",
    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "the-session",
    "eu-central-1",
)


@asynccontextmanager
async def a_guarded_server(requests: list[web.Request], status: int = 200) -> AsyncGenerator[str]:
    """Keeps the requests, with their bodies read."""

    async def handler(request: web.Request) -> web.StreamResponse:
        await request.read()
        requests.append(request)
        return web.json_response({"message": "The security token is expired"} if status != 200 else {}, status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def send_as(credentials: ClusterCredentials | None, url: str) -> None:
    connection = ClusterConnection([url], credentials=credentials)
    try:
        await connection.send_request(
            "POST", "/parley-*/_search", {"query": "ß"}, {"filter_path": "hits.*,took", "timeout": "3s"}
        )
        await connection.send_request("GET", "/")
    finally:
        await connection.close()


async def signature_of(request: web.Request, signed_headers: str) -> str:
    """The signature that AWS computes for a request that it gets (Signature Version 4)."""
    moment = request.headers["x-amz-date"]
    query = sorted(
        (quote(name, safe=""), quote(value, safe="")) for name, value in parse_qsl(request.rel_url.raw_query_string)
    )
    canonical_request = [
        request.method,
        quote(request.raw_path.partition("?")[0], safe="/~-_."),
        "&".join(f"{name}={value}" for name, value in query),
        *(f"{name}:{request.headers[name].strip()}" for name in signed_headers.split(";")),
        "",
        signed_headers,
        hashlib.sha256(await request.read()).hexdigest(),
    ]
    scope = f"{moment[:8]}/{REGION}/es/aws4_request"
    digest = hashlib.sha256("\n".join(canonical_request).encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in (moment[:8], REGION, "es", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, "\n".join(["AWS4-HMAC-SHA256", moment, scope, digest]).encode(), "sha256").hex()


async def test_a_user_an_api_key_or_nobody_is_in_the_header() -> None:
    requests = list[web.Request]()
    async with a_guarded_server(requests) as url:
        for credentials in (None, UserPassword(user="ann", password="open:sesame"), ClusterApiKey(token="os_abc")):
            await send_as(credentials, url)

    headers = [request.headers.get("authorization") for request in requests]
    password = f"Basic {base64.b64encode(b'ann:open:sesame').decode()}"
    assert headers == [None, None, password, password, "ApiKey os_abc", "ApiKey os_abc"]


def test_no_secret_is_in_a_representation() -> None:
    shown = repr([UserPassword(user="ann", password="open:sesame"), ClusterApiKey(token="os_abc")])

    assert "sesame" not in shown
    assert "os_abc" not in shown


async def test_each_request_to_aws_has_a_signature_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ACCESS_KEY_ID", KEY_ID), ("SECRET_ACCESS_KEY", SECRET), ("SESSION_TOKEN", SESSION)):
        monkeypatch.setenv(f"AWS_{name}", value)
    requests = list[web.Request]()
    async with a_guarded_server(requests) as url:
        await send_as(AwsSignature(region=REGION), url)

    assert [request.method for request in requests] == ["POST", "GET"]
    for request in requests:
        scheme, credential, signed_headers, signature = request.headers["authorization"].replace(",", "").split()
        assert scheme == "AWS4-HMAC-SHA256"
        assert credential.split("/") == [
            f"Credential={KEY_ID}",
            request.headers["x-amz-date"][:8],
            REGION,
            "es",
            "aws4_request",
        ]
        assert {"host", "x-amz-date", "x-amz-security-token"} <= set(signed_headers.partition("=")[2].split(";"))
        assert request.headers["x-amz-security-token"] == SESSION
        expected = await signature_of(request, signed_headers.partition("=")[2])
        assert signature == f"Signature={expected}"


async def test_without_credentials_of_aws_the_error_says_how_to_give_some(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("CONFIG_FILE", "SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(f"AWS_{name}", str(tmp_path / name))
    requests = list[web.Request]()
    async with a_guarded_server(requests) as url:
        with pytest.raises(IndexUnavailable, match="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"):
            await send_as(AwsSignature(region=REGION), url)

    assert requests == []


async def test_what_aws_refuses_is_reported_in_its_words() -> None:
    async with a_guarded_server([], status=403) as url:
        with pytest.raises(IndexUnavailable, match="The security token is expired"):
            await send_as(None, url)
