"""Write one messy round about a housing association: leases, repairs, letters, guides and 60 questions."""

import json
import random
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

SEED = 202
TODAY = date(2026, 11, 22)
Truth = dict[str, object]
MONTHS = [
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
WORDS = ["zero", "one", "two", "three", "four", "five", "six"]


@dataclass(frozen=True)
class House:
    """One building with its house rules."""

    name: str
    street: str
    caretaker: str
    phone: str
    quiet: tuple[str, str]
    midday: str
    dogs: str
    bins: str
    barbecue: str
    laundry: str
    style: int


@dataclass(frozen=True)
class Lease:
    """One tenancy contract."""

    path: str
    number: str
    tenant: str
    partner: str
    house: str
    flat: str
    rooms: int
    area: int
    rent: int
    charges: int
    deposit: int
    start: date
    end: date | None
    notice: int
    pet: str
    parking: str
    officer: str
    style: int


@dataclass(frozen=True)
class Repair:
    """One repair report."""

    path: str
    ref: str
    house: str
    place: str
    reporter: str
    reported: date
    tag: str
    found: str
    done: str
    firm: str
    visited: date | None
    fixed: bool
    absent: bool
    cost: float
    style: int


@dataclass(frozen=True)
class Letter:
    """One complaint letter with the answer to it, if one was sent."""

    path: str
    tenant: str
    sent: date
    tag: str
    body: str
    style: int
    answer_path: str
    answered: date | None
    officer: str
    outcome: str
    amount: float
    answer: str


HOUSES: list[House] = [
    House(
        "Alder Court",
        "12 Quay Street",
        "Piet Brandt",
        "020 555 0141",
        ("22:00", "07:00"),
        "",
        "ask",
        "Tuesday",
        "electric grills only",
        "Monday to Saturday, 8 to 20 h",
        0,
    ),
    House(
        "Birch House",
        "4 Mill Lane",
        "Yvonne Sauer",
        "020 555 0157",
        ("21:30", "06:30"),
        "13:00 to 15:00",
        "forbidden",
        "Friday",
        "no grilling of any kind",
        "weekdays, 7 to 19 h",
        1,
    ),
    House(
        "Canal Row",
        "4 to 10 Canal Row",
        "",
        "",
        ("23:00", "07:00"),
        "",
        "allowed",
        "Monday",
        "gas and electric grills in the back gardens",
        "no shared laundry",
        2,
    ),
    House(
        "Dovecote Yard",
        "31 Abbey Road",
        "Sami Lindqvist",
        "020 555 0163",
        ("22:00", "06:00"),
        "12:30 to 14:00",
        "ask",
        "Thursday",
        "charcoal only in the fireplace in the yard",
        "every day, 9 to 18 h",
        0,
    ),
    House(
        "Elm Terrace",
        "14 to 20 Elm Terrace",
        "Piet Brandt",
        "020 555 0141",
        ("22:30", "07:00"),
        "",
        "ask",
        "Wednesday",
        "electric grills only",
        "no shared laundry",
        1,
    ),
    House(
        "Foundry Lofts",
        "2 Hammer Square",
        "Grace Okafor",
        "020 555 0188",
        ("23:30", "06:00"),
        "",
        "allowed",
        "Saturday",
        "no grilling on the galleries",
        "round the clock, with a card",
        2,
    ),
]

LEASE_ROWS: list[tuple[str, str, str, str, int, str, str, int, str, str, str]] = [
    ("Hugo Martens", "", "Alder Court", "3B", 3, "2016-05-01", "2021-04-30", 3, "", "", "Helga Moreau"),
    ("Nadia Rahimi", "", "Alder Court", "3B", 3, "2021-06-01", "", 2, "", "space 14", "Ruth Adeyemi"),
    ("Marta Keller", "", "Alder Court", "1A", 2, "2012-02-01", "", 3, "two cats", "", "Helga Moreau"),
    ("Leon Forsberg", "Ida Forsberg", "Alder Court", "5C", 4, "2019-09-01", "", 3, "", "space 9", "Helga Moreau"),
    ("Jonas Keller", "", "Birch House", "2", 2, "2020-03-15", "", 1, "", "", "Ruth Adeyemi"),
    ("Olga Petrenko", "", "Birch House", "7", 3, "2017-11-01", "", 3, "", "", "Helga Moreau"),
    ("Samuel Adeyemi", "", "Birch House", "9", 1, "2024-10-01", "", 1, "", "", "Dennis Falk"),
    ("Claire Dubois", "Marc Dubois", "Birch House", "11", 4, "2015-07-01", "", 3, "", "space 3", "Helga Moreau"),
    ("Fatima Zahir", "", "Canal Row", "4", 4, "2023-01-15", "", 2, "", "", "Dennis Falk"),
    ("Tomasz Wrona", "", "Canal Row", "6", 3, "2014-04-01", "", 3, "", "", "Helga Moreau"),
    ("Ellen Whitaker", "", "Canal Row", "8", 3, "2009-08-16", "", 3, "one dog", "", "Helga Moreau"),
    ("Birgit Holm", "", "Canal Row", "10", 4, "2020-12-01", "", 2, "one cat", "garage B", "Ruth Adeyemi"),
    ("Piet Brandt", "", "Dovecote Yard", "2", 2, "2013-06-01", "", 6, "one dog", "", "Helga Moreau"),
    ("Amara Nwosu", "", "Dovecote Yard", "5", 3, "2022-04-01", "", 2, "", "space 21", "Ruth Adeyemi"),
    ("George Tilney", "", "Dovecote Yard", "6", 2, "2011-10-01", "", 3, "", "", "Helga Moreau"),
    ("Lucia Ferraro", "", "Elm Terrace", "14", 5, "2023-02-01", "2028-01-31", 2, "one dog", "", "Dennis Falk"),
    ("Viktor Hahn", "", "Elm Terrace", "16", 4, "2016-01-15", "", 3, "", "", "Helga Moreau"),
    ("Priya Menon", "Arun Menon", "Elm Terrace", "18", 4, "2021-03-01", "", 2, "", "garage 2", "Ruth Adeyemi"),
    ("Sean Gallagher", "", "Elm Terrace", "20", 3, "2017-05-15", "2023-10-31", 3, "", "", "Helga Moreau"),
    ("Anneke de Wit", "", "Foundry Lofts", "1.04", 2, "2022-11-15", "", 2, "", "", "Dennis Falk"),
    ("Rafael Ortiz", "", "Foundry Lofts", "2.07", 2, "2019-12-01", "", 3, "two dogs", "space 30", "Ruth Adeyemi"),
    ("Zoe Lambert", "", "Foundry Lofts", "3.01", 3, "2025-03-01", "2027-08-31", 1, "", "space 33", "Dennis Falk"),
]

# ref, house, place, reporter, reported, tag, found, done, firm, days until the visit (-1: none), state, price level
REPAIR_ROWS: list[tuple[str, str, str, str, str, str, str, str, str, int, str, int]] = [
    (
        "RR-23-01",
        "Alder Court",
        "3B",
        "Nadia Rahimi",
        "2023-01-17",
        "plumbing",
        "The trap under the kitchen sink was cracked and water had run into the cupboard.",
        "New trap fitted, cupboard floor dried out.",
        "Halloran Plumbing",
        2,
        "fixed",
        120,
    ),
    (
        "RR-23-02",
        "Birch House",
        "lift",
        "Yvonne Sauer",
        "2023-02-14",
        "lift",
        "The cabin had stopped between the second and third floor. A door contact was worn.",
        "Contact exchanged, test run with no fault.",
        "Nordlift Service",
        1,
        "fixed",
        620,
    ),
    (
        "RR-23-03",
        "Elm Terrace",
        "20",
        "Sean Gallagher",
        "2023-03-20",
        "heating",
        "The radiator in the living room stayed cold because the valve was stuck.",
        "Valve freed and the head exchanged.",
        "Bruckner Heating",
        3,
        "fixed",
        140,
    ),
    (
        "RR-23-04",
        "Canal Row",
        "6",
        "Tomasz Wrona",
        "2023-05-22",
        "window",
        "The bedroom casement would not shut. The lower hinge had broken.",
        "Both hinges replaced and the sash planed.",
        "Keller & Sons",
        8,
        "fixed",
        210,
    ),
    (
        "RR-23-05",
        "Foundry Lofts",
        "2.07",
        "Rafael Ortiz",
        "2023-09-18",
        "electric",
        "The socket behind the cooker was scorched and one wire was loose.",
        "Socket and back box renewed.",
        "Voltaire Electric",
        0,
        "fixed",
        160,
    ),
    (
        "RR-23-06",
        "Dovecote Yard",
        "5",
        "Amara Nwosu",
        "2023-11-15",
        "heating",
        "The boiler had locked out. System pressure was almost nil.",
        "Expansion vessel pumped up, system refilled.",
        "Bruckner Heating",
        1,
        "fixed",
        190,
    ),
    (
        "RR-24-01",
        "Alder Court",
        "lift",
        "Piet Brandt",
        "2024-01-22",
        "lift",
        "The drive motor overheated and cut out after every fourth trip.",
        "Motor taken out, rewound and put back.",
        "Nordlift Service",
        22,
        "fixed",
        3400,
    ),
    (
        "RR-24-02",
        "Birch House",
        "7",
        "Olga Petrenko",
        "2024-02-19",
        "damp",
        "There was a black mould patch in the bedroom corner. Outside, the gutter overflowed onto that wall.",
        "Gutter cleared and the corner treated.",
        "Stanhope Roofing",
        9,
        "fixed",
        430,
    ),
    (
        "RR-24-03",
        "Canal Row",
        "8",
        "Ellen Whitaker",
        "2024-03-25",
        "plumbing",
        "The toilet cistern ran without stopping. The float was split.",
        "Float and inlet replaced.",
        "Halloran Plumbing",
        2,
        "fixed",
        95,
    ),
    (
        "RR-24-04",
        "Elm Terrace",
        "16",
        "Viktor Hahn",
        "2024-04-16",
        "lock",
        "The key of the front door turned without catching. The cylinder was worn out.",
        "New cylinder with three keys handed over.",
        "Keller & Sons",
        1,
        "fixed",
        180,
    ),
    (
        "RR-24-05",
        "Foundry Lofts",
        "1.04",
        "Anneke de Wit",
        "2024-06-13",
        "window",
        "The skylight lets in water in heavy rain. The flashing is torn on two sides.",
        "Taped over for the time being. A second visit with new flashing is needed.",
        "Keller & Sons",
        7,
        "open",
        0,
    ),
    (
        "RR-24-06",
        "Foundry Lofts",
        "roof",
        "Grace Okafor",
        "2024-08-26",
        "roof",
        "A storm had lifted eleven sheets on the north side.",
        "All sheets put back and screwed down, ridge sealed.",
        "Stanhope Roofing",
        21,
        "fixed",
        4900,
    ),
    (
        "RR-24-07",
        "Dovecote Yard",
        "2",
        "Piet Brandt",
        "2024-10-14",
        "electric",
        "The fan in the bathroom was dead.",
        "Fan exchanged for one with a timer.",
        "Voltaire Electric",
        7,
        "fixed",
        130,
    ),
    (
        "RR-24-08",
        "Elm Terrace",
        "18",
        "Priya Menon",
        "2024-11-18",
        "heating",
        "No hot water at any tap. The diverter valve of the boiler did not move.",
        "Diverter valve replaced.",
        "Bruckner Heating",
        1,
        "fixed",
        280,
    ),
    (
        "RR-24-09",
        "Alder Court",
        "5C",
        "Leon Forsberg",
        "2024-12-16",
        "plumbing",
        "The shower drain was blocked with hair and grout.",
        "Drain rodded and flushed.",
        "Halloran Plumbing",
        2,
        "fixed",
        110,
    ),
    (
        "RR-25-01",
        "Birch House",
        "lift",
        "Yvonne Sauer",
        "2025-01-20",
        "lift",
        "The doors kept opening again. The light curtain was dirty.",
        "Light curtain cleaned and set.",
        "Nordlift Service",
        1,
        "fixed",
        230,
    ),
    (
        "RR-25-02",
        "Birch House",
        "9",
        "Samuel Adeyemi",
        "2025-02-17",
        "plumbing",
        "The tap in the bathroom drips, according to the tenant.",
        "Nobody opened the door, card left. A new appointment has to be made.",
        "Halloran Plumbing",
        7,
        "absent",
        0,
    ),
    (
        "RR-25-03",
        "Canal Row",
        "4",
        "Fatima Zahir",
        "2025-03-18",
        "electric",
        "The intercom gave no sound. The cable was chafed at the gate.",
        "Cable renewed over six metres.",
        "Voltaire Electric",
        6,
        "fixed",
        240,
    ),
    (
        "RR-25-04",
        "Elm Terrace",
        "14",
        "Lucia Ferraro",
        "2025-05-19",
        "plumbing",
        "A pipe had burst in the wall between kitchen and hall; the parquet was under water.",
        "Wall opened, two metres of pipe replaced, dryers set up for ten days.",
        "Halloran Plumbing",
        0,
        "fixed",
        1700,
    ),
    (
        "RR-25-05",
        "Foundry Lofts",
        "3.01",
        "Zoe Lambert",
        "2025-07-21",
        "electric",
        "Half of the loft was without power and the breaker tripped at once.",
        "A faulty dishwasher circuit was found and rewired.",
        "Voltaire Electric",
        1,
        "fixed",
        350,
    ),
    (
        "RR-25-06",
        "Dovecote Yard",
        "6",
        "George Tilney",
        "2025-10-20",
        "heating",
        "The radiators gurgled and stayed lukewarm at the top.",
        "All five radiators bled.",
        "Bruckner Heating",
        3,
        "fixed",
        85,
    ),
    (
        "RR-25-07",
        "Alder Court",
        "1A",
        "Marta Keller",
        "2025-11-24",
        "window",
        "The balcony door was draughty; its rubber seal had perished.",
        "Seal replaced all round.",
        "Keller & Sons",
        21,
        "fixed",
        150,
    ),
    (
        "RR-26-01",
        "Elm Terrace",
        "cellar",
        "Piet Brandt",
        "2026-01-19",
        "plumbing",
        "The sump pump in the cellar does not start.",
        "Impeller broken. The spare part is on order, the job stays open.",
        "Halloran Plumbing",
        3,
        "open",
        0,
    ),
    (
        "RR-26-02",
        "Alder Court",
        "3B",
        "Nadia Rahimi",
        "2026-02-16",
        "heating",
        "The thermostat shows an error, according to the tenant.",
        "Nobody was at home at the agreed time. Not done, new date to be agreed.",
        "Bruckner Heating",
        4,
        "absent",
        0,
    ),
    (
        "RR-26-03",
        "Foundry Lofts",
        "lift",
        "Grace Okafor",
        "2026-04-20",
        "lift",
        "Broken strands were found in two of the ropes.",
        "Taken out of service. New ropes are on order, the job stays open.",
        "Nordlift Service",
        4,
        "open",
        0,
    ),
    (
        "RR-26-04",
        "Birch House",
        "2",
        "Jonas Keller",
        "2026-08-17",
        "lock",
        "The letter box lock is jammed, according to the tenant.",
        "Order passed on; nobody has been to look at it yet.",
        "Keller & Sons",
        -1,
        "open",
        0,
    ),
]

# tenant, sent, tag, body, days until the answer (-1: none), officer, outcome, amount, answer
LETTER_ROWS: list[tuple[str, str, str, str, int, str, str, float, str]] = [
    (
        "Hugo Martens",
        "2020-10-19",
        "noise",
        "For six weeks a pile driver has been pounding on the building site next door, from seven in the morning. I work "
        "nights and cannot sleep. I ask for a rent reduction of 20 percent.",
        21,
        "Ruth Adeyemi",
        "rejected",
        0,
        "The site belongs to the city, and the work keeps to the permitted hours. We cannot reduce your rent.",
    ),
    (
        "Nadia Rahimi",
        "2023-03-13",
        "service charges",
        "The statement of service charges for 2022 cannot be right. You bill me for garden work at twice the sum of the "
        "year before, and the share for the lift is wrong too.",
        18,
        "Dennis Falk",
        "partly",
        64.2,
        "The garden costs are correct. In the share for the lift we made a mistake.",
    ),
    (
        "Olga Petrenko",
        "2024-01-29",
        "damp",
        "The corner behind my bed is black with mould and the wallpaper is wet. I air every day. My daughter has a cough. "
        "Please send someone and pay for the mattress.",
        28,
        "Dennis Falk",
        "upheld",
        180.0,
        "You are right, and we are sorry. The wall was wet from the outside; it was not your airing.",
    ),
    (
        "Olga Petrenko",
        "2024-09-23",
        "damp",
        "Half a year after your repair the mould in the bedroom has come back. I want the wall opened this time, not "
        "painted over.",
        -1,
        "",
        "",
        0,
        "",
    ),
    (
        "Jonas Keller",
        "2022-06-20",
        "noise",
        "The man above me practises the drums every evening until after ten. I have spoken to him twice, he laughs. "
        "Please do something.",
        10,
        "Ruth Adeyemi",
        "upheld",
        0,
        "We have spoken to your neighbour and warned him in writing. He now practises in the youth centre.",
    ),
    (
        "Claire Dubois",
        "2023-02-27",
        "lift",
        "The lift has stood still for the third time this winter. We live on the fifth floor with a baby and I carry the "
        "pram upstairs.",
        16,
        "Helga Moreau",
        "partly",
        50.0,
        "We cannot promise that it will never stop again, and the rent stays as it is. For the trouble we offer a "
        "one-off sum.",
    ),
    (
        "Ellen Whitaker",
        "2021-08-16",
        "smell",
        "Since the takeaway opened at the corner my garden reeks of frying fat from noon on. I cannot hang out my "
        "laundry any more.",
        14,
        "Ruth Adeyemi",
        "rejected",
        0,
        "The shop is not ours and the city has approved its extractor. There is nothing that we can do.",
    ),
    (
        "Birgit Holm",
        "2025-06-16",
        "rubbish",
        "The bins in front of Canal Row overflow every weekend and the gulls tear the bags open. One collection a week "
        "is not enough.",
        9,
        "Dennis Falk",
        "upheld",
        0,
        "From next month a second collection is ordered for the summer. There will be no extra cost.",
    ),
    (
        "George Tilney",
        "2024-05-27",
        "noise",
        "The beagle at number 2 barks from the moment his master leaves until he returns. It is the caretaker of another "
        "of your houses who lives there, so he should know the rules.",
        -1,
        "",
        "",
        0,
        "",
    ),
    (
        "Amara Nwosu",
        "2023-12-18",
        "cold",
        "After the repair in November the boiler failed again, and we sat in the cold for five days, at 14 degrees. "
        "I bought two fan heaters at my own cost.",
        23,
        "Helga Moreau",
        "upheld",
        120.0,
        "Five days are far too long, and we apologise. We pay for the fan heaters.",
    ),
    (
        "Viktor Hahn",
        "2025-09-15",
        "service charges",
        "I do not see why I should pay for the front gardens in the yearly statement. I look after mine myself, and "
        "have done since I moved in.",
        17,
        "Dennis Falk",
        "rejected",
        0,
        "Your contract makes no exception for the front gardens, so the statement stands as it is.",
    ),
    (
        "Priya Menon",
        "2026-03-16",
        "appointments",
        "Three times I took a day off for your plumbers, and three times nobody came or rang. Who pays me for that?",
        -1,
        "",
        "",
        0,
        "",
    ),
    (
        "Rafael Ortiz",
        "2025-04-14",
        "theft",
        "My bicycle was stolen from the locked cellar, the second one within a year. The door closer has been broken "
        "since Christmas.",
        -1,
        "",
        "",
        0,
        "",
    ),
    (
        "Anneke de Wit",
        "2024-07-15",
        "leak",
        "Whenever it pours, water drips from the skylight onto my piano. Your joiner stuck some tape on it and was never "
        "seen again.",
        24,
        "Helga Moreau",
        "upheld",
        265.0,
        "The provisional tape was not enough. We pay the bill for tuning and drying the instrument.",
    ),
    (
        "Zoe Lambert",
        "2026-07-20",
        "noise",
        "Since May the bakery on the ground floor has had its deliveries at five in the morning, with roll containers "
        "over the cobbles. Nobody on this side can sleep.",
        -1,
        "",
        "",
        0,
        "",
    ),
]

GUIDES: dict[str, str] = {
    "moving-out.md": """# Moving out: what to do and when

1. Give notice **in writing**; an e-mail is not enough. How many months ahead is in your contract.
2. Book the first walk-through at least **three weeks** before your last day. We tell you then what has to be put right.
3. Fill the holes in the walls. Coloured walls have to be painted white again.
4. Hand over all keys by **12 noon** on the last day of the tenancy.

The deposit is paid back within **six weeks** of the handover, less what is still owed. We need your new bank details.
""",
    "healthy-air.html": """<html><head><title>Fresh air, dry walls</title></head><body>
<h1>Fresh air, dry walls</h1>
<p>Mould grows where warm damp air meets a cold wall. Open the windows <b>wide three times a day for ten minutes</b>;
a tilted window only cools the wall.</p>
<ul><li>Keep every room at 18 degrees or more in winter.</li><li>Stay below 60 percent humidity.</li>
<li>Leave a hand's breadth, 10 cm, between wardrobes and outer walls.</li></ul>
<p>If a patch is larger than a sheet of A4, do not scrub it: tell us, and we will send somebody.</p></body></html>
""",
    "lost-keys.txt": """LOST YOUR KEYS?

Come to the office at 8 Harbour Square with your identity card, Monday to Thursday between 9 and 16 h.
A new key for the house door costs 48 euros, one for the letter box 18 euros, ready after two working days.
If the key was lost together with your address, the cylinder has to be changed. That is 165 euros, and most
household insurers pay for it. Please never have keys of the house cut by a shop; the blanks are protected.
""",
    "subletting.md": """# Letting somebody else live in your flat

You may sublet the whole flat for **no longer than twelve months**, and only with our consent. Ask in writing, six weeks
ahead, with the name of the person and the reason.

| Question | Answer |
|---|---|
| How much may I take? | Your own rent, plus 10 percent at most if it is furnished |
| A lodger in one room? | Yes, just let us know the name |
| Holiday guests who pay? | Never, this is a reason to end the contract |
""",
    "heating-bill.html": """<html><body><h2>Understanding the yearly heating statement</h2>
<p>You receive it by 30 June for the year before. The meters are read by radio in January, so nobody has to be in.</p>
<table><tr><th>Part</th><th>Share</th></tr><tr><td>By what you used</td><td>70 %</td></tr>
<tr><td>By the floor area of the flat</td><td>30 %</td></tr></table>
<p>You think it is wrong? You have eight weeks to object, in a letter with your reasons. You can look at the invoices
in our office by appointment. Those who cannot pay at once may ask for up to six instalments.</p></body></html>
""",
    "when-it-cannot-wait.txt": """WHEN IT CANNOT WAIT UNTIL MORNING

Day and night: 020 555 0199. Call it for burst pipes, no heating in frost, people stuck in a lift, a door that
cannot be closed. Not for a dripping tap: those who call us out for a trifle at night pay the 90 euros themselves.

Smell of gas: touch no switch, light nothing, open the windows, leave, and from the street ring 0800 555 0112.
Water: turn the stop tap, which is under the kitchen sink or in the hall cupboard. Then call.
""",
    "if-you-are-not-happy.md": """# If you are not happy with us

Write to us or come by. You hear **within five working days** that we have received it, and get a reasoned reply
**within twenty working days**.

Still not satisfied? The *tenants' panel* looks at it again: three elected tenants and one outside lawyer. The panel
meets on the first Tuesday of the month. The last step is the Housing Ombudsman, free of charge.
""",
    "bikes-and-prams.txt": """Bikes, prams, walkers

Each flat has two places in the bicycle room. Put your flat number on the bike: what carries no number is taken
away in October and given to a workshop for young people.
Batteries of electric bikes must not be charged in the cellar. Take them up to your flat.
Prams and walkers may stand under the stairs as long as 90 cm stay free to pass. The room key is 25 euros, and you
get the money back when you return it.
""",
}


def write_date(day: date, style: int) -> str:
    """Write a date in one of five notations."""
    month = MONTHS[day.month - 1]
    if style == 0:
        return f"{day.day} {month} {day.year}"
    if style == 1:
        return f"{day.day:02d}.{day.month:02d}.{day.year}"
    if style == 2:
        return day.isoformat()
    if style == 3:
        ending = "th" if 10 < day.day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
        return f"the {day.day}{ending} of {month} {day.year}"
    return f"{month[:3]} {day.day}, {day.year}"


def write_money(amount: float, style: int) -> str:
    """Write an amount in euros in one of four notations."""
    english = f"{amount:,.2f}"
    if style == 0:
        return f"€{english}"
    if style == 1:
        return "EUR " + english.replace(",", " ").replace(".", ",").replace(" ", ".")
    if style == 2:
        return f"{amount:.2f} €"
    return (f"{amount:,.0f}" if amount == int(amount) else english) + " euros"


def make_leases(rng: random.Random) -> list[Lease]:
    """Build the leases with drawn areas and rents."""
    leases: list[Lease] = []
    numbers = rng.sample(range(110, 990), len(LEASE_ROWS))
    for index, row in enumerate(LEASE_ROWS):
        tenant, partner, house, flat, rooms, start, end, notice, pet, parking, officer = row
        style = index % 4
        area = 22 + 17 * rooms + rng.randint(0, 9)
        rent = round((area * rng.uniform(9.2, 12.4)) / 5) * 5
        ending = [".md", ".txt", ".html", ".txt"][style]
        leases.append(
            Lease(
                f"contract-{numbers[index]}{ending}",
                f"C-{numbers[index]}",
                tenant,
                partner,
                house,
                flat,
                rooms,
                area,
                rent,
                60 + 5 * rng.randint(6, 26),
                rent * rng.choice([2, 3]),
                date.fromisoformat(start),
                date.fromisoformat(end) if end else None,
                notice,
                pet,
                parking,
                officer,
                style,
            )
        )
    return leases


def make_repairs(rng: random.Random) -> list[Repair]:
    """Build the repair reports with drawn costs."""
    repairs: list[Repair] = []
    for index, row in enumerate(REPAIR_ROWS):
        ref, house, place, reporter, day, tag, found, done, firm, wait, state, price = row
        style = (index * 3 + index // 4) % 4
        reported = date.fromisoformat(day)
        ending = [".md", ".txt", ".html", ".txt"][style]
        cost = round(price * rng.uniform(0.9, 1.15) * 20) / 20
        repairs.append(
            Repair(
                f"{reported.year}/{ref.lower()}{ending}",
                ref,
                house,
                place,
                reporter,
                reported,
                tag,
                found,
                done,
                firm,
                reported + timedelta(days=wait) if wait >= 0 else None,
                state == "fixed",
                state == "absent",
                cost,
                style,
            )
        )
    return repairs


def make_letters(rng: random.Random) -> list[Letter]:
    """Build the complaint letters and the answers, filed under shuffled scan numbers."""
    numbers = rng.sample(range(100, 400), 2 * len(LETTER_ROWS))
    letters: list[Letter] = []
    for index, row in enumerate(LETTER_ROWS):
        tenant, sent, tag, body, wait, officer, outcome, amount, answer = row
        style = index % 3
        day = date.fromisoformat(sent)
        answer_end = [".md", ".txt"][index % 2]
        letters.append(
            Letter(
                f"scan-{numbers[2 * index]}{['.txt', '.html', '.md'][style]}",
                tenant,
                day,
                tag,
                body,
                style,
                f"scan-{numbers[2 * index + 1]}{answer_end}" if wait >= 0 else "",
                day + timedelta(days=wait) if wait >= 0 else None,
                officer,
                outcome,
                amount,
                answer,
            )
        )
    return letters


def render_lease(lease: Lease) -> str:
    """Render one lease in the style of its time."""
    style = lease.style
    house = next(item for item in HOUSES if item.name == lease.house)
    both = f"{lease.tenant} and {lease.partner}" if lease.partner else lease.tenant
    start = write_date(lease.start, style)
    end = write_date(lease.end, style) if lease.end else ""
    rent, charges, deposit = (write_money(value, style) for value in (lease.rent, lease.charges, lease.deposit))
    if style == 0:
        pet = f"The tenant may keep {lease.pet}." if lease.pet else "For animals the house rules apply."
        parking = f"Parking let with it: {lease.parking}." if lease.parking else "No parking is included."
        term = f"and ends on {end} without notice" if end else "and runs for an indefinite time"
        return (
            f"# Tenancy agreement {lease.number}\n\nbetween the **Harbour Vale Housing Association**, represented by "
            f"{lease.officer}, and **{both}**.\n\n## 1 The flat\n\nLet is flat {lease.flat} in {lease.house}, "
            f"{house.street}, with {WORDS[lease.rooms]} rooms and {lease.area} square metres. {parking}\n\n"
            f"## 2 Duration\n\nThe tenancy begins on {start} {term}. The tenant can give notice with a period of "
            f"{lease.notice} month(s).\n\n## 3 What is paid\n\nThe basic rent is {rent} a month. On top comes an "
            f"advance of {charges} a month for heating and services. Before moving in, the tenant deposits {deposit}."
            f"\n\n## 4 Animals\n\n{pet}\n"
        )
    if style == 1:
        return (
            f"HARBOUR VALE HOUSING ASSOCIATION\nCONTRACT SHEET\n\nNO.: {lease.number}\nTENANT(S): {both}\n"
            f"OBJECT: {lease.house}, {house.street}, flat {lease.flat}\nROOMS: {lease.rooms}\nAREA: {lease.area} m2\n"
            f"FROM: {start}\nUNTIL: {end or 'open'}\nNET RENT/MONTH: {rent}\nEXTRAS/MONTH: {charges}\n"
            f"SECURITY: {deposit}\nNOTICE (TENANT): {lease.notice} mo.\nANIMALS: {lease.pet or 'see house rules'}\n"
            f"PARKING: {lease.parking or 'none'}\nFOR THE ASSOCIATION: {lease.officer}\n"
        )
    if style == 2:
        rows: list[tuple[str, str]] = [
            ("Agreement", lease.number),
            ("Who rents", both),
            ("Home", f"{lease.house} {lease.flat}"),
            ("Street", house.street),
            ("Size", f"{lease.area} sqm, {lease.rooms} rooms"),
            ("Start", start),
            ("Last day", end or "not limited"),
            ("Rent without extras", rent),
            ("Advance for extras", charges),
            ("Deposit paid", deposit),
            ("Tenant may leave after", f"{lease.notice} months' notice"),
            ("Pets agreed", lease.pet or "no special agreement"),
            ("Car", lease.parking or "no space let"),
        ]
        body = "\n".join(f"<tr><td>{key}</td><td>{value}</td></tr>" for key, value in rows)
        return (
            f"<html><head><title>Your new home</title></head><body><h1>Your new home at {lease.house}</h1>\n<table>"
            f"\n{body}\n</table>\n<p>All amounts per month, save the deposit. Signed for us: {lease.officer}.</p>"
            "</body></html>\n"
        )
    pet = f" We agree that {lease.pet} may live in the flat." if lease.pet else ""
    parking = f" The rent covers {lease.parking} for a car as well." if lease.parking else ""
    term = f"until {end}, and no longer" if end else "with no end set"
    return (
        f"Agreement {lease.number}\n\nWe, the Harbour Vale Housing Association, acting through {lease.officer}, "
        f"let to {both} the home known as {lease.house}, number {lease.flat} ({house.street}), of "
        f"{WORDS[lease.rooms]} rooms and some {lease.area} square metres, from {start} {term}.\n\n"
        f"Every month {rent} fall due as rent and a further {charges} towards heating and services, by the third "
        f"working day. As security {deposit} have been handed over.{parking}{pet}\n\nWhoever wants to move out tells "
        f"us in writing {WORDS[lease.notice]} month{'s' if lease.notice > 1 else ''} ahead.\n"
    )


def render_repair(job: Repair) -> str:
    """Render one repair report as a report, a form, a web page or a mail."""
    style = job.style
    where = f"{job.house}, {'flat ' if job.place[0].isdigit() else ''}{job.place}"
    reported = write_date(job.reported, style if style < 3 else 4)
    visited = write_date(job.visited, style if style < 3 else 4) if job.visited else ""
    if style == 0:
        bill = f"The invoice came to {write_money(job.cost, 0)}." if job.fixed else "No invoice so far."
        return (
            f"# Repair report {job.ref}\n\n{where}. Told to us by {job.reporter} on {reported}.\n\n## Findings\n\n"
            f"{job.found}\n\n## Work\n\n{job.firm}{', there on ' + visited if visited else ''}: {job.done}\n\n"
            f"## Bill\n\n{bill}\n"
        )
    if style == 1:
        lines: list[tuple[str, str]] = [
            ("Job", job.ref),
            ("Place", where),
            ("Reported by", job.reporter),
            ("Received", reported),
            ("Firm", job.firm),
            ("On site", visited or "-"),
            ("State", "finished" if job.fixed else "NOT finished"),
            ("Total", write_money(job.cost, 1) if job.fixed else "-"),
        ]
        return "\n".join(f"{key:.<16} {value}" for key, value in lines) + f"\n\nFault: {job.found}\nDone: {job.done}\n"
    if style == 2:
        table = ""
        if job.fixed:
            material = round(job.cost * 0.4, 2)
            labour = round(job.cost - material, 2)
            table = (
                f"<table><tr><th>Item</th><th>Amount</th></tr><tr><td>Material</td><td>{write_money(material, 2)}"
                f"</td></tr><tr><td>Labour and travel</td><td>{write_money(labour, 2)}</td></tr><tr><td>Sum</td>"
                f"<td>{write_money(job.cost, 2)}</td></tr></table>"
            )
        visit = f"<p>Visit: {visited}, {job.firm}</p>" if visited else f"<p>Ordered from {job.firm}, no visit yet</p>"
        return (
            f"<html><body><h3>{job.ref} &ndash; {where}</h3><p>Call from {job.reporter}, {reported}</p>{visit}"
            f"<p>{job.found}</p><p><i>{job.done}</i></p>{table}</body></html>\n"
        )
    visit = f"{job.firm} came on {visited}." if visited else f"I have asked {job.firm} to come."
    bill = f"They charged us {write_money(job.cost, 3)}, all in, and the matter is closed." if job.fixed else ""
    return (
        f"Subject: {job.ref}\n\nHello all,\n\n{job.reporter} got in touch on {reported} about {where}. {visit} "
        f"{job.found} {job.done} {bill}".rstrip()
        + "\n\nRegards, the repairs desk\n"
    )


def render_letter(letter: Letter, lease: Lease) -> str:
    """Render one complaint letter as typed, as a web form or as a copied note."""
    if letter.style == 0:
        return (
            f"{letter.tenant}\n{lease.house}, flat {lease.flat}\n\n{write_date(letter.sent, 0)}\n\n"
            f"Dear Sir or Madam,\n\n{letter.body}\n\nYours faithfully,\n{letter.tenant}\n"
        )
    if letter.style == 1:
        return (
            f"<html><body><p>Message through the contact form, {write_date(letter.sent, 2)}</p><p>From: "
            f"{letter.tenant} ({lease.house} {lease.flat})</p><blockquote>{letter.body}</blockquote></body>"
            "</html>\n"
        )
    return (
        f"*Handwritten, copied by the front desk*\n\n{lease.house}, {write_date(letter.sent, 3)}\n\n"
        f"To the housing association\n\n{letter.body}\n\n{letter.tenant}, no. {lease.flat}\n"
    )


def render_answer(letter: Letter, lease: Lease) -> str:
    """Render the answer to one complaint letter."""
    if letter.answered is None:
        return ""
    money = letter.amount
    if letter.answer_path.endswith(".md"):
        pay = f"\n\nYou will receive {write_money(money, 0)} within two weeks." if money else ""
        verdict = {
            "rejected": "We do not uphold your complaint",
            "partly": "We uphold your complaint in part",
            "upheld": "We uphold your complaint",
        }[letter.outcome]
        return (
            f"**Harbour Vale Housing Association**\n\n{write_date(letter.answered, 0)}\n\nTo {letter.tenant}, "
            f"{lease.house} {lease.flat}\n\n## Your letter of {write_date(letter.sent, 1)}\n\n{verdict}. "
            f"{letter.answer}{pay}\n\nKind regards\n{letter.officer}\n"
        )
    pay = f" We transfer {write_money(money, 3)} to you." if money else ""
    verdict = {"rejected": "turned down", "partly": "accepted in part", "upheld": "accepted"}[letter.outcome]
    return (
        f"OUR REPLY\nto: {letter.tenant}, {lease.house}\nyours of: {write_date(letter.sent, 4)}\nours of: "
        f"{write_date(letter.answered, 4)}\ncomplaint: {verdict}\n\n{letter.answer}{pay}\n\n"
        f"signed {letter.officer}, tenant services\n"
    )


def render_rules(house: House) -> str:
    """Render the house rules of one building."""
    start, end = house.quiet
    if house.style == 0:
        dogs = {"ask": "Cats are fine. For a dog you need our written consent."}[house.dogs]
        midday = f" and at midday, {house.midday}" if house.midday else ""
        return (
            f"# House rules {house.name}\n\n**Quiet.** Please keep your voices and your music down from {start} to "
            f"{end}{midday}.\n\n**Animals.** {dogs}\n\n**Grilling.** Permitted: {house.barbecue}.\n\n**Rubbish.** "
            f"Collected every {house.bins}.\n\n**Laundry room.** Open {house.laundry}.\n\n**Help.** Your caretaker "
            f"is {house.caretaker}, {house.phone}.\n"
        )
    if house.style == 1:
        dogs = {"ask": "Dogs: only with consent.", "forbidden": "Dogs: not permitted."}[house.dogs]
        midday = f"Midday rest: {house.midday}\n" if house.midday else ""
        return (
            f"{house.name.upper()} - LIVING TOGETHER\n\nNight rest: {start} - {end}\n{midday}{dogs} Cats and "
            f"small animals: yes.\nDustbins emptied: {house.bins}\nBarbecue: {house.barbecue}\nWashing: "
            f"{house.laundry}\nCaretaker: {house.caretaker}, tel. {house.phone}\n"
        )
    helper = (
        f"{house.caretaker} looks after the house: {house.phone}."
        if house.caretaker
        else "This house has no caretaker. Please call the office."
    )
    return (
        f"<html><body><h1>Good neighbours at {house.name}</h1><p>After {start} and before {end} nobody should hear "
        f"you outside your own walls.</p><p>Cats and dogs are welcome without asking, on a lead outside.</p>"
        f"<p>The refuse lorry comes on {house.bins}s. About barbecues: {house.barbecue}. Washing machines: "
        f"{house.laundry}.</p><p>{helper}</p></body></html>\n"
    )


def name_rules(house: House) -> str:
    """Name the file with the house rules of one building."""
    return f"{house.name.lower().replace(' ', '-')}{['.md', '.txt', '.html'][house.style]}"


def list_truth(paths: list[str]) -> Truth:
    """Make the truth of a list question and refuse an empty one."""
    assert paths and len(set(paths)) == len(paths)
    return {"documents": sorted(paths)}


def count_truth(number: float) -> Truth:
    """Make the truth of a question for one number."""
    return {"number": number} if number else {"nothing": True}


def value_truth(values: list[str], alternatives: list[list[str]] | None = None) -> Truth:
    """Make the truth of a question for stated values."""
    return {"values": values, "alternatives": alternatives} if alternatives else {"values": values}


def sum_truth(amount: int) -> Truth:
    """Make the truth of a question for one sum of money."""
    return value_truth([str(amount)], [[f"{amount:,}"]] if amount > 999 else None)


def hour_truth(house: House) -> Truth:
    """Make the truth of a question for the night rest of one house."""
    spoken: list[str] = []
    for clock in house.quiet:
        hour, minute = int(clock[:2]), clock[2:]
        spoken.append(f"{hour % 12}{minute if minute != ':00' else ''} {'pm' if hour >= 12 else 'am'}")
    return value_truth(list(house.quiet), [spoken])


def pick_unique(pairs: list[tuple[float, str]], highest: bool) -> str:
    """Pick the winner of a superlative and refuse a tie."""
    ranked = sorted(pairs, reverse=highest)
    assert ranked[0][0] != ranked[1][0]
    return ranked[0][1]


def make_questions(leases: list[Lease], repairs: list[Repair], letters: list[Letter]) -> list[dict[str, object]]:
    """Make the sixty questions with truths computed from the records."""
    nothing: Truth = {"nothing": True}
    rows: list[tuple[str, list[str], Truth, str]] = []
    by_tenant = {lease.tenant: lease for lease in leases}
    houses = {house.name: house for house in HOUSES}
    running = [lease for lease in leases if lease.end is None or lease.end > TODAY]
    done = [job for job in repairs if job.fixed]
    pending = [job for job in repairs if not job.fixed]
    jobs = {job.ref: job for job in repairs}

    def add_row(kind: str, turns: list[str], truth: Truth, why: str) -> None:
        rows.append((kind, turns, truth, why))

    def find_letter(tenant: str) -> Letter:
        found = [letter for letter in letters if letter.tenant == tenant]
        assert len(found) == 1
        return found[0]

    # lists
    add_row(
        "list",
        ["Show me the letters in which a tenant complains about noise"],
        list_truth([item.path for item in letters if item.tag == "noise"]),
        "drums, dog, deliveries, pile driver",
    )
    add_row(
        "list",
        ["which repair jobs at foundry lofts arent finished yet"],
        list_truth([job.path for job in pending if job.house == "Foundry Lofts"]),
        "open state told in prose",
    )
    add_row(
        "list",
        ["Which tenancy contracts have a dog written into them? Insurance is asking."],
        list_truth([item.path for item in leases if "dog" in item.pet]),
        "one dog or two dogs; house rules differ",
    )
    add_row(
        "list",
        ["tenancies that began in 2022 or later pls"],
        list_truth([item.path for item in leases if item.start.year >= 2022]),
        "start dates in four notations",
    )
    add_row(
        "list",
        ["could you pull contracts where the bare rent, so without extras, is north of 800 a month?"],
        list_truth([item.path for item in leases if item.rent > 800]),
        "net rent under four labels",
    )
    add_row(
        "list",
        ["everything Halloran was sent out to that came in during 2024 or 2025"],
        list_truth(
            [job.path for job in repairs if job.firm.startswith("Halloran") and job.reported.year in (2024, 2025)]
        ),
        "firm by short name, two years",
    )
    add_row(
        "list",
        ["Which complaint letters did we never reply to?"],
        list_truth([item.path for item in letters if item.answered is None]),
        "absence of a file; one tenant wrote twice and got one answer",
    )
    add_row(
        "list",
        ["our replies where we turned the tenant down completely"],
        list_truth([item.answer_path for item in letters if item.outcome == "rejected"]),
        "do not uphold / turned down, not in part",
    )
    add_row(
        "list",
        ["Which houses' rules ask people to be quiet around lunchtime as well? show me the rules"],
        list_truth([name_rules(house) for house in HOUSES if house.midday]),
        "midday rest in two wordings",
    )
    add_row(
        "list",
        ["All repair reports about lifts please", "only the ones where we paid more than 500"],
        list_truth([job.path for job in done if job.tag == "lift" and job.cost > 500]),
        "follow-up, one not billed",
    )
    add_row(
        "list",
        ["repair reports where the tradesman stood in front of a closed door, nobody in"],
        list_truth([job.path for job in repairs if job.absent]),
        "paraphrase of nobody opened / at home",
    )
    # counts
    add_row(
        "count",
        ["How many of our contracts include somewhere to park the car (garages count too)?"],
        count_truth(sum(1 for item in leases if item.parking)),
        "space or garage, five labels",
    )
    add_row(
        "count",
        ["how many repair reports came in in 2025?", "and in 2023?"],
        count_truth(sum(1 for job in repairs if job.reported.year == 2023)),
        "follow-up swaps the year",
    )
    add_row(
        "count",
        ["number of complaint letters written by people living in Birch House?"],
        count_truth(sum(1 for item in letters if by_tenant[item.tenant].house == "Birch House")),
        "letters only, not answers",
    )
    add_row(
        "count",
        ["In how many of our replies did we promise the tenant money?"],
        count_truth(sum(1 for item in letters if item.amount)),
        "receive / transfer in two templates",
    )
    # look-ups
    add_row(
        "lookup",
        ["hi, how far ahead does Amara Nwosu have to tell us when she wants to leave?"],
        value_truth(
            [f"{by_tenant['Amara Nwosu'].notice} months"],
            [[f"{WORDS[by_tenant['Amara Nwosu'].notice]} months"], [f"{by_tenant['Amara Nwosu'].notice} month"]],
        ),
        "notice period",
    )
    add_row(
        "lookup",
        ["what did george tilney hand over as security when he moved in"],
        sum_truth(by_tenant["George Tilney"].deposit),
        "deposit under another word",
    )
    add_row(
        "lookup",
        ["Who's the caretaker at Elm Terrace?"],
        value_truth([houses["Elm Terrace"].caretaker]),
        "same man as in another house, lives in a third",
    )
    add_row(
        "lookup",
        ["from when to when do people have to be quiet at night in Canal Row?"],
        hour_truth(houses["Canal Row"]),
        "prose: after ... and before ...",
    )
    add_row(
        "lookup",
        ["Tenant at the counter lost her house door key - what do I charge her for a new one?"],
        value_truth(["48"]),
        "three prices in one guide",
    )
    add_row(
        "lookup",
        ["how long does somebody have to contest the yearly heating statment"],
        value_truth(["eight weeks"], [["8 weeks"]]),
        "typo, paraphrase of object",
    )
    add_row(
        "lookup",
        ["When someone moves out, by when do they get their deposit back?"],
        value_truth(["six weeks"], [["6 weeks"]]),
        "guide, other periods nearby",
    )
    add_row(
        "lookup",
        ["What was the matter with the lift at Alder Court in January 2024?"],
        value_truth(["motor", "overheated"], [["motor", "overheating"], ["motor", "overheats"], ["motor", "cut out"]]),
        "one of several lifts",
    )
    add_row(
        "lookup",
        ["how much did we pay Anneke de Wit because of her piano?"],
        value_truth([f"{find_letter('Anneke de Wit').amount:.0f}"]),
        "answer to a letter",
    )
    add_row(
        "lookup",
        ["Nadia Rahimi's complaint about service charges - when did our reply go out and who signed?"],
        value_truth([str(find_letter("Nadia Rahimi").answered), find_letter("Nadia Rahimi").officer]),
        "answer date, not letter date",
    )
    add_row(
        "lookup",
        ["What do I tell a caller who smells gas? which number should they ring"],
        value_truth(["0800 555 0112"]),
        "two phone numbers in one guide",
    )
    add_row(
        "text",
        [
            "A tenant is going abroad for half a year and wants someone else to have her flat meanwhile. Is "
            "there a deadline for asking us, and how much may she charge on top if its furnished?"
        ],
        {"parts": [value_truth(["six weeks"], [["6 weeks"]]), value_truth(["10 percent"], [["10%"], ["10 %"]])]},
        "subletting in everyday words, prose plus table",
    )
    add_row(
        "lookup",
        ["Until when does Zoe Lamberts contract run?", "and Lucia Ferraro's?"],
        value_truth([str(by_tenant["Lucia Ferraro"].end)]),
        "follow-up swaps the person; few leases end",
    )
    # superlatives
    add_row(
        "superlative",
        ["Which flat of all the contracts is the biggest, who rents it?"],
        value_truth([pick_unique([(item.area, item.tenant) for item in leases], True)]),
        "area in four notations",
    )
    dearest = jobs[pick_unique([(job.cost, job.ref) for job in done], True)]
    add_row(
        "superlative",
        ["what was our most expensive repair ever"],
        value_truth([dearest.ref], [[dearest.path], [dearest.house, dearest.place]]),
        "decimal comma against decimal point",
    )
    first = by_tenant[pick_unique([(item.start.toordinal(), item.tenant) for item in running], False)]
    add_row(
        "superlative",
        ["which tenant has been with us the longest?", "what does she pay a month without extras?"],
        sum_truth(first.rent),
        "follow-up on the winner",
    )
    oldest = jobs[pick_unique([(job.reported.toordinal(), job.ref) for job in pending], False)]
    add_row(
        "superlative",
        ["Which repairs are still not done?", "and which of them has been waiting the longest?"],
        value_truth([oldest.ref], [[oldest.path], [oldest.house, oldest.place]]),
        "follow-up: open plus oldest",
    )
    # numbers and groups
    add_row(
        "number",
        ["what did the plumbers from Halloran cost us in total, all bills added up?"],
        count_truth(round(sum(job.cost for job in done if job.firm == "Halloran Plumbing"), 2)),
        "jobs without a bill, three money notations",
    )
    canal = [item.rent for item in leases if item.house == "Canal Row"]
    add_row(
        "number",
        ["average basic rent in Canal Row, extras not counted?"],
        {"number": sum(canal) / len(canal), "tolerance": 0.01},
        "four leases in four notations",
    )
    add_row(
        "group",
        ["Repair reports by house - how many each?"],
        {"groups": dict(sorted(Counter(job.house for job in repairs).items()))},
        "house in prose",
    )
    add_row(
        "group",
        ["how many complaint letters did we get from tenants each year? not our replies"],
        {"groups": dict(sorted(Counter(str(item.sent.year) for item in letters).items()))},
        "year from prose dates",
    )
    # yes or no
    add_row("yes_no", ["Can somebody charge their e-bike battery down in the cellar?"], {"yes_no": "no"}, "guide")
    dogs = "yes" if houses["Canal Row"].dogs == "allowed" else "no"
    add_row(
        "yes_no",
        ["may a tenant in canal row get a dog without asking us first"],
        {"yes_no": dogs},
        "house rules differ by house",
    )
    stays = by_tenant["Hugo Martens"] in running
    add_row(
        "yes_no",
        ["Is Hugo Martens still a tenant of ours?"],
        {"yes_no": "yes" if stays else "no"},
        "ended lease, later tenant in the same flat",
    )
    add_row(
        "yes_no",
        ["What did Claire Dubois complain about?", "did she get any money from us for it?"],
        {"yes_no": "yes" if find_letter("Claire Dubois").amount else "no"},
        "follow-up into the answer",
    )
    # joins
    drums = next(item for item in letters if "drums" in item.body)
    add_row(
        "join",
        ["the guy who wrote in about the drums above him - whats his rent without the extras?"],
        sum_truth(by_tenant[drums.tenant].rent),
        "letter to lease; two tenants named Keller",
    )
    add_row(
        "join",
        ["I need the phone number of the caretaker of the house Olga Petrenko lives in"],
        value_truth([houses[by_tenant["Olga Petrenko"].house].phone]),
        "lease to house rules",
    )
    callers = {job.reporter for job in repairs}
    noisy = sorted({item.tenant for item in letters if item.tag == "noise"} & callers)
    add_row(
        "join",
        ["Which of the people who complained about noise have also reported a repair? names are enough"],
        value_truth(noisy),
        "letters to repair reports; one of them never did",
    )
    signers = [item for item in leases if item.house == by_tenant["Birgit Holm"].house and item.tenant != "Birgit Holm"]
    add_row(
        "join",
        ["who are Birgit Holm's neighbours, I mean the others renting in the same house?"],
        value_truth(sorted(item.tenant for item in signers)),
        "same house, not herself",
    )
    # compound
    viktor = by_tenant["Viktor Hahn"]
    add_row(
        "compound",
        ["How big is Viktor Hahn's flat and since when has he lived there?"],
        {"parts": [value_truth([str(viktor.area)]), value_truth([str(viktor.start)])]},
        "two facts of one lease",
    )
    birch = houses["Birch House"]
    add_row(
        "compound",
        ["Birch House: who looks after the place, and which day are the bins emptied?"],
        {"parts": [value_truth([birch.caretaker]), value_truth([birch.bins])]},
        "two facts of one rules file",
    )
    damp = [item for item in letters if item.tag == "damp"]
    add_row(
        "compound",
        ["how many letters have we had about damp or mould, and what did we pay out for it?"],
        {"parts": [count_truth(len(damp)), value_truth([f"{sum(item.amount for item in damp):.0f}"])]},
        "count of letters and sum of answers",
    )
    # ambiguous
    kellers = [item for item in leases if item.tenant.endswith("Keller")]
    add_row(
        "ambiguous",
        ["When did Keller move in?"],
        {"ask": True, "readings": [value_truth([str(item.start)]) for item in kellers]},
        "two tenants named Keller",
    )
    # nothing
    add_row("nothing", ["what is the rent for the two-room flat in Willow Gardens?"], nothing, "no such house")
    add_row("nothing", ["how much deposit did Fatima Zouari pay"], nothing, "a near name exists: Fatima Zahir")
    add_row("nothing", ["which of our tenants are under 30?"], nothing, "age is never recorded")
    add_row("nothing", ["Do you have an email address for Nordlift?"], nothing, "firms appear by name only")
    add_row("nothing", ["any letters complaining about cockroaches?"], nothing, "no letter on it")
    assert not any(job.tag == "lift" and job.house == "Dovecote Yard" for job in repairs)
    add_row("nothing", ["lift repairs at dovecote yard, list please"], nothing, "empty set of real words")
    add_row("nothing", ["What do our guides say about waterbeds or hot tubs in a flat?"], nothing, "guide silent")
    assert not any(item.start.year == 2018 for item in leases)
    add_row("nothing", ["How many tenancies began in 2018?"], nothing, "honest zero")
    add_row("nothing", ["whats the energy rating of Foundry Lofts"], nothing, "attribute nobody records")
    assert find_letter("Priya Menon").answered is None
    add_row(
        "nothing",
        ["There is a letter from Priya Menon about plumbers not turning up, right?", "what did we answer her?"],
        nothing,
        "letter exists, answer does not",
    )
    assert not jobs["RR-26-03"].fixed
    add_row(
        "nothing",
        ["What's up with the lift at Foundry Lofts?", "what did that repair cost us?"],
        nothing,
        "job open, no bill",
    )
    assert not any(item.notice == 4 for item in leases)
    add_row("nothing", ["contracts with a notice period of four months"], nothing, "honest empty set: 1, 2, 3, 6")
    assert len(rows) == 60, len(rows)
    return [
        {"id": f"q{index:02d}", "kind": kind, "turns": turns, "truth": truth, "why": why}
        for index, (kind, turns, truth, why) in enumerate(rows, 1)
    ]


def write_round(out: Path) -> None:
    """Write the documents and the questions of the round."""
    rng = random.Random(SEED)
    leases, repairs, letters = make_leases(rng), make_repairs(rng), make_letters(rng)
    files: dict[str, str] = {f"guides/{name}": text for name, text in sorted(GUIDES.items())}
    for house in HOUSES:
        files[f"guides/{name_rules(house)}"] = render_rules(house)
    for lease in leases:
        files[f"leases/{lease.path}"] = render_lease(lease)
    for job in repairs:
        files[f"repairs/{job.path}"] = render_repair(job)
    homes = {lease.tenant: lease for lease in leases}
    for letter in letters:
        files[f"post/{letter.path}"] = render_letter(letter, homes[letter.tenant])
        if letter.answer_path:
            files[f"post/{letter.answer_path}"] = render_answer(letter, homes[letter.tenant])
    for name, text in sorted(files.items()):
        target = out / "documents" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    known = {name.split("/", 1)[1] for name in files}
    assert len(known) == len(files)
    lines: list[str] = []
    for question in make_questions(leases, repairs, letters):
        truth = question["truth"]
        assert isinstance(truth, dict)
        assert set(truth.get("documents", [])) <= known
        lines.append(json.dumps(question, ensure_ascii=False))
    (out / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_round(Path(sys.argv[1]))
