"""What people say to Parley about saved searches, in all languages it reads: keep one, list them, stop one.

English and German are here, French and Spanish in modules of their own.
"""

import re
from typing import Final

from bot.saved_searches.french_requests import FRENCH_REQUESTS
from bot.saved_searches.report_requests import recognise_report_request
from bot.saved_searches.request_kinds import ListRequest, SavedSearchRequest, SaveLastRequest, SaveRequest, StopRequest
from bot.saved_searches.schedule import ChangeSchedule, parse_schedule
from bot.saved_searches.spanish_requests import SPANISH_REQUESTS


def recognise_request(text: str) -> SavedSearchRequest | None:
    """Returns what the whole message asks for; None for any other message, which is a question to the documents."""
    words = " ".join(text.split())
    if len(words) > _MAX_MESSAGE_CHARS:
        return None
    if _LIST_PATTERN.fullmatch(words):
        return ListRequest()
    if _SAVE_LAST_PATTERN.fullmatch(words):
        return SaveLastRequest()
    if match := _STOP_PATTERN.fullmatch(words):
        number = match["watch"] or match["search"]
        return StopRequest(number=None if number is None else int(number), stops_all=match["all"] is not None)
    if (report := recognise_report_request(words)) is not None:
        return report
    return _recognise_arrival(words) or _recognise_schedule(words) or _recognise_other_request(words)


def find_request_language(text: str) -> str | None:
    """The language, other than English, of a message that asks for something about saved searches. ISO 639-1."""
    words = " ".join(text.split())
    if len(words) > _MAX_MESSAGE_CHARS:
        return None
    if _recognise_german_request(words) is not None:
        return "de"
    return next((patterns.language for patterns in _OTHER_PATTERNS if patterns.recognise_request(words)), None)


def _recognise_other_request(words: str) -> SavedSearchRequest | None:
    if (request := _recognise_german_request(words)) is not None:
        return request
    requests = (patterns.recognise_request(words) for patterns in _OTHER_PATTERNS)
    return next((request for request in requests if request is not None), None)


def _recognise_arrival(words: str) -> SaveRequest | None:
    """ "Tell me when a new … arrives": the new documents are announced as indefinite. Anything definite ("when the
    delivery arrives") is a question about one document.
    """
    for pattern in _ARRIVAL_PATTERNS:
        if match := pattern.fullmatch(words):
            is_single = match["article"] is not None and match["article"].lower() in ("a", "an", "another")
            quantifier = "every" if is_single else "all"
            return SaveRequest(question=f"List {quantifier} {match['documents']}", schedule=ChangeSchedule())
    return None


def _recognise_schedule(words: str) -> SaveRequest | None:
    """ "Every Monday 9:00: …": a schedule, then the question."""
    if not _SCHEDULE_START.match(words):
        return None
    for match in _QUESTION_START.finditer(words):
        schedule = parse_schedule(words[: match.start()])
        question = _PASSED_WORDS.sub("", words[match.end() :]).strip()
        if schedule is not None and question:
            return SaveRequest(question=question[:1].upper() + question[1:], schedule=schedule)
    return None


