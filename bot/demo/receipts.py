"""Receipts: some 4,000 slips of ten categories.

A *tire purchase* is a receipt of the category `tires`. It always has a row with a tire, and no other category has such
a row. A vehicle service that only mentions tires in a note ("tire pressure checked"), or comes from a dealer with
"Tire" in its name, is not a tire purchase.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from random import Random

from bot.demo.records import (
    CorpusRecord,
    ScalarValue,
    draw_day_between,
    draw_each,
    draw_weighted,
    drop_missing_values,
    format_day,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder

_RECEIPT_COUNT = 4_000
_STORY_SEED, _STORY_TIRE_COUNT = 2031, 1_042  # "List every tire purchase receipt" finds 1,042 in the story

SCHEMA = Schema(
    bucket=BucketId("receipts"),
    title="Receipts",
    description="Slips of what was bought: who sold it, when, the rows, the total and how it was paid.",
    synonyms=("receipts", "receipt", "sales slips", "purchases", "purchase receipt", "bills"),
    order=SchemaOrder(field=FieldName("date")),
    fields=(
        SchemaField(
            name=FieldName("date"),
            type=FieldType.DATE,
            title="Date",
            description="Day of the purchase; some slips have none that can be read.",
            synonyms=("date", "dated", "purchase date"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("vendor"),
            type=FieldType.CATEGORY,
            title="Vendor",
            description="Who sold it.",
            synonyms=("vendor", "supplier", "shop", "store", "bought from"),
            values={
                "Reifen Köhler GmbH": ("Reifen Koehler", "Köhler"),
                "Redwood Tire & Wheel": ("Redwood",),
                "Pneus Étoile": ("Pneus Etoile", "Etoile"),
                "Kanda Stationers": ("Kanda",),
                "Grand Meridian Hotel": ("Grand Meridian", "Meridian"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("category"),
            type=FieldType.CATEGORY,
            title="Category",
            description="What kind of purchase it was.",
            synonyms=("category", "type of purchase", "expense category"),
            values={
                "tires": ("tire", "tyre", "tyres", "tire purchase", "tyre purchase"),
                "fuel": ("gas", "petrol", "diesel"),
                "groceries": ("grocery", "food shopping"),
                "restaurant": ("restaurants", "meal", "dinner"),
                "hotel": ("hotels", "lodging", "accommodation"),
                "office supplies": ("office supply", "stationery"),
                "vehicle service": ("car service", "car repair", "garage"),
                "travel": ("travelling", "train tickets"),
                "software": ("software subscription",),
                "hardware store": ("hardware", "tools"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("currency"),
            type=FieldType.CATEGORY,
            title="Currency",
            description="ISO 4217 code of the total and of the rows.",
            synonyms=("currency", "paid in"),
            values={
                "USD": ("dollar", "dollars", "US dollars"),
                "EUR": ("euro", "euros"),
                "GBP": ("pound", "pounds", "sterling"),
                "CHF": ("Swiss francs", "francs"),
                "JPY": ("yen", "Japanese yen"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("total"),
            type=FieldType.MONEY,
            title="Total",
            description="What was paid in all.",
            synonyms=("total", "amount", "spent", "spending", "paid", "price"),
            currency_field=FieldName("currency"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("payment"),
            type=FieldType.CATEGORY,
            title="Payment method",
            synonyms=("payment method", "paid by", "paid with", "payment"),
            values={
                "credit card": ("card", "credit cards"),
                "cash": ("in cash", "paid cash"),
                "bank transfer": ("transfer", "wire"),
                "company account": ("on account", "account"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("city"),
            type=FieldType.CATEGORY,
            title="City",
            description="Where it was bought.",
            synonyms=("city", "place", "location"),
            values={"Zürich": ("Zurich",)},
            facet=True,
        ),
        SchemaField(
            name=FieldName("reimbursed"),
            type=FieldType.FLAG,
            title="Reimbursed",
            description="Whether the employee has the money back.",
            synonyms=("reimbursed", "reimbursement", "refunded"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("items"),
            type=FieldType.ROWS,
            title="Items",
            description="The rows of the slip.",
            synonyms=("items", "item", "rows", "line items", "lines"),
            columns=(
                SchemaField(
                    name=FieldName("name"),
                    type=FieldType.TEXT,
                    title="Item name",
                    synonyms=("item name", "article name"),
                ),
                SchemaField(
                    name=FieldName("qty"),
                    type=FieldType.NUMBER,
                    title="Quantity",
                    synonyms=("quantity", "qty", "how many"),
                ),
                SchemaField(
                    name=FieldName("unit_price"),
                    type=FieldType.MONEY,
                    title="Unit price",
                    synonyms=("unit price", "price per piece", "price each"),
                ),
                SchemaField(
                    name=FieldName("total"),
                    type=FieldType.MONEY,
                    title="Row total",
                    synonyms=("row total", "line total"),
                ),
            ),
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReceiptVendor:
    name: str
    cities: tuple[str, ...]
    currencies: tuple[str, ...] = ("USD",)
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReceiptCategory:
    """A category: its vendors, and its wares with price in US dollars and maximum quantity."""

    vendors: tuple[_ReceiptVendor, ...]
    wares: tuple[tuple[str, float, int], ...]
    notes: tuple[str, ...] = ()
    share: float = 1.0


def _make_vendor(name: str, cities: str, currencies: str = "USD", weight: float = 1.0) -> _ReceiptVendor:
    return _ReceiptVendor(
        name=name, cities=tuple(cities.split(", ")), currencies=tuple(currencies.split()), weight=weight
    )


_TIRE_MODELS = (
    ("Velora GT touring tire 205/55 R16", 96.0, 4),
    ("Velora Ice winter tire 225/45 R17", 131.0, 4),
    ("Karst AllRoad all-season tire 215/65 R16", 118.0, 4),
    ("Karst Cargo van tire 195/75 R16C", 109.0, 6),
    ("Domaris Eco summer tire 185/65 R15", 78.0, 4),
    ("Domaris Sport summer tire 245/40 R19", 204.0, 4),
    ("Bulwark T9 truck tire 315/80 R22.5", 412.0, 8),
    ("Bulwark Lift forklift tire 7.00-12", 266.0, 8),
)
_TIRE_EXTRAS = (("Mounting and balancing", 24.0, 4), ("Valve set", 6.5, 4), ("Disposal of used rubber", 4.0, 4))
_TIRE_CATEGORY = _ReceiptCategory(
    vendors=(
        _make_vendor("Redwood Tire & Wheel", "Portland, Seattle", weight=9),
        _make_vendor("Ridgeline Tire Depot", "Denver, Boise", weight=7),
        _make_vendor("Harbor Auto Center", "Boston, Portland", weight=6),
        _make_vendor("Reifen Köhler GmbH", "Munich, Stuttgart", "EUR", 6),
        _make_vendor("Pneus Étoile", "Lyon, Geneva", "EUR CHF", 4),
        _make_vendor("Thornbury Tyres", "Leeds, Bristol", "GBP", 4),
        _make_vendor("Mesa Wheel Works", "Tucson, Phoenix", weight=4),
        _make_vendor("Great Lakes Rubber Co", "Chicago, Detroit", weight=3),
        _make_vendor("Autohof Lindner", "Cologne, Dresden", "EUR", 3),
        _make_vendor("Nakamura Wheels", "Osaka, Tokyo", "JPY", 2),
        _make_vendor("Kirkwall Garage", "Aberdeen", "GBP", 2),
        _make_vendor("Prairie Fleet Supply", "Omaha, Wichita", weight=2),
        _make_vendor("Sundown Truck Stop", "Amarillo", weight=2),
        _make_vendor("Gomma Bianchi", "Turin, Bologna", "EUR", 2),
        _make_vendor("Alpine Wheel Service", "Zürich, Bern", "CHF", 1.5),
        _make_vendor("Cobalt Motorsport", "Charlotte", weight=1),
        _make_vendor("Delta Farm Equipment", "Fresno", weight=1),
    ),
    wares=_TIRE_MODELS,
    notes=("Retorque the wheel nuts after 50 km.", "Old set taken back.", "Warranty card handed over."),
)
_OTHER_CATEGORIES: Mapping[str, _ReceiptCategory] = {
    "vehicle service": _ReceiptCategory(
        vendors=(
            _make_vendor("Redwood Tire & Wheel", "Portland, Seattle", weight=2),
            _make_vendor("Harbor Auto Center", "Boston, Portland", weight=3),
            _make_vendor("Autohof Lindner", "Cologne, Dresden", "EUR", 2),
            _make_vendor("Kirkwall Garage", "Aberdeen", "GBP"),
        ),
        wares=(
            ("Oil change", 64.0, 1),
            ("Brake pads front axle", 118.0, 1),
            ("Wheel alignment", 89.0, 1),
            ("Wiper blades", 17.5, 2),
            ("Cabin filter", 22.0, 1),
        ),
        notes=(
            "Tire pressure checked, no charge.",
            "Tires rotated with the customer's own set; tread still 5 mm.",
            "Next inspection in 12 months.",
        ),
        share=1.2,
    ),
    "fuel": _ReceiptCategory(
        vendors=(
            _make_vendor("Sundown Truck Stop", "Amarillo", weight=2),
            _make_vendor("Crestline Fuels", "Denver, Boise", weight=3),
            _make_vendor("Tankhof Weber", "Cologne, Munich", "EUR", 2),
            _make_vendor("Fairway Petrol", "Leeds, Bristol", "GBP"),
        ),
        wares=(("Diesel, litres", 1.459, 70), ("Unleaded, litres", 1.379, 55), ("Screen wash", 4.2, 2)),
        notes=("Pump 4.", "Loyalty points credited."),
        share=1.6,
    ),
    "groceries": _ReceiptCategory(
        vendors=(
            _make_vendor("Corner Pantry", "Portland, Boston", weight=3),
            _make_vendor("Marché Lumière", "Lyon, Geneva", "EUR CHF", 2),
            _make_vendor("Hilltop Grocers", "Bristol", "GBP"),
        ),
        wares=(
            ("Coffee beans 1 kg", 17.9, 4),
            ("Oat milk", 2.6, 6),
            ("Sparkling water crate", 9.5, 3),
            ("Fruit basket", 24.0, 2),
            ("Green tea", 5.4, 5),
        ),
        share=1.6,
    ),
    "restaurant": _ReceiptCategory(
        vendors=(
            _make_vendor("Blue Heron Grill", "Seattle, Boston", weight=3),
            _make_vendor("Trattoria Sestri", "Turin", "EUR", 2),
            _make_vendor("The Copper Ladle", "Leeds", "GBP"),
            _make_vendor("Izakaya Hoshi", "Tokyo, Osaka", "JPY"),
        ),
        wares=(
            ("Lunch menu", 19.5, 6),
            ("Three course dinner", 52.0, 6),
            ("Mineral water", 3.8, 8),
            ("Espresso", 2.9, 8),
        ),
        notes=("Table of the sales team.", "Tip not included."),
        share=1.5,
    ),
    "hotel": _ReceiptCategory(
        vendors=(
            _make_vendor("Grand Meridian Hotel", "Chicago, Geneva, Munich", "USD CHF EUR", 3),
            _make_vendor("Harbourside Inn", "Aberdeen, Bristol", "GBP"),
            _make_vendor("Hotel Sakuragi", "Tokyo", "JPY"),
        ),
        wares=(("Single room, night", 148.0, 5), ("Breakfast", 21.0, 5), ("Late check-out", 35.0, 1)),
        share=0.9,
    ),
    "office supplies": _ReceiptCategory(
        vendors=(
            _make_vendor("Paperclip & Sons", "Boston, Chicago", weight=3),
            _make_vendor("Bürobedarf Anders", "Stuttgart", "EUR", 2),
            _make_vendor("Kanda Stationers", "Tokyo", "JPY"),
        ),
        wares=(
            ("Copy paper, ream", 6.4, 20),
            ("Toner cartridge", 84.0, 3),
            ("Ring binder", 3.9, 12),
            ("Whiteboard markers", 8.7, 4),
        ),
        share=1.4,
    ),
    "travel": _ReceiptCategory(
        vendors=(
            _make_vendor("Continental Rail", "Geneva, Lyon, Cologne", "EUR CHF", 3),
            _make_vendor("Cascade Airways", "Seattle, Denver", weight=2),
            _make_vendor("Northern Cabs", "Leeds, Aberdeen", "GBP"),
        ),
        wares=(("Return ticket", 186.0, 2), ("Seat reservation", 6.0, 2), ("Airport transfer", 41.0, 1)),
    ),
    "software": _ReceiptCategory(
        vendors=(
            _make_vendor("Quillcode", "Boston", "USD EUR"),
            _make_vendor("Stackwright", "Denver"),
            _make_vendor("Formwerk", "Munich", "EUR"),
        ),
        wares=(
            ("Editor licence, seat per month", 12.0, 25),
            ("Backup storage, 100 GB", 4.5, 20),
            ("Priority support", 249.0, 1),
        ),
        notes=("Invoice sent by e-mail.",),
        share=0.7,
    ),
    "hardware store": _ReceiptCategory(
        vendors=(
            _make_vendor("Anvil & Oak Hardware", "Omaha, Boise", weight=2),
            _make_vendor("Werkmarkt Nord", "Dresden", "EUR"),
        ),
        wares=(
            ("Cordless drill", 139.0, 1),
            ("Wood screws, box", 7.2, 10),
            ("Extension cord 25 m", 31.0, 3),
            ("Safety gloves", 9.8, 6),
        ),
    ),
}
_CURRENCY_RATES = {"USD": 1.0, "EUR": 0.92, "GBP": 0.79, "CHF": 0.88, "JPY": 151.0}
_PAYMENT_WEIGHTS = {"credit card": 5.0, "company account": 2.5, "cash": 1.6, "bank transfer": 0.9}
_FIRST_DAY, _LAST_DAY = date(2022, 1, 1), date(2025, 12, 31)


def count_tire_purchases(seed: int) -> int:
    """The number of tire purchases in the corpus of `seed`. Only the story's seed gives the story's number."""
    return _STORY_TIRE_COUNT + (seed - _STORY_SEED) % 97


def generate_receipt_records(seed: int, rng: Random) -> list[CorpusRecord]:
    tires = count_tire_purchases(seed)
    shares = {name: category.share for name, category in _OTHER_CATEGORIES.items()}
    categories = ["tires"] * tires + [draw_weighted(rng, shares) for _ in range(_RECEIPT_COUNT - tires)]
    rng.shuffle(categories)
    return [_draw_receipt_record(rng, number, category) for number, category in enumerate(categories, start=1)]


def _draw_receipt_record(rng: Random, number: int, category: str) -> CorpusRecord:
    receipt_category = _TIRE_CATEGORY if category == "tires" else _OTHER_CATEGORIES[category]
    vendor = draw_weighted(rng, {vendor: vendor.weight for vendor in receipt_category.vendors})
    city, currency = rng.choice(vendor.cities), rng.choice(vendor.currencies)
    items = _draw_item_rows(rng, receipt_category, currency)
    slip = _DemoReceipt(
        number=number,
        vendor=vendor.name if rng.random() > 0.03 else None,
        city=city if rng.random() > 0.1 else None,
        day=draw_day_between(rng, _FIRST_DAY, _LAST_DAY) if rng.random() > 0.04 else None,
        category=category,
        currency=currency,
        payment=draw_weighted(rng, _PAYMENT_WEIGHTS) if rng.random() > 0.05 else None,
        reimbursed=rng.random() < 0.3,
        items=items,
        total=_round_amount(sum(float(row["total"]) for row in items), currency),
        note=rng.choice(receipt_category.notes) if receipt_category.notes and rng.random() < 0.6 else "",
    )
    return slip.to_record()


def _draw_item_rows(rng: Random, category: _ReceiptCategory, currency: str) -> list[dict[str, ScalarValue]]:
    """The rows of a receipt: different wares of the category; for tires, one model and extras."""
    if category is _TIRE_CATEGORY:
        wares = [rng.choice(_TIRE_MODELS), *draw_each(rng, _TIRE_EXTRAS, 0.45)]
    else:
        wares = draw_each(rng, category.wares, 0.5) or [rng.choice(category.wares)]
    return [_draw_item_row(rng, name, price, max_quantity, currency) for name, price, max_quantity in wares]


def _draw_item_row(rng: Random, name: str, price: float, max_quantity: int, currency: str) -> dict[str, ScalarValue]:
    quantity = max_quantity if max_quantity > 1 and rng.random() < 0.35 else 1 + rng.randrange(max_quantity)
    unit_price = _round_amount(price * _CURRENCY_RATES[currency] * (0.85 + 0.4 * rng.random()), currency)
    return {
        "name": name,
        "qty": quantity,
        "unit_price": unit_price,
        "total": _round_amount(unit_price * quantity, currency),
    }


def _round_amount(amount: float, currency: str) -> float:
    return float(round(amount)) if currency == "JPY" else round(amount, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DemoReceipt:
    number: int
    vendor: str | None
    city: str | None
    day: date | None
    category: str
    currency: str
    payment: str | None
    reimbursed: bool
    items: list[dict[str, ScalarValue]]
    total: float
    note: str

    def to_record(self) -> CorpusRecord:
        metadata = drop_missing_values(
            {
                "date": self.day and self.day.isoformat(),
                "vendor": self.vendor,
                "category": self.category,
                "currency": self.currency,
                "total": self.total,
                "payment": self.payment,
                "city": self.city,
                "reimbursed": self.reimbursed or None,
                "items": self.items,
            }
        )
        return {
            "doc_id": f"rcp-{self.number:05}",
            "title": f"Receipt {self.number:05}, {self.vendor or 'vendor not legible'}",
            "text": "\n".join(line for line in self._text_lines() if line),
            "metadata": metadata,
            "page_starts": None,
            "source": f"receipts/rcp-{self.number:05}.txt",
        }

    def _text_lines(self) -> list[str]:
        return [
            self.vendor or "",
            self.city or "",
            f"Date: {format_day(self.day)}" if self.day else "Date: not legible",
            f"Category: {self.category}",
            *(
                f"{row['qty']} x {row['name']} at {self._format_money(row['unit_price'])} "
                f"= {self._format_money(row['total'])}"
                for row in self.items
            ),
            f"Total: {self._format_money(self.total)}",
            f"Paid by {self.payment}." if self.payment else "",
            "Reimbursed to the employee." if self.reimbursed else "",
            self.note,
        ]

    def _format_money(self, amount: ScalarValue) -> str:
        return f"{amount:.0f} JPY" if self.currency == "JPY" else f"{amount:.2f} {self.currency}"
