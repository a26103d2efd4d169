"""The commands in a personal chat, such as `help` and `grants`, and what their cards submit.

Each step shows in the one card. Rights are checked again at each submission, because a card may be old and its
contents prove nothing. An unknown action changes nothing and says so.
"""

from functools import partial
from typing import Final

from structlog.typing import FilteringBoundLogger

from adapters.teams.administration.admin_actions import AdminActions
from adapters.teams.administration.card_pages import AdminCards
from adapters.teams.administration.card_parts import card_activity, notice_part
from adapters.teams.administration.submissions import ADMIN_KIND, parse_admin_submission
from adapters.teams.administration.viewers import AdminDirectory, CardViewer, viewer_of
from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.events.reply_sending import ReplySending
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.payloads.submissions import submission_kind_of
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminOperations
from bot.conversation.personal_history import PersonalHistory
from bot.errors import BotError
from bot.saved_searches.personal_searches import PersonalSearches
from bot.translation import translate_message

_TEXT_COPY: Final = "text/html"  # Teams attaches each message's text once more as HTML
COMMANDS: Final = ("help", "buckets", "saved searches", "grants", "usage report")  # those of the manifest


class AdministrationListener:
    """Fulfils `adapters.teams.events.listeners.ActivityListener`. Asked before the listener for questions."""

    def __init__(
        self,
        *,
        administration: AdminOperations,
        personal_history: PersonalHistory,
        personal_searches: PersonalSearches,
        reports: AdminReports,
        directory: AdminDirectory,
        replies: ReplySending,
        log: FilteringBoundLogger,
    ) -> None:
        self._cards = AdminCards(administration, personal_history, personal_searches, reports, directory)
        self._actions = AdminActions(administration, personal_searches, self._cards)
        self._directory, self._replies, self._log = directory, replies, log

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        is_submission = submission_kind_of(received.activity.value) == ADMIN_KIND
        command = _command_of(received)
        if not is_submission and command is None:
            return False
        if not received.address.is_personal:
            await self._replies.answer_once(received, self._refuse_outside_personal_chat)
        elif command is not None:
            await self._replies.answer_once(received, partial(self._load_command_card, received, command))
        else:
            await self._replies.answer_once(received, partial(self._apply_submission, received), replaces_card=True)
        return True

    async def _load_command_card(self, received: ReceivedActivity, command: str) -> JsonObject:
        viewer = self._viewer_of(received)
        try:
            match command:
                case "grants":
                    return await self._cards.load_bucket_list_card(viewer)
                case "buckets":
                    return await self._cards.load_own_buckets_card(viewer)
                case "usage report":
                    return await self._cards.load_report_card(viewer)
                case "saved searches":
                    return await self._cards.load_saved_searches_card(viewer)
                case _:
                    return await self._cards.load_help_card(viewer)
        except BotError as exc:
            return _notice_card(str(exc))

    async def _apply_submission(self, received: ReceivedActivity) -> JsonObject:
        """Returns the card that takes the place of the submitted one."""
        submission = parse_admin_submission(received.activity.value)
        try:
            return await self._actions.apply_submission(self._viewer_of(received), submission)
        except BotError as exc:
            return _notice_card(str(exc))

    def _viewer_of(self, received: ReceivedActivity) -> CardViewer:
        """No turn is stored for a command, so the directory has to hear where the person has written."""
        self._directory.note_address(received.person, received.address)
        return viewer_of(received)

    async def _refuse_outside_personal_chat(self) -> JsonObject:
        """A card of the administration is in personal chats only, so the submission is forged."""
        self._log.warning("teams submission refused", reason="no personal chat")
        return _notice_card(translate_message("I do this in our personal chat only. Nothing was changed."))


def _command_of(received: ReceivedActivity) -> str | None:
    """The command of a message in a personal chat. Elsewhere the same words are a question."""
    activity = received.activity
    if activity.type != "message" or activity.value is not None or not received.address.is_personal:
        return None
    words = " ".join(activity.text.split()).casefold()
    has_files = any(attachment.content_type != _TEXT_COPY for attachment in activity.attachments)
    return words if words in COMMANDS and not has_files else None


def _notice_card(sentence: str) -> JsonObject:
    return card_activity([notice_part(sentence, is_error=True)], summary="Parley")
