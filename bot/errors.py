"""What the bot raises.

BotError                    its text is one plain sentence for a person
├── InvalidSettings         a setting that cannot be: which, why, what to do
├── InvalidSubject          not of a form that a grant can name
├── InvalidQuestion         empty, or too long to be one
├── NoSuchBucket            the operator named one that is not there
├── UnknownTurn             no such turn
├── UnreadableTurn          kept in a way that cannot be read any more
├── InvalidSource           nothing that documents could come from
├── UnknownSource           no such source
├── SourceBusy              another process is at it
├── ChoiceRefused           a click that does not count
│   ├── UnknownChoice       forged, or of another conversation
│   ├── ExpiredChoice       offered too long ago
│   ├── ChoiceMade          somebody was first
│   ├── RightsChanged       what it offers was found with other rights
│   └── NotYourChoice       who may not read the answer may not steer it
├── HandleRefused           nothing is done about the turn
│   ├── NotSaidHere         forged, or of another conversation
│   ├── NotYourAnswer       said to somebody else
│   ├── NoLongerSeen        a bucket or a document that it rests on is for others now
│   ├── NotReached          whether it may still be seen cannot be told now
│   └── EndedAlready        there is nothing left to stop
├── ExportRefused           no file
│   ├── ExportBusy          one at a time for each person
│   ├── ExportStopped       what it lists may no longer be seen
│   └── ExportUnwritten     the disk does not take it
├── AdminRefused            a change of administration that is not made
│   ├── NotAdmin            the person is none, or no longer
│   ├── LastAdmin           somebody must be left
│   ├── AdminBySettings     named in PARLEY_ADMINS
│   ├── UnfitAdmin          a guest, or no longer here
│   ├── NoSuchGroup         no group of Parley's own
│   └── ChangedMeanwhile    somebody else was first
└── LinkRefused             a download that is not served
    ├── LinkForged          not signed by this Parley
    ├── LinkExpired         older than it may be
    ├── ReaderUnknown       the chat product does not say whether the person still reads the channel
    └── FileGone            no such file any more, or not for this person
"""

from collections.abc import Sequence


class BotError(Exception):
    """Base of all that the bot raises. `str()` of it may be shown to a person."""


class InvalidSettings(BotError):
    """`setting` as people write it (`PARLEY_PORT`), what is wrong with it, what to do."""

    def __init__(self, setting: str, reason: str, advice: str) -> None:
        super().__init__(f"{setting} {reason}: {advice}.")
        self.setting, self.reason, self.advice = setting, reason, advice


