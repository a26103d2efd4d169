"""The reply to the prompt `summarise_conversation`."""

from pydantic import BaseModel, ConfigDict


class ConversationSummaryOutput(BaseModel):
    """What a later question may build on."""

    model_config = ConfigDict(extra="forbid")

    summary: str
