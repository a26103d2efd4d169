"""The project's scenario questions over the demo corpus, with their expected results.

    for question in questions(corpus):
        result = ask(question.text)
        check(result, question.expected, question.missing)

A template names buckets and fields as `{receipts}` or `{receipts.total}`: the first word that the corpus's schema has
for it; `{receipts:1}` is its second word, and so on. The text outside braces has values, literals and plain English.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import StrEnum

from bot.demo.corpus import DemoCorpus
from storage.search.schema import Schema, SchemaField
from tests.scenarios.truth import (
    Condition,
    Expected,
    ExpectedAmbiguity,
    ExpectedGroups,
    ExpectedListing,
    ExpectedLookup,
    ExpectedNoResults,
    ExpectedOverload,
    ExpectedValue,
    ExpectedValues,
    PlainRecord,
    absent,
    at_least,
    at_most,
    between,
    during,
    equal,
    group_records,
    has_flag,
    has_members,
    has_no_flag,
    has_no_members,
    has_row,
    less_than,
    mentions,
    mentions_none,
    missing_counts_of,
    more_than,
    other_than,
    page_of,
    per_currency,
    plain_records,
    records_meeting,
    value_of,
)

OVERLOAD_LIMIT = 100
_PLACEHOLDER = re.compile(r"(?:\b(an?) )?\{([a-z_.]+)(?::(\d))?\}")


class QuestionKind(StrEnum):
    LIST = "list"
    OVERLOAD = "overload"
    NO_RESULTS = "no_results"
    LOOKUP = "lookup"
    AMBIGUOUS = "ambiguous"
    AGGREGATE = "aggregate"
    GROUPS = "groups"
    EXTREMUM = "extremum"


class QuestionNeed(StrEnum):
    """A reason why a question is harder than a filter on its words."""

    PASSAGES = "words from different passages"
    NEGATION = "a negation"
    MISSING = "a missing value"
    CURRENCIES = "two currencies or more"


PASSAGES, NEGATION, MISSING, CURRENCIES = QuestionNeed


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioQuestion:
    """A question. `missing`: by field, the number of documents that lack the field and meet all other conditions."""

    id: str
    text: str
    kind: QuestionKind
    expected: Expected
    needs: frozenset[QuestionNeed] = frozenset()
    missing: Mapping[str, int] = attribute(default_factory=dict[str, int])


def questions(corpus: DemoCorpus) -> list[ScenarioQuestion]:
    """All questions; the three of the demo's story come first. A question names its bucket only in words."""
    asker = _QuestionBuilder(corpus)
    chapters = (
        _story,
        _receipts,
        _receipt_numbers,
        _panels,
        _manuals,
        _contracts,
        _contract_numbers,
        _parts,
        _chemicals,
    )
    return [question for chapter in chapters for question in chapter(asker)]


