"""Normalises the wordings that ask for a summary of a document."""

import re

_SUMMARY_REQUEST = re.compile(
    r"\btl\s?;?\s?dr\b|\btakeaways\b|\bin\s+a\s+nutshell\b|\bin\s+(?:short|brief)\b"
    r"|\b(?:main|key|central|most\s+important|essential)\s+(?:points?|takeaways?|facts|findings|ideas|aspects)\b"
    r"|\bsum\s+(?:(?:it|them|this|that)\s+)?up\b"
    r"|\bbrief\s+me\s+(?:on|about)\b|\b(?:synopsis|recap|digest|highlights|the\s+essence)\b",
    re.IGNORECASE,
)
_WHAT_IS_IT_ABOUT = re.compile(
    r"^\W*what(?:'s|’s|\s+is|\s+are|\s+was|\s+were)\b.*\b(?P<about>about)\W*$", re.IGNORECASE | re.DOTALL
)
_SUMMARY_WORD = "summary"


def normalize_summary_request(question: str) -> str:
    """Returns the question with the same length, with one word in place of each wording that asks for a summary."""
    about = _WHAT_IS_IT_ABOUT.match(question)
    spans = [match.span() for match in _SUMMARY_REQUEST.finditer(question)]
    spans += [about.span("about")] if about is not None else []
    for start, end in spans:
        word = _SUMMARY_WORD if end - start >= len(_SUMMARY_WORD) else "gist"
        question = question[:start] + word.ljust(end - start) + question[end:]
    return question
