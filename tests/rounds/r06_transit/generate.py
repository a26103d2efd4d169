"""Write documents and questions about a public transport operator (structured round)."""

import csv
import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar

SEED = 606
TODAY = date(2026, 11, 22)
ITEM = TypeVar("ITEM")
Truth = dict[str, object]

DEPOTS: tuple[str, ...] = ("Eastgate", "Harbour", "Millfield", "Northmoor", "Quarry Lane", "Westbrook")
TOWNS: tuple[str, ...] = ("Millfield", "Westbrook", "Northmoor", "Ashby", "Linton", "Carrow", "Dunstead", "Penhale")
PLACES: tuple[str, ...] = (
    "Market Square",
    "Station Forecourt",
    "Castle Street",
    "Ashby Road",
    "Harbour Bridge",
    "Hospital Gate",
    "University Park",
    "Linton Roundabout",
    "Westbrook Terminus",
    "Mill Lane",
    "Carrow Hill",
    "Quarry Lane",
)
BUS_LINES: tuple[str, ...] = ("3", "7", "11", "14", "18", "22", "25", "31", "N2")
TRAM_LINES: tuple[str, ...] = ("T1", "T2", "T4")
FIRST_NAMES: tuple[str, ...] = (
    "Ada",
    "Agnes",
    "Aleksander",
    "Amira",
    "Anton",
    "Beatriz",
    "Bram",
    "Carlos",
    "Clara",
    "Dario",
    "Dilek",
    "Edith",
    "Elif",
    "Emil",
    "Farid",
    "Fiona",
    "Gareth",
    "Greta",
    "Hanna",
    "Hassan",
    "Ines",
    "Ivo",
    "Jamal",
    "Johanna",
    "Karim",
    "Katya",
    "Lars",
    "Leonie",
    "Luca",
    "Magda",
    "Marek",
    "Mina",
    "Nadia",
    "Nils",
    "Olga",
    "Oscar",
    "Paula",
    "Pavel",
    "Quentin",
    "Rosa",
    "Ruben",
    "Samira",
    "Stefan",
    "Tamar",
    "Tomas",
    "Ursula",
    "Viktor",
    "Wanda",
    "Yusuf",
    "Zoe",
)
LAST_NAMES: tuple[str, ...] = (
    "Abbott",
    "Ahmadi",
    "Albrecht",
    "Baptiste",
    "Barlow",
    "Castell",
    "Conti",
    "Demir",
    "Dunn",
    "Eriksen",
    "Farrell",
    "Fischer",
    "Garcia",
    "Grabowski",
    "Haddad",
    "Holm",
    "Ibarra",
    "Janssen",
    "Kaya",
    "Keller",
    "Kowalski",
    "Lindqvist",
    "Lopes",
    "Marsh",
    "Meyer",
    "Moreau",
    "Nowak",
    "Okafor",
    "Osman",
    "Petrov",
    "Pinto",
    "Quinn",
    "Rahman",
    "Reyes",
    "Sato",
    "Schultz",
    "Silva",
    "Tanaka",
    "Toth",
    "Underwood",
    "Vasquez",
    "Weber",
    "Wilkes",
    "Yilmaz",
    "Zeller",
)
BUS_MODELS: tuple[tuple[str, str, str, int, int], ...] = (
    ("Solvan", "Citaro 12", "diesel", 238000, 36),
    ("Solvan", "Urbia E12", "battery", 512000, 34),
    ("Mandrake", "Lion 18", "diesel", 329000, 48),
    ("Mandrake", "Lion 18H", "hybrid", 402000, 47),
    ("Ivetta", "Crosslink", "CNG", 276000, 38),
    ("Ivetta", "Crosslink E", "battery", 548000, 35),
    ("Tremola", "Midi 9", "diesel", 164000, 24),
    ("Tremola", "Midi 9E", "battery", 337000, 22),
)
TRAM_MODELS: tuple[tuple[str, str, str, int, int], ...] = (
    ("Skarda", "Vario 2", "overhead line", 2150000, 72),
    ("Skarda", "Forta 30", "overhead line", 3180000, 86),
)
COURSES: dict[str, tuple[int, int]] = {
    "Conflict De-escalation": (0, 140),
    "Driver CPC Module": (5, 210),
    "Fire Safety": (3, 75),
    "First Aid": (2, 95),
    "Forklift Operation": (5, 260),
    "High Voltage Safety": (3, 480),
    "Lifting Gear Inspection": (4, 310),
    "Tram Licence Renewal": (5, 390),
    "Winter Driving": (0, 165),
}
COURSES_BY_JOB: dict[str, tuple[str, ...]] = {
    "bus driver": ("Conflict De-escalation", "Driver CPC Module", "Fire Safety", "First Aid", "Winter Driving"),
    "tram driver": ("Conflict De-escalation", "Fire Safety", "First Aid", "Tram Licence Renewal"),
    "mechanic": ("Fire Safety", "First Aid", "Forklift Operation", "High Voltage Safety", "Lifting Gear Inspection"),
    "dispatcher": ("Conflict De-escalation", "Fire Safety", "First Aid"),
    "depot manager": ("Fire Safety", "First Aid"),
}
PROVIDERS: tuple[str, ...] = ("BusTec Academy", "In-house", "Red Cross Linton", "RoadSafe Institute", "Voltwise")
SUPPLIERS: tuple[str, ...] = ("BusTec", "GreenCell", "Hoffmann & Sons", "Kessler Parts", "Nordrail Supply")
JOBS: dict[str, tuple[tuple[str, int, int], ...]] = {
    "Air conditioning service": (("Compressor", 640, 1), ("Refrigerant can", 58, 3)),
    "Battery module swap": (("Battery module", 4150, 2), ("Coolant hose", 41, 4)),
    "Bodywork repair": (("Side panel", 385, 2), ("Paint kit", 120, 1), ("Reflector", 14, 4)),
    "Brake overhaul": (("Brake pad set", 145, 2), ("Brake disc", 260, 2)),
    "Door mechanism repair": (("Door actuator", 520, 1), ("Door seal", 66, 2)),
    "Gearbox replacement": (("Gearbox unit", 6900, 1), ("Transmission oil can", 72, 3)),
    "Pantograph repair": (("Carbon strip", 310, 2), ("Insulator", 185, 2)),
    "Routine service": (("Oil filter", 28, 1), ("Air filter", 36, 1), ("Wiper blade", 22, 2)),
    "Tyre change": (("Tyre", 395, 4), ("Valve", 6, 4)),
    "Windscreen replacement": (("Windscreen", 890, 1), ("Sealant kit", 47, 1)),
}
ADJUSTED_JOBS: dict[str, tuple[str, ...]] = {
    "collision": ("Bodywork repair", "Windscreen replacement", "Brake overhaul"),
    "breakdown": ("Brake overhaul", "Air conditioning service", "Routine service"),
    "vandalism": ("Windscreen replacement", "Bodywork repair"),
    "door fault": ("Door mechanism repair",),
}
FACTORS: tuple[str, ...] = ("rain", "darkness", "ice", "roadworks", "heavy traffic", "crowding")
CATEGORIES: tuple[str, ...] = ("collision", "breakdown", "vandalism", "passenger fall", "door fault", "assault")
STORIES: dict[str, tuple[str, ...]] = {
    "collision": (
        "Contact with a parked van while pulling out of the stop.",
        "A car cut in from the left lane.",
        "A dog ran onto the road and the driver swerved into the kerb.",
        "Mirror hit a lamp post.",
        "A cyclist was overlooked when turning right.",
    ),
    "breakdown": (
        "Warning lamp came on, vehicle would not move again.",
        "Loss of air pressure, towed to the depot.",
        "Power cut out twice, passengers moved to the following service.",
    ),
    "vandalism": (
        "Graffiti along the whole offside.",
        "Two rear seats slashed during the evening peak.",
        "A stone was thrown through a side window.",
    ),
    "passenger fall": (
        "An older passenger fell when the vehicle moved off.",
        "A passenger slipped on the wet step.",
        "A dog ran onto the road, hard braking, a standing passenger fell.",
    ),
    "door fault": (
        "Rear door stayed open after departure.",
        "Middle door closed on a pushchair.",
        "Front door would only open by hand.",
    ),
    "assault": (
        "Driver was spat at during a dispute about a ticket.",
        "Two passengers came to blows.",
        "Driver was threatened by a group of youths.",
    ),
}


