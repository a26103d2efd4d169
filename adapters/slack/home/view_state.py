"""The state of a view, as it is kept in its `private_metadata`."""

from typing import Self

from pydantic import BaseModel, ValidationError


class ViewMetadata(BaseModel):
    """A state grants no rights, since a person could have changed it."""

    @classmethod
    def parse_metadata(cls, metadata: str) -> Self | None:
        """Parse the metadata; None where they are not Parley's."""
        try:
            return cls.model_validate_json(metadata)
        except ValidationError:
            return None
