"""Write the museum round: documents of five buckets and sixty questions with computed truths."""

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import TypeVar

SEED: int = 707
TODAY: date = date(2026, 11, 22)
NOW: str = TODAY.isoformat()
Truth = dict[str, object]
Item = TypeVar("Item")

STAFF: list[str] = ["Pieter Hoste", "Katrien Dewaele", "Luc Vandamme", "Samira Haddad", "Owen Pritchard"]
RESTORERS: list[str] = [
    "Femke Claes",
    "Joris Maes",
    "Elise Wouters",
    "Tomasz Zielinski",
    "Nadia El Khoury",
    "Bram Lootens",
]
CITIES: list[str] = [
    "Ghent",
    "Bruges",
    "Antwerp",
    "Leuven",
    "Ostend",
    "Mechelen",
    "Kortrijk",
    "Delft",
    "Lille",
    "Brussels",
]
MADE_IN: list[str] = [
    "Antwerp",
    "Bruges",
    "Delft",
    "Ghent",
    "Amsterdam",
    "Mechelen",
    "London",
    "Paris",
    "Augsburg",
    "Venice",
    "Haarlem",
]
GALLERIES: list[str] = [f"Gallery {n}" for n in range(1, 9)]
STORES: list[str] = ["Store A", "Store B", "Store C"]
STUDIO: str = "Conservation studio"
PARTNERS: list[tuple[str, str, str, str]] = [
    ("Kunsthalle Bremen", "Bremen", "Germany", "Dr. Anke Petersen"),
    ("Altonaer Museum", "Hamburg", "Germany", "Jonas Wirth"),
    ("Museum Schnuetgen", "Cologne", "Germany", "Birgit Lang"),
    ("Rijksmuseum", "Amsterdam", "Netherlands", "Maaike de Boer"),
    ("Museum Prinsenhof", "Delft", "Netherlands", "Teun Visser"),
    ("Maritime Museum Rotterdam", "Rotterdam", "Netherlands", "Sanne Kok"),
    ("Palais des Beaux-Arts", "Lille", "France", "Claire Fournier"),
    ("Musee de la Marine", "Paris", "France", "Yves Le Goff"),
    ("Musee d'Art et d'Histoire", "Geneva", "Switzerland", "Marc Rochat"),
    ("Museo Correr", "Venice", "Italy", "Lucia Zorzi"),
    ("Museu do Azulejo", "Lisbon", "Portugal", "Ana Figueira"),
    ("M Leuven", "Leuven", "Belgium", "Wim Aerts"),
    ("Groeningemuseum", "Bruges", "Belgium", "Hilde Neyt"),
    ("MAS", "Antwerp", "Belgium", "Karel Stoop"),
    ("National Maritime Museum", "London", "United Kingdom", "Fiona Marsh"),
    ("Nationalmuseum", "Stockholm", "Sweden", "Lars Ekman"),
]


@dataclass(frozen=True)
class Craft:
    """What pieces of one class look like."""

    name: str
    department: str
    heads: list[str]
    tails: list[str]
    materials: list[str]
    makers: list[str]
    years: tuple[int, int]
    price: tuple[int, int]
    height: tuple[int, int]
    weight: tuple[float, float]


CRAFTS: list[Craft] = [
    Craft(
        "painting",
        "Fine Art",
        [
            "Portrait of a merchant",
            "Portrait of a lady",
            "View of the harbour",
            "Still life",
            "Fishing boats",
            "Winter landscape",
            "Saint Nicholas",
            "The fish market",
            "Storm off the coast",
            "Interior of a church",
        ],
        [
            "with gloves",
            "at dusk",
            "with lemon",
            "near Ostend",
            "seen from the dunes",
            "with a dog",
            "by candlelight",
            "with two figures",
            "in red",
            "in grey",
        ],
        ["oil on canvas", "oil on panel", "tempera on panel", "oil on copper"],
        ["Adriaen Hollander", "Maria van Eeckhout", "Jan Tytgat", "Cornelis Maes", "Paul Artan"],
        (1480, 1935),
        (2500, 160000),
        (22, 240),
        (1.5, 60.0),
    ),
    Craft(
        "drawing",
        "Works on Paper",
        ["Study of hands", "Sketch of a quay", "Design for a ceiling", "Study of a horse", "Sketch of sails"],
        ["in red chalk", "in ink", "with notes", "for an altarpiece", "on blue paper"],
        ["chalk on paper", "ink on paper", "charcoal on paper"],
        ["Jan Tytgat", "Paul Artan", "Lievin Goethals"],
        (1550, 1940),
        (300, 22000),
        (12, 60),
        (0.1, 2.0),
    ),
    Craft(
        "print",
        "Works on Paper",
        ["Map of Flanders", "View of Antwerp", "Siege of Ostend", "Allegory of trade", "Plan of the port"],
        ["first state", "second state", "coloured", "with margins", "late impression"],
        ["etching", "engraving", "woodcut", "lithograph"],
        ["Lievin Goethals", "Hieronymus Cool", "Marten Peeters"],
        (1540, 1930),
        (80, 9000),
        (14, 80),
        (0.1, 2.5),
    ),
    Craft(
        "clock",
        "Science and Time",
        ["Longcase clock", "Bracket clock", "Carriage clock", "Lantern clock", "Mantel clock"],
        ["with moon dial", "with alarm", "with musical work", "in walnut", "with enamel dial", "with calendar"],
        ["walnut, brass", "brass, steel", "gilt bronze", "oak, brass"],
        ["Thomas Aldridge", "Gilles Martinot", "Jacob Hasius"],
        (1610, 1890),
        (900, 48000),
        (14, 265),
        (1.2, 95.0),
    ),
    Craft(
        "textile",
        "Textiles",
        ["Tapestry", "Carpet", "Lace collar", "Altar cloth", "Embroidered panel", "Ship's flag"],
        ["with hunting scene", "with roses", "with coat of arms", "with birds", "with border", "in fragments"],
        ["wool, silk", "linen", "silk", "wool", "cotton"],
        ["Workshop Geubels", "Beguinage of Bruges"],
        (1500, 1920),
        (200, 70000),
        (20, 420),
        (0.2, 45.0),
    ),
    Craft(
        "ceramic",
        "Decorative Arts",
        ["Plate", "Tile panel", "Drug jar", "Jug", "Tulip vase", "Bowl"],
        ["with ships", "with tulips", "in blue and white", "with lid", "with inscription", "with herons"],
        ["tin-glazed earthenware", "stoneware", "porcelain"],
        ["De Grieksche A", "De Porceleyne Bijl", "Workshop Savino"],
        (1520, 1900),
        (120, 26000),
        (5, 120),
        (0.3, 30.0),
    ),
    Craft(
        "silver",
        "Decorative Arts",
        ["Chalice", "Salt cellar", "Beaker", "Candlestick", "Teapot", "Guild plate"],
        ["with engraved ships", "with twisted stem", "with lid", "with mark of Ghent", "with grapes", "in a case"],
        ["silver", "silver gilt", "silver, ebony"],
        ["Wierick Somers", "Jean Moermans", "Ferdinand Hoste"],
        (1560, 1910),
        (400, 38000),
        (6, 70),
        (0.1, 6.0),
    ),
    Craft(
        "ship model",
        "Maritime",
        ["Model of the brig", "Model of the frigate", "Model of the trawler", "Model of the pilot boat"],
        ["De Hoop", "Zeemeeuw", "Concordia", "Sint-Pieter", "Amandine", "Goede Vrouw", "Mercator II"],
        ["wood, cord, linen", "wood, brass", "bone, silk thread"],
        ["Aloys Verbanck", "Camiel Loy"],
        (1690, 1985),
        (250, 18000),
        (20, 190),
        (0.8, 55.0),
    ),
    Craft(
        "furniture",
        "Decorative Arts",
        ["Cabinet", "Armchair", "Writing desk", "Linen chest", "Gaming table"],
        ["on stand", "with marquetry", "with lions", "with secret drawer", "in oak"],
        ["oak", "ebony, tortoiseshell", "walnut", "mahogany, brass"],
        ["Workshop Forchondt", "Emile Braem"],
        (1580, 1930),
        (500, 60000),
        (40, 250),
        (6.0, 190.0),
    ),
    Craft(
        "weapon",
        "Arms",
        ["Rapier", "Halberd", "Wheel-lock pistol", "Breastplate", "Powder flask"],
        ["with etched blade", "of the town guard", "with horn inlay", "with crest", "in pieces"],
        ["steel", "steel, wood", "steel, brass", "horn, iron"],
        ["Anton Peffenhauser", "Workshop Solms"],
        (1480, 1860),
        (300, 30000),
        (10, 240),
        (0.3, 20.0),
    ),
    Craft(
        "musical instrument",
        "Science and Time",
        ["Virginal", "Violin", "Natural horn", "Hurdy-gurdy", "Recorder"],
        ["with painted lid", "in a case", "with ivory keys", "with lion head", "with silver rings"],
        ["spruce, bone", "maple, spruce", "brass", "boxwood"],
        ["Andreas Ruyter", "Hotteman"],
        (1570, 1920),
        (400, 52000),
        (4, 130),
        (0.1, 48.0),
    ),
]

