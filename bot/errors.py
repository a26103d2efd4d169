"""The errors of the bot.

BotError                        its text is one plain sentence for a person
├── InvalidSettings             a setting with an invalid value: which, why, what to do
├── InvalidSubject              no valid person or subject
├── PictureFailed               a picture that cannot be drawn; the reply stands without it
├── ResultCacheUnavailable      the file of what models returned cannot be read or written
├── SynonymRefused              a synonym that a schema cannot take
├── InvalidQuestion             empty or too long
├── MissingBucket               the operator named a bucket that does not exist
├── UnknownTurn                 no such turn
├── UnreadableTurn              a stored turn in a form that can no longer be read
├── InvalidSource               no valid source of documents
├── UnknownSource               no such source
├── SourceBusy                  another process is syncing it
├── UnknownSavedSearch          no saved search of this number, or it was stopped
├── SavedSearchRefused          a button of a saved search that does nothing
│   ├── EndedSavedSearch        it was stopped, or there is none
│   └── NotYourSavedSearch      another person has saved it
├── ChoiceRefused               a click that does not count
│   ├── UnknownChoice           forged, or of another conversation
│   ├── ExpiredChoice           offered too long ago
│   ├── ChoiceAlreadyMade       another click came first
│   ├── RightsChanged           the offer was made under other rights
│   └── NotYourChoice           the person may not read the answer, so may not choose
├── TurnActionRefused           an action on a turn that is not done
│   ├── AnswerNotFound          forged, or of another conversation
│   ├── NotYourAnswer           the answer to another person
│   ├── AnswerNoLongerVisible   the reader has lost access to a bucket or document of the answer
│   ├── DocumentsUnreachable    access to the documents cannot be checked now
│   └── TurnAlreadyEnded        too late to stop the turn
├── ExportRefused               an export without a file
│   ├── ExportBusy              one export at a time for each person
│   ├── ExportStopped           the reader has lost access to what it lists
│   ├── ExportOvertaken         the documents changed too often before the file was complete
│   └── ExportWriteFailed       the disk does not accept the file
├── FileOfferRefused            an answer to an offered file that does not count
│   ├── UnknownFileOffer        forged, or of another conversation
│   ├── ForeignFileOffer        the file was offered to another person
│   ├── FileOfferAnswered       accepted or declined before
│   └── FileOfferEnded          the file is gone, or may no longer be seen
├── AdminRefused                a change of the administration that is not made
│   ├── NotAdmin                the person is not an admin, or no longer
│   ├── LastAdmin               at least one admin must remain
│   ├── AdminFromSettings       named in PARLEY_ADMINS
│   ├── IneligibleAdmin         a guest, or no longer a member
│   ├── UnknownGroup            no group of Parley's own
│   ├── BucketClosed            what is in a bucket, for an admin without a grant
│   ├── UnknownListing          a page of a list that is not there
│   ├── SchemaEditRefused       a change that a schema cannot take
│   ├── CorrectionRefused       a value that a field of a document cannot take
│   ├── RetentionRefused        a rule that a bucket cannot have
│   └── ConcurrentChange        another person changed it first
├── ProgramCallRefused          a call of another program that is not answered
│   ├── InvalidCall             arguments that are wrong or contradict each other
│   ├── UnknownConversation     no such conversation of the caller's
│   ├── NothingToExport         the question leads to no file
│   ├── UnknownDocument         no such document or bucket that the caller may see
│   └── ProgramCallFailed       the index or the database does not answer
└── LinkRefused                 a download that is not served
    ├── LinkForged              not signed by this Parley
    ├── LinkExpired             older than allowed
    ├── AdminLinkRefused        does not open the admin page
    ├── ReaderStatusUnknown     the chat product does not say whether the person still reads the channel
    └── FileGone                the file no longer exists, or is not for this person
"""

from collections.abc import Sequence

from bot.translation import translate_message


class BotError(Exception):
    """Base of all errors of the bot. `str()` of it may be shown to a person, in the language of the reply at hand."""


