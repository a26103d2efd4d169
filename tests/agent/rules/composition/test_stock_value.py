"""What stock is worth, where no column holds the value: the sum of quantity in stock × price per unit."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer
from agent.rules.reasoner import RuleReasoner
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, ComputeNumbers, GroupBy
from tests.agent.rules.nested.mining import MiningHome, open_home_of

_PARTS = """sku,description,category,depot,qty_on_hand,min_level,{prices},supplier
P-1,Brass elbow 15 mm,Fittings,Ghent,120,40,{one},Veldmans
P-2,Brass tee 15 mm,Fittings,Bruges,80,40,{two},Veldmans
P-3,Copper pipe 15 mm,Pipe,Ghent,30,20,{three},Ostra Metals
P-4,Copper pipe 22 mm,Pipe,Bruges,,20,{four},Ostra Metals
P-5,Radiator valve,Valves,Ghent,10,5,{five},Veldmans
"""
_COST_ALONE = _PARTS.format(prices="unit_cost", one="0.85", two="1.10", three="7.33", four="9.90", five="")
_BOTH_PRICES = _PARTS.format(
    prices="cost price,selling price", one="0.85,1.5", two="1.10,2", three="7.33,12", four="9.90,15", five="8,14"
)
_WITH_VALUE = _PARTS.format(prices="unit_cost,value", one="1,1", two="1,2", three="1,3", four="1,4", five="1,5")
_WITH_LIST_PRICE = "item,on hand,list price,cost\nBag,4,3.5,2\nBox,2,5,4\n"
_IN_POUNDS = (
    "item,category,site,on_hand,unit_cost_gbp\nBag,Bags,Ghent,400,3.5\nBox,Boxes,Ghent,2,5\nTin,Tins,Bruges,1,1\n"
)
_ORDERS = "order_no,customer,quantity,unit_price\nO-1,Pine Bakery,3,2.5\nO-2,Rook Studio,4,1.25\nO-3,Elm,5,3\n"


_TABLES = {
    "parts": _COST_ALONE,
    "spares": _BOTH_PRICES,
    "valued": _WITH_VALUE,
    "orders": _ORDERS,
    "listed": _WITH_LIST_PRICE,
    "packaging": _IN_POUNDS,
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def homes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, MiningHome]]:
    """A home for each table, which grants that alone."""
    async with AsyncExitStack() as stack:
        yield {
            name: await stack.enter_async_context(
                open_home_of(tmp_path_factory.mktemp(name), {f"{name}.csv": table}, frozenset({name}))
            )
            for name, table in _TABLES.items()
        }


async def ask(home: MiningHome, question: str) -> Answer:
    outcome = await answer(question, AgentContext(index=home.index, reasoner=RuleReasoner(), now=home.context.now))
    assert isinstance(outcome, Answer)
    return outcome


@pytest.mark.parametrize(
    ("question", "group", "limit", "descending"),
    [
        ("what's the stock value of everything in the Fittings category?", None, None, True),
        ("what is the pipe stock in Ghent worth at unit cost?", None, None, True),
        ("total value at cost of what is in stock", None, None, True),
        ("how much money is tied up in valves?", None, None, True),
        ("what did the stock on hand cost us, the total cost of stock?", None, None, True),
        ("which category ties up the most money?", "category", 1, True),
        ("which depot has the least valuable stock?", "depot", 1, False),
        ("stock value by supplier", "supplier", None, True),
        ("top 2 categories by stock value", "category", 2, True),
    ],
)
async def test_the_value_of_stock_is_a_sum_of_products(
    homes: dict[str, MiningHome], question: str, group: str | None, limit: int | None, *, descending: bool
) -> None:
    planned = await homes["parts"].plan_question(question)

    assert planned.plan.legs[0].answer_form == ComputeNumbers(
        functions=(AggregateFunction.SUM,),
        field=FieldName("unit_cost"),
        factor=FieldName("qty_on_hand"),
        group=GroupBy(field=FieldName(group)) if group else None,
        limit=limit,
        descending=descending,
    )


@pytest.mark.parametrize(
    ("table", "question"),
    [
        pytest.param("parts", "is our stock insured for its full value?", id="yes or no"),
        pytest.param("parts", "which stock is worth more than 500?", id="a condition"),
        pytest.param("parts", "what is the total unit cost of the fittings?", id="no word for stock"),
        pytest.param("parts", "how do we value stock?", id="how"),
        pytest.param("valued", "what is the stock in Ghent worth?", id="a column of the value"),
        pytest.param("orders", "what is the stock worth?", id="ordered and not in stock"),
    ],
)
async def test_nothing_else_is_multiplied(homes: dict[str, MiningHome], table: str, question: str) -> None:
    planned = await homes[table].plan_question(question)

    assert [leg.answer_form.computed_factor for leg in planned.plan.legs] == [None]


async def test_the_reply_says_what_was_multiplied_and_what_was_left_out(homes: dict[str, MiningHome]) -> None:
    whole = await ask(homes["parts"], "what is the stock worth?")
    grouped = await ask(homes["parts"], "which category ties up the most money?")

    assert "quantity on hand × unit cost: **409.9** (3 parts)" in whole.text  # 102 + 88 + 219.9
    assert "no value for quantity on hand in 1 of these 5" in whole.text
    assert "no value for unit cost in 1 of these 5" in whole.text
    assert "**Pipe**, 219.9" in grouped.text


async def test_of_two_prices_the_cost_counts_unless_the_question_names_the_other(homes: dict[str, MiningHome]) -> None:
    at_cost = await ask(homes["spares"], "what is the stock in Ghent worth?")
    named = await ask(homes["spares"], "what is the stock in Ghent worth at selling price?")

    assert "quantity on hand × cost price: **401.9**" in at_cost.text  # 102 + 219.9 + 80
    assert at_cost.assumptions == ("I went by the cost price, not by “Selling price”",)
    assert "quantity on hand × selling price: **680**" in named.text  # 180 + 360 + 140
    assert not named.assumptions


async def test_a_mere_cost_beside_a_price_is_that_of_a_piece(homes: dict[str, MiningHome]) -> None:
    whole = await ask(homes["listed"], "what is our stock worth?")

    assert "on hand × cost: **16**" in whole.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Was ist der Lagerwert in Ghent?", "1.410,00\N{NO-BREAK SPACE}£"),
        ("Quelle est la valeur du stock à Ghent ?", "1\N{NARROW NO-BREAK SPACE}410,00\N{NO-BREAK SPACE}£GB"),
        ("¿Cuál es el valor de las existencias en Ghent?", "1.410,00\N{NO-BREAK SPACE}GBP"),
        ("Welche Category bindet am meisten Kapital?", "**Bags**, 1.400,00\N{NO-BREAK SPACE}£"),
    ],
)
async def test_other_languages_ask_for_the_value_of_stock(
    homes: dict[str, MiningHome], question: str, expected: str
) -> None:
    outcome = await ask(homes["packaging"], question)

    assert expected in outcome.text
    assert " × " in outcome.text
