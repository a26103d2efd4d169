"""The reply to the prompt `extract_fields`."""

from pydantic import BaseModel, ConfigDict


class ExtractedCellOutput(BaseModel):
    """The value of one column of a row."""

    model_config = ConfigDict(extra="forbid")

    column: str
    value: str


class ExtractedValueOutput(BaseModel):
    """A value, of a list one member, of a rows field one row; and the words of the document that give it."""

    model_config = ConfigDict(extra="forbid")

    field: str
    value: str
    cells: list[ExtractedCellOutput]
    words: str


class DocumentValuesOutput(BaseModel):
    """The values of the document with this number."""

    model_config = ConfigDict(extra="forbid")

    document: int
    values: list[ExtractedValueOutput]


class FieldExtractionOutput(BaseModel):
    """The values of all documents of a call."""

    model_config = ConfigDict(extra="forbid")

    documents: list[DocumentValuesOutput]
