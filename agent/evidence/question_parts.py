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

# "When does *that contract* end": a noun that an earlier part has told of. "That" before a verb or a clause is none.
# A part that is only a question word, "and *how quickly*?", is about the same too.
_REFERENCE = re.compile(
    r"""\b (?:that|this|those|these) [ ] (?! (?:is|are|was|were|has|have|had|can|could|will|would|do|does|did|i|we|you
            |he|she|it|they|the|a|an|my|our|your|his|her|their|there|nobody|one)\b ) [^\W\d_]{3,}
        | \b (?:its|their|theirs) \b
        | ^ \W* (?: and \W+ )? (?: (?:by|until|till|since|from|for|to) [ ] )?
            (?: how [ ] (?:quickly|soon|fast|long|often|much) | when | where | who | whom | why ) \W* $
        | \b (?: is | are | was | were | do | does | did | has | have | will | would | can | must | for | of | with
            | to | from | by | about ) [ ] (?:it|they|them) \b""",
    _FLAGS,
)


def refers_to_earlier_part(part: str) -> bool:
    """Whether a part of a question is about what an earlier part has named: "… when does *that contract* end"."""
    return _REFERENCE.search(part) is not None


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