class InvalidSubject(BotError):
    """Not of a form that a grant, a reader list or `--as` can name."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text!r} {reason}.")
        self.text, self.reason = text, reason


class InvalidQuestion(BotError):
    """Empty, or too long to be one."""


class NoSuchBucket(BotError):
    """The operator named one that is not there. Anyone else is refused, whether it is there or not."""

    def __init__(self, bucket: str) -> None:
        super().__init__(f"There is no bucket {bucket!r}.")
        self.bucket = bucket


class UnknownTurn(BotError):
    """There is no such turn."""

    def __init__(self, turn: str) -> None:
        super().__init__(f"There is no turn {turn!r}.")
        self.turn = turn


class UnreadableTurn(BotError):
    """Kept in a way that cannot be read any more."""

    def __init__(self) -> None:
        super().__init__("This was kept in a way that I cannot read any more. Please ask again.")


class InvalidSource(BotError):
    """Nothing that documents could come from, or not so."""


class UnknownSource(BotError):
    """There is no such source; `known` are those there are."""

    def __init__(self, source: str, known: Sequence[str]) -> None:
        there = f"there are {', '.join(known)}" if known else "there are none yet"
        super().__init__(f"there is no source {source!r}; {there}")
        self.source = source


class SourceBusy(BotError):
    """Another process is at it."""

    def __init__(self, source: str) -> None:
        super().__init__(f"{source} is being synced by another process; try again when that has ended")
        self.source = source


class ChoiceRefused(BotError):
    """A click that does not count."""


class UnknownChoice(ChoiceRefused):
    """Forged, or of another conversation: the two are not told apart."""

    def __init__(self) -> None:
        super().__init__("I do not know this choice; please ask your question again.")


class ExpiredChoice(ChoiceRefused):
    """Offered too long ago."""

    def __init__(self) -> None:
        super().__init__("This choice has expired; please ask your question again.")


class ChoiceMade(ChoiceRefused):
    """Somebody was first: `label` by `by`."""

    def __init__(self, label: str, by: str) -> None:
        super().__init__(f"A choice was already made here: {label}{', by ' + by if by else ''}.")
        self.label, self.by = label, by


class RightsChanged(ChoiceRefused):
    """Offered to the same readers, who may see less or more by now: its words are not shown once more."""

    def __init__(self) -> None:
        super().__init__("What may be seen here has changed since; please ask your question again.")


class NotYourChoice(ChoiceRefused):
    """Who may not read the answer may not steer it."""

    def __init__(self) -> None:
        super().__init__("This question was put to somebody else, so only they may choose here.")


class HandleRefused(BotError):
    """Nothing is done about the turn."""


class NotSaidHere(HandleRefused):
    """Forged, or of another conversation: the two are not told apart."""

    def __init__(self) -> None:
        super().__init__("I do not know this answer; please ask your question again.")


class NotYourAnswer(HandleRefused):
    """Said to somebody else."""

    def __init__(self) -> None:
        super().__init__("This was said to somebody else, so only they may do that here.")


class NoLongerSeen(HandleRefused):
    """A bucket that it rests on is no longer granted, or a document is for others or gone. Names neither."""

    def __init__(self) -> None:
        super().__init__("Some of what this rests on may no longer be seen here, so I cannot show it.")


class NotReached(HandleRefused):
    """Whether all that it rests on may still be seen cannot be told now."""

    def __init__(self) -> None:
        super().__init__("The documents cannot be reached right now. Please try again a little later.")


class EndedAlready(HandleRefused):
    """There is nothing left to stop."""

    def __init__(self) -> None:
        super().__init__("This has ended already, so there is nothing left to stop.")


class ExportRefused(BotError):
    """No file."""


class ExportBusy(ExportRefused):
    """One at a time for each person."""

    def __init__(self) -> None:
        super().__init__("Your last export is still being written; please wait until it has arrived.")


class ExportStopped(ExportRefused):
    """A bucket that the file needs is no longer granted, or who asked is gone. Names neither."""

    def __init__(self) -> None:
        super().__init__("The export was stopped, because what it lists may no longer be seen here.")


class ExportUnwritten(ExportRefused):
    """The disk does not take it."""

    def __init__(self) -> None:
        super().__init__("The file could not be written here. Please ask for it again later, or for less at once.")


class AdminRefused(BotError):
    """A change of administration that is not made."""


class NotAdmin(AdminRefused):
    """The person is none, or no longer."""

    def __init__(self) -> None:
        super().__init__("Only admins of Parley can do this, and you are not one now. Nothing was changed.")


class LastAdmin(AdminRefused):
    """Somebody must be left."""

    def __init__(self) -> None:
        super().__init__("This is the last admin. Make somebody else an admin first.")


class AdminBySettings(AdminRefused):
    """Named in PARLEY_ADMINS, and so always an admin."""

    def __init__(self) -> None:
        super().__init__("This person is named in PARLEY_ADMINS, and can only be removed there.")


class UnfitAdmin(AdminRefused):
    """A guest, of another organisation, or no longer here."""

    def __init__(self) -> None:
        super().__init__("Only a full member of the organisation can be an admin, and this person is none now.")


class NoSuchGroup(AdminRefused):
    """No group of Parley's own."""

    def __init__(self, group: str) -> None:
        super().__init__(f"There is no group {group!r}. Make it with: parley group create {group}")
        self.group = group


class ChangedMeanwhile(AdminRefused):
    """Somebody else was first."""

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
    """Older than it may be."""

    status = 410

    def __init__(self) -> None:
        super().__init__("This link has expired; please ask for the file again.")


class ReaderUnknown(LinkRefused):
    """The chat product does not say whether the person still reads the channel that the file was made for."""

    status = 503

    def __init__(self) -> None:
        super().__init__("Whether you may still have this file cannot be checked right now; please try again shortly.")


class FileGone(LinkRefused):
    """No such file any more, or not for this person: the two are not told apart."""

    status = 404

    def __init__(self) -> None:
        super().__init__("This file is not available any more; please ask for it again.")
