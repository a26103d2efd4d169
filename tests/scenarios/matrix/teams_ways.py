"""The ways in which people reach Parley in Teams."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.admin.sentences import opaque_key_of
from bot.ids import PersonId
from tests.scenarios.matrix.marked_buckets import LINK, SECRET
from tests.scenarios.matrix.slack_ways import forge_links
from tests.scenarios.matrix.stored_turns import list_saved_numbers, load_clarification_of, run_saved_searches_of
from tests.scenarios.matrix.teams_town import (
    TeamsSeat,
    TeamsTown,
    TeamsWay,
    member_id_of,
    open_teams_town,
    submissions_in,
)
from tests.scenarios.matrix.town import SAVED_REPORTS, SAVED_SEARCH, MatrixTown, MatrixWays
from tests.scenarios.surfaces.teams_messages import choices_of, offers_file
from tests.stand_ins.teams.activity_checker import attachments_of
from tests.stand_ins.teams.json_parts import object_of
from tests.stand_ins.teams.tenancy import CONSENT_CARD, TenantMessage


async def ask_in_channel(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    await town.teams.say(seat.person, seat.channel, words)


async def ask_in_group(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    await town.teams.say(seat.person, seat.group, words)


async def ask_in_private(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    await town.teams.say(seat.person, seat.private, words)


async def ask_in_thread(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """After the person's own earlier question, and in the thread of Ada's question in the channel."""
    if offer is not None:
        await town.teams.say(seat.person, seat.private, words)
    root, _ = await town.teams.say(town.ada, seat.channel, "List every ledger")
    await town.teams.say(seat.person, seat.channel, words, thread=root)


async def read_commands(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    for command in ("help", "buckets"):
        await town.teams.say(seat.person, seat.private, command)


async def click_choices(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Clicks every button of the person's own offer, else Ada's buttons, forged onto a message of the person."""
    message = offer or await town.post_any_message(seat)
    for submission in submissions_in(offer or town.offer_of_ada):
        if submission["parley"] == "choice":
            await town.teams.submit_card(seat.person, message, submission)


