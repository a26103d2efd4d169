"""The reply to the prompts `answer_question` and `combine_answers`. The order of the fields is the order of writing."""

from enum import StrEnum

from pydantic import BaseModel, Field


class OutputVerdict(StrEnum):
    """The answer to a question for yes or no."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"
    NONE = "none"  # it is another question


class OutputLayout(StrEnum):
    """How the sentences stand beside each other."""

    PROSE = "prose"
    STEPS = "steps"
    LIST = "list"
    TABLE = "table"


class SentenceOutput(BaseModel):
    """A sentence, a step, a point of a list, or a row of a table."""

    text: str = Field(description="without the ids")
    evidence: list[int] = Field(description="ids of the items that say this")
    quote: str = Field(default="", description="words copied from one of these items, or empty")


class WrittenAnswerOutput(BaseModel):
    """A review of the evidence, and the answer from it."""

    completeness: float = Field(ge=0, le=1, description="how much of the question the evidence answers, 0 to 1")
    reasoning: str = Field(description="one or two sentences on why")
    missing: list[str] = Field(default_factory=list, description="what the evidence does not answer, a few words each")
    queries: list[str] = Field(default_factory=list, description="2 or 3 searches for what is missing, or none")
    verdict: OutputVerdict = OutputVerdict.NONE
    contradiction: SentenceOutput | None = Field(default=None, description="in what items disagree, or null")
    layout: OutputLayout = OutputLayout.PROSE
    columns: list[str] = Field(default_factory=list, description="the titles of the columns of a table, else none")
    sentences: list[SentenceOutput] = Field(default_factory=list[SentenceOutput])


class JointAnswerOutput(BaseModel):
    """A joint answer to a question of several parts."""

    sentences: list[SentenceOutput] = Field(default_factory=list[SentenceOutput])
