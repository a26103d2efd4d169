"""A message that leaves what was said before and asks something: "new topic: how many manuals are there?"."""

import re
from dataclasses import replace

from agent.context import AgentContext
from agent.english.commands import is_start_over_request
from agent.german.commands import is_german_start_over_request

# Phrases that say so by themselves; "another question: how many of them …" goes on with the last one.
_ENGLISH_PHRASES = (
    "start over|start again|start fresh|start from scratch|begin again|clear everything|new topic"
    "|another topic|a different topic|different topic|change of topic|new search|forget everything|forget all that"
)
_GERMAN_PHRASES = (
    "neues thema|anderes thema|themenwechsel|neu anfangen|neu beginnen|fang neu an|fang von vorne an|von vorne|von vorn"
    "|alles vergessen|vergiss alles|vergiss das alles|neue suche"
)
_POLITE_WORDS = "please|ok|okay|now|so|well|then|thanks|let's|bitte|jetzt|also|nun|danke"
_NEW_TOPIC = re.compile(
    rf"\W*(?:(?:{_POLITE_WORDS})\W+){{0,3}}(?:{_ENGLISH_PHRASES}|{_GERMAN_PHRASES})"
    rf"(?:\s+(?:{_POLITE_WORDS}))?\s*(?:[:.,;!–—]|-\s)\W*(?:(?:and|und)\s+)?(?P<question>.*[^\W\d_].*)",
    re.IGNORECASE | re.DOTALL,
)


def split_new_topic(message: str) -> str | None:
    """Returns the question that a message asks after leaving the topic; None if it does not leave one, or asks nothing
    besides.
    """
    if is_start_over_request(message) or is_german_start_over_request(message):  # "start over, please"
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
