"""Reads questions for a document by what it is about: "which document describes the steps for …"."""

import re

_WHICH_DOCUMENT = re.compile(
    r"""^ \W* (?:which|what) [ ] (?:of [ ] (?:our|the) [ ] \w+ [ ])?
        (?:document|file|text|policy|procedure|instruction|guide|guideline|handbook|manual|page|memo|notice) [ ]
        (?: (?:describe|cover|explain|contain|say|tell|govern|regulate|define|mention)s?
          | (?:deal[ ]with|set[ ]out|lay[ ]down) | (?:deals[ ]with|sets[ ]out|lays[ ]down) | is [ ] (?:about|on|for) )
        [ ] (?P<topic> \S .*)""",
    re.IGNORECASE | re.VERBOSE,
)


def topic_of_document(question: str) -> str | None:
    """Returns what the document is about that the question asks for; None for other questions."""
    match = _WHICH_DOCUMENT.match(question)
    return match["topic"] if match is not None else None
