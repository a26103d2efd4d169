"""`parley grant`, `revoke`, `grants` and `group`: who may see which bucket, and which ids are one person."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.commands.buckets import bucket_state_of
from bot.cli.failures import CommandFailed
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import print_line, run_with_bot
from bot.ids import OPERATOR

if TYPE_CHECKING:
    from bot.application import Application

BucketArgument = Annotated[str, typer.Argument(metavar="BUCKET")]
SubjectArgument = Annotated[
    str,
    typer.Argument(
        metavar="SUBJECT", help="everyone, user:slack:T1:U1, user:local:NAME, channel:slack:T1:C1, group:ID"
    ),
]
GroupIdArgument = Annotated[str, typer.Argument(metavar="ID")]
PersonArgument = Annotated[
    str, typer.Argument(metavar="PERSON", help="local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT")
]

group_app = typer.Typer(help="Groups of Parley's own, to grant to.", no_args_is_help=True)


def grant(
    bucket: BucketArgument,
    subject: SubjectArgument,
    include_external: Annotated[
        bool, typer.Option("--include-external", help="Also where guests or other organisations read along.")
    ] = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Let somebody see a bucket."""

    async def grant_bucket(bot: "Application") -> None:
        from bot.access.subjects import check_grant_subject, parse_subject

        parsed = parse_subject(subject)
        check_grant_subject(parsed, include_external=include_external)
        state = await bucket_state_of(bot, bucket)
        administration, id_ = bot.administration, state.schema.bucket
        await administration.grant_bucket(id_, parsed, include_external=include_external, by=OPERATOR)
        print_line(f"{parsed} may see {bucket}")

    run_with_bot(grant_bucket, home=home, debug=debug)


def revoke(
    bucket: BucketArgument, subject: SubjectArgument, home: HomeOption = None, debug: DebugOption = False
) -> None:
    """Take a grant back; it counts from the next look on."""

    async def revoke_bucket(bot: "Application") -> None:
        from bot.access.subjects import parse_subject
        from storage.search.ids import BucketId

        if not await bot.administration.revoke_grant(BucketId(bucket), parse_subject(subject), by=OPERATOR):
            raise CommandFailed(f"{subject} has no grant of {bucket!r}; parley grants lists those there are")
        print_line(f"{subject} may no longer see {bucket}")

    run_with_bot(revoke_bucket, home=home, debug=debug)


def grants(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Every grant."""

    async def print_grants(bot: "Application") -> None:
        grants = [grant for bucket in await bot.administration.list_buckets(OPERATOR) for grant in bucket.grants]
        if json_:
            keys = ("bucket", "subject", "include_external", "granted_by")
            lines = [
                {key: getattr(grant, key) for key in keys} | {"granted_at": grant.granted_at.isoformat()}
                for grant in grants
            ]
            print_line(json.dumps(lines, ensure_ascii=False))
            return
        for grant in grants:
            print_line(
                f"{grant.bucket} → {grant.subject}{' (external people included)' if grant.include_external else ''}"
            )
        if not grants:
            print_line("Nothing is granted: only the owner of this home sees its buckets.")

    run_with_bot(print_grants, home=home, debug=debug)


@group_app.command("list")
def list_groups(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Every group and its members."""

    async def print_groups(bot: "Application") -> None:
        groups = await bot.groups.list_groups()
        if json_:
            lines = [{"id": group.id, "title": group.title, "members": sorted(group.members)} for group in groups]
            print_line(json.dumps(lines, ensure_ascii=False))
            return
        for group in groups:
            print_line(f"group:{group.id} {group.title}: {', '.join(sorted(group.members)) or 'nobody yet'}")
        if not groups:
            print_line("There are no groups yet; parley group create ID makes one.")

    run_with_bot(print_groups, home=home, debug=debug)


@group_app.command("create")
def create_group(
    id_: GroupIdArgument,
    title: Annotated[str, typer.Option(help="What people call it.")] = "",
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """A new group."""

    async def create_named_group(bot: "Application") -> None:
        from bot.access.subjects import parse_subject

        if parse_subject(f"group:{id_}").count(":") > 1:
            raise CommandFailed(f"{id_!r} is a chat product's group; it is granted as it is, without being made here")
        if not await bot.groups.create_group(id_, title or id_, by=OPERATOR):
            raise CommandFailed(f"there is a group {id_!r} already")
        print_line(f"created group:{id_}")

    run_with_bot(create_named_group, home=home, debug=debug)


@group_app.command("add")
def add_member(
    id_: GroupIdArgument, person: PersonArgument, home: HomeOption = None, debug: DebugOption = False
) -> None:
    """A person into a group."""

    async def add_person_to_group(bot: "Application") -> None:
        from bot.access.subjects import parse_person

        await _check_group_exists(bot, id_)
        member = parse_person(person)
        added = await bot.groups.add_group_member(id_, member, by=OPERATOR)
        print_line(f"{member} is in group:{id_}" if added else f"{member} was in group:{id_} already")

    run_with_bot(add_person_to_group, home=home, debug=debug)


@group_app.command("remove")
def remove_member(
    id_: GroupIdArgument, person: PersonArgument, home: HomeOption = None, debug: DebugOption = False
) -> None:
    """A person out of a group."""

    async def remove_person_from_group(bot: "Application") -> None:
        from bot.access.subjects import parse_person

        await _check_group_exists(bot, id_)
        member = parse_person(person)
        if not await bot.groups.remove_group_member(id_, member, by=OPERATOR):
            raise CommandFailed(f"{member} is not in group:{id_}")
        print_line(f"{member} is no longer in group:{id_}")

    run_with_bot(remove_person_from_group, home=home, debug=debug)


@group_app.command("link")
def link_persons(
    person: PersonArgument, other: PersonArgument, home: HomeOption = None, debug: DebugOption = False
) -> None:
    """Two ids of the same person: what is granted to either counts for both."""

    async def link_ids(bot: "Application") -> None:
        from bot.access.subjects import parse_person

        first, second = parse_person(person), parse_person(other)
        if first == second:
            raise CommandFailed(f"{first} is one id; name two")
        linked = await bot.person_links.link_persons(first, second, by=OPERATOR)
        print_line(f"{first} and {second} {'are' if linked else 'were already'} one person")

    run_with_bot(link_ids, home=home, debug=debug)


@group_app.command("unlink")
def unlink_person(person: PersonArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Takes an id out of its links."""

    async def unlink_id(bot: "Application") -> None:
        from bot.access.subjects import parse_person

        parsed = parse_person(person)
        if not await bot.person_links.unlink_person(parsed, by=OPERATOR):
            raise CommandFailed(f"{parsed} is linked with nobody; parley group links shows who is")
        print_line(f"{parsed} is a person of its own")

    run_with_bot(unlink_id, home=home, debug=debug)


@group_app.command("links")
def list_links(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """The ids that are linked, a line a person."""

    async def print_links(bot: "Application") -> None:
        linked = await bot.person_links.list_linked_persons()
        if json_:
            print_line(json.dumps(linked, ensure_ascii=False))
            return
        for persons in linked:
            print_line(" = ".join(persons))
        if not linked:
            print_line("Nobody is linked; parley group link PERSON PERSON does that.")

    run_with_bot(print_links, home=home, debug=debug)


async def _check_group_exists(bot: "Application", group_id: str) -> None:
    if group_id not in [group.id for group in await bot.groups.list_groups()]:
        raise CommandFailed(f"there is no group {group_id!r}; parley group list shows those there are")
