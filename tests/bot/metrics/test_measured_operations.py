"""What operations report while questions are answered, and that nobody's data is in it."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.application import Application
from bot.metrics.measured_operations import measured_index_request
from bot.metrics.operation_measurements import (
    DeliveryMeasurement,
    DeliveryOperation,
    ExportMeasurement,
    IndexOperation,
    IndexRequestMeasurement,
    OperationMeasurement,
)
from bot.metrics.service_metrics import ServiceMetrics
from bot.surface.outbox import MessageGone, OutboxFailed
from storage.search.errors import (
    EmbedderUnavailable,
    IndexDamaged,
    IndexTimedOut,
    IndexUnavailable,
    SearchError,
    SnapshotGone,
)
from storage.sql.service_state import ServiceStateStore
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import FakeChat


@pytest.fixture
def reported(bot: Application) -> list[OperationMeasurement]:
    measurements = list[OperationMeasurement]()
    bot.operations.add_observer(measurements.append)
    return measurements


async def test_a_question_reports_its_searches_and_its_message(
    bot: Application, reported: list[OperationMeasurement]
) -> None:
    await ConversationDriver(bot).ask_question("List every receipt")

    searches = [request for request in reported if isinstance(request, IndexRequestMeasurement)]
    deliveries = [delivery for delivery in reported if isinstance(delivery, DeliveryMeasurement)]
    assert {(request.operation, request.outcome) for request in searches} >= {(IndexOperation.SEARCH, "ok")}
    assert {(delivery.surface, delivery.outcome) for delivery in deliveries} == {("slack", "ok")}
    assert DeliveryOperation.OPEN in {delivery.operation for delivery in deliveries}


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (OutboxFailed("not_in_channel", retry=False), "refused"),
        (OutboxFailed("ratelimited", retry=True), "unavailable"),
        (MessageGone(), "gone"),
    ],
)
async def test_a_call_that_the_chat_product_does_not_accept_is_reported(
    bot: Application, chat: FakeChat, reported: list[OperationMeasurement], failure: OutboxFailed, outcome: str
) -> None:
    chat.failures = [failure]

    await ConversationDriver(bot).ask_question("List every receipt")

    outcomes = [delivery.outcome for delivery in reported if isinstance(delivery, DeliveryMeasurement)]
    assert outcomes.count(outcome) == 1
    assert set(outcomes) == {outcome, "ok"}


async def test_an_export_reports_its_rows(bot: Application, reported: list[OperationMeasurement]) -> None:
    talk = ConversationDriver(bot)

    await talk.click_choice(await talk.ask_question("List every receipt"), "Export all")

    [export] = [measured for measured in reported if isinstance(measured, ExportMeasurement)]
    assert (export.outcome, export.rows) == ("done", 42)


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (IndexUnavailable("host"), "unavailable"),
        (IndexTimedOut("host"), "timed_out"),
        (IndexDamaged("host"), "damaged"),
        (EmbedderUnavailable("model"), "embedder"),
        (SnapshotGone(), "refused"),
    ],
)
def test_a_failed_request_is_reported_and_raised(failure: SearchError, outcome: str) -> None:
    reported = list[OperationMeasurement]()

    with pytest.raises(type(failure)), measured_index_request(reported.append, IndexOperation.WRITE):
        raise failure

    [request] = reported
    assert isinstance(request, IndexRequestMeasurement)
    assert (request.operation, request.outcome) == (IndexOperation.WRITE, outcome)


async def test_no_label_names_a_person_a_bucket_a_conversation_or_a_value(bot: Application) -> None:
    metrics = ServiceMetrics()
    bot.operations.add_observer(metrics.record_operation)
    bot.turn_processor.add_observer(metrics.record_turn)
    talk = ConversationDriver(bot, person="slack:T1:U1", conversation="slack:T1:C1:1", name="Ada")
    await talk.click_choice(await talk.ask_question("List every receipt"), "Export all")
    metrics.set_service_state(await ServiceStateStore(bot.database).measure_state(), is_ready=True)

    families = list(text_string_to_metric_families(metrics.render_text().decode()))
    values = {value for family in families for sample in family.samples for value in sample.labels.values()}

    assert {"slack", "overload", "search", "done"} <= values
    for secret in ("receipts", "acme", "ada", "u1", "t1", "c1", bot.settings.tenant, "receipt"):
        assert not [value for value in values if secret.casefold() in value.casefold().split(":")]
    assert {"question", "person", "bucket", "tenant", "conversation"}.isdisjoint(
        name for family in families for sample in family.samples for name in sample.labels
    )
