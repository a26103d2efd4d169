"""Generate a structured round about a network of veterinary clinics: documents, questions and computed truths."""

import csv
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar

SEED: int = 101
TODAY: date = date(2026, 11, 22)
FIRST_VISIT: date = date(2023, 1, 2)

Truth = dict[str, object]
Cell = str | int | float
Item = TypeVar("Item")
Key = TypeVar("Key", float, str)


@dataclass
class Clinic:
    """One branch of the network."""

    id: str
    name: str
    town: str
    county: str
    opened_on: str
    practice_manager: str
    phone: str
    consulting_rooms: int
    overnight_ward: str
    out_of_hours: str
    lease_ends_on: str
    annual_rent_gbp: str
    notes: str


@dataclass
class Employee:
    """One present or former member of staff."""

    id: str
    full_name: str
    job_title: str
    clinic_id: str
    start_date: str
    end_date: str
    contract_hours: str
    annual_salary_gbp: int
    languages: str
    licence_no: str
    licence_expires: str
    phone_ext: str
    first_aider: str


@dataclass
class Animal:
    """One patient with its owner."""

    id: str
    name: str
    species: str
    breed: str
    sex: str
    date_of_birth: str
    weight_kg: str
    neutered: str
    microchip_no: str
    owner: str
    owner_phone: str
    owner_town: str
    registered_at: str
    insurer: str
    allergies: str
    deceased_on: str
    notes: str


@dataclass
class Stock:
    """One batch of a product on the shelf of one clinic."""

    id: str
    product: str
    form: str
    clinic_id: str
    batch_no: str
    qty_on_hand: int
    unit: str
    reorder_level: int
    expiry_date: str
    unit_cost_gbp: str
    supplier: str
    controlled: str
    storage: str
    last_counted_on: str


@dataclass
class Visit:
    """One appointment."""

    id: str
    visit_date: str
    animal: Animal
    clinic: str
    vet: str
    reason: str
    status: str
    diagnosis: str
    minutes: int
    total: float
    paid_on: str
    recheck_due: str
    rows: list[dict[str, Cell]]
    tags: list[str]
    text: str


@dataclass
class World:
    """All the records together."""

    clinics: list[Clinic]
    staff: list[Employee]
    animals: list[Animal]
    stock: list[Stock]
    visits: list[Visit]


CLINIC_ROWS: list[tuple[str, str, str, str, int, str, str, str, str, str]] = [
    (
        "Exeter Quay",
        "Exeter",
        "Devon",
        "2004-05-10",
        6,
        "yes",
        "24h",
        "2031-05-09",
        "61200",
        "Head office on the first floor.",
    ),
    ("Exeter Heath", "Exeter", "Devon", "2016-09-01", 3, "no", "none", "2028-08-31", "34800", ""),
    (
        "Truro Lemon Street",
        "Truro",
        "Cornwall",
        "2009-03-16",
        4,
        "yes",
        "evenings",
        "2029-03-15",
        "29500",
        "Loading bay shared with the bakery next door.",
    ),
    (
        "Plymouth Hoe",
        "Plymouth",
        "Devon",
        "2007-11-05",
        5,
        "yes",
        "24h",
        "2027-10-31",
        "47900",
        "MRI van calls on the second Tuesday of the month.",
    ),
    ("Taunton Vale", "Taunton", "Somerset", "2011-06-20", 4, "no", "evenings", "2030-06-19", "31250", ""),
    (
        "Bath Riverside",
        "Bath",
        "Somerset",
        "2013-02-04",
        4,
        "no",
        "evenings",
        "2033-02-03",
        "58400",
        "Flood barriers stored in the cellar.",
    ),
    ("Barnstaple Bridge", "Barnstaple", "Devon", "2014-10-13", 3, "no", "none", "2029-10-12", "22600", ""),
    (
        "Bideford Strand",
        "Bideford",
        "Devon",
        "2018-04-23",
        2,
        "no",
        "none",
        "",
        "",
        "Building belongs to us, bought in 2018.",
    ),
    ("Yeovil Hendford", "Yeovil", "Somerset", "2012-01-30", 3, "yes", "evenings", "2027-01-29", "24100", ""),
    (
        "Torquay Bay",
        "Torquay",
        "Devon",
        "2017-07-03",
        4,
        "no",
        "24h",
        "2032-07-02",
        "36700",
        "Separate cat waiting room.",
    ),
    ("Salisbury Close", "Salisbury", "Wiltshire", "2019-05-27", 3, "no", "none", "2029-05-26", "39900", ""),
    (
        "Gloucester Docks",
        "Gloucester",
        "Gloucestershire",
        "2021-03-08",
        5,
        "yes",
        "24h",
        "2036-03-07",
        "44300",
        "Hydrotherapy pool opened with the building.",
    ),
    ("Falmouth Pier", "Falmouth", "Cornwall", "2023-01-02", 2, "no", "none", "2028-01-01", "19800", ""),
]

