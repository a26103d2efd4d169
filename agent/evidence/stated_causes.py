"""Questions for a cause, and the sentence near an event that tells it.

A clause with "because" or "since" explains the rest of its own sentence. A sentence with "due to" or "the reason", and
one that steps back in time, explains what is told before it: "The pipe burst. The hatch *had been left* open."
"""

import re
from collections.abc import Sequence

from agent.evidence.text_lines import TextLine
from storage.quantities.days import ENGLISH_MONTH_PATTERN
from storage.text.irregular_verbs import base_form_of

_FLAGS = re.IGNORECASE | re.VERBOSE
_CAUSE_QUESTION = re.compile(
    r"""\b why \b | \b how [ ] come \b
        | \b what (?: [ ] (?:has|had|have|exactly) )? [ ]
            (?: made [ ] (?! (?:of|in|by|from|on|for) \b ) | caus(?:ed|es) \b | triggered \b | led [ ] to \b
            | set [ ] off \b )
        | \b (?: what (?: \W?s | [ ] (?:is|was|were|are) )? ) [ ] (?: (?:the|main|real|actual|likely) [ ] )+
            (?: cause | causes | reason | reasons ) \b""",
    _FLAGS,
)
_INDIRECT_QUESTION = re.compile(
    r"""\b (?: ask(?:s|ed|ing)? | wonder(?:s|ed|ing)? | enquir(?:e|es|ed) | want(?:s|ed)? [ ] to [ ] know ) \b
        [^.;]{0,40}? \b (?:why|whether|how|what) \b""",
    _FLAGS,
)
_OWN_CAUSE = re.compile(
    rf"""\b because \b | \b since [ ] (?! \d | (?:then|when|the [ ] (?:start|end|beginning)|last|early|mid|late)\b
            | {ENGLISH_MONTH_PATTERN} \b )
        | , [ ] (?:as|for) [ ] (?:he|she|it|they|we|there|this|that|the|their|his|her|its|nobody|no) \b
        | \b so [ ] that \b | \b in [ ] order [ ] to \b | \b to [ ] (?:avoid|prevent) \b | \b otherwise \b""",
    _FLAGS,
)
_EXPLANATION = re.compile(
    r"""\b (?: due | owing | thanks ) [ ] to \b | \b on [ ] account [ ] of \b
        | \b (?: caused | triggered | explained | set [ ] off | brought [ ] about ) [ ] by \b
        | \b (?: cause | causes | reason | reasons | explanation | fault | culprit ) [ ] (?: \w+ [ ] ){0,6}?
            (?: was | were | is | are | lay | lies ) \b
        | \b (?: result [ ] of | blamed? [ ] on ) \b | \b result(?:s|ed) [ ] from \b
        | ^ \W* because \b | ^ \W* (?:it|this|that) [ ] (?:is|was|happened|came|comes) [ ] because \b""",
    _FLAGS,
)
_PAST_PERFECT = re.compile(
    r"\b had [ ] (?: (?: not | never | just | already | also | again | only | [a-z]{2,}ly ) [ ] )? (?P<verb>[a-z]{2,})",
    _FLAGS,
)
_UNCHANGED_PARTICIPLES = frozenset("been put cut hit set let shut burst hurt split shed spread come run become".split())
_MAX_LINES_AFTER, _MAX_LINES_BEFORE = 8, 2  # in which a cause is looked for, after and before what it explains


def asks_for_cause(question: str) -> bool:
    """ "Why …", "what made …", "what was the reason …"."""
    return _CAUSE_QUESTION.search(question) is not None


def find_cause(event: TextLine, lines: Sequence[TextLine]) -> TextLine | None:
    """Returns the line that tells the cause of `event`: itself or the nearest, best after it; None if none does.

    `lines`: those of its passage, in order.
    """
    if tells_own_cause(event.quote.text):
        return event
    index = lines.index(event)
    near = (
        *lines[index + 1 : index + 1 + _MAX_LINES_AFTER],
        *reversed(lines[max(index - _MAX_LINES_BEFORE, 0) : index]),
    )
    return next(
        (
            line
            for line in near
            if not (line.is_heading or line.is_row)
            and line.heading == event.heading
            and explains_event(line.quote.text)
        ),
        None,
    )


def tells_own_cause(text: str) -> bool:
    """Whether a sentence that holds an event tells its cause too; "you asked why" tells none."""
    if _INDIRECT_QUESTION.search(text) is not None:
        return False
    return _OWN_CAUSE.search(text) is not None or _EXPLANATION.search(text) is not None


def explains_event(text: str) -> bool:
    """Whether a sentence tells the cause of what is told near it."""
    if _INDIRECT_QUESTION.search(text) is not None:
        return False
    return _EXPLANATION.search(text) is not None or any(map(_is_participle, _PAST_PERFECT.findall(text)))


def _is_participle(word: str) -> bool:
    folded = word.casefold()
    return folded.endswith("ed") or folded in _UNCHANGED_PARTICIPLES or base_form_of(folded) != folded
