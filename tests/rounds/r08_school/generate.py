"""Write the documents and the questions of a vocational school (messy round, files without metadata)."""

import datetime
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

SEED: int = 808
TODAY: datetime.date = datetime.date(2026, 11, 22)
SCHOOL: str = "Tallmoor Vocational School"
MONTHS: tuple[str, ...] = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WORDS: dict[int, str] = {
    1: "one",
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
    11: "eleven",
    12: "twelve",
}
Truth = dict[str, object]
T = TypeVar("T")


@dataclass(frozen=True)
class Course:
    """One course of the programme."""

    path: str
    title: str
    start: datetime.date
    months: int
    hours: int
    fee: int | None
    places: int
    teacher: str
    room: str
    slot: str
    entry: str
    award: str
    content: str
    shoes: bool
    health: bool


@dataclass(frozen=True)
class Room:
    """One room with its equipment."""

    path: str
    code: str
    name: str
    floor: str
    people: int
    keeper: str
    extension: int
    checked: datetime.date
    equipment: tuple[tuple[str, int], ...]
    defect: str
    step_free: bool


@dataclass(frozen=True)
class Meeting:
    """One staff meeting."""

    path: str
    date: datetime.date
    room: str
    start: int
    end: int
    chair: str
    taker: str
    absent: tuple[str, ...]
    items: tuple[tuple[str, str], ...]
    actions: tuple[tuple[str, str, datetime.date], ...]


@dataclass(frozen=True)
class Rule:
    """One regulation or procedure."""

    path: str
    title: str
    force: datetime.date
    issuer: str
    facts: dict[str, str]
    sections: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Job:
    """One job advert."""

    path: str
    title: str
    hours: int
    pay: int
    start: datetime.date
    deadline: datetime.date
    until: datetime.date | None
    contact: str
    duties: str
    wanted: str


@dataclass(frozen=True)
class Letter:
    """One letter to parents."""

    path: str
    date: datetime.date
    sender: str
    role: str
    audience: str
    subject: str
    body: str
    event: datetime.date | None
    cost: float | None
    reply: datetime.date | None


@dataclass(frozen=True)
class School:
    """All records."""

    courses: tuple[Course, ...]
    rooms: tuple[Room, ...]
    meetings: tuple[Meeting, ...]
    rules: tuple[Rule, ...]
    jobs: tuple[Job, ...]
    letters: tuple[Letter, ...]


def make_day(text: str) -> datetime.date:
    """Return the date of an ISO text."""
    return datetime.date.fromisoformat(text)


def make_courses() -> tuple[Course, ...]:
    """Return the courses."""
    none = "no previous knowledge needed"
    leave = "lower secondary school leaving certificate"
    cert = "school certificate"
    rows: list[tuple[str, str, str, int, int, int | None, int, str, str, str, str, str, str, str]] = [
        (
            "metal/mag.md",
            "MAG Welding for Beginners",
            "2027-01-11",
            3,
            12,
            980,
            12,
            "Goran Maric",
            "W02",
            "evening",
            none,
            cert,
            "fillet welds, plate preparation and reading simple drawings",
            "s",
        ),
        (
            "metal/tig_2027.txt",
            "TIG Welding of Stainless Steel",
            "2027-02-15",
            4,
            10,
            1450,
            8,
            "Helene Storm",
            "W02",
            "evening",
            "a MAG beginners' course or two years in metalwork",
            "welder's test to ISO 9606",
            "thin sheet, pipe joints and gas shielding",
            "s",
        ),
        (
            "metal/cnc.html",
            "CNC Milling",
            "2026-09-07",
            6,
            16,
            1890,
            10,
            "Viktor Bahl",
            "W01",
            "day",
            "a finished apprenticeship in metalwork",
            "chamber of trades certificate",
            "programming three-axis machines, tool choice and measuring",
            "s",
        ),
        (
            "electro/home-install.md",
            "Electrical Installation in the Home",
            "2026-09-01",
            24,
            30,
            0,
            20,
            "Anneke Duis",
            "W03",
            "day",
            leave,
            "journeyman's certificate",
            "wiring, distribution boards, earthing and testing",
            "s",
        ),
        (
            "electro/plc.txt",
            "PLC Programming",
            "2027-03-01",
            5,
            6,
            1290,
            14,
            "Samuel Okafor",
            "W03",
            "evening",
            "basic knowledge of control circuits",
            cert,
            "ladder logic, sensors and a small sorting plant",
            "",
        ),
        (
            "electro/solar.html",
            "Fitting Solar Panels",
            "2027-04-12",
            2,
            20,
            1150,
            12,
            "Samuel Okafor",
            "W03",
            "day",
            "an electrician's or roofer's qualification",
            cert,
            "roof hooks, inverters and string design",
            "s",
        ),
        (
            "building/heatpump.md",
            "Heat Pumps and Refrigeration",
            "2027-01-18",
            8,
            12,
            2240,
            11,
            "Bruno Falk",
            "W06",
            "evening",
            "an apprenticeship in plumbing or electrics",
            "refrigerant handling licence, category I",
            "cooling circuits, leak tests and commissioning",
            "s",
        ),
        (
            "building/brick.txt",
            "Bricklaying",
            "2026-09-01",
            24,
            32,
            0,
            18,
            "Piotr Zielen",
            "W05",
            "day",
            leave,
            "journeyman's certificate",
            "walls, arches, mortar and scaffolding",
            "s",
        ),
        (
            "building/tiles.md",
            "Tiling and Flooring",
            "2027-03-08",
            3,
            15,
            870,
            12,
            "Piotr Zielen",
            "W05",
            "evening",
            none,
            cert,
            "screed, wet rooms and large formats",
            "s",
        ),
        (
            "wood/joinery2.md",
            "Windows and Doors",
            "2026-09-14",
            10,
            18,
            1320,
            14,
            "Jana Ruzicka",
            "W04",
            "day",
            "a first year of joinery",
            "chamber of trades certificate",
            "frames, glazing and fitting on site",
            "s",
        ),
        (
            "wood/furniture_old.html",
            "Restoring Old Furniture",
            "2027-02-06",
            4,
            5,
            640,
            9,
            "Elias Thorn",
            "W04",
            "weekend",
            none,
            "confirmation of attendance",
            "veneer repair, shellac and woodworm",
            "",
        ),
        (
            "food/bread.md",
            "Bread and Pastry",
            "2026-09-01",
            36,
            28,
            0,
            16,
            "Camille Noret",
            "K02",
            "day",
            leave,
            "journeyman's certificate",
            "sourdough, laminated doughs and hygiene",
            "h",
        ),
        (
            "food/cookery.html",
            "Professional Cookery",
            "2026-09-01",
            36,
            30,
            0,
            17,
            "Dario Fontana",
            "K01",
            "day",
            leave,
            "journeyman's certificate",
            "stocks, butchery, menus and costing",
            "h",
        ),
        (
            "food/coffee.txt",
            "Coffee and Service",
            "2027-01-23",
            1,
            8,
            390,
            10,
            "Dario Fontana",
            "K01",
            "weekend",
            none,
            "confirmation of attendance",
            "espresso, milk foam and serving guests",
            "",
        ),
        (
            "people/colour.txt",
            "Colour Techniques for Hairdressers",
            "2027-02-01",
            2,
            8,
            720,
            13,
            "Leyla Aksoy",
            "B12",
            "evening",
            "a finished hairdressing apprenticeship",
            cert,
            "balayage, toning and skin tests",
            "",
        ),
        (
            "people/nursing.md",
            "Nursing Assistant",
            "2026-10-05",
            12,
            35,
            0,
            24,
            "Rosa Winter",
            "B14",
            "day",
            "age 17 or over",
            "state examination",
            "basic care, first aid and dementia",
            "h",
        ),
        (
            "people/childcare.html",
            "Childcare Assistant",
            "2026-09-01",
            24,
            33,
            0,
            26,
            "Miriam Stolz",
            "A102",
            "day",
            "upper secondary school certificate",
            "state examination",
            "play, language and working with parents",
            "h",
        ),
        (
            "office/books.txt",
            "Bookkeeping for Small Firms",
            "2027-01-13",
            6,
            4,
            560,
            22,
            "Ines Caldeira",
            "A204",
            "evening",
            "basic computer skills",
            "chamber of commerce certificate",
            "invoices, VAT and year-end closing",
            "",
        ),
        (
            "office/software.md",
            "Office Software from Scratch",
            "2027-01-19",
            3,
            3,
            310,
            20,
            "Henrik Vaas",
            "A204",
            "evening",
            none,
            "confirmation of attendance",
            "letters, spreadsheets and slides",
            "",
        ),
        (
            "vehicles/forklift.html",
            "Forklift Licence",
            "2026-12-05",
            1,
            10,
            430,
            6,
            "Ludek Havran",
            "W05",
            "weekend",
            "age 18 or over",
            "driving permit for industrial trucks",
            "stacking, load charts and a driving test",
            "sh",
        ),
        (
            "vehicles/diagnosis.txt",
            "Fault Finding in Cars",
            "2026-11-30",
            7,
            14,
            1680,
            12,
            "Karim Benali",
            "G01",
            "day",
            "three years in a garage",
            "chamber of trades certificate",
            "scope work, bus systems and test drives",
            "s",
        ),
        (
            "vehicles/hv.md",
            "High-Voltage Safety in Electric Cars",
            "2027-05-10",
            1,
            20,
            None,
            7,
            "Karim Benali",
            "G01",
            "day",
            "an apprenticeship as a vehicle mechanic",
            "expert certificate, level 2",
            "switching off, measuring and securing battery systems",
            "s",
        ),
    ]
    return tuple(
        Course(p, t, make_day(d), m, h, f, n, who, r, s, e, a, c, "s" in flags, "h" in flags)
        for p, t, d, m, h, f, n, who, r, s, e, a, c, flags in rows
    )


