"""Sets and the buttons that widen them, in French and Spanish and over names of the bucket's own language."""

from dataclasses import replace

import pytest

from agent.compose.help import example_question_for
from agent.compose.phrases.conditions import describe_qualifier, describe_widening
from agent.compose.phrases.nouns import NounForms, document_noun_of, format_count
from agent.translation.languages import use_language
from agent.translation.local_wording import load_wording
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.builders import where

TYPES = {
    "party": FieldType.CATEGORY,
    "topics": FieldType.LIST,
    "total": FieldType.MONEY,
    "cost": FieldType.MONEY,
    "notice": FieldType.NUMBER,
    "built": FieldType.NUMBER,
    "start": FieldType.DATE,
    "date": FieldType.DATE,
    "paid_on": FieldType.DATE,
    "city": FieldType.CATEGORY,
    "signer": FieldType.CATEGORY,
    "paid": FieldType.FLAG,
    "note": FieldType.TEXT,
    "lines": FieldType.ROWS,
}
LABELS = {
    "de": "Partei|Themen|Betrag|Kosten|Kündigungsfrist|Baujahr|Beginn|Datum|Bezahlt am|Ort|Erstellt von|Bezahlt|Notiz"
    "|Positionen",
    "fr": "Partie|Thèmes|Montant|Coût|Préavis|Année de construction|Date de début|Date|Payé le|Ville|Signé par|Payé"
    "|Note|Lignes",
    "es": "Parte|Temas|Importe|Coste|Preaviso|Año de construcción|Inicio|Fecha|Pagado el|Ciudad|Firmado por|Pagado|Nota"
    "|Líneas",
}


def schema_in(language: str) -> Schema:
    fields = [
        SchemaField(
            name=FieldName(name),
            type=kind,
            title=label,
            unit="day" if name == "notice" else "",
            currency="EUR" if kind is FieldType.MONEY else "",
            columns=(SchemaField(name=FieldName("quantity"), type=FieldType.NUMBER),) if name == "lines" else (),
        )
        for (name, kind), label in zip(TYPES.items(), LABELS[language].split("|"), strict=True)
    ]
    return Schema(bucket=BucketId("contracts"), fields=tuple(fields), language=language)


