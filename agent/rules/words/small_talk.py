"""Small talk: greetings, thanks, hedges and reasons around a question. They say nothing about the documents."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise

from agent.english.function_words import (
    ADDRESSEES,
    AGGREGATE_WORDS,
    ASKING_WORDS,
    COURTESY_WORDS,
    FILLER_WORDS,
    GREETING_WORDS,
    LIST_VERBS,
    QUESTION_WORDS,
    REFERRING_WORDS,
    STOP_WORDS,
    SUMMARY_WORDS,
    YES_NO_VERBS,
)
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, alternatives_of

HasMeaning = Callable[[int, int], bool]  # whether a noun, a field or a value appears in `text[start:end]`

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Blanks are read from the first of them on, so that the time is linear in their number.
_CLAUSE_BOUNDARY = re.compile(
    r"(?<=[.!?…])\s+|(?:(?<!\s)\s+)?(?:\n\s*|[,;]\s+|[()]\s*)|(?<!\s)\s+[-–—]+\s+|(?<=\w):\s+"
    r"|(?<!\s)\s+(?=(?:because|['’]cause)\b(?!\s+of\b))"
    r"|(?<!\s)\s+(?=(?:since|as)\s+(?:i|we)(?:['’]\w+)?\s+[a-z])"
    r"|(?<!\s)\s+(?=but\s+(?:can|could|would|how|what|which|who|where|when|is|are|do|does|did|i|we|list|show|give|please)\b)"
    r"|(?<!\s)\s+(?=(?:no\s+matter|regardless\s+of|irrespective\s+of)\b)"
    r"|(?<!\s)\s+(?=when(?:ever)?\s+(?:you|u|possible|convenient|free)\b|if\s+(?:you|possible|that['’]s|u)\b"
    r"|so\s+(?:that\s+)?(?:i|we|he|she|they)\b|in\s+case\b|for\s+(?:my|our)\s)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:and\s+|but\s+)?(?:(?:because|['’]cause)\b(?!\s+of\b)|so\s+(?:that\s+)?(?:i|we|he|she|they)\b|in\s+case\b"
    r"|(?:since|as)\s+(?:i|we|he|she|they|it|someone|everyone|my|our)(?:['’]\w+)?\s+[a-z])",
    re.IGNORECASE,
)
# "… was cancelled *because the tenant had moved*": what befell the documents, and no reason to ask.
_DEED_BEFORE_REASON = re.compile(
    r"\b(?:\w{3,}ed|sent\s+back|late|down|off|closed|lost|left|withdrawn)\s*$", re.IGNORECASE
)
_REASON_TO_ASK = re.compile(r"(?:because|['’]cause)\s+(?:i|we|my|our|us|it)\b", re.IGNORECASE)
_PURPOSE = re.compile(r"for\s+(?:my|our)\s", re.IGNORECASE)
_ASIDE_PURPOSE = re.compile(r"(?:for|before|ahead\s+of|in\s+time\s+for)\s+(?:my|our|the|a)\s++[a-z ]++\W*+$")
_FIRST_PERSON = re.compile(r"\b(?:i|we)(?:['’](?:m|re|ve|ll|d))?\s", re.IGNORECASE)
_LEADING_PURPOSE = re.compile(
    r"(?:[Ff]or|[Aa]s\s+per|[Pp]er|[Oo]n\s+behalf\s+of|[Aa]t\s+the\s+request\s+of)\s+(?:my|our|the|a|an)\s++[a-z'’ ]++$"
)  # without a name
_DOUBT = re.compile(r"(?:i\s+)?(?:no\s+idea|not\s+sure|do\s+not\s+know|have\s+no\s+idea|never)\b|when", re.IGNORECASE)
_PERSONAL_CLAUSE = re.compile(
    r"(?:and\s+|but\s+|well\s+|since\s+|as\s+|just\s+|so\s+)*"
    r"(?:i|we|it|they|he|she|you|this|that)(?:['’](?:m|s|re|ve|ll|d))?(?:\s+[a-z']+|$)",
    re.IGNORECASE,
)
# "The auditor is asking": a noun with the finite verb of a wish or a state.
_REPORTED_WISH = re.compile(
    r"(?:and\s+|but\s+|since\s+|as\s+)*(?:(?:the|my|our|a|an|some)\s+)?(?:\w+\s+){1,3}"
    r"(?:(?:is|are|was|were|has|have|had|will|keeps?|kept)\s+)?(?:want|need|ask|insist|request|requir|demand|wait|tell|told)\w*\b",
    re.IGNORECASE,
)
_POSSESSIVE_CLAUSE = re.compile(r"(?:my|our)\s+[a-z]+\s+[a-z]+", re.IGNORECASE)  # "my niece loves it"
_HOPE = re.compile(r"(?:i\s+|we\s+)?(?:hope|hoping|trust)\b", re.IGNORECASE)
_OBJECT_CLAUSE = re.compile(r"[a-z]+\s+(?:it|this|that|them|these)\s+(?:for|to|by|before|asap)\b", re.IGNORECASE)
_ASIDE_START = re.compile(r"(?:not?|it(?:['’]s|\s+is)|this\s+is|that(?:['’]s|\s+is)|no)\s", re.IGNORECASE)
# "Names are enough", "a list will do", "each one counts once": about the answer, whatever nouns are in it.
_ABOUT_ANSWER = re.compile(
    r"(?:(?:just|only|a|an|the|their|your|rough|any)\s+)*(?:\w+\s+){1,3}"
    r"(?:(?:is|are|would\s+be|will\s+be)\s+(?:enough|fine|ok|okay|sufficient|plenty|good|great|perfect|all\s+(?:i|we)\s+need)"
    r"|(?:will|would)\s+(?:do|suffice)|suffices?)\W*"
    r"|(?:each|every)\s+(?:\w+\s+){1,3}counts?(?:\s+(?:as\s+(?:one|a\s+single)|once|separately|on\s+its\s+own)\b.*|\W*$)",
    re.IGNORECASE,
)
# "I do not care when", "no matter which", "does not have to be exact": what follows leaves out nothing.
_NO_MATTER = re.compile(
    r"(?:and\s+|but\s+)?(?:(?:i|we)\s+(?:really\s+)?do\s+not\s+(?:care|mind)\b|no\s+matter\b|(?:regardless|irrespective)\s+of\b"
    r"|(?:it\s+)?(?:does|do|did|need)\s+not\s+(?:(?:really\s+)?matter|(?:have|need)\s+to\s+be|be)\b|no\s+need\b)",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"(?:each\s+and\s+)?(?:every|each)(?:\s+(?:last|single))?\s+(?:one|bit|thing)(?:\s+of\s+(?:them|those|these|it))?\W*"
    r"|all\s+of\s+(?:them|it|those|these)\W*|the\s+(?:whole\s+)?lot(?:\s+of\s+them)?\W*",
    re.IGNORECASE,
)
_STRONG_MARKS = (".", "!", "?", "(", "-", "–", "—", ";")
_SUBJECT_WORDS = frozenset("the my our a an each every this that his her their some it he she".split())
_FINITE_VERBS = frozenset(
    "is are was were has have had will would can could does do did may might needs wants says said keeps counts".split()
)
_MAX_SUBJECT_WORDS = 4
_FINAL_TAG = re.compile(
    r"(?<=\w)[\s,–-]+(?:i\s+mean|you\s+know|mind\s+you|if\s+you\s+like)(?=\s*[.?!]*\s*$)", re.IGNORECASE
)
_SIGNATURE = re.compile(
    r"(?:(?<=[.!?,])\s*|(?<=\n)[^\S\n]*)(?i:(?:kind|best|warm|many)\s+)?(?i:regards|wishes|sincerely|cheers|thanks|thank\s+you|best|br|rgds)"
    r"[\s,!.]+[A-Z][\w-]+(?:\s[A-Z][\w-]+)?\W*$"
)
_MENTION = re.compile(r"(?<![\w.])@[\w.-]+")
_LEADING_MARKS = re.compile(r"^[\s,;:!.)–—-]+(?=\s)")
_LEADING_CONNECTIVE = re.compile(r"^\s+(?:but|so)\b,?", re.IGNORECASE)
_PRETTY_PLEASE = re.compile(r"\bpretty\s+please\b", re.IGNORECASE)
_WEEKDAY_WISH = re.compile(r"happy\s+\w+", re.IGNORECASE)
_MARKS_BEFORE_CLAUSE = " \t\r\n\u00a0,;:–—(-"
_MAX_GREETING_WORDS, _MAX_THANKS_WORDS = 4, 8
_EMPTY_WORDS = STOP_WORDS | FILLER_WORDS | ASKING_WORDS | COURTESY_WORDS | GREETING_WORDS | ADDRESSEES
_IDLE_WORDS = STOP_WORDS | FILLER_WORDS
_OPENING_WORDS = GREETING_WORDS | {"good"}
_ASKING_OR_COMPUTING = AGGREGATE_WORDS | QUESTION_WORDS
_WORDS_ABOUT_ASKING = ASKING_WORDS | COURTESY_WORDS | GREETING_WORDS | ADDRESSEES
_TASK_WORDS = LIST_VERBS | AGGREGATE_WORDS | SUMMARY_WORDS | QUESTION_WORDS | REFERRING_WORDS

_YES_NO_START = re.compile(
    rf"(?:(?:and|so|but)\s+)?(?:{'|'.join(sorted(YES_NO_VERBS))}|am)\s+(?:i|we|he|she|it|they|there)\s+\w",
    re.IGNORECASE,
)
_AMOUNT = re.compile(rf"\d|\b(?:{alternatives_of(NUMBERS_BY_WORD)})\s+[a-z]{{3,}}s\b", re.IGNORECASE)


def blank_small_talk(question: str, has_meaning: HasMeaning) -> str:
    """Returns the question, as long as before, with spaces in place of clauses that carry nothing.

    A question that has nothing else is returned unchanged.
    """
    text = _MENTION.sub(lambda match: " " * len(match[0]), question)
    text = _SIGNATURE.sub(lambda match: " " * len(match[0]), text)
    for phrase in (_PRETTY_PLEASE, _FINAL_TAG):
        text = phrase.sub(lambda match: " " * len(match[0]), text)
    text = _blank_leading_greeting(text, has_meaning)
    clauses = list(split_clauses(text))
    meaningful = {span for span in clauses if has_meaning(*span) or re.search(r"\d", text[slice(*span)])}
    empty_clauses = [span for span in clauses if _is_empty_clause(text, span, clauses, meaningful, has_meaning)]
    text = _blank_spans(text, empty_clauses)
    text = _WORD.sub(lambda match: _blank_courtesy(match, has_meaning), text)
    text = _LEADING_CONNECTIVE.sub(lambda match: " " * len(match[0]), text) if empty_clauses else text
    text = _LEADING_MARKS.sub(lambda match: " " * len(match[0]), text)
    return text if _has_letters(text) else question


def split_clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each clause, without the marks between them."""
    boundaries = [(0, 0), *(match.span() for match in _CLAUSE_BOUNDARY.finditer(text)), (len(text), len(text))]
    for (_, start), (end, _) in pairwise(boundaries):
        if text[start:end].strip():
            yield start, end


