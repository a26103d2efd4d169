"""Who gets into the admin page, and what is refused."""

from datetime import timedelta

import pytest

from bot.bootstrap import open_application
from bot.errors import NotAdmin
from bot.ids import EVERYONE, OPERATOR, PersonId
from tests.adapters.web.admin.conftest import ANN, BOB, LETTERS, OpenedSite
from tests.stored_rows import list_audit_entries

PAGES = (
    "/admin",
    "/admin/bucket?b=letters",
    "/admin/retention?b=letters&field=@loaded&days=3",
    "/admin/grants",
    "/admin/admins",
    "/admin/limits",
    "/admin/sources",
)
FORMS = (
    "/admin/grant",
    "/admin/revoke",
    "/admin/admins/add",
    "/admin/admins/remove",
    "/admin/limits",
    "/admin/retention",
    "/admin/retention/end",
    "/admin/leave",
)
PROXY = {"X-Forwarded-For": "203.0.113.9"}


@pytest.mark.parametrize("path", PAGES)
async def test_on_this_machine_the_operator_needs_no_token(site: OpenedSite, path: str) -> None:
    status, page = await site.get(path)

    assert (status, "The operator of the machine" in page) == (200, True)


@pytest.mark.parametrize("path", PAGES)
async def test_through_a_proxy_or_by_a_foreign_name_nobody_is_the_operator(site: OpenedSite, path: str) -> None:
    for headers in (PROXY, {"Host": "rebound.example"}):
        status, page = await site.get(path, headers)

        assert (status, "Letters" in page) == (403, False)
        assert "is open on this machine" in page


@pytest.mark.parametrize("path", PAGES)
async def test_with_a_token_set_the_token_is_asked_for(guarded_site: OpenedSite, path: str) -> None:
    status, page = await guarded_site.get(path)

    assert (status, 'name="token"' in page, 'value="/admin"' in page, "Letters" in page) == (401, True, True, False)


@pytest.mark.parametrize("path", FORMS)
async def test_a_form_without_an_own_key_or_from_another_site_changes_nothing(site: OpenedSite, path: str) -> None:
    fields = {"bucket": LETTERS, "subject": EVERYONE, "person": BOB, "person_hour": "1"}
    fields |= {"b": LETTERS, "field": "@loaded", "days": "3", "version": ""}
    key = await site.form_key()
    for sent, origin in (
        (fields, None),
        (fields | {"form_key": "0" * 64}, None),
        (fields | {"form_key": key}, "http://other.example"),
        (fields | {"form_key": key}, ""),
    ):
        status, page, _ = await site.post(path, sent, origin=origin)

        assert (status, "load the page again" in page) == (403, True)
    administration = site.bot.administration
    assert [grant.subject for grant in await site.bot.grants.list_grants()] == [f"user:{ANN}"]
    assert [admin.person for admin in await administration.list_admins(OPERATOR)] == [ANN]
    assert await administration.list_limits(OPERATOR) == {}
    assert await site.bot.document_retention.load_rules() == ()


async def test_the_key_of_one_visitors_forms_is_not_taken_from_another(site: OpenedSite) -> None:
    key_of_operator = await site.form_key()
    await site.enter_as(ANN)

    status, _, _ = await site.post(
        "/admin/grant", {"form_key": key_of_operator, "bucket": LETTERS, "subject": EVERYONE}
    )

    assert status == 403


async def test_a_link_lets_an_admin_in_once_and_the_audit_names_them(guarded_site: OpenedSite) -> None:
    site = guarded_site
    link = await site.entrance.create_link(ANN)
    path = link.removeprefix(site.bot.settings.link_base)

    shown = [await site.get(path) for _ in range(2)]  # a program that looks at links does not use it up
    entered = await site.post(path)
    status, page = await site.get("/admin/grants")
    again = await site.post(path)

    assert [(status, "lets local:ann in" in page) for status, page in shown] == [(200, True)] * 2
    assert (entered[0], entered[2]) == (303, "/admin")
    assert (status, ANN in page) == (200, True)
    assert (again[0], "was used before" in again[1]) == (403, True)
    assert (await site.submit("/admin/grant", bucket=LETTERS, subject=EVERYONE))[0] == 303
    granted, opened = (await list_audit_entries(site.bot.database))[:2]
    assert (granted.action, granted.by, opened.action, opened.by) == ("grant", ANN, "admin.enter", ANN)


