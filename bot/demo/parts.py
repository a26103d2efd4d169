"""Transistors: bipolar transistors and MOSFETs in eight packages with their ratings. Some lack a rating."""

from dataclasses import dataclass
from random import Random

from bot.demo.records import CorpusRecord, draw_weighted, drop_missing_values
from storage.search.ids import BucketId, FieldName
from storage.search.schema import BareValueMatch, FieldType, Schema, SchemaField, SchemaOrder

_PART_COUNT = 820

SCHEMA = Schema(
    bucket=BucketId("parts"),
    title="Transistors",
    description="Transistors and MOSFETs with polarity, package and absolute maximum ratings.",
    synonyms=("transistors", "transistor", "parts", "part", "components"),
    order=SchemaOrder(field=FieldName("voltage")),
    fields=(
        SchemaField(
            name=FieldName("polarity"),
            type=FieldType.CATEGORY,
            title="Polarity",
            synonyms=("polarity", "transistor type", "channel"),
            values={
                "NPN": ("npn transistor",),
                "PNP": ("pnp transistor",),
                "N-channel": ("n channel", "N-channel MOSFET", "NMOS"),
                "P-channel": ("p channel", "P-channel MOSFET", "PMOS"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("maker"),
            type=FieldType.CATEGORY,
            title="Manufacturer",
            synonyms=("manufacturer", "maker", "made by"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("package"),
            type=FieldType.CATEGORY,
            title="Package",
            description="Case outline. TO-220F is not TO-220.",
            synonyms=("package", "case", "case outline"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("voltage"),
            type=FieldType.NUMBER,
            title="Maximum voltage",
            description="Collector-emitter (Vceo) or drain-source (Vds) voltage.",
            synonyms=("voltage", "Vceo", "Vds", "breakdown voltage", "maximum voltage"),
            unit="V",
            facet=True,
            bare=BareValueMatch.AT_LEAST,
        ),
        SchemaField(
            name=FieldName("current"),
            type=FieldType.NUMBER,
            title="Maximum current",
            description="Collector or drain current.",
            synonyms=("current", "collector current", "drain current", "Ic"),
            unit="A",
            facet=True,
            bare=BareValueMatch.AT_LEAST,
        ),
        SchemaField(
            name=FieldName("power"),
            type=FieldType.NUMBER,
            title="Power dissipation",
            synonyms=("power", "power dissipation", "dissipation", "dissipate", "Ptot"),
            unit="W",
            facet=True,
            bare=BareValueMatch.AT_LEAST,
        ),
        SchemaField(
            name=FieldName("frequency"),
            type=FieldType.NUMBER,
            title="Transition frequency",
            synonyms=("transition frequency", "frequency", "fT", "bandwidth"),
            unit="MHz",
        ),
        SchemaField(
            name=FieldName("price"),
            type=FieldType.MONEY,
            title="Price",
            description="For one piece.",
            synonyms=("price", "cost", "costs", "unit price"),
            currency="EUR",
            facet=True,
        ),
    ),
)

_POLARITY_WEIGHTS = {"NPN": 3.0, "PNP": 2.0, "N-channel": 3.0, "P-channel": 1.0}
_NAME_PREFIXES = {"NPN": "KN", "PNP": "KP", "N-channel": "KMN", "P-channel": "KMP"}
_MAKERS = ("Kestrel Semi", "Ovalis", "Tarn Devices", "Orrery Power", "Lumenta")
# For each package: the maximum current in amperes and the usual power dissipations in watts.
_PACKAGE_RATINGS: dict[str, tuple[float, tuple[float, ...]]] = {
    "TO-220": (20.0, (30.0, 40.0, 50.0, 65.0, 75.0, 100.0)),
    "TO-220F": (15.0, (20.0, 25.0, 30.0, 35.0)),
    "TO-3": (30.0, (90.0, 115.0, 150.0, 200.0)),
    "TO-247": (40.0, (125.0, 180.0, 250.0)),
    "TO-126": (4.0, (8.0, 12.5, 15.0, 20.0)),
    "DPAK": (10.0, (12.5, 20.0, 36.0)),
    "TO-92": (1.0, (0.35, 0.5, 0.625, 0.8, 1.0)),
    "SOT-23": (0.8, (0.2, 0.25, 0.3, 0.35)),
}
_PACKAGE_WEIGHTS = {
    "TO-220": 3.0,
    "TO-220F": 1.0,
    "TO-3": 1.0,
    "TO-247": 1.2,
    "TO-126": 1.0,
    "DPAK": 1.2,
    "TO-92": 2.0,
    "SOT-23": 1.6,
}
_VOLTAGES = (20, 25, 30, 40, 45, 60, 80, 100, 120, 160, 200, 300, 400, 600)


def generate_part_records(seed: int, rng: Random) -> list[CorpusRecord]:
    return [_draw_part_record(rng, number) for number in range(1, _PART_COUNT + 1)]


def _draw_part_record(rng: Random, number: int) -> CorpusRecord:
    polarity, package = draw_weighted(rng, _POLARITY_WEIGHTS), draw_weighted(rng, _PACKAGE_WEIGHTS)
    max_current, powers = _PACKAGE_RATINGS[package]
    power = rng.choice(powers)
    part = _TransistorPart(
        number=number,
        name=f"{_NAME_PREFIXES[polarity]}{2000 + 7 * number}",
        polarity=polarity,
        package=package,
        maker=rng.choice(_MAKERS),
        voltage=rng.choice(_VOLTAGES) if rng.random() > 0.04 else None,
        current=round(max_current * rng.choice((0.1, 0.2, 0.25, 0.5, 0.75, 1.0)), 3) if rng.random() > 0.05 else None,
        power=power if rng.random() > 0.06 else None,
        frequency=rng.choice((1, 2, 3, 8, 50, 100, 150, 250, 300)) if "channel" not in polarity else None,
        price=round(0.04 + power * 0.011 * (0.6 + rng.random()), 3) if rng.random() > 0.1 else None,
    )
    return part.to_record()


@dataclass(frozen=True, slots=True, kw_only=True)
class _TransistorPart:
    number: int
    name: str
    polarity: str
    package: str
    maker: str
    voltage: int | None
    current: float | None
    power: float | None
    frequency: int | None
    price: float | None

    def to_record(self) -> CorpusRecord:
        metadata = drop_missing_values(
            {
                "polarity": self.polarity,
                "maker": self.maker,
                "package": self.package,
                "voltage": self.voltage,
                "current": self.current,
                "power": self.power,
                "frequency": self.frequency,
                "price": self.price,
            }
        )
        return {
            "doc_id": f"prt-{self.number:04}",
            "title": f"{self.name} {self._device_name()}",
            "text": "\n".join(line for line in self._text_lines() if line),
            "metadata": metadata,
            "page_starts": None,
            "source": f"parts/{self.name}.txt",
        }

    def _device_name(self) -> str:
        return f"{self.polarity} MOSFET" if "channel" in self.polarity else f"{self.polarity} transistor"

    def _text_lines(self) -> list[str]:
        terminals = ("Drain-source", "Drain") if "channel" in self.polarity else ("Collector-emitter", "Collector")
        return [
            f"{self.name}: {self._device_name()} by {self.maker} in a {self.package} package.",
            f"{terminals[0]} voltage: {self.voltage} V maximum." if self.voltage is not None else "",
            f"{terminals[1]} current: {_format_scaled(self.current, 'A')} maximum." if self.current is not None else "",
            f"Power dissipation: {_format_scaled(self.power, 'W')} at 25 °C." if self.power is not None else "",
            f"Transition frequency: {self.frequency} MHz." if self.frequency is not None else "",
            f"Price: {self.price:.3f} EUR for one piece." if self.price is not None else "Price on request.",
        ]


def _format_scaled(value: float, unit: str) -> str:
    """The value with its unit; a value below one in thousandths, as in data sheets: 800 mW."""
    return f"{value * 1000:g} m{unit}" if value < 1 else f"{value:g} {unit}"
