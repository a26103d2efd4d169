"""Recognises questions that ask for a summary in so many words."""

from agent.english.function_words import SUMMARY_WORDS
from agent.rules.cues.question_cues import QuestionCues
from storage.search.plan import SummariseDocuments


def recognise_summary(cues: QuestionCues) -> SummariseDocuments | None:
    return SummariseDocuments() if set(cues.words) & SUMMARY_WORDS else None