SHOW_TITLES: list[str] = [
    "Salt and Silver",
    "The Fishwives of Ostend",
    "Clocks that Travelled",
    "A Sea of Blue and White",
    "Under Sail",
    "The Merchant's House",
    "Lace and Labour",
    "Iron Guard",
    "Paper Harbours",
    "The Lost Quay",
    "Winter Light",
    "Four Hundred Years of Tides",
    "Gilded Tables",
    "The Sound of Brass",
    "Mapping Flanders",
    "Ebony and Bone",
    "The Collector's Eye",
    "Small Worlds",
    "Siege",
    "Herring Money",
    "Women at the Loom",
    "The Painted Lid",
    "Storm Warnings",
    "Pilots and Pirates",
    "The Delft Connection",
    "Night Watchers",
    "Flags of the Fleet",
    "Time at Sea",
    "Sugar and Spice",
    "The Apothecary's Shelf",
    "Hands of the Master",
    "Guilds of Ghent",
    "Beacons",
    "A Knot in the Rope",
    "The Shipwright's Son",
    "Ink and Salt",
    "Portraits of the Port",
    "Threads of Gold",
    "Rust",
    "Tulip Fever",
    "Low Tide",
    "Signals",
    "Harbour Nights",
    "The Bone Frigate",
    "Drawn in Red",
    "Sleeping Cargo",
    "North Sea Crossing",
    "The Long Peace",
    "Made in Mechelen",
    "Guests from Venice",
]

FIRST: list[str] = [
    "An",
    "Geert",
    "Lieve",
    "Marc",
    "Rita",
    "Johan",
    "Chantal",
    "Dirk",
    "Griet",
    "Filip",
    "Monique",
    "Stijn",
    "Paul",
    "Hilde",
    "Koen",
    "Martine",
    "Ludo",
    "Nele",
    "Roger",
    "Simonne",
]
LAST: list[str] = [
    "Vermote",
    "De Smet",
    "Janssens",
    "Lambrecht",
    "Peeters",
    "Goossens",
    "Maes",
    "Claeys",
    "Baert",
    "Rommelaere",
    "Verhaeghe",
    "Declercq",
    "Dumont",
    "Lefevre",
    "Haegeman",
    "Coppens",
    "Bogaert",
    "Tytgat",
    "Artan",
    "Moens",
]


TREATMENTS: dict[str, list[str]] = {
    "painting": ["surface cleaning", "relining", "varnish removal", "consolidation", "retouching"],
    "drawing": ["surface cleaning", "flattening", "tear repair"],
    "print": ["washing", "flattening", "tear repair"],
    "clock": ["movement overhaul", "regilding", "case repair"],
    "textile": ["washing", "stitching", "pest treatment"],
    "ceramic": ["gluing", "surface cleaning", "filling of losses"],
    "silver": ["polishing", "dent removal"],
    "ship model": ["rigging repair", "surface cleaning", "joint repair"],
    "furniture": ["joint repair", "pest treatment", "regilding", "veneer repair"],
    "weapon": ["rust removal", "surface cleaning"],
    "musical instrument": ["joint repair", "surface cleaning", "crack repair"],
}


@dataclass
class Donor:
    """One donor."""

    id: str
    name: str
    kind: str
    city: str
    phone: str
    email: str
    first_gift_on: str
    circle: str
    anonymous: str
    contact_kept_by: str
    remarks: str


@dataclass
class Piece:
    """One object of the collection."""

    id: str
    title: str
    object_class: str
    maker: str
    made_in: str
    made_year: int | None
    materials: str
    department: str
    acquired_on: str
    acquisition_mode: str
    donor_id: str
    price_eur: int | None
    insured_value_eur: int | None
    height_cm: int | None
    weight_kg: float | None
    location: str
    condition: str
    last_inspected_on: str
    photographed: str
    signed: str
    remarks: str


@dataclass
class Loan:
    """One loan, outgoing or incoming."""

    id: str
    direction: str
    object_id: str
    object_title: str
    partner: str
    partner_city: str
    partner_country: str
    partner_contact: str
    agreed_on: str
    start_on: str
    due_on: str
    returned_on: str
    state: str
    insurance_eur: int | None
    fee_eur: int | None
    courier: str
    exhibition_id: str
    note: str


@dataclass
class Show:
    """One exhibition."""

    id: str
    title: str
    room: str
    curator: str
    opens_on: str
    closes_on: str
    visitors: int | None
    budget_eur: int
    spent_eur: int | None
    ticket_eur: float
    sponsors: list[str]
    catalogue_printed: str
    exhibits: list[dict[str, str]]
    text: str


