"""Request frames: "can you tell me …", "I was wondering whether …", "could you put together a sheet with …".

What appears before the noun of the set is the request. Its verb may be any verb, so it is known by its place: after a
modal frame or at the beginning, before a determiner and a noun of a bucket.
"""

import re
from collections.abc import Callable

from agent.english.function_words import (
    AGGREGATE_WORDS,
    BREAKDOWN_WORDS,
    COMPARATORS,
    EXPORT_WORDS,
    FILLER_WORDS,
    LIST_VERBS,
    PREPOSITIONS,
    QUESTION_WORDS,
    STOP_WORDS,
    SUMMARY_WORDS,
    YES_NO_VERBS,
)
from agent.rules.words.indirect_questions import shorten_question_leads
from agent.rules.words.small_talk import HasMeaning

NamesSet = Callable[[int, int], bool]  # whether a noun for the documents of a bucket appears in `text[start:end]`

_SOFTENERS = r"(?:(?:please|just|maybe|perhaps|possibly|kindly|quickly|also|then|happen\s+to|be\s+able\s+to)\s+)*"
# Begins at the last mark before the words, and has a few words at most: the time is linear in the number of marks.
_START = r"(?P<lead>(?:^\W*|[.!?:;]\s[^\w.!?:;]*)(?:(?:and|but|so|ok|okay|well|please|now|also|then)\W+){0,6})"
_WHO_IS_ASKED = r"(?:you|we|i|someone|anyone|somebody|anybody|they)"
# A frame that ends before a question or "whether": "do you know", "I was wondering".
_ASKING_FRAME = re.compile(
    _START + r"(?P<frame>(?:"
    rf"(?:(?:can|could|would|will|might|may)\s+{_WHO_IS_ASKED}\s+{_SOFTENERS})?"
    r"(?:tell|let|remind|inform|advise|show)\s+(?:me|us)(?:\s+know)?(?:\s+(?:about|of))?"
    rf"|(?:can|could|would)\s+{_WHO_IS_ASKED}\s+{_SOFTENERS}(?:say|(?:double[\s-]?)?check|see|confirm|find\s+out|look\s+up|work\s+out|verify)"
    r"|(?:would|do)\s+you\s+mind\s+(?:telling|showing|letting|reminding)\s+(?:me|us)(?:\s+know)?"
    rf"|do(?:es)?\s+{_WHO_IS_ASKED}\s+{_SOFTENERS}(?:know|remember|recall)"
    rf"|(?:i|we)(?:['’]d|\s+would)?\s+{_SOFTENERS}(?:want|like|love|need|wish|have)\s+to\s+(?:know|ask|find\s+out|see|check)"
    rf"|(?:i|we)(?:['’]m|['’]re|\s+am|\s+are|\s+was|\s+were)?\s+{_SOFTENERS}(?:wonder(?:ing|ed)?|asking)"
    r"|(?:i|we)(?:['’]ve|\s+have)?\s+(?:been|were|was)\s+(?:asked|told)\s+to\s+(?:check|see|find\s+out|say)"
    r"|(?:(?:the|my|our|a)\s+)?[a-z]+\s+(?:wants|needs|would\s+like|asked|asks|is\s+asking|keeps\s+asking)(?:\s+(?:me|us))?"
    r"(?:\s+to\s+(?:know|see|find\s+out|hear))?"
    r"|(?:just\s+)?wondering|any\s+idea|is\s+it\s+known|check|confirm|find\s+out|(?:please\s+)?tell\s+me"
    r")\s*,?\s+)"
    r"(?P<link>if|whether|(?=(?:(?:about|at|by|for|from|in|of|on|since|to|under|until|till|with)\s+)?"
    r"(?:what|which|when|where|who|whom|whose|how|why)\b)|(?<=know )(?=(?:the|a|an|any)\b))",
    re.IGNORECASE,
)
# "Ida is off today and the chair wants to know: how much …": what appears before the colon only says who asks.
_REPORTED_QUESTION = re.compile(
    r"^(?P<frame>[^:?\n]{0,160}\b(?:asks?|asked|asking|wonders?|wondering|(?:want|need|wanted|needed|like)s?\s+to\s+know)"
    r"(?:\s+(?:me|us|this))?\s*:\s+)(?=\S)",
    re.IGNORECASE,
)
_BELIEF_FRAME = re.compile(
    _START + r"(?P<frame>(?:i|we)\s+(?:think|guess|believe|suppose|reckon|assume|gather)\s+(?:that\s+)?)", re.IGNORECASE
)
_DO_FRAME = re.compile(
    _START + r"(?P<frame>(?:"
    rf"(?:can|could|would|will)\s+(?:you|someone|anyone|somebody|anybody|we|i)\s+{_SOFTENERS}(?:help\s+(?:me|us)\s+(?:to\s+)?)?"
    r"|any\s+chance\s+(?:that\s+)?(?:(?:you|someone|we|i)\s+(?:could|can|would|might)|to)\s+"
    r"|(?:is|was|would)\s+(?:it|there)\s+(?:be\s+)?(?:possible|a\s+way|any\s+way)\s+(?:for\s+\w+\s+)?to\s+"
    r"|(?:(?:it|that)(?:['’]d|\s+would)\s+be|would\s+be)\s+(?:really\s+|very\s+|so\s+)?"
    r"(?:good|great|nice|lovely|helpful|useful|cool|super|handy)\s+(?:to|if\s+(?:you|we|i|someone)\s+(?:could|can|would))\s+"
    r"|would\s+you\s+mind\s+(?=[a-z]+ing\b)"
    r"|would\s+it\s+be\s+possible\s+(?:for\s+\w+\s+)?to\s+"
    rf"|(?:i|we)(?:['’]d|\s+would)?\s+{_SOFTENERS}(?:want|like|love|need|wish|have|hope)\s+(?:you\s+)?to\s+"
    rf"|(?:i|we)(?:['’]m|['’]re|\s+am|\s+are)\s+{_SOFTENERS}(?:trying|hoping|looking)\s+to\s+"
    r"|(?:(?:the|my|our|a)\s+)?[a-z]+\s+(?:asked|told|wants|needs|expects|requested)\s+(?:me|us)\s+to\s+"
    r"|(?:i|we)(?:['’]ve|\s+have)?\s+(?:been|were|was)\s+(?:asked|told)\s+to\s+"
    r"|help\s+(?:me|us)\s+(?:to\s+)?|let(?:['’]s|\s+(?:me|us))\s+|(?:go\s+ahead\s+and|try\s+to|kindly)\s+"
    r")?)"
    r"(?P<verb>[a-z]+)(?P<particle>\s+(?:up|out|together|down|over|through|back|off|around))?(?P<for>\s+(?:me|us))?"
    r"(?=\s+(?P<object>[\w'’-]+))",
    re.IGNORECASE,
)
_WANT_FRAME = re.compile(
    _START + r"(?P<frame>(?:i|we)(?:['’]m|['’]re|\s+am|\s+are)\s+(?:just\s+)?"
    r"(?:after|looking\s+for|searching\s+for|interested\s+in|hunting\s+for|in\s+need\s+of)\s+)",
    re.IGNORECASE,
)
# "Gwen wants the total …": who wants it is no value of a field.
_OTHERS_WISH = re.compile(
    _START + r"(?P<frame>[a-z]+\s+(?:wants|needs|would\s+like|is\s+(?:after|asking\s+for|looking\s+for))\s+)"
    r"(?=(?:the|a|an|all|any|every|some)\s)",
    re.IGNORECASE,
)
# A sentence before the question that only says what somebody is about to do, or who writes.
_INTENTION_BEFORE = re.compile(
    r"^(?P<lead>\W*)(?P<frame>(?:(?:(?:the|my|our)\s+)?[a-z]+(?:['’][a-z]+)?\s+(?:want|need|(?:am|is|are)\s+(?:going|trying)|"
    r"would\s+like|going)s?\s+to\s+[^.?!\n]{1,100}[.!]|[a-z]+\s+here[.,!])\s+)(?=[^?]{3,}\?|(?:for|in|on|by)?\s*"
    r"(?:what|which|who|whose|when|where|how|is|are|do|does|did|have|has|can|list|show)\b)",
    re.IGNORECASE,
)
# The same behind the question: "… names please, I'm going to ring round this afternoon", "It's for the report".
_INTENTION_BEHIND = re.compile(
    r"(?<=[\w?.!)])(?P<frame>\s*[,;.?!–-]+\s*(?:because\s+|since\s+|as\s+)?(?:"
    r"(?:i|we)(?:['’](?:m|re)|\s+am|\s+are)\s+(?:going|trying|planning|about)\s+to\s"
    r"|(?:i|we)\s+(?:need|want|have)\s+to\s+(?:write|send|call|ring|phone|e-?mail|tell|chase|contact|report|order|let)\b"
    r"|(?:i|we)\s+need\s+(?:it|them|this|that)\s+for\s|(?:it|this)(?:['’]s|\s+is)\s+for\s+(?:the|my|our|a|an)\s"
    r")[^?\n]{0,120})$",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\bas\s+(?:things|it|matters)\s+(?:currently\s+)?stands?(?:\s+(?:right\s+now|today|now))?\b", re.IGNORECASE
)
_AT_PRESENT = re.compile(
    r"\b(?:right\s+now|at\s+the\s+moment|at\s+present|at\s+this\s+moment|as\s+of\s+today|these\s+days)\b", re.IGNORECASE
)
# "Which of us checked it" asks for a person.
_WHICH_OF_US = re.compile(r"\bwhich\s+(?:one\s+)?of\s+(?:us|you)(?:\s+(?:all|lot|guys))?(?=\s+[a-z])", re.IGNORECASE)
_WITH_THE_FIRM = re.compile(r"\bwith\s+(?:the|our)\s+(?:company|firm|organi[sz]ation|business)\b", re.IGNORECASE)
_ON_OUR_SIDE = re.compile(r"\s(?:on|at|from)\s+our\s+(?:side|end)\b", re.IGNORECASE)
# "How far are we with the roof": as long as what takes its place, or longer
_WHERE_IT_STANDS = re.compile(r"\b(?:where|how\s+far)\s+(?:are\s+we|do\s+we\s+stand)\s+with\b", re.IGNORECASE)
_DIRECTLY = re.compile(r"(?<=\breport)\s+directly(?=\s+to\b)|(?<=\breports)\s+directly(?=\s+to\b)", re.IGNORECASE)
# "That still have to be paid": as long as what takes its place, or longer
_STILL_TO_BE = re.compile(
    r"\bstill\s+(?:have|has|need|needs)\s+to\s+be\b|\b(?:are|is)\s+still\s+to\s+be\b"
    r"|\b(?:have|has)\s+(?:yet|still)\s+to\s+be\b",
    re.IGNORECASE,
)
_DETERMINERS = frozenset("the all every each any a an my our your those these some everything".split())
_HOLDER = re.compile(
    r"(?:(?:a|an|one)\s+)(?:[a-z]+\s+){0,2}?(?P<noun>[a-z]+)\s+(?:of|with|containing|showing|listing|that\s+(?:has|shows|lists))\s+",
    re.IGNORECASE,
)
_KEPT_WORDS = (
    LIST_VERBS | AGGREGATE_WORDS | SUMMARY_WORDS | EXPORT_WORDS | BREAKDOWN_WORDS
    | frozenset("compare comparison difference contrast sort order rank group explain describe number count".split())
)  # fmt: skip
_NO_REQUESTS = STOP_WORDS | FILLER_WORDS | QUESTION_WORDS | _KEPT_WORDS | PREPOSITIONS | COMPARATORS
_ACTIONS_OF_ASKER = frozenset({"bring", "return"})  # "can you bring me …" is a request, "can I bring …" is none
_ASKER_ACTS = re.compile(r"^(?:can|could|may|would|will)\s+(?:i|we)\s", re.IGNORECASE)
_AUXILIARY = re.compile(rf"\s(?P<verb>{'|'.join(sorted(YES_NO_VERBS))})\b", re.IGNORECASE)
_LONG_LIST_VERB, _SHORT_LIST_VERB = "list", "get"


