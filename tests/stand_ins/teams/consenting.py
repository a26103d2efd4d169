"""People's actions with files: consenting to one, declining it, and sending their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.stand_ins.teams.activity_checker import attachments_of
from tests.stand_ins.teams.clicking import TeamsClicking
from tests.stand_ins.teams.conversing import TeamsActionNotPossible
from tests.stand_ins.teams.deliveries import ActivityDelivery
from tests.stand_ins.teams.files import DOWNLOAD_S, UPLOAD_S, SentFile, UploadSession
from tests.stand_ins.teams.json_parts import object_of
from tests.stand_ins.teams.tenancy import CONSENT_CARD, TenantMessage, TenantPerson, identifier_of

_DOWNLOAD_INFO = "application/vnd.microsoft.teams.file.download.info"


@dataclass
class TeamsFileActions(TeamsClicking):
    async def accept(
        self, person: TenantPerson, message: TenantMessage, *, valid_s: float = UPLOAD_S
    ) -> ActivityDelivery:
        """Accept a file that the app offers. `valid_s`: seconds until the upload's address expires."""
        card = _consent_of(message)
        session = self._open_upload(person, card["name"], valid_s)
        upload = {
            "contentUrl": session.content_url,
            "name": session.name,
            "uploadUrl": f"{self.origin}/upload/{session.unique_id}",
            "uniqueId": session.unique_id,
            "fileType": session.name.rpartition(".")[2],
        }
        context = object_of(object_of(card, "content"), "acceptContext")
        value = {"type": "fileUpload", "action": "accept", "context": context, "uploadInfo": upload}
        return await self.send_invoke(person, message, "fileConsent/invoke", value)

    async def decline(self, person: TenantPerson, message: TenantMessage) -> ActivityDelivery:
        context = object_of(object_of(_consent_of(message), "content"), "declineContext")
        value = {"type": "fileUpload", "action": "decline", "context": context}
        return await self.send_invoke(person, message, "fileConsent/invoke", value)

    def upload_attachment(
        self, name: str, content: bytes, media_type: str = "application/octet-stream", *, valid_s: float = DOWNLOAD_S
    ) -> dict[str, Any]:
        """Upload a person's file; returns the attachment, to be given to `say`."""
        key = self._store_file(name, content, media_type, valid_s, is_image=False)
        content_url = (
            f"https://parley-my.sharepoint.example/Documents/Microsoft%20Teams%20Chat%20Files/{quote(name, safe='')}"
        )
        details = {
            "downloadUrl": f"{self.origin}/download/{key}/{quote(name, safe='')}",
            "uniqueId": key,
            "fileType": name.rpartition(".")[2],
        }
        return {"contentType": _DOWNLOAD_INFO, "contentUrl": content_url, "name": name, "content": details}

    def paste_image(self, content: bytes, media_type: str = "image/png") -> dict[str, Any]:
        """Paste an image into a message; returns the attachment, which the app reads with its token."""
        key = self._store_file("image", content, media_type, DOWNLOAD_S, is_image=True)
        return {"contentType": "image/*", "contentUrl": f"{self.service_url}v3/attachments/{key}/views/original"}

    def _store_file(self, name: str, content: bytes, media_type: str, valid_s: float, *, is_image: bool) -> str:
        key = identifier_of("file", self.tenant.next_activity_id())
        self.files.sent[key] = SentFile(
            name=name, content=content, media_type=media_type, expires_at_s=self.clock() + valid_s, is_image=is_image
        )
        return key

    def _open_upload(self, person: TenantPerson, name: str, valid_s: float) -> UploadSession:
        key = identifier_of("upload", person.id, self.tenant.next_activity_id())
        session = UploadSession(
            unique_id=key,
            name=name,
            content_url=f"https://parley-my.sharepoint.example/Documents/Applications/Parley/{quote(name)}",
            expires_at_s=self.clock() + valid_s,
        )
        self.files.uploads[key] = session
        return session


def _consent_of(message: TenantMessage) -> Mapping[str, Any]:
    cards = attachments_of(message.activity, CONSENT_CARD)
    if not cards or message.is_deleted:
        raise TeamsActionNotPossible("no file is offered")
    return cards[0]