@dataclass
class Job:
    """One restoration job."""

    id: str
    title: str
    object_id: str
    restorer: str
    treatment: str
    received_on: str
    started_on: str
    promised_for: str
    finished_on: str
    status: str
    urgent: str
    hours: float | None
    cost_eur: float | None
    supplies: list[dict[str, object]]
    text: str


@dataclass
class World:
    """All records of the museum."""

    donors: list[Donor] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    loans: list[Loan] = field(default_factory=list)
    shows: list[Show] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)


def pick_day(rng: Random, first: date, last: date) -> date:
    """Return a day between two days, both included."""
    return first + timedelta(days=rng.randint(0, max(0, (last - first).days)))


def round_money(value: float) -> int:
    """Round an amount as a person would."""
    step = 10 if value < 2000 else 50 if value < 20000 else 500
    return int(round(value / step) * step)


def make_donors(rng: Random) -> list[Donor]:
    """Make the donors."""
    fixed: list[tuple[str, str, str]] = [
        ("Hendrik Vanparys", "person", "Bruges"),
        ("An Vermeulen", "person", "Leuven"),
        ("Geert Vermeulen", "person", "Kortrijk"),
        ("Elise Wouters", "person", "Ghent"),
        ("Luc Vandamme", "person", "Ostend"),
        ("Banque Delacroix", "company", "Brussels"),
        ("Noordzee Shipping NV", "company", "Ostend"),
        ("Brouwerij De Kroon", "company", "Leuven"),
        ("Scheldt Insurance", "company", "Antwerp"),
        ("Verbeke Textiles", "company", "Kortrijk"),
        ("Port Authority Services", "company", "Ostend"),
        ("Fonds Castelein", "foundation", "Ghent"),
        ("Stichting Oud Delft", "foundation", "Delft"),
        ("King Albert Foundation", "foundation", "Brussels"),
        ("Friends of the Harbour", "foundation", "Ostend"),
        ("M Leuven", "institution", "Leuven"),
        ("Town Council of Ostend", "institution", "Ostend"),
        ("Estate of Maurice Tytgat", "estate", "Bruges"),
        ("Estate of Clara Artan", "estate", "Antwerp"),
        ("Estate of Sister Godelieve", "estate", "Bruges"),
    ]
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    rng.shuffle(names)
    rows = fixed + [(name, "person", rng.choice(CITIES)) for name in names[:148]]
    rng.shuffle(rows)
    remarks = [
        "",
        "",
        "",
        "Prefers letters to e-mail.",
        "Invite to openings.",
        "Family wishes to be kept informed.",
        "Moved recently, check address.",
        "Also lends privately.",
        "Speaks French only.",
    ]
    donors: list[Donor] = []
    for index, (name, kind, city) in enumerate(rows, 1):
        sure = name in ("Hendrik Vanparys", "An Vermeulen", "Geert Vermeulen")
        phone = f"+32 4{rng.randint(70, 99)} {rng.randint(10, 99)} {rng.randint(10, 99)} {rng.randint(10, 99)}"
        mail = name.lower().replace(" ", ".").replace("'", "") + "@example.org"
        donors.append(
            Donor(
                f"D-{index:03d}",
                name,
                kind,
                city,
                phone if sure or rng.random() < 0.8 else "",
                mail if rng.random() < 0.7 else "",
                "",
                rng.choice(["", "Friend", "Friend", "Patron", "Benefactor"]),
                "yes" if rng.random() < 0.2 and not sure else "no",
                rng.choice(STAFF),
                rng.choice(remarks),
            )
        )
    return donors


def make_pieces(rng: Random, donors: list[Donor]) -> list[Piece]:
    """Make the objects and set the day of each donor's first gift."""
    counts: Counter[int] = Counter()
    remarks = [
        "",
        "",
        "",
        "",
        "Frame not original.",
        "Old label on the back.",
        "Repaired before it came to us.",
        "Small loss at the lower edge.",
        "Pair with another piece.",
        "Do not place in direct light.",
        "Key kept in the registrar's safe.",
        "Comes with a fitted crate.",
        "Attribution under discussion.",
    ]
    favoured = [d for d in donors if d.kind in ("foundation", "estate")] * 4 + donors
    hendrik = next(d for d in donors if d.name == "Hendrik Vanparys")
    elise = next(d for d in donors if d.name == "Elise Wouters")
    pieces: list[Piece] = []
    for index in range(790):
        craft = CRAFTS[0] if rng.random() < 0.14 else rng.choice(CRAFTS)
        known = rng.random() < 0.95
        floor = 1908 if rng.random() < 0.45 else 1988
        day = pick_day(rng, date(floor, 1, 5), date(2026, 10, 30))
        mode = rng.choice(["gift"] * 4 + ["bequest"] * 2 + ["purchase"] * 4 + ["transfer", "unrecorded"])
        donor: Donor | None = None
        if mode in ("gift", "bequest") and rng.random() < 0.93:
            group = [d for d in favoured if d.kind in ("person", "estate")] if mode == "bequest" else favoured
            donor = rng.choice([d for d in group if d.id not in (hendrik.id, elise.id)])
        if index in (40, 90, 140, 200, 260, 320, 411, 502, 613):
            mode, donor = "gift", hendrik
        if index in (77, 177, 307):
            mode, donor = "gift", elise
        low, high = craft.price
        worth = low * (high / low) ** rng.random()
        year = rng.randint(craft.years[0], min(craft.years[1], day.year - 2))
        key = day.year if known else 0
        counts[key] += 1
        place = rng.choice(GALLERIES) if rng.random() < 0.4 else rng.choice(STORES)
        checked = pick_day(rng, max(date(2009, 1, 10), day), date(2026, 11, 10))
        pieces.append(
            Piece(
                f"HM-{day.year}-{counts[key]:03d}" if known else f"HM-X-{counts[0]:03d}",
                f"{rng.choice(craft.heads)}{', ' if craft.name == 'print' else ' '}{rng.choice(craft.tails)}",
                craft.name,
                rng.choice(craft.makers) if rng.random() < 0.62 else "",
                rng.choice(MADE_IN) if rng.random() < 0.85 else "",
                year if rng.random() < 0.93 else None,
                rng.choice(craft.materials),
                craft.department,
                day.isoformat() if known else "",
                mode,
                donor.id if donor else "",
                round_money(worth) if mode == "purchase" and rng.random() < 0.92 else None,
                round_money(worth * rng.uniform(1.2, 4.0)) if rng.random() < 0.93 else None,
                rng.randint(*craft.height) if rng.random() < 0.9 else None,
                round(rng.uniform(*craft.weight), 1) if rng.random() < 0.7 else None,
                place,
                rng.choice(["good"] * 5 + ["fair"] * 4 + ["poor"] * 2),
                checked.isoformat() if rng.random() < 0.9 else "",
                "yes" if rng.random() < 0.75 else "no",
                rng.choice(["yes", "no", "no", ""]),
                rng.choice(remarks),
            )
        )
        if donor and known and (not donor.first_gift_on or day.isoformat() < donor.first_gift_on):
            donor.first_gift_on = day.isoformat()
    return pieces


