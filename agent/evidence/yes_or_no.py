"""Whether a sentence answers a yes-or-no question with yes or with no. Both are closed word classes of English."""

import re

from agent.english.function_words import PRONOUNS_OF_PERSONS, QUESTION_WORDS, STOP_WORDS, YES_NO_VERBS
from agent.english.light_words import is_light_word
from agent.evidence.calendar_words import months_in, weekdays_in
from agent.evidence.question_words import share_start
from agent.evidence.stated_limits import verdict_by_limit
from storage.search.analyser import Analyser, fold_text

_WORD = re.compile(r"[^\W_]+(?:['’]\w+)?")
_QUESTION_VERBS = YES_NO_VERBS | {"am", "might", "shall"}
_SENTENCE_END = re.compile(r"[.?!;]\s+")
_CLAUSE_END = re.compile(r"[,;:–—]\s|\s(?:but|while|whereas)\s")
_MAX_NEGATED_DISTANCE = 5  # words after a negation, in which what it negates stands
# The last two lines: what the vocabularies of the packs have no English word for.
_FORBIDDING = frozenset(
    """forbidden forbid forbids prohibited prohibit prohibits banned ban bans barred disallowed impossible cannot
    rejected refused declined denied excluded
    ausgeschlossen ausgenommen interdit interdite interdits interdites exclu exclue exclus exclues
    excluido excluida excluidos excluidas prohibida prohibidos prohibidas""".split()
)
_NEGATIONS = _FORBIDDING | frozenset("no not never nobody none nothing nowhere neither nor without".split())
_PERMISSIONS = frozenset(
    """may can allowed allow allows permitted permit permits welcome free fine ok okay yes possible always""".split()
)
# They negate what stands before them: "Saturday delivery is *not offered*".
_OFFERS = frozenset(
    """offered offers offer available provided accepted given granted done possible served held sold taken paid covered
    included needed required necessary""".split()
)
# A sentence with one of them holds under a condition, or in a part of the cases.
_RESTRICTIONS = frozenset("only unless except if but until provided otherwise however although before after".split())
_PERMISSION_QUESTION = re.compile(
    r"""^(?:may|can|could|might)\b
    | \b(?:allowed|permitted|possible|forbidden|ok|okay|alright|fine) [ ]? (?:to\b|for\b|if\b|in\b|on\b|at\b|\W*$)""",
    re.IGNORECASE | re.VERBOSE,
)
# Blanked words may come before it, such as a reason to ask.
_TAG = re.compile(
    r"""(?: \s* [,;–—-] \s* | \s{2,} )
        (?: can | may | could | must | should | do | does | did | is | are | was | were | has | have | had
            | will | would ) [ ] (?: i | we | you | he | she | it | they ) [ ]? \?+ \s* $""",
    re.IGNORECASE | re.VERBOSE,
)
# "I broke my leg, *do I need a note?*": a clause that asks, behind the case in which it does.
_ASKING_CLAUSE = re.compile(
    r"""(?P<case> \w .* ) [,;–—] \s+ (?: so \s+ )?
        (?P<clause> (?: am | are | is | was | were | do | does | did | have | has | can | could | may | must | should
            | will | would | shall )
            [ ] (?: i | we | you | he | she | it | they | one | somebody | someone | anybody
                | (?:the|my|our|your|a|an|this|that|these|those) [ ] \w+ )
            [ ] [^,;?!.]* ) [?\s]* $""",
    re.IGNORECASE | re.VERBOSE,
)
_REASON = re.compile(r"[,;–—-]?\s*\b(?:because|cos|coz)\s[^,;?.!]*", re.IGNORECASE)
_CONDITION = re.compile(
    r"""(?<=\w) [,;–—-]? \s* \b (?: (?:as|so)[ ]long[ ]as | provided(?:[ ]that)? | even[ ](?:if|when) | if | when )
        \s (?P<case>[^,;?.!]*)""",
    re.IGNORECASE | re.VERBOSE,
)
_OPENING_HOURS = re.compile(
    r"\b\d{1,2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\.?)?\s*(?:to|until|till|-|–|—)\s*\d{1,2}(?:[:.]\d{2})?", re.IGNORECASE
)
_OPPOSITE_PREFIXES = ("un", "non", "in", "im", "ir", "dis")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w])")


def is_yes_no_question(question: str) -> bool:
    """Whether the message, or its last sentence, begins with a verb, or ends so: "They want it back, *can they?*".

    "I am ill, *do I need a note?*" too, where no other clause of the sentence asks.
    """
    sentences = [sentence for sentence in _SENTENCE_END.split(question.strip()) if sentence.strip()]
    starts = {next(iter(fold_text(part).split()), "") for part in (question, *sentences[-1:])}
    if not starts.isdisjoint(_QUESTION_VERBS) or _TAG.search(question) is not None:
        return True
    clause = _ASKING_CLAUSE.match(sentences[-1]) if sentences else None
    return clause is not None and _words_of(clause["case"]).isdisjoint(QUESTION_WORDS)


