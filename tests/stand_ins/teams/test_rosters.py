"""Members are paged and found by either id; conversations are opened only where the app is installed."""

from tests.stand_ins.teams.conftest import ConnectorClient, TeamsRecordingApp
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import OTHER_TENANT, TenantConversation, TenantPerson


async def test_members_come_in_pages_of_at_least_fifty(teams: TeamsServer, client: ConnectorClient) -> None:
    crowd = [teams.tenant.add_person(f"Person {number}") for number in range(120)]
    group = teams.tenant.add_group_chat("All", *crowd)
    path, names, token = f"v3/conversations/{group.id}/pagedmembers", list[str](), ""
    sizes: list[int] = []
    while True:
        page = (await client.call("GET", path, pageSize="10", **({"continuationToken": token} if token else {}))).body
        sizes.append(len(page["members"]))
        names += [member["name"] for member in page["members"]]
        token = page.get("continuationToken", "")
        if not token:
            break

    assert sizes == [50, 50, 20]
    assert names == [person.name for person in crowd]
    assert (await client.call("GET", path, continuationToken="x")).status == 400


async def test_a_member_is_found_by_either_id_until_the_account_is_deactivated(
    teams: TeamsServer, client: ConnectorClient, ada: TenantPerson, group: TenantConversation
) -> None:
    path = f"v3/conversations/{group.id}/members"
    by_id = await client.call("GET", f"{path}/{ada.id}")
    by_object = await client.call("GET", f"{path}/{ada.object_id}")
    teams.tenant.deactivate_person(ada)
    gone = await client.call("GET", f"{path}/{ada.id}")

    assert by_id.body == by_object.body
    assert (by_id.body["aadObjectId"], by_id.body["tenantId"]) == (ada.object_id, teams.tenant.id)
    assert (gone.status, gone.error) == (404, "MemberNotFoundInConversation")


async def test_guests_and_federated_people_are_told_apart(
    teams: TeamsServer, client: ConnectorClient, ada: TenantPerson
) -> None:
    guest, stranger = teams.tenant.add_guest("Gil"), teams.tenant.add_federated_person("Fay")
    group = teams.tenant.add_group_chat("Mixed", ada, guest, stranger)
    members = (await client.call("GET", f"v3/conversations/{group.id}/pagedmembers")).body["members"]

    assert [(member["userRole"], member["tenantId"]) for member in members] == [
        ("user", teams.tenant.id),
        ("guest", teams.tenant.id),
        ("user", OTHER_TENANT),
    ]


async def test_a_channel_has_the_members_of_its_team_unless_it_is_private(
    teams: TeamsServer, client: ConnectorClient, ada: TenantPerson, bob: TenantPerson
) -> None:
    team = teams.tenant.add_team("Plant", ada, bob)
    shared = teams.tenant.add_channel(team, "Pumps")
    private = teams.tenant.add_channel(team, "Board", bob, is_private=True)

    async def names_in(conversation: TenantConversation) -> list[str]:
        members = (await client.call("GET", f"v3/conversations/{conversation.id}/pagedmembers")).body["members"]
        return [member["name"] for member in members]

    assert (await names_in(shared), await names_in(private)) == (["Ada", "Bob"], ["Bob"])
    details = (await client.call("GET", f"v3/teams/{team.id}")).body
    channels = (await client.call("GET", f"v3/teams/{team.id}/conversations")).body["conversations"]
    assert (details["aadGroupId"], details["memberCount"]) == (team.group_id, 2)
    assert [(channel["id"], channel["name"]) for channel in channels] == [(team.id, None), (shared.id, "Pumps")]


async def test_a_roster_without_the_app_is_not_read(client: ConnectorClient, channel: TenantConversation) -> None:
    assert channel.team is not None
    channel.team.has_app = False

    for path in (f"v3/conversations/{channel.id}/pagedmembers", f"v3/teams/{channel.team.id}"):
        assert (await client.call("GET", path)).error == "BotNotInConversationRoster"


async def test_a_personal_chat_is_opened_only_where_the_app_is_installed(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson
) -> None:
    body = {
        "bot": {"id": teams.tenant.bot_id},
        "members": [{"id": ada.object_id}],
        "channelData": {"tenant": {"id": teams.tenant.id}},
    }
    refused = await client.call("POST", "v3/conversations", body)
    await teams.install_app(ada)
    opened = await client.call("POST", "v3/conversations", body)
    await teams.uninstall_app(ada)
    closed = await client.call("POST", "v3/conversations", body)
    without_tenant = await client.call("POST", "v3/conversations", {**body, "channelData": {}})

    assert (refused.status, closed.status, without_tenant.status) == (403, 403, 400)
    assert (opened.status, opened.body["id"]) == (201, teams.tenant.personal_chat_of(ada).id)
    assert [(activity["type"], activity.get("action")) for activity in app.received] == [
        ("conversationUpdate", None),
        ("installationUpdate", "add"),
        ("conversationUpdate", None),
        ("installationUpdate", "remove"),
    ]


async def test_changes_of_a_team_are_delivered_from_the_team(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, channel: TenantConversation
) -> None:
    newcomer = teams.tenant.add_person("Nan")
    await teams.add_member(newcomer, channel, ada)
    await teams.remove_member(newcomer, channel, ada)

    assert channel.team is not None
    assert [activity["channelData"]["eventType"] for activity in app.received] == [
        "teamMemberAdded",
        "teamMemberRemoved",
    ]
    assert {activity["conversation"]["id"] for activity in app.received} == {channel.team.id}


async def test_a_moved_tenant_is_served_in_its_new_region_alone(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    await client.send(chat.id, text="one")
    old = teams.service_url
    teams.move_region("amer")
    moved = await client.send(chat.id, text="two")
    headers = {"Authorization": f"Bearer {client.token}"}
    url = f"{old}v3/conversations/{chat.id}/activities"
    async with client.http.post(url, json={"type": "message", "text": "x"}, headers=headers) as response:
        assert (moved.status, response.status) == (201, 404)


async def test_the_limits_of_messages_are_those_of_the_conversation(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, group: TenantConversation
) -> None:
    now = teams.clock()
    teams.clock, teams.limits_sends = lambda: now, True
    sent = [await client.send(chat.id, text=f"{number}") for number in range(8)]
    elsewhere = await client.send(group.id, text="hello")
    teams.clock = lambda: now + 1.5
    later = [await client.send(chat.id, text="later") for _ in range(2)]

    assert [answer.status for answer in sent] == [*([201] * 7), 429]
    assert (sent[-1].headers["Retry-After"], elsewhere.status) == ("1", 201)
    assert [answer.status for answer in later] == [201, 429]
    assert len(teams.tenant.bot_messages(chat)) == 8
