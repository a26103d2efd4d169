"""Splits a message into its questions."""

import re
from itertools import pairwise

from agent.english.function_words import SUPERLATIVE_PHRASES

_MAX_QUESTIONS = 4
_QUESTION_STARTS = (
    r"how|what|which|who|whose|whom|when|where|why|list|show|find|count|summari[sz]e|compare|give|tell|is|are|was|were|does|do|"
    r"did|has|have|can|could|please"
)
_QUESTION_BOUNDARY = re.compile(
    r"(?<=[?!])\s+(?=\S)|(?:(?<!\s)\s+)?\n\s*|(?<=[a-z\d]\.)\s+(?=(?:Also|And|Then|Plus|Additionally|Finally|Next|"
    + _QUESTION_STARTS
    + r")\b)"
    rf"|(?:(?<!\s)\s+)?;\s+(?=(?:and\s+|also\s+){{0,3}}(?:{_QUESTION_STARTS})\b)",
    re.IGNORECASE,
)
_LONE_SUPERLATIVES = "|".join(sorted(phrase[0] for phrase in SUPERLATIVE_PHRASES if len(phrase) == 1))
_ENDS_OF_RESULTS = rf"the\s+(?:{_LONE_SUPERLATIVES}|most|average|total|sum|mean|median)"  # "and the oldest"
_AUXILIARIES = r"do|does|did|is|are|was|were|has|have|had|can|could|should|would|will|must"
_JOINED_QUESTION = (
    r"how\s+(?:many|much|often|long|old|big|high)|what|which|who|when|where|list|show|find|summari[sz]e"
    rf"|(?:how|why)\s+(?:{_AUXILIARIES})"
)
# "Also", "plus", "oh and", "while you're at it": a joint between two questions, whatever the first one begins with.
# The marks and blanks before it are read as a whole, from their start, so that the time is linear in their number.
_JOINT = (
    r"(?<![\s,;–—-])[\s,;–—-]++(?<=\s)(?:oh\s+and|(?:oh\s+)?(?:and\s+|but\s+)?(?:also|plus|as\s+well\s+as|additionally|besides"
    r"|in\s+addition|on\s+top\s+of\s+that|while\s+(?:you|we)(?:['’]re|\s+are)\s+at\s+it|(?:one|another)\s+more\s+thing))"
    r"(?:\s*[,:]\s*|\s+)(?:and\s+|also\s+){0,3}"
)
_AND_BEFORE_QUESTION = re.compile(
    rf"{_JOINT}(?=(?:{_JOINED_QUESTION}|give|tell|count)\b)"
    rf"|(?<!\s)(?=\s*[,;–—-]|\s+(?:oh\s+and|plus)\b){_JOINT}(?=(?:is|are|was|were|does|do|did|{_ENDS_OF_RESULTS})\b)"
    rf"|(?:(?<!\s)\s+)?[,;]\s*(?:and\s+)?(?:then|after\s+that|afterwards)\s+(?=(?:{_JOINED_QUESTION}|{_ENDS_OF_RESULTS})\b)"
    rf"|(?:,|(?<!\s))\s+and\s+(?:(?:also|then)\s+)?(?=(?:{_JOINED_QUESTION})\b)|,\s+and\s+(?=(?:{_ENDS_OF_RESULTS})\b)"
    r"|,\s+(?=(?:how\s+(?:many|much)|what(?:['’]s|\s+(?:is|are|was|were|did))|who(?:['’]s|\s+(?:is|was))"
    r"|when\s+(?:is|was|did|does))\b)",
    re.IGNORECASE,
)
_FRONTED_CLAUSE = re.compile(
    r"(?:when|where)\s+(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\b)",
    re.IGNORECASE,
)  # "when the ferry was late, what …": a statement, where "when was the ferry late" asks
_ENDS_INSIDE_CLAUSE = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|can|will|who|that|which|do|does|did)$", re.IGNORECASE
)  # "… that is also what the law says"
_OPEN_BETWEEN = re.compile(r"\bbetween\b(?!.*\band\b)", re.IGNORECASE)  # "between what we pay and what we charge"
_STRONG_JOINT = re.compile(_JOINT, re.IGNORECASE)
_SUBJECT_OF_ITS_OWN = re.compile(r"\b(?:it|its|he|she|him|his|her|they|them)\b", re.IGNORECASE)
_AND_BEFORE_PREPOSITION = re.compile(
    r",\s+and\s+(?:also\s+)?(?=(?:in|from|at|for|on|by|with|during)\s+[^,?;]{1,60}\??$)", re.IGNORECASE
)  # "how many in 2024, and in 2023?"
_ASKS_FOR_NUMBER = re.compile(r"how\s+(?:many|much)\b|what\s+(?:is|was|are|were|did)\b", re.IGNORECASE)
_LEADING_FRAME = re.compile(
    rf"^(?:for|in|from|at|during|about)\s[^,:?]{{1,60}}[,:]\s+(?=(?:{_QUESTION_STARTS})\b)", re.IGNORECASE
)
_NUMBERED_ITEM = re.compile(r"(?:^|(?<=[\s:;,]))\(?([1-9])[.)]\s+(?=\S)")
_LEADING_CONNECTIVE = re.compile(
    r"^(?:and|also|then|plus|additionally|finally|next|secondly|furthermore)\b,?\s+", re.IGNORECASE
)
_HOW_MANY_THERE_ARE = re.compile(
    r"\bhow many (?:(?:there|they) (?:are|were)\b|(?:are|were|is|was) (?:they|there|those|that|it)\W*$)", re.IGNORECASE
)
_RELATIVE_PRONOUN = re.compile(r"(?<=\w)\s+(?:which|who|that|whose)\b", re.IGNORECASE)
_STARTS_RELATIVE_CLAUSE = re.compile(r"(?:which|who)\b", re.IGNORECASE)
_STARTS_ELLIPTIC_CHOICE = re.compile(
    r"which\s+(?:ones?\b|more|less|fewer|over|under|above|below|at\s+(?:least|most)|between|before|after|since|\d)",
    re.IGNORECASE,
)  # "which weigh less than 5 kg, and which more than 60?": no clause, since it has no verb; nor is "and which one …"
_LEADING_TOPIC = re.compile(r"^(?P<topic>[^\s:?!.][^:?!]{0,60}):\s+(?P<rest>\S.*)$", re.DOTALL)
_SUBJECT_PRONOUN = re.compile(r"\b(?:it|they|he|she)\b", re.IGNORECASE)
_MAX_TOPIC_WORDS = 5
_MAY_START_RELATIVE_CLAUSE = re.compile(
    r"(?:which|who|where)\b(?!\s+(?:is|are|was|were|do|does|did|of)\b)", re.IGNORECASE
)
_LIST_REQUEST = re.compile(
    r"(?:(?:please|can|could|you|i|we|need|want|would|like|me|us)\s+)*"
    r"(?:list|show|find|give|get|name|which|what|all|every|the)\b",
    re.IGNORECASE,
)  # "which" after a list request describes the listed documents
_WHAT_IS = re.compile(r"(?:what|who|when|where)(?:['’]s|\s+(?:is|was|did|does))\b", re.IGNORECASE)
_BACK_REFERENCE = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|he|she|his|her)\b", re.IGNORECASE)


