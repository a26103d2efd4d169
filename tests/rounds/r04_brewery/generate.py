"""Write one round of unseen questions about a craft brewery, its suppliers and its customers."""

import csv
import json
import random
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

SEED: int = 404
TODAY: date = date(2026, 11, 22)
Truth = dict[str, Any]
Item = TypeVar("Item")

BREWERS: list[str] = ["Marta Oliveira", "Piotr Nowak", "Femke Dhondt", "Wout Lambrecht"]
BUYERS: list[str] = ["Lotte Maes", "Piotr Nowak", "Karim Bensaid"]
REPS: list[str] = ["An Claes", "Jonas Peeters", "Sofie Verbeke", "Karim Bensaid"]
SITES: list[str] = ["Ghent", "Kortrijk"]
CHANNELS: list[str] = ["phone", "web shop", "email", "trade fair"]
PACKS: list[str] = ["keg 20 l", "keg 30 l", "case 24 x 33 cl", "case 12 x 75 cl"]

# name, style, abv, ibu, range, recipe by, hops, allergens beside barley, vegan, organic, brew weight
BEER_TABLE: list[tuple[str, str, float, int | None, str, str, str, str, str, str, int]] = [
    ("Kanaalblond", "Blond", 6.2, 22, "core", "Luc Vermander", "Saaz;Styrian Goldings", "", "yes", "no", 14),
    (
        "Zwarte Zwaan",
        "Imperial Stout",
        10.5,
        58,
        "core",
        "Marta Oliveira",
        "Magnum;East Kent Goldings",
        "oats",
        "yes",
        "no",
        9,
    ),
    ("Witte Zwaan", "Witbier", 4.9, 14, "core", "Luc Vermander", "Saaz", "wheat;oats", "yes", "yes", 10),
    ("Sluis Tripel", "Tripel", 8.6, 34, "core", "Luc Vermander", "Saaz;Styrian Goldings", "", "yes", "no", 10),
    ("Damse Dubbel", "Dubbel", 7.1, 24, "core", "Luc Vermander", "Hallertau Mittelfrüh", "", "yes", "no", 8),
    ("Blauwe Reiger", "Saison", 5.8, 30, "core", "Femke Dhondt", "Saaz;Hallertau Mittelfrüh", "wheat", "yes", "yes", 8),
    ("Torenhop", "West Coast IPA", 6.8, 62, "core", "Piotr Nowak", "Citra;Simcoe", "", "yes", "no", 10),
    ("Nevelpils", "Pilsner", 5.0, 35, "core", "Piotr Nowak", "Saaz;Magnum", "", "yes", "yes", 11),
    ("Kleine Koerier", "Session IPA", 4.2, 38, "core", "Femke Dhondt", "Mosaic;Citra", "oats", "yes", "no", 7),
    (
        "Ostend Mist",
        "New England IPA",
        6.4,
        32,
        "seasonal",
        "Femke Dhondt",
        "Citra;Mosaic",
        "oats;wheat",
        "yes",
        "no",
        5,
    ),
    ("Meibok", "Bock", 7.4, 27, "seasonal", "Piotr Nowak", "Hallertau Mittelfrüh", "", "yes", "no", 3),
    ("Kerstkraai", "Winter Ale", 9.4, 26, "seasonal", "Marta Oliveira", "East Kent Goldings", "", "yes", "no", 4),
    ("Herfstvos", "Amber Ale", 6.6, 29, "seasonal", "Wout Lambrecht", "Cascade", "", "yes", "no", 3),
    ("Zomerzot", "Blond", 4.6, 20, "seasonal", "Wout Lambrecht", "Saaz;Cascade", "wheat", "yes", "no", 4),
    ("Kriekenbos", "Fruit Beer", 4.5, 12, "seasonal", "Femke Dhondt", "Saaz", "wheat", "yes", "yes", 3),
    (
        "Melkmeisje",
        "Milk Stout",
        5.4,
        28,
        "core",
        "Marta Oliveira",
        "East Kent Goldings",
        "lactose;oats",
        "no",
        "no",
        5,
    ),
    ("Honingraat", "Honey Ale", 7.8, 21, "seasonal", "Wout Lambrecht", "Styrian Goldings", "", "no", "no", 3),
    ("Nulpunt", "Alcohol-free Pale Ale", 0.4, 24, "core", "Piotr Nowak", "Cascade;Citra", "", "yes", "no", 5),
    ("Grauwe Gans", "Porter", 5.9, 33, "one-off", "Wout Lambrecht", "East Kent Goldings", "", "yes", "no", 1),
    ("Monnikenwerk", "Quadrupel", 10.2, 30, "core", "Luc Vermander", "Hallertau Mittelfrüh;Magnum", "", "yes", "no", 5),
    ("Rook en Vuur", "Smoked Ale", 6.0, 25, "one-off", "Marta Oliveira", "Magnum", "", "yes", "no", 1),
    ("Zeekraal", "Gose", 4.3, 8, "one-off", "Femke Dhondt", "Saaz", "wheat", "yes", "no", 1),
    ("Dubbele Toren", "Double IPA", 8.4, 78, "seasonal", "Piotr Nowak", "Simcoe;Citra;Mosaic", "", "yes", "no", 3),
    (
        "Oude Sluiswachter",
        "Barley Wine",
        11.8,
        52,
        "one-off",
        "Luc Vermander",
        "East Kent Goldings;Magnum",
        "",
        "yes",
        "no",
        1,
    ),
    ("Rode Ruiter", "Flemish Red", 5.6, 15, "seasonal", "Luc Vermander", "Saaz", "", "yes", "no", 2),
    ("Polderlicht", "Table Beer", 2.9, 18, "core", "Femke Dhondt", "Saaz;Cascade", "oats", "yes", "yes", 4),
    ("Stadsgezel", "Blond", 6.0, 23, "discontinued", "Luc Vermander", "Styrian Goldings", "", "yes", "no", 2),
    ("Hopkater", "American Pale Ale", 5.5, 44, "discontinued", "Piotr Nowak", "Cascade;Simcoe", "", "yes", "no", 2),
    ("Vlasblond", "Blond", 6.5, 19, "discontinued", "Wout Lambrecht", "Saaz", "oats", "yes", "no", 2),
    ("Koffieklets", "Coffee Stout", 8.0, 40, "seasonal", "Marta Oliveira", "Magnum", "oats", "yes", "no", 3),
    ("Citroenkwik", "Sour", 3.8, None, "one-off", "Femke Dhondt", "Citra", "wheat", "yes", "no", 1),
    ("Boerin Julie", "Saison", 6.3, 28, "one-off", "Wout Lambrecht", "Styrian Goldings", "", "yes", "yes", 1),
    ("Nachtwacht", "Black IPA", 7.0, 65, "one-off", "Piotr Nowak", "Simcoe", "", "yes", "no", 1),
    ("Groeningebier", "Amber Ale", 6.9, 26, "one-off", "Wout Lambrecht", "Hallertau Mittelfrüh", "", "yes", "no", 1),
    ("Pompoenpaard", "Spiced Ale", 7.2, None, "discontinued", "Marta Oliveira", "Cascade", "", "yes", "no", 1),
    ("Abdijschaduw", "Tripel", 9.0, 36, "discontinued", "Luc Vermander", "Saaz;Magnum", "", "yes", "no", 2),
    ("Wilde Weide", "Farmhouse Ale", 6.1, 27, "one-off", "Femke Dhondt", "Saaz", "rye", "yes", "yes", 1),
    ("Zondagskind", "Kellerbier", 5.1, 30, "one-off", "Piotr Nowak", "Hallertau Mittelfrüh", "", "yes", "no", 1),
]
BEER_NOTES: list[str] = [
    "Dry finish, peppery.",
    "Caramel, ripe fruit, soft bitterness.",
    "Hazy, tropical, low carbonation.",
    "Roast, dark chocolate, long finish.",
    "Crisp and grassy.",
    "Citrus peel and coriander.",
    "",
]

