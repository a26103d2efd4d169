"""Classes of English nouns by what they stand for: places, periods, people by their role."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

_CLASSES_FILE = Path(__file__).with_name("noun_classes.yaml")


def _read_classes() -> Mapping[str, frozenset[str]]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = cast(dict[str, str], yaml.load(_CLASSES_FILE.read_text(encoding="utf-8"), Loader=loader))  # noqa: S506 - safe
    return {name: frozenset(words.split()) for name, words in data.items()}


_NOUNS_BY_CLASS = _read_classes()
PLACE_NOUNS = _NOUNS_BY_CLASS["places"]
PERIOD_NOUNS = _NOUNS_BY_CLASS["periods"]
PERSON_NOUNS = _NOUNS_BY_CLASS["persons"]
SELLER_NOUNS = _NOUNS_BY_CLASS["sellers"]
BUYER_NOUNS = _NOUNS_BY_CLASS["buyers"]
PARTY_NOUNS = (SELLER_NOUNS | BUYER_NOUNS) - PLACE_NOUNS
ADDRESSEE_NOUNS = _NOUNS_BY_CLASS["addressees"]