_OTHER_PATTERNS: Final = (FRENCH_REQUESTS, SPANISH_REQUESTS)
_MAX_MESSAGE_CHARS: Final = 1_000
_POLITE: Final = r"(?:(?:please|can you|could you|would you),? )?"
_TELL: Final = (
    rf"{_POLITE}(?:(?:tell|notify|alert|inform|message|ping|warn) (?:me|us)|let (?:me|us) know|post(?: here)?)"
)
_WHEN: Final = r"(?:when|whenever|once|as soon as|every time|each time)"  # "if" may ask about today
_NEW: Final = r"(?:(?P<article>an?|another|any|some|more) )?new "
_INDEFINITE: Final = r"(?P<article>an?|another|any|some|more) "
_COMES: Final = r"(?:arrives?|comes? in|appears?|shows? up|turns? up|(?:is|are|gets?) (?:added|uploaded|loaded))"
_ARRIVES: Final = (
    rf"(?:{_COMES}|(?:is|are|gets?) (?:received|filed|published|logged|opened|created|registered|reported|raised"
    r"|recorded|entered|posted|issued|signed|booked|submitted))"
)
_END: Final = r"(?:,? please)?[.!?]*"
_ARRIVAL_PATTERNS: Final = tuple(
    re.compile(pattern + _END, re.IGNORECASE)
    for pattern in (
        rf"{_TELL} (?:{_WHEN}|if) {_NEW}(?P<documents>.+?) {_ARRIVES}",
        rf"{_TELL} {_WHEN} {_INDEFINITE}(?P<documents>.+?) {_COMES}",
        rf"{_TELL} {_WHEN} there(?: is| are|'s|’s) {_NEW}(?P<documents>.+?)",
        rf"{_TELL} {_WHEN} (?:we|i) (?:get|receive) {_NEW}(?P<documents>.+?)",
        rf"{_POLITE}watch (?:out )?for {_NEW}(?P<documents>.+?)",
    )
)
_SCHEDULE_START: Final = re.compile(r"(?:every|each|daily|weekly|monthly|weekdays|on change)\b", re.IGNORECASE)
_QUESTION_START: Final = re.compile(
    r":\s|,?\s(?=(?:please|tell|show|send|give|list|report|post|find)\s)", re.IGNORECASE
)
_PASSED_WORDS: Final = re.compile(
    r"^\s*(?:please )?(?:(?:(?:tell|send|give|show) (?:me|us)|report|post)(?: (?=(?:how|which|what|who|when|where)\b))?"
    r"(?: about)?\s+)?",
    re.IGNORECASE,
)
_LIST_PATTERN: Final = re.compile(
    r"(?:what (?:are you|do you) watch(?:ing)?(?: for)?(?: (?:me|us))?(?: here)?"
    r"|what (?:are|do) you (?:telling|tell) me about"
    r"|(?:(?:list|show)(?: me)? |what are |which are )?(?:my|our|all|the) saved searches(?: here)?"
    r"|(?:what|which) saved searches (?:do (?:i|we) have|are there)(?: here)?)[.!?]*",
    re.IGNORECASE,
)
_SAVE_LAST_PATTERN: Final = re.compile(
    rf"{_POLITE}(?:save (?:this|that|the) (?:search|question)|save (?:this|that) as a search"
    rf"|(?:watch this|ask this again)(?: for (?:me|us))?){_END}",
    re.IGNORECASE,
)
_NUMBER: Final = r"(?: (?:number |no\.? |#)?(?P<{name}>\d{{1,9}}))?"
_STOP_PATTERN: Final = re.compile(
    rf"{_POLITE}(?:"
    r"(?P<all>(?:stop|end|cancel|delete|remove) all (?:of )?(?:my |our |the )?saved searches|stop watching everything)"
    rf"|stop (?:(?:telling|notifying|alerting|informing) (?:me|us)|watching){_NUMBER.format(name='watch')}"
    rf"|(?:stop|end|cancel|delete|remove) (?:(?:my|the|that|this) )?saved search{_NUMBER.format(name='search')}"
    rf")(?: (?:for me|here|now))*{_END}",
    re.IGNORECASE,
)


# -- German


def _recognise_german_request(words: str) -> SavedSearchRequest | None:
    if _GERMAN_LIST_PATTERN.fullmatch(words):
        return ListRequest()
    if _GERMAN_SAVE_LAST_PATTERN.fullmatch(words):
        return SaveLastRequest()
    if match := _GERMAN_STOP_PATTERN.fullmatch(words):
        number = match["watch"] or match["search"]
        return StopRequest(number=None if number is None else int(number), stops_all=match["all"] is not None)
    if match := _GERMAN_ARRIVAL_PATTERN.fullmatch(words):
        quantifier = _GERMAN_QUANTIFIERS.get((match["article"] or "").lower() + match["ending"].lower(), "alle")
        return SaveRequest(question=f"Liste {quantifier} {match['documents']} auf", schedule=ChangeSchedule())
    if match := _GERMAN_SCHEDULE_PATTERN.fullmatch(words):
        days = " and ".join(_GERMAN_DAYS[day.lower()] for day in _GERMAN_DAY.findall(match["days"]))
        schedule = parse_schedule(f"every {days} at {(match['time'] or '9').replace('.', ':')}")
        question = match["question"].strip()
        if schedule is not None:
            return SaveRequest(question=question[:1].upper() + question[1:], schedule=schedule)
    return None


