"""Ids of the conversation side."""

from typing import NewType

from storage.search.ids import EVERYONE, BucketId, DocId, Subject

PersonId = NewType("PersonId", str)  # `slack:T1:U1`, `teams:TENANT:OBJECT`, `local:NAME`; `operator` owns the home
ConversationId = NewType("ConversationId", str)  # opaque outside its surface; starts with the surface's name
MessageId = NewType("MessageId", str)  # as the chat product names it
TurnId = NewType("TurnId", str)
ChoiceId = NewType("ChoiceId", str)
ClarificationId = NewType("ClarificationId", str)
ExportId = NewType("ExportId", str)
FileOfferId = NewType("FileOfferId", str)

OPERATOR = PersonId("operator")

__all__ = [
    "EVERYONE",
    "OPERATOR",
    "BucketId",
    "ChoiceId",
    "ClarificationId",
    "ConversationId",
    "DocId",
    "ExportId",
    "FileOfferId",
    "MessageId",
    "PersonId",
    "Subject",
    "TurnId",
]
