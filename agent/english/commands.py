"""Recognises commands without a lexicon: start over, undo, help, thanks, export, more results."""

import re
from dataclasses import dataclass

from agent.english.function_words import EXPORT_WORDS, REFERRING_WORDS, SMALL_NUMBERS, START_OVER_PHRASES
from storage.search.ids import LegId
from storage.search.plan import Plan

_WORD = re.compile(r"[\w']+")
_EXPORT_FILLER = frozenset(
    "as to a an the in into file files format please me can could you i i'd want need give get send download save list "
    "of for export csv spreadsheet spreadsheets sheet results result documents everything excel xlsx do would like now "
    "download make create put have let let's me us write hand over also and ok okay then just thanks "
    "full whole complete".split()
)
_FILE_WORDS = EXPORT_WORDS | {"spreadsheets", "excel", "xlsx"}  # words for a file, in a message without other content
_AS_FILE_SUFFIX = re.compile(
    r"\s+(?:as|to|in|into)\s+(?:an?\s+)?(?:csv|excel|xlsx|spreadsheet)(?:[\s-]+(?:file|format|sheet))?(?:,?\s+please)?[\s.!?]*$",
    re.IGNORECASE,
)
_EXPORT_PREFIX = re.compile(  # "export licences of 2022" asks for documents, not for a file
    r"\s*(?:please\s+|(?:can|could|would)\s+you\s+)*(?:export|download)\s+(?:me\s+)?(?=(?:all|every|each|the|any|my|our|a\s+list)\b)",
    re.IGNORECASE,
)
_POLITE_WORDS = frozenset("please now ok okay let's lets thanks well so then just".split())


def parse_phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """Returns the phrases between the bars of `text`, each as a tuple of words."""
    return tuple(tuple(phrase.split()) for phrase in text.replace("\n", " ").split("|"))


_START_OVER_PHRASES = START_OVER_PHRASES + parse_phrases(
    """new question|another question|new search|start fresh|begin again|start from scratch|from the beginning
    |forget everything|forget all that|clear|something else|another topic|different topic|scratch that|restart"""
)
_UNDO_PHRASES = parse_phrases(
    """undo|undo that|undo this|undo it|undo the last one|undo the last step|undo the last change|undo my last question
    |go back|go back one|go back one step|go one back|go one step back|one step back|a step back|step back|back|back up
    |go back to the previous one|go back to the last one|go back to the previous question|go back to the previous list
    |back to the previous one|back to the last one|back to the list|go back to the list|back to where we were
    |take that back|take it back|take this back|revert|revert that|revert it
    |the previous one|the previous list|the previous question|previous|no go back|no undo that"""
)
_HELP_PHRASES = parse_phrases(
    """hello|hi|hey|hello there|hi there|good morning|good afternoon|good evening|help|help me|i need help
    |what can you do|what can you do for me|what can you answer|what can you tell me|what can i ask|what can i ask you
    |what may i ask|what do you know|what do you know about|what do you do|who are you|what are you|what is this
    |how does this work|how do you work|what documents do you have|which documents do you have|what do you have
    |what documents are there|which documents are there|what kinds of documents are there
    |what kind of documents are there|what kinds of documents do you have|what kind of documents do you have
    |what sort of documents are there
    |what types of documents are there|what types of documents do you have|which kinds of documents are there
    |what can i ask you about|what can i ask about|what topics do you know|what topics are there
    |what can i find here|what is in here|what data do you have"""
)
_THANKS_PHRASES = parse_phrases(
    "thank you|thank you very much|many thanks|much appreciated|cheers|great thank you|perfect thank you"
)
_WORDS_AFTER_THANKS = frozenset(
    "thank you thx thnx a lot so much very million again all everyone for that the this your quick help answer".split()
)
_NUMBER_PATTERN = rf"\d{{1,3}}|{'|'.join(SMALL_NUMBERS)}"
_MORE_PATTERN = re.compile(
    r"\W*(?:(?:please|and|now|then|ok|okay|can|could|you|i|we|see|show|give|list|get|want|like|to|me|us|let|the|are|there"
    r"|any|some|what|which)\s+)*(?:"
    rf"(?P<number>{_NUMBER_PATTERN})\s+more|more|next(?:\s+(?P<next>{_NUMBER_PATTERN}))?|another\s+(?P<another>{_NUMBER_PATTERN})"
    r"|continue|go\s+on|keep\s+going)"
    r"(?:\s+(?:page|one|ones|results?|documents?|of\s+(?:them|those|these)|please))*\W*",
    re.IGNORECASE,
)


def is_start_over_request(question: str) -> bool:
    return _content_words_of(question) in _START_OVER_PHRASES


def is_undo_request(question: str) -> bool:
    """ "Undo that", "go back": whether the message asks for the state before the last message."""
    return _content_words_of(question) in _UNDO_PHRASES


def is_help_request(question: str) -> bool:
    """ "Hello", "what can you answer?": whether the message is a greeting or asks for help."""
    return _content_words_of(question) in _HELP_PHRASES


def is_thanks(question: str) -> bool:
    words = _content_words_of(question)
    is_more_thanks = bool(re.search(r"\bth(?:ank|n?x)", question, re.IGNORECASE)) and set(words) <= _WORDS_AFTER_THANKS
    return words in _THANKS_PHRASES or is_more_thanks


def asks_for_file_only(question: str) -> bool:
    """ "Export them", "as CSV": whether the message asks for a file and names no documents."""
    words = _WORD.findall(question.lower())
    has_other_words = any(word not in _EXPORT_FILLER | REFERRING_WORDS and not word.isdigit() for word in words)
    return bool(set(words) & _FILE_WORDS) and not has_other_words


def leg_to_export(question: str, last_plan: Plan) -> LegId | None:
    """Returns the leg to export if the message asks for a file and names no other documents; else None."""
    words = _WORD.findall(question.lower())
    if not set(words) & _FILE_WORDS:
        return None
    if last_plan.question == question:
        return last_plan.legs[-1].id if set(words) & EXPORT_WORDS else None
    return last_plan.legs[-1].id if asks_for_file_only(question) else None


def strip_file_request(question: str) -> str | None:
    """Returns the question without its request for a file; None if it asks for no file."""
    without_suffix = _AS_FILE_SUFFIX.sub("", question)
    prefix = _EXPORT_PREFIX.match(without_suffix)
    if prefix is not None:
        return f"list {without_suffix[prefix.end() :]}"
    return without_suffix if without_suffix != question and without_suffix.strip() else None


@dataclass(frozen=True, slots=True)
class MoreRequest:
    """A request for more of the list; `count` is the number asked for, or None."""

    count: int | None


def parse_more_request(question: str) -> MoreRequest | None:
    """ "More", "the next ten": returns the request; None for any other message."""
    match = _MORE_PATTERN.fullmatch(question)
    if match is None:
        return None
    number = match["number"] or match["next"] or match["another"]
    return MoreRequest(None if number is None else int(number) if number.isdigit() else SMALL_NUMBERS[number.lower()])


def _content_words_of(question: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(question.lower()) if word not in _POLITE_WORDS)