# name, segment, street, city, country, certificates, terms in days
SUPPLIER_TABLE: list[tuple[str, str, str, str, str, str, int]] = [
    ("Mouterij Verhaegen", "maltster", "Kanaaldok 14", "Antwerp", "Belgium", "ISO 22000", 45),
    ("Mouterij De Leie", "maltster", "Havenkaai 3", "Kortrijk", "Belgium", "ISO 22000;organic", 30),
    ("Mälzerei Brandt", "maltster", "Mühlweg 8", "Bamberg", "Germany", "IFS Food;organic", 30),
    ("Malterie du Nord", "maltster", "Rue de Douai 51", "Lille", "France", "ISO 22000", 30),
    ("Thornbury Maltings", "maltster", "Station Road 2", "Norwich", "United Kingdom", "BRCGS", 60),
    ("Hopduvel Trading", "hop merchant", "Ieperseweg 87", "Poperinge", "Belgium", "organic", 30),
    ("Hopfenhaus Zeller", "hop merchant", "Am Hopfenmarkt 5", "Nuremberg", "Germany", "ISO 9001", 30),
    ("Hallertau Direkt", "hop merchant", "Wolnzacher Str. 21", "Mainburg", "Germany", "", 14),
    ("Žatec Chmel", "hop merchant", "Chmelařské náměstí 9", "Žatec", "Czech Republic", "ISO 9001", 30),
    ("Yakima Bridge Hops", "hop merchant", "Maasboulevard 40", "Rotterdam", "Netherlands", "", 30),
    ("Gist & Co", "yeast lab", "Technologiepark 12", "Ghent", "Belgium", "ISO 22000", 30),
    ("Labor Hefewerk", "yeast lab", "Weihenweg 4", "Freising", "Germany", "ISO 9001", 30),
    ("Levures Saint-Roch", "yeast lab", "Rue du Moulin 6", "Tournai", "Belgium", "", 30),
    ("Glasfabriek Van Hoof", "packaging", "Nijverheidslaan 33", "Mechelen", "Belgium", "ISO 9001", 60),
    ("Flessenland", "packaging", "Industrieweg 110", "Tilburg", "Netherlands", "", 30),
    ("Drukkerij Goossens", "packaging", "Drukkersstraat 7", "Bruges", "Belgium", "FSC", 30),
    ("Kartonnage Baert", "packaging", "Gentsesteenweg 201", "Aalst", "Belgium", "FSC", 30),
    ("KegWorks Benelux", "packaging", "Havenweg 18", "Breda", "Netherlands", "ISO 9001", 45),
    ("Rheinkapsel", "packaging", "Uferstr. 60", "Cologne", "Germany", "ISO 9001", 30),
    ("Koolzuur Peeters", "gas", "Vaartkant 5", "Ghent", "Belgium", "FSSC 22000", 30),
    ("Air Flandre", "gas", "Avenue de l'Industrie 1", "Mouscron", "Belgium", "ISO 9001", 30),
    ("Proper Bedrijf", "cleaning chemicals", "Zuidlaan 77", "Roeselare", "Belgium", "ISO 14001", 30),
    ("Chemie Rutten", "cleaning chemicals", "Maasweg 9", "Maastricht", "Netherlands", "", 30),
    ("Kruidenhuis Amand", "spices and fruit", "Marktplein 2", "Dendermonde", "Belgium", "organic", 14),
    ("Fruitveiling Truiden", "spices and fruit", "Fruitlaan 15", "Sint-Truiden", "Belgium", "GlobalGAP", 14),
]
# item, unit, low price, high price
ITEM_TABLE: dict[str, list[tuple[str, str, float, float]]] = {
    "maltster": [
        ("Pilsner malt", "kg", 0.62, 0.84),
        ("Pale ale malt", "kg", 0.66, 0.9),
        ("Wheat malt", "kg", 0.7, 0.95),
        ("Munich malt", "kg", 0.72, 0.98),
        ("Crystal malt", "kg", 0.95, 1.35),
        ("Roasted barley", "kg", 1.0, 1.4),
        ("Oat flakes", "kg", 1.05, 1.5),
    ],
    "hop merchant": [
        ("Citra", "kg", 24.0, 33.5),
        ("Mosaic", "kg", 23.0, 31.0),
        ("Simcoe", "kg", 21.0, 28.0),
        ("Saaz", "kg", 15.0, 21.0),
        ("Hallertau Mittelfrüh", "kg", 14.0, 20.0),
        ("Cascade", "kg", 13.0, 18.0),
        ("East Kent Goldings", "kg", 15.5, 21.5),
        ("Styrian Goldings", "kg", 14.5, 19.5),
        ("Magnum", "kg", 11.0, 15.0),
    ],
    "yeast lab": [
        ("Dry ale yeast 500 g", "pack", 58.0, 74.0),
        ("Dry lager yeast 500 g", "pack", 88.0, 109.0),
        ("Saison yeast pitch", "pitch", 145.0, 190.0),
        ("Witbier yeast pitch", "pitch", 140.0, 185.0),
    ],
    "packaging": [
        ("Bottle 33 cl brown", "piece", 0.14, 0.22),
        ("Bottle 75 cl brown", "piece", 0.38, 0.52),
        ("Crown caps", "piece", 0.009, 0.016),
        ("Labels 33 cl", "piece", 0.02, 0.04),
        ("Carton 24 x 33 cl", "piece", 0.55, 0.8),
        ("One-way keg 20 l", "piece", 11.5, 14.8),
    ],
    "gas": [("CO2 bulk", "kg", 0.35, 0.6), ("Nitrogen cylinder 50 l", "piece", 48.0, 66.0)],
    "cleaning chemicals": [
        ("Caustic soda 30%", "kg", 0.9, 1.4),
        ("Peracetic acid", "kg", 2.4, 3.6),
        ("Nitric acid blend", "kg", 1.7, 2.5),
    ],
    "spices and fruit": [
        ("Coriander seed", "kg", 6.0, 9.0),
        ("Bitter orange peel", "kg", 11.0, 16.0),
        ("Sour cherries frozen", "kg", 3.4, 4.8),
        ("Honey", "kg", 7.5, 10.5),
    ],
}
CATEGORIES: dict[str, str] = {
    "maltster": "malt",
    "hop merchant": "hops",
    "yeast lab": "yeast",
    "packaging": "packaging",
    "gas": "gas",
    "cleaning chemicals": "cleaning",
    "spices and fruit": "adjuncts",
}
QUANTITIES: dict[str, list[int]] = {
    "kg": [25, 50, 75, 100, 150, 200],
    "pack": [2, 4, 6, 8, 10],
    "pitch": [1, 2, 3],
    "piece": [2000, 4000, 6000, 10000],
}
CITIES: list[tuple[str, str, str, int]] = [
    ("Ghent", "Belgium", "9000", 22),
    ("Antwerp", "Belgium", "2000", 17),
    ("Kortrijk", "Belgium", "8500", 13),
    ("Bruges", "Belgium", "8000", 11),
    ("Ostend", "Belgium", "8400", 9),
    ("Leuven", "Belgium", "3000", 9),
    ("Brussels", "Belgium", "1000", 12),
    ("Aalst", "Belgium", "9300", 5),
    ("Damme", "Belgium", "8340", 3),
    ("Breda", "Netherlands", "4811 AB", 6),
    ("Utrecht", "Netherlands", "3511 LX", 7),
    ("Rotterdam", "Netherlands", "3011 CK", 6),
    ("Lille", "France", "59000", 7),
    ("Dunkirk", "France", "59140", 4),
    ("Aachen", "Germany", "52062", 4),
    ("Cologne", "Germany", "50667", 5),
]
SEGMENTS: list[tuple[str, str, int]] = [
    ("pub", "Café", 12),
    ("restaurant", "Brasserie", 8),
    ("bottle shop", "Bierwinkel", 6),
    ("wholesaler", "Dranken", 4),
    ("hotel", "Hotel", 4),
    ("sports club", "Kantine", 2),
    ("supermarket", "Buurtmarkt", 2),
]
TRADE_NAMES: list[str] = [
    "De Kroon",
    "Het Anker",
    "De Arend",
    "De Ploeg",
    "Den Engel",
    "De Valk",
    "Oud Gemeentehuis",
    "De Linde",
    "De Beurs",
    "Het Hof",
    "De Spiegel",
    "De Kat",
    "De Vlasbloem",
    "Het Zoute",
    "De Molen",
    "De Klok",
    "De Gouden Leeuw",
    "De Sleutel",
    "Het Paard",
    "Ter Duinen",
    "De Post",
    "De Statie",
    "De Wandeling",
    "Ter Leie",
    "De Kaai",
    "De Halve Maan",
    "Belfort",
    "De Zon",
    "De Roos",
    "De Vuurtoren",
    "De Pelikaan",
    "De Dolfijn",
    "Astrid",
    "Beaulieu",
    "De Smidse",
    "De Koets",
    "Sint-Joris",
    "Sint-Anna",
    "De Witte Poort",
    "De Brug",
    "De Haan",
    "Vooruit",
    "De Ark",
    "De Kiosk",
    "De Trog",
]
FIRST_NAMES: list[str] = [
    "Bram",
    "Els",
    "Tom",
    "Ines",
    "Koen",
    "Nadia",
    "Ruben",
    "Hilde",
    "Stijn",
    "Eva",
    "Dirk",
    "Amina",
    "Joris",
    "Greet",
    "Thomas",
    "Lies",
    "Yusuf",
    "Katrien",
    "Pieter",
    "Charlotte",
    "Maxime",
    "Heike",
    "Jürgen",
    "Saskia",
    "Lotte",
    "Sofie",
]
LAST_NAMES: list[str] = [
    "Janssens",
    "De Smet",
    "Willems",
    "Mertens",
    "Claes",
    "Wouters",
    "Goossens",
    "De Backer",
    "Dubois",
    "Van Damme",
    "Hermans",
    "Peeters",
    "Leclercq",
    "Vos",
    "Bakker",
    "Schmitz",
    "Lambrecht",
    "Martens",
    "Aerts",
    "Pauwels",
    "Bogaert",
]
STREETS: list[str] = [
    "Kerkstraat",
    "Stationsstraat",
    "Markt",
    "Vismarkt",
    "Nieuwstraat",
    "Molenweg",
    "Kade",
    "Hoogstraat",
    "Dorp",
    "Lange Munt",
    "Zeedijk",
    "Koningsplein",
    "Graanmarkt",
    "Vlaanderenstraat",
]
PARTNER_REMARKS: list[str] = [
    "",
    "",
    "",
    "",
    "Closed on Mondays.",
    "Deliver before 10:00, rear entrance.",
    "Prefers to be called after 14:00.",
    "Invoice by post only.",
    "Asks for tasting samples twice a year.",
    "Pallet exchange agreed.",
]
BATCH_REMARKS: list[str] = [
    "",
    "",
    "",
    "",
    "",
    "Slow lauter.",
    "Dry hopped on day 6.",
    "Fermentation a degree too warm on day 2.",
    "New malt lot.",
    "Good clarity.",
    "Yeast reused from the previous brew.",
    "Extra cold week.",
]
DUMP_REMARKS: list[str] = [
    "Diacetyl far above limit.",
    "Acetic smell, tank seal leaking.",
    "Lactobacillus in the plate count.",
]
BREAK_TEXTS: list[str] = ["{n} bottles smashed on arrival", "one case with shattered bottles, {n} lost"]
GRIPE_TEXTS: list[str] = [
    "beer poured flat",
    "wrong beer in {n} cases",
    "invoice did not match delivery",
    "delivered to the neighbour",
    "labels crooked on {n} cases",
]
SALE_TEXTS: list[str] = [
    "Please ring before delivery.",
    "Regular weekly order.",
    "For the terrace season.",
    "Guest is asking for fresh stock.",
    "Wants the same as last time plus one extra line.",
    "For a tasting evening.",
    "",
]


