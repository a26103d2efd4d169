"""Shortens long runs of marks and blanks, so that the time of a pattern does not depend on their length."""

import re

_LONG_RUN = re.compile(r"\W{13,}")
_KEPT_CHARACTERS = 4  # at each end of a long run


def shorten_mark_runs(text: str) -> str:
    """Returns the text with nine characters in place of each longer run; a newline in a run stays a newline."""
    return _LONG_RUN.sub(_shorten_run, text)


def _shorten_run(match: re.Match[str]) -> str:
    run = match[0]
    return run[:_KEPT_CHARACTERS] + ("\n" if "\n" in run else " ") + run[-_KEPT_CHARACTERS:]
