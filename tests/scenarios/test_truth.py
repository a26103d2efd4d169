"""Checks the demo corpus and the scenario questions themselves, on which the other scenario tests rely."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import assert_never

import pytest
import yaml

from bot.demo.corpus import DemoCorpus, generate_corpus, write_corpus
from bot.demo.naming import ORIGINAL_NAMING, CorpusNaming
from bot.demo.records import MetadataValue, ScalarValue
from storage.search.codec import schema_from_json, schema_to_json
from storage.search.schema import FieldType, Schema, SchemaField
from tests.scenarios.alternative_naming import ALTERNATIVE_NAMING
from tests.scenarios.questions import OVERLOAD_LIMIT, QuestionKind, QuestionNeed, questions
from tests.scenarios.truth import (
    Expected,
    ExpectedAmbiguity,
    ExpectedGroups,
    ExpectedListing,
    ExpectedLookup,
    ExpectedNoResults,
    ExpectedOverload,
    ExpectedValues,
    plain_records,
)

SECOND_SEED = 7


@pytest.fixture(scope="module")
def corpus() -> DemoCorpus:
    return generate_corpus()


@pytest.fixture(scope="module")
def second_corpus() -> DemoCorpus:
    return generate_corpus(SECOND_SEED)


@pytest.fixture(params=["corpus", "second_corpus"])
def either_corpus(request: pytest.FixtureRequest) -> DemoCorpus:
    return request.getfixturevalue(request.param)


# -- the corpus


def tire_purchases(corpus: DemoCorpus) -> list[str]:
    return [record["doc_id"] for record in plain_records(corpus, "receipts") if record["category"] == "tires"]


def test_the_story_has_1042_tire_purchases_and_another_seed_another_number(
    corpus: DemoCorpus, second_corpus: DemoCorpus
) -> None:
    assert len(tire_purchases(corpus)) == 1_042
    assert len(tire_purchases(second_corpus)) != 1_042


def test_a_receipt_has_a_tire_in_a_row_if_and_only_if_it_is_a_tire_purchase(either_corpus: DemoCorpus) -> None:
    receipts = plain_records(either_corpus, "receipts")
    by_row = [record["doc_id"] for record in receipts if any(" tire " in row["name"] for row in record["items"])]
    mentioning = [record for record in receipts if "tire" in f"{record['title']} {record['text']}".lower()]

    assert by_row == tire_purchases(either_corpus)
    assert len(mentioning) > len(by_row) + 50  # services of a tire dealer, and notes on tire pressure


def test_there_are_some_6000_documents_with_unique_ids_in_six_buckets(either_corpus: DemoCorpus) -> None:
    ids = [record["doc_id"] for bucket in either_corpus.buckets.values() for record in bucket.records]

    assert len(either_corpus.buckets) == 6
    assert 5_900 <= len(ids) <= 6_200
    assert len(set(ids)) == len(ids)


def digest(corpus: DemoCorpus) -> str:
    content = {name: bucket.records for name, bucket in corpus.buckets.items()}
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def test_a_seed_gives_the_same_corpus_in_another_process_with_another_hash_seed(
    corpus: DemoCorpus, second_corpus: DemoCorpus
) -> None:
    script = "from tests.scenarios.test_truth import digest, generate_corpus; print(digest(generate_corpus()))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    process = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )

    assert process.stdout.strip() == digest(corpus)
    assert digest(second_corpus) != digest(corpus)


def test_a_written_corpus_can_be_read_back(corpus: DemoCorpus, tmp_path: Path) -> None:
    paths = write_corpus(corpus, tmp_path)

    for path, bucket in zip(paths, corpus.buckets.values(), strict=True):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        schema = yaml.safe_load(path.with_name(f"{path.stem}.schema.yaml").read_text(encoding="utf-8"))
        assert {line.pop("bucket") for line in lines} == {path.stem}
        assert lines == list(bucket.records)
        assert schema_from_json(schema) == bucket.schema


@pytest.mark.parametrize("names", [ORIGINAL_NAMING, ALTERNATIVE_NAMING], ids=["original", "renamed"])
def test_schemas_survive_json(names: CorpusNaming) -> None:
    for bucket in generate_corpus(naming=names).buckets.values():
        assert schema_from_json(json.loads(json.dumps(schema_to_json(bucket.schema)))) == bucket.schema


def value_fits_field(value: MetadataValue | ScalarValue, field: SchemaField) -> bool:
    match field.type:
        case FieldType.NUMBER | FieldType.MONEY:
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case FieldType.DATE:
            return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
        case FieldType.CATEGORY | FieldType.TEXT:
            return isinstance(value, str) and value != ""
        case FieldType.LIST:
            return isinstance(value, list) and all(isinstance(member, str) for member in value)
        case FieldType.FLAG:
            return isinstance(value, bool)
        case FieldType.ROWS:
            columns = {str(column.name): column for column in field.columns}
            return isinstance(value, list) and all(
                value_fits_field(cell, columns[name])
                for row in value
                if isinstance(row, dict)
                for name, cell in row.items()
            )
        case _:
            assert_never(field.type)


@pytest.mark.parametrize("names", [ORIGINAL_NAMING, ALTERNATIVE_NAMING], ids=["original", "renamed"])
def test_every_value_has_a_field_and_the_fields_type(names: CorpusNaming) -> None:
    for bucket in generate_corpus(naming=names).buckets.values():
        fields = {str(field.name): field for field in bucket.schema.fields}
        for record in bucket.records:
            assert all(value_fits_field(value, fields[name]) for name, value in record["metadata"].items()), record


def test_every_field_lacks_a_value_somewhere_or_is_known_to_be_complete(either_corpus: DemoCorpus) -> None:
    complete = {
        "receipts": {"category", "currency", "total", "items"},
        "panels": {"maker", "model", "width", "height", "thickness", "power", "efficiency", "cell_type"},
        "manuals": {"product", "equipment"},
        "contracts": {"parties", "kind", "start_date"},
        "parts": {"polarity", "maker", "package"},
        "chemicals": {"family", "boiling_point", "density"},
    }
    for name, bucket in either_corpus.buckets.items():
        everywhere = set[str].intersection(*(set(record["metadata"]) for record in bucket.records))
        assert everywhere == complete[name]


def test_names_and_categories_are_in_the_text_of_their_document(either_corpus: DemoCorpus) -> None:
    for bucket in either_corpus.buckets.values():
        fields_in_text = [
            str(field.name) for field in bucket.schema.fields if field.type in (FieldType.CATEGORY, FieldType.TEXT)
        ]
        for record in bucket.records:
            text = f"{record['title']}\n{record['text']}".casefold()
            assert all(str(record["metadata"].get(name, "")).casefold() in text for name in fields_in_text), record


def test_pages_begin_at_the_page_starts(either_corpus: DemoCorpus) -> None:
    paged_records = [
        r for bucket in either_corpus.buckets.values() for r in bucket.records if r["page_starts"] is not None
    ]

    assert len(paged_records) > 900
    for record in paged_records:
        starts = record["page_starts"] or []
        assert starts[0] == 0
        assert all(record["text"][start - 1] == "\n" for start in starts[1:])
        assert starts == sorted(set(starts))
        assert len(starts) >= 2


def test_rows_add_up_to_the_total(either_corpus: DemoCorpus) -> None:
    for record in plain_records(either_corpus, "receipts"):
        assert abs(sum(row["total"] for row in record["items"]) - record["total"]) < 0.005


def test_acme_has_no_contract_in_2031_and_each_refinement_finds_some(either_corpus: DemoCorpus) -> None:
    contracts = plain_records(either_corpus, "contracts")
    acme = [record for record in contracts if "ACME Corporation" in record["parties"]]

    assert all(record["end_date"] < "2031" or record["start_date"] > "2031-12-31" for record in acme)
    assert not any("2031" in record["text"] for record in acme)
    assert len([record for record in acme if record["start_date"] > "2031-12-31"]) >= 1
    assert len([record for record in contracts if record["start_date"].startswith("2031")]) >= 10
    assert {record["start_date"][:4] for record in acme} >= {str(year) for year in range(2019, 2027)}


# -- names


def schema_paths(schema: Schema, bucket: str) -> Iterator[tuple[str, Schema | SchemaField]]:
    def field_paths(fields: tuple[SchemaField, ...], above: str) -> Iterator[tuple[str, Schema | SchemaField]]:
        for field in fields:
            yield f"{above}.{field.name}", field
            yield from field_paths(field.columns, f"{above}.{field.name}")

    yield bucket, schema
    yield from field_paths(schema.fields, bucket)


def test_every_bucket_field_and_column_is_renamed_with_other_words(corpus: DemoCorpus) -> None:
    original = dict(pair for name, bucket in corpus.buckets.items() for pair in schema_paths(bucket.schema, name))

    assert set(ALTERNATIVE_NAMING.labels_by_path) == set(original)
    for path, labels in ALTERNATIVE_NAMING.labels_by_path.items():
        original_words = {word.casefold() for word in (original[path].title, *original[path].synonyms)}
        assert labels.name != path.rpartition(".")[2]
        assert original_words.isdisjoint(old_word.casefold() for old_word in (labels.title, *labels.synonyms)), path


def test_renaming_keeps_the_expected_results(either_corpus: DemoCorpus) -> None:
    original, renamed = (
        questions(either_corpus),
        questions(generate_corpus(either_corpus.seed, naming=ALTERNATIVE_NAMING)),
    )

    assert [(q.id, q.expected) for q in original] == [(q.id, q.expected) for q in renamed]
    assert [list(q.missing.values()) for q in original] == [list(q.missing.values()) for q in renamed]
    assert sum(a.text != b.text for a, b in zip(original, renamed, strict=True)) > 90


# -- questions


def result_fits_kind(kind: QuestionKind, expected: Expected) -> bool:
    match expected:
        case ExpectedOverload(count=count):
            return kind is QuestionKind.OVERLOAD and count > OVERLOAD_LIMIT + 20
        case ExpectedNoResults():
            return kind is QuestionKind.NO_RESULTS
        case ExpectedListing(doc_ids=doc_ids, ordered=ordered):
            return (
                kind is (QuestionKind.EXTREMUM if ordered else QuestionKind.LIST)
                and 1 <= len(doc_ids) <= OVERLOAD_LIMIT
            )
        case ExpectedLookup(doc_ids=doc_ids, fragments=fragments):
            return kind is QuestionKind.LOOKUP and len(doc_ids) == 1 and all(fragments)
        case ExpectedAmbiguity(doc_ids=doc_ids):
            return kind is QuestionKind.AMBIGUOUS and len(doc_ids) > 1
        case ExpectedValues(values=values, count=count):
            return (
                kind in (QuestionKind.AGGREGATE, QuestionKind.EXTREMUM)
                and count > 1
                and all(value.count > 0 for value in values)
            )
        case ExpectedGroups(values=values):
            return (
                kind is QuestionKind.GROUPS
                and len(values) > 1
                and len({value.group for value in values}) == len(values)
            )
        case _:
            assert_never(expected)


def test_the_expected_result_of_each_question_fits_its_kind(either_corpus: DemoCorpus) -> None:
    assert [q.id for q in questions(either_corpus) if not result_fits_kind(q.kind, q.expected)] == []


def test_there_are_enough_questions_of_each_kind_and_need(corpus: DemoCorpus) -> None:
    all_questions = questions(corpus)

    assert len(all_questions) >= 60
    assert len([q for q in all_questions if q.needs]) >= 20
    assert all(len([q for q in all_questions if need in q.needs]) >= 5 for need in QuestionNeed)
    assert all(len([q for q in all_questions if q.kind is kind]) >= 2 for kind in QuestionKind)
    assert len({q.id for q in all_questions}) == len({q.text for q in all_questions}) == len(all_questions)


def test_questions_are_plain_sentences_and_begin_with_the_three_of_the_story(corpus: DemoCorpus) -> None:
    question_texts = [q.text for q in questions(corpus)]

    assert question_texts[:3] == [
        "List every tire purchase receipt",
        "Contracts with ACME for 2031",
        "How often must the air filter of the B-120 be replaced?",
    ]
    assert not [text for text in question_texts if set(text) & set("{}_")]


def test_the_values_of_a_cut_list_have_no_ties(either_corpus: DemoCorpus) -> None:
    for question in questions(either_corpus):
        if isinstance(question.expected, ExpectedGroups) and question.expected.ordered:
            values = [value.value for value in question.expected.values]
            assert len(set(values)) == len(values), question.id


def test_a_few_expected_results_computed_by_hand(corpus: DemoCorpus) -> None:
    """Results about the compounds, which are the same for every seed."""
    by_id = {q.id: q.expected for q in questions(corpus)}
    titles = {record["doc_id"]: record["title"] for record in plain_records(corpus, "chemicals")}

    below_zero, toluene = by_id["chemicals: below zero"], by_id["chemicals: toluene"]
    assert isinstance(below_zero, ExpectedListing)
    assert isinstance(toluene, ExpectedLookup)
    assert sorted(titles[doc_id] for doc_id in below_zero.doc_ids) == [
        "Butane",
        "Chloromethane",
        "Dimethyl ether",
        "Isobutane",
        "Methylamine",
        "Propane",
        "Vinyl chloride",
    ]
    assert toluene.fragments == ("110.6 °C",)