class InvalidSettings(BotError):
    """`setting` as people write it (`PARLEY_PORT`), what is wrong with it, and what to do."""

    def __init__(self, setting: str, reason: str, advice: str) -> None:
        super().__init__(f"{setting} {reason}: {advice}.")
        self.setting, self.reason, self.advice = setting, reason, advice


class ResultCacheUnavailable(BotError):
    """The file in which results of models are kept cannot be read or written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be used ({reason})")
        self.path, self.reason = path, reason


class PictureFailed(BotError):
    """Figures or labels that cannot be drawn."""

    def __init__(self) -> None:
        super().__init__("This picture could not be drawn.")


class InvalidSubject(BotError):
    """A text that a grant, a reader list or `--as` cannot name."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text!r} {reason}.")
        self.text, self.reason = text, reason


class SynonymRefused(BotError):
    """A synonym that a schema cannot take. The message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}.")


class InvalidQuestion(BotError):
    """A question that is empty or too long."""


class MissingBucket(BotError):
    """The operator named a bucket that does not exist. Other people are refused whether it exists or not."""

    def __init__(self, bucket: str) -> None:
        super().__init__(f"There is no bucket {bucket!r}.")
        self.bucket = bucket


class UnknownTurn(BotError):
    def __init__(self, turn: str) -> None:
        super().__init__(f"There is no turn {turn!r}.")
        self.turn = turn


class UnreadableTurn(BotError):
    """A stored turn in a form that can no longer be read."""

    def __init__(self) -> None:
        super().__init__(translate_message("This was kept in a way that I cannot read any more. Please ask again."))


class InvalidSource(BotError):
    """A location that documents cannot come from, or invalid options for it."""


class UnknownSource(BotError):
    """There is no such source; `known_sources` are the existing ones."""

    def __init__(self, source: str, known_sources: Sequence[str]) -> None:
        existing = f"there are {', '.join(known_sources)}" if known_sources else "there are none yet"
        super().__init__(f"there is no source {source!r}; {existing}")
        self.source = source


class SourceBusy(BotError):
    """Another process is syncing the source."""

    def __init__(self, source: str) -> None:
        super().__init__(f"{source} is being synced by another process; try again when that has ended")
        self.source = source


class UnknownSavedSearch(BotError):
    def __init__(self, number: int) -> None:
        super().__init__(f"there is no saved search {number}; parley saved list shows all")
        self.number = number


class SavedSearchRefused(BotError):
    """A button of a saved search that does nothing."""


class EndedSavedSearch(SavedSearchRefused):
    """It was stopped, or there is none of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(
            translate_message("Saved search {number} has ended already. Nothing was changed.", number=number)
        )


class NotYourSavedSearch(SavedSearchRefused):
    def __init__(self, number: int) -> None:
        super().__init__(
            translate_message(
                "Somebody else has saved search {number}, so only they may do that. Nothing was changed.",
                number=number,
            )
        )


class ChoiceRefused(BotError):
    """A click that does not count."""


class UnknownChoice(ChoiceRefused):
    """Forged, or of another conversation; the message does not say which."""

    def __init__(self) -> None:
        super().__init__(translate_message("I do not know this choice; please ask your question again."))


class ChoiceNumberTooHigh(ChoiceRefused):
    """A typed number beyond the last choice. `count`: how many were offered, at least 1."""

    def __init__(self, number: int, count: int) -> None:
        super().__init__(
            translate_message(
                "There is no choice {number}; the last one is {count}. Type its number, or ask something else.",
                number=str(number),
                count=str(count),
            )
        )
        self.number, self.count = number, count


class ExpiredChoice(ChoiceRefused):
    """Offered too long ago."""

    def __init__(self) -> None:
        super().__init__(translate_message("This choice has expired; please ask your question again."))


class ChoiceAlreadyMade(ChoiceRefused):
    """Another click came first: `label`, chosen by `by`."""

    def __init__(self, label: str, by: str) -> None:
        super().__init__(
            translate_message("A choice was already made here: {label}, by {name}.", label=label, name=by)
            if by
            else translate_message("A choice was already made here: {label}.", label=label)
        )
        self.label, self.by = label, by


