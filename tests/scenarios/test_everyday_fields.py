"""Which field, value or set an everyday word means, from the tables of a boatyard to the replies."""

from pathlib import Path

import pytest

from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.scripting import ask_application
from bot.settings import load_settings
from storage.search.ids import EVERYONE, BucketId
from tests.storage.ingest.runs import ingest_with_rules

BOATS = """boat,type,yard,skipper,price_eur,length_m
Alma,barge,Kolk,Ann Berg,41000,31
Bruna,ketch,Kolk,Bo Lind,90000,14
Celia,ketch,Hede,Bo Lind,30000,12
Dora,barge,Hede,Cai Munk,52000,28
Edda,cutter,Kolk,Cai Munk,25000,9
Freya,barge,Kolk,Cai Munk,23000,22
"""
YARDS = """yard,town,opened,products
Kolk,Sund,1791,barges; cutters; dinghies
Hede,Ovra,1902,barges; ketches
Tarn,Sund,1968,dinghies; mooring buoys
Visk,Ovra,1968,sail yard
"""
CROSSINGS = """crossing,boat,skipper,sailed_on,duration_min,fare_eur
C-1,Alma,Ann Berg,2025-03-01,45,12
C-2,Bruna,Bo Lind,2025-04-02,20,15
C-3,Celia,Bo Lind,2025-05-03,61,9
C-4,Dora,Cai Munk,2026-01-04,38,14
"""
PARTNERS = """name,party,city,since
Acme,customer,Sund,2019-02-01
Birk,customer,Ovra,2020-03-01
Corda,supplier,Sund,2018-04-01
Dunn,supplier,Ovra,2025-05-01
"""
SALES_ORDERS = """number,customer,ordered_on,delivered_on,paid_on,status,material_eur,tax_eur,total_incl_vat_eur
S-1,Acme,2025-01-10,2025-02-01,,delivered,100,300,900
S-2,Birk,2025-02-11,2025-02-20,2025-03-01,delivered,700,80,800
S-3,Acme,2026-03-12,,,open,50,20,200
S-4,Birk,2026-05-13,,,cancelled,60,30,300
S-5,Acme,2026-06-14,2026-07-01,2026-08-01,delivered,60,30,400
"""
PURCHASE_ORDERS = """number,supplier,ordered_on,received_on,total_incl_vat_eur
P-1,Corda,2025-01-03,2025-01-20,1000
P-2,Dunn,2025-06-05,2025-07-01,2000
P-3,Corda,2026-01-07,2026-02-01,3000
"""
TABLES = {
    "boats": BOATS, "yards": YARDS, "crossings": CROSSINGS, "partners": PARTNERS, "sales_orders": SALES_ORDERS,
    "purchase_orders": PURCHASE_ORDERS,
}  # fmt: skip
REPLIES = {
    "list all barges": "**3 boats** of type barge",
    "how many ketches are there": "**2 boats** of type ketch",
    "yards in Ovra": "**2 yards** in Ovra",
    "who skippers the cheapest barge": "Minimum of price of **3 boats** of type barge, by skipper: **Cai Munk**",
    "fastest crossing": "**Bruna (C-2)** has the lowest duration of the **4 crossings**: 20 min.",
    "yards opened before the year 1800": "**1 yard** opened before 1800",
    "most expensive sales order": "**Acme (S-1)** has the highest total incl. VAT of the **5 sales orders**: EUR 9",
    "which sales orders of 2025 have not been paid": "**1 sales order** (ordered in 2025; status other than cancelled",
    "unpaid sales orders from 2026": "**1 sales order** (ordered in 2026; status other than cancelled",
    "sales orders in 2026, cancelled stuff doesnt count": "**2 sales orders** ordered in 2026 with status other than",
    "purchase orders from 2025": "**2 purchase orders** ordered in 2025",
    "largest purchase order in 2025": "**Dunn (P-2)** has the highest total incl. VAT of the **2 purchase orders**",
    "orders from customers in Sund in 2025": "**1 sales order** ordered in 2025 whose customer is in Sund: **Acme (S",
    "orders from suppliers in Ovra": "**1 purchase order** whose supplier is one of the partners",
    "customer orders placed in 2025": "**2 sales orders** ordered in 2025",
}


@pytest.fixture
async def boatyard_replies(tmp_path: Path) -> dict[str, str]:
    settings = load_settings(tmp_path / "home", {"PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings) as bot:
        for name, table in TABLES.items():
            path = tmp_path / f"{name}.csv"
            path.write_text(table, encoding="utf-8")
            await ingest_with_rules(bot.index, [path], bucket=BucketId(name))
            await bot.administration.grant_bucket(BucketId(name), EVERYONE, by=OPERATOR)
        return {question: (await ask_application(bot, question))["text"] for question in REPLIES}


async def test_everyday_words_mean_the_fields_and_sets_of_a_boatyard(boatyard_replies: dict[str, str]) -> None:
    replies = {question: reply[: len(REPLIES[question])] for question, reply in boatyard_replies.items()}

    assert replies == REPLIES
