"""The wordings that ask what a document is about, all read as one."""

import re

_ASKS = re.compile(
    r"\btl\s?;?\s?dr\b|\btakeaways\b|\bin\s+a\s+nutshell\b|\bin\s+(?:short|brief)\b"
    r"|\b(?:main|key|central|most\s+important|essential)\s+(?:points?|takeaways?|facts|findings|ideas|aspects)\b"
    r"|\bsum\s+(?:(?:it|them|this|that)\s+)?up\b"
    r"|\bbrief\s+me\s+(?:on|about)\b|\b(?:synopsis|recap|digest|highlights|the\s+essence)\b",
    re.IGNORECASE,
)
_WHAT = re.compile(
    r"^\W*what(?:'s|’s|\s+is|\s+are|\s+was|\s+were)\b.*\b(?P<about>about)\W*$", re.IGNORECASE | re.DOTALL
)
_STANDS_FOR = "summary"


def as_summary(question: str) -> str:
    """The question, as long as it was, with one word for all ways to ask for a summary."""
    about = _WHAT.match(question)
    spans = [match.span() for match in _ASKS.finditer(question)]
    spans += [about.span("about")] if about is not None else []
    for start, end in spans:
        word = _STANDS_FOR if end - start >= len(_STANDS_FOR) else "gist"
        question = question[:start] + word.ljust(end - start) + question[end:]
    return question