class _QuestionBuilder:
    """Builds the questions of one corpus: fills in the corpus's words and computes the expected results."""

    def __init__(self, corpus: DemoCorpus) -> None:
        self._corpus = corpus
        self._schemas = {name: bucket.schema for name, bucket in corpus.buckets.items()}
        self.records = {name: plain_records(corpus, name) for name in corpus.buckets}

    def listing(
        self,
        name: str,
        template: str,
        bucket: str,
        *conditions: Condition,
        kind: QuestionKind = QuestionKind.LIST,
        needs: Sequence[QuestionNeed] = (),
    ) -> ScenarioQuestion:
        """A list question. The expected result depends on the count; `test_truth` checks that it fits the kind."""
        doc_ids = tuple(record["doc_id"] for record in self.find_records(bucket, conditions))
        expected = (
            ExpectedNoResults()
            if not doc_ids
            else ExpectedOverload(count=len(doc_ids))
            if len(doc_ids) > OVERLOAD_LIMIT
            else ExpectedListing(doc_ids=doc_ids)
        )
        return self._question(name, template, bucket, kind, expected, conditions, needs)

    def top(
        self, name: str, template: str, bucket: str, *conditions: Condition, field: str, limit: int
    ) -> ScenarioQuestion:
        """The `limit` records with the greatest values, ties by doc_id."""
        having = [record for record in self.find_records(bucket, conditions) if field in record]
        ranked = sorted(having, key=lambda record: (-record[field], record["doc_id"]))
        expected = ExpectedListing(doc_ids=tuple(record["doc_id"] for record in ranked[:limit]), ordered=True)
        return self._question(name, template, bucket, QuestionKind.EXTREMUM, expected, conditions, ())

    def count(
        self, name: str, template: str, bucket: str, *conditions: Condition, needs: Sequence[QuestionNeed] = ()
    ) -> ScenarioQuestion:
        number = len(self.find_records(bucket, conditions))
        value = ExpectedValue(function="count", value=number, unit="", count=number)
        expected = ExpectedValues(values=(value,), count=number)
        return self._question(name, template, bucket, QuestionKind.AGGREGATE, expected, conditions, needs)

    def number(
        self,
        name: str,
        template: str,
        bucket: str,
        *conditions: Condition,
        function: str,
        field: str,
        unit: str = "",
        per: str = "",
        needs: Sequence[QuestionNeed] = (),
    ) -> ScenarioQuestion:
        """A question for a computed number: one value, or a value for each currency in the field `per`."""
        records = self.find_records(bucket, conditions)
        values = per_currency(function, records, field, per) if per else (value_of(function, records, field, unit),)
        kind = QuestionKind.EXTREMUM if function in ("minimum", "maximum") else QuestionKind.AGGREGATE
        expected = ExpectedValues(values=values, count=len(records))
        return self._question(name, template, bucket, kind, expected, conditions, needs)

    def groups(
        self,
        name: str,
        template: str,
        bucket: str,
        *conditions: Condition,
        group_by: Callable[[PlainRecord], str | None],
        field: str = "",
        unit: str = "",
        limit: int | None = None,
        needs: Sequence[QuestionNeed] = (),
    ) -> ScenarioQuestion:
        """A question for groups: sums of `field`, or counts without a field; with a limit, the largest, in order."""
        groups = group_records(self.find_records(bucket, conditions), group_by)
        values = [_group_value_of(label, records, field, unit) for label, records in groups.items()]
        if limit is None:
            expected = ExpectedGroups(values=tuple(sorted(values, key=lambda value: str(value.group))))
        else:
            ranked = sorted(values, key=lambda value: (-value.value, str(value.group)))
            expected = ExpectedGroups(values=tuple(ranked[:limit]), ordered=True)
        return self._question(name, template, bucket, QuestionKind.GROUPS, expected, conditions, needs)

    def lookup(self, name: str, template: str, bucket: str, condition: Condition, pattern: str) -> ScenarioQuestion:
        """A question about the one record that meets the condition; the pattern's group extracts the fact."""
        (record,) = self.find_records(bucket, [condition])
        match = re.search(pattern, record["text"])
        assert match is not None, f"{name}: {record['doc_id']} does not say {pattern!r}"
        page = page_of(record, match.start(1))
        expected = ExpectedLookup(doc_ids=(record["doc_id"],), fragments=(match[1],), page=page)
        return self._question(name, template, bucket, QuestionKind.LOOKUP, expected, (), ())

    def ambiguous(self, name: str, template: str, bucket: str, *conditions: Condition) -> ScenarioQuestion:
        """A question about one record in words that fit several."""
        expected = ExpectedAmbiguity(
            doc_ids=tuple(record["doc_id"] for record in self.find_records(bucket, conditions))
        )
        return self._question(name, template, bucket, QuestionKind.AMBIGUOUS, expected, (), ())

    def find_records(self, bucket: str, conditions: Sequence[Condition]) -> list[PlainRecord]:
        return records_meeting(self.records[bucket], conditions)

    def _question(
        self,
        name: str,
        template: str,
        bucket: str,
        kind: QuestionKind,
        expected: Expected,
        conditions: Sequence[Condition],
        needs: Sequence[QuestionNeed],
    ) -> ScenarioQuestion:
        lacks = missing_counts_of(self.records[bucket], conditions)
        return ScenarioQuestion(
            id=f"{bucket}: {name}",
            text=self.in_words(template),
            kind=kind,
            expected=expected,
            needs=frozenset(needs),
            missing={self._corpus.naming.name_of(f"{bucket}.{field}"): count for field, count in lacks.items()},
        )

    def in_words(self, template: str) -> str:
        text = _PLACEHOLDER.sub(lambda match: self._with_article(match[1], match[2], int(match[3] or 0)), template)
        return text[:1].upper() + text[1:]

    def _with_article(self, article: str | None, path: str, position: int) -> str:
        word = self._word(path, position)
        return word if article is None else f"{'an' if word[0] in 'aeio' else 'a'} {word}"

    def _word(self, path: str, position: int) -> str:
        bucket, *fields = path.split(".")
        synonyms = self._schema_part_of(self._schemas[bucket], path, fields).synonyms
        return synonyms[position % len(synonyms)]

    def _schema_part_of(self, schema: Schema, path: str, fields: Sequence[str]) -> Schema | SchemaField:
        bucket = path.partition(".")[0]
        named: Schema | SchemaField = schema
        for depth in range(1, len(fields) + 1):
            name = self._corpus.naming.name_of(".".join((bucket, *fields[:depth])))
            inside = named.fields if isinstance(named, Schema) else named.columns
            named = next(field for field in inside if field.name == name)
        return named


def _group_value_of(label: str, records: Sequence[PlainRecord], field: str, unit: str) -> ExpectedValue:
    if field:
        value = value_of("sum", records, field, unit)
        return ExpectedValue(function="sum", value=value.value, unit=unit, count=value.count, group=label)
    return ExpectedValue(function="count", value=len(records), unit="", count=len(records), group=label)


def _month_of(record: PlainRecord) -> str | None:
    return record["date"][:7] if "date" in record else None


# -- the story

_TIRES = equal("category", "tires")
_ACME = has_members("parties", "ACME Corporation")


