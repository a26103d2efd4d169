"""Write a messy round: the files of a small insurer's claims department, and 60 questions with their truths."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

SEED: int = 505
MONTHS: list[str] = [
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
]
Truth = dict[str, Any]


@dataclass
class Claim:
    """One claim, as the records know it."""

    tag: str
    holder: str
    town: str
    street: str
    line: str
    peril: str
    year: int
    assessor: str
    handler: str
    notify: int
    decision: str
    reason: str
    complaint: str
    number: str = ""
    policy: str = ""
    loss: date = date(2024, 1, 1)
    visit: date = date(2024, 1, 1)
    estimate: int = 0
    claimed: int | None = None
    verdict: str = "pay"
    habitable: bool = True
    moisture: int = 0
    drying: int = 0
    room: str = ""
    part: str = ""
    origin: str = ""
    entry: str = ""
    stolen: list[str] = field(default_factory=list)
    crack: int = 0
    car: str = ""
    plate: str = ""
    mileage: int = 0
    market: int = 0
    roadworthy: bool = True
    writeoff: bool = False
    closed_days: int = 0
    excess: int = 0
    paid: int = 0
    notified: date = date(2024, 1, 1)
    decided: date = date(2024, 1, 1)
    complained: date = date(2024, 1, 1)


@dataclass
class Doc:
    """One file with the facts it was rendered from."""

    bucket: str
    path: str
    kind: str
    text: str
    day: date
    author: str = ""
    claim: Claim | None = None
    facts: dict[str, Any] = field(default_factory=dict)


FALK = "Tobias Falk"
OKAFOR = "Ruth Okafor"
MOREAU = "Ines Moreau"
BYRNE = "Declan Byrne"
NORA = "Nora Byrne"
PAVEL = "Pavel Hruska"
AMIRA = "Amira Saleh"
JONAS = "Jonas Lindqvist"
GWEN = "Gwen Tarrant"
VOSS = "Helena Voss"
MILO = "Milo Petrov"
LINDHOLM = "Oskar Lindholm"

SPECS: list[tuple[str, str, str, str, str, str, int, str, str, int, str, str, str]] = [
    ("w1", "Marta Keane", "Saltby", "14 Carrow Road", "home", "water", 2024, FALK, PAVEL, 0, "paid", "", ""),
    ("w2", "Edwin Prosser", "Carrow", "3 Tannery Lane", "home", "water", 2025, OKAFOR, NORA, 2, "paid", "", "delay"),
    (
        "w3",
        "Lucia Ferrand",
        "Dunmere",
        "27 Mill Rise",
        "home",
        "water",
        2025,
        MOREAU,
        JONAS,
        0,
        "declined",
        "unoccupied",
        "refusal",
    ),
    ("w4", "Martin Falk", "Wexmouth", "8 Quay Street", "home", "water", 2026, OKAFOR, AMIRA, 3, "", "", ""),
    ("w5", "Bridget Nolan", "Highfold", "51 Chapel Hill", "home", "water", 2026, FALK, PAVEL, 0, "paid", "", ""),
    (
        "w6",
        "Lumen Coffee House",
        "Saltby",
        "2 Market Place",
        "business",
        "water",
        2025,
        MOREAU,
        AMIRA,
        4,
        "paid",
        "",
        "",
    ),
    ("s1", "Thomas Keane", "Highfold", "6 Orchard Close", "home", "storm", 2024, OKAFOR, AMIRA, 2, "paid", "", ""),
    ("s2", "Agnes Whitlow", "Saltby", "90 Carrow Road", "home", "storm", 2025, FALK, NORA, 1, "declined", "wear", ""),
    ("s3", "Piotr Zielinski", "Carrow", "19 Station Row", "home", "storm", 2025, "", PAVEL, 3, "declined", "fence", ""),
    ("s4", "Helga Brandt", "Dunmere", "33 Harbour View", "home", "storm", 2025, MOREAU, AMIRA, 4, "", "", ""),
    ("s5", "Wexmouth Boatyard", "Wexmouth", "Slipway 4", "business", "storm", 2026, OKAFOR, JONAS, 0, "", "", ""),
    ("f1", "Simone Adair", "Carrow", "11 Beacon Street", "home", "fire", 2025, MOREAU, PAVEL, 0, "", "", ""),
    ("f2", "Viktor Hale", "Wexmouth", "70 Rope Walk", "home", "fire", 2024, FALK, JONAS, 0, "paid", "", ""),
    (
        "f3",
        "Tiller & Rowe Joinery",
        "Highfold",
        "Unit 9, Old Quarry",
        "business",
        "fire",
        2026,
        OKAFOR,
        JONAS,
        0,
        "",
        "",
        "",
    ),
    ("b1", "Rosa Dimas", "Saltby", "5 Lantern Court", "home", "burglary", 2024, OKAFOR, NORA, 0, "paid", "", ""),
    ("b2", "Leonard Osei", "Dunmere", "42 Ferry Lane", "home", "burglary", 2025, FALK, NORA, 3, "", "", "rude"),
    (
        "b3",
        "Yvette Carrow",
        "Highfold",
        "17 Dunmere Avenue",
        "home",
        "burglary",
        2026,
        MOREAU,
        PAVEL,
        2,
        "declined",
        "late",
        "",
    ),
    ("u1", "Ruth Lindqvist", "Wexmouth", "1 Cliff Terrace", "home", "subsidence", 2025, OKAFOR, AMIRA, 0, "", "", ""),
    ("u2", "Graham Petty", "Carrow", "64 Abbey Road", "home", "subsidence", 2026, MOREAU, PAVEL, 4, "", "", ""),
    ("m1", "Hannah Sorley", "Dunmere", "12 Mill Rise", "motor", "collision", 2024, BYRNE, NORA, 0, "", "", ""),
    ("m2", "Dario Conti", "Saltby", "8 Tannery Lane", "motor", "collision", 2025, BYRNE, AMIRA, 1, "paid", "", ""),
    ("m3", "Ewa Nowak", "Highfold", "3 Orchard Close", "motor", "collision", 2025, BYRNE, PAVEL, 0, "", "", ""),
    ("m5", "Priya Raman", "Carrow", "22 Beacon Street", "motor", "hail", 2025, BYRNE, JONAS, 3, "paid", "", ""),
    ("m6", "George Tully", "Wexmouth", "15 Quay Street", "motor", "hail", 2025, BYRNE, NORA, 0, "", "", ""),
    (
        "m7",
        "Astrid Holm",
        "Saltby",
        "31 Lantern Court",
        "motor",
        "car theft",
        2025,
        "",
        JONAS,
        2,
        "declined",
        "keys",
        "refusal",
    ),
    ("m8", "Sean Mulgrew", "Carrow", "40 Station Row", "motor", "collision", 2026, BYRNE, NORA, 0, "", "", ""),
]
UNINHABITABLE: list[str] = ["w2", "w5", "f1", "u2"]
SECOND_OPINION: list[str] = ["u1", "f1", "b2"]
WRITEOFFS: list[str] = ["m2", "m8"]
UNSAFE: list[str] = ["m2", "m3", "m8"]
ROOMS: dict[str, str] = {
    "w1": "kitchen",
    "w2": "bathroom",
    "w3": "cellar",
    "w4": "utility room",
    "w5": "bathroom",
    "w6": "store room",
}
PARTS: dict[str, str] = {
    "s1": "chimney stack",
    "s2": "roof tiles",
    "s3": "garden fence",
    "s4": "conservatory",
    "s5": "shed doors",
}
ORIGINS: dict[str, str] = {
    "f1": "the charger of an e-bike",
    "f2": "a tumble dryer",
    "f3": "an overheated dust extractor",
}
ENTRIES: dict[str, str] = {"b1": "the patio door", "b2": "the bathroom window", "b3": "the cellar hatch"}
STOLEN: dict[str, list[str]] = {
    "b1": ["a laptop", "two wedding rings", "a camera"],
    "b2": ["a cello", "a wristwatch", "a tablet computer"],
    "b3": ["a television", "silver cutlery", "a drone"],
}
CARS: dict[str, str] = {
    "m1": "Skoda Fabia",
    "m2": "Peugeot 308",
    "m3": "Toyota Yaris",
    "m5": "Volvo V60",
    "m6": "Ford Focus",
    "m7": "Mazda CX-5",
    "m8": "Renault Clio",
}
RANGES: dict[str, tuple[int, int]] = {
    "water": (1800, 7600),
    "storm": (900, 5200),
    "fire": (9000, 27000),
    "burglary": (900, 4300),
    "subsidence": (12000, 26000),
    "collision": (1500, 5200),
    "hail": (1300, 3900),
    "car theft": (9000, 15000),
}


def say_date(day: date) -> str:
    """Return a date in words."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def dot_date(day: date) -> str:
    """Return a date with dots."""
    return f"{day.day:02d}.{day.month:02d}.{day.year}"


