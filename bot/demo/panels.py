"""Solar panels: data sheets of six makers, two pages each. Some lack a price, a weight or a warranty."""

from dataclasses import dataclass
from random import Random

from bot.demo.records import CorpusRecord, draw_each, drop_missing_values, join_pages
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder

_PANEL_COUNT = 420

SCHEMA = Schema(
    bucket=BucketId("panels"),
    title="Solar panels",
    description="Data sheets of solar panels: size, weight, rated power, efficiency and list price.",
    synonyms=("panels", "panel", "solar panels", "solar panel", "solar modules", "PV panels"),
    order=SchemaOrder(field=FieldName("power")),
    fields=(
        SchemaField(
            name=FieldName("maker"),
            type=FieldType.CATEGORY,
            title="Maker",
            synonyms=("maker", "manufacturer", "made by", "producer"),
            values={"AlphaSolar": ("Alpha Solar",), "Étincelle Solaire": ("Etincelle",)},
            facet=True,
        ),
        SchemaField(name=FieldName("model"), type=FieldType.TEXT, title="Model", synonyms=("model", "model name")),
        SchemaField(
            name=FieldName("width"),
            type=FieldType.NUMBER,
            title="Width",
            synonyms=("width", "wide", "narrow", "across"),
            unit="mm",
            facet=True,
        ),
        SchemaField(
            name=FieldName("height"),
            type=FieldType.NUMBER,
            title="Height",
            synonyms=("height", "high", "tall", "length", "long"),
            unit="mm",
        ),
        SchemaField(
            name=FieldName("thickness"),
            type=FieldType.NUMBER,
            title="Thickness",
            synonyms=("thickness", "thick", "thin"),
            unit="mm",
        ),
        SchemaField(
            name=FieldName("weight"),
            type=FieldType.NUMBER,
            title="Weight",
            synonyms=("weight", "weigh", "weighing", "heavy", "light"),
            unit="kg",
        ),
        SchemaField(
            name=FieldName("power"),
            type=FieldType.NUMBER,
            title="Rated power",
            synonyms=("power", "rated power", "output", "peak power", "watt peak"),
            unit="W",
            facet=True,
        ),
        SchemaField(
            name=FieldName("efficiency"),
            type=FieldType.NUMBER,
            title="Efficiency",
            synonyms=("efficiency", "efficient", "module efficiency"),
            unit="percent",
            facet=True,
        ),
        SchemaField(
            name=FieldName("price"),
            type=FieldType.MONEY,
            title="Price",
            synonyms=("price", "cost", "costs", "list price", "expensive", "cheap"),
            currency="USD",
            facet=True,
        ),
        SchemaField(
            name=FieldName("cell_type"),
            type=FieldType.CATEGORY,
            title="Cell type",
            synonyms=("cell type", "cells", "technology"),
            values={
                "monocrystalline": ("mono", "single crystal"),
                "polycrystalline": ("poly", "multicrystalline"),
                "thin film": ("thin-film", "film"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("warranty"),
            type=FieldType.NUMBER,
            title="Warranty",
            synonyms=("warranty", "warranted", "product warranty"),
            unit="year",
            facet=True,
        ),
        SchemaField(
            name=FieldName("certificates"),
            type=FieldType.LIST,
            title="Certificates",
            synonyms=("certificates", "certificate", "certified", "certification", "tested to"),
            values={"salt mist": ("salt spray",), "ammonia": ("ammonia resistance",), "hail class 4": ("hail",)},
            facet=True,
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PanelMaker:
    name: str
    prefix: str
    widths: tuple[int, ...]
    weight: int


_MAKERS = (
    _PanelMaker(name="AlphaSolar", prefix="AS", widths=(992, 1038, 1134, 1303), weight=4),
    _PanelMaker(name="Heliant", prefix="HL", widths=(670, 992, 1052, 1134), weight=4),
    _PanelMaker(name="Brightline Energy", prefix="BL", widths=(1048, 1134, 1303), weight=3),
    _PanelMaker(name="Sunforge", prefix="SF", widths=(808, 1002, 1134), weight=3),
    _PanelMaker(name="Étincelle Solaire", prefix="ES", widths=(990, 1096), weight=2),
    _PanelMaker(name="Nordvolt PV", prefix="NV", widths=(1040, 1134, 1303), weight=2),
)
_CELL_EFFICIENCIES = {"monocrystalline": 0.205, "polycrystalline": 0.172, "thin film": 0.135}
_CERTIFICATES = ("IEC 61215", "IEC 61730", "salt mist", "ammonia", "hail class 4")


def generate_panel_records(seed: int, rng: Random) -> list[CorpusRecord]:
    makers = [maker for maker in _MAKERS for _ in range(maker.weight)]
    return [_draw_panel_record(rng, number, rng.choice(makers)) for number in range(1, _PANEL_COUNT + 1)]


def _draw_panel_record(rng: Random, number: int, maker: _PanelMaker) -> CorpusRecord:
    cell = rng.choices(list(_CELL_EFFICIENCIES), (6, 2, 1))[0]
    # The random millimetres make sure that one panel has the smallest width, and not a whole size class.
    width = rng.choice(maker.widths) + rng.choice((0, 0, 0, -2, 3, 6))
    height = rng.choice((1480, 1650, 1722, 1762, 1961, 2094, 2278))
    efficiency = round(100 * _CELL_EFFICIENCIES[cell] * (0.94 + 0.12 * rng.random()), 1)
    power = 5 * round(width * height / 1e6 * efficiency * 10 / 5)
    sheet = _PanelDataSheet(
        number=number,
        maker=maker.name,
        model=f"{maker.prefix}-{power}-{number:03}",
        cell_type=cell,
        width=width,
        height=height,
        thickness=rng.choice((30, 35, 40)),
        weight=round(width * height / 1e6 * (10.4 + 1.6 * rng.random()), 1) if rng.random() > 0.06 else None,
        power=power,
        efficiency=efficiency,
        price=round(power * (0.31 + 0.22 * rng.random()), 2) if rng.random() > 0.08 else None,
        warranty=rng.choice((10, 12, 15, 20, 25)) if rng.random() > 0.07 else None,
        certificates=draw_each(rng, _CERTIFICATES, 0.5),
    )
    return sheet.to_record()


@dataclass(frozen=True, slots=True, kw_only=True)
class _PanelDataSheet:
    number: int
    maker: str
    model: str
    cell_type: str
    width: int
    height: int
    thickness: int
    weight: float | None
    power: int
    efficiency: float
    price: float | None
    warranty: int | None
    certificates: list[str]

    def to_record(self) -> CorpusRecord:
        text, starts = join_pages(("\n".join(self._electrical_page_lines()), "\n".join(self._mechanical_page_lines())))
        metadata = drop_missing_values(
            {
                "maker": self.maker,
                "model": self.model,
                "width": self.width,
                "height": self.height,
                "thickness": self.thickness,
                "weight": self.weight,
                "power": self.power,
                "efficiency": self.efficiency,
                "price": self.price,
                "cell_type": self.cell_type,
                "warranty": self.warranty,
                "certificates": self.certificates,
            }
        )
        return {
            "doc_id": f"pnl-{self.number:04}",
            "title": f"{self.maker} {self.model} data sheet",
            "text": text,
            "metadata": metadata,
            "page_starts": starts,
            "source": f"panels/{self.model}.pdf",
        }

    def _electrical_page_lines(self) -> list[str]:
        return [
            f"{self.maker} {self.model}",
            f"Solar panel with {self.cell_type} cells for roofs and open ground.",
            f"Rated power: {self.power} W under standard test conditions.",
            f"Module efficiency: {self.efficiency} %.",
            f"List price: {self.price:.2f} USD, without tax." if self.price is not None else "Price on request.",
            "The output falls by 0.35 % for each degree above 25 °C.",
        ]

    def _mechanical_page_lines(self) -> list[str]:
        return [
            "Mechanical data",
            f"Width: {self.width} mm. Height: {self.height} mm. Thickness: {self.thickness} mm.",
            f"Weight: {self.weight} kg." if self.weight is not None else "Weight: to be announced.",
            f"Product warranty: {self.warranty} years." if self.warranty is not None else "",
            f"Certificates: {', '.join(self.certificates)}." if self.certificates else "No certificates yet.",
            "Carry the panel by its frame, never by the junction box.",
        ]