def make_shows(rng: Random, pieces: list[Piece]) -> list[Show]:
    """Make the exhibitions."""
    sponsors = [
        "Banque Delacroix",
        "Noordzee Shipping NV",
        "Scheldt Insurance",
        "Brouwerij De Kroon",
        "Fonds Castelein",
        "Friends of the Harbour",
        "Radio Kust",
    ]
    titles = SHOW_TITLES[:]
    rng.shuffle(titles)
    labels = ["Main label", "Short label", "Label with map", "Audio stop", "No label"]
    shows: list[Show] = []
    for index, title in enumerate(titles, 1):
        opens = date(2007, 3, 1) + timedelta(days=int((index - 1) * 149 + rng.randint(0, 60)))
        closes = opens + timedelta(days=rng.randint(80, 230))
        closed = closes < TODAY
        budget = round_money(rng.uniform(18000, 260000))
        eligible = [p for p in pieces if p.acquired_on and p.acquired_on < opens.isoformat()]
        chosen = rng.sample(eligible, rng.randint(7, 18))
        rows = [
            {"object_id": p.id, "case": f"{rng.choice('ABCD')}{rng.randint(1, 9)}", "label": rng.choice(labels)}
            for p in chosen
        ]
        department = Counter(p.department for p in chosen).most_common(1)[0][0]
        curator = rng.choice(STAFF)
        shows.append(
            Show(
                f"EX-{index:02d}",
                title,
                rng.choice(GALLERIES[:6]),
                curator,
                opens.isoformat(),
                closes.isoformat(),
                rng.randint(3200, 58000) if closed and rng.random() < 0.92 else None,
                budget,
                round_money(budget * rng.uniform(0.8, 1.2)) if closed else None,
                rng.choice([6.0, 8.0, 9.5, 12.0, 14.0]),
                sorted(rng.sample(sponsors, rng.choice([0, 1, 1, 2, 2, 3]))),
                rng.choice(["yes", "yes", "no"]),
                rows,
                f"{title}: an exhibition that leans on our {department} holdings. "
                + rng.choice(
                    [
                        "Texts in three languages.",
                        "The lighting was kept at 50 lux.",
                        "Talks on Thursdays.",
                        "The gallery floor was repainted for it.",
                        "A reading corner closes the route.",
                    ]
                ),
            )
        )
    return shows


def make_loans(rng: Random, pieces: list[Piece], shows: list[Show]) -> list[Loan]:
    """Make the loans and mark the objects that are away."""
    notes = [
        "",
        "",
        "",
        "",
        "Climate crate required.",
        "Crate arrived damaged.",
        "Two handlers needed.",
        "Condition report attached.",
        "Extension asked once.",
        "Glass removed for transport.",
        "Customs papers were late.",
    ]
    their = ["", "", "for their centenary show", "for a touring show", "for their permanent rooms"]
    targets = [p for p in PARTNERS if p[1] != "Lisbon"]
    busy: dict[str, list[tuple[date, date]]] = {}
    old = [p for p in pieces if p.acquired_on and p.acquired_on < "2018-01-01"]
    loans: list[Loan] = []
    number = 0
    for index in range(215):
        kind = "running" if index < 34 else "agreed" if index < 44 else "cancelled" if index < 58 else "returned"
        partner = rng.choice(targets)
        if partner[0] == "Kunsthalle Bremen" and kind in ("agreed", "cancelled"):
            partner = PARTNERS[3]
        if kind == "running":
            start = pick_day(rng, date(2025, 9, 1), date(2026, 10, 20))
            due = pick_day(rng, date(2026, 9, 15), date(2027, 5, 30))
            due = due if due > start + timedelta(days=30) else start + timedelta(days=150)
        elif kind == "agreed":
            start = pick_day(rng, date(2026, 12, 5), date(2027, 6, 1))
            due = start + timedelta(days=rng.randint(60, 220))
        else:
            start = pick_day(rng, date(2018, 2, 1), date(2025, 12, 20))
            due = start + timedelta(days=rng.randint(60, 300))
        back = due + timedelta(days=rng.choice([-12, -3, 0, 1, 4, 9, 21]))
        if kind == "returned" and back >= TODAY:
            back = TODAY - timedelta(days=rng.randint(3, 30))
        end = {"running": date(2028, 1, 1), "returned": back}.get(kind, due)
        while True:
            piece = rng.choice(old)
            italy_carpet = partner[2] == "Italy" and piece.title.startswith("Carpet")
            if not italy_carpet and all(end < a or start > b for a, b in busy.get(piece.id, [])):
                break
        busy.setdefault(piece.id, []).append((start, end))
        if kind == "running":
            piece.location = "On loan"
        number += 1
        purpose = rng.choice(their)
        note = " ".join(x for x in (rng.choice(notes), f"Goes {purpose}." if purpose else "") if x)
        if kind in ("agreed", "cancelled"):
            note = note.replace("Crate arrived damaged.", "").strip()
        loans.append(
            Loan(
                "",
                "outgoing",
                piece.id,
                piece.title,
                *partner,
                min(start - timedelta(days=rng.randint(40, 260)), date(2026, 11, 18)).isoformat(),
                start.isoformat(),
                due.isoformat(),
                back.isoformat() if kind == "returned" else "",
                kind,
                piece.insured_value_eur or round_money(rng.uniform(2000, 60000)),
                rng.choice([None, 150, 300, 450, 600, 1200]),
                rng.choice(STAFF + RESTORERS) if rng.random() < 0.8 else "",
                "",
                note,
            )
        )
    for show in shows:
        opens, closes = date.fromisoformat(show.opens_on), date.fromisoformat(show.closes_on)
        if opens.year < 2012:
            continue
        for _ in range(rng.choice([1, 2, 3, 4, 5])):
            partner = rng.choice(PARTNERS)
            craft = rng.choice(CRAFTS)
            start, due = opens - timedelta(days=rng.randint(10, 40)), closes + timedelta(days=rng.randint(7, 30))
            kind = "returned" if due < TODAY else "running" if start <= TODAY else "agreed"
            if rng.random() < 0.07 and kind == "returned":
                kind = "cancelled"
            if partner[0] == "Kunsthalle Bremen" and kind in ("agreed", "cancelled"):
                partner = PARTNERS[4]
            back = min(due + timedelta(days=rng.choice([-2, 0, 0, 3, 6])), TODAY)
            note = rng.choice(notes)
            if kind in ("agreed", "cancelled"):
                note = note.replace("Crate arrived damaged.", "")
            loans.append(
                Loan(
                    "",
                    "incoming",
                    "",
                    f"{rng.choice(craft.heads)} {rng.choice(craft.tails)}",
                    *partner,
                    min(start - timedelta(days=rng.randint(60, 300)), date(2026, 11, 18)).isoformat(),
                    start.isoformat(),
                    due.isoformat(),
                    back.isoformat() if kind == "returned" else "",
                    kind,
                    round_money(rng.uniform(1500, 190000)),
                    rng.choice([None, 200, 500, 900]),
                    partner[3] if rng.random() < 0.4 else "",
                    show.id,
                    note,
                )
            )
    loans.sort(key=lambda x: (x.agreed_on, x.object_title, x.partner))
    for index, loan in enumerate(loans, 1):
        loan.id = f"L-{index:04d}"
    return loans