@dataclass
class Vehicle:
    """One row of the vehicle register."""

    key: str
    registration: str
    kind: str
    make: str
    model: str
    drive: str
    depot: str
    commissioned: date
    price: int
    seats: int
    wheelchairs: int
    odometer: int
    low_floor: str
    inspection_due: date | None
    state: str
    decommissioned: date | None
    remarks: str


@dataclass
class Person:
    """One row of the staff list."""

    key: str
    name: str
    job: str
    depot: str
    joined: date
    left: date | None
    mobile: str
    email: str
    residence: str
    hours: int
    wage: float
    remarks: str


@dataclass
class Training:
    """One row of the training log."""

    key: str
    participant: str
    course: str
    held: date
    expires: date | None
    provider: str
    outcome: str
    score: int | None
    fee: int


@dataclass
class Incident:
    """One incident report."""

    key: str
    title: str
    text: str
    occurred: date
    category: str
    severity: str
    line: str
    place: str
    vehicle: str
    driver: str
    injured: int
    damage: int | None
    police: str
    status: str
    closed: date | None
    factors: list[str]


@dataclass
class PartLine:
    """One line of parts on a repair order."""

    part: str
    quantity: int
    unit_price: float
    supplier: str


@dataclass
class Repair:
    """One repair order."""

    key: str
    title: str
    text: str
    job: str
    vehicle: str
    incident: str
    workshop: str
    mechanics: list[str]
    opened: date
    completed: date | None
    status: str
    hours: float
    total: float
    warranty: str
    parts: list[PartLine]


@dataclass
class World:
    """All records of the operator."""

    vehicles: list[Vehicle] = field(default_factory=list)
    staff: list[Person] = field(default_factory=list)
    trainings: list[Training] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)


@dataclass
class Question:
    """One conversation with its truth."""

    kind: str
    turns: list[str]
    truth: Truth
    why: str


def pick_date(rng: random.Random, first: date, last: date) -> date:
    """Return a random day between two days."""
    return first + timedelta(days=rng.randint(0, max(0, (last - first).days)))


def shift_years(day: date, years: int) -> date:
    """Return the same day some years later."""
    return date(day.year + years, day.month, min(day.day, 28) if day.month == 2 else day.day)


def iso_text(day: date | None) -> str:
    """Return an ISO date or an empty text."""
    return day.isoformat() if day else ""


def make_vehicles(rng: random.Random) -> list[Vehicle]:
    """Build the vehicle register."""
    rows: list[Vehicle] = []
    odometers: set[int] = set()
    for index in range(146):
        tram = index >= 120
        make, model, drive, price, seats = rng.choice(TRAM_MODELS if tram else BUS_MODELS)
        start = date(2017, 1, 10) if drive == "battery" else date(2008, 2, 1)
        commissioned = pick_date(rng, start, date(2026, 6, 30))
        number = 201 + index * 3 + rng.randint(0, 2)
        age = (TODAY - commissioned).days / 365
        retired = pick_date(rng, date(2021, 3, 1), date(2026, 9, 30)) if age > 12 and rng.random() < 0.45 else None
        odometer = int(age * rng.uniform(38000, 61000)) + rng.randint(900, 4000)
        while odometer in odometers:
            odometer += 17
        odometers.add(odometer)
        old = commissioned.year < 2012
        notes = [
            "",
            "",
            "",
            "Seat covers renewed.",
            "Driver cab heater noisy.",
            "Used for school runs.",
            "Spare mirror in depot store.",
            "Livery special for city anniversary.",
        ]
        rows.append(
            Vehicle(
                f"V{number}",
                f"NK {rng.randint(1000, 9999)} {rng.choice('ABCEHKMT')}{index % 10}",
                "tram" if tram else "minibus" if "Midi" in model else "articulated bus" if "18" in model else "bus",
                make,
                model,
                drive,
                rng.choice(DEPOTS[:2]) if tram else rng.choice(DEPOTS),
                commissioned,
                price + rng.randint(-12, 12) * 1000,
                seats + rng.randint(-2, 2),
                rng.choice((0, 1) if old else (1, 1, 2, 3)),
                odometer,
                "no" if old and rng.random() < 0.6 else "yes",
                None if retired or rng.random() < 0.06 else pick_date(rng, TODAY + timedelta(9), date(2027, 11, 1)),
                "retired" if retired else rng.choice(("in service",) * 8 + ("reserve",)),
                retired,
                rng.choice(notes),
            )
        )
    return rows