class RightsChanged(ChoiceRefused):
    """The offer's readers are the same, but may see less or more by now. The offer's text is not shown again."""

    def __init__(self) -> None:
        super().__init__(translate_message("What may be seen here has changed since; please ask your question again."))


class NotYourChoice(ChoiceRefused):
    """The person may not read the answer, so may not choose."""

    def __init__(self) -> None:
        super().__init__(translate_message("This question was put to somebody else, so only they may choose here."))


class TurnActionRefused(BotError):
    """An action on a turn that is not done."""


class AnswerNotFound(TurnActionRefused):
    """Forged, or of another conversation; the message does not say which."""

    def __init__(self) -> None:
        super().__init__(translate_message("I do not know this answer; please ask your question again."))


class NotYourAnswer(TurnActionRefused):
    """The answer to another person."""

    def __init__(self) -> None:
        super().__init__(translate_message("This was said to somebody else, so only they may do that here."))


class AnswerNoLongerVisible(TurnActionRefused):
    """A bucket of the answer is no longer granted, or a document has other readers or is gone. Names neither."""

    def __init__(self) -> None:
        super().__init__(
            translate_message("Some of what this rests on may no longer be seen here, so I cannot show it.")
        )


class DocumentsUnreachable(TurnActionRefused):
    """Whether the reader may still see the documents of the answer cannot be checked now."""

    def __init__(self) -> None:
        super().__init__(
            translate_message("The documents cannot be reached right now. Please try again a little later.")
        )


class TurnAlreadyEnded(TurnActionRefused):
    """The turn has ended, so it cannot be stopped."""

    def __init__(self) -> None:
        super().__init__(translate_message("This has ended already, so there is nothing left to stop."))


class ExportRefused(BotError):
    """An export without a file."""


class ExportBusy(ExportRefused):
    """Each person may run one export at a time."""

    def __init__(self) -> None:
        super().__init__(
            translate_message("Your last export is still being written; please wait until it has arrived.")
        )


class ExportStopped(ExportRefused):
    """A bucket of the export is no longer granted, or its asker is deactivated. Names neither."""

    def __init__(self) -> None:
        super().__init__(translate_message("The export was stopped, because what it lists may no longer be seen here."))


class ExportOvertaken(ExportRefused):
    """The state of the documents was lost again and again before the file was complete."""

    def __init__(self) -> None:
        super().__init__(
            translate_message(
                "The documents changed again and again before the file was complete. Please ask for it again later, or "
                "for less at once."
            )
        )


class ExportWriteFailed(ExportRefused):
    """The disk does not accept the file."""

    def __init__(self) -> None:
        super().__init__(
            translate_message("The file could not be written here. Please ask for it again later, or for less at once.")
        )


class FileOfferRefused(BotError):
    """An answer to an offered file that does not count."""


class UnknownFileOffer(FileOfferRefused):
    """Forged, or of another conversation; the message does not say which."""

    def __init__(self) -> None:
        super().__init__(translate_message("I do not know this file; please ask for it again."))


class ForeignFileOffer(FileOfferRefused):
    """The file was offered to another person."""

    def __init__(self) -> None:
        super().__init__(translate_message("This file was offered to somebody else, so only they may take it."))


class FileOfferAnswered(FileOfferRefused):
    """The file was accepted or declined before."""

    def __init__(self) -> None:
        super().__init__(translate_message("This offer was answered already; please ask for the file again."))


class FileOfferEnded(FileOfferRefused):
    """The file has expired or was withdrawn, or its reader has lost access; the message does not say which."""

    def __init__(self) -> None:
        super().__init__(translate_message("This file is not available any more; please ask for it again."))


class AdminRefused(BotError):
    """A change of the administration that is not made."""


class NotAdmin(AdminRefused):
    """The person is not an admin, or no longer."""

    def __init__(self) -> None:
        super().__init__("Only admins of Parley can do this, and you are not one now. Nothing was changed.")


