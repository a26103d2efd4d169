"""Messages that are all command, read without a dictionary: start over, go back, a file, more of the same."""

import re
from dataclasses import dataclass

from agent.rules.language import EXPORT, POINTERS, SMALL_NUMBERS, START_OVER
from storage.search.ids import LegId
from storage.search.plan import Plan

_WORD = re.compile(r"[\w']+")
_EXPORT_FILLER = frozenset(
    "as to a an the in into file files format please me can could you i i'd want need give get send download save list "
    "of for export csv spreadsheet spreadsheets sheet results result documents everything excel xlsx do would like now "
    "download make create put have let let's me us write hand over also and ok okay then just thanks "
    "full whole complete".split()
)
_SHEETS = EXPORT | {"spreadsheets", "excel", "xlsx"}  # words for a file, in a message that says nothing else
_AS_FILE = re.compile(
    r"\s+(?:as|to|in|into)\s+(?:an?\s+)?(?:csv|excel|xlsx|spreadsheet)(?:[\s-]+(?:file|format|sheet))?(?:,?\s+please)?[\s.!?]*$",
    re.IGNORECASE,
)
_FILE_OF = re.compile(  # "export licences of 2022" are documents
    r"\s*(?:please\s+|(?:can|could|would)\s+you\s+)*(?:export|download)\s+(?:me\s+)?(?=(?:all|every|each|the|any|my|our|a\s+list)\b)",
    re.IGNORECASE,
)
_POLITE = frozenset("please now ok okay let's lets thanks well so then just".split())


def phrases(written: str) -> tuple[tuple[str, ...], ...]:
    """The phrases that bars separate, as words."""
    return tuple(tuple(one.split()) for one in written.replace("\n", " ").split("|"))


_AFRESH = START_OVER + phrases(
    """new question|another question|new search|start fresh|begin again|start from scratch|from the beginning
    |forget everything|forget all that|clear|something else|another topic|different topic|scratch that|restart"""
)
_BACK = phrases(
    """undo|undo that|undo this|undo it|undo the last one|undo the last step|undo the last change|undo my last question
    |go back|go back one|go back one step|go one back|go one step back|one step back|a step back|step back|back|back up
    |go back to the previous one|go back to the last one|go back to the previous question|go back to the previous list
    |back to the previous one|back to the last one|back to the list|go back to the list|back to where we were
    |take that back|take it back|take this back|revert|revert that|revert it
    |the previous one|the previous list|the previous question|previous|no go back|no undo that"""
)
_HELP = phrases(
    """hello|hi|hey|hello there|hi there|good morning|good afternoon|good evening|help|help me|i need help
    |what can you do|what can you do for me|what can you answer|what can you tell me|what can i ask|what can i ask you
    |what may i ask|what do you know|what do you know about|what do you do|who are you|what are you|what is this
    |how does this work|how do you work|what documents do you have|which documents do you have|what do you have
    |what documents are there|which documents are there|what can i find here|what is in here|what data do you have"""
)
_THANKS = phrases("thank you|thank you very much|many thanks|much appreciated|cheers|great thank you|perfect thank you")
_NUMBER = rf"\d{{1,3}}|{'|'.join(SMALL_NUMBERS)}"
_MORE = re.compile(
    r"\W*(?:(?:please|and|now|then|ok|okay|can|could|you|i|we|see|show|give|list|get|want|like|to|me|us|let|the|are|there"
    r"|any|some|what|which)\s+)*(?:"
    rf"(?P<number>{_NUMBER})\s+more|more|next(?:\s+(?P<next>{_NUMBER}))?|another\s+(?P<another>{_NUMBER})"
    r"|continue|go\s+on|keep\s+going)"
    r"(?:\s+(?:page|one|ones|results?|documents?|of\s+(?:them|those|these)|please))*\W*",
    re.IGNORECASE,
)


def starts_over(question: str) -> bool:
    return _said(question) in _AFRESH


def goes_back(question: str) -> bool:
    """ "Undo that", "go back": to what was asked before the last message."""
    return _said(question) in _BACK


def wants_help(question: str) -> bool:
    """ "Hello", "what can you answer?": a greeting, or what may be asked."""
    return _said(question) in _HELP


def is_thanks(question: str) -> bool:
    said = _said(question)
    return said in _THANKS or (not said and "thanks" in question.lower())


def exports(question: str, last: Plan) -> LegId | None:
    """The leg to export when the message asks for a file and names no other set."""
    words = _WORD.findall(question.lower())
    if not set(words) & _SHEETS:
        return None
    if last.question == question:
        return last.legs[-1].id if set(words) & EXPORT else None
    rest = [word for word in words if word not in _EXPORT_FILLER | POINTERS and not word.isdigit()]
    return last.legs[-1].id if not rest else None


def without_file(question: str) -> str | None:
    """The list that a file is wanted of, as a question for it; None where no file is asked for."""
    listed = _AS_FILE.sub("", question)
    wished = _FILE_OF.match(listed)
    if wished is not None:
        return f"list {listed[wished.end() :]}"
    return listed if listed != question and listed.strip() else None


@dataclass(frozen=True, slots=True)
class Further:
    """More of a list is wanted: so many, if that was said."""

    many: int | None


def further(question: str) -> Further | None:
    """ "More", "the next ten"; None for any other message."""
    match = _MORE.fullmatch(question)
    if match is None:
        return None
    many = match["number"] or match["next"] or match["another"]
    return Further(None if many is None else int(many) if many.isdigit() else SMALL_NUMBERS[many.lower()])


def _said(question: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(question.lower()) if word not in _POLITE)
