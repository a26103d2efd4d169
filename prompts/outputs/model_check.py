"""The reply to the prompt `check_model`."""

from pydantic import BaseModel, ConfigDict


class ModelCheckOutput(BaseModel):
    """The answer to the question."""

    model_config = ConfigDict(extra="forbid")

    is_greater: bool
