"""Contracts of Northgate Industries with its partners: five pages each.

ACME Corporation has contracts that start in each year from 2019 to 2026 and end by 2030, and others that start in 2033
or later. None of them starts, runs or ends in 2031, while other partners have contracts of that year. A clause is in
the list of clauses if and only if its wording is in the text.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from bot.demo.records import CorpusRecord, draw_each, draw_weighted, drop_missing_values, format_day, join_pages
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder

_CONTRACT_COUNT = 460
_OWN_COMPANY = "Northgate Industries"
_ACME = "ACME Corporation"

SCHEMA = Schema(
    bucket=BucketId("contracts"),
    title="Contracts",
    description="Contracts of Northgate Industries: partners, term, notice of termination, value and clauses.",
    synonyms=("contracts", "contract", "agreements", "agreement"),
    order=SchemaOrder(field=FieldName("start_date")),
    fields=(
        SchemaField(
            name=FieldName("parties"),
            type=FieldType.LIST,
            title="Parties",
            description="Who signed it; Northgate Industries always did.",
            synonyms=("parties", "party", "partner", "signed by", "contract partner"),
            values={_ACME: ("ACME", "Acme Corp"), "Vårdal Shipping AS": ("Vardal Shipping", "Vårdal")},
            facet=True,
        ),
        SchemaField(
            name=FieldName("kind"),
            type=FieldType.CATEGORY,
            title="Contract type",
            synonyms=("contract type", "type of contract", "kind of contract"),
            values={
                "supply": ("supply contract", "supply agreement"),
                "services": ("service contract", "services agreement", "service"),
                "lease": ("lease contract", "rental", "leasing"),
                "licence": ("license", "licensing", "licence agreement"),
                "maintenance": ("maintenance contract", "maintenance agreement"),
                "non-disclosure": ("NDA", "confidentiality agreement"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("start_date"),
            type=FieldType.DATE,
            title="Start date",
            description="The day from which the contract runs, which gives it its year.",
            synonyms=("start date", "starts", "start", "starting", "begins", "effective date", "effective"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("end_date"),
            type=FieldType.DATE,
            title="End date",
            description="The last day; contracts without an end have none.",
            synonyms=("end date", "ends", "end", "ending", "expires", "expire", "expiring", "expiry"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("notice_days"),
            type=FieldType.NUMBER,
            title="Notice period",
            description="Notice of termination that either party has to give.",
            synonyms=("notice period", "notice", "termination notice", "notice of termination"),
            unit="day",
            facet=True,
        ),
        SchemaField(
            name=FieldName("governing_law"),
            type=FieldType.CATEGORY,
            title="Governing law",
            synonyms=("governing law", "governed by", "law", "under the law of"),
            values={
                "England and Wales": ("English", "England", "English law"),
                "Germany": ("German", "German law"),
                "New York": ("New York law",),
                "Norway": ("Norwegian", "Norwegian law"),
                "Delaware": ("Delaware law",),
                "Switzerland": ("Swiss", "Swiss law"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("currency"),
            type=FieldType.CATEGORY,
            title="Currency",
            synonyms=("currency", "in the currency"),
            values={
                "USD": ("dollar", "dollars"),
                "EUR": ("euro", "euros"),
                "GBP": ("pound", "pounds"),
                "NOK": ("kroner", "Norwegian kroner"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("value"),
            type=FieldType.MONEY,
            title="Contract value",
            description="Over the whole term; non-disclosure agreements have none.",
            synonyms=("value", "worth", "contract value", "contract sum"),
            currency_field=FieldName("currency"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("clauses"),
            type=FieldType.LIST,
            title="Clauses",
            synonyms=("clauses", "clause", "terms"),
            values={
                "liability cap": ("cap on liability", "limitation of liability", "limited liability clause"),
                "arbitration": ("arbitration clause",),
                "escrow": ("source code escrow",),
                "exclusivity": ("exclusive", "exclusivity clause"),
                "audit rights": ("audit right", "right to audit", "audit"),
                "non-compete": ("noncompete", "no competition"),
                "price adjustment": ("price indexation", "indexation"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("auto_renewal"),
            type=FieldType.FLAG,
            title="Renews automatically",
            synonyms=(
                "automatic renewal",
                "renews automatically",
                "auto-renewal",
                "renew automatically",
                "renewed automatically",
            ),
            facet=True,
        ),
    ),
)

_PARTNER_WEIGHTS = {
    "Brightwater Logistics": 5.0,
    "Acmeda Foods": 3.0,
    "Vårdal Shipping AS": 4.0,
    "Orbis Facility Services": 4.0,
    "Kessler Maschinenbau": 4.0,
    "Lanthorn Software": 4.0,
    "Mistral Catering": 3.0,
    "Pinefield Properties": 3.0,
    "Quillcode": 3.0,
    "Rowan & Hale": 2.0,
    "Solveig Energy": 3.0,
    "Tamar Chemicals": 3.0,
    "Upland Telecom": 3.0,
    "Wexcombe Security": 2.0,
}
_ACME_COUNT = 64
_LAW_WEIGHTS = {
    "England and Wales": 4.0,
    "Germany": 3.0,
    "New York": 3.0,
    "Norway": 1.5,
    "Delaware": 2.0,
    "Switzerland": 1.0,
}
_CURRENCY_WEIGHTS = {"USD": 4.0, "EUR": 4.0, "GBP": 2.0, "NOK": 1.0}
_KIND_WEIGHTS = {
    "supply": 4.0,
    "services": 4.0,
    "lease": 2.0,
    "licence": 2.5,
    "maintenance": 2.0,
    "non-disclosure": 1.5,
}
_SUBJECTS = {
    "supply": "the supply of goods from the price list in Annex A",
    "services": "the services that Annex A describes, at the sites named there",
    "lease": "the use of the premises shown on the plan in Annex A",
    "licence": "the use of the software listed in Annex A by the named users",
    "maintenance": "the upkeep of the equipment listed in Annex A, with spare parts",
    "non-disclosure": "the protection of what the parties tell each other during their talks",
}
_CLAUSE_TEXTS = {
    "liability cap": "Limitation of liability. Each party is liable up to a cap: the fees of the last twelve months.",
    "arbitration": "Disputes. Disputes go to arbitration before three arbitrators whom the chamber of commerce names.",
    "escrow": "Escrow. The escrow agent keeps a copy of the source code and releases it if trading ceases.",
    "exclusivity": "Exclusivity. During the term Northgate buys the subject of this contract from no other source.",
    "audit rights": "Audit rights. Northgate may inspect the books once a year with ten working days of warning.",
    "non-compete": "Non-compete. For one year after the end the partner does not approach the customers of Northgate.",
    "price adjustment": "Price adjustment. Prices follow the consumer price index each January.",
}
_ROUND_VALUES = (12_000, 18_500, 25_000, 40_000, 64_000, 75_000, 98_000, 120_000, 250_000, 480_000, 900_000, 1_500_000)


def generate_contract_records(seed: int, rng: Random) -> list[CorpusRecord]:
    partners = [_ACME] * _ACME_COUNT + [
        draw_weighted(rng, _PARTNER_WEIGHTS) for _ in range(_CONTRACT_COUNT - _ACME_COUNT)
    ]
    rng.shuffle(partners)
    return [_draw_contract_record(rng, number, partner) for number, partner in enumerate(partners, start=1)]


def _draw_contract_record(rng: Random, number: int, partner: str) -> CorpusRecord:
    start, end = _draw_acme_term(rng) if partner == _ACME else _draw_term(rng)
    kind = draw_weighted(rng, _KIND_WEIGHTS)
    other_partners = [name for name in _PARTNER_WEIGHTS if name != partner]
    contract = _DemoContract(
        number=number,
        kind=kind,
        parties=[_OWN_COMPANY, partner, *([rng.choice(other_partners)] if rng.random() < 0.08 else [])],
        start=start,
        end=end,
        notice_days=rng.choice((14, 30, 30, 45, 60, 60, 90, 90, 120, 180)) if rng.random() > 0.09 else None,
        law=draw_weighted(rng, _LAW_WEIGHTS) if rng.random() > 0.05 else None,
        currency=draw_weighted(rng, _CURRENCY_WEIGHTS) if kind != "non-disclosure" else None,
        value=rng.choice(_ROUND_VALUES) + 500 * rng.randrange(20) if kind != "non-disclosure" else None,
        clauses=draw_each(rng, list(_CLAUSE_TEXTS), 0.42),
        auto_renewal=rng.random() < 0.4,
    )
    return contract.to_record()


def _draw_term(rng: Random) -> tuple[date, date | None]:
    start = date(2018 + rng.randrange(16), 1 + rng.randrange(12), rng.choice((1, 1, 1, 15, 21)))
    return start, _end_date_of(start, rng.choice((1, 2, 3, 5))) if rng.random() > 0.15 else None


def _draw_acme_term(rng: Random) -> tuple[date, date | None]:
    """A term without any day of 2031: it ends before 2031 or starts after it."""
    if rng.random() < 0.06:
        start = date(2033 + rng.randrange(2), 1 + rng.randrange(12), 1)
        return start, _end_date_of(start, 2)
    start = date(2019 + rng.randrange(8), 1 + rng.randrange(12), rng.choice((1, 1, 15)))
    return start, _end_date_of(start, rng.choice((1, 2, 3)))


def _end_date_of(start: date, years: int) -> date:
    """The day before the term's anniversary."""
    return start.replace(year=start.year + years) - timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DemoContract:
    number: int
    kind: str
    parties: list[str]
    start: date
    end: date | None
    notice_days: int | None
    law: str | None
    currency: str | None
    value: float | None
    clauses: list[str]
    auto_renewal: bool

    def to_record(self) -> CorpusRecord:
        text, starts = join_pages([" ".join(line for line in page if line) for page in self._text_pages()])
        metadata = drop_missing_values(
            {
                "parties": self.parties,
                "kind": self.kind,
                "start_date": self.start.isoformat(),
                "end_date": self.end and self.end.isoformat(),
                "notice_days": self.notice_days,
                "governing_law": self.law,
                "currency": self.currency,
                "value": self.value,
                "clauses": self.clauses,
                "auto_renewal": self.auto_renewal or None,
            }
        )
        return {
            "doc_id": f"ctr-{self.number:04}",
            "title": f"{self.kind.capitalize()} contract C-{1000 + self.number} with {self.parties[1]}",
            "text": text,
            "metadata": metadata,
            "page_starts": starts,
            "source": f"contracts/C-{1000 + self.number}.pdf",
        }

    def _text_pages(self) -> list[list[str]]:
        return [
            self._subject_page_lines(),
            self._duties_page_lines(),
            self._payment_page_lines(),
            self._termination_page_lines(),
            self._closing_page_lines(),
        ]

    def _subject_page_lines(self) -> list[str]:
        return [
            f"Contract C-{1000 + self.number}.",
            f"{self.kind.capitalize()} contract between {' and '.join(self.parties)}.",
            f"1. Subject. This contract is about {_SUBJECTS[self.kind]}.",
            f"2. Term. It takes effect on {format_day(self.start)}",
            f"and runs until {format_day(self.end)}." if self.end else "and runs for an indefinite time.",
            "It is renewed by one year each time unless a party objects." if self.auto_renewal else "",
        ]

    def _duties_page_lines(self) -> list[str]:
        return [
            f"3. Duties. {self.parties[1]} names a person in charge, who answers within two working days.",
            "Northgate gives access to its sites during working hours and supplies what the work needs.",
            "Subcontractors need the consent of the other side, which is not withheld without reason.",
            *(_CLAUSE_TEXTS[clause] for clause in self.clauses if clause in ("exclusivity", "non-compete", "escrow")),
        ]

    def _payment_page_lines(self) -> list[str]:
        return [
            f"4. Value. The value over the whole term is {self.value:,.0f} {self.currency}."
            if self.value
            else "4. No payment is owed.",
            "Invoices are due thirty calendar days after receipt." if self.value else "Each side bears its own costs.",
            *(_CLAUSE_TEXTS[clause] for clause in self.clauses if clause in ("price adjustment", "audit rights")),
        ]

    def _termination_page_lines(self) -> list[str]:
        notice = (
            f"Either party may terminate this contract by notice of {self.notice_days} days in writing."
            if self.notice_days is not None
            else "Either party may terminate this contract for good cause only."
        )
        return [
            f"5. Termination. {notice}",
            "A notice by e-mail is not enough.",
            "After the end each side returns the papers of the other.",
            *(_CLAUSE_TEXTS[clause] for clause in self.clauses if clause == "liability cap"),
        ]

    def _closing_page_lines(self) -> list[str]:
        return [
            f"6. Law. This contract is governed by the law of {self.law}."
            if self.law
            else "6. Law. The parties have chosen no law.",
            *(_CLAUSE_TEXTS[clause] for clause in self.clauses if clause == "arbitration"),
            "7. Changes to this contract are made in writing.",
            f"Signed for {_OWN_COMPANY} and for {self.parties[1]}.",
        ]