def short_date(day: date) -> str:
    """Return a date with a short month first."""
    return f"{MONTHS[day.month - 1][:3]} {day.day}, {day.year}"


def sign_money(amount: int) -> str:
    """Return money with the sign in front."""
    return f"€{amount:,}"


def comma_money(amount: int) -> str:
    """Return money in continental notation."""
    return f"{amount:,}".replace(",", ".") + ",00 EUR"


def space_money(amount: int) -> str:
    """Return money with a blank between the thousands."""
    return "EUR " + f"{amount:,}".replace(",", " ")


def make_claims(rng: Random) -> dict[str, Claim]:
    """Build all claims with random dates and amounts."""
    claims: list[Claim] = [Claim(*spec) for spec in SPECS]
    for c in claims:
        low, high = (5, 8) if c.peril == "hail" else (1, 7)
        c.loss = date(c.year, rng.randint(low, high), rng.randint(1, 28))
        c.policy = f"{c.line[0].upper()}P-{rng.randint(210000, 989999)}"
        c.visit = c.loss + timedelta(days=rng.randint(8, 22))
        least, most = RANGES[c.peril]
        c.estimate = rng.randrange(least, most, 10)
        c.claimed = None if rng.random() < 0.25 else round(c.estimate * rng.uniform(1.05, 1.4) / 50) * 50
        c.habitable = c.tag not in UNINHABITABLE
        c.verdict = "second" if c.tag in SECOND_OPINION else "decline" if c.decision == "declined" else "pay"
        c.room, c.part = ROOMS.get(c.tag, ""), PARTS.get(c.tag, "")
        c.origin, c.entry = ORIGINS.get(c.tag, ""), ENTRIES.get(c.tag, "")
        c.stolen = STOLEN.get(c.tag, [])
        c.moisture = rng.randint(38, 96) if c.peril == "water" else 0
        c.drying = rng.randint(6, 24) if c.peril == "water" else 0
        c.crack = rng.randint(4, 19) if c.peril == "subsidence" else 0
        c.closed_days = rng.randint(3, 16) if c.line == "business" else 0
        if c.line == "motor":
            c.car = CARS[c.tag]
            c.plate = f"{rng.choice('BDKLRTW')}{rng.choice('AEHKMSX')}-{rng.randint(1000, 9899)}"
            c.mileage = rng.randint(18, 176) * 1000 + rng.randint(1, 999)
            c.writeoff = c.tag in WRITEOFFS
            c.roadworthy = c.tag not in UNSAFE
            ratio = rng.uniform(0.76, 0.98) if c.writeoff else rng.uniform(0.15, 0.5)
            c.market = round(c.estimate / ratio / 50) * 50
        if c.line == "home":
            old = c.year < 2025
            c.excess = {"water": 300 if old else 400, "subsidence": 1000}.get(c.peril, 200 if old else 250)
        else:
            c.excess = 300 if c.line == "motor" else 750
        if c.decision == "paid":
            c.paid = (c.market if c.writeoff else c.estimate) - c.excess
        c.notified = c.loss + timedelta(days=58 if c.reason == "late" else rng.randint(2, 6))
        c.visit = c.visit + timedelta(days=52 if c.reason == "late" else 0)
        c.decided = c.visit + timedelta(days=rng.randint(8, 28))
        c.complained = c.decided + timedelta(days=rng.randint(7, 18))
        if c.complaint == "delay":
            c.complained = c.visit + timedelta(days=34)
            c.decided = c.complained + timedelta(days=9)
        if c.complaint == "rude":
            c.complained = c.visit + timedelta(days=5)
    counter: dict[int, int] = {}
    for c in sorted(claims, key=lambda k: (k.loss, k.tag)):
        counter[c.year] = counter.get(c.year, 100) + rng.randint(3, 19)
        c.number = f"CL-{c.year % 100}-{counter[c.year]:04d}"
    return {c.tag: c for c in claims}


def tell_damage(c: Claim) -> str:
    """Say in a customer's words what happened."""
    if c.peril == "water":
        return f"a pipe burst and left the {c.room} soaked from floor to wall"
    if c.peril == "storm":
        return f"the gale in the night wrecked the {c.part}"
    if c.peril == "burglary":
        return f"somebody broke in through {c.entry} and took {c.stolen[0]}, {c.stolen[1]} and {c.stolen[2]}"
    if c.peril == "subsidence":
        return "the ground under the house has given way and a long crack runs down the gable wall"
    if c.peril == "hail":
        return f"hailstones the size of walnuts dented the bonnet and roof of my {c.car}"
    if c.peril == "car theft":
        return f"my {c.car} disappeared from outside the bakery while I was paying"
    return f"another driver ran into my {c.car} at the roundabout"