def _blank_leading_greeting(text: str, has_meaning: HasMeaning) -> str:
    """ "Hi all can you …": blanks the greeting where no mark ends it."""
    words = list(_WORD.finditer(text))
    first_clause = next(iter(split_clauses(text)), (0, 0))
    if len(_WORD.findall(text[slice(*first_clause)])) <= _MAX_GREETING_WORDS and first_clause[1] < len(text.rstrip()):
        return text  # "Hi Sam - …": a clause of its own
    count = next((index for index, word in enumerate(words) if word[0].lower() not in _OPENING_WORDS), 0)
    if not count or words[count - 1][0].lower() == "good" or has_meaning(words[0].start(), words[count - 1].end()):
        return text
    count += count < len(words) and words[count][0].lower() in ADDRESSEES
    end = words[count - 1].end()
    is_alone = count == len(words) or text[end : words[count].start()].strip() or words[0][0].lower() in ("hi", "hey")
    return " " * end + text[end:] if count > 1 or is_alone or words[0][0].lower() == "hello" else text


def _is_empty_clause(
    text: str,
    span: tuple[int, int],
    clauses: Sequence[tuple[int, int]],
    meaningful: Set[tuple[int, int]],
    has_meaning: HasMeaning,
) -> bool:
    """Whether the clause at `span` says nothing about the documents. `meaningful` are the clauses that may."""
    clause = text[span[0] : span[1]].strip()
    words = [word.lower().replace("’", "'") for word in _WORD.findall(clause)]
    if not words or len(clauses) == 1:
        return False
    is_set_off = text[: span[0]].rstrip().endswith((",", ".", "-", "–", "(")) or not text[: span[0]].strip()
    if (
        words[0] in ("because", "'cause")
        and _DEED_BEFORE_REASON.search(text[: span[0]])
        and not _REASON_TO_ASK.match(clause)
    ):
        return False
    if _REASON.match(clause) and (is_set_off or words[0] not in ("since", "as") or not has_meaning(*span)):
        return True
    is_idle = _is_idle(words, allows_question_word=bool(_DOUBT.match(clause)))
    if is_idle and _ASIDE_START.match(clause):
        return True  # "it's urgent", even where "urgent" is a value
    follows_question = span != clauses[0] and len(meaningful) > (span in meaningful)
    if follows_question and any(pattern.match(clause) for pattern in (_ABOUT_ANSWER, _NO_MATTER)):
        return True
    if follows_question and is_set_off and _EMPHASIS.fullmatch(clause):
        return True
    if has_meaning(*span):
        return False
    if _is_greeting(clause, words) or _is_purpose(clause, is_first=span == clauses[0], is_set_off=is_set_off):
        return True
    if is_idle:
        return True
    if _asks_yes_or_no(clause) or _tells_asked_case(clause, span, text, clauses):
        return False
    if clause.endswith("?") or not _ASKING_OR_COMPUTING.isdisjoint(words) or words[0] in LIST_VERBS:
        return False
    says_aside = (_PERSONAL_CLAUSE, _REPORTED_WISH, _POSSESSIVE_CLAUSE, _OBJECT_CLAUSE, _HOPE)
    is_aside = any(pattern.match(clause) for pattern in says_aside) or bool(_FIRST_PERSON.search(clause))
    is_strong = text[: span[0]].rstrip().endswith(_STRONG_MARKS)
    is_aside = is_aside or (follows_question and is_strong and _is_statement(words))
    return is_aside and not _refers_and_restricts(words)