def make_rooms() -> tuple[Room, ...]:
    """Return the rooms."""
    rows: list[tuple[str, str, str, str, int, str, int, str, tuple[tuple[str, int], ...], str, bool]] = [
        (
            "rooms/a101.md",
            "A101",
            "classroom",
            "ground floor of the main building",
            28,
            "Henrik Vaas",
            301,
            "2026-02-03",
            (("whiteboard", 2), ("projector", 1)),
            "",
            True,
        ),
        (
            "rooms/a102.txt",
            "A102",
            "classroom",
            "ground floor of the main building",
            30,
            "Miriam Stolz",
            302,
            "2026-02-03",
            (("whiteboard", 1), ("projector", 1), ("piano", 1)),
            "",
            True,
        ),
        (
            "rooms/a204.html",
            "A204",
            "computer room",
            "second floor of the main building",
            20,
            "Henrik Vaas",
            324,
            "2025-10-28",
            (("PC", 20), ("laser printer", 2), ("projector", 1)),
            "the air conditioning drips onto the back row",
            False,
        ),
        (
            "rooms/a210.txt",
            "A210",
            "seminar room",
            "second floor of the main building",
            16,
            "Petra Lindqvist",
            330,
            "2025-11-18",
            (("video conference set", 1), ("flip chart", 3)),
            "",
            False,
        ),
        (
            "rooms/hall.md",
            "AUL",
            "assembly hall",
            "ground floor of the main building",
            220,
            "Ludek Havran",
            350,
            "2026-06-09",
            (("stage light", 12), ("microphone", 6), ("projector", 1)),
            "",
            True,
        ),
        (
            "rooms/library_note.md",
            "LIB",
            "library",
            "first floor of the main building",
            34,
            "Petra Lindqvist",
            341,
            "2026-03-24",
            (("reading lamp", 18), ("lending laptop", 9)),
            "",
            False,
        ),
        (
            "rooms/w01.txt",
            "W01",
            "machine shop",
            "ground floor of the workshop wing",
            12,
            "Viktor Bahl",
            411,
            "2026-08-19",
            (("lathe", 7), ("CNC milling machine", 3), ("pillar drill", 4)),
            "milling machine 2 loses coolant",
            True,
        ),
        (
            "rooms/w02_welding.html",
            "W02",
            "welding shop",
            "ground floor of the workshop wing",
            14,
            "Goran Maric",
            412,
            "2026-08-20",
            (("MAG welding set", 8), ("TIG welding set", 5), ("fume extractor", 12)),
            "",
            True,
        ),
        (
            "rooms/w03.md",
            "W03",
            "electrical lab",
            "first floor of the workshop wing",
            21,
            "Anneke Duis",
            413,
            "2026-05-12",
            (("test board", 10), ("oscilloscope", 6), ("solar inverter", 2)),
            "",
            False,
        ),
        (
            "rooms/woodshop.txt",
            "W04",
            "wood workshop",
            "ground floor of the workshop wing",
            15,
            "Jana Ruzicka",
            414,
            "2025-12-04",
            (("panel saw", 1), ("workbench", 15), ("planer", 2)),
            "the dust extraction trips the fuse when the planer starts",
            True,
        ),
        (
            "rooms/w05_masonry.html",
            "W05",
            "masonry hall",
            "separate hall behind the car park",
            24,
            "Piotr Zielen",
            415,
            "2026-04-01",
            (("mortar mixer", 3), ("forklift", 2), ("wet saw", 2)),
            "",
            True,
        ),
        (
            "rooms/cooling.md",
            "W06",
            "cooling lab",
            "basement of the workshop wing",
            13,
            "Bruno Falk",
            416,
            "2026-01-15",
            (("heat pump trainer", 3), ("vacuum pump", 5), ("leak detector", 7)),
            "",
            False,
        ),
        (
            "rooms/k01.html",
            "K01",
            "training kitchen",
            "ground floor of the east wing",
            18,
            "Dario Fontana",
            501,
            "2026-09-10",
            (("gas range", 6), ("combi steamer", 2), ("espresso machine", 2)),
            "the left combi steamer does not heat above 140 degrees",
            True,
        ),
        (
            "rooms/bakery.txt",
            "K02",
            "bakery",
            "basement of the east wing",
            17,
            "Camille Noret",
            502,
            "2026-09-11",
            (("deck oven", 2), ("dough sheeter", 1), ("spiral mixer", 3)),
            "",
            False,
        ),
        (
            "rooms/salon.md",
            "B12",
            "hair salon",
            "first floor of the east wing",
            14,
            "Leyla Aksoy",
            512,
            "2026-07-07",
            (("styling chair", 14), ("wash basin", 5), ("dryer hood", 4)),
            "",
            True,
        ),
        (
            "rooms/b14.html",
            "B14",
            "care practice room",
            "first floor of the east wing",
            25,
            "Rosa Winter",
            514,
            "2026-10-13",
            (("nursing bed", 6), ("patient hoist", 2), ("training manikin", 8)),
            "",
            True,
        ),
        (
            "rooms/garage.md",
            "G01",
            "vehicle bay",
            "separate building at the north gate",
            15,
            "Karim Benali",
            601,
            "2026-05-27",
            (("lifting platform", 4), ("diagnosis tester", 3), ("electric training car", 1)),
            "lifting platform 3 is locked because of an oil leak",
            True,
        ),
    ]
    return tuple(Room(p, c, n, f, k, w, x, make_day(d), e, b, s) for p, c, n, f, k, w, x, d, e, b, s in rows)