def claim_of(question: str) -> str:
    """Returns the question without its reason and its tag: neither changes what a rule says about the thing itself."""
    return _TAG.sub("?", _REASON.sub("", question))


def split_case(question: str) -> tuple[str, str]:
    """ "May a dog come in *as long as it is on a lead*?": returns the claim, and the case in which it is asked."""
    claim = claim_of(question)
    if (asking := _ASKING_CLAUSE.match(claim)) is not None and is_yes_no_question(claim):
        return asking["clause"], asking["case"]
    condition = _CONDITION.search(claim)
    return (claim, "") if condition is None else (claim.replace(condition[0], " "), condition["case"])


_RELATIVE_PRONOUNS = frozenset({"who", "which", "that", "whose"})
_MODAL_VERBS = frozenset("may might can could must should shall will would".split())
_VERBS_OF_PAYMENT = frozenset("pay refund reimburse charge compensate".split())


def verdict_of(sentence: str, question: str, analyser: Analyser) -> bool | None:
    """Returns True for yes and False for no; None if the sentence holds only in part, or for a doubtful question.

    It says no only if it negates a word of the question, or a permission. A sentence without a negation says yes only
    if it permits what the question asks leave for.
    """
    claim = claim_of(question)
    words, asked = _words_of(sentence), _words_of(claim)
    if "open" in asked and (is_open := _tells_whether_open(sentence, claim, words)) is not None:
        return is_open
    if any(_is_negation(word) for word in asked - words) or _holds_opposite(words, asked):
        return None
    if (is_met := verdict_by_limit(sentence, claim)) is not None:
        return is_met
    if _is_of_other_days(sentence, claim) or _is_of_other_number(sentence, claim):
        return False if _names_only_days(sentence, claim, analyser) else None
    told = _clause_that_tells(sentence, claim, analyser)
    own = set(told)
    asks_leave = _PERMISSION_QUESTION.search(claim) is not None or bool(asked & {"allowed", "permitted"})
    if own & _RESTRICTIONS - asked:
        is_permitted = asks_leave and _permits_asked_case(sentence, claim, analyser)
        return True if is_permitted or _limits_to_asked_days(sentence, claim, analyser) else None
    if any(_is_negation(word) for word in own - asked):
        is_negated = _negates_asked_word(told, asked, analyser) or _negates_offer(told, asked, analyser)
        return False if is_negated else None
    if any(_is_negation(word) for word in words - asked) or words & _RESTRICTIONS - asked:
        return None
    return True if asks_leave and words & _PERMISSIONS else None


def _tells_whether_open(sentence: str, claim: str, words: set[str]) -> bool | None:
    """ "Are we open on Saturday" of "Saturday 9:00 to 13:00": whether the line gives hours for the asked day, or says
    that it is closed. None without such a day, for a part of the year, and where one day is open and another closed.
    """
    days = weekdays_in(claim)
    if not days or not days <= weekdays_in(sentence) or months_in(claim) or any(map(_is_negation, words)):
        return None
    has_hours, is_closed = _OPENING_HOURS.search(sentence) is not None, "closed" in words
    return has_hours if has_hours is not is_closed else None


def _clause_that_tells(sentence: str, question: str, analyser: Analyser) -> list[str]:
    """Returns the words of the part of the sentence with most words of the question: "…, not in the *rock garden*"."""
    stems = _content_stems_of(question, analyser)
    clauses = [_WORD.findall(fold_text(clause)) for clause in _CLAUSE_END.split(sentence)]
    shares = [len(stems & _content_stems_of(" ".join(clause), analyser)) for clause in clauses]
    whole = len(stems & _content_stems_of(sentence, analyser))
    is_one_clause = max(shares) == whole and shares.count(max(shares)) == 1
    return clauses[shares.index(max(shares))] if is_one_clause else _WORD.findall(fold_text(sentence))


def _negates_asked_word(words: list[str], asked: set[str], analyser: Analyser) -> bool:
    """Whether a word of the question, or a permission, appears right after a negation; "no" may end the clause."""
    stems = _content_stems_of(" ".join(asked), analyser)
    for index, word in enumerate(words):
        if index and words[index - 1] in _RELATIVE_PRONOUNS:
            continue  # "those who cannot come" says only of whom a rule is
        following = words[index + 1 : index + 1 + _MAX_NEGATED_DISTANCE]
        if other := next((place for place, each in enumerate(following) if place and each in _MODAL_VERBS), 0):
            following = following[:other]  # "those who cannot come *may* take holiday"
        if following[:1] and following[0] in _VERBS_OF_PAYMENT and not asked & _VERBS_OF_PAYMENT:
            continue  # "we do not *pay* for holiday" says of no holiday that nobody may take it
        is_asked = bool(set(following) & _PERMISSIONS or stems & _content_stems_of(" ".join(following), analyser))
        if _is_negation(word) and (is_asked or word in _FORBIDDING):
            return True
    return False