class LastAdmin(AdminRefused):
    """At least one admin must remain."""

    def __init__(self) -> None:
        super().__init__("This is the last admin. Make somebody else an admin first.")


class AdminFromSettings(AdminRefused):
    """Named in PARLEY_ADMINS, and therefore always an admin."""

    def __init__(self) -> None:
        super().__init__("This person is named in PARLEY_ADMINS, and can only be removed there.")


class IneligibleAdmin(AdminRefused):
    """A guest, a person of another organisation, or no longer a member."""

    def __init__(self) -> None:
        super().__init__("Only a full member of the organisation can be an admin, and this person is none now.")


class UnknownGroup(AdminRefused):
    """No group of Parley's own."""

    def __init__(self, group: str) -> None:
        super().__init__(f"There is no group {group!r}. Make it with: parley group create {group}")
        self.group = group


class BucketClosed(AdminRefused):
    """An admin asks for what is in a bucket that is not granted to them."""

    def __init__(self, bucket: str) -> None:
        super().__init__(
            f"What is in the documents of {bucket!r} is open to you only with a grant, also as an admin; you can give "
            "yourself one, and the audit log keeps who did."
        )
        self.bucket = bucket


class UnknownListing(AdminRefused):
    """The address of a page of documents that belongs to no list."""

    def __init__(self) -> None:
        super().__init__("There is no such page of documents; begin with the first one.")


class SchemaEditRefused(AdminRefused):
    """A change that a schema cannot take. The message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason[:1].upper()}{reason[1:]}.")


class RetentionRefused(AdminRefused):
    """A rule about how long documents are kept that a bucket cannot have. The message says why."""


class CorrectionRefused(AdminRefused):
    """A value that a field of a document cannot take. The message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason[:1].upper()}{reason[1:]}.")


class ConcurrentChange(AdminRefused):
    """Another person changed it first."""

    def __init__(self) -> None:
        super().__init__("Somebody changed this since you opened it. Please look at what it is now.")


class LinkRefused(BotError):
    """A download that is not served. `status` is the HTTP status."""

    status = 403


class LinkForged(LinkRefused):
    """Not signed by this Parley."""

    status = 403

    def __init__(self) -> None:
        super().__init__("This link is not valid; please ask for the file again.")


class LinkExpired(LinkRefused):
    """Older than allowed."""

    status = 410

    def __init__(self) -> None:
        super().__init__("This link has expired; please ask for the file again.")


class AdminLinkRefused(LinkRefused):
    """Forged, too old, used before, or of somebody who is not an admin; the message does not say which."""

    status = 403

    def __init__(self) -> None:
        super().__init__(
            "This link does not open the admin page: it is older than ten minutes, was used before, or is not valid; "
            "please ask for a new one."
        )


class ReaderStatusUnknown(LinkRefused):
    """The chat product does not say whether the person still reads the channel that the file was made for."""

    status = 503

    def __init__(self) -> None:
        super().__init__("Whether you may still have this file cannot be checked right now; please try again shortly.")


class FileGone(LinkRefused):
    """The file no longer exists, or is not for this person; the message does not say which."""

    status = 404

    def __init__(self) -> None:
        super().__init__("This file is not available any more; please ask for it again.")


class ProgramCallRefused(BotError):
    """A call of another program that is not answered."""


class InvalidCall(ProgramCallRefused):
    """Arguments that are wrong or contradict each other. The text says which."""


class UnknownConversation(ProgramCallRefused):
    """There is no such conversation, or it is not the caller's; the text does not say which."""

    def __init__(self) -> None:
        super().__init__("There is no such conversation; leave `conversation` out to begin a new one.")


class NothingToExport(ProgramCallRefused):
    """`reason`: the first line of the reply that came in place of a file."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"There is nothing to export: {reason}")
        self.reason = reason


class UnknownDocument(ProgramCallRefused):
    """There is no such document or bucket, or the caller may not see it; the text does not say which."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"There is no resource {uri}.")
        self.uri = uri


class ProgramCallFailed(ProgramCallRefused):
    """The index or the database does not answer; the text is the sentence that people read."""