def make_meetings() -> tuple[Meeting, ...]:
    """Return the staff meetings."""
    ow, re, no = "Margit Oswald", "Tobias Renk", "Camille Noret"
    rows: list[
        tuple[
            str,
            str,
            str,
            int,
            int,
            str,
            str,
            tuple[str, ...],
            tuple[tuple[str, str], ...],
            tuple[tuple[str, str, str], ...],
        ]
    ] = [
        (
            "2024/2024-09-18.md",
            "2024-09-18",
            "A210",
            870,
            970,
            ow,
            "Petra Lindqvist",
            ("Viktor Bahl",),
            (
                ("Start of term", "First-year numbers rose to 214. No further steps needed."),
                ("Open day", "The open day will be held on 25 January 2025 from 10 am to 3 pm."),
                ("Smoking area", "The smoking area behind the vehicle bay closes for good."),
            ),
            (
                ("Camille Noret", "find helpers for the stalls", "2024-10-15"),
                ("Ludek Havran", "take down the ashtrays and put up signs", "2024-10-01"),
            ),
        ),
        (
            "2024/nov_staff.txt",
            "2024-11-13",
            "LIB",
            900,
            985,
            re,
            "Henrik Vaas",
            ("Rosa Winter", "Bruno Falk"),
            (
                ("Cover lessons", "Cover is to be shared out evenly; nobody takes more than two periods a week."),
                ("Open day", "Each department sends at least two learners as guides."),
            ),
            (("Viktor Bahl", "prepare a milling show", "2025-01-20"),),
        ),
        (
            "2025/jan.html",
            "2025-01-22",
            "A210",
            870,
            945,
            ow,
            "Petra Lindqvist",
            ("Samuel Okafor",),
            (
                ("Exam dates", "Written finals are in the week from 12 May 2025."),
                (
                    "Heating",
                    "Rooms are heated to 20 degrees, workshops to 17; the proposal passed with one vote against.",
                ),
            ),
            (("Anneke Duis", "collect the exam papers", "2025-04-04"),),
        ),
        (
            "2025/minutes-march.md",
            "2025-03-19",
            "A101",
            885,
            1010,
            re,
            "Leyla Aksoy",
            (),
            (
                (
                    "Timetable software",
                    "The offer from Planora was accepted; it replaces the old spreadsheet in August.",
                ),
                ("Bullying", "A contact group is set up, led by Nina Maric."),
            ),
            (
                ("Henrik Vaas", "import the teacher data", "2025-07-15"),
                ("Nina Maric", "call the first session", "2025-04-10"),
            ),
        ),
        (
            "2025/14may.txt",
            "2025-05-14",
            "LIB",
            930,
            1000,
            no,
            "Elias Thorn",
            ("Margit Oswald", "Tobias Renk"),
            (("Supervision during finals", "Two people supervise each room; breaks are taken in turn."),),
            (("Viktor Bahl", "draw up the supervision list", "2025-05-15"),),
        ),
        (
            "2025/june.md",
            "2025-06-25",
            "AUL",
            840,
            1020,
            ow,
            "Petra Lindqvist",
            ("Goran Maric",),
            (
                ("Review of the year", "Every department reported; the written reports are kept in the office."),
                ("Four-day week", "The trial of a four-day teaching week was voted down, 9 to 21."),
                ("Farewell", "Retiring colleague Ottilie Brand was thanked after 31 years at the school."),
            ),
            (("Tobias Renk", "tell the works council about the vote", "2025-07-04"),),
        ),
        (
            "2025/0917.html",
            "2025-09-17",
            "A210",
            870,
            955,
            ow,
            "Miriam Stolz",
            ("Samuel Okafor", "Karim Benali"),
            (
                ("Timetable software", "Room clashes in Planora are reported to the deputy head by Friday noon."),
                ("Canteen", "The meal price goes up to 5.20 euros from November 2025."),
            ),
            (("Dario Fontana", "post the new menu card", "2025-10-24"),),
        ),
        (
            "2025/nov.txt",
            "2025-11-12",
            "A101",
            900,
            990,
            re,
            "Rosa Winter",
            ("Helene Storm",),
            (
                ("Open day", "Date set for 24 January 2026; the visitors' car park is the east yard."),
                ("Power use", "Machines are switched off at the main switch after the last lesson."),
            ),
            (
                ("Viktor Bahl", "label the main switches in the machine shop", "2025-12-05"),
                ("Petra Lindqvist", "order 600 leaflets", "2025-12-12"),
            ),
        ),
        (
            "2026/jan21.md",
            "2026-01-21",
            "A210",
            870,
            965,
            ow,
            "Petra Lindqvist",
            (),
            (
                (
                    "Purchases",
                    "42,000 euros are released for a second lifting device in the care practice room and for "
                    "oscilloscopes.",
                ),
                ("Sick notes", "Learners hand in sick notes on paper or by app from February 2026."),
            ),
            (("Samuel Okafor", "get three quotes for the oscilloscopes", "2026-02-20"),),
        ),
        (
            "2026/feb.html",
            "2026-02-25",
            "LIB",
            915,
            980,
            re,
            "Bruno Falk",
            ("Jana Ruzicka",),
            (("First aid", "All workshop teachers repeat the first aid course before the summer break."),),
            (("Rosa Winter", "book the trainer for the refresher", "2026-03-31"),),
        ),
        (
            "2026/april.txt",
            "2026-04-15",
            "A210",
            870,
            980,
            ow,
            "Helene Storm",
            ("Samuel Okafor", "Elias Thorn"),
            (
                (
                    "Artificial intelligence in homework",
                    "Use is allowed if it is named; a hidden use counts as an attempt to cheat.",
                ),
                ("Canteen", "A meat-free day every Thursday starts after the Easter break as a trial."),
            ),
            (("Henrik Vaas", "write a one-page guide for learners", "2026-05-15"),),
        ),
        (
            "2026/may-20.md",
            "2026-05-20",
            "A101",
            900,
            975,
            no,
            "Anneke Duis",
            ("Margit Oswald",),
            (("Trip rules", "Overnight trips need two adults from the school, whatever the group size."),),
            (("Piotr Zielen", "check the trip forms", "2026-06-12"),),
        ),
        (
            "2026/sept.html",
            "2026-09-16",
            "A210",
            870,
            990,
            ow,
            "Petra Lindqvist",
            ("Piotr Zielen",),
            (
                ("Start of term", "First-year numbers fell to 187; the joinery class is the smallest with 11."),
                ("Canteen", "The meat-free Thursday was kept, 18 votes to 12."),
            ),
            (
                ("Dario Fontana", "find two more meat-free dishes", "2026-10-09"),
                ("Ludek Havran", "get the oil leak at lifting platform 3 repaired", "2026-12-18"),
            ),
        ),
        (
            "2026/oct_staff.txt",
            "2026-10-21",
            "LIB",
            885,
            960,
            re,
            "Goran Maric",
            ("Leyla Aksoy",),
            (
                ("Open day", "The date is 30 January 2027; Jana Ruzicka is in charge of the programme."),
                ("Break duty", "Break duty is swapped in writing only."),
            ),
            (
                ("Jana Ruzicka", "send round the draft programme", "2026-11-27"),
                ("Viktor Bahl", "repair the display board", "2026-12-11"),
            ),
        ),
    ]
    return tuple(
        Meeting(p, make_day(d), r, s, e, c, t, a, i, tuple((w, x, make_day(y)) for w, x, y in acts))
        for p, d, r, s, e, c, t, a, i, acts in rows
    )


