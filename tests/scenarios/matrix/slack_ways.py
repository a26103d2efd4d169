"""The ways in which people reach Parley in Slack."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from adapters.slack.home.post_modal import CHANNEL_FIELD, POST_ACTION, POST_SCHEDULES, POST_VIEW, SCHEDULE_FIELD
from adapters.slack.home.report_blocks import SYNONYM_ACTION
from adapters.slack.home.schema_modal import OPEN_SCHEMA_ACTION, SCHEMA_VIEW, SchemaState
from adapters.slack.home.synonym_modal import SYNONYM_VIEW, SynonymState
from adapters.slack.posting.render import STOP_ACTION
from bot.admin.sentences import opaque_key_of
from bot.ids import PersonId
from tests.scenarios.matrix.marked_buckets import LINK, SECRET
from tests.scenarios.matrix.slack_town import SlackSeat, SlackTown, SlackWay, a_view, open_slack_town, turn_of, user_of
from tests.scenarios.matrix.stored_turns import list_saved_numbers, run_saved_searches_of
from tests.scenarios.matrix.town import SAVED_REPORTS, SAVED_SEARCH, MatrixTown, MatrixWays
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

_UNKNOWN_WORD: Final = "zorblaxes"  # of no bucket, so that the report offers it as a synonym


async def ask_in_channel(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    await town.slack.post_as_person(seat.person, seat.channel, f"<@{BOT_USER}> {words}")


async def ask_in_private(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    await town.slack.post_as_person(seat.person, seat.direct, words)


async def ask_in_thread(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """In the thread of the person's own earlier question, else in the thread of Ada's question in the channel."""
    if offer is not None:
        await town.slack.post_as_person(seat.person, seat.direct, words, thread_ts=offer.thread_ts)
        return
    root, _ = await town.slack.post_as_person(town.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
    await town.slack.post_as_person(seat.person, seat.channel, f"<@{BOT_USER}> {words}", thread_ts=root.ts)


async def ask_by_command(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    await town.slack.use_command(seat.person, seat.channel, "/ask-docs", words)


async def ask_by_shortcut(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    message, _ = await town.slack.post_as_person(town.ada, seat.channel, words)
    await town.slack.use_shortcut(seat.person, message, "ask_about_message")


async def open_home_tab(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    await town.slack.open_home(seat.person)


async def click_choices(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Clicks every button of the person's own offer, else Ada's buttons, forged onto a message of the person."""
    message = offer or await town.post_any_message(seat)
    for button in (offer or town.offer_of_ada).block_buttons():
        await town.slack.deliver_action(seat.person, message, button)


