"""Words that say whether something still lasts or is over: people who are still there, things in use, open matters."""

from collections.abc import Mapping
from enum import Enum

from storage.search.analyser import fold_text
from storage.search.schema import FieldType, SchemaField

Phrase = tuple[str, ...]


class EndKind(Enum):
    """What comes to an end. The words of a kind speak of no other kind."""

    LIFE = "life"
    STAY = "stay"  # of people: an employment, a membership, a tenancy
    USE = "use"  # of things
    TERM = "term"  # a period that was agreed on
    LOAN = "loan"
    TASK = "task"
    PAYMENT = "payment"


ANY_KIND: tuple[EndKind, ...] = ()  # the word fits whatever ends
_PEOPLE = (EndKind.STAY, EndKind.TERM)
_THINGS = (EndKind.USE, EndKind.TERM)

# Words in the names of dates on which something ended, and of flags that say so.
END_NAME_WORDS: Mapping[EndKind, frozenset[str]] = {
    EndKind.LIFE: frozenset("deceased died death dead".split()),
    EndKind.STAY: frozenset(
        """left leaving leave departed departure exit exited resigned resignation quit terminated termination dismissed
        dismissal discharged vacated moved checked""".split()
    ),
    EndKind.USE: frozenset(
        """retired retirement decommissioned decommissioning scrapped disposed disposal discarded withdrawn withdrawal
        discontinued given sold dissolved delisted deregistered cancelled canceled cancellation""".split()
    ),
    EndKind.TERM: frozenset(
        """end ends ended ending until till finish finishes finished expire expires expiry expiration expired lapses
        through valid validity""".split()
    ),
    EndKind.LOAN: frozenset("returned return back".split()),
    EndKind.TASK: frozenset(
        "closed closing closure completed completion finished done resolved resolution decided solved fixed".split()
    ),
    EndKind.PAYMENT: frozenset("paid payment settled settlement".split()),
}
# Words in the names of dates that are planned, or that begin something; no end has come then.
NO_END_WORDS = frozenset(
    """due by planned expected estimated next deadline scheduled target last first latest start started starts from
    begin began opened hired joined""".split()
)
# Words in the name of the date on which something began, or a person came; with these words alone.
START_NAME_WORDS = frozenset(
    "start starts started begin begins began from hire hired join joined joining commences commencement entry "
    "date day on of in valid effective".split()
)
CERTAIN_START_WORDS = START_NAME_WORDS - frozenset("date day on of in valid".split())
NAMES_OF_PARTS = frozenset("warranty guarantee notice".split())  # their end is not the end of the thing itself
# A particle that such a word needs: "given up on", "moved out", "checked out".
PARTICLES_OF_NAMES: Mapping[str, frozenset[str]] = {
    "given": frozenset({"up", "back"}),
    "moved": frozenset({"out", "away"}),
    "checked": frozenset({"out"}),
    "back": frozenset({"on", "at", "date", "brought", "came", "handed", "given"}),
}
_EMPTY_WORDS = frozenset("date day on at time of the is was".split())
_WHOLE_NAME_KINDS = (EndKind.TERM, EndKind.PAYMENT)  # other words in the name make it mean something else
FLAGS_OF_THE_PRESENT = frozenset("active current employed alive living".split())
STATUS_NAMES = frozenset("status state stage phase standing condition availability".split())
ENDED_STATUSES = frozenset(
    """ended over closed completed complete done finished resolved solved cancelled canceled withdrawn rejected retired
    sold scrapped left gone former inactive terminated expired lapsed deceased dead died returned archived
    decommissioned dissolved discontinued resigned dismissed settled abandoned ex""".split()
)


# Statuses of what will never happen; "still not delivered" does not speak of it.
CALLED_OFF_STATUSES = frozenset(
    "cancelled canceled withdrawn rejected declined abandoned aborted void voided revoked refused".split()
)
WORDS_OF_THE_PENDING = frozenset("still yet have has".split())  # "not delivered *yet*", "*have* not been delivered"


def _phrases_of(text: str) -> list[Phrase]:
    return [tuple(phrase.split()) for phrase in text.split(",")]


def _kinds_by_phrase(*entries: tuple[str, tuple[EndKind, ...]]) -> Mapping[Phrase, tuple[EndKind, ...]]:
    return {phrase: kinds for text, kinds in entries for phrase in _phrases_of(text)}