def make_rules() -> tuple[Rule, ...]:
    """Return the regulations and procedures."""
    rows: list[tuple[str, str, str, str, dict[str, str], tuple[tuple[str, str], ...]]] = [
        (
            "rules/absence.md",
            "Absence of Learners",
            "2026-02-01",
            "Margit Oswald",
            {"call": "7:45", "note": "third", "warn": "six"},
            (
                ("Reporting", "Whoever is ill lets the office know before {call} on the first day."),
                ("Doctor's note", "From the {note} day of illness a doctor's note is due."),
                ("Unexcused days", "After {warn} unexcused days in one term a written warning follows."),
            ),
        ),
        (
            "rules/workshop-order.txt",
            "Workshop Order",
            "2023-09-01",
            "Tobias Renk",
            {"glass": "safety glasses"},
            (
                ("Before work", "Nobody starts a machine without an introduction signed off by the teacher."),
                ("Clothing", "Long hair is tied up, jewellery is taken off, {glass} are worn at all machines."),
                ("Eating", "Food and drink stay outside."),
                ("Alone", "Learners may not work at machines without a teacher in the room."),
            ),
        ),
        (
            "rules/keys.html",
            "Keys and Access Chips",
            "2024-08-15",
            "Ludek Havran",
            {"deposit": "30 euros", "cost": "55"},
            (
                ("Handing out", "The caretaker hands out chips against a deposit of {deposit}."),
                ("Loss", "A lost chip is reported the same day; a replacement costs {cost} euros."),
                ("Leaving", "The chip is handed back on the last working day."),
            ),
        ),
        (
            "rules/exam-rules.md",
            "Examination Regulations",
            "2025-01-01",
            "Margit Oswald",
            {"mark": "50", "resit": "twice", "view": "four weeks"},
            (
                ("Passing", "A paper is passed with at least {mark} of 100 points."),
                ("Resits", "A failed paper may be taken again {resit}, the second time only with an oral part."),
                ("Cheating", "An attempt to cheat is graded with zero points."),
                ("Seeing the papers", "Marked papers may be looked at within {view} of the results."),
            ),
        ),
        (
            "rules/accident.txt",
            "What to Do after an Accident",
            "2024-02-12",
            "Rosa Winter",
            {"days": "three", "line": "333"},
            (
                ("At once", "Give first aid and ring the internal emergency line {line}."),
                ("Form", "The accident form reaches the office within {days} school days."),
                ("First aid book", "Even small cuts are entered in the first aid book."),
            ),
        ),
        (
            "rules/lending.md",
            "Lending Laptops and Tools",
            "2025-09-01",
            "Petra Lindqvist",
            {"weeks": "two", "fine": "1.50", "where": "library desk"},
            (
                ("Who and where", "Learners and staff borrow at the {where} with their school card."),
                ("How long", "Laptops go out for at most {weeks} weeks, tools for a weekend."),
                ("Late", "Each day of delay costs {fine} euros."),
            ),
        ),
        (
            "rules/refund.html",
            "Withdrawal and Refund of Course Fees",
            "2024-06-01",
            "Ines Caldeira",
            {"full": "21", "half": "7"},
            (
                (
                    "Full refund",
                    "Those who withdraw in writing up to {full} days before the course starts get everything back.",
                ),
                ("Half", "Up to {half} days before the start half of the fee is paid back."),
                ("Later", "After that nothing is paid back, unless a substitute takes the place."),
            ),
        ),
        (
            "rules/complaints.txt",
            "Handling Complaints",
            "2022-03-15",
            "Tobias Renk",
            {"answer": "ten working days"},
            (
                ("First step", "Talk to the person concerned."),
                ("Second step", "If that does not help, write to the deputy head; the answer comes within {answer}."),
                ("Third step", "The school board decides last."),
            ),
        ),
        (
            "rules/phones.md",
            "Mobile Phones",
            "2025-08-25",
            "Margit Oswald",
            {"box": "phone box"},
            (
                ("In lessons", "Phones lie switched off in the {box} unless the teacher asks for them."),
                ("In workshops", "In workshops phones are forbidden, also for taking pictures."),
                ("In breaks", "In the yard and in the canteen phones may be used."),
            ),
        ),
        (
            "rules/printing.html",
            "Printing and Copying",
            "2023-11-06",
            "Henrik Vaas",
            {"free": "400", "cent": "15", "staff": "deputy head"},
            (
                ("Free pages", "Each learner has {free} black-and-white pages per school year."),
                (
                    "Colour",
                    "A colour page costs {cent} cents; staff need the approval of the {staff} above 50 colour pages.",
                ),
                ("Paper", "Own paper is not to be put in."),
            ),
        ),
        (
            "rules/trips.txt",
            "School Trips",
            "2026-06-01",
            "Nina Maric",
            {"adults": "two", "weeks": "six"},
            (
                ("Request", "The request reaches the head at least {weeks} weeks before departure."),
                ("Supervision", "Overnight trips are accompanied by {adults} adults from the school."),
                ("Costs", "Families who cannot pay turn to the friends' association in confidence."),
            ),
        ),
        (
            "rules/fire.md",
            "Leaving the Building in Case of Fire",
            "2021-10-04",
            "Ludek Havran",
            {"point": "north gate", "drill": "twice"},
            (
                ("Alarm", "At the continuous tone everybody leaves; bags stay behind."),
                ("Meeting point", "The classes gather at the {point}, the teacher counts."),
                ("Drill", "Drills are held {drill} in a school year, once without notice."),
                ("Lifts", "Lifts are not used."),
            ),
        ),
    ]
    return tuple(Rule(p, t, make_day(d), w, f, s) for p, t, d, w, f, s in rows)


def make_jobs() -> tuple[Job, ...]:
    """Return the job adverts."""
    rows: list[tuple[str, str, int, int, str, str, str, str, str, str]] = [
        (
            "jobs/welding_instructor.md",
            "Welding Instructor",
            39,
            4150,
            "2027-02-01",
            "2026-12-11",
            "",
            "Goran Maric",
            "teach young people to weld and keep the sets in order",
            "master craftsman and patience",
        ),
        (
            "jobs/cook.txt",
            "Canteen Cook",
            30,
            2640,
            "2026-10-01",
            "2026-08-28",
            "",
            "Dario Fontana",
            "cook 180 lunches a day",
            "trained cook, early riser",
        ),
        (
            "jobs/it-tech.html",
            "IT Technician",
            39,
            3480,
            "2027-01-01",
            "2026-11-15",
            "2028-12-31",
            "Henrik Vaas",
            "look after 160 computers and the network",
            "vocational training in IT",
        ),
        (
            "jobs/caretaker_help.txt",
            "Caretaker's Assistant",
            20,
            1490,
            "2027-01-04",
            "2026-12-04",
            "",
            "Ludek Havran",
            "small repairs, snow clearing and locking up",
            "driving licence",
        ),
        (
            "jobs/nursing-teacher.md",
            "Teacher of Nursing",
            25,
            3050,
            "2027-02-15",
            "2027-01-15",
            "2027-07-31",
            "Rosa Winter",
            "stand in for a colleague on parental leave",
            "registered nurse with a teaching degree",
        ),
        (
            "jobs/socialwork.html",
            "School Social Worker",
            19,
            1720,
            "2026-11-01",
            "2026-09-30",
            "",
            "Nina Maric",
            "advise learners and families",
            "degree in social work",
        ),
        (
            "jobs/office_clerk.md",
            "Front Office Clerk",
            24,
            1980,
            "2027-01-11",
            "2026-11-30",
            "2027-12-31",
            "Petra Lindqvist",
            "answer calls, enrolments and mail",
            "office training, good English",
        ),
        (
            "jobs/head_vehicles.txt",
            "Head of the Vehicle Department",
            39,
            4620,
            "2025-08-01",
            "2025-05-31",
            "",
            "Margit Oswald",
            "lead a team of seven and plan the purchases",
            "master mechanic, five years of teaching",
        ),
    ]
    return tuple(
        Job(p, t, h, g, make_day(s), make_day(d), make_day(u) if u else None, c, du, w)
        for p, t, h, g, s, d, u, c, du, w in rows
    )