def make_staff(rng: random.Random) -> list[Person]:
    """Build the staff list with unique names, two of them called Brandt."""
    names: set[str] = {"Helena Brandt", "Moritz Brandt"}
    while len(names) < 232:
        names.add(f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}")
    order = sorted(names)
    rng.shuffle(order)
    rows: list[Person] = []
    joined_days: set[date] = set()
    for index, name in enumerate(order):
        manager = index < len(DEPOTS) + 3
        job = (
            "depot manager"
            if manager
            else rng.choices(("bus driver", "tram driver", "mechanic", "dispatcher"), (60, 15, 20, 8))[0]
        )
        depot = DEPOTS[index % len(DEPOTS)] if manager or job != "tram driver" else rng.choice(DEPOTS[:2])
        joined = pick_date(rng, date(1996, 1, 8), date(2019, 12, 1) if manager else date(2026, 5, 4))
        while joined in joined_days:
            joined += timedelta(days=1)
        joined_days.add(joined)
        leaves = index >= len(DEPOTS) if manager else rng.random() < 0.14 and not name.endswith("Brandt")
        left = pick_date(rng, max(joined + timedelta(200), date(2020, 2, 1)), date(2026, 10, 31)) if leaves else None
        if left and left > date(2026, 10, 31):
            left = None
        safe = manager or name.endswith("Brandt")
        wage = round(
            {"depot manager": 34.0, "mechanic": 24.5, "dispatcher": 22.0}.get(job, 20.5) + rng.randint(0, 70) / 10, 2
        )
        first, last = name.lower().split(" ")
        notes = [
            "",
            "",
            "",
            "",
            "Prefers early shifts.",
            "Union representative.",
            "Mentor for new starters.",
            "Parking permit requested.",
            "Locker key replaced.",
        ]
        rows.append(
            Person(
                f"S-{1001 + index}",
                name,
                job,
                depot,
                joined,
                left,
                "" if not safe and rng.random() < 0.09 else f"0170 55{rng.randint(10000, 99999)}",
                "" if not safe and rng.random() < 0.12 else f"{first}.{last}@norrvik-transit.example",
                "" if rng.random() < 0.03 else rng.choice(TOWNS),
                rng.choice((20, 30, 38, 38, 38)),
                wage,
                rng.choice(notes),
            )
        )
    return rows


def make_trainings(rng: random.Random, staff: Sequence[Person]) -> list[Training]:
    """Build the training log."""
    rows: list[Training] = []
    for person in staff:
        for course in COURSES_BY_JOB[person.job]:
            if rng.random() < 0.25:
                continue
            years, fee = COURSES[course]
            held = pick_date(rng, max(person.joined, date(2019, 1, 7)), date(2026, 10, 30))
            last = person.left or date(2026, 10, 30)
            while held <= last:
                outcome = rng.choices(("passed", "failed", "no-show"), (86, 10, 4))[0]
                expires = shift_years(held, years) if outcome == "passed" and years else None
                score = rng.randint(70, 100) if outcome == "passed" else rng.randint(31, 69)
                rows.append(
                    Training(
                        "",
                        person.name,
                        course,
                        held,
                        expires,
                        rng.choice(PROVIDERS),
                        outcome,
                        None if outcome == "no-show" else score,
                        fee + rng.choice((0, 0, 10, 25)),
                    )
                )
                if not years and outcome == "passed":
                    break
                held = (expires or held + timedelta(60)) + timedelta(rng.randint(-45, 25))
                if rng.random() < 0.3:
                    break
    rows.sort(key=lambda row: (row.held, row.participant, row.course))
    for index, row in enumerate(rows):
        row.key = f"T-{index + 1:05d}"
    return rows


def make_incidents(rng: random.Random, vehicles: Sequence[Vehicle], staff: Sequence[Person]) -> list[Incident]:
    """Build the incident reports."""
    days = sorted(pick_date(rng, date(2022, 1, 3), date(2026, 11, 8)) for _ in range(455))
    rows: list[Incident] = []
    for index, day in enumerate(days):
        vehicle = rng.choice(
            [row for row in vehicles if row.commissioned < day and (not row.decommissioned or row.decommissioned > day)]
        )
        job = "tram driver" if vehicle.kind == "tram" else "bus driver"
        driver = rng.choice(
            [row for row in staff if row.job == job and row.joined < day and (not row.left or row.left > day)]
        )
        category = rng.choices(CATEGORIES, (30, 25, 15, 12, 12, 6))[0]
        severity = rng.choices(("minor", "moderate", "serious"), (60, 28, 12))[0]
        people = category in ("collision", "passenger fall", "assault")
        injured = rng.choice((1, 1, 2)) if people and (severity == "serious" or rng.random() < 0.25) else 0
        damage = rng.randint(12, 1900) * 10 if category in ("collision", "vandalism") and rng.random() < 0.9 else None
        line = rng.choice(TRAM_LINES if vehicle.kind == "tram" else BUS_LINES)
        place = rng.choice(PLACES)
        recent = (TODAY - day).days
        closed = None if rng.random() < (0.7 if recent < 150 else 0.05) else day + timedelta(rng.randint(2, 90))
        if closed and closed >= date(2026, 11, 20):
            closed = None
        police = "yes" if (injured and rng.random() < 0.8) or rng.random() < 0.2 else "no"
        rows.append(
            Incident(
                f"INC-{day.year}-{index + 1:04d}",
                f"{category.capitalize()} on line {line} at {place}",
                rng.choice(STORIES[category])
                + rng.choice(
                    (
                        " Control room informed.",
                        " Replacement vehicle sent.",
                        " Service resumed after a short delay.",
                        "",
                    )
                ),
                day,
                category,
                severity,
                line,
                place,
                vehicle.key,
                driver.name,
                injured,
                damage,
                police,
                "closed" if closed else rng.choice(("open", "under review")),
                closed,
                sorted(rng.sample(FACTORS, rng.choice((0, 1, 1, 2, 3)))),
            )
        )
    return rows


