"""Manuals: battery cabinets (B-120 among them) and other power equipment, seven pages each.

Every manual has the same steps with different intervals and torques, so the answer depends on the right manual.
"""

from dataclasses import dataclass
from datetime import date
from random import Random

from bot.demo.records import CorpusRecord, draw_day_between, drop_missing_values, format_day, join_pages
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder

SCHEMA = Schema(
    bucket=BucketId("manuals"),
    title="Manuals",
    description="Operating and maintenance manuals of battery cabinets, UPS, inverters, chargers and switchgear.",
    synonyms=("manuals", "manual", "instructions", "guides"),
    order=SchemaOrder(field=FieldName("revised")),
    fields=(
        SchemaField(
            name=FieldName("product"),
            type=FieldType.CATEGORY,
            title="Product",
            description="The device that the manual is for.",
            synonyms=("product", "model", "unit"),
        ),
        SchemaField(
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
        SchemaField(
            name=FieldName("revised"),
            type=FieldType.DATE,
            title="Revised",
            description="Day of the revision; some manuals carry none.",
            synonyms=("revision date", "revised", "revision", "updated"),
            facet=True,
        ),
        SchemaField(
            name=FieldName("capacity"),
            type=FieldType.NUMBER,
            title="Energy capacity",
            synonyms=("capacity", "energy capacity", "usable energy"),
            unit="kWh",
            facet=True,
        ),
        SchemaField(
            name=FieldName("voltage"),
            type=FieldType.NUMBER,
            title="Nominal voltage",
            synonyms=("nominal voltage", "voltage", "system voltage"),
            unit="V",
            facet=True,
        ),
        SchemaField(
            name=FieldName("weight"),
            type=FieldType.NUMBER,
            title="Weight",
            synonyms=("weight", "weigh", "heavy"),
            unit="kg",
            facet=True,
        ),
        SchemaField(
            name=FieldName("outdoor"),
            type=FieldType.FLAG,
            title="Outdoor use",
            synonyms=("outdoor use", "outdoors", "outdoor", "suitable for outdoor use"),
            facet=True,
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeviceSeries:
    """A series of devices: `model_prefix` and the numbers of its models."""

    equipment: str
    model_prefix: str
    model_numbers: tuple[int, ...]


_DEVICE_SERIES = (
    _DeviceSeries(
        equipment="battery cabinet",
        model_prefix="B",
        model_numbers=(80, 100, 120, 140, 160, 180, 200, 220, 240, 260, 280, 300),
    ),
    _DeviceSeries(equipment="UPS", model_prefix="U", model_numbers=(10, 20, 30, 40, 60, 80, 100, 120, 140, 160)),
    _DeviceSeries(equipment="inverter", model_prefix="N", model_numbers=(5, 10, 15, 20, 25, 30, 40, 50, 60, 75)),
    _DeviceSeries(equipment="charger", model_prefix="C", model_numbers=(7, 11, 22, 43, 50, 75, 90, 120, 150, 180)),
    _DeviceSeries(equipment="switchgear", model_prefix="S", model_numbers=(63, 100, 125, 160, 250, 400, 630, 800)),
    _DeviceSeries(equipment="generator", model_prefix="G", model_numbers=(20, 30, 45, 60, 80, 100, 120, 150, 200, 250)),
)
_ALARMS = (
    "the inlet air is too warm",
    "a cell voltage is out of range",
    "the earth fault monitor has tripped",
    "the link to the controller is lost",
    "the door contact is open",
    "a fan turns too slowly",
)
_EXTRA_SENTENCES = (
    "Use a torque wrench that was calibrated within the last year.",
    "Empty the condensate tray before it is two thirds full.",
    "Record each reading in the logbook that hangs inside the door.",
    "A thermal camera shows loose contacts before they fail.",
)


def generate_manual_records(seed: int, rng: Random) -> list[CorpusRecord]:
    devices = [
        (line.equipment, f"{line.model_prefix}-{model}") for line in _DEVICE_SERIES for model in line.model_numbers
    ]
    return [_draw_manual_record(rng, number, *device) for number, device in enumerate(devices, start=1)]


def _draw_manual_record(rng: Random, number: int, equipment: str, product: str) -> CorpusRecord:
    stores_energy = equipment in ("battery cabinet", "UPS")
    manual = _DemoManual(
        number=number,
        equipment=equipment,
        product=product,
        revised=draw_day_between(rng, date(2019, 1, 7), date(2025, 11, 28)) if rng.random() > 0.12 else None,
        capacity=rng.choice((5, 10, 15, 20, 30, 40, 60, 90)) if stores_energy else None,
        voltage=rng.choice((48, 96, 230, 400, 690)) if rng.random() > 0.08 else None,
        weight=10 * (6 + rng.randrange(80)) if rng.random() > 0.08 else None,
        outdoor=rng.random() < 0.35,
        filter_months=rng.choice((2, 3, 4, 6, 8, 9, 12, 18)),
        torque_nm=rng.choice((6, 8, 10, 12, 15, 18, 22, 25, 30)),
        wait_minutes=rng.choice((2, 3, 5, 8, 10, 15, 20)),
        fan_hours=1000 * (15 + rng.randrange(40)),
        first_alarm_index=rng.randrange(len(_ALARMS)),
        extra_sentences=[extra for extra in _EXTRA_SENTENCES if rng.random() < 0.4],
    )
    return manual.to_record()


@dataclass(frozen=True, slots=True, kw_only=True)
class _DemoManual:
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
    first_alarm_index: int
    extra_sentences: list[str]

    def to_record(self) -> CorpusRecord:
        text, starts = join_pages([" ".join(line for line in page if line) for page in self._text_pages()])
        metadata = drop_missing_values(
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

    def _text_pages(self) -> list[list[str]]:
        return [
            self._cover_page_lines(),
            self._data_page_lines(),
            self._installation_page_lines(),
            self._operation_page_lines(),
            self._maintenance_page_lines(),
            self._service_page_lines(),
            self._fault_page_lines(),
        ]

    def _cover_page_lines(self) -> list[str]:
        return [
            f"{self.product} {self.equipment}. Operating and maintenance manual.",
            f"Revision of {format_day(self.revised)}." if self.revised else "Revision not dated.",
            "Read this manual before you touch the device and keep it where the device stands.",
            f"Only trained electricians may open the {self.equipment}.",
            "The maker accepts no liability for work done by others.",
        ]

    def _data_page_lines(self) -> list[str]:
        return [
            "Technical data.",
            f"Energy capacity: {self.capacity} kWh." if self.capacity is not None else "",
            f"Nominal voltage: {self.voltage} V." if self.voltage is not None else "Voltage: see the rating plate.",
            f"Weight: {self.weight} kg." if self.weight is not None else "Weight: see the rating plate.",
            "Suitable for outdoor use under a roof." if self.outdoor else "For indoor rooms that stay above 5 °C.",
            "Protection class I. Noise below 60 dB at one metre.",
        ]

    def _installation_page_lines(self) -> list[str]:
        return [
            "Installation.",
            "Set the device on level ground and leave 80 cm free in front of the door.",
            "Connect the earth conductor first and the communication cable last.",
            f"Tighten the terminal bolts to {self.torque_nm} Nm and mark each with paint.",
            *self.extra_sentences[:1],
            "Cable entries that stay unused are closed with blind plugs.",
        ]

    def _operation_page_lines(self) -> list[str]:
        return [
            "Operation.",
            "Turn the main switch to ON and wait until the green lamp stays lit.",
            f"Before opening the door, turn the main switch to OFF and wait {self.wait_minutes} minutes:",
            "the capacitors hold their charge for a while.",
            "The display shows voltage, current and temperature; the arrow keys change the page.",
        ]

    def _maintenance_page_lines(self) -> list[str]:
        return [
            "Maintenance, part one: what the operator does.",
            "Every week, look at the lamps and listen to the fans.",
            "Every month, wipe the air inlets and see that the air filter sits tight in its frame.",
            f"Replace the air filter every {self.filter_months} months, sooner in dusty rooms.",
            "To do so, unlock the frame, pull the filter out downwards and insert the new one, arrow inwards.",
            *self.extra_sentences[1:2],
        ]

    def _service_page_lines(self) -> list[str]:
        return [
            "Maintenance, part two: what the service engineer does.",
            "Once a year, check the torque of all bolted joints and the function of the earth fault monitor.",
            f"Exchange the fans after {self.fan_hours} operating hours.",
            "Once every two years, measure the insulation resistance with the device disconnected.",
            *self.extra_sentences[2:],
        ]

    def _fault_page_lines(self) -> list[str]:
        alarms = [*_ALARMS[self.first_alarm_index :], *_ALARMS[: self.first_alarm_index]]
        return [
            "Faults.",
            *(f"Alarm E{code:02} means that {alarm}." for code, alarm in enumerate(alarms, start=4)),
            "If an alarm comes back after a reset, call the service line and name the serial number.",
        ]
