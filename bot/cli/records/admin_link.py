"""`parley admin-link`: a link with which an admin opens the admin page once."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import print_line, run_with_bot

if TYPE_CHECKING:
    from bot.application import Application


def make_admin_link(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="The admin: local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT.")
    ],
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """A link that opens the admin page of parley serve for an admin, once, within ten minutes."""

    async def print_link(bot: "Application") -> None:
        from bot.access.subjects import parse_person
        from bot.admin.admin_page.entrance import AdminEntrance
        from bot.errors import NotAdmin

        person = parse_person(subject.removeprefix("user:"))
        entrance = AdminEntrance(administration=bot.administration, database=bot.database, settings=bot.settings)
        try:
            link = await entrance.create_link(person)
        except NotAdmin:
            raise CommandFailed(
                f"{person} is not an admin; name them in PARLEY_ADMINS, or add them at /admin, in Slack or in Teams"
            ) from None
        print_to_stderr(f"the link of {person}, for one use within ten minutes:")
        print_line(link)

    run_with_bot(print_link, home=home, debug=debug)