def choose_job(rng: random.Random, vehicle: Vehicle) -> str:
    """Return a kind of repair that suits a vehicle."""
    banned = {"Tyre change", "Gearbox replacement"} if vehicle.kind == "tram" else {"Pantograph repair"}
    if vehicle.drive not in ("battery", "hybrid"):
        banned.add("Battery module swap")
    if vehicle.drive == "battery":
        banned.add("Gearbox replacement")
    return rng.choice([job for job in sorted(JOBS) if job not in banned])


def make_repairs(rng: random.Random, world: World) -> list[Repair]:
    """Build the repair orders and mark the vehicles that stand in the workshop."""
    by_key: dict[str, Vehicle] = {row.key: row for row in world.vehicles}
    plan: list[tuple[date, str, str, str]] = []
    for incident in world.incidents:
        if incident.category in ADJUSTED_JOBS and rng.random() < 0.5:
            day = min(incident.occurred + timedelta(rng.randint(1, 9)), date(2026, 11, 9))
            plan.append((day, incident.vehicle, rng.choice(ADJUSTED_JOBS[incident.category]), incident.key))
    for _ in range(345):
        day = pick_date(rng, date(2022, 1, 4), date(2026, 11, 9))
        vehicle = rng.choice(
            [
                row
                for row in world.vehicles
                if row.commissioned < day and (not row.decommissioned or row.decommissioned > day)
            ]
        )
        plan.append((day, vehicle.key, choose_job(rng, vehicle), ""))
    plan.sort()
    rows: list[Repair] = []
    for index, (day, key, job, incident_key) in enumerate(plan):
        vehicle = by_key[key]
        hands = [
            row.name
            for row in world.staff
            if row.job == "mechanic" and row.joined < day and (not row.left or row.left > day)
        ]
        mechanics = sorted(rng.sample(hands, rng.choice((1, 1, 2, 3))))
        lines = [
            PartLine(
                part,
                count if count == 1 else count + rng.randint(-1, 2),
                round(price * rng.uniform(0.85, 1.2), 2),
                rng.choice(SUPPLIERS),
            )
            for part, price, count in JOBS[job]
            if rng.random() < 0.9
        ]
        hours = rng.randint(2, 110) / 2
        total = round(sum(line.quantity * line.unit_price for line in lines) + hours * 62.0, 2)
        active = not vehicle.decommissioned
        waiting = active and (TODAY - day).days < 110 and rng.random() < 0.7
        completed = None if waiting else min(day + timedelta(rng.randint(0, 24)), date(2026, 11, 19))
        if waiting:
            vehicle.state = "in workshop"
        workshop = vehicle.depot if rng.random() < 0.7 else rng.choice(DEPOTS)
        rows.append(
            Repair(
                f"RO-{index + 5001:05d}",
                f"{job} on {key}",
                f"{job} following incident {incident_key}."
                if incident_key
                else f"{job} ordered by the workshop planner.",
                job,
                key,
                incident_key,
                workshop,
                mechanics,
                day,
                completed,
                rng.choice(("in progress", "waiting for parts")) if waiting else "done",
                hours,
                total,
                "yes" if rng.random() < 0.13 else "no",
                lines,
            )
        )
    return rows