def _story(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    yield ask.listing(
        "every tire purchase", "List every tire purchase {receipts:1}", "receipts", _TIRES, kind=QuestionKind.OVERLOAD
    )
    yield ask.listing(
        "ACME in 2031",
        "{contracts} with ACME for 2031",
        "contracts",
        _ACME,
        during("start_date", "2031"),
        kind=QuestionKind.NO_RESULTS,
    )
    yield ask.lookup(
        "air filter of the B-120",
        "How often must the air filter of the B-120 be replaced?",
        "manuals",
        equal("product", "B-120"),
        r"Replace the air filter every (\d+ months)",
    )


# -- receipts


def _receipts(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    yield ask.listing(
        "tyres of one vendor in a year",
        "Show me all tyre {receipts} from Reifen Köhler in 2024",
        "receipts",
        _TIRES,
        equal("vendor", "Reifen Köhler GmbH"),
        during("date", "2024"),
    )
    yield ask.listing(
        "days of a month",
        "Which fuel {receipts} are there between 5 and 20 March 2024?",
        "receipts",
        equal("category", "fuel"),
        between("date", "2024-03-05", "2024-03-20"),
    )
    yield ask.listing(
        "a quarter",
        "hotel {receipts} in Q2 2024",
        "receipts",
        equal("category", "hotel"),
        between("date", "2024-04-01", "2024-06-30"),
    )
    yield ask.listing(
        "ISO days",
        "Give me the {receipts} from 2024-02-26 to 2024-03-01",
        "receipts",
        between("date", "2024-02-26", "2024-03-01"),
    )
    yield ask.listing(
        "tires without a date",
        "tire {receipts} without a {receipts.date}",
        "receipts",
        _TIRES,
        absent("date"),
        needs=[MISSING],
    )
    yield ask.listing(
        "undated meals",
        "Are there undated restaurant {receipts}? Show them.",
        "receipts",
        equal("category", "restaurant"),
        absent("date"),
        needs=[MISSING],
    )
    yield ask.listing(
        "groceries of nobody",
        "grocery {receipts} with no {receipts.vendor}",
        "receipts",
        equal("category", "groceries"),
        absent("vendor"),
        needs=[MISSING],
    )
    yield ask.listing(
        "not from a vendor",
        "car service {receipts} of 2023 that are not from Redwood Tire & Wheel",
        "receipts",
        equal("category", "vehicle service"),
        during("date", "2023"),
        other_than("vendor", "Redwood Tire & Wheel"),
        needs=[NEGATION, MISSING],
    )
    yield ask.listing(
        "not yet paid back",
        "Which software {receipts} from 2025 have not been {receipts.reimbursed}?",
        "receipts",
        equal("category", "software"),
        during("date", "2025"),
        has_no_flag("reimbursed"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "over an amount in one currency",
        "{receipts} from the Grand Meridian Hotel over 500 CHF",
        "receipts",
        equal("vendor", "Grand Meridian Hotel"),
        equal("currency", "CHF"),
        more_than("total", 500),
        needs=[CURRENCIES],
    )
    yield ask.listing(
        "yen",
        "Find {receipts} of at least 120,000 yen",
        "receipts",
        equal("currency", "JPY"),
        at_least("total", 120_000),
        needs=[CURRENCIES],
    )
    yield ask.listing(
        "francs of a vendor with two currencies",
        "Everything bought from Pneus Etoile in Swiss francs",
        "receipts",
        equal("vendor", "Pneus Étoile"),
        equal("currency", "CHF"),
        needs=[CURRENCIES],
    )
    yield ask.listing(
        "one row with both",
        "{receipts} where the {receipts.items.qty} of Velora Ice winter tires is at least 4",
        "receipts",
        has_row("items", lambda item: "Velora Ice winter tire" in item["name"] and item["qty"] >= 4),
    )
    yield ask.listing(
        "two wares on one slip",
        "2024 {receipts} that have both a toner cartridge and copy paper",
        "receipts",
        during("date", "2024"),
        has_row("items", lambda item: "Toner cartridge" in item["name"]),
        has_row("items", lambda item: "Copy paper" in item["name"]),
    )
    yield ask.listing(
        "any of two payments",
        "tire purchases of 2022 paid in cash or by bank transfer",
        "receipts",
        _TIRES,
        during("date", "2022"),
        equal("payment", "cash", "bank transfer"),
    )
    yield ask.listing(
        "neither of two payments",
        "Which tire {receipts} of 2025 were paid neither by credit card nor by company account?",
        "receipts",
        _TIRES,
        during("date", "2025"),
        other_than("payment", "credit card", "company account"),
        needs=[NEGATION, MISSING],
    )
    yield ask.listing("a city without its umlaut", "{receipts} from Zurich", "receipts", equal("city", "Zürich"))
    yield ask.listing(
        "a note only", '{receipts} that say "tire pressure checked"', "receipts", mentions("tire pressure checked")
    )
    yield ask.listing(
        "tires at the grill",
        "tire {receipts} from the Blue Heron Grill",
        "receipts",
        _TIRES,
        equal("vendor", "Blue Heron Grill"),
        kind=QuestionKind.NO_RESULTS,
    )
    yield ask.listing(
        "petrol in yen",
        "Did we buy petrol in yen? List the {receipts}.",
        "receipts",
        equal("category", "fuel"),
        equal("currency", "JPY"),
        kind=QuestionKind.NO_RESULTS,
    )
    yield ask.listing(
        "what was bought",
        "What did we buy at Kanda Stationers in 2023?",
        "receipts",
        equal("vendor", "Kanda Stationers"),
        during("date", "2023"),
    )
    yield ask.listing(
        "an amount alone",
        "Any hotel {receipts:2} above 600 EUR?",
        "receipts",
        equal("category", "hotel"),
        equal("currency", "EUR"),
        more_than("total", 600),
    )
    yield ask.listing(
        "months of a year",
        "restaurant {receipts} from October to December 2024 paid by credit card",
        "receipts",
        equal("category", "restaurant"),
        between("date", "2024-10-01", "2024-12-31"),
        equal("payment", "credit card"),
    )
    yield ask.listing(
        "winter tires unmounted",
        '{receipts} with the words "winter tire" but without "mounting and balancing"',
        "receipts",
        mentions("winter tire"),
        mentions_none("mounting and balancing"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "neither day nor seller",
        "{receipts} with neither a {receipts.date} nor a {receipts.vendor}",
        "receipts",
        absent("date"),
        absent("vendor"),
        needs=[MISSING, NEGATION],
    )
    sold = next(record for record in ask.records["receipts"] if "vendor" in record)
    yield ask.lookup(
        "seller on one slip",
        f"Who is the {{receipts.vendor}} on receipt {sold['doc_id'].removeprefix('rcp-')}?",
        "receipts",
        equal("doc_id", sold["doc_id"]),
        r"\A(.+)",
    )
    yield ask.listing(
        "not paid back, all",
        "{receipts} not {receipts.reimbursed}",
        "receipts",
        has_no_flag("reimbursed"),
        kind=QuestionKind.OVERLOAD,
        needs=[NEGATION],
    )


def _receipt_numbers(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    yield ask.number(
        "sum at one hotel",
        "What is the sum of the {receipts.total} of all {receipts} from the Grand Meridian Hotel?",
        "receipts",
        equal("vendor", "Grand Meridian Hotel"),
        function="sum",
        needs=[CURRENCIES],
        field="total",
        per="currency",
    )
    yield ask.number(
        "spent on tires in a year",
        "How much was {receipts.total:2} on tires in 2024?",
        "receipts",
        _TIRES,
        during("date", "2024"),
        function="sum",
        needs=[CURRENCIES],
        field="total",
        per="currency",
    )
    yield ask.count(
        "tires in cash", "How many tire {receipts} were paid in cash?", "receipts", _TIRES, equal("payment", "cash")
    )
    yield ask.number(
        "average night",
        "What was the average {receipts.total} of the hotel {receipts} in euros?",
        "receipts",
        equal("category", "hotel"),
        equal("currency", "EUR"),
        function="average",
        field="total",
        per="currency",
    )
    yield ask.number(
        "dearest tank",
        "What is the highest {receipts.total} among the fuel {receipts} in USD?",
        "receipts",
        equal("category", "fuel"),
        equal("currency", "USD"),
        function="maximum",
        field="total",
        per="currency",
    )
    yield ask.number(
        "smallest meal",
        "the lowest {receipts.total} of a restaurant {receipts:1} in pounds",
        "receipts",
        equal("category", "restaurant"),
        equal("currency", "GBP"),
        function="minimum",
        field="total",
        per="currency",
    )
    yield ask.number(
        "smallest slips of one vendor",
        "What is the smallest {receipts.total} at Pneus Étoile?",
        "receipts",
        equal("vendor", "Pneus Étoile"),
        function="minimum",
        field="total",
        per="currency",
        needs=[CURRENCIES],
    )
    yield ask.count(
        "undated in all",
        "How many {receipts} have no {receipts.date}?",
        "receipts",
        absent("date"),
        needs=[MISSING],
    )
    yield ask.groups(
        "top vendors",
        "Top five {receipts.vendor}s by {receipts.total} for tires in dollars",
        "receipts",
        _TIRES,
        equal("currency", "USD"),
        group_by=lambda record: record.get("vendor"),
        field="total",
        unit="USD",
        limit=5,
    )
    yield ask.groups(
        "by month",
        "Sum of the {receipts.total} of tire {receipts} in EUR by month in 2023",
        "receipts",
        _TIRES,
        equal("currency", "EUR"),
        during("date", "2023"),
        group_by=_month_of,
        field="total",
        unit="EUR",
    )
    yield ask.groups(
        "growth from month to month",
        "Growth of the {receipts.total} of tire {receipts} in EUR from month to month in 2023",
        "receipts",
        _TIRES,
        equal("currency", "EUR"),
        during("date", "2023"),
        group_by=_month_of,
        field="total",
        unit="EUR",
    )
    yield ask.groups(
        "by month, and the change",
        "Sum of the {receipts.total} of tire {receipts} in EUR by month in 2023, and the change",
        "receipts",
        _TIRES,
        equal("currency", "EUR"),
        during("date", "2023"),
        group_by=_month_of,
        field="total",
        unit="EUR",
    )
    yield ask.groups(
        "how counts developed",
        "How did the number of tire {receipts} develop per month in 2023?",
        "receipts",
        _TIRES,
        during("date", "2023"),
        group_by=_month_of,
    )
    yield ask.groups(
        "by category",
        "How many {receipts} are there per {receipts.category}?",
        "receipts",
        group_by=lambda record: record.get("category"),
    )


# -- solar panels


def _panels(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    alpha = equal("maker", "AlphaSolar")
    yield ask.number(
        "smallest width",
        "What is the minimum {panels.width} of AlphaSolar {panels}?",
        "panels",
        alpha,
        function="minimum",
        field="width",
        unit="mm",
    )
    yield ask.listing(
        "another unit",
        "AlphaSolar {panels} with a {panels.width} of at most 99.5 cm",
        "panels",
        alpha,
        at_most("width", 995),
    )
    yield ask.listing(
        "kilowatts",
        "Which {panels} by Sunforge or Nordvolt PV have a {panels.power} above 0.45 kW?",
        "panels",
        equal("maker", "Sunforge", "Nordvolt PV"),
        more_than("power", 450),
    )
    yield ask.listing("no price", "{panels} without a {panels.price}", "panels", absent("price"), needs=[MISSING])
    yield ask.listing(
        "not a maker",
        "thin film {panels} that are not made by Heliant",
        "panels",
        equal("cell_type", "thin film"),
        other_than("maker", "Heliant"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "two certificates",
        "Brightline Energy {panels} with the {panels.certificates} salt mist and ammonia",
        "panels",
        equal("maker", "Brightline Energy"),
        has_members("certificates", "salt mist", "ammonia"),
    )
    yield ask.listing(
        "not certified",
        "{panels} from Étincelle Solaire without the hail class 4 {panels.certificates:1}",
        "panels",
        equal("maker", "Étincelle Solaire"),
        has_no_members("certificates", "hail class 4"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "two ranges",
        "{panels} with at least 20 years of {panels.warranty} and a {panels.price} below 100 USD",
        "panels",
        at_least("warranty", 20),
        less_than("price", 100),
        needs=[MISSING],
    )
    yield ask.listing(
        "watts alone",
        "AlphaSolar {panels} between 400 W and 450 W",
        "panels",
        alpha,
        between("power", 400, 450),
    )
    yield ask.listing(
        "kilograms alone",
        "{panels} by Nordvolt PV of more than 25 kg",
        "panels",
        equal("maker", "Nordvolt PV"),
        more_than("weight", 25),
        needs=[MISSING],
    )
    yield ask.listing(
        "too heavy to exist",
        "AlphaSolar {panels} with a {panels.weight} over 60 kg",
        "panels",
        alpha,
        more_than("weight", 60),
        kind=QuestionKind.NO_RESULTS,
    )
    yield ask.listing(
        "all of one kind",
        "monocrystalline {panels}",
        "panels",
        equal("cell_type", "monocrystalline"),
        kind=QuestionKind.OVERLOAD,
    )
    yield ask.number(
        "average efficiency",
        "average {panels.efficiency} of polycrystalline {panels}",
        "panels",
        equal("cell_type", "polycrystalline"),
        function="average",
        field="efficiency",
        unit="percent",
    )
    yield ask.number(
        "cheapest",
        "What is the lowest {panels.price} of a Heliant {panels:1}?",
        "panels",
        equal("maker", "Heliant"),
        function="minimum",
        field="price",
        unit="USD",
    )
    yield ask.count(
        "long warranty",
        "How many {panels} come with a {panels.warranty} of 25 years?",
        "panels",
        equal("warranty", 25),
    )
    yield ask.groups(
        "largest makers",
        "Top three {panels.maker}s by number of {panels}",
        "panels",
        group_by=lambda record: record.get("maker"),
        limit=3,
    )
    yield ask.top(
        "most efficient",
        "List the 5 {panels} with the highest {panels.efficiency}",
        "panels",
        field="efficiency",
        limit=5,
    )


# -- manuals


def _manuals(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    yield ask.lookup(
        "maintenance steps of the B-120",
        "What are the maintenance steps for the B-120?",
        "manuals",
        equal("product", "B-120"),
        r"(Replace the air filter every \d+ months, sooner in dusty rooms\.)",
    )
    yield ask.lookup(
        "how the U-40 is installed",
        "What are the steps for the installation of the U-40?",
        "manuals",
        equal("product", "U-40"),
        r"(Connect the earth conductor first and the communication cable last\.)",
    )
    yield ask.lookup(
        "how the terminal bolts of the B-140 are tightened",
        "How do I tighten the terminal bolts of the B-140?",
        "manuals",
        equal("product", "B-140"),
        r"(Tighten the terminal bolts to \d+ Nm)",
    )
    yield ask.lookup(
        "torque of the U-40",
        "What torque do the terminal bolts of the U-40 need?",
        "manuals",
        equal("product", "U-40"),
        r"Tighten the terminal bolts to (\d+ Nm)",
    )
    yield ask.lookup(
        "waiting at the B-140",
        "How long do I have to wait before opening the door of the B-140?",
        "manuals",
        equal("product", "B-140"),
        r"main switch to OFF and wait (\d+ minutes)",
    )
    yield ask.lookup(
        "alarm of the N-30",
        "What does alarm E07 mean on the N-30?",
        "manuals",
        equal("product", "N-30"),
        r"Alarm E07 means that ([^.]+)",
    )
    yield ask.lookup(
        "fans of the G-100",
        "After how many operating hours are the fans of the G-100 exchanged?",
        "manuals",
        equal("product", "G-100"),
        r"Exchange the fans after (\d+ operating hours)",
    )
    yield ask.lookup(
        "insulation of the B-120",
        "How often is the insulation resistance of the B-120 measured?",
        "manuals",
        equal("product", "B-120"),
        r"(Once every two years), measure the insulation",
    )
    yield ask.ambiguous(
        "which battery cabinet",
        "How often must the air filter of the battery cabinet be replaced?",
        "manuals",
        equal("equipment", "battery cabinet"),
    )
    yield ask.listing(
        "recent revisions",
        "{manuals} with a {manuals.revised} after 2022",
        "manuals",
        more_than("revised", "2022-12-31"),
        needs=[MISSING],
    )
    yield ask.listing(
        "large cabinets",
        "battery cabinet {manuals} with a {manuals.capacity} of at least 20 kWh",
        "manuals",
        equal("equipment", "battery cabinet"),
        at_least("capacity", 20),
    )
    yield ask.listing(
        "no revision", "Which {manuals} have no {manuals.revised}?", "manuals", absent("revised"), needs=[MISSING]
    )
    yield ask.listing(
        "two tools",
        '{manuals} that mention a "torque wrench" and the "condensate tray"',
        "manuals",
        mentions("torque wrench", "condensate tray"),
        needs=[PASSAGES],
    )
    yield ask.listing(
        "one but not the other",
        '{manuals} that mention a "thermal camera" but not a "condensate tray"',
        "manuals",
        mentions("thermal camera"),
        mentions_none("condensate tray"),
        needs=[PASSAGES, NEGATION],
    )
    yield ask.listing(
        "indoor inverters",
        "inverter {manuals} that are not for {manuals.outdoor}",
        "manuals",
        equal("equipment", "inverter"),
        has_no_flag("outdoor"),
        needs=[NEGATION],
    )
    yield ask.number(
        "heaviest UPS",
        "What is the largest {manuals.weight} among the UPS {manuals}?",
        "manuals",
        equal("equipment", "UPS"),
        function="maximum",
        field="weight",
        unit="kg",
        needs=[MISSING],
    )


# -- contracts


def _contracts(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    yield ask.listing(
        "ACME 2023 with long notice",
        "ACME {contracts} of 2023 with a {contracts.notice_days} of at least 60 days",
        "contracts",
        _ACME,
        during("start_date", "2023"),
        at_least("notice_days", 60),
        needs=[MISSING],
    )
    noticed = next(record for record in ask.records["contracts"] if "notice_days" in record)
    number = re.findall(r"C-\d+", noticed["title"])[0]
    yield ask.lookup(
        "notice of one contract",
        f"How long is the {{contracts.notice_days}} of contract {number}?",
        "contracts",
        equal("doc_id", noticed["doc_id"]),
        r"by notice of (\d+ days)",
    )
    ended = next(record for record in ask.records["contracts"] if "end_date" in record)
    ended_number = re.findall(r"C-\d+", ended["title"])[0]
    yield ask.lookup(
        "end of one contract",
        f"What is the {{contracts.end_date}} of contract {ended_number}?",
        "contracts",
        equal("doc_id", ended["doc_id"]),
        r"runs until ([^.]+)\.",
    )
    yield ask.ambiguous(
        "which lease",
        "What is the {contracts.governing_law} of the lease contract with ACME?",
        "contracts",
        _ACME,
        equal("kind", "lease"),
    )
    yield ask.listing(
        "an amount alone",
        "ACME {contracts} over 100,000 USD",
        "contracts",
        _ACME,
        equal("currency", "USD"),
        more_than("value", 100_000),
        needs=[CURRENCIES],
    )
    yield ask.listing(
        "another noun",
        "service {contracts:2} with Solveig Energy",
        "contracts",
        equal("kind", "services"),
        has_members("parties", "Solveig Energy"),
    )
    yield ask.listing(
        "two clauses",
        "{contracts} with Lanthorn Software that have both audit rights and escrow",
        "contracts",
        has_members("parties", "Lanthorn Software"),
        has_members("clauses", "audit rights", "escrow"),
    )
    yield ask.listing(
        "no cap",
        "ACME {contracts} without a liability cap",
        "contracts",
        _ACME,
        has_no_members("clauses", "liability cap"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "escrow agent and arbitration",
        '{contracts} under German law that mention "escrow agent" and arbitration',
        "contracts",
        equal("governing_law", "Germany"),
        mentions("escrow agent", "arbitration"),
        needs=[PASSAGES],
    )
    yield ask.listing(
        "index and chamber",
        'ACME {contracts} that mention the "consumer price index" and the "chamber of commerce"',
        "contracts",
        _ACME,
        mentions("consumer price index", "chamber of commerce"),
        needs=[PASSAGES],
    )
    yield ask.listing(
        "books but no customers",
        '{contracts} with Brightwater Logistics that mention "inspect the books" but not the "escrow agent"',
        "contracts",
        has_members("parties", "Brightwater Logistics"),
        mentions("inspect the books"),
        mentions_none("escrow agent"),
        needs=[PASSAGES, NEGATION],
    )
    yield ask.listing(
        "from 2031 on", "{contracts} with a {contracts.start_date} in 2031", "contracts", during("start_date", "2031")
    )
    yield ask.listing(
        "Acmeda is not ACME",
        "{contracts} with Acmeda Foods and an {contracts.end_date} before 2025",
        "contracts",
        has_members("parties", "Acmeda Foods"),
        less_than("end_date", "2025-01-01"),
        needs=[MISSING],
    )
    yield ask.listing(
        "no end", "{contracts} that have no {contracts.end_date}", "contracts", absent("end_date"), needs=[MISSING]
    )
    yield ask.listing(
        "no notice",
        "{contracts} lacking a {contracts.notice_days}",
        "contracts",
        absent("notice_days"),
        needs=[MISSING],
    )
    yield ask.listing(
        "law and worth",
        "{contracts} under Norwegian or Swiss law with a {contracts.value} of more than 100,000 EUR",
        "contracts",
        equal("governing_law", "Norway", "Switzerland"),
        equal("currency", "EUR"),
        more_than("value", 100_000),
        needs=[CURRENCIES],
    )
    yield ask.listing(
        "one clause without another",
        "supply {contracts} with exclusivity but without arbitration",
        "contracts",
        equal("kind", "supply"),
        has_members("clauses", "exclusivity"),
        has_no_members("clauses", "arbitration"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "no renewal",
        "lease {contracts} without {contracts.auto_renewal}",
        "contracts",
        equal("kind", "lease"),
        has_no_flag("auto_renewal"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "a ring dropped", "{contracts} with Vardal Shipping", "contracts", has_members("parties", "Vårdal Shipping AS")
    )
    yield ask.listing(
        "ends in a span",
        "Which {contracts} have an {contracts.end_date} between January 2031 and June 2032?",
        "contracts",
        between("end_date", "2031-01-01", "2032-06-30"),
        needs=[MISSING],
    )
    yield ask.listing(
        "renewed audits",
        "service {contracts} with {contracts.auto_renewal} and audit rights under English law",
        "contracts",
        equal("kind", "services"),
        has_flag("auto_renewal"),
        has_members("clauses", "audit rights"),
        equal("governing_law", "England and Wales"),
    )
    yield ask.listing(
        "all in euros", "all {contracts} in euros", "contracts", equal("currency", "EUR"), kind=QuestionKind.OVERLOAD
    )
    yield ask.listing(
        "a partner and a year without",
        "{contracts} with ACME and an {contracts.end_date} in 2031",
        "contracts",
        _ACME,
        during("end_date", "2031"),
        kind=QuestionKind.NO_RESULTS,
    )


def _contract_numbers(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    yield ask.number(
        "worth of a year of ACME",
        "total {contracts.value} of the ACME {contracts} with a {contracts.start_date} in 2024",
        "contracts",
        _ACME,
        during("start_date", "2024"),
        function="sum",
        field="value",
        per="currency",
        needs=[CURRENCIES, MISSING],
    )
    yield ask.number(
        "longest notice",
        "What is the longest {contracts.notice_days} in {contracts} with Kessler Maschinenbau?",
        "contracts",
        has_members("parties", "Kessler Maschinenbau"),
        function="maximum",
        field="notice_days",
        unit="day",
    )
    yield ask.number(
        "average notice",
        "average {contracts.notice_days} of {contracts} under the law of New York",
        "contracts",
        equal("governing_law", "New York"),
        function="average",
        field="notice_days",
        unit="day",
    )
    yield ask.groups(
        "by law",
        "number of {contracts} per {contracts.governing_law}",
        "contracts",
        group_by=lambda record: record.get("governing_law"),
    )
    yield ask.count(
        "uncapped and arbitrated",
        "How many {contracts} have an arbitration clause but no liability cap?",
        "contracts",
        has_members("clauses", "arbitration"),
        has_no_members("clauses", "liability cap"),
        needs=[NEGATION],
    )


# -- transistors


def _parts(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    npn, to_220 = equal("polarity", "NPN"), equal("package", "TO-220")
    yield ask.listing(
        "NPN in TO-220",
        "NPN {parts} in TO-220 rated at least 60 V and at least 5 A",
        "parts",
        npn,
        to_220,
        at_least("voltage", 60),
        at_least("current", 5),
        needs=[MISSING],
    )
    yield ask.listing(
        "either package",
        "PNP {parts} in TO-220 or TO-3 for at least 100 V",
        "parts",
        equal("polarity", "PNP"),
        equal("package", "TO-220", "TO-3"),
        at_least("voltage", 100),
        needs=[MISSING],
    )
    yield ask.listing(
        "milliwatts, and what a bare rating means",
        "N-channel {parts} in TO-92 with a {parts.power} of 800 mW",
        "parts",
        equal("polarity", "N-channel"),
        equal("package", "TO-92"),
        at_least("power", 0.8),
        needs=[MISSING],
    )
    yield ask.listing(
        "a range of watts",
        "PNP {parts} in SOT-23 or TO-92 with a {parts.power} between 0.3 W and 700 mW",
        "parts",
        equal("polarity", "PNP"),
        equal("package", "SOT-23", "TO-92"),
        between("power", 0.3, 0.7),
    )
    yield ask.listing(
        "not a maker",
        "NPN {parts} in TO-220F that are not from Ovalis",
        "parts",
        npn,
        equal("package", "TO-220F"),
        other_than("maker", "Ovalis"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "no power",
        "{parts} in TO-220 that have no {parts.power}",
        "parts",
        to_220,
        absent("power"),
        needs=[MISSING],
    )
    yield ask.listing(
        "no price",
        "P-channel {parts} without a {parts.price}",
        "parts",
        equal("polarity", "P-channel"),
        absent("price"),
        needs=[MISSING],
    )
    yield ask.listing(
        "under an amount",
        "Tarn Devices {parts} in TO-247 with a {parts.price} under 2 EUR",
        "parts",
        equal("maker", "Tarn Devices"),
        equal("package", "TO-247"),
        less_than("price", 2),
    )
    yield ask.listing(
        "volts alone",
        "PNP {parts} for over 300 V",
        "parts",
        equal("polarity", "PNP"),
        more_than("voltage", 300),
        needs=[MISSING],
    )
    yield ask.listing(
        "an amount alone",
        "N-channel {parts} in DPAK below 0.3 EUR",
        "parts",
        equal("polarity", "N-channel"),
        equal("package", "DPAK"),
        less_than("price", 0.3),
    )
    yield ask.listing(
        "too much for so small a case",
        "SOT-23 {parts} with a {parts.current} above 20 A",
        "parts",
        equal("package", "SOT-23"),
        more_than("current", 20),
        kind=QuestionKind.NO_RESULTS,
    )
    yield ask.listing("all NPN", "every NPN {parts:1}", "parts", npn, kind=QuestionKind.OVERLOAD)
    rated = next(record for record in ask.records["parts"] if "current" in record)
    yield ask.lookup(
        "rating of one part",
        f"What is the {{parts.current}} of the {rated['title'].split()[0]}?",
        "parts",
        equal("doc_id", rated["doc_id"]),
        r" current: (\S+ m?A)\b",
    )
    yield ask.number(
        "highest voltage",
        "highest {parts.voltage} of a PNP {parts:1} in SOT-23",
        "parts",
        equal("polarity", "PNP"),
        equal("package", "SOT-23"),
        function="maximum",
        field="voltage",
        unit="V",
    )
    yield ask.number(
        "average price",
        "What is the average {parts.price} of {parts} in DPAK?",
        "parts",
        equal("package", "DPAK"),
        function="average",
        field="price",
        unit="EUR",
    )
    yield ask.groups(
        "packages of NPN",
        "How many NPN {parts} are there in each {parts.package}?",
        "parts",
        npn,
        group_by=lambda record: record.get("package"),
    )


# -- solvents


def _chemicals(ask: _QuestionBuilder) -> Iterator[ScenarioQuestion]:
    yield ask.listing(
        "below zero",
        "{chemicals} with a {chemicals.boiling_point} below 0 °C",
        "chemicals",
        less_than("boiling_point", 0),
    )
    yield ask.listing(
        "no flash point",
        "{chemicals} with no {chemicals.flash_point}",
        "chemicals",
        absent("flash_point"),
        needs=[MISSING],
    )
    yield ask.listing(
        "no mixing",
        "Which alcohols are not {chemicals.water_miscible}?",
        "chemicals",
        equal("family", "alcohol"),
        has_no_flag("water_miscible"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "negative range",
        "{chemicals} with a {chemicals.flash_point} between -20 and -5 °C",
        "chemicals",
        between("flash_point", -20, -5),
        needs=[MISSING],
    )
    yield ask.listing(
        "one hazard without another",
        "carcinogenic {chemicals} that are not flammable",
        "chemicals",
        has_members("hazards", "carcinogenic"),
        has_no_members("hazards", "flammable"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "neither hazard",
        "blends that are neither flammable nor irritant",
        "chemicals",
        equal("family", "blend"),
        has_no_members("hazards", "flammable", "irritant"),
        needs=[NEGATION],
    )
    yield ask.listing(
        "kilograms a cubic metre",
        "{chemicals} with a {chemicals.density} above 1300 kg/m³",
        "chemicals",
        more_than("density", 1.3),
    )
    yield ask.listing(
        "aromatics in a range",
        "aromatic {chemicals} with a {chemicals.boiling_point} from 100 to 150 °C",
        "chemicals",
        equal("family", "aromatic"),
        between("boiling_point", 100, 150),
    )
    yield ask.listing(
        "Fahrenheit",
        "esters with a {chemicals.boiling_point} above 350 °F",
        "chemicals",
        equal("family", "ester"),
        more_than("boiling_point", (350 - 32) / 1.8),
    )
    yield ask.listing(
        "a density alone",
        "{chemicals} under 0.7 g/cm³",
        "chemicals",
        less_than("density", 0.7),
    )
    yield ask.listing(
        "and that means or",
        "ketones and esters with a {chemicals.boiling_point} under 80 °C",
        "chemicals",
        equal("family", "ketone", "ester"),
        less_than("boiling_point", 80),
    )
    yield ask.listing(
        "colder than any",
        "{chemicals} with a {chemicals.boiling_point} under -50 °C",
        "chemicals",
        less_than("boiling_point", -50),
        kind=QuestionKind.NO_RESULTS,
    )
    yield ask.listing(
        "all that burn",
        "flammable {chemicals}",
        "chemicals",
        has_members("hazards", "flammable"),
        kind=QuestionKind.OVERLOAD,
    )
    yield ask.lookup(
        "toluene",
        "What is the {chemicals.boiling_point} of toluene?",
        "chemicals",
        equal("title", "Toluene"),
        r"Boiling point: (\S+ °C)",
    )
    yield ask.lookup(
        "number of acetonitrile",
        "Tell me the {chemicals.cas} of acetonitrile",
        "chemicals",
        equal("title", "Acetonitrile"),
        r"CAS number: ([\d-]+)",
    )
    yield ask.top(
        "highest boiling ketone",
        "Which ketone has the highest {chemicals.boiling_point}?",
        "chemicals",
        equal("family", "ketone"),
        field="boiling_point",
        limit=1,
    )
    yield ask.count(
        "toxic and miscible",
        "How many {chemicals.water_miscible} {chemicals} are toxic?",
        "chemicals",
        has_flag("water_miscible"),
        has_members("hazards", "toxic"),
    )


def in_words(corpus: DemoCorpus, template: str) -> str:
    """A template filled with the words of the corpus's schema."""
    return _QuestionBuilder(corpus).in_words(template)