def write_notices(claims: dict[str, Claim], rng: Random) -> list[Doc]:
    """Render the letters in which customers report a loss."""
    docs: list[Doc] = []
    for c in claims.values():
        if not c.notify:
            continue
        what = tell_damage(c)
        scan = rng.randint(1000, 9899)
        folder = f"{c.year}/in"
        if c.notify == 1:
            cost = f"The workshop speaks of {sign_money(c.claimed)}." if c.claimed else "No idea what it costs."
            text = (
                f"{c.holder}\n{c.street}\n{c.town}\n\n{say_date(c.notified)}\n\nTo the claims department\n\n"
                f"Dear Sir or Madam,\n\nI am sorry to bother you so soon after renewing. On {say_date(c.loss)} {what}. "
                f"{cost} My policy is {c.policy}.\n\nPlease let me know what you need from me.\n\n"
                f"Yours faithfully\n{c.holder}\n"
            )
            path = f"{folder}/scan-{scan}.txt"
        elif c.notify == 2:
            cost = f"roughly {space_money(c.claimed)}" if c.claimed else "a figure I do not have yet"
            text = (
                f"# A claim, I am afraid\n\n*{c.town}, {short_date(c.notified)}*\n\nHello,\n\nthis is {c.holder} from "
                f"{c.street}. You insure me under number {c.policy}. It happened on {short_date(c.loss)}: {what}. "
                f"I expect {cost} to put it right, and I have kept photographs of everything.\n\n"
                f"With kind regards,\n\n{c.holder}\n"
            )
            path = f"{folder}/{c.holder.split()[-1].lower()}-{scan}.md"
        elif c.notify == 3:
            cost = sign_money(c.claimed) if c.claimed else "(left blank)"
            text = (
                f"<html><head><title>Online notice {scan}</title></head><body>\n<h1>Online notice {scan}</h1>\n<dl>\n"
                f"<dt>Your name</dt><dd>{c.holder}</dd>\n<dt>Where you live</dt><dd>{c.street}, {c.town}</dd>\n"
                f"<dt>Policy</dt><dd>{c.policy}</dd>\n<dt>Day it happened</dt><dd>{c.loss.isoformat()}</dd>\n"
                f"<dt>Expected cost</dt><dd>{cost}</dd>\n<dt>Sent</dt><dd>{c.notified.isoformat()}</dd>\n</dl>\n"
                f"<p>In your own words: {what}.</p>\n</body></html>\n"
            )
            path = f"{folder}/webform_{scan}.html"
        else:
            cost = comma_money(c.claimed) if c.claimed else "to follow"
            text = (
                f"CORBETT & DAUGHTERS, INSURANCE BROKERS\n\n{dot_date(c.notified)}\n\nre: our client {c.holder}, "
                f"{c.street}, {c.town} / policy {c.policy}\n\nGentlemen, ladies,\n\nour client asks us to "
                "report that on "
                f"{dot_date(c.loss)} {what}.\n\nSum requested: {cost}\n\nWe would be grateful for an early "
                "visit by one "
                "of your assessors.\n\np.p. Corbett\n"
            )
            path = f"{folder}/corbett_{scan}.txt"
        docs.append(Doc("letters", path, "notice", text, c.notified, c.holder, c))
    return docs


REASONS: dict[str, str] = {
    "unoccupied": "the house had stood empty for more than 45 days in a row when the pipe gave way",
    "wear": "the roof was worn out long before that night; what we saw is gradual deterioration, not a sudden event",
    "fence": "garden fences are left out of the storm cover",
    "late": "you told us about the loss long after the 14 days in which it has to be reported",
    "keys": "the keys had been left in the car",
}


def write_decisions(claims: dict[str, Claim]) -> list[Doc]:
    """Render our letters that pay or refuse."""
    docs: list[Doc] = []
    for c in claims.values():
        if c.decision == "paid":
            gross = c.paid + c.excess
            if c.handler in (NORA, PAVEL):
                text = (
                    f"Harbour & Vale Mutual\nClaims\n\n{say_date(c.decided)}\nOur reference: {c.number}\n\n{c.holder}\n"
                    f"{c.street}\n{c.town}\n\nDear {c.holder},\n\nWe are glad to tell you that your claim of "
                    f"{say_date(c.loss)} has been accepted.\n\n   Damage as assessed    {gross:>9,} euros\n"
                    f"   less your own share   {c.excess:>9,} euros\n   Transfer to you       {c.paid:>9,} euros\n\n"
                    f"The money leaves us with the next payment run.\n\nKind regards\n{c.handler}\nClaims handler\n"
                )
                path = f"{c.year}/out/{c.number}.txt"
            else:
                text = (
                    f"<html><head><title>Settlement {c.number}</title></head><body>\n<p>{short_date(c.decided)}</p>\n"
                    f"<h2>Settlement of your claim {c.number}</h2>\n<p>Dear {c.holder}, {c.town},</p>\n<table>\n"
                    f"<tr><td>Loss on</td><td>{short_date(c.loss)}</td></tr>\n"
                    f"<tr><td>Accepted</td><td>{space_money(gross)}</td></tr>\n"
                    f"<tr><td>Excess</td><td>{space_money(c.excess)}</td></tr>\n"
                    f"<tr><td>We pay you</td><td><b>{space_money(c.paid)}</b></td></tr>\n</table>\n"
                    f"<p>Signed: {c.handler}, Harbour &amp; Vale Mutual</p>\n</body></html>\n"
                )
                path = f"{c.year}/out/settle_{c.number[3:]}.html"
            docs.append(Doc("letters", path, "paid", text, c.decided, c.handler, c))
        if c.decision == "declined":
            why = REASONS[c.reason]
            if c.handler == JONAS:
                text = (
                    f"## Your claim {c.number}\n\n{say_date(c.decided)}\n\n{c.holder}, {c.street}, {c.town}\n\n"
                    f"We have looked at what happened on {say_date(c.loss)} with care. We regret that we cannot help "
                    f"this time, because {why}. No payment will be made.\n\n— {c.handler}\n"
                )
                path = f"{c.year}/out/{c.number[3:]}-answer.md"
            else:
                text = (
                    f"Harbour & Vale Mutual\n\n{c.decided.isoformat()}   {c.number}\n\nDear "
                    f"{c.holder},\n\nthank you for "
                    f"your patience. Having read everything about the event of {c.loss.isoformat()} we have to turn "
                    f"your request down: {why}.\n\nThe conditions of policy {c.policy} leave us no choice.\n\n"
                    f"{c.handler}\n\nTo: {c.street}, {c.town}\n"
                )
                path = f"{c.year}/out/{c.number}_reply.txt"
            docs.append(Doc("letters", path, "declined", text, c.decided, c.handler, c))
    return docs


def write_complaints(claims: dict[str, Claim], rng: Random) -> list[Doc]:
    """Render the letters of unhappy customers."""
    docs: list[Doc] = []
    for c in claims.values():
        if not c.complaint:
            continue
        if c.complaint == "delay":
            body = (
                f"It is {say_date(c.complained)} and since your assessor left on {say_date(c.visit)} I have heard "
                "nothing at all. Weeks of silence! I want to complain about how long this is taking."
            )
        elif c.complaint == "rude":
            body = (
                f"On {say_date(c.complained - timedelta(days=1))} I rang your office to ask a simple question and was "
                "laughed at and hung up on. I have never been treated so rudely. Take this as a formal complaint."
            )
        else:
            body = (
                f"Your answer of {say_date(c.decided)} is a disgrace. I have paid my premiums for years and "
                "now you give "
                "me nothing. I do not accept your refusal; please treat this as a complaint and look at it again."
            )
        text = f"{c.holder}, {c.town}\n{say_date(c.complained)}\n\nClaim {c.number}\n\n{body}\n\n{c.holder}\n"
        path = f"{c.year}/in/scan-{rng.randint(10000, 19999)}.txt"
        docs.append(Doc("letters", path, "complaint", text, c.complained, c.holder, c))
    return docs


def falk_report(c: Claim) -> str:
    """Render a report in Tobias Falk's form."""
    rows: list[tuple[str, str]] = [
        ("File", c.number),
        ("Insured", c.holder),
        ("Place", f"{c.street}, {c.town}"),
        ("On site", dot_date(c.visit)),
        ("Damage of", dot_date(c.loss)),
        ("Ordered by", c.handler),
    ]
    note = ""
    if c.peril == "water":
        rows += [
            ("Kind", "escape of water, " + c.room),
            ("Wall moisture", f"{c.moisture} %"),
            ("Dryers needed", f"{c.drying} days"),
        ]
        note = "Pipe joint split lengthwise, frost not involved."
    elif c.peril == "storm":
        rows += [("Kind", "storm, " + c.part)]
        note = "Nails rusted through, battens brittle; the cover had been failing for years."
    elif c.peril == "fire":
        rows += [("Kind", "fire, started at " + c.origin)]
        note = "Soot on the ground floor only."
    else:
        rows += [("Kind", "break-in by way of " + c.entry), ("Missing", ", ".join(c.stolen))]
        note = "Glass lies outside the house, not inside. Odd."
    if c.peril != "burglary":
        rows += [("Fit to live in", "yes" if c.habitable else "NO - family moved to relatives")]
    advice = {"pay": "settle", "decline": "refuse", "second": "second opinion by a specialist first"}[c.verdict]
    rows += [("Repair sum", comma_money(c.estimate)), ("Advice", advice)]
    lines = [f"{label} {'.' * (22 - len(label))} {value}" for label, value in rows]
    return "SITE PROTOCOL   T. Falk\n" + "=" * 40 + "\n" + "\n".join(lines) + f"\n\nNotes: {note}\n\nTobias Falk\n"