def build_world(rng: random.Random) -> World:
    """Build all records."""
    world = World()
    world.vehicles = make_vehicles(rng)
    world.staff = make_staff(rng)
    world.trainings = make_trainings(rng, world.staff)
    world.incidents = make_incidents(rng, world.vehicles, world.staff)
    world.repairs = make_repairs(rng, world)
    return world


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write one CSV file."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_lines(path: Path, rows: Iterable[dict[str, object]]) -> None:
    """Write one JSONL file."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def drop_gaps(values: dict[str, object]) -> dict[str, object]:
    """Return the entries that hold something."""
    return {key: value for key, value in values.items() if value is not None and value != "" and value != []}


def incident_record(row: Incident) -> dict[str, object]:
    """Return the JSON form of an incident."""
    return {
        "doc_id": row.key,
        "title": row.title,
        "text": row.text,
        "metadata": drop_gaps(
            {
                "occurred_on": row.occurred.isoformat(),
                "category": row.category,
                "severity": row.severity,
                "line": row.line,
                "place": row.place,
                "vehicle": row.vehicle,
                "driver": row.driver,
                "injured_persons": row.injured,
                "damage_estimate_eur": row.damage,
                "police_report": row.police,
                "status": row.status,
                "closed_on": iso_text(row.closed),
                "contributing_factors": row.factors,
            }
        ),
    }


def repair_record(row: Repair) -> dict[str, object]:
    """Return the JSON form of a repair order."""
    lines: list[dict[str, object]] = [
        {"part": line.part, "quantity": line.quantity, "unit_price_eur": line.unit_price, "supplier": line.supplier}
        for line in row.parts
    ]
    return {
        "doc_id": row.key,
        "title": row.title,
        "text": row.text,
        "metadata": drop_gaps(
            {
                "vehicle": row.vehicle,
                "incident": row.incident,
                "workshop": row.workshop,
                "mechanics": row.mechanics,
                "opened_on": row.opened.isoformat(),
                "completed_on": iso_text(row.completed),
                "status": row.status,
                "labour_hours": row.hours,
                "total_cost_eur": row.total,
                "warranty_claim": row.warranty,
                "parts": lines,
            }
        ),
    }


def write_documents(folder: Path, world: World) -> None:
    """Write the five buckets."""
    folder.mkdir(parents=True, exist_ok=True)
    write_table(
        folder / "vehicles.csv",
        (
            "id",
            "registration",
            "vehicle_type",
            "make",
            "model",
            "drive",
            "home_depot",
            "commissioned_on",
            "purchase_price_eur",
            "seats",
            "wheelchair_spaces",
            "odometer_km",
            "low_floor",
            "inspection_due_on",
            "state",
            "decommissioned_on",
            "remarks",
        ),
        (
            (
                row.key,
                row.registration,
                row.kind,
                row.make,
                row.model,
                row.drive,
                row.depot,
                row.commissioned,
                row.price,
                row.seats,
                row.wheelchairs,
                row.odometer,
                row.low_floor,
                iso_text(row.inspection_due),
                row.state,
                iso_text(row.decommissioned),
                row.remarks,
            )
            for row in world.vehicles
        ),
    )
    write_table(
        folder / "staff.csv",
        (
            "id",
            "full_name",
            "job_title",
            "base_depot",
            "joined_on",
            "left_on",
            "mobile",
            "email",
            "residence",
            "weekly_hours",
            "hourly_wage_eur",
            "remarks",
        ),
        (
            (
                row.key,
                row.name,
                row.job,
                row.depot,
                row.joined,
                iso_text(row.left),
                row.mobile,
                row.email,
                row.residence,
                row.hours,
                f"{row.wage:.2f}",
                row.remarks,
            )
            for row in world.staff
        ),
    )
    write_table(
        folder / "trainings.csv",
        ("id", "participant", "course", "held_on", "expires_on", "provider", "outcome", "score_pct", "fee_eur"),
        (
            (
                row.key,
                row.participant,
                row.course,
                row.held,
                iso_text(row.expires),
                row.provider,
                row.outcome,
                "" if row.score is None else row.score,
                row.fee,
            )
            for row in world.trainings
        ),
    )
    write_lines(folder / "incidents.jsonl", (incident_record(row) for row in world.incidents))
    write_lines(folder / "repairs.jsonl", (repair_record(row) for row in world.repairs))


def find_vehicles(world: World, test: Callable[[Vehicle], bool]) -> list[Vehicle]:
    """Return the vehicles that meet a test."""
    return [row for row in world.vehicles if test(row)]


def find_staff(world: World, test: Callable[[Person], bool]) -> list[Person]:
    """Return the people who meet a test."""
    return [row for row in world.staff if test(row)]


def find_trainings(world: World, test: Callable[[Training], bool]) -> list[Training]:
    """Return the trainings that meet a test."""
    return [row for row in world.trainings if test(row)]


def find_incidents(world: World, test: Callable[[Incident], bool]) -> list[Incident]:
    """Return the incidents that meet a test."""
    return [row for row in world.incidents if test(row)]


def find_repairs(world: World, test: Callable[[Repair], bool]) -> list[Repair]:
    """Return the repairs that meet a test."""
    return [row for row in world.repairs if test(row)]


def top_item(items: Sequence[ITEM], measure: Callable[[ITEM], float]) -> ITEM:
    """Return the item with the largest measure and insist that there is only one."""
    best = max(measure(item) for item in items)
    winners = [item for item in items if measure(item) == best]
    if len(winners) != 1:
        raise ValueError(f"a tie at {best}")
    return winners[0]


def first_item(items: Sequence[ITEM], skip: int = 0) -> ITEM:
    """Return one item of a list that must be long enough."""
    if len(items) <= skip:
        raise ValueError("too few items")
    return items[skip]


def document_truth(rows: Sequence[Vehicle | Person | Training | Incident | Repair]) -> Truth:
    """Return the truth of a list of documents."""
    if not rows:
        raise ValueError("an empty list")
    names: dict[type, str] = {Vehicle: "vehicles.csv#", Person: "staff.csv#", Training: "trainings.csv#"}
    return {"documents": sorted(names.get(type(row), "") + row.key for row in rows)}


def value_truth(*values: str) -> Truth:
    """Return the truth of stated values."""
    if not all(values):
        raise ValueError("an empty value")
    return {"values": list(values)}


def winner_truth(name: str, *others: str) -> Truth:
    """Return the truth of one winner with other spellings."""
    return {"values": [name], "alternatives": [[other] for other in others]}


def number_truth(number: float, tolerance: float = 0.0) -> Truth:
    """Return the truth of a number."""
    if not number:
        raise ValueError("a zero")
    return {"number": number, "tolerance": tolerance} if tolerance else {"number": number}


def group_truth(labels: Iterable[str]) -> Truth:
    """Return the truth of counts by label."""
    counts: dict[str, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return {"groups": dict(sorted(counts.items()))}


def empty_truth(rows: Sequence[object] = ()) -> Truth:
    """Return the truth of nothing and insist on it."""
    if rows:
        raise ValueError("something was found")
    return {"nothing": True}


def manager_of(world: World, depot: str) -> Person:
    """Return the present manager of a depot."""
    return first_item(find_staff(world, lambda row: row.job == "depot manager" and row.depot == depot and not row.left))


def list_questions(world: World) -> list[Question]:
    """Return the questions for lists."""
    people: dict[str, Person] = {row.name: row for row in world.staff}
    squares = find_incidents(world, lambda row: row.place == "Market Square" and row.occurred.year in (2024, 2025))
    return [
        Question(
            "list",
            ["Which Harbour vehicles first went on the road before 2013? Retired or not."],
            document_truth(
                find_vehicles(world, lambda row: row.depot == "Harbour" and row.commissioned < date(2013, 1, 1))
            ),
            "since when = commissioned; Harbour is also part of a place",
        ),
        Question(
            "list",
            ["repair jobs at the westbrook workshop that arent finished yet"],
            document_truth(find_repairs(world, lambda row: row.workshop == "Westbrook" and not row.completed)),
            "two statuses mean unfinished",
        ),
        Question(
            "list",
            [
                "Which certificates run out anywhere between 1 December 2026 and 15 January 2027? Auditor is "
                "asking, thanks!"
            ],
            document_truth(
                find_trainings(
                    world, lambda row: row.expires is not None and date(2026, 12, 1) <= row.expires <= date(2027, 1, 15)
                )
            ),
            "range over expiry",
        ),
        Question(
            "list",
            ["crashes where somebody got hurt, line 14 or 22, in 2024 and 2025"],
            document_truth(
                find_incidents(
                    world,
                    lambda row: (
                        row.category == "collision"
                        and row.injured > 0
                        and row.line in ("14", "22")
                        and row.occurred.year in (2024, 2025)
                    ),
                )
            ),
            "crash = collision, hurt = injured > 0, either line, either year",
        ),
        Question(
            "list",
            ["Who among the people still working for us lives in Westbrook but is based at some other depot?"],
            document_truth(
                find_staff(
                    world, lambda row: row.residence == "Westbrook" and not row.left and row.depot != "Westbrook"
                )
            ),
            "same name as town and depot; negation",
        ),
        Question(
            "list",
            ["show me the repairs where we got a part from Kessler Parts at north of 800 euros apiece"],
            document_truth(
                find_repairs(
                    world,
                    lambda row: any(line.supplier == "Kessler Parts" and line.unit_price > 800 for line in row.parts),
                )
            ),
            "both conditions must hold on the same part line",
        ),
        Question(
            "list",
            [
                "What happened at Market Square in 2024 and 2025? List the incidents please",
                "only the ones with a police report",
            ],
            document_truth([row for row in squares if row.police == "yes"]),
            "follow-up narrows",
        ),
        Question(
            "list",
            ["which of our current bus drivers dont have a phone number on file"],
            document_truth(find_staff(world, lambda row: row.job == "bus driver" and not row.left and not row.mobile)),
            "missing value; leavers excluded",
        ),
        Question(
            "list",
            ["Could you pull the 2025 incidents where it was both dark and raining?"],
            document_truth(
                find_incidents(
                    world, lambda row: row.occurred.year == 2025 and "rain" in row.factors and "darkness" in row.factors
                )
            ),
            "two members of a list",
        ),
        Question(
            "list",
            ["in which incidents did a dog run onto the road?"],
            document_truth(find_incidents(world, lambda row: "dog ran onto the road" in row.text)),
            "only in the free text",
        ),
        Question(
            "list",
            ["all the fire safety trainings people actually passed, every one of them"],
            document_truth(find_trainings(world, lambda row: row.course == "Fire Safety" and row.outcome == "passed")),
            "a long list",
        ),
        Question(
            "join",
            ["Incidents in 2025 with a driver who lives in Carrow?"],
            document_truth(
                find_incidents(
                    world, lambda row: row.occurred.year == 2025 and people[row.driver].residence == "Carrow"
                )
            ),
            "driver's town is in the staff list; Carrow Hill is a place",
        ),
    ]


def count_questions(world: World) -> list[Question]:
    """Return the questions for counts."""
    fixer = first_item(find_staff(world, lambda row: row.job == "mechanic" and not row.left), 6)
    flunked = {
        row.participant for row in find_trainings(world, lambda row: row.outcome == "failed" and row.held.year == 2025)
    }
    return [
        Question(
            "count",
            ["how many bus drivers do we have at Northmoor right now"],
            number_truth(
                len(
                    find_staff(world, lambda row: row.job == "bus driver" and row.depot == "Northmoor" and not row.left)
                )
            ),
            "leavers excluded; Northmoor is also a town",
        ),
        Question(
            "count",
            ["How often were we hit by vandalism in 2023?", "and in 2024?"],
            number_truth(
                len(find_incidents(world, lambda row: row.category == "vandalism" and row.occurred.year == 2024))
            ),
            "follow-up swaps the year",
        ),
        Question(
            "count",
            ["How many different people flunked at least one course in 2025?"],
            number_truth(len(flunked)),
            "distinct people, not rows; no-shows are not failures",
        ),
        Question(
            "count",
            ["nr of vehicles with room for two or more wheelchairs, retired ones not counted"],
            number_truth(len(find_vehicles(world, lambda row: row.wheelchairs >= 2 and row.state != "retired"))),
            "at least, with an exclusion",
        ),
        Question(
            "count",
            [f"how many repairs did {fixer.name} have a hand in, alone or with others?"],
            number_truth(len(find_repairs(world, lambda row: fixer.name in row.mechanics))),
            "name in a list",
        ),
        Question(
            "count",
            ["incidents from 2026 that still arent wrapped up - how many is that?"],
            number_truth(len(find_incidents(world, lambda row: row.occurred.year == 2026 and row.status != "closed"))),
            "not closed covers two statuses",
        ),
    ]


def lookup_questions(world: World) -> list[Question]:
    """Return the questions for one fact."""
    bus = first_item(find_vehicles(world, lambda row: row.kind == "bus"), 17)
    crash, finished = find_incidents(
        world, lambda row: row.category == "collision" and row.closed is not None and row.occurred.year == 2025
    )[4:6]
    aids = find_trainings(world, lambda row: row.course == "First Aid")
    single = first_item(
        [
            row
            for row in aids
            if row.outcome == "passed"
            and row.held.year == 2025
            and len([other for other in aids if other.participant == row.participant]) == 1
        ],
        3,
    )
    glass = first_item(
        find_repairs(
            world,
            lambda row: (
                row.job == "Windscreen replacement"
                and len(row.parts) == 2
                and row.parts[0].supplier != row.parts[1].supplier
            ),
        ),
        5,
    )
    gearbox = first_item(
        [
            row
            for row in find_repairs(world, lambda row: row.job == "Gearbox replacement" and row.completed is not None)
            if len(find_repairs(world, lambda job: job.vehicle == row.vehicle and job.job == row.job)) == 1
        ],
        3,
    )
    boss = manager_of(world, "Harbour")
    return [
        Question("lookup", [f"whats the number plate of bus {bus.key}"], value_truth(bus.registration), "plate"),
        Question("lookup", [f"who was behind the wheel in {crash.key}?"], value_truth(crash.driver), "driver"),
        Question(
            "lookup",
            [f"When does {single.participant}'s first aid certificate run out?", "and what did they score?"],
            value_truth(str(single.score)),
            "follow-up asks another column of the same row",
        ),
        Question(
            "lookup",
            [f"Which supplier did the windscreen on {glass.key} come from? Not the sealant, the glass."],
            value_truth(glass.parts[0].supplier),
            "the right part line of two",
        ),
        Question(
            "lookup",
            [f"hey, what did the gearbox replacement on {gearbox.vehicle} come to in total?"],
            number_truth(gearbox.total, 0.001),
            "job named by kind and vehicle",
        ),
        Question(
            "lookup",
            ["Who is in charge of the Harbour depot these days?", "whats their email?"],
            value_truth(boss.email),
            "former manager is in the list too",
        ),
        Question(
            "lookup",
            [f"on what day did we close the file on {finished.key}"],
            value_truth(iso_text(finished.closed)),
            "closing date, not the day it happened",
        ),
    ]


def superlative_questions(world: World) -> list[Question]:
    """Return the questions for extremes."""
    tram = top_item(
        find_vehicles(world, lambda row: row.kind == "tram" and row.state != "retired"),
        lambda row: -row.commissioned.toordinal(),
    )
    worn = top_item(
        find_vehicles(world, lambda row: row.depot == "Westbrook" and row.state != "retired"), lambda row: row.odometer
    )
    veteran = top_item(
        find_staff(world, lambda row: row.job == "mechanic" and not row.left), lambda row: -row.joined.toordinal()
    )
    dear = top_item(
        find_repairs(
            world, lambda row: row.completed is not None and row.completed.year == 2025 and row.opened.year == 2025
        ),
        lambda row: row.total,
    )
    dear_late = top_item(find_repairs(world, lambda row: row.opened.year == 2025), lambda row: row.total)
    if dear.key != dear_late.key:
        raise ValueError("the dearest repair depends on the date meant")
    claims = find_repairs(world, lambda row: row.warranty == "yes" and row.workshop == "Quarry Lane")
    cheap = top_item(claims, lambda row: -row.total)
    return [
        Question(
            "superlative",
            ["what's the oldest tram we still have?", "which depot is it at?"],
            value_truth(tram.depot),
            "retired trams out; follow-up on the winner",
        ),
        Question(
            "superlative",
            ["Which of the Westbrook vehicles has the most on the clock? Retired ones dont matter."],
            winner_truth(worn.key, worn.registration),
            "mileage",
        ),
        Question(
            "superlative",
            ["longest serving mechanic who's still here?"],
            winner_truth(veteran.name, veteran.key),
            "earliest joining date, leavers out",
        ),
        Question(
            "superlative",
            ["the priciest repair job opened in 2025, which one was it"],
            winner_truth(dear.key, dear.title),
            "maximum of the total",
        ),
        Question(
            "superlative",
            ["Warranty repairs done in the Quarry Lane workshop please", "the cheapest of them?"],
            winner_truth(cheap.key, cheap.title),
            "follow-up with minimum; Quarry Lane is also a street",
        ),
    ]


def number_questions(world: World) -> list[Question]:
    """Return the questions for sums, averages and groups."""
    homes: dict[str, str] = {row.key: row.depot for row in world.vehicles}
    fees = find_trainings(world, lambda row: row.provider == "Red Cross Linton" and row.held.year == 2025)
    damages: list[int] = [
        row.damage
        for row in find_incidents(world, lambda row: row.category == "collision" and row.occurred.year == 2024)
        if row.damage is not None
    ]
    pads = sum(
        line.quantity
        for row in find_repairs(world, lambda row: row.opened.year == 2024)
        for line in row.parts
        if line.part == "Brake pad set"
    )
    harbour = sum(
        row.total
        for row in find_repairs(world, lambda row: row.opened.year == 2025 and homes[row.vehicle] == "Harbour")
    )
    return [
        Question(
            "number",
            [
                "quick one before the budget meeting: what did the Red Cross Linton courses held in 2025 "
                "set us back all in all?"
            ],
            number_truth(sum(row.fee for row in fees)),
            "sum of fees, any outcome",
        ),
        Question(
            "number",
            ["Average damage per collision in 2024, counting only those with an estimate"],
            number_truth(sum(damages) / len(damages), 0.01),
            "mean with gaps",
        ),
        Question(
            "number",
            ["how many brake pad sets went into jobs opened in 2024, in pieces not orders"],
            number_truth(pads),
            "sum of quantities on part lines",
        ),
        Question(
            "group",
            ["Break the 2024 incidents down by how bad they were."],
            group_truth(row.severity for row in world.incidents if row.occurred.year == 2024),
            "group by severity",
        ),
        Question(
            "group",
            ["how many vehicels per depot? leave out whatever is retired"],
            group_truth(row.depot for row in world.vehicles if row.state != "retired"),
            "group with exclusion",
        ),
        Question(
            "join",
            ["What did repairs opened in 2025 cost us for vehicles stationed at Northmoor?", "same for Harbour?"],
            number_truth(round(harbour, 2), 0.001),
            "home depot of the vehicle, not the workshop; follow-up swaps the depot",
        ),
    ]


def decision_questions(world: World) -> list[Question]:
    """Return yes/no, comparison, join, compound and ambiguous questions."""
    makes: dict[str, str] = {row.key: row.make for row in world.vehicles}
    kinds: dict[str, str] = {row.key: row.category for row in world.incidents}
    by_name: dict[str, Person] = {row.name: row for row in world.staff}
    lapsed = first_item(
        [
            person
            for person in find_staff(world, lambda row: row.job == "mechanic" and not row.left)
            if (
                own := find_trainings(
                    world,
                    lambda row: (
                        row.participant == person.name
                        and row.course == "Forklift Operation"
                        and row.outcome == "passed"
                    ),
                )
            )
            and all(row.expires is not None and row.expires < date(2026, 9, 1) for row in own)
        ]
    )
    steps = find_vehicles(world, lambda row: row.kind == "tram" and row.low_floor == "no" and row.state != "retired")
    if not steps:
        raise ValueError("every tram is low-floor")
    stumbled = [
        row.participant
        for row in find_trainings(
            world,
            lambda row: (
                row.course == "First Aid"
                and row.outcome == "failed"
                and row.held.year >= 2023
                and by_name[row.participant].depot == "Quarry Lane"
            ),
        )
    ]
    hit = first_item(find_incidents(world, lambda row: row.category == "collision" and row.severity == "serious"), 6)
    parked = first_item(find_vehicles(world, lambda row: row.depot == "Eastgate" and row.state == "in service"), 5)
    volts = {
        row.participant
        for row in find_trainings(
            world,
            lambda row: (
                row.course == "High Voltage Safety" and row.expires is not None and row.expires > date(2027, 12, 31)
            ),
        )
    }
    shop = find_vehicles(world, lambda row: row.state == "in workshop")
    newest = top_item(shop, lambda row: row.odometer)
    hire = first_item(
        find_staff(world, lambda row: row.job == "dispatcher" and bool(row.residence) and not row.left), 5
    )
    report = first_item(find_incidents(world, lambda row: row.injured == 2 and row.occurred.year == 2024), 1)
    brandts = find_staff(world, lambda row: row.name.endswith(" Brandt"))
    east, west = (
        len(find_vehicles(world, lambda row: row.depot == depot and row.state != "retired"))
        for depot in ("Eastgate", "Westbrook")
    )
    if east == west:
        raise ValueError("a tie of depots")
    return [
        Question(
            "yes_no", [f"Is {lapsed.name}'s forklift ticket still good?"], {"yes_no": "no"}, "expired before today"
        ),
        Question("yes_no", ["Are all of our trams low-floor?"], {"yes_no": "no"}, "one counterexample settles it"),
        Question("yes_no", [f"did {hit.vehicle} ever have a serious crash?"], {"yes_no": "yes"}, "existence"),
        Question(
            "yes_no",
            ["Did anybody based at Quarry Lane fail first aid in 2023 or later?"],
            {"yes_no": "yes" if stumbled else "no"},
            "the depot is only in the staff list",
        ),
        Question(
            "compare",
            ["who has more vehicles not counting retired ones - Eastgate or Westbrook?"],
            value_truth("Eastgate" if east > west else "Westbrook"),
            "two counts",
        ),
        Question(
            "join",
            [f"Could I get the phone number of the manager of the depot where {parked.key} is kept?"],
            value_truth(manager_of(world, "Eastgate").mobile),
            "vehicle to depot to manager",
        ),
        Question(
            "join",
            ["repairs on Solvan vehicles that followed from a collision, opened since the start of 2025"],
            document_truth(
                find_repairs(
                    world,
                    lambda row: (
                        makes[row.vehicle] == "Solvan"
                        and bool(row.incident)
                        and kinds[row.incident] == "collision"
                        and row.opened >= date(2025, 1, 1)
                    ),
                )
            ),
            "two joins",
        ),
        Question(
            "join",
            ["Which of our current mechanics hold a high voltage certificate that lasts beyond the end of 2027?"],
            document_truth(
                [by_name[name] for name in sorted(volts) if not by_name[name].left and by_name[name].job == "mechanic"]
            ),
            "people, not certificates",
        ),
        Question(
            "compound",
            ["How many vehicles are in the workshop at the moment, and which of them has the highest mileage?"],
            {"parts": [number_truth(len(shop)), winner_truth(newest.key, newest.registration)]},
            "count and top",
        ),
        Question(
            "compound",
            [f"when did {hire.name} join and what town does this person live in?"],
            {"parts": [value_truth(hire.joined.isoformat()), value_truth(hire.residence)]},
            "two facts of one row",
        ),
        Question(
            "compound",
            [f"{report.key}: who was driving, and how many people got injured?"],
            {"parts": [value_truth(report.driver), number_truth(report.injured)]},
            "name and number",
        ),
        Question(
            "ambiguous",
            ["I need Brandt's phone number"],
            {"ask": True, "readings": [value_truth(row.mobile) for row in brandts]},
            "two people called Brandt",
        ),
    ]


def nothing_questions(world: World) -> list[Question]:
    """Return the questions that have no answer."""
    names = {row.name for row in world.staff}
    buses = {row.key for row in find_vehicles(world, lambda row: row.kind == "bus")}
    ghost = first_item(
        [f"{first} {last}" for first in FIRST_NAMES[20:] for last in LAST_NAMES[7:] if f"{first} {last}" not in names]
    )
    blank = first_item(find_staff(world, lambda row: not row.email and not row.left and row.job == "bus driver"), 1)
    driver = first_item(find_staff(world, lambda row: row.job == "bus driver" and bool(row.residence)), 20)
    bus = first_item(find_vehicles(world, lambda row: row.drive == "diesel"), 8)
    crash = first_item(
        find_incidents(
            world, lambda row: row.category == "collision" and row.damage is not None and row.vehicle in buses
        ),
        30,
    )
    absent = find_vehicles(world, lambda row: row.key == "V987")
    return [
        Question(
            "nothing",
            [f"Can you give me {ghost}'s phone number?"],
            empty_truth(find_staff(world, lambda row: row.name == ghost)),
            "first and last name exist, but not together",
        ),
        Question(
            "nothing", [f"whats the email of {blank.name}"], empty_truth(), "the person exists, the cell is empty"
        ),
        Question("nothing", ["which of our buses have wifi on board?"], empty_truth(), "not recorded"),
        Question("nothing", [f"How many litres per 100 km does {bus.key} burn?"], empty_truth(), "not recorded"),
        Question(
            "nothing",
            [f"Where does {driver.name} live?", "and when is their birthday?"],
            empty_truth(),
            "follow-up asks what nobody records",
        ),
        Question(
            "nothing",
            ["open jobs at the Linton workshop?"],
            empty_truth(find_repairs(world, lambda row: row.workshop == "Linton")),
            "Linton is a town and a roundabout, not a workshop",
        ),
        Question(
            "nothing",
            ["which trams run on CNG"],
            empty_truth(find_vehicles(world, lambda row: row.kind == "tram" and row.drive == "CNG")),
            "both values exist, never together",
        ),
        Question("nothing", ["How many passengers did line 14 carry in 2025?"], empty_truth(), "not recorded"),
        Question(
            "nothing", [f"how fast was the bus going when it crashed, {crash.key}"], empty_truth(), "not recorded"
        ),
        Question(
            "nothing",
            ["certifcates that only run out in 2034 or later pls"],
            empty_truth(find_trainings(world, lambda row: row.expires is not None and row.expires.year >= 2034)),
            "honest empty set",
        ),
        Question("nothing", ["when was V987 put into service?"], empty_truth(absent), "no such vehicle"),
        Question("nothing", ["which drivers called in sick in March 2025"], empty_truth(), "not recorded"),
    ]


def build_questions(world: World) -> list[Question]:
    """Return all questions in a mixed order."""
    rows = [
        *list_questions(world),
        *count_questions(world),
        *lookup_questions(world),
        *superlative_questions(world),
        *number_questions(world),
        *decision_questions(world),
        *nothing_questions(world),
    ]
    random.Random(SEED).shuffle(rows)
    return rows


def run_program(arguments: Sequence[str]) -> None:
    """Write documents and questions below the folder named on the command line."""
    folder = Path(arguments[0])
    world = build_world(random.Random(SEED))
    write_documents(folder / "documents", world)
    write_lines(
        folder / "questions.jsonl",
        (
            {"id": f"q{index + 1:02d}", "kind": row.kind, "turns": row.turns, "truth": row.truth, "why": row.why}
            for index, row in enumerate(build_questions(world))
        ),
    )


if __name__ == "__main__":
    run_program(sys.argv[1:])
