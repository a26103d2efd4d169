"""Tokens are given to the registered app alone, and deliveries are signed with published keys."""

import json

import aiohttp
import jwt
import pytest

from tests.stand_ins.teams.conftest import ConnectorClient, TeamsRecordingApp
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.signing import ISSUER
from tests.stand_ins.teams.tenancy import TenantPerson
from tests.stand_ins.teams.tokens import SHARED_TENANT


@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        ({"client_secret": "other"}, 401, "invalid_client"),
        ({"client_id": "other"}, 400, "unauthorized_client"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"scope": "https://graph.microsoft.com/.default"}, 400, "invalid_scope"),
    ],
)
async def test_a_wrong_request_for_a_token_is_refused(
    teams: TeamsServer, client: ConnectorClient, changes: dict[str, str], status: int, error: str
) -> None:
    refusal = await client.fetch_token(**changes)

    assert (refusal.status, refusal.body["error"]) == (status, error)
    assert teams.tokens.requests == 1


@pytest.mark.parametrize("kind", ["SingleTenant", "MultiTenant"])
async def test_each_kind_of_app_has_its_own_token_endpoint(
    teams: TeamsServer, client: ConnectorClient, kind: str
) -> None:
    teams.registration.kind = kind
    granted = await client.fetch_token()
    teams.registration.kind = "MultiTenant" if kind == "SingleTenant" else "SingleTenant"
    other = teams.token_url
    teams.registration.kind = kind

    async with client.http.post(other, data={"client_id": teams.registration.app_id}) as response:
        assert (response.status, (await response.json())["error"]) == (400, "unauthorized_client")
    assert granted.status == 200
    assert (SHARED_TENANT in other) == (kind == "SingleTenant")


async def test_a_managed_identity_gets_its_token_with_a_header(teams: TeamsServer, client: ConnectorClient) -> None:
    teams.registration.kind = "UserAssignedMSI"
    query = {
        "api-version": "2018-02-01",
        "resource": "https://api.botframework.com",
        "client_id": teams.registration.app_id,
    }
    async with client.http.get(teams.token_url, params=query) as response:
        without_header = response.status
    async with client.http.get(teams.token_url, params=query, headers={"Metadata": "true"}) as response:
        granted = await response.json()

    assert without_header == 400
    assert isinstance(granted["expires_in"], str)
    assert teams.tokens.is_valid(granted["access_token"], teams.clock())


async def test_faults_of_the_token_endpoint(teams: TeamsServer, client: ConnectorClient) -> None:
    teams.plan_faults("token", TeamsFault(status=500), TeamsFault(status=401, code="invalid_client"))
    statuses = [(await client.fetch_token()).status for _ in range(3)]

    assert statuses == [500, 401, 200]


async def test_a_delivery_is_signed_with_a_published_key(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, http: aiohttp.ClientSession
) -> None:
    await teams.say(ada, None, "hello")
    token = app.headers[0]["Authorization"].removeprefix("Bearer ")
    async with http.get(teams.openid_url) as response:
        metadata = await response.json()
    async with http.get(metadata["jwks_uri"]) as response:
        keys = {key["kid"]: key for key in (await response.json())["keys"]}

    published = keys[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(
        token, jwt.PyJWK.from_json(json.dumps(published)).key, ["RS256"], audience=teams.registration.app_id,
        issuer=ISSUER,
    )  # fmt: skip
    assert (published["endorsements"], claims["serviceurl"]) == (["msteams"], teams.service_url)


async def test_a_rotated_key_is_published_alone(teams: TeamsServer, http: aiohttp.ClientSession) -> None:
    old = teams.sign_delivery()
    teams.rotate_keys()
    async with http.get(teams.origin + "/v1/.well-known/keys") as response:
        published = [key["kid"] for key in (await response.json())["keys"]]

    assert published == [jwt.get_unverified_header(teams.sign_delivery())["kid"]]
    assert jwt.get_unverified_header(old)["kid"] not in published
    teams.rotate_keys(keep=True)
    assert len(teams.keys.published) == 2


async def test_an_outage_lasts_until_it_ends(teams: TeamsServer, http: aiohttp.ClientSession) -> None:
    teams.faults.outages |= {"openid", "keys"}
    statuses: list[int] = []
    for _ in range(2):
        async with http.get(teams.openid_url) as response:
            statuses.append(response.status)
    teams.faults.outages.clear()
    async with http.get(teams.openid_url) as response:
        statuses.append(response.status)

    assert statuses == [503, 503, 200]
    assert teams.keys.metadata_requests == 3


async def test_tokens_are_forged_as_asked(teams: TeamsServer) -> None:
    def claims_of(token: str) -> dict[str, object]:
        return jwt.decode(token, options={"verify_signature": False})

    own = claims_of(teams.sign_delivery())
    assert claims_of(teams.sign_delivery(aud="other"))["aud"] == "other"
    assert claims_of(teams.sign_delivery(iss="other"))["iss"] == "other"
    assert claims_of(teams.sign_delivery("https://evil.example"))["serviceurl"] == "https://evil.example"
    assert "serviceurl" not in claims_of(teams.sign_delivery(without={"serviceurl"}))
    assert claims_of(teams.sign_delivery(age_s=7200))["exp"] != own["exp"]
    for algorithm in ("none", "HS256"):
        assert jwt.get_unverified_header(teams.sign_delivery(algorithm=algorithm))["alg"] == algorithm
    foreign = teams.sign_delivery(key=teams.keys.create_key(), kid=teams.keys.current.kid)
    assert jwt.get_unverified_header(foreign)["kid"] == teams.keys.current.kid
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(
            foreign, teams.keys.current.private.public_key(), ["RS256"], audience=teams.registration.app_id
        )  # fmt: skip