def _negates_offer(words: list[str], asked: set[str], analyser: Analyser) -> bool:
    """ "Saturday delivery is not offered": whether what the question names, and nothing narrower, does not exist."""
    stems = _content_stems_of(" ".join(asked), analyser)
    for index, word in enumerate(words):
        is_last = index == len(words) - 1  # "water is allowed; food is not"
        if not _is_negation(word) or not (is_last or set(words[index + 1 : index + 3]) & _OFFERS):
            continue
        subject = _content_stems_of(" ".join(words[:index]), analyser)
        if subject and all(_is_among(stem, stems) for stem in subject):
            return True
    return False


def forbids_all(sentence: str, question: str, analyser: Analyser) -> bool:
    """ "Food is not allowed": whether the clause that says no names nothing that the question does not.

    "He is not dismissed" is no ban: it is about somebody whom another sentence names.
    """
    if next(iter(_WORD.findall(fold_text(sentence))), "") in PRONOUNS_OF_PERSONS:
        return False
    if verdict_of(sentence, question, analyser) is not False or verdict_by_limit(sentence, question) is not None:
        return False
    told = [word for word in _clause_that_tells(sentence, question, analyser) if word not in _OFFERS | _FORBIDDING]
    asked = _telling_stems_of(question, analyser)
    named = _telling_stems_of(" ".join(told), analyser)
    return bool(named) and any(map(_is_negation, _words_of(sentence))) and all(_is_among(stem, asked) for stem in named)


def _permits_asked_case(sentence: str, claim: str, analyser: Analyser) -> bool:
    """ "Fires only in the *yard*, from May to July": whether the case that a rule permits is the one that is asked.

    All that the question names must be in the sentence, and a part of it after "only": there the rule says what it
    permits. A question about the rule itself is not settled: whether it applies is not known.
    """
    words = _WORD.findall(fold_text(sentence))
    if words.count("only") != 1 or any(_is_negation(word) or word in _RESTRICTIONS - {"only"} for word in words):
        return False
    asked, told = _telling_stems_of(claim, analyser), _telling_stems_of(sentence, analyser)
    permitted = _telling_stems_of(" ".join(words[words.index("only") + 1 :]), analyser)
    return bool(asked & permitted) and all(_is_among(stem, told) for stem in asked)


def _limits_to_asked_days(sentence: str, claim: str, analyser: Analyser) -> bool:
    """ "We deliver Monday to Friday only": whether the days that are asked are among those of such a rule."""
    names_days = bool(weekdays_in(claim) & weekdays_in(sentence) or months_in(claim) & months_in(sentence))
    return names_days and _names_only_days(sentence, claim, analyser)


def _names_only_days(sentence: str, claim: str, analyser: Analyser) -> bool:
    """Whether a sentence limits what is asked, and nothing narrower, to some days: "Monday to Friday only"."""
    words = _words_of(sentence)
    if "only" not in words or any(map(_is_negation, words)) or words & _RESTRICTIONS - {"only"}:
        return False
    if _is_of_other_number(sentence, claim):
        return False
    asked, told = _telling_stems_of(claim, analyser), _telling_stems_of(sentence, analyser)
    return bool(asked) and all(_is_among(stem, told) for stem in asked) and all(_is_among(stem, asked) for stem in told)


def _is_of_other_days(sentence: str, claim: str) -> bool:
    """Whether both name weekdays, or months, and the sentence lacks some that are asked: it is about other days."""
    return any(
        bool(asked) and bool(told) and not asked <= told
        for asked, told in (
            (weekdays_in(claim), weekdays_in(sentence)),
            (months_in(claim), months_in(sentence)),
        )
    )


def _is_of_other_number(sentence: str, claim: str) -> bool:
    asked, told = set(_NUMBER.findall(claim)), set(_NUMBER.findall(sentence))
    return bool(asked) and bool(told) and not asked & told


def _holds_opposite(words: set[str], asked: set[str]) -> bool:
    """ "Opened" and "unopened": whether one has the opposite of a word of the other; "into" is none of "to"."""
    told_only, asked_only = words - asked - STOP_WORDS, asked - words - STOP_WORDS
    pairs = ((told_only, asked_only), (asked_only, told_only))
    return any(f"{prefix}{word}" in others for own, others in pairs for word in own for prefix in _OPPOSITE_PREFIXES)


def _is_among(stem: str, stems: set[str]) -> bool:
    return stem in stems or any(share_start(stem, other) for other in stems)


def _telling_stems_of(text: str, analyser: Analyser) -> set[str]:
    """Returns the stems of the words that name a thing: without light verbs, restrictions, days and months."""
    named = [
        word
        for word in _WORD.findall(fold_text(text))
        if not (is_light_word(word) or word in _RESTRICTIONS | _PERMISSIONS or weekdays_in(word) or months_in(word))
    ]
    return _content_stems_of(" ".join(named), analyser)


def _content_stems_of(text: str, analyser: Analyser) -> set[str]:
    words = " ".join(word for word in _WORD.findall(fold_text(text)) if word not in STOP_WORDS)
    return {term.text for term in analyser.extract_terms(words)}


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(fold_text(text)))


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))
