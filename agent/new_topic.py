"""A message that leaves what was said before and asks something: "new topic: how many manuals are there?"."""

import re
from dataclasses import replace

from agent.context import AgentContext
from agent.english.commands import is_start_over_request
from agent.languages.command_phrases import (
    CommandKind,
    is_foreign_command,
    list_conjunctions,
    list_new_topic_phrases,
    list_polite_words,
)

# Phrases that say so by themselves; "another question: how many of them …" goes on with the last one.
_ENGLISH_PHRASES = (
    "start over|start again|start fresh|start from scratch|begin again|clear everything|new topic"
    "|another topic|a different topic|different topic|change of topic|new search|forget everything|forget all that"
)
_ENGLISH_POLITE_WORDS = "please|ok|okay|now|so|well|then|thanks|let's"
_OTHER_PHRASES = "|".join(map(re.escape, list_new_topic_phrases()))
_POLITE_WORDS = "|".join((_ENGLISH_POLITE_WORDS, *map(re.escape, list_polite_words())))
_NEW_TOPIC = re.compile(
    rf"\W*(?:(?:{_POLITE_WORDS})\W+){{0,3}}(?:{_ENGLISH_PHRASES}|{_OTHER_PHRASES})"
    rf"(?:\s+(?:{_POLITE_WORDS}))?\s*(?:[:.,;!–—]|-\s)\W*"
    rf"(?:(?:and|{'|'.join(list_conjunctions())})\s+)?(?P<question>.*[^\W\d_].*)",
    re.IGNORECASE | re.DOTALL,
)


def split_new_topic(message: str) -> str | None:
    """Returns the question that a message asks after leaving the topic; None if it does not leave one, or asks nothing
    besides.
    """
    if is_start_over_request(message) or is_foreign_command(message, CommandKind.START_OVER):  # "start over, please"
        return None
    match = _NEW_TOPIC.fullmatch(message)
    return None if match is None else match["question"]


def forget_conversation(context: AgentContext) -> AgentContext:
    """Returns the context as if nothing had been said before, but for the plans that an undo leads back to."""
    return replace(
        context,
        last_plan=None,
        conversation_summary="",
        found_nothing=False,
        pending_words=(),
        found_documents=(),
        clarifications_in_a_row=0,
    )
