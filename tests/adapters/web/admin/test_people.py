"""The pages of admins and of limits."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from bot.admin.administration import QuestionLimit
from bot.ids import EVERYONE, OPERATOR, PersonId, Subject
from bot.language_model.spending import MonthlyBudget
from bot.surface.directory import PersonProfile
from storage.search.ids import TenantId
from tests.adapters.web.admin.conftest import ANN, BOB, LETTERS, OpenedSite, open_site
from tests.adapters.web.admin.test_report import ask
from tests.bot.admin.test_administration import MembershipDirectory
from tests.bot.fakes import FakeChat, PartialSurface
from tests.stored_rows import list_audit_entries

CLEO = PersonId("local:cleo")


async def admins_of(site: OpenedSite) -> list[PersonId]:
    return [admin.person for admin in await site.bot.administration.list_admins(OPERATOR)]


async def test_an_admin_is_added_listed_with_who_did_it_and_removed(site: OpenedSite) -> None:
    await site.enter_as(ANN)

    added = await site.submit("/admin/admins/add", person=" cleo ")
    again = await site.submit("/admin/admins/add", person=CLEO)
    page = (await site.get(added[2]))[1]
    removed = await site.submit("/admin/admins/remove", person=CLEO)

    assert [answer[0::2] for answer in (added, again, removed)] == [
        (303, "/admin/admins?done=admin-added"),
        (303, "/admin/admins?done=admin-known"),
        (303, "/admin/admins?done=admin-removed"),
    ]
    assert ("is an admin now" in page, CLEO in page, "named in PARLEY_ADMINS" in page) == (True, True, True)
    assert "09 May 2031, 12:00 UTC" in page
    assert await admins_of(site) == [ANN]
    entries = await list_audit_entries(site.bot.database)
    assert [(entry.action, entry.matter, entry.by) for entry in entries[:2]] == [
        ("admin.remove", CLEO, ANN),
        ("admin.add", CLEO, ANN),
    ]


@pytest.mark.parametrize(
    ("path", "person", "reason"),
    [
        ("/admin/admins/add", "", "is not a person"),
        ("/admin/admins/add", "channel:slack:T1:C1", "is not a person"),
        ("/admin/admins/remove", "no person:", "is not a person"),
        ("/admin/admins/remove", ANN, "can only be removed there"),
    ],
)
async def test_a_refused_change_of_admins_says_why(site: OpenedSite, path: str, person: str, reason: str) -> None:
    status, page, _ = await site.submit(path, person=person)

    assert (status, reason in page) == (422, True)
    assert await admins_of(site) == [ANN]


async def test_the_last_admin_stays_and_who_removes_themselves_is_out(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home", PARLEY_ADMINS="") as own:
        for person in (BOB, CLEO):
            await own.bot.administration.add_admin(person, by=OPERATOR)
        await own.enter_as(BOB)
        key = await own.form_key()

        left = await own.post("/admin/admins/remove", {"form_key": key, "person": BOB})
        closed = await own.get("/admin/admins")
        refused_after = await own.post("/admin/admins/remove", {"form_key": key, "person": CLEO})
        await own.enter_as(CLEO)
        last = await own.submit("/admin/admins/remove", person=CLEO)

        assert (left[0], closed[0], refused_after[0]) == (303, 403, 403)
        assert (last[0], "This is the last admin" in last[1]) == (422, True)
        assert await admins_of(own) == [CLEO]


async def test_limits_are_saved_over_what_was_shown_alone(site: OpenedSite) -> None:
    await site.bot.administration.grant_bucket(LETTERS, EVERYONE, by=OPERATOR)
    await ask(site, "list the letters about Tern", ANN)
    await ask(site, "list the letters about Dunlin", ANN)
    await ask(site, "list the letters about Tern", BOB)
    await ask(site, "list the letters about Tern")  # the operator is not limited

    page = (await site.get("/admin/limits"))[1]
    saved = await site.submit("/admin/limits", person_hour=" 20 ", tenant_day="500")
    stale = await site.submit("/admin/limits", person_hour="3")
    shown = (await site.get(saved[2]))[1]
    changed = await site.submit("/admin/limits", shown_person_hour="20", shown_tenant_day="500", tenant_day="400")

    assert ("now: 2 questions of the person who asked most" in page, "now: 3 questions" in page) == (True, True)
    assert (saved[0], saved[2], changed[0]) == (303, "/admin/limits?done=limits", 303)
    assert ('name="shown_person_hour" value="20"' in shown, "holds from the next question on" in shown) == (True, True)
    assert (stale[0], "Somebody changed this" in stale[1]) == (409, True)
    assert await site.bot.administration.list_limits(OPERATOR) == {QuestionLimit.TENANT_DAY: 400}


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "9" * 12])
async def test_a_limit_that_is_no_number_stays_in_the_form(site: OpenedSite, text: str) -> None:
    status, page, _ = await site.submit("/admin/limits", person_hour=text, tenant_hour="7")

    assert (status, "A whole number from 1 on" in page, f'value="{text}"' in page) == (422, True, True)
    assert await site.bot.administration.list_limits(OPERATOR) == {}


async def test_without_a_budget_the_page_says_how_to_set_one(site: OpenedSite) -> None:
    assert "Models have no budget. PARLEY_MODEL_BUDGET sets one" in (await site.get("/admin/limits"))[1]


async def test_what_models_cost_is_shown_of_their_budget(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home", PARLEY_MODEL_BUDGET="50") as own:
        bot = own.bot
        tenant, lifetime = TenantId(bot.settings.tenant), timedelta(minutes=10)
        budget = MonthlyBudget(bot.database, tenant, budget_usd=50, reservation_lifetime=lifetime, log=bot.log)
        reservation = await budget.reserve(2.0)
        assert reservation is not None
        await budget.settle(reservation, 1.25)
        page = (await own.get("/admin/limits"))[1]

    assert "$1.25 of $50.00 are spent in this calendar month" in page


class NamingDirectory(MembershipDirectory):
    """Everyone is a full member; some have names."""

    def __init__(self, names: Mapping[PersonId, str]) -> None:
        super().__init__()
        self._names = names

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        name = self._names.get(person)
        return None if name is None else PersonProfile(name=name)


async def test_people_of_chat_products_are_shown_by_name_with_their_ids(site: OpenedSite) -> None:
    ada, ben = PersonId("slack:T1:U1ADA"), PersonId("slack:T1:U2BEN")
    directory = NamingDirectory({ada: "Ada <Finch>"})
    site.bot.register_surface(PartialSurface(outbox=FakeChat(), directory=directory))
    for person in (ada, ben):
        await site.bot.administration.add_admin(person, by=OPERATOR)
    await site.bot.administration.grant_bucket(LETTERS, Subject(f"user:{ben}"), by=ada)
    await site.enter_as(ada)

    admins, grants = await site.get_markup("/admin/admins"), await site.get_markup("/admin/grants")

    assert "Ada &lt;Finch&gt;<small>slack:T1:U1ADA</small>" in admins
    assert "slack:T1:U2BEN" in admins
    assert "<small>slack:T1:U2BEN</small>" not in admins
    assert "Ada &lt;Finch&gt;<small>slack:T1:U1ADA</small>" in grants
    assert 'title="slack:T1:U1ADA">Ada &lt;Finch&gt;</p>' in grants