FIRST_NAMES: list[str] = (
    "Alice Amir Anna Ben Bridget Callum Carla Charlotte Daniel Deepa Dylan Eleanor Emeka Esther Fiona Frank George "
    "Grace Hannah Harvey Helen Imogen Isaac Jack Jasmine Joan Jorge Kate Keith Laura Leon Lucy Magda Marcus Maya "
    "Nadia Neil Nina Oliver Omar Patrick Paula Piotr Priya Rachel Robert Rosa Samuel Sara Simon Sophie Stefan Tessa "
    "Thomas Uma Victor Wendy Yusuf Zoe"
).split()
LAST_NAMES: list[str] = (
    "Abbott Adeyemi Ashworth Baker Barlow Bennett Blackwood Bryant Carver Chowdhury Clarke Coombes Dawson Dempsey "
    "Doyle Eastman Edwards Ellery Fairchild Farrow Fletcher Forde Gallagher Gibbs Goodwin Grantham Hale Harding "
    "Hewitt Holloway Hughes Iqbal Jarvis Jenkins Kaur Keane Kowalski Lambert Langdon Lister Lowe Maddox Marsh "
    "Mbeki McBride Mistry Nash Newcombe Novak Oakley Osborne Parry Patel Pengelly Penrose Quick Radford Rees Rowe "
    "Sandhu Sheppard Singh Slater Stanton Tamblyn Thorne Tregenza Trevithick Underhill Vickers Wallis Webber "
    "Whitlock Winter Woodcock Yates Zielinski"
).split()
PET_NAMES: list[str] = (
    "Alfie Archie Bailey Barney Basil Bear Bella Biscuit Bramble Buddy Charlie Clover Coco Cookie Daisy Dexter "
    "Domino Ella Fern Finn Freddie Ginger Hazel Honey Jasper Jess Kiki Lola Loki Luna Max Millie Misty Molly Monty "
    "Nala Oreo Oscar Otis Pepper Percy Pickle Pip Poppy Rolo Rosie Rusty Sasha Scout Shadow Smudge Socks Sooty "
    "Storm Teddy Tilly Toffee Willow Winston Ziggy"
).split()
RARE_PET_NAMES: list[str] = (
    "Aristotle Bathsheba Cappuccino Dumpling Excalibur Fandango Gazpacho Hercules Icarus Jambalaya Kerfuffle "
    "Lancelot Marzipan Nebula Octavia Pumpernickel Quasar Rhubarb Sarsaparilla Tamarind"
).split()
BREEDS: dict[str, list[tuple[str, float, float]]] = {
    "dog": [
        ("Labrador Retriever", 24, 36),
        ("Cocker Spaniel", 11, 16),
        ("Border Collie", 14, 22),
        ("Jack Russell Terrier", 5, 8),
        ("German Shepherd", 26, 41),
        ("Great Dane", 48, 68),
        ("Whippet", 10, 15),
        ("French Bulldog", 9, 14),
        ("Cockapoo", 6, 12),
        ("Mixed breed", 8, 35),
    ],
    "cat": [
        ("Domestic Shorthair", 3, 6),
        ("Maine Coon", 5, 9),
        ("British Shorthair", 4, 7),
        ("Siamese", 3, 5),
        ("Ragdoll", 4, 8),
    ],
    "rabbit": [("Netherland Dwarf", 0.8, 1.3), ("Lop", 1.5, 2.8), ("Rex", 2.4, 4.4)],
    "guinea pig": [("Abyssinian", 0.7, 1.2), ("Peruvian", 0.7, 1.3)],
    "ferret": [("Standard", 0.7, 1.9)],
    "tortoise": [("Hermann's", 1.5, 4), ("Leopard", 9, 17)],
    "parrot": [("African Grey", 0.4, 0.6), ("Cockatiel", 0.08, 0.12)],
}
SPECIES_WEIGHTS: list[tuple[str, int]] = [
    ("dog", 48),
    ("cat", 32),
    ("rabbit", 8),
    ("guinea pig", 4),
    ("ferret", 3),
    ("tortoise", 3),
    ("parrot", 2),
]
EXTRA_TOWNS: list[str] = ["Crediton", "Newquay", "Wellington", "Ilfracombe", "Totnes", "Glastonbury", "Northam"]
INSURERS: list[str] = ["PetGuard", "Furwell Mutual", "Companion Cover", "Hartley & Finch"]
SUPPLIERS: list[str] = ["Covetra", "Moorland Pharma", "National Vet Wholesale"]
PRODUCTS: list[tuple[str, str, str, float, str, str]] = [
    ("Meloxicam 1.5 mg/ml", "oral suspension", "bottle", 11.4, "no", "room"),
    ("Meloxicam 5 mg/ml", "injection", "vial", 14.9, "no", "room"),
    ("Amoxicillin 250 mg", "tablet", "tablet", 0.32, "no", "room"),
    ("Cefalexin 300 mg", "tablet", "tablet", 0.54, "no", "room"),
    ("Ketamine 100 mg/ml", "injection", "vial", 17.8, "yes", "safe"),
    ("Methadone 10 mg/ml", "injection", "vial", 21.3, "yes", "safe"),
    ("Buprenorphine 0.3 mg/ml", "injection", "vial", 19.6, "yes", "safe"),
    ("Propofol 10 mg/ml", "injection", "vial", 8.7, "no", "room"),
    ("Pentobarbital 200 mg/ml", "injection", "bottle", 26.5, "yes", "safe"),
    ("Insulin 40 IU/ml", "injection", "vial", 38.2, "no", "fridge"),
    ("Dog vaccine DHPPi/L4", "injection", "dose", 6.9, "no", "fridge"),
    ("Cat vaccine FVRCP", "injection", "dose", 6.2, "no", "fridge"),
    ("Rabbit vaccine Myxo-RHD", "injection", "dose", 7.8, "no", "fridge"),
    ("Maropitant 10 mg/ml", "injection", "vial", 33.0, "no", "room"),
    ("Fluralaner 500 mg", "tablet", "tablet", 19.1, "no", "room"),
    ("Chlorhexidine shampoo", "topical", "bottle", 9.3, "no", "room"),
    ("Fusidic acid eye gel", "topical", "tube", 5.6, "no", "room"),
    ("Otic drops with miconazole", "topical", "bottle", 12.2, "no", "room"),
    ("Prednisolone 5 mg", "tablet", "tablet", 0.18, "no", "room"),
]
Plan = tuple[str, list[str], list[tuple[str, str, float, float]], str]
PLANS: list[Plan] = [
    ("annual booster", ["healthy"], [("Vaccination", "", 48, 62)], "prevention"),
    (
        "limping",
        ["cruciate strain", "arthritis", "sprained paw"],
        [("X-ray", "", 140, 210), ("Pain relief", "Meloxicam 1.5 mg/ml", 18, 34)],
        "orthopaedics",
    ),
    (
        "vomiting",
        ["gastroenteritis", "pancreatitis", "swallowed object"],
        [("Anti-sickness injection", "Maropitant 10 mg/ml", 28, 45), ("Blood panel", "", 85, 120)],
        "internal medicine",
    ),
    (
        "itchy skin",
        ["flea allergy", "atopic dermatitis", "ringworm"],
        [("Skin scrape", "", 35, 50), ("Medicated bath", "Chlorhexidine shampoo", 22, 31)],
        "skin",
    ),
    ("sore ear", ["ear mites", "otitis externa"], [("Ear flush", "Otic drops with miconazole", 40, 66)], "ears"),
    (
        "bad breath",
        ["gum disease", "fractured tooth"],
        [("Scale and polish", "", 160, 230), ("Anaesthetic", "Propofol 10 mg/ml", 90, 130)],
        "dental",
    ),
    (
        "weight loss",
        ["diabetes", "overactive thyroid", "kidney disease"],
        [("Blood panel", "", 85, 120), ("Ultrasound scan", "", 150, 205)],
        "internal medicine",
    ),
    ("red eye", ["conjunctivitis", "corneal ulcer"], [("Eye gel", "Fusidic acid eye gel", 16, 24)], "eyes"),
    (
        "cut or bite wound",
        ["abscess", "laceration"],
        [("Wound stitching", "", 95, 170), ("Antibiotics", "Amoxicillin 250 mg", 15, 32)],
        "emergency",
    ),
]
NOTE_LINES: list[str] = [
    "Owner will ring back on Monday.",
    "Muzzle used, calm afterwards.",
    "Advised a lighter diet.",
    "Very friendly patient.",
    "Nervous on the table.",
    "Owner asked for a copy of the notes.",
    "Came with the neighbour instead of the owner.",
    "Parked round the back because of the roadworks.",
]