def okafor_report(c: Claim) -> str:
    """Render a report in Ruth Okafor's prose."""
    opening = (
        f"# Visit to {c.holder}\n\nI called at {c.street} in {c.town} on {say_date(c.visit)} about the loss of "
        f"{say_date(c.loss)} (our file {c.number}).\n\n## What I found\n\n"
    )
    if c.peril == "water":
        body = (
            f"Water from a burst pipe has run through the {c.room}. My meter showed {c.moisture} per cent "
            "in the plaster "
            f"and I reckon with {c.drying} days of drying."
        )
    elif c.peril == "storm":
        body = f"The wind has brought down the {c.part}. Nothing else on the property was touched."
    elif c.peril == "fire":
        body = f"The blaze began at {c.origin}. Benches and stock along the north wall are charred."
    elif c.peril == "burglary":
        body = (
            f"The intruders came in through {c.entry}, which shows tool marks. Gone are {', '.join(c.stolen[:-1])} and "
            f"{c.stolen[-1]}."
        )
    else:
        body = f"The seaward corner has sunk. The widest crack measures {c.crack} mm and appears to be still moving."
    if c.line == "business":
        body += f" The firm will have to stay shut for {c.closed_days} days."
    elif c.peril != "burglary":
        body += (
            " The family can stay in the house meanwhile."
            if c.habitable
            else " Nobody can live there at present; I sent them to a guest house."
        )
    advice = {
        "pay": "I see no reason not to pay this.",
        "decline": "I would not pay this.",
        "second": "Before we decide, I would like a second opinion from a specialist.",
    }[c.verdict]
    return (
        f"{opening}{body}\n\n## Cost and advice\n\nMaking good should cost {sign_money(c.estimate)}. {advice}\n\n"
        "Ruth Okafor, assessor\n"
    )


def moreau_report(c: Claim) -> str:
    """Render a report as Ines Moreau's web page."""
    rows: list[tuple[str, str]] = [
        ("Policyholder", c.holder),
        ("Address", f"{c.street}, {c.town}"),
        ("Inspected", c.visit.isoformat()),
        ("Event", c.loss.isoformat()),
        ("Requested by", c.handler),
    ]
    if c.peril == "water":
        rows += [
            ("Cause", f"leaking supply pipe, {c.room}"),
            ("Humidity in masonry", f"{c.moisture}%"),
            ("Drying time", f"{c.drying} d"),
        ]
    elif c.peril == "storm":
        rows += [("Cause", f"high winds, {c.part}")]
    elif c.peril == "fire":
        rows += [("Cause", f"fire; point of origin {c.origin}")]
    elif c.peril == "burglary":
        rows += [("Cause", f"burglary, entered by {c.entry}"), ("Stolen goods", "; ".join(c.stolen))]
    else:
        rows += [("Cause", "subsidence of the garden side"), ("Largest crack", f"{c.crack} mm")]
    if c.line == "business":
        rows += [("Days closed", str(c.closed_days))]
    elif c.peril != "burglary":
        rows += [("Habitable", "yes" if c.habitable else "no, occupants rehoused")]
    advice = {"pay": "Accept", "decline": "Reject", "second": "Obtain second opinion from a specialist"}[c.verdict]
    rows += [("Estimate (EUR)", f"{c.estimate}"), ("Recommendation", advice)]
    cells = "\n".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in rows)
    return (
        f"<html><head><title>Inspection {c.number}</title></head>\n<body><h1>Inspection {c.number}</h1>\n"
        f"<table>\n{cells}\n</table>\n<p>Ines Moreau, chartered assessor</p></body></html>\n"
    )


def byrne_report(c: Claim) -> str:
    """Render a vehicle report by Declan Byrne."""
    half = c.estimate * (35 + c.mileage % 30) // 100
    what = "hail damage" if c.peril == "hail" else "collision damage"
    drive = "fit for the road" if c.roadworthy else "**must not be driven**"
    if c.writeoff:
        end = "Repair makes no sense here: total loss."
    else:
        end = "Worth repairing."
    return (
        f"# Vehicle survey {c.plate}\n\n- Owner: {c.holder} ({c.town})\n- Claim: {c.number}\n- Car: {c.car}\n"
        f"- Odometer: {c.mileage:,} km\n- Seen on: {say_date(c.visit)}\n- Happened: {say_date(c.loss)}\n"
        f"- Type: {what}\n- State: {drive}\n\n| Item | Euro |\n|---|---:|\n| Bodywork | {half:,} |\n"
        f"| Paint and labour | {c.estimate - half:,} |\n| **Repair total** | **{c.estimate:,}** |\n"
        f"| Market value before | {c.market:,} |\n\n{end}\n\nD. Byrne / Declan Byrne, vehicle engineer\n"
    )


def write_inspections(claims: dict[str, Claim]) -> list[Doc]:
    """Render all inspection reports."""
    makers: dict[str, Callable[[Claim], str]] = {
        FALK: falk_report,
        OKAFOR: okafor_report,
        MOREAU: moreau_report,
        BYRNE: byrne_report,
    }
    docs: list[Doc] = []
    for c in claims.values():
        if not c.assessor:
            continue
        stem = c.number[3:]
        path = {
            FALK: f"tf/{c.visit.strftime('%Y%m%d')}_{stem}.txt",
            OKAFOR: f"ruth/visit {c.holder.split()[-1].lower()} {c.year}.md",
            MOREAU: f"moreau/{stem}.html",
            BYRNE: f"vehicles/{c.plate}.md",
        }[c.assessor]
        docs.append(Doc("inspections", path, "inspection", makers[c.assessor](c), c.visit, c.assessor, c))
    return docs


def plain_mail(sender: str, to: str, day: date, subject: str, body: str) -> str:
    """Render a mail with a full head."""
    return f"From: {sender}\nTo: {to}\nSent: {say_date(day)} 09:{day.day + 10}\nSubject: {subject}\n\n{body}\n"


def terse_mail(sender: str, to: str, day: date, subject: str, body: str) -> str:
    """Render a mail as the old archive exported it."""
    return f"[{day.isoformat()}] {sender} -> {to}\n** {subject} **\n\n{body}\n\n{sender.split()[0]}\n"