def make_jobs(rng: Random, pieces: list[Piece]) -> list[Job]:
    """Make the restoration jobs and move objects under treatment to the studio."""
    supplies: list[tuple[str, float]] = [
        ("linen canvas", 38.0),
        ("gold leaf", 62.0),
        ("Japanese tissue", 9.5),
        ("rabbit-skin glue", 14.0),
        ("microcrystalline wax", 21.0),
        ("acid-free board", 6.5),
        ("ethanol", 11.0),
        ("silk thread", 17.5),
    ]
    notes = [
        "Old repair opened up.",
        "Surface tested in three spots.",
        "Photos before and after on the drive.",
        "Client department asked for a light touch.",
        "Slow drying, weather was damp.",
        "",
        "Second opinion taken.",
        "Frame treated separately.",
    ]
    jobs: list[Job] = []
    occupied: set[str] = set()
    for index in range(470):
        status = "in progress" if index < 30 else "waiting" if index < 66 else "cancelled" if index < 80 else "finished"
        if status == "in progress":
            received = pick_day(rng, date(2025, 11, 1), date(2026, 10, 20))
        elif status == "waiting":
            received = pick_day(rng, date(2026, 3, 1), date(2026, 11, 15))
        else:
            received = pick_day(rng, date(2014, 1, 10), date(2026, 3, 10))
        started = received + timedelta(days=rng.randint(1, 30))
        promised = received + timedelta(days=rng.randint(40, 210))
        finished = started + timedelta(days=rng.randint(6, 200))
        while True:
            piece = rng.choice(pieces)
            fits = not piece.acquired_on or piece.acquired_on < received.isoformat()
            if status in ("in progress", "waiting"):
                fits = fits and piece.location != "On loan" and piece.id not in occupied
            if fits:
                break
        if status in ("in progress", "waiting"):
            occupied.add(piece.id)
        if status == "in progress":
            piece.location = STUDIO
        rows: list[dict[str, object]] = []
        if status in ("finished", "in progress"):
            for name, unit_cost in rng.sample(supplies, rng.choice([0, 1, 1, 2, 3])):
                quantity = rng.randint(1, 6)
                rows.append({"item": name, "quantity": quantity, "line_cost_eur": round(unit_cost * quantity, 2)})
        hours = round(rng.choice([rng.uniform(2, 30), rng.uniform(2, 30), rng.uniform(20, 110)]) * 2) / 2
        done = status == "finished"
        treatment = rng.choice(TREATMENTS[piece.object_class])
        jobs.append(
            Job(
                "",
                f"{treatment.capitalize()} of {piece.title}",
                piece.id,
                rng.choice(RESTORERS),
                treatment,
                received.isoformat(),
                started.isoformat() if status in ("finished", "in progress") else "",
                promised.isoformat() if rng.random() < 0.93 else "",
                finished.isoformat() if done else "",
                status,
                "yes" if rng.random() < 0.17 else "no",
                hours if done else None,
                round(hours * rng.choice([38, 42, 46]) + rng.uniform(0, 180), 2) if done else None,
                rows,
                rng.choice(notes),
            )
        )
    jobs.sort(key=lambda x: (x.received_on, x.object_id, x.treatment))
    for index, job in enumerate(jobs, 1):
        job.id = f"R-{index:04d}"
    return jobs


def make_world() -> World:
    """Make all records."""
    rng = Random(SEED)
    world = World()
    world.donors = make_donors(rng)
    world.pieces = make_pieces(rng, world.donors)
    world.shows = make_shows(rng, world.pieces)
    world.loans = make_loans(rng, world.pieces, world.shows)
    world.jobs = make_jobs(rng, world.pieces)
    world.pieces.sort(key=lambda p: p.id)
    return world


