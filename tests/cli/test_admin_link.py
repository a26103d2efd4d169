"""`parley admin-link`, and the page that its link opens in `parley serve`."""

import asyncio
from pathlib import Path

from aiohttp import ClientSession, CookieJar

from tests.adapters.web.serving import serve_parley
from tests.cli.conftest import Parley, run_parley

ADMINS = {"PARLEY_ADMINS": "local:ann"}


def test_only_an_admin_gets_a_link(parley: Parley) -> None:
    made, refused, invalid = (
        parley("admin-link", subject, **ADMINS) for subject in ("user:local:ann", "bob", "channel:slack:T1:C1")
    )

    assert (made.status, made.stdout.startswith("http://127.0.0.1:8080/admin/enter/")) == (0, True)
    assert (refused.status, "local:bob is not an admin; name them in PARLEY_ADMINS" in refused.stderr) == (1, True)
    assert invalid.status != 0


async def test_the_link_of_the_command_opens_the_page_of_the_server(tmp_path: Path) -> None:
    environment = {**ADMINS, "PARLEY_WEB_TOKEN": "open sesame"}
    async with (
        serve_parley(tmp_path, environment) as address,
        ClientSession(cookie_jar=CookieJar(unsafe=True)) as session,
    ):
        made = await asyncio.to_thread(run_parley, tmp_path, "admin-link", "ann", **ADMINS)
        path = "/admin/enter/" + made.stdout.strip().rpartition("/")[2]
        async with session.get(address + "/admin") as before:
            assert before.status == 401
        async with session.post(address + path, headers={"Origin": address}) as after:
            page = await after.text()

    assert (after.status, after.url.path, "There are no buckets here." in page, "local:ann" in page) == (
        200,
        "/admin",
        True,
        True,
    )