def write_emails(claims: dict[str, Claim], rng: Random) -> list[Doc]:
    """Render the internal mails."""
    docs: list[Doc] = []

    def add_mail(path: str, kind: str, text: str, day: date, author: str, tag: str = "", **facts: Any) -> None:
        """Keep one mail."""
        docs.append(Doc("emails", path, kind, text, day, author, claims[tag] if tag else None, dict(facts)))

    for tag, direction in [("f1", 1), ("u1", 1), ("f3", 1), ("m8", -1)]:
        c = claims[tag]
        base = round(c.estimate * rng.uniform(0.4, 0.7) / 500) * 500
        old, new = (base, base + rng.randint(5, 22) * 500) if direction > 0 else (base + 1500, base)
        day = c.visit + timedelta(days=rng.randint(3, 9))
        if direction > 0 and tag != "u1":
            body = (
                f"Gwen,\n\nafter the report came in I have lifted the reserve on {c.number} from {sign_money(old)} to "
                f"{sign_money(new)}. Shout if you disagree."
            )
            text = plain_mail(c.handler, GWEN, day, c.number, body)
        elif direction > 0:
            body = f"{c.number}: what we had set aside ({space_money(old)}) will not do. Now at {space_money(new)}."
            text = terse_mail(c.handler, GWEN, day, "more money needed", body)
        else:
            body = (
                f"{c.number} ({c.holder}) looks cheaper than feared. Reserve cut, {comma_money(old)} down to "
                f"{comma_money(new)}."
            )
            text = terse_mail(c.handler, GWEN, day, "some good news", body)
        add_mail(
            f"{day.isoformat()}_{rng.randint(100, 999)}.txt", "reserve", text, day, c.handler, tag, old=old, new=new
        )
    s4, m3, b2, m7, m1, w5 = (claims[t] for t in ("s4", "m3", "b2", "m7", "m1", "w5"))
    day = s4.visit + timedelta(days=6)
    add_mail(
        "where is it.txt",
        "chase",
        plain_mail(
            AMIRA,
            MOREAU,
            day,
            f"Report {s4.number}?",
            f"Hi Ines, the customer rings me every morning. When can I have your paper on {s4.holder}? Thanks, Amira",
        ),
        day,
        AMIRA,
        "s4",
    )
    day = m3.visit + timedelta(days=4)
    add_mail(
        "msg0417.txt",
        "chase",
        terse_mail(
            PAVEL, BYRNE, day, "still waiting", f"Declan, still nothing in the system for {m3.number}. Today please."
        ),
        day,
        PAVEL,
        "m3",
    )
    day = b2.visit + timedelta(days=2)
    add_mail(
        "msg0533.txt",
        "fraud",
        plain_mail(
            NORA,
            VOSS,
            day,
            "something smells",
            f"Helena, could you take a look at {b2.number}? The receipts "
            "for the cello "
            "carry a date after the break-in. I have not said a word to the customer.",
        ),
        day,
        NORA,
        "b2",
    )
    day = m7.notified + timedelta(days=5)
    quoted = (
        f"Thanks, I have opened a file and will talk to the dealer.\nHelena\n\n"
        f"> On {short_date(day - timedelta(days=1))}"
        f", Jonas Lindqvist wrote:\n> {m7.number}, {m7.holder}. The car was offered for sale online two days before it "
        "vanished.\n> Do we suspect something?"
    )
    add_mail("msg0561.txt", "fraud", plain_mail(VOSS, JONAS, day, f"RE: {m7.number}", quoted), day, VOSS, "m7")
    day = date(2025, 6, 24)
    add_mail(
        "summer cover.txt",
        "cover",
        plain_mail(
            GWEN,
            "Claims team",
            day,
            "July",
            "All, Amira is on holiday from 7 to 25 July 2025. Jonas Lindqvist looks after her files and her mailbox.",
        ),
        day,
        GWEN,
    )
    day = date(2026, 1, 29)
    add_mail(
        "msg0802.txt",
        "cover",
        terse_mail(
            PAVEL,
            "Claims team",
            day,
            "knee operation",
            "I will be out the whole of February 2026. Nora Byrne has kindly agreed to mind my claims.",
        ),
        day,
        PAVEL,
    )
    day = date(2025, 5, 19)
    add_mail(
        "2025-05-19_suppliers.txt",
        "supplier",
        plain_mail(
            LINDHOLM,
            "Claims team; assessors",
            day,
            "Drying of buildings",
            "From 1 June 2025 we no longer call AquaTeam. "
            "Please send all drying jobs to Drywell & Sons, who charge €38 a day per machine.",
        ),
        day,
        LINDHOLM,
    )
    day = date(2026, 3, 11)
    add_mail(
        "msg0830.txt",
        "supplier",
        terse_mail(
            GWEN,
            "Claims team",
            day,
            "glass",
            "ClearPane is putting its price for a windscreen up to EUR 410 from April 2026.",
        ),
        day,
        GWEN,
    )
    day = date(2026, 5, 6)
    add_mail(
        "outage.txt",
        "it",
        plain_mail(
            MILO,
            "Everyone",
            day,
            "Portal down",
            "The claims portal was down this morning from 07:40 to 11:15. A full disk was to blame. Nothing was lost.",
        ),
        day,
        MILO,
    )
    day = date(2026, 9, 14)
    add_mail(
        "2026-09-14_workshop.txt",
        "training",
        plain_mail(
            VOSS,
            "Claims team",
            day,
            "Workshop: spotting false receipts",
            "Dear all, please keep 8 October "
            "2026 free, 10 to "
            "12, room Lighthouse. Pavel Hruska will bring two real examples.",
        ),
        day,
        VOSS,
    )
    day = date(2024, 11, 20)
    back = rng.randrange(1200, 2900, 10)
    add_mail(
        "msg0102.txt",
        "recovery",
        terse_mail(
            NORA,
            GWEN,
            day,
            "money back!",
            f"The other driver's insurer has given in on {m1.number} and sends us "
            f"{comma_money(back)}. Third reminder did it.",
        ),
        day,
        NORA,
        "m1",
        back=back,
    )
    day = date(2026, 2, 3)
    add_mail(
        "notes 3 feb.txt",
        "minutes",
        (
            "Team meeting, 3 February 2026\nthere: Gwen Tarrant (chair), Nora Byrne, Amira Saleh, Jonas Lindqvist\n\n"
            "1) Phones: the late shift ends at 18:30 from 1 March.\n2) Amira Saleh takes over the broker "
            "Corbett as contact.\n"
            "3) Jonas Lindqvist to draft a new cover letter until 20 February.\n\nsent round by Gwen Tarrant\n"
        ),
        day,
        GWEN,
    )
    day = date(2025, 8, 27)
    add_mail(
        "msg0610.txt",
        "social",
        terse_mail(
            MILO,
            "Everyone",
            day,
            "boat trip",
            "The summer outing is on 12 September 2025, we meet 15:00 at the Saltby pier. Bring a jacket.",
        ),
        day,
        MILO,
    )
    day = w5.decided + timedelta(days=3)
    add_mail(
        "fw bank details.txt",
        "bank",
        plain_mail(
            PAVEL,
            "Accounts",
            day,
            f"FW: {w5.number}",
            f"Please note {w5.holder} has moved her account to "
            "Saltby Savings Bank."
            "\n\n> Nora Byrne took the call:\n> new bank, old one closed, she sounded sure of herself",
        ),
        day,
        PAVEL,
        "w5",
    )
    return docs