async def type_choices(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Types a choice by position and by name, with and without an earlier offer."""
    thread = offer.thread_ts if offer else None
    for typed in ("1", "just answer"):
        await town.slack.post_as_person(seat.person, seat.direct, typed, thread_ts=thread)


async def export_list(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Asks for an export of an earlier list: one from when the person had the right, and one without the right."""
    root, _ = await town.slack.post_as_person(seat.person, seat.direct, "List every ledger")
    for thread in {root.ts, offer.thread_ts if offer else root.ts}:
        await town.slack.post_as_person(seat.person, seat.direct, "export as CSV", thread_ts=thread)


async def download_file(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Opens the link to the person's own file, else Ada's link with another export, time or signature."""
    for link in LINK.findall(str(offer.blocks)) if offer else forge_links(town.link):
        await town.fetch(seat.person, link)
    for path in ("/metrics", "/readyz", "/healthz", "/download/", "/download/1.2.3"):
        await town.fetch(seat.person, path)


def forge_links(link: str) -> list[str]:
    base, _, signed = link.rpartition("/")
    export, expires, mac = signed.split(".")
    forged_parts = [
        (export[::-1], expires, mac),
        (export, f"{int(expires) + 60}", mac),
        (export, expires, mac[::-1]),
    ]
    return [f"{base}/{'.'.join(link_parts)}" for link_parts in forged_parts]


async def rate_answer(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """With the buttons of the person's own answer, else of Ada's answer, forged as in `click_choices`."""
    message = offer or await town.post_any_message(seat)
    elements = [element for block in (offer or town.answer_to_ada).blocks for element in block.get("elements", [])]
    for rating in (element for element in elements if element.get("type") == "feedback_buttons"):
        for pressed in (rating["positive_button"], rating["negative_button"]):
            payload = {"type": "feedback_buttons", "action_id": rating["action_id"], **pressed}
            await town.slack.deliver_action(seat.person, message, payload)


async def show_steps(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """The steps of an answer contain its searches."""
    message, shown_message = offer or await town.post_any_message(seat), offer or town.answer_to_ada
    for button in (button for button in shown_message.block_buttons() if button["text"]["text"] == "Show steps"):
        await town.slack.deliver_action(seat.person, message, button)


async def stop_answer(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    message, turn = offer or await town.post_any_message(seat), turn_of(offer or town.answer_to_ada)
    await town.slack.deliver_action(seat.person, message, {"type": "button", "action_id": STOP_ACTION, "value": turn})


async def read_others_aside(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Ada, who may see the bucket, asks in the channel that the person reads, and continues in private."""
    await town.slack.post_as_person(town.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
    await town.wait_until_quiet()
    for answer in town.answers_in(seat.channel):
        for button in private_buttons_of(answer):
            await town.slack.deliver_action(town.ada, answer, button)


async def ask_follow_up(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Without a mention, in the thread of an answer to Ada in the person's channel."""
    await town.slack.post_as_person(seat.person, seat.channel, words, thread_ts=town.roots[seat.channel.id])


async def edit_question(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """A question that was answered when the person had the right, else any message."""
    question = None if offer is None else town.slack.workspace.find_message(offer.channel, str(offer.thread_ts))
    await town.slack.edit_message(question or await town.post_any_message(seat), words)


async def show_full_text(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Of the person's own answer, else of Ada's answer by its id."""
    message, turn = offer or await town.post_any_message(seat), turn_of(offer or town.answer_to_ada)
    await town.slack.deliver_action(seat.person, message, {"type": "button", "action_id": "whole", "value": turn})


async def show_more_choices(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """By the offer's id, and chooses from a modal."""
    shown_message, message = offer or town.offer_of_ada, offer or await town.post_any_message(seat)
    pressed = {"type": "button", "action_id": "more", "value": await town.clarification_of(turn_of(shown_message))}
    await town.slack.deliver_action(seat.person, message, pressed)
    position = {"channel": message.channel, "thread": message.thread_ts or message.ts, "message": message.ts}
    buttons = [button for button in shown_message.block_buttons() if button["action_id"].startswith("clarify:")]
    for button in buttons:
        chosen = {"selected_option": {"value": button["value"]}}
        view = a_view("modal", "more", json.dumps({**position, "about": ""}), more=chosen)
        await town.submit_view(seat.person, view)


async def continue_in_private(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """With a question that Ada asked in the person's channel."""
    for answer in town.answers_in(seat.channel):
        for button in private_buttons_of(answer):
            await town.slack.deliver_action(seat.person, answer, button)


async def open_messages_tab(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    await town.slack.open_home(seat.person, tab="messages")


async def administer(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Clicks every button of an admin's Home tab and of its modals. A person who is no admin also submits modals to get
    access, and has the report posted.
    """
    await town.slack.post_as_person(seat.person, seat.direct, f"How many {_UNKNOWN_WORD} are there?")
    await town.wait_until_quiet()
    await town.slack.open_home(seat.person)
    for action, value in _admin_buttons():
        await town.click_in_view(seat.person, action, value)
    for view, actions in _forged_modals():
        for action in actions:
            await town.click_in_view(seat.person, action, opaque_key_of(SECRET), view)
        await town.submit_view(seat.person, view)
    if not await town.bot.administration.is_admin(PersonId(f"slack:{seat.person.team}:{seat.person.id}")):
        for view in _admin_submissions(seat):
            await town.submit_view(seat.person, view)
        await town.slack.post_as_person(seat.person, seat.direct, "List every ledger")


async def save_search(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """In private and in the channel, and lets both report."""
    saving = f"Every Monday at 9:00: {words}"
    await town.slack.post_as_person(seat.person, seat.direct, saving)
    await town.slack.post_as_person(seat.person, seat.channel, f"<@{BOT_USER}> {saving}")
    await _read_reports(town, seat.person, seat.direct)


async def read_saved_reports(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Of a search that was saved when the person had the right, else now: reports, lists, stops and resumes it."""
    if offer is None:
        await town.slack.post_as_person(seat.person, seat.direct, SAVED_SEARCH)
    await _read_reports(town, seat.person, seat.direct)
    for number in await list_saved_numbers(town.bot, PersonId(f"slack:{seat.person.team}:{seat.person.id}")):
        for action in ("resume", "stop"):
            await town.click_in_view(seat.person, f"home:saved:{action}", str(number))


async def read_others_reports(town: SlackTown, seat: SlackSeat, words: str, offer: SlackMessage | None) -> None:
    """Of a search that Ada, who may see the bucket, saves in the channel that the person reads."""
    await town.slack.post_as_person(town.ada, seat.channel, f"<@{BOT_USER}> {SAVED_SEARCH}")
    await _read_reports(town, town.ada, seat.channel)
    await town.slack.post_as_person(seat.person, seat.channel, f"<@{BOT_USER}> saved searches")


async def _read_reports(town: SlackTown, person: SlackMember, channel: SlackChannel) -> None:
    """Lets the person's searches report, and lists them."""
    await town.wait_until_quiet()
    await run_saved_searches_of(town.bot, PersonId(f"slack:{person.team}:{person.id}"))
    await town.slack.post_as_person(person, channel, f"<@{BOT_USER}> show my saved searches")
    await town.slack.open_home(person)


def private_buttons_of(answer: SlackMessage) -> list[dict[str, Any]]:
    return [button for button in answer.block_buttons() if button["text"]["text"] == "Continue in private"]


def _admin_buttons() -> Iterator[tuple[str, str]]:
    for modal in ("bucket", "admins", "limits", "questions", "changes"):
        yield f"admin:{modal}", opaque_key_of(SECRET)
    for ways in ("home:mine:next", "home:all:next", "grant:page:next", "admin:page:next"):
        yield ways, "0:0"
    yield from (("grant:remove", "nobody"), ("admin:remove", "nobody"))
    yield from ((SYNONYM_ACTION, _UNKNOWN_WORD), (POST_ACTION, "open"), (OPEN_SCHEMA_ACTION, "open"))


def _forged_modals() -> Iterator[tuple[dict[str, Any], Sequence[str]]]:
    """The modals of synonyms and schemas as if the marked bucket had been chosen in them, each with its buttons. They
    claim that what is chosen was counted before, and is only to be saved.
    """
    bucket, field = opaque_key_of(SECRET), opaque_key_of("harrierfirm")
    chosen = SynonymState(word=_UNKNOWN_WORD, bucket=bucket, field=field, value=opaque_key_of("merlinworks"))
    for state in (chosen, chosen.model_copy(update={"counted": chosen.choice})):
        view = a_view("modal", SYNONYM_VIEW, state.model_dump_json())
        yield view, ("report:bucket", "report:field", "report:value", "report:ask", "report:none")
    part = SchemaState(bucket=bucket, part=field)
    typed = {name: {"value": "hawkhouse"} for name in ("title", "synonyms")}
    yield a_view("modal", SCHEMA_VIEW, part.model_dump_json(), **typed), ("schema:bucket", "schema:part", "schema:none")


def _admin_submissions(seat: SlackSeat) -> Iterator[dict[str, Any]]:
    metadata, person = json.dumps({"bucket": opaque_key_of(SECRET)}), {"selected_user": seat.person.id}
    everyone = {"selected_options": [{"value": "yes"}]}
    yield a_view("modal", "admin:bucket", metadata, person=person, everyone=everyone)
    yield a_view("modal", "admin:admins", metadata, person=person)
    yield a_view("modal", "admin:limits", metadata)
    channel, (_, schedule) = {"selected_conversation": seat.channel.id}, POST_SCHEDULES[0]
    chosen: dict[str, Any] = {CHANNEL_FIELD: channel, SCHEDULE_FIELD: {"selected_option": {"value": schedule}}}
    yield a_view("modal", POST_VIEW, **chosen)


SLACK_WAYS: Final[Mapping[str, SlackWay]] = {
    "mention": ask_in_channel,
    "private chat": ask_in_private,
    "thread": ask_in_thread,
    "command": ask_by_command,
    "shortcut": ask_by_shortcut,
    "Home": open_home_tab,
    "click": click_choices,
    "typed choice": type_choices,
    "export": export_list,
    "download": download_file,
    "feedback": rate_answer,
    "steps": show_steps,
    "stop": stop_answer,
    "aside": read_others_aside,
    "follow-up": ask_follow_up,
    "edit": edit_question,
    "show all": show_full_text,
    "more choices": show_more_choices,
    "in private": continue_in_private,
    "prompts": open_messages_tab,
    "saving": save_search,
    SAVED_REPORTS: read_saved_reports,
    "saved aside": read_others_reports,
    "administering": administer,
}

WAYS: Final = MatrixWays(
    names=tuple(SLACK_WAYS),
    once={
        "Home": "a Home tab is opened without a question",
        "download": "a link is fetched without a question",
        "click": "every button is pressed, whatever is looked for",
        "typed choice": "the same is typed, whatever is looked for",
        "export": "the same is said, whatever is looked for",
        "feedback": "every button is pressed, whatever is looked for",
        "steps": "the button is pressed, whatever is looked for",
        "stop": "the button is pressed, whatever is looked for",
        "aside": "somebody else asks",
        "show all": "the button is pressed, whatever is looked for",
        "more choices": "the button is pressed, whatever is looked for",
        "in private": "somebody else has asked",
        "prompts": "the Messages tab is opened without a question",
        SAVED_REPORTS: "the search is there already, and reports by itself",
        "saved aside": "somebody else has saved the search",
        "administering": "every button is pressed and every modal submitted, whatever is looked for",
    },
    shows_nothing={
        "feedback": "a rating is thanked for, and a bad one asks why: neither says anything again",
        "stop": "a turn that has ended is not stopped",
        "in private": "where the channel may see it as well, there is nothing to go on with in private",
    },
    without_offer=frozenset({"Home", "prompts", "saved aside", "administering"}),
    missing={
        "group chat": "a conversation of several people is a channel like any other",
        "menu": "choices that do not fit stand behind a button",
        "file consent": "a file is uploaded without asking",
    },
    may_see=dict.fromkeys(("Home", "saving", SAVED_REPORTS, "administering"), frozenset({SECRET, "137"})),
)


@dataclass(frozen=True)
class SlackMatrix:
    """Fulfils `MatrixProduct`."""

    name: str = "slack"
    ways: MatrixWays = WAYS

    def person_ids_of(self, names: Sequence[str]) -> list[PersonId]:
        return [PersonId(f"slack:{TEAM}:{user_of(name)}") for name in names]

    @asynccontextmanager
    async def open_town(self, home: Path, *, admins: Sequence[PersonId] = ()) -> AsyncGenerator[MatrixTown]:
        async with open_slack_town(home, SLACK_WAYS, admins=admins) as town:
            yield town