def split_questions(text: str) -> tuple[str, ...]:
    """Returns the questions of `text`, split at item numbers, sentences and "and how many …"; at most four.

    A text without several questions is returned whole. A part may need words of the part before it (`refers_back`). A
    topic before a colon goes with every question: "Oak House: who runs it, and when is it open?".
    """
    topic = _LEADING_TOPIC.match(text.strip())
    if topic is not None and not _LEADING_FRAME.match(text.strip()) and len(topic["topic"].split()) <= _MAX_TOPIC_WORDS:
        parts = _split_without_topic(topic["rest"])
        if len(parts) > 1:
            return tuple(_add_topic(part, topic["topic"]) for part in parts)
    return _split_without_topic(text)


def _add_topic(part: str, topic: str) -> str:
    """Returns the question with the topic in place of its pronoun, or at its end: it still begins as a question."""
    named = _SUBJECT_PRONOUN.sub(lambda match: topic, part, count=1)
    return named if named != part else f"{part.rstrip(' ?')} ({topic})?"


def _split_without_topic(text: str) -> tuple[str, ...]:
    items = _numbered_items(text)
    parts = [
        _LEADING_CONNECTIVE.sub("", part.strip()) for part in (items or _QUESTION_BOUNDARY.split(text)) if part.strip()
    ]
    sentences = [
        question for part in parts for joined in _split_at_and(part) for question in _split_elliptic_question(joined)
    ]
    questions = [
        part
        for index, part in enumerate(sentences)
        if items or part.endswith("?") or _starts_question(part) or (not index and len(sentences) > len(parts))
    ]
    if len(questions) < 2 or len(questions) != len(sentences):
        return (text.strip(),)
    return (
        (*questions[: _MAX_QUESTIONS - 1], " ".join(questions[_MAX_QUESTIONS - 1 :]))
        if len(questions) > _MAX_QUESTIONS
        else tuple(questions)
    )