# Adverbs of the present. Beside a state they add nothing; alone they leave out what is over.
PRESENT_ADVERBS: tuple[Phrase, ...] = tuple(
    _phrases_of(
        "still, currently, presently, nowadays, now, right now, just now, these days, at present, at the moment,"
        " at this moment, as of today, as of now, to this day"
    )
)
# What follows "still" or "currently" and says no more than that somebody or something is there.
PRESENCE_PHRASES: tuple[Phrase, ...] = tuple(
    _phrases_of(
        "with us, with the company, with the firm, with the team, with the club, here, around, there, on the team,"
        " on the staff, on the payroll, on the books, on our books, on the roll, in the team, on board, in the job,"
        " in post, in office, in place, live, lives, living, live with us, lives with us, living with us, live here,"
        " lives here, living here, live there, working there, working here, working for us, working with us,"
        " work here, work for us, works here,"
        " works for us, employed here, employed by us, active, going, running, serving, registered, enrolled,"
        " signed up,"
        " going strong, working, employed, at work, in use, in service, in operation, being used"
    )
)
# What may have come to its end after "no longer", beside that somebody is there.
DEALING_PHRASES: tuple[Phrase, ...] = tuple(
    _phrases_of("use, need, used, employ, deal with, work with, buy from, order from, a member, with them")
)
LASTING_PHRASES = _kinds_by_phrase(
    ("alive, living, not dead", (EndKind.LIFE,)),
    ("current, present, active, ongoing, existing", ANY_KIND),
    ("employed, on the payroll, on staff, on the team, with us now", _PEOPLE),
    ("in service, in use, in operation, operational", _THINGS),
    ("on loan, out on loan, still out, currently out, not back, lent out", (EndKind.LOAN,)),
    ("outstanding", (EndKind.PAYMENT, EndKind.LOAN, EndKind.TASK)),
    ("owing, owed, owe, owes, unsettled, unpaid", (EndKind.PAYMENT,)),
    ("open, unfinished, unresolved, in progress, not done, not over, undecided", (EndKind.TASK,)),
)
# What a named document, or a part of it, is until its term ends: "is the *licence* of Ida Berg still valid".
VALIDITY_PHRASES: tuple[Phrase, ...] = tuple(_phrases_of("valid, good, current, in force, in effect"))
ENDED_PHRASES = _kinds_by_phrase(
    ("dead, deceased, no longer alive", (EndKind.LIFE,)),
    ("former, ex, past, gone, bygone, no longer active", ANY_KIND),
    ("leaver, leavers, ex-employees, ex-staff", _PEOPLE),
    ("not with us any more, not with us anymore, not here any more, not here anymore", ANY_KIND),
    ("no longer employed, no longer on the team, no longer on the payroll", _PEOPLE),
    ("done, over, dealt with, sorted out, wrapped up, finished with", (EndKind.TASK,)),
    ("no longer in service, no longer in use, no longer in operation, out of service, out of use", _THINGS),
)
# They tell of the end itself: a day beside them is the day of the end.
ENDING_VERBS = _kinds_by_phrase(
    ("die, died, dies, passed away, pass away", (EndKind.LIFE,)),
    ("left, left us, leave us, to leave, quit, resign, resigned, departed, walked out, moved on", _PEOPLE),
    ("retire, retired, scrapped, decommissioned", (EndKind.USE,)),
    ("paid, paid for, paid up", (EndKind.PAYMENT,)),
    ("came back, come back, brought back, given back, handed back, handed in", (EndKind.LOAN,)),
)
# What is done with a target, the contrary, and verbs that only say that something applies: flags are called so.
REACHING_VERBS = frozenset("meet hit achieve reach keep make pass".split())
FAILING_VERBS = frozenset("miss fail breach break".split())
APPLYING_VERBS = frozenset("need require have take want".split())
NOUNS_OF_FLAGS = frozenset("cover coverage support service scheme option status check access".split())
INCLUSION_WORDS = frozenset("too included also alike".split())  # "expired ones *too*" puts no condition
# Between two opposite states that are named together: "dead *or* alive", "current *as well as* former".
WORDS_BETWEEN_OPPOSITES = frozenset("or and as well also both nor slash plus".split())


def name_words_of(field: SchemaField) -> frozenset[str]:
    """The words of the field's label and name."""
    return frozenset(fold_text(f"{field.label} {field.name}").replace("_", " ").replace("-", " ").split())


def end_kind_of(words: frozenset[str], nouns: frozenset[str]) -> EndKind | None:
    """Returns the kind that a name tells of.

    "Contract end" ends the thing itself only in a bucket of contracts, and what is "paid back" was paid before.
    """
    for kind, name_words in END_NAME_WORDS.items():
        found = {word for word in words & name_words if PARTICLES_OF_NAMES.get(word, words) & words}
        others = words - name_words - _EMPTY_WORDS - nouns
        if found and not (kind in _WHOLE_NAME_KINDS and others):
            return kind
    return None


def is_unset_until_event(field: SchemaField) -> bool:
    """Whether a document lacks the date because the event has not come: "left on", "returned on".

    A term is agreed on beforehand, so a document that lacks its end may just not state it.
    """
    words = name_words_of(field)
    if field.type is not FieldType.DATE or words & (NO_END_WORDS | NAMES_OF_PARTS):
        return False
    return end_kind_of(words, frozenset()) not in (None, EndKind.TERM)
