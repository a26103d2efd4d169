"""The reply to the prompt `check_documents`. The order of the fields is the order of writing."""

from enum import StrEnum

from pydantic import BaseModel, Field


class OutputFit(StrEnum):
    """Whether a document belongs to the set."""

    YES = "yes"
    UNCLEAR = "unclear"
    NO = "no"  # such documents need not be named


class CheckedDocumentOutput(BaseModel):
    """A document that fits or may fit."""

    id: int
    quote: str = Field(default="", description="words copied from the item that show it, or empty")
    fits: OutputFit


class DocumentCheckOutput(BaseModel):
    """The documents that fit or may fit; all others do not fit."""

    documents: list[CheckedDocumentOutput]