def blank_request_frames(question: str, names_set: NamesSet, has_meaning: HasMeaning) -> str:
    """Returns the question, as long as before, without its request frames.

    A verb that only asks for the documents becomes "list"; "whether X is …" becomes "is X …".
    """
    question = _REPORTED_QUESTION.sub(lambda match: " " * len(match["frame"]), question)
    question = _INTENTION_BEFORE.sub(lambda match: match["lead"] + " " * len(match["frame"]), question)
    question = _INTENTION_BEHIND.sub(_blank_after_mark, question)
    question = _STANDING.sub(lambda match: "now".ljust(len(match[0])), question)
    question = _AT_PRESENT.sub(lambda match: "currently".ljust(len(match[0])), question)
    question = _WHERE_IT_STANDS.sub(lambda match: "what status has".ljust(len(match[0])), question)
    question = _WHICH_OF_US.sub(lambda match: "who".ljust(len(match[0])), question)
    question = _WITH_THE_FIRM.sub(lambda match: "with us".ljust(len(match[0])), question)
    question = _ON_OUR_SIDE.sub(lambda match: " " * len(match[0]), question)
    question = _DIRECTLY.sub(lambda match: " " * len(match[0]), question)
    question = _STILL_TO_BE.sub(lambda match: "have not been".ljust(len(match[0])), question)
    shortened = shorten_question_leads(question)
    text = _ASKING_FRAME.sub(_blank_asking_frame, shortened)
    text = _invert_indirect_question(text, shortened)
    for frame in (_WANT_FRAME, _OTHERS_WISH, _BELIEF_FRAME):
        text = frame.sub(lambda match: match["lead"] + " " * len(match["frame"]), text)
    return _DO_FRAME.sub(lambda match: _replace_request_verb(match, names_set, has_meaning), text, count=1)