HANDBOOK: list[tuple[str, str, str]] = [
    (
        "conditions/home.md",
        "conditions",
        """# Home policy: conditions

Valid for losses from 1 January 2025.

## 3 What you pay yourself
The excess is €250 for each event. For escape of water it is €400, for subsidence €1,000.

## 4 Telling us
Report the loss within 14 days. After a theft go to the police within 48 hours.

## 7 What is left out
- Houses that stand empty for more than 45 consecutive days have no cover for escape of water.
- Garden fences, hedges and awnings are not covered against storm.
- Gradual deterioration is no event.

## 9 Limits
A bicycle stolen away from the home: at most €900. If you cannot live at home we pay other lodgings for up to six
months, at most €12,000.
""",
    ),
    (
        "conditions/old/home-2023.txt",
        "conditions",
        """HOME POLICY - CONDITIONS 2023 (replaced on 1 January 2025)

Own share of the customer     200 euros per event
   burst pipes                300 euros
   subsidence               1.000 euros
Bicycles outside the home     600 euros at most
Lodgings elsewhere            4 months at most
Empty houses                  no cover for water after 60 days
""",
    ),
    (
        "conditions/motor.html",
        "conditions",
        """<html><head><title>Motor policy</title></head><body>
<h1>Motor policy: what applies</h1>
<table><tr><th>Matter</th><th>Rule</th></tr>
<tr><td>Excess</td><td>EUR 300</td></tr>
<tr><td>Driver younger than 25</td><td>EUR 450 on top</td></tr>
<tr><td>Windscreen</td><td>excess only EUR 75</td></tr>
<tr><td>Courtesy car</td><td>for at most 21 days</td></tr>
<tr><td>Reporting a loss</td><td>within 7 days</td></tr></table>
<p>No cover for theft if the keys were left in the vehicle. Hail is insured with Comprehensive, not with Basic.</p>
</body></html>
""",
    ),
    (
        "conditions/small-firms.md",
        "conditions",
        """# Small firms policy

**Excess:** 750 euros
**Report within:** 5 days
**Frozen goods:** up to 3,000 euros
**Lost turnover:** starts after a waiting time of 72 hours and runs for 90 days at the longest

Cash left in the till overnight is insured up to 500 euros. Damage by vermin is not insured.
""",
    ),
    (
        "conditions/travel.txt",
        "conditions",
        """Travel policy in short

You bear the first EUR 100 of every claim. Tell us within 30 days of coming home. Baggage is insured up to
EUR 1 800, doctors and hospitals abroad up to EUR 2 000 000. Skiing is insured only with the Winter add-on.
Cancelled trips: we refund 80 % of what the organiser keeps.
""",
    ),
    (
        "guides/register-a-claim.md",
        "guide",
        """# Putting a new claim into the system

1. Open the portal and press *New file*.
2. Search the policy number; if it is not found, ask Underwriting before going on.
3. Enter the day of the loss and pick the cause.
4. Attach the letter as PDF.
5. Press *Assign*. The file number appears and the customer gets an acknowledgement by post.

Do this on the day the notice arrives.
""",
    ),
    (
        "guides/sending-an-assessor.txt",
        "guide",
        """WHEN DO I SEND SOMEBODY OUT?

Home and firms: always when more than 1,500 euros are asked for. Below that, photographs are enough.
Cars: always, except for glass.
Booking goes through the calendar "Field visits"; leave at least 2 working days. The assessor has 10 working days
for the report. Never promise the customer a time of day.
""",
    ),
    (
        "guides/reserves.html",
        "guide",
        """<html><head><title>Reserves</title></head><body><h1>Reserves</h1>
<p>A first reserve is entered within 24 hours of opening the file. Any change above EUR 2 500 is
mailed to the team lead.</p>
<p>Every open file is looked through again each quarter.</p></body></html>
""",
    ),
    (
        "guides/paying-out.md",
        "guide",
        """# Paying out

| Sum | Who releases it |
|---|---|
| up to €5,000 | the handler alone |
| above €5,000, up to €25,000 | handler and team lead |
| above €25,000 | head of claims |

Payment runs leave on Tuesday and Thursday at 14:00. A wrong transfer is stopped by Accounts until noon of the next day.
""",
    ),
    (
        "guides/unhappy-customers.md",
        "guide",
        """# When a customer complains

Write back within 3 working days that we have the complaint. Enter it on form K2. Somebody who did not work on the file
has to review it. The final answer goes out within 20 working days.
""",
    ),
    (
        "guides/suspicion.txt",
        "guide",
        """Suspected fraud
---------------
Say nothing to the customer. Fill in the red form F7 and bring it to Helena Voss, Special Investigations.
Stop all payments on the file. Carry on being polite. Helena decides within 5 working days how to go on.
""",
    ),
    (
        "guides/total-loss.md",
        "guide",
        """# Cars: repair or total loss?

A car is a total loss when the repair would cost more than 70 % of its market value. We then pay the market value less
the excess. The wreck is offered at the Lowgate salvage auction; the customer may keep it for the highest bid.
""",
    ),
    (
        "guides/bad-weather-plan.html",
        "guide",
        """<html><head><title>Bad weather plan</title></head><body>
<h1>Bad weather plan</h1><p>Starts when more than 40 notices arrive in one day. Gwen Tarrant calls it.</p>
<ul><li>Holidays are stopped.</li><li>Claims below EUR 2 000 are paid on photographs alone.</li>
<li>The office opens on Saturday, 8 to 13.</li></ul></body></html>
""",
    ),
    (
        "guides/getting-money-back.txt",
        "guide",
        """Recourse

If somebody else is to blame, we ask them for our money. Send the first demand within 4 weeks of our payment, remind
after 30 days, three times at most. After two years the right is lost. Sums under 150 euros are not pursued.
""",
    ),
    (
        "guides/first-week.md",
        "guide",
        """# Your first week - questions everybody asks

**I have forgotten my portal password?** Ask Milo Petrov; he sends a new one to your desk, never by mail.

**Where do I park?** Behind the building, except bays 1 to 6 (visitors).

**When is the team meeting?** The first Tuesday of the month, 9:30.

**Who opens the post?** The front desk, before 9.
""",
    ),
    (
        "guides/keeping-files.md",
        "guide",
        """# How long we keep things

- closed claims: ten years
- recordings of calls: six months
- photographs of damage: with the claim
- job applications: 90 days

Paper goes into the grey bin with the lock.
""",
    ),
]


def build_documents(claims: dict[str, Claim], rng: Random) -> list[Doc]:
    """Render every file."""
    docs = write_notices(claims, rng) + write_decisions(claims) + write_complaints(claims, rng)
    docs += write_inspections(claims) + write_emails(claims, rng)
    docs += [Doc("handbook", path, kind, text, date(2025, 1, 1)) for path, kind, text in HANDBOOK]
    return docs


def pick_docs(docs: list[Doc], test: Callable[[Doc], bool]) -> Truth:
    """Return the documents that pass a test as a truth."""
    found = sorted(d.path for d in docs if test(d))
    assert found
    return {"documents": found}


def count_docs(docs: list[Doc], test: Callable[[Doc], bool]) -> Truth:
    """Return how many documents pass a test as a truth."""
    number = sum(1 for d in docs if test(d))
    assert number
    return {"number": number}


def one_number(amount: float) -> Truth:
    """Return a number as a truth."""
    return {"number": amount}


def some_values(*values: str) -> Truth:
    """Return values as a truth."""
    return {"values": list(values)}


def day_truth(day: date) -> Truth:
    """Return a date as a truth."""
    return {"values": [say_date(day)], "alternatives": [[day.isoformat()], [dot_date(day)]]}


def top_doc(docs: list[Doc], score: Callable[[Doc], float]) -> Doc:
    """Return the only document with the highest score."""
    best = max(score(d) for d in docs)
    winners = [d for d in docs if score(d) == best]
    assert len(winners) == 1
    return winners[0]


def claim_truth(doc: Doc) -> Truth:
    """Name a claim's document in any of the usual ways."""
    assert doc.claim is not None
    c = doc.claim
    others = [[c.number], [doc.path]] + ([[c.plate], [c.car]] if c.plate else [])
    return {"values": [c.holder], "alternatives": others}


def claim_of(doc: Doc) -> Claim:
    """Return the claim a document is about."""
    assert doc.claim is not None
    return doc.claim