def _asks_yes_or_no(clause: str) -> bool:
    """ "*Do I* need a note": asks something without a question mark too; "could you" is a courtesy."""
    return _YES_NO_START.match(clause) is not None


def _tells_asked_case(clause: str, span: tuple[int, int], text: str, clauses: Sequence[tuple[int, int]]) -> bool:
    """ "*I've been ill for nine days*, do I need a note": whether a rule may depend on the amount in the clause."""
    if _AMOUNT.search(clause) is None:
        return False
    return any(_asks_yes_or_no(text[slice(*other)].strip()) for other in clauses if other != span)


def _is_statement(words: Sequence[str]) -> bool:
    """ "Insurance is on the phone", "each direction counts as one": a subject of its own with a finite verb."""
    verbs = set(words[1 : _MAX_SUBJECT_WORDS + 1]) & _FINITE_VERBS
    return bool(verbs) and words[0] not in STOP_WORDS - _SUBJECT_WORDS and "not" not in words


def _is_greeting(clause: str, words: Sequence[str]) -> bool:
    begins = words[0] in GREETING_WORDS or (words[0] == "good" and words[1:2] and words[1] in GREETING_WORDS)
    begins = begins or bool(_WEEKDAY_WISH.match(clause)) or words[0] in ("thanks", "thank", "cheers", "thx")
    is_thanks = words[0] in ("thanks", "thank", "thx")
    return bool(begins) and len(words) <= (_MAX_THANKS_WORDS if is_thanks else _MAX_GREETING_WORDS)


