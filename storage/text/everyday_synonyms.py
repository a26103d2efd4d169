"""Everyday words and what texts of offices write instead: "sack" and "dismiss", "loo" and "toilet"."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

_GROUPS_FILE = Path(__file__).with_name("everyday_synonyms.yaml")


def _read_groups() -> Mapping[str, frozenset[str]]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = cast(
        Mapping[str, Sequence[str]],
        yaml.load(_GROUPS_FILE.read_text(encoding="utf-8"), Loader=loader),  # noqa: S506 - safe
    )
    found = defaultdict[str, set[str]](set)
    for group in data["groups"]:
        everyday, _, others = group.partition("|")
        words = {*everyday.split(), *others.split()}
        for word in everyday.split():
            found[word] |= words - {word}
    return {word: frozenset(synonyms) for word, synonyms in found.items()}


# The words of a text, in their base forms, that a word of a question may stand for.
SYNONYMS = _read_groups()