def make_letters() -> tuple[Letter, ...]:
    """Return the letters to parents."""
    ow, ni = ("Margit Oswald", "Head of school"), ("Nina Maric", "School counsellor, ext. 218")
    rows: list[tuple[str, str, tuple[str, str], str, str, str, str, float | None, str]] = [
        (
            "parents/wildlife.md",
            "2024-09-10",
            ("Miriam Stolz", "Childcare"),
            "class CH24",
            "Trip to the wildlife park",
            "We are going to Osterau by train and watch how small children meet animals.",
            "2024-10-02",
            18.0,
            "2024-09-24",
        ),
        (
            "parents/openday_25.txt",
            "2024-11-19",
            ow,
            "all families",
            "Open day",
            "All workshops are open from 10 am to 3 pm. Bring neighbours and younger siblings along.",
            "2025-01-25",
            None,
            "",
        ),
        (
            "parents/stress.html",
            "2025-01-14",
            ni,
            "all final-year classes",
            "Evening talk on exam nerves",
            "Psychologist Dr Ulla Brenner speaks about sleep, breathing and learning plans; we begin at 7 pm in the "
            "library.",
            "2025-02-06",
            None,
            "",
        ),
        (
            "parents/measles.md",
            "2025-03-04",
            ("Rosa Winter", "Care department"),
            "class NA25",
            "Proof of vaccination",
            "Before the first placement in a hospital we need proof of protection against measles.",
            "",
            None,
            "2025-03-21",
        ),
        (
            "parents/knives.txt",
            "2025-05-20",
            ("Dario Fontana", "Kitchen"),
            "class CO25",
            "Knife set and chef's jacket",
            "We order together so that it stays affordable; one set lasts for the whole training.",
            "",
            146.5,
            "2025-06-06",
        ),
        (
            "parents/new_year.html",
            "2025-08-26",
            ow,
            "all families",
            "Welcome to the new school year",
            "Lessons begin at 8:10. The office is open from 7:30 to 15:00, on Fridays only to 13:00.",
            "",
            None,
            "",
        ),
        (
            "parents/sawmill.md",
            "2025-09-30",
            ("Jana Ruzicka", "Wood department"),
            "class JO24",
            "Visit to a sawmill and a window factory",
            "A coach takes us to Brackel; lunch in the works canteen is included.",
            "2025-10-21",
            42.0,
            "2025-10-10",
        ),
        (
            "parents/roadworks.txt",
            "2025-11-25",
            ("Tobias Renk", "Deputy head"),
            "all families",
            "Roadworks in Mill Lane",
            "Until Easter bus 14 stops at the swimming baths instead of the school gate; "
            "please allow ten more minutes.",
            "",
            None,
            "",
        ),
        (
            "parents/sleep.html",
            "2026-01-20",
            ni,
            "all first-year classes",
            "Evening talk on screens and sleep",
            "We speak about night-time scrolling and what families can agree on; 6.30 pm, assembly hall.",
            "2026-02-12",
            None,
            "",
        ),
        (
            "parents/motorfair.txt",
            "2026-02-17",
            ("Karim Benali", "Vehicles"),
            "class VM24",
            "Day at the motor fair",
            "We leave at 6 am for Leipzig and are back at about 9 pm.",
            "2026-03-20",
            65.0,
            "2026-03-06",
        ),
        (
            "parents/lockers.md",
            "2026-03-10",
            ("Petra Lindqvist", "School office"),
            "all families",
            "Locker rental",
            "Lockers for the school year 2026/27 are given out in the order of the forms received.",
            "",
            25.0,
            "2026-04-30",
        ),
        (
            "parents/prague.html",
            "2026-04-21",
            ("Anneke Duis", "Electrical department"),
            "class EL24",
            "Four days in Prague",
            "We visit a power station and the technical museum and stay at the youth hostel Vltava.",
            "2026-06-08",
            289.0,
            "2026-05-08",
        ),
        (
            "parents/graduation.md",
            "2026-06-16",
            ow,
            "all final-year classes",
            "Graduation ceremony",
            "The certificates are handed over in the assembly hall at 5 pm; each learner may bring four guests.",
            "2026-07-03",
            None,
            "",
        ),
        (
            "parents/allergy.txt",
            "2026-09-08",
            ("Camille Noret", "Bakery"),
            "class BP26",
            "Allergies in the bakery",
            "Flour dust, nuts and eggs are part of every day here. Please tell us what we should know.",
            "",
            None,
            "2026-09-18",
        ),
        (
            "parents/parents_evening.html",
            "2026-10-27",
            ni,
            "all first-year classes",
            "Parents' evening",
            "Talks with the class teachers last ten minutes each, from 5 pm in the classrooms.",
            "2026-11-26",
            None,
            "",
        ),
    ]
    return tuple(
        Letter(p, make_day(d), s[0], s[1], a, t, b, make_day(e) if e else None, c, make_day(r) if r else None)
        for p, d, s, a, t, b, e, c, r in rows
    )


def make_school() -> School:
    """Return all records."""
    return School(make_courses(), make_rooms(), make_meetings(), make_rules(), make_jobs(), make_letters())


def show_day(day: datetime.date, style: int) -> str:
    """Write a date in one of six notations."""
    month = MONTHS[day.month - 1]
    if style == 1:
        return f"{day.day:02d}.{day.month:02d}.{day.year}"
    if style == 2:
        return f"{month} {day.day}, {day.year}"
    if style == 3:
        return day.isoformat()
    if style == 4:
        return f"{day.day} {month[:3]} {day.year}"
    if style == 5 and day.day > 12:
        return f"{day.day}/{day.month:02d}/{day.year}"
    return f"{day.day} {month} {day.year}"


def show_money(amount: float, style: int) -> str:
    """Write an amount of euros in one of four notations."""
    whole = amount == int(amount)
    plain = f"{amount:,.2f}"
    if style == 1:
        return f"EUR {plain}"
    if style == 2:
        return plain.replace(",", "_").replace(".", ",").replace("_", ".") + " €"
    if style == 3:
        return (f"{int(amount):,}".replace(",", " ") if whole else f"{amount:.2f}") + " euros"
    return f"€{int(amount):,}" if whole else f"€{plain}"


def show_time(minutes: int, style: int) -> str:
    """Write a time of day in one of three notations."""
    hour, minute = divmod(minutes, 60)
    if style % 3 == 1:
        return f"{hour % 12 or 12}:{minute:02d} {'pm' if hour >= 12 else 'am'}"
    if style % 3 == 2:
        return f"{hour:02d}.{minute:02d} h"
    return f"{hour:02d}:{minute:02d}"


def show_length(months: int) -> str:
    """Write the length of a course in words."""
    if months % 12 == 0:
        return f"{WORDS[months // 12]} year" + ("s" if months > 12 else "")
    return f"{WORDS[months]} month" + ("s" if months > 1 else "")


def wrap_html(title: str, body: str) -> str:
    """Put a body into a small HTML page."""
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n{body}\n'
        "</body></html>\n"
    )


def show_table(rows: list[tuple[str, str]]) -> str:
    """Write rows as an HTML table."""
    cells = "\n".join(f"<tr><th>{a}</th><td>{b}</td></tr>" for a, b in rows)
    return f"<table>\n{cells}\n</table>"


def render_course(course: Course, rng: random.Random) -> str:
    """Render a course description."""
    day, cash = rng.randrange(6), rng.randrange(4)
    start = show_day(course.start, day)
    if course.fee is None:
        fee = "not fixed yet"
    else:
        fee = show_money(course.fee, cash) if course.fee else "free of charge"
    slot = {"day": "during the day", "evening": "in the evening", "weekend": "at weekends"}[course.slot]
    bring: list[str] = []
    if course.shoes:
        bring.append("Safety shoes are compulsory.")
    if course.health:
        bring.append("A medical certificate must be shown before the first day.")
    extra = " ".join(bring)
    if course.path.endswith(".html"):
        rows = [
            ("Begins", start),
            ("Runs for", show_length(course.months)),
            ("Lessons per week", str(course.hours)),
            ("When", slot),
            ("Price", fee),
            ("Group size", f"max. {course.places}"),
            ("Taught by", course.teacher),
            ("Where", course.room),
            ("You need", course.entry),
            ("You get", course.award),
        ]
        return wrap_html(
            course.title,
            f"<h1>{course.title}</h1>\n<p>You will learn: {course.content}.</p>\n{show_table(rows)}\n<p>{extra}</p>",
        )
    if course.path.endswith(".txt"):
        if rng.random() < 0.5:
            lines = [
                course.title.upper(),
                "=" * len(course.title),
                f"Start .......... {start}",
                f"Length ......... {course.months} mo.",
                f"Hours/week ..... {course.hours}",
                f"Time ........... {slot}",
                f"Fee ............ {fee}",
                f"Places ......... {course.places}",
                f"Instructor ..... {course.teacher}",
                f"Room ........... {course.room}",
                f"Entry .......... {course.entry}",
                f"Final .......... {course.award}",
                "",
                f"Topics: {course.content}.",
                extra,
            ]
            return "\n".join(lines).rstrip() + "\n"
        cost = "It is free of charge" if course.fee == 0 else f"The cost is {fee}"
        return (
            f"{course.title}\n\nThis course is held {slot} in {course.room}, {course.hours} hours a week, and takes "
            f"{show_length(course.months)}. We begin on {start}. {course.teacher} covers {course.content}. {cost}, "
            f"and there is space for {course.places} participants. What we expect of you: {course.entry}. "
            f"At the end you hold this: {course.award}. {extra}\n"
        )
    if rng.random() < 0.5:
        return (
            f"# {course.title}\n\n## What is it about?\n\nYou deal with {course.content}. Your teacher is "
            f"{course.teacher}; you meet {slot} in {course.room}.\n\n## How long does it take?\n\n"
            f"{show_length(course.months).capitalize()}, {course.hours} hours each week. First day: {start}.\n\n"
            f"## What does it cost?\n\n{fee[0].upper() + fee[1:]}. We take at most {course.places} people.\n\n"
            f"## What do I need?\n\nRequired: {course.entry}. {extra}\n\n## And afterwards?\n\nYou leave with: "
            f"{course.award}.\n"
        )
    return (
        f"# Course sheet: {course.title}\n\n**Lead:** {course.teacher}  \n**Venue:** {course.room}  \n"
        f"**From:** {start}, for {show_length(course.months)}  \n**Load:** {course.hours} h weekly, {slot}  \n"
        f"**Participants:** up to {course.places}  \n**Charge:** {fee}  \n\nContent: {course.content}.\n\n"
        f"*Admission:* {course.entry}\n\n*Qualification:* {course.award}\n\n{extra}\n"
    )