def random_day(rng: random.Random, low: date, high: date) -> date:
    """Return a day between two days, both included."""
    return low + timedelta(days=rng.randint(0, max(0, (high - low).days)))


def weighted_species(rng: random.Random) -> str:
    """Draw a species with realistic shares."""
    return rng.choices([name for name, _ in SPECIES_WEIGHTS], [share for _, share in SPECIES_WEIGHTS])[0]


def shuffled_names(rng: random.Random) -> list[str]:
    """Return all full names in a random order."""
    names: list[str] = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
    rng.shuffle(names)
    return names


def build_staff(rng: random.Random, names: list[str]) -> list[Employee]:
    """Make the employees of every clinic."""
    pay: dict[str, tuple[int, int]] = {
        "Veterinary Surgeon": (44000, 71000),
        "Veterinary Nurse": (26500, 35500),
        "Receptionist": (22800, 27200),
        "Practice Manager": (37500, 49500),
        "Animal Care Assistant": (22100, 24900),
    }
    staff: list[Employee] = []
    ext: int = 201

    def add_employee(title: str, clinic: int, low: date, high: date, end: str, fixed: str = "") -> None:
        nonlocal ext
        number: int = len(staff) + 1
        spoken: list[str] = ["English"]
        if rng.random() < 0.45:
            spoken += sorted(
                rng.sample(["Polish", "Spanish", "French", "Welsh", "Punjabi", "Portuguese"], rng.choice([1, 1, 2]))
            )
        is_clinical: bool = title in ("Veterinary Surgeon", "Veterinary Nurse")
        opened: date = date.fromisoformat(CLINIC_ROWS[clinic][3])
        start: date = random_day(rng, max(low, opened), max(high, opened))
        expires: str = random_day(rng, date(2026, 12, 1), date(2029, 6, 30)).isoformat()
        staff.append(
            Employee(
                f"ST-{number:03d}",
                fixed or names.pop(),
                title,
                f"CL-{clinic + 1:02d}",
                start.isoformat(),
                end,
                "" if rng.random() < 0.06 else str(rng.choice([16, 20, 24, 30, 37.5, 37.5, 40])),
                rng.randrange(pay[title][0], pay[title][1], 50),
                "; ".join(spoken),
                f"{'MR' if title == 'Veterinary Surgeon' else 'RN'}{rng.randint(100000, 999999)}"
                if is_clinical
                else "",
                expires if is_clinical and not end else "",
                "" if end or (rng.random() < 0.1 and title != "Practice Manager") else str(ext),
                rng.choice(["yes", "no", "no", ""]),
            )
        )
        ext += rng.randint(1, 4)

    for clinic in range(len(CLINIC_ROWS)):
        early: tuple[date, date] = (date(2009, 1, 5), date(2022, 12, 31))
        add_employee("Practice Manager", clinic, date(2014, 1, 6), date(2024, 12, 31), "")
        fixed_vet: str = {0: "Rhys Morgan", 5: "Cerys Morgan"}.get(clinic, "")
        add_employee("Veterinary Surgeon", clinic, early[0], early[1], "", fixed_vet)
        add_employee("Veterinary Surgeon", clinic, early[0], early[1], "")
        for title, many in (
            ("Veterinary Surgeon", 1),
            ("Veterinary Nurse", 3),
            ("Receptionist", 1),
            ("Animal Care Assistant", 1),
        ):
            for _ in range(many + (1 if rng.random() < 0.3 else 0)):
                gone: bool = rng.random() < 0.2
                end: str = random_day(rng, date(2024, 6, 1), date(2026, 10, 31)).isoformat() if gone else ""
                add_employee(title, clinic, date(2012, 1, 2), date(2023, 12, 31) if gone else date(2026, 9, 30), end)
    return staff


def build_clinics(rng: random.Random, staff: Sequence[Employee]) -> list[Clinic]:
    """Make the branches with their managers."""
    clinics: list[Clinic] = []
    for number, row in enumerate(CLINIC_ROWS, start=1):
        clinic_id: str = f"CL-{number:02d}"
        boss: str = next(p.full_name for p in staff if p.clinic_id == clinic_id and p.job_title == "Practice Manager")
        phone: str = f"01{rng.randint(200, 999)} {rng.randint(100000, 999999)}"
        clinics.append(
            Clinic(
                clinic_id, row[0], row[1], row[2], row[3], boss, phone, row[4], row[5], row[6], row[7], row[8], row[9]
            )
        )
    return clinics


