"""Manuals: battery cabinets (B-120 among them) and other power equipment, seven pages each.

The same steps stand in each manual at other intervals and torques, so that an answer depends on the right manual.
"""

from dataclasses import dataclass
from datetime import date
from random import Random

from bot.demo.records import Record, day_between, paged, present, written
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType, Schema, SchemaOrder

SCHEMA = Schema(
    bucket=BucketId("manuals"),
    title="Manuals",
    description="Operating and maintenance manuals of battery cabinets, UPS, inverters, chargers and switchgear.",
    synonyms=("manuals", "manual", "instructions", "guides"),
    order=SchemaOrder(field=FieldName("revised")),
    fields=(
        Field(
            name=FieldName("product"),
            type=FieldType.CATEGORY,
            title="Product",
            description="The device that the manual is for.",
            synonyms=("product", "model", "unit"),
        ),
        Field(
            name=FieldName("equipment"),
            type=FieldType.CATEGORY,
            title="Equipment",
            synonyms=("equipment", "kind of equipment", "type of equipment"),
            values={
                "battery cabinet": ("battery cabinets", "cabinet", "cabinets"),
                "UPS": ("uninterruptible power supply", "uninterruptible power supplies"),
                "inverter": ("inverters",),
                "charger": ("chargers", "charging station"),
                "switchgear": ("switchboard", "switchboards"),
                "generator": ("generators", "genset"),
            },
            facet=True,
        ),
        Field(
            name=FieldName("revised"),
            type=FieldType.DATE,
            title="Revised",
            description="Day of the revision; some manuals carry none.",
            synonyms=("revision date", "revised", "revision", "updated"),
            facet=True,
        ),
        Field(
            name=FieldName("capacity"),
            type=FieldType.NUMBER,
            title="Energy capacity",
            synonyms=("capacity", "energy capacity", "usable energy"),
            unit="kWh",
            facet=True,
        ),
        Field(
            name=FieldName("voltage"),
            type=FieldType.NUMBER,
            title="Nominal voltage",
            synonyms=("nominal voltage", "voltage", "system voltage"),
            unit="V",
            facet=True,
        ),
        Field(
            name=FieldName("weight"),
            type=FieldType.NUMBER,
            title="Weight",
            synonyms=("weight", "weigh", "heavy"),
            unit="kg",
            facet=True,
        ),
        Field(
            name=FieldName("outdoor"),
            type=FieldType.FLAG,
            title="Outdoor use",
            synonyms=("outdoor use", "outdoors", "outdoor", "suitable for outdoor use"),
            facet=True,
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A series of devices: `letter` and the numbers of its models."""

    equipment: str
    letter: str
    models: tuple[int, ...]


_LINES = (
    _Line(equipment="battery cabinet", letter="B", models=(80, 100, 120, 140, 160, 180, 200, 220, 240, 260, 280, 300)),
    _Line(equipment="UPS", letter="U", models=(10, 20, 30, 40, 60, 80, 100, 120, 140, 160)),
    _Line(equipment="inverter", letter="N", models=(5, 10, 15, 20, 25, 30, 40, 50, 60, 75)),
    _Line(equipment="charger", letter="C", models=(7, 11, 22, 43, 50, 75, 90, 120, 150, 180)),
    _Line(equipment="switchgear", letter="S", models=(63, 100, 125, 160, 250, 400, 630, 800)),
    _Line(equipment="generator", letter="G", models=(20, 30, 45, 60, 80, 100, 120, 150, 200, 250)),
)
_ALARMS = (
    "the inlet air is too warm",
    "a cell voltage is out of range",
    "the earth fault monitor has tripped",
    "the link to the controller is lost",
    "the door contact is open",
    "a fan turns too slowly",
)
_EXTRAS = (
    "Use a torque wrench that was calibrated within the last year.",
    "Empty the condensate tray before it is two thirds full.",
    "Record each reading in the logbook that hangs inside the door.",
    "A thermal camera shows loose contacts before they fail.",
)


def records(seed: int, rng: Random) -> list[Record]:
    devices = [(line.equipment, f"{line.letter}-{model}") for line in _LINES for model in line.models]
    return [_record(rng, number, *device) for number, device in enumerate(devices, start=1)]


def _record(rng: Random, number: int, equipment: str, product: str) -> Record:
    stores = equipment in ("battery cabinet", "UPS")
    manual = _Manual(
        number=number,
        equipment=equipment,
        product=product,
        revised=day_between(rng, date(2019, 1, 7), date(2025, 11, 28)) if rng.random() > 0.12 else None,
        capacity=rng.choice((5, 10, 15, 20, 30, 40, 60, 90)) if stores else None,
        voltage=rng.choice((48, 96, 230, 400, 690)) if rng.random() > 0.08 else None,
        weight=10 * (6 + rng.randrange(80)) if rng.random() > 0.08 else None,
        outdoor=rng.random() < 0.35,
        filter_months=rng.choice((2, 3, 4, 6, 8, 9, 12, 18)),
        torque_nm=rng.choice((6, 8, 10, 12, 15, 18, 22, 25, 30)),
        wait_minutes=rng.choice((2, 3, 5, 8, 10, 15, 20)),
        fan_hours=1000 * (15 + rng.randrange(40)),
        first_alarm=rng.randrange(len(_ALARMS)),
        extras=[extra for extra in _EXTRAS if rng.random() < 0.4],
    )
    return manual.record()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manual:
    number: int
    equipment: str
    product: str
    revised: date | None
    capacity: int | None
    voltage: int | None
    weight: int | None
    outdoor: bool
    filter_months: int
    torque_nm: int
    wait_minutes: int
    fan_hours: int
    first_alarm: int
    extras: list[str]

    def record(self) -> Record:
        text, starts = paged([" ".join(line for line in page if line) for page in self._pages()])
        metadata = present(
            {
                "product": self.product,
                "equipment": self.equipment,
                "revised": self.revised and self.revised.isoformat(),
                "capacity": self.capacity,
                "voltage": self.voltage,
                "weight": self.weight,
                "outdoor": self.outdoor or None,
            }
        )
        return {
            "doc_id": f"man-{self.number:03}",
            "title": f"{self.product} {self.equipment} manual",
            "text": text,
            "metadata": metadata,
            "page_starts": starts,
            "source": f"manuals/{self.product}.pdf",
        }

    def _pages(self) -> list[list[str]]:
        return [
            self._cover(),
            self._data(),
            self._installation(),
            self._operation(),
            self._maintenance(),
            self._yearly(),
            self._faults(),
        ]

    def _cover(self) -> list[str]:
        return [
            f"{self.product} {self.equipment}. Operating and maintenance manual.",
            f"Revision of {written(self.revised)}." if self.revised else "Revision not dated.",
            "Read this manual before you touch the device and keep it where the device stands.",
            f"Only trained electricians may open the {self.equipment}.",
            "The maker accepts no liability for work done by others.",
        ]

    def _data(self) -> list[str]:
        return [
            "Technical data.",
            f"Energy capacity: {self.capacity} kWh." if self.capacity is not None else "",
            f"Nominal voltage: {self.voltage} V." if self.voltage is not None else "Voltage: see the rating plate.",
            f"Weight: {self.weight} kg." if self.weight is not None else "Weight: see the rating plate.",
            "Suitable for outdoor use under a roof." if self.outdoor else "For indoor rooms that stay above 5 °C.",
            "Protection class I. Noise below 60 dB at one metre.",
        ]

    def _installation(self) -> list[str]:
        return [
            "Installation.",
            "Set the device on level ground and leave 80 cm free in front of the door.",
            "Connect the earth conductor first and the communication cable last.",
            f"Tighten the terminal bolts to {self.torque_nm} Nm and mark each with paint.",
            *self.extras[:1],
            "Cable entries that stay unused are closed with blind plugs.",
        ]

    def _operation(self) -> list[str]:
        return [
            "Operation.",
            "Turn the main switch to ON and wait until the green lamp stays lit.",
            f"Before opening the door, turn the main switch to OFF and wait {self.wait_minutes} minutes:",
            "the capacitors hold their charge for a while.",
            "The display shows voltage, current and temperature; the arrow keys change the page.",
        ]

    def _maintenance(self) -> list[str]:
        return [
            "Maintenance, part one: what the operator does.",
            "Every week, look at the lamps and listen to the fans.",
            "Every month, wipe the air inlets and see that the air filter sits tight in its frame.",
            f"Replace the air filter every {self.filter_months} months, sooner in dusty rooms.",
            "To do so, unlock the frame, pull the filter out downwards and insert the new one, arrow inwards.",
            *self.extras[1:2],
        ]

    def _yearly(self) -> list[str]:
        return [
            "Maintenance, part two: what the service engineer does.",
            "Once a year, check the torque of all bolted joints and the function of the earth fault monitor.",
            f"Exchange the fans after {self.fan_hours} operating hours.",
            "Once every two years, measure the insulation resistance with the device disconnected.",
            *self.extras[2:],
        ]

    def _faults(self) -> list[str]:
        alarms = [*_ALARMS[self.first_alarm :], *_ALARMS[: self.first_alarm]]
        return [
            "Faults.",
            *(f"Alarm E{code:02} means that {alarm}." for code, alarm in enumerate(alarms, start=4)),
            "If an alarm comes back after a reset, call the service line and name the serial number.",
        ]
