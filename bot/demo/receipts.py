"""Receipts: some 4,000 slips of ten categories.

A *tire purchase* is a receipt of the category `tires`; it always has a row with a tire in it, and no other category has
one. Vehicle services that merely mention tires in a note ("tire pressure checked"), or come from a dealer with
"Tire" in its name, are no tire purchases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from random import Random

from bot.demo.records import Record, Scalar, day_between, present, some, weighted, written
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType, Schema, SchemaOrder

_COUNT = 4_000
_STORY_SEED, _STORY_TIRES = 2031, 1_042  # "List every tire purchase receipt" finds 1,042 in the story

SCHEMA = Schema(
    bucket=BucketId("receipts"),
    title="Receipts",
    description="Slips of what was bought: who sold it, when, the rows, the total and how it was paid.",
    synonyms=("receipts", "receipt", "sales slips", "purchases", "purchase receipt", "bills"),
    order=SchemaOrder(field=FieldName("date")),
    fields=(
        Field(
            name=FieldName("date"),
            type=FieldType.DATE,
            title="Date",
            description="Day of the purchase; some slips have none that can be read.",
            synonyms=("date", "dated", "purchase date"),
            facet=True,
        ),
        Field(
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
        Field(
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
        Field(
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
        Field(
            name=FieldName("total"),
            type=FieldType.MONEY,
            title="Total",
            description="What was paid in all.",
            synonyms=("total", "amount", "spent", "spending", "paid", "price"),
            currency_field=FieldName("currency"),
            facet=True,
        ),
        Field(
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
        Field(
            name=FieldName("city"),
            type=FieldType.CATEGORY,
            title="City",
            description="Where it was bought.",
            synonyms=("city", "place", "location"),
            values={"Zürich": ("Zurich",)},
            facet=True,
        ),
        Field(
            name=FieldName("reimbursed"),
            type=FieldType.FLAG,
            title="Reimbursed",
            description="Whether the employee has the money back.",
            synonyms=("reimbursed", "reimbursement", "refunded"),
            facet=True,
        ),
        Field(
            name=FieldName("items"),
            type=FieldType.ROWS,
            title="Items",
            description="The rows of the slip.",
            synonyms=("items", "item", "rows", "line items", "lines"),
            columns=(
                Field(
                    name=FieldName("name"),
                    type=FieldType.TEXT,
                    title="Item name",
                    synonyms=("item name", "article name"),
                ),
                Field(
                    name=FieldName("qty"),
                    type=FieldType.NUMBER,
                    title="Quantity",
                    synonyms=("quantity", "qty", "how many"),
                ),
                Field(
                    name=FieldName("unit_price"),
                    type=FieldType.MONEY,
                    title="Unit price",
                    synonyms=("unit price", "price per piece", "price each"),
                ),
                Field(
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
class _Vendor:
    name: str
    cities: tuple[str, ...]
    currencies: tuple[str, ...] = ("USD",)
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A category: who sells it, and its wares with their price in dollars and the most bought at once."""

    vendors: tuple[_Vendor, ...]
    wares: tuple[tuple[str, float, int], ...]
    notes: tuple[str, ...] = ()
    share: float = 1.0