def build_questions(k: dict[str, Claim], docs: list[Doc]) -> list[dict[str, Any]]:
    """Return the 60 questions with their truths."""
    out: list[dict[str, Any]] = []
    nothing: Truth = {"nothing": True}
    letters = [d for d in docs if d.bucket == "letters"]
    visits = [d for d in docs if d.bucket == "inspections"]
    mails = [d for d in docs if d.bucket == "emails"]
    paid = [d for d in letters if d.kind == "paid"]
    declined = [d for d in letters if d.kind == "declined"]
    notices = [d for d in letters if d.kind == "notice"]
    complaints = [d for d in letters if d.kind == "complaint"]
    reserves = [d for d in mails if d.kind == "reserve"]
    corpus = "\n".join(d.text for d in docs).lower()

    def ask(kind: str, turns: list[str], truth: Truth, why: str) -> None:
        """Keep one question."""
        out.append({"id": f"q{len(out) + 1:02d}", "kind": kind, "turns": turns, "truth": truth, "why": why})

    def absent(*words: str) -> Truth:
        """Check that words occur nowhere and say nothing."""
        assert all(w not in corpus for w in words), words
        return nothing

    # lists
    ask(
        "list",
        ["which inspection reports are about water damage"],
        pick_docs(visits, lambda d: claim_of(d).peril == "water"),
        "three wordings: escape of water, burst pipe, leaking supply pipe; home and business",
    )
    ask(
        "list",
        ["can you pull up all the letters where we told the customer we wont pay"],
        pick_docs(declined, lambda d: True),
        "'turn down' / 'cannot help', never the asked word; complaints also refuse",
    )
    ask(
        "list",
        ["complaint letters, all of them pls"],
        pick_docs(complaints, lambda d: True),
        "file names say nothing; the guide on complaints is no letter",
    )
    ask(
        "list",
        ["Tobias Falks site visits in 2025?"],
        pick_docs(visits, lambda d: d.author == FALK and d.day.year == 2025),
        "missing apostrophe; a policyholder is called Falk too; dotted dates",
    )
    ask(
        "list",
        ["In which of the assessors' reports does it say that the people couldn't stay in their home?"],
        pick_docs(
            visits,
            lambda d: claim_of(d).line == "home" and not claim_of(d).habitable and claim_of(d).peril != "burglary",
        ),
        "said as NO / nobody can live there / no, occupants rehoused",
    )
    ask(
        "list",
        ["inspection reports with a repair cost north of 10 grand"],
        pick_docs(visits, lambda d: claim_of(d).estimate > 10000),
        "four number notations, four labels",
    )
    ask(
        "list",
        ["which cars that Declan looked at were not safe to drive any more"],
        pick_docs(visits, lambda d: d.author == BYRNE and not claim_of(d).roadworthy),
        "'must not be driven' against 'fit for the road'",
    )
    ask(
        "list",
        [
            "hi, I'm preparing the reserves meeting - which internal mails are about putting MORE "
            "money aside for a "
            "claim? not the ones where it went down"
        ],
        pick_docs(reserves, lambda d: d.facts["new"] > d.facts["old"]),
        "lifted / set aside; one was cut",
    )
    ask(
        "list",
        ["letters from customers reporting storm damage", "just the ones from 2025"],
        pick_docs(notices, lambda d: claim_of(d).peril == "storm" and d.day.year == 2025),
        "'gale' only; date notations differ",
    )
    ask(
        "list",
        ["where did an assessor want a specialist to look at it first?"],
        pick_docs(visits, lambda d: claim_of(d).verdict == "second"),
        "second opinion in three wordings",
    )
    ask(
        "list",
        ["what reports do we have from Ruth on houses or firms in Wexmouth?"],
        pick_docs(visits, lambda d: d.author == OKAFOR and claim_of(d).town == "Wexmouth"),
        "Ruth Lindqvist is a policyholder; Wexmouth is also in a firm's name",
    )

    # counts
    ask(
        "count",
        ["how many settlement letters (the ones with a payout) went out in 2025"],
        count_docs(paid, lambda d: d.day.year == 2025),
        "two templates; refusals must not count",
    )
    ask(
        "count",
        ["how many break ins have our assesors been out to"],
        count_docs(visits, lambda d: claim_of(d).peril == "burglary"),
        "break-in / intruders / burglary",
    )
    ask(
        "count",
        ["how many reports has Ines Moreau written", "and Declan Byrne?"],
        count_docs(visits, lambda d: d.author == BYRNE),
        "follow-up swaps the person; another Byrne is a handler",
    )
    ask(
        "count",
        ["no. of vehicles declared a total loss by our engineer?"],
        count_docs(visits, lambda d: claim_of(d).writeoff),
        "phrase also stands in a guide",
    )
    ask(
        "count",
        ["how many of the e-mails were sent by Pavel Hruska himself"],
        count_docs(mails, lambda d: d.author == PAVEL),
        "he is also named in others' mails; two head styles",
    )

    # look-ups
    ask(
        "lookup",
        [f"how much did we transfer to {k['w5'].holder} in the end?"],
        one_number(k["w5"].paid),
        "gross, own share and transfer stand together",
    )
    ask(
        "lookup",
        [f"when did the pipe burst at {k['w4'].holder}'s house"],
        day_truth(k["w4"].loss),
        "Falk is a policyholder here; visit and notice dates are near",
    )
    ask(
        "lookup",
        ["what did the moisture meter show at Lucia Ferrands place?"],
        one_number(k["w3"].moisture),
        "label is humidity in masonry",
    )
    ask(
        "lookup",
        ["who's standing in for Amira while she's away in july 2025?"],
        some_values(JONAS),
        "mail with another subject; another cover mail exists",
    )
    ask(
        "lookup",
        ["what was nicked from Leonard Osei"],
        some_values("cello", "wristwatch", "tablet"),
        "label 'Missing' and a notice in prose",
    )
    ask(
        "text",
        [
            "Under the current home policy, what does a customer have to bear himself if a pipe bursts?",
            "and under the old 2023 conditions?",
        ],
        one_number(300),
        "follow-up to the replaced file; 200 general, 400 now",
    )
    ask(
        "text",
        ["how do i go about it if i think a claim is fishy?"],
        some_values("F7", "Helena Voss"),
        "guide called suspicion; two mails about suspected cases compete",
    )
    ask(
        "text",
        ["how long have we got to give a final answer to somebody who complained?"],
        {"values": ["20 working days"]},
        "3 working days stands next to it",
    )
    ask(
        "text",
        ["How many days has a customer got to report a claim on the car policy?", "and on the travel one?"],
        one_number(30),
        "follow-up with another file",
    )
    ask(
        "text",
        ["for how long do we keep recorded phone calls"],
        {"values": ["six months"], "alternatives": [["6 months"]]},
        "four retention terms in one file",
    )

    # superlatives
    ask(
        "superlative",
        ["What's the priciest repair any of the assessors has put down, and whose is it?"],
        claim_truth(top_doc(visits, lambda d: claim_of(d).estimate)),
        "four money notations",
    )
    ask(
        "superlative",
        ["whose house had the wettest walls"],
        claim_truth(top_doc([d for d in visits if claim_of(d).peril == "water"], lambda d: claim_of(d).moisture)),
        "moisture, meter, humidity; three templates",
    )
    ask(
        "superlative",
        ["which cars did Declan Byrne survey in 2025?", "which of them had the fewest km on the clock?"],
        claim_truth(
            top_doc([d for d in visits if d.author == BYRNE and d.day.year == 2025], lambda d: -claim_of(d).mileage)
        ),
        "follow-up; the lowest odometer of all years is another car",
    )
    ask(
        "superlative",
        ["the very first refusal we sent out among the letters we have, who did it go to?"],
        claim_truth(top_doc(declined, lambda d: -d.day.toordinal())),
        "date in words or ISO; template without a label",
    )
    ask(
        "superlative",
        ["our settlement letters to customers from 2025 please", "the biggest payout of those - who got it?"],
        claim_truth(top_doc([d for d in paid if d.day.year == 2025], lambda d: claim_of(d).paid)),
        "gross and net; two templates; the biggest of all years is another",
    )

    # numbers and groups
    ask(
        "number",
        ["what did we pay out in total according to all the settlement letters"],
        one_number(sum(claim_of(d).paid for d in paid)),
        "sum over two notations; net, not gross",
    )
    hail = [claim_of(d).estimate for d in visits if claim_of(d).peril == "hail"]
    ask(
        "number",
        ["average repair bill for the cars with hail damage, going by the surveys"],
        {"number": sum(hail) / len(hail), "tolerance": 0.01},
        "line items, total and market value in one table",
    )
    ask(
        "group",
        ["number of inspection reports per assessor?"],
        {"groups": {name: sum(1 for d in visits if d.author == name) for name in (FALK, OKAFOR, MOREAU, BYRNE)}},
        "author only in the signature",
    )

    # yes or no
    ask(
        "yes_no",
        ["a customer's garden fence got blown over in a storm. does home cover that?"],
        {"yes_no": "no"},
        "in the exclusions; a refusal letter on the same point",
    )
    ask(
        "yes_no",
        [f"did {k['m7'].holder} get any money for the stolen car?"],
        {"yes_no": "no"},
        "notice, refusal, complaint and a mail about the same claim",
    )
    ask(
        "yes_no",
        [f"is it ok to still drive the {k['m6'].car} of {k['m6'].holder}"],
        {"yes_no": "yes" if k["m6"].roadworthy else "no"},
        "'fit for the road'",
    )
    ask(
        "yes_no",
        ["Can I release a payment of 4,200 on my own as a handler?"],
        {"yes_no": "yes"},
        "threshold in a table",
    )

    # joins and comparisons
    ask(
        "join",
        ["The man who complained about being treated rudely by our office - who had inspected his place?"],
        some_values(k["b2"].assessor),
        "complaint to report by name or file number",
    )
    new = next(d.facts["new"] for d in reserves if claim_of(d).tag == "f1")
    ask(
        "join",
        ["how much do we have in reserve now for the fire that started at an e-bike charger?"],
        one_number(new),
        "cause only in the report, money only in a mail with the file number",
    )
    ask(
        "join",
        ["When did we send the rejection to the lady whose roof tiles Tobias Falk had gone to see?"],
        day_truth(k["s2"].decided),
        "report to letter; four dates about the claim",
    )
    ask(
        "join",
        ["names of the people who complained after we had turned them down?"],
        some_values(*sorted(claim_of(d).holder for d in complaints if claim_of(d).decision == "declined")),
        "complaints for other reasons exist",
    )
    more = max((k["w1"], k["s1"]), key=lambda c: c.paid)
    assert k["w1"].paid != k["s1"].paid
    ask(
        "compare",
        ["who of the two Keanes got more out of us, Marta or Thomas?"],
        some_values(more.holder),
        "two letters in different notations, own share deducted",
    )

    # compound and ambiguous
    ask(
        "compound",
        ["how wide is the crack at Graham Petty's and what would the repair cost?"],
        {"parts": [one_number(k["u2"].crack), one_number(k["u2"].estimate)]},
        "two facts of a table; mm and EUR",
    )
    ask(
        "compound",
        ["who dries out buildings for us nowadays, and since when?"],
        {
            "parts": [
                some_values("Drywell & Sons"),
                {"values": ["1 June 2025"], "alternatives": [["2025-06-01"], ["June 2025"]]},
            ]
        },
        "old firm named first in the mail",
    )
    ask(
        "compound",
        ["at what point do we stop repairing a car and write it off and what's the auction called where the wrecks go"],
        {"parts": [{"values": ["70"], "alternatives": [["seventy"]]}, some_values("Lowgate")]},
        "no question mark; a percentage of market value, a name",
    )
    ask(
        "ambiguous",
        ["how much did we pay Keane?"],
        {"ask": True, "readings": [one_number(k["w1"].paid), one_number(k["s1"].paid)]},
        "two customers of that name",
    )

    ask(
        "ambiguous",
        ["whats our excess?"],
        {"ask": True, "readings": [one_number(250), one_number(300), one_number(750), one_number(100)]},
        "each policy has its own",
    )

    # nothing
    ask(
        "nothing",
        ["whats the excess on our pet insurance"],
        absent("pet insurance", "pet policy", " pets", "veterinar"),
        "excesses of four other policies",
    )
    ask(
        "nothing",
        ["Helena Voss' extension please, need to call her"],
        absent("extension", "ext.", "tel."),
        "she is named in a guide and mails, no number anywhere",
    )
    ask("nothing", ["any inspection that found asbestos?"], absent("asbestos"), "no such finding")
    ask(
        "nothing",
        ["what did the assessor find at Gerald Winslow's house in Highfold?"],
        absent("winslow", "gerald"),
        "no such customer, real town",
    )
    assert all(c.number != "CL-25-0999" for c in k.values())
    ask("nothing", ["status of CL-25-0999?"], absent("25-0999"), "well-formed number, no such file")
    assert k["u1"].tag == "u1" and k["u1"].moisture == 0
    ask(
        "nothing",
        ["how humid were the walls at Helga Brandt's, in percent?"],
        nothing,
        "she has a report, but on a conservatory in the storm; no reading",
    )
    assert not [d for d in visits if d.author == OKAFOR and (d.day.year, d.day.month) == (2025, 11)]
    ask("nothing", ["Ruth Okafor's inspections from November 2025"], nothing, "she has none that month")
    ask(
        "nothing",
        ["what did Declan Byrne bill us for surveying Priya Raman's Volvo?"],
        absent("fee:", "survey fee", "invoice", "bills us"),
        "survey holds repair sums, not his own bill",
    )
    assert not [
        d for d in visits if d.author == BYRNE and claim_of(d).peril == "hail" and claim_of(d).town == "Dunmere"
    ]
    ask(
        "nothing",
        ["which of Declan Byrne's surveys were about hail?", "any of those in Dunmere?"],
        nothing,
        "follow-up with an honest empty set; a collision there exists",
    )
    ask(
        "nothing",
        ["what's the name of the driver who ran into Dario Conti's car?"],
        nothing,
        "'another driver' is all the letter says",
    )
    assert not [d for d in declined if d.day.year == 2024]
    ask(
        "nothing",
        ["letters turning people down, from 2025", "and from 2024?"],
        nothing,
        "follow-up with an honest empty set; 2024 has only payouts",
    )
    ask(
        "nothing",
        ["how do I apply for parental leave?"],
        absent("parental", "maternity", "paternity"),
        "guides for newcomers, not this one",
    )
    return out


def write_round(target: Path) -> None:
    """Write documents and questions below a folder."""
    rng = Random(SEED)
    claims = make_claims(rng)
    docs = build_documents(claims, rng)
    assert len({d.path for d in docs}) == len(docs)
    for doc in docs:
        path = target / "documents" / doc.bucket / doc.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(doc.text, encoding="utf-8")
    questions = build_questions(claims, docs)
    assert len({q["id"] for q in questions}) == len(questions)
    known = {d.path for d in docs}
    assert all(p in known for q in questions for p in q["truth"].get("documents", []))
    lines = [json.dumps(q, ensure_ascii=False) for q in questions]
    (target / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_round(Path(sys.argv[1]))
