"""The facts of a question that a language model asks back."""

from dataclasses import dataclass

from agent.review.leg_review import LegFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBackFacts(LegFacts):
    """What the person is asked. Raw text of a model, escaped where it is composed."""

    question: str
    missing: tuple[str, ...]  # what the person has to say
    is_about_set: bool  # the question is about the documents of the leg's set, which are counted
