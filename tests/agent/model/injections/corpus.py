"""The hostile passages and questions of `corpus.yaml`."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

_FILE = Path(__file__).with_name("corpus.yaml")


class InjectionPlace(StrEnum):
    """Where the hostile text stands."""

    DOCUMENT_TEXT = "document_text"
    TITLE = "title"
    FILE_NAME = "file_name"
    FIELD_VALUE = "field_value"
    CSV_CELL = "csv_cell"
    THREAD_HISTORY = "thread_history"
    QUESTION = "question"


class HostileText(BaseModel):
    """A text that tries to make a model do something, and what a model would write that did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    place: InjectionPlace
    tries: str
    text: str
    obeys: tuple[str, ...]

    def __str__(self) -> str:
        return self.id


@cache
def load_corpus() -> Sequence[HostileText]:
    return TypeAdapter(tuple[HostileText, ...]).validate_python(yaml.safe_load(_FILE.read_text(encoding="utf-8")))