async def test_a_link_ends_after_ten_minutes_and_a_session_after_eight_hours(guarded_site: OpenedSite) -> None:
    site = guarded_site
    link = await site.entrance.create_link(ANN)
    await site.enter_as(ANN)
    site.clock.now += timedelta(minutes=10)

    assert (await site.post(link.removeprefix(site.bot.settings.link_base)))[0] == 403
    assert (await site.get("/admin"))[0] == 200
    site.clock.now += timedelta(hours=7, minutes=51)
    assert (await site.get("/admin"))[0] == 401


async def test_a_forged_link_and_a_session_in_place_of_a_link_open_nothing(guarded_site: OpenedSite) -> None:
    site = guarded_site
    link = (await site.entrance.create_link(ANN)).rpartition("/")[2]
    session = await site.entrance.open_session(link)
    for forged in (session, link[:-2], "x" + link, "a.b"):
        assert (await site.get(f"/admin/enter/{forged}"))[0] == 403
        assert (await site.post(f"/admin/enter/{forged}"))[0] == 403
    assert site.entrance.find_session(link) is None
    assert (await site.get("/admin", {"Cookie": f"parley_admin={link}"}))[0] == 401


async def test_a_link_is_posted_from_its_own_page_only(guarded_site: OpenedSite) -> None:
    link = (await guarded_site.entrance.create_link(ANN)).rpartition("/")[2]

    assert (await guarded_site.post(f"/admin/enter/{link}", origin="http://other.example"))[0] == 403
    assert (await guarded_site.post(f"/admin/enter/{link}"))[0] == 303


async def test_nobody_else_gets_a_link_and_who_is_removed_is_out_at_once(guarded_site: OpenedSite) -> None:
    site, cleo = guarded_site, PersonId("local:cleo")
    with pytest.raises(NotAdmin):
        await site.entrance.create_link(BOB)
    await site.bot.administration.add_admin(cleo, by=OPERATOR)
    unused = await site.entrance.create_link(cleo)
    await site.enter_as(cleo)
    key = await site.form_key()
    await site.bot.administration.remove_admin(cleo, by=OPERATOR)

    for path in PAGES:
        status, page = await site.get(path)
        assert (status, "You are not an admin" in page, "Letters" in page) == (403, True, False)
    assert (await site.post("/admin/grant", {"form_key": key, "bucket": LETTERS, "subject": EVERYONE}))[0] == 403
    assert (await site.get(unused.removeprefix(site.bot.settings.link_base)))[0] == 403


async def test_a_link_of_another_tenant_opens_nothing(site: OpenedSite) -> None:
    other_settings = site.bot.settings.model_copy(update={"tenant": "other", "home": site.bot.settings.home / "other"})
    async with open_application(other_settings, clock=site.clock, database=site.bot.database) as other:
        other_entrance = type(site.entrance)(
            administration=other.administration, database=other.database, settings=other_settings
        )
        link = (await other_entrance.create_link(ANN)).rpartition("/")[2]

    assert (await site.post(f"/admin/enter/{link}"))[0] == 403


async def test_who_leaves_is_out(guarded_site: OpenedSite) -> None:
    await guarded_site.enter_as(ANN)

    assert (await guarded_site.submit("/admin/leave"))[0] == 200
    assert (await guarded_site.get("/admin"))[0] == 401


async def test_pages_run_no_foreign_code_and_are_kept_nowhere(site: OpenedSite) -> None:
    async with site.session.get(site.base + "/admin") as response:
        policy = response.headers["Content-Security-Policy"]

        assert ("default-src 'none'" in policy, "unsafe" in policy) == (True, False)
        assert response.headers["Cache-Control"] == "no-store"
    assert (await site.get("/admin/admin.css"))[0] == 200
    assert (await site.get("/admin/%2e%2e"))[0] == 404
    assert (await site.get("/admin/endpoint.py"))[0] == 404