def render_room(room: Room, rng: random.Random) -> str:
    """Render a room note."""
    checked = show_day(room.checked, rng.randrange(6))
    access = "can be reached without steps" if room.step_free else "can be reached by stairs only"
    things = ", ".join(f"{n} x {name}" for name, n in room.equipment)
    if room.path.endswith(".html"):
        rows = [(name, str(n)) for name, n in room.equipment]
        fault = f"<p><b>Fault:</b> {room.defect}.</p>" if room.defect else "<p>No faults known.</p>"
        return wrap_html(
            room.code,
            f"<h2>{room.code} &ndash; {room.name}</h2>\n<p>Location: {room.floor}; {access}. "
            f"Up to {room.people} people. {room.keeper} looks after the room "
            f"(phone {room.extension}).</p>\n"
            f"{show_table(rows)}\n{fault}\n<p>Safety check done on {checked}.</p>",
        )
    if room.path.endswith(".txt"):
        return (
            f"ROOM CARD {room.code}\nUse: {room.name}\nLocation: {room.floor}\nMax. persons: {room.people}\n"
            f"In charge: {room.keeper}\nExt.: {room.extension}\nInventory: {things}\nLast safety check: {checked}\n"
            f"Access: {access}\nDefects: {room.defect or '-'}\n"
        )
    fault = f"Please note: {room.defect}." if room.defect else "Everything works at present."
    return (
        f"# Note on the {room.name} ({room.code})\n\nThe {room.name} is in this place: {room.floor}. It holds "
        f"{room.people} people and {access}. It was last checked for safety on {checked}. {fault}\n\n"
        f"Questions go to {room.keeper}, extension {room.extension}.\n\n"
        + "".join(f"- {name}: {n}\n" for name, n in room.equipment)
    )


def render_meeting(meeting: Meeting, rng: random.Random) -> str:
    """Render the minutes of a meeting."""
    style, clock = rng.randrange(6), rng.randrange(3)
    day, begin, end = show_day(meeting.date, style), show_time(meeting.start, clock), show_time(meeting.end, clock)
    absent = ", ".join(meeting.absent) or "nobody"
    if meeting.path.endswith(".html"):
        items = "\n".join(f"<li><b>{t}.</b> {x}</li>" for t, x in meeting.items)
        acts = "\n".join(
            f"<tr><td>{w}</td><td>{x}</td><td>{show_day(d, style)}</td></tr>" for w, x, d in meeting.actions
        )
        return wrap_html(
            "Staff meeting",
            f"<h1>Staff meeting, {day}</h1>\n<p>{begin} to {end}, {meeting.room}. In the "
            f"chair: {meeting.chair}. Written by {meeting.taker}. Excused: {absent}.</p>\n<ol>\n{items}\n"
            f"</ol>\n<table>\n<tr><th>Who</th><th>Task</th><th>By</th></tr>\n{acts}\n</table>",
        )
    if meeting.path.endswith(".txt"):
        parts = [
            f"{SCHOOL.upper()}",
            "Minutes of the teaching staff",
            "",
            f"Date: {day}",
            f"Time: {begin} - {end}",
            f"Place: {meeting.room}",
            f"Led by: {meeting.chair}",
            f"Minutes: {meeting.taker}",
            f"Not present: {absent}",
            "",
        ]
        parts += [f"{n}) {t}\n   {x}" for n, (t, x) in enumerate(meeting.items, 1)]
        parts += ["", "To do:"] + [f"  * {w}: {x} (until {show_day(d, style)})" for w, x, d in meeting.actions]
        return "\n".join(parts) + "\n"
    items = "\n\n".join(f"## {t}\n\n{x}" for t, x in meeting.items)
    acts = "\n".join(f"- **{w}** will {x}, by {show_day(d, style)}." for w, x, d in meeting.actions)
    missing = f"Apologies came from {' and '.join(meeting.absent)}." if meeting.absent else "Nobody was missing."
    return (
        f"# Staff meeting of {day}\n\nWe met in {meeting.room}. {meeting.chair} opened the meeting at {begin} and "
        f"closed it at {end}; {meeting.taker} kept the record. {missing}\n\n{items}\n\n## Tasks\n\n{acts}\n"
    )


def render_rule(rule: Rule, rng: random.Random) -> str:
    """Render a regulation."""
    day = show_day(rule.force, rng.randrange(6))
    parts = [(h, t.format(**rule.facts)) for h, t in rule.sections]
    if rule.path.endswith(".html"):
        body = "\n".join(f"<h3>{h}</h3>\n<p>{t}</p>" for h, t in parts)
        return wrap_html(
            rule.title, f"<h1>{rule.title}</h1>\n{body}\n<p><i>Valid from {day}. Author: {rule.issuer}.</i></p>"
        )
    if rule.path.endswith(".txt"):
        body = "\n\n".join(f"§ {n} {h}\n{t}" for n, (h, t) in enumerate(parts, 1))
        return f"{rule.title.upper()}\nin force since {day}\n\n{body}\n\nsigned {rule.issuer}\n"
    body = "\n".join(f"{n}. **{h}**: {t}" for n, (h, t) in enumerate(parts, 1))
    return f"# {rule.title}\n\nThis procedure was put into effect by {rule.issuer} on {day}.\n\n{body}\n"


def render_job(job: Job, rng: random.Random) -> str:
    """Render a job advert."""
    style, cash = rng.randrange(6), rng.randrange(4)
    start, end, pay = show_day(job.start, style), show_day(job.deadline, style), show_money(job.pay, cash)
    term = f"fixed-term until {show_day(job.until, style)}" if job.until else "permanent"
    if job.path.endswith(".html"):
        rows = [
            ("Post", job.title),
            ("From", start),
            ("Contract", term),
            ("Weekly hours", str(job.hours)),
            ("Gross monthly pay", pay),
            ("Apply by", end),
            ("Ask", job.contact),
        ]
        return wrap_html(
            "Vacancy", f"<h1>Vacancy</h1>\n{show_table(rows)}\n<p>You will {job.duties}. You bring: {job.wanted}.</p>"
        )
    if job.path.endswith(".txt"):
        return (
            f"{SCHOOL} is hiring!\n\n>> {job.title} <<\n\nYour tasks: {job.duties}\nYour profile: {job.wanted}\n"
            f"We offer: {job.hours} hours per week, {pay} a month before tax, {term} contract\n"
            f"First day: {start}\nApplications: to {job.contact}, no later than {end}\n"
        )
    return (
        f"# Come and work with us: {job.title}\n\nFrom {start} we need somebody to {job.duties}. The post is {term} "
        f"and comes with {job.hours} hours a week. Every month you earn {pay} gross.\n\n"
        f"We are looking for: {job.wanted}.\n\n"
        f"Please send your papers by {end}. {job.contact} is happy to answer your questions.\n"
    )


def render_letter(letter: Letter, rng: random.Random) -> str:
    """Render a letter to parents."""
    style, cash = rng.randrange(6), rng.randrange(4)
    day = show_day(letter.date, style)
    event = show_day(letter.event, style) if letter.event else ""
    cost = show_money(letter.cost, cash) if letter.cost is not None else ""
    reply = show_day(letter.reply, style) if letter.reply else ""
    if letter.path.endswith(".html"):
        more = f"<p>The date: {event}.</p>\n" if event else ""
        more += f"<p>The price per person is {cost}.</p>\n" if cost else ""
        more += f"<p>Send the slip back until {reply}.</p>\n" if reply else ""
        return wrap_html(
            letter.subject,
            f'<p align="right">{SCHOOL}, {day}</p>\n'
            f"<p>For the parents: {letter.audience}</p>\n<h2>{letter.subject}</h2>\n"
            f"<p>Dear parents,</p>\n<p>{letter.body}</p>\n{more}"
            f"<p>Kind regards<br>{letter.sender}<br>{letter.role}</p>",
        )
    if letter.path.endswith(".txt"):
        lines = [
            f"{SCHOOL} * 4 Mill Lane * Tallmoor",
            "",
            f"Date: {day}",
            f"To: parents, {letter.audience}",
            f"Re: {letter.subject}",
            "",
            "Dear Sir or Madam,",
            "",
            letter.body,
        ]
        lines += [f"Day: {event}"] if event else []
        lines += [f"Cost: {cost}"] if cost else []
        lines += [f"Please return the form by {reply}"] if reply else []
        return "\n".join([*lines, "", "Yours faithfully", letter.sender, letter.role]) + "\n"
    more = f" It takes place on {event}." if event else ""
    more += f" We have to ask you for {cost}." if cost else ""
    more += f" We need your signed answer no later than {reply}." if reply else ""
    return (
        f"{day}\n\n**{letter.subject}** (for {letter.audience})\n\nDear mothers, fathers and guardians,\n\n"
        f"{letter.body}{more}\n\nThank you for your support,\n\n{letter.sender}, {letter.role}\n"
    )


