"""The arguments of the tool `give_answer`: the end of a conversation in which a model has searched with tools.

What does not apply is an empty text, an empty list or 0. Members may be missing where they do not apply, since small
models leave them out.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ToolAnswerResult(BaseModel):
    """A call whose documents or numbers answer the question, or a part of it."""

    model_config = ConfigDict(extra="forbid")

    call: str = Field(description="The id of the call, such as c2.")
    form: Literal["list", "count", "numbers"] = Field(
        description="Of annotations_search: list its documents, or count them. Of annotations_aggregate: numbers."
    )
    first: int = Field(default=0, description="With list: only so many documents, as in 'the 5 largest'. 0: all.")
    question: str = Field(default="", description="The part of the question that it answers; empty: all of it.")


class ToolAnswerSentence(BaseModel):
    """One sentence of the answer."""

    model_config = ConfigDict(extra="forbid")

    text: str
    evidence: list[str] = Field(description="The ids of the evidence that says it, such as p1, d3 or n1.")


class ToolAnswerClarification(BaseModel):
    """What to ask the person."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["", "ambiguous", "too_many"] = ""
    question: str = Field(default="", description="One sentence in the language of the person's question.")
    missing: list[str] = Field(default_factory=list[str], description="What the person has to say.")


class ToolAnswerOutput(BaseModel):
    """The answer, a question back, or that nothing was found."""

    model_config = ConfigDict(extra="forbid")

    reasoning: str = ""
    language: str = Field(default="", description="ISO 639-1, of the person's question.")
    outcome: Literal["answered", "not_found", "clarify"]
    completeness: float = Field(default=0.0, description="0 to 1: how much of the question the evidence answers.")
    missing: list[str] = Field(default_factory=list[str], description="What the evidence does not answer.")
    results: list[ToolAnswerResult] = Field(default_factory=list[ToolAnswerResult])
    sentences: list[ToolAnswerSentence] = Field(default_factory=list[ToolAnswerSentence])
    clarification: ToolAnswerClarification = Field(default_factory=ToolAnswerClarification)