_GERMAN_DAYS: Final = {
    "montag": "monday",
    "dienstag": "tuesday",
    "mittwoch": "wednesday",
    "donnerstag": "thursday",
    "freitag": "friday",
    "samstag": "saturday",
    "sonnabend": "saturday",
    "sonntag": "sunday",
    "werktag": "weekday",
    "tag": "day",
    "täglich": "day",
}
_GERMAN_DAY: Final = re.compile("|".join(_GERMAN_DAYS), re.IGNORECASE)
_GERMAN_QUANTIFIERS: Final = {"einer": "jeden", "eine": "jede", "eines": "jedes"}  # by article and ending of "neu"
_GERMAN_POLITE: Final = r"(?:bitte )?"
_GERMAN_TELL: Final = (
    rf"{_GERMAN_POLITE}(?:sag(?:e|t|en sie)?|gib|geben sie|gebt) (?:mir|uns) (?:bitte )?bescheid"
    rf"|{_GERMAN_POLITE}(?:benachrichtige|informier(?:e)?|benachrichtigen sie|informieren sie) (?:mich|uns)(?: bitte)?"
)
_GERMAN_ARRIVAL_PATTERN: Final = re.compile(
    rf"(?:{_GERMAN_TELL}),? (?:wenn|sobald) (?:(?P<article>ein)(?:e)? )?neu(?P<ending>e[rs]?) (?P<documents>.+?) "
    r"(?:eintriff?t|eintreffen|ankommt|ankommen|kommt|kommen|da (?:ist|sind)|erscheint|erscheinen|hinzukommt"
    r"|hinzukommen|eingeht|eingehen|vorliegt|vorliegen|auftaucht|auftauchen)[.!?]*",
    re.IGNORECASE,
)
_GERMAN_SCHEDULE_PATTERN: Final = re.compile(
    rf"(?P<days>(?:jeden|an jedem) (?:{_GERMAN_DAY.pattern})(?: und (?:jeden )?(?:{_GERMAN_DAY.pattern}))*|täglich)"
    r"(?: um (?P<time>\d{1,2}(?:[:.]\d{2})?)(?: uhr)?)?(?:: | bitte )(?P<question>.+)",
    re.IGNORECASE,
)
_GERMAN_LIST_PATTERN: Final = re.compile(
    r"(?:(?:zeige?|liste?)(?: mir)? |was sind |welche sind )?(?:meine|unsere|alle) gespeicherten suchen(?: auf)?[.!?]*"
    r"|was beobachtest du(?: für (?:mich|uns))?[.!?]*",
    re.IGNORECASE,
)
_GERMAN_SAVE_LAST_PATTERN: Final = re.compile(
    rf"{_GERMAN_POLITE}(?:speicher(?:e)? (?:diese|die) suche|diese suche speichern)(?: bitte)?[.!?]*", re.IGNORECASE
)
_GERMAN_NUMBER: Final = r"(?: (?:nummer |nr\.? |#)?(?P<{name}>\d{{1,9}}))?"
_GERMAN_STOP_PATTERN: Final = re.compile(
    rf"{_GERMAN_POLITE}(?:"
    r"(?P<all>(?:stoppe|beende|lösche) alle (?:meine |unsere )?gespeicherten suchen)"
    rf"|(?:stoppe|beende|lösche) (?:die |diese |meine )?(?:gespeicherte )?suche{_GERMAN_NUMBER.format(name='search')}"
    rf"|beobachte{_GERMAN_NUMBER.format(name='watch')} nicht (?:mehr|weiter)"
    r")(?: bitte)?[.!?]*",
    re.IGNORECASE,
)