def _vendor(name: str, cities: str, currencies: str = "USD", weight: float = 1.0) -> _Vendor:
    return _Vendor(name=name, cities=tuple(cities.split(", ")), currencies=tuple(currencies.split()), weight=weight)


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
_TIRES = _Kind(
    vendors=(
        _vendor("Redwood Tire & Wheel", "Portland, Seattle", weight=9),
        _vendor("Ridgeline Tire Depot", "Denver, Boise", weight=7),
        _vendor("Harbor Auto Center", "Boston, Portland", weight=6),
        _vendor("Reifen Köhler GmbH", "Munich, Stuttgart", "EUR", 6),
        _vendor("Pneus Étoile", "Lyon, Geneva", "EUR CHF", 4),
        _vendor("Thornbury Tyres", "Leeds, Bristol", "GBP", 4),
        _vendor("Mesa Wheel Works", "Tucson, Phoenix", weight=4),
        _vendor("Great Lakes Rubber Co", "Chicago, Detroit", weight=3),
        _vendor("Autohof Lindner", "Cologne, Dresden", "EUR", 3),
        _vendor("Nakamura Wheels", "Osaka, Tokyo", "JPY", 2),
        _vendor("Kirkwall Garage", "Aberdeen", "GBP", 2),
        _vendor("Prairie Fleet Supply", "Omaha, Wichita", weight=2),
        _vendor("Sundown Truck Stop", "Amarillo", weight=2),
        _vendor("Gomma Bianchi", "Turin, Bologna", "EUR", 2),
        _vendor("Alpine Wheel Service", "Zürich, Bern", "CHF", 1.5),
        _vendor("Cobalt Motorsport", "Charlotte", weight=1),
        _vendor("Delta Farm Equipment", "Fresno", weight=1),
    ),
    wares=_TIRE_MODELS,
    notes=("Retorque the wheel nuts after 50 km.", "Old set taken back.", "Warranty card handed over."),
)
_KINDS: Mapping[str, _Kind] = {
    "vehicle service": _Kind(
        vendors=(
            _vendor("Redwood Tire & Wheel", "Portland, Seattle", weight=2),
            _vendor("Harbor Auto Center", "Boston, Portland", weight=3),
            _vendor("Autohof Lindner", "Cologne, Dresden", "EUR", 2),
            _vendor("Kirkwall Garage", "Aberdeen", "GBP"),
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
    "fuel": _Kind(
        vendors=(
            _vendor("Sundown Truck Stop", "Amarillo", weight=2),
            _vendor("Crestline Fuels", "Denver, Boise", weight=3),
            _vendor("Tankhof Weber", "Cologne, Munich", "EUR", 2),
            _vendor("Fairway Petrol", "Leeds, Bristol", "GBP"),
        ),
        wares=(("Diesel, litres", 1.459, 70), ("Unleaded, litres", 1.379, 55), ("Screen wash", 4.2, 2)),
        notes=("Pump 4.", "Loyalty points credited."),
        share=1.6,
    ),
    "groceries": _Kind(
        vendors=(
            _vendor("Corner Pantry", "Portland, Boston", weight=3),
            _vendor("Marché Lumière", "Lyon, Geneva", "EUR CHF", 2),
            _vendor("Hilltop Grocers", "Bristol", "GBP"),
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
    "restaurant": _Kind(
        vendors=(
            _vendor("Blue Heron Grill", "Seattle, Boston", weight=3),
            _vendor("Trattoria Sestri", "Turin", "EUR", 2),
            _vendor("The Copper Ladle", "Leeds", "GBP"),
            _vendor("Izakaya Hoshi", "Tokyo, Osaka", "JPY"),
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
    "hotel": _Kind(
        vendors=(
            _vendor("Grand Meridian Hotel", "Chicago, Geneva, Munich", "USD CHF EUR", 3),
            _vendor("Harbourside Inn", "Aberdeen, Bristol", "GBP"),
            _vendor("Hotel Sakuragi", "Tokyo", "JPY"),
        ),
        wares=(("Single room, night", 148.0, 5), ("Breakfast", 21.0, 5), ("Late check-out", 35.0, 1)),
        share=0.9,
    ),
    "office supplies": _Kind(
        vendors=(
            _vendor("Paperclip & Sons", "Boston, Chicago", weight=3),
            _vendor("Bürobedarf Anders", "Stuttgart", "EUR", 2),
            _vendor("Kanda Stationers", "Tokyo", "JPY"),
        ),
        wares=(
            ("Copy paper, ream", 6.4, 20),
            ("Toner cartridge", 84.0, 3),
            ("Ring binder", 3.9, 12),
            ("Whiteboard markers", 8.7, 4),
        ),
        share=1.4,
    ),
    "travel": _Kind(
        vendors=(
            _vendor("Continental Rail", "Geneva, Lyon, Cologne", "EUR CHF", 3),
            _vendor("Cascade Airways", "Seattle, Denver", weight=2),
            _vendor("Northern Cabs", "Leeds, Aberdeen", "GBP"),
        ),
        wares=(("Return ticket", 186.0, 2), ("Seat reservation", 6.0, 2), ("Airport transfer", 41.0, 1)),
    ),
    "software": _Kind(
        vendors=(
            _vendor("Quillcode", "Boston", "USD EUR"),
            _vendor("Stackwright", "Denver"),
            _vendor("Formwerk", "Munich", "EUR"),
        ),
        wares=(
            ("Editor licence, seat per month", 12.0, 25),
            ("Backup storage, 100 GB", 4.5, 20),
            ("Priority support", 249.0, 1),
        ),
        notes=("Invoice sent by e-mail.",),
        share=0.7,
    ),
    "hardware store": _Kind(
        vendors=(
            _vendor("Anvil & Oak Hardware", "Omaha, Boise", weight=2),
            _vendor("Werkmarkt Nord", "Dresden", "EUR"),
        ),
        wares=(
            ("Cordless drill", 139.0, 1),
            ("Wood screws, box", 7.2, 10),
            ("Extension cord 25 m", 31.0, 3),
            ("Safety gloves", 9.8, 6),
        ),
    ),
}
_RATES = {"USD": 1.0, "EUR": 0.92, "GBP": 0.79, "CHF": 0.88, "JPY": 151.0}
_PAYMENTS = {"credit card": 5.0, "company account": 2.5, "cash": 1.6, "bank transfer": 0.9}
_FIRST, _LAST = date(2022, 1, 1), date(2025, 12, 31)


def tire_purchases(seed: int) -> int:
    """How many the corpus of `seed` has: the story's number for the story's seed, another one near it for others."""
    return _STORY_TIRES + (seed - _STORY_SEED) % 97


def records(seed: int, rng: Random) -> list[Record]:
    tires = tire_purchases(seed)
    shares = {name: kind.share for name, kind in _KINDS.items()}
    categories = ["tires"] * tires + [weighted(rng, shares) for _ in range(_COUNT - tires)]
    rng.shuffle(categories)
    return [_record(rng, number, category) for number, category in enumerate(categories, start=1)]


def _record(rng: Random, number: int, category: str) -> Record:
    kind = _TIRES if category == "tires" else _KINDS[category]
    vendor = weighted(rng, {one: one.weight for one in kind.vendors})
    city, currency = rng.choice(vendor.cities), rng.choice(vendor.currencies)
    items = _items(rng, kind, currency)
    slip = _Slip(
        number=number,
        vendor=vendor.name if rng.random() > 0.03 else None,
        city=city if rng.random() > 0.1 else None,
        day=day_between(rng, _FIRST, _LAST) if rng.random() > 0.04 else None,
        category=category,
        currency=currency,
        payment=weighted(rng, _PAYMENTS) if rng.random() > 0.05 else None,
        reimbursed=rng.random() < 0.3,
        items=items,
        total=_rounded(sum(float(row["total"]) for row in items), currency),
        note=rng.choice(kind.notes) if kind.notes and rng.random() < 0.6 else "",
    )
    return slip.record()


def _items(rng: Random, kind: _Kind, currency: str) -> list[dict[str, Scalar]]:
    """One to four different wares; of tires one or two models, and what goes with them."""
    if kind is _TIRES:
        wares = [rng.choice(_TIRE_MODELS), *some(rng, _TIRE_EXTRAS, 0.45)]
    else:
        wares = some(rng, kind.wares, 0.5) or [rng.choice(kind.wares)]
    return [_row(rng, name, price, most, currency) for name, price, most in wares]


def _row(rng: Random, name: str, price: float, most: int, currency: str) -> dict[str, Scalar]:
    quantity = most if most > 1 and rng.random() < 0.35 else 1 + rng.randrange(most)
    unit_price = _rounded(price * _RATES[currency] * (0.85 + 0.4 * rng.random()), currency)
    return {"name": name, "qty": quantity, "unit_price": unit_price, "total": _rounded(unit_price * quantity, currency)}


def _rounded(amount: float, currency: str) -> float:
    return float(round(amount)) if currency == "JPY" else round(amount, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slip:
    number: int
    vendor: str | None
    city: str | None
    day: date | None
    category: str
    currency: str
    payment: str | None
    reimbursed: bool
    items: list[dict[str, Scalar]]
    total: float
    note: str

    def record(self) -> Record:
        metadata = present(
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
            "text": "\n".join(line for line in self._lines() if line),
            "metadata": metadata,
            "page_starts": None,
            "source": f"receipts/rcp-{self.number:05}.txt",
        }

    def _lines(self) -> list[str]:
        return [
            self.vendor or "",
            self.city or "",
            f"Date: {written(self.day)}" if self.day else "Date: not legible",
            f"Category: {self.category}",
            *(
                f"{row['qty']} x {row['name']} at {self._money(row['unit_price'])} = {self._money(row['total'])}"
                for row in self.items
            ),
            f"Total: {self._money(self.total)}",
            f"Paid by {self.payment}." if self.payment else "",
            "Reimbursed to the employee." if self.reimbursed else "",
            self.note,
        ]

    def _money(self, amount: Scalar) -> str:
        return f"{amount:.0f} JPY" if self.currency == "JPY" else f"{amount:.2f} {self.currency}"