def build_animals(rng: random.Random, names: list[str], staff: Sequence[Employee]) -> list[Animal]:
    """Make owners and their animals."""
    towns: list[str] = [row[1] for row in CLINIC_ROWS]
    own_staff: list[Employee] = rng.sample([p for p in staff if "Morgan" not in p.full_name], 7)
    owners: list[tuple[str, str]] = [(p.full_name, p.clinic_id) for p in own_staff]
    owners += [(names.pop(), "") for _ in range(310)]
    rng.shuffle(owners)
    rare: list[str] = list(RARE_PET_NAMES)
    animals: list[Animal] = []
    for owner, staff_clinic in owners:
        index: int = int(staff_clinic[3:]) - 1 if staff_clinic else rng.randrange(len(CLINIC_ROWS))
        home: str = towns[index] if rng.random() < 0.72 else rng.choice(sorted(set(towns + EXTRA_TOWNS)))
        phone: str = f"07{rng.randint(100, 999)} {rng.randint(100000, 999999)}"
        for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 2, 3, 4])):
            species: str = weighted_species(rng)
            breed, light, heavy = rng.choice(BREEDS[species])
            span: dict[str, int] = {"tortoise": 1975, "parrot": 1996, "dog": 2011, "cat": 2009}
            born: date = random_day(rng, date(span.get(species, 2018), 1, 1), date(2026, 5, 31))
            dead: str = ""
            if rng.random() < 0.08 and born < date(2022, 1, 1):
                dead = random_day(rng, date(2024, 1, 10), date(2026, 11, 10)).isoformat()
            name: str = rare.pop(0) if rare and rng.random() < 0.05 else rng.choice(PET_NAMES)
            neuter: str = (
                rng.choices(["yes", "no", ""], [58, 34, 8])[0] if species in ("dog", "cat", "rabbit", "ferret") else ""
            )
            chipped: bool = species in ("dog", "cat", "parrot", "tortoise") and rng.random() < 0.82
            insured: bool = species in ("dog", "cat", "rabbit") and rng.random() < 0.5
            weight: str = f"{rng.uniform(light, heavy):.{2 if heavy < 5 else 1}f}"
            animals.append(
                Animal(
                    f"AN-{len(animals) + 1:04d}",
                    name,
                    species,
                    breed,
                    rng.choice(["female", "male"]),
                    "" if rng.random() < 0.06 and species not in ("tortoise", "parrot") else born.isoformat(),
                    "" if rng.random() < 0.06 else weight,
                    neuter,
                    f"9810{rng.randint(10**10, 10**11 - 1)}" if chipped else "",
                    owner,
                    phone,
                    home,
                    CLINIC_ROWS[index][0],
                    rng.choice(INSURERS) if insured else "",
                    rng.choice(["penicillin", "chicken", "penicillin; chicken", "wheat", "bee stings"])
                    if rng.random() < 0.09
                    else "",
                    dead,
                    rng.choice(
                        [
                            "",
                            "",
                            "",
                            "",
                            "Rescue from Bath cats home.",
                            "Shy with strangers.",
                            "Will bite.",
                            "Lives with a horse and two goats.",
                            "Second opinion case.",
                            "Please call by mobile.",
                        ]
                    ),
                )
            )
    return animals


def build_stock(rng: random.Random) -> list[Stock]:
    """Make the batches on the shelves."""
    stock: list[Stock] = []
    for clinic in range(1, len(CLINIC_ROWS) + 1):
        for name, form, unit, cost, controlled, storage in PRODUCTS:
            if clinic == 8 and name.startswith("Propofol"):
                continue
            if rng.random() < 0.1:
                continue
            for _ in range(rng.choice([1, 1, 1, 2])):
                level: int = rng.choice([100, 150, 200]) if unit == "tablet" and cost < 1 else rng.choice([4, 6, 8, 10])
                stock.append(
                    Stock(
                        f"DS-{len(stock) + 1:04d}",
                        name,
                        form,
                        f"CL-{clinic:02d}",
                        f"{rng.choice('ABCDEFGH')}{rng.randint(10000, 99999)}",
                        int(level * rng.uniform(0.4, 4.5)),
                        unit,
                        level,
                        random_day(rng, date(2026, 9, 15), date(2029, 3, 31)).isoformat(),
                        f"{cost * rng.uniform(0.9, 1.1):.2f}",
                        rng.choice(SUPPLIERS),
                        controlled,
                        storage,
                        ""
                        if rng.random() < 0.08
                        else random_day(rng, date(2026, 8, 1), date(2026, 11, 20)).isoformat(),
                    )
                )
    return stock


def make_visit(rng: random.Random, number: int, day: date, animal: Animal, clinic: str, vet: str) -> Visit:
    """Make one appointment with its treatment lines."""
    reason, causes, lines, tag = rng.choice(PLANS)
    status: str = "booked" if day > TODAY else rng.choices(["completed", "no-show", "cancelled"], [86, 8, 6])[0]
    visit = Visit(
        f"V-{20000 + number}", day.isoformat(), animal, clinic, vet, reason, status, "", 0, 0.0, "", "", [], [tag], ""
    )
    line: str = rng.choice(NOTE_LINES)
    if status != "completed":
        said: dict[str, str] = {
            "booked": "Reminder text sent.",
            "no-show": "Nobody came and nobody phoned.",
            "cancelled": "Called off by the owner the day before.",
        }
        visit.text = f"{animal.name}, booked in for: {reason}. {said[status]}"
        return visit
    visit.diagnosis = rng.choice(causes)
    visit.minutes = rng.choice([10, 15, 20, 25, 30, 40, 45, 50, 70, 80, 95])
    visit.rows.append({"description": "Consultation", "quantity": 1, "amount_gbp": rng.choice([42.0, 46.5, 51.0])})
    for description, drug, low, high in lines:
        if rng.random() < 0.7 or description == "Vaccination":
            row: dict[str, Cell] = {"description": description, "quantity": rng.choice([1, 1, 1, 2])}
            if drug:
                row["product"] = drug
            row["amount_gbp"] = round(rng.uniform(low, high), 2)
            visit.rows.append(row)
    visit.total = round(sum(float(r["amount_gbp"]) for r in visit.rows), 2)
    paid: date = day + timedelta(days=rng.choice([0, 0, 0, 0, 3, 9, 21, 40]))
    if rng.random() < 0.87 and paid <= TODAY:
        visit.paid_on = paid.isoformat()
    if rng.random() < 0.25 and not animal.deceased_on:
        visit.recheck_due = (day + timedelta(days=rng.choice([7, 14, 28]))).isoformat()
    if animal.insurer and rng.random() < 0.3:
        visit.tags.append("insurance claim")
    visit.text = f"{animal.name} ({animal.breed}) came in for {reason}. Finding: {visit.diagnosis}. {line}"
    return visit