async def pick_choices(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Picks every choice as from a menu, also those that are buttons."""
    message = offer or await town.post_any_message(seat)
    for choice in choices_of(offer or town.offer_of_ada):
        submission = json.loads(choice.handle)["data"]
        picked = {"parley": "pick", "choice": submission.get("id") or submission.get("choice")}
        await town.teams.submit_card(seat.person, message, picked)


async def type_choices(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Types a choice by position and by name, with and without an earlier offer."""
    for typed in ("1", "just answer"):
        await town.teams.say(seat.person, seat.private, typed)


async def export_list(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Asks for an export of an earlier list, and takes every file that is offered then."""
    await town.teams.say(seat.person, seat.private, "export as CSV")
    await town.wait_until_quiet()
    await ask_in_private(town, seat, "List every ledger", offer)
    await town.teams.say(seat.person, seat.private, "export as CSV")
    await town.wait_until_quiet()
    await take_files(town, seat)


async def take_files(town: TeamsTown, seat: TeamsSeat) -> None:
    for message in town.messages_in(seat.private):
        if offers_file(message):
            await town.accept_file(seat.person, message)
    await wait_for_uploads(town, seat)


async def wait_for_uploads(town: TeamsTown, seat: TeamsSeat) -> None:
    """An upload begins in the background, and the card of its offer changes when it has ended, or was refused."""
    pending = [message for message in town.messages_in(seat.private) if offers_file(message)]
    await town.teams.wait_until(lambda: not any(offers_file(message) for message in pending), within_s=30)


async def download_file(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Opens the link to the person's own file, else Ada's link with another export, time or signature."""
    for link in LINK.findall(json.dumps(offer.activity)) if offer else forge_links(town.link):
        await town.fetch(seat.person, link)
    for path in ("/metrics", "/readyz", "/healthz", "/download/", "/download/1.2.3"):
        await town.fetch(seat.person, path)


async def consent_to_file(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Accepts a file that was offered when the person had the right, else Ada's file, forged onto an own message."""
    if offer is not None:
        await town.accept_file(seat.person, offer)
        await wait_for_uploads(town, seat)
        return
    message = await town.post_any_message(seat)
    [card] = attachments_of(town.consent_of_ada.activity, CONSENT_CARD)
    context = object_of(object_of(card, "content"), "acceptContext")
    upload = {
        "contentUrl": "https://parley-my.sharepoint.example/forged.csv",
        "name": "forged.csv",
        "uploadUrl": f"{town.teams.origin}/upload/forged",
        "uniqueId": "forged",
        "fileType": "csv",
    }
    for action in ("accept", "decline"):
        value = {"type": "fileUpload", "action": action, "context": context, "uploadInfo": upload}
        await town.teams.send_invoke(seat.person, message, "fileConsent/invoke", value)


async def rate_answer(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """The person's own answer, else Ada's answer from the person's own chat and by the id of her message."""
    rated = offer or town.answer_to_ada
    message = offer or await town.post_any_message(seat)
    for reaction in ("like", "dislike"):
        form = {"reaction": reaction, "feedback": json.dumps({"feedbackText": "why?"})}
        value = {"actionName": "feedback", "actionValue": form, "replyToId": rated.id}
        await town.teams.send_invoke(seat.person, message, "message/submitAction", value)


async def show_steps(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """The steps of an answer contain its searches."""
    await _submit_turn(town, seat, offer, "steps")


async def show_full_text(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    await _submit_turn(town, seat, offer, "full")
    await town.wait_until_quiet()
    await take_files(town, seat)


async def _submit_turn(town: TeamsTown, seat: TeamsSeat, offer: TenantMessage | None, kind: str) -> None:
    """Of the person's own answer, else of Ada's answer by its id."""
    message = offer or await town.post_any_message(seat)
    await town.teams.submit_card(seat.person, message, {"parley": kind, "turn": turn_of(offer or town.answer_to_ada)})


async def stop_answer(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    await _submit_turn(town, seat, offer, "stop")


async def read_others_aside(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Ada, who may see the bucket, asks in the channel that the person reads, and continues in private."""
    await town.teams.say(town.ada, seat.channel, "List every ledger")
    await town.wait_until_quiet()
    for answer in town.messages_in(seat.channel):
        if PRIVATE_LABEL in answer.button_titles():
            await town.teams.click(town.ada, answer, PRIVATE_LABEL)


async def edit_question(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """A question that was answered when the person had the right, else any message."""
    question = town.question_of(offer) if offer else await town.post_any_message(seat)
    await town.teams.edit_message(question, words)


async def show_more_choices(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """By the offer's id."""
    message = offer or await town.post_any_message(seat)
    clarification = await load_clarification_of(town.bot, turn_of(offer or town.offer_of_ada))
    await town.teams.submit_card(seat.person, message, {"parley": "more", "clarification": clarification})


async def continue_in_private(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """With a question that Ada asked in the person's channel."""
    for answer in town.messages_in(seat.channel):
        if PRIVATE_LABEL in answer.button_titles():
            await town.teams.click(seat.person, answer, PRIVATE_LABEL)


async def administer(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Submits every action of the administration. A person who is no admin also tries to get access."""
    await town.teams.say(seat.person, seat.private, "grants")
    message = await town.post_any_message(seat)
    for submission in _admin_submissions(seat):
        await town.teams.submit_card(seat.person, message, submission)
    if not await town.bot.administration.is_admin(member_id_of(seat.person.name)):
        for submission in _access_submissions(seat):
            await town.teams.submit_card(seat.person, message, submission)
        await town.teams.say(seat.person, seat.private, "List every ledger")


def _admin_submissions(seat: TeamsSeat) -> Iterator[dict[str, Any]]:
    for action in (
        "help",
        "buckets",
        "grants",
        "bucket",
        "revoke",
        "admins",
        "remove_admin",
        "limits",
        "questions",
        "report",
        "changes",
        "?",
    ):
        yield {"parley": "admin", "action": action, "bucket": opaque_key_of(SECRET)}


def _access_submissions(seat: TeamsSeat) -> Iterator[dict[str, Any]]:
    person = {"typed_person": str(member_id_of(seat.person.name))}
    yield {"parley": "admin", "action": "grant", "bucket": opaque_key_of(SECRET), "everyone": "yes", **person}
    yield {"parley": "admin", "action": "add_admin", **person}
    yield {"parley": "admin", "action": "save_limits", "limit_person_hour": "1000"}


async def save_search(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """In private and in the channel, and lets both report."""
    saving = f"Every Monday at 9:00: {words}"
    await town.teams.say(seat.person, seat.private, saving)
    await town.teams.say(seat.person, seat.channel, saving)
    await _read_reports(town, seat.person.name, seat)


async def read_saved_reports(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Of a search that was saved when the person had the right, else now: reports, lists, stops and resumes it."""
    if offer is None:
        await town.teams.say(seat.person, seat.private, SAVED_SEARCH)
    await _read_reports(town, seat.person.name, seat)
    message = await town.post_any_message(seat)
    for number in await list_saved_numbers(town.bot, member_id_of(seat.person.name)):
        for action in ("resume_saved", "stop_saved", "stop_saved_confirmed"):
            submission = {"parley": "admin", "action": action, "number": number}
            await town.teams.submit_card(seat.person, message, submission)


async def read_others_reports(town: TeamsTown, seat: TeamsSeat, words: str, offer: TenantMessage | None) -> None:
    """Of a search that Ada, who may see the bucket, saves in the channel that the person reads."""
    await town.teams.say(town.ada, seat.channel, SAVED_SEARCH)
    await _read_reports(town, town.ada.name, seat)


async def _read_reports(town: TeamsTown, name: str, seat: TeamsSeat) -> None:
    """Lets the searches of a person report, and lists those of the seat's."""
    await town.wait_until_quiet()
    await run_saved_searches_of(town.bot, member_id_of(name))
    await town.teams.say(seat.person, seat.channel, "show my saved searches")
    for command in ("saved searches", "show my saved searches"):
        await town.teams.say(seat.person, seat.private, command)


def turn_of(message: TenantMessage) -> str:
    return next(str(submission["turn"]) for submission in submissions_in(message) if "turn" in submission)


PRIVATE_LABEL: Final = "Continue in private"
TEAMS_WAYS: Final[Mapping[str, TeamsWay]] = {
    "mention": ask_in_channel,
    "group chat": ask_in_group,
    "private chat": ask_in_private,
    "thread": ask_in_thread,
    "Home": read_commands,
    "click": click_choices,
    "menu": pick_choices,
    "typed choice": type_choices,
    "export": export_list,
    "download": download_file,
    "file consent": consent_to_file,
    "feedback": rate_answer,
    "steps": show_steps,
    "stop": stop_answer,
    "aside": read_others_aside,
    "edit": edit_question,
    "show all": show_full_text,
    "more choices": show_more_choices,
    "in private": continue_in_private,
    "saving": save_search,
    SAVED_REPORTS: read_saved_reports,
    "saved aside": read_others_reports,
    "administering": administer,
}

WAYS: Final = MatrixWays(
    names=tuple(TEAMS_WAYS),
    once={
        "Home": "the cards of the commands are shown without a question",
        "click": "every button is pressed, whatever is looked for",
        "menu": "every choice is picked, whatever is looked for",
        "typed choice": "the same is typed, whatever is looked for",
        "export": "the same is said, whatever is looked for",
        "download": "a link is fetched without a question",
        "file consent": "a file is accepted without a question",
        "feedback": "both ratings are sent, whatever is looked for",
        "steps": "the button is pressed, whatever is looked for",
        "stop": "the button is pressed, whatever is looked for",
        "aside": "somebody else asks",
        "show all": "the button is pressed, whatever is looked for",
        "more choices": "the button is pressed, whatever is looked for",
        "in private": "somebody else has asked",
        SAVED_REPORTS: "the search is there already, and reports by itself",
        "saved aside": "somebody else has saved the search",
        "administering": "every action is submitted, whatever is looked for",
    },
    shows_nothing={
        "feedback": "a rating is answered without content",
        "stop": "a turn that has ended is not stopped",
        "in private": "where the channel may see it as well, there is nothing to go on with in private",
    },
    without_offer=frozenset({"Home", "saved aside", "administering"}),
    missing={
        "command": "commands are words in the private chat: see Home and administering",
        "shortcut": "there is no message extension",
        "follow-up": "Teams delivers only messages that mention the app",
        "prompts": "no suggestions are sent",
    },
    may_see={"Home": frozenset({SECRET, "137"}), "administering": frozenset({SECRET, "137"})},
)


@dataclass(frozen=True)
class TeamsMatrix:
    """Fulfils `MatrixProduct`."""

    name: str = "teams"
    ways: MatrixWays = WAYS

    def person_ids_of(self, names: Sequence[str]) -> list[PersonId]:
        return [member_id_of(name) for name in names]

    @asynccontextmanager
    async def open_town(self, home: Path, *, admins: Sequence[PersonId] = ()) -> AsyncGenerator[MatrixTown]:
        async with open_teams_town(home, TEAMS_WAYS, admins=admins) as town:
            yield town