def _blank_after_mark(match: re.Match[str]) -> str:
    """Returns spaces, after the question mark if the clause begins behind it."""
    mark = "?" if "?" in match["frame"][:3] else ""
    return mark + " " * (len(match["frame"]) - len(mark))


def _blank_asking_frame(match: re.Match[str]) -> str:
    link = match["link"]
    return match["lead"] + " " * len(match["frame"]) + (" " * len(link) if link else "")


def _invert_indirect_question(text: str, question: str) -> str:
    """ "Whether Fir Hall is let": returns "is Fir Hall let"; unchanged without "whether" or its verb."""
    match = _ASKING_FRAME.search(question)
    if match is None or not match["link"]:
        return text
    verb = _AUXILIARY.search(text, match.end())
    if verb is None:
        return text
    inverted = f"{verb['verb']}{text[match.end() : verb.start()]}"
    start = match.end() - len(match["link"])
    return text[:start] + inverted.ljust(verb.end() - start) + text[verb.end() :]


def _replace_request_verb(match: re.Match[str], names_set: NamesSet, has_meaning: HasMeaning) -> str:
    """Returns the matched text with "list" in place of the verb, or without its frame, or unchanged."""
    verb, text = match["verb"].lower(), match.string
    blanked_frame = match["lead"] + " " * len(match["frame"])
    if verb in _ACTIONS_OF_ASKER and _ASKER_ACTS.search(match["frame"] or ""):
        return match[0]  # "can I bring my dog"
    if match["frame"] and verb in _KEPT_WORDS | {"see", "have", "know"}:
        return blanked_frame + match[0][len(blanked_frame) :]
    end = _end_of_clause(text, match.end())
    is_request = match["object"].lower() in _DETERMINERS or bool(match["for"])
    if not match["frame"] and (verb.endswith(("ing", "ed")) or _asks_later(text[match.end() : end])):
        return match[0]  # "considering the orders of May, which …"
    names_object = bool(match["particle"]) and has_meaning(match.end(), end)
    if (
        (verb in _NO_REQUESTS and not (verb in LIST_VERBS and match["particle"]))
        or has_meaning(*match.span("verb"))
        or not (names_object or (is_request and names_set(match.end(), end)))
    ):
        return match[0]
    rest = len(match[0]) - len(blanked_frame)
    list_verb = _LONG_LIST_VERB if rest >= len(_LONG_LIST_VERB) else _SHORT_LIST_VERB
    return blanked_frame + list_verb.ljust(rest)


def _asks_later(text: str) -> bool:
    return bool(set(re.findall(r"[a-z]+", text.lower())) & QUESTION_WORDS)


def blank_holder_nouns(question: str, names_set: NamesSet, has_meaning: HasMeaning) -> str:
    """ "List a sheet with the open tickets": returns the question, as long as before, without "a sheet with"."""
    match = _HOLDER.search(question)
    if match is None or not _follows_request(question[: match.start()]):
        return question
    is_kept = match["noun"].lower() in _KEPT_WORDS - LIST_VERBS or has_meaning(*match.span())
    if is_kept or not names_set(match.end(), _end_of_clause(question, match.end())):
        return question
    return question[: match.start()] + " " * len(match[0]) + question[match.end() :]


def _follows_request(before: str) -> bool:
    words = re.findall(r"\w+", before.lower())
    return all(word in STOP_WORDS | FILLER_WORDS | LIST_VERBS for word in words)


def _end_of_clause(text: str, start: int) -> int:
    boundary = re.compile(r"[.!?;\n](?:\s|$)").search(text, start)
    return boundary.start() if boundary else len(text)