def build_visits(rng: random.Random, animals: Sequence[Animal], staff: Sequence[Employee]) -> list[Visit]:
    """Make the appointments, never before a vet joined, after one left, or outside an animal's life."""
    ids: dict[str, str] = {row[0]: f"CL-{number:02d}" for number, row in enumerate(CLINIC_ROWS, start=1)}
    vets: list[Employee] = [p for p in staff if p.job_title == "Veterinary Surgeon"]
    drafts: list[tuple[date, Animal]] = []
    taken: set[tuple[date, str]] = set()
    while len(drafts) < 1120:
        animal: Animal = rng.choice(animals)
        low: date = FIRST_VISIT
        if animal.date_of_birth:
            low = max(low, date.fromisoformat(animal.date_of_birth) + timedelta(days=50))
        high: date = date.fromisoformat(animal.deceased_on) if animal.deceased_on else date(2026, 11, 20)
        if not animal.deceased_on and rng.random() < 0.03:
            low, high = date(2026, 11, 23), date(2027, 1, 29)
        day: date = random_day(rng, low, high)
        while day.weekday() == 6:
            day -= timedelta(days=1)
        if low <= day and (day, animal.id) not in taken:
            taken.add((day, animal.id))
            drafts.append((day, animal))
    drafts.sort(key=lambda pair: (pair[0], pair[1].id))
    names: list[str] = [row[0] for row in CLINIC_ROWS]
    visits: list[Visit] = []
    for number, (day, animal) in enumerate(drafts, start=1):
        clinic: str = animal.registered_at if rng.random() < 0.9 else rng.choice(names)
        present: list[str] = [
            p.full_name
            for p in vets
            if p.clinic_id == ids[clinic]
            and p.start_date <= day.isoformat()
            and (not p.end_date or day.isoformat() <= p.end_date)
        ]
        if not present:
            clinic = "Exeter Quay"
            present = ["Rhys Morgan"]
        visits.append(make_visit(rng, number, day, animal, clinic, rng.choice(present)))
    return visits


def build_world(seed: int) -> World:
    """Make all the records from one seed."""
    rng = random.Random(seed)
    names: list[str] = shuffled_names(rng)
    staff: list[Employee] = build_staff(rng, names)
    clinics: list[Clinic] = build_clinics(rng, staff)
    animals: list[Animal] = build_animals(rng, names, staff)
    return World(clinics, staff, animals, build_stock(rng), build_visits(rng, animals, staff))


def write_table(path: Path, records: Sequence[Clinic | Employee | Animal | Stock]) -> None:
    """Write records of one kind as a CSV file."""
    columns: list[str] = [f.name for f in fields(records[0])]
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(columns)
        for record in records:
            writer.writerow([getattr(record, column) for column in columns])


def visit_document(visit: Visit) -> dict[str, object]:
    """Return a visit as a document with metadata."""
    metadata: dict[str, object] = {
        "visit_date": visit.visit_date,
        "animal_id": visit.animal.id,
        "animal_name": visit.animal.name,
        "clinic": visit.clinic,
        "attending_vet": visit.vet,
        "presenting_complaint": visit.reason,
        "status": visit.status,
        "tags": visit.tags,
    }
    if visit.status == "completed":
        metadata["diagnosis"] = visit.diagnosis
        metadata["duration_min"] = visit.minutes
        metadata["total_gbp"] = visit.total
        metadata["treatments"] = visit.rows
    if visit.paid_on:
        metadata["settled_on"] = visit.paid_on
    if visit.recheck_due:
        metadata["recheck_due"] = visit.recheck_due
    title: str = f"Visit {visit.id}: {visit.animal.name} at {visit.clinic}"
    return {"doc_id": visit.id, "title": title, "text": visit.text, "metadata": metadata}


def write_documents(world: World, folder: Path) -> None:
    """Write all buckets."""
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "clinics.csv", world.clinics)
    write_table(folder / "staff.csv", world.staff)
    write_table(folder / "animals.csv", world.animals)
    write_table(folder / "drug_stock.csv", world.stock)
    with (folder / "visits.jsonl").open("w", encoding="utf-8") as handle:
        for visit in world.visits:
            handle.write(json.dumps(visit_document(visit), ensure_ascii=False) + "\n")


def list_truth(records: Iterable[Clinic | Employee | Animal | Stock | Visit]) -> Truth:
    """Return the truth for an exact, non-empty set of documents."""
    files: dict[type[object], str] = {
        Clinic: "clinics.csv#",
        Employee: "staff.csv#",
        Animal: "animals.csv#",
        Stock: "drug_stock.csv#",
        Visit: "",
    }
    found: list[str] = [files[type(r)] + r.id for r in records]
    assert found and len(found) == len(set(found))
    return {"documents": found}


def count_truth(records: Iterable[object]) -> Truth:
    """Return the truth for a count above zero."""
    number: int = sum(1 for _ in records)
    assert number > 0
    return {"number": number}


def empty_truth(records: Iterable[object]) -> Truth:
    """Return the truth for an honest empty set."""
    assert not list(records)
    return {"nothing": True}


def unique_best(records: Iterable[Item], value: Callable[[Item], Key], lowest: bool = False) -> Item:
    """Return the one record with the highest or lowest value; a tie is an error."""
    ranked: list[Item] = list(records)
    goal: Key = min(value(r) for r in ranked) if lowest else max(value(r) for r in ranked)
    winners: list[Item] = [r for r in ranked if value(r) == goal]
    assert len(winners) == 1
    return winners[0]


def only_one(records: Iterable[Item]) -> Item:
    """Return the single record of a sequence."""
    found: list[Item] = list(records)
    assert len(found) == 1, len(found)
    return found[0]


def spoken_date(iso: str) -> str:
    """Return an ISO date in words."""
    day: date = date.fromisoformat(iso)
    return f"{day.day} {day.strftime('%B')} {day.year}"


def stock_label(item: Stock) -> str:
    """Return the first word of a product name."""
    return item.product.split()[0]