@dataclass
class Beer:
    """One beer of the assortment."""

    id: str
    name: str
    style: str
    abv: float
    ibu: int | None
    range_name: str
    recipe_by: str
    launched: date | None
    hops: list[str]
    allergens: list[str]
    vegan: str
    organic: str
    keg_price: float
    case_price: float | None
    shelf_weeks: int
    notes: str
    weight: int


@dataclass
class Batch:
    """One brew."""

    id: str
    beer: str
    site: str
    brewed: date
    brewer: str
    tank: str
    volume: float
    og: float
    fg: float | None
    packaged: date | None
    losses: float | None
    outcome: str
    score: float | None
    remarks: str


@dataclass
class Partner:
    """One supplier or customer."""

    id: str
    name: str
    party: str
    segment: str
    street: str
    postcode: str
    city: str
    country: str
    contact: str
    phone: str
    email: str
    since: date
    terms: int
    credit: int | None
    manager: str
    active: str
    certificates: list[str]
    remarks: str


@dataclass
class Line:
    """One order line."""

    item: str
    kind: str
    quantity: int
    unit: str
    price: float
    discount: int
    amount: float


@dataclass
class Order:
    """One purchase order or sales order."""

    id: str
    partner: Partner
    ordered: date
    due: date
    arrived: date | None
    status: str
    person: str
    place: str
    lines: list[Line]
    total: float
    paid: date | None
    complaint: str
    note: str


@dataclass
class World:
    """All the records of the round."""

    beers: list[Beer]
    batches: list[Batch]
    partners: list[Partner]
    purchases: list[Order]
    sales: list[Order]


@dataclass
class Question:
    """One chat message, or two, with its truth."""

    kind: str
    turns: list[str]
    truth: Truth
    why: str


def make_beers(rng: random.Random) -> list[Beer]:
    """Turn the table of beers into records."""
    beers: list[Beer] = []
    for number, row in enumerate(BEER_TABLE, start=1):
        name, style, abv, ibu, range_name, recipe, hops, extra, vegan, organic, weight = row
        first: date = date(2012, 3, 1) if range_name in ("core", "discontinued") else date(2018, 2, 1)
        launched: date | None = first + timedelta(days=rng.randrange(0, 1750))
        if name in ("Vlasblond", "Rook en Vuur"):
            launched = None
        allergens: list[str] = ["barley"] + [part for part in extra.split(";") if part]
        keg: float = round(52 + abv * 4.5 + rng.randrange(0, 30) / 2, 2)
        case: float | None = None if range_name == "one-off" and rng.random() < 0.4 else round(22 + abv * 2.6, 2)
        beers.append(
            Beer(
                f"BE-{number:02d}",
                name,
                style,
                abv,
                ibu,
                range_name,
                recipe,
                launched,
                hops.split(";"),
                allergens,
                vegan,
                organic,
                keg,
                case,
                rng.choice([26, 39, 52, 78, 104]),
                rng.choice(BEER_NOTES),
                weight,
            )
        )
    return beers


