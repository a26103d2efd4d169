"""`parley grant`, `revoke`, `grants` and `group`: who may see what."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.buckets import state_of
from bot.cli.failures import Failed
from bot.cli.options import Debug, Home, Json
from bot.cli.running import say, with_bot
from bot.ids import OPERATOR

if TYPE_CHECKING:
    from bot.bootstrap import Bot

Bucket = Annotated[str, typer.Argument(metavar="BUCKET")]
SubjectArgument = Annotated[
    str,
    typer.Argument(
        metavar="SUBJECT", help="everyone, user:slack:T1:U1, user:local:NAME, channel:slack:T1:C1, group:ID"
    ),
]
Group = Annotated[str, typer.Argument(metavar="ID")]
Person = Annotated[str, typer.Argument(metavar="PERSON", help="local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT")]

group_app = typer.Typer(help="Groups of Parley's own, to grant to.", no_args_is_help=True)


def grant(
    bucket: Bucket,
    subject: SubjectArgument,
    include_external: Annotated[
        bool, typer.Option("--include-external", help="Also where guests or other organisations read along.")
    ] = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Let somebody see a bucket."""

    async def work(bot: "Bot") -> None:
        from bot.subjects import check_grant, parse_subject

        parsed = parse_subject(subject)
        check_grant(parsed, include_external=include_external)
        state = await state_of(bot, bucket)
        administration, id_ = bot.administration, state.schema.bucket
        await administration.grant(id_, parsed, include_external=include_external, by=OPERATOR)
        say(f"{parsed} may see {bucket}")

    with_bot(work, home=home, debug=debug)


def revoke(bucket: Bucket, subject: SubjectArgument, home: Home = None, debug: Debug = False) -> None:
    """Take a grant back; it counts from the next look on."""

    async def work(bot: "Bot") -> None:
        from bot.subjects import parse_subject
        from storage.search.ids import BucketId

        if not await bot.administration.revoke(BucketId(bucket), parse_subject(subject), by=OPERATOR):
            raise Failed(f"{subject} has no grant of {bucket!r}; parley grants lists those there are")
        say(f"{subject} may no longer see {bucket}")

    with_bot(work, home=home, debug=debug)


def grants(json_: Json = False, home: Home = None, debug: Debug = False) -> None:
    """Every grant."""

    async def work(bot: "Bot") -> None:
        there = [one for bucket in await bot.administration.buckets(OPERATOR) for one in bucket.grants]
        if json_:
            keys = ("bucket", "subject", "include_external", "granted_by")
            lines = [
                {key: getattr(one, key) for key in keys} | {"granted_at": one.granted_at.isoformat()} for one in there
            ]
            say(json.dumps(lines, ensure_ascii=False))
            return
        for one in there:
            say(f"{one.bucket} → {one.subject}{' (external people included)' if one.include_external else ''}")
        if not there:
            say("Nothing is granted: only the owner of this home sees its buckets.")

    with_bot(work, home=home, debug=debug)


@group_app.command("list")
def list_groups(json_: Json = False, home: Home = None, debug: Debug = False) -> None:
    """Every group and its members."""

    async def work(bot: "Bot") -> None:
        there = await bot.groups.all()
        if json_:
            lines = [{"id": one.id, "title": one.title, "members": sorted(one.members)} for one in there]
            say(json.dumps(lines, ensure_ascii=False))
            return
        for one in there:
            say(f"group:{one.id} {one.title}: {', '.join(sorted(one.members)) or 'nobody yet'}")
        if not there:
            say("There are no groups yet; parley group create ID makes one.")

    with_bot(work, home=home, debug=debug)


@group_app.command("create")
def create_group(
    id_: Group,
    title: Annotated[str, typer.Option(help="What people call it.")] = "",
    home: Home = None,
    debug: Debug = False,
) -> None:
    """A new group."""

    async def work(bot: "Bot") -> None:
        from bot.subjects import parse_subject

        if parse_subject(f"group:{id_}").count(":") > 1:
            raise Failed(f"{id_!r} is a chat product's group; it is granted as it is, without being made here")
        if not await bot.groups.create(id_, title or id_, by=OPERATOR):
            raise Failed(f"there is a group {id_!r} already")
        say(f"created group:{id_}")

    with_bot(work, home=home, debug=debug)


@group_app.command("add")
def add_member(id_: Group, person: Person, home: Home = None, debug: Debug = False) -> None:
    """A person into a group."""

    async def work(bot: "Bot") -> None:
        from bot.subjects import parse_person

        await _check_group(bot, id_)
        one = parse_person(person)
        added = await bot.groups.add(id_, one, by=OPERATOR)
        say(f"{one} is in group:{id_}" if added else f"{one} was in group:{id_} already")

    with_bot(work, home=home, debug=debug)


@group_app.command("remove")
def remove_member(id_: Group, person: Person, home: Home = None, debug: Debug = False) -> None:
    """A person out of a group."""

    async def work(bot: "Bot") -> None:
        from bot.subjects import parse_person

        await _check_group(bot, id_)
        one = parse_person(person)
        if not await bot.groups.remove(id_, one, by=OPERATOR):
            raise Failed(f"{one} is not in group:{id_}")
        say(f"{one} is no longer in group:{id_}")

    with_bot(work, home=home, debug=debug)


async def _check_group(bot: "Bot", id_: str) -> None:
    if id_ not in [one.id for one in await bot.groups.all()]:
        raise Failed(f"there is no group {id_!r}; parley group list shows those there are")