def make_questions(world: World) -> list[dict[str, object]]:
    """Make the 60 messages with their truths."""
    out: list[dict[str, object]] = []

    def ask(kind: str, turns: str | list[str], truth: Truth, why: str) -> None:
        out.append(
            {
                "id": f"q{len(out) + 1:02d}",
                "kind": kind,
                "turns": [turns] if isinstance(turns, str) else turns,
                "truth": truth,
                "why": why,
            }
        )

    clinics, staff, animals, stock, visits = world.clinics, world.staff, world.animals, world.stock, world.visits
    branch: dict[str, Clinic] = {c.name: c for c in clinics}
    by_id: dict[str, Clinic] = {c.id: c for c in clinics}
    today: str = TODAY.isoformat()
    working: list[Employee] = [p for p in staff if not p.end_date]
    vets: list[Employee] = [p for p in working if p.job_title == "Veterinary Surgeon"]
    alive: list[Animal] = [a for a in animals if not a.deceased_on]
    done: list[Visit] = [v for v in visits if v.status == "completed"]
    name_count: Counter[str] = Counter(a.name for a in animals)
    rare: list[Animal] = [a for a in animals if a.name in RARE_PET_NAMES]
    assert all(name_count[a.name] == 1 for a in rare) and len(rare) >= 12
    rare_alive: list[Animal] = [a for a in rare if not a.deceased_on]
    staff_names: set[str] = {p.full_name for p in staff}
    pure_owner: str = next(a.owner for a in animals if a.owner not in staff_names and a.owner_town == "Torquay")
    other_owner: str = next(a.owner for a in animals if a.owner not in staff_names and a.owner_town == "Totnes")

    # lists
    ask(
        "list",
        "nurses still with us who speak Polish pls",
        list_truth(p for p in working if p.job_title == "Veterinary Nurse" and "Polish" in p.languages),
        "semicolon list in a cell, leavers to be left out",
    )
    ask(
        "list",
        "Anything on the shelves in Truro thats already out of date?",
        list_truth(s for s in stock if s.clinic_id == "CL-03" and s.expiry_date < today),
        "expiry against today, the town is in another table, typo",
    )
    ask(
        "list",
        "could you pull up the rabbits that are down as not spayed or castrated, leaving out any that have died",
        list_truth(a for a in alive if a.species == "rabbit" and a.neutered == "no"),
        "flag paraphrased, empty flag is not a no, negation",
    )
    ask(
        "list",
        "patients from Plymouth (I mean the owner lives there) weighing anywhere between 20 and 40 kilos, "
        "dead or alive",
        list_truth(a for a in animals if a.owner_town == "Plymouth" and a.weight_kg and 20 <= float(a.weight_kg) <= 40),
        "range, owner's town and not the clinic's, empty weights",
    )
    ask(
        "list",
        "hey, the accountant is on my back. Which visits at Taunton Vale went ahead in 2025 but nobody "
        "has paid for them yet?",
        list_truth(v for v in done if v.clinic == "Taunton Vale" and v.visit_date[:4] == "2025" and not v.paid_on),
        "missing value as condition, no-shows have no payment either",
    )
    ask(
        "list",
        "people who just didnt turn up at Exeter Heath, july to december 2025",
        list_truth(
            v
            for v in visits
            if v.clinic == "Exeter Heath" and v.status == "no-show" and "2025-07" <= v.visit_date[:7] <= "2025-12"
        ),
        "no-show paraphrased, half a year",
    )
    ask(
        "list",
        "Which batches of controled drugs have dropped under the point where we ought to be buying more?",
        list_truth(s for s in stock if s.controlled == "yes" and s.qty_on_hand < s.reorder_level),
        "one column against another",
    )
    ask(
        "list",
        "whose professional registration runs out between now and the end of April 2027? only folks still employed",
        list_truth(p for p in working if p.licence_expires and today <= p.licence_expires <= "2027-04-30"),
        "licence_expires paraphrased, relative to today",
    )
    ask(
        "list",
        "rechecks falling due in the next three weeks?",
        list_truth(v for v in visits if today <= v.recheck_due <= (TODAY + timedelta(days=21)).isoformat()),
        "relative window from today, sparse metadata",
    )
    ask(
        "list",
        [
            "dogs covered by PetGuard that are registered at the Yeovil or the Torquay practice, alive or not",
            "just the ones born before 2020",
        ],
        list_truth(
            a
            for a in animals
            if a.species == "dog"
            and a.insurer == "PetGuard"
            and a.date_of_birth
            and a.registered_at in ("Yeovil Hendford", "Torquay Bay")
            and a.date_of_birth < "2020"
        ),
        "follow-up narrowing, two places, empty birth dates",
    )
    ask(
        "list",
        ["What do we get from Covetra for the Bath branch?", "only what has to be kept cold"],
        list_truth(s for s in stock if s.supplier == "Covetra" and s.clinic_id == "CL-06" and s.storage == "fridge"),
        "follow-up, fridge paraphrased, Bath is also in treatments and notes",
    )

    # counts
    ask(
        "count",
        "how many people have left us during 2025",
        count_truth(p for p in staff if p.end_date[:4] == "2025"),
        "end_date paraphrased, people may be owners too",
    )
    ask(
        "count",
        ["How many no-shows did we have in 2024, all branches?", "and in 2025?"],
        count_truth(v for v in visits if v.status == "no-show" and v.visit_date[:4] == "2025"),
        "follow-up, new year",
    )
    ask(
        "count",
        ["number of dogs, still living, with no chip on record", "and cats?"],
        count_truth(a for a in alive if a.species == "cat" and not a.microchip_no),
        "follow-up swaps the species, empty cells counted",
    )
    ask(
        "count",
        "In how many visits of 2025 was an x-ray actually taken?",
        count_truth(v for v in done if v.visit_date[:4] == "2025" and any(r["description"] == "X-ray" for r in v.rows)),
        "condition on nested rows",
    )
    pets: Counter[str] = Counter(a.owner for a in animals)
    ask(
        "count",
        "How many owners have at least three animals with us? Count the deceased ones as well.",
        count_truth(o for o in sorted(pets) if pets[o] >= 3),
        "group then having",
    )
    ask(
        "count",
        "since the start of 2024, how many visits ended with the animal being found diabetic?",
        count_truth(v for v in done if v.diagnosis == "diabetes" and v.visit_date >= "2024-01-01"),
        "adjective for a value, visits not animals",
    )

    # look-ups
    ask(
        "lookup",
        "what's the number to ring for the Barnstaple practice",
        {"values": [branch["Barnstaple Bridge"].phone]},
        "town inside the name, phone paraphrased",
    )
    salisbury: Clinic = branch["Salisbury Close"]
    ask(
        "compound",
        "whos in charge at Salisbury and what do we pay for the premises there per year?",
        {"parts": [{"values": [salisbury.practice_manager]}, {"number": int(salisbury.annual_rent_gbp)}]},
        "two attributes, manager and rent paraphrased, typo",
    )
    vet: Employee = next(p for p in vets if p.clinic_id == "CL-10")
    ask(
        "lookup",
        f"Since when has {vet.full_name} been with the company?",
        {"values": [vet.start_date]},
        "start_date paraphrased, the name is in many visits",
    )
    heavy_pet: Animal = next(a for a in rare_alive if a.weight_kg and a.species in ("dog", "cat"))
    ask("lookup", f"how heavy is {heavy_pet.name}", {"values": [heavy_pet.weight_kg]}, "terse, rare pet name")
    seen: Visit = next(v for v in done if v.animal in rare and v.diagnosis != "healthy" and v.visit_date > "2024")
    ask(
        "lookup",
        f"What turned out to be wrong with {seen.animal.name} on {spoken_date(seen.visit_date)}?",
        {"values": [seen.diagnosis]},
        "diagnosis of one visit among several",
    )
    ask(
        "lookup",
        "until when are we tied into the rental contract in Gloucester?",
        {"values": [branch["Gloucester Docks"].lease_ends_on]},
        "lease paraphrased",
    )
    owned: Animal = rare_alive[3]
    ask(
        "lookup",
        [f"Who does {owned.name} belong to?", "and what's the best number to reach them on?"],
        {"values": [owned.owner_phone]},
        "follow-up on the owner",
    )
    long_visit: Visit = next(v for v in reversed(done) if v.animal in rare and v.animal is not seen.animal)
    ask(
        "lookup",
        f"How long was {long_visit.animal.name} with the vet on {spoken_date(long_visit.visit_date)}?",
        {"values": [str(long_visit.minutes)]},
        "duration paraphrased",
    )
    tongue: Employee = next(p for p in vets if p.languages.count(";") == 2)
    spoken: list[str] = tongue.languages.split("; ")
    ask(
        "lookup",
        f"Which languages could a client use with {tongue.full_name}?",
        {"values": [str(s) for s in spoken]},
        "all values of a list cell",
    )

    # superlatives
    big: Animal = unique_best((a for a in alive if a.species == "dog" and a.weight_kg), lambda a: float(a.weight_kg))
    ask(
        "superlative",
        "biggest dog by weight among those still with us?",
        {"values": [big.name], "alternatives": [[big.id]]},
        "numbers stored as text with gaps, deceased excluded",
    )
    dear: Visit = unique_best((v for v in done if v.visit_date[:4] == "2025"), lambda v: v.total)
    ask(
        "superlative",
        "Most expensive visit of 2025, which one was that?",
        {"values": [dear.id], "alternatives": [[dear.animal.name, dear.visit_date]]},
        "maximum within a year",
    )
    cheap: Clinic = unique_best(
        (c for c in clinics if c.annual_rent_gbp), lambda c: float(c.annual_rent_gbp), lowest=True
    )
    ask(
        "superlative",
        "of the places where we pay rent, which one is cheapest?",
        {"values": [cheap.name], "alternatives": [[cheap.id]]},
        "minimum with an empty cell",
    )
    newest: Clinic = unique_best((c for c in clinics if c.out_of_hours == "24h"), lambda c: c.opened_on)
    ask(
        "superlative",
        ["which branches take emergencies round the clock", "which of them has been going the shortest?"],
        {"values": [newest.name], "alternatives": [[newest.id]]},
        "follow-up superlative, 24h paraphrased",
    )
    busy: Counter[str] = Counter(v.vet for v in done if v.visit_date[:4] == "2025")
    top: str = unique_best(sorted(busy), lambda name: busy[name])
    ask(
        "superlative",
        "Which vet got through the most completed appointments in 2025?",
        {"values": [top]},
        "group then maximum",
    )

    # sums, averages, groups
    ask(
        "number",
        "how much did Bath Riverside bill in the first three months of 2026?",
        {
            "number": round(
                sum(
                    v.total for v in done if v.clinic == "Bath Riverside" and "2026-01" <= v.visit_date[:7] <= "2026-03"
                ),
                2,
            ),
            "tolerance": 0.01,
        },
        "sum over a quarter, Bath is ambiguous as a word",
    )
    minutes: list[int] = [v.minutes for v in done if v.clinic == "Truro Lemon Street"]
    ask(
        "number",
        "average length of an appointment at the Truro practice, ones that took place obviously",
        {"number": sum(minutes) / len(minutes), "tolerance": 0.01},
        "average with missing values",
    )
    ask(
        "number",
        ["How many people currently work at Plymouth Hoe?", "and what do they cost us a year in wages?"],
        {"number": sum(p.annual_salary_gbp for p in working if p.clinic_id == "CL-04")},
        "follow-up to a sum, clinic by code, leavers excluded",
    )
    october: Counter[str] = Counter(v.clinic for v in done if v.visit_date[:7] == "2025-10")
    ask(
        "group",
        "completed visits in October 2025, split by branch please",
        {"groups": {name: october[name] for name in sorted(october)}},
        "group by with two filters",
    )
    jobs: Counter[str] = Counter(p.job_title for p in working)
    ask(
        "group",
        "Headcount by role? Present staff only",
        {"groups": {name: jobs[name] for name in sorted(jobs)}},
        "role for job_title, leavers excluded",
    )

    # yes or no
    ask(
        "yes_no",
        "If a dog collapses at 3 in the morning, is Torquay Bay open?",
        {"yes_no": "yes" if branch["Torquay Bay"].out_of_hours == "24h" else "no"},
        "needs 24h from a situation",
    )
    gone: Employee = next(p for p in staff if p.end_date and p.job_title == "Veterinary Surgeon")
    ask("yes_no", f"is {gone.full_name} still on the team?", {"yes_no": "no"}, "leaver, with many visits")
    done_pet: Animal = next(a for a in rare_alive if a.neutered and a is not owned and a is not heavy_pet)
    ask("yes_no", f"Quick one, has {done_pet.name} had the snip?", {"yes_no": done_pet.neutered}, "idiom for neutered")
    ask("yes_no", "do we rent the Bideford building?", {"yes_no": "no"}, "only the note says that it is ours")

    # joins
    home: Animal = rare_alive[6]
    boss: Employee = only_one(p for p in staff if p.full_name == branch[home.registered_at].practice_manager)
    ask(
        "join",
        f"I need the internal extension of whoever runs the branch {home.name} is registered with",
        {"values": [boss.phone_ext]},
        "three tables: animal, clinic, staff",
    )
    ask(
        "join",
        "Spanish-speaking staff, currently employed, at branches with a night ward?",
        list_truth(p for p in working if "Spanish" in p.languages and by_id[p.clinic_id].overnight_ward == "yes"),
        "two tables by code",
    )
    ask(
        "join",
        "visits that took place in 2025 by animals belonging to our own staff, current or former",
        list_truth(v for v in done if v.visit_date[:4] == "2025" and v.animal.owner in staff_names),
        "a person is employee in one table and owner in another; owner is not in the visits",
    )
    ask(
        "join",
        "how many bottles of the meloxicam you give by mouth do our Devon sites hold altogether? expired ones too",
        {
            "number": sum(
                s.qty_on_hand
                for s in stock
                if s.product.startswith("Meloxicam")
                and s.form == "oral suspension"
                and by_id[s.clinic_id].county == "Devon"
            )
        },
        "county is in the clinics, form paraphrased, sum",
    )

    # compare, compound
    close: int = sum(1 for v in done if v.clinic == "Salisbury Close" and v.visit_date[:4] == "2025")
    dock: int = sum(1 for v in done if v.clinic == "Gloucester Docks" and v.visit_date[:4] == "2025")
    assert close != dock
    ask(
        "compare",
        "who had more completed visits in 2025 - Salisbury or Gloucester?",
        {"values": ["Salisbury" if close > dock else "Gloucester"]},
        "two counts, towns for clinic names",
    )
    lot: Stock = next(s for s in stock if s.clinic_id == "CL-12" and s.controlled == "yes" and s.last_counted_on)
    ask(
        "compound",
        f"batch {lot.batch_no}: what is it and when does it go off?",
        {"parts": [{"values": [stock_label(lot)]}, {"values": [lot.expiry_date]}]},
        "two attributes by batch number",
    )
    ask(
        "compound",
        "When did the Falmouth clinic open its doors and how many consulting rooms has it got?",
        {
            "parts": [
                {"values": [branch["Falmouth Pier"].opened_on]},
                {"values": [str(branch["Falmouth Pier"].consulting_rooms)]},
            ]
        },
        "two attributes",
    )

    # ambiguous
    ask(
        "ambiguous",
        "how many completed visits did Dr Morgan do in 2025?",
        {
            "ask": True,
            "readings": [
                count_truth(v for v in done if v.vet == name and v.visit_date[:4] == "2025")
                for name in ("Cerys Morgan", "Rhys Morgan")
            ],
        },
        "two vets share the surname",
    )

    # nothing
    ask(
        "nothing",
        "phone number of our Dorchester branch?",
        empty_truth(c for c in clinics if "Dorchester" in c.town),
        "no such branch, there are others",
    )
    ask(
        "nothing",
        "When were the fire extinguishers at Bath Riverside last inspected?",
        {"nothing": True},
        "nobody records it; last_counted_on looks near",
    )
    ask(
        "nothing", f"What's the email address of {pure_owner}?", {"nothing": True}, "owner exists, only a phone is kept"
    )
    ask(
        "nothing",
        "ferrets with insurance - which ones?",
        empty_truth(a for a in animals if a.species == "ferret" and a.insurer),
        "honest empty set",
    )
    ask(
        "nothing",
        "list the appointments from spring 2021",
        empty_truth(v for v in visits if v.visit_date < "2022"),
        "before the first visit",
    )
    ask(
        "nothing",
        "what do we pay Dr Lindqvist?",
        empty_truth(p for p in staff if "Lindqvist" in p.full_name),
        "no such vet, salaries exist",
    )
    ask(
        "nothing",
        "anyone on the team who can talk to a client in Japanese?",
        empty_truth(p for p in staff if "Japanese" in p.languages),
        "honest empty set",
    )
    ask(
        "nothing",
        "which visits in 2025 ended in a complaint from the owner",
        {"nothing": True},
        "complaints are not recorded; presenting_complaint is something else",
    )
    ask("nothing", f"Blood group of {rare_alive[7].name}?", {"nothing": True}, "attribute nobody records")
    ask(
        "nothing",
        "how much propofol is there at Bideford",
        empty_truth(s for s in stock if s.clinic_id == "CL-08" and s.product.startswith("Propofol")),
        "product and branch exist, not together",
    )
    ask("nothing", f"what's the salary of {other_owner}", {"nothing": True}, "a client, not an employee")
    heavy_shells: list[Animal] = [
        a for a in alive if a.species == "tortoise" and a.weight_kg and float(a.weight_kg) > 8
    ]
    assert heavy_shells
    shell_homes: set[str] = {a.owner_town for a in heavy_shells} | {a.registered_at.split()[0] for a in heavy_shells}
    free_town: str = next(c.town for c in clinics if c.town not in shell_homes and c.town != "Exeter")
    ask(
        "nothing",
        ["any living tortoises north of 8 kilos?", f"are any of those in {free_town}?"],
        empty_truth(a for a in heavy_shells if free_town in (a.owner_town, a.registered_at.split()[0])),
        "follow-up to an empty set",
    )
    return out


def run_generator(target: Path) -> None:
    """Write documents and questions below the target folder."""
    world: World = build_world(SEED)
    write_documents(world, target / "documents")
    with (target / "questions.jsonl").open("w", encoding="utf-8") as handle:
        for question in make_questions(world):
            handle.write(json.dumps(question, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    run_generator(Path(sys.argv[1]))