def make_batches(rng: random.Random, beers: list[Beer]) -> list[Batch]:
    """Brew about 110 batches a year from 2023 up to today."""
    batches: list[Batch] = []
    for year in range(2023, 2027):
        days: list[date] = []
        last: date = min(date(year, 12, 22), TODAY - timedelta(days=2))
        span: int = (last - date(year, 1, 4)).days
        for _ in range(122 if year < 2026 else 112):
            days.append(date(year, 1, 4) + timedelta(days=rng.randrange(0, span + 1)))
        for number, brewed in enumerate(sorted(days), start=1):
            pool: list[Beer] = [b for b in beers if b.range_name != "discontinued" or year < 2025]
            beer: Beer = rng.choices(pool, [b.weight for b in pool])[0]
            site: str = rng.choices(SITES, [3, 2])[0]
            base: float = 20.0 if site == "Ghent" else 12.0
            volume: float = round(base * rng.uniform(0.86, 1.06), 1)
            og: float = round(beer.abv * 1.55 + 4.1 + rng.uniform(-0.3, 0.3), 1)
            ready: date = brewed + timedelta(days=rng.randrange(16, 40))
            outcome: str = "released"
            packaged: date | None = ready
            losses: float | None = round(volume * rng.uniform(0.02, 0.1), 2)
            score: float | None = round(rng.uniform(6.0, 9.4), 1) if rng.random() < 0.85 else None
            remarks: str = rng.choice(BATCH_REMARKS)
            fg: float | None = round(og * rng.uniform(0.17, 0.27), 1)
            if ready > TODAY - timedelta(days=2):
                outcome, packaged, losses, score, fg = "in tank", None, None, None, None
            elif rng.random() < 0.035:
                outcome, packaged, losses, score = "dumped", None, volume, None
                remarks = rng.choice(DUMP_REMARKS)
            elif brewed > date(2026, 7, 1) and rng.random() < 0.08:
                outcome, score = "on hold", None
            tank: str = f"{'G' if site == 'Ghent' else 'K'}{rng.randrange(1, 9 if site == 'Ghent' else 6)}"
            batches.append(
                Batch(
                    f"{year % 100}-{number:03d}",
                    beer.name,
                    site,
                    brewed,
                    rng.choice(BREWERS),
                    tank,
                    volume,
                    og,
                    fg,
                    packaged,
                    losses,
                    outcome,
                    score,
                    remarks,
                )
            )
    trouble: Batch = next(b for b in batches if b.id == "24-057")
    trouble.remarks = "Mash pump failed at 14:20, mash stood still for two hours; drier than planned."
    worst: Batch = next(b for b in batches if b.beer == "Kanaalblond" and b.score is not None and b.brewed.year == 2025)
    worst.score = 4.7
    return batches


def make_person(rng: random.Random) -> str:
    """Make up a name."""
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"


def make_phone(rng: random.Random, country: str) -> str:
    """Make up a phone number."""
    codes: dict[str, str] = {
        "Belgium": "+32",
        "Netherlands": "+31",
        "France": "+33",
        "Germany": "+49",
        "United Kingdom": "+44",
        "Czech Republic": "+420",
    }
    area, first = rng.randrange(20, 99), rng.randrange(100, 999)
    return f"{codes[country]} {area} {first} {rng.randrange(10, 99)} {rng.randrange(10, 99)}"


def make_email(name: str) -> str:
    """Make an e-mail address from the company name."""
    plain: str = "".join(c for c in name.lower() if c.isascii() and c.isalnum())
    return f"info@{plain}.example"


def make_partners(rng: random.Random) -> list[Partner]:
    """Make the suppliers and the customers."""
    partners: list[Partner] = []
    for number, row in enumerate(SUPPLIER_TABLE, start=1):
        name, segment, street, city, country, certificates, terms = row
        since: date = date(2010, 1, 10) + timedelta(days=rng.randrange(0, 4600))
        partners.append(
            Partner(
                f"S-{number:02d}",
                name,
                "supplier",
                segment,
                street,
                "",
                city,
                country,
                make_person(rng),
                make_phone(rng, country),
                make_email(name),
                since,
                terms,
                None,
                rng.choice(BUYERS),
                "yes",
                [part for part in certificates.split(";") if part],
                rng.choice(PARTNER_REMARKS),
            )
        )
    partners[18].active = "no"
    fixed: list[tuple[str, str, str]] = [
        ("Café De Zwarte Zwaan", "pub", "Ostend"),
        ("Hotel Leopold", "hotel", "Ostend"),
        ("Bottle Shop Hopduvel", "bottle shop", "Ghent"),
        ("Brasserie Den Tap", "restaurant", "Leuven"),
        ("Dranken Vandewalle", "wholesaler", "Kortrijk"),
    ]
    names: set[str] = {name for name, _, _ in fixed}
    todo: list[tuple[str, str, str]] = list(fixed)
    while len(todo) < 160:
        segment, prefix, _ = rng.choices(SEGMENTS, [s[2] for s in SEGMENTS])[0]
        name = f"{prefix} {rng.choice(TRADE_NAMES)}"
        if name not in names:
            names.add(name)
            todo.append((name, segment, rng.choices([c[0] for c in CITIES], [c[3] for c in CITIES])[0]))
    for number, (name, segment, city) in enumerate(todo, start=1):
        country, postcode = next((c[1], c[2]) for c in CITIES if c[0] == city)
        since = date(2011, 5, 1) + timedelta(days=rng.randrange(0, 4200))
        known: bool = number <= len(fixed)
        partners.append(
            Partner(
                f"C-{number:03d}",
                name,
                "customer",
                segment,
                f"{rng.choice(STREETS)} {rng.randrange(1, 140)}",
                postcode,
                city,
                country,
                make_person(rng),
                make_phone(rng, country) if known or rng.random() < 0.93 else "",
                make_email(name) if rng.random() < 0.85 else "",
                since,
                rng.choice([14, 30, 30, 45]),
                rng.choice([2000, 3000, 5000, 8000, 12000]) if rng.random() < 0.8 else None,
                rng.choice(REPS) if known or rng.random() < 0.95 else "",
                "yes" if known or rng.random() < 0.9 else "no",
                [],
                rng.choice(PARTNER_REMARKS),
            )
        )
    for partner in partners:
        if partner.name == "Bottle Shop Hopduvel":
            partner.since = date(2009, 3, 14)
        if partner.name == "Brasserie Den Tap":
            partner.email = ""
        if partner.name == "Hotel Leopold":
            partner.contact = "Jonas Peeters"
    return partners


def make_purchases(rng: random.Random, partners: list[Partner]) -> list[Order]:
    """Make the orders to suppliers."""
    suppliers: list[Partner] = [p for p in partners if p.party == "supplier"]
    weights: list[int] = [5 if p.segment in ("hop merchant", "maltster") else 3 for p in suppliers]
    orders: list[Order] = []
    for year in range(2023, 2027):
        span: int = 350 if year < 2026 else 320
        days: list[date] = sorted(date(year, 1, 3) + timedelta(days=rng.randrange(0, span)) for _ in range(84))
        for number, ordered in enumerate(days, start=1):
            supplier: Partner = rng.choices(suppliers, weights)[0]
            items: list[tuple[str, str, float, float]] = ITEM_TABLE[supplier.segment]
            lines: list[Line] = []
            for item, unit, low, high in rng.sample(items, rng.randrange(1, min(5, len(items)) + 1)):
                price: float = round(rng.uniform(low, high), 3 if high < 1 else 2)
                quantity: int = rng.choice(QUANTITIES[unit])
                if unit == "kg" and supplier.segment == "maltster":
                    quantity *= 20
                if unit == "piece" and high > 10:
                    quantity = rng.choice([10, 20, 48, 96])
                lines.append(
                    Line(item, CATEGORIES[supplier.segment], quantity, unit, price, 0, round(price * quantity, 2))
                )
            due: date = ordered + timedelta(days=rng.randrange(5, 30))
            arrived: date | None = due + timedelta(days=rng.choice([-3, -2, -1, 0, 0, 0, 1, 2, 4, 9]))
            status: str = "received"
            draw: float = rng.random()
            if draw < 0.05:
                status, arrived = "cancelled", None
            elif arrived is not None and (arrived >= TODAY or (ordered > date(2026, 8, 15) and draw < 0.4)):
                status, arrived = "open", None
            paid: date | None = None
            if arrived is not None and rng.random() < 0.93:
                paid = arrived + timedelta(days=rng.randrange(7, supplier.terms + 10))
                paid = paid if paid < TODAY else None
            orders.append(
                Order(
                    f"PO-{year % 100}-{number:03d}",
                    supplier,
                    ordered,
                    due,
                    arrived,
                    status,
                    rng.choice(BUYERS),
                    rng.choices(SITES, [3, 2])[0],
                    lines,
                    round(sum(x.amount for x in lines), 2),
                    paid,
                    "",
                    rng.choice(["", "", "Call before unloading.", "Framework contract.", "Urgent."]),
                )
            )
    return orders


