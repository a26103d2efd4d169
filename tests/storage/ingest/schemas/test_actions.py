"""Question phrases for fields that are named after an action."""

from pathlib import Path

import pytest
import yaml

import storage.ingest.schemas.actions
from storage.ingest.schemas.actions import participles_like, phrases_for_action
from storage.search.schema import FieldType


def phrases_of(name: str, kind: FieldType) -> dict[str, bool]:
    return dict(phrases_for_action(name.split(), kind))


@pytest.mark.parametrize(
    ("name", "kind", "phrase"),
    [
        ("repaired by", FieldType.CATEGORY, "who … mend"),
        ("technician", FieldType.CATEGORY, "who … fix"),
        ("senior zookeeper", FieldType.CATEGORY, "who … keep"),
        ("welder", FieldType.CATEGORY, "who … weld"),
        ("date inspected", FieldType.DATE, "when … look over"),
        ("last inspection", FieldType.DATE, "when … last check"),
        ("next inspection", FieldType.DATE, "when … check … again"),
        ("application deadline", FieldType.DATE, "until when … apply"),
        ("purchased from", FieldType.CATEGORY, "who … sell"),
        ("sold to", FieldType.CATEGORY, "who … buy"),
        ("cleaned with", FieldType.CATEGORY, "what … clean … with"),
        ("repair cost", FieldType.MONEY, "what … cost … mend"),
        ("cleaning hours", FieldType.NUMBER, "how long … clean"),
        ("failure count", FieldType.NUMBER, "how often … break down"),
        ("rejection reason", FieldType.TEXT, "why … turn down"),
        ("delivery address", FieldType.TEXT, "where … deliver"),
        ("year built", FieldType.NUMBER, "when … put up"),
        ("repair needed", FieldType.FLAG, "must … mend"),
        ("decision", FieldType.CATEGORY, "what … decide"),
    ],
)
def test_the_other_words_and_the_type_say_what_is_asked(name: str, kind: FieldType, phrase: str) -> None:
    assert phrase in phrases_of(name, kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("inspector", FieldType.DATE), ("colour", FieldType.CATEGORY), ("butter", FieldType.NUMBER), ("", FieldType.TEXT)],
)
def test_other_names_have_no_phrases(name: str, kind: FieldType) -> None:
    assert phrases_of(name, kind) == {}


def test_the_last_time_answers_when_only_if_no_field_is_plainly_named() -> None:
    assert phrases_of("date inspected", FieldType.DATE)["when … check"]
    assert not phrases_of("last inspection", FieldType.DATE)["when … check"]


def test_a_participle_has_the_participles_of_the_same_action() -> None:
    assert "turned down" in participles_like("rejected")
    assert participles_like("inspection") == ()
    assert participles_like("blue") == ()


def test_the_file_is_in_alphabetical_order_and_has_the_documented_keys() -> None:
    file = Path(storage.ingest.schemas.actions.__file__).with_name("actions.yaml")
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))

    assert [entry["verbs"][0] for entry in entries] == sorted(entry["verbs"][0] for entry in entries)
    for entry in entries:
        assert set(entry) <= {"verbs", "nouns", "agents", "said", "to", "from", "asked", "otherwise"}
        words = [word for values in entry.values() for word in values]
        assert all(isinstance(word, str) and word == word.strip().lower() for word in words)
