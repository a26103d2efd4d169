"""Words for what a day is to the thing it appears beside: its beginning, its end, the day by which it is due."""

# -- words in the names of fields

BIRTH_WORDS = frozenset("born birth birthday birthdate dob".split())  # the beginning of a person
BEGINNING_WORDS = BIRTH_WORDS | frozenset(
    """start started starts begin begins began beginning since installed installation built build
    construction commissioned commissioning manufactured manufacture production made opened opening founded established
    hired hire joined joining purchase purchased bought acquired acquisition service created creation issued registered
    registration launched launch introduced entry admission planted""".split()
)
AGE_WORDS = frozenset("age ages aged old".split())
END_WORDS = frozenset("until till end ends expiry expires expiration to through".split())
DUE_WORDS = frozenset("due deadline payable promised".split())
# Days by which something ends or must be done.
DEADLINE_WORDS = DUE_WORDS | frozenset(
    """expiry expires expire expired expiration end ends ended ending until till termination renewal lapse
    lapses maturity matures valid""".split()
)
# Days on which what was due has been done.
SETTLED_WORDS = frozenset(
    """returned return paid payment closed completed completion done settled resolved resolution finished received
    delivered handed""".split()
)

ARRIVAL_PARTICLES = frozenset({"back", "in"})
_ARRIVAL_WORDS_OF_NAMES = frozenset("back arrived arrival".split())


def tells_arrival(words: frozenset[str]) -> bool:
    """Whether the words of a date's name say that something has come in again: "In from lab", "Back from repair"."""
    return bool(words & _ARRIVAL_WORDS_OF_NAMES) or {"in", "from"} <= words


def tells_settling(words: frozenset[str]) -> bool:
    """Whether the words of a date's name say that what was due has been done, or has come in."""
    return bool(words & (SETTLED_WORDS | {"ready"})) or tells_arrival(words)


# -- whole names of fields, the likeliest first

START_DATE_NAMES = ("start date", "starts", "begins", "valid from", "effective date")
PAYMENT_DAY_NAMES = ("due date", "payment due", "payment due by", "payment due date", "pay by", "due by", "due on")
END_DATE_NAMES = ("end date", "ends", "expires", "expiry date", "valid until", "due date", "deadline")
DUE_DATE_NAMES = ("due date", "due", "deadline", "promised date", "planned date", "expected date", "target date")

# -- verbs of questions

START_VERBS = frozenset("start starts started begin begins began commence commences commenced".split())
END_VERBS = frozenset("end ends ending expire expires finish finishes lapse lapses over stop stops terminate".split())
# What is said of the beginning of a thing, the likeliest first.
ORIGIN_PARTICIPLES = tuple(
    """born built founded established constructed manufactured made created produced published written launched
    commissioned planted opened acquired bought purchased joined hired since""".split()
)
# What somebody did on the first day of being a customer or a member, and words of labels for that day.
JOINING_VERBS = frozenset("join joins joined joining became become".split())
JOINING_NAMES = frozenset("since joined joining".split())