@pytest.mark.parametrize(
    ("condition", "german", "french", "spanish"),
    [
        (where("party", "eq", "Acme"), "mit Partei Acme", "ayant pour partie Acme", "con parte Acme"),
        (
            AndCondition((where("party", "eq", "Acme"), where("start", "between", ("2031-01-01", "2031-12-31")))),
            "mit Partei Acme und Beginn im Jahr 2031",
            "ayant pour partie Acme et avec date de début en 2031",
            "con parte Acme e inicio en 2031",
        ),
        (
            OrCondition((where("party", "eq", "Acme"), where("party", "eq", "Óptica"))),
            "mit Partei Acme oder Óptica",
            "ayant pour partie Acme ou Óptica",
            "con parte Acme u Óptica",
        ),
        (
            where("topics", "has", "IT"),
            "mit IT unter den Themen",
            "avec IT parmi les thèmes",
            "con IT entre sus temas",
        ),
        (
            where("total", "gt", 1234.5),
            "mit Betrag über 1.234,50\u00a0€",
            "ayant pour montant plus de 1\u202f234,50\u00a0€",
            "con importe de más de 1.234,50\u00a0€",
        ),
        (
            where("notice", "gte", 30.0),
            "mit Kündigungsfrist ab 30 Tagen",
            "ayant pour préavis 30 jours ou plus",
            "con preaviso de 30 días o más",
        ),
        (
            where("built", "lt", 1990.0),
            "mit Baujahr vor 1990",
            "ayant pour année de construction avant 1990",
            "con año de construcción anterior a 1990",
        ),
        (
            where("start", "gte", "2031-03-01"),
            "mit Beginn ab dem 1. März 2031",
            "avec date de début à partir du 1er mars 2031",
            "con inicio a partir del 1 de marzo de 2031",
        ),
        (
            where("date", "between", ("2031-04-01", "2031-04-30")),
            "vom April 2031",
            "datant d’avril 2031",
            "de abril de 2031",
        ),
        (
            where("paid_on", "between", ("2031-04-01", "2031-04-30")),
            "bezahlt im April 2031",
            "avec «\u00a0Payé le\u00a0» en avril 2031",
            "con «Pagado el» en abril de 2031",
        ),
        (
            where("start", "in", ("2031-05-09", "2032-05-09")),
            "mit Beginn am 9. Mai 2031 oder am 9. Mai 2032",
            "avec date de début le 9 mai 2031 ou le 9 mai 2032",
            "con inicio el 9 de mayo de 2031 o el 9 de mayo de 2032",
        ),
        (where("start", "in", ()), "nichts", "rien", "nada"),
        (where("city", "eq", "Porto"), "in Porto", "à Porto", "en Porto"),
        (
            where("signer", "eq", "Ada"),
            "erstellt von Ada",
            "avec «\u00a0Signé par\u00a0» Ada",
            "con «Firmado por» Ada",
        ),
        (
            where("paid", "eq", True),
            "mit Merkmal »Bezahlt«",
            "avec la mention «\u00a0Payé\u00a0»",
            "con la marca «Pagado»",
        ),
        (
            NotCondition(where("paid", "eq", True)),
            "ohne Merkmal »Bezahlt«",
            "sans la mention «\u00a0Payé\u00a0»",
            "sin la marca «Pagado»",
        ),
        (
            ComparisonCondition(field=FieldName("note"), op=ComparisonOperator.CONTAINS, value="Öl"),
            "mit “Öl” im Feld »Notiz«",
            "avec “Öl” dans le champ «\u00a0Note\u00a0»",
            "con “Öl” en el campo «Nota»",
        ),
        (MissingCondition(field=FieldName("notice")), "ohne Kündigungsfrist", "sans préavis", "sin preaviso"),
        (
            NotCondition(MissingCondition(field=FieldName("start"))),
            "mit Angabe zu »Beginn«",
            "avec une valeur pour date de début",
            "con un valor de inicio",
        ),
        (
            NotCondition(where("party", "eq", "Acme")),
            "nicht mit Partei Acme",
            "n’ayant pas pour partie Acme",
            "excepto con parte Acme",
        ),
        (NotCondition(where("city", "eq", "Porto")), "nicht in Porto", "sauf à Porto", "excepto en Porto"),
        (
            RowCondition(rows_field=FieldName("lines"), condition=where("quantity", "gt", 10.0)),
            "mit Positionen mit quantity über 10",
            "avec lignes ayant pour quantity plus de 10",
            "con líneas con quantity de más de 10",
        ),
        (
            FieldComparisonCondition(field=FieldName("total"), op=ComparisonOperator.GT, other_field=FieldName("cost")),
            "mit Betrag > Kosten",
            "avec montant > coût",
            "con importe > coste",
        ),
    ],
)
def test_a_condition_is_said_after_the_noun(condition: Condition, german: str, french: str, spanish: str) -> None:
    for language, words in (("de", german), ("fr", french), ("es", spanish)):
        schema = schema_in(language)
        with use_language(language):
            assert describe_qualifier([condition], schema, {schema.bucket: schema}) == words


@pytest.mark.parametrize(
    ("condition", "german", "french", "spanish"),
    [
        (where("party", "eq", "Acme"), "Partei: beliebig", "Partie\u00a0: peu importe", "Parte: cualquiera"),
        (NotCondition(where("party", "eq", "Acme")), "auch Acme", "aussi Acme", "también Acme"),
        (where("total", "gt", 5.0), "Betrag: ohne Untergrenze", "Montant\u00a0: sans minimum", "Importe: sin mínimo"),
        (where("start", "lt", "2031-05-09"), "Beginn: auch später", "Date de début\u00a0: aussi plus tard",
         "Inicio: también después"),
        (where("paid", "eq", True), "Bezahlt: ja oder nein", "Payé\u00a0: oui ou non", "Pagado: sí o no"),
        (MissingCondition(field=FieldName("notice")), "mit oder ohne Kündigungsfrist", "avec ou sans préavis",
         "con o sin preaviso"),
    ],
)  # fmt: skip
def test_a_button_drops_a_condition(condition: Condition, german: str, french: str, spanish: str) -> None:
    for language, words in (("de", german), ("fr", french), ("es", spanish)):
        schema = schema_in(language)
        with use_language(language):
            assert describe_widening(condition, schema, {schema.bucket: schema}) == words


