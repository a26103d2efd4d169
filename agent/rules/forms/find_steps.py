"""Recognises questions for steps: how to do something."""

from collections.abc import Sequence
from itertools import pairwise

from agent.rules.cues.question_cues import QuestionCues
from storage.search.plan import FindSteps

_MODAL_VERBS = frozenset("do can should could would must".split())
_DOERS = frozenset({"i", "we", "you"})
_PROCEDURE_NOUNS = frozenset({"step", "steps", "procedure", "procedures"})
_COMPARING_WORDS = frozenset("differ compare differs compares".split())


def recognise_steps(cues: QuestionCues) -> FindSteps | None:
    """ "How do I …", "how to …", "what are the maintenance steps for …"."""
    words = cues.words
    if set(words) & _COMPARING_WORDS:
        return None
    if _names_procedure(cues):
        return FindSteps(action=_action_after("to", words), allows_prose=True)
    if words[:2] == ["how", "to"]:
        return FindSteps(action=_action_after("to", words))
    if words[:1] == ["how"] and words[1:2] and words[1] in _MODAL_VERBS and words[2:3] and words[2] in _DOERS:
        return FindSteps(action=_action_after(words[2], words))
    return None


def _action_after(lead: str, words: Sequence[str]) -> str:
    """ "How do I *book* …", "the steps to *enable* …": returns the word after `lead`."""
    return next((word for before, word in pairwise(words) if before == lead), "")


def _names_procedure(cues: QuestionCues) -> bool:
    """ "What are the steps …", "what steps should I …", "steps for …": whether the question asks for a procedure."""
    words = cues.words
    index = next((index for index, word in enumerate(words) if word in _PROCEDURE_NOUNS), None)
    if index is None or cues.functions or cues.group is not None:
        return False
    leads = index == 0 or words[0] in ("what", "which", "list", "show", "give")
    follows = words[index + 1 : index + 2]
    return leads and (not follows or follows[0] in ("to", "for", "of", "should", "do", "must", "i", "we", "are"))