def write_table(path: Path, rows: Sequence[Donor | Piece | Loan]) -> None:
    """Write records as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        records = [asdict(row) for row in rows]
        writer = csv.DictWriter(handle, fieldnames=list(records[0]))
        writer.writeheader()
        for record in records:
            writer.writerow({key: "" if value is None else value for key, value in record.items()})


def write_records(path: Path, rows: Sequence[Show | Job]) -> None:
    """Write records as a JSONL file; empty fields are left out."""
    with path.open("w", encoding="utf-8") as handle:
        for row in rows:
            record: dict[str, object] = dict(asdict(row))
            head = {"doc_id": record.pop("id"), "title": record.pop("title"), "text": record.pop("text")}
            metadata = {key: value for key, value in record.items() if value not in (None, "", [])}
            handle.write(json.dumps({**head, "metadata": metadata}, ensure_ascii=False) + "\n")


def list_truth(rows: Iterable[Donor | Piece | Loan | Show | Job]) -> Truth:
    """Return the truth of a list of documents."""
    files: dict[type[object], str] = {Donor: "donors.csv#", Piece: "objects.csv#", Loan: "loans.csv#"}
    found = [files.get(type(row), "") + row.id for row in rows]
    assert found, "empty list"
    return {"documents": sorted(found)}


def count_truth(rows: Iterable[object]) -> Truth:
    """Return the truth of a count."""
    number = len(list(rows))
    assert number, "count 0"
    return {"number": number}


def value_truth(*values: object) -> Truth:
    """Return the truth of stated values."""
    assert all(value not in (None, "") for value in values), "empty value"
    return {"values": [str(value) for value in values]}


def best_item(rows: Iterable[Item], key: Callable[[Item], float]) -> Item:
    """Return the single row with the greatest key."""
    ranked = sorted(rows, key=key, reverse=True)
    assert len(ranked) > 2 and key(ranked[0]) > key(ranked[1]), "tie"
    return ranked[0]


def first_item(rows: Iterable[Item], skip: int = 0) -> Item:
    """Return the first row after some skipped ones."""
    return list(rows)[skip]


class Book:
    """Collects the questions."""

    def __init__(self) -> None:
        """Start empty."""
        self.lines: list[dict[str, object]] = []

    def add_line(self, kind: str, turns: list[str] | str, truth: Truth, why: str) -> None:
        """Add one question."""
        turns = [turns] if isinstance(turns, str) else turns
        self.lines.append(
            {"id": f"q{len(self.lines) + 1:02d}", "kind": kind, "turns": turns, "truth": truth, "why": why}
        )


def winner_truth(row: Piece | Show | Job | Donor | Loan) -> Truth:
    """Return the truth of a superlative: the title or the id of the winner."""
    name = row.name if isinstance(row, Donor) else row.object_title if isinstance(row, Loan) else row.title
    return {"values": [name], "alternatives": [[row.id]]}


def add_lists(book: Book, world: World) -> None:
    """Add the list questions."""
    pieces, loans, shows, jobs, donors = world.pieces, world.loans, world.shows, world.jobs, world.donors
    book.add_line(
        "list",
        "Morning! Registrar here. Which loans that we sent out should have come home by now but havent?",
        list_truth(x for x in loans if x.direction == "outgoing" and x.state == "running" and x.due_on < NOW),
        "overdue: due before today, not returned, neither cancelled nor only agreed",
    )
    book.add_line(
        "list",
        "open jobs Femke Claes?",
        list_truth(j for j in jobs if j.restorer == "Femke Claes" and j.status in ("waiting", "in progress")),
        "open = waiting or in progress",
    )
    book.add_line(
        "list",
        "shows in gallery 3 that pulled in more than 20,000 people",
        list_truth(s for s in shows if s.room == "Gallery 3" and (s.visitors or 0) > 20000),
        "a gallery is also a location of objects; visitors as people pulled in",
    )
    book.add_line(
        "list",
        "Which of the donors living in Leuven would rather not have their name on the wall?",
        list_truth(d for d in donors if d.city == "Leuven" and d.anonymous == "yes"),
        "anonymous said in other words; Leuven is also part of a name",
    )
    book.add_line(
        "list",
        "Could you give me everything that was left to us in a will anywhere between 1950 and 1985, "
        "please? Objects only.",
        list_truth(p for p in pieces if p.acquisition_mode == "bequest" and "1950" <= p.acquired_on[:4] <= "1985"),
        "bequest as left in a will",
    )
    book.add_line(
        "list",
        "paintings we paid north of 40k for",
        list_truth(p for p in pieces if p.object_class == "painting" and (p.price_eur or 0) > 40000),
        "price paid, not the insured value; 40k",
    )
    bremen = [x for x in loans if x.partner == "Kunsthalle Bremen"]
    book.add_line(
        "list",
        [
            "what have we borrowed from the Kunsthalle Bremen over the years?",
            "and the other way round, what did they borrow from us? (the loans)",
        ],
        list_truth(x for x in bremen if x.direction == "outgoing"),
        "the follow-up flips the direction",
    )
    silver = [p for p in pieces if p.object_class == "silver" and p.made_year and p.made_year < 1700]
    book.add_line(
        "list",
        ["Which silver pieces date from before 1700?", "just the signed ones"],
        list_truth(p for p in silver if p.signed == "yes"),
        "follow-up narrows",
    )
    book.add_line(
        "list",
        "jobs where they used gold leaf since the start of 2023 (by the day the piece came in)",
        list_truth(j for j in jobs if j.received_on >= "2023" and any(r["item"] == "gold leaf" for r in j.supplies)),
        "an item of the rows within a job",
    )
    book.add_line(
        "list",
        "loans going out from us where the crate turned up broken at the other end?",
        list_truth(x for x in loans if x.direction == "outgoing" and "Crate arrived damaged" in x.note),
        "a free-text note in other words",
    )
    book.add_line(
        "list",
        "what do we have away at other museums thats due back in december? loans pls",
        list_truth(
            x for x in loans if x.direction == "outgoing" and x.state == "running" and x.due_on[:7] == "2026-12"
        ),
        "december = the coming one; only running loans",
    )


def add_counts(book: Book, world: World) -> None:
    """Add the count questions."""
    pieces, loans, donors = world.pieces, world.loans, world.donors
    gone = [
        x.object_id
        for x in loans
        if x.direction == "outgoing" and x.state in ("running", "returned") and f"{TODAY.year}" <= x.start_on <= NOW
    ]
    assert len(gone) == len(set(gone))
    book.add_line(
        "count",
        "how many of our own pieces have gone out on loan so far this year?",
        count_truth(gone),
        "this year by today's date; outgoing, started, not cancelled",
    )
    book.add_line(
        "count",
        "nr of loans to Germany that are done and back with us",
        count_truth(
            x for x in loans if x.direction == "outgoing" and x.partner_country == "Germany" and x.state == "returned"
        ),
        "direction, country and state",
    )
    book.add_line(
        "count", "hw many of our doners are companies", count_truth(d for d in donors if d.kind == "company"), "typos"
    )
    book.add_line(
        "count",
        ["how many objects came in as gifts in 2018?", "and in 2019?"],
        count_truth(p for p in pieces if p.acquisition_mode == "gift" and p.acquired_on[:4] == "2019"),
        "follow-up keeps the gift condition; a bequest is not a gift",
    )
    book.add_line(
        "count",
        "I'm planning next year's checks. For how many textiles was the last look at them before 2016?",
        count_truth(p for p in pieces if p.object_class == "textile" and "" < p.last_inspected_on < "2016"),
        "last inspected; empty cells do not count",
    )
    book.add_line(
        "count",
        "paintings by nobody we can name - how many is that",
        count_truth(p for p in pieces if p.object_class == "painting" and not p.maker),
        "empty maker cell",
    )


def add_lookups(book: Book, world: World) -> None:
    """Add the look-ups of one fact."""
    pieces, loans, shows, jobs, donors = world.pieces, world.loans, world.shows, world.jobs, world.donors
    titles = Counter([p.title for p in pieces] + [x.object_title for x in loans if x.direction == "incoming"])
    single = [p for p in pieces if titles[p.title] == 1]
    donor_of = {d.id: d for d in donors}
    hendrik = next(d for d in donors if d.name == "Hendrik Vanparys")
    book.add_line(
        "lookup",
        "I need to ring Hendrik Vanparys this afternoon, what's his number?",
        value_truth(hendrik.phone),
        "phone as ring and number",
    )
    running = first_item(s for s in shows if s.opens_on <= NOW <= s.closes_on)
    book.add_line(
        "lookup",
        f'until when can people see "{running.title}"?',
        value_truth(running.closes_on),
        "closing day of a running show",
    )
    tall = first_item((p for p in pieces if p.height_cm and p.object_class == "furniture"), 11)
    book.add_line(
        "lookup",
        f"How tall is {tall.id}? Need to know whether it fits through the lift.",
        value_truth(tall.height_cm),
        "height by inventory number",
    )
    bought = first_item((p for p in single if p.price_eur and p.acquisition_mode == "purchase"), 7)
    book.add_line(
        "lookup",
        f"what did we pay for the {bought.title} back then",
        value_truth(bought.price_eur),
        "by title, price and not insured value",
    )
    escorted = first_item(
        (
            x
            for x in loans
            if x.direction == "outgoing" and x.courier and x.state == "returned" and x.partner_city == "Stockholm"
        ),
        2,
    )
    book.add_line(
        "lookup",
        f"who travelled along with loan {escorted.id}",
        value_truth(escorted.courier),
        "courier in other words",
    )
    dated = first_item((p for p in single if p.acquired_on and p.object_class == "weapon"), 1)
    book.add_line(
        "lookup",
        f"since when have we owned the {dated.title}, exact day if you can",
        value_truth(dated.acquired_on),
        "acquired_on",
    )
    times = Counter(j.object_id for j in jobs)
    job = first_item(
        j
        for j in jobs
        if times[j.object_id] == 1 and j.status == "finished" and j.received_on[:4] == "2019" == j.finished_on[:4]
    )
    assert job.hours is not None
    book.add_line(
        "lookup",
        [f"who restored {job.object_id} in 2019?", "how many hours did that take them?"],
        {"number": job.hours},
        "follow-up: the job of the first turn",
    )
    given = first_item(
        (p for p in pieces if p.donor_id and p.acquisition_mode == "gift" and donor_of[p.donor_id].kind == "person"), 33
    )
    book.add_line(
        "lookup",
        [f"Who gave us {given.id}?", "which town do they live in?"],
        value_truth(donor_of[given.donor_id].city),
        "follow-up over a join by donor id",
    )


def add_superlatives(book: Book, world: World) -> None:
    """Add the superlatives."""
    pieces, shows, donors = world.pieces, world.shows, world.donors
    paintings = [p for p in pieces if p.object_class == "painting"]
    book.add_line(
        "superlative",
        "Which painting carries the highest insurance?",
        winner_truth(best_item(paintings, lambda p: p.insured_value_eur or 0)),
        "insured value, paintings",
    )
    book.add_line(
        "superlative",
        "our best attended exhibition ever?",
        winner_truth(best_item(shows, lambda s: s.visitors or 0)),
        "visitors",
    )
    room = next(g for g in GALLERIES if has_oldest(pieces, g))
    oldest = best_item((p for p in pieces if p.location == room and p.made_year), lambda p: -(p.made_year or 0))
    book.add_line(
        "superlative",
        f"what's the oldest thing on show in {room.lower()}",
        winner_truth(oldest),
        "smallest year made in one room; blanks ignored",
    )
    antwerp = [p for p in paintings if p.made_in == "Antwerp"]
    book.add_line(
        "superlative",
        ["paintings from Antwerp?", "which of those is the tallest?"],
        winner_truth(best_item(antwerp, lambda p: p.height_cm or 0)),
        "follow-up superlative",
    )
    given = Counter(p.donor_id for p in pieces if p.donor_id)
    top = best_item((d for d in donors if d.kind == "person"), lambda d: given[d.id])
    book.add_line(
        "superlative",
        "Which private person (no firms, foundations or estates) has given us the greatest "
        "number of objects, wills included?",
        winner_truth(top),
        "group of a join, restricted by the donor's kind",
    )


def has_oldest(pieces: list[Piece], room: str) -> bool:
    """Tell whether a room has one single oldest object."""
    years = sorted(p.made_year for p in pieces if p.location == room and p.made_year)
    return len(years) > 2 and years[0] < years[1]


def add_numbers(book: Book, world: World) -> None:
    """Add sums, averages, groups and the comparison."""
    loans, shows, jobs = world.loans, world.shows, world.jobs
    away = [x for x in loans if x.direction == "outgoing" and x.state == "running"]
    book.add_line(
        "number",
        "going by the loan papers, what are the pieces we currently have out at other museums insured for in total?",
        {"number": sum(x.insurance_eur or 0 for x in away)},
        "sum on loans, running and outgoing",
    )
    crowd = [s.visitors for s in shows if s.curator == "Pieter Hoste" and s.visitors]
    book.add_line(
        "number",
        "average number of visitors for Pieter Hoste's exhibitions, where we have a figure",
        {"number": sum(crowd) / len(crowd), "tolerance": 0.01},
        "average, blanks left out",
    )
    costs: dict[str, float] = {}
    for job in jobs:
        if job.finished_on[:4] == "2024":
            costs[job.restorer] = round(costs.get(job.restorer, 0.0) + (job.cost_eur or 0.0), 2)
    book.add_line(
        "group",
        "cost of the restorations completed in 2024, by restorer please",
        {"groups": dict(sorted(costs.items()))},
        "sum per restorer by finishing year",
    )
    spent = sum(float(str(r["line_cost_eur"])) for j in jobs for r in j.supplies if r["item"] == "linen canvas")
    book.add_line(
        "number",
        "how much money went on linen canvas across all restoration jobs",
        {"number": round(spent, 2)},
        "sum over the rows within jobs",
    )
    first, second = [s for s in shows if s.spent_eur and s.budget_eur > 60000][4:6]
    assert first.spent_eur and second.spent_eur and first.spent_eur != second.spent_eur
    dearer = first if first.spent_eur > second.spent_eur else second
    book.add_line(
        "compare",
        f"What cost us more in the end, {first.title} or {second.title}?",
        value_truth(dearer.title),
        "spent, not budget",
    )


def add_yes_no(book: Book, world: World) -> None:
    """Add the yes/no questions."""
    pieces, loans, shows, jobs, donors = world.pieces, world.loans, world.shows, world.jobs, world.donors
    elise = next(d.id for d in donors if d.name == "Elise Wouters")
    assert any(p.donor_id == elise for p in pieces)
    book.add_line(
        "yes_no",
        "our restorer Elise Wouters, has she ever given the museum anything herself?",
        {"yes_no": "yes"},
        "a restorer who is also a donor with objects",
    )
    over = first_item((s for s in shows if s.spent_eur and s.spent_eur < s.budget_eur), 5)
    book.add_line("yes_no", f"did {over.title} go over budget", {"yes_no": "no"}, "spent against budget")
    assert not any(x.direction == "outgoing" and x.partner_city == "Lisbon" for x in loans)
    assert any(x.partner_city == "Lisbon" for x in loans)
    book.add_line("yes_no", "Have we ever lent anything to Lisbon?", {"yes_no": "no"}, "Lisbon only lends to us")
    late = first_item((j for j in jobs if j.promised_for and j.finished_on > j.promised_for), 40)
    book.add_line(
        "yes_no",
        [f"is {late.id} done?", "was it later than promised?"],
        {"yes_no": "yes"},
        "follow-up compares two dates",
    )


def add_joins(book: Book, world: World) -> None:
    """Add the joins."""
    pieces, loans, shows, jobs, donors = world.pieces, world.loans, world.shows, world.jobs, world.donors
    donor_of = {d.id: d for d in donors}
    mended = [p for p in pieces if p.location == STUDIO and p.donor_id]
    city = first_item(c for c in CITIES if 2 <= sum(donor_of[p.donor_id].city == c for p in mended) <= 6)
    book.add_line(
        "join",
        f"objects from donors in {city} that are with the conservators in the studio now",
        list_truth(p for p in mended if donor_of[p.donor_id].city == city),
        "object to donor by id",
    )
    gone = first_item((x for x in loans if x.direction == "outgoing" and x.state == "running"), 14)
    book.add_line(
        "join",
        f"which museum has {gone.object_id} right now and whos our contact there?",
        value_truth(gone.partner, gone.partner_contact),
        "object id within the running loan",
    )
    show = first_item(
        s for s in shows if 6 <= sum(j.object_id in {r["object_id"] for r in s.exhibits} for j in jobs) <= 14
    )
    inside = {r["object_id"] for r in show.exhibits}
    book.add_line(
        "join",
        f"List the restoration jobs on pieces that were part of {show.title}, whatever state the job is in.",
        list_truth(j for j in jobs if j.object_id in inside),
        "rows of the show to jobs",
    )
    hendrik = next(d.id for d in donors if d.name == "Hendrik Vanparys")
    gifts = {p.id for p in pieces if p.donor_id == hendrik}
    book.add_line(
        "join",
        "Which exhibitions have shown something Hendrik Vanparys gave us?",
        list_truth(s for s in shows if s.opens_on <= NOW and any(r["object_id"] in gifts for r in s.exhibits)),
        "donor to object to rows of the shows",
    )
    assert not any(s.opens_on > NOW and any(r["object_id"] in gifts for r in s.exhibits) for s in shows)


def add_compounds(book: Book, world: World) -> None:
    """Add the compound and the ambiguous questions."""
    pieces, shows, jobs, donors = world.pieces, world.shows, world.jobs, world.donors
    tulips = next(s for s in shows if s.title == "Tulip Fever")
    book.add_line(
        "compound",
        "how many things are in store C, and who curated Tulip Fever?",
        {"parts": [count_truth(p for p in pieces if p.location == "Store C"), value_truth(tulips.curator)]},
        "two unrelated questions",
    )
    coming = first_item(s for s in shows if s.opens_on > NOW)
    book.add_line(
        "compound",
        f"When does {coming.title} open and what will a ticket be?",
        {"parts": [value_truth(coming.opens_on), {"number": coming.ticket_eur}]},
        "two facts of one show",
    )
    job = first_item((j for j in jobs if j.status == "finished" and j.restorer == "Nadia El Khoury"), 9)
    book.add_line(
        "compound",
        f"Who worked on {job.id}, and how much did it come to?",
        {"parts": [value_truth(job.restorer), {"number": job.cost_eur}]},
        "two facts of one job",
    )
    both = [d for d in donors if d.name.endswith(" Vermeulen")]
    assert len(both) == 2
    book.add_line(
        "ambiguous",
        "Vermeulens phone number pls",
        {"ask": True, "readings": [value_truth(d.phone) for d in both]},
        "two donors of that surname",
    )
    titles = Counter(p.title for p in pieces)
    twice = first_item(
        p.title
        for p in pieces
        if titles[p.title] == 2 and p.object_class == "clock" and all(q.height_cm for q in pieces if q.title == p.title)
    )
    book.add_line(
        "ambiguous",
        f"how high is the {twice}?",
        {"ask": True, "readings": [value_truth(q.height_cm) for q in pieces if q.title == twice]},
        "two objects of that title",
    )


def add_nothings(book: Book, world: World) -> None:
    """Add the questions without an answer."""
    pieces, loans, shows, jobs, donors = world.pieces, world.loans, world.shows, world.jobs, world.donors
    none: Truth = {"nothing": True}
    rows: list[Donor | Piece | Loan | Show | Job] = [*donors, *pieces, *loans, *shows, *jobs]
    everything = json.dumps([asdict(row) for row in rows]).lower()
    for word in (
        "desmet",
        "jade",
        "x-ray",
        'japan"',
        "child",
        "salary",
        "gallery 9",
        "looted",
        "wheelchair",
        "stolen",
        "restitut",
        "provenance",
        "1899-777",
        "school",
    ):
        assert word not in everything, word
    book.add_line("nothing", "email for Aurelie Desmet? she's one of our donors", none, "no such person")
    book.add_line("nothing", "which of our objects are made of jade?", none, "a material nothing is made of")
    book.add_line("nothing", "How many children came to Salt and Silver?", none, "only visitors in total")
    book.add_line("nothing", "loans to Japan, any year", none, "no partner there; 'Japanese tissue' is a supply")
    book.add_line("nothing", "what's Femke Claes earning a year", none, "no pay recorded; cost of jobs is not pay")
    book.add_line("nothing", "who curated the shows in Gallery 9?", none, "galleries go up to 8")
    book.add_line("nothing", "Which of our paintings have been X-rayed?", none, "not recorded")
    assert any(p.title.startswith("Carpet") for p in pieces)
    assert not any(
        x.object_title.startswith("Carpet") and x.partner_country == "Italy" and x.direction == "outgoing"
        for x in loans
    )
    book.add_line("nothing", "have any of our carpets been on loan in Italy? if so which", none, "honest empty set")
    assert all(s.ticket_eur > 0 for s in shows)
    book.add_line(
        "nothing",
        ["exhibitions by Samira Haddad?", "which of them were free to get in?"],
        none,
        "follow-up with an honest empty set: each show had a ticket price",
    )
    bare = first_item((s for s in shows if not s.sponsors and s.closes_on < NOW), 2)
    book.add_line("nothing", f"who sponsored {bare.title}?", none, "the show has no sponsors")
    light = first_item((p for p in pieces if p.weight_kg is None and p.object_class == "clock"), 4)
    book.add_line("nothing", f"how heavy is {light.id}, will one person manage to carry it?", none, "empty cell")
    book.add_line("nothing", "Where is HM-1899-777 kept?", none, "no such inventory number")


def write_round(out: Path) -> None:
    """Write the documents and the questions."""
    world = make_world()
    folder = out / "documents"
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "objects.csv", world.pieces)
    write_table(folder / "loans.csv", world.loans)
    write_table(folder / "donors.csv", world.donors)
    write_records(folder / "exhibitions.jsonl", world.shows)
    write_records(folder / "restorations.jsonl", world.jobs)
    book = Book()
    for add in (
        add_lists,
        add_counts,
        add_lookups,
        add_superlatives,
        add_numbers,
        add_yes_no,
        add_joins,
        add_compounds,
        add_nothings,
    ):
        add(book, world)
    with (out / "questions.jsonl").open("w", encoding="utf-8") as handle:
        for line in book.lines:
            handle.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write_round(Path(sys.argv[1]))
