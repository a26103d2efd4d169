"""Wishes about the form of a reply: "as a table", "in bullet points", "with citations", "briefly".

They say nothing about the documents. Lists are tables and sources are always cited, so most wishes are met anyway.
"""

import re

from agent.rules.words.small_talk import HasMeaning

_MODIFIERS = r"(?:(?:nice|neat|simple|short|small|clear|proper|single|markdown)\s+)*"
_FORM = (
    rf"(?:an?\s+|the\s+form\s+of\s+an?\s+)?{_MODIFIERS}"
    r"(?:tables?|tabular\s+form(?:at)?|table\s+form(?:at)?|bullet(?:ed)?\s+lists?|bullet\s+points?|bullets|numbered\s+lists?)"
)
_REPLY_VERB = (
    r"(?:(?:and\s+)?(?:please\s+)?(?:(?:answer|reply|respond)|(?:show|give|list|put|present|display|format)\s+"
    r"(?:it|them|this|that|these|those|(?:the|your)\s+(?:answer|reply|results?))|shown|displayed|formatted|presented)\s+)?"
)
_SOURCES = r"(?:(?:the|your|all|exact)\s+)?(?:citations?|sources?|page\s+numbers?|pages)"
_BREVITY = (
    r"briefly|in\s+short|in\s+brief|in\s+a\s+nutshell|in\s+(?:one|two|three|a\s+few)\s+(?:sentences?|words|lines)"
    r"|(?:an?\s+)?(?:short|brief)\s+(?:answer|reply)"
)
_WISH = (
    rf"{_REPLY_VERB}(?:as|in)\s+{_FORM}|(?:and\s+)?with\s+(?:citations?|sources|page\s+numbers?)"
    rf"|(?:(?:and|please)\s+(?:please\s+)?|(?<=[.,;:!?]\s))(?:cite|name|give|state)\s+{_SOURCES}|{_REPLY_VERB}(?:{_BREVITY})"
)
# At the end of a clause, or before a mark at the beginning. A wish may follow another.
_LAST_WISH = re.compile(
    rf"(?<![\w'’])(?:{_WISH})(?:[\s,]+(?:{_WISH})){{0,3}}(?=(?:[\s,]+please)?\s*(?:[.,;:!?)]|$))", re.IGNORECASE
)
_FIRST_WISH = re.compile(rf"^\W*(?:please\s+)?(?:{_WISH})\s*[,:–—-]", re.IGNORECASE)
# "Which servers are out of warranty? *Just the asset tags please*": behind the question; a list names its documents.
_NAMES = r"(?:[a-z]+\s+){0,2}(?:names?|numbers?|ids|tags|refs|references|codes|titles)"
_ENDING = r"(?:please|only|will\s+do|are\s+fine|is\s+fine|is\s+enough)"
_WISH_FOR_NAMES = re.compile(
    rf"(?<=[.?!;])\s*(?:(?:just|only)\s+(?:the\s+)?{_NAMES}(?:\s+{_ENDING})?|(?:the\s+)?{_NAMES}\s+{_ENDING})\W*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_REPEAT_REQUEST = "show them"  # what a message means that has nothing but a wish


def blank_output_wishes(question: str, has_meaning: HasMeaning) -> str:
    """Returns the question, as long as before, without wishes about the form of the reply.

    A wish whose words have a meaning for the documents stays. A message that has nothing else asks for the last results
    again.
    """

    def blank_wish(match: re.Match[str]) -> str:
        return match[0] if has_meaning(*match.span()) else " " * len(match[0])

    question = _WISH_FOR_NAMES.sub(lambda match: " " * len(match[0]), question)
    text = _LAST_WISH.sub(blank_wish, _FIRST_WISH.sub(blank_wish, question))
    is_wish_alone = text != question and set(_WORD.findall(text.lower())) <= {"please"}
    return _REPEAT_REQUEST if is_wish_alone else text
