"""What leads to an indirect question: "would you be so kind as to tell me *who* …", "any idea *by when* …".

People soften a question in many ways, with few words. So a lead is known by its vocabulary: from the start of a
sentence up to the question, every word is one of asking, knowing or politeness.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from agent.english.function_words import QUESTION_WORDS

_AUXILIARIES = frozenset("can could would will might may do does did is are have has".split())
_ASKERS = frozenset("i we i'd we'd i'm we're i've we've".split())
_ADDRESSED = frozenset("you someone somebody anyone anybody everyone everybody".split())
_SOFTENERS = frozenset(
    """please pls plz kindly just maybe perhaps possibly quickly quick also really very so as any some not never only
    happen to about on of the a an my own and but or too again now ok okay then one be been being was were am it there
    it'd me us can't cannot couldn't don't didn't able out up""".split()
)
_GREETINGS = frozenset("hi hello hey good morning afternoon evening all team folks thanks".split())
_ATTITUDES = frozenset(
    """kind nice great lovely helpful useful glad happy grateful interested curious sure possible mind appreciate
    appreciated like love want wanted wish hope hoping hoped trying tried need needed""".split()
)
_ASKING = frozenset(
    """tell telling ask asking know knowing knows known say remind reminding confirm check checking find finding look
    figure see wonder wondering wondered remember recall forgot forgotten hear learn clarify help idea clue chance sure
    information info let""".split()
)
_LEAD_WORDS = _AUXILIARIES | _ASKERS | _ADDRESSED | _SOFTENERS | _GREETINGS | _ATTITUDES | _ASKING
_ALTERNATIVES = frozenset({"if", "whether"})
# "Information *on* how …", "look *up* who …"; but "*on* which day", "*up* to what amount".
_PREPOSITIONS_OF_LEADS = {
    **dict.fromkeys("idea clue information info know".split(), frozenset({"about", "of", "on"})),
    "look": frozenset({"up"}),
}
_PREPOSITIONS = frozenset("about at by for from in of on since to under until till up with".split())
_KNOWING = frozenset("know remember recall happen mind idea clue information info".split())
_MODEST_VERBS = frozenset({"ask", "know"})  # "may I ask who …"; but "can I see who …" asks for leave
_REPORTS = frozenset("know knew see saw found checked asked told heard remember said learned".split())
_MAX_LEAD_WORDS = 18
_SHORT_LEAD = "tell me "
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?;\n])\s)\W*")
_SENTENCE_END = re.compile(r"[.!?;\n]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def shorten_question_leads(text: str) -> str:
    """Returns the text, as long as before, with "tell me" in place of each longer lead to an indirect question."""
    for match in reversed(list(_SENTENCE_START.finditer(text))):
        start = match.end()
        end = _find_question(text, start)
        if end is not None and end - start >= len(_SHORT_LEAD):
            text = f"{text[:start]}{_SHORT_LEAD.rjust(end - start)}{text[end:]}"
    return text


def _find_question(text: str, start: int) -> int | None:
    """Returns where the indirect question begins that the sentence from `start` leads to; None if it leads to none."""
    sentence_end = _SENTENCE_END.search(text, start)
    stop = sentence_end.start() if sentence_end else len(text)
    matches: list[re.Match[str]] = []
    for match in _WORD.finditer(text, start, stop):
        matches.append(match)
        if len(matches) > _MAX_LEAD_WORDS + 1:
            break
    words = [match[0].casefold().replace("’", "'") for match in matches]
    for index in range(len(words) - 1):
        if _begins_question(words, index):
            return matches[index].start() if _is_lead(words[:index]) else None
        if words[index] not in _LEAD_WORDS and not _joins_lead(words, index):
            return None
    return None


def _begins_question(words: Sequence[str], index: int) -> bool:
    """Whether a question word appears there, or a preposition before one: "*by* when"."""
    word, following = words[index], words[index + 1]
    if word in _PREPOSITIONS and following in QUESTION_WORDS:
        return not (index > 0 and word in _PREPOSITIONS_OF_LEADS.get(words[index - 1], ()))
    return (word in QUESTION_WORDS or word in _ALTERNATIVES) and not _joins_lead(words, index)


def _joins_lead(words: Sequence[str], index: int) -> bool:
    """ "*What* I'd like to know is …", "anyone *who* can tell me …", "*if* you could tell me …"."""
    word, following = words[index], words[index + 1]
    if word == "what":
        return index == 0 and following in _ASKERS
    if word == "who":
        return index > 0 and words[index - 1] in _ADDRESSED and following in _AUXILIARIES | {"knows"}
    is_polite = following in _ADDRESSED and set(words[index + 2 : index + 3]) <= _AUXILIARIES
    return word == "if" and index > 0 and is_polite


def _is_lead(words: Sequence[str]) -> bool:
    """Whether the words ask for something that may be known. "Do you *have to* tell anyone when …" asks for a duty."""
    if len(words) < 2 or not _ASKING & set(words):
        return False
    first, second = words[:2]
    if first in _AUXILIARIES:
        is_duty = any(before in ("have", "need") and after == "to" for before, after in pairwise(words))
        asked = _MODEST_VERBS if second in _ASKERS else _KNOWING if first.startswith("d") else _ASKING
        return not is_duty and bool(asked & set(words))
    if first in _ADDRESSED:
        return first != "you" and second in _KNOWING | {"knows"}
    return not (first in _ASKERS and second in _REPORTS)
