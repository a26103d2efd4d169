"""Recognises questions about the text: questions for reasons, and all that no other recogniser accepts."""

from agent.rules.cues.question_cues import QuestionCues
from storage.search.plan import FindPassages


def recognise_reason(cues: QuestionCues) -> FindPassages | None:
    """ "Why …": no field holds a reason, unless the schema has a question phrase for it."""
    asks_for_field = any(mention.is_question for mention in cues.reading.asked_mentions)
    return FindPassages() if cues.words[:1] == ["why"] and not asks_for_field else None


def recognise_text(cues: QuestionCues) -> FindPassages:
    return FindPassages()