def write_documents(school: School, out: Path, rng: random.Random) -> None:
    """Write all files."""
    texts: dict[str, str] = {}
    texts.update({f"courses/{c.path}": render_course(c, rng) for c in school.courses})
    texts.update({f"minutes/{m.path}": render_meeting(m, rng) for m in school.meetings})
    texts.update({f"handbook/{r.path}": render_rule(r, rng) for r in school.rules})
    texts.update({f"handbook/{r.path}": render_room(r, rng) for r in school.rooms})
    texts.update({f"letters/{j.path}": render_job(j, rng) for j in school.jobs})
    texts.update({f"letters/{x.path}": render_letter(x, rng) for x in school.letters})
    for name in sorted(texts):
        target = out / "documents" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(texts[name], encoding="utf-8")


def list_truth(paths: list[str]) -> Truth:
    """Return the truth of a list of files."""
    if not paths:
        raise ValueError("empty list")
    return {"documents": sorted(paths)}


def count_truth(number: float) -> Truth:
    """Return the truth of a number."""
    return {"number": number} if number else {"nothing": True}


def value_truth(values: list[str], alternatives: list[list[str]] | None = None) -> Truth:
    """Return the truth of stated values."""
    return {"values": values, "alternatives": alternatives} if alternatives else {"values": values}


def day_truth(day: datetime.date | None) -> Truth:
    """Return the truth of a date."""
    if day is None:
        raise ValueError("no date")
    return value_truth([show_day(day, 0)], [[day.isoformat()]])


def pick_extreme(records: list[T], key: Callable[[T], float]) -> T:
    """Return the record with the largest key and insist that it is the only one."""
    best = max(key(r) for r in records)
    winners = [r for r in records if key(r) == best]
    if len(winners) != 1:
        raise ValueError(f"tie: {winners}")
    return winners[0]


def expect_empty(records: list[str]) -> Truth:
    """Return the truth of an honest empty set and insist that it is empty."""
    if records:
        raise ValueError(f"not empty: {records}")
    return {"nothing": True}


