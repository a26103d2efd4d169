"""Write one structured round about the invented Corrane archipelago: documents and questions with truths."""

import csv
import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

SEED = 303
T = TypeVar("T")
Truth = dict[str, object]

GROUPS: list[str] = ["North Holms", "Lantern Isles", "Saltmarch", "Outer Skerries", "Kingsway Isles"]
PREFIXES: list[str] = (
    "Bren Cal Dor Esk Fal Gor Hul Ive Jor Kel Lor Mer Nar Ost Pel Quil Rav Sul Tam Ulv Ven Wen Yar Zel Brac Crav "
    "Drum Fen Gris Harl Ker Lus Mord Nesk Orr Pol Rusk Skel Thorn Vard Amble Birk Clee Durs Ebber Frith Glas Heddle "
    "Isk Jarl Knap Lamb Muck Nethe Oake Pirr Roose Stave Tarb Under"
).split()
ISLAND_ENDS: list[str] = ["ay", "sey", "holm", "ora", "inish"]
TOWN_ENDS: list[str] = ["wick", "stow", "by", "mouth", "haven", "ton", "port", "garth", "combe", "bridge"]
MIDS: list[str] = ["an", "el", "or", "is", "um", "et"]
HILL_ENDS: list[str] = ["Fell", "Tor", "Pike", "Law", "Beacon"]
LAKE_ENDS: list[str] = ["Water", "Mere", "Tarn", "Loch"]
FIRST: list[str] = (
    "Aldis Berit Corin Dagny Edric Fenna Gisla Hallam Ingrid Joss Kerra Leif Maren Nils Oda Perran Runa Senara Tove "
    "Ulf Vigdis Wenna Yestin Zara Bryony Callum Demelza Einar Freya Gorran"
).split()
LAST: list[str] = (
    "Ashgrove Bolitho Carrick Dunmore Eklund Fairlie Grimsby Hallett Iversen Jessop Kittow Lindqvist Maddern Nance "
    "Olver Penrose Quick Rostron Sandell Trewin Uren Vestey Winslade Yelland Aske Brandt Coad Drever Flett Gunn"
).split()
OPERATORS: list[str] = [
    "Blue Tern Ferries",
    "Corrane Steam Packet",
    "Gannet Line",
    "Hollins Brothers",
    "Lantern Sea Coaches",
    "Northern Holms Shipping",
    "Osprey Crossings",
    "Puffin Express",
    "Redsail Passenger Boats",
    "Saltmarch Transit",
    "Sealark Cooperative",
    "Skerry Link",
    "Star of the Isles",
    "Storm Petrel Ferries",
    "Tidewater Navigation",
    "Trewin and Daughters",
    "Kingsway Ferries",
    "White Anchor Line",
    "Wayfarer Boats",
    "Kittiwake Sailings",
    "Old Harbour Company",
    "Moonraker Marine",
]
SHIPS: list[str] = (
    "Aurora Bellwether Cormorant Dunlin Eider Fulmar Guillemot Heron Isolde Jackdaw Kestrel Lapwing Merlin Nightjar "
    "Oriole Plover Quickstep Razorbill Sanderling Turnstone Undine Valiant Whimbrel Zephyr Avocet Curlew Dotterel "
    "Firecrest Goldeneye Harrier"
).split()
DAYS: list[str] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
TOWN_NOTES: list[str] = [
    "Covered hall rebuilt after the fire of 1911.",
    "Narrow streets, coaches must stop at the edge of town.",
    "Known for its slate roofs.",
    "Bandstand on the green, concerts on Sundays.",
    "Pottery workshops open by appointment.",
    "Old customs house now holds the local archive.",
    "Signposts renewed together with the parish.",
    "Leaflet needs a reprint.",
    "Regatta in August.",
    "Rope walk still in use.",
]
FERRY_NOTES: list[str] = [
    "Timings depend on the tide.",
    "Tickets at the quay or on board.",
    "Queue early on market days.",
    "Heated saloon.",
    "Vessel swapped during refit.",
    "Groups should ring ahead.",
    "Moored at the north quay.",
]
LAND_NOTES: list[str] = [
    "Path marked with white posts.",
    "Good view on clear days.",
    "Cairn repaired by volunteers.",
    "Boggy after rain.",
    "Gate to be kept shut.",
    "Old peat cuttings nearby.",
    "Information board missing.",
]
ISLAND_LINES: list[str] = [
    "Seals haul out on the western rocks.",
    "Sheep outnumber everyone in spring.",
    "The lighthouse is a listed building.",
    "Low and green, with dunes along the south.",
    "Steep on the weather side, gentle in the lee.",
    "Stone circles and drystone walls everywhere.",
    "Wind-bent pines line the single ridge road.",
    "Famous for heather honey.",
    "A walkers' favourite in May.",
]


@dataclass
class Island:
    """One island of the archipelago."""

    key: str
    name: str
    group: str
    x: float
    y: float
    area: float
    people: int = 0
    main_town: str = ""
    top_hill: str = ""
    neighbours: list[str] = field(default_factory=list)
    settled: int | None = None
    line: str = ""
    census: str = ""


@dataclass
class Town:
    """One town or village."""

    key: str
    name: str
    island: str
    people: int
    founded: int | None
    mayor: str
    hospital: bool
    harbour: bool
    market: str
    phone: str
    postcode: str
    note: str


@dataclass
class Ferry:
    """One ferry line in one direction."""

    key: str
    start: str
    end: str
    operator: str
    minutes: int
    fare: float | None
    vehicles: bool
    step_free: bool
    season: str
    per_day: int
    timetable: str
    note: str