def refers_back(part: str) -> bool:
    """Whether the part refers to the subject of another part."""
    return bool(_BACK_REFERENCE.search(part))


def _numbered_items(text: str) -> list[str]:
    """Returns the items of "1. … 2. …"; none if the numbers have gaps or more than a greeting precedes them."""
    marks = list(_NUMBERED_ITEM.finditer(text))
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return []
    if len(text[: marks[0].start()].split()) > 6:
        return []
    item_ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [text[mark.end() : end].strip(" ,;\n") for mark, end in zip(marks, item_ends, strict=True)]


def _split_at_and(sentence: str) -> list[str]:
    """Splits questions joined by "and", but not two relative clauses about one noun ("which … and which …")."""
    parts = [part.strip() for part in _AND_BEFORE_QUESTION.split(sentence)]
    if (
        _FRONTED_CLAUSE.match(parts[0])
        or any(map(_OPEN_BETWEEN.search, parts[:-1]))
        or any(_ENDS_INSIDE_CLAUSE.search(part) for part in parts[:-1])
    ):
        return [sentence]
    first_asks = _starts_question(parts[0]) or (bool(parts[0]) and _STRONG_JOINT.match(sentence, len(parts[0])))
    all_ask = first_asks and all(_starts_question(part) for part in parts[1:])
    all_ask = all_ask and not any(_HOW_MANY_THERE_ARE.search(part) for part in parts[1:])
    has_relative_clause = any(
        (_STARTS_RELATIVE_CLAUSE.match(after) and _RELATIVE_PRONOUN.search(before))
        or (_MAY_START_RELATIVE_CLAUSE.match(after) and _LIST_REQUEST.match(before) and not _WHAT_IS.match(before))
        for before, after in pairwise(parts)
        if not _SUBJECT_OF_ITS_OWN.search(after) and not _STARTS_ELLIPTIC_CHOICE.match(after)
    )
    return parts if all_ask and not has_relative_clause else [sentence]


def _split_elliptic_question(sentence: str) -> list[str]:
    """Splits "how many in 2024, and in 2023?" into two questions."""
    boundary = _AND_BEFORE_PREPOSITION.search(sentence)
    if boundary is None or not _ASKS_FOR_NUMBER.match(sentence):
        return [sentence]
    second_question = sentence[boundary.end() :].strip()
    return [
        sentence[: boundary.start()].strip(),
        second_question if second_question.endswith("?") else f"{second_question}?",
    ]


def _starts_question(sentence: str) -> bool:
    return (
        bool(re.match(rf"(?:{_QUESTION_STARTS}|{_ENDS_OF_RESULTS})\b", sentence, re.IGNORECASE))
        or _LEADING_FRAME.match(sentence) is not None
    )
