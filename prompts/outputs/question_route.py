"""The reply to the prompt `route_question`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class QuestionRouteOutput(BaseModel):
    """Which buckets can answer, and how: by the values of fields, or by the text of documents."""

    model_config = ConfigDict(extra="forbid")

    reasoning: str  # one short sentence
    language: str  # ISO 639-1, of the question
    buckets: list[str]  # names, the best first; empty: no bucket fits
    answer_from: Literal["fields", "text", "both"]
    is_complex: bool  # several questions, a comparison, or an answer that needs another answer first
    search_query: str  # words to look for in the text; empty if the answer is in fields
