"""The parts of a question that ask for different things: "which extension do I call *and until when*"."""

import re

_AUXILIARY_PATTERN = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|might|must|should|shall|will|would|[’']s)"
)
_LEAD_PATTERN = (
    r"(?:(?:also|then|so)[ ])?(?:(?:up[ ]to|until|till|til|from|by|since|for|at|in|on|with|to|per|about|out[ ]of)[ ])?"
)
_FLAGS = re.IGNORECASE | re.VERBOSE
# A question begins here: with a question word after the joint, or with a verb.
_BEGINNING_PATTERN = rf"""
    (?: {_LEAD_PATTERN} (?:who|whom|whose|what|whats|which|why|how) (?:['’]s)? \b
      | {_LEAD_PATTERN} (?:when|where) (?: [ ]? {_AUXILIARY_PATTERN} \b | \W* $ ) )"""
_JOINT = re.compile(rf"(?: ,?[ ]+and | ,?[ ]+or | [,;?–-] | (?<=[.?!]) ) [ ]+ (?= {_BEGINNING_PATTERN} )", _FLAGS)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_QUESTION = re.compile(
    rf"""^ \W* {_BEGINNING_PATTERN} | ^ \W* {_AUXILIARY_PATTERN} \b
        | \b (?:who|whom|whose|what|which|when|where|why|how) [ ]? {_AUXILIARY_PATTERN} \b
        | \b (?:what|which) [ ] (?:\w+ [ ]){{1,2}} {_AUXILIARY_PATTERN} \b
        | \b how [ ] (?:many|much|long|often|far|big|high|old) \b""",
    _FLAGS,
)


def split_question_parts(question: str) -> tuple[str, ...]:
    """Returns the parts, in order; the whole question if it asks for a single thing.

    A part without a question of its own, such as a story before the question, belongs to the part after it.
    """
    pieces = [piece for sentence in _SENTENCE_END.split(question) for piece in _JOINT.split(sentence)]
    parts, pending = list[str](), ""
    for piece in pieces:
        text, pending = f"{pending} {piece}".strip(), ""
        if _QUESTION.search(piece):
            parts.append(text)
        elif parts:
            parts[-1] = f"{parts[-1]} {text}"
        else:
            pending = text
    return tuple(parts) if len(parts) > 1 else (question,)
