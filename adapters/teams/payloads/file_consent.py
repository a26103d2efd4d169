"""A person's answer to a file consent card (https://learn.microsoft.com/microsoftteams/platform/bots/how-to/bots-filesv4)."""

from enum import StrEnum

from pydantic import ValidationError

from adapters.teams.payloads.activities import ActivityPart


class ConsentAction(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"


class UploadInfo(ActivityPart):
    """Where the file goes, in the person's OneDrive. `upload_url` is a secret: it may be written to without a token."""

    upload_url: str
    content_url: str
    unique_id: str
    file_type: str = ""
    name: str = ""  # as OneDrive has named it


class OfferContext(ActivityPart):
    """What a card carries: the id of the stored offer, and nothing else."""

    file: str = ""


class FileConsentAnswer(ActivityPart):
    """`context` came with the card, and may have been forged since."""

    action: ConsentAction
    context: OfferContext = OfferContext()
    upload_info: UploadInfo | None = None


def read_consent_answer(value: object) -> FileConsentAnswer | None:
    """None for a value that is not an answer."""
    try:
        return FileConsentAnswer.model_validate(value)
    except ValidationError:
        return None
