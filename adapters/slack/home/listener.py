"""The Home tab and its modals: opened, clicked, submitted.

Whatever a view shows, rights are checked again at each click and submission: a view may be old, and what it carries is
worth nothing by itself. What is not understood changes nothing, and says so.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import BaseModel, ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackFailed, SlackRefused
from adapters.slack.home.blocks import key, shown
from adapters.slack.home.modals import (
    CHANNEL_FIELD,
    EVERYONE_FIELD,
    EXTERNAL_FIELD,
    GROUP_FIELD,
    LOCAL_FIELD,
    PERSON_FIELD,
    QUESTIONS,
    Kept,
    admins_view,
    bucket_view,
    errors,
    instead,
    limits_view,
    questions_view,
    told_view,
)
from adapters.slack.home.tab import MINE, Pages, home
from adapters.slack.home.tab import QUESTIONS as QUESTIONS_IN_TAB
from adapters.slack.home.visits import Interaction, Visit, Visits
from adapters.slack.render import Json
from adapters.slack.workspaces import Workspaces
from bot.administration import Administration, Bucket, Limit
from bot.errors import BotError, ChangedMeanwhile, NotAdmin
from bot.ids import EVERYONE, PersonId, Subject
from bot.inbound import Private
from bot.limits import MOST
from bot.personal import Personal
from bot.subjects import parse_subject

_PATIENCE_S: Final = 2.5  # of the three seconds that Slack waits
_STALE: Final = "This is no longer as it was shown. Nothing was changed; please open the Home tab again."
_NOT_UNDERSTOOD: Final = "I do not know what this is. Nothing was changed; please open the Home tab again."
_NO_LONGER: Final = "You are no longer an admin."
_OURS: Final = re.compile(r"\A(?:home|admin|grant)(?::|\Z)")  # Bolt searches
_CHANNEL: Final = re.compile(r"[CG][A-Z0-9]+")
_USER: Final = re.compile(r"[UW][A-Z0-9]+")
_USERGROUP: Final = re.compile(r"S[A-Z0-9]+")

View = Mapping[str, Json]


class Ack(Protocol):
    async def __call__(self, **answer: Any) -> object: ...


class _Done(BaseModel):
    ok: bool


class AppHome:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ("app_home_opened",)

    def __init__(
        self,
        *,
        administration: Administration,
        personal: Personal,
        workspaces: Workspaces,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._administration, self._personal, self._log = administration, personal, log
        self._visits = Visits(workspaces, log, clock)

    def listen(self, app: Any) -> None:
        app.event("app_home_opened", matchers=[_is_home_tab])(self._on_opened)
        app.action(_OURS)(self._on_action)
        app.view(_OURS)(self._on_submission)

    # -- what Slack delivers

    async def _on_opened(self, body: dict[str, Any]) -> None:
        await self._in_time(self._opened(body))

    async def _on_action(self, body: dict[str, Any], ack: Ack) -> None:
        await ack()
        await self._in_time(self._acted(body))

    async def _on_submission(self, body: dict[str, Any], ack: Ack) -> None:
        began, told = _moment(), Interaction.model_validate(body)
        visit = await self._visits.of(body, told)
        if visit is None:
            await ack()
            return
        try:
            answer = await self._submitted(visit, told)
        except BotError as exc:
            answer = instead(told_view(str(exc)))
        await ack(**answer)
        await self._in_time(self._show_home(visit, Pages()), began)

    async def _in_time(self, work: Any, began: float | None = None) -> None:
        """A view that cannot be shown is no reason to deliver again: whoever looks opens it once more.

        `began`: since when Slack waits for the answer, which leaves when this is over.
        """
        try:
            async with asyncio.timeout_at((_moment() if began is None else began) + _PATIENCE_S):
                await work
        except (SlackFailed, TimeoutError) as exc:
            self._log.warning("slack view not shown", error=type(exc).__name__, reason=str(exc))

    async def _opened(self, body: dict[str, Any]) -> None:
        visit = await self._visits.of(body, Interaction.model_validate(body))
        if visit is not None:
            await self._show_home(visit, Pages())

    # -- the Home tab

    async def _show_home(self, visit: Visit, pages: Pages, hash_: str = "") -> None:
        """With the hash of the view that was clicked; if another was shown since, what is true now takes its place."""
        arguments = {"user_id": visit.user, "view": await self._home(visit, pages)}
        try:
            await visit.workspace.api.call(_Done, "views.publish", arguments | ({"hash": hash_} if hash_ else {}))
        except SlackRefused as exc:
            if exc.error != "hash_conflict":
                raise
            await visit.workspace.api.call(_Done, "views.publish", arguments | {"view": await self._home(visit, pages)})

    async def _home(self, visit: Visit, pages: Pages) -> View:
        audience = Private(person=visit.person, guest=True)
        own = await self._personal.own(audience, first=pages.mine, most=MINE)
        try:
            overview = await self._administration.overview(visit.person, questions=QUESTIONS_IN_TAB)
        except NotAdmin:
            overview = None
        return home(own, overview, pages, visit.zone, visit.homes)

    # -- clicks

    async def _acted(self, body: dict[str, Any]) -> None:
        told = Interaction.model_validate(body)
        visit = await self._visits.of(body, told)
        if visit is None or not told.actions:
            return
        try:
            await self._click(visit, told, told.actions[0].action_id, told.actions[0].value)
        except BotError as exc:
            await self._say(visit, told, str(exc))

    async def _click(self, visit: Visit, told: Interaction, action: str, value: str) -> None:
        match action:
            case "home:mine:next" | "home:mine:back" | "home:all:next" | "home:all:back":
                await self._show_home(visit, Pages.read(value), told.view.hash)
            case "admin:bucket":
                await self._open(visit, told, await self._bucket_view(visit, value, Kept()))
            case "admin:admins":
                await self._open(visit, told, await self._admins_view(visit, Kept()))
            case "admin:limits":
                limits = await self._administration.limits(visit.person)
                await self._open(visit, told, limits_view(limits, Kept()))
            case "admin:questions":
                await self._open(visit, told, await self._questions_view(visit.person))
            case "grant:page:next" | "grant:page:back" | "admin:page:next" | "admin:page:back":
                await self._turn_page(visit, told, value)
            case "grant:remove":
                await self._revoke(visit, told, value)
            case "admin:remove":
                await self._remove_admin(visit, told, value)
            case _:
                await self._say(visit, told, _NOT_UNDERSTOOD)

    async def _open(self, visit: Visit, told: Interaction, view: View) -> None:
        await visit.workspace.api.call(
            _Done, "views.open", {"trigger_id": told.trigger_id, "view": dict(view)}, repeat=False
        )

    async def _say(self, visit: Visit, told: Interaction, sentence: str) -> None:
        """In the modal that was clicked in; beside the Home tab, in a new one, with the tab as it is now."""
        if told.view.type == "modal":
            await self._update(visit, told, told_view(sentence))
            return
        await self._open(visit, told, told_view(sentence))
        await self._show_home(visit, Pages())

    async def _update(self, visit: Visit, told: Interaction, view: View) -> None:
        arguments = {"view_id": told.view.id, "view": dict(view)}
        await visit.workspace.api.call(_Done, "views.update", arguments)

    async def _turn_page(self, visit: Visit, told: Interaction, value: str) -> None:
        kept = Kept.read(told.view.private_metadata)
        if kept is None or not (value.isascii() and value.isdigit() and len(value) < 7):
            await self._say(visit, told, _STALE)
            return
        await self._show_anew(visit, told, kept.at(int(value)))

    async def _show_anew(self, visit: Visit, told: Interaction, kept: Kept) -> None:
        """The modal as things are now. If it was changed meanwhile, it is made once more of what is true by then."""
        try:
            arguments = {"view_id": told.view.id, "hash": told.view.hash, "view": await self._same(visit, told, kept)}
            await visit.workspace.api.call(_Done, "views.update", arguments)
        except SlackRefused as exc:
            if exc.error != "hash_conflict":
                raise
            await self._update(visit, told, await self._same(visit, told, kept))

    async def _same(self, visit: Visit, told: Interaction, kept: Kept) -> View:
        match told.view.callback_id:
            case "admin:bucket":
                return await self._bucket_view(visit, kept.bucket, kept)
            case "admin:admins":
                return await self._admins_view(visit, kept)
            case _:
                return told_view(_STALE)

    async def _revoke(self, visit: Visit, told: Interaction, subject_key: str) -> None:
        kept = Kept.read(told.view.private_metadata)
        bucket = None if kept is None else await self._bucket(visit.person, kept.bucket)
        if kept is None or bucket is None:
            await self._say(visit, told, _STALE)
            return
        for grant in bucket.grants:
            if key(grant.subject) == subject_key:
                await self._administration.revoke(bucket.id, grant.subject, by=visit.person)
        await self._show_anew(visit, told, kept)  # where it was gone already, that is what there is to see
        await self._show_home(visit, Pages())

    async def _remove_admin(self, visit: Visit, told: Interaction, person_key: str) -> None:
        kept = Kept.read(told.view.private_metadata)
        admins = await self._administration.admins(visit.person)
        if kept is None:
            await self._say(visit, told, _STALE)
            return
        for admin in admins:
            if key(admin.person) == person_key:
                await self._administration.remove_admin(admin.person, by=visit.person)
        await self._show_home(visit, Pages())
        if person_key == key(visit.person):
            await self._say(visit, told, _NO_LONGER)
        else:
            await self._show_anew(visit, told, kept)

    # -- submissions: what Slack is answered

    async def _submitted(self, visit: Visit, told: Interaction) -> View:
        kept = Kept.read(told.view.private_metadata)
        fields = _Fields(told)
        match told.view.callback_id:
            case "admin:bucket" if kept is not None:
                return await self._granted(visit, kept, fields)
            case "admin:admins" if kept is not None:
                return await self._added(visit, kept, fields)
            case "admin:limits" if kept is not None:
                return await self._limited(visit, kept, fields)
            case _:
                return instead(told_view(_NOT_UNDERSTOOD))

    async def _granted(self, visit: Visit, kept: Kept, fields: "_Fields") -> View:
        bucket = await self._bucket(visit.person, kept.bucket)
        if bucket is None:
            return instead(told_view(_STALE))
        chosen, wrong = await self._chosen(visit, fields)
        external = fields.ticked(EXTERNAL_FIELD)
        if external and not fields.text(CHANNEL_FIELD):
            wrong[EXTERNAL_FIELD] = "Choose the channel that this is for, or leave it out."
        if not chosen and not wrong:
            wrong[PERSON_FIELD] = "Choose somebody who may see this bucket."
        if wrong:
            return errors({kept.field(name): sentence for name, sentence in wrong.items()})
        for name, subject in chosen.items():
            try:
                with_external = external and name == CHANNEL_FIELD
                await self._administration.grant(bucket.id, subject, include_external=with_external, by=visit.person)
            except NotAdmin:
                raise
            except BotError as exc:
                return errors({kept.field(name): str(exc)})
        said = " · ".join(shown(subject, visit.homes) for subject in chosen.values())
        view = await self._bucket_view(visit, kept.bucket, kept.afresh(), said=f"{said} may see this bucket now.")
        return instead(view)

    async def _chosen(self, visit: Visit, fields: "_Fields") -> tuple[dict[str, Subject], dict[str, str]]:
        """The subjects by the field that named them, and what is wrong by field."""
        chosen: dict[str, Subject] = {}
        wrong: dict[str, str] = {}
        if fields.ticked(EVERYONE_FIELD):
            chosen[EVERYONE_FIELD] = EVERYONE
        for name, read in (
            (PERSON_FIELD, self._person),
            (CHANNEL_FIELD, self._channel),
            (GROUP_FIELD, self._usergroup),
            (LOCAL_FIELD, self._local_group),
        ):
            if text := fields.text(name):
                subject = await read(visit, text)
                if isinstance(subject, _Wrong):
                    wrong[name] = subject.sentence
                else:
                    chosen[name] = subject
        return chosen, wrong

    async def _person(self, visit: Visit, user: str) -> "Subject | _Wrong":
        person = await visit.person_of(user) if _USER.fullmatch(user) else None
        return _Wrong("Slack does not say who this is.") if person is None else parse_subject(f"user:{person}")

    async def _channel(self, visit: Visit, channel: str) -> "Subject | _Wrong":
        return visit.channel(channel) if _CHANNEL.fullmatch(channel) else _Wrong("This is no channel.")

    async def _usergroup(self, visit: Visit, given: str) -> "Subject | _Wrong":
        """A key of the menu, or an id that was typed."""
        for group in await self._visits.usergroups(visit):
            if given in (key(group.id), group.id):
                return visit.usergroup(group.id)
        if _USERGROUP.fullmatch(given):
            return visit.usergroup(given)
        return _Wrong("This is no user group: its id begins with S.")

    async def _local_group(self, visit: Visit, given: str) -> "Subject | _Wrong":
        for group in await self._administration.groups(visit.person):
            if given in (key(group.id), group.id):
                return parse_subject(f"group:{group.id}")
        return _Wrong("There is no such group any more.")

    async def _added(self, visit: Visit, kept: Kept, fields: "_Fields") -> View:
        user = fields.text(PERSON_FIELD)
        person = await visit.person_of(user) if _USER.fullmatch(user) else None
        if person is None:
            return errors({kept.field(PERSON_FIELD): "Slack does not say who this is."})
        try:
            added = await self._administration.add_admin(person, by=visit.person)
        except NotAdmin:
            raise
        except BotError as exc:
            return errors({kept.field(PERSON_FIELD): str(exc)})
        name = shown(Subject(f"user:{person}"), visit.homes)
        said = f"{name} is an admin now." if added else f"{name} was an admin already."
        return instead(await self._admins_view(visit, kept.afresh(), said=said))

    async def _limited(self, visit: Visit, kept: Kept, fields: "_Fields") -> View:
        after: dict[Limit, int] = {}
        wrong: dict[str, str] = {}
        for limit in Limit:
            text = fields.text(limit.value).strip()
            number = int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else 0
            if text and not 1 <= number <= MOST:
                wrong[kept.field(limit.value)] = "A whole number from 1 on; leave it empty for any number."
            elif text:
                after[limit] = number
        if wrong:
            return errors(wrong)
        try:
            await self._administration.change_limits(kept.limits, after, by=visit.person)
            said = "Saved; it holds from the next question on."
        except ChangedMeanwhile as exc:
            said = str(exc)
        return instead(limits_view(await self._administration.limits(visit.person), kept.afresh(), said=said))

    # -- modals as things are now

    async def _bucket(self, by: PersonId, bucket_key: str) -> Bucket | None:
        return next((one for one in await self._administration.buckets(by) if key(one.id) == bucket_key), None)

    async def _bucket_view(self, visit: Visit, bucket_key: str, kept: Kept, *, said: str = "") -> View:
        bucket = await self._bucket(visit.person, bucket_key)
        if bucket is None:
            return told_view(_STALE)
        return bucket_view(
            bucket,
            kept,
            usergroups=await self._visits.usergroups(visit),
            groups=await self._administration.groups(visit.person),
            zone=visit.zone,
            homes=visit.homes,
            said=said,
        )

    async def _admins_view(self, visit: Visit, kept: Kept, *, said: str = "") -> View:
        return admins_view(await self._administration.admins(visit.person), kept, homes=visit.homes, said=said)

    async def _questions_view(self, by: PersonId) -> View:
        unanswered = await self._administration.unanswered(by, QUESTIONS)
        return questions_view(unanswered, await self._administration.rated_badly(by, QUESTIONS))


class _Wrong:
    """What was chosen cannot be granted to."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence


class _Field(BaseModel):
    """What stands in one field, of whatever kind it is."""

    value: str | None = None
    selected_user: str | None = None
    selected_conversation: str | None = None
    selected_option: dict[str, Any] | None = None
    selected_options: list[dict[str, Any]] = []


class _Fields:
    """What stands in a modal, by action. Nothing where it is not of a kind that we asked for."""

    def __init__(self, told: Interaction) -> None:
        self._by_action = {
            action: held for actions in told.view.state.values.values() for action, held in actions.items()
        }

    def text(self, action: str) -> str:
        """What was typed or chosen; empty where nothing was."""
        field = self._field(action)
        option = (field.selected_option or {}).get("value")
        chosen = (field.value, field.selected_user, field.selected_conversation, option)
        return next((one.strip() for one in chosen if isinstance(one, str)), "")

    def ticked(self, action: str) -> bool:
        return bool(self._field(action).selected_options)

    def _field(self, action: str) -> _Field:
        try:
            return _Field.model_validate(self._by_action.get(action, {}))
        except ValidationError:
            return _Field()


def _moment() -> float:
    """By the clock that the loop's deadlines go by."""
    return asyncio.get_running_loop().time()


async def _is_home_tab(event: dict[str, Any]) -> bool:
    return event.get("tab") == "home"
