"""Reads words as people type them in a chat: "whats", "dont", "w/o", "u", emojis."""

import re
import unicodedata
from collections.abc import Callable

from agent.english.function_words import NUMBER_NOUN, SHORT_FORMS, YES_NO_VERBS

KnowsWord = Callable[[str], bool]  # whether a word, in lower case, appears in the documents' names or values

_APOSTROPHE_S = "what who how where when why that there here"  # "its" and "lets" have meanings of their own
_QUESTION_WORDS_BEFORE_IS = frozenset(_APOSTROPHE_S.split())
_NEGATED_VERBS = sorted(YES_NO_VERBS - {"can", "will", "may"} | {"need"})
_BARE_CONTRACTIONS = {
    **{f"{word}s": f"{word}'s" for word in _APOSTROPHE_S.split()},
    **{f"{verb}nt": f"{verb} not" for verb in _NEGATED_VERBS},
    **{f"{word}ve": f"{word}'ve" for word in "i we you they".split()},
    **{f"{word}re": f"{word}'re" for word in "you they".split()},
    **{f"{word}ll": f"{word}'ll" for word in "you they that".split()},
    "im": "i'm", "cant": "can not", "wont": "will not",
}  # fmt: skip
_NEGATION = re.compile(r"\b(ca|wo|\w+)n['’]t\b", re.IGNORECASE)
# "Isn't the hall open?" asks whether it is open. Without a subject it is a request, or goes on: "don't count …".
_NEGATIVE_QUESTION = re.compile(
    r"^(\W*)(is|are|was|were|does|do|did|has|have|had|ca|could|wo|would|should)n['’]t"
    r"(?=\s+(?:the|a|an|any|our|my|we|they|it|he|she|there|this|that|these|those|all)\b|\s+(?-i:[A-Z]))",
    re.IGNORECASE,
)
_FULL_VERBS = {"ca": "can", "wo": "will", "sha": "shall"}
_WORD = re.compile(r"(?<![\w'’@./-])[A-Za-z]+(?![\w'’@/-])")
_LETS = re.compile(r"^(\W*)lets\b", re.IGNORECASE)
_WITH_SLASH = re.compile(r"(?<!\w)w/(?!o\b)\s?", re.IGNORECASE)
_WITHOUT_SLASH = re.compile(r"(?<!\w)w/o\b", re.IGNORECASE)
_NUMBER_SIGN = re.compile(r"(?<=[a-z] )(?:no|nr)\.\s*(?=[\w-]*\d)")  # "No. 3" may be part of a title
_LETTER_YOU = re.compile(
    r"(?<=\bcan )u\b|(?<=\bcould )u\b|(?<=\bwould )u\b|(?<=\bwill )u\b|(?<=\bdo )u\b|(?<=\bdid )u\b|(?<=\bif )u\b"
    r"|(?<=\bthank )u\b|\bu(?=\s+(?:have|know|can|could|please|find|show|give|tell|get)\b)"
)
_LETTER_ARE = re.compile(r"(?<=[a-z]s )r(?= [a-z])|(?<=\bwho )r(?= )|(?<=\bwhat )r(?= )|(?<=\bthere )r(?= )")
_EMOTICON = re.compile(r"(?<!\S)(?:[:;=]['’]?-?[()DPp|/]|<3|\^\^|:[a-z][a-z0-9_+-]*:)(?!\S)")
_NUMBER_OF = re.compile(r"\b(?:no|nr|num)\.(?=\s+of\b)", re.IGNORECASE)
# It asks for a count of events, where a verb in the past or the perfect follows.
_HOW_OFTEN = re.compile(r"\bhow\s+often(?=\s+(?:did|was|were|has|have|had)\b)", re.IGNORECASE)
_FIRST_PICTOGRAPH = 0x2600  # symbols below are units and signs: "°C", "№", "™"
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def expand_informal_spelling(question: str, knows_word: KnowsWord) -> str:
    """Returns the question in usual spelling. A word that `knows_word` accepts is kept as written."""
    question = _blank_pictographs(question)
    question = _WITHOUT_SLASH.sub("without", question)
    question = _WITH_SLASH.sub("with ", question)
    question = _NUMBER_SIGN.sub(f"{NUMBER_NOUN} ", question)
    question = _LETTER_ARE.sub("are", _LETTER_YOU.sub("you", question))
    question = _NUMBER_OF.sub("number", question)
    question = _HOW_OFTEN.sub("how many times", question)
    question = _LETS.sub(r"\1let's", question)
    question = _NEGATIVE_QUESTION.sub(
        lambda match: f"{match[1]}{_FULL_VERBS.get(match[2].lower(), match[2])}", question
    )
    question = _NEGATION.sub(lambda match: f"{_FULL_VERBS.get(match[1].lower(), match[1])} not", question)
    return _WORD.sub(lambda match: _expand_word(match[0], knows_word), question)


def _blank_pictographs(question: str) -> str:
    """Returns the question, as long as before, with spaces in place of emojis and emoticons."""
    if not question.isascii():
        question = "".join(" " if _is_pictograph(character) else character for character in question)
    return _EMOTICON.sub(lambda match: " " * len(match[0]), question)


def _is_pictograph(character: str) -> bool:
    if character in _JOINERS:
        return True
    return ord(character) >= _FIRST_PICTOGRAPH and unicodedata.category(character) in ("So", "Sk", "Cn")


def _expand_word(written: str, knows_word: KnowsWord) -> str:
    word = written.lower()
    expanded = _BARE_CONTRACTIONS.get(word) or SHORT_FORMS.get(word)
    if expanded is None or (written.isupper() and len(written) > 1) or _is_known_itself(word, knows_word):
        return written
    return expanded.capitalize() if written[0].isupper() else expanded


def _is_known_itself(word: str, knows_word: KnowsWord) -> bool:
    """Whether the documents have the word; "whats" is not known by the "what" of a label "What they said"."""
    is_contraction = word.removesuffix("s") in _QUESTION_WORDS_BEFORE_IS
    return knows_word(word) and not (is_contraction and knows_word(word.removesuffix("s")))