@dataclass
class Landform:
    """One hill or lake."""

    key: str
    name: str
    kind: str
    island: str
    altitude: int
    depth: float | None
    surface: float | None
    nearest: str
    note: str


@dataclass
class Operator:
    """One ferry company."""

    key: str
    name: str
    founded: int
    office: str
    phone: str
    director: str
    fleet: list[tuple[str, int, int]]


@dataclass
class World:
    """All records of the round."""

    islands: list[Island]
    towns: list[Town]
    ferries: list[Ferry]
    lands: list[Landform]
    operators: list[Operator]
    double_town: str
    shared_name: str


def make_person(rng: random.Random, used: set[str]) -> str:
    """Return a person's name that was not used before."""
    while True:
        name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        if name not in used:
            used.add(name)
            return name


def make_phone(rng: random.Random, used: set[str]) -> str:
    """Return an unused phone number."""
    while True:
        number = f"0{rng.randint(410, 489)} {rng.randint(20, 99)} {rng.randint(100, 999)}"
        if number not in used:
            used.add(number)
            return number


def make_islands(rng: random.Random) -> list[Island]:
    """Return the islands with their place, area and neighbours."""
    names = sorted({p + e for p in PREFIXES for e in ISLAND_ENDS})
    rng.shuffle(names)
    centres: list[tuple[float, float]] = [(0, 90), (70, 60), (-20, 0), (-110, 50), (60, -30)]
    chosen: list[str] = []
    seen: set[str] = set()
    for name in names:
        if name[:4] not in seen and len(chosen) < 58:
            seen.add(name[:4])
            chosen.append(name)
    islands: list[Island] = []
    for i, name in enumerate(chosen):
        g = (i * 7 + i // 9) % 5
        cx, cy = centres[g]
        islands.append(
            Island(
                key=f"ISL-{i + 1:02d}",
                name=name,
                group=GROUPS[g],
                x=cx + rng.gauss(0, 22),
                y=cy + rng.gauss(0, 22),
                area=round(math.exp(rng.uniform(0.4, 5.6)), 1),
                settled=rng.randint(780, 1690) if rng.random() > 0.15 else None,
                line=rng.choice(ISLAND_LINES),
                census=f"2025-{rng.randint(3, 6):02d}-{rng.randint(1, 28):02d}",
            )
        )
    islands[4].area = 512.6
    links: set[tuple[str, str]] = set()
    for a in islands:
        near = sorted((b for b in islands if b is not a), key=lambda b: island_gap(a, b))
        for b in near[: 2 + (a.area > 60)]:
            links.add((min(a.name, b.name), max(a.name, b.name)))
    for a in islands:
        a.neighbours = sorted({q for p, q in links if p == a.name} | {p for p, q in links if q == a.name})
    return islands


def island_gap(a: Island, b: Island) -> float:
    """Return the distance between two islands."""
    return math.hypot(a.x - b.x, a.y - b.y)


def make_towns(rng: random.Random, islands: list[Island], people: set[str], phones: set[str]) -> list[Town]:
    """Return the towns and fill in the islands' inhabitants and main towns."""
    names = sorted({p + e for p in PREFIXES for e in TOWN_ENDS})
    rng.shuffle(names)
    empty = {isl.name for isl in sorted(islands, key=lambda isl: isl.area)[2:24:3]}
    towns: list[Town] = []
    for i, isl in enumerate(islands):
        if isl.name in empty:
            isl.settled = None
            continue
        count = max(1, min(16, round(math.sqrt(isl.area) * 0.9)))
        scale = rng.uniform(700, 4200) if isl.area < 500 else 21000.0
        batch: list[Town] = []
        for k in range(count):
            name = names.pop()
            if k == 0 and i == 11:
                name = isl.name
            size = max(38, int(scale * math.sqrt(isl.area / 60) / (k + 1) ** 1.1 * rng.uniform(0.7, 1.3)))
            low = isl.settled if isl.settled is not None else 1100
            batch.append(
                Town(
                    key="",
                    name=name,
                    island=isl.name,
                    people=size,
                    founded=rng.randint(low, 1850) if rng.random() > 0.06 else None,
                    mayor=make_person(rng, people) if rng.random() > 0.05 else "",
                    hospital=(k == 0 and isl.area > 45) or rng.random() < 0.04,
                    harbour=k < 2 or rng.random() < 0.55,
                    market=rng.choice(DAYS) if rng.random() > 0.2 else "",
                    phone=make_phone(rng, phones) if k == 0 or rng.random() < 0.6 else "",
                    postcode=f"CO{i + 10}{k:02d}",
                    note=rng.choice(TOWN_NOTES) if rng.random() < 0.5 else "",
                )
            )
        seat = batch[1] if count > 6 and rng.random() < 0.25 and isl.area < 500 else batch[0]
        isl.main_town = seat.name
        isl.people = sum(t.people for t in batch) + rng.randint(15, 420)
        towns.extend(batch)
    rng.shuffle(towns)
    for n, town in enumerate(towns):
        town.key = f"T-{n + 1:03d}"
    return towns


def make_lands(rng: random.Random, islands: list[Island], towns: list[Town]) -> list[Landform]:
    """Return hills and lakes and fill in the islands' highest hills."""
    bases = sorted({p + m for p in PREFIXES for m in MIDS})
    rng.shuffle(bases)
    lands: list[Landform] = []
    for isl in islands:
        local = [t.name for t in towns if t.island == isl.name]
        hills = min(11, round(math.sqrt(isl.area) * rng.uniform(0.25, 0.85)))
        lakes = min(8, round(math.sqrt(isl.area) * rng.uniform(0.0, 0.55)))
        ceiling = 160 + 45 * math.sqrt(isl.area) * rng.uniform(0.6, 1.2)
        best = 0
        for _ in range(hills):
            base = bases.pop()
            name = f"Mount {base}" if rng.random() < 0.2 else f"{base} {rng.choice(HILL_ENDS)}"
            height = int(ceiling * rng.uniform(0.35, 1.0))
            if height == best:
                height -= 3
            if height > best:
                best, isl.top_hill = height, name
            lands.append(
                Landform("", name, "hill", isl.name, height, None, None, rng.choice(local) if local else "", "")
            )
        for _ in range(lakes):
            base = bases.pop()
            name = f"Lake {base}" if rng.random() < 0.4 else f"{base} {rng.choice(LAKE_ENDS)}"
            lands.append(
                Landform(
                    "",
                    name,
                    "lake",
                    isl.name,
                    int(ceiling * rng.uniform(0.05, 0.6)),
                    round(rng.uniform(1.5, 9) * rng.uniform(1, 9), 1) if rng.random() > 0.1 else None,
                    round(math.exp(rng.uniform(0, 6.2)), 1),
                    rng.choice(local) if local else "",
                    "",
                )
            )
    rng.shuffle(lands)
    for n, land in enumerate(lands):
        land.key = f"HL-{n + 1:03d}"
        land.note = rng.choice(LAND_NOTES) if rng.random() < 0.4 else ""
    return lands


def make_operators(rng: random.Random, towns: list[Town], people: set[str], phones: set[str]) -> list[Operator]:
    """Return the ferry companies; a few directors are mayors as well."""
    seats = sorted((t for t in towns if t.harbour), key=lambda t: -t.people)[:60]
    mayors = sorted(t.mayor for t in towns if t.mayor)
    both = rng.sample(mayors, 3)
    result: list[Operator] = []
    for i, name in enumerate(OPERATORS):
        fleet = [
            (f"{ship}{rng.choice(['', ' II', ' of Corrane'])}", rng.randint(1958, 2022), rng.randint(4, 62) * 10)
            for ship in rng.sample(SHIPS, rng.randint(1, 7))
        ]
        if name == "Skerry Link":
            fleet[0] = ("Morning Glory", 2025, 180)
        result.append(
            Operator(
                f"OP-{i + 1:02d}",
                name,
                rng.randint(1834, 2016),
                rng.choice(seats).name,
                make_phone(rng, phones),
                both[i // 7] if i in (3, 10, 17) else make_person(rng, people),
                fleet,
            )
        )
    return result


def make_ferries(rng: random.Random, world: World) -> list[Ferry]:
    """Return the ferry lines, one record per direction."""
    ports: dict[str, list[Town]] = {}
    for town in sorted(world.towns, key=lambda t: -t.people):
        if town.harbour and town.name not in (world.double_town, world.shared_name):
            ports.setdefault(town.island, []).append(town)
    by_name = {isl.name: isl for isl in world.islands}
    pairs: list[tuple[str, str]] = []
    for isl in world.islands:
        for other in isl.neighbours:
            if isl.name < other and isl.people and by_name[other].people:
                pairs.extend([(isl.name, other)] * rng.choice([1, 2, 2, 3]))
    big = sorted((n for n in by_name if n in ports), key=lambda n: -by_name[n].people)[:12]
    pairs.extend((big[0], n) for n in big[1:])
    pairs.extend((big[1], n) for n in big[4:8])
    ferries: list[Ferry] = []
    taken: set[tuple[str, str, str]] = set()
    for a, b in pairs:
        if a not in ports or b not in ports:
            continue
        start, end = rng.choice(ports[a][:5]).name, rng.choice(ports[b][:5]).name
        for firm in rng.sample(world.operators, rng.choice([1, 1, 1, 2])):
            base = island_gap(by_name[a], by_name[b]) * rng.uniform(2.0, 3.4) + 6
            fare = round(base * rng.uniform(0.25, 0.5) * 2) / 2 + 2
            car, step = rng.random() < 0.45, rng.random() < 0.5
            season = "summer only" if rng.random() < 0.25 else "all year"
            ways = [(start, end), (end, start)] if rng.random() < 0.9 else [(start, end)]
            for p, q in ways:
                if (p, q, firm.name) in taken:
                    continue
                taken.add((p, q, firm.name))
                year = rng.choice([2022, 2023, 2024, 2025, 2025, 2026])
                ferries.append(
                    Ferry(
                        "",
                        p,
                        q,
                        firm.name,
                        int(base * rng.uniform(0.95, 1.08)),
                        None if rng.random() < 0.03 else fare + rng.choice([0, 0, 0.5]),
                        car,
                        step,
                        season,
                        rng.randint(1, 9),
                        f"{year}-{rng.randint(1, 10):02d}-{rng.randint(1, 28):02d}",
                        rng.choice(FERRY_NOTES) if rng.random() < 0.4 else "",
                    )
                )
    rng.shuffle(ferries)
    for n, ferry in enumerate(ferries):
        ferry.key = f"FL-{n + 1:03d}"
    return ferries


def make_world(rng: random.Random) -> World:
    """Build all records."""
    people: set[str] = set()
    phones: set[str] = set()
    islands = make_islands(rng)
    towns = make_towns(rng, islands, people, phones)
    seats = {isl.main_town for isl in islands}
    twin = sorted((t for t in towns if t.name not in seats and t.mayor), key=lambda t: t.key)
    first, second = twin[3], next(t for t in twin[4:] if t.island != twin[3].island)
    second.name = first.name
    shared = next(isl.name for isl in islands if isl.main_town == isl.name)
    lands = make_lands(rng, islands, towns)
    offices = [t for t in towns if t.name not in (first.name, shared)]
    world = World(islands, towns, [], lands, make_operators(rng, offices, people, phones), first.name, shared)
    world.ferries = make_ferries(rng, world)
    return world


def yes_word(flag: bool) -> str:
    """Return yes or no."""
    return "yes" if flag else "no"


def write_table(path: Path, header: list[str], rows: list[list[object]]) -> None:
    """Write one CSV file; None becomes an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(["" if cell is None else cell for cell in row])


def write_lines(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write one JSON object per line."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def write_documents(world: World, out: Path) -> None:
    """Write the five buckets."""
    out.mkdir(parents=True, exist_ok=True)
    island_rows: list[dict[str, object]] = []
    for isl in world.islands:
        meta: dict[str, object] = {
            "area_km2": isl.area,
            "inhabitants": isl.people,
            "island_group": isl.group,
            "neighbours": isl.neighbours,
            "census_on": isl.census,
        }
        if isl.main_town:
            meta["main_town"] = isl.main_town
        if isl.top_hill:
            meta["highest_hill"] = isl.top_hill
        if isl.settled is not None:
            meta["settled_year"] = isl.settled
        text = f"{isl.name} belongs to the {isl.group}. {isl.line}"
        island_rows.append({"doc_id": isl.key, "title": isl.name, "text": text, "metadata": meta})
    write_lines(out / "islands.jsonl", island_rows)
    write_table(
        out / "towns.csv",
        [
            "id",
            "town",
            "island",
            "residents",
            "founded",
            "mayor",
            "hospital",
            "harbour",
            "market_day",
            "tourist_office_phone",
            "postcode",
            "notes",
        ],
        [
            [
                t.key,
                t.name,
                t.island,
                t.people,
                t.founded,
                t.mayor,
                yes_word(t.hospital),
                yes_word(t.harbour),
                t.market,
                t.phone,
                t.postcode,
                t.note,
            ]
            for t in world.towns
        ],
    )
    write_table(
        out / "ferry_lines.csv",
        [
            "id",
            "from_town",
            "to_town",
            "operator",
            "duration_min",
            "adult_fare_crowns",
            "vehicles",
            "step_free",
            "season",
            "departures_per_day",
            "timetable_valid_from",
            "notes",
        ],
        [
            [
                f.key,
                f.start,
                f.end,
                f.operator,
                f.minutes,
                f.fare,
                yes_word(f.vehicles),
                yes_word(f.step_free),
                f.season,
                f.per_day,
                f.timetable,
                f.note,
            ]
            for f in world.ferries
        ],
    )
    write_table(
        out / "hills_and_lakes.csv",
        ["id", "name", "kind", "island", "altitude_m", "max_depth_m", "surface_ha", "nearest_town", "notes"],
        [[x.key, x.name, x.kind, x.island, x.altitude, x.depth, x.surface, x.nearest, x.note] for x in world.lands],
    )
    firm_rows: list[dict[str, object]] = []
    for firm in world.operators:
        fleet = [{"vessel": v, "built": b, "capacity": c} for v, b, c in firm.fleet]
        firm_rows.append(
            {
                "doc_id": firm.key,
                "title": firm.name,
                "text": f"{firm.name} sails from {firm.office}. Registered with the archipelago's harbour board.",
                "metadata": {
                    "founded": firm.founded,
                    "head_office": firm.office,
                    "phone": firm.phone,
                    "managing_director": firm.director,
                    "fleet": fleet,
                },
            }
        )
    write_lines(out / "operators.jsonl", firm_rows)


def pick_one(rng: random.Random, items: Sequence[T], test: Callable[[T], bool]) -> T:
    """Return a random item that passes the test."""
    good = [item for item in items if test(item)]
    if not good:
        raise ValueError("nothing to pick from")
    return rng.choice(good)


def pick_best(items: Sequence[T], key: Callable[[T], float], largest: bool) -> T:
    """Return the unique best item; ties are an error."""
    order = sorted(items, key=key, reverse=largest)
    if len(order) > 1 and key(order[0]) == key(order[1]):
        raise ValueError("tie")
    return order[0]


def set_truth(keys: list[str]) -> Truth:
    """Return a documents truth; it may not be empty."""
    if not keys:
        raise ValueError("empty list")
    return {"documents": sorted(keys)}


def town_truth(towns: list[Town]) -> Truth:
    """Return the truth of a set of towns."""
    return set_truth([f"towns.csv#{t.key}" for t in towns])


def ferry_truth(ferries: list[Ferry]) -> Truth:
    """Return the truth of a set of ferry lines."""
    return set_truth([f"ferry_lines.csv#{f.key}" for f in ferries])


def land_truth(lands: list[Landform]) -> Truth:
    """Return the truth of a set of hills or lakes."""
    return set_truth([f"hills_and_lakes.csv#{x.key}" for x in lands])


def island_truth(islands: list[Island]) -> Truth:
    """Return the truth of a set of islands."""
    return set_truth([isl.key for isl in islands])


def name_truth(*values: str) -> Truth:
    """Return a truth of values that must be stated."""
    return {"values": list(values)}


def count_truth(number: float) -> Truth:
    """Return a number truth; zero is nothing."""
    return {"number": number} if number else {"nothing": True}


def answer_yes_no(flag: bool) -> Truth:
    """Return a yes/no truth."""
    return {"yes_no": yes_word(flag)}


class Quiz:
    """Questions about one world."""

    def __init__(self, world: World, rng: random.Random) -> None:
        """Keep the world and prepare indexes."""
        self.world = world
        self.rng = rng
        self.rows: list[dict[str, object]] = []
        self.spent: set[str] = set()
        self.isle: dict[str, Island] = {isl.name: isl for isl in world.islands}
        self.town: dict[str, Town] = {t.name: t for t in world.towns}
        self.firm: dict[str, Operator] = {o.name: o for o in world.operators}
        self.hills: list[Landform] = [x for x in world.lands if x.kind == "hill"]
        self.lakes: list[Landform] = [x for x in world.lands if x.kind == "lake"]

    def add_row(self, kind: str, turns: list[str], truth: Truth, why: str) -> None:
        """Append one question."""
        self.rows.append({"kind": kind, "turns": turns, "truth": truth, "why": why})

    def pick_island(self, test: Callable[[Island], bool]) -> Island:
        """Return an island not asked about before, never the one that shares its name with a town."""
        isl = pick_one(
            self.rng,
            self.world.islands,
            lambda i: i.name not in self.spent and i.name != self.world.shared_name and test(i),
        )
        self.spent.add(isl.name)
        return isl

    def pick_town(self, test: Callable[[Town], bool]) -> Town:
        """Return a town with a name of its own, not asked about before."""
        odd = (self.world.double_town, self.world.shared_name)
        town = pick_one(
            self.rng, self.world.towns, lambda t: t.name not in self.spent and t.name not in odd and test(t)
        )
        self.spent.add(town.name)
        return town

    def pick_ferry(self, test: Callable[[Ferry], bool]) -> Ferry:
        """Return a line whose pair of towns has just this one line in this direction."""
        ferry = pick_one(
            self.rng,
            self.world.ferries,
            lambda f: f.key not in self.spent and len(self.lines_of(f.start, f.end)) == 1 and test(f),
        )
        self.spent.add(ferry.key)
        return ferry

    def pick_firm(self, test: Callable[[Operator], bool]) -> Operator:
        """Return a company not asked about before."""
        firm = pick_one(self.rng, self.world.operators, lambda o: o.name not in self.spent and test(o))
        self.spent.add(firm.name)
        return firm

    def lines_of(self, start: str, end: str) -> list[Ferry]:
        """Return the lines from one town to another."""
        return [f for f in self.world.ferries if f.start == start and f.end == end]

    def lines_from(self, start: str) -> list[Ferry]:
        """Return the lines out of a town."""
        return [f for f in self.world.ferries if f.start == start]

    def towns_on(self, island: str) -> list[Town]:
        """Return the towns of an island."""
        return [t for t in self.world.towns if t.island == island]

    def lakes_on(self, island: str) -> list[Landform]:
        """Return the lakes of an island."""
        return [x for x in self.lakes if x.island == island]

    def ask_joins(self) -> None:
        """Add the questions that need two or more buckets."""
        w = self.world
        big = pick_best(w.islands, lambda i: i.area, True)
        assert big is pick_best(w.islands, lambda i: i.people, True)
        self.add_row(
            "join",
            ["how many people live in the main town of the biggest island"],
            count_truth(self.town[big.main_town].people),
            "superlative, then town table, not the island's own",
        )

        def has_fast(i: Island) -> bool:
            times = sorted(f.minutes for f in self.lines_from(i.main_town))
            return len(times) > 3 and times[0] < times[1] and i is not big

        isl = self.pick_island(has_fast)
        fast = pick_best(self.lines_from(isl.main_town), lambda f: f.minutes, False)
        self.add_row(
            "join",
            [f"who runs the quickest boat out of the main town of {isl.name}?"],
            name_truth(fast.operator),
            "island to town to shortest line to operator",
        )

        line = self.pick_ferry(lambda f: True)
        self.add_row(
            "join",
            [f"Hi, I need to ring whoever does the crossing from {line.start} to {line.end}, whats their number?"],
            name_truth(self.firm[line.operator].phone),
            "line to operator to phone; tourist office is a trap",
        )

        def cheap_lines(i: Island) -> list[Ferry]:
            return [f for f in w.ferries if self.town[f.start].island == i.name and f.fare is not None and f.fare < 20]

        isl = self.pick_island(lambda i: 3 <= len(cheap_lines(i)) <= 14)
        self.add_row(
            "join",
            [f"ferries leaving from anywhere on {isl.name} for under 20 crowns"],
            ferry_truth(cheap_lines(isl)),
            "lines name towns, not islands",
        )

        isl = self.pick_island(lambda i: 6 <= sum(len(self.towns_on(n)) for n in i.neighbours) <= 25)
        self.add_row(
            "join",
            [f"What towns are there on the islands next door to {isl.name}?"],
            town_truth([t for t in w.towns if t.island in isl.neighbours]),
            "neighbours list, then towns",
        )

        town = self.pick_town(lambda t: bool(self.isle[t.island].top_hill) and self.isle[t.island].main_town != t.name)
        tallest = pick_best([x for x in self.hills if x.island == town.island], lambda x: x.altitude, True)
        self.add_row(
            "join",
            [f"how tall is the tallest hill on the island {town.name} is on"],
            count_truth(tallest.altitude),
            "town to island to hill to height",
        )

        def lake_neighbours(i: Island) -> list[Island]:
            return [self.isle[n] for n in i.neighbours if self.lakes_on(n)]

        isl = self.pick_island(lambda i: 2 <= len(lake_neighbours(i)) < len(i.neighbours))
        self.add_row(
            "join",
            [f"of the islands bordering {isl.name}, which ones have a lake?"],
            island_truth(lake_neighbours(isl)),
            "neighbours crossed with another bucket",
        )

        def firm_lines(i: Island) -> list[Ferry]:
            return [f for f in w.ferries if self.town[self.firm[f.operator].office].island == i.name]

        isl = self.pick_island(lambda i: len({f.operator for f in firm_lines(i)}) >= 2)
        self.add_row(
            "join",
            [
                f"how many ferry lines are run by companies that have their HQ on {isl.name}? "
                "each direction counts as one"
            ],
            count_truth(len(firm_lines(isl))),
            "operator to town to island, then count lines",
        )

        firm = self.pick_firm(lambda o: any(t.mayor == o.director for t in w.towns))
        both = next(t for t in w.towns if t.mayor == firm.director)
        self.add_row(
            "join",
            [f"someone told me the boss of {firm.name} is a mayor as well - of which town?"],
            name_truth(both.name),
            "same person under two columns in two buckets",
        )

        empty = [i.name for i in w.islands if i.people == 0]
        self.add_row(
            "join",
            ["lakes on islands where nobody lives"],
            land_truth([x for x in self.lakes if x.island in empty]),
            "zero inhabitants, then lakes",
        )

        lake = pick_one(
            self.rng,
            self.lakes,
            lambda x: self.isle[x.island].people > 500 and not self.isle[x.island].name == w.shared_name,
        )
        self.add_row(
            "join",
            [f"which island is {lake.name} on?", "and how many people live there?"],
            count_truth(self.isle[lake.island].people),
            "follow-up crosses to the island bucket",
        )

        def lines_between(a: str, b: str) -> list[Ferry]:
            return [f for f in w.ferries if {self.town[f.start].island, self.town[f.end].island} == {a, b}]

        isl = self.pick_island(
            lambda i: any(len(lines_between(i.name, n)) >= 4 for n in i.neighbours if n != w.shared_name)
        )
        other = next(n for n in isl.neighbours if n != w.shared_name and len(lines_between(isl.name, n)) >= 4)
        self.add_row(
            "join",
            [f"direct ferries between {isl.name} and {other}, both directions please"],
            ferry_truth(lines_between(isl.name, other)),
            "two islands, lines name only towns",
        )

    def ask_superlatives(self) -> None:
        """Add the superlatives."""
        w = self.world
        settled = [i for i in w.islands if i.people > 0]
        self.add_row(
            "superlative",
            ["which inhabited island has the fewest people on it?"],
            name_truth(pick_best(settled, lambda i: i.people, False).name),
            "zeros must be left out",
        )
        known = [x for x in self.lakes if x.depth is not None]
        deepest = pick_best(known, lambda x: x.depth or 0.0, True)
        self.add_row(
            "superlative",
            ["whats the deepest lake in the whole archipelago"],
            name_truth(deepest.name),
            "missing depths",
        )
        self.add_row(
            "superlative",
            ["Highest hill anywhere in Corrane?"],
            name_truth(pick_best(self.hills, lambda x: x.altitude, True).name),
            "altitude is of lakes as well",
        )

        def clear_cheap(t: Town) -> bool:
            fares = sorted(f.fare or 999.0 for f in self.lines_from(t.name))
            whole = all(f.fare is not None for f in self.lines_from(t.name))
            return whole and len(fares) >= 4 and fares[0] < fares[1]

        town = self.pick_town(clear_cheap)
        best = pick_best(self.lines_from(town.name), lambda f: f.fare or 999.0, False)
        self.add_row(
            "superlative",
            [f"im in {town.name} and nearly broke lol, where can i sail to for least money?"],
            {"values": [best.end], "alternatives": [[best.key]]},
            "chatty; asks for the destination",
        )
        self.add_row(
            "superlative",
            ["how many minutes does the longest ferry ride of all take?"],
            count_truth(pick_best(w.ferries, lambda f: f.minutes, True).minutes),
            "value of the winner",
        )

        isl = self.pick_island(
            lambda i: (
                len(self.towns_on(i.name)) >= 5
                and len({t.founded for t in self.towns_on(i.name)}) == len(self.towns_on(i.name))
                and all(t.founded and t.mayor for t in self.towns_on(i.name))
            )
        )
        oldest = pick_best(self.towns_on(isl.name), lambda t: t.founded or 9999, False)
        self.add_row(
            "superlative",
            [f"oldest town on {isl.name}?", "who is the mayor there?"],
            name_truth(oldest.mayor),
            "follow-up refers to the winner",
        )

        isl = self.pick_island(
            lambda i: len(self.lakes_on(i.name)) >= 3 and all(x.depth is not None for x in self.lakes_on(i.name))
        )
        pool = self.lakes_on(isl.name)
        self.add_row(
            "superlative",
            [f"What lakes are there on {isl.name}?", "the deepest of them?"],
            name_truth(pick_best(pool, lambda x: x.depth or 0.0, True).name),
            "over the last answer",
        )
        ranked = sorted(self.lakes, key=lambda x: x.surface or 0.0, reverse=True)
        assert ranked[2].surface != ranked[3].surface
        self.add_row(
            "superlative",
            ["name the three largest lakes, going by how much ground they cover"],
            name_truth(*[x.name for x in ranked[:3]]),
            "top three; surface in hectares, not depth",
        )
        newest = pick_best(w.operators, lambda o: max(b for _, b, _ in o.fleet), True)
        self.add_row(
            "superlative",
            ["which ferry company has got the newest ship?"],
            name_truth(newest.name),
            "rows inside the company record",
        )
        self.add_row(
            "superlative",
            ["whats the most crowded island, people per square km I mean"],
            name_truth(pick_best(w.islands, lambda i: i.people / i.area, True).name),
            "ratio of two fields",
        )

    def ask_lists(self) -> None:
        """Add the lists."""
        w = self.world
        self.add_row(
            "list",
            ["which hills are somewhere between 400 and 450 metres high?"],
            land_truth([x for x in self.hills if 400 <= x.altitude <= 450]),
            "lakes also have an altitude",
        )

        def summer_cars(o: Operator) -> tuple[list[Ferry], list[Ferry]]:
            mine = [f for f in w.ferries if f.operator == o.name and f.season == "summer only"]
            return mine, [f for f in mine if f.vehicles]

        firm = self.pick_firm(lambda o: 2 <= len(summer_cars(o)[1]) < len(summer_cars(o)[0]))
        self.add_row(
            "list",
            [f"{firm.name} boats that only go in the summer", "which of those take cars?"],
            ferry_truth(summer_cars(firm)[1]),
            "follow-up narrows the last list",
        )
        self.add_row(
            "list",
            ["could you list the towns that go back to before the year 1300 and don't have a harbour please"],
            town_truth([t for t in w.towns if t.founded is not None and t.founded < 1300 and not t.harbour]),
            "negation; empty founding years",
        )
        isl = self.pick_island(
            lambda i: 2 <= sum(t.people > 1000 for t in self.towns_on(i.name)) < len(self.towns_on(i.name)) - 1
        )
        self.add_row(
            "list",
            [f"towns on {isl.name}", "only the ones with more than a thousand people"],
            town_truth([t for t in self.towns_on(isl.name) if t.people > 1000]),
            "number in words, follow-up",
        )
        self.add_row(
            "list",
            ["ferry companies that were already around before 1900??"],
            set_truth([o.key for o in w.operators if o.founded < 1900]),
            "founded said another way",
        )

        def step_lines(t: Town) -> list[Ferry]:
            return [f for f in self.lines_from(t.name) if f.step_free]

        town = self.pick_town(lambda t: 2 <= len(step_lines(t)) < len(self.lines_from(t.name)))
        self.add_row(
            "list",
            [f"My mother uses a wheelchair. Which ferries from {town.name} can she get on without any steps?"],
            ferry_truth(step_lines(town)),
            "flag said by its purpose",
        )
        isl = self.pick_island(lambda i: sum(t.market == "Thursday" for t in self.towns_on(i.name)) >= 2)
        self.add_row(
            "list",
            [f"we're on {isl.name} on a thursday, where is there a market that day"],
            town_truth([t for t in self.towns_on(isl.name) if t.market == "Thursday"]),
            "where as a list",
        )

    def ask_counts(self) -> None:
        """Add counts, a sum and a group."""
        w = self.world
        self.add_row(
            "count",
            ["how many hills are over 300 m?", "and over 500?"],
            count_truth(sum(x.altitude > 500 for x in self.hills)),
            "follow-up replaces the number",
        )
        self.add_row(
            "count",
            ["how many islands dont have a single lake"],
            count_truth(sum(not self.lakes_on(i.name) for i in w.islands)),
            "absence in another bucket",
        )
        self.add_row(
            "count",
            ["number of ferry lines that take half an hour tops"],
            count_truth(sum(f.minutes <= 30 for f in w.ferries)),
            "tops, half an hour as minutes",
        )
        self.add_row(
            "count",
            ["How many islands does the archipelago have in total?"],
            count_truth(len(w.islands)),
            "plain count of a bucket",
        )
        a = self.pick_island(lambda i: i.people > 2000)
        b = self.pick_island(lambda i: i.people > 2000)
        self.add_row(
            "number",
            [f"how many people live on {a.name} and {b.name} put together"],
            count_truth(a.people + b.people),
            "sum over two named islands",
        )
        self.add_row(
            "group",
            ["how many islands in each of the island groups?"],
            {"groups": {g: sum(i.group == g for i in w.islands) for g in sorted(GROUPS)}},
            "group by",
        )

    def ask_lookups(self) -> None:
        """Add look-ups, yes/no, compound and ambiguous questions."""
        w = self.world
        isl = self.pick_island(lambda i: len(i.neighbours) >= 4)
        self.add_row("lookup", [f"what islands border {isl.name}"], name_truth(*isl.neighbours), "whole list field")
        isl = self.pick_island(
            lambda i: (
                len(self.towns_on(i.name)) > 6
                and i.main_town != pick_best(self.towns_on(i.name), lambda t: t.people, True).name
            )
        )
        self.add_row(
            "lookup",
            [f"capital of {isl.name}?"],
            name_truth(isl.main_town),
            "capital is the main town, which is not the largest one",
        )
        line = self.pick_ferry(lambda f: f.fare is not None)
        self.add_row(
            "lookup",
            [f"hello! how much would a grown-up pay to go from {line.start} over to {line.end} by boat? thx"],
            count_truth(line.fare or 0.0),
            "direction matters; adult fare",
        )
        line = self.pick_ferry(lambda f: True)
        self.add_row(
            "lookup",
            [f"who sails from {line.start} to {line.end}?", "how long does it take"],
            count_truth(line.minutes),
            "follow-up on the same line",
        )
        firm = self.pick_firm(lambda o: True)
        self.add_row(
            "lookup",
            [f"since when has {firm.name} been in business?"],
            name_truth(str(firm.founded)),
            "founded said another way",
        )
        town = self.pick_town(lambda t: bool(t.phone))
        self.add_row("lookup", [f"tel no for tourist info in {town.name} pls"], name_truth(town.phone), "abbreviations")

        line = self.pick_ferry(lambda f: f.vehicles)
        self.add_row(
            "yes_no",
            [f"Can I bring my car on the {line.start} to {line.end} ferry?"],
            answer_yes_no(line.vehicles),
            "flag of one line",
        )
        isl = self.pick_island(
            lambda i: len(self.towns_on(i.name)) >= 3 and not any(t.hospital for t in self.towns_on(i.name))
        )
        self.add_row(
            "yes_no",
            [f"is there a hospital on {isl.name}?"],
            answer_yes_no(False),
            "flag of all towns of an island, all filled in",
        )
        a = self.pick_island(lambda i: 20 < i.area < 60 and i.people > 0)
        b = self.pick_island(lambda i: 70 < i.area < 120 and i.people > a.people)
        self.add_row(
            "compare",
            [f"which is bigger, {a.name} or {b.name}?"],
            name_truth(b.name),
            "same winner by area and by people",
        )

        isl = self.pick_island(lambda i: bool(i.main_town) and bool(i.top_hill))
        self.add_row(
            "compound",
            [f"how many square km is {isl.name} and whats the name of its highest hill"],
            {"parts": [count_truth(isl.area), name_truth(isl.top_hill)]},
            "two fields",
        )
        town = self.pick_town(lambda t: bool(t.mayor) and bool(t.market))
        self.add_row(
            "compound",
            [f"Who's the mayor of {town.name}? And which day is the market there?"],
            {"parts": [name_truth(town.mayor), name_truth(town.market)]},
            "two sentences",
        )

        twins = [t for t in w.towns if t.name == w.double_town]
        assert len(twins) == 2
        self.add_row(
            "ambiguous",
            [f"who is the mayor of {w.double_town}?"],
            {"ask": True, "readings": [name_truth(t.mayor) for t in twins]},
            "two towns of one name",
        )
        self.add_row(
            "ambiguous",
            [f"population of {w.shared_name}?"],
            {
                "ask": True,
                "readings": [
                    count_truth(self.isle[w.shared_name].people),
                    count_truth(self.town[w.shared_name].people),
                ],
            },
            "an island and its main town share the name",
        )

    def ask_nothing(self) -> None:
        """Add the questions that have no answer."""
        w = self.world
        nothing: Truth = {"nothing": True}
        names = {i.name for i in w.islands} | {t.name for t in w.towns}
        assert not {"Tharrowmere", "Pellagon"} & names
        self.add_row("nothing", ["which islands border Tharrowmere?"], nothing, "no such island")
        isl = self.pick_island(lambda i: i.people > 3000)
        self.add_row(
            "nothing",
            [f"how many tourists came to {isl.name} in 2024?"],
            nothing,
            "visitors are not recorded, residents are",
        )
        town = self.pick_town(lambda t: len(self.lines_from(t.name)) >= 3)
        self.add_row(
            "nothing",
            [f"what time does the first ferry leave {town.name} in the morning"],
            nothing,
            "durations and departures per day only",
        )
        self.add_row("nothing", ["which islands have an airport?"], nothing, "attribute nobody records")
        assert not any(x.altitude > 1800 for x in self.hills)
        self.add_row("nothing", ["are there any hills higher than 1800 metres, which ones?"], nothing, "honest empty")
        empty = self.pick_island(lambda i: i.people == 0)
        self.add_row("nothing", [f"list the towns on {empty.name}"], nothing, "uninhabited island")
        quiet = self.pick_town(lambda t: not t.mayor)
        self.add_row("nothing", [f"who's mayor in {quiet.name}"], nothing, "the cell is empty")
        shallow = pick_one(self.rng, self.lakes, lambda x: x.depth is None)
        self.add_row("nothing", [f"how deep is {shallow.name}?"], nothing, "missing depth, altitude is a trap")

        def has_links(t: Town) -> bool:
            return len(self.lines_from(t.name)) >= 3 and t.name not in self.spent

        a = self.pick_town(has_links)
        b = self.pick_town(
            lambda t: (
                has_links(t)
                and t.island != a.island
                and not self.lines_of(a.name, t.name)
                and not self.lines_of(t.name, a.name)
            )
        )
        self.add_row(
            "nothing",
            [f"is there a direct boat {a.name} to {b.name}? if so which company"],
            nothing,
            "both towns have ferries, not to each other",
        )
        isl = self.pick_island(
            lambda i: len(self.lakes_on(i.name)) >= 2 and all(x.depth is not None for x in self.lakes_on(i.name))
        )
        self.add_row(
            "nothing",
            [f"deepest lake on {isl.name}", "and what fish are in it?"],
            nothing,
            "follow-up on something not recorded",
        )
        self.add_row(
            "nothing",
            ["Could you send me all the sailings run by Pellagon Ferries, my sister works there"],
            nothing,
            "no such company, though others are called Ferries",
        )
        line = self.pick_ferry(lambda f: f.fare is not None)
        self.add_row(
            "nothing",
            [f"what do kids under 12 pay from {line.start} to {line.end}?"],
            nothing,
            "only the adult fare is recorded",
        )


def write_questions(world: World, rng: random.Random, path: Path) -> None:
    """Write the 60 questions in a mixed order."""
    quiz = Quiz(world, rng)
    quiz.ask_joins()
    quiz.ask_superlatives()
    quiz.ask_lists()
    quiz.ask_counts()
    quiz.ask_lookups()
    quiz.ask_nothing()
    rows = quiz.rows
    if len(rows) != 60:
        raise ValueError(f"{len(rows)} questions")
    rng.shuffle(rows)
    write_lines(path, [{"id": f"q{n:02d}", **row} for n, row in enumerate(rows, 1)])


def main_program(argv: list[str]) -> None:
    """Generate the round into the folder given."""
    out = Path(argv[1])
    rng = random.Random(SEED)
    world = make_world(rng)
    write_documents(world, out / "documents")
    write_questions(world, rng, out / "questions.jsonl")


if __name__ == "__main__":
    main_program(sys.argv)