def make_sales(rng: random.Random, partners: list[Partner], beers: list[Beer]) -> list[Order]:
    """Make the orders of customers."""
    customers: list[Partner] = [p for p in partners if p.party == "customer"]
    weights: list[float] = [rng.choice([1.0, 1.0, 2.0, 3.0]) for _ in customers]
    weights[0], weights[1] = 9.0, 6.0
    sold: list[Beer] = [b for b in beers if b.range_name != "one-off"]
    orders: list[Order] = []
    for year in range(2023, 2027):
        span: int = 358 if year < 2026 else 320
        days: list[date] = sorted(date(year, 1, 3) + timedelta(days=rng.randrange(0, span)) for _ in range(215))
        for number, ordered in enumerate(days, start=1):
            pick: int = rng.choices(range(len(customers)), weights)[0]
            customer: Partner = customers[pick]
            if customer.active == "no" and year == 2026:
                customer = customers[rng.randrange(0, 5)]
            pool: list[Beer] = [b for b in sold if b.range_name != "discontinued" or year < 2025]
            big: int = 2 if customer.segment in ("wholesaler", "supermarket") else 1
            lines: list[Line] = []
            used: set[tuple[str, str]] = set()
            for _ in range(rng.randrange(1, 6)):
                beer: Beer = rng.choices(pool, [b.weight for b in pool])[0]
                pack: str = rng.choices(PACKS, [3, 4, 4, 1])[0]
                if (beer.name, pack) in used:
                    continue
                used.add((beer.name, pack))
                list_price: float = beer.keg_price if pack == "keg 20 l" else round(beer.keg_price * 1.42, 2)
                if pack.startswith("case"):
                    list_price = (
                        (beer.case_price or 40.0) if "33" in pack else round((beer.case_price or 40.0) * 1.08, 2)
                    )
                discount: int = rng.choice([0, 0, 0, 0, 0, 3, 5, 5, 10, 12, 15])
                quantity: int = rng.randrange(2, 15) * big
                amount: float = round(quantity * list_price * (100 - discount) / 100, 2)
                lines.append(Line(beer.name, pack, quantity, "", list_price, discount, amount))
            due: date = ordered + timedelta(days=rng.randrange(2, 12))
            arrived: date | None = due + timedelta(days=rng.choice([-2, -1, 0, 0, 0, 0, 1, 3]))
            status: str = "delivered"
            if rng.random() < 0.05:
                status, arrived = "cancelled", None
            elif arrived is not None and arrived >= TODAY:
                status, arrived = "open", None
            paid: date | None = None
            if arrived is not None and rng.random() < 0.93:
                paid = arrived + timedelta(days=rng.randrange(3, customer.terms + 15))
                paid = paid if paid < TODAY else None
            complaint: str = ""
            if arrived is not None and rng.random() < 0.08:
                texts: list[str] = BREAK_TEXTS if rng.random() < 0.45 else GRIPE_TEXTS
                complaint = rng.choice(texts).format(n=rng.randrange(2, 9))
            person: str = customer.manager if customer.manager and rng.random() < 0.7 else rng.choice(REPS)
            orders.append(
                Order(
                    f"SO-{year}-{number:04d}",
                    customer,
                    ordered,
                    due,
                    arrived,
                    status,
                    person,
                    rng.choices(CHANNELS, [4, 4, 3, 1])[0],
                    lines,
                    round(sum(x.amount for x in lines), 2),
                    paid,
                    complaint,
                    rng.choice(SALE_TEXTS),
                )
            )
    return orders


def build_world(rng: random.Random) -> World:
    """Make all records."""
    beers: list[Beer] = make_beers(rng)
    batches: list[Batch] = make_batches(rng, beers)
    partners: list[Partner] = make_partners(rng)
    return World(beers, batches, partners, make_purchases(rng, partners), make_sales(rng, partners, beers))