def _is_purpose(clause: str, *, is_first: bool, is_set_off: bool) -> bool:
    if is_first:
        return bool(_LEADING_PURPOSE.match(clause))
    return bool(_PURPOSE.match(clause)) or (is_set_off and bool(_ASIDE_PURPOSE.match(clause)))


def _is_idle(words: Sequence[str], *, allows_question_word: bool) -> bool:
    """ "Just wondering", "if possible", "not sure but": only words about the asking, and not a lone connective."""
    parts = [part for word in words for part in word.split("'")]
    content_words = [part for part in parts if part not in _IDLE_WORDS]
    is_about_asking = not _WORDS_ABOUT_ASKING.isdisjoint(content_words)
    task_words = _TASK_WORDS - {"that", "it", "this"} - (QUESTION_WORDS if allows_question_word else frozenset())
    return is_about_asking and set(parts) <= _EMPTY_WORDS and not set(words) & task_words


def _refers_and_restricts(words: Sequence[str]) -> bool:
    """ "I meant …", "it must be …", "they should …": the words may correct or restrict the results."""
    return bool(set(words) & {"meant", "mean", "must", "should", "instead", "rather", "only"})


def _blank_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Returns the text without the spans and without the marks that set them off."""
    for start, end in spans:
        before, after = text[:start], text[end:]
        marked_after = re.match(r"\s*[,;:.!…()–—-]+(?=\s|$)", after)
        width = marked_after.end() if marked_after else 0
        before = before[:-1] + " " if before.endswith("(") else before
        text = before + " " * (end - start + width) + after[width:]
        last_word_end = len(text[:start].rstrip(_MARKS_BEFORE_CLAUSE))
        if last_word_end < start and not text[end + width :].strip(" ?!."):
            text = text[:last_word_end] + " " * (start - last_word_end) + text[start:]
    return text


def _blank_courtesy(match: re.Match[str], has_meaning: HasMeaning) -> str:
    is_courtesy = match[0].lower() in COURTESY_WORDS and not has_meaning(*match.span())
    return " " * len(match[0]) if is_courtesy else match[0]


def _has_letters(text: str) -> bool:
    return any(character.isalnum() for character in text)
