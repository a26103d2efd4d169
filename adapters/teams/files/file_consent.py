"""Offers files in personal chats: a card asks for consent, and an accepted file goes into the person's OneDrive
(https://learn.microsoft.com/microsoftteams/platform/bots/how-to/bots-filesv4).

The card carries the id of a stored offer only. Its answer is stored before it is acknowledged; the upload follows in
the background.
"""

from functools import partial
from typing import Final

from structlog.typing import FilteringBoundLogger

from adapters.teams.addresses import TeamsAddress, conversation_id_of
from adapters.teams.connector.calls import ConnectorCalls
from adapters.teams.conversations import find_newest_url
from adapters.teams.errors import TeamsError
from adapters.teams.events.listeners import InvokeAnswer
from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.files.file_cards import consent_activity_for, text_activity_for
from adapters.teams.files.upload_record import FileDestination
from adapters.teams.files.uploads import FileUploads, OfferMessage
from adapters.teams.payloads.file_consent import ConsentAction, FileConsentAnswer, UploadInfo, read_consent_answer
from adapters.teams.posting.protocols import ServiceUrlSource
from bot.conversation.file_offers import FileAnswerer, FileOffer, FileOffers
from bot.errors import (
    BotError,
    DocumentsUnreachable,
    FileOfferAnswered,
    FileOfferRefused,
    ForeignFileOffer,
    TurnActionRefused,
    UnknownFileOffer,
)
from bot.ids import MessageId, TurnId
from bot.public_network import is_secure_url
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import FilePart
from bot.translation import use_language
from bot.turns.turn_actions import TurnActionHandler

CONSENT_INVOKE: Final = "fileConsent/invoke"
_KEPT_CARD_REFUSALS: Final = (FileOfferAnswered, UnknownFileOffer, ForeignFileOffer, DocumentsUnreachable)


class FileConsents:
    """Fulfils `adapters.teams.posting.protocols.FileSender` and `adapters.teams.events.listeners.InvokeHandler`."""

    invoke_names = (CONSENT_INVOKE,)

    def __init__(
        self,
        *,
        connector: ConnectorCalls,
        service_urls: ServiceUrlSource | None,
        offers: FileOffers,
        uploads: FileUploads,
        turn_actions: TurnActionHandler,
        log: FilteringBoundLogger,
        allows_loopback: bool = False,
    ) -> None:
        """`allows_loopback`: also uploads by http to this machine, for stand-ins."""
        self._connector, self._service_urls, self._offers, self._uploads = connector, service_urls, offers, uploads
        self._turn_actions, self._log, self._allows_loopback = turn_actions, log, allows_loopback

    # -- offers

    async def offer_file(self, address: TeamsAddress, turn: TurnId, message: MessageId, file: FilePart) -> None:
        """Raises `FileNotFoundError` where the file is gone or may no longer be seen, `OutboxFailed`."""
        conversation = conversation_id_of(address.tenant, address.conversation)
        offer = await self._offers.offer_export(turn, conversation)
        if offer is None or offer.size == 0:
            raise FileNotFoundError("there is no file to offer")
        await self._post_offer(address, offer, file.row_count_text)

    async def offer_text(
        self, address: TeamsAddress, turn: TurnId, message: MessageId, *, name: str, text: str
    ) -> None:
        """Raises `FileNotFoundError` where the turn is gone, `OutboxFailed`."""
        conversation = conversation_id_of(address.tenant, address.conversation)
        offer = await self._offers.offer_text(turn, conversation, name=name, text=text)
        if offer is None or offer.size == 0:
            raise FileNotFoundError("there is no text to offer")
        await self._post_offer(address, offer, "")

    async def _post_offer(self, address: TeamsAddress, offer: FileOffer, description: str) -> None:
        if offer.message is not None:
            return
        activity = consent_activity_for(
            offer_id=offer.id, name=offer.name, size=offer.size, description=description or offer.name
        )
        message = await self._connector.send_activity(
            await self._find_service_url(address), address.conversation, activity
        )
        if not message:
            return
        try:
            await self._offers.note_message(offer, MessageId(message))
        except OutboxFailed as exc:  # the offer is shown: a repeated delivery would show it a second time
            self._log.warning("message of a file offer not noted", offer=offer.id, reason=exc.reason)

    # -- answers

    async def answer_invoke(self, received: ReceivedActivity) -> InvokeAnswer:
        answer = read_consent_answer(received.activity.value)
        if answer is None:
            self._log.info("file consent not understood")
            return InvokeAnswer()
        try:
            if answer.action is ConsentAction.ACCEPT:
                await self._accept_file(received, answer)
            else:
                sentence = await self._offers.decline_offer(answer.context.file, _answerer_of(received))
                await self._show_sentence(received, sentence, replaces_card=True)
        except (FileOfferRefused, TurnActionRefused) as exc:
            self._log.info("file consent refused", reason=type(exc).__name__)
            await self._show_refusal(received, exc, answer.context.file)
        return InvokeAnswer()

    async def _accept_file(self, received: ReceivedActivity, answer: FileConsentAnswer) -> None:
        """Raises `FileOfferRefused`, `TurnActionRefused`."""
        offer_id, answerer = answer.context.file, _answerer_of(received)
        info = answer.upload_info
        if info is None or not self._is_usable(info):
            raise UnknownFileOffer()
        text_turn = await self._offers.find_text_turn(offer_id, answerer)
        if text_turn is not None:
            await self._turn_actions.check_full_text(text_turn, received.actor)
        destination = FileDestination(
            service_url=received.address.service_url,
            tenant=received.address.tenant,
            conversation=received.address.conversation,
            upload=info,
        )
        upload = await self._offers.accept_offer(
            offer_id,
            answerer,
            destination=destination.model_dump_json(),
            message=MessageId(received.activity.reply_to_id),
        )
        self._uploads.begin_upload(upload)

    def _is_usable(self, info: UploadInfo) -> bool:
        return all(
            is_secure_url(url, allows_loopback=self._allows_loopback) for url in (info.upload_url, info.content_url)
        )

    async def _show_refusal(self, received: ReceivedActivity, refusal: BotError, offer_id: str) -> None:
        """An answered offer keeps what its message shows by now; so does a message that a forged answer names, and an
        offer that can be accepted later. Any other offer is closed with its card, so that it can be made again.
        """
        is_over = not isinstance(
            refusal, FileOfferAnswered | UnknownFileOffer | ForeignFileOffer | DocumentsUnreachable
        )
        if is_over:
            await self._offers.close_offer(offer_id)
        with use_language(received.locale):
            sentence = str(UnknownFileOffer()) if isinstance(refusal, UnknownFileOffer) else str(refusal)
        await self._show_sentence(received, sentence, replaces_card=is_over)

    async def _show_sentence(self, received: ReceivedActivity, sentence: str, *, replaces_card: bool) -> None:
        """The answer is acknowledged even if the chat does not take the sentence."""
        address = received.address
        card = received.activity.reply_to_id if replaces_card else ""
        find_service_url = partial(self._find_service_url, address)
        message = OfferMessage(self._connector, find_service_url, address.conversation, card)
        try:
            await message.show_activity(text_activity_for(sentence))
        except TeamsError as exc:
            self._log.warning("end of a file offer not shown", reason=str(exc))

    async def _find_service_url(self, address: TeamsAddress) -> str:
        return await find_newest_url(
            self._service_urls,
            tenant=address.tenant,
            conversation=address.conversation,
            known_url=address.service_url,
        )


def _answerer_of(received: ReceivedActivity) -> FileAnswerer:
    return FileAnswerer(person=received.person, conversation=received.conversation)
