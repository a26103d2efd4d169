"""The connector's calls that read: members of a conversation, a team, and its channels."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from tests.stand_ins.teams.refusals import ConnectorRefused, JsonMapping, refuse_call_unless
from tests.stand_ins.teams.state import TeamsServerState
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson, TenantTeam

CallAnswer: TypeAlias = tuple[int, Any]
Parameters: TypeAlias = Mapping[str, str]
DEFAULT_PAGE, LARGEST_PAGE = 200, 500


def list_members(teams: TeamsServerState, parameters: Parameters, _: JsonMapping) -> CallAnswer:
    """List a page of members. In a channel they are those of its team, unless it is private."""
    conversation = _readable_conversation(teams, parameters["conversation"])
    size = _number_of(parameters.get("pageSize") or str(DEFAULT_PAGE))
    size = min(max(size, teams.smallest_page), LARGEST_PAGE)
    first = _first_member_of(parameters.get("continuationToken") or "")
    roster = conversation.roster
    page = [describe_member(teams.tenant.people[key]) for key in roster[first : first + size]]
    rest = {"continuationToken": f"from-{first + size}"} if first + size < len(roster) else {}
    return 200, {"members": page, **rest}


def show_member(teams: TeamsServerState, parameters: Parameters, _: JsonMapping) -> CallAnswer:
    """Show a member by `29:…` or by `aadObjectId`."""
    conversation = _readable_conversation(teams, parameters["conversation"])
    wanted = parameters["member"]
    people = (teams.tenant.people[key] for key in conversation.roster)
    member = next((person for person in people if wanted in {person.id, person.object_id}), None)
    if member is None:
        raise ConnectorRefused(404, "MemberNotFoundInConversation", "The member is not part of the conversation.")
    return 200, describe_member(member)


def show_team(teams: TeamsServerState, parameters: Parameters, _: JsonMapping) -> CallAnswer:
    team = _readable_team(teams, parameters["conversation"])
    counts = {"channelCount": len(_channels_of(teams, team)), "memberCount": len(team.members)}
    return 200, {"id": team.id, "name": team.name, "aadGroupId": team.group_id, **counts}


def list_channels(teams: TeamsServerState, parameters: Parameters, _: JsonMapping) -> CallAnswer:
    """List the channels of a team. The general channel has no name."""
    team = _readable_team(teams, parameters["conversation"])
    channels = _channels_of(teams, team)
    described = [{"id": channel.id, "name": None if channel.id == team.id else channel.name} for channel in channels]
    return 200, {"conversations": described}


def describe_member(person: TenantPerson) -> dict[str, Any]:
    given, _, surname = person.name.partition(" ")
    return {
        "id": person.id,
        "name": person.name,
        "objectId": person.object_id,
        "aadObjectId": person.object_id,
        "givenName": given,
        "surname": surname,
        "email": person.email,
        "userPrincipalName": person.email or f"{person.object_id}@example.org",
        "tenantId": person.tenant,
        "userRole": person.role,
    }


ROSTER_CALLS: Final[Mapping[str, Callable[[TeamsServerState, Parameters, JsonMapping], CallAnswer]]] = {
    "members": list_members,
    "member": show_member,
    "team": show_team,
    "channels": list_channels,
}


def _readable_conversation(teams: TeamsServerState, address: str) -> TenantConversation:
    conversation = teams.tenant.conversations.get(address.partition(";messageid=")[0])
    if conversation is None:
        raise ConnectorRefused(404, "ConversationNotFound", "Conversation not found.")
    if not conversation.lists_app:
        raise ConnectorRefused(403, "BotNotInConversationRoster", "The bot is not part of the conversation roster.")
    return conversation


def _readable_team(teams: TeamsServerState, key: str) -> TenantTeam:
    team = teams.tenant.teams.get(key)
    if team is None:
        raise ConnectorRefused(404, "TeamNotFound", "Team not found.")
    if not team.has_app:
        raise ConnectorRefused(403, "BotNotInConversationRoster", "The bot is not part of the conversation roster.")
    return team


def _channels_of(teams: TeamsServerState, team: TenantTeam) -> list[TenantConversation]:
    """Returns the channels that the team lists: its private ones are not among them."""
    channels = (channel for channel in teams.tenant.conversations.values() if channel.team is team)
    return [channel for channel in channels if not channel.is_private]


def _number_of(text: str) -> int:
    refuse_call_unless(text.isascii() and text.isdigit(), "pageSize is no number")
    return int(text)


def _first_member_of(token: str) -> int:
    prefix, _, number = token.partition("-")
    refuse_call_unless(not token or (prefix == "from" and number.isdigit()), "continuationToken")
    return int(number) if token else 0