@pytest.mark.parametrize(
    ("language", "bucket_language", "title", "single", "several"),
    [
        ("de", "de", "Verträge", "1 Vertrag", "3 Verträge"),
        ("de", "de", "Schadensmeldungen", "1 Schadensmeldung", "3 Schadensmeldungen"),
        ("de", "de", "Zebras", "1 Dokument", "3 Zebras"),
        ("de", "en", "invoices", "1 Invoice", "3 Invoices"),
        ("en", "de", "Rechnungen", "1 Rechnung", "3 Rechnungen"),
        ("fr", "fr", "Notes de frais", "1 note de frais", "3 notes de frais"),
        ("fr", "fr", "Journaux", "1 journal", "3 journaux"),
        ("fr", "en", "invoices", "1 invoice", "3 invoices"),
        ("es", "es", "Facturaciones", "1 facturación", "3 facturaciones"),
        ("es", "es", "Contratos de obra", "1 contrato de obra", "3 contratos de obra"),
    ],
)
def test_documents_are_counted_by_the_name_of_their_bucket(
    language: str, bucket_language: str, title: str, single: str, several: str
) -> None:
    schema = Schema(bucket=BucketId("b"), title=title, language=bucket_language)
    with use_language(language):
        noun = document_noun_of(schema)
        assert (format_count(1, noun), format_count(3, noun)) == (single, several)


@pytest.mark.parametrize(
    ("synonym", "label", "forms"),
    [
        ("Rechnung", "Rechnungen", ("Rechnung", "Rechnungen")),
        ("vertrag", "Verträge", ("Vertrag", "Verträge")),
        ("receipt", "Receipts", ("Receipt", "Receipts")),
        ("contract", "Supplier agreements", ("Contract", "Contracts")),
    ],
)
def test_the_label_of_a_bucket_gives_the_plural(synonym: str, label: str, forms: tuple[str, str]) -> None:
    schema = Schema(bucket=BucketId("b"), title=label, synonyms=(synonym,))
    with use_language("de"):
        assert document_noun_of(schema) == NounForms(*forms)


@pytest.mark.parametrize(
    ("plural", "dative"),
    [
        ("Dokumente", "Dokumenten"),
        ("Artikel", "Artikeln"),
        ("Bücher", "Büchern"),
        ("Rechnungen", "Rechnungen"),
        ("Receipts", "Receipts"),
        ("Post", "Post"),
    ],
)
def test_a_plural_may_have_an_ending_in_the_dative(plural: str, dative: str) -> None:
    assert load_wording("de").dative_of_plural(plural) == dative


def test_an_example_question_is_in_the_language_of_the_reply_if_the_rules_read_it() -> None:
    vendor = SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY, title="Lieferant", facet=True)
    bills = Schema(bucket=BucketId("b"), title="Rechnungen", synonyms=("Rechnung",), fields=(vendor,), language="de")
    with use_language("de"):
        assert example_question_for(bills) == "Wie viele Rechnungen gibt es je Lieferant?"
    assert example_question_for(bills) == "How many Rechnungen per lieferant?"


def test_an_example_question_groups_by_no_label_that_ends_in_a_preposition() -> None:
    fields = [
        SchemaField(name=FieldName(name), type=FieldType.CATEGORY, title=name, facet=True)
        for name in ("Issued by", "Boat")
    ]
    repairs = Schema(bucket=BucketId("b"), title="Repairs", synonyms=("repair",), fields=tuple(fields))

    assert example_question_for(repairs) == "How many repairs per boat?"
    assert example_question_for(replace(repairs, fields=tuple(fields[:1]))) == "How many repairs are there?"