def show_value(value: object) -> str:
    """Render one cell."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(str(part) for part in value)
    return str(value)


def write_table(path: Path, header: list[str], rows: Iterable[list[object]]) -> None:
    """Write one CSV file."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow([show_value(value) for value in row])


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSONL file."""
    with path.open("w", encoding="utf-8") as handle:
        for row in rows:
            handle.write(json.dumps(row, ensure_ascii=False) + "\n")


def drop_empty(metadata: dict[str, Any]) -> dict[str, Any]:
    """Leave out the fields without a value."""
    return {
        key: value.isoformat() if isinstance(value, date) else value
        for key, value in metadata.items()
        if value not in (None, "", [])
    }


def render_purchase(order: Order) -> dict[str, Any]:
    """Render a purchase order as a JSONL document."""
    lines: list[dict[str, Any]] = [
        {
            "item": x.item,
            "category": x.kind,
            "quantity": x.quantity,
            "unit": x.unit,
            "unit_price_eur": x.price,
            "amount_eur": x.amount,
        }
        for x in order.lines
    ]
    metadata: dict[str, Any] = drop_empty(
        {
            "supplier": order.partner.name,
            "supplier_id": order.partner.id,
            "ordered_on": order.ordered,
            "promised_on": order.due,
            "received_on": order.arrived,
            "status": order.status,
            "ordered_by": order.person,
            "ship_to": order.place,
            "lines": lines,
            "total_excl_vat_eur": order.total,
            "invoice_paid_on": order.paid,
        }
    )
    text: str = f"Purchase order to {order.partner.name}, to be shipped to {order.place}. {order.note}".strip()
    return {"doc_id": order.id, "title": f"{order.id} {order.partner.name}", "text": text, "metadata": metadata}


def render_sale(order: Order) -> dict[str, Any]:
    """Render a sales order as a JSONL document."""
    lines: list[dict[str, Any]] = [
        {
            "beer": x.item,
            "packaging": x.kind,
            "quantity": x.quantity,
            "unit_price_eur": x.price,
            "discount_percent": x.discount,
            "amount_eur": x.amount,
        }
        for x in order.lines
    ]
    metadata: dict[str, Any] = drop_empty(
        {
            "customer": order.partner.name,
            "customer_id": order.partner.id,
            "ordered_on": order.ordered,
            "deliver_by": order.due,
            "delivered_on": order.arrived,
            "status": order.status,
            "sales_rep": order.person,
            "channel": order.place,
            "lines": lines,
            "total_excl_vat_eur": order.total,
            "paid_on": order.paid,
            "complaint": order.complaint,
        }
    )
    text: str = f"Order of {order.partner.name}. {order.note}".strip()
    return {"doc_id": order.id, "title": f"{order.id} {order.partner.name}", "text": text, "metadata": metadata}


def write_documents(folder: Path, world: World) -> None:
    """Write the five buckets."""
    folder.mkdir(parents=True, exist_ok=True)
    write_table(
        folder / "beers.csv",
        [
            "id",
            "name",
            "style",
            "abv_percent",
            "ibu",
            "range",
            "recipe_by",
            "launched_on",
            "hops",
            "allergens",
            "vegan",
            "organic_certified",
            "list_price_keg_20l_eur",
            "list_price_case_24_eur",
            "shelf_life_weeks",
            "tasting_notes",
        ],
        (
            [
                b.id,
                b.name,
                b.style,
                b.abv,
                b.ibu,
                b.range_name,
                b.recipe_by,
                b.launched,
                b.hops,
                b.allergens,
                b.vegan,
                b.organic,
                b.keg_price,
                b.case_price,
                b.shelf_weeks,
                b.notes,
            ]
            for b in world.beers
        ),
    )
    write_table(
        folder / "batches.csv",
        [
            "id",
            "beer",
            "brewhouse",
            "brewed_on",
            "brewer",
            "fermenter",
            "volume_hl",
            "og_plato",
            "fg_plato",
            "packaged_on",
            "losses_hl",
            "outcome",
            "panel_score",
            "remarks",
        ],
        (
            [
                b.id,
                b.beer,
                b.site,
                b.brewed,
                b.brewer,
                b.tank,
                b.volume,
                b.og,
                b.fg,
                b.packaged,
                b.losses,
                b.outcome,
                b.score,
                b.remarks,
            ]
            for b in world.batches
        ),
    )
    write_table(
        folder / "partners.csv",
        [
            "id",
            "name",
            "party",
            "segment",
            "street",
            "postcode",
            "city",
            "country",
            "contact_person",
            "phone",
            "email",
            "relation_since",
            "payment_terms_days",
            "credit_limit_eur",
            "account_manager",
            "active",
            "certificates",
            "remarks",
        ],
        (
            [
                p.id,
                p.name,
                p.party,
                p.segment,
                p.street,
                p.postcode,
                p.city,
                p.country,
                p.contact,
                p.phone,
                p.email,
                p.since,
                p.terms,
                p.credit,
                p.manager,
                p.active,
                p.certificates,
                p.remarks,
            ]
            for p in world.partners
        ),
    )
    write_lines(folder / "purchase_orders.jsonl", (render_purchase(o) for o in world.purchases))
    write_lines(folder / "sales_orders.jsonl", (render_sale(o) for o in world.sales))


def list_truth(ids: Iterable[str]) -> Truth:
    """Make the truth of a list, never empty."""
    found: list[str] = sorted(ids)
    assert found
    return {"documents": found}


def batch_list(world: World, test: Callable[[Batch], bool]) -> Truth:
    """List the batches that pass the test."""
    return list_truth(f"batches.csv#{b.id}" for b in world.batches if test(b))


def beer_list(world: World, test: Callable[[Beer], bool]) -> Truth:
    """List the beers that pass the test."""
    return list_truth(f"beers.csv#{b.id}" for b in world.beers if test(b))


def partner_list(world: World, test: Callable[[Partner], bool]) -> Truth:
    """List the partners that pass the test."""
    return list_truth(f"partners.csv#{p.id}" for p in world.partners if test(p))


def order_list(orders: list[Order], test: Callable[[Order], bool]) -> Truth:
    """List the orders that pass the test."""
    return list_truth(o.id for o in orders if test(o))


def count_truth(items: Iterable[object]) -> Truth:
    """Count, never zero."""
    total: int = sum(1 for _ in items)
    assert total
    return {"number": total}


def value_truth(*values: str, other: list[list[str]] | None = None) -> Truth:
    """Make the truth of stated values."""
    assert all(values)
    truth: Truth = {"values": list(values)}
    if other:
        truth["alternatives"] = other
    return truth


def only_best(items: Iterable[Item], key: Callable[[Item], float], top: bool = True) -> Item:
    """Find the unique winner."""
    ranked: list[Item] = sorted(items, key=key, reverse=top)
    assert len(ranked) == 1 or key(ranked[0]) != key(ranked[1])
    return ranked[0]


def empty_truth(items: Iterable[object]) -> Truth:
    """Make the truth of an honest empty set and check that it is one."""
    assert not list(items)
    return {"nothing": True}


def list_questions(world: World) -> list[Question]:
    """Ask for lists."""

    def kort_may(b: Batch) -> bool:
        return b.site == "Kortrijk" and (b.brewed.year, b.brewed.month) == (2025, 5)

    return [
        Question(
            "list",
            ["pubs in Antwerp on our books, active or not"],
            partner_list(world, lambda p: p.segment == "pub" and p.city == "Antwerp"),
            "terse",
        ),
        Question(
            "list",
            ["What did we brew in Kortrijk in May 2025?", "only the ones Femke did"],
            batch_list(world, lambda b: kort_may(b) and b.brewer.startswith("Femke")),
            "follow-up narrows, first name only",
        ),
        Question(
            "list",
            ["which brews did we have to pour down the drain, ever?", "just 2024 please"],
            batch_list(world, lambda b: b.outcome == "dumped" and b.brewed.year == 2024),
            "outcome is called dumped",
        ),
        Question(
            "list",
            [
                "hey, what have suppliers still not delivered although they promised it for before 1 November 2026? "
                "cancelled stuff doesnt count"
            ],
            order_list(world.purchases, lambda o: o.status == "open" and o.due < date(2026, 11, 1)),
            "missing date and a promise date, status open",
        ),
        Question(
            "list",
            [
                "Could you list the customer orders that reached the customer in the first half of 2025 but for which "
                "we never saw any money?"
            ],
            order_list(
                world.sales,
                lambda o: (
                    o.arrived is not None and date(2025, 1, 1) <= o.arrived <= date(2025, 6, 30) and o.paid is None
                ),
            ),
            "paid date missing, delivery date not order date",
        ),
        Question(
            "list",
            ["customer orders placed this year worth anywhere between 2 and 2.2k, before VAT"],
            order_list(world.sales, lambda o: o.ordered.year == 2026 and 2000 <= o.total <= 2200),
            "this year, range with k",
        ),
        Question(
            "list",
            [
                "which orders placed since 1 July 2026 have 30 litre kegs of the beer Zwarte Zwaan on them? dont care "
                "about the status"
            ],
            order_list(
                world.sales,
                lambda o: (
                    o.ordered >= date(2026, 7, 1)
                    and any(x.item == "Zwarte Zwaan" and x.kind == "keg 30 l" for x in o.lines)
                ),
            ),
            "two conditions on one line; beer name is also in a customer name",
        ),
        Question(
            "list",
            ["show me every time we ordered Citra at more than 30 euro a kilo"],
            order_list(world.purchases, lambda o: any(x.item == "Citra" and x.price > 30 for x in o.lines)),
            "two conditions on the same row",
        ),
        Question(
            "list",
            ["beers with Saaz in them but no wheat?"],
            beer_list(world, lambda b: "Saaz" in b.hops and "wheat" not in b.allergens),
            "negation over a list column",
        ),
        Question(
            "list",
            ["customer orders from 2025 where they moaned about broken bottles"],
            order_list(
                world.sales,
                lambda o: o.ordered.year == 2025 and ("smashed" in o.complaint or "shattered" in o.complaint),
            ),
            "synonyms in free text",
        ),
    ]


def count_questions(world: World) -> list[Question]:
    """Ask for counts."""
    return [
        Question(
            "count",
            ["How many customers do we have on file in the Netherlands, former ones included?", "and in germany?"],
            count_truth(p for p in world.partners if p.party == "customer" and p.country == "Germany"),
            "German suppliers are in the same table",
        ),
        Question(
            "count",
            ["how many brews are still sitting in a tank right now"],
            count_truth(b for b in world.batches if b.outcome == "in tank"),
            "paraphrased status",
        ),
        Question(
            "count",
            ["How many orders that customers placed in 2025 got called off?"],
            count_truth(o for o in world.sales if o.ordered.year == 2025 and o.status == "cancelled"),
            "called off = cancelled; purchase orders must stay out",
        ),
        Question(
            "count",
            ["nr of orders that came in through the webshop so far this year?"],
            count_truth(o for o in world.sales if o.ordered.year == 2026 and o.place == "web shop"),
            "webshop in one word, this year",
        ),
        Question(
            "count",
            [
                "Auditor wants to know: on how many customer orders placed in 2024 did we give more than 10 percent "
                "off on at least one line?"
            ],
            count_truth(o for o in world.sales if o.ordered.year == 2024 and any(x.discount > 10 for x in o.lines)),
            "row condition, strict bound with 10 present",
        ),
    ]


def lookup_questions(world: World) -> list[Question]:
    """Ask for single facts."""
    partner: dict[str, Partner] = {p.name: p for p in world.partners}
    beer: dict[str, Beer] = {b.name: b for b in world.beers}
    last: Order = only_best(
        (o for o in world.sales if o.partner.name == "Hotel Leopold"), lambda o: o.ordered.toordinal()
    )
    mosaic: Order = next(
        o
        for o in world.purchases
        if o.ordered.year == 2025 and len(o.lines) > 2 and any(x.item == "Mosaic" for x in o.lines)
    )
    zeller: Partner = partner["Hopfenhaus Zeller"]
    return [
        Question(
            "lookup",
            ["who's our contact at Hopfenhaus Zeller?", "and the phone nr?"],
            value_truth(zeller.phone),
            "follow-up carries the company",
        ),
        Question(
            "lookup",
            ["when was the most recent order from Hotel Leopold?", "who took it?"],
            value_truth(last.person),
            "follow-up on a superlative; the hotel's own contact has a rep's name",
        ),
        Question(
            "lookup",
            ["Who came up with the recipe of the Blauwe Reiger?"],
            value_truth(beer["Blauwe Reiger"].recipe_by),
            "plain",
        ),
        Question(
            "lookup",
            ["since when has Dranken Vandewalle been buyin from us"],
            value_truth(partner["Dranken Vandewalle"].since.isoformat()),
            "relation_since; not the first order",
        ),
        Question(
            "lookup",
            [f"what did we pay per kilo for the Mosaic on {mosaic.id}"],
            {"number": next(x.price for x in mosaic.lines if x.item == "Mosaic")},
            "one row of an order",
        ),
        Question("text", ["what went wrong with brew 24-057?"], value_truth("mash pump"), "free-text remark"),
        Question(
            "lookup",
            ["whats the street and house number of the Hopduvel bottle shop?"],
            value_truth(partner["Bottle Shop Hopduvel"].street),
            "a hop supplier has nearly the same name",
        ),
        Question(
            "lookup",
            ["how long does monnikenwerk keep"],
            value_truth(str(beer["Monnikenwerk"].shelf_weeks)),
            "keep = shelf life, in weeks",
        ),
    ]


def best_questions(world: World) -> list[Question]:
    """Ask for superlatives and comparisons."""
    weak: Beer = only_best(world.beers, lambda b: b.abv, top=False)
    only_best(world.beers, lambda b: b.abv)
    old: Partner = only_best(
        (p for p in world.partners if p.party == "customer" and p.city == "Ghent"),
        lambda p: p.since.toordinal(),
        top=False,
    )
    big: Order = only_best((o for o in world.sales if o.status == "delivered"), lambda o: o.total)
    bad: Batch = only_best(
        (b for b in world.batches if b.beer == "Kanaalblond" and b.score is not None),
        lambda b: b.score or 10.0,
        top=False,
    )
    prices: dict[str, float] = {}
    for order in world.purchases:
        for line in order.lines:
            if line.kind == "hops":
                prices[line.item] = max(line.price, prices.get(line.item, 0.0))
    hop: str = only_best(sorted(prices), lambda name: prices[name])
    counts: dict[str, int] = {
        site: sum(1 for b in world.batches if b.site == site and b.brewed.year == 2026 and b.brewer == "Wout Lambrecht")
        for site in SITES
    }
    return [
        Question(
            "superlative",
            ["whats the strongest beer weve ever made", "and the weakest?"],
            value_truth(weak.name, other=[[weak.id]]),
            "no apostrophes; reversed follow-up",
        ),
        Question(
            "superlative",
            ["Which customer in Ghent has been with us longest?"],
            value_truth(old.name, other=[[old.id]]),
            "oldest relation date; suppliers in Ghent must stay out",
        ),
        Question(
            "superlative",
            ["what is the biggest order we ever delivered to a customer, in money? just the order number"],
            value_truth(big.id),
            "the largest of all was cancelled, never delivered",
        ),
        Question(
            "superlative",
            ["Which Kanaalblond batch did the tasting panel like least?"],
            value_truth(bad.id),
            "some scores missing",
        ),
        Question(
            "superlative",
            ["which hop variety was the dearest we ever bought per kilo?"],
            value_truth(hop),
            "maximum over rows, category hops only",
        ),
        Question(
            "compare",
            ["Did Wout brew more often in Ghent or in Kortrijk in 2026?"],
            value_truth(only_best(SITES, lambda s: counts[s])),
            "two counts compared",
        ),
    ]


def number_questions(world: World) -> list[Question]:
    """Ask for sums, averages and groups."""
    hops: float = sum(
        x.amount
        for o in world.purchases
        if o.ordered.year == 2024 and o.status != "cancelled"
        for x in o.lines
        if x.kind == "hops"
    )
    scores: list[float] = [
        b.score for b in world.batches if b.beer == "Sluis Tripel" and b.brewed.year == 2024 and b.score is not None
    ]
    kegs: int = sum(
        x.quantity
        for o in world.sales
        if o.partner.name == "Café De Zwarte Zwaan" and o.ordered.year == 2023 and o.status != "cancelled"
        for x in o.lines
        if x.item == "Nevelpils" and x.kind.startswith("keg")
    )
    assert kegs and scores
    volumes: dict[str, float] = {
        site: round(sum(b.volume for b in world.batches if b.site == site and b.brewed.year == 2024), 2)
        for site in SITES
    }
    reps: dict[str, int] = {}
    for order in world.sales:
        if date(2026, 1, 1) <= order.ordered <= date(2026, 3, 31):
            reps[order.person] = reps.get(order.person, 0) + 1
    return [
        Question(
            "group",
            ["how many hectolitres did we brew in 2024 all together", "split that by brewhouse pls"],
            {"groups": volumes},
            "sum per site after a total; year carried over",
        ),
        Question(
            "number",
            ["how much money went into hops in 2024? go by order date, skip the cancelled orders"],
            {"number": round(hops, 2), "tolerance": 0.001},
            "sum over rows",
        ),
        Question(
            "number",
            ["average tasting mark of the Sluis Tripel brews from 2024?"],
            {"number": sum(scores) / len(scores), "tolerance": 0.01},
            "missing scores",
        ),
        Question(
            "number",
            [
                "kegs of Nevelpils ordered by Café De Zwarte Zwaan in 2023, both sizes together, cancelled orders "
                "not counted?"
            ],
            {"number": kegs},
            "sum of rows of one customer; cases of the same beer must stay out",
        ),
        Question(
            "group",
            ["Orders per rep for the first three months of 2026, i.e. how many customer orders each of them took?"],
            {"groups": dict(sorted(reps.items()))},
            "group count within a quarter",
        ),
    ]


def check_questions(world: World) -> list[Question]:
    """Ask yes or no."""
    organic: str = next(b.organic for b in world.beers if b.name == "Torenhop")
    late: Order = next(
        o for o in world.sales if o.ordered >= date(2026, 3, 1) and o.arrived is not None and o.arrived > o.due
    )
    settled: Order = next(o for o in world.purchases if o.ordered >= date(2026, 4, 1) and o.paid is not None)
    tried: bool = any(
        x.item == "Monnikenwerk" for o in world.sales if o.partner.name == "Hotel Leopold" for x in o.lines
    )
    return [
        Question("yes_no", ["is Torenhop organic?"], {"yes_no": organic}, "flag"),
        Question("yes_no", [f"Did {late.id} get there on time?"], {"yes_no": "no"}, "two dates compared"),
        Question(
            "yes_no",
            ["Has Hotel Leopold ever ordered Monnikenwerk from us?"],
            {"yes_no": "yes" if tried else "no"},
            "rows of one customer",
        ),
        Question(
            "yes_no",
            [f"quick q - did we already pay the supplier's bill for {settled.id}?"],
            {"yes_no": "yes"},
            "paid date present",
        ),
    ]


def join_questions(world: World) -> list[Question]:
    """Ask across buckets."""
    strong: set[str] = {b.name for b in world.beers if b.abv > 9}
    top: Order = only_best(
        (o for o in world.sales if (o.ordered.year, o.ordered.month) == (2026, 5)), lambda o: o.total
    )
    lactose: set[str] = {b.name for b in world.beers if "lactose" in b.allergens}
    return [
        Question(
            "join",
            ["orders we got from customers based in Ostend between January and March 2026"],
            order_list(
                world.sales, lambda o: o.partner.city == "Ostend" and date(2026, 1, 1) <= o.ordered <= date(2026, 3, 31)
            ),
            "city is in the partner table only",
        ),
        Question(
            "join",
            ["I need to ring whoever placed the largest order in May 2026 - phone number of that customer pls"],
            value_truth(top.partner.phone),
            "superlative, then the customer's row",
        ),
        Question(
            "join",
            ["which batches brewed in 2026 are of beers stronger than 9 percent?"],
            batch_list(world, lambda b: b.brewed.year == 2026 and b.beer in strong),
            "strength is in the beer table",
        ),
        Question(
            "join",
            ["everything we ordered in 2025 from suppliers sitting in Germany, whatever became of it"],
            order_list(world.purchases, lambda o: o.ordered.year == 2025 and o.partner.country == "Germany"),
            "country is in the partner table only",
        ),
        Question(
            "join",
            ["How many brews since the start of 2025 were of a beer with lactose in it?"],
            count_truth(b for b in world.batches if b.brewed >= date(2025, 1, 1) and b.beer in lactose),
            "allergen is in the beer table",
        ),
    ]


def double_questions(world: World) -> list[Question]:
    """Ask two things at once."""
    nevel: Beer = next(b for b in world.beers if b.name == "Nevelpils")
    malt: Partner = next(p for p in world.partners if p.name == "Mouterij Verhaegen")
    assert nevel.launched is not None
    tower: list[Batch] = [b for b in world.batches if b.beer == "Torenhop" and b.brewed.year == 2025]
    final: Batch = only_best(tower, lambda b: b.brewed.toordinal())
    return [
        Question(
            "compound",
            ["How bitter is Nevelpils and when did it first come on the market?"],
            {"parts": [{"number": nevel.ibu}, value_truth(nevel.launched.isoformat())]},
            "two facts of one beer",
        ),
        Question(
            "compound",
            ["how many Torenhop batches in 2025, and who brewed the last one of that year?"],
            {"parts": [{"number": len(tower)}, value_truth(final.brewer)]},
            "count and superlative",
        ),
        Question(
            "compound",
            ["Mouterij Verhaegen: how many days do we have to pay them, and who do I talk to over there?"],
            {"parts": [{"number": malt.terms}, value_truth(malt.contact)]},
            "two facts of one supplier",
        ),
    ]


def empty_questions(world: World) -> list[Question]:
    """Ask what cannot be answered."""
    nothing: Truth = {"nothing": True}
    dumped: Batch = next(b for b in world.batches if b.outcome == "dumped" and b.brewed.year == 2025)
    sent: Order = next(o for o in world.sales if o.ordered >= date(2026, 5, 10) and o.status == "delivered")
    tap: Partner = next(p for p in world.partners if p.name == "Brasserie Den Tap")
    return [
        Question("nothing", ["how many calories in a bottle of Kanaalblond?"], nothing, "nobody records it"),
        Question(
            "nothing",
            ["How bitter is the Rode Reiger?"],
            empty_truth(b for b in world.beers if b.name == "Rode Reiger"),
            "Blauwe Reiger and Rode Ruiter exist, Rode Reiger does not",
        ),
        Question(
            "nothing",
            ["which customers do we have in Luxembourg?"],
            empty_truth(p for p in world.partners if "Luxemb" in p.country + p.city),
            "country does not occur",
        ),
        Question(
            "nothing",
            [f"when did we package batch {dumped.id}?"],
            empty_truth([dumped.packaged] if dumped.packaged else []),
            "dumped, so the date is empty",
        ),
        Question("nothing", [f"Which driver took {sent.id} to the customer?"], nothing, "nobody records the driver"),
        Question(
            "nothing",
            ["e-mail address of Brasserie Den Tap please"],
            empty_truth([tap.email] if tap.email else []),
            "the cell is empty",
        ),
        Question(
            "nothing",
            ["how many batches did Wout brew in 2024?", "and in 2022?"],
            empty_truth(b for b in world.batches if b.brewed.year == 2022),
            "data start in 2023",
        ),
        Question(
            "nothing",
            ["Do we have any IPA below 4 percent?"],
            empty_truth(b for b in world.beers if "IPA" in b.style and b.abv < 4),
            "honest empty set, near miss at 4.2",
        ),
        Question(
            "nothing",
            ["purchase orders for oak barrels?"],
            empty_truth(
                o for o in world.purchases for x in o.lines if "oak" in x.item.lower() or "barrel" in x.item.lower()
            ),
            "item never bought",
        ),
        Question(
            "nothing",
            ["which customer orders in 2026 did Marta Oliveira take?"],
            empty_truth(o for o in world.sales if o.person == "Marta Oliveira"),
            "she is a brewer, not a rep",
        ),
        Question(
            "nothing",
            ["Which of our suppliers hold a fair trade certificate?"],
            empty_truth(p for p in world.partners if any("fair" in c.lower() for c in p.certificates)),
            "certificates are recorded, this one does not occur",
        ),
        Question(
            "nothing",
            ["which batches were brewed with rainwater?"],
            empty_truth(b for b in world.batches if "water" in b.remarks.lower()),
            "nothing in the data corresponds",
        ),
    ]


def vague_questions(world: World) -> list[Question]:
    """Ask what has two meanings."""
    swans: dict[str, float] = {b.name: b.abv for b in world.beers if b.name.endswith("Zwaan")}
    bought: int = sum(1 for o in world.purchases if o.person == "Karim Bensaid" and o.ordered.year == 2025)
    sold: int = sum(1 for o in world.sales if o.person == "Karim Bensaid" and o.ordered.year == 2025)
    black, white = f"{swans['Zwarte Zwaan']}", f"{swans['Witte Zwaan']}"
    return [
        Question(
            "ambiguous",
            ["how strong is the Zwaan?"],
            {"ask": True, "readings": [value_truth(black, white), value_truth(black), value_truth(white)]},
            "two beers share the word",
        ),
        Question(
            "ambiguous",
            ["how many orders did Karim handle in 2025?"],
            {
                "ask": True,
                "readings": [
                    {"number": bought},
                    {"number": sold},
                    {"number": bought + sold},
                    value_truth(str(bought), str(sold)),
                ],
            },
            "he is a buyer in one bucket and a rep in the other",
        ),
    ]


def write_round(target: Path) -> None:
    """Write the documents and the questions."""
    rng: random.Random = random.Random(SEED)
    world: World = build_world(rng)
    write_documents(target / "documents", world)
    makers: list[Callable[[World], list[Question]]] = [
        list_questions,
        count_questions,
        lookup_questions,
        best_questions,
        number_questions,
        check_questions,
        join_questions,
        double_questions,
        empty_questions,
        vague_questions,
    ]
    questions: list[Question] = [question for maker in makers for question in maker(world)]
    rng.shuffle(questions)
    write_lines(
        target / "questions.jsonl",
        (
            {"id": f"q{number:02d}", "kind": q.kind, "turns": q.turns, "truth": q.truth, "why": q.why}
            for number, q in enumerate(questions, start=1)
        ),
    )


if __name__ == "__main__":
    write_round(Path(sys.argv[1]))