def make_answerable(school: School) -> list[tuple[str, list[str], Truth, str]]:
    """Return the messages that can be answered."""
    courses, rooms, jobs, letters = list(school.courses), list(school.rooms), list(school.jobs), list(school.letters)
    meetings = list(school.meetings)
    course = {c.title: c for c in courses}
    room = {r.code: r for r in rooms}
    rule = {r.path: r.facts for r in school.rules}
    job = {j.title: j for j in jobs}
    letter = {x.path: x for x in letters}
    paid = [c for c in courses if c.fee]
    dear = pick_extreme(courses, lambda c: c.fee or 0)
    stale = pick_extreme(rooms, lambda r: -r.checked.toordinal())
    long = pick_extreme(meetings, lambda m: m.end - m.start)
    rich = pick_extreme([j for j in jobs if j.until], lambda j: j.pay)
    march = next(m for m in meetings if (m.date.year, m.date.month) == (2025, 3))
    tiny = pick_extreme(courses, lambda c: -c.places)
    chairs = sorted({m.chair for m in meetings})
    may = next(m for m in meetings if m.date == make_day("2025-05-14"))
    open_jobs = [j for j in jobs if j.deadline >= TODAY]
    plc = course["PLC Programming"]
    solar = course["Fitting Solar Panels"]
    slots = {"daytime": "day", "evening": "evening", "weekend": "weekend"}
    rows: list[tuple[str, list[str], Truth, str]] = [
        (
            "list",
            ["which evening classes are under a thousand euros?"],
            list_truth([c.path for c in courses if c.slot == "evening" and c.fee is not None and c.fee < 1000]),
            "two conditions, money in several notations",
        ),
        (
            "list",
            ["courses that cost people nothing"],
            list_truth([c.path for c in courses if c.fee == 0]),
            "'free of charge' in all styles; a price not fixed yet is not free",
        ),
        (
            "list",
            ["What do we run on Saturdays and Sundays?", "just the ones below 500 euros"],
            list_truth([c.path for c in courses if c.slot == "weekend" and c.fee is not None and c.fee < 500]),
            "follow-up narrows the list",
        ),
        (
            "list",
            ["Could you pull all the letters home in which we asked families for money? The auditor is asking."],
            list_truth([x.path for x in letters if x.cost is not None]),
            "cost is worded in three ways",
        ),
        (
            "list",
            ["which rooms have something broken at the moment"],
            list_truth([r.path for r in rooms if r.defect]),
            "defects are prose or a label, and '-' means none",
        ),
        (
            "list",
            ["I need every set of minutes where Tobias Renk was running the meeting please"],
            list_truth([m.path for m in meetings if m.chair == "Tobias Renk"]),
            "chair has several wordings; Renk also turns up as absent and with a task",
        ),
        (
            "list",
            ["vacancies someone could still apply for today?"],
            list_truth([j.path for j in open_jobs]),
            "deadline against today's date",
        ),
        (
            "list",
            ["rooms u cant get into with a wheelchair"],
            list_truth([r.path for r in rooms if not r.step_free]),
            "negation; the text says 'by stairs only'",
        ),
        (
            "list",
            ["What's kicking off in January 2027? courses I mean", "without the weekend ones"],
            list_truth([c.path for c in courses if (c.start.year, c.start.month) == (2027, 1) and c.slot != "weekend"]),
            "dates in six notations, negation in the follow-up",
        ),
        (
            "list",
            ["at which staff meetings did they talk about the open day"],
            list_truth([m.path for m in meetings if any(t == "Open day" for t, _ in m.items)]),
            "topic of agenda items",
        ),
        (
            "list",
            ["Which meetings did Samuel Okafor miss?", "and Margit Oswald?"],
            list_truth([m.path for m in meetings if "Margit Oswald" in m.absent]),
            "follow-up changes the person",
        ),
        (
            "list",
            ["any letters to parents about an event between February and July 2026?"],
            list_truth(
                [x.path for x in letters if x.event and make_day("2026-02-01") <= x.event <= make_day("2026-07-31")]
            ),
            "date of the event, not of the letter",
        ),
        (
            "count",
            ["how many of our courses go on for more than a year"],
            count_truth(sum(c.months > 12 for c in courses)),
            "months, years, words; exactly one year does not count",
        ),
        (
            "count",
            ["How many rooms can take 20 people or more?"],
            count_truth(sum(r.people >= 20 for r in rooms)),
            "capacity worded in three ways, 20 included",
        ),
        (
            "count",
            ["how often did the staff meet in 2025?", "and in 2024?"],
            count_truth(sum(m.date.year == 2024 for m in meetings)),
            "follow-up changes the year",
        ),
        (
            "count",
            ["How many tasks has Viktor Bahl been given in all the staff meetings together?"],
            count_truth(sum(w == "Viktor Bahl" for m in meetings for w, _, _ in m.actions)),
            "rows inside the files; he is also absent once",
        ),
        (
            "count",
            ["quick one - how many courses make you turn up with a doctors certificate"],
            count_truth(sum(c.health for c in courses)),
            "a sentence in the text, absent elsewhere",
        ),
        (
            "lookup",
            ["who takes the PLC class?", "and what else does he teach?"],
            value_truth([c.title for c in courses if c.teacher == plc.teacher and c != plc]),
            "follow-up over the person",
        ),
        (
            "lookup",
            ["By when did the parents have to send back the slip for Prague?"],
            day_truth(letter["parents/prague.html"].reply),
            "three dates in the letter",
        ),
        (
            "lookup",
            ["a student cut his hand this morning, how long have I got to get the accident form in?"],
            value_truth([f"{rule['rules/accident.txt']['days']} school days"], [["3 school days"]]),
            "rule text",
        ),
        (
            "lookup",
            ["what does a colour copy cost?"],
            value_truth([f"{rule['rules/printing.html']['cent']} cents"], [["15 cent"], ["0.15"]]),
            "rule text",
        ),
        (
            "text",
            ["how do i borrow a laptop and how many weeks can I keep it"],
            value_truth(
                [rule["rules/lending.md"]["where"], f"{rule['rules/lending.md']['weeks']} weeks"],
                [["library desk", "2 weeks"]],
            ),
            "how-to with two facts in one rule",
        ),
        (
            "lookup",
            ["whats the monthly pay for the canteen cook job"],
            value_truth([str(job["Canteen Cook"].pay)], [[f"{job['Canteen Cook'].pay:,}"]]),
            "gross amount in prose",
        ),
        (
            "lookup",
            ["Who chaired the staff meeting in May 2025?", "and who wrote it up?"],
            value_truth([may.taker]),
            "follow-up asks another attribute of the same file",
        ),
        (
            "text",
            ["until when can someone pull out of a course and still get all their money back?"],
            value_truth([f"{rule['rules/refund.html']['full']} days"]),
            "two limits side by side",
        ),
        (
            "text",
            ["What happens if I lose my door chip?"],
            value_truth([rule["rules/keys.html"]["cost"], "same day"]),
            "procedure in other words; the deposit is a trap",
        ),
        (
            "lookup",
            ["how many lathes are there in the machine shop?"],
            count_truth(dict(room["W01"].equipment)["lathe"]),
            "quantity in an inventory line",
        ),
        (
            "superlative",
            ["what's our most expensive course"],
            value_truth([dear.title], [[dear.path]]),
            "money notations",
        ),
        (
            "superlative",
            ["Which room has gone longest without a safety check?"],
            value_truth([stale.code], [[stale.name], [stale.path]]),
            "oldest date",
        ),
        (
            "superlative",
            ["longest staff meeting ever, when was that?"],
            day_truth(long.date),
            "from start and end times",
        ),
        (
            "superlative",
            ["which jobs are fixed term?", "the best paid of them?"],
            value_truth([rich.title], [[rich.path]]),
            "follow-up superlative within the list",
        ),
        (
            "number",
            ["what do our paying courses cost on average (leave out the free ones)"],
            {"number": sum(c.fee or 0 for c in paid) / len(paid), "tolerance": 0.01},
            "one price is not fixed yet",
        ),
        (
            "group",
            ["how many staff meetings did each person chair"],
            {"groups": {p: sum(m.chair == p for m in meetings) for p in chairs}},
            "count per person",
        ),
        (
            "group",
            ["Number of courses split by daytime, evening and weekend please"],
            {"groups": {label: sum(c.slot == slot for c in courses) for label, slot in slots.items()}},
            "count per slot",
        ),
        (
            "number",
            ["if everything sells out, how many people fit into the evening courses altogether?"],
            count_truth(sum(c.places for c in courses if c.slot == "evening")),
            "sum with a filter",
        ),
        ("yes_no", ["are learners allowed to have their phones out in the workshops?"], {"yes_no": "no"}, "rule text"),
        ("yes_no", ["did the staff agree to try out the four day week"], {"yes_no": "no"}, "voted down"),
        (
            "yes_no",
            ["Is there a projector in A101?"],
            {"yes_no": "yes" if "projector" in dict(room["A101"].equipment) else "no"},
            "inventory",
        ),
        (
            "yes_no",
            ["was anyone away from the staff meeting in March 2025?"],
            {"yes_no": "yes" if march.absent else "no"},
            "'nobody was missing'",
        ),
        (
            "join",
            ["who looks after the room where people do their forklift licence?"],
            value_truth([room[course["Forklift Licence"].room].keeper]),
            "course to room to person, who is not the teacher",
        ),
        (
            "join",
            ["which courses are held in a room that has a known fault?"],
            list_truth([c.path for c in courses if room[c.room].defect]),
            "two folders",
        ),
        (
            "join",
            ["which course takes more people than its room allows?"],
            list_truth([c.path for c in courses if c.places > room[c.room].people]),
            "compares two folders",
        ),
        (
            "join",
            ["What number do I dial to reach the person in charge of the room the bookkeeping course sits in?"],
            value_truth([str(room[course["Bookkeeping for Small Firms"].room].extension)]),
            "course to room to extension",
        ),
        (
            "compound",
            ["who teaches fitting solar panels and what does it cost?"],
            {"parts": [value_truth([solar.teacher]), value_truth([str(solar.fee)], [[f"{solar.fee:,}"]])]},
            "two facts of one file",
        ),
        (
            "compound",
            ["when is the next open day, and who is responsible for the programme?"],
            {"parts": [value_truth(["30 January 2027"], [["2027-01-30"]]), value_truth(["Jana Ruzicka"])]},
            "several open days in the minutes, only one ahead",
        ),
        (
            "compound",
            ["Which course has the fewest places and how many ads are still open for applications?"],
            {"parts": [value_truth([tiny.title], [[tiny.path]]), count_truth(len(open_jobs))]},
            "two questions over two folders",
        ),
        (
            "ambiguous",
            ["how much is the welding course?"],
            {
                "ask": True,
                "readings": [
                    value_truth([str(course[t].fee)], [[f"{course[t].fee:,}"]])
                    for t in ("MAG Welding for Beginners", "TIG Welding of Stainless Steel")
                ],
            },
            "two welding courses",
        ),
        (
            "ambiguous",
            ["Maric's extension?"],
            {"ask": True, "readings": [value_truth([str(room["W02"].extension)]), value_truth(["218"])]},
            "Goran Maric and Nina Maric",
        ),
    ]
    return rows


def make_unanswerable(school: School) -> list[tuple[str, list[str], Truth, str]]:
    """Return the messages that cannot be answered."""
    gone: Truth = {"nothing": True}
    free_evening = [c.path for c in school.courses if c.slot == "evening" and c.fee == 0]
    top_pay = [j.path for j in school.jobs if j.pay > 5000]
    july = [m.path for m in school.meetings if (m.date.year, m.date.month) == (2025, 7)]
    fee = [c.path for c in school.courses if c.title.startswith("High-Voltage") and c.fee is not None]
    return [
        ("nothing", ["who teaches the dental assistant course?"], gone, "no such course, other assistants exist"),
        ("nothing", ["any evening courses that are free?"], expect_empty(free_evening), "honest empty set"),
        (
            "nothing",
            ["what will the high voltage course for electric cars cost"],
            expect_empty(fee),
            "the price is not fixed yet",
        ),
        ("nothing", ["jobs paying north of 5000 a month?"], expect_empty(top_pay), "honest empty set"),
        ("nothing", ["send me the minutes of the July 2025 staff meeting"], expect_empty(july), "no meeting then"),
        ("nothing", ["who is in charge of room K03?"], gone, "K01 and K02 exist, K03 does not"),
        ("nothing", ["how many learners failed the finals in 2025?"], gone, "nobody records results"),
        (
            "nothing",
            ["Who's responsible for the hair salon?", "and how old is she?"],
            gone,
            "follow-up on an attribute nobody records",
        ),
        (
            "nothing",
            ["did we ever write to parents about head lice? which letter"],
            gone,
            "letters on health exist, none on lice",
        ),
        ("nothing", ["whats the wifi password for guests"], gone, "not written anywhere"),
        ("nothing", ["Which of our teachers speak Polish?"], gone, "nobody records languages"),
        ("nothing", ["What did the staff decide about a dress code?"], gone, "never on an agenda"),
    ]


def make_questions(school: School) -> list[dict[str, object]]:
    """Return all messages with their truths."""
    rows = make_answerable(school) + make_unanswerable(school)
    return [
        {"id": f"q{n:02d}", "kind": kind, "turns": turns, "truth": truth, "why": why}
        for n, (kind, turns, truth, why) in enumerate(rows, 1)
    ]


def run_main(out: Path) -> None:
    """Write the documents and the questions."""
    school = make_school()
    write_documents(school, out, random.Random(SEED))
    lines = [json.dumps(q, ensure_ascii=False) for q in make_questions(school)]
    out.mkdir(parents=True, exist_ok=True)
    (out / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run_main(Path(sys.argv[1]))
